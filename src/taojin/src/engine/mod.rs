//! The way to OpenSearch or Elasticsearch: requests over HTTP to the hosts of `search.url`. Whoever asks waits in its own thread,
//! which may be one of a runtime's blocking threads; the work is done by a runtime of this module's own.
//!
//! [`HttpTransport`] carries requests. It asks a host only while the circuit of that host is closed (`hosts`), and gives up one
//! that does not answer look-ups (`exchange`). [`Account`] is whom requests come from.

mod account;
mod diagnosis;
mod exchange;
mod hosts;
#[cfg(test)]
mod tests;
mod transport;

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

pub(crate) use account::{Account, http_client};
pub(crate) use transport::HttpTransport;

use taojin_search::index::remote::{EngineTrouble, TroubleKind};

/// The runtime of all requests: one thread that lives as long as the process.
fn runtime() -> Result<&'static Runtime, EngineTrouble> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let started = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        let builder = builder.worker_threads(1).thread_name("engine").enable_all();
        builder.build().map_err(|e| e.to_string())
    });
    let started = started.as_ref();
    started.map_err(|cause| EngineTrouble::new(TroubleKind::Other, cause))
}
