//! An index in OpenSearch or Elasticsearch with the same documents, queries and results as the embedded one. Texts are
//! sent as the terms that this program cuts, so a lexicon acts in queries only and stays live; what a hit shows is read
//! from the store. Requests are carried by a [`Transport`]; nothing here opens a connection.

mod document;
mod json;
#[cfg(test)]
mod tests;
mod view;
mod writer;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::IndexError;
use super::recut::CutState;
use super::schema::{CommitPayload, FORMAT};
use super::stop::CancellationToken;
use super::storage::left_out::SkippedDocuments;

pub(super) use view::RemoteView;
pub use writer::RemoteWriter;

/// Identifier of the document that says how its texts were cut, beside the state.
const CUT_STATE_ID: &str = "words";
/// Identifier of the one document that says how far the index is.
const STATE_ID: &str = "state";
/// Characters of an engine's message that are kept.
const MESSAGE_CHARS: usize = 400;

/// What is sent with a request.
#[derive(Debug, Clone, Copy)]
pub enum Body<'a> {
    /// Nothing.
    Empty,
    /// One JSON value.
    Json(&'a Value),
    /// JSON values, each in a line of its own.
    Lines(&'a [u8]),
}

/// Carries requests to the engine.
pub trait Transport: Send + Sync {
    /// Sends a request and waits for its answer: status and body. `path` begins with a slash. An error says why there is no
    /// answer; the request is given up when `stop` is set.
    fn send(
        &self,
        method: &str,
        path: &str,
        body: Body<'_>,
        stop: &CancellationToken,
    ) -> Result<(u16, Value), String>;

    /// Where requests go, for messages.
    fn address(&self) -> &str;
}

/// An index in an engine that is reached over the network.
#[derive(Clone)]
pub struct RemoteIndex {
    transport: Arc<dyn Transport>,
    name: String,
}

/// How far an index is, as its state document says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RemoteState {
    /// Number of the last change that the index holds.
    pub seq: u64,
    /// Identity of the store that its documents are in.
    pub store: i64,
    /// Version of the program that wrote it.
    pub program: String,
    /// The engine's own name for the index.
    #[serde(default)]
    pub uuid: String,
    /// Who writes it; empty: nobody at present.
    #[serde(default)]
    pub holder: String,
    /// Counts up while its holder is there.
    #[serde(default)]
    pub beat: u64,
    /// Documents that could not be indexed.
    #[serde(default)]
    pub left_out: SkippedDocuments,
}

impl From<RemoteState> for CommitPayload {
    fn from(state: RemoteState) -> Self {
        Self {
            seq: state.seq,
            format: FORMAT,
            store: state.store,
            program: state.program,
            left_out: state.left_out,
        }
    }
}

impl RemoteIndex {
    /// The index `name`. Its documents are kept in `NAME-vFORMAT`, so that a version that cuts text in another way fills an
    /// index of its own next to the old one; how far it is stands in
    /// `NAME-vFORMAT-state`.
    pub fn new(transport: Arc<dyn Transport>, name: &str) -> Self {
        Self {
            transport,
            name: name.to_owned(),
        }
    }

    /// Where the engine is, and the name of the index.
    pub fn place(&self) -> String {
        format!("{}/{}", self.transport.address(), self.documents())
    }

    /// How far the index is; the default where there is none yet.
    pub fn state(&self) -> Result<RemoteState, IndexError> {
        Ok(self.state_with_turn()?.0)
    }

    fn documents(&self) -> String {
        format!("{}-v{FORMAT}", self.name)
    }

    fn state_path(&self, id: &str) -> String {
        format!("/{}-v{FORMAT}-state/_doc/{id}", self.name)
    }

    /// How the texts were cut; none where that is not known.
    fn cut_state(&self) -> Result<Option<CutState>, IndexError> {
        let (status, found) = self.ask("GET", &self.state_path(CUT_STATE_ID), Body::Empty)?;
        if status == 404 {
            return Ok(None);
        }
        self.accepted(status, &found)?;
        Ok(serde_json::from_value(found["_source"].clone()).ok())
    }

    fn set_cut_state(&self, state: &CutState) -> Result<(), IndexError> {
        let path = self.state_path(CUT_STATE_ID);
        let (status, answer) = self.ask("PUT", &path, Body::Json(&json!(state)))?;
        self.accepted(status, &answer)
    }

    /// The state, and what the next one must name so that nobody else has written one meanwhile; none where there is no state
    /// yet.
    fn state_with_turn(&self) -> Result<(RemoteState, Option<(u64, u64)>), IndexError> {
        let (status, found) = self.ask("GET", &self.state_path(STATE_ID), Body::Empty)?;
        if status == 404 {
            return Ok((RemoteState::default(), None));
        }
        self.accepted(status, &found)?;
        let state = serde_json::from_value(found["_source"].clone())
            .map_err(|e| self.failed(format!("its state cannot be read: {e}")))?;
        let number = |name: &str| found[name].as_u64().unwrap_or_default();
        Ok((state, Some((number("_seq_no"), number("_primary_term")))))
    }

    /// Writes the state, if it is still the one of `turn`. Gives the turn of the next one.
    fn set_state(
        &self,
        state: &RemoteState,
        turn: Option<(u64, u64)>,
    ) -> Result<Option<(u64, u64)>, IndexError> {
        let condition = match turn {
            None => "op_type=create".to_owned(),
            Some((number, term)) => format!("if_seq_no={number}&if_primary_term={term}"),
        };
        let path = format!("{}?{condition}", self.state_path(STATE_ID));
        let body = json!(state);
        let (status, answer) = self.ask("PUT", &path, Body::Json(&body))?;
        if status == 409 {
            return Err(self.failed("another taojin writes it; this one waits".to_owned()));
        }
        self.accepted(status, &answer)?;
        let number = |name: &str| answer[name].as_u64().unwrap_or_default();
        Ok(Some((number("_seq_no"), number("_primary_term"))))
    }

    /// Makes the index where there is none. Gives the name that the engine has for it: that of one made again is another.
    fn ensure(&self, shards: u32, replicas: u32) -> Result<String, IndexError> {
        if let Some(uuid) = self.uuid()? {
            return Ok(uuid);
        }
        let (status, engine) = self.ask("GET", "/", Body::Empty)?;
        self.accepted(status, &engine)?;
        let body = document::of_documents(document::similarity(&engine), shards, replicas);
        self.create(&format!("/{}", self.documents()), &body)?;
        let path = format!("/{}-v{FORMAT}-state", self.name);
        self.create(&path, &document::of_state(replicas))?;
        let uuid = self.uuid()?;
        uuid.ok_or_else(|| self.failed("it was made and is not there".to_owned()))
    }

    /// The engine's own name for the index; none where there is no index. One that the engine made by itself, for a document
    /// that came after the index was deleted there, cuts texts in its own way and is refused.
    fn uuid(&self) -> Result<Option<String>, IndexError> {
        let name = self.documents();
        let (status, found) = self.ask("GET", &format!("/{name}"), Body::Empty)?;
        if status == 404 {
            return Ok(None);
        }
        self.accepted(status, &found)?;
        let found = &found[&name];
        if found["mappings"]["_meta"]["format"] != FORMAT {
            return Err(self.failed(
                "this index was not made by taojin; delete it there, and taojin makes it again"
                    .to_owned(),
            ));
        }
        let uuid = found["settings"]["index"]["uuid"].as_str();
        Ok(Some(uuid.unwrap_or_default().to_owned()))
    }

    fn create(&self, path: &str, body: &Value) -> Result<(), IndexError> {
        let (status, answer) = self.ask("PUT", path, Body::Json(body))?;
        let exists = answer["error"]["type"] == "resource_already_exists_exception";
        if exists {
            Ok(())
        } else {
            self.accepted(status, &answer).map(drop)
        }
    }

    /// The answer to a search.
    fn search(
        &self,
        parameters: &str,
        body: &Value,
        stop: &CancellationToken,
    ) -> Result<Value, IndexError> {
        let path = format!("/{}/_search?{parameters}", self.documents());
        let (status, answer) = self.ask_until("POST", &path, Body::Json(body), stop)?;
        if status == 404 && answer["error"]["type"] == "index_not_found_exception" {
            return Err(IndexError::RemoteMissing(self.place()));
        }
        self.accepted(status, &answer)?;
        // An answer of some shards looks whole and is not.
        if answer["timed_out"] == true || answer["_shards"]["failed"].as_u64() > Some(0) {
            return Err(self.failed(format!("a part of it did not answer: {}", message(&answer))));
        }
        Ok(answer)
    }

    fn ask(&self, method: &str, path: &str, body: Body<'_>) -> Result<(u16, Value), IndexError> {
        self.ask_until(method, path, body, &CancellationToken::default())
    }

    fn ask_until(
        &self,
        method: &str,
        path: &str,
        body: Body<'_>,
        stop: &CancellationToken,
    ) -> Result<(u16, Value), IndexError> {
        let sent = self.transport.send(method, path, body, stop);
        match sent {
            Ok(answer) => Ok(answer),
            Err(_) if stop.is_stopped() => Err(IndexError::Stopped),
            Err(cause) => Err(self.failed(cause)),
        }
    }

    fn accepted(&self, status: u16, answer: &Value) -> Result<(), IndexError> {
        match status {
            200..300 => Ok(()),
            // Also 403: a cluster whose disks are nearly full takes nothing in.
            _ if is_blocked(answer) => Err(self.failed(format!(
                "it is blocked, mostly because its disks are nearly full: free some or add a node; {}",
                message(answer)
            ))),
            401 | 403 => Err(self.failed(format!(
                "it refuses this user (status {status}): set search.user and search.password_file; {}",
                message(answer)
            ))),
            _ => Err(self.failed(format!("status {status}: {}", message(answer)))),
        }
    }

    fn failed(&self, cause: String) -> IndexError {
        IndexError::Remote {
            place: self.place(),
            cause,
        }
    }
}

/// Whether the engine refuses a change because of a block on the cluster or the index, and not because of who asks.
fn is_blocked(answer: &Value) -> bool {
    let error = &answer["error"];
    let kind = error["root_cause"].get(0).unwrap_or(error)["type"].as_str();
    kind.is_some_and(|kind| {
        kind == "cluster_block_exception" || kind == "index_create_block_exception"
    })
}

/// What an answer says of an error, in short.
fn message(answer: &Value) -> String {
    let error = &answer["error"];
    let cause = error["root_cause"].get(0).unwrap_or(error);
    let text = match (cause["type"].as_str(), cause["reason"].as_str()) {
        (Some(kind), Some(reason)) => format!("{kind}: {reason}"),
        _ => answer.to_string(),
    };
    text.chars().take(MESSAGE_CHARS).collect()
}

/// A number of 64 bits as the engine keeps it.
fn hex(number: u64) -> String {
    format!("{number:016x}")
}

fn unhex(value: &Value) -> Option<u64> {
    u64::from_str_radix(value.as_str()?, 16).ok()
}
