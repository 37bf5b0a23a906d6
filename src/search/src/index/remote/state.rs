//! The documents beside an index that say how far it is and how its texts were cut.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::IndexError;
use super::super::recut::CutState;
use super::super::schema::{CommitPayload, FORMAT};
use super::super::storage::left_out::SkippedDocuments;
use super::document::of_state;
use super::{Body, Patience, RemoteIndex, Request};

/// Identifier of the one document that says how far the index is.
const STATE_ID: &str = "state";

/// How far an index is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Counts the indexes that were made under this name.
    pub number: u64,
    /// The engine's own name for the index; empty while it is being created.
    pub uuid: String,
    /// Number of the last change that it holds.
    pub seq: u64,
    /// Documents that could not be indexed.
    #[serde(default)]
    pub left_out: SkippedDocuments,
    /// Whether it was made from another history of the documents, and is only searched until another one takes its place: it has
    /// none of the changes of this one.
    #[serde(default)]
    pub is_outdated: bool,
}

/// What the state document says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RemoteState {
    /// Identity of the store that the documents are in.
    pub store: i64,
    /// Version of the program that wrote it.
    pub program: String,
    /// Who writes it; empty: nobody at present.
    pub holder: String,
    /// Counts up while its holder is there.
    pub beat: u64,
    /// The index that is searched.
    pub served: Progress,
    /// The index that is being made, if one is.
    #[serde(default)]
    pub fresh: Option<Progress>,
}

impl RemoteState {
    /// The progress of an index that is to be created.
    pub(super) fn next(&self) -> Progress {
        let fresh = self.fresh.as_ref().map_or(0, |fresh| fresh.number);
        Progress {
            number: self.served.number.max(fresh) + 1,
            ..Progress::default()
        }
    }
}

impl From<RemoteState> for CommitPayload {
    fn from(state: RemoteState) -> Self {
        Self {
            seq: state.served.seq,
            format: FORMAT,
            store: state.store,
            program: state.program,
            left_out: state.served.left_out,
        }
    }
}

/// The state of an index, as the engine keeps it.
pub(super) struct StateDocuments<'a>(pub(super) &'a RemoteIndex);

impl StateDocuments<'_> {
    /// How the texts of an index were cut; none where that is not known.
    pub(super) fn cut_state(&self, uuid: &str) -> Result<Option<CutState>, IndexError> {
        let path = self.0.names.state_path(&cut_state_id(uuid));
        let request = Request {
            // It has all words of the dictionary.
            patience: Patience::Work,
            ..Request::new("GET", &path, Body::Empty)
        };
        let (status, found) = self.0.ask_until(&request, &self.0.stop)?;
        if status == 404 {
            return Ok(None);
        }
        self.0.accepted(status, &found)?;
        Ok(serde_json::from_value(found["_source"].clone()).ok())
    }

    pub(super) fn set_cut_state(&self, uuid: &str, state: &CutState) -> Result<(), IndexError> {
        let path = self.0.names.state_path(&cut_state_id(uuid));
        let (status, answer) = self.0.ask("PUT", &path, Body::Json(&json!(state)))?;
        self.0.accepted(status, &answer)
    }

    /// The state, and what the next one must name so that nobody else has written one meanwhile; none where there is no state
    /// yet.
    pub(super) fn read(&self) -> Result<(RemoteState, Option<(u64, u64)>), IndexError> {
        let (status, found) = self
            .0
            .ask("GET", &self.0.names.state_path(STATE_ID), Body::Empty)?;
        if status == 404 {
            return Ok((RemoteState::default(), None));
        }
        self.0.accepted(status, &found)?;
        let state = serde_json::from_value(found["_source"].clone()).map_err(|e| {
            self.0.failed(format!(
                "the state in {} cannot be read ({e}): delete this index there, and the index is made again",
                self.0.names.state()
            ))
        })?;
        let number = |name: &str| found[name].as_u64().unwrap_or_default();
        Ok((state, Some((number("_seq_no"), number("_primary_term")))))
    }

    /// Writes the state, if it is still the one of `turn`. Gives the turn of the next one.
    pub(super) fn write(
        &self,
        state: &RemoteState,
        turn: Option<(u64, u64)>,
    ) -> Result<Option<(u64, u64)>, IndexError> {
        let condition = match turn {
            None => "op_type=create".to_owned(),
            Some((number, term)) => format!("if_seq_no={number}&if_primary_term={term}"),
        };
        let path = format!("{}?{condition}", self.0.names.state_path(STATE_ID));
        let body = json!(state);
        let (status, answer) = self.0.ask("PUT", &path, Body::Json(&body))?;
        if status == 409 {
            // Or this one does: it was sent again because its answer was lost.
            return match self.read() {
                Ok((found, turn)) if found == *state => Ok(turn),
                _ => Err((self.0).failed("another taojin writes it; this one waits".to_owned())),
            };
        }
        self.0.accepted(status, &answer)?;
        let number = |name: &str| answer[name].as_u64().unwrap_or_default();
        Ok(Some((number("_seq_no"), number("_primary_term"))))
    }

    /// Makes the index that holds the state, where there is none.
    pub(super) fn create_index(&self, replicas: u32) -> Result<(), IndexError> {
        self.0.create(&self.0.names.state(), &of_state(replicas))
    }

    /// Forgets how the texts of an index were cut that is no more.
    pub(super) fn forget_cut_state(&self, uuid: &str) -> Result<(), IndexError> {
        let path = self.0.names.state_path(&cut_state_id(uuid));
        self.0.ask("DELETE", &path, Body::Empty).map(drop)
    }
}

/// Identifier of the document that says how the texts of an index were cut, beside the state.
fn cut_state_id(uuid: &str) -> String {
    format!("words-{uuid}")
}
