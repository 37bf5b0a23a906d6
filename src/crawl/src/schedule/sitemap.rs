//! Sitemaps (sitemaps.org 0.9, index files, Google's news extension, plain text lists, feeds, gzip). In: the bytes. Out: the
//! links with their dates. Never fails: what can be read is read.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::DatedLink;
use super::xml;
use taojin_uri::CrawlUri;

/// The protocol allows this many in one file.
const MAX_LINKS: usize = 50_000;

/// Elements open at the same time; deeper is no sitemap.
const MAX_DEPTH: usize = 64;

/// What a sitemap lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sitemap {
    /// Pages.
    pub pages: Vec<DatedLink>,
    /// Further sitemaps.
    pub sitemaps: Vec<DatedLink>,
    /// It had more than is kept, or its end was damaged.
    pub truncated: bool,
    /// Entries whose address could not be read.
    pub bad: usize,
}

/// Reads a sitemap that was fetched from `base`.
pub fn read_sitemap(bytes: &[u8], base: &CrawlUri) -> Sitemap {
    let (text, cut) = xml::text(bytes);
    let mut found = if text.trim_start().starts_with('<') {
        read_xml(&text, base)
    } else {
        read_lines(&text, base)
    };
    found.truncated |= cut;
    if found.pages.is_empty() && found.sitemaps.is_empty() && found.bad == 0 {
        // The protocol allows a feed as a sitemap.
        found.pages = super::read_feed(bytes, base).unwrap_or_default();
    }
    found
}

fn read_lines(text: &str, base: &CrawlUri) -> Sitemap {
    let mut found = Sitemap::default();
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
        found.add(line, None, false, base);
    }
    found
}

/// One `<url>` or `<sitemap>` while it is read.
#[derive(Default)]
struct Entry {
    loc: String,
    /// Text outside of any field: the address, in files whose author forgot `<loc>`.
    bare: String,
    lastmod: String,
    published: String,
    is_sitemap: bool,
}

fn read_xml(text: &str, base: &CrawlUri) -> Sitemap {
    let mut found = Sitemap::default();
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut open: Vec<String> = Vec::new();
    let mut entry: Option<Entry> = None;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                let name = local(tag.local_name().as_ref());
                if matches!(name.as_str(), "url" | "sitemap") {
                    // An entry that was never closed ends where the next begins.
                    found.close(entry.take(), base);
                    entry = Some(Entry {
                        is_sitemap: name == "sitemap",
                        ..Entry::default()
                    });
                    open.clear();
                }
                if open.len() >= MAX_DEPTH {
                    found.truncated = true;
                    break;
                }
                // The image and video extensions have a `loc` of their own.
                let foreign = tag.name().prefix().is_some_and(|p| {
                    matches!(local(p.as_ref()).as_str(), "image" | "video" | "xhtml")
                });
                open.push(if foreign { String::new() } else { name });
            }
            Ok(Event::End(tag)) => {
                let name = local(tag.local_name().as_ref());
                open.pop();
                if matches!(name.as_str(), "url" | "sitemap") {
                    found.close(entry.take(), base);
                }
            }
            Ok(Event::Text(part)) => append(&mut entry, &open, &part),
            Ok(Event::CData(part)) => append(&mut entry, &open, &part),
            Ok(Event::GeneralRef(part)) => append(&mut entry, &open, &xml::reference(&part)),
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(_) => {
                found.truncated = true;
                break;
            }
        }
        if found.truncated {
            break;
        }
    }
    found.close(entry, base);
    found
}

fn local(name: &str) -> String {
    name.to_ascii_lowercase()
}

fn append(entry: &mut Option<Entry>, open: &[String], part: &str) {
    let (Some(entry), Some(name)) = (entry, open.last()) else {
        return;
    };
    let field = match name.as_str() {
        "loc" => &mut entry.loc,
        "lastmod" => &mut entry.lastmod,
        "publication_date" => &mut entry.published,
        "url" | "sitemap" => &mut entry.bare,
        _ => return,
    };
    field.push_str(part);
}

impl Sitemap {
    fn close(&mut self, entry: Option<Entry>, base: &CrawlUri) {
        let Some(entry) = entry else { return };
        let date_ms = xml::date_ms(&entry.lastmod).or_else(|| xml::date_ms(&entry.published));
        let address = match entry.loc.trim() {
            "" => entry.bare.trim(),
            loc => loc,
        };
        self.add(address, date_ms, entry.is_sitemap, base);
    }

    fn add(&mut self, loc: &str, date_ms: Option<i64>, is_sitemap: bool, base: &CrawlUri) {
        if self.pages.len() + self.sitemaps.len() >= MAX_LINKS {
            self.truncated = true;
            return;
        }
        if loc.trim().is_empty() {
            self.bad += 1;
            return;
        }
        match base.join(loc.trim()) {
            Ok(uri) if is_sitemap => self.sitemaps.push(DatedLink { uri, date_ms }),
            Ok(uri) => self.pages.push(DatedLink { uri, date_ms }),
            Err(_) => self.bad += 1,
        }
    }
}
