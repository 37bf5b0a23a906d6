//! How complete and how fresh a crawl is. In: the counters that every commit keeps up. Out: shares and ages, for
//! `crawl --json` and the status. Costs the same at ten pages and at ten million.

use std::iter::Sum;

use taojin_crawl::store::SiteCounts;

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
        let number = |name: &str| counts.get(name).copied().unwrap_or_default();
        let natural = |n: i64| u64::try_from(n).unwrap_or_default();
        Self {
            waiting: natural(number("new")),
            visited: natural(number("urls") - number("new")),
            fetched: natural(number("fetched")),
            documents: number("documents"),
            checked_s: number("checked_s"),
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

impl Sum for Freshness {
    fn sum<I: Iterator<Item = Self>>(sites: I) -> Self {
        sites.fold(Self::default(), |a, b| Self {
            waiting: a.waiting + b.waiting,
            visited: a.visited + b.visited,
            fetched: a.fetched + b.fetched,
            documents: a.documents + b.documents,
            checked_s: a.checked_s + b.checked_s,
        })
    }
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
        let both: Freshness = [one, Freshness::of(&counts(100, 0, 1, 30))]
            .into_iter()
            .sum();
        assert_eq!((both.waiting, both.recall()), (25, 0.875));
        assert_eq!(both.mean_age_ms(20_000), Some(0));
        assert_eq!((share(1, 3), share(1, 0)), (0.3333, 0.0));
    }
}
