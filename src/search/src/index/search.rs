//! Searching. In: a [`Query`]. Out: the stored documents that fit, ranked, with counts for filters. Never writes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use chrono::NaiveDate;
use serde::Serialize;
use tantivy::collector::{Count, TopDocs};
use tantivy::query::Query as TantivyQuery;
use tantivy::{DocAddress, DocId, Order, Score, Searcher, SegmentReader};

use super::IndexError;
use super::clauses::Builder;
use super::clauses::Demand;
use super::days::{Dates, DayCounts};
use super::plain::TIER;
use super::query::{Query, Sort};
use super::reader::Reader;
use super::related::RELATED_DOCUMENTS;
use super::schema::PUBLISHED_FIELD;
use super::sites::SiteCounts;
use super::source::StoredDocument;
use super::stop::MAX_SINGLE_CHARACTERS;

const DAY_MS: i64 = 86_400_000;
/// A document without a date counts as this many half-lives old: behind what is known to be recent, not lost.
const UNDATED_HALF_LIVES: f32 = 4.0;

/// A document that fits a query.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundDocument {
    /// BM25 score, raised by thousands for a document that holds the query as typed; the rest is halved with each half-life
    /// of age in the order `both`. 0 when sorted by date.
    pub score: f32,
    /// What it shares with its reprints: [`super::Filter::group`] finds them. None for texts too short to tell.
    pub group: Option<u64>,
    /// How many other documents that fit are reprints of the same text.
    pub duplicates: u64,
    /// The sites of those, each once, the original or earliest first; the first 20.
    pub outlets: Vec<String>,
    /// The document.
    pub stored: StoredDocument,
}

/// Documents of one site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SiteCount {
    /// Name of the site, or its host.
    pub site: String,
    /// How many documents.
    pub documents: u64,
}

/// What can be said of a result as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Facets {
    /// Documents by site, most first. The filter by site does not count here, so that one sees what another site
    /// would give.
    pub sites: Vec<SiteCount>,
    /// Documents by date.
    pub dates: Dates,
    /// Terms that the best documents have in common, best first.
    pub related: Vec<String>,
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Documents that fit, all pages together; reprints count one by one.
    pub total: usize,
    /// What only has a part of the query, where the page that was asked for has room behind the last document
    /// that fits.
    pub weaker: Option<Weaker>,
    /// Time of the search.
    pub took: Duration,
    /// The page that was asked for.
    pub documents: Vec<FoundDocument>,
    /// Counts, when they were asked for.
    pub facets: Option<Facets>,
}

/// Documents that have a part of a query, but not enough to fit it.
#[derive(Debug, Clone, PartialEq)]
pub struct Weaker {
    /// How many there are.
    pub total: usize,
    /// The best of them.
    pub documents: Vec<FoundDocument>,
}

/// A document's place and score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ranked {
    pub(super) score: f32,
    pub(super) at: DocAddress,
    /// Group of reprints, once it was looked up.
    pub(super) group: Option<u64>,
}

/// By site, and by day.
pub(super) type Counts = (Vec<(String, u64)>, BTreeMap<NaiveDate, u64>);

/// Part of all documents that fit, and how many those are.
pub(super) struct Ranking {
    pub(super) total: usize,
    pub(super) documents: Vec<Ranked>,
    /// The best documents of all pages, for related terms, where this ranking saw them.
    pub(super) best: Vec<DocAddress>,
    pub(super) counts: Option<Counts>,
}

impl Reader {
    /// Finds documents. `limit` and `offset` are cut to [`Query::MAX_LIMIT`] and [`Query::MAX_WINDOW`].
    ///
    /// Fails with [`IndexError::TooCostly`] for more than [`super::MAX_SINGLE_CHARACTERS`], and with
    /// [`IndexError::Stopped`] where [`Query::stop`] ended it.
    pub fn search(&self, query: &Query) -> Result<Found, IndexError> {
        self.affordable(query)?;
        let found = self.searched(query);
        match query.stop.is_stopped() {
            true => Err(IndexError::Stopped),
            false => found,
        }
    }

    /// Refuses a query that would cost too much.
    pub(super) fn affordable(&self, query: &Query) -> Result<(), IndexError> {
        match query.single_characters() {
            found if found > MAX_SINGLE_CHARACTERS => Err(IndexError::TooCostly { found }),
            _ => Ok(()),
        }
    }

    fn searched(&self, query: &Query) -> Result<Found, IndexError> {
        let started = Instant::now();
        let searcher = self.searcher()?;
        let built = self.build(&searcher, query);
        let ranking = self.page(&searcher, built.as_ref(), query)?;
        let documents = self.shown(&searcher, built.as_ref(), &ranking.documents)?;
        let weaker = self.weaker(&searcher, built, query, ranking.total, documents.len())?;
        let facets = match ranking.counts {
            Some(counts) => Some(self.facets(&searcher, query, counts, ranking.best)?),
            None => None,
        };
        Ok(Found {
            total: ranking.total,
            weaker,
            took: started.elapsed(),
            documents,
            facets,
        })
    }

    /// What fits less, on the page on which the `total` documents that fit end: as many as it has room for.
    fn weaker(
        &self,
        searcher: &Searcher,
        fitting: Box<dyn TantivyQuery>,
        query: &Query,
        total: usize,
        shown: usize,
    ) -> Result<Option<Weaker>, IndexError> {
        let room = query.limit.min(Query::MAX_LIMIT).saturating_sub(shown);
        let ends = query.offset == 0 || query.offset < total;
        let asked = !query.words.trim().is_empty() && query.filter.group.is_none();
        if !asked || !ends || room == 0 {
            return Ok(None);
        }
        let less = Query {
            offset: 0,
            limit: room,
            facets: false,
            ..query.clone()
        };
        let built = self
            .builder(searcher, query, Demand::Weaker)
            .but_not(&less, fitting);
        let ranking = self.page(searcher, built.as_ref(), &less)?;
        let documents = self.shown(searcher, built.as_ref(), &ranking.documents)?;
        let total = ranking.total;
        Ok((total > 0).then_some(Weaker { total, documents }))
    }

    pub(super) fn build(&self, searcher: &Searcher, query: &Query) -> Box<dyn TantivyQuery> {
        let demand = Demand::Asked(query.matching);
        self.builder(searcher, query, demand).build(query)
    }

    fn builder<'a>(
        &'a self,
        searcher: &'a Searcher,
        query: &'a Query,
        demand: Demand,
    ) -> Builder<'a> {
        Builder {
            fields: &self.fields,
            searcher,
            dictionary: self.analyzer().dictionary(),
            config: self.config(),
            demand,
            as_typed: query.as_typed,
            stop: &query.stop,
        }
    }

    /// The page that was asked for.
    fn page(
        &self,
        searcher: &Searcher,
        built: &dyn TantivyQuery,
        query: &Query,
    ) -> Result<Ranking, IndexError> {
        let limit = query.limit.min(Query::MAX_LIMIT);
        let offset = query.offset.min(Query::MAX_WINDOW - limit);
        let ranked = if query.filter.group.is_some() {
            self.members(searcher, built, query, offset..offset + limit)
        } else if query.grouped && limit > 0 {
            self.grouped(searcher, built, query, offset..offset + limit)
        } else {
            self.rank(searcher, built, query, offset, limit)
        };
        ranked.map_err(|e| self.failed(e))
    }

    /// Documents `offset..offset + limit` in the order of the query.
    pub(super) fn rank(
        &self,
        searcher: &Searcher,
        built: &dyn TantivyQuery,
        query: &Query,
        offset: usize,
        limit: usize,
    ) -> tantivy::Result<Ranking> {
        let counters = query.facets.then(|| self.counters());
        let stop = &query.stop;
        if limit == 0 {
            let (total, counts) = searcher.search(built, &stop.with((Count, counters)))?;
            return Ok(Ranking {
                total,
                documents: Vec::new(),
                best: Vec::new(),
                counts,
            });
        }
        // One pass gives both the page and what related terms are read from.
        let least = match query.facets && offset == 0 {
            true => RELATED_DOCUMENTS,
            false => 0,
        };
        let top = TopDocs::with_limit(limit.max(least)).and_offset(offset);
        let (mut documents, total, counts) = match query.sort {
            Sort::Relevance => {
                let collectors = (top.order_by_score(), Count, counters);
                let (ranked, total, counts) = searcher.search(built, &stop.with(collectors))?;
                (places(ranked, |score| score), total, counts)
            }
            Sort::Date => {
                let by_date = top.order_by_fast_field::<i64>(PUBLISHED_FIELD, Order::Desc);
                let collectors = (by_date, Count, counters);
                let (ranked, total, counts) = searcher.search(built, &stop.with(collectors))?;
                (places(ranked, |_| 0.0), total, counts)
            }
            Sort::Both => {
                let (now_ms, half_life_ms) = (query.now_ms, self.half_life_ms(query));
                let both = top.tweak_score(move |segment: &SegmentReader| {
                    let published = segment.fast_fields().i64(PUBLISHED_FIELD).ok();
                    move |doc: DocId, score: Score| {
                        let published = published.as_ref().and_then(|column| column.first(doc));
                        aged(score, freshness(published, now_ms, half_life_ms))
                    }
                });
                let collectors = (both, Count, counters);
                let (ranked, total, counts) = searcher.search(built, &stop.with(collectors))?;
                (places(ranked, |score| score), total, counts)
            }
        };
        let best = documents.iter().take(least).map(|ranked| ranked.at);
        let best = best.collect();
        documents.truncate(limit);
        Ok(Ranking {
            total,
            documents,
            best,
            counts,
        })
    }

    pub(super) fn counters(&self) -> (SiteCounts, DayCounts) {
        let utc_offset_minutes = self.config().utc_offset_minutes;
        (SiteCounts, DayCounts { utc_offset_minutes })
    }

    fn half_life_ms(&self, query: &Query) -> i64 {
        match query.half_life_ms {
            given if given > 0 => given,
            _ => i64::from(self.config().half_life_days.max(1)) * DAY_MS,
        }
    }

    fn facets(
        &self,
        searcher: &Searcher,
        query: &Query,
        (mut sites, days): Counts,
        mut best: Vec<DocAddress>,
    ) -> Result<Facets, IndexError> {
        let mut first = Query {
            limit: RELATED_DOCUMENTS,
            offset: 0,
            facets: false,
            ..query.clone()
        };
        if best.is_empty() {
            let built = self.build(searcher, &first);
            let ranked = self.rank(searcher, built.as_ref(), &first, 0, RELATED_DOCUMENTS);
            let ranked = ranked.map_err(|e| self.failed(e))?;
            best = ranked.documents.iter().map(|ranked| ranked.at).collect();
        }
        let mut documents = Vec::with_capacity(best.len());
        for at in best {
            documents.extend(self.load(searcher, at)?);
        }
        if !query.filter.sites.is_empty() {
            first.filter.sites.clear();
            let built = self.build(searcher, &first);
            let counted = searcher.search(built.as_ref(), &first.stop.with(SiteCounts));
            sites = counted.map_err(|e| self.failed(e))?;
        }
        Ok(Facets {
            sites: sites
                .into_iter()
                .map(|(site, documents)| SiteCount { site, documents })
                .collect(),
            dates: Dates::of(&days),
            related: self.related(searcher, query, &documents),
        })
    }
}

fn places<K>(ranked: Vec<(K, DocAddress)>, score: impl Fn(K) -> f32) -> Vec<Ranked> {
    let place = |(key, at)| Ranked {
        score: score(key),
        at,
        group: None,
    };
    ranked.into_iter().map(place).collect()
}

/// A score that time has worn off: what holds the query as typed still comes first, but its title counts no more than its
/// text.
fn aged(score: f32, freshness: f32) -> f32 {
    (score / TIER).floor().min(1.0) * TIER + (score % TIER) * freshness
}

/// 2^(-age / half-life), 1 for what is dated in the future.
fn freshness(published_ms: Option<i64>, now_ms: i64, half_life_ms: i64) -> f32 {
    let half_lives = published_ms.map_or(UNDATED_HALF_LIVES, |published_ms| {
        now_ms.saturating_sub(published_ms).max(0) as f32 / half_life_ms as f32
    });
    (-half_lives).exp2()
}
