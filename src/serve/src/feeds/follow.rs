//! Followed topics, `[[follow]]` of the configuration.
//!
//! Defines the search that each stands for, the message about new hits, and when a delivery is tried again. The daemon sends;
//! nothing here does.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::SITES_MAX;
use crate::guard::operator::Secret;
use crate::search::params::SITE_CHARS_MAX;
use crate::search::params::match_code;
use crate::search::source::{DocumentHit, SearchRequest};
use taojin_search::index::Match;
use taojin_search::query::MAX_QUERY_CHARS;

/// Characters of a name: it stands in addresses.
const NAME_CHARS_MAX: usize = 64;
/// Rest after the first failed try, doubled each time.
const RETRY_FIRST_MS: i64 = 10_000;
/// Longest rest.
const RETRY_MAX_MS: i64 = 3_600_000;
/// Failed tries after which a delivery is given up: about a day and a half after the first.
const TRIES_MAX: u32 = 40;

/// One topic that is followed: a saved search.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Follow {
    /// Name in addresses: small letters, digits, `-`. `/feeds/NAME.atom`, `/feeds/NAME.json`.
    pub name: String,
    /// What readers see; empty: the query.
    #[serde(default)]
    pub title: String,
    /// The search, in the query language.
    pub query: String,
    /// Only these sites; empty: all.
    #[serde(default)]
    pub sites: Vec<String>,
    /// Where new hits are sent by POST; empty: nowhere. Any http or https address that the operator chooses, also one
    /// in the own network.
    #[serde(default)]
    pub webhook: String,
    /// Key of the signature of what is sent.
    #[serde(default)]
    pub secret: Secret,
    /// A file that holds this key, in place of [`Follow::secret`].
    #[serde(default)]
    pub secret_file: PathBuf,
    /// What is sent: hits that are `new`, hits that have `changed`, hits that are `gone`.
    #[serde(default = "everything")]
    pub tell: Vec<Tell>,
    /// How many of the plain words of the query a hit has: `auto`, `all`, `most` or `any`, as in `/api/search`.
    #[serde(default, rename = "match")]
    pub matching: Match,
}

/// What happens to a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tell {
    /// It is a hit for the first time.
    New,
    /// It was sent before and says something else now.
    Changed,
    /// It was sent before and is gone, or no hit any more.
    Gone,
}

/// Default: a receiver that keeps a list of its own must hear of all three, and only of what it has been sent before.
fn everything() -> Vec<Tell> {
    vec![Tell::New, Tell::Changed, Tell::Gone]
}

impl Default for Follow {
    fn default() -> Self {
        Follow {
            name: String::new(),
            title: String::new(),
            query: String::new(),
            sites: Vec::new(),
            webhook: String::new(),
            secret: Secret::default(),
            secret_file: PathBuf::new(),
            tell: everything(),
            matching: Match::Auto,
        }
    }
}

impl Follow {
    /// What readers see.
    pub fn shown(&self) -> &str {
        if self.title.is_empty() {
            &self.query
        } else {
            &self.title
        }
    }

    /// The search as of `now_ms`, `limit` hits of it.
    pub fn search_request(&self, limit: usize, now_ms: i64) -> SearchRequest {
        SearchRequest {
            text: self.query.trim().to_owned(),
            sites: self.sites.clone(),
            matching: self.matching,
            now_ms,
            limit,
            ..SearchRequest::default()
        }
    }

    /// What is asked for, in one text: another text is another topic, whatever the name.
    pub fn asked(&self) -> String {
        let asked = format!("{}\n{}", self.query.trim(), self.sites.join("\n"));
        match match_code(self.matching) {
            None => asked,
            Some(matching) => format!("{asked}\nmatch={matching}"),
        }
    }

    /// What is wrong, one line with the key's name; `None` when all is well.
    pub fn problem(&self) -> Option<String> {
        let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let name = &self.name;
        if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.chars().all(letter) {
            return Some(format!(
                "name = {name:?}: write small letters, digits and -, {NAME_CHARS_MAX} at most, for example \"deep-sea\""
            ));
        }
        if self.query.trim().is_empty() {
            return Some(format!(
                "query = \"\": topic {name} searches for nothing; write for example \"深海 OR 深水\""
            ));
        }
        if self.query.chars().count() > MAX_QUERY_CHARS {
            return Some(format!(
                "query of topic {name}: has more than {MAX_QUERY_CHARS} characters"
            ));
        }
        let long = |site: &String| site.chars().count() > SITE_CHARS_MAX;
        if self.sites.len() > SITES_MAX || self.sites.iter().any(long) {
            return Some(format!(
                "sites of topic {name}: {SITES_MAX} at most, of {SITE_CHARS_MAX} characters each"
            ));
        }
        if !self.secret.is_empty() && !self.secret_file.as_os_str().is_empty() {
            return Some(format!(
                "secret_file and secret of topic {name} are both set: remove one of them"
            ));
        }
        if self.webhook.is_empty() {
            return None;
        }
        if self.tell.is_empty() {
            return Some(format!(
                "tell = []: topic {name} would never send anything; write for example [\"new\"]"
            ));
        }
        let target = url::Url::parse(&self.webhook);
        let fine = target.is_ok_and(|u| matches!(u.scheme(), "http" | "https") && u.has_host());
        (!fine).then(|| {
            format!(
                "webhook = {:?}: topic {name} needs an address with http:// or https://, for example \"http://127.0.0.1:9000/taojin\"",
                self.webhook
            )
        })
    }

    /// What is wrong with any of these, or with two of them together.
    pub fn problems(follows: &[Follow]) -> Vec<String> {
        let twice = |(at, follow): (usize, &Follow)| {
            let mut before = follows.iter().take(at);
            before.any(|other| other.name == follow.name).then(|| {
                let name = &follow.name;
                format!("name = {name:?}: two topics have this name; rename one of them")
            })
        };
        let alone = follows.iter().filter_map(Follow::problem);
        alone
            .chain(follows.iter().enumerate().filter_map(twice))
            .collect()
    }
}

/// Gives the topics of each moment.
pub type Topics = std::sync::Arc<dyn Fn() -> Vec<Follow> + Send + Sync>;

/// What a webhook gets.
#[derive(Debug, Serialize)]
struct Message<'a> {
    follow: &'a str,
    title: &'a str,
    query: &'a str,
    delivery: String,
    hits: Vec<MessageHit>,
}

/// One hit, as in `/api/search`, and what happened to it.
#[derive(Debug, Serialize)]
struct MessageHit {
    change: &'static str,
    #[serde(flatten)]
    hit: DocumentHit,
}

/// The body that tells of hits, as JSON, each with what happened to it: `new`, `changed` or `deleted`.
pub fn message(follow: &Follow, number: i64, hits: Vec<(DocumentHit, &'static str)>) -> String {
    let message = Message {
        follow: &follow.name,
        title: follow.shown(),
        query: &follow.query,
        delivery: format!("{}-{number}", follow.name),
        hits: hits
            .into_iter()
            .map(|(hit, change)| MessageHit { change, hit })
            .collect(),
    };
    serde_json::to_string(&message).expect("texts and finite numbers only")
}

/// When to try again after `failures` failed tries, the first one included; `None`: not any more. `asked_ms` is what
/// the receiver asked for by Retry-After.
pub fn next_try_ms(failures: u32, asked_ms: Option<i64>, now_ms: i64) -> Option<i64> {
    if failures >= TRIES_MAX {
        return None;
    }
    let doubled = RETRY_FIRST_MS << failures.saturating_sub(1).min(16);
    let rest = doubled.max(asked_ms.unwrap_or_default()).min(RETRY_MAX_MS);
    Some(now_ms.saturating_add(rest))
}
