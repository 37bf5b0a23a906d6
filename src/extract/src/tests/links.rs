use proptest::prelude::*;
use regex::{Regex, bytes};

use crate::document::LinkKind;
use crate::fields::links::{Paging, classify_address, classify_links, classify_paging, is_detail};
use crate::lines::outline::Outline;
use crate::page::{self, Hints, Page};
use taojin_uri::CrawlUri;

#[test]
fn link_kind_by_text_and_url() {
    let html = r#"<link rel="alternate" type="application/rss+xml" href="/rss.xml"><link rel=canonical href=/x>
        <a href="/news/">新闻</a><a href="/news/2016/0509/100123.html">世界石油大会在京召开</a>
        <a href="/news/list_2.html">下一页</a><a href="/about">关于我们</a><a href="?page=3">3</a>
        <a href="/a/well-drilled-in-the-north">Well drilled in the north</a>"#;
    let hints = Hints {
        url: CrawlUri::parse("http://a.example/").ok(),
        ..Hints::default()
    };
    let page = Page::parse(html.as_bytes(), hints);
    let outline = Outline::new(&page, false);
    let (found, _) = classify_links(&page, &outline, None, page::links(&page, 100));
    let found: Vec<_> = found
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

#[test]
fn url_useless_or_list() {
    for path in "/a.JPG~/login~/user.php?id=1~/x/search?q=1~/x?a=1&print=1".split('~') {
        assert!(classify_address(path).useless, "{path}");
    }
    for path in "/users/a~/a.html~/loginx~/x?reprint=1~/share-1~/".split('~') {
        assert!(!classify_address(path).useless, "{path}");
    }
    for path in "/~/news/~/index_2.shtml~/tags/oil~/a?b=1&page=3~/List-7".split('~') {
        assert!(classify_address(path).list, "{path}");
    }
    for path in "/a~/indexes.html~/a?page=3&b=1~/a?page=x~/list?x~/node12a".split('~') {
        assert!(!classify_address(path).list, "{path}");
    }
}

proptest! {
    #[test]
    fn url_hints_as_patterns(
        path in "/((index|list|tags?|topics?|page|author|login|share|print|help|7z|mp3|jpe?g|x|replytocom|pageno|p)|[-_./?&=0-9]){0,9}",
    ) {
        let list = Regex::new(
            r"(?i-u)(/$|/(index|list|default|node|channel|home|category|tag|tags|topics?|section|page|archives?|author)[-_\d]*([./]|$)|[?&](page|p|pn|pageno|start|offset)=\d+$)",
        );
        let useless = Regex::new(
            r"(?i-u)(\.(jpe?g|png|gif|webp|svg|ico|css|js|zip|rar|7z|exe|apk|dmg|mp[34]|avi|mov|pdf|docx?|xlsx?|pptx?)$|/(login|logout|signin|signup|register|passport|user|account|cart|search|share|print|feedback|about|contact|privacy|terms|help|download)([/.?]|$)|[?&](share|replytocom|print)=)",
        );
        prop_assert_eq!(classify_address(&path).list, list.expect("a pattern").is_match(&path));
        prop_assert_eq!(classify_address(&path).useless, useless.expect("a pattern").is_match(&path));
    }

    #[test]
    fn url_detail_as_pattern(
        path in "/(([a-f]|t|c|doc|art|content|detail|article|news|info|post|thread|p|show|item|id|tid|newsid|19|20|0|12|31|4567|[.]s?html?|[.]HTM|/|/|/|-|-|_|[?]|&|=|[.]|%){0,12})",
    ) {
        let detail = bytes::Regex::new(
            r"(?i-u)(/(19|20)\d{2}[-/_]?[01]?\d([-/_]?[0-3]?\d)?[/_-][^/]*[^/]|/[a-z_-]*\d{4,}[^/]*(\.s?html?|\.php|\.jsp|\.aspx?)?$|/(t|c|doc|art|content|detail|article|news|info|post|thread|p|a|show|item|id)[-_/]?[\da-f-]{4,}|[?&](id|aid|tid|newsid|articleid|docid|p)=\d{2,}|/[^/]+-[^/]+-[^/]+-[^/]+/?$|/[^/]*[a-z\d][^/]*\.s?html?$)",
        );
        prop_assert_eq!(is_detail(&path), detail.expect("a pattern").is_match(path.as_bytes()));
    }
}

#[test]
fn paging_words_by_language() {
    for (text, want) in [
        ("3", Some(Paging::Number(3))),
        ("[12]", Some(Paging::Number(12))),
        ("第 3 页", Some(Paging::Number(3))),
        ("Page 4", Some(Paging::Number(4))),
        ("下一页 >", Some(Paging::Next)),
        ("下一頁", Some(Paging::Next)),
        ("Next page", Some(Paging::Next)),
        ("次のページ", Some(Paging::Next)),
        ("다음", Some(Paging::Next)),
        ("Далее", Some(Paging::Next)),
        ("Siguiente", Some(Paging::Next)),
        ("»", Some(Paging::Next)),
        ("« Previous", Some(Paging::Previous)),
        ("尾页", Some(Paging::Other)),
        ("20260503", None),
        ("下一篇", None),
        ("Next story: the wells", None),
        ("", None),
    ] {
        assert_eq!(classify_paging(text), want, "{text}");
    }
}
