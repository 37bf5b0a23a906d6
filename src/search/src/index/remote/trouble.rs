//! Why an engine does not do what it is asked for: a kind, which decisions go by, and words for whoever can mend it.

use std::fmt;

use serde_json::Value;

/// Characters of an engine's message that are kept.
const MESSAGE_CHARS: usize = 400;

/// What is wrong with an engine, or with the way there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TroubleKind {
    /// No connection, or no answer in time.
    Unreachable,
    /// It does not let this user do that.
    Refusing,
    /// It takes nothing in: its disks are nearly full, or somebody set a block.
    Blocked,
    /// It has not read its indexes yet.
    Starting,
    /// Parts of the index, or the node that leads the others, are not there.
    Red,
    /// It has too much to do.
    Busy,
    /// A request is larger than it takes.
    TooLarge,
    /// Something else answers at this address, or it is asked in another protocol.
    Misdirected,
    /// It is too old for this program.
    Unsupported,
    /// A file or a certificate of the configuration is of no use.
    Misconfigured,
    /// Anything else.
    Other,
}

/// Why an engine did not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineTrouble {
    kind: TroubleKind,
    detail: String,
}

impl EngineTrouble {
    /// `detail` is one line that says what is wrong and what mends it.
    pub fn new(kind: TroubleKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
        }
    }

    /// From an answer that is no success.
    pub fn from_answer(status: u16, answer: &Value) -> Self {
        let said = message(answer);
        if let Some(trouble) = Self::from_blocks(answer, &said) {
            return trouble;
        }
        let (kind, detail) = match (status, error_type(answer)) {
            (401 | 403, _) => (
                TroubleKind::Refusing,
                format!(
                    "it refuses this user (status {status}): set search.user and search.password_file; {said}"
                ),
            ),
            (413, _) => (
                TroubleKind::TooLarge,
                format!(
                    "a request is too large for it (status 413): raise http.max_content_length there, or the limit of the proxy before it; {said}"
                ),
            ),
            (429, _)
            | (
                _,
                Some(
                    "rejected_execution_exception"
                    | "es_rejected_execution_exception"
                    | "circuit_breaking_exception"
                    | "process_cluster_event_timeout_exception",
                ),
            ) => (
                TroubleKind::Busy,
                format!(
                    "it has too much to do (status {status}): this is tried again; if it stays so, give it more memory or nodes; {said}"
                ),
            ),
            (
                _,
                Some(
                    "cluster_manager_not_discovered_exception" | "master_not_discovered_exception",
                ),
            ) => (TroubleKind::Red, leaderless(&said)),
            (_, Some("no_shard_available_action_exception" | "unavailable_shards_exception"))
            | (503, Some(_)) => (
                TroubleKind::Red,
                format!(
                    "some of its shards are not available: start the nodes that have them, or make the index again with `taojin reindex`; {said}"
                ),
            ),
            (502..=504, None) => (
                TroubleKind::Unreachable,
                format!("status {status} without a word of the engine; {said}"),
            ),
            (300..=399, _) => (
                TroubleKind::Misdirected,
                format!("it redirects elsewhere (status {status}): set search.url"),
            ),
            _ => (TroubleKind::Other, format!("status {status}: {said}")),
        };
        Self { kind, detail }
    }

    /// From the answer to a search that lacks a part of the index.
    pub(super) fn from_partial(search: &Value) -> Self {
        let failures = search["_shards"]["failures"].as_array();
        let is_rejected = |failure: &Value| {
            let kind = failure["reason"]["type"].as_str().unwrap_or_default();
            kind.ends_with("rejected_execution_exception") || kind == "circuit_breaking_exception"
        };
        let is_busy =
            search["timed_out"] == true || failures.into_iter().flatten().any(is_rejected);
        let kind = if is_busy {
            TroubleKind::Busy
        } else {
            TroubleKind::Red
        };
        let said = message(search);
        Self::new(kind, format!("a part of it did not answer: {said}"))
    }

    /// From the blocks on the cluster or the index for which a request was refused.
    fn from_blocks(answer: &Value, said: &str) -> Option<Self> {
        let is_block = |kind| {
            matches!(
                kind,
                "cluster_block_exception" | "index_create_block_exception"
            )
        };
        error_type(answer).filter(|kind| is_block(*kind))?;
        let (kind, detail) = block_detail(&blocks(said), said);
        Some(Self { kind, detail })
    }

    /// What decisions go by.
    pub fn kind(&self) -> TroubleKind {
        self.kind
    }

    /// One line that says what is wrong and what mends it.
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl fmt::Display for EngineTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

fn leaderless(said: &str) -> String {
    format!("its nodes have no cluster manager: start those that may be it, or wait; {said}")
}

/// What the blocks with these numbers mean, and what takes them away.
pub(super) fn block_detail(ids: &[u32], said: &str) -> (TroubleKind, String) {
    let has = |known: u32| ids.contains(&known);
    if has(block::NOT_RECOVERED) {
        return (
            TroubleKind::Starting,
            format!("it is starting and has not read its indexes yet: wait a while; {said}"),
        );
    }
    if has(block::NO_CLUSTER_MANAGER) {
        return (TroubleKind::Red, leaderless(said));
    }
    let detail = if has(block::CREATE_INDEX) || has(block::READ_ONLY_ALLOW_DELETE) {
        format!(
            "it is blocked, mostly because its disks are nearly full: free some or add a node; {said}"
        )
    } else {
        format!(
            "somebody set a block on it: take it away with PUT /_settings or /_cluster/settings there; {said}"
        )
    };
    (TroubleKind::Blocked, detail)
}

/// Numbers by which an engine names its blocks.
mod block {
    /// The cluster has not read its state.
    pub(super) const NOT_RECOVERED: u32 = 1;
    /// No node leads the cluster.
    pub(super) const NO_CLUSTER_MANAGER: u32 = 2;
    /// No index may be made: set by the engine while all disks are nearly full.
    pub(super) const CREATE_INDEX: u32 = 10;
    /// Set by the engine on the indexes of a node whose disk is nearly full.
    pub(super) const READ_ONLY_ALLOW_DELETE: u32 = 12;
}

/// The numbers of the blocks that a message names: each stands as `[STATUS/NUMBER/description]`.
fn blocks(said: &str) -> Vec<u32> {
    let named = said.split('[').skip(1);
    let number = |block: &str| block.split('/').nth(1)?.parse().ok();
    named.filter_map(number).collect()
}

/// The engine's own error in an answer.
fn cause(answer: &Value) -> &Value {
    let error = &answer["error"];
    error["root_cause"].get(0).unwrap_or(error)
}

/// Name of the engine's error in an answer; none where it has none.
pub(super) fn error_type(answer: &Value) -> Option<&str> {
    let own = cause(answer)["type"].as_str();
    own.or_else(|| answer["error"]["type"].as_str())
}

/// What an answer says of an error, in one short line.
pub(super) fn message(answer: &Value) -> String {
    let cause = cause(answer);
    let text = match (cause["type"].as_str(), cause["reason"].as_str()) {
        (Some(kind), Some(reason)) => format!("{kind}: {reason}"),
        _ => answer.to_string(),
    };
    let is_line = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().take(MESSAGE_CHARS).map(is_line).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn error(kind: &str, reason: &str) -> Value {
        let cause = json!({"type": kind, "reason": reason});
        json!({"error": {"root_cause": [cause.clone()], "type": kind, "reason": reason}})
    }

    #[test]
    fn trouble_of_answers() {
        let block = |reason: &str| error("cluster_block_exception", reason);
        let html = Value::from("<html>401 Authorization Required</html>");
        for (status, answer, kind, said) in [
            (
                401,
                html.clone(),
                TroubleKind::Refusing,
                "search.password_file",
            ),
            (
                403,
                error("security_exception", "no permissions"),
                TroubleKind::Refusing,
                "search.user",
            ),
            (
                503,
                block("blocked by: [SERVICE_UNAVAILABLE/1/state not recovered / initialized];"),
                TroubleKind::Starting,
                "is starting",
            ),
            (
                503,
                block("blocked by: [SERVICE_UNAVAILABLE/2/no cluster-manager];"),
                TroubleKind::Red,
                "no cluster manager",
            ),
            (
                429,
                block(
                    "index [a] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has \
                     read-only-allow-delete block];",
                ),
                TroubleKind::Blocked,
                "disks are nearly full",
            ),
            (
                403,
                error(
                    "index_create_block_exception",
                    "blocked by: [FORBIDDEN/10/cluster create-index blocked (api)];",
                ),
                TroubleKind::Blocked,
                "disks are nearly full",
            ),
            (
                403,
                block("index [a] blocked by: [FORBIDDEN/5/index read-only (api)];"),
                TroubleKind::Blocked,
                "somebody set a block",
            ),
            (
                403,
                block("index [a] blocked by: [FORBIDDEN/8/index write (api)];"),
                TroubleKind::Blocked,
                "somebody set a block",
            ),
            (
                503,
                error("no_shard_available_action_exception", "No shard available"),
                TroubleKind::Red,
                "shards are not available",
            ),
            (
                503,
                error(
                    "unavailable_shards_exception",
                    "primary shard is not active",
                ),
                TroubleKind::Red,
                "taojin reindex",
            ),
            (
                503,
                json!({"error": {"root_cause": [], "type": "search_phase_execution_exception", "reason": "all shards failed"}}),
                TroubleKind::Red,
                "all shards failed",
            ),
            (503, html.clone(), TroubleKind::Unreachable, "status 503"),
            (
                429,
                error("rejected_execution_exception", "queue full"),
                TroubleKind::Busy,
                "429",
            ),
            (413, html, TroubleKind::TooLarge, "http.max_content_length"),
            (301, Value::Null, TroubleKind::Misdirected, "search.url"),
            (
                400,
                error("parsing_exception", "line 1\nline 2"),
                TroubleKind::Other,
                "line 1 line 2",
            ),
        ] {
            let trouble = EngineTrouble::from_answer(status, &answer);
            assert_eq!(trouble.kind(), kind, "{status}: {answer}");
            assert!(trouble.detail().contains(said), "{trouble}");
            assert!(!trouble.detail().contains("no connection"), "{trouble}");
        }
    }

    #[test]
    fn trouble_of_partial_searches() {
        let failed = |kind: &str| json!({"_shards": {"failed": 1, "failures": [{"reason": {"type": kind}}]}});
        for (search, kind) in [
            (json!({"timed_out": true}), TroubleKind::Busy),
            (failed("rejected_execution_exception"), TroubleKind::Busy),
            (failed("node_disconnected_exception"), TroubleKind::Red),
        ] {
            assert_eq!(
                EngineTrouble::from_partial(&search).kind(),
                kind,
                "{search}"
            );
        }
    }
}
