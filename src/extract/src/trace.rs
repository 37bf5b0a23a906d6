//! Why a document came out as it did. In: what the stages of the extraction kept. Out: a [`Trace`] for a
//! person (`--explain`). Never changes the outcome.

use serde::Serialize;

use crate::body::Body;
use crate::body::judgement::{Judgement, Search};
use crate::classify::context::PageContext;
use crate::classify::context_model;
use crate::classify::features::View;
use crate::classify::page_type;
use crate::classify::page_type::PageType;
use crate::date;
use crate::date::stamp::Clock;
use crate::fields::author::{NameTrace, Names};
use crate::fields::title_candidate::Candidate;
use crate::lines::path_ratio::PathSum;
use crate::page::{Attr, NodeId, Page, PathId};

/// Most features named for a line.
const REASONS: usize = 5;
/// Most tag paths told.
const PATHS: usize = 24;
/// Types below this probability are not told.
const LEAST_SHARE: f32 = 0.02;

/// How a document was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Trace {
    /// The pass that decided about the text.
    pub method: String,
    /// The element that holds most of the text, as tags with ids and classes.
    pub container: Option<String>,
    /// What sort of page it is, likeliest first, with probabilities.
    pub types: Vec<(&'static str, f32)>,
    /// Tag paths by the text they hold, most first; those with next to none are left out.
    pub paths: Vec<PathTrace>,
    /// Candidates for the title, best first.
    pub titles: Vec<TitleTrace>,
    /// Candidates for the time of publication, best first.
    pub dates: Vec<DateTrace>,
    /// Candidates for the writer, best first.
    pub authors: Vec<NameTrace>,
    /// Candidates for the media source, best first.
    pub sources: Vec<NameTrace>,
    /// Every line of the page.
    pub lines: Vec<LineTrace>,
}

/// One tag path: Wu et al., "Web News Extraction via Path Ratios", CIKM 2013.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathTrace {
    /// Tags from the root to the block, joined by dots.
    pub path: String,
    /// Number of lines.
    pub lines: u32,
    /// Tokens (CJK characters and words) in them.
    pub tokens: u32,
    /// Tokens a line.
    pub tpr: f64,
    /// Sentence marks a line.
    pub ppr: f64,
    /// The extended ratio: both, with their deviations.
    pub etpr: f64,
    /// Share of the tokens that is in the document's text, 0 to 1.
    pub kept: f64,
}

/// One candidate for the title.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TitleTrace {
    /// Its text.
    pub text: String,
    /// Where it comes from.
    pub origin: String,
    /// Similarity to a part of `<title>`, 0 to 1; accepted from 0.6.
    pub score: f64,
}

/// One candidate for the time of publication.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DateTrace {
    /// ISO 8601.
    pub value: String,
    /// Where it comes from.
    pub origin: String,
    /// Trust in such a place, 0 to 1: the most trusted candidate wins.
    pub score: f64,
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
    search: &Search<'_>,
    body: &Body,
    titles: &[Candidate<'_>],
    dates: &[date::Candidate],
    names: Names,
    clock: &Clock,
) -> Trace {
    let (page, outline) = (search.page, search.outline);
    let view = View::of(page, outline, search.title);
    let judgement = Judgement::of(search, &view);
    let context = PageContext::of(&view, &judgement.line_model.odds, judgement.container);
    let lines = (0..judgement.odds.len()).map(|i| {
        let line = &outline.lines[i];
        LineTrace {
            text: outline.text(page, line).to_owned(),
            place: place(page, line.first),
            alone: judgement.line_model.odds[i],
            together: judgement.odds[i],
            kept: body.lines.binary_search(&i).is_ok(),
            reasons: reasons(context_model::reasons(
                &context,
                &judgement.line_model,
                &judgement.types,
                search.weights,
                i,
                judgement.odds[i],
            )),
        }
    });
    Trace {
        method: body.method.to_owned(),
        container: judgement.container.map(|c| place(page, c.node + 1)),
        types: types(&judgement.types),
        paths: paths(page, &view, body),
        authors: names.authors,
        sources: names.sources,
        titles: titles
            .iter()
            .map(|c| TitleTrace {
                text: c.text.clone().into_owned(),
                origin: format!("{:?}", c.origin),
                score: c.score,
            })
            .collect(),
        dates: dates
            .iter()
            .map(|c| DateTrace {
                value: c.stamp.iso(clock),
                origin: format!("{:?}", c.origin),
                score: c.origin.trust(),
            })
            .collect(),
        lines: lines.collect(),
    }
}

/// Types with a share worth a word, likeliest first.
fn types(types: &PageType) -> Vec<(&'static str, f32)> {
    let mut named: Vec<(&'static str, f32)> = page_type::NAMES.into_iter().zip(types.0).collect();
    named.retain(|(_, share)| *share >= LEAST_SHARE);
    named.sort_by(|a, b| b.1.total_cmp(&a.1));
    named
}

/// The tag paths that hold most text.
fn paths(page: &Page, view: &View<'_>, body: &Body) -> Vec<PathTrace> {
    let lines = &view.outline.lines;
    let mut kept = vec![0u32; view.paths.len()];
    for line in body.lines.iter().map(|i| &lines[*i]) {
        kept[line.path as usize] += line.all.tokens;
    }
    let mut all: Vec<(usize, &PathSum)> = view.paths.iter().enumerate().collect();
    all.retain(|(_, sum)| sum.chars > 0);
    all.sort_by(|a, b| b.1.chars.cmp(&a.1.chars).then(a.0.cmp(&b.0)));
    let trace = |(at, sum): (usize, &PathSum)| PathTrace {
        path: page.path_name(at as PathId),
        lines: sum.texts,
        tokens: sum.chars,
        tpr: sum.tpr(),
        ppr: sum.ppr(),
        etpr: sum.etpr(),
        kept: f64::from(kept[at]) / f64::from(sum.chars),
    };
    all.into_iter().take(PATHS).map(trace).collect()
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
