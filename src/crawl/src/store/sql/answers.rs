//! Answers of PostgreSQL. In: statements on their way, errors of the client. Out: their answers in order; what an error says
//! and whether it may go by itself.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use tokio_postgres::error::SqlState;

/// Sends all of them before it waits for the first answer: one round trip. The answers in order, or the first error.
pub(super) fn all_at_once<F: Future<Output = Answer> + Unpin>(
    mut runs: Vec<F>,
) -> impl Future<Output = std::result::Result<Vec<u64>, tokio_postgres::Error>> {
    let mut answers: Vec<Option<Answer>> = runs.iter().map(|_| None).collect();
    let (mut sent, mut answered) = (false, 0);
    poll_fn(move |context| {
        // Each is sent when it is first looked at.
        for (run, answer) in runs.iter_mut().zip(&mut answers).filter(|_| !sent) {
            if let Poll::Ready(early) = Pin::new(run).poll(context) {
                *answer = Some(early);
            }
        }
        sent = true;
        while let Some(answer) = answers.get_mut(answered) {
            if answer.is_none() {
                match Pin::new(&mut runs[answered]).poll(context) {
                    Poll::Ready(late) => *answer = Some(late),
                    Poll::Pending => return Poll::Pending,
                }
            }
            answered += 1;
        }
        Poll::Ready(answers.iter_mut().filter_map(Option::take).collect())
    })
}

type Answer = std::result::Result<u64, tokio_postgres::Error>;

/// What went wrong, with its causes.
pub(in crate::store) fn in_words(error: &tokio_postgres::Error) -> String {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        words = format!("{words}: {inner}");
        cause = inner.source();
    }
    words
}

/// Whether it may go by itself: the server is not there, shuts down, starts, or has no connection left. A value of the wrong
/// type never does.
pub(super) fn is_passing(error: &tokio_postgres::Error) -> bool {
    match error.code() {
        Some(code) => code.code().starts_with("57P0") || *code == SqlState::TOO_MANY_CONNECTIONS,
        None => error.is_closed() || io_cause(error),
    }
}

fn io_cause(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(|cause| cause.is::<std::io::Error>())
        || error.to_string().starts_with("error connecting")
        || error.to_string().starts_with("timeout")
}
