//! A page of which only the links are wanted names the same addresses as the whole one.

use crate::page::{Builder, Hints, LinkRole, links};
use taojin_uri::CrawlUri;

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
fn a_query_is_encoded_in_the_charset_of_the_page_and_a_path_in_utf_8() {
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
fn links_alone_are_the_links_of_the_whole_page() {
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
