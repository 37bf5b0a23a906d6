//! Several threads for one search. [`Parallelism`] says how many, and how many segments an index needs for them: a search is
//! divided by segments. [`SearchThreads`] are the threads of an opened index.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::{self, available_parallelism};

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::query::{EnableScoring, Query, Weight};
use tantivy::{Executor, Searcher};

/// Fewer documents are not worth a thread. Each segment has a dictionary of its own: over 100,000 news articles two segments take
/// 7 % more room than one, over 300,000 5 %. What two threads gain grows with the index: of a request's 95th percentile a tenth
/// at 100,000 (2.4 and 2.2 ms) and a quarter at 300,000 (3.9 and 3.0 ms). One thread
/// is as fast over two segments as over one.
const DOCS_PER_THREAD: u64 = 100_000;

/// How one search of the embedded index is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parallelism {
    /// Threads of one search; 0: all processors but one.
    pub threads: usize,
    /// Each thread gets this many documents at least, so that a small index stays one segment.
    pub docs_per_thread: u64,
}

impl Default for Parallelism {
    fn default() -> Self {
        Self {
            threads: 0,
            docs_per_thread: DOCS_PER_THREAD,
        }
    }
}

impl Parallelism {
    /// The number of threads of one search.
    fn threads(self) -> usize {
        if self.threads > 0 {
            return self.threads;
        }
        let processors = available_parallelism().map_or(1, NonZero::get);
        processors.saturating_sub(1).max(1)
    }

    /// How many threads, and segments, are worth it for an index of so many documents.
    pub(super) fn parts(self, docs: u64) -> usize {
        let most = docs / self.docs_per_thread.max(1);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        self.threads().min(most).max(1)
    }
}

/// The threads that help the searches of an opened index.
///
/// The thread that asks searches one segment after the other; helpers take those that it has not come to. So a search does not
/// wait for helpers that are late because the processors are busy. All who ask take no more than the configured threads
/// together: where as many ask at once, each is alone, and nothing is spent on handing work over.
pub(crate) struct SearchThreads {
    parallelism: Parallelism,
    /// How many [`ThreadShare`]s there are.
    asking: AtomicUsize,
    /// Started by the first search that is worth it.
    helpers: OnceLock<Executor>,
}

impl SearchThreads {
    pub(crate) fn new(parallelism: Parallelism) -> Self {
        // Asking the system takes longer than a search.
        let threads = parallelism.threads();
        Self {
            parallelism: Parallelism {
                threads,
                ..parallelism
            },
            asking: AtomicUsize::new(0),
            helpers: OnceLock::new(),
        }
    }

    /// For one who asks, for as long as that needs a processor.
    pub(crate) fn share(&self) -> ThreadShare<'_> {
        self.asking.fetch_add(1, Ordering::Relaxed);
        ThreadShare(self)
    }

    /// The helpers; a system that gives no threads still gets its answers.
    fn helpers(&self) -> &Executor {
        self.helpers.get_or_init(|| {
            let started = Executor::multi_thread(self.parallelism.threads - 1, "search");
            started.unwrap_or_else(|_| Executor::single_thread())
        })
    }
}

/// What one who asks has of the threads.
pub(crate) struct ThreadShare<'a>(&'a SearchThreads);

impl Drop for ThreadShare<'_> {
    fn drop(&mut self) {
        self.0.asking.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ThreadShare<'_> {
    /// Searches all segments. A panic in one of the threads is one of the caller's.
    pub(crate) fn search<C: Collector + 'static>(
        &self,
        searcher: &Searcher,
        query: &dyn Query,
        collector: C,
    ) -> tantivy::Result<C::Fruit> {
        let parts = self.0.parallelism.parts(searcher.num_docs());
        let threads = parts.min(searcher.segment_readers().len());
        let helpers = threads.saturating_sub(self.0.asking.load(Ordering::Relaxed));
        if helpers == 0 {
            return searcher.search(query, &collector);
        }
        let Executor::ThreadPool(pool) = self.0.helpers() else {
            return searcher.search(query, &collector);
        };
        let scoring = if collector.requires_scoring() {
            EnableScoring::enabled_from_searcher(searcher)
        } else {
            EnableScoring::disabled_from_searcher(searcher)
        };
        let search = Arc::new(DividedSearch {
            weight: query.weight(scoring)?,
            searcher: searcher.clone(),
            collector,
            next: AtomicUsize::new(0),
            fruits: Mutex::default(),
            is_complete: Condvar::new(),
        });
        for _ in 0..helpers {
            let search = Arc::clone(&search);
            pool.spawn(move || search.work());
        }
        search.work();
        search.collector.merge_fruits(search.wait()?)
    }
}

/// What a segment gave, or the panic that it ended with.
type SegmentFruit<C> =
    thread::Result<tantivy::Result<<<C as Collector>::Child as SegmentCollector>::Fruit>>;

/// A search that several threads work at.
struct DividedSearch<C: Collector> {
    weight: Box<dyn Weight>,
    searcher: Searcher,
    collector: C,
    /// The first segment that nobody has taken.
    next: AtomicUsize,
    /// By segment, in any order.
    fruits: Mutex<Vec<(usize, SegmentFruit<C>)>>,
    is_complete: Condvar,
}

impl<C: Collector> DividedSearch<C> {
    /// Takes segments until none is left.
    fn work(&self) {
        let segments = self.searcher.segment_readers();
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(segment) = segments.get(at) else {
                return;
            };
            let fruit = catch_unwind(AssertUnwindSafe(|| {
                let weight = self.weight.as_ref();
                self.collector.collect_segment(weight, at as u32, segment)
            }));
            let mut fruits = self.fruits.lock().unwrap_or_else(PoisonError::into_inner);
            fruits.push((at, fruit));
            if fruits.len() == segments.len() {
                self.is_complete.notify_one();
            }
        }
    }

    /// Waits for the segments that others have taken. Gives what all gave, in their order.
    fn wait(&self) -> tantivy::Result<Vec<<C::Child as SegmentCollector>::Fruit>> {
        let segments = self.searcher.segment_readers().len();
        let fruits = self.fruits.lock().unwrap_or_else(PoisonError::into_inner);
        let fruits = self
            .is_complete
            .wait_while(fruits, |fruits| fruits.len() < segments);
        let mut fruits = std::mem::take(&mut *fruits.unwrap_or_else(PoisonError::into_inner));
        fruits.sort_unstable_by_key(|(at, _)| *at);
        let all = fruits.into_iter();
        all.map(|(_, fruit)| fruit.unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::atomic::AtomicBool;
    use std::sync::{Barrier, LazyLock};
    use std::thread::ThreadId;

    use tantivy::merge_policy::NoMergePolicy;
    use tantivy::query::AllQuery;
    use tantivy::schema::Schema;
    use tantivy::{DocId, Index, Score, SegmentReader, TantivyDocument};

    use super::*;
    use crate::index::CancellationToken;
    use crate::index::storage::left_out::caught;

    const SEGMENTS: usize = 3;
    const SEGMENT_DOCS: usize = 200;

    fn searcher() -> Searcher {
        let index = Index::create_in_ram(Schema::builder().build());
        let mut writer = index.writer_with_num_threads(1, 15 << 20).unwrap();
        writer.set_merge_policy(Box::new(NoMergePolicy));
        for _ in 0..SEGMENTS {
            for _ in 0..SEGMENT_DOCS {
                writer.add_document(TantivyDocument::default()).unwrap();
            }
            writer.commit().unwrap();
        }
        index.reader().unwrap().searcher()
    }

    fn search_threads(threads: usize, docs_per_thread: u64) -> SearchThreads {
        SearchThreads::new(Parallelism {
            threads,
            docs_per_thread,
        })
    }

    /// Calls a function with each document.
    struct Each<F>(F);

    impl<F: Fn() + Clone + Send + Sync + 'static> Collector for Each<F> {
        type Fruit = ();
        type Child = Self;

        fn for_segment(&self, _: u32, _: &SegmentReader) -> tantivy::Result<Self> {
            Ok(Self(self.0.clone()))
        }

        fn requires_scoring(&self) -> bool {
            false
        }

        fn merge_fruits(&self, _: Vec<()>) -> tantivy::Result<()> {
            Ok(())
        }
    }

    impl<F: Fn() + 'static> SegmentCollector for Each<F> {
        type Fruit = ();

        fn collect(&mut self, _: DocId, _: Score) {
            (self.0)();
        }

        fn harvest(self) {}
    }

    /// Those that a search runs in.
    fn used(threads: &SearchThreads, searcher: &Searcher) -> HashSet<ThreadId> {
        static USED: Mutex<Vec<(ThreadId, ThreadId)>> = Mutex::new(Vec::new());
        let caller = thread::current().id();
        let note = move || USED.lock().unwrap().push((caller, thread::current().id()));
        let share = threads.share();
        share.search(searcher, &AllQuery, Each(note)).unwrap();
        let mut used = USED.lock().unwrap();
        let of_caller = used.extract_if(.., |(of, _)| *of == caller);
        of_caller.map(|(_, id)| id).collect()
    }

    #[test]
    fn only_large_indexes_start_helpers() {
        let searcher = searcher();
        for (threads, docs_per_thread, are_started, case) in [
            (3, 1, true, "three threads"),
            (1, 1, false, "one thread"),
            (3, 600, false, "a small index"),
            (3, 300, true, "an index for two threads"),
        ] {
            let threads = search_threads(threads, docs_per_thread);
            let used = used(&threads, &searcher);
            assert_eq!(threads.helpers.get().is_some(), are_started, "{case}");
            if !are_started {
                assert_eq!(used, HashSet::from([thread::current().id()]), "{case}");
            }
        }
    }

    #[test]
    fn stop_ends_all_threads() {
        static RUNNING: Barrier = Barrier::new(SEGMENTS);
        static COLLECTED: AtomicUsize = AtomicUsize::new(0);
        let (searcher, stop) = (searcher(), CancellationToken::default());
        let stopping = stop.clone();
        let collect = move || {
            if COLLECTED.fetch_add(1, Ordering::Relaxed) < SEGMENTS {
                // Each segment is being searched, by a thread of its own.
                RUNNING.wait();
                stopping.stop();
            }
        };
        let threads = search_threads(SEGMENTS, 1);
        let ended = threads
            .share()
            .search(&searcher, &AllQuery, stop.with(Each(collect)));
        assert!(ended.is_err());
        let collected = COLLECTED.load(Ordering::Relaxed);
        assert!(collected < SEGMENTS * SEGMENT_DOCS / 2, "{collected}");
    }

    #[test]
    fn panic_of_helper_reaches_caller() {
        let (searcher, threads) = (searcher(), search_threads(2, 1));
        for _ in 0..2 {
            let caller = thread::current().id();
            let met = Arc::new((
                Barrier::new(2),
                AtomicBool::new(false),
                AtomicBool::new(false),
            ));
            let collect = move || {
                let (both, caller_met, helper_met) = &*met;
                let is_caller = thread::current().id() == caller;
                let has_met = if is_caller { caller_met } else { helper_met };
                if !has_met.swap(true, Ordering::Relaxed) {
                    both.wait();
                }
                assert!(is_caller, "a damaged list");
            };
            let ended = caught(|| threads.share().search(&searcher, &AllQuery, Each(collect)));
            assert_eq!(ended.unwrap_err(), "panicked: a damaged list");
        }
    }

    #[test]
    fn searches_share_the_threads() {
        static INDEX: LazyLock<(SearchThreads, Searcher)> =
            LazyLock::new(|| (search_threads(2, 1), searcher()));
        static FOUND: Mutex<Vec<(ThreadId, HashSet<ThreadId>)>> = Mutex::new(Vec::new());
        let (threads, searcher) = &*INDEX;
        let search_beside = || {
            let mut found = FOUND.lock().unwrap();
            if found.is_empty() {
                found.push((thread::current().id(), used(&INDEX.0, &INDEX.1)));
            }
        };
        threads
            .share()
            .search(searcher, &AllQuery, Each(search_beside))
            .unwrap();
        let (asking, used) = FOUND.lock().unwrap().pop().unwrap();
        assert_eq!(used, HashSet::from([asking]));
        assert_eq!(threads.asking.load(Ordering::Relaxed), 0);
    }
}
