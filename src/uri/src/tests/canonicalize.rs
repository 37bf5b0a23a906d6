use proptest::prelude::*;

use crate::{CrawlUri, MAX_URI_BYTES, UriError, spelling};

fn canonical(text: &str) -> String {
    CrawlUri::parse(text).map_or_else(|e| format!("error: {e}"), |u| u.to_string())
}

#[test]
fn parse_refuses_with_reason() {
    let rows = [
        (
            "not a URL",
            "~news.example~http://~http://./~http://a b/~https://example%2Xcom/~http://[::1~http://1.2.3.256/~http://a:70000/",
        ),
        (
            "scheme",
            "javascript:void(0)~mailto:a@b.example~file:///etc/passwd~data:text/html,x",
        ),
    ];
    for (reason, texts) in rows {
        for text in texts.split('~') {
            let got = canonical(text);
            assert!(
                got.starts_with(&format!("error: {reason}")),
                "{text}: {got}"
            );
        }
    }
}

#[test]
fn parse_limit_on_canonical() {
    let path = "a".repeat(MAX_URI_BYTES - "http://h.example/".len());
    let longest = format!("http://h.example/{path}");
    assert_eq!(canonical(&longest), longest);
    assert_eq!(
        CrawlUri::parse(&format!("{longest}a")),
        Err(UriError::TooLong(MAX_URI_BYTES + 1, MAX_URI_BYTES))
    );
    let tracked = format!("{longest}?utm_source={}", "b".repeat(500));
    assert_eq!(canonical(&tracked), longest);
    let chinese = format!("http://h.example/{}", "油".repeat(300));
    assert!(matches!(
        CrawlUri::parse(&chinese),
        Err(UriError::TooLong(2717, _))
    ));
    let page = CrawlUri::parse("http://h.example/").unwrap();
    let image = format!("data:image/png;base64,{}", "A".repeat(1 << 20));
    assert!(matches!(page.join(&image), Err(UriError::TooLong(..))));
}

/// What goes in and what comes out, by parts of a URL.
const SPELLINGS: &str = "\
# What goes in, what comes out.
# scheme, user, host, port
HTTP://News.Example/ => http://news.example/
http://news.example:80/ => http://news.example/
https://news.example:443/ => https://news.example/
https://news.example:80/ => https://news.example:80/
http://news.example:/ => http://news.example/
http://news.example:08080/ => http://news.example:8080/
http://user:secret@news.example/ => http://news.example/
http://user@news.example/ => http://news.example/
http://news.example./a => http://news.example/a
http://news.example..:81/a => http://news.example:81/a
http://news%2Eexample/ => http://news.example/
http://石油.example/ => http://xn--uvw92v.example/
http://新闻。中国/ => http://xn--efvy88h.xn--fiqs8s/
http://ｎｅｗｓ.example/ => http://news.example/
http://bücher.example/ => http://xn--bcher-kva.example/
http:/news.example/a => http://news.example/a
# addresses in odd spellings
http://2130706433/ => http://127.0.0.1/
http://0x7f.1/ => http://127.0.0.1/
http://0177.0.0.1/ => http://127.0.0.1/
http://127.1./ => http://127.0.0.1/
http://１２７.0.0.1/ => http://127.0.0.1/
http://127.0.0.1../ => http://127.0.0.1/
http://[0:0:0:0:0:0:0:1]/ => http://[::1]/
http://[::FFFF:7F00:1]/ => http://[::ffff:7f00:1]/
# path
http://h.example => http://h.example/
http://h.example/a/./b/../c => http://h.example/a/c
http://h.example/../../a => http://h.example/a
http://h.example/a/%2e%2E/b => http://h.example/b
http://h.example/a/.. => http://h.example/
http://h.example//a///b => http://h.example//a///b
http://h.example/%66oo.ht%6D%6c => http://h.example/foo.html
http://h.example/%7euser => http://h.example/~user
http://h.example/a%2fb%2Ac => http://h.example/a%2Fb%2Ac
http://h.example/a b => http://h.example/a%20b
http://h.example/%c0%1a => http://h.example/%C0%1A
http://h.example/石油 => http://h.example/%E7%9F%B3%E6%B2%B9
http://h.example/%e7%9f%b3%E6%b2%b9 => http://h.example/%E7%9F%B3%E6%B2%B9
http://h.example/%ca%af => http://h.example/%CA%AF
http://h.example/p%zz%77%v => http://h.example/p%25zzw%25v
http://h.example/90%+of => http://h.example/90%25+of
http://h.example/a%2 => http://h.example/a%252
http://h.example/%2566 => http://h.example/%2566
http://h.example/{a}|[b]^` => http://h.example/%7Ba%7D%7C%5Bb%5D%5E%60
http://h.example/a;v=1/b => http://h.example/a;v=1/b
http://h.example/*$ => http://h.example/*$
# sessions in the path
http://h.example/a.do;jsessionid=0A1B?x=1 => http://h.example/a.do?x=1
http://h.example/a;JSESSIONID=0A1B.node1/b;v=1 => http://h.example/a/b;v=1
http://h.example/%2e%2e;jsessionid=1/b => http://h.example/b
http://h.example/(S(lit3py55t21z5v55vlm25s55))/a.aspx => http://h.example/a.aspx
http://h.example/(X(1)S(lit3py55t21z5v55vlm25s55))/a => http://h.example/a
http://h.example/(S(short))/a.aspx => http://h.example/(S(short))/a.aspx
http://h.example/wiki/A_(B(C)) => http://h.example/wiki/A_(B(C))
# query
http://h.example/? => http://h.example/
http://h.example/a?&& => http://h.example/a
http://h.example/a?b=1&&a=1& => http://h.example/a?b=1&a=1
http://h.example/a?b=&c => http://h.example/a?b=&c
http://h.example/s?q=a+b&r=a%20b => http://h.example/s?q=a+b&r=a%20b
http://h.example/s?q=a%26b%3d => http://h.example/s?q=a%26b%3D
http://h.example/s?x[y]=1 => http://h.example/s?x%5By%5D=1
http://h.example/s?q=石油 => http://h.example/s?q=%E7%9F%B3%E6%B2%B9
http://h.example/s?q=%ca%af%d3%cd => http://h.example/s?q=%CA%AF%D3%CD
http://h.example/s?u=http://a.example/?b => http://h.example/s?u=http://a.example/?b
http://h.example/s?q='a' => http://h.example/s?q=%27a%27
# visits in the query
http://h.example/a?utm_source=x&id=1&UTM_Medium=y => http://h.example/a?id=1
http://h.example/a?utm%5Fsource=x => http://h.example/a
http://h.example/a?id=1&spm=C94212.P4YnMod.EQ.2&gclid=1 => http://h.example/a?id=1
http://h.example/a?id=1&from=timeline&isappinstalled=0 => http://h.example/a?id=1
http://h.example/a?from=2024-01-01 => http://h.example/a?from=2024-01-01
http://h.example/a?source=rss&ref=1 => http://h.example/a?source=rss&ref=1
http://h.example/a?PHPSESSID=1f2e&id=1 => http://h.example/a?id=1
http://h.example/a?sid=0123456789abcdef0123456789abcdef => http://h.example/a
http://h.example/a?sid=12 => http://h.example/a?sid=12
http://h.example/a?sid=international-news => http://h.example/a?sid=international-news
http://h.example/a?ASPSESSIONIDQQ=ABC => http://h.example/a
http://h.example/a?pk_id=1 => http://h.example/a?pk_id=1
# fragment
http://h.example/a#b?c => http://h.example/a
http://h.example/a%23b => http://h.example/a%23b
http://h.example/a?b# => http://h.example/a?b";

#[test]
fn parse_spellings() {
    let odd = [
        ("  http://news.example\n", "http://news.example/"),
        (
            "\u{3000}http://news.example/\u{3000}",
            "http://news.example/",
        ),
        ("http:\\\\news.example\\a", "http://news.example/a"),
        ("http://h.example/a\tb\nc", "http://h.example/abc"),
    ];
    let rows = SPELLINGS.lines().filter_map(|row| row.split_once(" => "));
    for (text, want) in rows.chain(odd) {
        assert_eq!(canonical(text), want, "{text}");
        assert_eq!(canonical(want), want, "fixed point");
    }
}

#[test]
fn join_references() {
    let page = CrawlUri::parse("https://h.example/news/2026/a.html?p=1").unwrap();
    let rows = [
        ("b.html", "https://h.example/news/2026/b.html"),
        ("../b.html#top", "https://h.example/news/b.html"),
        ("?p=2", "https://h.example/news/2026/a.html?p=2"),
        ("", "https://h.example/news/2026/a.html?p=1"),
        ("#comments", "https://h.example/news/2026/a.html?p=1"),
        ("//cdn.example:443/x", "https://cdn.example/x"),
        (" /x y ", "https://h.example/x%20y"),
        ("http://other.example", "http://other.example/"),
    ];
    for (reference, want) in rows {
        assert_eq!(page.join(reference).unwrap().as_str(), want, "{reference}");
    }
    assert!(matches!(
        page.join("javascript:;"),
        Err(UriError::Scheme(_))
    ));
}

#[test]
fn uri_parts() {
    let uri = CrawlUri::parse("https://News.CNPC.com.cn:8443/system/2016//a.shtml?x=1&y").unwrap();
    assert_eq!(uri.host(), "news.cnpc.com.cn");
    assert_eq!(uri.port(), 8443);
    assert_eq!(uri.authority(), "news.cnpc.com.cn:8443");
    assert_eq!(uri.registrable_domain(), "cnpc.com.cn");
    assert_eq!(uri.path_and_query(), "/system/2016//a.shtml?x=1&y");
    assert_eq!(uri.query(), Some("x=1&y"));
    assert_eq!(
        uri.segments().collect::<Vec<_>>(),
        ["system", "2016", "a.shtml"]
    );
    assert_eq!(
        uri.robots_txt().as_str(),
        "https://news.cnpc.com.cn:8443/robots.txt"
    );
    assert_eq!(uri.literal_address(), None);
    for (text, domain) in [
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://[::1]/", "[::1]"),
        ("http://localhost/", "localhost"),
        ("http://com.cn/", "com.cn"),
        ("http://a.b.example.co.uk/", "example.co.uk"),
        ("http://someone.github.io/", "someone.github.io"),
    ] {
        assert_eq!(
            CrawlUri::parse(text).unwrap().registrable_domain(),
            domain,
            "{text}"
        );
    }
    let literal = CrawlUri::parse("http://0x7f000001/").unwrap();
    assert_eq!(
        literal.literal_address(),
        Some("127.0.0.1".parse().unwrap())
    );
    assert_eq!(literal.port(), 80);
}

#[test]
fn uri_json_round_trip() {
    let uri = CrawlUri::parse("http://h.example/a?b=1").unwrap();
    let json = serde_json::to_string(&uri).unwrap();
    assert_eq!(json, "\"http://h.example/a?b=1\"");
    assert_eq!(serde_json::from_str::<CrawlUri>(&json).unwrap(), uri);
    let odd = serde_json::from_str::<CrawlUri>("\"HTTP://h.example:80/a?b=1#c\"").unwrap();
    assert_eq!(odd, uri);
    let error = serde_json::from_str::<CrawlUri>("\"ftp://h.example/\"").unwrap_err();
    assert!(error.to_string().contains("scheme ftp"), "{error}");
}

#[test]
fn tracking_names_sorted() {
    // found by binary search: an entry out of order would silently never match
    let names = spelling::tracking_names();
    assert!(names.is_sorted() && names.len() > 40);
    for name in names {
        assert!(spelling::is_of_visit(name, "1"), "{name}");
    }
}

proptest! {
    #[test]
    fn canonical_is_fixed_point(
        text in "(https?|HTTP)://([a-z0-9.%@:_-]|石|Ü){1,16}(/([a-zA-Z0-9.;/()=%_|\\[^ ]|;jsessionid=|%2[eEfF5]|%3[bB]|油){0,40})?(\\?([a-z0-9&=%+;'\\[ ]|utm_|sid=|%5[fF]|油){0,30})?"
    ) {
        if let Ok(uri) = CrawlUri::parse(&text) {
            let again = CrawlUri::parse(uri.as_str());
            prop_assert_eq!(again.as_ref().map(CrawlUri::as_str), Ok(uri.as_str()));
            let url = url::Url::parse(uri.as_str()).unwrap();
            prop_assert!(uri.as_str().is_ascii() && url.username().is_empty() && url.fragment().is_none());
            prop_assert_eq!(uri.join(""), Ok(uri.clone()));
        }
    }

    #[test]
    fn join_any_text(text in "\\PC{0,60}") {
        let page = CrawlUri::parse("http://h.example/a/b?c").unwrap();
        if let Ok(uri) = page.join(&text) {
            prop_assert_eq!(CrawlUri::parse(uri.as_str()), Ok(uri));
        }
    }
}
