//! What is read out of a body.

use super::*;
use crate::daemon::crawl::visit::page::{FetchedPage, is_other_spelling, read_page};
use crate::daemon::crawl::visit::visitor::redirect_link;
use crate::daemon::crawl::visit::{Held, PageRead};
use taojin_crawl::store::NewUrl;
use taojin_extract::{Document, Kind, Link, LinkKind, Provenance, RobotsTags};

#[test]
fn canonical_only_other_spelling() {
    for (page, canonical, is_spelling) in [
        ("http://a.cn/1.html?from=x", "http://a.cn/1.html", true),
        ("http://www.a.cn/1.html", "https://a.cn/1.html", true),
        ("http://a.cn/news/1.html", "http://a.cn/2026/1.html", true),
        ("http://a.cn/1/", "http://a.cn/1", true),
        ("http://a.cn/1.html", "http://a.cn/1.html", false),
        ("http://a.cn/1.html", "http://a.cn/", false),
        ("http://a.cn/1.html", "http://a.cn/2.html", false),
        ("http://a.cn/1.html", "http://b.cn/1.html", false),
        ("http://a.cn/1.html", "http://m.a.cn/1.html", false),
        ("http://a.cn/?id=2", "http://a.cn/", false),
    ] {
        let found = is_other_spelling(&uri(page), &uri(canonical));
        assert_eq!(found, is_spelling, "{page} → {canonical}");
    }
}

fn document(kind: Kind) -> Document {
    let link = |n: u32, nofollow: bool| Link {
        url: format!("http://a.cn/{n}.html"),
        text: "链接".to_owned(),
        kind: if n == 3 {
            LinkKind::Feed
        } else {
            LinkKind::Other
        },
        nofollow,
    };
    Document {
        url: "http://a.cn/1.html".to_owned(),
        title: Some("标题".to_owned()),
        text: "正文".to_owned(),
        links: vec![link(2, false), link(3, false), link(4, true)],
        kind,
        provenance: Provenance {
            confidence: 0.1,
            ..Provenance::default()
        },
        ..Document::default()
    }
}

fn read_whole(document: Document, head: &Head) -> (PageRead, Vec<NewUrl>) {
    let answer = FetchedPage {
        attachments: true,
        record: &record("http://a.cn/1.html", UrlVisit::default()),
        fetched: &Fetched {
            head: head.clone(),
            ..fetched(VisitOutcome::Page, 200)
        },
        is_live: true,
        joins: true,
    };
    read_page(&answer, document)
}

fn read(document: Document, head: &Head) -> (bool, Vec<String>, Option<String>) {
    let (page, outlinks) = read_whole(document, head);
    (
        matches!(page.document, Held::Document(_)),
        outlinks.iter().map(|l| l.uri.path().to_owned()).collect(),
        page.canonical.map(|uri| uri.to_string()),
    )
}

#[test]
fn robots_directives_hold() {
    let open = Head::default();
    let noindex = Head {
        noindex: true,
        ..Head::default()
    };
    let nofollow = Head {
        nofollow: true,
        ..Head::default()
    };
    let both = ["/2.html", "/3.html"].map(str::to_owned).to_vec();
    let article = || document(Kind::Article);
    for (name, document, head, indexed, links) in [
        ("article", article(), &open, true, both.clone()),
        ("list", document(Kind::Hub), &open, false, both.clone()),
        (
            "error page",
            document(Kind::Error),
            &open,
            false,
            both.clone(),
        ),
        ("neither", document(Kind::Other), &open, false, both.clone()),
        (
            "a clear text of no kind",
            Document {
                provenance: Provenance {
                    confidence: 0.9,
                    ..Provenance::default()
                },
                ..document(Kind::Other)
            },
            &open,
            true,
            both.clone(),
        ),
        ("noindex header", article(), &noindex, false, both.clone()),
        ("nofollow header", article(), &nofollow, true, vec![]),
        (
            "noindex page",
            Document {
                asks: RobotsTags {
                    noindex: true,
                    ..RobotsTags::default()
                },
                ..article()
            },
            &open,
            false,
            both.clone(),
        ),
        (
            "no text",
            Document {
                text: String::new(),
                ..article()
            },
            &open,
            false,
            both.clone(),
        ),
    ] {
        assert_eq!(read(document, head), (indexed, links, None), "{name}");
    }
}

#[test]
fn canonical_page_keeps_document() {
    let page = Document {
        canonical: Some("https://www.a.cn/1.html".to_owned()),
        ..document(Kind::Article)
    };
    let (indexed, links, target) = read(page, &Head::default());
    assert!(indexed);
    assert_eq!(links.last().map(String::as_str), Some("/1.html"));
    assert_eq!(target.as_deref(), Some("https://www.a.cn/1.html"));
}

#[test]
fn feed_links_add_hop() {
    let (_, outlinks) = read_whole(document(Kind::Hub), &Head::default());
    let found: Vec<_> = outlinks.iter().map(|l| (l.class, l.hops, l.via)).collect();
    assert_eq!(
        found,
        [
            (UrlClass::Unknown, 3, Some(7)),
            (UrlClass::Feed, 3, Some(7))
        ]
    );
}

#[test]
fn redirect_keeps_class_and_depth() {
    for (class, wanted) in [
        (UrlClass::Seed, UrlClass::Seed),
        (UrlClass::Feed, UrlClass::Feed),
        (UrlClass::Article, UrlClass::Unknown),
    ] {
        let visit = UrlVisit {
            class,
            ..UrlVisit::default()
        };
        let to = uri("http://a.cn/2.html");
        let link = redirect_link(&record("http://a.cn/1.html", visit), &to);
        assert_eq!((link.class, link.hops, link.redirects), (wanted, 2, 1));
        assert_eq!(link.uri, to);
    }
}
