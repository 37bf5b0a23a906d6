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
use super::view::{Counts, Order, Ranking, Statistics, View, Wanted, reckoned};

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
        let view = self.view()?;
        let view = view.as_ref();
        let plan = self.plan(view, query)?;
        let Page { ranking, best } = self.page(view, &plan, query)?;
        let documents = self.shown(view, &plan, query, &ranking.documents)?;
        let weaker = self.weaker(view, plan, query, ranking.total, documents.len())?;
        let facets = match ranking.counts {
            Some(counts) => Some(self.facets(view, query, counts, best)?),
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
        view: &dyn View,
        fitting: Plan,
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
        let plan = reckoned(view, |statistics| {
            self.builder(statistics, query, Demand::Weaker)
                .but_not(&less, fitting.clone())
        })?;
        let ranking = self.page(view, &plan, &less)?.ranking;
        let documents = self.shown(view, &plan, &less, &ranking.documents)?;
        let total = ranking.total;
        Ok((total > 0).then_some(Weaker { total, documents }))
    }

    /// What a query asks of the index.
    pub(super) fn plan(&self, view: &dyn View, query: &Query) -> Result<Plan, IndexError> {
        let demand = Demand::Asked(query.matching);
        reckoned(view, |statistics| {
            self.builder(statistics, query, demand).build(query)
        })
    }

    fn builder<'a>(
        &'a self,
        statistics: &'a dyn Statistics,
        query: &'a Query,
        demand: Demand,
    ) -> Builder<'a> {
        Builder {
            statistics,
            dictionary: self.analyzer().dictionary(),
            config: self.config(),
            demand,
            as_typed: query.as_typed,
        }
    }

    /// The page that was asked for.
    fn page(&self, view: &dyn View, plan: &Plan, query: &Query) -> Result<Page, IndexError> {
        let limit = query.limit.min(Query::MAX_LIMIT);
        let offset = query.offset.min(Query::MAX_WINDOW - limit);
        if query.filter.group.is_some() {
            self.members(view, plan, query, offset..offset + limit)
        } else if query.grouped && limit > 0 {
            self.grouped(view, plan, query, offset..offset + limit)
        } else {
            self.rank(view, plan, query, offset, limit)
        }
    }

    /// Documents `offset..offset + limit` in the order of the query.
    pub(super) fn rank(
        &self,
        view: &dyn View,
        plan: &Plan,
        query: &Query,
        offset: usize,
        limit: usize,
    ) -> Result<Page, IndexError> {
        // One pass gives both the page and what related terms are read from.
        let least = match query.facets && offset == 0 && limit > 0 {
            true => RELATED_DOCUMENTS,
            false => 0,
        };
        let order = match query.sort {
            Sort::Relevance => Order::Score,
            Sort::Date => Order::Published,
            Sort::Both => Order::Aged {
                now_ms: query.now_ms,
                half_life_ms: self.half_life_ms(query),
            },
        };
        let mut ranking = view.rank(
            plan,
            &Wanted {
                order,
                range: offset..offset + limit.max(least),
                counts: query.facets,
                utc_offset_minutes: self.config().utc_offset_minutes,
                stop: &query.stop,
            },
        )?;
        let best = ranking.documents.iter().take(least);
        let best = best.map(|ranked| ranked.at).collect();
        ranking.documents.truncate(limit);
        Ok(Page { ranking, best })
    }

    /// The documents that a plan fits, counted.
    pub(super) fn counts(
        &self,
        view: &dyn View,
        plan: &Plan,
        query: &Query,
    ) -> Result<(usize, Counts), IndexError> {
        let counted = Query {
            facets: true,
            ..query.clone()
        };
        let ranking = self.rank(view, plan, &counted, 0, 0)?.ranking;
        Ok((ranking.total, ranking.counts.unwrap_or_default()))
    }

    fn half_life_ms(&self, query: &Query) -> i64 {
        match query.half_life_ms {
            given if given > 0 => given,
            _ => i64::from(self.config().half_life_days.max(1)) * DAY_MS,
        }
    }

    fn facets(
        &self,
        view: &dyn View,
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
            let plan = self.plan(view, &first)?;
            let ranked = self.rank(view, &plan, &first, 0, RELATED_DOCUMENTS)?;
            let documents = ranked.ranking.documents.iter();
            best = documents.map(|ranked| ranked.at).collect();
        }
        let mut documents = Vec::with_capacity(best.len());
        for at in best {
            documents.extend(self.load(view, at)?);
        }
        if !query.filter.sites.is_empty() {
            first.filter.sites.clear();
            let plan = self.plan(view, &first)?;
            (sites, _) = self.counts(view, &plan, &first)?.1;
        }
        Ok(Facets {
            sites: sites
                .into_iter()
                .map(|(site, documents)| SiteCount { site, documents })
                .collect(),
            dates: Dates::of(&days),
            related: self.related(view, query, &documents)?,
        })
    }
}
