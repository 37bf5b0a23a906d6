//! Searching. In: a [`Query`]. Out: the stored documents that fit, ranked, with counts for filters. Never writes.

use std::time::{Duration, Instant};

use serde::Serialize;
use tantivy::DocAddress;

use super::IndexError;
use super::clauses::{Builder, Demand};
use super::days::{DAY_MS, Dates};
use super::plan::Plan;
use super::query::{Query, Sort};
use super::reader::Reader;
use super::related::RELATED_DOCUMENTS;
use super::stop::MAX_SINGLE_CHARACTERS;
use super::stored::StoredDocument;
use super::view::{Counts, Days, Order, Ranking, Statistics, View, Wanted, reckoned};

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

/// The page that was asked for, and what else its search saw.
pub(super) struct Page {
    pub(super) ranking: Ranking,
    /// The best documents of all pages, for related terms, where the search saw them.
    pub(super) best: Vec<DocAddress>,
}

impl Reader {
    /// Finds documents. `limit` and `offset` are cut to [`Query::MAX_LIMIT`] and [`Query::MAX_WINDOW`].
    ///
    /// Fails with [`IndexError::TooCostly`] for more than [`super::MAX_SINGLE_CHARACTERS`], and with
    /// [`IndexError::Stopped`] where [`Query::stop`] ended it.
    pub fn search(&self, query: &Query) -> Result<Found, IndexError> {
        let started = Instant::now();
        let view = self.view()?;
        let found = Search::new(self, view.as_ref(), query).and_then(|search| search.run(started));
        if query.stop.is_stopped() {
            return Err(IndexError::Stopped);
        }
        found
    }
}

/// A query in one state of the index, with what it asks of it.
pub(super) struct Search<'r> {
    pub(super) reader: &'r Reader,
    pub(super) view: &'r dyn View,
    pub(super) query: &'r Query,
    pub(super) plan: Plan,
}

impl<'r> Search<'r> {
    /// Plans a query; one that would cost too much is refused.
    pub(super) fn new(
        reader: &'r Reader,
        view: &'r dyn View,
        query: &'r Query,
    ) -> Result<Self, IndexError> {
        let found = query.single_characters();
        if found > MAX_SINGLE_CHARACTERS {
            return Err(IndexError::TooCostly { found });
        }
        let demand = Demand::Asked(query.matching);
        let plan = reckoned(view, |statistics| {
            builder(reader, statistics, query, demand).build(query)
        })?;
        Ok(Self {
            reader,
            view,
            query,
            plan,
        })
    }

    fn run(&self, started: Instant) -> Result<Found, IndexError> {
        let Page { ranking, best } = self.page()?;
        let documents = self.shown(&ranking.documents)?;
        let weaker = self.weaker(ranking.total, documents.len())?;
        let facets = match ranking.counts {
            Some(counts) => Some(self.facets(counts, best)?),
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
    fn weaker(&self, total: usize, shown: usize) -> Result<Option<Weaker>, IndexError> {
        let query = self.query;
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
        let plan = reckoned(self.view, |statistics| {
            builder(self.reader, statistics, query, Demand::Weaker)
                .but_not(&less, self.plan.clone())
        })?;
        let weaker = Search {
            query: &less,
            plan,
            ..*self
        };
        let ranking = weaker.page()?.ranking;
        let documents = weaker.shown(&ranking.documents)?;
        let total = ranking.total;
        Ok((total > 0).then_some(Weaker { total, documents }))
    }

    /// The page that was asked for.
    fn page(&self) -> Result<Page, IndexError> {
        let query = self.query;
        let limit = query.limit.min(Query::MAX_LIMIT);
        let offset = query.offset.min(Query::MAX_WINDOW - limit);
        if query.filter.group.is_some() {
            self.members(offset..offset + limit)
        } else if query.grouped && limit > 0 {
            self.grouped(offset..offset + limit)
        } else {
            self.rank(offset, limit, query.facets)
        }
    }

    /// Documents `offset..offset + limit` in the order of the query, all of them counted where that is wanted.
    pub(super) fn rank(
        &self,
        offset: usize,
        limit: usize,
        counts: bool,
    ) -> Result<Page, IndexError> {
        let query = self.query;
        // One pass gives both the page and what related terms are read from.
        let least = match counts && offset == 0 && limit > 0 {
            true => RELATED_DOCUMENTS,
            false => 0,
        };
        let order = match query.sort {
            Sort::Relevance => Order::Score,
            Sort::Date => Order::Published,
            Sort::Both => Order::Aged {
                now_ms: query.now_ms,
                half_life_ms: self.half_life_ms(),
            },
        };
        let mut ranking = self.view.rank(
            &self.plan,
            &Wanted {
                order,
                range: offset..offset + limit.max(least),
                counts,
                utc_offset_minutes: self.reader.config().utc_offset_minutes,
                stop: &query.stop,
            },
        )?;
        let best = ranking.documents.iter().take(least);
        let best = best.map(|ranked| ranked.at).collect();
        ranking.documents.truncate(limit);
        Ok(Page { ranking, best })
    }

    /// How many documents fit, by site and by day.
    pub(super) fn count(&self) -> Result<(usize, Vec<SiteCount>, Days), IndexError> {
        let ranking = self.rank(0, 0, true)?.ranking;
        let (sites, days) = ranking.counts.unwrap_or_default();
        Ok((ranking.total, site_counts(sites), days))
    }

    fn half_life_ms(&self) -> i64 {
        match self.query.half_life_ms {
            given if given > 0 => given,
            _ => i64::from(self.reader.config().half_life_days.max(1)) * DAY_MS,
        }
    }

    fn facets(
        &self,
        (sites, days): Counts,
        mut best: Vec<DocAddress>,
    ) -> Result<Facets, IndexError> {
        let mut first = Query {
            limit: RELATED_DOCUMENTS,
            offset: 0,
            facets: false,
            ..self.query.clone()
        };
        if best.is_empty() {
            let ranked = Search::new(self.reader, self.view, &first)?;
            let ranked = ranked.rank(0, RELATED_DOCUMENTS, false)?.ranking;
            best = ranked.documents.iter().map(|ranked| ranked.at).collect();
        }
        let mut documents = Vec::with_capacity(best.len());
        for at in best {
            documents.extend(self.reader.load(self.view, at)?);
        }
        let mut sites = site_counts(sites);
        if !first.filter.sites.is_empty() {
            first.filter.sites.clear();
            (_, sites, _) = Search::new(self.reader, self.view, &first)?.count()?;
        }
        Ok(Facets {
            sites,
            dates: Dates::of(&days),
            related: self.reader.related(self.view, self.query, &documents)?,
        })
    }
}

fn site_counts(sites: Vec<(String, u64)>) -> Vec<SiteCount> {
    let sites = sites.into_iter();
    let counts = sites.map(|(site, documents)| SiteCount { site, documents });
    counts.collect()
}

fn builder<'a>(
    reader: &'a Reader,
    statistics: &'a dyn Statistics,
    query: &'a Query,
    demand: Demand,
) -> Builder<'a> {
    Builder {
        statistics,
        dictionary: reader.analyzer().dictionary(),
        config: reader.config(),
        demand,
        as_typed: query.as_typed,
    }
}
