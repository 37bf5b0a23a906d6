//! Explains how a document was extracted. A [`Trace`] lists the candidates and decisions of each stage for `--explain`; it
//! never changes the document.

use serde::Serialize;

use crate::body::Body;
use crate::body::judgement::{Judgement, LineContext};
use crate::body::proposal::{BodyProposal, RatioVerdict, list_line_texts};
use crate::classify::context::PageContext;
use crate::classify::features::View;
use crate::classify::page_type::PageType;
use crate::classify::{context_model, learned};
use crate::date;
use crate::date::stamp::Clock;
use crate::fields::author::{NameCandidates, NameTrace};
use crate::fields::title_candidate::TitleCandidate;
use crate::lines::outline::Outline;
use crate::page::{Attr, NodeId, Page, PathCounts, PathId};
use crate::template::TextRole;

/// Most features named for a line.
const REASONS: usize = 5;
/// Most tag paths stated.
const PATHS: usize = 24;
/// Most slots named for a line.
const SLOTS: usize = 8;
/// Types below this probability are not stated.
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
    /// Tag paths by the text they hold, most first; those with next to none are skipped.
    pub paths: Vec<PathTrace>,
    /// What a text's smoothed ratio must exceed to be proposed.
    pub threshold: f64,
    /// The element that holds the proposed text, as tags with ids and classes.
    pub element: Option<String>,
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

impl Trace {
    /// Notes what each line is in the template that `texts` were read with, in the order of the page.
    pub(super) fn name_slots(&mut self, outline: &Outline, texts: &[(NodeId, TextRole)]) {
        for (line, traced) in outline.lines.iter().zip(&mut self.lines) {
            let from = texts.partition_point(|(node, _)| *node < line.first);
            let own = texts[from..]
                .iter()
                .take_while(|(node, _)| *node < line.end);
            for (_, role) in own {
                let name = role.to_string();
                if !traced.slots.contains(&name) && traced.slots.len() < SLOTS {
                    traced.slots.push(name);
                }
            }
        }
    }
}

/// One tag path: Wu et al., "Web News Extraction via Path Ratios", CIKM 2013.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathTrace {
    /// Tags from the root to the texts, joined by dots.
    pub path: String,
    /// Number of texts.
    pub texts: u32,
    /// Tokens (CJK characters and words) in them.
    pub tokens: u32,
    /// Tokens a text.
    pub tpr: f64,
    /// Sentence marks a text.
    pub ppr: f64,
    /// Standard deviation of the tokens.
    pub deviation_tokens: f64,
    /// Standard deviation of the sentence marks.
    pub deviation_marks: f64,
    /// The extended ratio, mended, 0 for links: what is smoothed along the page and cut at the threshold.
    pub etpr: f64,
    /// Share of the tokens that the ratios propose as text, 0 to 1.
    pub proposed: f64,
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
    /// Where it is: tags with ids and classes, innermost last.
    pub place: String,
    /// What the path ratios decide before any model looks at it.
    pub ratio: RatioVerdict,
    /// Log-odds that it is text, judged alone; −6 where it is ruled out.
    pub alone: f32,
    /// Log-odds, judged with the rest of the page; −6 where it is ruled out.
    pub together: f32,
    /// Whether it is part of the document's text.
    pub kept: bool,
    /// The features that weighed most, with what they added; none where it is ruled out.
    pub reasons: Vec<(&'static str, f32)>,
    /// What its texts are in the template of the page, in their order, each once; none without a template.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<String>,
}

/// The trace of a page.
pub(super) fn build_trace(
    search: &LineContext<'_>,
    body: &Body,
    titles: &[TitleCandidate<'_>],
    dates: &[date::DateCandidate],
    names: NameCandidates,
    clock: &Clock,
) -> Trace {
    let (page, outline) = (search.page, search.outline);
    let proposal = BodyProposal::new(page, outline);
    let view = View::new(page, outline, search.title, &proposal.lines);
    let judgement = Judgement::new(search, &view, proposal);
    let proposal = &judgement.proposal;
    let context = PageContext::new(&view, &judgement.line_model.odds, judgement.container);
    let reasons = |i: usize| {
        let proposed = proposal.lines[i];
        if proposed.is_ruled_out() {
            return Vec::new();
        }
        let lean = proposed.lean();
        let (models, types) = (&judgement.line_model, &judgement.types);
        let odds = judgement.odds[i] - lean;
        let found = context_model::explain_line(&context, models, types, search.weights, i, odds);
        trace_reasons(found, lean)
    };
    let lines = (0..judgement.odds.len()).map(|i| {
        let line = &outline.lines[i];
        LineTrace {
            text: outline.text(page, line).to_owned(),
            place: place(page, line.first),
            ratio: proposal.lines[i].verdict,
            alone: judgement.line_model.odds[i],
            together: judgement.odds[i],
            kept: body.lines.binary_search(&i).is_ok(),
            reasons: reasons(i),
            slots: Vec::new(),
        }
    });
    Trace {
        method: body.decided_by.as_str().to_owned(),
        container: judgement.container.map(|c| place(page, c.node + 1)),
        types: trace_types(&judgement.types),
        paths: trace_paths(page, outline, proposal, body),
        threshold: proposal.threshold,
        element: proposal.element.map(|node| place(page, node + 1)),
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
fn trace_types(types: &PageType) -> Vec<(&'static str, f32)> {
    let mut named: Vec<(&'static str, f32)> =
        learned::TYPE_NAMES.into_iter().zip(types.0).collect();
    named.retain(|(_, share)| *share >= LEAST_SHARE);
    named.sort_by(|a, b| b.1.total_cmp(&a.1));
    named
}

/// The tag paths that hold most text.
fn trace_paths(
    page: &Page,
    outline: &Outline,
    proposal: &BodyProposal,
    body: &Body,
) -> Vec<PathTrace> {
    let mut proposed = vec![0u32; proposal.paths.len()];
    let mut kept = proposed.clone();
    let (texts, ends) = list_line_texts(page, outline);
    let mut texts = texts.iter().enumerate().peekable();
    for (line, end) in ends.into_iter().enumerate() {
        let is_proposed = proposal.lines[line].is_text();
        let is_kept = body.lines.binary_search(&line).is_ok();
        while let Some((_, text)) = texts.next_if(|(at, _)| *at < end) {
            let (path, tokens) = (text.path as usize, text.measure.tokens);
            proposed[path] += if is_proposed { tokens } else { 0 };
            kept[path] += if is_kept { tokens } else { 0 };
        }
    }
    let mut all: Vec<(usize, &PathCounts)> = proposal.paths.iter().enumerate().collect();
    all.retain(|(_, counts)| counts.tokens > 0);
    all.sort_by(|a, b| b.1.tokens.cmp(&a.1.tokens).then(a.0.cmp(&b.0)));
    let share = |part: u32, counts: &PathCounts| f64::from(part) / f64::from(counts.tokens);
    let trace = |(at, counts): (usize, &PathCounts)| PathTrace {
        path: page.path_name(at as PathId),
        texts: counts.texts,
        tokens: counts.tokens,
        tpr: counts.tpr(),
        ppr: counts.ppr(),
        deviation_tokens: counts.deviation_tokens(),
        deviation_marks: counts.deviation_marks(),
        etpr: if page.paths()[at].is_link {
            0.0
        } else {
            counts.etpr()
        },
        proposed: share(proposed[at], counts),
        kept: share(kept[at], counts),
    };
    all.into_iter().take(PATHS).map(trace).collect()
}

/// What weighed most for or against a line: of what the models saw, and what the path ratios propose.
fn trace_reasons(mut all: Vec<(&'static str, f32)>, proposed: f32) -> Vec<(&'static str, f32)> {
    all.push(("path ratios", proposed));
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
