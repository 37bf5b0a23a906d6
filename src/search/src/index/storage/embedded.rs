//! The index in a directory, run by tantivy; [`Embedded`] is the [`View`] of one state of it. [`Opened`] returns the
//! newest state: it sees every commit at once, also one of another process, because it checks the time stamp of the
//! index before each use. Never writes.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tantivy::collector::sort_key::{SortBySimilarityScore, SortByStaticFastValue};
use tantivy::collector::{Collector, Count, DocSetCollector, TopDocs};
use tantivy::query::{BooleanQuery, EnableScoring, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{
    DocAddress, DocId, DocSet, Index, IndexReader, Order as By, ReloadPolicy, Score, Searcher,
    SegmentReader, TERMINATED, TantivyError,
};

use super::compile::{Boxed, Compiler, group_query};
use super::folder::{Folder, META};
use super::rebuild::noted;
use super::threads::{Parallelism, SearchThreads, ThreadShare};
use crate::analyze::{gram_of_term, tokenizers};
use crate::index::IndexError;
use crate::index::duplicates::reprints::{Placed, Sketch};
use crate::index::facets::counts::{DayCounts, GroupCounts, NameCounts};
use crate::index::facets::values::MOST;
use crate::index::rank::plan::Plan;
use crate::index::reader::Watermark;
use crate::index::schema::{Column, check_searched, refuse_newer, unreadable};
use crate::index::stop::CancellationToken;
use crate::index::view::{Order, Precedence, Ranked, Ranking, Statistics, View, Wanted, aged};

/// A document without a date counts as this many half-lives old: behind what is known to be recent, not lost.
pub(crate) const UNDATED_HALF_LIVES: f32 = 4.0;

/// One state of an index in a directory.
pub(crate) struct Embedded<'a> {
    pub(crate) dir: &'a Path,
    pub(crate) searcher: Searcher,
    /// Those that searches may use; none: only the one that asks.
    pub(crate) threads: Option<ThreadShare<'a>>,
}

impl Statistics for Embedded<'_> {
    fn documents(&self) -> u64 {
        self.searcher.num_docs()
    }

    fn frequency(&self, column: Column, term: &str) -> u64 {
        self.searcher.doc_freq(&column.term(term)).unwrap_or(0)
    }
}

impl Embedded<'_> {
    fn compiled(&self, plan: &Plan, stop: &CancellationToken) -> Boxed {
        Compiler(stop).query(plan)
    }

    /// Collects what a query fits in all segments, until that is stopped.
    fn search<C: Collector + 'static>(
        &self,
        query: &dyn Query,
        stop: &CancellationToken,
        collector: C,
    ) -> tantivy::Result<C::Fruit> {
        let collector = stop.with(collector);
        match &self.threads {
            Some(threads) => threads.search(&self.searcher, query, collector),
            None => self.searcher.search(query, &collector),
        }
    }

    fn failed(&self, error: impl std::fmt::Display) -> IndexError {
        IndexError::Failed {
            dir: self.dir.to_owned(),
            cause: error.to_string(),
        }
    }

    /// Why a search with this switch ended.
    fn ended(&self, stop: &CancellationToken, error: &TantivyError) -> IndexError {
        if stop.is_stopped() {
            IndexError::Stopped
        } else {
            self.failed(error)
        }
    }

    fn segment(&self, at: DocAddress) -> &SegmentReader {
        self.searcher.segment_reader(at.segment_ord)
    }

    fn ranked(&self, plan: &Plan, wanted: &Wanted<'_>) -> tantivy::Result<Ranking> {
        let stop = wanted.stop;
        let built = self.compiled(plan, stop);
        let utc_offset_minutes = wanted.utc_offset_minutes;
        let names = |column, most| NameCounts { column, most };
        let counters = (
            names(Column::Site, usize::MAX),
            names(Column::Values, MOST),
            DayCounts { utc_offset_minutes },
        );
        let counters = wanted.counts.then_some(counters);
        let limit = wanted.range.len();
        if limit == 0 {
            let (total, counts) = self.search(&built, stop, (Count, counters))?;
            return Ok(Ranking {
                total,
                documents: Vec::new(),
                counts,
            });
        }
        // One pass gives both the page and the counts.
        let top = TopDocs::with_limit(limit).and_offset(wanted.range.start);
        let by_time = |top: TopDocs, column: Column| {
            let time = SortByStaticFastValue::<i64>::for_field(column.name());
            let top = top.order_by((time, by_number()));
            let found = self.search(&built, stop, (top, Count, counters));
            found.map(|(ranked, total, counts)| (places(ranked, |_| 0.0), total, counts))
        };
        let (documents, total, counts) = match wanted.order {
            Order::Score => {
                let top = top.order_by((SortBySimilarityScore, by_number()));
                let collectors = (top, Count, counters);
                let (ranked, total, counts) = self.search(&built, stop, collectors)?;
                (places(ranked, |(score, _)| score), total, counts)
            }
            Order::Published => by_time(top, Column::Published)?,
            Order::Fetched => by_time(top, Column::Fetched)?,
            Order::Aged {
                now_ms,
                half_life_ms,
            } => {
                let both = top.tweak_score(move |segment: &SegmentReader| {
                    let published = segment.fast_fields().i64(Column::Published.name()).ok();
                    let number = segment.fast_fields().u64(Column::Seq.name()).ok();
                    move |doc: DocId, score: Score| {
                        let published = published.as_ref().and_then(|column| column.first(doc));
                        let number = number.as_ref().and_then(|column| column.first(doc));
                        (
                            aged(score, freshness(published, now_ms, half_life_ms)),
                            number.map(Reverse),
                        )
                    }
                });
                let collectors = (both, Count, counters);
                let (ranked, total, counts) = self.search(&built, stop, collectors)?;
                (places(ranked, |(score, _)| score), total, counts)
            }
        };
        Ok(Ranking {
            total,
            documents,
            counts,
        })
    }

    /// The documents of some groups that a plan fits.
    fn members_of(
        &self,
        plan: &Plan,
        groups: &[u64],
        without: &[DocAddress],
        stop: &CancellationToken,
    ) -> tantivy::Result<Vec<(u64, Precedence)>> {
        let any = groups.iter().map(|group| group_query(*group)).collect();
        let any = Box::new(BooleanQuery::union(any));
        let both = BooleanQuery::intersection(vec![any, self.compiled(plan, stop)]);
        let found = self.search(&both, stop, DocSetCollector)?;
        let mut members = Vec::with_capacity(found.len());
        for at in found.into_iter().filter(|at| !without.contains(at)) {
            if let Some(group) = self.group_at(at)? {
                members.push((group, self.precedence(at)?));
            }
        }
        members.sort_unstable();
        Ok(members)
    }

    fn group_at(&self, at: DocAddress) -> tantivy::Result<Option<u64>> {
        let columns = self.segment(at).fast_fields();
        let column = columns.column_opt::<u64>(Column::Group.name())?;
        Ok(column.and_then(|column| column.first(at.doc_id)))
    }

    fn placed_at(&self, at: DocAddress) -> tantivy::Result<Option<Placed>> {
        let columns = self.segment(at).fast_fields();
        let sketch = columns.column_opt::<u64>(Column::Sketch.name())?;
        let sketch = sketch.and_then(|c| Sketch::unpacked(c.values_for_doc(at.doc_id)));
        let group = self.group_at(at)?;
        Ok(group
            .zip(sketch)
            .map(|(group, sketch)| Placed { group, sketch }))
    }

    fn precedence(&self, at: DocAddress) -> tantivy::Result<Precedence> {
        let columns = self.segment(at).fast_fields();
        let time = |time: Column| -> tantivy::Result<Option<i64>> {
            let column = columns.column_opt::<i64>(time.name())?;
            Ok(column.and_then(|column| column.first(at.doc_id)))
        };
        let original = columns.column_opt::<bool>(Column::Original.name())?;
        let original = original.and_then(|column| column.first(at.doc_id));
        let fetched_ms = time(Column::Fetched)?.unwrap_or(i64::MAX);
        let published_ms = time(Column::Published)?;
        let seq = columns.u64(Column::Seq.name())?.first(at.doc_id);
        Ok(Precedence::new(
            published_ms,
            fetched_ms,
            original.unwrap_or(false),
            seq.unwrap_or_default(),
            at,
        ))
    }

    /// Tells the documents of a segment that came after `after`, without loading them.
    fn fresh(
        segment: &SegmentReader,
        after: Option<Watermark>,
    ) -> tantivy::Result<impl Fn(u32) -> bool + use<>> {
        let columns = segment.fast_fields();
        let seqs = columns.u64(Column::Seq.name())?;
        let times = columns.i64(Column::Fetched.name())?;
        Ok(move |id| {
            let (seq, time) = (seqs.first(id), times.first(id));
            let (seq, time) = (seq.unwrap_or_default(), time.unwrap_or_default());
            after.is_none_or(|after| after.is_before(seq, time))
        })
    }

    fn similar_terms(
        &self,
        column: Column,
        word: &str,
        most_edits: usize,
    ) -> tantivy::Result<Vec<(String, u64)>> {
        let mut similar: HashMap<String, u64> = HashMap::new();
        let mut left = MAX_COMPARED_TERMS;
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(column.field())?;
            let (first, behind) = LATIN;
            let mut terms = index.terms().range().ge(first).lt(behind).into_stream()?;
            while left > 0 && terms.advance() {
                left -= 1;
                let term = std::str::from_utf8(terms.key()).unwrap_or_default();
                let term = gram_of_term(term);
                // Of letters of two bytes each edit may change two.
                if term.len().abs_diff(word.len()) > 2 * most_edits {
                    continue;
                }
                if strsim::osa_distance(term, word) <= most_edits {
                    let documents = similar.entry(term.to_owned()).or_default();
                    *documents += u64::from(terms.value().doc_freq);
                }
            }
        }
        Ok(similar.into_iter().collect())
    }

    fn newest(&self) -> tantivy::Result<Watermark> {
        let mut newest = Watermark::default();
        for segment in self.searcher.segment_readers() {
            let columns = segment.fast_fields();
            let seqs = columns.u64(Column::Seq.name())?;
            let times = columns.i64(Column::Fetched.name())?;
            if segment.max_doc() > 0 {
                newest.seq = newest.seq.max(seqs.max_value());
                newest.fetched_ms = newest.fetched_ms.max(times.max_value());
            }
        }
        Ok(newest)
    }

    fn site_at(&self, at: DocAddress) -> tantivy::Result<String> {
        let mut name = String::new();
        if let Some(column) = self.segment(at).fast_fields().str(Column::Site.name())?
            && let Some(ordinal) = column.term_ords(at.doc_id).next()
        {
            column.ord_to_str(ordinal, &mut name)?;
        }
        Ok(name)
    }
}

impl View for Embedded<'_> {
    fn with_statistics(&self, ask: &mut dyn FnMut(&dyn Statistics)) -> Result<(), IndexError> {
        ask(self);
        Ok(())
    }

    fn similar(
        &self,
        column: Column,
        word: &str,
        most_edits: u8,
    ) -> Result<Vec<(String, u64)>, IndexError> {
        let similar = self.similar_terms(column, word, most_edits.into());
        similar.map_err(|e| self.failed(e))
    }

    fn rank(&self, plan: &Plan, wanted: &Wanted<'_>) -> Result<Ranking, IndexError> {
        let ranked = self.ranked(plan, wanted);
        ranked.map_err(|e| self.ended(wanted.stop, &e))
    }

    fn members(
        &self,
        plan: &Plan,
        groups: &[u64],
        without: &[DocAddress],
        stop: &CancellationToken,
    ) -> Result<Vec<(u64, Precedence)>, IndexError> {
        let members = self.members_of(plan, groups, without, stop);
        members.map_err(|e| self.ended(stop, &e))
    }

    fn groups(
        &self,
        plan: &Plan,
        limit: usize,
        stop: &CancellationToken,
    ) -> Result<Vec<(u64, u64)>, IndexError> {
        let built = self.compiled(plan, stop);
        let counted = self.search(&built, stop, GroupCounts);
        let counted = counted.map_err(|e| self.ended(stop, &e))?.into_iter();
        let mut groups: Vec<(u64, u64)> = counted.filter(|(_, documents)| *documents > 1).collect();
        groups.sort_unstable_by_key(|(group, documents)| (Reverse(*documents), *group));
        groups.truncate(limit);
        Ok(groups)
    }

    fn sample(
        &self,
        plan: &Plan,
        count: usize,
        stop: &CancellationToken,
    ) -> Result<Vec<DocAddress>, IndexError> {
        let built = self.compiled(plan, stop);
        let found = self.search(&built, stop, DocSetCollector);
        let found = found.map_err(|e| self.ended(stop, &e))?;
        let mut found: Vec<DocAddress> = found.into_iter().collect();
        found.sort_unstable();
        let step = found.len().div_ceil(count.max(1)).max(1);
        Ok(found.into_iter().step_by(step).collect())
    }

    fn each(
        &self,
        plan: &Plan,
        after: Option<Watermark>,
        each: &mut dyn FnMut(DocAddress) -> Result<bool, IndexError>,
    ) -> Result<bool, IndexError> {
        let built = self.compiled(plan, &CancellationToken::default());
        let weight = built
            .weight(EnableScoring::disabled_from_searcher(&self.searcher))
            .map_err(|e| self.failed(e))?;
        for (ordinal, segment) in (0..).zip(self.searcher.segment_readers()) {
            let mut fitting = weight.scorer(segment, 1.0).map_err(|e| self.failed(e))?;
            let fresh = Self::fresh(segment, after).map_err(|e| self.failed(e))?;
            let mut id = fitting.doc();
            while id != TERMINATED {
                let is_wanted = !segment.is_deleted(id) && fresh(id);
                if is_wanted && !each(DocAddress::new(ordinal, id))? {
                    return Ok(false);
                }
                id = fitting.advance();
            }
        }
        Ok(true)
    }

    fn watermark(&self) -> Result<Watermark, IndexError> {
        self.newest().map_err(|e| self.failed(e))
    }

    fn find(&self, fingerprint: u64) -> Result<Option<DocAddress>, IndexError> {
        let term = Column::Fingerprint.number(fingerprint);
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        let found = self.searcher.search(&query, &DocSetCollector);
        Ok(found.map_err(|e| self.failed(e))?.into_iter().next())
    }

    fn identity(&self, at: DocAddress) -> Result<(u64, u64), IndexError> {
        identity(&self.searcher, at).map_err(|e| self.failed(e))
    }

    /// Opens the columns of a segment once: for a single document that costs a hundred times as much as reading them.
    fn identities(&self, after: Option<Watermark>) -> Result<Vec<(u64, u64)>, IndexError> {
        let mut identities = Vec::new();
        for segment in self.searcher.segment_readers() {
            let columns = segment.fast_fields();
            let column = |column: Column| columns.u64(column.name()).map_err(|e| self.failed(e));
            let (fingerprints, seqs) = (column(Column::Fingerprint)?, column(Column::Seq)?);
            let fresh = Self::fresh(segment, after).map_err(|e| self.failed(e))?;
            let ids = segment.doc_ids_alive().filter(|id| fresh(*id));
            identities.extend(ids.filter_map(|id| fingerprints.first(id).zip(seqs.first(id))));
        }
        Ok(identities)
    }

    fn group(&self, at: DocAddress) -> Result<Option<u64>, IndexError> {
        self.group_at(at).map_err(|e| self.failed(e))
    }

    fn placed(&self, at: DocAddress) -> Result<Option<Placed>, IndexError> {
        self.placed_at(at).map_err(|e| self.failed(e))
    }

    fn site(&self, at: DocAddress) -> Result<String, IndexError> {
        self.site_at(at).map_err(|e| self.failed(e))
    }

    fn size_bytes(&self) -> Result<u64, IndexError> {
        let usage = self.searcher.space_usage().map_err(|e| self.failed(e))?;
        Ok(usage.total().get_bytes())
    }

    fn last_seq(&self) -> Result<u64, IndexError> {
        Ok(check_searched(self.dir, self.searcher.index())?.seq)
    }
}

/// The first letter of Latin words, and what comes behind the last one.
const LATIN: (&str, &str) = ("a", "\u{250}");
/// Terms that one word is compared with at most, a tenth of a second.
const MAX_COMPARED_TERMS: usize = 500_000;

/// Which document stands at a place, and the number of the change that made it what it is.
pub(crate) fn identity(searcher: &Searcher, at: DocAddress) -> tantivy::Result<(u64, u64)> {
    let columns = searcher.segment_reader(at.segment_ord).fast_fields();
    let first = |column: tantivy::columnar::Column<u64>| column.first(at.doc_id);
    let fingerprint = first(columns.u64(Column::Fingerprint.name())?);
    let seq = first(columns.u64(Column::Seq.name())?);
    Ok((fingerprint.unwrap_or_default(), seq.unwrap_or_default()))
}

/// Breaks ties: the same in all indexes of a store, whose segments differ. What has not changed for longest comes first.
fn by_number() -> (SortByStaticFastValue<u64>, By) {
    (
        SortByStaticFastValue::for_field(Column::Seq.name()),
        By::Asc,
    )
}

fn places<K>(ranked: Vec<(K, DocAddress)>, score: impl Fn(K) -> f32) -> Vec<Ranked> {
    let place = |(key, at)| Ranked {
        score: score(key),
        at,
        group: None,
    };
    ranked.into_iter().map(place).collect()
}

/// 2^(-age / half-life), 1 for what is dated in the future.
fn freshness(published_ms: Option<i64>, now_ms: i64, half_life_ms: i64) -> f32 {
    let half_lives = published_ms.map_or(UNDATED_HALF_LIVES, |published_ms| {
        now_ms.saturating_sub(published_ms).max(0) as f32 / half_life_ms as f32
    });
    (-half_lives).exp2()
}

/// What tells one commit from the next: inode, seconds and nanoseconds of the last change, and size of the list of segments.
type Stamp = (u64, i64, i64, u64);

/// An index in a directory.
pub(crate) struct Opened {
    dir: PathBuf,
    inner: IndexReader,
    seen: Mutex<Stamp>,
    threads: SearchThreads,
}

impl Opened {
    pub(crate) fn open(dir: &Path, parallelism: Parallelism) -> Result<Self, IndexError> {
        let seen = stamp(dir)?;
        refuse_newer(dir)?;
        let directory = Folder::open(dir).map_err(|e| unreadable(dir, e))?;
        let mut index = Index::open(directory).map_err(|e| unreadable(dir, e))?;
        index.set_tokenizers(tokenizers());
        check_searched(dir, &index)?;
        let inner = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(|e| unreadable(dir, e))?;
        Ok(Self {
            dir: dir.to_owned(),
            inner,
            seen: Mutex::new(seen),
            threads: SearchThreads::new(parallelism),
        })
    }

    /// The newest state: reloads when the index was committed since the last look.
    pub(crate) fn newest(&self) -> Result<Embedded<'_>, IndexError> {
        let now = stamp(&self.dir)?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen != now {
            self.inner.reload().map_err(|e| unreadable(&self.dir, e))?;
            *seen = now;
        }
        Ok(Embedded {
            dir: &self.dir,
            searcher: self.inner.searcher(),
            threads: Some(self.threads.share()),
        })
    }

    /// The format that the last commit names.
    pub(crate) fn format(&self) -> Option<u32> {
        noted(&self.dir).map(|noted| noted.format)
    }

    /// What an index failed with.
    pub(crate) fn failed(&self, error: impl std::fmt::Display) -> IndexError {
        IndexError::Failed {
            dir: self.dir.clone(),
            cause: error.to_string(),
        }
    }
}

fn stamp(dir: &Path) -> Result<Stamp, IndexError> {
    let meta = std::fs::metadata(dir.join(META)).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => IndexError::Missing(dir.to_owned()),
        _ => unreadable(dir, e),
    })?;
    Ok((meta.ino(), meta.mtime(), meta.mtime_nsec(), meta.size()))
}
