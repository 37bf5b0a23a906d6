//! The pages of one article are one document, and stay it through revisits, failures and `kill -9`.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use taojin::documents::open_folder;
use taojin_search::analyze::Analyzer;
use taojin_search::index;

use crate::support::small_web::{Reply, SmallWeb, article};

const PAGES: [&str; 3] = ["a.test/n/5.html", "a.test/n/5_2.html", "a.test/n/5_3.html"];

/// What fails is due again at once.
const SOON: &str = "[revisit]\nretry_ms = 1\nmax_retry_ms = 1\n";

/// One page of the article with the pager that all of them have.
fn page(number: usize, marker: &str) -> Reply {
    let text = article(&format!("深井纪事（{number}）{marker}"), "");
    let pager =
        "<div class=pager><a href=5.html>1</a> <a href=5_2.html>2</a> <a href=5_3.html>3</a></div>";
    Reply::page(&text.replace("</body>", &format!("{pager}</body>")))
}

/// The article among another; its second page is in the list, too.
fn web(more_config: &str) -> SmallWeb {
    let web = SmallWeb::new(more_config);
    web.seed(&["a.test/n/5.html", "a.test/n/6.html", "a.test/n/5_2.html"]);
    web.set("a.test/n/6.html", Reply::page(&article("岩心样品送检", "")));
    for (number, address) in (1..).zip(PAGES) {
        web.set(address, page(number, ""));
    }
    web
}

/// Address → text of each document.
fn texts(web: &SmallWeb) -> BTreeMap<String, String> {
    let dir = web.path().join("data");
    let reader = open_folder(&dir, &Analyzer::new(&[]), &index::Config::default());
    let mut found = BTreeMap::new();
    let mut take = |url: String, text: String| {
        let port = format!(":{}", web.port);
        let url = url.replace("http://", "").replace(&port, "");
        assert!(
            found.insert(url, text).is_none(),
            "a document is there twice"
        );
    };
    let reader = reader.expect("the index opens");
    let each = reader.for_each(|stored| {
        take(stored.document.url, stored.document.text);
        true
    });
    each.expect("the index can be read");
    found
}

/// The numbers of the pages whose text stands in the one document of the article, in order.
fn pages_of_document(web: &SmallWeb, marker: &str) -> Vec<usize> {
    let texts = texts(web);
    let addresses: Vec<&str> = texts.keys().map(String::as_str).collect();
    assert_eq!(addresses, ["a.test/n/5.html", "a.test/n/6.html"]);
    let text = &texts[PAGES[0]];
    let place = |number: usize| text.find(&format!("深井纪事（{number}）{marker}的第6段"));
    let mut found: Vec<_> = (1..=3).filter_map(|n| Some((place(n)?, n))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, number)| number).collect()
}

#[test]
fn the_pages_of_an_article_are_one_document() {
    let web = web("");
    let first = web.crawl();
    assert_eq!(pages_of_document(&web, ""), [1, 2, 3]);
    assert_eq!(first["documents_new"], 2, "{first}");
    let why = web.json(&["why", &web.url(PAGES[1]), "--json"]);
    assert_eq!(why["in_index"], false, "{why}");
    assert!(why.to_string().contains("first page"), "{why}");

    // Nothing changes, and the later pages are not asked for again for the sake of the article.
    web.forget_log();
    let again = web.crawl();
    assert_eq!(again["documents_changed"], 0, "{again}");
    assert_eq!(web.asked(PAGES[2]), 0);
    assert_eq!(pages_of_document(&web, ""), [1, 2, 3]);

    for (number, address) in (1..).zip(PAGES) {
        web.set(address, page(number, "修订"));
    }
    web.crawl();
    assert_eq!(pages_of_document(&web, "修订"), [1, 2, 3]);
}

#[test]
fn a_page_that_fails_for_a_while_takes_nothing_from_the_document() {
    let web = web(SOON);
    web.crawl();
    assert_eq!(pages_of_document(&web, ""), [1, 2, 3]);
    for (number, address) in (1..).zip(PAGES) {
        web.set(address, page(number, "修订"));
    }
    web.set(PAGES[2], Reply::status(500));
    web.crawl();
    assert_eq!(pages_of_document(&web, ""), [1, 2, 3], "the old text stays");
    let why = web.json(&["why", &web.url(PAGES[0]), "--json"]);
    assert!(why.to_string().contains("page 3 of the article"), "{why}");
    // In the end the article is taken without it, and that is said.
    let mut tries = 0;
    while pages_of_document(&web, "修订").is_empty() {
        tries += 1;
        assert!(tries < 5, "the article waits for ever");
        thread::sleep(Duration::from_millis(5));
        web.crawl();
    }
    assert_eq!(pages_of_document(&web, "修订"), [1, 2]);
    let why = web.json(&["why", &web.url(PAGES[0]), "--json"]);
    assert!(why.to_string().contains("page 3 of the article"), "{why}");
    // Once it is there again the article is whole, though its first page is as before.
    web.set(PAGES[2], page(3, "修订"));
    web.crawl();
    assert_eq!(pages_of_document(&web, "修订"), [1, 2, 3]);
}

#[test]
fn a_page_that_is_gone_is_told() {
    let web = web("");
    web.set(PAGES[2], Reply::status(404));
    web.crawl();
    assert_eq!(pages_of_document(&web, ""), [1, 2]);
    let why = web.json(&["why", &web.url(PAGES[0]), "--json"]);
    assert!(why.to_string().contains("HTTP 404"), "{why}");
}

#[test]
fn a_kill_between_two_pages_loses_nothing() {
    let web = web("");
    web.set(PAGES[1], page(2, "").after(Duration::from_secs(600)));
    let crawl = web
        .taojin(&["crawl"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut crawl = crawl.expect("taojin starts");
    let asked = Instant::now();
    while web.asked(PAGES[1]) == 0 {
        assert!(
            asked.elapsed() < Duration::from_secs(30),
            "page 2 was not asked for"
        );
        thread::sleep(Duration::from_millis(5));
    }
    crawl.kill().expect("killed");
    crawl.wait().expect("ended");
    web.set(PAGES[1], page(2, ""));
    web.crawl();
    assert_eq!(pages_of_document(&web, ""), [1, 2, 3]);
}
