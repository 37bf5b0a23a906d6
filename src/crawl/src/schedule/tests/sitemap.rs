//! Sitemaps, good and bad.

use std::io::Write;

use super::*;

fn read(text: &str) -> Sitemap {
    read_sitemap(text.as_bytes(), &uri("http://a.cn/sitemap.xml"))
}

fn addresses(links: &[DatedLink]) -> Vec<&str> {
    links.iter().map(|l| l.uri.as_str()).collect()
}

const PLAIN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
  xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
  <url><loc>http://a.cn/1?x=1&amp;y=2</loc><lastmod>2026-11-03T08:00:00+08:00</lastmod>
    <image:image><image:loc>http://a.cn/i.jpg</image:loc></image:image></url>
  <url><loc><![CDATA[ http://a.cn/2 ]]></loc>
    <news:news><news:publication_date>2026-11-02</news:publication_date></news:news></url>
  <url><loc>/3</loc><lastmod>soon</lastmod></url>
  <url><lastmod>2026-11-03</lastmod></url>
</urlset>"#;

#[test]
fn pages_come_with_their_dates() {
    let found = read(PLAIN);
    assert_eq!(
        addresses(&found.pages),
        ["http://a.cn/1?x=1&y=2", "http://a.cn/2", "http://a.cn/3"]
    );
    let published: Vec<_> = found.pages.iter().map(|l| l.published.as_deref()).collect();
    assert_eq!(
        published,
        [None, Some("2026-11-02"), None],
        "a change is none"
    );
    let dates: Vec<Option<i64>> = found.pages.iter().map(|l| l.date_ms).collect();
    assert_eq!(
        dates,
        [
            Some(at("2026-11-03T00:00:00Z")),
            Some(at("2026-11-02T00:00:00Z")),
            None
        ]
    );
    assert_eq!((found.bad, found.cut), (1, None));
}

#[test]
fn sitemap_image_and_second_loc() {
    for text in [
        "<urlset xmlns:ns2='http://www.google.com/schemas/sitemap-image/1.1'>\
         <url><ns2:image><ns2:loc>/i.jpg</ns2:loc></ns2:image><loc>/1</loc></url>\
         <url><loc>/2</loc><lastmod>2026-11-03</lastmod><loc>/3</loc></url></urlset>",
        "<s:urlset xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'>\
         <s:url><s:loc>/1</s:loc><image><loc>/i.jpg</loc></image></s:url>\
         <s:url><s:loc>/2</s:loc><s:lastmod>2026-11-03</s:lastmod><s:loc>/3</s:loc></s:url></s:urlset>",
        "<urlset><url><image xmlns='http://www.google.com/schemas/sitemap-image/1.1'><loc>/i.jpg</loc></image>\
         <loc>/1</loc></url><url><loc>/2<lastmod>2026-11-03</lastmod><loc>/3</url></urlset>",
    ] {
        let found = read(text);
        assert_eq!(
            addresses(&found.pages),
            ["http://a.cn/1", "http://a.cn/2", "http://a.cn/3"],
            "{text}"
        );
        assert_eq!(found.pages[1].date_ms, Some(at("2026-11-03T00:00:00Z")));
        assert_eq!(found.bad, 0);
    }
}

#[test]
fn an_index_names_further_sitemaps() {
    let found = read(
        "<sitemapindex><sitemap><loc>http://a.cn/s1.xml.gz</loc><lastmod>2026-11</lastmod></sitemap>\
         <sitemap><loc>http://a.cn/s2.xml</loc></sitemap></sitemapindex>",
    );
    assert_eq!(
        addresses(&found.sitemaps),
        ["http://a.cn/s1.xml.gz", "http://a.cn/s2.xml"]
    );
    assert_eq!(found.sitemaps[0].date_ms, Some(at("2026-11-01T00:00:00Z")));
    assert!(found.pages.is_empty());
}

#[test]
fn sitemap_without_loc_and_feed() {
    let found =
        read("<sitemapindex><sitemap>\n http://a.cn/s.xml?a=1&amp;b=2\n</sitemap></sitemapindex>");
    assert_eq!(addresses(&found.sitemaps), ["http://a.cn/s.xml?a=1&b=2"]);
    let found = read(
        "<rss version=\"2.0\"><channel><title>t</title><item><link>http://a.cn/1</link></item></channel></rss>",
    );
    assert_eq!(addresses(&found.pages), ["http://a.cn/1"]);
}

#[test]
fn sitemap_gzip_and_list() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(PLAIN.as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    let base = uri("http://a.cn/sitemap.xml.gz");
    assert_eq!(read_sitemap(&packed, &base).pages.len(), 3);
    let cut = packed.get(..packed.len() - 20).unwrap();
    assert_eq!(read_sitemap(cut, &base).cut, Some(Cut::Damaged));
    let list = read("\u{feff}http://a.cn/1\r\n\r\nhttp://a.cn/2\nnot an address: \u{0}\n");
    assert_eq!(list.pages.len() + list.bad, 3);
}

#[test]
fn gbk_is_decoded_as_declared() {
    let text = "<?xml version=\"1.0\" encoding=\"gb2312\"?><urlset><url><loc>http://a.cn/新闻</loc></url></urlset>";
    let (bytes, _, _) = encoding_rs::GBK.encode(text);
    let base = uri("http://a.cn/s.xml");
    let found = read_sitemap(&bytes, &base);
    assert_eq!(found.pages[0].uri, uri("http://a.cn/%E6%96%B0%E9%97%BB"));
    // Declared GBK over UTF-8 bytes.
    assert_eq!(read_sitemap(text.as_bytes(), &base).pages, found.pages);
}

#[test]
fn a_bomb_ends_early() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let entry = "<url><loc>http://a.cn/1</loc></url>".repeat(1_000);
    packer.write_all(b"<urlset>").unwrap();
    for _ in 0..2_000 {
        packer.write_all(entry.as_bytes()).unwrap();
    }
    let bomb = packer.finish().unwrap();
    let found = read_sitemap(&bomb, &uri("http://a.cn/s.xml.gz"));
    assert_eq!(found.cut, Some(Cut::Entries));
    assert_eq!(found.pages.len(), 50_000);
}

#[test]
fn sitemap_damaged_is_read() {
    for (text, pages) in [
        ("", 0),
        ("<", 0),
        ("<urlset>", 0),
        (
            "<urlset><url><loc>http://a.cn/1</loc></url><url><loc>http://a.cn/2",
            2,
        ),
        (
            "<urlset><url><loc>http://a.cn/1</loc><url><loc>http://a.cn/2</loc></urlset>",
            2,
        ),
        ("<URLSET><URL><LOC>http://a.cn/1</LOC></URL></URLSET>", 1),
        (
            "<urlset><url><loc>http://a.cn/?a&b</loc></url><url><loc>http://a.cn/2</loc></url>",
            2,
        ),
        ("<html><body>404</body></html>", 0),
    ] {
        assert_eq!(read(text).pages.len(), pages, "{text}");
    }
    let deep = "<a>".repeat(100_000);
    assert_eq!(read(&deep).cut, Some(Cut::Damaged));
}

/// As many entries as the protocol allows, in 12 MB.
fn large() -> String {
    let mut text = "<?xml version=\"1.0\"?><urlset>".to_owned();
    for n in 0..MOST {
        let path = "石油".repeat(30);
        text += &format!("<url><loc>http://a.cn/{n}/{path}</loc><!-- </url> > --></url>\n");
    }
    text + "</urlset>"
}

/// The protocol's limit.
const MOST: usize = 50_000;

#[test]
fn sitemap_largest_is_streamed() {
    let text = large();
    assert!(text.len() > 10 << 20, "{}", text.len());
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(text.as_bytes()).unwrap();
    for body in [text.as_bytes(), &packer.finish().unwrap()] {
        let mut reader = SitemapReader::new(uri("http://a.cn/s.xml"), 50 << 20);
        assert!(body.chunks(7919).all(|chunk| reader.feed(chunk)));
        let found = reader.finish();
        assert_eq!((found.pages.len(), found.cut), (MOST, None));
        assert_eq!(found.pages[7].uri.path().split('/').nth(1), Some("7"));
    }
    // What is beyond the bound costs what was before it nothing.
    let mut reader = SitemapReader::new(uri("http://a.cn/s.xml"), 1 << 20);
    let taken = text
        .as_bytes()
        .chunks(7919)
        .take_while(|chunk| reader.feed(chunk));
    assert!(taken.count() < 200);
    let found = reader.finish();
    assert_eq!(found.cut, Some(Cut::Bytes));
    assert!(
        (4_000..5_000).contains(&found.pages.len()),
        "{}",
        found.pages.len()
    );
    // A list of addresses that has no end.
    let mut reader = SitemapReader::new(uri("http://a.cn/s.txt"), 50 << 20);
    let line = b"http://a.cn/1\n".repeat(1000);
    let taken = (0..1000).take_while(|_| reader.feed(&line)).count();
    assert!(taken < 60, "{taken}");
    let found = reader.finish();
    assert_eq!((found.pages.len(), found.cut), (MOST, Some(Cut::Entries)));
}

#[test]
fn sitemap_pieces_are_equal() {
    let gbk = "<?xml version=\"1.0\" encoding=\"gb2312\"?><urlset><url><loc>http://a.cn/新闻</loc></url></urlset>";
    let (gbk, _, _) = encoding_rs::GBK.encode(gbk);
    let long = format!("<urlset><!--{}-->{PLAIN}", "x>".repeat(200_000));
    for body in [PLAIN.as_bytes(), &gbk, long.as_bytes()] {
        let whole = read_sitemap(body, &uri("http://a.cn/s.xml"));
        for size in [1, 2, 3, 1000, 65_536] {
            let mut reader = SitemapReader::new(uri("http://a.cn/s.xml"), 50 << 20);
            body.chunks(size).for_each(|piece| {
                reader.feed(piece);
            });
            assert_eq!(reader.finish(), whole, "{size}");
        }
        assert!(!whole.pages.is_empty());
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        failure_persistence: None, ..Default::default()
    })]

    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400)) {
        read_sitemap(&bytes, &uri("http://a.cn/"));
        let mut packed = vec![0x1F, 0x8B];
        packed.extend(&bytes);
        read_sitemap(&packed, &uri("http://a.cn/"));
        let _ = read_feed(&bytes, &uri("http://a.cn/"));
    }

    #[test]
    fn sitemap_any_cut(end in 0usize..800) {
        let bytes = PLAIN.as_bytes();
        read_sitemap(bytes.get(..end).unwrap_or(bytes), &uri("http://a.cn/"));
    }
}
