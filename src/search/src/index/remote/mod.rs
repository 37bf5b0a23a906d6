//! An index in OpenSearch or Elasticsearch with the same documents, queries and results as the embedded one. Texts are
//! sent as the terms that this program cuts, so a lexicon acts in queries only and stays live; what a hit shows is read
//! from the store. Requests are carried by a [`Transport`]; nothing here opens a connection.

mod document;
mod json;
mod lease;
mod state;
#[cfg(test)]
mod tests;
mod view;
mod writer;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::IndexError;
use super::schema::FORMAT;
use super::stop::CancellationToken;
use state::StateDocuments;

pub use lease::{Origin, RemoteLease};
pub use state::{Progress, RemoteState};
pub(super) use view::RemoteView;
pub use writer::{Layout, RemoteWriter};

/// A search is asked so often where a part of the index does not answer: that of a machine which just went away is answered
/// by another copy the next time.
const SEARCH_ATTEMPTS: u32 = 3;
/// Pause before it is asked again.
const PAUSE_BETWEEN_ATTEMPTS: Duration = Duration::from_millis(100);
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

/// Which of the two indexes that a name may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The one that is searched.
    Served,
    /// The one that is being made, and takes its place once it has everything.
    Fresh,
}

/// An index in an engine that is reached over the network.
#[derive(Clone)]
pub struct RemoteIndex {
    transport: Arc<dyn Transport>,
    name: String,
    role: Role,
    /// Ends what is asked for the writer.
    stop: CancellationToken,
}

/// An index as the engine has it.
struct Found {
    number: u64,
    uuid: String,
}

impl RemoteIndex {
    /// The index `name`. Its documents are in an index `NAME-vFORMAT-NUMBER`, which the alias `NAME-vFORMAT` leads to, so
    /// that another one can take its place at once, and so that a version that cuts text in another way fills an index of its
    /// own. How far it is stands in `NAME-vFORMAT-state`.
    pub fn new(transport: Arc<dyn Transport>, name: &str) -> Self {
        Self {
            transport,
            name: name.to_owned(),
            role: Role::Served,
            stop: CancellationToken::default(),
        }
    }

    /// The same index, whose writer gives up once this token is stopped.
    pub fn with_stop(self, stop: CancellationToken) -> Self {
        Self { stop, ..self }
    }

    /// The index that is to take the place of this one.
    fn fresh(&self) -> Self {
        Self {
            role: Role::Fresh,
            ..self.clone()
        }
    }

    /// Where the engine is, and the name of the index.
    pub fn place(&self) -> String {
        format!("{}/{}", self.transport.address(), self.alias())
    }

    /// How far the index is; the default where there is none yet.
    pub fn state(&self) -> Result<RemoteState, IndexError> {
        Ok(self.states().read()?.0)
    }

    fn states(&self) -> StateDocuments<'_> {
        StateDocuments(self)
    }

    /// Which engine answers, and its version. An error where it is none that this program can use.
    pub fn engine_version(&self) -> Result<EngineVersion, IndexError> {
        let (status, answer) = self.ask("GET", "/", Body::Empty)?;
        self.accepted(status, &answer)?;
        EngineVersion::new(&answer).map_err(|cause| self.failed(cause))
    }

    /// The alias that documents are written and searched by.
    fn alias(&self) -> String {
        let served = format!("{}-v{FORMAT}", self.name);
        match self.role {
            Role::Served => served,
            Role::Fresh => served + "-fresh",
        }
    }

    fn numbered(&self, number: u64) -> String {
        format!("{}{number}", self.numbered_prefix())
    }

    fn numbered_prefix(&self) -> String {
        format!("{}-v{FORMAT}-", self.name)
    }

    /// Makes the index with this number, which the alias then leads to. Gives the name that the engine has for it.
    fn create_numbered(
        &self,
        number: u64,
        version: &EngineVersion,
        layout: Layout,
    ) -> Result<String, IndexError> {
        let mut body = document::of_documents(version.similarity(), layout);
        body["aliases"] = json!({ self.alias(): {} });
        self.create(&self.numbered(number), &body)?;
        let found = self.found()?.map(|found| found.uuid);
        found.ok_or_else(|| self.failed("it was made and is not there".to_owned()))
    }

    /// The index that the alias leads to; none where it leads nowhere.
    fn found(&self) -> Result<Option<Found>, IndexError> {
        let alias = self.alias();
        let (status, found) = self.ask("GET", &format!("/{alias}"), Body::Empty)?;
        if status == 404 {
            return Ok(None);
        }
        self.accepted(status, &found)?;
        let indexes = found.as_object().into_iter().flatten();
        let [(name, found)] = indexes.collect::<Vec<_>>()[..] else {
            return Err(self.failed(
                "this alias leads to several indexes; let it lead to one of them".to_owned(),
            ));
        };
        let number = name.strip_prefix(&self.numbered_prefix());
        let number = number.and_then(|number| number.parse().ok());
        match number {
            Some(number) if found["mappings"]["_meta"]["format"] == FORMAT => Ok(Some(Found {
                number,
                uuid: found["settings"]["index"]["uuid"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
            })),
            _ => Err(self.failed(format!(
                "the index {name} was not made by this version of taojin; delete it there, and it is made again"
            ))),
        }
    }

    /// An error where the index is another one than this progress is of.
    fn require(&self, progress: &Progress) -> Result<(), IndexError> {
        let found = self.found()?;
        if found.is_some_and(|found| found.uuid == progress.uuid) {
            return Ok(());
        }
        let cause = "the index was deleted there; it is made again from the store";
        Err(self.failed(cause.to_owned()))
    }

    /// Deletes the indexes of this name that are not in use: whoever made them ended before they were of any. Returns their names.
    fn remove_orphans(&self, known: &[&Progress]) -> Result<Vec<String>, IndexError> {
        let prefix = self.numbered_prefix();
        let (status, all) = self.ask(
            "GET",
            &format!("/{prefix}*/_settings/index.uuid"),
            Body::Empty,
        )?;
        self.accepted(status, &all)?;
        let mut removed = Vec::new();
        for (name, index) in all.as_object().into_iter().flatten() {
            let number = name.strip_prefix(&prefix);
            let is_numbered = number.is_some_and(|number| number.parse::<u64>().is_ok());
            let uuid = index["settings"]["index"]["uuid"].as_str();
            let is_known = known.iter().any(|known| Some(known.uuid.as_str()) == uuid);
            if is_numbered && !is_known {
                let (status, answer) = self.ask("DELETE", &format!("/{name}"), Body::Empty)?;
                self.accepted(status, &answer)?;
                removed.push(name.clone());
            }
        }
        Ok(removed)
    }

    /// Sends the lines of a bulk request.
    fn send_bulk(&self, lines: &[u8]) -> Result<(u16, Value), IndexError> {
        // Without it the engine would make an index of its own where this one was deleted.
        let path = format!("/{}/_bulk?require_alias=true", self.alias());
        self.ask("POST", &path, Body::Lines(lines))
    }

    /// Has the engine write all that it has taken in into its files, so that a machine that starts again has nothing to replay.
    fn flush(&self) -> Result<(), IndexError> {
        let path = format!("/{}/_flush", self.alias());
        let (status, answer) = self.ask("POST", &path, Body::Empty)?;
        self.accepted(status, &answer)
    }

    /// Lets the alias of this index lead to the fresh one, and deletes the one that it led to, in one step.
    fn put_in_place(&self, served: &Progress, fresh: &Progress) -> Result<(), IndexError> {
        let (old, new) = (self.numbered(served.number), self.numbered(fresh.number));
        let actions = json!({"actions": [
            {"remove_index": {"index": old}},
            {"add": {"index": new, "alias": self.alias()}},
            {"remove": {"index": new, "alias": self.fresh().alias()}},
        ]});
        let (status, answer) = self.ask("POST", "/_aliases", Body::Json(&actions))?;
        self.accepted(status, &answer)?;
        self.states().forget_cut_state(&served.uuid)
    }

    /// Deletes what the alias leads to.
    fn remove(&self) -> Result<(), IndexError> {
        let alias = self.alias();
        let (status, found) = self.ask("GET", &format!("/_alias/{alias}"), Body::Empty)?;
        self.accepted(status, &found)?;
        for name in found
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
        {
            let (status, answer) = self.ask("DELETE", &format!("/{name}"), Body::Empty)?;
            self.accepted(status, &answer)?;
        }
        Ok(())
    }

    fn create(&self, name: &str, body: &Value) -> Result<(), IndexError> {
        let (status, answer) = self.ask("PUT", &format!("/{name}"), Body::Json(body))?;
        let exists = answer["error"]["type"] == "resource_already_exists_exception";
        if exists {
            Ok(())
        } else {
            self.accepted(status, &answer)
        }
    }

    /// The answer to a search.
    fn search(
        &self,
        parameters: &str,
        body: &Value,
        stop: &CancellationToken,
    ) -> Result<Value, IndexError> {
        let path = format!("/{}/_search?{parameters}", self.alias());
        self.ask_whole(&path, Body::Json(body), stop, std::slice::from_ref)
    }

    /// How many documents each of the queries fits, asked with one request.
    fn totals(&self, queries: &[Value]) -> Result<Vec<u64>, IndexError> {
        let mut lines = Vec::new();
        for query in queries {
            let body = json!({"size": 0, "track_total_hits": true, "query": query});
            lines.extend_from_slice(format!("{{}}\n{body}\n").as_bytes());
        }
        let path = format!("/{}/_msearch", self.alias());
        let never = CancellationToken::default();
        let answer = self.ask_whole(&path, Body::Lines(&lines), &never, responses)?;
        let totals: Vec<u64> = responses(&answer).iter().map(total).collect();
        if totals.len() != queries.len() {
            let (got, asked) = (totals.len(), queries.len());
            return Err(self.failed(format!("{got} answers to {asked} searches")));
        }
        Ok(totals)
    }

    /// The answer to a request of one or several searches, once none of them lacks a part of the index.
    fn ask_whole(
        &self,
        path: &str,
        body: Body<'_>,
        stop: &CancellationToken,
        searches: fn(&Value) -> &[Value],
    ) -> Result<Value, IndexError> {
        let mut attempt = 1;
        loop {
            let (status, answer) = self.ask_until("POST", path, body, stop)?;
            let status_of = |search: &Value| {
                let own = search["status"].as_u64();
                own.and_then(|own| u16::try_from(own).ok())
                    .unwrap_or(status)
            };
            let is_lost =
                |search: &Value| is_partial(search) || matches!(status_of(search), 502..=504);
            let lost = matches!(status, 502..=504) || searches(&answer).iter().any(is_lost);
            if lost && attempt < SEARCH_ATTEMPTS && !stop.is_stopped() {
                attempt += 1;
                std::thread::sleep(PAUSE_BETWEEN_ATTEMPTS);
                continue;
            }
            for search in searches(&answer) {
                let status = status_of(search);
                if status == 404 && search["error"]["type"] == "index_not_found_exception" {
                    return Err(IndexError::RemoteMissing(self.place()));
                }
                self.accepted(status, search)?;
                if is_partial(search) {
                    let cause = format!("a part of it did not answer: {}", message(search));
                    return Err(self.failed(cause));
                }
            }
            self.accepted(status, &answer)?;
            return Ok(answer);
        }
    }

    fn ask(&self, method: &str, path: &str, body: Body<'_>) -> Result<(u16, Value), IndexError> {
        self.ask_until(method, path, body, &self.stop)
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

/// The engine behind an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineVersion {
    is_opensearch: bool,
    major: u32,
    number: String,
}

impl EngineVersion {
    /// The least versions that know all that is asked of them: an alias that a write requires came with 7.10, OpenSearch 2
    /// is the oldest that is tested.
    const LEAST: [((bool, u32), &'static str); 2] =
        [((true, 2), "OpenSearch 2"), ((false, 8), "Elasticsearch 8")];

    /// From what an engine says of itself; an error says why it is of no use.
    fn new(answer: &Value) -> Result<Self, String> {
        let version = &answer["version"];
        let number = version["number"].as_str().unwrap_or_default();
        let major = number
            .split('.')
            .next()
            .and_then(|major| major.parse().ok());
        let Some(major) = major else {
            return Err(
                "what answers there is neither OpenSearch nor Elasticsearch: set search.url"
                    .to_owned(),
            );
        };
        let engine = Self {
            is_opensearch: version["distribution"] == "opensearch",
            major,
            number: number.to_owned(),
        };
        let wanted = Self::LEAST.iter().find(|((is_opensearch, least), _)| {
            *is_opensearch == engine.is_opensearch && major < *least
        });
        match wanted {
            Some((_, least)) => Err(format!("{engine} is too old: {least} or later is needed")),
            None => Ok(engine),
        }
    }

    /// Name of BM25 with the factor k1 + 1. OpenSearch has given the plain name to the one without it since version 3; other
    /// engines and versions have one only.
    fn similarity(&self) -> &'static str {
        if self.is_opensearch && self.major >= 3 {
            "LegacyBM25"
        } else {
            "BM25"
        }
    }
}

impl fmt::Display for EngineVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.is_opensearch {
            "OpenSearch"
        } else {
            "Elasticsearch"
        };
        write!(f, "{name} {}", self.number)
    }
}

/// Whether an answer is of some shards only: it looks whole and is not.
fn is_partial(search: &Value) -> bool {
    search["timed_out"] == true || search["_shards"]["failed"].as_u64() > Some(0)
}

/// The answers of several searches.
fn responses(answer: &Value) -> &[Value] {
    answer["responses"].as_array().map_or(&[], Vec::as_slice)
}

/// How many documents a search fits.
fn total(search: &Value) -> u64 {
    search["hits"]["total"]["value"]
        .as_u64()
        .unwrap_or_default()
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
