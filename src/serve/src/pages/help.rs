//! `/help`: the query language as a page.
//!
//! Shows every form that the parser understands, with examples of the present time and index to click. The tests hold each
//! example against the parser.

use std::sync::LazyLock;

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, FixedOffset, Months};
use serde::Deserialize;

use super::request::{PageRequest, page};
use super::view::{Chrome, outward};
use super::words::{fill, grouped};
use crate::now_ms;
use crate::pages::words::Lang;
use crate::search::params::{Params, quoted};
use crate::search::source::{RecentHit, SearchRequest};
use crate::state::Shared;

/// Longest name or address of a document that is taken as an example.
const EXAMPLE_CHARS: usize = 60;

/// The page, in both languages.
static HELP: LazyLock<Help> = LazyLock::new(|| {
    toml::from_str(include_str!("words/help.toml"))
        .expect("the page is part of the program, and the tests read it")
});

/// What `words/help.toml` holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct Help {
    heading: BilingualText,
    lead: BilingualText,
    /// Of the page only: a terminal has no links.
    clickable: BilingualText,
    rules_heading: BilingualText,
    api: BilingualText,
    sections: Vec<SectionText>,
    rules: Vec<BilingualText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct SectionText {
    heading: BilingualText,
    rows: Vec<RowText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowText {
    queries: Vec<&'static str>,
    zh: &'static str,
    en: &'static str,
}

/// The same in both languages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BilingualText {
    zh: &'static str,
    en: &'static str,
}

impl BilingualText {
    fn in_language(&self, lang: Lang) -> &'static str {
        chosen(lang, self.zh, self.en)
    }
}

/// What examples are made with: the moment by the calendar of the index, and a document that is here, if there is one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Here {
    pub(crate) now: DateTime<FixedOffset>,
    pub(crate) site: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) address: Option<String>,
}

/// A part of the page.
pub(crate) struct Section {
    pub(crate) heading: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// Searches, and what they find.
pub(crate) struct Row {
    pub(crate) queries: Vec<String>,
    pub(crate) meaning: &'static str,
}

/// A search to click.
struct Example {
    query: String,
    href: String,
}

/// A row with its searches made links.
type Line = (Vec<Example>, &'static str);

#[derive(Template)]
#[template(path = "help.html")]
struct HelpPage {
    c: Chrome,
    heading: &'static str,
    lead: &'static str,
    clickable: &'static str,
    sections: Vec<(&'static str, Vec<Line>)>,
    rules_heading: &'static str,
    rules: Vec<String>,
    api: &'static str,
}

/// `GET /help`.
pub(crate) async fn show(request: PageRequest) -> Response {
    let c = request.chrome();
    let PageRequest { server, params, .. } = request;
    let here = here(&server).await;
    let search = |query: String| Example {
        href: c.search(&Params {
            text: query.clone(),
            lang: params.lang,
            ..Params::default()
        }),
        query,
    };
    let sections = sections(c.lang, &here).into_iter().map(|section| {
        let rows = section.rows.into_iter();
        let rows = rows.map(|row| (row.queries.into_iter().map(search).collect(), row.meaning));
        (section.heading, rows.collect())
    });
    let (chars, window) = (c.query_chars as u64, server.config.window as u64);
    let (chars, window) = (grouped(chars), grouped(window));
    let rule = |rule: &BilingualText| {
        fill(
            rule.in_language(c.lang),
            &[("chars", &chars), ("window", &window)],
        )
    };
    let shown = HelpPage {
        heading: HELP.heading.in_language(c.lang),
        lead: HELP.lead.in_language(c.lang),
        clickable: HELP.clickable.in_language(c.lang),
        sections: sections.collect(),
        rules_heading: HELP.rules_heading.in_language(c.lang),
        rules: HELP.rules.iter().map(rule).collect(),
        api: HELP.api.in_language(c.lang),
        c,
    };
    page(&shown, StatusCode::OK)
}

/// What is here to make examples of: the document that came last.
async fn here(server: &Shared) -> Here {
    let wanted = SearchRequest {
        limit: 1,
        now_ms: now_ms(),
        ..SearchRequest::default()
    };
    // Examples of documents that are not here are good enough when the index does not answer.
    let latest = server
        .latest(wanted)
        .await
        .ok()
        .and_then(|l| l.into_iter().next());
    let rules = server.rules(false);
    Here::new(latest.as_ref(), rules.now_ms, rules.utc_offset_minutes)
}

impl Here {
    pub(crate) fn new(latest: Option<&RecentHit>, now_ms: i64, utc_offset_minutes: i32) -> Here {
        let zone = FixedOffset::east_opt(utc_offset_minutes * 60);
        let zone = zone.unwrap_or(FixedOffset::east_opt(0).expect("no offset is one"));
        let now = DateTime::from_timestamp_millis(now_ms).unwrap_or_default();
        let plain = |text: &String| {
            let quotes = ['"', '“', '”', '＂'];
            !text.trim().is_empty()
                && text.chars().count() <= EXAMPLE_CHARS
                && !text.chars().any(|c| quotes.contains(&c) || c.is_control())
        };
        Here {
            now: now.with_timezone(&zone),
            site: latest.and_then(|l| l.found.site.clone()).filter(plain),
            author: latest.and_then(|l| l.found.author.clone()).filter(plain),
            address: latest
                .and_then(|l| outward(&l.found.url))
                .filter(plain)
                .filter(|url| !url.contains(char::is_whitespace)),
        }
    }
}

/// All forms, in the reader's language.
pub(crate) fn sections(lang: Lang, here: &Here) -> Vec<Section> {
    let site = here
        .site
        .as_deref()
        .map_or("cnpc.com.cn".to_owned(), quoted);
    let author = here.author.as_deref().map_or("张三".to_owned(), quoted);
    let address = here.address.as_deref();
    let [today, month, year] = ["%Y-%m-%d", "%Y-%m", "%Y"].map(|f| here.now.format(f).to_string());
    let last_month = here.now - Months::new(1);
    let last_month = last_month.format("%Y-%m-%d").to_string();
    let values = [
        ("site", site.as_str()),
        ("author", &author),
        ("address", address.unwrap_or("https://www.cnpc.com.cn/")),
        ("today", &today),
        ("month", &month),
        ("year", &year),
        ("last_month", &last_month),
    ];
    let row = |row: &RowText| Row {
        queries: row.queries.iter().map(|q| fill(q, &values)).collect(),
        meaning: chosen(lang, row.zh, row.en),
    };
    let section = |section: &SectionText| Section {
        heading: section.heading.in_language(lang),
        rows: section.rows.iter().map(row).collect(),
    };
    HELP.sections.iter().map(section).collect()
}

/// The page as plain text, for the terminal: in Chinese where the language of the environment begins so.
pub fn syntax_in(language: &str) -> String {
    let lang = Lang::of_locale(language);
    let here = Here::new(None, now_ms(), 0);
    let mut out = format!(
        "{}\n\n{}\n",
        HELP.heading.in_language(lang),
        HELP.lead.in_language(lang)
    );
    for section in sections(lang, &here) {
        out += &format!("\n{}\n", section.heading);
        for row in section.rows {
            out += &format!("  {}\n      {}\n", row.queries.join("   "), row.meaning);
        }
    }
    out
}

fn chosen(lang: Lang, zh: &'static str, en: &'static str) -> &'static str {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}
