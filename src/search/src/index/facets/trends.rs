//! What analysts compare: the documents of a query by day and by site, the stories that were reprinted most with who
//! had each first, and the terms that rise. Only documents that fit the query count, as in the total of a search.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::Serialize;
use utoipa::ToSchema;

use super::related::apart;
use crate::index::IndexError;
use crate::index::query::{Clause, Group, Occur, Query, Target};
use crate::index::reader::Reader;
use crate::index::search::{FoundDocument, Search, SiteCount};

/// Documents that rising terms are read from, spread evenly over all that fit.
const SAMPLE: usize = 60;
/// Terms of these that are counted in all documents.
const COUNTED_TERMS: usize = 24;
/// Fewest documents of the later time that a rising term has.
const LEAST_DOCUMENTS: u64 = 3;
/// G² of a difference that chance gives once in a thousand times (one degree of freedom).
const LEAST_SURPRISE: f64 = 10.83;

/// How many documents fit a query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counted {
    /// All, undated ones too; reprints count one by one.
    pub total: u64,
    /// By day of publication.
    pub days: BTreeMap<NaiveDate, u64>,
    /// By site, most first.
    pub sites: Vec<SiteCount>,
}

/// A text that several documents have.
#[derive(Debug, Clone, PartialEq)]
pub struct Story {
    /// Documents with it, the first included.
    pub documents: u64,
    /// The original, or else the earliest of them, with the sites of the others.
    pub first: FoundDocument,
}

/// A term that more documents have than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Rising {
    /// The term.
    pub term: String,
    /// Documents with it before.
    pub before: u64,
    /// Documents with it since.
    pub since: u64,
}

/// Counts for comparing queries, over the documents of an index.
#[derive(Clone, Copy)]
pub struct Comparison<'a>(pub(crate) &'a Reader);

impl Comparison<'_> {
    /// Counts the documents that fit a query; its `limit` and `offset` do not matter.
    pub fn counted(&self, query: &Query) -> Result<Counted, IndexError> {
        let view = self.0.view()?;
        let (total, sites, days) = Search::new(self.0, view.as_ref(), query)?.count()?;
        Ok(Counted {
            total: total as u64,
            days,
            sites,
        })
    }

    /// The stories among the documents that fit a query of which most documents are reprints; at most `limit`.
    pub fn stories(&self, query: &Query, limit: usize) -> Result<Vec<Story>, IndexError> {
        let view = self.0.view()?;
        let plan = Search::new(self.0, view.as_ref(), query)?.plan;
        let groups = view.groups(&plan, limit, &query.stop)?;
        let mut stories = Vec::new();
        for (group, documents) in groups {
            let mut members = Query {
                limit: 1,
                offset: 0,
                facets: false,
                ..query.clone()
            };
            members.filter.group = Some(group);
            let first = self.0.search(&members)?.documents.into_iter().next();
            stories.extend(first.map(|first| Story { documents, first }));
        }
        Ok(stories)
    }

    /// Terms whose share of the documents that fit is greater from `middle` on than before, the least likely to be chance first
    /// (G², Dunning 1993, "Accurate methods for the statistics of surprise and coincidence"); at most `limit`.
    pub fn rising(
        &self,
        query: &Query,
        middle: NaiveDate,
        limit: usize,
    ) -> Result<Vec<Rising>, IndexError> {
        let halves = |counted: &Counted| {
            let since: u64 = counted.days.range(middle..).map(|(_, n)| n).sum();
            let all: u64 = counted.days.values().sum();
            (all - since, since)
        };
        let all = halves(&self.counted(query)?);
        if all.0 == 0 || all.1 < LEAST_DOCUMENTS {
            return Ok(Vec::new());
        }
        let mut rising = Vec::new();
        for term in self.recent_terms(query, middle)? {
            let mut with = query.clone();
            with.groups.push(Group {
                occur: Occur::Must,
                any: vec![Clause::literal(Target::Anywhere, &term)],
            });
            let (before, since) = halves(&self.counted(&with)?);
            let surprise = surprise((before, since), all);
            if since >= LEAST_DOCUMENTS && surprise >= LEAST_SURPRISE {
                let term = Rising {
                    term,
                    before,
                    since,
                };
                rising.push((surprise, term));
            }
        }
        rising.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.term.cmp(&b.1.term)));
        let rising = rising.into_iter().map(|(_, rising)| rising);
        Ok(apart(rising, |rising| &rising.term, limit))
    }

    /// Terms of the documents from a day on.
    fn recent_terms(&self, query: &Query, middle: NaiveDate) -> Result<Vec<String>, IndexError> {
        let offset_ms = i64::from(self.0.config().utc_offset_minutes) * 60_000;
        let midnight = middle.and_time(chrono::NaiveTime::MIN).and_utc();
        let mut recent = query.clone();
        let since_ms = midnight.timestamp_millis() - offset_ms;
        recent.filter.narrow_published((Some(since_ms), None));
        let view = self.0.view()?;
        let plan = Search::new(self.0, view.as_ref(), &recent)?.plan;
        let mut documents = Vec::new();
        for at in view.sample(&plan, SAMPLE, &query.stop)? {
            documents.extend(self.0.version(view.identity(at)?)?);
        }
        let mut terms = self.0.terms_beside(view.as_ref(), query, &documents)?;
        terms.truncate(COUNTED_TERMS);
        Ok(terms)
    }
}

/// G² of a term's documents before and since among all of both; 0 where its share did not rise.
fn surprise((before, since): (u64, u64), (all_before, all_since): (u64, u64)) -> f64 {
    let (before, since) = (before as f64, since as f64);
    let (all_before, all_since) = (all_before as f64, all_since as f64);
    if since * all_before <= before * all_since {
        return 0.0;
    }
    let share = (before + since) / (all_before + all_since);
    let part = |seen: f64, expected: f64| match seen {
        0.0 => 0.0,
        seen => seen * (seen / expected).ln(),
    };
    let cells = [
        part(before, all_before * share),
        part(since, all_since * share),
        part(all_before - before, all_before * (1.0 - share)),
        part(all_since - since, all_since * (1.0 - share)),
    ];
    2.0 * cells.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::surprise;

    #[test]
    fn rising_needs_rising_share() {
        // Dunning's measure of a 2 × 2 table, reckoned by hand: 2 Σ k ln(k / expected).
        let rises = surprise((10, 30), (100, 100));
        assert!((rises - 12.9715).abs() < 0.01, "{rises}");
        assert_eq!(surprise((30, 10), (100, 100)), 0.0);
        assert_eq!(surprise((10, 20), (100, 200)), 0.0);
        assert!(surprise((0, 5), (50, 50)) > surprise((0, 3), (50, 50)));
    }
}
