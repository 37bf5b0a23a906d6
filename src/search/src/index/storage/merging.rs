//! Which segments are merged, and when. [`Merging`] is the policy while documents come in, and plans what is merged when none
//! come. Its aim is one segment for each thread of a search, all of about the same size ([`Parallelism::parts`]).
//!
//! A limit relative to the index, as Lucene's `TieredMergePolicy` has with `setTargetSearchConcurrency`, keeps the number of
//! segments as the index grows, where a fixed largest size would not. In the simulation below, which grows to two million
//! documents, each is written again 12 times at most with one thread and 7 to 10 times with 2 to 15.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::SegmentMeta;
use tantivy::index::SegmentId;
use tantivy::indexer::LogMergePolicy;
use tantivy::merge_policy::{MergeCandidate, MergePolicy};

use super::threads::Parallelism;

/// A segment with this share of replaced documents is merged again.
const REPLACED_SHARE: f32 = 0.25;
/// Segments below this size count as equal. Commits come every second: with the library's 10,000 each eighth of
/// them would write up to 10,000 documents again.
const SMALL_SEGMENT_DOCS: u32 = 1_000;
/// So many segments of a size become one: fewer make more merges, more make slower searches.
const MERGED_SEGMENTS: usize = 6;

/// What was merged before is merged again when at least one part in so many of it is added: each document is then written
/// again a bounded number of times while an index grows.
const WORTH_OF_REST: u64 = 8;

/// Segments that are known to be merged; beyond them all are forgotten.
const MAX_BEGUN: usize = 1_000;

/// The merges of an index. A clone knows what the other has begun.
#[derive(Debug, Clone)]
pub(super) struct Merging {
    /// How its searches are divided.
    parallelism: Parallelism,
    /// Segments that were merged with others while documents came in, or are being merged: tantivy would begin a second merge of them.
    begun: Arc<Mutex<HashSet<SegmentId>>>,
}

impl MergePolicy for Merging {
    /// Those of [`LogMergePolicy`], cut so that none makes a segment of more than one thread's share of the documents.
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let mut by_level = LogMergePolicy::default();
        by_level.set_del_docs_ratio_before_merge(REPLACED_SHARE);
        by_level.set_min_layer_size(SMALL_SEGMENT_DOCS);
        by_level.set_min_num_segments(MERGED_SEGMENTS);
        let share = self.share(segments);
        let mut merges = Vec::new();
        for MergeCandidate(level) in by_level.compute_merge_candidates(segments) {
            let level = segments.iter().filter(|s| level.contains(&s.id()));
            let parts = cut(&largest_first(level), share).into_iter();
            let merged = parts.filter(|part| part.segments.len() > 1 || part.has_many_replaced());
            merges.extend(merged.map(|part| MergeCandidate(part.ids())));
        }
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if begun.len() > MAX_BEGUN {
            begun.clear();
        }
        let several = merges.iter().filter(|merge| merge.0.len() > 1);
        begun.extend(several.flat_map(|merge| &merge.0));
        merges
    }
}

impl Merging {
    /// The merges of an index whose searches are divided so.
    pub(super) fn new(parallelism: Parallelism) -> Self {
        Self {
            parallelism,
            begun: Arc::default(),
        }
    }

    /// How many documents each segment has where all threads have the same number.
    fn share<'a>(&self, segments: impl IntoIterator<Item = &'a SegmentMeta>) -> u64 {
        let all = sum(segments);
        all.div_ceil(self.parallelism.parts(all) as u64)
    }

    /// What to merge when nothing comes in. The largest segments, one for each thread, are the parts of the index. The rest goes
    /// into the smallest parts, or becomes one more where one is missing, if that is worth it ([`WORTH_OF_REST`]); until then
    /// it is kept in one segment beside them.
    ///
    /// A part that is too large, such as the one segment of an index that was made for one thread, cannot be divided: the others
    /// catch up as the index grows, or at once when it is made anew. What is being merged is left to that.
    pub(super) fn plan(&self, segments: &[SegmentMeta]) -> Vec<Vec<SegmentId>> {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rest = largest_first(segments.iter().filter(|s| !begun.contains(&s.id())));
        drop(begun);
        let share = self.share(rest.iter().copied());
        let wanted = self.parallelism.parts(sum(rest.iter().copied()));
        let is_part = |segment: &&&SegmentMeta| docs(segment) * 2 >= share;
        let mut found = rest.iter().take(wanted).take_while(is_part).count();
        // One that has begun to grow is not written again for next to nothing.
        if let Some(begun) = rest.get(found)
            && found < wanted
            && docs(begun) * WORTH_OF_REST > share
        {
            let others = sum(rest.iter().copied().skip(found + 1));
            found += usize::from(others * WORTH_OF_REST < docs(begun));
        }
        let mut parts: Vec<Part<'_>> = rest.drain(..found).map(Part::from).collect();
        parts.resize_with(wanted, Part::default);
        // A missing one stands between those that lack documents and those that have their share.
        parts.sort_by_key(|part| if part.docs == 0 { share } else { part.docs });
        let added = sum(rest.iter().copied());
        let before = |parts: &[Part<'_>], taking| {
            parts.iter().take(taking).map(|part| part.docs).sum::<u64>()
        };
        // As few as can take the rest without becoming too large.
        let most = share + share / WORTH_OF_REST;
        let fits = |taking: &usize| added + before(&parts, *taking) <= most * *taking as u64;
        let mut taking = (1..wanted).find(fits).unwrap_or(wanted);
        while taking > 0 && added * WORTH_OF_REST < before(&parts, taking) {
            taking -= 1;
        }
        parts.truncate(taking);
        if parts.is_empty() {
            parts.push(Part::default());
        }
        for segment in rest {
            if let Some(part) = parts.iter_mut().min_by_key(|part| part.docs) {
                part.add(segment);
            }
        }
        parts.retain(|part| part.segments.len() > 1);
        parts.iter().map(Part::ids).collect()
    }
}

/// Segments that become one.
#[derive(Default)]
struct Part<'a> {
    docs: u64,
    segments: Vec<&'a SegmentMeta>,
}

impl<'a> From<&'a SegmentMeta> for Part<'a> {
    fn from(segment: &'a SegmentMeta) -> Self {
        Self {
            docs: docs(segment),
            segments: vec![segment],
        }
    }
}

impl<'a> Part<'a> {
    fn add(&mut self, segment: &'a SegmentMeta) {
        self.docs += docs(segment);
        self.segments.push(segment);
    }

    fn has_many_replaced(&self) -> bool {
        let replaced =
            |s: &&SegmentMeta| s.num_deleted_docs() as f32 > REPLACED_SHARE * s.max_doc() as f32;
        self.segments.iter().any(replaced)
    }

    fn ids(&self) -> Vec<SegmentId> {
        self.segments.iter().map(|segment| segment.id()).collect()
    }
}

/// Divides segments into parts of at most so many documents; a segment that is larger is a part by itself.
fn cut<'a>(segments: &[&'a SegmentMeta], most_docs: u64) -> Vec<Part<'a>> {
    let mut parts: Vec<Part<'a>> = Vec::new();
    for segment in segments {
        match parts.last_mut() {
            Some(part) if part.docs + docs(segment) <= most_docs => part.add(segment),
            _ => parts.push(Part::from(*segment)),
        }
    }
    parts
}

fn docs(segment: &SegmentMeta) -> u64 {
    u64::from(segment.num_docs())
}

fn sum<'a>(segments: impl IntoIterator<Item = &'a SegmentMeta>) -> u64 {
    segments.into_iter().map(docs).sum()
}

fn largest_first<'a>(segments: impl IntoIterator<Item = &'a SegmentMeta>) -> Vec<&'a SegmentMeta> {
    let mut sorted: Vec<&SegmentMeta> = segments.into_iter().collect();
    sorted.sort_by_key(|segment| Reverse(docs(segment)));
    sorted
}

#[cfg(test)]
mod tests {
    use tantivy::Index;
    use tantivy::schema::Schema;

    use super::*;

    fn merging(threads: usize) -> Merging {
        Merging::new(Parallelism {
            threads,
            docs_per_thread: 20_000,
        })
    }

    /// Segments of an index that is not there.
    struct Simulated {
        index: Index,
        segments: Vec<SegmentMeta>,
        written: u64,
    }

    impl Simulated {
        fn new(sizes: &[u32]) -> Self {
            let mut simulated = Self {
                index: Index::create_in_ram(Schema::builder().build()),
                segments: Vec::new(),
                written: 0,
            };
            for size in sizes {
                simulated.add(*size);
            }
            simulated
        }

        fn add(&mut self, docs: u32) {
            let added = self
                .index
                .new_segment_meta(SegmentId::generate_random(), docs);
            self.segments.push(added);
        }

        fn merge(&mut self, ids: &[SegmentId]) {
            let (gone, left) = self.segments.drain(..).partition(|s| ids.contains(&s.id()));
            self.segments = left;
            let gone: Vec<SegmentMeta> = gone;
            assert_eq!(gone.len(), ids.len(), "each segment is merged once");
            let docs: u32 = gone.iter().map(SegmentMeta::num_docs).sum();
            self.written += u64::from(docs);
            self.add(docs);
        }

        /// Does what comes of a commit.
        fn commit(&mut self, merging: &Merging, docs: u32) {
            self.add(docs);
            loop {
                let merges = merging.compute_merge_candidates(&self.segments);
                if merges.is_empty() {
                    return;
                }
                for MergeCandidate(ids) in merges {
                    self.merge(&ids);
                }
            }
        }

        fn tidy(&mut self, merging: &Merging) {
            for ids in merging.plan(&self.segments) {
                self.merge(&ids);
            }
        }

        /// In thousands, the largest first.
        fn sizes(&self) -> Vec<u32> {
            largest_first(&self.segments)
                .iter()
                .map(|s| s.num_docs() / 1_000)
                .collect()
        }
    }

    #[test]
    fn tidy_makes_a_segment_for_each_thread() {
        let k = |sizes: &[u32]| sizes.iter().map(|size| size * 1_000).collect::<Vec<_>>();
        for (threads, before, after, case) in [
            (1, vec![20, 20, 20, 20, 20], vec![100], "one thread"),
            (2, vec![20, 20, 20, 20, 20], vec![60, 40], "two threads"),
            (8, vec![9, 9, 9, 9], vec![36], "too small to be divided"),
            (8, vec![20, 20, 3], vec![23, 20], "as many as are worth it"),
            (
                2,
                vec![120, 120, 20, 20, 20],
                vec![160, 140],
                "after an import",
            ),
            (
                2,
                vec![300, 7, 2, 1],
                vec![300, 10],
                "made for one thread, the other part begins",
            ),
            (
                2,
                vec![300, 100, 20, 1],
                vec![300, 121],
                "made for one thread, the other part grows",
            ),
            (
                15,
                vec![300, 1, 1, 1, 1, 1],
                vec![300, 5],
                "small ones are no parts",
            ),
            (
                1,
                vec![300, 20, 10],
                vec![300, 30],
                "not worth a merge of all",
            ),
            (1, vec![300, 20, 20], vec![340], "worth a merge of all"),
            (
                2,
                vec![150, 150, 9, 5],
                vec![150, 150, 14],
                "not worth a merge of a part",
            ),
            (
                2,
                vec![150, 150, 19, 5],
                vec![174, 150],
                "worth a merge of a part",
            ),
            (
                4,
                vec![100, 100, 100, 100, 30, 30],
                vec![130, 130, 100, 100],
                "worth a merge of some",
            ),
        ] {
            let mut index = Simulated::new(&k(&before));
            index.tidy(&merging(threads));
            assert_eq!(index.sizes(), after, "{threads}, {case}");
            let written = index.written;
            index.tidy(&merging(threads));
            assert_eq!(index.written, written, "{threads}, {case}: at rest");
        }
    }

    #[test]
    fn tidy_begins_no_second_merge() {
        let index = Simulated::new(&[10_000; MERGED_SEGMENTS]);
        let merging = merging(1);
        assert_eq!(merging.plan(&index.segments).len(), 1);
        assert_eq!(merging.compute_merge_candidates(&index.segments).len(), 1);
        assert!(merging.plan(&index.segments).is_empty(), "it runs");
    }

    #[test]
    fn merges_are_balanced_and_bounded() {
        for threads in [1, 2, 3, 8, 15] {
            for (commit, tidy_every, case) in [
                (20_000, u32::MAX, "an import"),
                (500, 40, "a crawl with pauses"),
                (3_000, 7, "a crawl with pauses and large commits"),
                (700, u32::MAX, "a crawl without pauses"),
            ] {
                let merging = merging(threads);
                let mut index = Simulated::new(&[]);
                let (mut all, mut most) = (0_u32, 0);
                let mut at = 0;
                while all < 2_000_000 {
                    at += 1;
                    let docs = commit - at * 7_919 % (commit / 4);
                    index.commit(&merging, docs);
                    all += docs;
                    if at % tidy_every == 0 {
                        index.tidy(&merging);
                        let share = all as usize / merging.parallelism.parts(u64::from(all));
                        let largest = index
                            .sizes()
                            .first()
                            .map_or(0, |size| *size as usize * 1_000);
                        assert!(
                            all < 500_000 || largest * 2 <= share * 3,
                            "{threads}, {case}: {:?}",
                            index.sizes()
                        );
                    }
                    most = most.max(index.segments.len());
                }
                index.tidy(&merging);
                let (sizes, parts) = (index.sizes(), merging.parallelism.parts(u64::from(all)));
                let share = all / 1_000 / parts as u32;
                assert_eq!(parts, threads);
                assert!(sizes[0] * 10 <= share * 14, "{threads}, {case}: {sizes:?}");
                assert!(sizes.len() <= parts + 1, "{threads}, {case}: {sizes:?}");
                let most_allowed = 22 + 2 * threads;
                assert!(most <= most_allowed, "{threads}, {case}: {most} segments");
                let rewritten = index.written as f64 / f64::from(all);
                assert!(rewritten < 13.0, "{threads}, {case}: {rewritten:.1} times");
            }
        }
    }
}
