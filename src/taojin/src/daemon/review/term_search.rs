//! The look for domain terms. In: the index. Out: the review list. Beside a crawl it waits until no documents come in
//! any more and then works at most half of the time, so that neither crawl nor searches wait for it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::terms::{Kept, TermReviewer};
use crate::config::Loaded;
use crate::daemon::{Shared, now_ms, spawn_thread};
use crate::documents::open_index;
use taojin_crawl::store::TermMark;
use taojin_search::analyze::Analyzer;
use taojin_search::index::{IndexError, Reader};
use taojin_search::terms::{Text, discover};

/// How often is looked whether the crawl is over.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The crawl is over when the index took nothing for this long.
const QUIET: Duration = Duration::from_secs(30);
/// Also a crawl that never ends gets its terms found this often.
const LONGEST_WAIT: Duration = Duration::from_secs(6 * 3_600);
/// With fewer new documents the terms would be the same.
const NEW_DOCUMENTS: u64 = 20;
/// A look that takes longer than this is given up; 16 million characters take some three minutes.
const LONGEST_LOOK: Duration = Duration::from_secs(1_200);
/// Longest pause in one piece: so long a stop of the daemon may wait.
const PAUSE: Duration = Duration::from_millis(50);

/// The newest documents of an index, `max_chars` characters in all; none if `go_on` says no. The newest come first.
pub fn texts_of_index(
    reader: &Reader,
    max_chars: usize,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Vec<Text>>, IndexError> {
    let mut kept: VecDeque<(usize, Text)> = VecDeque::new();
    let (mut total, mut stopped) = (0, false);
    // Documents lie in the index in the order in which they came.
    reader.for_each(|stored| {
        let document = stored.document;
        let chars = document.text.chars().count();
        total += chars;
        kept.push_back((
            chars,
            Text {
                document: document.url,
                title: document.title.unwrap_or_default(),
                text: document.text,
            },
        ));
        while total > max_chars
            && let Some((chars, _)) = kept.pop_front()
        {
            total -= chars;
        }
        stopped = !go_on();
        !stopped
    })?;
    Ok((!stopped).then(|| kept.into_iter().rev().map(|(_, text)| text).collect()))
}

/// Looks through the index and puts what it finds on the review list; none if `go_on` said no.
pub fn find_terms(
    loaded: &Loaded,
    analyzer: &Analyzer,
    go_on: &mut dyn FnMut() -> bool,
) -> anyhow::Result<Option<Kept>> {
    let reader = open_index(loaded, analyzer)?;
    let mark = TermMark {
        seq: reader.last_seq()?,
        at_ms: now_ms(),
    };
    let Some(texts) = texts_of_index(&reader, loaded.config.terms.max_chars, go_on)? else {
        return Ok(None);
    };
    let dictionary = analyzer.dictionary();
    let Some(found) = discover(&texts, &dictionary, &loaded.config.terms, go_on) else {
        return Ok(None);
    };
    TermReviewer::of(loaded).keep(&found, mark).map(Some)
}

/// Looks for terms after a single pass over the sites, if the configuration asks for it.
pub(crate) async fn after_pass(loaded: &Loaded, analyzer: &Analyzer) {
    if !loaded.config.terms.after_crawl {
        return;
    }
    let (loaded, analyzer) = (loaded.clone(), analyzer.clone());
    let started = Instant::now();
    let look = move || find_terms(&loaded, &analyzer, &mut || true);
    match tokio::task::spawn_blocking(look).await {
        Ok(found) => log(found, started),
        Err(error) => tracing::error!(%error, "the look for terms panicked"),
    }
}

/// Says what a look for terms has brought.
fn log(found: anyhow::Result<Option<Kept>>, started: Instant) {
    let took_s = started.elapsed().as_secs();
    match found {
        Ok(Some(Kept { proposed, accepted })) => {
            tracing::info!(proposed, accepted, took_s, "looked for terms");
        }
        Ok(None) => tracing::info!(took_s, "the look for terms was given up"),
        Err(error) => {
            tracing::error!(error = %format!("{error:#}"), "terms cannot be looked for")
        }
    }
}

/// Looks for terms beside the crawl until the daemon stops, if the configuration asks for it.
pub(crate) fn start(
    loaded: &Loaded,
    analyzer: &Analyzer,
    shared: &Arc<Shared>,
) -> anyhow::Result<()> {
    if loaded.config.terms.after_crawl {
        let beside = Beside {
            loaded: loaded.clone(),
            analyzer: analyzer.clone(),
            shared: Arc::clone(shared),
        };
        spawn_thread("terms", move || beside.run())?;
    }
    Ok(())
}

struct Beside {
    loaded: Loaded,
    analyzer: Analyzer,
    shared: Arc<Shared>,
}

impl Beside {
    fn run(self) {
        let mark = TermReviewer::of(&self.loaded).mark().unwrap_or_default();
        let (mut done, mut looked) = (mark.seq, None);
        let (mut last, mut since) = (self.shared.indexed(), Instant::now());
        loop {
            thread::sleep(LOOK_EVERY);
            if self.shared.is_stopping() {
                return;
            }
            let indexed = self.shared.indexed();
            if indexed != last {
                (last, since) = (indexed, Instant::now());
            }
            let over = since.elapsed() >= QUIET && self.shared.index_lag() == 0;
            let late = looked.is_none_or(|at: Instant| at.elapsed() >= LONGEST_WAIT);
            if indexed < done.saturating_add(NEW_DOCUMENTS) || !(over || late) {
                continue;
            }
            (done, looked) = (indexed, Some(Instant::now()));
            self.look();
        }
    }

    fn look(&self) {
        let mut pace = Pace::new();
        let found = find_terms(&self.loaded, &self.analyzer, &mut || {
            pace.rest();
            !self.shared.is_stopping() && pace.started.elapsed() < LONGEST_LOOK
        });
        log(found, pace.started);
    }
}

/// Rests as long as was worked.
struct Pace {
    started: Instant,
    since: Instant,
}

impl Pace {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            started: now,
            since: now,
        }
    }

    fn rest(&mut self) {
        let worked = self.since.elapsed();
        // Shorter rests would cost more than they give.
        if worked >= Duration::from_millis(5) {
            thread::sleep(worked.min(PAUSE));
            self.since = Instant::now();
        }
    }
}
