//! Searches that end with the one who waits for them. In: searches. Out: the same with a switch, which is thrown at the time
//! limit and when the client has gone.

use super::search::source::Wanted;
use taojin_search::index::Stop;

/// Stops searches when it is dropped.
pub(super) struct Waiting(Stop);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Waiting {
    /// Somebody waits.
    pub(super) fn new() -> Self {
        Self(Stop::default())
    }

    /// A search that ends with the waiting.
    pub(super) fn search(&self, wanted: Wanted) -> Wanted {
        Wanted {
            stop: self.0.clone(),
            ..wanted
        }
    }
}
