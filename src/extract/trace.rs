//! Why a document came out as it did. In: what the stages of the extraction kept. Out: a [`Trace`] for a
//! person (`--explain`). Never changes the outcome.

use serde::Serialize;

use super::body::{self, Body};
use super::features::View;
use super::odds;
use super::outline::Outline;
use super::render::line_text;
use super::second::Second;
use super::stamp::Clock;
use super::{date, title};
use crate::page::{Attr, NodeId, Page};

/// Most features named for a line.
const REASONS: usize = 5;

/// How a document was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Trace {
    /// The pass that decided about the text.
    pub method: String,
    /// The element that holds most of the text, as tags with ids and classes.
    pub container: Option<String>,
    /// Candidates for the title, best first.
    pub titles: Vec<TitleTrace>,
    /// Candidates for the time of publication, best first.
    pub dates: Vec<DateTrace>,
    /// Every line of the page.
    pub lines: Vec<LineTrace>,
}

/// One candidate for the title.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TitleTrace {
    /// Its text.
    pub text: String,
    /// Where it comes from.
    pub origin: String,
    /// Likeness to a part of `<title>`, 0 to 1.
    pub score: f64,
}

/// One candidate for the time of publication.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DateTrace {
    /// ISO 8601.
    pub value: String,
    /// Where it comes from.
    pub origin: String,
}

/// One line of the page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LineTrace {
    /// Its text.
    pub text: String,
    /// Where it stands: tags with ids and classes, innermost last.
    pub place: String,
    /// Log-odds that it is text, judged alone.
    pub alone: f32,
    /// Log-odds, judged with the rest of the page.
    pub together: f32,
    /// Whether it is part of the document's text.
    pub kept: bool,
    /// The features that weighed most, with what they added.
    pub reasons: Vec<(&'static str, f32)>,
}

/// The trace of a page.
pub(super) fn trace(
    page: &Page,
    outline: &Outline,
    guess: Option<usize>,
    body: &Body,
    titles: &[title::Candidate],
    dates: &[date::Candidate],
    clock: &Clock,
) -> Trace {
    let view = View::of(page, outline, guess);
    let first = odds::first(&view);
    let container = body::container(page, outline, &first);
    let second = Second::of(&view, &first, container);
    let together = odds::second(&second, first.len());
    let lines = (0..first.len()).map(|i| {
        let line = &outline.lines[i];
        let mut text = String::new();
        line_text(page, line, &mut text);
        LineTrace {
            text,
            place: place(page, line.first),
            alone: first[i],
            together: together[i],
            kept: body.lines.binary_search(&i).is_ok(),
            reasons: reasons(odds::reasons(&view, &second, i)),
        }
    });
    Trace {
        method: body.method.to_owned(),
        container: container.map(|c| place(page, c.node + 1)),
        titles: titles
            .iter()
            .map(|c| TitleTrace {
                text: c.text.clone(),
                origin: format!("{:?}", c.origin),
                score: c.score,
            })
            .collect(),
        dates: dates
            .iter()
            .map(|c| DateTrace {
                value: c.stamp.iso(clock),
                origin: format!("{:?}", c.origin),
            })
            .collect(),
        lines: lines.collect(),
    }
}

fn reasons(mut all: Vec<(&'static str, f32)>) -> Vec<(&'static str, f32)> {
    all.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    all.truncate(REASONS);
    all
}

/// The elements above a node as `div#id.class > p`.
fn place(page: &Page, id: NodeId) -> String {
    const LEVELS: usize = 6;
    let mut parts: Vec<String> = page
        .ancestors(id)
        .take(LEVELS)
        .map(|a| {
            let mut out = page.node(a).tag.name().to_owned();
            for (attr, sign) in [(Attr::Id, '#'), (Attr::Class, '.')] {
                let value = page.attr(a, attr).unwrap_or_default();
                for word in value.split_ascii_whitespace().take(3) {
                    out.push(sign);
                    out.push_str(word);
                }
            }
            out
        })
        .collect();
    parts.reverse();
    parts.join(" > ")
}
