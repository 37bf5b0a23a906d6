//! A document as the store keeps it and as the index takes it. The index holds no text: it reads from a
//! [`DocumentSource`] what it shows and what it compares. Never decides what is worth indexing.

use std::borrow::Cow;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, TimeZone};
use tantivy::TantivyDocument;

use super::facets::values;
use super::rank::labels;
use super::schema::{BODY, COMMENTS, Column, TITLE, TextColumns};
use crate::analyze::{Analyzer, Dictionary, Singles, normalize, normalize_document};
use taojin_extract::{Document, Kind};

/// Longest text that is indexed, in bytes; what follows is kept but not found.
const MAX_INDEXED_BYTES: usize = 2 << 20;

/// A document with what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDocument {
    /// Identity of the page.
    pub fingerprint: u64,
    /// Number of the change that made it what it is.
    pub seq: u64,
    /// When the page was fetched, Unix milliseconds.
    pub fetched_ms: i64,
    /// When that change was found, Unix milliseconds.
    pub changed_ms: i64,
    /// The document without its links.
    pub document: Document,
}

impl StoredDocument {
    /// The identifier used in addresses and answers: 16 hexadecimal digits.
    pub fn id(&self) -> String {
        format!("{:016x}", self.fingerprint)
    }

    /// Name of the site, or the host of a document that came from none; what counts by site go by.
    pub fn site(&self) -> String {
        let host = || host_of(&self.document.url);
        self.document.site.clone().unwrap_or_else(host)
    }

    /// Whether it may be a reprint: a list of headlines is nobody's.
    pub(crate) fn may_be_reprint(&self) -> bool {
        self.document.kind != Kind::Hub
    }

    /// The text that is indexed, in normal form.
    pub(crate) fn body(&self) -> Cow<'_, str> {
        normalize_document(head(&self.document.text, MAX_INDEXED_BYTES))
    }
}

/// Cuts documents into the fields of the index.
pub(crate) struct Cutter {
    analyzer: Analyzer,
    dictionary: Arc<Dictionary>,
    singles: Singles,
    utc_offset_minutes: i32,
}

impl Cutter {
    /// Dates without an offset are local to `utc_offset_minutes`.
    pub(crate) fn new(analyzer: &Analyzer, utc_offset_minutes: i32) -> Self {
        Self {
            dictionary: analyzer.dictionary(),
            analyzer: analyzer.clone(),
            singles: Singles::default(),
            utc_offset_minutes,
        }
    }

    /// The dictionary that is to be cut with, where it is another than before.
    pub(crate) fn newer(&self) -> Option<Arc<Dictionary>> {
        let newest = self.analyzer.dictionary();
        (!Arc::ptr_eq(&newest, &self.dictionary)).then_some(newest)
    }

    /// Cuts with this dictionary from now on.
    pub(crate) fn set(&mut self, dictionary: Arc<Dictionary>) {
        self.dictionary = dictionary;
    }

    /// The dictionary that it cuts with.
    pub(crate) fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// The values of the fields; `body` is the text as [`StoredDocument::body`] gives it.
    pub(crate) fn fields(&mut self, stored: &StoredDocument, body: &str) -> TantivyDocument {
        let document = &stored.document;
        let mut out = TantivyDocument::new();
        out.add_u64(Column::Fingerprint.field(), stored.fingerprint);
        out.add_u64(Column::Seq.field(), stored.seq);
        out.add_i64(Column::Fetched.field(), stored.fetched_ms);
        out.add_i64(Column::Changed.field(), stored.changed_ms);
        if let Some(published) = &document.published
            && let Some(ms) = parse_published(published, self.utc_offset_minutes)
        {
            out.add_i64(Column::Published.field(), ms);
        }
        let host = host_of(&document.url);
        let site = document.site.as_deref().unwrap_or(&host);
        out.add_text(Column::Site.field(), site);
        for place in places(site, &host) {
            out.add_text(Column::Places.field(), place);
        }
        out.add_bool(Column::Original.field(), is_original(document, site));
        out.add_text(Column::Kind.field(), document.kind.name());
        for value in values::terms_of(document) {
            out.add_text(Column::Values.field(), value);
        }
        let (dictionary, singles) = (&self.dictionary, &mut self.singles);
        let mut add_text = |columns: TextColumns, text: &str| {
            out.add_text(columns.words.field(), dictionary.index_words(text));
            out.add_text(columns.singles.field(), singles.find_in(text));
            out.add_text(columns.grams.field(), text);
        };
        if let Some(title) = &document.title {
            add_text(TITLE, &normalize_document(title));
        }
        add_text(BODY, body);
        let mut left = MAX_INDEXED_BYTES;
        for comment in &document.comments {
            add_text(COMMENTS, &normalize_document(head(&comment.text, left)));
            left = left.saturating_sub(comment.text.len());
        }
        for url in &document.addresses {
            out.add_text(Column::Url.field(), normalize_document(url));
        }
        for (column, line) in [
            (Column::Url, Some(&document.url)),
            (Column::Author, document.author.as_ref()),
            (Column::Source, document.source.as_ref()),
        ] {
            if let Some(line) = line {
                out.add_text(column.field(), normalize_document(line));
            }
        }
        for (label, value) in document.meta.iter() {
            out.add_pre_tokenized_text(Column::Meta.field(), labels::tokens(label, value));
        }
        out
    }
}

/// Why a document could not be read.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// Keeps documents for an index.
pub trait DocumentSource: Send + Sync {
    /// Document `fingerprint` as change `seq` left it, or, where that version is not kept any more, as it is now; none
    /// where it is gone.
    fn get(&self, fingerprint: u64, seq: u64) -> Result<Option<StoredDocument>, SourceError>;

    /// Fingerprint that the document at an address has, if there is one; none where there can be none.
    fn find(&self, url: &str) -> Result<Option<u64>, SourceError>;
}

/// Whether a document names no other medium than its own site as its source.
fn is_original(document: &Document, site: &str) -> bool {
    let source = document.source.as_deref().unwrap_or_default();
    let (source, site) = (normalize(source), normalize(site));
    let own = !site.is_empty() && (source.contains(&*site) || site.contains(&*source));
    source.trim().is_empty() || own
}

/// The first bytes of a text, cut at a character.
pub(crate) fn head(text: &str, max_bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(max_bytes))
        .unwrap_or_default()
}

/// Host of an address in lower case, empty if it has none.
pub(crate) fn host_of(url: &str) -> String {
    url::Url::parse(url)
        .ok()
        .and_then(|url| url.host_str().map(str::to_lowercase))
        .unwrap_or_default()
}

/// What `site:` finds a document by: the name, the host, and every domain above the host.
fn places<'a>(site: &'a str, host: &'a str) -> Vec<Cow<'a, str>> {
    let mut places = vec![normalize(site)];
    let mut rest = host;
    while rest.contains('.') {
        if places.iter().all(|place| place != rest) {
            places.push(rest.into());
        }
        rest = rest.split_once('.').map_or("", |(_, rest)| rest);
    }
    if !host.is_empty() && !host.contains('.') && places.iter().all(|place| place != host) {
        places.push(host.into());
    }
    places
}

/// Reads `2026-11-05`, `2026-11-05T10:30`, `2026-11-05 10:30:00` or a full RFC 3339 time. A text without offset
/// is local to `utc_offset_minutes`; a date alone is its first moment.
pub fn parse_published(text: &str, utc_offset_minutes: i32) -> Option<i64> {
    let text = text.trim();
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.timestamp_millis());
    }
    if let Ok(time) = DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M%:z") {
        return Some(time.timestamp_millis());
    }
    let local = parse_local(text)?;
    let offset = FixedOffset::east_opt(utc_offset_minutes.checked_mul(60)?)?;
    offset
        .from_local_datetime(&local)
        .single()
        .map(|time| time.timestamp_millis())
}

fn parse_local(text: &str) -> Option<NaiveDateTime> {
    const FORMS: &[&str] = &[
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M",
        "%Y-%m-%d %H:%M",
    ];
    FORMS
        .iter()
        .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())
        .or_else(|| {
            NaiveDate::parse_from_str(text, "%Y-%m-%d")
                .ok()?
                .and_hms_opt(0, 0, 0)
        })
}
