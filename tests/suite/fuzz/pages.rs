//! Fuzz targets of the way from bytes to document.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use chrono::DateTime;
use taojin_extract::page::{Builder, Hints, Page, kind, links};
use taojin_extract::{Config as Settings, Context, Document, explain, extract};
use taojin_uri::CrawlUri;

use super::structure::assert_written;
use super::words::{MARKUP, Words, read as dictionary, spell, spell_text};
use super::{NOW_MS, assert_sound};

/// Pieces of times.
static TIMES: Words = Words::new(|| dictionary(include_str!("../../dictionaries/times.dict")));
/// Pieces of data in scripts.
static DATA: Words = Words::new(|| dictionary(include_str!("../../dictionaries/data.dict")));

/// Charset labels that a header may name.
const LABELS: [&str; 12] = [
    "",
    "utf-8",
    "gbk",
    "big5",
    "shift_jis",
    "euc-jp",
    "iso-2022-jp",
    "euc-kr",
    "windows-1252",
    "utf-16le",
    "koi8-r",
    "nonsense",
];

fn hints(label: &str) -> Hints {
    Hints {
        url: Some(
            CrawlUri::parse("https://news.example.com/2020/0202/1.html").expect("an address"),
        ),
        charset: (!label.is_empty()).then(|| label.to_owned()),
        ..Hints::default()
    }
}

fn in_pieces(bytes: &[u8], size: usize, hints: Hints) -> Page {
    let mut builder = Builder::new(hints);
    for piece in bytes.chunks(size.max(1)) {
        builder.feed(piece);
    }
    builder.finish()
}

/// What holds of every document.
fn assert_document(document: &Document) {
    assert!((0.0..=1.0).contains(&document.provenance.confidence));
    if let Some(published) = &document.published {
        let day = published.get(..10).expect("a day");
        let day = chrono::NaiveDate::parse_from_str(day, "%Y-%m-%d").expect("a real day");
        let tomorrow = DateTime::from_timestamp_millis(NOW_MS + 2 * 86_400_000).expect("a moment");
        assert!(day.to_string().as_str() >= "1995-01-01" && day <= tomorrow.date_naive());
    }
    for link in &document.links {
        assert!(link.url.starts_with("http://") || link.url.starts_with("https://"));
    }
    assert!(
        document
            .title
            .as_deref()
            .is_none_or(|title| !title.trim().is_empty())
    );
    assert!(document.text.lines().all(|line| !line.is_empty()));
    assert_written(document);
}

fn read(bytes: &[u8], label: &str) -> Page {
    let page = Page::parse(bytes, hints(label));
    assert_sound(&page);
    let context = Context {
        now_ms: Some(NOW_MS),
        ..Context::default()
    };
    let document = extract(&page, &context);
    assert_document(&document);
    page
}

#[test]
fn decode() {
    bolero::check!().for_each(|input: &[u8]| {
        let Some((first, bytes)) = input.split_first() else {
            return;
        };
        let label = LABELS[usize::from(*first) % LABELS.len()];
        let whole = Page::parse(bytes, hints(label));
        assert_sound(&whole);
        let size = usize::from(*first) / LABELS.len() + 1;
        assert!(
            in_pieces(bytes, size, hints(label)) == whole,
            "pieces of {size}"
        );
    });
}

/// A page that changes its charset on the way, with text before, between and after.
#[test]
fn decode_mixed() {
    bolero::check!()
        .with_type::<Vec<(u8, u8)>>()
        .for_each(|parts| {
            let mut bytes = Vec::new();
            for (charset, words) in parts {
                let encoding = encoding_rs::Encoding::for_label(
                    LABELS[1 + usize::from(*charset) % (LABELS.len() - 2)].as_bytes(),
                )
                .expect("all but the last are charsets");
                let text = &MARKUP[usize::from(*words) % MARKUP.len()];
                bytes.extend_from_slice(
                    &encoding
                        .encode(text)
                        .0
                        .repeat(1 + usize::from(*charset) / 16),
                );
            }
            let whole = Page::parse(&bytes, hints(""));
            assert_sound(&whole);
            assert!(in_pieces(&bytes, 7, hints("")) == whole);
        });
}

#[test]
fn builder() {
    bolero::check!().for_each(|input: &[u8]| {
        let (size, words) = input.split_first().unwrap_or((&1, &[]));
        let html = spell(words, &MARKUP);
        let page = Page::parse(&html, hints("utf-8"));
        assert_sound(&page);
        assert!(in_pieces(&html, usize::from(*size), hints("utf-8")) == page);
        let _ = (kind(&page, None), links(&page, 100), page.body());
        let _ = page.shown_texts(0..page.nodes().len() as u32).count();
    });
}

#[test]
fn extract_soup() {
    bolero::check!().for_each(|input: &[u8]| {
        let html = spell(input, &MARKUP);
        let page = read(&html, "utf-8");
        let context = Context {
            now_ms: Some(NOW_MS),
            ..Context::default()
        };
        let (explained, _) = explain(&page, &context, &Settings::default());
        assert_document(&explained);
    });
}

/// The hand-made pages, to be spoiled.
static PAGES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let folder = std::path::Path::new(crate::support::ROOT).join("tests/pages");
    let mut pages = BTreeMap::new();
    for entry in std::fs::read_dir(folder)
        .expect("the folder is there")
        .flatten()
    {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "html") {
            pages.insert(path.clone(), std::fs::read(path).expect("just listed"));
        }
    }
    pages.into_values().collect()
});

/// A hand-made page with cuts, repeats and pieces of others put in.
#[test]
fn extract_spoiled() {
    bolero::check!()
        .with_type::<(u8, Vec<(u16, u8, u8)>)>()
        .for_each(|(which, edits)| {
            let mut html = PAGES[usize::from(*which) % PAGES.len()].clone();
            for (at, what, len) in edits.iter().take(64) {
                let at = usize::from(*at) * html.len().max(1) / 65_536;
                let end = (at + usize::from(*len)).min(html.len());
                match what % 4 {
                    0 => drop(html.drain(at..end)),
                    1 => html.extend_from_within(at..end),
                    2 => drop(html.splice(at..end, spell(&[*what / 2], &MARKUP))),
                    _ => html.truncate(html.len().saturating_sub(usize::from(*len) / 8)),
                }
            }
            read(&html, "");
        });
}

/// Data in scripts, which is searched for a text as the page shows none.
#[test]
fn script_data() {
    bolero::check!().for_each(|input: &[u8]| {
        let (first, rest) = input.split_first().unwrap_or((&0, &[]));
        let data = spell_text(rest, &DATA);
        let script = match first % 4 {
            0 => format!("<script type=application/json>{data}</script>"),
            1 => format!("<script>window.__STATE__={data}</script>"),
            2 => format!("<script type=application/ld+json>{{\"articleBody\":\"{data}</script>"),
            _ => data
                .split(';')
                .map(|part| format!("<script>self.__next_f.push([1,\"{part}\"])</script>"))
                .collect(),
        };
        let html = format!("<title>油田产量稳步增长</title><p>正在加载</p>{script}");
        read(html.as_bytes(), "utf-8");
    });
}

#[test]
fn date() {
    bolero::check!().for_each(|input: &[u8]| {
        let (first, rest) = input.split_first().unwrap_or((&0, &[]));
        let time = spell_text(rest, &TIMES);
        let body = "<h1>油田产量稳步增长</h1>";
        let text = "<p>今年以来，油田坚持效益优先，产量稳步增长，各项指标好于去年同期。</p>".repeat(4);
        let html = match first % 5 {
            0 => format!("{body}<div class=time>{time}</div>{text}"),
            1 => format!("<meta property=article:published_time content=\"{time}\">{body}{text}"),
            2 => format!("{body}<time datetime=\"{time}\">{time}</time>{text}"),
            3 => format!(
                "<script type=application/ld+json>{{\"@type\":\"NewsArticle\",\"datePublished\":\"{time}\"}}</script>{body}{text}"
            ),
            _ => format!("{body}{text}<p>{time}</p>"),
        };
        read(html.as_bytes(), "utf-8");
    });
}
