//! Tests of the addresses that a script reads as JSON.

use super::super::find_json_endpoints;
use crate::page::{Hints, Page};
use taojin_uri::CrawlUri;

/// The endpoints of a page at `https://a.example/news/7.html`.
fn endpoints(html: &str) -> Vec<String> {
    let url = CrawlUri::parse("https://a.example/news/7.html").ok();
    let page = Page::parse(
        html.as_bytes(),
        Hints {
            url,
            ..Hints::default()
        },
    );
    let found = find_json_endpoints(&page).into_iter();
    found.map(|uri| uri.to_string()).collect()
}

#[test]
fn json_endpoints_are_named() {
    for html in [
        "<div id=c data-comments-url='/api/c?id=7'></div>",
        "<section data-comment-api=\"../api/c?id=7\"></section>",
        "<link rel=comments type=application/json href=/api/c?id=7>",
        r#"<script>window.S={"commentUrl":"\/api\/c?id=7","x":1}</script>"#,
        "<script>var commentsApi = '/api/c?id=7', n = 1;</script>",
        "<script>cfg.评论接口 = '/api/c?id=7'</script>",
        r#"<script type="application/json">{"page":{"replyUrl":"https://a.example/api/c?id=7"}}</script>"#,
    ] {
        assert_eq!(endpoints(html), ["https://a.example/api/c?id=7"], "{html}");
    }
    for html in [
        "<script>fetch('/comments.json?id=7').then(show)</script>",
        "<script>$.getJSON(\"/comments.json?id=7\", show)</script>",
        "<script>load(`/comments.json?id=7`)</script>",
        "<link type='application/json' href='/comments.json?id=7'>",
    ] {
        let wanted = "https://a.example/comments.json?id=7";
        assert_eq!(endpoints(html), [wanted], "{html}");
    }
}

#[test]
fn no_json_endpoints() {
    for html in [
        "<div data-comments-count=12 data-comment-id=7></div>",
        "<script src=/static/comments.js></script>",
        "<iframe src=/comments/7></iframe>",
        "<script>load('/static/comments.js'); css('/comments.css'); go('/comments.html')</script>",
        "<script>fetch('/api/comments?id=' + id)</script>",
        "<script>fetch(base + '/api/comments')</script>",
        "<script>fetch(`/api/comments/${id}`); f('/api/comments/{id}'); g('/comments/%s')</script>",
        "<script>$.post('/comment/add', data); $.post('/comment/submit.do')</script>",
        "<script>var home = '/news/', title = 'comments are open'</script>",
        "<link rel=alternate type=application/json href=/wp-json/wp/v2/pages/7>",
        "<link rel=alternate type=application/rss+xml href=/comments/feed/>",
        "<script>var commentUrl = '/news/7.html'</script>",
    ] {
        assert_eq!(endpoints(html), [""; 0], "{html}");
    }
}

#[test]
fn json_endpoints_are_bounded() {
    let many: String = (0..500)
        .map(|n| format!("<i data-comments-url=/c/{n}></i><script>f('/comments/{n}')</script>"))
        .collect();
    assert!(endpoints(&many).len() <= 8);
    let quotes = format!("<script>{}</script>", "comment='/x\"".repeat(20_000));
    assert!(endpoints(&quotes).len() <= 8);
}
