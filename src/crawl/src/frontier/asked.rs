//! What a person asks for beside the schedule: one URL now, addresses that are never to be fetched. In: the wish, the
//! time. Out: a lease ahead of the queue, or when there may be one. The rest of a host and of an address is kept.

use super::leasing::{FetchReport, Lease, Wait};

use super::Frontier;
use super::queue::queue_number;
use super::turns::LOOK_AGAIN_MS;
use crate::store::{Reader, StoreError, UrlId};
use taojin_uri::CrawlUri;

/// When a connection that is in use may be free: soon, so ask again.
const CONNECTION_MS: i64 = 100;

/// What came of asking for one URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// Fetch it.
    Fetch(Box<Lease>),
    /// Its host rests until then.
    Later(i64),
    /// It is being fetched.
    UnderWay,
    /// Another node crawls its host.
    Elsewhere,
    /// It may not be fetched: gone from the store, taken down, or its site is paused or not crawled.
    Never,
}

impl Frontier {
    /// The lease of this URL, ahead of all others of its host.
    pub fn lease_now(
        &mut self,
        store: &Reader,
        id: UrlId,
        now_ms: i64,
    ) -> Result<Asked, StoreError> {
        let Some(record) = store.url(id)? else {
            return Ok(Asked::Never);
        };
        let crawled = self.sites.get(&record.site).is_some_and(|s| !s.paused);
        if !crawled || self.is_taken_down(&record.uri) {
            return Ok(Asked::Never);
        }
        self.note_takeover(now_ms);
        let host = record.host;
        if !self.parts.has_row(host) {
            return Ok(Asked::Elsewhere);
        }
        if !self.hosts.contains_key(&host) {
            let Some(known) = store.host_by_id(host)? else {
                return Ok(Asked::Never);
            };
            self.take_host(known, now_ms);
        }
        if self.leases.contains_key(&id) {
            return Ok(Asked::UnderWay);
        }
        let Some(queues) = self.hosts.get(&host) else {
            return Ok(Asked::Never);
        };
        let count = queues.number_of_queues();
        let number = queue_number(&record.uri, count, self.config.queue_hash);
        let not_before_ms = queues.not_before_ms(number);
        if not_before_ms > now_ms {
            return Ok(Asked::Later(not_before_ms));
        }
        if !queues.has_room(number, self.config.connections_per_host) {
            return Ok(Asked::Later(now_ms + CONNECTION_MS));
        }
        let ip = queues.host.ip;
        if ip.is_some_and(|ip| !self.has_turn(ip, now_ms)) {
            return Ok(Asked::Later(now_ms + LOOK_AGAIN_MS));
        }
        match ip.and_then(|ip| self.address_wait(ip, count, now_ms)) {
            Some(Wait::Until(at_ms)) => return Ok(Asked::Later(at_ms)),
            Some(Wait::Connection(_)) => return Ok(Asked::Later(now_ms + CONNECTION_MS)),
            None => {}
        }
        let Some(queues) = self.hosts.get_mut(&host) else {
            return Ok(Asked::Never);
        };
        if !queues.take(id) {
            return Ok(Asked::Later(now_ms + CONNECTION_MS));
        }
        // Its entry in the heap would lease a second one beside this.
        queues.list[number as usize].ticket = 0;
        Ok(Asked::Fetch(Box::new(
            self.begin(host, number, record, now_ms),
        )))
    }

    /// A fetch has ended whose page is not wanted any more: its host rests as after any other.
    pub fn discard(&mut self, lease: &Lease, report: &FetchReport, now_ms: i64) {
        self.finished(lease, report, now_ms);
        if let Some(queues) = self.hosts.get_mut(&lease.record.host) {
            queues.put_down(lease.record.id);
            queues.invalidate();
        }
        self.enqueue(lease.record.host, now_ms);
    }

    /// Row numbers of the URLs that are being fetched.
    pub fn leased(&self) -> impl Iterator<Item = UrlId> + '_ {
        self.leases.keys().copied()
    }

    /// These addresses are not fetched any more, and links to them are refused.
    pub fn take_down(&mut self, fingerprints: impl IntoIterator<Item = u64>) {
        self.taken_down.extend(fingerprints);
    }

    /// Whether an address was taken down.
    pub fn is_taken_down(&self, uri: &CrawlUri) -> bool {
        self.taken_down.contains(&uri.fingerprint())
    }

    /// These addresses may be fetched again.
    pub fn allow_again(&mut self, fingerprints: impl IntoIterator<Item = u64>) {
        for fingerprint in fingerprints {
            self.taken_down.remove(&fingerprint);
        }
        self.reconsider();
    }

    /// Rows were taken out of the store.
    pub fn rows_are_gone(&mut self) {
        self.seen.doubt_all();
        self.reconsider();
    }
}
