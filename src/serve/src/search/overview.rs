//! Collects what the home page shows into an [`Overview`], which is kept for many visits.
//!
//! It is read from the index, the followed topics and, where readers may see it, the state of the sites; lists are no longer
//! than the page has space for.

use super::examples::site_value;
use super::params::quoted;
use super::source::{DocumentHit, RecentHit, SearchRequest, SearchSource, SourceError};
use crate::feeds::follow::Follow;
use crate::status::{Activity, SiteStatus, Status};
use taojin_search::index::{SiteCount, Sort};

/// Newest documents shown.
const NEWEST: usize = 8;
/// Most sites that are kept for the list of them.
const SITES: usize = 2_000;
/// Topics whose new hits are counted: each costs a search.
const COUNTED_TOPICS: usize = 16;
/// Terms that examples are tried with.
const TERMS: usize = 8;
const DAY_MS: i64 = 86_400_000;
/// What counts as a new hit of a topic.
const NEW_MS: i64 = 7 * DAY_MS;
/// While nothing was added, counts of days and states may be this old.
const OLD_MS: i64 = 60_000;
/// While documents come in, the list of the newest may be this old.
const FRESH_MS: i64 = 5_000;

/// What an example shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lesson {
    Words,
    Exact,
    Without,
    Site,
    Time,
}

/// A site in the list.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SiteLine {
    pub(crate) name: String,
    pub(crate) documents: u64,
    /// What the operator knows of it, where readers may see that.
    pub(crate) status: Option<SiteStatus>,
}

/// What the home page shows, whoever asks.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Overview {
    made_ms: i64,
    pub(crate) documents: u64,
    pub(crate) newest: Vec<DocumentHit>,
    /// Documents published in the past days.
    pub(crate) new: u64,
    pub(crate) sites: Vec<SiteLine>,
    pub(crate) more_sites: usize,
    /// New hits of each topic, by its name.
    pub(crate) new_hits: Vec<(String, u64)>,
    pub(crate) examples: Vec<(Lesson, String)>,
    pub(crate) activity: Option<Activity>,
}

impl Overview {
    /// Asks the index. `status` is given where readers may see it.
    pub(crate) fn read(
        source: &dyn SearchSource,
        follows: &[Follow],
        status: Option<Status>,
        now_ms: i64,
    ) -> Result<Overview, SourceError> {
        let everything = SearchRequest {
            now_ms,
            sort: Sort::Date,
            limit: NEWEST,
            grouped: true,
            facets: true,
            ..SearchRequest::default()
        };
        let found = source.search(&everything)?;
        let facets = found.facets.unwrap_or_default();
        let mut newest = found.hits;
        // A page may bear any date: an event to come is no news.
        let published = SearchRequest {
            until_ms: Some(now_ms + DAY_MS),
            facets: false,
            ..everything.clone()
        };
        let dated = source.search(&published)?.hits;
        if !dated.is_empty() {
            newest = dated;
        }
        if newest.len() < NEWEST {
            let latest = source.latest(&everything)?;
            add_undated(&mut newest, latest);
        }
        let recent = SearchRequest {
            now_ms,
            since_ms: Some(now_ms - NEW_MS),
            ..SearchRequest::default()
        };
        let mut new_hits = Vec::new();
        for follow in follows.iter().take(COUNTED_TOPICS) {
            let request = SearchRequest {
                since_ms: Some(now_ms - NEW_MS),
                ..follow.search_request(0, now_ms)
            };
            new_hits.push((follow.name.clone(), source.search(&request)?.total));
        }
        let activity = status.as_ref().map(|status| status.activity);
        let mut sites = site_lines(facets.sites, status);
        let more_sites = sites.len().saturating_sub(SITES);
        sites.truncate(SITES);
        let examples = examples(source, &facets.related, &sites, &newest, now_ms)?;
        Ok(Overview {
            made_ms: now_ms,
            documents: source.documents().unwrap_or(0),
            newest,
            new: source.search(&recent)?.total,
            sites,
            more_sites,
            new_hits,
            examples,
            activity,
        })
    }

    /// Whether it is new enough for an index of so many documents.
    pub(crate) fn serves(&self, now_ms: i64, documents: u64) -> bool {
        let age = now_ms.saturating_sub(self.made_ms);
        let most = if documents == self.documents {
            OLD_MS
        } else {
            FRESH_MS
        };
        // What was empty is shown as soon as there is something.
        let filled = self.documents == 0 && documents > 0;
        (0..most).contains(&age) && !filled
    }
}

/// Documents without a date come after those with one, in the order of their fetch.
fn add_undated(newest: &mut Vec<DocumentHit>, latest: Vec<RecentHit>) {
    for arrived in latest {
        let group = arrived.found.reprints.group;
        let known = newest.iter().any(|hit| {
            hit.id == arrived.found.id || group.is_some() && group == hit.reprints.group
        });
        if !known && arrived.found.published.is_none() && newest.len() < NEWEST {
            newest.push(arrived.found);
        }
    }
}

/// The sites with documents, most first, then those that have none yet.
fn site_lines(counts: Vec<SiteCount>, status: Option<Status>) -> Vec<SiteLine> {
    let mut known = status.map(|status| status.sites).unwrap_or_default();
    let mut lines: Vec<SiteLine> = Vec::new();
    for count in counts {
        let at = known.iter().position(|site| site.name == count.site);
        lines.push(SiteLine {
            status: at.map(|at| known.swap_remove(at)),
            name: count.site,
            documents: count.documents,
        });
    }
    known.sort_by(|a, b| a.name.cmp(&b.name));
    lines.extend(known.into_iter().map(|site| SiteLine {
        name: site.name.clone(),
        documents: 0,
        status: Some(site),
    }));
    lines
}

/// Queries that find something here, one for each lesson.
fn examples(
    source: &dyn SearchSource,
    related: &[String],
    sites: &[SiteLine],
    newest: &[DocumentHit],
    now_ms: i64,
) -> Result<Vec<(Lesson, String)>, SourceError> {
    let total = |text: &str| {
        let request = SearchRequest {
            text: text.to_owned(),
            now_ms,
            ..SearchRequest::default()
        };
        source.search(&request).map(|found| found.total)
    };
    let mut examples = Vec::new();
    // What holds a quote or a colon would be read as syntax.
    let plain = |term: &&String| {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '·');
        term.chars().all(plain) && !term.starts_with('-')
    };
    let terms: Vec<&String> = related.iter().filter(plain).take(TERMS).collect();
    if let Some(term) = terms.first() {
        let found = total(term)?;
        if found > 0 {
            examples.push((Lesson::Words, (*term).clone()));
        }
        // A pair of characters is one term. A longer word is a phrase, at which tantivy 0.27 panics in a debug build
        // when it is refused and is in none of the last documents.
        let pairs = terms.iter().skip(1);
        for other in pairs.filter(|other| other.chars().count() == 2) {
            let less = format!("{term} -{}", quoted(other));
            // An example that leaves nothing out teaches nothing.
            if (1..found).contains(&total(&less)?) {
                examples.push((Lesson::Without, less));
                break;
            }
        }
        let exact = terms.get(1).unwrap_or(term);
        let exact = format!("\"{exact}\"");
        if total(&exact)? > 0 {
            examples.push((Lesson::Exact, exact));
        }
    }
    let with_documents = sites.iter().find(|site| site.documents > 0);
    if let Some(site) = with_documents.filter(|site| !site.name.contains(['"', '“', '”'])) {
        let text = format!("site:{}", site_value(source, &site.name));
        if total(&text)? > 0 {
            examples.push((Lesson::Site, text));
        }
    }
    let months = newest
        .iter()
        .filter_map(|hit| month(hit.published.as_deref()?));
    if let Some(month) = months.into_iter().next() {
        let text = format!("date:{month}");
        if total(&text)? > 0 {
            examples.push((Lesson::Time, text));
        }
    }
    examples.sort_by_key(|(lesson, _)| *lesson as u8);
    Ok(examples)
}

/// `2026-05` of `2026-05-01T08:30:00+08:00`.
fn month(published: &str) -> Option<&str> {
    let month = published.trim().get(..7)?;
    chrono::NaiveDate::parse_from_str(&format!("{month}-01"), "%Y-%m-%d").ok()?;
    Some(month)
}
