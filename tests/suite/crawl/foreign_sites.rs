//! Sites that nobody here made: long chains of list pages, titles that are numbers, pages that ask for this and that.
//! Every page that is linked is asked for, by the server's log; what is not in the index has a reason in `taojin why`.
//! With `TAOJIN_CORPUS` the saved pages of `DIR/<set>/html/*` are served as well, each set as a site of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::support::folder::assert_has;
use crate::support::foreign_web::{ForeignWeb, Pages};

/// Lists of a site, each of which leads only to the next.
const LISTS: usize = 70;
/// Links of a list.
const PER_LIST: usize = 20;

/// How the lists of a site are written.
struct Manner {
    host: String,
    /// Title of the page with this number.
    title: fn(usize) -> String,
    next: &'static str,
    heading: &'static str,
}

impl Manner {
    fn english(host: &str) -> Self {
        Self {
            host: host.to_owned(),
            title: |n| format!("page R{n}"),
            next: "next",
            heading: "All pages",
        }
    }

    fn chinese(host: &str) -> Self {
        Self {
            host: host.to_owned(),
            title: |n| format!("第{n}号通知"),
            next: "下一页",
            heading: "通知公告",
        }
    }

    fn address(&self, n: usize) -> String {
        format!("{}/notes/R{n}.html", self.host)
    }

    /// A chain of lists: the first is the seed, and only "next" leads to the others.
    fn lists(&self, pages: &mut Pages, count: usize) -> Vec<String> {
        let numbers: Vec<usize> = (0..count).collect();
        let mut addresses = Vec::new();
        let path = |i: usize| match i {
            0 => "/".to_owned(),
            i => format!("/list_{}.html", i + 1),
        };
        let chunks: Vec<&[usize]> = numbers.chunks(PER_LIST).collect();
        for (i, chunk) in chunks.iter().enumerate() {
            let items: String = chunk
                .iter()
                .map(|n| {
                    format!(
                        "<li><a href=\"/notes/R{n}.html\">{}</a></li>",
                        (self.title)(*n)
                    )
                })
                .collect();
            let next = if i + 1 < chunks.len() {
                format!("<a href=\"{}\">{}</a>", path(i + 1), self.next)
            } else {
                String::new()
            };
            let html = format!(
                "<html><head><title>{0}</title></head><body><h1>{0}</h1><ul>{items}</ul><p>{next}</p></body></html>",
                self.heading
            );
            let address = format!("{}{}", self.host, path(i));
            pages.insert(
                address.clone(),
                ("text/html; charset=utf-8", html.into_bytes()),
            );
            addresses.push(address);
        }
        addresses.extend(numbers.iter().map(|n| self.address(*n)));
        addresses
    }

    /// A small article; what it says depends on its number.
    fn article(&self, n: usize, words: &str, joint: &str, stop: &str) -> String {
        let words: Vec<&str> = words.split(' ').collect();
        let mut state = n as u64 + 1;
        let mut word = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            words[(state >> 33) as usize % words.len()]
        };
        let mut sentence = || {
            let words: Vec<&str> = (0..12).map(|_| word()).collect();
            words.join(joint) + stop
        };
        let paragraphs: String = (0..4)
            .map(|_| format!("<p>{}{}</p>", sentence(), sentence()))
            .collect();
        let title = (self.title)(n);
        format!(
            "<html><head><title>{title}</title></head><body><h1>{title}</h1><div>{paragraphs}</div></body></html>"
        )
    }
}

const ENGLISH: &str = "the crew measured pressure at well before noon and found water near old pipeline while engineers from town \
                       checked every valve with great care";
const CHINESE: &str = "钻井队 上午 检查了 输气管道 的 压力 并且 记录 工程师 在 山坡上 发现 地下水 附近 新的 阀门 随后 报告 县城 化验室";

#[test]
fn list_chain_is_crawled_whole() {
    let mut pages = Pages::new();
    let english = Manner::english("english.test");
    let chinese = Manner::chinese("chinese.test");
    let count = LISTS * PER_LIST;
    let mut linked = english.lists(&mut pages, count);
    linked.extend(chinese.lists(&mut pages, LISTS * 4));
    let utf8 = "text/html; charset=utf-8";
    for n in 0..count {
        let html = english.article(n, ENGLISH, " ", ". ");
        pages.insert(english.address(n), (utf8, html.into_bytes()));
    }
    for n in 0..LISTS * 4 {
        let html = chinese.article(n, CHINESE, "", "。");
        let (gbk, _, _) = encoding_rs::GBK.encode(&html);
        let declared = b"<meta http-equiv=Content-Type content='text/html; charset=gb2312'>";
        let bytes = [&declared[..], &gbk].concat();
        // As Apache says it of every page.
        pages.insert(chinese.address(n), ("text/html; charset=iso-8859-1", bytes));
    }
    let odd = odd_pages(&english);
    for (n, (_, html)) in &odd {
        pages.insert(english.address(*n), (utf8, html.clone().into_bytes()));
    }
    let web = ForeignWeb::start(pages);
    web.done(&["crawl"]);
    web.check_asked(&linked);
    let indexed = web.indexed();
    let left_out: BTreeSet<&String> = linked.iter().filter(|a| !indexed.contains(*a)).collect();
    let mut expected: BTreeSet<String> = odd.keys().map(|n| english.address(*n)).collect();
    // Lists are read for their links.
    expected.extend(linked.iter().filter(|a| !a.contains("/notes/")).cloned());
    assert_eq!(left_out, expected.iter().collect());
    for (n, (reason, _)) in &odd {
        let said = web.why(&english.address(*n));
        assert!(said.contains(reason), "{reason:?}: {said}");
    }
    let said = web.why("english.test/list_21.html");
    assert!(!said.is_empty() && !said.contains("error page"), "{said}");
}

#[test]
fn truncated_body_accepted_third_time() {
    let manner = Manner::english("broken.test");
    let list = b"<title>All</title><a href=/short/1.html>one</a> <a href=/chunked/2.html>two</a>";
    let html = "text/html; charset=utf-8";
    let mut pages = Pages::from([("broken.test/".to_owned(), (html, list.to_vec()))]);
    let short = [1, 2].map(|n| match n {
        1 => "broken.test/short/1.html".to_owned(),
        _ => "broken.test/chunked/2.html".to_owned(),
    });
    for (n, address) in (1..).zip(&short) {
        let article = manner.article(n, ENGLISH, " ", ". ").into_bytes();
        pages.insert(address.clone(), (html, article));
    }
    let web = ForeignWeb::start(pages);
    web.configure("[revisit]\nretry_ms = 1\n");
    let asked = || short.each_ref().map(|address| web.times_asked(address));
    for _ in 0..3 {
        web.run(&["crawl"]);
        if asked() == [3, 3] {
            break;
        }
        assert!(web.indexed().is_empty(), "{:?}", asked());
    }
    for times in [3, 4] {
        assert_eq!(asked(), [times, times]);
        assert_eq!(web.indexed(), short.iter().cloned().collect());
        for address in &short {
            let answer = web.asked_why(address);
            assert_has(
                &answer["note"].to_string(),
                &["truncated: the body broke off after"],
            );
        }
        // And once more at once, now that it is known.
        web.run(&["crawl", "--site", "broken.test", "--recheck"]);
    }
}

/// Pages that get no document, and what is to be said of them.
fn odd_pages(manner: &Manner) -> BTreeMap<usize, (&'static str, String)> {
    let article = |n: usize| manner.article(n, ENGLISH, " ", ". ");
    let menu: String = (0..40)
        .map(|n| format!("<li><a href=\"/notes/R{n}.html\">what the crew of well {n} found near town</a></li>"))
        .collect();
    let noindex = "<meta name=robots content=noindex></head>";
    let gone = "<title>404 - page not found</title><h1>Sorry</h1><p>This page does not exist.";
    [
        (11, "noindex", article(11).replace("</head>", noindex)),
        (404, "same text as", article(403).replace("R404", "R403")),
        (405, "error page", gone.to_owned()),
        (
            500,
            "no main text",
            "<title>page R500</title><body><script>draw()</script>".to_owned(),
        ),
        (
            501,
            "list page",
            format!("<title>All wells</title><ul>{menu}</ul>"),
        ),
    ]
    .into_iter()
    .map(|(n, reason, html)| (n, (reason, html)))
    .collect()
}

#[test]
fn corpus_sites_are_crawled_whole() {
    let Some(folder) = std::env::var_os("TAOJIN_CORPUS") else {
        crate::support::say(
            "saved pages are skipped: TAOJIN_CORPUS is not set (see CONTRIBUTING.md)",
        );
        return;
    };
    let (mut pages, mut linked) = (Pages::new(), Vec::new());
    for set in names_in(Path::new(&folder)) {
        let files = names_in(&Path::new(&folder).join(&set).join("html"));
        if files.is_empty() {
            continue;
        }
        let host = format!("{}.test", set.replace('_', "-"));
        let manner = if set.starts_with("zh") {
            Manner::chinese(&host)
        } else {
            Manner::english(&host)
        };
        linked.extend(manner.lists(&mut pages, files.len()));
        for (n, file) in files.iter().enumerate() {
            let path = Path::new(&folder).join(&set).join("html").join(file);
            let bytes = fs::read(path).expect("a saved page");
            pages.insert(manner.address(n), ("text/html", bytes));
        }
    }
    let web = ForeignWeb::start(pages);
    web.done(&["crawl"]);
    web.check_asked(&linked);
    let indexed = web.indexed();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for address in linked.iter().filter(|a| !indexed.contains(*a)) {
        let reason = web.why(address);
        assert!(
            !reason.is_empty() && !reason.starts_with("no reason"),
            "{address}"
        );
        let short = reason.split("http").next().unwrap_or_default();
        *reasons.entry(short.to_owned()).or_default() += 1;
    }
    let count = linked.len();
    crate::support::say(&format!(
        "{count} pages, {} documents, left out: {reasons:?}",
        indexed.len()
    ));
}

/// Names in a folder, in order; none if it is no folder.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|e| e.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}
