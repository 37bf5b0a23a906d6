use crate::extract::document::LinkKind;
use crate::extract::links::links;
use crate::extract::outline::Outline;
use crate::page::{Hints, Page};
use crate::uri::CrawlUri;

#[test]
fn links_are_told_apart_by_text_and_address() {
    let html = r#"<link rel="alternate" type="application/rss+xml" href="/rss.xml"><link rel=canonical href=/x>
        <a href="/news/">新闻</a><a href="/news/2016/0509/100123.html">世界石油大会在京召开</a>
        <a href="/news/list_2.html">下一页</a><a href="/about">关于我们</a><a href="?page=3">3</a>
        <a href="/a/well-drilled-in-the-north">Well drilled in the north</a>"#;
    let hints = Hints {
        url: CrawlUri::parse("http://a.example/").ok(),
        ..Hints::default()
    };
    let page = Page::parse(html.as_bytes(), hints);
    let outline = Outline::of(&page, false);
    let found: Vec<_> = links(&page, &outline, 100)
        .into_iter()
        .map(|l| (l.url.replace("http://a.example", ""), l.kind))
        .collect();
    let expected = [
        ("/rss.xml", LinkKind::Feed),
        ("/news/", LinkKind::Hub),
        ("/news/2016/0509/100123.html", LinkKind::Article),
        ("/news/list_2.html", LinkKind::Hub),
        ("/about", LinkKind::Other),
        ("/?page=3", LinkKind::Hub),
        ("/a/well-drilled-in-the-north", LinkKind::Article),
    ];
    let expected: Vec<_> = expected.map(|(u, k)| (u.to_owned(), k)).into();
    assert_eq!(found, expected);
}
