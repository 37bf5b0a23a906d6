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
    let dates: Vec<Option<i64>> = found.pages.iter().map(|l| l.date_ms).collect();
    assert_eq!(
        dates,
        [
            Some(at("2026-11-03T00:00:00Z")),
            Some(at("2026-11-02T00:00:00Z")),
            None
        ]
    );
    assert_eq!((found.bad, found.truncated), (1, false));
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
fn addresses_without_loc_and_feeds_are_taken_too() {
    let found =
        read("<sitemapindex><sitemap>\n http://a.cn/s.xml?a=1&amp;b=2\n</sitemap></sitemapindex>");
    assert_eq!(addresses(&found.sitemaps), ["http://a.cn/s.xml?a=1&b=2"]);
    let found = read(
        "<rss version=\"2.0\"><channel><title>t</title><item><link>http://a.cn/1</link></item></channel></rss>",
    );
    assert_eq!(addresses(&found.pages), ["http://a.cn/1"]);
}

#[test]
fn packed_text_and_lists_are_read() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(PLAIN.as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    let base = uri("http://a.cn/sitemap.xml.gz");
    assert_eq!(read_sitemap(&packed, &base).pages.len(), 3);
    let cut = packed.get(..packed.len() - 20).unwrap();
    assert!(read_sitemap(cut, &base).truncated);
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
    assert!(found.truncated);
    assert_eq!(found.pages.len(), 50_000);
}

#[test]
fn damaged_files_give_what_can_be_read() {
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
    assert!(read(&deep).truncated);
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
    fn any_cut_of_a_sitemap_is_read(end in 0usize..800) {
        let bytes = PLAIN.as_bytes();
        read_sitemap(bytes.get(..end).unwrap_or(bytes), &uri("http://a.cn/"));
    }
}
