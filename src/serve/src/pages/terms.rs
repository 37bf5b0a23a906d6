//! `/terms`: the review of domain terms.
//!
//! Lists the terms to decide about with sentences that contain them, one click each. It works without scripts; only the
//! operator sees it.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

use crate::api::terms::{ReviewList, ReviewTerm};
use crate::guard::operator::{Form, Operator};
use crate::pages::request::{PageRequest, broken, missing, page, see_other};
use crate::pages::view::{Chrome, Html, link};
use crate::pages::words::{Lang, TermsPageLabels, grouped};

/// Terms on one page.
const PAGE_TERMS: usize = 50;
/// Deepest page: as many terms as a list can have.
const MAX_PAGE: usize = 2_000;

#[derive(Template)]
#[template(path = "terms.html")]
struct TermsPage {
    c: Chrome,
    l: &'static TermsPageLabels,
    counts: [(&'static str, String); 3],
    /// Those that entered the lexicon by themselves; on the first page only.
    entered: Vec<String>,
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
pub(crate) async fn show(_: Operator, request: PageRequest) -> Response {
    let c = request.chrome();
    let at = page_number(&Form::parse(request.raw.as_bytes()));
    let first = (at - 1) * PAGE_TERMS;
    match request
        .server
        .ask(&request.server.terms, move |review| {
            review.list(first, PAGE_TERMS)
        })
        .await
    {
        Ok(Some(list)) => page(&TermsPage::new(c, &list, at), StatusCode::OK),
        Ok(None) => missing(c),
        Err(error) => broken(c, &error),
    }
}

/// `POST /terms`: fields `accept` and `reject`, each any number of times, then back to the page.
pub(crate) async fn decide(_: Operator, request: PageRequest, form: Form) -> Response {
    let all = |name: &str| form.all(name).map(str::to_owned).collect::<Vec<String>>();
    let (mut accept, mut reject) = (all("accept"), all("reject"));
    // Buttons for the whole page name what is on it beside.
    match form.get("all") {
        "accept" => accept.extend(all("term")),
        "reject" => reject.extend(all("term")),
        _ => {}
    }
    let request = request.in_language_of(&form);
    let decided = request.server.ask(&request.server.terms, move |review| {
        if !accept.is_empty() {
            review.accept(&accept)?;
        }
        if !reject.is_empty() {
            review.reject(&reject)?;
        }
        Ok(())
    });
    match decided.await {
        Ok(Some(())) => {
            let back = own_path("", request.params.lang, page_number(&form));
            see_other(&request.server, &back)
        }
        Ok(None) => missing(request.chrome()),
        Err(error) => broken(request.chrome(), &error),
    }
}

/// The address of a page of the list.
fn own_path(base: &str, lang: Option<Lang>, page: usize) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    if let Some(lang) = lang {
        query.append_pair("lang", lang.code());
    }
    if page > 1 {
        query.append_pair("page", &page.to_string());
    }
    link(base, "/terms", &query.finish())
}

fn page_number(fields: &Form) -> usize {
    fields.get("page").parse().unwrap_or(1).clamp(1, MAX_PAGE)
}

impl TermsPage {
    fn new(c: Chrome, list: &ReviewList, page: usize) -> Self {
        let l = &c.t.terms_page;
        let numbers = [list.proposed, list.accepted, list.rejected];
        let there = |page: usize| own_path(&c.base, Some(c.lang), page);
        let more = list.proposed > (page * PAGE_TERMS) as u64 && !list.terms.is_empty();
        Self {
            l,
            counts: [0, 1, 2].map(|i| (l.counts[i], grouped(numbers[i]))),
            entered: if page == 1 {
                list.entered.clone()
            } else {
                Vec::new()
            },
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
