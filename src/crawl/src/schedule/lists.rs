//! The lists of addresses that a site offers to machines: sitemaps (sitemaps.org 0.9, index files, Google's news extension, plain
//! text lists, gzip) and feeds (RSS 0.9–2.0, Atom, JSON Feed), all at once or while their bytes arrive, never held whole.
//! They give links with their dates. What can be read is read, also of a list that is no valid XML.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use encoding_rs::{Decoder, Encoding, UTF_8};
use flate2::write::MultiGzDecoder;
use quick_xml::Reader;
use quick_xml::events::Event;
use taojin_uri::{CrawlUri, MAX_URI_BYTES};

use super::DatedLink;

/// Entries kept; feeds have tens.
const MAX_ENTRIES: usize = 2_000;

/// What the library that reads feeds is given at most: it keeps some kilobytes for each entry however small it is, and
/// resolves each address against each `xml:base` above it. A feed beyond these is read link by link.
const MAX_ELEMENTS: usize = 200_000;
/// Elements open at the same time.
const MAX_DEPTH: usize = 64;
/// Bytes of one tag with its attributes.
const MAX_TAG_BYTES: usize = 16 << 10;
/// Bytes of a date.
const MAX_DATE_BYTES: usize = 64;
/// Objects in a JSON Feed; beyond them it is no feed.
const MAX_OBJECTS: usize = 20_000;

/// It is no feed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a feed: {0}")]
pub struct FeedError(String);

/// Reads a feed that was fetched from `base`; links in the order of the feed, each once.
pub fn read_feed(bytes: &[u8], base: &CrawlUri) -> Result<Vec<DatedLink>, FeedError> {
    let (text, _) = text(bytes);
    // The text is UTF-8 now, whatever the declaration says.
    let body = match text.strip_prefix("<?xml") {
        Some(rest) => rest
            .split_once("?>")
            .map_or(text.as_str(), |(_, body)| body),
        None => text.as_str(),
    };
    // A second declaration, far from the beginning, makes the reader of the XML panic.
    let body = body.replace("<?xml", "<?lmx");
    let read = if is_bounded(&body) {
        // The library gives times in UTC only, and none that it cannot read: what is written is kept instead.
        let dates = Arc::<Mutex<Vec<String>>>::default();
        let kept = Arc::clone(&dates);
        feed_rs::parser::Builder::new()
            .base_uri(Some(base.as_str()))
            .timestamp_parser(move |text| keep_date(&kept, text))
            .build()
            .parse(body.trim_start().as_bytes())
            .map(|feed| (feed, dates))
            .map_err(|error| error.to_string())
    } else {
        Err("it is larger or deeper than any feed".to_owned())
    };
    let mut links = match read {
        Ok((feed, dates)) => {
            let dates = dates.lock().unwrap_or_else(PoisonError::into_inner);
            let found = entries(feed, &dates, base);
            // A feed in the namespace of another format parses, to nothing.
            if found.is_empty() {
                rescue(&body, base)
            } else {
                found
            }
        }
        Err(error) => {
            let rescued = rescue(&body, base);
            if rescued.is_empty() {
                return Err(FeedError(error));
            }
            rescued
        }
    };
    let mut met = std::collections::HashSet::new();
    links.retain(|link| met.insert(link.uri.clone()));
    Ok(links)
}

/// Whether a feed is small enough to be read whole. Looks at each byte once and keeps nothing.
fn is_bounded(body: &str) -> bool {
    if !body.trim_start().starts_with('<') {
        return body.bytes().filter(|byte| *byte == b'{').count() <= MAX_OBJECTS;
    }
    let mut reader = lenient(body);
    let (mut entries, mut elements, mut depth) = (0, 0, 0_usize);
    loop {
        let (tag, opens) = match reader.read_event() {
            Ok(Event::Start(tag)) => (tag, 1),
            Ok(Event::Empty(tag)) => (tag, 0),
            Ok(Event::End(_)) => {
                depth = depth.saturating_sub(1);
                continue;
            }
            // The library stops at a mistake too.
            Ok(Event::Eof) | Err(_) => return true,
            Ok(_) => continue,
        };
        depth += opens;
        elements += 1;
        let name = tag.local_name();
        let is_entry = ["item", "entry"]
            .iter()
            .any(|entry| name.as_ref().eq_ignore_ascii_case(entry));
        entries += usize::from(is_entry);
        let fits = entries <= MAX_ENTRIES && elements <= MAX_ELEMENTS && depth <= MAX_DEPTH;
        if !fits || tag.len() > MAX_TAG_BYTES {
            return false;
        }
    }
}

/// A reader of XML that goes on after common mistakes.
fn lenient(text: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    reader
}

/// Keeps a date as it is written, and gives its place in the form of a time.
fn keep_date(dates: &Mutex<Vec<String>>, text: &str) -> Option<DateTime<Utc>> {
    let mut dates = dates.lock().unwrap_or_else(PoisonError::into_inner);
    dates.push(written_date(text)?);
    DateTime::from_timestamp(i64::try_from(dates.len()).ok()?, 0)
}

/// A date as it is written, if it is no longer than one.
fn written_date(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty() && text.len() <= MAX_DATE_BYTES).then(|| text.to_owned())
}

fn entries(feed: feed_rs::model::Feed, dates: &[String], base: &CrawlUri) -> Vec<DatedLink> {
    feed.entries
        .into_iter()
        .take(MAX_ENTRIES)
        .filter_map(|entry| {
            let page = |rel: Option<&str>| matches!(rel, None | Some("alternate"));
            let link = entry
                .links
                .iter()
                .find(|l| page(l.rel.as_deref()))
                .or_else(|| entry.links.first());
            // Feeds without links often have the address as the entry's id.
            let address = link.map_or(entry.id.as_str(), |l| l.href.as_str());
            let looks_right = link.is_some() || address.starts_with("http");
            let uri = base.join(address).ok().filter(|_| looks_right)?;
            let place = entry.published.or(entry.updated);
            let place = place.and_then(|at| usize::try_from(at.timestamp()).ok());
            let date = place.and_then(|place| dates.get(place.checked_sub(1)?));
            Some(DatedLink {
                uri,
                date_ms: date.and_then(|date| date_ms(date)),
                published: date.cloned(),
            })
        })
        .collect()
}

/// Links of `<item>` and `<entry>` elements, as far as the text can be read.
fn rescue(text: &str, base: &CrawlUri) -> Vec<DatedLink> {
    let mut reader = lenient(text);
    let (mut found, mut field, mut inside) = (Vec::new(), String::new(), false);
    let (mut link, mut date) = (String::new(), String::new());
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => {
                field = tag.local_name().as_ref().to_ascii_lowercase();
                if !date.trim().is_empty() && DATES.contains(&field.as_str()) {
                    // The first date of an entry counts: later ones are of changes.
                    field.clear();
                }
                if matches!(field.as_str(), "item" | "entry") {
                    push(&mut found, &mut link, &mut date, base);
                    inside = true;
                }
                if inside && field == "link" && link.is_empty() {
                    let href = tag
                        .attributes()
                        .flatten()
                        .find(|a| a.key.as_ref() == "href");
                    if let Some(href) = href {
                        link.push_str(&htmlize::unescape_attribute(&*href.value));
                    }
                }
            }
            Ok(Event::End(_)) => field.clear(),
            Ok(Event::Text(part)) if inside => add(&field, &part, &mut link, &mut date),
            Ok(Event::CData(part)) if inside => add(&field, &part, &mut link, &mut date),
            Ok(Event::GeneralRef(part)) if inside => {
                add(&field, &reference(&part), &mut link, &mut date);
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
        if found.len() >= MAX_ENTRIES {
            break;
        }
    }
    push(&mut found, &mut link, &mut date, base);
    found
}

/// Fields of an entry that hold a date.
const DATES: [&str; 4] = ["pubdate", "published", "updated", "date"];

fn add(field: &str, part: &str, link: &mut String, date: &mut String) {
    match field {
        "link" => link.push_str(part),
        _ if DATES.contains(&field) => date.push_str(part),
        _ => {}
    }
}

fn push(found: &mut Vec<DatedLink>, link: &mut String, date: &mut String, base: &CrawlUri) {
    let (link, date) = (std::mem::take(link), std::mem::take(date));
    let link = link.trim();
    if link.is_empty() || link.len() > MAX_URI_BYTES {
        return;
    }
    if let Ok(uri) = base.join(link) {
        found.push(DatedLink {
            uri,
            date_ms: date_ms(&date),
            published: written_date(&date),
        });
    }
}

/// The protocol allows this many in one file.
const MAX_LINKS: usize = 50_000;

/// The protocol allows 50 MB in one file, after unpacking.
const MAX_SITEMAP_BYTES: u64 = 50 << 20;

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
    let mut reader = SitemapReader::new(base.clone(), MAX_SITEMAP_BYTES);
    reader.feed(bytes);
    reader.finish()
}

/// Reads a sitemap while it arrives; holds its links and a piece of its text.
pub struct SitemapReader {
    stream: TextStream,
    parser: Parser,
}

impl SitemapReader {
    /// Reads what is fetched from `base`, at most `max_bytes` of it after unpacking.
    pub fn new(base: CrawlUri, max_bytes: u64) -> Self {
        Self {
            stream: TextStream::new(),
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
        let end = if is_last {
            text.len()
        } else {
            text.rfind('\n').map_or(0, |at| at + 1)
        };
        let lines = text.get(..end).unwrap_or_default().lines().map(str::trim);
        for line in lines.filter(|l| !l.is_empty()) {
            self.add(line, (None, None), false);
        }
        end
    }

    /// How many bytes were read.
    fn read_xml(&mut self, text: &str, is_last: bool) -> usize {
        // Text is whole where the next tag begins.
        let end = if is_last {
            text.len()
        } else {
            text.rfind('>').map_or(0, |at| at + 1)
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
            Event::GeneralRef(part) => self.append(&reference(part)),
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
        let date_ms = date_ms(&entry.lastmod).or_else(|| date_ms(&entry.published));
        let published = written_date(&entry.published);
        let address = match entry.loc.trim() {
            "" => entry.bare.trim(),
            loc => loc,
        };
        self.add(address, (date_ms, published), entry.is_sitemap);
    }

    fn add(
        &mut self,
        loc: &str,
        (date_ms, published): (Option<i64>, Option<String>),
        is_sitemap: bool,
    ) {
        let link = |uri| DatedLink {
            uri,
            date_ms,
            published,
        };
        let found = &mut self.found;
        if found.pages.len() + found.sitemaps.len() + found.bad >= MAX_LINKS {
            found.cut = Some(Cut::Entries);
            return;
        }
        match self.base.join(loc.trim()) {
            _ if loc.trim().is_empty() => found.bad += 1,
            Ok(uri) if is_sitemap => found.sitemaps.push(link(uri)),
            Ok(uri) => found.pages.push(link(uri)),
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

/// Unpacked text of a feed beyond this is cut off. Feeds have some hundred kilobytes, and a few copies of the text are in
/// memory while it is read.
const MAX_TEXT_BYTES: u64 = 8 << 20;

/// A stream is decoded once so much of it is there: enough to tell its encoding.
const START_BYTES: usize = 16 << 10;

/// Gzip is unpacked in slices of this size, of which each becomes at most 1,032 times as much.
const SLICE_BYTES: usize = 2 << 10;

/// Turns a body into text while it arrives.
pub(super) struct TextStream {
    unpack: Option<Box<MultiGzDecoder<Vec<u8>>>>,
    decoder: Option<Decoder>,
    /// Unpacked bytes whose encoding is not known yet.
    start: Vec<u8>,
    taken_bytes: u64,
    is_first: bool,
    /// The packed bytes are damaged: nothing comes any more.
    pub(super) damaged: bool,
    /// Bytes after unpacking.
    unpacked_bytes: u64,
}

impl TextStream {
    pub(super) fn new() -> Self {
        Self {
            unpack: None,
            decoder: None,
            start: Vec::new(),
            taken_bytes: 0,
            is_first: true,
            damaged: false,
            unpacked_bytes: 0,
        }
    }

    /// Takes the next bytes as they came; each piece of text goes to `give`, as long as it says true.
    pub(super) fn feed(&mut self, bytes: &[u8], give: &mut dyn FnMut(&str, u64) -> bool) -> bool {
        if self.taken_bytes == 0 && bytes.starts_with(&[0x1F, 0x8B]) {
            self.unpack = Some(Box::new(MultiGzDecoder::new(Vec::new())));
        }
        self.taken_bytes += bytes.len() as u64;
        bytes
            .chunks(SLICE_BYTES)
            .all(|slice| !self.damaged && self.slice(slice, give))
    }

    fn slice(&mut self, slice: &[u8], give: &mut dyn FnMut(&str, u64) -> bool) -> bool {
        let Some(unpack) = &mut self.unpack else {
            return self.decode(slice, false, give);
        };
        self.damaged |= unpack.write_all(slice).is_err();
        let unpacked = std::mem::take(unpack.get_mut());
        self.decode(&unpacked, false, give)
    }

    /// Ends the body.
    pub(super) fn finish(&mut self, give: &mut dyn FnMut(&str, u64) -> bool) {
        let mut rest = Vec::new();
        if let Some(unpack) = self.unpack.as_mut().filter(|_| !self.damaged) {
            self.damaged |= unpack.try_finish().is_err();
            rest = std::mem::take(unpack.get_mut());
        }
        self.decode(&rest, true, give);
    }

    fn decode(
        &mut self,
        bytes: &[u8],
        is_last: bool,
        give: &mut dyn FnMut(&str, u64) -> bool,
    ) -> bool {
        self.unpacked_bytes += bytes.len() as u64;
        let start;
        let bytes = match &self.decoder {
            Some(_) => bytes,
            None => {
                self.start.extend_from_slice(bytes);
                if self.start.len() < START_BYTES && !is_last {
                    return true;
                }
                start = std::mem::take(&mut self.start);
                start.as_slice()
            }
        };
        let decoder = self
            .decoder
            .get_or_insert_with(|| declared(bytes).unwrap_or(UTF_8).new_decoder());
        let room = decoder.max_utf8_buffer_length(bytes.len());
        let mut text = String::with_capacity(room.unwrap_or_default());
        let _ = decoder.decode_to_string(bytes, &mut text, is_last);
        let mut text = clean(&text);
        if self.is_first {
            text = text.trim_start().to_owned();
            self.is_first = text.is_empty();
        }
        give(&text, self.unpacked_bytes)
    }
}

/// Decoded text, and whether it was cut.
pub(super) fn text(bytes: &[u8]) -> (String, bool) {
    let mut unpacked = Vec::new();
    let mut cut = false;
    let raw = if bytes.starts_with(&[0x1F, 0x8B]) {
        // A damaged end leaves what came before it.
        let read = flate2::read::MultiGzDecoder::new(bytes)
            .take(MAX_TEXT_BYTES)
            .read_to_end(&mut unpacked);
        cut = read.is_err();
        unpacked.as_slice()
    } else {
        bytes
    };
    let limit = usize::try_from(MAX_TEXT_BYTES).unwrap_or(usize::MAX);
    cut |= raw.len() >= limit;
    let raw = raw.get(..limit).unwrap_or(raw);
    let encoding = declared(raw).unwrap_or(UTF_8);
    let (decoded, _, _) = encoding.decode(raw);
    (clean(decoded.trim_start()), cut)
}

/// Text without the characters that XML forbids.
fn clean(text: &str) -> String {
    let allowed = |c: &char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    text.chars().filter(allowed).collect()
}

/// An entity as text; unknown ones stay as they are.
pub(super) fn reference(part: &quick_xml::events::BytesRef<'_>) -> String {
    if let Ok(Some(c)) = part.resolve_char_ref() {
        return c.to_string();
    }
    match &**part {
        "amp" => "&".to_owned(),
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "quot" => "\"".to_owned(),
        "apos" => "'".to_owned(),
        other => format!("&{other};"),
    }
}

/// `encoding` of the XML declaration, unless the bytes prove to be UTF-8.
fn declared(raw: &[u8]) -> Option<&'static Encoding> {
    let head = raw.get(..200).unwrap_or(raw);
    let head = String::from_utf8_lossy(head);
    let declaration = head.split("?>").next()?;
    let value = declaration.split("encoding").nth(1)?;
    let value = value.trim_start_matches([' ', '=']);
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let label = value.split(quote).nth(1)?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    // A piece may end inside of a character.
    let valid = match std::str::from_utf8(raw) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    let is_utf8 = encoding != UTF_8 && !raw.is_ascii() && valid;
    Some(if is_utf8 { UTF_8 } else { encoding })
}

/// Milliseconds of a date as feeds and sitemaps write it: W3C (`2026-11-03`, `2026-11-03T08:00+08:00`) or RFC 2822.
pub(super) fn date_ms(text: &str) -> Option<i64> {
    let text = text.trim();
    let zoned = chrono::DateTime::parse_from_rfc3339(text)
        .or_else(|_| chrono::DateTime::parse_from_rfc2822(text))
        .or_else(|_| chrono::DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M%:z"))
        .or_else(|_| chrono::DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f%z"))
        .or_else(|_| chrono::DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S %z"));
    if let Ok(at) = zoned {
        return Some(at.timestamp_millis());
    }
    for format in [
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%d %H:%M:%S",
        "%Y-%m-%dT%H:%M",
    ] {
        if let Ok(at) = chrono::NaiveDateTime::parse_from_str(text, format) {
            return Some(at.and_utc().timestamp_millis());
        }
    }
    let day = text.get(..10).unwrap_or(text);
    ["%Y-%m-%d", "%Y/%m/%d", "%Y%m%d"]
        .iter()
        .find_map(|format| chrono::NaiveDate::parse_from_str(day, format).ok())
        .or_else(|| chrono::NaiveDate::parse_from_str(&format!("{text}-01"), "%Y-%m-%d").ok())
        .and_then(|day| day.and_hms_opt(0, 0, 0))
        .map(|at| at.and_utc().timestamp_millis())
}
