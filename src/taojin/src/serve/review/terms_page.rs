//! The review of domain terms. In: `GET /terms`, and a form with one click for each term. Out: the terms to decide
//! about with the sentences they stand in. Works without script; only the operator sees it and decides.

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use crate::serve::guard::form::Form;
use crate::serve::guard::token::{Operator, see_other};
use crate::serve::pages::html::Html;
use crate::serve::pages::lang::{Lang, grouped};
use crate::serve::pages::view::{Chrome, link};
use crate::serve::pages::web::{broken, chrome, lenient, missing, page};
use crate::serve::search::source::Marked;
use crate::serve::state::{Failure, Server};

/// Terms on one page.
const PAGE_TERMS: usize = 50;
/// Deepest page: as many terms as a list can have.
const MAX_PAGE: usize = 2_000;

/// A term to decide about.
#[derive(Debug, Clone, PartialEq)]
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
    /// Sentences with the term marked.
    pub evidence: Vec<Marked>,
}

/// A part of the review list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReviewList {
    /// Terms not decided about.
    pub proposed: u64,
    /// Terms in the lexicon of accepted ones.
    pub accepted: u64,
    /// Terms that are not proposed again.
    pub rejected: u64,
    /// Some of those not decided about, best first.
    pub terms: Vec<ReviewTerm>,
}

/// The one thing that a server can change: the review list. Errors are for the log.
pub trait TermReview: Send + Sync {
    /// Terms not decided about, best first.
    fn list(&self, offset: usize, limit: usize) -> Result<ReviewList, String>;
    /// Puts terms into the lexicon; how many are new there.
    fn accept(&self, terms: &[String]) -> Result<usize, String>;
    /// Takes terms off the list and out of the lexicon; how many were in use.
    fn reject(&self, terms: &[String]) -> Result<usize, String>;
}

/// A review that several requests share.
pub type Review = Arc<dyn TermReview>;

/// Words of the page.
struct Labels {
    title: &'static str,
    hint: &'static str,
    none: &'static str,
    counts: [&'static str; 3],
    accept: &'static str,
    reject: &'static str,
    accept_all: &'static str,
    reject_all: &'static str,
    times: &'static str,
    documents: &'static str,
    termhood: &'static str,
    previous: &'static str,
    next: &'static str,
}

const ZH: Labels = Labels {
    title: "领域词审核",
    hint: "接受的词几秒内在检索中生效，旧文档也能立即查到；拒绝的词不再提出。",
    none: "没有待审的词。运行 taojin terms discover 可以从已收录的文档中发现领域词。",
    counts: ["待审", "已接受", "已拒绝"],
    accept: "接受",
    reject: "拒绝",
    accept_all: "本页全部接受",
    reject_all: "本页全部拒绝",
    times: "次",
    documents: "篇",
    termhood: "术语度",
    previous: "上一页",
    next: "下一页",
};

const EN: Labels = Labels {
    title: "Domain terms to review",
    hint: "An accepted term is used by searches within seconds and finds old documents at once; a rejected one is not proposed again.",
    none: "Nothing to decide. taojin terms discover looks for domain terms in the documents of the index.",
    counts: ["to decide", "accepted", "rejected"],
    accept: "Accept",
    reject: "Reject",
    accept_all: "Accept all on this page",
    reject_all: "Reject all on this page",
    times: "times",
    documents: "documents",
    termhood: "termhood",
    previous: "Previous",
    next: "Next",
};

#[derive(Template)]
#[template(path = "terms.html")]
struct TermsPage {
    c: Chrome,
    l: &'static Labels,
    counts: [(&'static str, String); 3],
    rows: Vec<ReviewRow>,
    page: usize,
    previous: Option<String>,
    next: Option<String>,
}

struct ReviewRow {
    term: String,
    termhood: String,
    occurrences: String,
    documents: String,
    search: String,
    evidence: Vec<Html>,
}

/// `GET /terms`.
pub(crate) async fn show(
    _operator: Operator,
    State(server): State<Server>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Response {
    let raw = raw.unwrap_or_default();
    let c = chrome(&server, &lenient(&raw, &server), &headers, "/terms");
    let at = page_number(&raw);
    match server
        .review(move |review| review.list((at - 1) * PAGE_TERMS, PAGE_TERMS))
        .await
    {
        Ok(Some(list)) => page(&TermsPage::new(c, &list, at), StatusCode::OK),
        Ok(None) => missing(c),
        Err(error) => broken(c, &error),
    }
}

/// `POST /terms`: fields `accept` and `reject`, each any number of times, then back to the page.
pub(crate) async fn decide(
    _operator: Operator,
    State(server): State<Server>,
    headers: HeaderMap,
    form: Form,
) -> Response {
    let all = |name: &str| form.all(name).map(str::to_owned).collect::<Vec<String>>();
    let (mut accept, mut reject) = (all("accept"), all("reject"));
    // Buttons for the whole page name what is on it beside.
    match form.get("all") {
        "accept" => accept.extend(all("term")),
        "reject" => reject.extend(all("term")),
        _ => {}
    }
    let decided = server.review(move |review| {
        if !accept.is_empty() {
            review.accept(&accept)?;
        }
        if !reject.is_empty() {
            review.reject(&reject)?;
        }
        Ok(())
    });
    let raw = format!("lang={}&page={}", form.get("lang"), form.get("page"));
    let outcome = decided.await;
    let c = || chrome(&server, &lenient(&raw, &server), &headers, "/terms");
    match outcome {
        Ok(Some(())) => see_other(&server, &link("", "/terms", &own_query(&raw))),
        Ok(None) => missing(c()),
        Err(error) => broken(c(), &error),
    }
}

/// What of a query string leads back to the same page.
fn own_query(raw: &str) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let lang = url::form_urlencoded::parse(raw.as_bytes())
        .find(|(name, _)| name == "lang")
        .and_then(|(_, value)| Lang::named(&value));
    if let Some(lang) = lang {
        query.append_pair("lang", lang.code());
    }
    let page = page_number(raw);
    if page > 1 {
        query.append_pair("page", &page.to_string());
    }
    query.finish()
}

fn page_number(raw: &str) -> usize {
    let number = Form::of(raw.as_bytes()).get("page").parse();
    number.unwrap_or(1).clamp(1, MAX_PAGE)
}

impl TermsPage {
    fn new(c: Chrome, list: &ReviewList, page: usize) -> Self {
        let l = match c.lang {
            Lang::Zh => &ZH,
            Lang::En => &EN,
        };
        let numbers = [list.proposed, list.accepted, list.rejected];
        let there = |page: usize| {
            let query = own_query(&format!("lang={}&page={page}", c.lang.code()));
            link(&c.base, "/terms", &query)
        };
        let more = list.proposed > (page * PAGE_TERMS) as u64 && !list.terms.is_empty();
        Self {
            l,
            counts: [0, 1, 2].map(|i| (l.counts[i], grouped(numbers[i]))),
            rows: list.terms.iter().map(|term| row(&c, term)).collect(),
            page,
            previous: (page > 1).then(|| there(page - 1)),
            next: (more && page < MAX_PAGE).then(|| there(page + 1)),
            c,
        }
    }
}

fn row(c: &Chrome, term: &ReviewTerm) -> ReviewRow {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("q", &format!("\"{}\"", term.term))
        .finish();
    ReviewRow {
        term: term.term.clone(),
        termhood: format!("{:.2}", term.termhood),
        occurrences: grouped(term.occurrences),
        documents: grouped(term.documents),
        search: link(&c.base, "/", &query),
        evidence: term.evidence.iter().map(Html::marked).collect(),
    }
}

/// What the server tells a handler when the review failed.
pub(crate) type Reviewed<T> = Result<Option<T>, Failure>;
