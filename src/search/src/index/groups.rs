//! Reprints as one hit. In: ranked documents. Out: the same with one document for each group of reprints, the
//! one that fits the query best, and with the first page shared among sites. Never changes which documents fit.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use tantivy::DocAddress;

use super::IndexError;
use super::plain::TIER;
use super::query::{Group, Query, Sort, Target};
use super::reader::Reader;
use super::search::{FoundDocument, Page, Search};
use super::view::{Ranked, View};

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
    pub(super) fn grouped(&self, range: Range<usize>) -> Result<Page, IndexError> {
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
    pub(super) fn members(&self, range: Range<usize>) -> Result<Page, IndexError> {
        let mut page = self.rank(0, 0, self.query.facets)?;
        let group = self.query.filter.group;
        let members = self
            .view
            .members(&self.plan, group.as_slice(), &[], &self.query.stop)?;
        let place = |(group, (_, _, _, _, at))| Ranked {
            score: 0.0,
            at,
            group: Some(group),
        };
        let shown = members.into_iter().skip(range.start).take(range.len());
        page.ranking.documents = shown.map(place).collect();
        Ok(page)
    }

    /// Ranked documents as they are shown, each with its reprints that fit counted; without those that are gone meanwhile.
    pub(super) fn shown(&self, ranked: &[Ranked]) -> Result<Vec<FoundDocument>, IndexError> {
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
            let others = others.map(|(_, (_, _, _, _, at))| *at);
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
            let stored = self.reader.load(view, hit.at)?;
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
