//! `/help`: the query language as a page.
//!
//! Shows every form that the parser understands, with examples to click. Nothing is asked of the index: the page is there when no search
//! is. The tests hold each example against the parser.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, FixedOffset};
use serde::Deserialize;

use super::request::{PageRequest, page};
use super::view::Chrome;
use super::words::{fill, grouped};
use crate::now_ms;
use crate::pages::words::Lang;
use crate::search::examples::Examples;
use crate::search::params::Params;

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
    let examples = Examples::anywhere(local(now_ms(), server.utc_offset_minutes()));
    let search = |query: String| {
        let params = Params {
            text: query.clone(),
            lang: params.lang,
            ..Params::default()
        };
        Example {
            href: c.search(&params),
            query,
        }
    };
    let sections = sections(c.lang, &examples).into_iter().map(|section| {
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

/// All forms, in the reader's language.
pub(crate) fn sections(lang: Lang, examples: &Examples) -> Vec<Section> {
    let row = |row: &RowText| Row {
        queries: filled(row, examples.values()),
        meaning: chosen(lang, row.zh, row.en),
    };
    let section = |section: &SectionText| Section {
        heading: section.heading.in_language(lang),
        rows: section.rows.iter().map(row).collect(),
    };
    HELP.sections.iter().map(section).collect()
}

fn filled(row: &RowText, values: &BTreeMap<&'static str, String>) -> Vec<String> {
    let values: Vec<(&str, &str)> = values.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let mut queries: Vec<String> = row.queries.iter().map(|q| fill(q, &values)).collect();
    // Where a document has only one of two values.
    queries.dedup();
    queries
}

/// The moment by the calendar of the index.
pub(crate) fn local(now_ms: i64, utc_offset_minutes: i32) -> DateTime<FixedOffset> {
    let zone = FixedOffset::east_opt(utc_offset_minutes.saturating_mul(60));
    let zone = zone.unwrap_or(FixedOffset::east_opt(0).expect("no offset is one"));
    let now = DateTime::from_timestamp_millis(now_ms).unwrap_or_default();
    now.with_timezone(&zone)
}

/// The page as plain text, for the terminal: in Chinese where the language of the environment begins so.
pub fn syntax_in(language: &str) -> String {
    let lang = Lang::of_locale(language);
    let examples = Examples::anywhere(local(now_ms(), 0));
    let mut out = format!(
        "{}\n\n{}\n",
        HELP.heading.in_language(lang),
        HELP.lead.in_language(lang)
    );
    for section in sections(lang, &examples) {
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
