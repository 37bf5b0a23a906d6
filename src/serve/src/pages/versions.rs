//! `/doc/{id}/versions`: earlier versions of a document.
//!
//! Each version has its date and its differences from the one before, insertions and deletions marked. Only extracted text is
//! shown, never the page's own HTML.

use askama::Template;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::StatusCode;
use axum::response::Response;

use super::moment::Moment;
use super::request::{PageRequest, broken, missing, page};
use super::view::{Chrome, address, outward, title};
use super::words::{Labels, Lang, VersionsPageLabels, fill};
use crate::api::log::{DiffLine, FieldChange, HistoryAnswer, VersionAnswer};
use crate::api::log::{DocumentKey, VersionListed};
use crate::pages::view::Html;
use crate::search::source::Marked;

/// A version in the list on the page of its document.
pub(crate) struct VersionLink {
    pub(crate) href: String,
    pub(crate) label: String,
    pub(crate) moment: Option<Moment>,
    pub(crate) note: &'static str,
}

/// A part of a line: which element it is in, and its text.
type Part = (&'static str, Html);

struct LineView {
    class: &'static str,
    parts: Vec<Part>,
}

struct VersionView {
    number: i64,
    label: String,
    moment: Option<Moment>,
    note: &'static str,
    characters: String,
    fields: Vec<(&'static str, Option<Html>, Option<Html>)>,
    lines: Vec<LineView>,
    /// What is said in place of a difference, or below it.
    remark: &'static str,
}

#[derive(Template)]
#[template(path = "versions.html")]
struct VersionsPage {
    c: Chrome,
    w: &'static VersionsPageLabels,
    plain_title: String,
    title: Html,
    url: Option<String>,
    address: String,
    state: String,
    versions: Vec<VersionView>,
    left_out: String,
    /// The document as it is now, where it is.
    document: Option<String>,
}

/// `GET /doc/{id}/versions`.
pub(crate) async fn show(
    id: Result<Path<String>, PathRejection>,
    request: PageRequest,
) -> Response {
    let id = id.map(|Path(id)| id).unwrap_or_default();
    history(&id, request, StatusCode::OK).await
}

/// The same for who asks for the document itself and it is gone; `None` if nothing is known of it.
pub(crate) async fn gone(id: &str, request: PageRequest) -> Response {
    history(id, request, StatusCode::GONE).await
}

async fn history(id: &str, request: PageRequest, status: StatusCode) -> Response {
    let c = request.chrome();
    let Some(number) = number(id) else {
        return missing(c);
    };
    let asked = request.server.ask(&request.server.log, move |log| {
        log.history(&DocumentKey::Id(number))
    });
    match asked.await {
        Ok(Some(Some(found))) if status == StatusCode::OK || found.state != "present" => {
            page(&VersionsPage::new(c, found), status)
        }
        Ok(_) => missing(c),
        Err(error) => broken(c, &error),
    }
}

/// The number that an id of a document is: 16 hexadecimal digits.
pub(crate) fn number(id: &str) -> Option<u64> {
    u64::from_str_radix(id, 16).ok().filter(|_| id.len() == 16)
}

/// The versions of a document as its page lists them: nothing where there is only the one that is shown.
pub(crate) fn links(c: &Chrome, id: &str, versions: &[VersionListed]) -> Vec<VersionLink> {
    let w = &c.t.versions_page;
    if versions.len() < 2 {
        return Vec::new();
    }
    let path = versions_path(c, id);
    let listed = versions
        .iter()
        .enumerate()
        .map(|(at, version)| VersionLink {
            href: format!("{path}#v{}", version.version),
            label: fill(w.version, &[("n", &version.version.to_string())]),
            moment: c.clock.at(version.changed_ms),
            note: match (at, version.gone) {
                (_, true) => w.deleted,
                (0, false) => w.current,
                _ => "",
            },
        });
    listed.collect()
}

fn versions_path(c: &Chrome, id: &str) -> String {
    c.page(&format!("/doc/{id}/versions"))
}

impl VersionsPage {
    fn new(c: Chrome, found: HistoryAnswer) -> VersionsPage {
        let w = &c.t.versions_page;
        let said = found.versions.iter().find_map(|v| v.title.clone());
        let headline = match found.state.as_str() {
            "taken_down" => c.t.site_page.taken_down.to_owned(),
            _ => said.unwrap_or_default(),
        };
        let moment = found.gone_ms.and_then(|ms| c.clock.at(ms));
        let when = moment.map(|moment| moment.shown).unwrap_or_default();
        let state = match (found.state.as_str(), when.is_empty()) {
            ("taken_down", _) => fill(w.taken_down, &[("when", &when)]),
            ("gone", false) => fill(w.gone_since, &[("when", &when)]),
            ("gone", true) => w.gone.to_owned(),
            _ => String::new(),
        };
        let is_here = found.state == "present";
        let document = c.document(&found.id);
        let versions = (0..).zip(&found.versions);
        VersionsPage {
            versions: versions
                .map(|(at, version)| view(&c, at, version))
                .collect(),
            left_out: match found.left_out {
                0 => String::new(),
                n => c.t.counts.left_out_versions.fill(n),
            },
            title: title(&Marked::from(headline.as_str()), c.t),
            plain_title: match headline.trim() {
                "" => c.t.untitled.to_owned(),
                headline => headline.to_owned(),
            },
            // Of what was taken down nothing is shown, so that nobody finds it by this page.
            url: outward(&found.url).filter(|_| found.state != "taken_down"),
            address: match found.state.as_str() {
                "taken_down" => String::new(),
                _ => address(&found.url),
            },
            document: is_here.then_some(document),
            state,
            w,
            c,
        }
    }
}

fn view(c: &Chrome, at: usize, version: &VersionAnswer) -> VersionView {
    let w = &c.t.versions_page;
    let has_text = version.change != "deleted" && version.unreadable.is_none();
    let remark = match version.compared_with {
        _ if version.unreadable.is_some() => w.unreadable,
        _ if version.change == "deleted" => "",
        None if version.version == 1 => "",
        None => w.oldest,
        Some(_) if version.diff_cut => w.cut,
        Some(_) if !version.diff.is_empty() => "",
        Some(_) if version.fields.is_empty() => w.nothing,
        Some(_) => w.same_text,
    };
    VersionView {
        number: version.version,
        label: fill(w.version, &[("n", &version.version.to_string())]),
        moment: c.clock.at(version.changed_ms),
        note: match version.change.as_str() {
            "deleted" => w.deleted,
            _ if at == 0 => w.current,
            "new" => w.first,
            _ => "",
        },
        characters: if has_text {
            c.t.counts.characters.fill(version.characters)
        } else {
            String::new()
        },
        fields: version
            .fields
            .iter()
            .map(|field| field_view(c, field))
            .collect(),
        lines: version.diff.iter().map(|line| line_view(c, line)).collect(),
        remark,
    }
}

fn field_name(t: &'static Labels, field: &str) -> &'static str {
    let w = &t.versions_page;
    match field {
        "title" => w.title,
        "published" => w.published,
        "author" => t.author,
        "source" => t.source,
        "comments" => w.comments,
        "attachments" => t.attachments,
        _ => w.images,
    }
}

/// A field of a [`FieldChange`], for a locale such as `zh_CN.UTF-8`.
pub fn field_in(locale: &str, field: &str) -> &'static str {
    field_name(Lang::of_locale(locale).labels(), field)
}

fn field_view(c: &Chrome, field: &FieldChange) -> (&'static str, Option<Html>, Option<Html>) {
    let name = field_name(c.t, &field.field);
    let html = |text: &Option<String>| {
        text.as_deref()
            .map(|text| Html::marked(&Marked::from(text)))
    };
    (name, html(&field.before), html(&field.after))
}

fn line_view(c: &Chrome, line: &DiffLine) -> LineView {
    if let Some(lines) = line.lines {
        let text = c.t.counts.same_lines.fill(lines);
        return LineView {
            class: "gap",
            parts: vec![("", Html::marked(&Marked::from(text.as_str())))],
        };
    }
    let part = |kind: &str, text: &str| {
        let element = match kind {
            "added" => "ins",
            "removed" => "del",
            _ => "",
        };
        (element, Html::marked(&Marked::from(text)))
    };
    LineView {
        class: match line.line.as_str() {
            "added" => "added",
            "removed" => "removed",
            "changed" => "changed",
            _ => "same",
        },
        parts: line.parts.iter().map(|p| part(&p.part, &p.text)).collect(),
    }
}
