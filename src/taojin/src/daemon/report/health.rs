//! Whether all is well with a running daemon. In: what its threads tell each other, the index. Out: that part of the status.

use std::time::Instant;

use crate::daemon::Shared;
use crate::daemon::liveness::WorkerState;
use crate::serve::{LeftOutDocument, LeftOutStatus, WorkerStatus};
use taojin_search::index::AllLeftOut;

/// What the operator must know of a daemon that crawls; empty when all is well.
pub(super) fn note(shared: &Shared) -> String {
    let anew = shared.reindexing().map(|at| {
        let (seq, last) = (at.seq, at.last);
        format!("the index is being rebuilt: change {seq} of {last}")
    });
    let trouble = shared.trouble(Instant::now());
    trouble
        .or_else(|| shared.refused())
        .or(anew)
        .unwrap_or_default()
}

/// How the workers do.
pub(super) fn workers(shared: &Shared) -> Vec<WorkerStatus> {
    let status = |state: WorkerState| WorkerStatus {
        name: state.worker.name().to_owned(),
        alive: !state.stuck,
        idle_ms: u64::try_from(state.idle.as_millis()).unwrap_or(u64::MAX),
        problem: state.problem,
    };
    let states = shared.liveness().states(Instant::now());
    states.into_iter().map(status).collect()
}

/// What the index could not take.
pub(super) fn left_out(all: AllLeftOut) -> LeftOutStatus {
    LeftOutStatus {
        count: all.count(),
        documents: all
            .listed
            .into_iter()
            .map(|left| LeftOutDocument {
                url: left.url,
                reason: left.reason,
            })
            .collect(),
    }
}
