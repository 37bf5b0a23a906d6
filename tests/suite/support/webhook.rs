//! A receiver of webhooks.

use std::sync::mpsc::{Receiver, channel};

use super::http::{Reply, serve};

/// One request as a receiver sees it.
pub(crate) struct Posted {
    pub(crate) delivery: String,
    pub(crate) signature: String,
    pub(crate) timestamp: String,
    pub(crate) body: String,
    pub(crate) answered: u16,
}

/// Answers each request with the status that is given to it; its address, and what comes.
pub(crate) fn receiver(
    status: impl Fn() -> u16 + Send + Sync + 'static,
) -> (String, Receiver<Posted>) {
    let (posted, received) = channel();
    let port = serve(move |request| {
        let answered = status();
        let header = |name| request.header(name).unwrap_or_default();
        // The test may be over.
        let _ = posted.send(Posted {
            delivery: header("taojin-delivery"),
            timestamp: header("taojin-timestamp"),
            signature: header("taojin-signature-v2"),
            body: request.body.clone(),
            answered,
        });
        Reply::status(answered).header("Retry-After: 0")
    });
    (format!("http://127.0.0.1:{port}/hook"), received)
}
