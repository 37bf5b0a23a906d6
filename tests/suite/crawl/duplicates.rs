//! One page at several addresses is one document, and none is lost when they part.

use crate::support::small_web::{Reply, SmallWeb, article};

/// A deletion or a change is followed at once.
const SOON: &str = "[revisit]\ngone_after_ms = 1";

const COPIES: [&str; 4] = [
    "a.test/n/1.html",
    "www.a.test/n/1.html",
    "a.test/n/1.html?from=list",
    "a.test/copy/9.html",
];

fn copies() -> SmallWeb {
    let web = SmallWeb::new(SOON);
    web.seed(&COPIES);
    for address in COPIES {
        web.set_article(address, "岩心样品送检");
    }
    web
}

#[test]
fn duplicates_become_one_document() {
    let web = copies();
    let first = web.crawl();
    let indexed = web.indexed();
    assert_eq!(indexed.len(), 1, "{indexed:?}");
    let (url, others) = indexed.first_key_value().expect("one document");
    assert_eq!(others.len(), 3, "{url}: {others:?}");
    assert!(COPIES.contains(&url.as_str()) && !others.contains(url));
    assert_eq!(first["documents_new"], 1);
    assert_eq!(first["documents_duplicate"], 3);
    let why = web.why(&others[0]);
    assert_eq!(why["alias_of"], *web.url(url), "{why}");
    assert_eq!(why["in_index"], false);

    // Nothing changes, nothing is done.
    let again = web.crawl();
    assert_eq!(again["wasted"], 0, "{again}");
    assert_eq!(web.indexed(), indexed);
}

#[test]
fn duplicate_takes_over_deleted_primary() {
    let web = copies();
    web.crawl();
    let mut left = COPIES.to_vec();
    while let Some((url, _)) = web.indexed().first_key_value() {
        web.set(url, Reply::status(410));
        left.retain(|address| address != url);
        web.crawl();
        web.crawl();
        let indexed = web.indexed();
        assert_eq!(indexed.len(), usize::from(!left.is_empty()), "{indexed:?}");
        assert!(indexed.keys().all(|u| left.contains(&u.as_str())));
    }
    assert!(left.is_empty());
}

#[test]
fn duplicates_split_on_change() {
    for changes_primary in [true, false] {
        let web = copies();
        web.crawl();
        let indexed = web.indexed();
        let (url, others) = indexed.first_key_value().expect("one document");
        let changed = if changes_primary { url } else { &others[1] };
        web.set_article(changed, "岩心样品另有结果");
        web.crawl();
        web.crawl();
        let indexed = web.indexed();
        assert_eq!(indexed.len(), 2, "{indexed:?}");
        assert!(indexed.contains_key(changed), "{indexed:?}");
    }
}

fn canonical(web: &SmallWeb) -> String {
    format!(
        "<link rel=canonical href=\"{}\">",
        web.url("a.test/c/1.html")
    )
}

#[test]
fn canonical_url_takes_over() {
    let web = SmallWeb::new(SOON);
    web.seed(&["a.test/c/1.html?print=1", "a.test/c/1.html?m=2"]);
    let head = canonical(&web);
    let page = |title| article(title, &head);
    web.set_page("a.test/c/1.html?print=1", &page("油田修井（打印版）"));
    for address in ["a.test/c/1.html?m=2", "a.test/c/1.html"] {
        web.set_page(address, &page("油田修井"));
    }
    web.crawl();
    web.crawl();
    let indexed = web.indexed();
    assert_eq!(indexed.keys().collect::<Vec<_>>(), ["a.test/c/1.html"]);

    // Gone, it leaves what named it.
    web.set("a.test/c/1.html", Reply::status(410));
    web.crawl();
    web.crawl();
    let indexed = web.indexed();
    assert_eq!(
        indexed.keys().collect::<Vec<_>>(),
        ["a.test/c/1.html?m=2", "a.test/c/1.html?print=1"]
    );
}

#[test]
fn broken_canonical_keeps_page() {
    for reply in [
        Reply::status(404),
        Reply::status(500),
        Reply::status(302).header("Location: /c/1.html?print=1"),
        Reply::page("<title>首页</title><p>没有正文"),
        Reply::page(&article("不给搜索", "<meta name=robots content=noindex>")),
    ] {
        let web = SmallWeb::new(SOON);
        web.seed(&["a.test/c/1.html?print=1"]);
        let head = canonical(&web);
        web.set_page("a.test/c/1.html?print=1", &article("油田修井", &head));
        web.set("a.test/c/1.html", reply.clone());
        web.crawl();
        web.crawl();
        let indexed = web.indexed();
        assert_eq!(
            indexed.keys().collect::<Vec<_>>(),
            ["a.test/c/1.html?print=1"],
            "canonical answered {}",
            reply.status
        );
    }
}
