//! Reprints as one hit. In: ranked documents. Out: the same with one document for each group of reprints, the
//! one that fits the query best, and with the first page shared among sites. Never changes which documents fit.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use tantivy::collector::DocSetCollector;
use tantivy::query::{EnableScoring, Query as TantivyQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, Searcher, SegmentReader, Term};

use super::IndexError;
use super::clauses::group_query;
use super::plain::TIER;
use super::query::{Group, Query, Sort, Target};
use super::reader::Reader;
use super::schema::{FETCHED_FIELD, GROUP_FIELD, ORIGINAL_FIELD, PUBLISHED_FIELD, SITE_FIELD};
use super::search::{FoundDocument, Ranked, Ranking};

const DAY_MS: i64 = 86_400_000;
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

/// What decides which reprint stands first in a list of them: the least.
type Precedence = (i64, bool, i64, i64, DocAddress);

impl Reader {
    /// The group of reprints a document belongs to; none if it is not there or too short to tell.
    pub fn group(&self, fingerprint: u64) -> Result<Option<u64>, IndexError> {
        let searcher = self.searcher()?;
        let term = Term::from_field_u64(self.fields.fingerprint, fingerprint);
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        let found = searcher.search(&query, &DocSetCollector);
        let at = found.map_err(|e| self.failed(e))?.into_iter().next();
        at.map_or(Ok(None), |at| group_of(&searcher, at))
            .map_err(|e| self.failed(e))
    }

    /// Hits `page` of the result with each group of reprints as one hit.
    pub(super) fn grouped(
        &self,
        searcher: &Searcher,
        built: &dyn TantivyQuery,
        query: &Query,
        page: Range<usize>,
    ) -> tantivy::Result<Ranking> {
        let mut wanted = LEAST_RANKED.max(page.end * 2).min(Query::MAX_WINDOW);
        loop {
            let mut ranking = self.rank(searcher, built, query, 0, wanted)?;
            let all = ranking.documents.len() < wanted || wanted >= Query::MAX_WINDOW;
            let mut folded = fold(searcher, ranking.documents)?;
            if folded.len() >= page.end || all {
                if shares_sites(query) {
                    share_first_page(searcher, &mut folded)?;
                }
                let end = page.end.min(folded.len());
                folded.truncate(end);
                folded.drain(..page.start.min(end));
                ranking.documents = folded;
                return Ok(ranking);
            }
            wanted = (wanted * 2).min(Query::MAX_WINDOW);
        }
    }

    /// Reprints `page` of one text, the original or earliest first.
    pub(super) fn members(
        &self,
        searcher: &Searcher,
        built: &dyn TantivyQuery,
        query: &Query,
        page: Range<usize>,
    ) -> tantivy::Result<Ranking> {
        let mut ranking = self.rank(searcher, built, query, 0, 0)?;
        let mut members = Vec::with_capacity(ranking.total);
        for at in searcher.search(built, &query.stop.with(DocSetCollector))? {
            members.push(precedence(searcher, at)?);
        }
        members.sort_unstable();
        let place = |(_, _, _, _, at)| Ranked {
            score: 0.0,
            at,
            group: query.filter.group,
        };
        let shown = members.into_iter().skip(page.start).take(page.len());
        ranking.documents = shown.map(place).collect();
        Ok(ranking)
    }

    /// Ranked documents as they are shown, each with its reprints that fit counted; without those that are gone meanwhile.
    pub(super) fn shown(
        &self,
        searcher: &Searcher,
        built: &dyn TantivyQuery,
        ranked: &[Ranked],
    ) -> Result<Vec<FoundDocument>, IndexError> {
        let mut hits = Vec::with_capacity(ranked.len());
        for hit in ranked {
            let group = match hit.group {
                Some(group) => Some(group),
                None => group_of(searcher, hit.at).map_err(|e| self.failed(e))?,
            };
            let others = self.others(searcher, group, hit.at);
            hits.push((*hit, group, others.map_err(|e| self.failed(e))?));
        }
        let others = hits.iter().flat_map(|(_, _, others)| others);
        let others = others.map(|(_, _, _, _, at)| *at).collect();
        let fitting = fitting(searcher, built, others).map_err(|e| self.failed(e))?;
        let mut documents = Vec::with_capacity(hits.len());
        for (hit, group, mut others) in hits {
            others.retain(|(_, _, _, _, at)| fitting.contains(at));
            let mut outlets: Vec<String> = Vec::new();
            for (_, _, _, _, at) in &others {
                let site = site_of(searcher, *at).map_err(|e| self.failed(e))?;
                if outlets.len() < OUTLETS && !outlets.contains(&site) {
                    outlets.push(site);
                }
            }
            let stored = self.load(searcher, hit.at)?;
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

    /// The other documents of a group, the original or earliest first.
    fn others(
        &self,
        searcher: &Searcher,
        group: Option<u64>,
        shown: DocAddress,
    ) -> tantivy::Result<Vec<Precedence>> {
        let Some(group) = group else {
            return Ok(Vec::new());
        };
        let term = Term::from_field_u64(self.fields.group, group);
        if searcher.doc_freq(&term)? < 2 {
            return Ok(Vec::new());
        }
        let members = group_query(&self.fields, group);
        let mut others = Vec::new();
        for at in searcher.search(&members, &DocSetCollector)? {
            if at != shown {
                others.push(precedence(searcher, at)?);
            }
        }
        others.sort_unstable();
        Ok(others)
    }
}

/// Those of some documents that a query fits. Asks the query once for all of them: to begin it costs more than to move it.
fn fitting(
    searcher: &Searcher,
    built: &dyn TantivyQuery,
    mut asked: Vec<DocAddress>,
) -> tantivy::Result<HashSet<DocAddress>> {
    let mut found = HashSet::new();
    if asked.is_empty() {
        return Ok(found);
    }
    asked.sort_unstable();
    let weight = built.weight(EnableScoring::disabled_from_searcher(searcher))?;
    for of_segment in asked.chunk_by(|a, b| a.segment_ord == b.segment_ord) {
        let mut scorer = weight.scorer(segment(searcher, of_segment[0]), 1.0)?;
        for at in of_segment {
            if scorer.doc() < at.doc_id {
                scorer.seek(at.doc_id);
            }
            if scorer.doc() == at.doc_id {
                found.insert(*at);
            }
        }
    }
    Ok(found)
}

/// Looks up the groups and keeps of each the best document.
fn fold(searcher: &Searcher, ranked: Vec<Ranked>) -> tantivy::Result<Vec<Ranked>> {
    let mut seen: HashMap<u64, ()> = HashMap::with_capacity(ranked.len());
    let mut folded = Vec::with_capacity(ranked.len());
    for mut hit in ranked {
        hit.group = group_of(searcher, hit.at)?;
        if hit
            .group
            .is_none_or(|group| seen.insert(group, ()).is_none())
        {
            folded.push(hit);
        }
    }
    Ok(folded)
}

fn group_of(searcher: &Searcher, at: DocAddress) -> tantivy::Result<Option<u64>> {
    let column = segment(searcher, at)
        .fast_fields()
        .column_opt::<u64>(GROUP_FIELD)?;
    Ok(column.and_then(|column| column.first(at.doc_id)))
}

/// The earliest day comes first (the day of its fetch where a document has no date), on one day a document that
/// names no other source, then the earliest time.
fn precedence(searcher: &Searcher, at: DocAddress) -> tantivy::Result<Precedence> {
    let columns = segment(searcher, at).fast_fields();
    let time = |name: &str| -> tantivy::Result<Option<i64>> {
        let column = columns.column_opt::<i64>(name)?;
        Ok(column.and_then(|column| column.first(at.doc_id)))
    };
    let original = columns.column_opt::<bool>(ORIGINAL_FIELD)?;
    let original = original.and_then(|column| column.first(at.doc_id));
    let fetched = time(FETCHED_FIELD)?.unwrap_or(i64::MAX);
    let published = time(PUBLISHED_FIELD)?.unwrap_or(fetched);
    let day = published.div_euclid(DAY_MS);
    Ok((day, !original.unwrap_or(false), published, fetched, at))
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
fn share_first_page(searcher: &Searcher, hits: &mut Vec<Ranked>) -> tantivy::Result<()> {
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
        let count = counts.entry(site_of(searcher, hit.at)?).or_insert(0);
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

fn site_of(searcher: &Searcher, at: DocAddress) -> tantivy::Result<String> {
    let mut name = String::new();
    if let Some(column) = segment(searcher, at).fast_fields().str(SITE_FIELD)?
        && let Some(ordinal) = column.term_ords(at.doc_id).next()
    {
        column.ord_to_str(ordinal, &mut name)?;
    }
    Ok(name)
}

fn segment(searcher: &Searcher, at: DocAddress) -> &SegmentReader {
    searcher.segment_reader(at.segment_ord)
}
