//! The sites that are crawled, their schedules and cycles.
//!
//! A cycle ends, with a line in the log and a mark in the store, when nothing of its site is being fetched and nothing of it that is
//! due may be fetched within `pass_patience_ms`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use xxhash_rust::xxh3::xxh3_64;

use crate::daemon::crawl::interval::Interval;
use crate::daemon::crawl::site_rules::SiteRules;
use crate::daemon::crawl::sites::{CycleResult, ENDED_MS, SiteRun, queue_visits, site_verdict};
use crate::daemon::reloading::Current;
use crate::daemon::report::summary::number;
use crate::daemon::report::verdict::VerdictTerms;
use crate::daemon::{Shared, local_time};
use taojin_crawl::fetch::Gate;
use taojin_crawl::frontier::{self, Frontier, Span};
use taojin_crawl::schedule::Site;
use taojin_crawl::scope::Scope;
use taojin_crawl::store::{NewUrl, SiteCounts, Store, StoreError};

/// Sites whose cycle is not over are checked this often.
const LOOK: Duration = Duration::from_secs(1);

/// The sites in use. Frontier, gate and visits go by the same settings.
pub(super) struct Cycles {
    /// Those that are crawled.
    runs: BTreeMap<Arc<str>, SiteRun>,
    /// All sites of the configuration, those that are not enabled too.
    configured: Vec<Site>,
    /// The configuration of this moment.
    current: watch::Receiver<Current>,
    gate: Arc<Gate>,
    shared: Arc<Shared>,
    /// When the cycles were checked for one that is over.
    looked: Interval,
    verdict_terms: VerdictTerms,
}

impl Cycles {
    /// Without sites: [`Cycles::take_up`] brings them.
    pub(super) fn new(
        current: watch::Receiver<Current>,
        gate: Arc<Gate>,
        shared: Arc<Shared>,
        verdict_terms: VerdictTerms,
    ) -> Self {
        Self {
            runs: BTreeMap::new(),
            configured: Vec::new(),
            current,
            gate,
            shared,
            looked: Interval::default(),
            verdict_terms,
        }
    }

    /// All sites of the configuration.
    pub(super) fn configured(&self) -> &[Site] {
        &self.configured
    }

    /// The sites that are crawled, by name.
    pub(super) fn runs(&self) -> impl Iterator<Item = (&Arc<str>, &SiteRun)> {
        self.runs.iter()
    }

    /// Whether a site is crawled.
    pub(super) fn is_crawled(&self, name: &str) -> bool {
        self.runs.contains_key(name)
    }

    /// When the next cycle of a site begins, Unix milliseconds.
    pub(super) fn next_ms(&self, name: &str) -> Option<i64> {
        self.runs.get(name)?.next_ms()
    }

    /// Whether a site has no cycle that is not over.
    pub(super) fn is_over(&self, name: &str) -> bool {
        let run = self.runs.get(name);
        run.is_none_or(|run| run.open_since_ms().is_none())
    }

    /// What may be fetched within a time that began then, both in Unix milliseconds.
    pub(super) fn span(&self, since_ms: i64, now_ms: i64) -> Span {
        Span {
            since_ms,
            now_ms,
            patience_ms: i64::try_from(self.verdict_terms.pass_patience_ms).unwrap_or(i64::MAX),
        }
    }

    /// Crawls only those of the sites of which `is_wanted` is true.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(&Arc<str>) -> bool) {
        self.runs.retain(|name, _| is_wanted(name));
    }

    /// Takes out a site that the operator wants forgotten.
    pub(super) fn forget(&mut self, name: &str) {
        self.configured.retain(|site| site.name != name);
    }

    /// The sites whose time has come.
    pub(super) fn due(&self, now: i64) -> Vec<Arc<str>> {
        let due = self.runs.iter().filter(|(_, run)| run.is_due(now));
        due.map(|(name, _)| Arc::clone(name)).collect()
    }

    /// A cycle of a site begins: with these seeds, feeds and sitemaps; none if the site is not crawled.
    pub(super) fn begin(&mut self, name: &str, now: i64) -> Option<Vec<NewUrl>> {
        let run = self.runs.get_mut(name)?;
        run.record_start(now);
        let entries = run.entry_urls();
        self.publish();
        Some(entries)
    }

    /// The sites whose cycle is over, and when it began, Unix milliseconds: once a second, or now.
    pub(super) fn find_over(
        &mut self,
        store: &Store,
        frontier: &Frontier,
        at_once: bool,
        now: i64,
    ) -> Result<Vec<(Arc<str>, i64)>, StoreError> {
        let mut over = Vec::new();
        if !at_once && !self.looked.is_due(LOOK) {
            return Ok(over);
        }
        for (name, run) in &self.runs {
            let Some(began_ms) = run.open_since_ms() else {
                continue;
            };
            if frontier.is_site_done(store, name, &self.span(began_ms, now))? {
                over.push((Arc::clone(name), began_ms));
            }
        }
        Ok(over)
    }

    /// The cycle of a site is over.
    pub(super) fn end(&mut self, name: &str) {
        if let Some(run) = self.runs.get_mut(name) {
            run.end_cycle();
        }
    }

    /// Says in the log how cycles went that began then.
    pub(super) fn log_ends(
        &self,
        over: &[(Arc<str>, i64)],
        store: &Store,
        limits: &frontier::Config,
        now: i64,
    ) -> anyhow::Result<()> {
        let counts = store.counts()?;
        let empty = SiteCounts::new();
        for (name, began_ms) in over {
            let Some(run) = self.runs.get(name) else {
                continue;
            };
            let counts = counts.sites.get(&**name).unwrap_or(&empty);
            let terms = self.verdict_terms;
            let verdict = site_verdict(store, counts, run.site(), limits, terms, now)?;
            tracing::info!(
                site = %name,
                verdict = verdict.level.name(),
                pages = number(counts, "cycle_visits"),
                new_documents = number(counts, "cycle_new"),
                seconds = (now - began_ms) / 1000,
                "cycle finished: {}", verdict.text
            );
        }
        Ok(())
    }

    /// How the last cycles of all sites in use went, by name.
    pub(super) fn results(
        &self,
        store: &Store,
        limits: &frontier::Config,
        now: i64,
    ) -> anyhow::Result<BTreeMap<Arc<str>, CycleResult>> {
        let counts = store.counts()?;
        let empty = SiteCounts::new();
        let mut results = BTreeMap::new();
        for (name, run) in &self.runs {
            let counts = counts.sites.get(&**name).unwrap_or(&empty);
            let terms = self.verdict_terms;
            let result = CycleResult {
                verdict: site_verdict(store, counts, run.site(), limits, terms, now)?,
                queue_visits: queue_visits(counts, run.site()),
            };
            results.insert(Arc::clone(name), result);
        }
        Ok(results)
    }

    /// Whether sites were read again that are not taken up.
    pub(super) fn have_changed(&self) -> bool {
        self.current.has_changed().unwrap_or_default()
    }

    /// The sites that were read again.
    pub(super) fn take_changed(&mut self) -> Vec<Site> {
        self.current.borrow_and_update().sites.clone()
    }

    /// They could not be taken up: they are given once more.
    pub(super) fn put_back_changed(&mut self) {
        self.current.mark_changed();
    }

    /// Takes up the sites of a configuration. Sites that are gone keep their URLs, which wait.
    pub(super) fn take_up(
        &mut self,
        sites: Vec<Site>,
        store: &mut Store,
        frontier: &mut Frontier,
        now: i64,
    ) -> anyhow::Result<()> {
        let counts = store.counts()?;
        let enabled = || sites.iter().filter(|site| site.enabled);
        let mut runs = BTreeMap::new();
        for site in enabled() {
            let record = store.site(&site.name)?;
            let ended = counts.sites.get(&site.name);
            let is_over = ended.is_some_and(|counts| counts.contains_key(ENDED_MS));
            let run = SiteRun::new(site.clone(), record.as_ref(), is_over, now)?;
            runs.insert(Arc::clone(run.name()), run);
        }
        let scopes = enabled().map(Scope::new).collect::<Result<Vec<_>, _>>()?;
        frontier.set_sites(store, scopes, now)?;
        self.gate
            .set_rules(frontier.scopes(), frontier.takedowns().clone());
        let digests: Vec<_> = enabled().map(digest).collect();
        store.cluster().set_node_sites(&digests)?;
        let before = std::mem::replace(&mut self.runs, runs);
        for (name, run) in &self.runs {
            if before.get(name).is_none_or(|b| b.site() != run.site()) {
                tracing::info!(site = %name, next = %local_time(run.next_ms()), "site taken up");
            }
        }
        for name in before.keys().filter(|n| !self.runs.contains_key(*n)) {
            tracing::info!(site = %name, "site no longer crawled");
        }
        let rules = enabled().map(|site| (site.name.clone(), SiteRules::new(site, now)));
        self.shared.site_rules().replace(rules.collect());
        self.configured = sites;
        self.publish();
        Ok(())
    }

    /// Tells the status when the next cycles begin.
    fn publish(&self) {
        let cycles = self.runs.values();
        let cycles = cycles.map(|run| (run.site().name.clone(), run.next_ms()));
        self.shared.crawl().set_next_cycles(cycles.collect());
    }
}

/// Name and settings of a site, to compare with those of another node.
fn digest(site: &Site) -> (&str, u64) {
    (&site.name, xxh3_64(format!("{site:?}").as_bytes()))
}
