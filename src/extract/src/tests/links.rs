use proptest::prelude::*;
use regex::{Regex, bytes};

use crate::date::stamp::Clock;
use crate::document::LinkKind;
use crate::fields::links::{Paging, classify_address, classify_links, classify_paging, is_detail};
use crate::lines::outline::Outline;
use crate::page::{self, Hints, Page};
use crate::{Context, extract};
use taojin_uri::CrawlUri;

const CLOCK: Clock = Clock {
    now_ms: None,
    offset_min: Some(480),
    month_first: false,
    republic: false,
};

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
    let (found, _) = classify_links(&page, &outline, None, &CLOCK, page::links(&page, 100));
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

/// The links of a page at `http://a.cn/list/`, each address with the text.
fn links_of(html: &str) -> Vec<String> {
    let hints = Hints {
        url: CrawlUri::parse("http://a.cn/list/").ok(),
        ..Hints::default()
    };
    let document = crate::extract(
        &Page::parse(html.as_bytes(), hints),
        &crate::Context::default(),
    );
    let links = document.links.into_iter();
    links
        .map(|l| format!("{} {}", l.url.replace("http://a.cn", ""), l.text))
        .collect()
}

#[test]
fn links_scripts_lead_to() {
    for (html, want) in [
        (
            r#"<a href="javascript:void(0)" onclick="window.open('/n/71.html')">检修公告</a>"#,
            "/n/71.html 检修公告",
        ),
        (
            r#"<a href="javascript:openNews('/n/72.html', 3)">检修公告</a>"#,
            "/n/72.html 检修公告",
        ),
        (
            r#"<li onclick="location.href='../n/73.html'">检修公告</li>"#,
            "/n/73.html 检修公告",
        ),
        (
            r#"<a data-href="/n/74.html">检修公告</a>"#,
            "/n/74.html 检修公告",
        ),
        (
            r#"<table><tr data-url="/n/75.html"><td>检修公告</td></tr></table>"#,
            "/n/75.html 检修公告",
        ),
        (
            r#"<div><tr data-link="/n/76.html"><td>检修公告</td></tr></div>"#,
            "/n/76.html ",
        ),
        (
            r#"<select onchange="location=this.value"><option value="/n/77.html">检修公告</option></select>"#,
            "/n/77.html 检修公告",
        ),
        (
            r#"<iframe src="/js/viewer.html?file=%2Ff%2Fa.pdf"></iframe>"#,
            "/f/a.pdf ",
        ),
        (
            r#"<object data="/f/b.pdf" type="application/pdf"></object>"#,
            "/f/b.pdf ",
        ),
        (r#"<embed src="/d/78" type="application/pdf">"#, "/d/78 "),
        (
            r#"<object><param name="src" value="/f/c.docx"></object>"#,
            "/f/c.docx ",
        ),
        // What leads nowhere, or is not whole.
        (r##"<a href="#" onclick="tab('news')">检修公告</a>"##, ""),
        (
            r#"<a onclick="open('/n/' + id + '.html')">检修公告</a>"#,
            "",
        ),
        (
            r#"<img data-url="/p/1.html"><div onclick="$.get('/n/79.html')">检修公告</div>"#,
            "",
        ),
        (
            r#"<select><option value="3">三月</option></select><embed src="/v/a.swf">"#,
            "",
        ),
    ] {
        assert_eq!(links_of(html).join("|"), want, "{html}");
    }
}

#[test]
fn links_in_scripts() {
    for (script, want) in [
        (
            r#"<script type="text/xml"><datastore><nextgroup><![CDATA[<a href="/more.jsp?page=1"></a>]]></nextgroup>
               <recordset><record><![CDATA[<li><a href='/art/81.html'>水价调整</a></li>]]></record></recordset></datastore></script>"#,
            "/art/81.html 水价调整",
        ),
        // The address of the next group of records stands whole in them; behind an empty group there is none.
        (
            r#"<script type="text/xml"><datastore><nextgroup><![CDATA[<a href="/m/dataproxy.jsp?page=1&unitid=7"></a>]]></nextgroup>
               <recordset><record><![CDATA[<li><a href='/art/85.html'>水价调整</a></li>]]></record></recordset></datastore></script>
               <script>x.jpage({totalRecord:9,proxyUrl:'/m/dataproxy.jsp',perPage:9,ajaxParam:{unitid:7}})</script>"#,
            "/m/dataproxy.jsp?page=1&unitid=7 next|/art/85.html 水价调整",
        ),
        (
            r#"<script type="text/xml"><datastore><nextgroup><![CDATA[<a href="/m/dataproxy.jsp?page=9&unitid=7"></a>]]></nextgroup>
               <recordset></recordset></datastore></script>"#,
            "",
        ),
        (
            r#"<script>x.jpage({totalRecord:20,proxyUrl:'/m/dataproxy.jsp',perPage:4,ajaxParam:{unitid:7}})</script>"#,
            "/m/dataproxy.jsp?startrecord=1&endrecord=12&perpage=4&unitid=7 1|\
             /m/dataproxy.jsp?startrecord=13&endrecord=20&perpage=4&unitid=7 2",
        ),
        (
            r#"<script>var list = ["<li><a href=\"/art/82.html\">水价调整</a></li>"];</script>"#,
            "/art/82.html 水价调整",
        ),
        (
            r#"<script>window.__STATE__={"list":[{"id":1,"title":"水价调整","url":"\/art\/83.html","cover_url":"/c/1.html"}]}</script>"#,
            "/art/83.html 水价调整",
        ),
        (
            r#"<script type="application/json">{"rows":[{"link":"/art/84.html","name":"水价调整"}],"next":"/list/x"}</script>"#,
            "/art/84.html 水价调整",
        ),
        (
            r#"<script>var files = ['/f/a.pdf', "/f/b.docx"];</script>"#,
            "/f/a.pdf |/f/b.docx ",
        ),
        (
            r#"<script>createPageHTML(3, 0, "index", "html");</script>"#,
            "/list/index_1.html 2|/list/index_2.html 3",
        ),
        // Other papers of the same house are none of its list.
        (
            r#"<script>var x = [{"name":"北站","url":"http://n.b.cn/"},{"name":"水价","url":"/p/"}]</script>"#,
            "/p/ 水价",
        ),
        // Parts, patterns, what programs ask for.
        (
            r#"<script>document.write('<a href="' + url + '">x</a>'); f = '/f/' + n + '.pdf';</script>"#,
            "",
        ),
        (
            r#"<script>var t = '<a href="/art/${id}.html">水价调整</a>';</script>"#,
            "",
        ),
        (
            r#"<script type="text/template"><a href="/art/{{id}}.html">水价</a> '/f/a.pdf'</script>"#,
            "",
        ),
        (
            r#"<script>var c = {"apis":[{"name":"list all","url":"/api/list"},{"name":"up","url":"/up.do"}]}</script>"#,
            "",
        ),
    ] {
        assert_eq!(links_of(script).join("|"), want, "{script}");
    }
}

/// The files of a page with the day beside each.
fn files(html: &str) -> Vec<(String, Option<String>)> {
    let page = format!("<title>下载中心</title><h1>下载中心</h1><p>2026-05-06</p>{html}");
    let hints = Hints {
        url: CrawlUri::parse("http://a.example/down.html").ok(),
        ..Hints::default()
    };
    let found = extract(&Page::parse(page.as_bytes(), hints), &Context::default());
    let files = found.attachments.into_iter();
    files
        .map(|file| {
            (
                file.url.rsplit('/').next().unwrap_or_default().to_owned(),
                file.published,
            )
        })
        .collect()
}

#[test]
fn day_beside_a_file() {
    let item = |name: &str, day: &str| {
        (
            name.to_owned(),
            Some(day.to_owned()).filter(|day| !day.is_empty()),
        )
    };
    let expected = [
        item("1.pdf", "2018-03-20"),
        item("2.pdf", "2010-04-01"),
        item("3.pdf", ""),
    ];
    for html in [
        "<ul><li><a href=/1.pdf>甲报告</a><span>2018-03-20</span><li><span>2010年4月1日</span><a href=/2.pdf>乙报告</a>\
         <li><a href=/3.pdf>丙报告</a></ul>",
        "<table><tr><td><a href=/1.pdf>甲报告</a><td>2018-03-20<td>1.2 MB<tr><td><a href=/2.pdf>乙报告（2009-12-31）</a><td>2010-04-01\
         <tr><td><a href=/3.pdf>丙报告</a><td></table>",
        "<a href=/1.pdf>甲报告</a> [2018-03-20]<br><a href=/2.pdf>乙报告</a> [2010-04-01]<br><a href=/3.pdf>丙报告</a>",
        "<div class=f><div><a href=/1.pdf>甲报告</a></div><div>生效 2018-06-01</div><div>发布日期：2018-03-20</div></div>\
         <div class=f><div><a href=/2.pdf>乙报告</a></div><div>2010/04/01</div></div><div class=f><div><a href=/3.pdf>丙报告</a></div></div>",
    ] {
        assert_eq!(files(html), expected, "{html}");
    }
    // Two forms of one file.
    let html = "<table><tr><td>甲报告<td>2018-03-20<td><a href=/1.pdf>PDF</a><td><a href=/1.docx>Word</a>\
                <tr><td>乙报告<td>2010-04-01<td><a href=/2.pdf>PDF</a></table>";
    let days: Vec<_> = files(html)
        .into_iter()
        .map(|file| file.1.unwrap_or_default())
        .collect();
    assert_eq!(days, ["2018-03-20", "2018-03-20", "2010-04-01"]);
}
