use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::server::uri;
use crate::fetch::request::HeadContext;
use crate::fetch::{ContentClass, Head};

const NOW_MS: i64 = 1_700_000_000_000; // 2023-11-14 22:13:20 UTC

fn read(lines: &[(&str, &[u8])]) -> Head {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        let name: HeaderName = name.parse().unwrap();
        headers.append(name, HeaderValue::from_bytes(value).unwrap());
    }
    let uri = uri("http://h.example/a/b?c");
    let asked = HeadContext {
        uri: &uri,
        agent: "taojin",
        now_ms: NOW_MS,
        max_retry_after_ms: 86_400_000,
    };
    Head::read(200, &headers, &asked)
}

#[test]
fn head_retry_after_forms() {
    let rows: &[(&[u8], Option<i64>)] = &[
        (b"", None),
        (b"soon", None),
        (b"-5", None),
        (b"1.5", None),
        (b"0", Some(0)),
        (b" 120 ", Some(120_000)),
        (b"86400", Some(86_400_000)),
        (b"86401", Some(86_400_000)),
        (b"99999999999999999999999999", Some(86_400_000)),
        (b"Tue, 14 Nov 2023 22:14:20 GMT", Some(60_000)),
        (b"Tuesday, 14-Nov-23 22:14:20 GMT", Some(60_000)),
        (b"Tue Nov 14 22:14:20 2023", Some(60_000)),
        (b"Tue, 14 Nov 2023 22:00:00 GMT", Some(0)),
        (b"Thu, 01 Jan 2099 00:00:00 GMT", Some(86_400_000)),
        (b"Tue, 99 Nov 2023 22:14:20 GMT", None),
    ];
    for &(value, want) in rows {
        assert_eq!(
            read(&[("retry-after", value)]).retry_after_ms,
            want,
            "{value:?}"
        );
    }
}

/// Lines of a header, and whether they mean noindex and nofollow.
type RobotsTag = (&'static [&'static [u8]], (bool, bool));

#[test]
fn head_robots_tags() {
    let rows: &[RobotsTag] = &[
        (&[], (false, false)),
        (&[b"index, follow"], (false, false)),
        (&[b"noindex"], (true, false)),
        (&[b"NoIndex , NOFOLLOW"], (true, true)),
        (&[b"none"], (true, true)),
        (&[b"noarchive", b"nofollow"], (false, true)),
        (&[b"googlebot: noindex, nofollow"], (false, false)),
        (&[b"googlebot: noindex", b"Taojin: nofollow"], (false, true)),
        (&[b"taojin: noindex, nofollow"], (true, true)),
        (&[b"*: noindex"], (true, false)),
        (
            &[b"unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"],
            (true, false),
        ),
        (&[b"max-snippet: 20, nofollow"], (false, true)),
        (&[b"\xff\xfe noindex, nofollow"], (false, true)),
    ];
    for &(lines, want) in rows {
        let lines: Vec<_> = lines.iter().map(|&l| ("x-robots-tag", l)).collect();
        let head = read(&lines);
        assert_eq!((head.noindex, head.nofollow), want, "{lines:?}");
    }
}

#[test]
fn head_type_and_charset() {
    use ContentClass::{Feed, Html, Other, Text, Unknown, Xml};
    let rows = [
        ("text/html", Html, None),
        ("TEXT/HTML;Charset=GBK", Html, Some("GBK")),
        (
            "text/html; boundary=x; charset=\"utf-8\"",
            Html,
            Some("utf-8"),
        ),
        ("text/html; charset=", Html, None),
        ("text/html; charset", Html, None),
        ("application/xhtml+xml", Html, None),
        ("text/xml; charset='gb2312'", Xml, Some("gb2312")),
        ("application/rss+xml", Feed, None),
        ("application/atom+xml; charset=utf-8", Feed, Some("utf-8")),
        ("text/plain", Text, None),
        ("application/octet-stream", Unknown, None),
        ("; charset=big5", Unknown, Some("big5")),
        ("image/png", Other, None),
        ("application/pdf", Other, None),
        ("text/htmlx", Other, None),
        ("video/mp4", Other, None),
    ];
    for (value, class, charset) in rows {
        let head = read(&[("content-type", value.as_bytes())]);
        assert_eq!((head.class, head.charset()), (class, charset), "{value}");
    }
    assert_eq!(read(&[]).class, Unknown);
}

#[test]
fn head_location_is_resolved() {
    let rows: &[(&[u8], Option<&str>)] = &[
        (b"", Some("http://h.example/a/b?c")),
        (b"d", Some("http://h.example/a/d")),
        (b"/d#e", Some("http://h.example/d")),
        (b"//other.example", Some("http://other.example/")),
        (b"HTTPS://H.example:443/x", Some("https://h.example/x")),
        (
            "/石油".as_bytes(),
            Some("http://h.example/%E7%9F%B3%E6%B2%B9"),
        ),
        (b"/\xca\xaf\xd3\xcd", Some("http://h.example/%CA%AF%D3%CD")),
        (b"javascript:alert(1)", None),
        (b"ftp://h.example/", None),
        (b"http://", None),
    ];
    for &(value, want) in rows {
        let head = read(&[("location", value)]);
        assert_eq!(
            head.location.as_ref().map(|l| l.as_str()),
            want,
            "{value:?}"
        );
    }
}

#[test]
fn head_long_values_are_dropped() {
    let tag = vec![b'a'; 1025];
    assert_eq!(read(&[("etag", &tag)]).etag, None);
    assert_eq!(
        read(&[("etag", &tag[1..])]).etag.map(|t| t.len()),
        Some(1024)
    );
    assert_eq!(
        read(&[("etag", b"  W/\"1\" ")]).etag.as_deref(),
        Some("W/\"1\"")
    );
    assert_eq!(read(&[("last-modified", b"\xff")]).last_modified, None);
    assert_eq!(read(&[("content-length", b"x")]).content_length, None);
}

#[test]
fn head_offers_files() {
    let saved: &[u8] = b"attachment; filename=a";
    for (mime, disposition, is_file) in [
        ("application/pdf", b"" as &[u8], true),
        ("Application/VND.MS-Excel; charset=gbk", b"", true),
        ("text/csv", b"", true),
        ("application/octet-stream", b"", false),
        ("application/octet-stream", saved, true),
        ("", saved, true),
        ("text/plain", b"", false),
        ("text/plain", saved, true),
        ("text/plain", b"inline", false),
        ("text/plain", b"filename=a.txt", true),
        ("application/json", saved, false),
        ("text/html", b"", false),
        ("image/png", saved, false),
        ("video/mp4", b"", false),
    ] {
        let mut lines: Vec<(&str, &[u8])> = Vec::new();
        if !mime.is_empty() {
            lines.push(("content-type", mime.as_bytes()));
        }
        if !disposition.is_empty() {
            lines.push(("content-disposition", disposition));
        }
        assert_eq!(read(&lines).offers_file(), is_file, "{mime}");
    }
    for (bytes, text) in [
        (
            "attachment; filename=水.pdf".as_bytes(),
            "attachment; filename=水.pdf",
        ),
        (
            b"attachment; filename=\xcb\xae\xbc\xdb.pdf",
            "attachment; filename=水价.pdf",
        ),
    ] {
        let head = read(&[("content-disposition", bytes)]);
        assert_eq!(head.disposition.as_deref(), Some(text));
    }
}
