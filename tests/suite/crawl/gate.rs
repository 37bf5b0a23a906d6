//! Every request passes the gate: what is excluded, taken down or refused by robots.txt is not asked for in any way, and a host is
//! not asked sooner than it wants, as its own log shows.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::folder::{Folder, assert_has};
use crate::support::http::serve;
use crate::support::small_web::{Reply, SmallWeb, article};

/// No delays but those that a host asks for.
const CONFIG: &str = "[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n[frontier]\nmin_delay_ms = 0\nmax_delay_ms = 0\n\
                  [fetch]\nallow_addresses = [\"127.0.0.0/8\"]\n";

/// An article on two pages, which names the second.
const PAGES: [&str; 2] = ["a.test/n/7.html", "a.test/n/7_2.html"];

fn set_pages(web: &SmallWeb) {
    for (number, address) in (1..).zip(PAGES) {
        let text = article(&format!("管线巡检记（{number}）"), "");
        let pager = "<div class=pager><a href=7.html>1</a> <a href=7_2.html>2</a></div>";
        web.set_page(
            address,
            &text.replace("</body>", &format!("{pager}</body>")),
        );
    }
}

/// The article was stored without its second page, which was not asked for, and `why` says so.
#[track_caller]
fn assert_first_page_only(web: &SmallWeb, reason: &str) {
    assert_eq!(web.asked(PAGES[1]), 0);
    let documents = web.documents();
    assert_eq!(documents.len(), 1, "{documents:?}");
    let text = &documents[0].text;
    assert_has(text, &["管线巡检记（1）"]);
    assert!(!text.contains("管线巡检记（2）"), "{text}");
    let why = web.why(PAGES[0]).to_string();
    assert_has(&why, &["page 2 of the article", reason]);
}

#[test]
fn further_page_excluded() {
    let web = SmallWeb::new("");
    web.seed(&[PAGES[0]]);
    set_pages(&web);
    web.replace(
        "sites.d/a.toml",
        "[scope]",
        "[scope]\nexclude = [\"/n/7_2\"]",
    );
    web.crawl();
    assert_first_page_only(&web, "excluded by the site's scope");
}

#[test]
fn further_page_taken_down() {
    let web = SmallWeb::new("");
    // A page by itself, before there was a first page that goes on there.
    let second = web.url(PAGES[1]);
    web.seed(&[PAGES[1]]);
    web.set_article(PAGES[1], "管线巡检记（2）");
    web.crawl();
    web.done(&["purge", &second, "--yes"]);
    set_pages(&web);
    web.seed(&PAGES);
    web.forget_log();
    web.crawl();
    assert_first_page_only(&web, "taken down by the operator");

    // Nor does a person get it by hand before they lift that.
    let extracted = web.run(&["extract", &second]).failed(1);
    assert_has(&extracted.err, &["was taken down", "purge --allow"]);
    assert_eq!(web.asked(PAGES[1]), 0);
    web.done(&["purge", "--allow", &second]);
    web.done(&["extract", &second]);
    assert_eq!(web.asked(PAGES[1]), 1);
}

#[test]
fn exclude_added_later_stops_stored_urls() {
    let web = SmallWeb::new("");
    let pages = ["a.test/n/1.html", "a.test/old/1.html"];
    web.seed(&pages);
    for page in pages {
        web.set_article(page, &format!("{page} 的储罐检修"));
    }
    web.crawl();
    assert_eq!(pages.map(|page| web.asked(page)), [1, 1]);
    web.replace(
        "sites.d/a.toml",
        "[scope]",
        "[scope]\nexclude = [\"/old/\"]",
    );
    web.forget_log();
    web.crawl();
    assert_eq!(pages.map(|page| web.asked(page)), [1, 0]);
    let why = web.why(pages[1]);
    let rule = why["refused_by"].as_str().unwrap_or_default();
    assert!(
        rule.starts_with("excluded by the site's scope (scope.exclude"),
        "{why}"
    );
    // The pattern and the file are named.
    assert!(
        rule.contains(" = \"/") && rule.contains("sites.d/") && rule.ends_with(".toml)"),
        "{why}"
    );
    // What is known of it stays; that it is not asked for proves nothing.
    assert_eq!(web.documents().len(), 2);
    let url = web.url(pages[1]);
    assert_has(
        &web.refused(&["visit", &url]),
        &["excluded by the site's scope"],
    );
    web.replace("sites.d/a.toml", "exclude = [\"/old/\"]", "");
    web.crawl();
    assert_eq!(pages.map(|page| web.asked(page)), [2, 1]);
}

#[test]
fn site_add_asks_robots_txt_first() {
    let web = SmallWeb::new("\"b.test\" = \"127.0.0.1\"\n");
    web.set_page("b.test/", "<title>不欢迎</title>");
    web.set_page("b.test/robots.txt", "User-agent: *\nDisallow: /\n");
    let refused = web.refused(&["site", "add", &web.url("b.test/")]);
    assert_has(&refused, &["does not let taojin in (line 2: Disallow: /)"]);
    assert_eq!(web.asked("b.test/robots.txt"), 1);
    assert_eq!(web.requests(), 1, "nothing but robots.txt");
}

#[test]
fn site_add_keeps_delay_and_robots_txt() {
    let web = SmallWeb::new("\"b.test\" = \"127.0.0.1\"\n");
    let links = "<title>门户</title><link rel=alternate type=application/rss+xml href=/no/feed.xml>\
                 <ul><li><a href=/no/1.html>储气库注气创出新高的一条新闻</a></li></ul>";
    web.set_page("b.test/", links);
    let robots_txt = "User-agent: *\nDisallow: /no/\nCrawl-delay: 0.3\n";
    web.set_page("b.test/robots.txt", robots_txt);
    let begun = Instant::now();
    web.done(&["site", "add", &web.url("b.test/"), "--dry-run"]);
    let asked = ["b.test/robots.txt", "b.test/", "b.test/sitemap.xml"];
    assert_eq!(asked.map(|address| web.asked(address)), [1, 1, 1]);
    assert_eq!(web.requests(), 3, "neither feed nor article");
    assert!(begun.elapsed() > Duration::from_millis(600));
}

/// When each path was asked for.
type Log = Arc<Mutex<Vec<(Instant, String)>>>;

/// A host that lets nobody in who does not send back the cookies of four redirects, and that asks for a second between requests;
/// `/d` is disallowed.
fn serve_hops(last: &'static str) -> (u16, Log) {
    let log = Log::default();
    let asked = Arc::clone(&log);
    let port = serve(move |request| {
        let path = request.path.split('?').next().unwrap_or_default();
        let mut log = asked.lock().expect("no panic");
        log.push((Instant::now(), path.to_owned()));
        drop(log);
        let lead = |to: &str| {
            Reply::status(302)
                .header(&format!("Set-Cookie: step={}", to.len()))
                .header(&format!("Location: {to}?to=%2Fpage.html"))
        };
        match path {
            "/robots.txt" => Reply::page("User-agent: *\nDisallow: /d\nCrawl-delay: 1\n"),
            "/page.html" if request.header("cookie").is_none() => lead("/a"),
            "/page.html" => Reply::page(&article("测井曲线复核", "")),
            "/a" => lead("/bb"),
            "/bb" => lead("/ccc"),
            "/ccc" => Reply::status(302)
                .header("Set-Cookie: step=end")
                .header(&format!("Location: {last}")),
            _ => Reply::status(404),
        }
    });
    (port, log)
}

fn crawl_hops(last: &'static str) -> (Folder, Vec<(Instant, String)>) {
    let (port, log) = serve_hops(last);
    let site = format!("seeds = [\"http://127.0.0.1:{port}/page.html\"]\n");
    let folder = Folder::new(CONFIG, &[("a.toml", &site)]);
    // What is refused by robots.txt is a failure of the site, of which the page is all.
    folder.run(&["crawl", "--json"]);
    let log = log.lock().expect("no panic").clone();
    (folder, log)
}

fn paths(log: &[(Instant, String)]) -> Vec<&str> {
    log.iter().map(|(_, path)| path.as_str()).collect()
}

/// The host's own log: a second between each two requests, robots.txt and redirects among them.
fn assert_paced(log: &[(Instant, String)]) {
    for pair in log.windows(2) {
        let gap = pair[1].0.duration_since(pair[0].0);
        // A request is noted before its answer, with whose end the delay begins; clocks count in milliseconds.
        assert!(gap >= Duration::from_millis(999), "{gap:?}: {log:?}");
    }
}

#[test]
fn hops_wait_for_their_turn() {
    let (folder, log) = crawl_hops("/page.html");
    let hops = [
        "/robots.txt",
        "/page.html",
        "/a",
        "/bb",
        "/ccc",
        "/page.html",
    ];
    assert_eq!(paths(&log)[..6], hops);
    assert_paced(&log);
    assert_eq!(folder.documents().len(), 1);
}

#[test]
fn hop_to_disallowed_path_is_not_made() {
    let (folder, log) = crawl_hops("/d?to=%2Fpage.html");
    assert_eq!(
        paths(&log),
        ["/robots.txt", "/page.html", "/a", "/bb", "/ccc"]
    );
    assert_paced(&log);
    let page = &folder.lines(&["site", "list", "--json"])[0]["seeds"][0];
    let why = folder.json(&["why", page.as_str().expect("a seed"), "--json"]);
    assert_has(&why.to_string(), &["robots.txt line 2: Disallow: /d"]);
}

/// A host that wants more time than a lease waits for: the lease ends after robots.txt, and the page comes with the next.
#[test]
fn page_waits_in_queue_for_long_delay() {
    const DELAY: Duration = Duration::from_secs(11);
    let log = Log::default();
    let asked = Arc::clone(&log);
    let port = serve(move |request| {
        let mut log = asked.lock().expect("no panic");
        log.push((Instant::now(), request.path.clone()));
        drop(log);
        match &*request.path {
            "/robots.txt" => Reply::page("User-agent: *\nCrawl-delay: 11\n"),
            "/1.html" => Reply::page(&article("采气树换装", "")),
            _ => Reply::status(404),
        }
    });
    let site = format!("seeds = [\"http://127.0.0.1:{port}/1.html\"]\n");
    let folder = Folder::new(CONFIG, &[("a.toml", &site)]);
    let url = format!("http://127.0.0.1:{port}/1.html");
    folder.done(&["visit", &url]);
    let log = log.lock().expect("no panic").clone();
    assert_eq!(paths(&log), ["/robots.txt", "/1.html"]);
    let gap = log[1].0.duration_since(log[0].0);
    assert!(gap >= DELAY - Duration::from_millis(1), "{gap:?}");
    assert_eq!(folder.documents().len(), 1);
}
