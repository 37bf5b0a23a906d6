//! Counts what a crawl does while it runs.
//!
//! The crawl loop has one [`CrawlTally`] for itself, and one for each command that waits for the cycles of some sites. At the
//! end, [`CrawlTally::finish`] and its like complete the [`Summary`] that is returned.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::summary::{Freshness, RestingHost, SiteSummary, Summary, share, totals};
use crate::daemon::crawl::crawl_log::LogLine;
use crate::daemon::crawl::sites::CycleResult;
use crate::serve::Words;
use taojin_crawl::frontier::{CommitReport, Resting};
use taojin_crawl::store::Counts;
use taojin_crawl::{DocumentChange, VisitOutcome};

/// A [`Summary`] that grows, and what only its making needs.
#[derive(Debug, Default)]
pub(crate) struct CrawlTally {
    summary: Summary,
    started_ms: i64,
    by_site: BTreeMap<String, SiteTally>,
}

#[derive(Debug, Default, Clone, Copy)]
struct SiteTally {
    visits: u64,
    new_documents: u64,
}

impl CrawlTally {
    /// Begins at `now_ms`, Unix milliseconds.
    pub(crate) fn new(now_ms: i64) -> Self {
        Self {
            started_ms: now_ms,
            ..Self::default()
        }
    }

    /// Returns when the crawl began, Unix milliseconds.
    pub(crate) fn started_ms(&self) -> i64 {
        self.started_ms
    }

    pub(crate) fn has_visits(&self) -> bool {
        self.summary.visits > 0
    }

    /// Counts a visit; `wasted` if it brought a whole page that said nothing new.
    pub(crate) fn add(&mut self, line: &LogLine, wasted: bool) {
        let is_new = line.document == Some(DocumentChange::New);
        let site = self.by_site.entry(line.site.clone()).or_default();
        site.visits += 1;
        site.new_documents += u64::from(is_new);
        let summary = &mut self.summary;
        summary.wasted += u64::from(wasted);
        summary.not_modified += u64::from(line.outcome == VisitOutcome::NotModified);
        summary.visits += 1;
        summary.bytes += line.bytes;
        *summary
            .outcomes
            .entry(line.outcome.as_str().to_owned())
            .or_default() += 1;
        if let Some(reason) = &line.reason {
            *summary.reasons.entry(reason.clone()).or_default() += 1;
        }
        match line.document {
            Some(DocumentChange::New) => summary.documents_new += 1,
            Some(DocumentChange::Changed) => summary.documents_changed += 1,
            Some(DocumentChange::Unchanged) => summary.documents_unchanged += 1,
            Some(DocumentChange::Unconfirmed) => summary.documents_unconfirmed += 1,
            Some(DocumentChange::Deleted) => summary.documents_deleted += 1,
            Some(DocumentChange::Duplicate | DocumentChange::Moved) => {
                summary.documents_duplicate += 1;
            }
            None => {}
        }
    }

    /// Counts what a transaction stored.
    pub(crate) fn committed(&mut self, report: &CommitReport) {
        self.add_new_urls(report.new_urls);
        self.summary.seen_links += report.seen as u64;
        for (refusal, count) in &report.refused {
            *self
                .summary
                .refused_links
                .entry(refusal.describe())
                .or_default() += *count as u64;
        }
    }

    pub(crate) fn add_new_urls(&mut self, count: usize) {
        self.summary.new_urls += count as u64;
    }

    /// Counts an archived answer that is older than what is known of its page.
    pub(crate) fn add_archived_older(&mut self) {
        self.summary.archived_older += 1;
    }

    /// Adds what was wrong beside the pages.
    pub(crate) fn add_problems(&mut self, problems: Vec<String>) {
        self.summary.problems.extend(problems);
    }

    /// Notes why the crawl ends before everything was fetched; `None` if nothing is in its way.
    pub(crate) fn set_paused(&mut self, why: Option<&Words>) {
        let unfinished = &mut self.summary.unfinished;
        (unfinished.paused, unfinished.paused_zh) =
            why.map(|why| (why.en.clone(), why.zh.clone())).unzip();
    }

    /// Completes the figures at the end, by the counts of the sites that were crawled.
    pub(crate) fn finish(&mut self, counts: &Counts, now_ms: i64) {
        let summary = &mut self.summary;
        summary.elapsed_ms = now_ms - self.started_ms;
        summary.wasted_share = share(summary.wasted, summary.visits);
        let sum = Freshness::from_counts(&totals(counts));
        summary.waiting = sum.waiting;
        summary.recall_estimate = sum.recall();
        summary.mean_age_ms = sum.mean_age_ms(now_ms);
    }

    /// Names the hosts that were not waited for.
    pub(crate) fn take_resting(&mut self, resting: &[Resting]) {
        let host = |rest: &Resting| RestingHost {
            host: rest.host.to_string(),
            until_ms: rest.until_ms,
            cause: rest.cause.as_str().to_owned(),
        };
        self.summary.resting = resting.iter().map(host).collect();
    }

    /// Says how each site fared.
    pub(crate) fn take_results(&mut self, results: BTreeMap<Arc<str>, CycleResult>) {
        for (name, result) in results {
            let verdict = result.verdict;
            let site = self.by_site.get(&*name).copied().unwrap_or_default();
            self.summary.sites.push(SiteSummary {
                name: name.to_string(),
                verdict: verdict.level,
                text: verdict.text,
                text_zh: verdict.text_zh,
                visits: site.visits,
                new: site.new_documents,
                left: verdict.left,
                setting: verdict.setting,
                queue_visits: result.queue_visits,
            });
        }
    }

    pub(crate) fn into_summary(self) -> Summary {
        self.summary
    }
}
