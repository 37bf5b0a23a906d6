use super::robots::check;
use super::server::uri;
use crate::fetch::{MAX_ROBOTS_BYTES, Robots};

#[test]
fn robots_lines_are_lenient() {
    check(&[
        ("\u{feff}user-agent: *\ndisallow: /\n", "/", false),
        ("user-agent: *\rdisallow: /\r", "/", false),
        ("user-agent: *\r\ndisallow: /", "/", false),
        ("User-Agent : * # us\n\tDISALLOW\t:\t/ # all\n", "/", false),
        ("useragent: *\ndisalow: /\n", "/", false),
        ("user agent: *\ndissallow: /\n", "/", false),
        ("user-agent *\ndisallow /\n", "/", false),
        ("user-agents: *\ndisallowed: /\n", "/", false),
    ]);
    let partial_mark = b"\xef\xbbuser-agent: *\ndisallow: /";
    assert!(
        Robots::parse(partial_mark, "taojin")
            .decide_written("/")
            .is_err()
    );
    let text = "user-agent: *\ndisallow: /\n";
    let little: Vec<u8> = "\u{feff}"
        .encode_utf16()
        .chain(text.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let big: Vec<u8> = "\u{feff}"
        .encode_utf16()
        .chain(text.encode_utf16())
        .flat_map(u16::to_be_bytes)
        .collect();
    assert!(
        Robots::parse(&little, "taojin")
            .decide_written("/")
            .is_err()
    );
    assert!(Robots::parse(&big, "taojin").decide_written("/").is_err());
    // a line is cut where the reference cuts it, and the rest is no line of its own
    let long = format!("user-agent: *\ndisallow: /{}/qux\n", "x".repeat(20_000));
    let robots = Robots::parse(long.as_bytes(), "taojin");
    let path = |n: usize| format!("http://h.example/{}", "x".repeat(n));
    assert!(
        robots
            .decide_written(&path(16_663 - "disallow: /".len()))
            .is_err()
    );
    assert!(
        robots
            .decide_written(&path(16_662 - "disallow: /".len()))
            .is_ok()
    );
}

#[test]
fn delays_and_sitemaps_are_found() {
    let delay = |file: &str| Robots::parse(file.as_bytes(), "taojin").crawl_delay_ms();
    assert_eq!(delay("user-agent: *\ncrawl-delay: 2.5\n"), Some(2_500));
    assert_eq!(
        delay("user-agent: *\nCrawl-Delay: 5s\ndisallow: /a\n"),
        Some(5_000)
    );
    assert_eq!(delay("user-agent: *\ncrawl-delay: soon\n"), None);
    assert_eq!(delay("user-agent: *\ncrawl-delay: -1\n"), None);
    assert_eq!(
        delay("user-agent: *\ncrawl-delay: 99999999999999999999999\n"),
        Some(86_400_000)
    );
    assert_eq!(delay("crawl-delay: 5\n"), None, "belongs to nobody");
    assert_eq!(
        delay("user-agent: *\ncrawl-delay: 9\ndisallow: /\nuser-agent: taojin\ncrawl-delay: 2\n"),
        Some(2_000)
    );
    let file = "Sitemap: /s.xml\nuser-agent: x\nsite-map: https://c.example/t.xml\nsitemap: s.xml\nsitemap: ftp://h.example/\nsitemap:\n";
    let base = uri("http://h.example/robots.txt");
    let sitemaps = Robots::parse(file.as_bytes(), "taojin").sitemaps(&base);
    let texts: Vec<_> = sitemaps.iter().map(|s| s.as_str()).collect();
    assert_eq!(
        texts[..2],
        ["http://h.example/s.xml", "https://c.example/t.xml"]
    );
}

#[test]
fn robots_large_file_is_cut() {
    let mut file = b"user-agent: *\n".to_vec();
    while file.len() < MAX_ROBOTS_BYTES - 12 {
        file.extend_from_slice(b"disallow: /a\n");
    }
    file.extend_from_slice(b"disallow: /bbbbbbbbbbbbbbbbbbb\ndisallow: /c\n");
    let robots = Robots::parse(&file, "taojin");
    let decide = |path: &str| robots.decide_written(path).is_ok();
    assert!(!decide("/a"));
    assert!(decide("/b") && decide("/bbbbbbbbbbbbbbbbbbb") && decide("/c"));
    assert!(robots.heap_bytes() < 1_000, "doubles are kept once");
}
