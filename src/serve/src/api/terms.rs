//! Review of domain terms: those that nobody has decided about, and the decisions, which the daemon or the command line carries
//! out. [`TermReview`] is what the server asks.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use taojin_search::analyze::term_problem;
use utoipa::ToSchema;

use crate::api::problem::Problem;
use crate::guard::operator::Operator;
use crate::search::params::{echo, known_once, number};
use crate::search::source::{Marked, SourceError};
use crate::state::Server;

/// Terms of one answer, if the request does not say.
const DEFAULT_LIMIT: usize = 50;
/// Most terms of one answer.
const LIMIT_MAX: usize = 500;
/// Terms that can be passed over: more than any list has.
const OFFSET_MAX: usize = 100_000;
/// Most terms to accept, and to reject, in one request: they fit into a body.
const DECISIONS_MAX: usize = 200;

/// Answer of `GET /api/terms`: a part of the review list.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
#[schema(as = TermsAnswer)]
pub struct ReviewList {
    /// Terms not decided about.
    pub proposed: u64,
    /// Terms in the lexicon of accepted ones.
    pub accepted: u64,
    /// Terms that are not proposed again.
    pub rejected: u64,
    /// Terms that entered the lexicon by themselves and are still there, best first, 100 at most: to reject one takes it out.
    pub entered: Vec<String>,
    /// Some of those not decided about, best first.
    pub terms: Vec<ReviewTerm>,
}

/// A term to decide about.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = TermAnswer)]
pub struct ReviewTerm {
    /// As it is mostly written.
    pub term: String,
    /// How likely it is a term, 0 to 1.
    pub termhood: f64,
    /// Times that it occurred.
    pub occurrences: u64,
    /// Documents that have it.
    pub documents: u64,
    /// Whether the general dictionary has it.
    pub in_dictionary: bool,
    /// Sentences with it, the term marked.
    #[serde(serialize_with = "unmarked")]
    #[schema(value_type = Vec<String>)]
    pub evidence: Vec<Marked>,
}

fn unmarked<S: Serializer>(texts: &[Marked], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(texts.iter().map(|marked| &marked.text))
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Decision {
    /// Terms to use from now on.
    #[schema(max_items = 200)]
    accept: Vec<String>,
    /// Terms to take out of use, and not to propose again.
    #[schema(max_items = 200)]
    reject: Vec<String>,
}

/// What a decision changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Decided {
    /// Accepted terms that were not in use before.
    accepted: u64,
    /// Rejected terms that were in use before.
    rejected: u64,
    /// Texts that cannot be terms, with the reason; nothing was done with them.
    refused: Vec<RefusedText>,
}

/// A text that cannot be a term.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct RefusedText {
    /// The text.
    text: String,
    /// What a term is.
    reason: String,
}

/// Domain terms to decide about, best first. For the operator.
#[utoipa::path(
    get,
    path = "/api/terms",
    operation_id = "terms",
    tag = "terms",
    security(("token" = [])),
    params(
        ("limit" = Option<u32>, Query, description = "Most terms to return."),
        ("offset" = Option<u32>, Query, description = "Terms to pass over."),
    ),
    responses(
        (status = 200, description = "The list, perhaps empty.", body = ReviewList),
        (status = 404, description = "This server has no list of terms."),
    )
)]
pub(crate) async fn list(
    _operator: Operator,
    State(server): State<Server>,
    RawQuery(raw): RawQuery,
) -> Result<Json<ReviewList>, Problem> {
    let (offset, limit) = window(&raw.unwrap_or_default())?;
    let list = server.ask(&server.terms, move |review| review.list(offset, limit));
    let list = list.await?.ok_or_else(no_list)?;
    Ok(Json(list))
}

/// Accept and reject domain terms.
///
/// What is accepted is used by every search within seconds. Texts that cannot be terms are named in the answer and
/// left out. For the operator.
#[utoipa::path(
    post,
    path = "/api/terms",
    operation_id = "decide_terms",
    tag = "terms",
    security(("token" = [])),
    request_body = Decision,
    responses(
        (status = 200, description = "Done.", body = Decided),
        (status = 404, description = "This server has no list of terms."),
        (status = 422, description = "The JSON is not a decision, or a long one."),
    )
)]
pub(crate) async fn decide(
    _operator: Operator,
    State(server): State<Server>,
    body: Result<Json<Decision>, JsonRejection>,
) -> Result<Json<Decided>, Problem> {
    let Json(decision) = body?;
    let most = decision.accept.len().max(decision.reject.len());
    if most > DECISIONS_MAX {
        let detail = format!("at most {DECISIONS_MAX} terms to accept, and to reject, at once");
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail));
    }
    let mut refused = Vec::new();
    let accept = possible(decision.accept, &mut refused);
    let reject = possible(decision.reject, &mut refused);
    let decided = server.ask(&server.terms, move |review| {
        let accepted = if accept.is_empty() {
            0
        } else {
            review.accept(&accept)?
        };
        let rejected = if reject.is_empty() {
            0
        } else {
            review.reject(&reject)?
        };
        Ok(Decided {
            accepted: accepted as u64,
            rejected: rejected as u64,
            refused,
        })
    });
    decided.await?.map(Json).ok_or_else(no_list)
}

/// Schema of a parameter of the list, for the description.
pub(crate) fn parameter(name: &str) -> Option<Value> {
    match name {
        "limit" => Some(json!({
            "type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": DEFAULT_LIMIT,
        })),
        "offset" => Some(json!({
            "type": "integer", "minimum": 0, "maximum": OFFSET_MAX, "default": 0,
        })),
        _ => None,
    }
}

fn no_list() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "this server has no list of terms")
}

/// The texts that can be terms; the others are noted.
fn possible(texts: Vec<String>, refused: &mut Vec<RefusedText>) -> Vec<String> {
    let is_possible = |text: &String| match term_problem(text) {
        None => true,
        Some(problem) => {
            refused.push(RefusedText {
                text: echo(text),
                reason: problem.to_owned(),
            });
            false
        }
    };
    texts.into_iter().filter(is_possible).collect()
}

/// Offset and limit of a query string.
fn window(raw: &str) -> Result<(usize, usize), Problem> {
    let (mut offset, mut limit) = (0, DEFAULT_LIMIT);
    for (name, value) in known_once(raw, &["limit", "offset"])? {
        match name {
            "offset" => offset = number(name, &value, 0, OFFSET_MAX)?,
            _ => limit = number(name, &value, 1, LIMIT_MAX)?,
        }
    }
    Ok((offset, limit))
}

/// The one thing that a server can change: the review list. Errors are for the log.
pub trait TermReview: Send + Sync {
    /// Terms not decided about, best first.
    fn list(&self, offset: usize, limit: usize) -> Result<ReviewList, SourceError>;
    /// Puts terms into the lexicon; how many are new there.
    fn accept(&self, terms: &[String]) -> Result<usize, SourceError>;
    /// Takes terms off the list and out of the lexicon; how many were in use.
    fn reject(&self, terms: &[String]) -> Result<usize, SourceError>;
}
