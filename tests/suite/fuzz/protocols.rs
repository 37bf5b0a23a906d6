//! Fuzz targets of everything else that comes from outside: addresses, robots.txt, sitemaps, feeds, archives, queries.

use std::io::Cursor;

use taojin_crawl::fetch::{Robots, WarcReader};
use taojin_crawl::schedule::{read_feed, read_sitemap};
use taojin_search::query;
use taojin_search::query::dates::Calendar;
use taojin_uri::CrawlUri;

use super::NOW_MS;
use super::words::{spell, spell_text};

const ADDRESS: &[&str] = &[
    "http://",
    "https://",
    "//",
    "/",
    "..",
    "./",
    "a",
    "example.com",
    "例子.中国",
    ":",
    "80",
    "443",
    "8080",
    "@",
    "user",
    "?",
    "&",
    "=",
    "#",
    "%",
    "%2F",
    "%e4%b8%ad",
    "%00",
    "中",
    " ",
    "\t",
    "\n",
    "\\",
    "[::1]",
    "127.0.0.1",
    "0x7f.1",
    "index.html",
    ";jsessionid=A1",
    "utm_source=x",
    "www.",
    ".",
    "-",
    "xn--",
    "javascript:",
    "data:",
    "mailto:",
    "*",
    "$",
    "\u{202e}",
    "\u{200b}",
    "A",
    "Ｅ",
];

fn base() -> CrawlUri {
    CrawlUri::parse("https://www.example.com/news/list.html?page=2").expect("an address")
}

#[test]
fn address() {
    bolero::check!().for_each(|input: &[u8]| {
        let text = spell_text(input, ADDRESS);
        for uri in [CrawlUri::parse(&text), base().join(&text)]
            .into_iter()
            .flatten()
        {
            // What was canonicalised stays as it is.
            let again = CrawlUri::parse(uri.as_str()).expect("a canonical address is one");
            assert_eq!(again, uri);
            assert_eq!(again.fingerprint(), uri.fingerprint());
            assert!(matches!(uri.scheme(), "http" | "https") && !uri.host().is_empty());
        }
    });
}

const ROBOTS: &[&str] = &[
    "User-agent: *\n",
    "User-agent: taojin\n",
    "user-agent:other\r",
    "Disallow: /",
    "Disallow:\n",
    "Allow: /",
    "\n",
    "a",
    "*",
    "$",
    "%2a",
    "%",
    "中",
    "Crawl-delay: 5\n",
    "Crawl-delay: 1e99\n",
    "Sitemap: https://www.example.com/s.xml\n",
    "Sitemap: /s\n",
    "#",
    " ",
    "\u{feff}",
    "Disalow: /",
    ":",
    "/news/",
    ".html",
    "?",
    "=",
    "\0",
    "\r",
];

#[test]
fn robots() {
    bolero::check!().for_each(|input: &[u8]| {
        let text = spell(input, ROBOTS);
        let robots = Robots::parse(&text, "taojin");
        for url in [
            "https://www.example.com/",
            "https://www.example.com/news/a.html?b=中",
        ] {
            let uri = CrawlUri::parse(url).expect("an address");
            assert_eq!(
                robots.decide(&uri).is_ok(),
                robots.decide_written(uri.as_str()).is_ok()
            );
        }
        assert!(robots.crawl_delay_ms().is_none_or(|delay| delay >= 0));
        assert!(robots.sitemaps(&base()).len() <= text.len());
    });
}

const XML: &[&str] = &[
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
    "<?xml version='1.0' encoding='gb2312'?>",
    "<urlset>",
    "</urlset>",
    "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>",
    "</sitemapindex>",
    "<sitemap>",
    "</sitemap>",
    "<url>",
    "</url>",
    "<loc>",
    "</loc>",
    "<lastmod>",
    "</lastmod>",
    "2020-01-01",
    "2020-01-01T00:00:00+08:00",
    "https://www.example.com/a",
    "/b",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "&amp;",
    "&#x4e2d;",
    "&bomb;",
    "<!DOCTYPE x [<!ENTITY bomb 'bombbomb'>]>",
    "<rss version='2.0'><channel>",
    "</channel></rss>",
    "<item>",
    "</item>",
    "<title>",
    "</title>",
    "<link>",
    "</link>",
    "<link href='/c'/>",
    "<pubDate>",
    "</pubDate>",
    "Fri, 20 Nov 2026 10:00:00 GMT",
    "<feed xmlns='http://www.w3.org/2005/Atom'>",
    "</feed>",
    "<entry>",
    "</entry>",
    "<updated>",
    "</updated>",
    "<id>",
    "</id>",
    "<guid>",
    "</guid>",
    "<n:news xmlns:n='x'>",
    "</n:news>",
    "<",
    ">",
    "/",
    "\"",
    "'",
    " ",
    "\n",
    "中文",
    "{\"version\":\"https://jsonfeed.org/version/1.1\",\"items\":[",
    "{\"url\":\"/d\"}",
    "]}",
];

#[test]
fn sitemap() {
    bolero::check!().for_each(|input: &[u8]| {
        read_sitemap(input, &base());
        read_sitemap(&spell(input, XML), &base());
    });
}

#[test]
fn feed() {
    bolero::check!().for_each(|input: &[u8]| {
        let _ = read_feed(input, &base());
        let _ = read_feed(&spell(input, XML), &base());
    });
}

const WARC: &[&str] = &[
    "WARC/1.1\r\n",
    "WARC/1.0\n",
    "WARC-Type: response\r\n",
    "WARC-Type: revisit\r\n",
    "WARC-Target-URI: https://www.example.com/\r\n",
    "WARC-Target-URI: <http://a.example/>\r\n",
    "WARC-Date: 2020-01-01T00:00:00Z\r\n",
    "Content-Length: 5\r\n",
    "Content-Length: 99999999999999999999\r\n",
    "Content-Length: -1\r\n",
    "Content-Length: 70\r\n",
    "\r\n",
    "\n",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 301 Moved\r\n",
    "Content-Type: text/html; charset=gbk\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Content-Encoding: gzip\r\n",
    "5\r\nhello\r\n",
    "0\r\n\r\n",
    "FFFFFFFFFFFFFFFF\r\n",
    "<p>hello</p>",
    "http://a.example/ 127.0.0.1 20200101000000 text/html 12\n",
    "filedesc://x 0.0.0.0 20200101000000 text/plain 0\n",
    ":",
    " ",
];

#[test]
fn warc() {
    bolero::check!().for_each(|input: &[u8]| {
        let packed = |bytes: &[u8]| {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut encoder, bytes).expect("into memory");
            encoder.finish().expect("into memory")
        };
        let text = spell(input, WARC);
        for bytes in [input.to_vec(), packed(&text), text] {
            let limit = bytes.len();
            let Ok(mut reader) = WarcReader::new(Cursor::new(bytes), 1 << 20) else {
                continue;
            };
            let mut records = 0;
            while let Ok(Some(_)) = reader.read_record() {
                records += 1;
                assert!(records <= limit * 1000, "records without end");
            }
        }
    });
}

const QUERY: &[&str] = &[
    "\"",
    "“",
    "”",
    "-",
    "+",
    "AND",
    "OR",
    "NOT",
    "(",
    ")",
    ":",
    "site:",
    "title:",
    "author:",
    "since:",
    "until:",
    "source:",
    "2020",
    "-01",
    "AND",
    "NOT",
    "NEAR/5",
    "（",
    "）",
    "＋",
    "｜",
    "与",
    "非",
    "!",
    "字号:",
    "SU*",
    "昨天",
    "7d",
    "石油",
    "天然氣",
    "Ｏｉｌ",
    "oil",
    " ",
    "　",
    "*",
    "~",
    "^",
    "\\",
    "/",
    "[",
    "TO",
    "]",
    "\0",
    "\u{200d}",
    "👨‍👩‍👧",
    "e\u{301}",
];

#[test]
fn query_as_typed() {
    let calendar = Calendar {
        utc_offset_minutes: 480,
        now_ms: NOW_MS,
    };
    bolero::check!().for_each(move |input: &[u8]| {
        let typed = spell_text(input, QUERY);
        let parsed = query::parse(&typed, &calendar);
        assert!(parsed.notes.len() <= query::MAX_QUERY_CHARS);
        let leaves = parsed.query.groups.iter().flat_map(|group| group.leaves());
        assert!(
            leaves.clone().count() <= 32 && leaves.clone().all(|leaf| !leaf.text.trim().is_empty())
        );
        for narrowing in query::narrowings(&typed) {
            assert!(typed.contains(&narrowing.text));
        }
        assert!(query::without_dates(&typed).len() <= typed.len() * 2);
        assert!(query::without_quotes(&typed).len() <= typed.len());
    });
}
