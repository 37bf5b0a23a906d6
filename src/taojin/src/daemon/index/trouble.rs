//! Why documents wait for the index: the state that it is in, and words for whoever can mend it.

use crate::daemon::now_ms;
use crate::serve::{IndexState, Words};
use taojin_crawl::store::StoreError;
use taojin_search::index::IndexError;
use taojin_search::index::remote::TroubleKind;

/// Why documents wait for the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::daemon) struct IndexTrouble {
    /// In one word.
    pub(in crate::daemon) state: IndexState,
    /// In a sentence, with what helps; English.
    pub(in crate::daemon) text: String,
    /// Since when it is in that state, Unix milliseconds.
    pub(in crate::daemon) since_ms: i64,
    /// Whether a new start would not help: somebody else has to do something, or time does.
    pub(super) is_outside: bool,
}

impl IndexTrouble {
    /// What a failure of now says.
    pub(in crate::daemon) fn new(failed: &anyhow::Error) -> Self {
        let states = failed.chain().filter_map(|cause| {
            let of_index = cause.downcast_ref().map(state_of_index);
            of_index.or_else(|| cause.downcast_ref().and_then(state_of_store))
        });
        let state = states.last().unwrap_or(IndexState::Failing);
        let is_of_engine = failed.chain().any(|cause| {
            let error = cause.downcast_ref();
            error.is_some_and(|error: &IndexError| error.trouble_kind().is_some())
        });
        Self {
            state,
            text: format!("{failed:#}"),
            since_ms: now_ms(),
            is_outside: is_of_engine || state != IndexState::Failing,
        }
    }

    /// With the number of changes that wait, for people.
    pub(in crate::daemon) fn words(&self, waiting: u64) -> Words {
        let text = &self.text;
        Words::new(
            format!("{waiting} changes wait for the search index: {text}"),
            format!("{waiting} 项变更等待写入搜索索引：{text}"),
        )
    }
}

fn state_of_index(error: &IndexError) -> IndexState {
    match error {
        IndexError::Full { .. } => IndexState::DiskFull,
        IndexError::RemoteOtherStore(_) => IndexState::OtherStore,
        IndexError::Stopped => IndexState::Unreachable,
        error => error
            .trouble_kind()
            .map_or(IndexState::Failing, state_of_engine),
    }
}

fn state_of_engine(kind: TroubleKind) -> IndexState {
    match kind {
        TroubleKind::Unreachable => IndexState::Unreachable,
        TroubleKind::Refusing => IndexState::Refusing,
        TroubleKind::Blocked => IndexState::Blocked,
        TroubleKind::Starting => IndexState::Starting,
        TroubleKind::Red => IndexState::Red,
        TroubleKind::Busy => IndexState::Busy,
        TroubleKind::TooLarge
        | TroubleKind::Misdirected
        | TroubleKind::Unsupported
        | TroubleKind::Misconfigured => IndexState::Misconfigured,
        TroubleKind::Other => IndexState::Failing,
    }
}

fn state_of_store(error: &StoreError) -> Option<IndexState> {
    matches!(error, StoreError::Full { .. }).then_some(IndexState::DiskFull)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use taojin_search::index::remote::EngineTrouble;

    #[test]
    fn trouble_names_its_state() {
        let dir = PathBuf::from("index");
        let cause = || "why".to_owned();
        let full = IndexError::Full {
            dir: dir.clone(),
            cause: cause(),
        };
        let failed = IndexError::Failed {
            dir: dir.clone(),
            cause: cause(),
        };
        let remote = |kind| IndexError::Remote {
            place: "http://a/taojin".to_owned(),
            trouble: EngineTrouble::new(kind, "why"),
        };
        let store = StoreError::Full { path: dir };
        for (error, expected, is_outside) in [
            (
                anyhow::Error::from(full).context("commit"),
                IndexState::DiskFull,
                true,
            ),
            (store.into(), IndexState::DiskFull, true),
            (failed.into(), IndexState::Failing, false),
            (anyhow::Error::msg("a panic"), IndexState::Failing, false),
            (remote(TroubleKind::Red).into(), IndexState::Red, true),
            (remote(TroubleKind::Other).into(), IndexState::Failing, true),
            (
                remote(TroubleKind::Blocked).into(),
                IndexState::Blocked,
                true,
            ),
            (
                IndexError::RemoteOtherStore(cause()).into(),
                IndexState::OtherStore,
                true,
            ),
        ] {
            let trouble = IndexTrouble::new(&error);
            assert_eq!(trouble.state, expected, "{error:#}");
            assert_eq!(trouble.is_outside, is_outside, "{error:#}");
        }
    }
}
