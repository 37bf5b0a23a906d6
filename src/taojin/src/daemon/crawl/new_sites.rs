//! How the crawl loop takes up sites: at the start, and those of a configuration that was read again. In: sites. Out: the
//! frontier, the schedules and what visits know, all of the same sites. What cannot be taken up changes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::commit::RETRY;
use super::cycle;
use super::site_run;
use super::site_run::SiteRun;
use super::state::CrawlLoop;
use crate::daemon::local_time;
use taojin_crawl::frontier::Scope;
use taojin_crawl::schedule::Site;
use taojin_crawl::store::StoreError;
use xxhash_rust::xxh3::xxh3_64;

impl CrawlLoop {
    /// Takes up sites that were read again, if there are any. What cannot be taken up leaves everything as it was, and
    /// a store that fails is asked again: neither may end the crawl.
    pub(crate) fn take_new_sites(&mut self, now: i64) -> anyhow::Result<()> {
        if !self.current.has_changed().unwrap_or_default() {
            return Ok(());
        }
        self.commit(now)?;
        let sites = self.current.borrow_and_update().sites.clone();
        match self.take_sites(&sites, now) {
            Ok(()) => {}
            Err(error) if error.chain().any(|cause| cause.is::<StoreError>()) => {
                tracing::error!(%error, "the sites cannot be taken up yet, trying again");
                self.current.mark_changed();
                std::thread::sleep(RETRY);
            }
            Err(error) => {
                tracing::error!(%error, "reload refused, everything stays as it was");
                self.shared.set_refused(Some(format!("{error:#}")));
            }
        }
        Ok(())
    }

    /// Takes up the sites of a configuration. Sites that are gone keep their URLs, which wait.
    pub(crate) fn take_sites(&mut self, sites: &[Site], now: i64) -> anyhow::Result<()> {
        let counts = self.store.counts()?;
        let mut runs = BTreeMap::new();
        for site in sites.iter().filter(|s| s.enabled) {
            let record = self.store.site(&site.name)?;
            let last_cycle_ms = record.as_ref().and_then(|r| r.last_cycle_ms);
            let is_over = counts.sites.get(&site.name);
            let is_over = is_over.is_some_and(|c| c.contains_key(cycle::ENDED_MS));
            let run = SiteRun::new(site.clone(), record.as_ref(), now)?
                .going_on(last_cycle_ms.filter(|_| !is_over));
            runs.insert(Arc::clone(run.name()), run);
        }
        let scopes = sites.iter().filter(|s| s.enabled).map(Scope::new);
        let scopes = scopes.collect::<Result<Vec<_>, _>>()?;
        self.frontier.set_sites(&mut self.store, scopes, now)?;
        let digests = sites.iter().filter(|s| s.enabled).map(digest);
        self.store.set_node_sites(&digests.collect::<Vec<_>>())?;
        self.configured = sites.to_vec();
        let before = std::mem::replace(&mut self.sites, runs);
        for (name, run) in &self.sites {
            if before.get(name).is_none_or(|b| b.site != run.site) {
                tracing::info!(site = %name, next = %local_time(run.next_ms()), "site taken up");
            }
        }
        for name in before.keys().filter(|n| !self.sites.contains_key(*n)) {
            tracing::info!(site = %name, "site no longer crawled");
        }
        let rules = self
            .sites
            .values()
            .map(|s| (s.site.name.clone(), site_run::rules(&s.site, now)));
        self.shared.set_rules(rules.collect());
        self.publish_next_cycles();
        Ok(())
    }
}

/// Name and settings of a site, to compare with those of another node.
fn digest(site: &Site) -> (&str, u64) {
    (&site.name, xxh3_64(format!("{site:?}").as_bytes()))
}
