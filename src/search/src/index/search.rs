//! Searches: returns the stored documents that fit a [`Query`], ranked, with counts for filters. Reprints are one hit,
//! the one of them that fits the query best, and the first page is shared among sites; that never changes which
//! documents fit. Never writes.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::time::{Duration, Instant};

use serde::Serialize;
use tantivy::DocAddress;
use utoipa::ToSchema;

use super::IndexError;
use super::facets::days::{DAY_MS, Dates};
use super::facets::related::RELATED_DOCUMENTS;
use super::facets::values::{FieldCounts, by_field};
use super::query::{Group, Query, Sort, Target};
use super::rank::clauses::{Builder, Demand};
use super::rank::plain::TIER;
use super::rank::plan::Plan;
use super::reader::Reader;
use super::stop::MAX_SINGLE_CHARACTERS;
use super::stored::StoredDocument;
use super::view::{
    Counts, Days, Order, Precedence, Ranked, Ranking, Statistics, View, Wanted, reckoned,
};

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SiteCount {
    /// Name of the site, or its host; a value for `site`.
    pub site: String,
    /// What readers call the site, where the configuration says.
    #[serde(rename = "site_title", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How many documents.
    pub documents: u64,
}

/// What can be said of a result as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
pub struct Facets {
    /// Documents by site, most first. The filter by site does not count here, so that one sees what another site
    /// would give.
    pub sites: Vec<SiteCount>,
    /// Documents by author, source, kind and the most used labels of pages, as far as several have the same.
    pub fields: Vec<FieldCounts>,
    /// Documents by date of publication, earliest first, without gaps; undated ones are left out.
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
pub(crate) struct Page {
    pub(crate) ranking: Ranking,
    /// The best documents of all pages, for related terms, where the search saw them.
    pub(crate) best: Vec<DocAddress>,
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
pub(crate) struct Search<'r> {
    pub(crate) reader: &'r Reader,
    pub(crate) view: &'r dyn View,
    pub(crate) query: &'r Query,
    pub(crate) plan: Plan,
}

impl<'r> Search<'r> {
    /// Plans a query; one that would cost too much is refused.
    pub(crate) fn new(
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
    pub(crate) fn rank(
        &self,
        offset: usize,
        limit: usize,
        counts: bool,
    ) -> Result<Page, IndexError> {
        let query = self.query;
        // One pass gives both the page and what related terms are read from.
        let least = if counts && offset == 0 && limit > 0 {
            RELATED_DOCUMENTS
        } else {
            0
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
    pub(crate) fn count(&self) -> Result<(usize, Vec<SiteCount>, Days), IndexError> {
        let ranking = self.rank(0, 0, true)?.ranking;
        let (sites, _, days) = ranking.counts.unwrap_or_default();
        Ok((ranking.total, self.site_counts(sites), days))
    }

    fn half_life_ms(&self) -> i64 {
        match self.query.half_life_ms {
            given if given > 0 => given,
            _ => i64::from(self.reader.config().half_life_days.max(1)) * DAY_MS,
        }
    }

    /// The counts with the titles of the sites.
    fn site_counts(&self, sites: Vec<(String, u64)>) -> Vec<SiteCount> {
        let titles = self.reader.titles().by_name();
        let count = |(site, documents): (String, u64)| SiteCount {
            title: titles.get(&site).cloned(),
            site,
            documents,
        };
        sites.into_iter().map(count).collect()
    }

    fn facets(
        &self,
        (sites, values, days): Counts,
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
            documents.extend(self.reader.version(self.view.identity(at)?)?);
        }
        let mut sites = self.site_counts(sites);
        if !first.filter.sites.is_empty() {
            first.filter.sites.clear();
            (_, sites, _) = Search::new(self.reader, self.view, &first)?.count()?;
        }
        Ok(Facets {
            sites,
            fields: by_field(values),
            dates: Dates::from_days(&days),
            related: self.reader.related(self.view, self.query, &documents)?,
        })
    }
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

/// Documents that are ranked at least, so that the first pages hold still while one turns them.
const LEAST_RANKED: usize = 60;
/// Hits that are shared among sites.
const FIRST_PAGE: usize = 10;
/// Most hits of one site among them.
const HITS_OF_A_SITE: usize = 3;
/// Another site's hit moves up only if its score is this share of the one it passes: variety, not worse hits.
const WORTH_SHARE: f32 = 0.6;

/// Outlets named with a hit: a line has room for a few, a program for all but the most copied.
const OUTLETS: usize = 20;

impl Reader {
    /// The group of reprints a document belongs to; none if it is not there or too short to tell.
    pub fn group(&self, fingerprint: u64) -> Result<Option<u64>, IndexError> {
        let view = self.view()?;
        let at = view.find(fingerprint)?;
        at.map_or(Ok(None), |at| view.group(at))
    }
}

impl Search<'_> {
    /// Hits `range` of the result with each group of reprints as one hit.
    pub(crate) fn grouped(&self, range: Range<usize>) -> Result<Page, IndexError> {
        let mut wanted = LEAST_RANKED.max(range.end * 2).min(Query::MAX_WINDOW);
        loop {
            let mut page = self.rank(0, wanted, self.query.facets)?;
            let ranked = std::mem::take(&mut page.ranking.documents);
            let all = ranked.len() < wanted || wanted >= Query::MAX_WINDOW;
            let mut folded = fold(self.view, ranked)?;
            if folded.len() >= range.end || all {
                if shares_sites(self.query) {
                    share_first_page(self.view, &mut folded)?;
                }
                let end = range.end.min(folded.len());
                folded.truncate(end);
                folded.drain(..range.start.min(end));
                page.ranking.documents = folded;
                return Ok(page);
            }
            wanted = (wanted * 2).min(Query::MAX_WINDOW);
        }
    }

    /// Reprints `range` of one text, the original or earliest first.
    pub(crate) fn members(&self, range: Range<usize>) -> Result<Page, IndexError> {
        let mut page = self.rank(0, 0, self.query.facets)?;
        let group = self.query.filter.group;
        let members = self
            .view
            .members(&self.plan, group.as_slice(), &[], &self.query.stop)?;
        let place = |(group, precedence): (u64, Precedence)| Ranked {
            score: 0.0,
            at: precedence.at,
            group: Some(group),
        };
        let shown = members.into_iter().skip(range.start).take(range.len());
        page.ranking.documents = shown.map(place).collect();
        Ok(page)
    }

    /// Ranked documents as they are shown, each with its reprints that fit counted; without those that are gone meanwhile.
    pub(crate) fn shown(&self, ranked: &[Ranked]) -> Result<Vec<FoundDocument>, IndexError> {
        let view = self.view;
        let mut hits = Vec::with_capacity(ranked.len());
        for hit in ranked {
            let group = match hit.group {
                Some(group) => Some(group),
                None => view.group(hit.at)?,
            };
            hits.push((*hit, group));
        }
        let mut by_group: HashMap<u64, Vec<DocAddress>> = HashMap::new();
        for (hit, group) in &hits {
            let of_group = group.map(|group| by_group.entry(group).or_default());
            of_group.into_iter().for_each(|hits| hits.push(hit.at));
        }
        let groups: Vec<u64> = by_group.keys().copied().collect();
        // Where a group has several hits, each of them counts the others.
        let alone = by_group.values().filter(|hits| hits.len() == 1);
        let without: Vec<DocAddress> = alone.flatten().copied().collect();
        let members = view.members(&self.plan, &groups, &without, &self.query.stop)?;
        let mut documents = Vec::with_capacity(hits.len());
        for (hit, group) in hits {
            let others = members.iter().filter(|(of, _)| Some(*of) == group);
            let others = others.map(|(_, precedence)| precedence.at);
            let others: Vec<_> = others.filter(|at| *at != hit.at).collect();
            let mut outlets: Vec<String> = Vec::new();
            for at in &others {
                if outlets.len() == OUTLETS {
                    break;
                }
                let site = view.site(*at)?;
                if !outlets.contains(&site) {
                    outlets.push(site);
                }
            }
            let stored = self.reader.version(view.identity(hit.at)?)?;
            documents.extend(stored.map(|stored| FoundDocument {
                score: hit.score,
                group,
                duplicates: others.len() as u64,
                outlets,
                stored,
            }));
        }
        Ok(documents)
    }
}

/// Looks up the groups and keeps of each the best document.
fn fold(view: &dyn View, ranked: Vec<Ranked>) -> Result<Vec<Ranked>, IndexError> {
    let mut seen: HashSet<u64> = HashSet::with_capacity(ranked.len());
    let mut folded = Vec::with_capacity(ranked.len());
    for mut hit in ranked {
        hit.group = view.group(hit.at)?;
        if hit.group.is_none_or(|group| seen.insert(group)) {
            folded.push(hit);
        }
    }
    Ok(folded)
}

/// Whether the first page should be shared: not when a site was asked for, nor when the date decides.
fn shares_sites(query: &Query) -> bool {
    let named = query
        .groups
        .iter()
        .flat_map(Group::leaves)
        .any(|clause| matches!(clause.target, Target::Site | Target::Url | Target::Meta));
    query.sort != Sort::Date && query.filter.sites.is_empty() && !named
}

/// Moves hits of other sites up into the first page where one site has too many of it. What is moved down comes
/// right behind the page, in its old order.
fn share_first_page(view: &dyn View, hits: &mut Vec<Ranked>) -> Result<(), IndexError> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut page: Vec<Ranked> = Vec::with_capacity(FIRST_PAGE);
    let mut later: Vec<Ranked> = Vec::new();
    let mut rest = std::mem::take(hits).into_iter();
    for hit in rest.by_ref().take(LEAST_RANKED) {
        let held_back = later.first().map_or(0.0, |first| first.score);
        // What holds the query as typed never stands behind what does not.
        let lower = (held_back / TIER).floor() > (hit.score / TIER).floor();
        let worse = hit.score % TIER < (held_back % TIER) * WORTH_SHARE;
        if page.len() == FIRST_PAGE || lower || worse {
            later.push(hit);
            continue;
        }
        let count = counts.entry(view.site(hit.at)?).or_insert(0);
        if *count < HITS_OF_A_SITE {
            *count += 1;
            page.push(hit);
        } else {
            later.push(hit);
        }
    }
    page.append(&mut later);
    page.extend(rest);
    *hits = page;
    Ok(())
}
