//! Something that is done every so often.

use std::time::{Duration, Instant};

/// When something was done last; the first time it is due at once.
#[derive(Debug, Default)]
pub(crate) struct Interval(Option<Instant>);

impl Interval {
    /// Whether it is time again; if so, it counts as done now.
    pub(crate) fn is_due(&mut self, every: Duration) -> bool {
        let is_due = self.0.is_none_or(|at| at.elapsed() >= every);
        if is_due {
            self.0 = Some(Instant::now());
        }
        is_due
    }
}
