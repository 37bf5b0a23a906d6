//! Fuzz targets of everything else that comes from outside: addresses, robots.txt, sitemaps, feeds, archives, queries.

use std::io::Cursor;

use taojin_crawl::fetch::{Robots, WarcReader};
use taojin_crawl::schedule::{read_feed, read_sitemap};
use taojin_search::query;
use taojin_search::query::dates::Calendar;
use taojin_uri::CrawlUri;

use super::NOW_MS;
use super::words::{Words, read, spell, spell_text};

static ADDRESS: Words = Words::new(|| read(include_str!("../../dictionaries/address.dict")));

fn base() -> CrawlUri {
    CrawlUri::parse("https://www.example.com/news/list.html?page=2").expect("an address")
}

#[test]
fn address() {
    bolero::check!().for_each(|input: &[u8]| {
        let text = spell_text(input, &ADDRESS);
        for uri in [CrawlUri::parse(&text), base().join(&text)]
            .into_iter()
            .flatten()
        {
            // What was canonicalised stays as it is.
            let again = CrawlUri::parse(uri.as_str()).expect("a canonical address is one");
            assert_eq!(again, uri);
            assert!(matches!(uri.scheme(), "http" | "https") && !uri.host().is_empty());
        }
    });
}

static ROBOTS: Words = Words::new(|| read(include_str!("../../dictionaries/robots.dict")));

#[test]
fn robots() {
    bolero::check!().for_each(|input: &[u8]| {
        let text = spell(input, &ROBOTS);
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

static XML: Words = Words::new(|| read(include_str!("../../dictionaries/xml.dict")));

#[test]
fn sitemap() {
    bolero::check!().for_each(|input: &[u8]| {
        read_sitemap(input, &base());
        read_sitemap(&spell(input, &XML), &base());
    });
}

#[test]
fn feed() {
    bolero::check!().for_each(|input: &[u8]| {
        let _ = read_feed(input, &base());
        let _ = read_feed(&spell(input, &XML), &base());
    });
}

static WARC: Words = Words::new(|| read(include_str!("../../dictionaries/warc.dict")));

#[test]
fn warc() {
    bolero::check!().for_each(|input: &[u8]| {
        let packed = |bytes: &[u8]| {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut encoder, bytes).expect("into memory");
            encoder.finish().expect("into memory")
        };
        let text = spell(input, &WARC);
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

static QUERY: Words = Words::new(|| read(include_str!("../../dictionaries/query.dict")));

#[test]
fn query_as_typed() {
    let calendar = Calendar {
        utc_offset_minutes: 480,
        now_ms: NOW_MS,
    };
    bolero::check!().for_each(move |input: &[u8]| {
        let typed = spell_text(input, &QUERY);
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
