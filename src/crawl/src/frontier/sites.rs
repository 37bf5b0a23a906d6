//! The sites that are crawled at present. In: their rules, the beginning of a cycle. Out: which URLs may be leased.

use std::collections::HashMap;
use std::sync::Arc;

use super::Frontier;
use super::assign::{HUB_RANK, RECHECK_RANK};
use super::queue::HostQueues;
use super::scope::Scope;
use super::site::{BLIND_SPENT, CYCLE_PAGES, Site, URLS};
use crate::store::{HostId, Store, StoreError};

impl Frontier {
    /// Takes up the sites that are crawled from now on. URLs of other sites are held until their site comes back.
    pub fn set_sites(
        &mut self,
        store: &mut Store,
        scopes: Vec<Scope>,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        let counts = store.counts()?;
        let mut taken = HashMap::new();
        for scope in scopes {
            let name: Arc<str> = Arc::from(scope.rules().name.as_str());
            let known = store.site(&name)?;
            let id = store.add_site(&name)?;
            if known.as_ref().is_none_or(|site| site.paused) {
                store.pause_site(&name, false, now_ms)?;
            }
            let count = |of: &str| counts.sites.get(&*name).and_then(|c| c.get(of)).copied();
            let mut site = Site::new(id, Arc::new(scope));
            site.paused = known.as_ref().is_some_and(|site| site.paused_ms.is_some());
            site.last_cycle_ms = known.and_then(|site| site.last_cycle_ms).unwrap_or(0);
            site.cycle_pages = count(CYCLE_PAGES).unwrap_or(0);
            site.urls = count(URLS).unwrap_or(0);
            site.saved_spent = count(BLIND_SPENT).unwrap_or(0);
            site.budget.spent = site.saved_spent as f64 / 1e3;
            taken.insert(name, site);
        }
        // A node that only serves needs no site files, and says nothing about sites.
        let says = store.place().duties().crawls;
        for site in store.sites()?.into_iter().filter(|_| says) {
            if !taken.contains_key(&site.name) && !site.paused {
                store.pause_site(&site.name, true, now_ms)?;
            }
        }
        self.sites = taken;
        let number =
            |(host, known): (&HostId, &HostQueues)| (*host, self.queues_of(&known.host.authority));
        let numbers: Vec<(HostId, u32)> = self.hosts.iter().map(number).collect();
        for (host, queues) in numbers {
            if let Some(known) = self.hosts.get_mut(&host) {
                known.set_number_of_queues(queues);
            }
        }
        self.reconsider();
        Ok(())
    }

    /// From now on only URLs of these sites are given out; of all, if none is named. For a pass over some sites: what
    /// the others have left stays as it is.
    pub fn give_out_only(&mut self, names: &[Arc<str>]) {
        let id = |name: &Arc<str>| self.sites.get(name).map(|site| site.id);
        self.only = names.iter().filter_map(id).collect();
    }

    /// The rules of a site, to be asked in fetch tasks (redirects).
    pub fn scope(&self, site: &str) -> Option<Arc<Scope>> {
        self.sites.get(site).map(|s| Arc::clone(&s.scope))
    }

    /// Starts a cycle of a site: its hubs become due. How many.
    pub fn begin_cycle(
        &mut self,
        store: &mut Store,
        site: &Arc<str>,
        now_ms: i64,
    ) -> Result<usize, StoreError> {
        let due = store.begin_cycle(site, &self.parts, HUB_RANK, now_ms)?;
        if let Some(site) = self.sites.get_mut(site) {
            site.begin_cycle(now_ms);
        }
        self.reconsider();
        Ok(due)
    }

    /// Makes every known article of a site due now. How many.
    pub fn recheck_articles(
        &mut self,
        store: &mut Store,
        site: &Arc<str>,
        now_ms: i64,
    ) -> Result<usize, StoreError> {
        let due = store.recheck_articles(site, RECHECK_RANK, now_ms)?;
        if let Some(site) = self.sites.get_mut(site) {
            site.budget.waived = true;
        }
        self.reconsider();
        Ok(due)
    }

    /// Takes up what the operator has told another node: sites that pause or go on.
    pub fn read_sites(&mut self, store: &Store) -> Result<(), StoreError> {
        let mut has_news = false;
        for record in store.sites()? {
            if let Some(site) = self.sites.get_mut(&record.name) {
                let paused = record.paused_ms.is_some();
                has_news |= std::mem::replace(&mut site.paused, paused) != paused;
            }
        }
        if has_news {
            self.reconsider();
        }
        Ok(())
    }

    /// Reads the store again for all hosts: what was held or limited may be due now.
    pub(super) fn reconsider(&mut self) {
        let hosts: Vec<HostId> = self.hosts.keys().copied().collect();
        for host in hosts {
            if let Some(queue) = self.hosts.get_mut(&host) {
                queue.limited = false;
                queue.invalidate();
            }
            self.enqueue(host, i64::MIN);
        }
        self.activate_ms = i64::MIN;
    }
}
