//! The sites that are crawled at present. In: their rules, the beginning of a cycle. Out: which URLs may be leased.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::assign::{HUB_RANK, RECHECK_RANK};
use super::gate::Debt;
use super::leasing::Frontier;
use super::scope::{Refusal, Scope, ScopeError, SiteScope};
use crate::store::{HostId, SiteId, Store, StoreError};

/// Counter of a site that the store sets back when a cycle begins.
pub(super) const CYCLE_PAGES: &str = "cycle_pages";

/// Counter of a site: fetches for nothing that it is still to make good, in thousandths.
pub(super) const BLIND_DEBT: &str = "blind_debt";

/// Counter of a cycle: URLs that `max_pages_per_cycle` of the site puts off to the next one.
pub const SITE_LIMITS: &str = "cycle_site_limits";

/// Counter of a cycle: hosts that had their `pages_per_host_per_cycle`.
pub const HOST_LIMITS: &str = "cycle_host_limits";

/// Counter of a cycle: addresses that were found and are not followed, since they are beyond `max_hops`.
pub const BEYOND_HOPS: &str = "cycle_beyond_hops";

/// Counter of a cycle: addresses of the site's hosts that were found and are not followed, since `include` or `exclude`
/// keeps them out.
pub const OUT_OF_SCOPE: &str = "cycle_out_of_scope";

/// Addresses of a site remembered as not followed, 24 bytes each; what is beyond is not counted.
const MAX_SKIPPED: usize = 10_000;

/// A site in the frontier.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) id: SiteId,
    pub(super) scope: Arc<Scope>,
    pub(super) last_cycle_ms: i64,
    pub(super) cycle_pages: i64,
    /// Part of `cycle_pages` that is not in the store yet.
    pub(super) unsaved_pages: i64,
    /// Fetches for nothing that it is still to make good.
    pub(super) debt: Debt,
    /// The same in the store, in thousandths.
    pub(super) saved_debt: i64,
    /// Counters of the cycle that are not in the store yet.
    pub(super) unsaved: BTreeMap<&'static str, i64>,
    /// Addresses found in this cycle that are not followed, with the counter of the rule that says so.
    skipped: HashMap<u64, &'static str>,
    /// The operator has paused it.
    pub(super) paused: bool,
}

impl Site {
    /// An address that was never met is refused: counted once a cycle, under the setting that could be changed.
    pub(super) fn skip(&mut self, hash: u64, refusal: Refusal) {
        let counter = match refusal {
            Refusal::Hops => BEYOND_HOPS,
            Refusal::Excluded | Refusal::NotIncluded => OUT_OF_SCOPE,
            _ => return,
        };
        if self.skipped.len() < MAX_SKIPPED && self.skipped.insert(hash, counter).is_none() {
            *self.unsaved.entry(counter).or_default() += 1;
        }
    }

    /// It is followed after all: a shorter way leads to it.
    pub(super) fn follow(&mut self, hash: u64) {
        if let Some(counter) = self.skipped.remove(&hash) {
            *self.unsaved.entry(counter).or_default() -= 1;
        }
    }

    /// What the store is to add to the debt that it has, in thousandths.
    pub(super) fn unsaved_debt(&self) -> i64 {
        (self.debt.spent * 1e3) as i64 - self.saved_debt
    }
}

impl Frontier {
    /// Takes up the sites that are crawled from now on. URLs of other sites are held until their site comes back;
    /// nothing changes if a pattern is wrong.
    pub fn set_sites(
        &mut self,
        store: &mut Store,
        sites: &[SiteScope],
        now_ms: i64,
    ) -> Result<(), SetSitesError> {
        let scopes = sites
            .iter()
            .map(Scope::new)
            .collect::<Result<Vec<Scope>, ScopeError>>()?;
        let counts = store.counts()?;
        let mut taken = HashMap::new();
        for scope in scopes {
            let name = Arc::clone(&scope.rules().name);
            let known = store.site(&name)?;
            let id = store.add_site(&name)?;
            if known.as_ref().is_none_or(|site| site.paused) {
                store.pause_site(&name, false, now_ms)?;
            }
            let count = |of: &str| counts.sites.get(&*name).and_then(|c| c.get(of)).copied();
            let saved_debt = count(BLIND_DEBT).unwrap_or(0);
            let site = Site {
                id,
                paused: known.as_ref().is_some_and(|site| site.paused_ms.is_some()),
                scope: Arc::new(scope),
                last_cycle_ms: known.and_then(|site| site.last_cycle_ms).unwrap_or(0),
                cycle_pages: count(CYCLE_PAGES).unwrap_or(0),
                unsaved_pages: 0,
                debt: Debt {
                    spent: saved_debt as f64 / 1e3,
                    waived: false,
                },
                saved_debt,
                unsaved: BTreeMap::new(),
                skipped: HashMap::new(),
            };
            taken.insert(name, site);
        }
        for site in store.sites()? {
            if !taken.contains_key(&site.name) && !site.paused {
                store.pause_site(&site.name, true, now_ms)?;
            }
        }
        self.sites = taken;
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
        let due = store.begin_cycle(site, HUB_RANK, now_ms)?;
        if let Some(site) = self.sites.get_mut(site) {
            site.last_cycle_ms = now_ms;
            site.cycle_pages = 0;
            site.unsaved_pages = 0;
            site.debt.waived = false;
            site.unsaved.clear();
            site.skipped.clear();
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
            site.debt.waived = true;
        }
        self.reconsider();
        Ok(due)
    }

    /// Reads the store again for all hosts: what was held or limited may be due now.
    pub(super) fn reconsider(&mut self) {
        let hosts: Vec<HostId> = self.queues.keys().copied().collect();
        for host in hosts {
            if let Some(queue) = self.queues.get_mut(&host) {
                queue.limited = false;
                queue.invalidate();
            }
            self.enqueue(host, i64::MIN);
        }
        self.activate_ms = i64::MIN;
    }
}

/// Why sites could not be taken up.
#[derive(Debug, thiserror::Error)]
pub enum SetSitesError {
    /// A pattern is wrong.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
