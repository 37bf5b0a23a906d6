//! How far a crawl is: its counts, for the summary at its end, and who is told of each visit.

use crate::daemon::crawl::crawl_log::LogLine;
use crate::daemon::report::tally::CrawlTally;
use crate::daemon::{ProgressCallback, Summary};
use taojin_crawl::frontier::CommitReport;

/// The counts of a crawl.
pub(super) struct Progress {
    tally: CrawlTally,
    /// Known addresses that a pass is still to fetch, about: what a limit holds back is among them.
    left: u64,
    each: Option<ProgressCallback>,
}

impl Progress {
    /// A crawl begins now, Unix milliseconds; `each` is told of its visits.
    pub(super) fn new(now: i64, each: Option<ProgressCallback>) -> Self {
        Self {
            tally: CrawlTally::new(now),
            left: 0,
            each,
        }
    }

    /// Whether somebody is told of each visit.
    pub(super) fn is_watched(&self) -> bool {
        self.each.is_some()
    }

    /// So many addresses are to be fetched.
    pub(super) fn expect(&mut self, left: u64) {
        self.left = left;
    }

    /// Counts a visit; gives how many addresses are left, about.
    pub(super) fn add(&mut self, line: &LogLine, wasted: bool) -> u64 {
        self.tally.add(line, wasted);
        self.left = self.left.saturating_sub(1);
        if let Some(each) = &mut self.each {
            each(line, self.left);
        }
        self.left
    }

    /// Counts a transaction.
    pub(super) fn committed(&mut self, report: &CommitReport) {
        self.tally.committed(report);
        self.left += report.new_urls as u64;
    }

    /// The counts.
    pub(super) fn tally(&self) -> &CrawlTally {
        &self.tally
    }

    /// The same, to add what is no visit.
    pub(super) fn tally_mut(&mut self) -> &mut CrawlTally {
        &mut self.tally
    }

    /// The summary, at the end.
    pub(super) fn into_summary(self) -> Summary {
        self.tally.into_summary()
    }
}
