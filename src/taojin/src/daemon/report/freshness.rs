//! How complete and how fresh a crawl is. In: the counters that every commit keeps up. Out: shares and ages, for
//! `crawl --json` and the status. Costs the same at ten pages and at ten million.

use taojin_crawl::store::{Counts, SiteCounts};

/// Sums over the addresses and documents of one or more sites.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Freshness {
    /// Known and never visited.
    pub(crate) waiting: u64,
    visited: u64,
    /// Visited, and a page came.
    fetched: u64,
    documents: i64,
    checked_s: i64,
}

impl Freshness {
    pub(crate) fn of(counts: &SiteCounts) -> Self {
        let signed = |name: &str| counts.get(name).copied().unwrap_or_default();
        Self {
            waiting: number(counts, "new"),
            visited: number(counts, "urls").saturating_sub(number(counts, "new")),
            fetched: number(counts, "fetched"),
            documents: signed("documents"),
            checked_s: signed("checked_s"),
        }
    }

    /// Share of all known addresses that have been visited: as many of the new articles have been found, if those
    /// that wait are articles as often as the others were. 1 when nothing waits, 0 when no page ever came.
    pub(crate) fn recall(&self) -> f64 {
        match (self.fetched, self.waiting) {
            (0, _) => 0.0,
            (_, 0) => 1.0,
            _ => share(self.visited, self.visited + self.waiting),
        }
    }

    /// How long ago documents were last looked at, on average.
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
    fn shares_and_ages_add_up_over_sites() {
        let empty = Freshness::of(&SiteCounts::new());
        assert_eq!((empty.recall(), empty.mean_age_ms(5_000)), (0.0, None));
        let one = Freshness::of(&counts(100, 25, 2, 30));
        assert_eq!(one.recall(), 0.75);
        assert_eq!(one.mean_age_ms(20_000), Some(5_000));
        let sites = [
            ("a".to_owned(), counts(100, 25, 2, 30)),
            ("b".to_owned(), counts(100, 0, 1, 30)),
        ];
        let both = Freshness::of(&totals(&Counts {
            sites: sites.into(),
            ..Counts::default()
        }));
        assert_eq!((both.waiting, both.recall()), (25, 0.875));
        assert_eq!(both.mean_age_ms(20_000), Some(0));
        assert_eq!((share(1, 3), share(1, 0)), (0.3333, 0.0));
    }
}
