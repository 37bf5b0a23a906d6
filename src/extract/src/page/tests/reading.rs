//! Visible text, links and kinds.

use taojin_uri::CrawlUri;

use super::{page, page_at};
use crate::page::{Builder, Hints, Kind, LinkRole, NodeId, Page, Tag, count_chars, kind, links};

fn all(page: &Page) -> std::ops::Range<NodeId> {
    0..page.nodes().len() as NodeId
}

#[test]
fn shown_texts_escaped_newline() {
    let page = page("<p>&#13;\n  14.12.2019 &#13;\n<span>21:42</span>&#13;\n<pre>a&#13;\nb</pre>");
    let texts: Vec<&str> = page
        .shown_texts(all(&page))
        .map(|id| page.text(id).trim())
        .filter(|text| !text.is_empty())
        .collect();
    assert_eq!(texts, ["14.12.2019", "21:42", "a\nb"]);
}

#[test]
fn hidden_by_own_attribute() {
    let page = page(
        "<body style='visibility:hidden'><p aria-hidden=true>a<p hidden>b<div hidden id=S:0>c</div>",
    );
    let texts: Vec<&str> = page
        .shown_texts(all(&page))
        .map(|id| page.text(id))
        .collect();
    assert_eq!(texts, ["a", "c"]);
    let p = page.nodes().iter().position(|n| n.tag == Tag::P).unwrap() as NodeId;
    assert!(!page.is_hidden(p), "hidden from screen readers only");
}

#[test]
fn count_chars_collapses_space() {
    for (text, count) in [
        ("", 0),
        (" \n", 0),
        (" 中 文 ", 3),
        ("a  b", 3),
        ("\u{3000}中", 1),
    ] {
        assert_eq!(count_chars(text), count, "{text:?}");
    }
}

#[test]
fn links_resolved_in_order() {
    let page = page_at(
        "http://news.example.com/a/index.html",
        "<head><base href=/b/><link rel='alternate' type=application/rss+xml href=/feed.xml>\
         <link rel=canonical href=http://news.example.com/c><link rel=stylesheet href=x.css>\
         <meta http-equiv=Refresh content='5; URL=\"/moved\"'></head>\
         <a href=one.html><img src=i alt=' 图 '></a> <a href='/b/one.html#part'>再</a>\
         <a href=two.html><b>一</b>\n二</a><a href=two.html rel='nofollow'>x</a>\
         <a href=three rel='NoFollow noopener'></a><a href=four rel=next>下一页</a>\
         <a href=javascript:void(0)>j</a><a href=mailto:a@b.c>m</a><a href=#top>t</a><a name=n>n</a>\
         <a href=ftp://x/>f</a><a href=''>e</a><iframe src=//other.example.org/f></iframe><area href=five alt=五>",
    );
    let links = links(&page, 100);
    let got: Vec<(String, &str, LinkRole, bool)> = links
        .iter()
        .map(|l| (l.url.to_string(), l.text.as_str(), l.role, l.nofollow))
        .collect();
    let at = |path: &str| format!("http://news.example.com{path}");
    let expected = [
        (at("/feed.xml"), "", LinkRole::Feed, false),
        (at("/c"), "", LinkRole::Canonical, false),
        (at("/moved"), "", LinkRole::Refresh, false),
        (at("/b/one.html"), "图", LinkRole::Anchor, false),
        (at("/b/two.html"), "一 二", LinkRole::Anchor, false),
        (at("/b/three"), "", LinkRole::Anchor, true),
        (at("/b/four"), "下一页", LinkRole::Part, false),
        (
            "http://other.example.org/f".to_owned(),
            "",
            LinkRole::Frame,
            false,
        ),
        (at("/b/five"), "五", LinkRole::Anchor, false),
    ];
    assert_eq!(got, expected);
}

#[test]
fn links_limit_and_base() {
    let html: String = (0..50).map(|i| format!("<a href=/{i}>{i}</a>")).collect();
    let page_with = page_at("http://a.example/", &html);
    assert_eq!(links(&page_with, 7).len(), 7);
    assert!(links(&page(&html), 7).is_empty());
    let absolute = page("<a href=https://a.example/x>x</a>");
    assert_eq!(links(&absolute, 7)[0].url.as_str(), "https://a.example/x");
}

fn menu(items: usize, text: &str) -> String {
    (0..items)
        .map(|i| format!("<li><a href=/c/{i}.shtml>{text}{i}</a></li>"))
        .collect()
}

const FOOTER: &str = "<div class=footer><p>版权所有：某某新闻网站有限公司，未经书面授权禁止转载、摘编、复制或建立镜像，\
    如有违反，追究法律责任。本网站所载信息仅供参考，不构成任何投资建议。</p><p>网络视听许可证 京ICP备00000000号，\
    违法和不良信息举报电话：010-00000000，举报邮箱：report@example.com，欢迎广大网友监督。</p></div>";

#[test]
fn kind_picture_story() {
    let html = format!(
        "<title>塔里木油田夜间施工现场灯火通明_图片_石油新闻</title><ul>{}</ul><h1>塔里木油田夜间施工现场灯火通明</h1>\
         <span>2019-09-07 13:43</span><p><img src=a.jpg></p><p>图为施工现场。</p>{FOOTER}",
        menu(20, "要闻")
    );
    let page = page_at("http://a.example/2019/09/07/0015.shtml", &html);
    assert_eq!(kind(&page, Some(200)), Kind::Article);
}

#[test]
fn kind_hub_or_article() {
    let html = format!(
        "<title>石油新闻</title><h1>新闻中心</h1><ul>{}</ul>{FOOTER}",
        menu(60, "某油田今年产量创下历史新高纪录")
    );
    for url in [
        "http://a.example/",
        "http://a.example/news/list_2.html",
        "http://a.example/news/",
    ] {
        assert_eq!(kind(&page_at(url, &html), Some(200)), Kind::Hub, "{url}");
    }
    let text =
        "<p>今年以来，油田坚持效益优先，产量稳步增长，安全生产形势平稳，各项指标好于去年同期。</p>"
            .repeat(8);
    let html = format!(
        "<title>油田产量稳步增长</title><ul>{}</ul><div>{text}</div>",
        menu(15, "要闻")
    );
    assert_eq!(kind(&page(&html), None), Kind::Article);
}

#[test]
fn kind_error_by_status_or_words() {
    let missing =
        "<title>404 - 页面不存在</title><p>抱歉，您访问的页面不存在。<a href=/>返回首页</a>";
    assert_eq!(kind(&page(missing), Some(200)), Kind::Error);
    let quiet = "<title>石油新闻网</title><p>您访问的页面已被删除，5 秒后返回首页。";
    assert_eq!(kind(&page(quiet), None), Kind::Error);
    assert_eq!(kind(&page("<p>x"), Some(503)), Kind::Error);
    let text = "<p>法院今天判决，网站显示“404 页面不存在”不构成违约，原告的全部诉讼请求被驳回，案件受理费由原告负担。</p>".repeat(6);
    let news = format!("<title>“404 页面不存在”案宣判</title><div>{text}</div>");
    assert_eq!(kind(&page(&news), Some(200)), Kind::Article);
}

#[test]
fn kind_404_as_plain_number() {
    let list = |title: &str| {
        let items: String = (390..410)
            .map(|n| format!("<li><a href=/{n}.html>page R{n}</a> <i>no. {n}</i></li>"))
            .collect();
        format!("<title>{title}</title><h1>All pages</h1><ul>{items}</ul><a href=/2>next</a>")
    };
    for title in "All pages~page 404~第404页~R404, R405~Page R-404".split('~') {
        assert_eq!(kind(&page(&list(title)), Some(200)), Kind::Hub, "{title}");
    }
    let short = "<p>The crew of the well checked every valve before noon and found nothing odd.";
    for title in "page R404~第404号公告~Well 404 in test~404 wells drilled".split('~') {
        let html = format!("<title>{title}</title><h1>{title}</h1>{short}");
        assert_ne!(kind(&page(&html), Some(200)), Kind::Error, "{title}");
    }
    for title in "404~404 Not Found~Error 404~404错误~404 - 某网站~HTTP 404".split('~') {
        let html = format!("<title>{title}</title><p>sorry");
        assert_eq!(kind(&page(&html), Some(200)), Kind::Error, "{title}");
    }
    let quoted =
        "<title>常见问题</title><ul><li>为什么说页面不存在？<li>怎样登录？</ul><p>请看说明";
    assert_ne!(kind(&page(quoted), Some(200)), Kind::Error);
}

#[test]
fn kind_empty_page() {
    assert_eq!(kind(&page(""), None), Kind::Other);
    assert_eq!(
        kind(&page("<script>x()</script><div id=app></div>"), None),
        Kind::Other
    );
}

fn hints() -> Hints {
    Hints {
        url: CrawlUri::parse("http://a.example/dir/page.html").ok(),
        ..Hints::default()
    }
}

fn named(mut builder: Builder, html: &str, piece: usize) -> Vec<(String, LinkRole, bool)> {
    for bytes in html.as_bytes().chunks(piece) {
        builder.feed(bytes);
    }
    let found = links(&builder.finish(), 100);
    found
        .into_iter()
        .map(|link| (link.url.to_string(), link.role, link.nofollow))
        .collect()
}

#[test]
fn links_query_in_page_charset() {
    let html = "<meta charset=gb2312><a href='/新闻/1.html'>一<a href='/list.asp?class=新闻#中'>二\
        <a href='?k=a&c=%D0%C2'>三<a href='/x#?新'>四";
    let (bytes, _, _) = encoding_rs::GBK.encode(html);
    let mut builder = Builder::new(hints());
    builder.feed(&bytes);
    let found = links(&builder.finish(), 100);
    let found: Vec<&str> = found.iter().map(|link| link.url.as_str()).collect();
    assert_eq!(
        found,
        [
            "http://a.example/%E6%96%B0%E9%97%BB/1.html",
            "http://a.example/list.asp?class=%D0%C2%CE%C5",
            "http://a.example/dir/page.html?k=a&c=%D0%C2",
            "http://a.example/x",
        ]
    );
}

#[test]
fn links_only_builder() {
    let html = "<!DOCTYPE html><html><head><base href='/news/'><link rel=canonical href=c.html>\
        <link rel=alternate type='application/rss+xml' href='/rss'><meta name=robots content=nofollow>\
        <meta http-equiv=refresh content='5; url=/next'><script>var a = \"<a href='/no'>\";</script>\
        <style>a { color: red }</style></head><body><!-- <a href='/comment'>x</a> -->\
        <table><tr><td><a href=1.html>一<a href='2.html?x=1&amp;y=2'>二</a></table>\
        <p><A HREF='/三.html' rel='nofollow'>三</A><iframe src=frame.html></iframe>\
        <map><area href=area.html></map><textarea><a href='/no'></textarea><a href='1.html'>again</a>\
        <noscript><img src=x></noscript><a name=here>no link</a><a href='javascript:x()'>no</a>";
    let whole = named(Builder::new(hints()), html, html.len());
    assert!(whole.len() == 8, "{whole:?}");
    for piece in [1, 7, 100, html.len()] {
        assert_eq!(
            named(Builder::for_links(hints()), html, piece),
            whole,
            "{piece}"
        );
    }
    let page = {
        let mut builder = Builder::for_links(hints());
        builder.feed(html.as_bytes());
        builder.finish()
    };
    assert!(page.nodes().len() < 25, "only what names addresses is kept");
}

#[test]
fn links_only_as_whole_page() {
    let (one, two) = ("<a href=/1>1</a>", "<a href='/2'>2</a>");
    for between in [
        "<!-->",
        "<!--->",
        "<!-- <a href=/no> --!>",
        "<!-- > <a href=/no> -- > --->",
        "<!--!> <a href=/no> -->",
        "<!-- <a href=/no>",
        "<!doctype html><!x <a href=/no>",
        "<?php echo '<a href=/no>",
        "</ <a href=/no>",
        "</><3 < <",
        "<div title='<a href=/no>' a=\"'>\">",
        "<div title='<a href=/no>",
        "<SCRIPT>'<a href=/no></scrip><!-- <script> </script> --></Script >",
        "<title><a href=/no></title><style><a href=/no></style/>",
        "<noscript><a href=/no></noscript><xmp><a href=/no></xmp>",
        "<script src=x />'<a href=/no>'</script>",
        "<iframe src=/frame><a href=/no></iframe>",
        "<svg><title/><script/><style><a href=/in></a></style></svg>",
        "<svg><![CDATA[ <a href=/no> ]]></svg><![CDATA[ <a href=/no> ]]>",
        "<svg><path><p><style><a href=/no></style>",
        "<math/><style><a href=/no></style>",
        "<plaintext>",
    ] {
        let html = format!("{one}{between}{two}");
        let (whole, only) = (Builder::new(hints()), Builder::for_links(hints()));
        let whole = named(whole, &html, html.len());
        assert_eq!(named(only, &html, 3), whole, "{between}");
    }
}
