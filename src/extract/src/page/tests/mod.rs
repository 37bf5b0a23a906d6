//! Tests of the page model: what browsers make of broken markup, charset traps, hostile bytes, reading.

mod builder;
mod charset;
mod reading;
mod structure;

use super::{Hints, Page, Tag};

/// A page from text, without hints.
fn page(html: &str) -> Page {
    Page::parse(html.as_bytes(), Hints::default())
}

/// A page with an address.
fn page_at(url: &str, html: &str) -> Page {
    let hints = Hints {
        url: Some(taojin_uri::CrawlUri::parse(url).unwrap()),
        ..Hints::default()
    };
    Page::parse(html.as_bytes(), hints)
}

/// Each text with its tag path, in order.
fn texts(page: &Page) -> Vec<String> {
    (0..page.nodes().len() as u32)
        .filter(|&id| page.node(id).tag == Tag::TEXT)
        .map(|id| format!("{} {}", page.path_name(page.node(id).path), page.text(id)))
        .collect()
}
