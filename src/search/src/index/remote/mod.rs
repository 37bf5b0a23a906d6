//! An index in OpenSearch or Elasticsearch with the same documents, queries and results as the embedded one. Texts are
//! sent as the terms that this program cuts, so a lexicon acts in queries only and stays live; what a hit shows is read
//! from the store. Requests are carried by a [`Transport`]; nothing here opens a connection.

mod document;
mod inspect;
mod json;
mod lease;
mod state;
#[cfg(test)]
mod tests;
mod trouble;
mod view;
mod writer;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::IndexError;
use super::schema::FORMAT;
use super::stop::CancellationToken;
use state::StateDocuments;

pub use inspect::{Expected, Finding, Severity, inspect};
pub use lease::{Colour, Origin, RemoteLease};
pub use state::{Progress, RemoteState};
use trouble::message;
pub use trouble::{EngineTrouble, TroubleKind};
pub(super) use view::RemoteView;
pub use view::size_bytes;
pub use writer::{Layout, RemoteWriter};

/// A search is asked so often where a part of the index does not answer: that of a machine which just went away is answered
/// by another copy the next time.
const SEARCH_ATTEMPTS: u32 = 3;
/// Pause before it is asked again.
const PAUSE_BETWEEN_ATTEMPTS: Duration = Duration::from_millis(100);

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

/// How long a request may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// What each host knows by heart: an answer that takes longer than about a second will not come.
    LookUp,
    /// What takes as long as it takes, while the host answers look-ups.
    Work,
}

/// A request to the engine.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// `GET`, `POST`, `PUT` or `DELETE`.
    pub method: &'a str,
    /// Begins with a slash.
    pub path: &'a str,
    /// What is sent with it.
    pub body: Body<'a>,
    /// How long it may take.
    pub patience: Patience,
    /// Whether it does the same when it is carried out twice, and so may be sent again where its answer was lost.
    pub is_repeatable: bool,
}

impl<'a> Request<'a> {
    /// A request that may be repeated; what only reads is a look-up.
    pub fn new(method: &'a str, path: &'a str, body: Body<'a>) -> Self {
        let patience = if method == "GET" {
            Patience::LookUp
        } else {
            Patience::Work
        };
        Self {
            method,
            path,
            body,
            patience,
            is_repeatable: true,
        }
    }
}

/// One host of the engine, as this process knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostState {
    /// Its part of `search.url`.
    pub address: String,
    /// Whether it is asked. One that is not known yet counts as up.
    pub is_up: bool,
    /// Since when.
    pub since: SystemTime,
}

/// Carries requests to the engine.
pub trait Transport: Send + Sync {
    /// Sends a request to a host that is up and waits for its answer: status and body. An error says why there is no answer; the
    /// request is given up when `stop` is set.
    fn send(
        &self,
        request: &Request<'_>,
        stop: &CancellationToken,
    ) -> Result<(u16, Value), EngineTrouble>;

    /// The same to the host at this address only, whether it is up or not. As if there were no other one, where nothing else is said.
    fn send_to(
        &self,
        _address: &str,
        request: &Request<'_>,
        stop: &CancellationToken,
    ) -> Result<(u16, Value), EngineTrouble> {
        self.send(request, stop)
    }

    /// Where requests go, for messages.
    fn address(&self) -> &str;

    /// The hosts that requests go to: one that is always up, where nothing else is said.
    fn hosts(&self) -> Vec<HostState> {
        vec![HostState {
            address: self.address().to_owned(),
            is_up: true,
            since: SystemTime::UNIX_EPOCH,
        }]
    }
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
    names: IndexNames,
    role: Role,
    /// Ends what is asked for the writer.
    stop: CancellationToken,
}

/// The names in the engine of all that belongs to one index: they begin with `NAME-vFORMAT`.
#[derive(Debug, Clone)]
struct IndexNames(String);

impl IndexNames {
    fn new(name: &str) -> Self {
        Self(format!("{name}-v{FORMAT}"))
    }

    /// The alias that documents are written and searched by.
    fn alias(&self, role: Role) -> String {
        match role {
            Role::Served => self.0.clone(),
            Role::Fresh => format!("{}-fresh", self.0),
        }
    }

    /// The index of documents with this number.
    fn numbered(&self, number: u64) -> String {
        format!("{}-{number}", self.0)
    }

    /// A pattern that all indexes of documents fit, and that of the state.
    fn all_numbered(&self) -> String {
        format!("{}-*", self.0)
    }

    /// The number of an index of documents.
    fn number_of(&self, index: &str) -> Option<u64> {
        index.strip_prefix(&self.0)?.strip_prefix('-')?.parse().ok()
    }

    /// Whether an index, of documents or of the state, is one of these.
    fn is_own(&self, index: &str) -> bool {
        self.number_of(index).is_some() || index == self.state()
    }

    /// The index of the state.
    fn state(&self) -> String {
        format!("{}-state", self.0)
    }

    /// A document in the index of the state.
    fn state_path(&self, id: &str) -> String {
        format!("/{}-state/_doc/{id}", self.0)
    }
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
            names: IndexNames::new(name),
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
        EngineVersion::new(&answer).map_err(|trouble| self.troubled(trouble))
    }

    /// The hosts of the engine, as this process knows them.
    pub fn hosts(&self) -> Vec<HostState> {
        self.transport.hosts()
    }

    /// The alias that documents are written and searched by.
    fn alias(&self) -> String {
        self.names.alias(self.role)
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
        self.create(&self.names.numbered(number), &body)?;
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
        match self.names.number_of(name) {
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
        let path = format!("/{}/_settings/index.uuid", self.names.all_numbered());
        let (status, all) = self.ask("GET", &path, Body::Empty)?;
        self.accepted(status, &all)?;
        let mut removed = Vec::new();
        for (name, index) in all.as_object().into_iter().flatten() {
            let is_numbered = self.names.number_of(name).is_some();
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

    /// Lets the alias of this index lead to the fresh one, and deletes the one that it led to, in one step.
    fn put_in_place(&self, served: &Progress, fresh: &Progress) -> Result<(), IndexError> {
        let (old, new) = (
            self.names.numbered(served.number),
            self.names.numbered(fresh.number),
        );
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
            let (status, answer) = self.ask_until(&Request::new("POST", path, body), stop)?;
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
                    return Err(self.troubled(EngineTrouble::from_partial(search)));
                }
            }
            self.accepted(status, &answer)?;
            return Ok(answer);
        }
    }

    fn ask(&self, method: &str, path: &str, body: Body<'_>) -> Result<(u16, Value), IndexError> {
        let request = Request::new(method, path, body);
        self.ask_until(&request, &self.stop)
    }

    fn ask_until(
        &self,
        request: &Request<'_>,
        stop: &CancellationToken,
    ) -> Result<(u16, Value), IndexError> {
        match self.transport.send(request, stop) {
            Ok(answer) => Ok(answer),
            Err(_) if stop.is_stopped() => Err(IndexError::Stopped),
            Err(trouble) => Err(self.troubled(trouble)),
        }
    }

    fn accepted(&self, status: u16, answer: &Value) -> Result<(), IndexError> {
        match status {
            200..300 => Ok(()),
            _ => Err(self.troubled(EngineTrouble::from_answer(status, answer))),
        }
    }

    fn troubled(&self, trouble: EngineTrouble) -> IndexError {
        IndexError::Remote {
            place: self.place(),
            trouble,
        }
    }

    fn failed(&self, cause: String) -> IndexError {
        self.troubled(EngineTrouble::new(TroubleKind::Other, cause))
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
    fn new(answer: &Value) -> Result<Self, EngineTrouble> {
        let version = &answer["version"];
        let number = version["number"].as_str().unwrap_or_default();
        let major = number
            .split('.')
            .next()
            .and_then(|major| major.parse().ok());
        let Some(major) = major else {
            return Err(EngineTrouble::new(
                TroubleKind::Misdirected,
                "what answers there is neither OpenSearch nor Elasticsearch: set search.url",
            ));
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
            Some((_, least)) => Err(EngineTrouble::new(
                TroubleKind::Unsupported,
                format!("{engine} is too old: {least} or later is needed"),
            )),
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

/// A number of 64 bits as the engine keeps it.
fn hex(number: u64) -> String {
    format!("{number:016x}")
}

fn unhex(value: &Value) -> Option<u64> {
    u64::from_str_radix(value.as_str()?, 16).ok()
}
