//! Tries everything that an index needs of its engine, for `taojin check --online`: whether each host answers, the state of the
//! cluster, what blocks it, whose the index is and how it was made, scripts, and the right to write.
//!
//! Nothing is changed but one document of the state index, which is written and deleted.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::super::IndexError;
use super::super::rank::plan::Plan;
use super::super::stop::CancellationToken;
use super::super::view::Order;
use super::document::of_documents;
use super::json::ordered;
use super::trouble::{block_detail, message};
use super::{Body, EngineTrouble, EngineVersion, Found, Layout, Origin, RemoteIndex, Request};

/// The document by which the right to write is tried.
const PROBE_ID: &str = "probe";

/// How a thing that was tried turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// As it should be.
    Good,
    /// Something does not work, or could not be tried, and documents are indexed and found all the same.
    Warning,
    /// Documents are not indexed or not found.
    Trouble,
}

/// One thing that was tried.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The address of a host, or the place of the index.
    pub subject: String,
    /// How it turned out.
    pub severity: Severity,
    /// What came of it, in one line.
    pub text: String,
    /// How long that took.
    pub took: Duration,
}

/// What the engine should have.
#[derive(Debug, Clone)]
pub struct Expected {
    /// The store; none while there is no store that can be read.
    pub origin: Option<Origin>,
    /// How an index is made.
    pub layout: Layout,
}

/// Tries the engine of an index, until `stop` is set. The findings come in the order in which they should be read.
pub fn inspect(index: &RemoteIndex, expected: Expected, stop: &CancellationToken) -> Vec<Finding> {
    let mut inspection = Inspection {
        index,
        expected,
        stop,
        findings: Vec::new(),
        began: Instant::now(),
    };
    if let Err(error) = inspection.run()
        && !matches!(error, IndexError::Stopped)
    {
        inspection.note_error(&error);
    }
    inspection.findings
}

struct Inspection<'a> {
    index: &'a RemoteIndex,
    expected: Expected,
    stop: &'a CancellationToken,
    findings: Vec<Finding>,
    /// When the thing that is being tried was begun.
    began: Instant,
}

impl Inspection<'_> {
    fn run(&mut self) -> Result<(), IndexError> {
        let Some(version) = self.try_hosts()? else {
            return Ok(());
        };
        let health = self.try_health();
        self.noted(health)?;
        let blocks = self.try_blocks();
        self.noted(blocks)?;
        let state = self.try_state();
        let is_own = self.noted(state)?;
        let found = self.index.found();
        let found = self.noted(found)?.flatten();
        if let Some(found) = &found
            && is_own == Some(true)
        {
            let mapping = self.try_mapping(found, &version);
            self.noted(mapping)?;
        }
        let scripts = self.try_scripts(found.is_some());
        self.noted(scripts)?;
        match is_own {
            Some(is_own) => self.try_to_write(is_own),
            None => Ok(()),
        }
    }

    /// What came of one thing: its trouble is noted, and the next one is tried.
    fn noted<T>(&mut self, tried: Result<T, IndexError>) -> Result<Option<T>, IndexError> {
        match tried {
            Ok(found) => Ok(Some(found)),
            Err(IndexError::Stopped) => Err(IndexError::Stopped),
            Err(error) => {
                self.note_error(&error);
                Ok(None)
            }
        }
    }

    fn note(&mut self, severity: Severity, text: impl Into<String>) {
        self.note_of(self.index.place(), severity, text.into());
    }

    fn note_of(&mut self, subject: String, severity: Severity, text: String) {
        self.findings.push(Finding {
            subject,
            severity,
            text,
            took: self.began.elapsed(),
        });
        self.began = Instant::now();
    }

    /// Notes what went wrong without the place, which the finding names.
    fn note_error(&mut self, error: &IndexError) {
        match error {
            IndexError::Remote { trouble, .. } => self.note(Severity::Trouble, trouble.detail()),
            error => self.note(Severity::Trouble, error.to_string()),
        }
    }

    fn ask(&self, request: &Request<'_>) -> Result<(u16, Value), IndexError> {
        self.index.ask_until(request, self.stop)
    }

    /// Asks for what a user may lack the right to see: an answer, or none.
    fn ask_if_allowed(&mut self, path: &str, right: &str) -> Result<Option<Value>, IndexError> {
        let (status, answer) = self.ask(&Request::new("GET", path, Body::Empty))?;
        if status == 403 {
            self.note(
                Severity::Warning,
                format!("{right} is not a right of this user, so this was not tried"),
            );
            return Ok(None);
        }
        self.index.accepted(status, &answer)?;
        Ok(Some(answer))
    }

    /// The version of the engine, if at least one host of it is of use.
    fn try_hosts(&mut self) -> Result<Option<EngineVersion>, IndexError> {
        let mut version = None;
        for host in self.index.hosts() {
            let request = Request::new("GET", "/", Body::Empty);
            let sent = self
                .index
                .transport
                .send_to(&host.address, &request, self.stop);
            if self.stop.is_stopped() {
                return Err(IndexError::Stopped);
            }
            let known = sent.and_then(|(status, answer)| {
                if status == 200 {
                    EngineVersion::new(&answer)
                } else {
                    Err(EngineTrouble::from_answer(status, &answer))
                }
            });
            match known {
                Ok(known) => {
                    self.note_of(host.address, Severity::Good, format!("{known} answers"));
                    version = Some(known);
                }
                Err(trouble) => {
                    self.note_of(host.address, Severity::Trouble, trouble.detail().to_owned())
                }
            }
        }
        Ok(version)
    }

    /// Whose the index is, and how far. Returns whether it is this store's, or may be.
    fn try_state(&mut self) -> Result<bool, IndexError> {
        let (state, turn) = self.index.states().read()?;
        if turn.is_none() {
            self.note(
                Severity::Good,
                "there is no index yet; `taojin run`, `crawl` or `import` makes it",
            );
            return Ok(false);
        }
        match &self.expected.origin {
            Some(origin) if origin.store == state.store => {}
            Some(origin) if origin.replaced.contains(&state.store) => self.note(
                Severity::Warning,
                "the index was made from the store whose place this one took: `taojin run`, `crawl` or `import` makes it again",
            ),
            Some(_) => {
                self.note(
                    Severity::Trouble,
                    "the index was made from another store: give search.index another name; or, where that store is no more, \
                     have `taojin reindex --take-over` make it again from this one",
                );
                return Ok(false);
            }
            None => self.note(
                Severity::Warning,
                "whether the index was made from this store cannot be told: there is no store yet, or it cannot be read",
            ),
        }
        let seq = state.served.seq;
        let text = if seq == 0 {
            "the index has no documents yet".to_owned()
        } else {
            format!("the index has all changes up to {seq}")
        };
        self.note(Severity::Good, text);
        Ok(true)
    }

    /// Whether the fields of the index are those that this version makes.
    fn try_mapping(&mut self, found: &Found, version: &EngineVersion) -> Result<(), IndexError> {
        let name = self.index.names.numbered(found.number);
        let path = format!("/{name}");
        let (status, answer) = self.ask(&Request::new("GET", &path, Body::Empty))?;
        self.index.accepted(status, &answer)?;
        let wanted = of_documents(version.similarity(), self.expected.layout);
        let (wanted, there) = (&wanted["mappings"], &answer[&name]["mappings"]);
        let differing = differing_fields(wanted, there);
        if differing.is_empty() {
            self.note(Severity::Good, "its fields are those of this version");
        } else {
            let fields = differing.join(", ");
            self.note(
                Severity::Trouble,
                format!("these fields are not as this version makes them: {fields}; mend: taojin reindex"),
            );
        }
        Ok(())
    }

    /// Whether something keeps the engine from taking documents in.
    fn try_blocks(&mut self) -> Result<(), IndexError> {
        let right = "cluster:monitor/state";
        let Some(answer) = self.ask_if_allowed("/_cluster/state/blocks", right)? else {
            return Ok(());
        };
        let blocks = &answer["blocks"];
        let indexes = blocks["indices"].as_object().into_iter().flatten();
        let own = indexes
            .filter(|(name, _)| self.index.names.is_own(name))
            .map(|(_, blocks)| blocks);
        let all: Vec<(u32, String)> = std::iter::once(&blocks["global"])
            .chain(own)
            .filter_map(Value::as_object)
            .flatten()
            .filter_map(|(id, block)| {
                let said = block["description"].as_str().unwrap_or_default();
                Some((id.parse().ok()?, said.to_owned()))
            })
            .collect();
        if all.is_empty() {
            self.note(Severity::Good, "nothing is blocked");
        }
        for (id, said) in all {
            let (_, text) = block_detail(&[id], &said);
            self.note(Severity::Trouble, text);
        }
        Ok(())
    }

    /// Whether all parts of the index are there, and enough nodes for their copies.
    fn try_health(&mut self) -> Result<(), IndexError> {
        let (path, right) = ("/_cluster/health?level=indices", "cluster:monitor/health");
        let Some(health) = self.ask_if_allowed(path, right)? else {
            return Ok(());
        };
        let is_red = |health: &Value| health["status"] == "red";
        let indexes = health["indices"].as_object().into_iter().flatten();
        let own: Vec<&Value> = indexes
            .filter(|(name, _)| self.index.names.is_own(name))
            .map(|(_, health)| health)
            .collect();
        let nodes = health["number_of_data_nodes"].as_u64().unwrap_or_default();
        let colour = health["status"].as_str().unwrap_or("unknown");
        let of_nodes = format!(
            "the cluster is {colour}, with {nodes} data node{}",
            if nodes == 1 { "" } else { "s" }
        );
        if own.iter().any(|index| is_red(index)) || own.is_empty() && is_red(&health) {
            self.note(
                Severity::Trouble,
                format!("{of_nodes}: some of its shards are not available: start the nodes that have them, or make the index again with `taojin reindex`"),
            );
        } else if is_red(&health) {
            self.note(
                Severity::Warning,
                format!("{of_nodes}: shards of other indexes are not available"),
            );
        } else if own.iter().any(|index| index["status"] == "yellow") {
            self.note(
                Severity::Warning,
                format!("{of_nodes}: copies of some shards are not there"),
            );
        } else {
            self.note(Severity::Good, of_nodes);
        }
        let made = own.iter().map(|index| &index["number_of_replicas"]);
        let made = made.filter_map(Value::as_u64).max();
        let replicas = made.unwrap_or(u64::from(self.expected.layout.replicas));
        if nodes > 0 && replicas >= nodes {
            let most = nodes - 1;
            let again = if made.is_some() {
                ", then taojin reindex"
            } else {
                ""
            };
            self.note(
                Severity::Warning,
                format!("search.replicas = {replicas} needs {} data nodes, and there are {nodes}: set search.replicas = {most}{again}", replicas + 1),
            );
        }
        Ok(())
    }

    /// Whether hits can be ordered by score and age.
    fn try_scripts(&mut self, is_there: bool) -> Result<(), IndexError> {
        let aged = Order::Aged {
            now_ms: 0,
            half_life_ms: 1,
        };
        let (path, body) = if is_there {
            let path = format!("/{}/_search?request_cache=false", self.index.alias());
            let (query, _) = ordered(&Plan::All, aged, 1.0);
            let body = json!({"size": 0, "terminate_after": 1, "query": query});
            (path, body)
        } else {
            let body = json!({"script": {"source": "return 1"}});
            ("/_scripts/painless/_execute".to_owned(), body)
        };
        let (status, answer) = self.ask(&Request::new("POST", &path, Body::Json(&body)))?;
        match status {
            200 => self.note(Severity::Good, "scripts in Painless work"),
            403 if !is_there => self.note(
                Severity::Warning,
                "scripts in Painless are tried once there is an index",
            ),
            _ => {
                let said = message(&answer);
                self.note(
                    Severity::Warning,
                    format!("scripts in Painless do not work, and sort=both needs them: allow them there (script.allowed_types, script.allowed_contexts); {said}"),
                );
            }
        }
        Ok(())
    }

    /// Whether this user may write documents.
    fn try_to_write(&mut self, is_there: bool) -> Result<(), IndexError> {
        if !is_there {
            self.note(
                Severity::Good,
                "the right to make an index and to write was not tried: there is none of this store",
            );
            return Ok(());
        }
        let path = self.index.names.state_path(PROBE_ID);
        let body = json!({"probe": true});
        for (method, body) in [("PUT", Body::Json(&body)), ("DELETE", Body::Empty)] {
            let (status, answer) = self.ask(&Request::new(method, &path, body))?;
            self.index.accepted(status, &answer)?;
        }
        self.note(Severity::Good, "this user may write");
        Ok(())
    }
}

/// Names of the fields that are missing or of another kind. An engine leaves out what is its default, and adds what it likes.
fn differing_fields(wanted: &Value, there: &Value) -> Vec<String> {
    let default = |option: &str| match option {
        "index_options" => json!("positions"),
        "index" | "doc_values" => json!(true),
        _ => Value::Null,
    };
    let is_equal = |wanted: &Value, there: &Value| {
        let options = wanted.as_object().into_iter().flatten();
        let mut options = options.map(|(option, value)| {
            let there = there.get(option).cloned();
            there.unwrap_or_else(|| default(option)) == *value
        });
        options.all(|is_equal| is_equal)
    };
    let empty = Map::new();
    let properties = wanted["properties"].as_object().unwrap_or(&empty);
    let differing = properties
        .iter()
        .filter(|(name, wanted)| !is_equal(wanted, &there["properties"][name.as_str()]));
    differing.map(|(name, _)| name.clone()).collect()
}
