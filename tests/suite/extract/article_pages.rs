//! The pages of one article are one document, and stay it through revisits, failures and `kill -9`.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::support::folder::{RunExt as _, assert_has};
use crate::support::small_web::{Reply, SmallWeb, article};
use crate::support::wait_until;

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
    web.set_article("a.test/n/6.html", "岩心样品送检");
    set_pages(&web, "");
    web
}

fn set_pages(web: &SmallWeb, marker: &str) {
    for (number, address) in (1..).zip(PAGES) {
        web.set(address, page(number, marker));
    }
}

/// Address → text of each document.
fn texts(web: &SmallWeb) -> BTreeMap<String, String> {
    let documents = web.documents().into_iter();
    documents.map(|d| (web.short(&d.url), d.text)).collect()
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
fn article_pages_join() {
    let web = web("");
    let first = web.crawl();
    assert_eq!(pages_of_document(&web, ""), [1, 2, 3]);
    assert_eq!(first["documents_new"], 2, "{first}");
    let why = web.why(PAGES[1]);
    assert_eq!(why["in_index"], false, "{why}");
    assert_has(&why.to_string(), &["first page"]);

    // Nothing changes, and the later pages are not asked for again for the sake of the article.
    web.forget_log();
    let again = web.crawl();
    assert_eq!(again["documents_changed"], 0, "{again}");
    assert_eq!(web.asked(PAGES[2]), 0);
    assert_eq!(pages_of_document(&web, ""), [1, 2, 3]);

    set_pages(&web, "修订");
    web.crawl();
    assert_eq!(pages_of_document(&web, "修订"), [1, 2, 3]);
}

#[test]
fn failing_article_page_keeps_text() {
    let web = web(SOON);
    web.crawl();
    assert_eq!(pages_of_document(&web, ""), [1, 2, 3]);
    set_pages(&web, "修订");
    web.set(PAGES[2], Reply::status(500));
    web.crawl();
    assert_eq!(pages_of_document(&web, ""), [1, 2, 3], "the old text stays");
    let why = web.why(PAGES[0]);
    assert_has(&why.to_string(), &["page 3 of the article"]);
    // In the end the article is taken without it, and that is said.
    wait_until("the article is taken", || {
        web.crawl();
        !pages_of_document(&web, "修订").is_empty()
    });
    assert_eq!(pages_of_document(&web, "修订"), [1, 2]);
    let why = web.why(PAGES[0]);
    assert_has(&why.to_string(), &["page 3 of the article"]);
    // Once it is there again the article is whole, though its first page is as before.
    web.set(PAGES[2], page(3, "修订"));
    web.crawl();
    assert_eq!(pages_of_document(&web, "修订"), [1, 2, 3]);
}

#[test]
fn missing_article_page_is_reported() {
    let web = web("");
    web.set(PAGES[2], Reply::status(404));
    web.crawl();
    assert_eq!(pages_of_document(&web, ""), [1, 2]);
    let why = web.why(PAGES[0]);
    assert_has(&why.to_string(), &["HTTP 404"]);
}

#[test]
fn kill_between_article_pages() {
    let web = web("");
    web.set(PAGES[1], page(2, "").after(Duration::from_secs(600)));
    let crawl = web.taojin(&["crawl"]).started();
    wait_until("page 2 is asked for", || web.asked(PAGES[1]) > 0);
    drop(crawl);
    web.set(PAGES[1], page(2, ""));
    web.crawl();
    assert_eq!(pages_of_document(&web, ""), [1, 2, 3]);
}
