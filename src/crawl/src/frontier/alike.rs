//! Recognises traps: URLs of one form whose pages hardly differ, such as a calendar without end, a query that grows, a
//! session in the path. [`TrapDetector`] takes the outline of each page when it is first visited, with the page it was
//! found on, and decides whether more URLs of that form are worth following. The pages of a long list hardly differ
//! either, but they lead to pages that do. It knows only forms, never a site's name for them, and remembers a bounded
//! number of them, over a restart as well: the file next to the database is written when a trap is found and at the
//! end. One that is missing or damaged costs some dozens of fetches until the trap is known again.

use std::collections::HashMap;
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_64_with_seed};

use crate::store::{UrlId, UrlRecord};
use taojin_uri::CrawlUri;

/// Beside the database.
const FILE: &str = "alike.forms";

/// Pages of one form before anything is said of it: a calendar of a year and its days passes unnoticed.
const LEAST_PAGES: u32 = 40;
/// A form whose pages are fewer different ones than one in this many is a trap.
const PAGES_PER_OUTLINE: u32 = 20;
/// A page unlike the others of its form makes up for this many pages of the form that led to it.
const PAID_BACK: u32 = 2;
/// Pages remembered by what they show; above it all are forgotten.
const MOST_FACES: usize = 20_000;
/// Addresses of a host that may show the same page and have its links followed: a site has its start page at some of them, and
/// pages of a calendar may say nothing of their month.
const SAME_FACE: usize = 8;
/// Different outlines remembered of a form; with more it is no trap for a long time.
const MOST_OUTLINES: usize = 16;
/// Forms remembered; above it those with few pages are forgotten.
const MOST_FORMS: usize = 20_000;

/// What the pages of each form look like.
#[derive(Debug, Default)]
pub(super) struct TrapDetector {
    forms: HashMap<u64, Form>,
    /// One of them was a trap at some time: else no address need be brought into its form.
    has_traps: bool,
    /// Digests of what pages show, with their hosts, and the first pages that did.
    faces: HashMap<u64, Vec<UrlId>>,
    /// A trap was found since the file was written.
    pub(super) news: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Form {
    pages: u32,
    outlines: Vec<u64>,
    told: bool,
}

impl Form {
    fn is_trap(&self) -> bool {
        let different = u32::try_from(self.outlines.len()).unwrap_or(u32::MAX);
        self.pages >= LEAST_PAGES && different.saturating_mul(PAGES_PER_OUTLINE) <= self.pages
    }
}

impl TrapDetector {
    /// What an earlier run has learned.
    pub(super) fn open(dir: &Path) -> Self {
        let forms = fs::read(dir.join(FILE)).ok().and_then(|bytes| {
            let (sum, packed) = bytes.split_first_chunk::<8>()?;
            let whole = u64::from_le_bytes(*sum) == xxh3_64(packed);
            postcard::from_bytes(packed).ok().filter(|_| whole)
        });
        let forms: HashMap<u64, Form> = forms.unwrap_or_default();
        TrapDetector {
            has_traps: forms.values().any(Form::is_trap),
            forms,
            ..TrapDetector::default()
        }
    }

    /// Writes down what was learned; a failure is only logged.
    pub(super) fn save(&mut self, dir: &Path) {
        self.news = false;
        let write = || {
            let packed = postcard::to_stdvec(&self.forms).map_err(io::Error::other)?;
            let mut bytes = xxh3_64(&packed).to_le_bytes().to_vec();
            bytes.extend(packed);
            let fresh = dir.join(FILE).with_extension("new");
            fs::write(&fresh, bytes)?;
            fs::rename(&fresh, dir.join(FILE))
        };
        if let Err(error) = write() {
            tracing::warn!(%error, "forms of addresses could not be saved");
        }
    }

    /// Takes note of a page that was found on another.
    pub(super) fn note(&mut self, uri: &CrawlUri, via: Option<&CrawlUri>, outline: u64) {
        if self.forms.len() >= MOST_FORMS {
            self.forms.retain(|_, form| form.pages >= LEAST_PAGES);
        }
        if self.forms.len() >= MOST_FORMS {
            self.forms.clear();
        }
        let own = form_of(uri);
        let form = self.forms.entry(own).or_default();
        let is_unlike = !form.outlines.contains(&outline);
        form.pages = form.pages.saturating_add(1);
        if form.outlines.len() < MOST_OUTLINES && !form.outlines.contains(&outline) {
            form.outlines.push(outline);
        }
        if form.outlines.len() >= MOST_OUTLINES {
            // Enough different ones: begin to count again, in case the form turns into a trap later.
            *form = Form::default();
        }
        self.has_traps |= form.is_trap();
        if form.is_trap() && !form.told {
            form.told = true;
            self.news = true;
            tracing::warn!(url = %uri, pages = form.pages, "pages of this form hardly differ, no more of them are followed");
        }
        let via = via.map(form_of).filter(|form| is_unlike && *form != own);
        if let Some(list) = via.and_then(|form| self.forms.get_mut(&form)) {
            list.pages = list.pages.saturating_sub(PAID_BACK);
        }
    }

    /// Whether so many pages of the host show the same that the links of one more lead nowhere: a server that answers unknown
    /// addresses with its start page would otherwise be crawled without end. One error page is enough.
    pub(super) fn repeats(&mut self, record: &UrlRecord, face: u64, is_error: bool) -> bool {
        if self.faces.len() >= MOST_FACES {
            self.faces.clear();
        }
        let host = record.uri.authority();
        let key = xxh3_64_with_seed(host.as_bytes(), face);
        let pages = self.faces.entry(key).or_default();
        if pages.contains(&record.id) {
            return false;
        }
        let most = if is_error { 1 } else { SAME_FACE };
        if pages.len() < most {
            pages.push(record.id);
            return false;
        }
        if !is_error && pages.len() == most {
            // One more than can be: said once.
            pages.push(UrlId::MIN);
            tracing::warn!(host, url = %record.uri, "this host answers many addresses with one page, whose links are followed no more");
        }
        true
    }

    /// Whether addresses of this form have proved to lead nowhere.
    pub(super) fn is_trap(&self, uri: &CrawlUri) -> bool {
        self.has_traps && self.forms.get(&form_of(uri)).is_some_and(Form::is_trap)
    }
}

/// The address without its numbers and without the values of its query.
fn form_of(uri: &CrawlUri) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(uri.authority().as_bytes());
    let target = uri.path_and_query();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    for piece in path
        .split(|c: char| c.is_ascii_digit())
        .filter(|p| !p.is_empty())
    {
        hasher.update(piece.as_bytes());
        hasher.update(b"#");
    }
    let mut keys: Vec<&str> = query
        .split('&')
        .map(|pair| pair.split_once('=').map_or(pair, |(key, _)| key))
        .map(|key| key.trim_end_matches(|c: char| c.is_ascii_digit()))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        hasher.update(b"&");
        hasher.update(key.as_bytes());
    }
    hasher.digest()
}
