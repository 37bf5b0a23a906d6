//! How many documents can be found, known at once, for every page has it at its foot. An index in this process is asked each
//! time. Of one that is reached over the network the last answer counts, and a new one is fetched beside the requests, so that
//! no request waits for an engine that hangs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::search::source::SearchSource;

/// An answer is as good as new for so long.
const FRESH: Duration = Duration::from_secs(2);

/// What was answered last.
#[derive(Debug, Default)]
struct Known {
    documents: Option<u64>,
    answered: Option<Instant>,
    /// Whether an answer is being waited for.
    asks: bool,
}

/// The number of documents.
#[derive(Debug, Default)]
pub(crate) struct Counted(Mutex<Known>);

impl Counted {
    /// The number; none where the source cannot tell, or has not answered yet.
    pub(crate) fn documents(self: &Arc<Self>, source: &Arc<dyn SearchSource>) -> Option<u64> {
        if !source.is_remote() {
            return source.documents();
        }
        let mut known = self.known();
        let is_old = known.answered.is_none_or(|at| at.elapsed() >= FRESH);
        if is_old
            && !known.asks
            && let Ok(runtime) = Handle::try_current()
        {
            known.asks = true;
            let (own, source) = (Arc::clone(self), Arc::clone(source));
            runtime.spawn_blocking(move || {
                let documents = source.documents();
                *own.known() = Known {
                    documents,
                    answered: Some(Instant::now()),
                    asks: false,
                };
            });
        }
        known.documents
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
