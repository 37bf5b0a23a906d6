//! What a crawl did, for a person and for `--json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::daemon::crawl::sites;
use crate::serve::{Level, QueueVisits};
use taojin_crawl::VisitOutcome;
use taojin_crawl::store::{Counts, SiteCounts};

/// What `taojin crawl --json` prints of one crawl. The JSON form is stable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// URLs requested, or refused before asking.
    pub visits: u64,
    /// Visits by outcome, as in the crawl log.
    pub outcomes: BTreeMap<String, u64>,
    /// Why visits were refused or failed.
    pub reasons: BTreeMap<String, u64>,
    /// Documents new to the index.
    pub documents_new: u64,
    /// Documents whose text has changed.
    pub documents_changed: u64,
    /// Articles fetched whole whose text has not changed.
    pub documents_unchanged: u64,
    /// Documents that their pages did not show; they stay.
    pub documents_unconfirmed: u64,
    /// Pages that another address has the document of, or had until this one was found.
    pub documents_duplicate: u64,
    /// Visits that brought a whole page which said nothing new: what a perfect schedule would have saved.
    pub wasted: u64,
    /// `wasted` by `visits`.
    pub wasted_share: f64,
    /// Visits that were answered 304.
    pub not_modified: u64,
    /// Addresses that are known and were never visited.
    pub waiting: u64,
    /// Estimate of the new articles that were found: the share of all known addresses that a page came from; none while there
    /// is no document.
    pub recall_estimate: Option<f64>,
    /// How long ago the documents were last checked, on average, in milliseconds.
    pub mean_age_ms: Option<i64>,
    /// Documents taken out of the index.
    pub documents_deleted: u64,
    /// URLs found that were not known.
    pub new_urls: u64,
    /// Links that were known already.
    pub seen_links: u64,
    /// Links refused by the rules of their site, by rule in words.
    pub refused_links: BTreeMap<String, u64>,
    /// Archived answers that are older than what was known of their page, and were left out.
    pub archived_older: u64,
    /// What was wrong beside the pages: archives that broke off.
    pub problems: Vec<String>,
    /// The sites of the pass by name: how each fared and what it left.
    pub sites: Vec<SiteSummary>,
    /// Hosts with addresses that are due and that the pass did not wait for.
    pub resting: Vec<RestingHost>,
    /// What is left of the crawl.
    #[serde(flatten)]
    pub unfinished: Unfinished,
    /// Decoded bytes.
    pub bytes: u64,
    /// Length of the crawl in milliseconds.
    pub elapsed_ms: i64,
}

/// What a crawl could not finish. A key is there only where there is something to say.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Unfinished {
    /// Why it ended before everything was fetched, in a sentence, English.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<String>,
    /// The same in Chinese.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_zh: Option<String>,
    /// Changes of documents that are in the store and not in the search index.
    #[serde(skip_serializing_if = "is_zero")]
    pub index_waiting: u64,
    /// Why they wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_trouble: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How one site of a pass fared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SiteSummary {
    /// Its name.
    pub name: String,
    /// In one word: `ok`, `partial`, `failed`, `waiting`.
    pub verdict: Level,
    /// In a sentence, English.
    pub text: String,
    /// In a sentence, Chinese.
    pub text_zh: String,
    /// Visits in this pass.
    pub visits: u64,
    /// New documents in this pass.
    pub new: u64,
    /// Known addresses that were never fetched.
    pub left: u64,
    /// The setting that keeps what is left for later, or addresses out.
    pub setting: Option<String>,
    /// Visits of each queue of its hosts in the last cycle; absent if they have one queue each.
    #[serde(skip_serializing_if = "QueueVisits::is_empty")]
    pub queue_visits: QueueVisits,
}

/// A host that a pass did not wait for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RestingHost {
    /// `host` or `host:port`.
    pub host: String,
    /// It is not asked before this, Unix milliseconds.
    pub until_ms: i64,
    /// Why not.
    pub cause: String,
}

impl Summary {
    /// Visits with this outcome.
    pub fn outcome(&self, outcome: VisitOutcome) -> u64 {
        let count = self.outcomes.get(outcome.as_str());
        count.copied().unwrap_or_default()
    }
}

/// Sums over the addresses and documents of one or more sites.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Freshness {
    /// Known and never visited.
    pub(crate) waiting: u64,
    /// A page came.
    fetched: u64,
    /// No page came, and the address is not gone.
    failed: u64,
    documents: i64,
    checked_s: i64,
}

impl Freshness {
    pub(crate) fn from_counts(counts: &SiteCounts) -> Self {
        let signed = |name: &str| counts.get(name).copied().unwrap_or_default();
        Self {
            waiting: number(counts, "new"),
            fetched: number(counts, "fetched"),
            // What is no longer there fails once before it is gone.
            failed: number(counts, "failed").saturating_sub(number(counts, sites::MISSING)),
            documents: signed("documents"),
            checked_s: signed("checked_s"),
        }
    }

    /// Share of all known addresses that a page came from: as many of the new articles have been found, if those that wait or
    /// fail are articles as often as the others. Nothing is known of it while there is no document.
    pub(crate) fn recall(&self) -> Option<f64> {
        let known = self.fetched + self.failed + self.waiting;
        (self.documents > 0).then(|| share(self.fetched, known))
    }

    /// How long ago documents were last checked, on average.
    pub(crate) fn mean_age_ms(&self, now_ms: i64) -> Option<i64> {
        let mean_s = self.checked_s.checked_div(self.documents)?;
        Some((now_ms - mean_s * 1000).max(0))
    }
}

/// The counters of several sites together.
pub(crate) fn totals(counts: &Counts) -> SiteCounts {
    let mut sum = SiteCounts::new();
    for (name, value) in counts.sites.values().flatten() {
        *sum.entry(name.clone()).or_default() += value;
    }
    sum
}

/// A counter that is never below zero.
pub(crate) fn number(counts: &SiteCounts, name: &str) -> u64 {
    u64::try_from(counts.get(name).copied().unwrap_or_default()).unwrap_or_default()
}

/// `part` of `whole`, from 0 to 1, to four places; 0 of nothing.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        _ => (part as f64 / whole as f64 * 10_000.0).round() / 10_000.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_names_its_pause() {
        let plain = Summary::default();
        let paused = Summary {
            unfinished: Unfinished {
                paused: Some("disk low".to_owned()),
                paused_zh: Some("磁盘空间不足".to_owned()),
                ..Unfinished::default()
            },
            ..Summary::default()
        };
        for summary in [plain, paused] {
            let json = serde_json::to_value(&summary).unwrap();
            let is_paused = summary.unfinished.paused.is_some();
            assert_eq!(json["paused"] == "disk low", is_paused, "{json}");
            assert_eq!(json.get("paused_zh").is_some(), is_paused, "{json}");
            assert_eq!(serde_json::from_value::<Summary>(json).unwrap(), summary);
        }
    }

    fn counts(urls: i64, new: i64, documents: i64, checked_s: i64) -> SiteCounts {
        let pairs = [
            ("fetched", urls - new),
            ("urls", urls),
            ("new", new),
            ("documents", documents),
            ("checked_s", checked_s),
        ];
        pairs.map(|(name, n)| (name.to_owned(), n)).into()
    }

    #[test]
    fn freshness_sums_sites() {
        let empty = Freshness::from_counts(&SiteCounts::new());
        assert_eq!((empty.recall(), empty.mean_age_ms(5_000)), (None, None));
        let one = Freshness::from_counts(&counts(100, 25, 2, 30));
        assert_eq!(one.recall(), Some(0.75));
        assert_eq!(one.mean_age_ms(20_000), Some(5_000));
        let sites = [
            ("a".to_owned(), counts(100, 25, 2, 30)),
            ("b".to_owned(), counts(100, 0, 1, 30)),
        ];
        let both = Freshness::from_counts(&totals(&Counts {
            sites: sites.into(),
            ..Counts::default()
        }));
        assert_eq!((both.waiting, both.recall()), (25, Some(0.875)));
        assert_eq!(both.mean_age_ms(20_000), Some(0));
        assert_eq!((share(1, 3), share(1, 0)), (0.3333, 0.0));
    }

    #[test]
    fn recall_only_of_documents() {
        // Lists came, and no article: those were refused, or the pages are made by scripts.
        assert_eq!(Freshness::from_counts(&counts(100, 0, 0, 0)).recall(), None);
        let mut refused = counts(40, 0, 8, 30);
        refused.insert("fetched".to_owned(), 10);
        refused.insert("failed".to_owned(), 30);
        assert_eq!(Freshness::from_counts(&refused).recall(), Some(0.25));
        refused.insert("cycle_missing".to_owned(), 30);
        assert_eq!(Freshness::from_counts(&refused).recall(), Some(1.0));
    }
}
