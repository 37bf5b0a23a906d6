//! Feeds, good and bad.

use super::*;

fn read(text: &str) -> Vec<(String, Option<i64>)> {
    read_feed(text.as_bytes(), &uri("http://a.cn/feed/"))
        .unwrap()
        .into_iter()
        .map(|l| (l.uri.to_string(), l.date_ms))
        .collect()
}

#[test]
fn feed_formats_are_read() {
    let day = Some(at("2026-11-03T08:00:00+08:00"));
    let rss = "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>t</title><link>http://a.cn/</link>\
        <item><title>x</title><link>http://a.cn/1</link><pubDate>Tue, 03 Nov 2026 08:00:00 +0800</pubDate></item>\
        <item><title>y</title><link>http://a.cn/1</link></item>\
        <item><title>z</title><guid>http://a.cn/2</guid></item></channel></rss>";
    assert_eq!(
        read(rss),
        [
            ("http://a.cn/1".to_owned(), day),
            ("http://a.cn/2".to_owned(), None)
        ]
    );
    let atom = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>t</title><id>i</id>\
        <entry><id>urn:1</id><title>x</title><link rel=\"edit\" href=\"/edit\"/><link href=\"/1\"/>\
        <updated>2026-11-03T08:00:00+08:00</updated></entry></feed>";
    assert_eq!(read(atom), [("http://a.cn/1".to_owned(), day)]);
    let json = r#"{"version":"https://jsonfeed.org/version/1.1","title":"t","items":[{"id":"1",
        "url":"http://a.cn/1","content_text":"x","date_published":"2026-11-03T08:00:00+08:00"}]}"#;
    assert_eq!(read(json), [("http://a.cn/1".to_owned(), day)]);
}

#[test]
fn feed_dates_stay_as_written() {
    let rss = |items: &str| {
        format!("<rss version=\"2.0\"><channel><title>t</title>{items}</channel></rss>")
    };
    let items = "<item><link>http://a.cn/1</link><pubDate> 2026年6月3日 </pubDate></item>\
        <item><link>http://a.cn/2</link><pubDate>Wed, 03 Jun 2026 07:15:00</pubDate></item>\
        <item><link>http://a.cn/3</link></item>";
    // The same by the library, and link by link after a mistake.
    for text in [
        rss(items),
        format!("{}<", rss(items).replace("</channel></rss>", "")),
    ] {
        let links = read_feed(text.as_bytes(), &uri("http://a.cn/feed/")).unwrap();
        let dates: Vec<_> = links.iter().map(|l| l.published.as_deref()).collect();
        let expected = [
            Some("2026年6月3日"),
            Some("Wed, 03 Jun 2026 07:15:00"),
            None,
        ];
        assert_eq!(dates, expected, "{text}");
    }
    let atom = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>t</title><id>i</id><entry><id>urn:1</id><title>x</title>\
        <link href=\"/1\"/><published>2026-06-03 07:15</published><updated>2026-06-09T08:00:00Z</updated></entry></feed>";
    let links = read_feed(atom.as_bytes(), &uri("http://a.cn/")).unwrap();
    assert_eq!(links[0].published.as_deref(), Some("2026-06-03 07:15"));
}

#[test]
fn feed_empty_parse_falls_back() {
    let rss = "<rss version=\"2.0\" xmlns=\"http://www.w3.org/2005/Atom\"><channel><title>t</title><link>http://a.cn/</link>\
        <item><title>x</title><link>http://a.cn/1</link><pubDate>Tue, 03 Nov 2026 08:00:00 +0800</pubDate></item>\
        <item><title>y</title><link>http://a.cn/2</link></item></channel></rss>";
    let day = Some(at("2026-11-03T08:00:00+08:00"));
    let (first, second) = ("http://a.cn/1".to_owned(), "http://a.cn/2".to_owned());
    assert_eq!(read(rss), [(first, day), (second, None)]);
    let none =
        "<rss version=\"2.0\"><channel><title>t</title><link>http://a.cn/</link></channel></rss>";
    assert_eq!(read(none), []);
}

#[test]
fn gbk_feeds_are_decoded() {
    let text = "<?xml version=\"1.0\" encoding=\"GBK\"?><rss version=\"2.0\"><channel><title>石油</title>\
        <item><title>新闻</title><link>http://a.cn/新闻</link></item></channel></rss>";
    let (bytes, _, _) = encoding_rs::GBK.encode(text);
    let links = read_feed(&bytes, &uri("http://a.cn/")).unwrap();
    assert_eq!(links[0].uri, uri("http://a.cn/%E6%96%B0%E9%97%BB"));
}

#[test]
fn feed_damaged_is_read() {
    let cut = "<rss version=\"2.0\"><channel><item><link>http://a.cn/1?a=1&b=2</link></item>\
        <item><title>AT&T <b>x</title><link>http://a.cn/2</link><pubDate>2026-11-03</pubDate>";
    let links = read(cut);
    assert_eq!(links.len(), 2, "{links:?}");
    assert_eq!(
        links[1],
        ("http://a.cn/2".to_owned(), Some(at("2026-11-03T00:00:00Z")))
    );
}

/// The reader of the XML panics at one that names another charset.
#[test]
fn feed_second_declaration_is_skipped() {
    let decl = "<?xml version='1.0' encoding='gb2312'?>";
    let filler = "<!-- x -->".repeat(2000);
    let feed = format!(
        "{decl}<rss version='2.0'><channel>{filler}{decl}<item><title>a</title><link>/a</link></item></channel></rss>"
    );
    assert_eq!(read(&feed).len(), 1);
    assert!(
        read_feed(
            format!("{filler}<rss>{decl}").as_bytes(),
            &uri("http://a.cn/")
        )
        .is_err()
    );
}

#[test]
fn a_page_is_no_feed() {
    for text in [
        "",
        "<html><body><a href=\"/x\">x</a></body></html>",
        "{}",
        "hello",
    ] {
        let error = read_feed(text.as_bytes(), &uri("http://a.cn/")).unwrap_err();
        assert!(error.to_string().starts_with("not a feed"), "{text}");
    }
}

/// A feed of some kilobytes on the wire that unpacks to more than a million entries: the library would keep gigabytes for them.
#[test]
fn feed_entries_are_bounded() {
    use std::io::Write;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(b"<rss><channel>").unwrap();
    for _ in 0..110 {
        packed.write_all(&b"<item/>".repeat(10_000)).unwrap();
    }
    packed
        .write_all(b"<item><link>/late</link></item></channel></rss>")
        .unwrap();
    let packed = packed.finish().unwrap();
    assert!(packed.len() < 100_000, "{}", packed.len());
    let links = read_feed(&packed, &uri("http://a.cn/feed")).unwrap();
    assert_eq!(links.len(), 1);

    let many: String = (0..3_000)
        .map(|n| format!("<item><link>/{n}</link></item>"))
        .collect();
    let links = read(&format!("<rss><channel>{many}</channel></rss>"));
    assert_eq!(links.len(), 2_000);
}

#[test]
fn feed_odd_input_skips_library() {
    let entry = "<entry><link href=\"/1\"/></entry>".repeat(1_500);
    let base = format!("http://a.cn/{}", "x".repeat(1 << 20));
    let feed = format!("<feed xml:base=\"{base}\">{entry}</feed>");
    assert_eq!(read(&feed), [("http://a.cn/1".to_owned(), None)]);

    let deep = "<a>".repeat(100_000);
    let feed = format!("<rss><channel>{deep}<item><link>/1</link></item></channel></rss>");
    assert_eq!(read(&feed), [("http://a.cn/1".to_owned(), None)]);

    let objects = "{},".repeat(1_000_000);
    let json = format!(
        "{{\"version\":\"https://jsonfeed.org/version/1\",\"title\":\"t\",\"items\":[{objects}{{}}]}}"
    );
    assert!(read_feed(json.as_bytes(), &uri("http://a.cn/feed")).is_err());
}
