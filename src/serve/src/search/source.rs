//! The searches of the server and the command line.
//!
//! A [`SearchSource`] takes a [`SearchRequest`] or the id of a document, and returns hits and texts with their matches
//! marked. It can only be read. `Reader`, the index, is one.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;

use crate::pages::view::Html;
use crate::search::params::group_code;
use serde::{Serialize, Serializer};
use taojin_extract::{Document, Meta, SourceFile};
use taojin_search::analyze::Expanded;
use taojin_search::index::{
    CancellationToken, Clause, DateUnit, Facets, Filter, Form, FoundDocument, Group, IndexError,
    Match, Query, Reader, Reason, SiteTitles, Sort, StoredDocument, Suggestion, Target,
    parse_published, reasons,
};
use taojin_search::query::dates::Calendar;
use taojin_search::query::highlight::Highlighter;
use taojin_search::query::{
    Note, Parsed, parse, quoted, without_dates, without_quotes, without_quotes_around,
};
use utoipa::ToSchema;

use crate::search::field_offers::{FieldOffer, field_offers};
use crate::search::trends::{Trends, compare};

pub(crate) use taojin_search::query::snippet::Marked;

/// One search, within the limits of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchRequest {
    /// The query as typed, trimmed; empty: every document.
    pub text: String,
    /// Sites to search; empty: all.
    pub sites: Vec<String>,
    /// How many of the plain words a document must have.
    pub matching: Match,
    /// Whether each hit says why it stands where it does.
    pub explain: bool,
    /// First moment of publication, Unix milliseconds, inclusive.
    pub since_ms: Option<i64>,
    /// Last moment of publication, Unix milliseconds, exclusive.
    pub until_ms: Option<i64>,
    /// New or changed from the first moment on and before the second, Unix milliseconds; none: no limit.
    pub changed_ms: (Option<i64>, Option<i64>),
    /// Order of the hits.
    pub sort: Sort,
    /// Age that halves a score in the order [`Sort::Both`], in milliseconds; none: the configured one.
    pub half_life_ms: Option<i64>,
    /// What time it is, Unix milliseconds: for ages and for periods such as `since:7d`.
    pub now_ms: i64,
    /// Only the reprints of one text, the original or earliest first: a [`HitReprints::group`].
    pub group: Option<u64>,
    /// As a person wants to read it: reprints as one hit, the one that fits best for all; and at most three of
    /// the first ten hits from one site while another site has one that is nearly as good.
    pub grouped: bool,
    /// Most hits to return.
    pub limit: usize,
    /// Hits to pass over.
    pub offset: usize,
    /// Whether counts by site and date and related terms are request: they cost a look at every hit.
    pub facets: bool,
    /// Only the words as typed, without their synonyms.
    pub as_typed: bool,
    /// Whether a query that finds nothing may be answered by one that sounds or looks like it.
    pub corrected: bool,
    /// Ends the search when nobody waits for it any more.
    pub stop: CancellationToken,
}

/// One hit of a search.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
#[schema(as = SearchHit)]
pub struct DocumentHit {
    /// Id for `/api/docs/{id}`: letters, digits, `-` and `_`.
    #[schema(pattern = "^[0-9A-Za-z_-]{1,64}$")]
    pub id: String,
    /// Address of the page.
    pub url: String,
    /// Other addresses at which the crawl found the same document; `url:` finds it by each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// Headline, plain text; empty when the page has none.
    #[serde(serialize_with = "plain")]
    #[schema(value_type = String)]
    pub title: Marked,
    /// Name of the site in the configuration.
    pub site: Option<String>,
    /// What readers call the site, where the configuration says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site_title: Option<String>,
    /// First publication, ISO 8601: a date, or date and time with offset.
    pub published: Option<String>,
    /// Named writer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Media source as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Fields that the page labels: what a notice's table says of its number, office and days.
    #[serde(skip_serializing_if = "Meta::is_empty")]
    #[schema(value_type = HashMap<String, String>)]
    pub meta: Meta,
    /// The file that the text was read from, where it is no web page; of its parts only the one in which the snippet begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<SourceFile>,
    /// The best part of the text as HTML: escaped, with the matches in `<mark>`.
    #[serde(serialize_with = "html")]
    #[schema(value_type = String)]
    pub snippet: Marked,
    /// BM25 over words and character pairs, halved with each half-life of age for `sort=both`. A document that holds the query
    /// as typed gains 8192 in its text and 16384 in its title. Only comparable within one answer.
    #[serde(serialize_with = "finite")]
    pub score: f32,
    /// Other documents with the same text.
    #[serde(flatten)]
    pub reprints: HitReprints,
    /// Why it stands where it does, with `explain=true`: one sentence each.
    #[serde(serialize_with = "shown", skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub reasons: Vec<Reason>,
}

/// The other documents with the text of a hit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
pub struct HitReprints {
    /// What the hit shares with its reprints: a value for `group`. Null for texts too short to tell.
    #[serde(serialize_with = "hex")]
    #[schema(value_type = Option<String>, pattern = "^[0-9a-f]{16}$")]
    pub group: Option<u64>,
    /// How many other matching documents are reprints of the same text.
    pub duplicates: u64,
    /// Sites of those, each once, the original or earliest first; the first 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outlets: Vec<String>,
}

/// Documents that share something with a query but do not match it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
#[schema(as = WeakerAnswer)]
pub struct WeakerList {
    /// How many there are; `match=any` lists them all.
    pub total: u64,
    /// Whether no document matches: then these are the nearest.
    pub nearest: bool,
    /// The best of them, as many as the page has room for.
    pub hits: Vec<DocumentHit>,
}

/// What a search that finds nothing could leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = LeaveOut)]
#[serde(rename_all = "lowercase")]
pub enum Relaxation {
    /// Quotes: the words may stand apart.
    Quotes,
    /// Limits of time.
    Dates,
}

/// A search that finds something, for one that finds nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = OfferAnswer)]
pub struct RelaxedQuery {
    /// What it leaves out.
    pub without: Relaxation,
    /// Its query; where `dates` are left out, leave out `since`, `until` and `changed` as well.
    #[serde(rename = "q")]
    pub text: String,
    /// Documents that it finds.
    pub total: u64,
}

/// What goes with a document.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Related {
    /// Other documents with the same text, the original or earliest first.
    pub reprints: Vec<DocumentHit>,
    /// Documents on the same topic, best first.
    pub similar: Vec<DocumentHit>,
    /// The ids of the documents, by their addresses, of the files that it offers, or of the page that offers it.
    pub linked: BTreeMap<String, String>,
}

/// A hit as it came in.
#[derive(Debug, Clone, PartialEq)]
pub struct RecentHit {
    /// The hit.
    pub found: DocumentHit,
    /// When the page was fetched as it is now, Unix milliseconds.
    pub fetched_ms: i64,
    /// Publication, Unix milliseconds.
    pub published_ms: Option<i64>,
    /// The whole text as HTML of a closed set of elements; empty where there is none, or too much for a feed.
    pub html: String,
}

/// Answer to a search.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
#[schema(as = SearchAnswer)]
pub struct SearchResults {
    /// Why documents may be missing that are in the store: the database of a cluster is away, or the index is being made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// Documents that match, whatever the limit.
    pub total: u64,
    /// Time the search took, in milliseconds.
    #[serde(serialize_with = "hundredths")]
    #[schema(minimum = 0)]
    pub took_ms: f64,
    /// The hits asked for, in order.
    pub hits: Vec<DocumentHit>,
    /// What shares a word or a pair of characters with the query but does not match it: no part of `total`, facets and feeds.
    /// Only where the page has room behind the last hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weaker: Option<WeakerList>,
    /// Searches that find something, where this one finds nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<RelaxedQuery>,
    /// Fields and days that its words name, with `grouped=true` or `facets=true`, on the first page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub field_offers: Vec<FieldOffer>,
    /// Counts of the whole result, with `facets=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<Facets>,
    /// A query that finds something, when no document has the words of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<String>,
    /// The query that was searched in place of one that finds nothing: what it sounds or looks like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searched_instead: Option<String>,
    /// Words that were looked for with their synonyms.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub synonyms: Vec<Expanded>,
    /// Remarks on the query, for example what was searched as text although it looks like a date.
    #[serde(serialize_with = "shown", skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub notes: Vec<Note>,
}

fn plain<S: Serializer>(text: &Marked, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text.text)
}

fn html<S: Serializer>(text: &Marked, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Html::marked(text))
}

/// JSON has no infinity; a score of a search without words is none.
fn finite<S: Serializer>(score: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f32(if score.is_finite() { *score } else { 0.0 })
}

fn hex<S: Serializer>(group: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    group.map(group_code).serialize(serializer)
}

fn hundredths<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((number * 100.0).round() / 100.0)
}

/// Sentences as people read them.
pub(crate) fn shown<S: Serializer>(
    sentences: &[impl Display],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(sentences.iter().map(ToString::to_string))
}

/// Why a source gave no answer: one line for the log, not for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// It failed.
    #[error("{0}")]
    Failed(String),
    /// It is kept elsewhere and cannot be asked at present; the crawl goes on.
    #[error("{0}")]
    Away(String),
}

impl From<IndexError> for SourceError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Remote { .. } | IndexError::RemoteMissing(_) => {
                Self::Away(error.to_string())
            }
            error => Self::Failed(error.to_string()),
        }
    }
}

/// An index to be searched. Calls block; the server makes them on blocking threads.
pub trait SearchSource: Send + Sync + 'static {
    /// Hits for a search. No text is an error: what is no syntax is searched literally.
    fn search(&self, request: &SearchRequest) -> Result<SearchResults, SourceError>;

    /// At most `limit` suggestions for a text that is being typed.
    fn suggest(&self, typed: &str, limit: usize) -> Result<Vec<Suggestion>, SourceError>;

    /// The hits that came or changed last, latest first; at most `request.limit`, the other pages do not matter.
    fn latest(&self, request: &SearchRequest) -> Result<Vec<RecentHit>, SourceError>;

    /// The document with this id, if it is in the index.
    fn document(&self, id: &str) -> Result<Option<Document>, SourceError>;

    /// Reprints of the document with this id, and others on its topic; at most `limit` of each.
    fn related(&self, id: &str, limit: usize) -> Result<Related, SourceError>;

    /// Compares searches by date; see `Trends`.
    fn trends(
        &self,
        request: &[SearchRequest],
        unit: Option<DateUnit>,
    ) -> Result<Trends, SourceError>;

    /// Marks the matches of a query in each of the texts, in their order.
    fn mark(&self, query: &str, texts: &[&str]) -> Vec<Marked>;

    /// Offset from UTC, in minutes, of days that name none.
    fn utc_offset_minutes(&self) -> i32;

    /// Documents that can be found; none where that cannot be told.
    fn documents(&self) -> Option<u64>;

    /// Whether every question goes over the network, so that nothing may wait for [`SearchSource::documents`].
    fn is_remote(&self) -> bool {
        false
    }

    /// What readers call sites.
    fn site_titles(&self) -> SiteTitles {
        SiteTitles::default()
    }
}

/// Width of a snippet: three lines of a phone, two of a desktop.
const SNIPPET_COLUMNS: usize = 240;

/// Searches the index; where nothing is found, for what was probably meant, if that is allowed.
pub fn search_corrected(
    reader: &Reader,
    request: &SearchRequest,
) -> Result<SearchResults, IndexError> {
    let (found, final_answer) = search_once(reader, request)?;
    if found.total == 0
        && request.corrected
        && let Some(relaxed) = search_unquoted(reader, request)?
    {
        return Ok(relaxed);
    }
    let meant = found.did_you_mean.clone();
    let Some(text) = meant.filter(|_| request.corrected && !final_answer) else {
        return Ok(found);
    };
    let other = SearchRequest {
        text: text.clone(),
        ..request.clone()
    };
    let (corrected, _) = search_once(reader, &other)?;
    Ok(match corrected.total {
        0 => found,
        _ => SearchResults {
            searched_instead: Some(text),
            did_you_mean: None,
            ..corrected
        },
    })
}

/// The results of a query with words beside its phrases in quotes, without the quotes around what no document has as it
/// stands or, where each is in some document, without any; `None` where nothing is found so either. A phrase alone stays
/// what it is.
fn search_unquoted(
    reader: &Reader,
    request: &SearchRequest,
) -> Result<Option<SearchResults>, IndexError> {
    let phrases = quoted(&request.text);
    if phrases.is_empty() || parse_request(reader, request).query.words.trim().is_empty() {
        return Ok(None);
    }
    let mut unknown: Vec<String> = Vec::new();
    for phrase in phrases {
        if !reader.has_text(&phrase)? {
            unknown.push(phrase);
        }
    }
    let text = without_quotes_around(&request.text, |phrase| {
        unknown.is_empty() || unknown.iter().any(|unknown| unknown == phrase)
    });
    let other = SearchRequest {
        text: text.clone(),
        ..request.clone()
    };
    let (mut relaxed, _) = search_once(reader, &other)?;
    if relaxed.total == 0 {
        return Ok(None);
    }
    let notes = unknown.into_iter().map(|piece| Note::NoPhrase { piece });
    relaxed.notes.extend(notes);
    Ok(Some(SearchResults {
        searched_instead: Some(text),
        did_you_mean: None,
        ..relaxed
    }))
}

/// Hits, and whether they answer the query, it is more than plain words, or what was meant is not sure: then nothing is put in
/// its place.
fn search_once(
    reader: &Reader,
    request: &SearchRequest,
) -> Result<(SearchResults, bool), IndexError> {
    let Parsed { query, mut notes } = parse_request(reader, request);
    let dictionary = reader.analyzer().dictionary();
    let hit_maker = HitMaker::new(reader, &query);
    let found = reader.search(&query)?;
    let correction = reader.correction(&query, &found)?;
    notes.extend(unknown_sites(reader, &query)?);
    let plain = query
        .words
        .split_whitespace()
        .eq(request.text.split_whitespace());
    let is_sure = correction.as_ref().is_some_and(|c| c.is_sure);
    let final_answer = found.total > 0 || !plain || !is_sure;
    let is_asked = (request.grouped || request.facets) && request.offset == 0;
    let field_offers = if is_asked && plain && request.group.is_none() {
        field_offers(reader, request, &found)?
    } else {
        Vec::new()
    };
    let hits = |documents: Vec<FoundDocument>| -> Vec<DocumentHit> {
        let hit = |found: FoundDocument| {
            let reasons = if request.explain {
                reasons(&query, &dictionary, &found)
            } else {
                Vec::new()
            };
            DocumentHit {
                reasons,
                ..hit_maker.hit(found)
            }
        };
        documents.into_iter().map(hit).collect()
    };
    let list = SearchResults {
        total: found.total as u64,
        hits: hits(found.documents),
        weaker: found.weaker.map(|weaker| WeakerList {
            total: weaker.total as u64,
            nearest: found.total == 0,
            hits: hits(weaker.documents),
        }),
        offers: match found.total {
            0 => offers(reader, request, &query)?,
            _ => Vec::new(),
        },
        field_offers,
        facets: request.facets.then(|| found.facets.unwrap_or_default()),
        did_you_mean: correction.map(|c| c.text),
        synonyms: reader.expanded(&query),
        notes,
        ..SearchResults::default()
    };
    Ok((list, final_answer))
}

/// Sites of the query that no document is of. Where one text means several sites, one of them is enough.
fn unknown_sites(reader: &Reader, query: &Query) -> Result<Vec<Note>, IndexError> {
    let mut asked: Vec<Vec<&str>> = Vec::new();
    let mut waiting: Vec<&Group> = query.groups.iter().collect();
    while let Some(group) = waiting.pop() {
        let sites = group
            .any
            .iter()
            .filter(|clause| clause.target == Target::Site);
        asked.push(sites.map(|clause| clause.text.as_str()).collect());
        let inner = group.any.iter().filter_map(|clause| match &clause.form {
            Form::All(groups) => Some(groups),
            _ => None,
        });
        waiting.extend(inner.flatten());
    }
    asked.push(query.filter.sites.iter().map(String::as_str).collect());
    let mut notes = Vec::new();
    for sites in asked {
        let mut known = false;
        for site in &sites {
            known = known || reader.has_site(site)?;
        }
        let unknown = sites.first().filter(|_| !known);
        notes.extend(unknown.map(|site| Note::NoSite {
            site: (*site).to_owned(),
        }));
    }
    Ok(notes)
}

/// Searches like one that found nothing which find something.
fn offers(
    reader: &Reader,
    request: &SearchRequest,
    query: &Query,
) -> Result<Vec<RelaxedQuery>, IndexError> {
    let mut offers = Vec::new();
    let mut offer = |without: Relaxation, request: SearchRequest| -> Result<(), IndexError> {
        let query = Query {
            limit: 0,
            facets: false,
            ..parse_request(reader, &request).query
        };
        let total = reader.search(&query)?.total as u64;
        if total > 0 {
            let text = request.text;
            offers.push(RelaxedQuery {
                without,
                text,
                total,
            });
        }
        Ok(())
    };
    let text = without_quotes(&request.text);
    if text != request.text {
        offer(
            Relaxation::Quotes,
            SearchRequest {
                text,
                ..request.clone()
            },
        )?;
    }
    let Filter {
        since_ms,
        until_ms,
        changed_since_ms,
        changed_until_ms,
        ..
    } = query.filter;
    if [since_ms, until_ms, changed_since_ms, changed_until_ms] != [None; 4] {
        let all_dates = SearchRequest {
            text: without_dates(&request.text),
            since_ms: None,
            until_ms: None,
            changed_ms: (None, None),
            ..request.clone()
        };
        // Without words that would be every document.
        if !all_dates.text.is_empty() {
            offer(Relaxation::Dates, all_dates)?;
        }
    }
    Ok(offers)
}

/// The query for the index that a search stands for, and what should be said about it.
pub fn parse_request(reader: &Reader, request: &SearchRequest) -> Parsed {
    let calendar = Calendar {
        utc_offset_minutes: reader.config().utc_offset_minutes,
        now_ms: request.now_ms,
    };
    let mut parsed = parse(&request.text, &calendar);
    let query = &mut parsed.query;
    query.matching = request.matching;
    query
        .groups
        .iter_mut()
        .for_each(|group| by_titles(reader, group));
    let named = request.sites.iter();
    query.filter.sites = named.flat_map(|s| names(reader, s)).collect();
    query
        .filter
        .narrow_published((request.since_ms, request.until_ms));
    query.filter.narrow_changed(request.changed_ms);
    query.filter.group = request.group;
    // Without words there is nothing to rank by.
    query.sort = if query.is_blank() {
        Sort::Date
    } else {
        request.sort
    };
    query.now_ms = request.now_ms;
    query.half_life_ms = request.half_life_ms.unwrap_or_default();
    query.as_typed = request.as_typed;
    query.grouped = request.grouped;
    query.facets = request.facets;
    query.stop = request.stop.clone();
    query.limit = request.limit;
    query.offset = request.offset;
    parsed
}

/// What a text may mean as a site: a name or a host as it stands, and the names of the sites that readers call so.
fn names(reader: &Reader, text: &str) -> Vec<String> {
    let mut names = vec![text.to_owned()];
    names.extend(reader.titles().names(text));
    names
}

/// A group with every name of its sites.
fn by_titles(reader: &Reader, group: &mut Group) {
    let clauses = std::mem::take(&mut group.any).into_iter();
    group.any = clauses.flat_map(|c| by_title(reader, c)).collect();
    for clause in &mut group.any {
        if let Form::All(groups) = &mut clause.form {
            groups.iter_mut().for_each(|group| by_titles(reader, group));
        }
    }
}

/// `site:` with every name that its text may mean; any other clause as it is.
fn by_title(reader: &Reader, clause: Clause) -> Vec<Clause> {
    if clause.target != Target::Site {
        return vec![clause];
    }
    let named = |text| Clause {
        text,
        ..clause.clone()
    };
    names(reader, &clause.text).into_iter().map(named).collect()
}

/// These documents as hits of a query, in their order.
pub fn to_hits(
    reader: &Reader,
    request: &SearchRequest,
    documents: Vec<StoredDocument>,
) -> Vec<RecentHit> {
    let query = parse_request(reader, request).query;
    let hit_maker = HitMaker::new(reader, &query);
    let arrived = |stored| arrived(reader, stored, &hit_maker);
    documents.into_iter().map(arrived).collect()
}

/// Longest text that a feed repeats, in bytes.
const MAX_FEED_TEXT: usize = 100_000;

fn arrived(reader: &Reader, stored: StoredDocument, hit_maker: &HitMaker) -> RecentHit {
    let published = stored.document.published.as_deref();
    let offset = reader.config().utc_offset_minutes;
    let is_short = stored.document.text.len() <= MAX_FEED_TEXT;
    RecentHit {
        html: if is_short {
            stored.document.html()
        } else {
            String::new()
        },
        fetched_ms: stored.fetched_ms,
        published_ms: published.and_then(|text| parse_published(text, offset)),
        found: hit_maker.hit(FoundDocument {
            score: 0.0,
            group: None,
            duplicates: 0,
            outlets: Vec::new(),
            stored,
        }),
    }
}

/// Reprints of a document, and others on its topic.
fn related(reader: &Reader, id: &str, limit: usize) -> Result<Related, IndexError> {
    let Some(stored) = reader.document_by_id(id)? else {
        return Ok(Related::default());
    };
    let mut reprints = Vec::new();
    if let Some(group) = reader.group(stored.fingerprint)? {
        let members = SearchRequest {
            group: Some(group),
            // The document itself is one of them.
            limit: limit + 1,
            ..SearchRequest::default()
        };
        reprints = search_corrected(reader, &members)?.hits;
        reprints.retain(|hit| hit.id != id);
        reprints.truncate(limit);
    }
    let unmarked = HitMaker::new(reader, &Query::default());
    let similar = reader.similar(&stored, limit)?;
    let page = stored.document.file.as_ref();
    let files = stored.document.attachments.iter().map(|file| &file.url);
    let mut linked = BTreeMap::new();
    for url in files.chain(page.and_then(|file| file.page_url.as_ref())) {
        if let Some(id) = reader.id_at(url)? {
            linked.insert(url.clone(), id);
        }
    }
    Ok(Related {
        linked,
        reprints,
        similar: similar.into_iter().map(|f| unmarked.hit(f)).collect(),
    })
}

/// Makes hits of found documents: marks the matches of one query, and adds the titles of sites.
pub(super) struct HitMaker {
    highlighter: Highlighter,
    site_titles: HashMap<String, String>,
}

impl HitMaker {
    /// Reads the titles of sites as they are now.
    pub(super) fn new(reader: &Reader, query: &Query) -> Self {
        Self {
            highlighter: Highlighter::new(query, &reader.analyzer().dictionary()),
            site_titles: reader.titles().by_name(),
        }
    }

    /// Returns a document as a hit, without reasons.
    pub(super) fn hit(&self, found: FoundDocument) -> DocumentHit {
        let id = found.stored.id();
        let site = Some(found.stored.site()).filter(|site| !site.is_empty());
        let document = found.stored.document;
        let (snippet, paragraph) = self.highlighter.snippet_at(&document.text, SNIPPET_COLUMNS);
        let file = document.file.map(|file| SourceFile {
            parts: file.part_of(paragraph).cloned().into_iter().collect(),
            ..file
        });
        let title = document.title.as_deref().unwrap_or_default();
        DocumentHit {
            id,
            title: self.highlighter.mark(title),
            snippet,
            file,
            url: document.url,
            addresses: document.addresses,
            site_title: site
                .as_ref()
                .and_then(|site| self.site_titles.get(site).cloned()),
            site,
            published: document.published,
            author: document.author,
            source: document.source,
            meta: document.meta,
            score: found.score,
            reprints: HitReprints {
                group: found.group,
                duplicates: found.duplicates,
                outlets: found.outlets,
            },
            reasons: Vec::new(),
        }
    }
}

impl SearchSource for Reader {
    fn search(&self, request: &SearchRequest) -> Result<SearchResults, SourceError> {
        search_corrected(self, request).map_err(SourceError::from)
    }

    fn suggest(&self, typed: &str, limit: usize) -> Result<Vec<Suggestion>, SourceError> {
        Reader::suggest(self, typed, limit).map_err(SourceError::from)
    }

    fn latest(&self, request: &SearchRequest) -> Result<Vec<RecentHit>, SourceError> {
        let query = parse_request(self, request).query;
        let latest = Reader::latest(self, &query, request.limit);
        let latest = latest.map_err(SourceError::from)?;
        Ok(to_hits(self, request, latest))
    }

    fn document(&self, id: &str) -> Result<Option<Document>, SourceError> {
        self.document_by_id(id)
            .map(|found| found.map(|stored| stored.document))
            .map_err(SourceError::from)
    }

    fn related(&self, id: &str, limit: usize) -> Result<Related, SourceError> {
        related(self, id, limit).map_err(SourceError::from)
    }

    fn mark(&self, query: &str, texts: &[&str]) -> Vec<Marked> {
        let calendar = Calendar {
            utc_offset_minutes: self.config().utc_offset_minutes,
            now_ms: 0,
        };
        let parsed = parse(query, &calendar).query;
        let highlighter = Highlighter::new(&parsed, &self.analyzer().dictionary());
        texts.iter().map(|text| highlighter.mark(text)).collect()
    }

    fn trends(
        &self,
        request: &[SearchRequest],
        unit: Option<DateUnit>,
    ) -> Result<Trends, SourceError> {
        compare(self, request, unit).map_err(SourceError::from)
    }

    fn utc_offset_minutes(&self) -> i32 {
        self.config().utc_offset_minutes
    }

    fn documents(&self) -> Option<u64> {
        self.num_docs().ok()
    }

    fn is_remote(&self) -> bool {
        Reader::is_remote(self)
    }

    fn site_titles(&self) -> SiteTitles {
        self.titles().clone()
    }
}
