//! Remembers when hosts were asked last, and says how long the next request to one waits. Never waits itself, never reads a clock.

use std::collections::HashMap;

/// Hosts whose last request is remembered; above it those of long ago are forgotten.
const MAX_HOSTS: usize = 10_000;

/// After so long without a request to it, in milliseconds, a host may be forgotten where many others are remembered.
const REMEMBERED_MS: i64 = 60_000;

/// After a lease of the host could go on, others wait so much longer for it, in milliseconds.
const OWN_FIRST_MS: i64 = 250;

/// When a host was asked last, Unix milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastRequest {
    /// When the request ended; while it is under way, when it began.
    at_ms: i64,
    /// The host asked to be left alone until then.
    pause_ms: i64,
}

impl Default for LastRequest {
    fn default() -> Self {
        Self {
            at_ms: i64::MIN,
            pause_ms: i64::MIN,
        }
    }
}

impl LastRequest {
    /// A request that begins now.
    pub(super) fn begun(now_ms: i64) -> Self {
        Self {
            at_ms: now_ms,
            ..Self::default()
        }
    }

    /// A request that has ended now, with the pause that the host asked for, in milliseconds.
    pub(super) fn ended(now_ms: i64, pause_ms: Option<i64>) -> Self {
        Self {
            at_ms: now_ms,
            pause_ms: pause_ms.map_or(i64::MIN, |pause_ms| now_ms.saturating_add(pause_ms)),
        }
    }

    /// Keeps the later of both times.
    pub(super) fn take(&mut self, other: Self) {
        self.at_ms = self.at_ms.max(other.at_ms);
        self.pause_ms = self.pause_ms.max(other.pause_ms);
    }

    /// When the next one may be made. What lies in the future was noted by a clock that was ahead, and does not count.
    fn next_ms(self, delay_ms: i64, now_ms: i64) -> i64 {
        if self.at_ms > now_ms {
            return self.pause_ms;
        }
        self.pause_ms.max(self.at_ms.saturating_add(delay_ms))
    }
}

/// The last requests to a host.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// In leases of the host itself, by which the frontier and their turns go.
    own: LastRequest,
    /// In turns of others.
    foreign: LastRequest,
    /// A lease of the host has to wait, and goes before the second of others until then, Unix milliseconds.
    own_first_ms: i64,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            own: LastRequest::default(),
            foreign: LastRequest::default(),
            own_first_ms: i64::MIN,
        }
    }
}

impl Pace {
    fn next_ms(&self, delay_ms: i64, now_ms: i64) -> i64 {
        let own_ms = self.own.next_ms(delay_ms, now_ms);
        own_ms.max(self.foreign.next_ms(delay_ms, now_ms))
    }

    /// The same for a turn of others, who come one at a time where the host's own leases wait: whatever leads to it from elsewhere takes
    /// no more than its turn.
    fn next_foreign_ms(&self, delay_ms: i64, now_ms: i64) -> i64 {
        let next_ms = self.next_ms(delay_ms, now_ms);
        let was_foreign = self.foreign.at_ms >= self.own.at_ms;
        if was_foreign && self.own_first_ms > now_ms {
            next_ms.max(self.own_first_ms)
        } else {
            next_ms
        }
    }

    fn take(&mut self, request: LastRequest, is_own: bool) {
        let last = if is_own {
            &mut self.own
        } else {
            &mut self.foreign
        };
        last.take(request);
    }
}

/// The last requests to all hosts, by `host` or `host:port`.
#[derive(Debug, Default)]
pub(super) struct Paces(HashMap<Box<str>, Pace>);

impl Paces {
    /// How long a request to a host waits, in milliseconds; 0 or less if it may be made. In a lease of the host, `own` is the last
    /// request of that lease: of other leases of it the frontier has taken account.
    pub(super) fn wait_ms(
        &mut self,
        authority: &str,
        own: Option<LastRequest>,
        delay_ms: i64,
        now_ms: i64,
    ) -> i64 {
        let Some(known) = self.0.get_mut(authority) else {
            let pace = Pace {
                own: own.unwrap_or_default(),
                ..Pace::default()
            };
            return pace.next_ms(delay_ms, now_ms).saturating_sub(now_ms);
        };
        let Some(own) = own else {
            let next_ms = known.next_foreign_ms(delay_ms, now_ms);
            return next_ms.saturating_sub(now_ms);
        };
        let next_ms = Pace { own, ..*known }.next_ms(delay_ms, now_ms);
        if next_ms > now_ms {
            known.own_first_ms = next_ms.saturating_add(OWN_FIRST_MS);
        }
        next_ms.saturating_sub(now_ms)
    }

    /// Notes a request to a host, in a lease of it or not.
    pub(super) fn note(
        &mut self,
        authority: &str,
        request: LastRequest,
        is_own: bool,
        now_ms: i64,
    ) {
        if let Some(pace) = self.0.get_mut(authority) {
            pace.take(request, is_own);
            return;
        }
        if self.0.len() >= MAX_HOSTS {
            self.0
                .retain(|_, pace| pace.next_ms(REMEMBERED_MS, now_ms) > now_ms);
        }
        // More hosts than any machine has connections for: what is beyond goes by the frontier alone.
        if self.0.len() < MAX_HOSTS {
            let mut pace = Pace::default();
            pace.take(request, is_own);
            self.0.insert(authority.into(), pace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paces_let_own_lease_go_before_second_of_others() {
        let mut paces = Paces::default();
        let own = || Some(LastRequest::default());
        paces.note("h", LastRequest::begun(0), false, 0);
        // The host's own lease comes, and has to wait for the delay; so do those that were sent there from elsewhere.
        assert_eq!(paces.wait_ms("h", None, 1_000, 500), 500);
        assert_eq!(paces.wait_ms("h", own(), 1_000, 500), 500);
        assert_eq!(paces.wait_ms("h", None, 1_000, 1_000), OWN_FIRST_MS);
        assert_eq!(paces.wait_ms("h", own(), 1_000, 1_000), 0);
        paces.note("h", LastRequest::begun(1_000), true, 1_000);
        // Now one of the others, and not two.
        assert_eq!(
            paces.wait_ms("h", own(), 1_000, 1_500),
            -500,
            "the frontier paces it"
        );
        assert_eq!(paces.wait_ms("h", None, 1_000, 2_000), 0);
        paces.note("h", LastRequest::begun(2_000), false, 2_000);
        assert_eq!(paces.wait_ms("h", own(), 1_000, 2_500), 500);
        assert_eq!(paces.wait_ms("h", None, 1_000, 3_000), OWN_FIRST_MS);
        // The lease is gone: they go on.
        assert_eq!(
            paces.wait_ms("h", None, 1_000, 3_000 + OWN_FIRST_MS),
            -OWN_FIRST_MS
        );
    }

    #[test]
    fn paces_forget_what_is_long_ago() {
        let mut paces = Paces::default();
        for n in 0..MAX_HOSTS {
            paces.note(&format!("h{n}"), LastRequest::begun(0), false, 0);
        }
        let asked = |paces: &mut Paces, host: &str, now_ms| {
            paces.note(host, LastRequest::begun(now_ms), false, now_ms);
            paces.wait_ms(host, None, 1_000, now_ms)
        };
        // All of them were asked a moment ago: the next is not remembered.
        assert!(asked(&mut paces, "next", 1) < 0);
        let pause = LastRequest::ended(1, Some(3_600_000));
        paces.note("h7", pause, false, 1);
        assert_eq!(asked(&mut paces, "later", REMEMBERED_MS), 1_000);
        assert_eq!(paces.0.len(), 2, "h7 is to be left alone for an hour");
    }
}
