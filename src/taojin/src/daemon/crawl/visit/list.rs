//! Reads a feed or sitemap for its addresses.

use super::page::{FetchedPage, digest};
use super::{Content, ListRead, link_from};
use taojin_crawl::schedule::{self, Cut, DatedLink, Sitemap};
use taojin_crawl::store::{Announcement, NewUrl, UrlClass, UrlRecord};

impl ListRead {
    /// Why it was read in part, if it was.
    pub(super) fn describe_cut(&self) -> Option<String> {
        let why = match self.cut? {
            Cut::Entries => "it has more than 50,000 entries".to_owned(),
            Cut::Bytes => format!("fetch.max_sitemap_bytes = {}", self.max_bytes),
            Cut::Damaged => "it is damaged from there on".to_owned(),
        };
        Some(format!("sitemap read in part: {why}"))
    }
}

/// Reads a feed. One that the bytes say is a sitemap is read as one; one that is neither has no links.
pub(super) fn read_list(
    fetched_page: &FetchedPage<'_>,
    bytes: &[u8],
    max_bytes: u64,
) -> (Content, Vec<NewUrl>) {
    let base = &fetched_page.record.uri;
    let found = match schedule::read_feed(bytes, base) {
        Ok(pages) => Sitemap {
            pages,
            ..Sitemap::default()
        },
        Err(_) => schedule::read_sitemap(bytes, base),
    };
    take_entries(fetched_page.record, found, max_bytes)
}

/// Takes what was read of a sitemap, of which `max_bytes` are read.
pub(super) fn read_sitemap(
    fetched_page: &FetchedPage<'_>,
    mut found: Sitemap,
    max_bytes: u64,
) -> (Content, Vec<NewUrl>) {
    if fetched_page.is_cut() {
        found.cut = Some(Cut::Bytes);
    }
    take_entries(fetched_page.record, found, max_bytes)
}

fn take_entries(record: &UrlRecord, found: Sitemap, max_bytes: u64) -> (Content, Vec<NewUrl>) {
    let Sitemap {
        pages,
        sitemaps,
        cut,
        ..
    } = found;
    let is_sitemap = record.visit.class == UrlClass::Sitemap;
    let read = ListRead {
        digest: digest(pages.iter().chain(&sitemaps).map(|l| l.uri.as_str())),
        cut: cut.filter(|_| is_sitemap || !pages.is_empty()),
        max_bytes,
    };
    let children = |links: Vec<DatedLink>, class: UrlClass| {
        let links = links.into_iter();
        links.map(move |link| link_from(record, link.uri, class))
    };
    let sitemaps = children(sitemaps, UrlClass::Sitemap);
    let pages = pages.into_iter().map(|page| NewUrl {
        announced: page.published.map(|listed| {
            Box::new(Announcement {
                page_url: record.uri.to_string(),
                listed: Some(listed),
                ..Announcement::default()
            })
        }),
        ..link_from(record, page.uri, UrlClass::Unknown)
    });
    let outlinks = sitemaps.chain(pages);
    (Content::List(read), outlinks.collect())
}
