//! Sitemaps (sitemaps.org 0.9, index files, Google's news extension, plain text lists, feeds, gzip). In: the bytes, all at
//! once or while they arrive. Out: the links with their dates. Never fails: what can be read is read. Never holds a sitemap
//! whole.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::DatedLink;
use super::xml;
use taojin_uri::{CrawlUri, MAX_URI_BYTES};

/// The protocol allows this many in one file.
const MAX_LINKS: usize = 50_000;

/// The protocol allows 50 MB in one file, after unpacking.
const MAX_BYTES: u64 = 50 << 20;

/// Elements open at the same time; deeper is no sitemap.
const MAX_DEPTH: usize = 64;

/// Text is read in pieces of about this size.
const PIECE_BYTES: usize = 64 << 10;

/// A tag, a comment or a line longer than this is no sitemap.
const MAX_TOKEN_BYTES: usize = 1 << 20;

/// A feed in the place of a sitemap is kept up to this size.
const MAX_FEED_BYTES: usize = 4 << 20;

/// What a sitemap lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sitemap {
    /// Pages.
    pub pages: Vec<DatedLink>,
    /// Further sitemaps.
    pub sitemaps: Vec<DatedLink>,
    /// Why it was not read to its end, if it was not.
    pub cut: Option<Cut>,
    /// Entries whose address could not be read.
    pub bad: usize,
}

/// Why a sitemap was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It has more entries than the protocol allows.
    Entries,
    /// It is larger than is read.
    Bytes,
    /// It is damaged, or no sitemap.
    Damaged,
}

/// Reads a sitemap that was fetched from `base`.
pub fn read_sitemap(bytes: &[u8], base: &CrawlUri) -> Sitemap {
    let mut reader = SitemapReader::new(base.clone(), MAX_BYTES);
    reader.feed(bytes);
    reader.finish()
}

/// Reads a sitemap while it arrives; holds its links and a piece of its text.
pub struct SitemapReader {
    stream: xml::TextStream,
    parser: Parser,
}

impl SitemapReader {
    /// Reads what is fetched from `base`, at most `max_bytes` of it after unpacking.
    pub fn new(base: CrawlUri, max_bytes: u64) -> Self {
        Self {
            stream: xml::TextStream::new(),
            parser: Parser {
                base,
                max_bytes,
                form: Form::Unseen,
                rest: String::new(),
                next_at: 0,
                open: Vec::new(),
                entry: None,
                found: Sitemap::default(),
            },
        }
    }

    /// Takes the next bytes; whether more are wanted.
    pub fn feed(&mut self, bytes: &[u8]) -> bool {
        let (stream, parser) = (&mut self.stream, &mut self.parser);
        let go_on = stream.feed(bytes, &mut |text, so_far| parser.take(text, so_far));
        if stream.damaged {
            parser.found.cut.get_or_insert(Cut::Damaged);
        }
        go_on && !stream.damaged
    }

    /// What was found up to the end.
    pub fn finish(self) -> Sitemap {
        let (mut stream, mut parser) = (self.stream, self.parser);
        stream.finish(&mut |text, so_far| parser.take(text, so_far));
        if stream.damaged {
            parser.found.cut.get_or_insert(Cut::Damaged);
        }
        parser.finish()
    }
}

/// What the text turned out to be.
enum Form {
    Unseen,
    Xml,
    /// One address a line.
    Lines,
    /// The protocol allows a feed as a sitemap.
    Feed,
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
    /// The prefix of its tag: fields of its own have the same, those of extensions (images, news) another.
    prefix: String,
}

/// Elements below which a field of an entry may stand, where the end of the one before it was forgotten.
const OWN: [&str; 6] = ["url", "sitemap", "loc", "lastmod", "changefreq", "priority"];

/// Text to links, piece by piece.
struct Parser {
    base: CrawlUri,
    max_bytes: u64,
    form: Form,
    /// Text that is not read yet.
    rest: String,
    /// It is read once it has so many bytes.
    next_at: usize,
    open: Vec<String>,
    entry: Option<Entry>,
    found: Sitemap,
}

impl Parser {
    /// Takes the next text of a sitemap of which `so_far` bytes have come; whether more is wanted.
    fn take(&mut self, text: &str, so_far: u64) -> bool {
        if self.found.cut.is_some() {
            return false;
        }
        self.rest.push_str(text);
        if so_far > self.max_bytes {
            self.found.cut = Some(Cut::Bytes);
        }
        if self.rest.len() >= self.next_at.max(PIECE_BYTES) {
            self.read(false);
        }
        self.found.cut.is_none()
    }

    fn finish(mut self) -> Sitemap {
        if matches!(self.found.cut, None | Some(Cut::Bytes | Cut::Damaged)) {
            self.read(true);
        }
        if matches!(self.form, Form::Feed) {
            let pages = super::read_feed(self.rest.as_bytes(), &self.base);
            self.found.pages = pages.unwrap_or_default();
        }
        let entry = self.entry.take();
        self.close(entry);
        self.found
    }

    /// Reads what is complete of the text.
    fn read(&mut self, is_last: bool) {
        if matches!(self.form, Form::Unseen) {
            self.form = form(&self.rest);
        }
        let text = std::mem::take(&mut self.rest);
        let read = match self.form {
            Form::Unseen => 0,
            Form::Lines => self.read_lines(&text, is_last),
            Form::Xml => self.read_xml(&text, is_last),
            Form::Feed => {
                if text.len() > MAX_FEED_BYTES {
                    self.found.cut = Some(Cut::Bytes);
                }
                0
            }
        };
        let rest = text.get(read..).unwrap_or_default();
        if rest.len() > MAX_TOKEN_BYTES && !matches!(self.form, Form::Feed) {
            self.found.cut.get_or_insert(Cut::Damaged);
        }
        rest.clone_into(&mut self.rest);
        // What is not complete yet is looked at again when there is as much again.
        self.next_at = 2 * self.rest.len();
    }

    /// How many bytes were read.
    fn read_lines(&mut self, text: &str, is_last: bool) -> usize {
        let end = match is_last {
            true => text.len(),
            false => text.rfind('\n').map_or(0, |at| at + 1),
        };
        let lines = text.get(..end).unwrap_or_default().lines().map(str::trim);
        for line in lines.filter(|l| !l.is_empty()) {
            self.add(line, None, false);
        }
        end
    }

    /// How many bytes were read.
    fn read_xml(&mut self, text: &str, is_last: bool) -> usize {
        // Text is whole where the next tag begins.
        let end = match is_last {
            true => text.len(),
            false => text.rfind('>').map_or(0, |at| at + 1),
        };
        let mut reader = Reader::from_str(text.get(..end).unwrap_or_default());
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        while !matches!(self.found.cut, Some(Cut::Entries)) {
            match reader.read_event() {
                Ok(Event::Eof) => break,
                Ok(event) => {
                    if !self.event(&event) {
                        self.found.cut = Some(Cut::Damaged);
                        break;
                    }
                }
                // A tag, a comment or a section whose end has not come yet.
                Err(quick_xml::Error::Syntax(_)) if !is_last => {
                    return usize::try_from(reader.error_position()).unwrap_or(end);
                }
                Err(_) => {
                    self.found.cut.get_or_insert(Cut::Damaged);
                    break;
                }
            }
        }
        end
    }

    /// Takes an event of the XML; false if elements are open too deep.
    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Start(tag) => {
                let name = local(tag.local_name().as_ref());
                let prefix = tag
                    .name()
                    .prefix()
                    .map_or_else(String::new, |p| local(p.as_ref()));
                if matches!(name.as_str(), "url" | "sitemap") {
                    // An entry that was never closed ends where the next begins.
                    let entry = self.entry.replace(Entry {
                        is_sitemap: name == "sitemap",
                        prefix: prefix.clone(),
                        ..Entry::default()
                    });
                    self.close(entry);
                    self.open.clear();
                }
                if self.open.len() >= MAX_DEPTH {
                    return false;
                }
                // Images and videos have a `loc` of their own; the day of a news stands in its extension only.
                let below = self.open.last().map_or("", String::as_str);
                let is_own = self.entry.as_ref().is_none_or(|e| e.prefix == prefix);
                let is_field = name == "publication_date"
                    || matches!(name.as_str(), "url" | "sitemap")
                    || (is_own && OWN.contains(&below));
                if is_field && name == "loc" {
                    self.begin_another();
                }
                self.open.push(if is_field { name } else { String::new() });
            }
            Event::End(tag) => {
                let name = local(tag.local_name().as_ref());
                self.open.pop();
                if matches!(name.as_str(), "url" | "sitemap") {
                    let entry = self.entry.take();
                    self.close(entry);
                }
            }
            Event::Text(part) => self.append(part),
            Event::CData(part) => self.append(part),
            Event::GeneralRef(part) => self.append(&xml::reference(part)),
            _ => {}
        }
        true
    }

    /// A second address in an entry is an entry of its own.
    fn begin_another(&mut self) {
        let Some(entry) = self.entry.take_if(|e| !e.loc.trim().is_empty()) else {
            return;
        };
        self.entry = Some(Entry {
            is_sitemap: entry.is_sitemap,
            prefix: entry.prefix.clone(),
            ..Entry::default()
        });
        self.close(Some(entry));
    }

    fn append(&mut self, part: &str) {
        let (Some(entry), Some(name)) = (&mut self.entry, self.open.last()) else {
            return;
        };
        let field = match name.as_str() {
            "loc" => &mut entry.loc,
            "lastmod" => &mut entry.lastmod,
            "publication_date" => &mut entry.published,
            "url" | "sitemap" => &mut entry.bare,
            _ => return,
        };
        // Blanks around an address do not count; more than this is none.
        if field.len() <= 2 * MAX_URI_BYTES {
            field.push_str(part);
        }
    }

    fn close(&mut self, entry: Option<Entry>) {
        let Some(entry) = entry else { return };
        let date_ms = xml::date_ms(&entry.lastmod).or_else(|| xml::date_ms(&entry.published));
        let address = match entry.loc.trim() {
            "" => entry.bare.trim(),
            loc => loc,
        };
        self.add(address, date_ms, entry.is_sitemap);
    }

    fn add(&mut self, loc: &str, date_ms: Option<i64>, is_sitemap: bool) {
        let found = &mut self.found;
        if found.pages.len() + found.sitemaps.len() + found.bad >= MAX_LINKS {
            found.cut = Some(Cut::Entries);
            return;
        }
        match self.base.join(loc.trim()) {
            _ if loc.trim().is_empty() => found.bad += 1,
            Ok(uri) if is_sitemap => found.sitemaps.push(DatedLink { uri, date_ms }),
            Ok(uri) => found.pages.push(DatedLink { uri, date_ms }),
            Err(_) => found.bad += 1,
        }
    }
}

/// What a text that begins so is.
fn form(text: &str) -> Form {
    let start: String = text.trim_start().chars().take(1024).collect();
    let start = start.to_ascii_lowercase();
    let has = |tag: &str| start.contains(tag);
    if start.starts_with('{') || has("<rss") || has("<feed") || has("<rdf:rdf") {
        Form::Feed
    } else if start.starts_with('<') {
        Form::Xml
    } else {
        Form::Lines
    }
}

fn local(name: &str) -> String {
    name.to_ascii_lowercase()
}
