//! The main text. In: an [`Outline`] and a log-odds for each line that it is text. Out: the lines kept and
//! how sure that is. Never looks at words.
//!
//! Two steps. The container is the element whose lines have the greatest `Σ tokens · (p - θ)`: a long text
//! outweighs the noise around it, and an element that takes in more noise than text loses (maximum
//! subsequence segmentation, Pasternack and Roth, WWW 2009, over subtrees instead of ranges). Inside it, lines
//! are kept by their own odds and those of their neighbours and siblings.

pub(crate) mod fallback;
pub(crate) mod gaps;
pub(crate) mod guided;
pub(crate) mod list_page;
pub(crate) mod notes;
pub(crate) mod parts;
pub(crate) mod thread;

use super::Config;
use crate::classify::features::View;

use crate::classify::learned::Weights;
use crate::classify::line_model as odds;
use crate::classify::line_model::LineModel;
use crate::classify::page_type::PageType;
use crate::fields::head::Head;
use crate::lines::hints::Marks;
use crate::lines::outline::{Outline, is_prose};

use crate::classify::context_features::Second;
use crate::cues::phrases::Phrase;
use crate::page::{Judged, Kind, NodeId, Page, Tag};
use crate::template::Guide;

/// A line counts for an element when it is likelier than this to be text: half of the F1 aimed at.
const THETA: f32 = 0.45;

/// Expected F1 from which a page is clear; this and the next by cross-validation over sites.
const CLEAR: f32 = 0.8;
/// Odds that a line of a clear page must have before it counts as likely.
const DOUBT: f32 = 0.3;
/// Longest cell of a data table, in tokens; longer ones are paragraphs of a layout.
const CELL_TOKENS: u32 = 40;
/// Most cells of a table that is completed.
const TABLE_LINES: usize = 400;
/// Fewest tokens of an item, on average, of a list that is completed.
const ITEM_TOKENS: u32 = 4;
/// Odds that such a list must have on average, and a line that stands between two of its kind.
const STILL_DOUBTFUL: f32 = -1.5;
/// Most attachments below a text.
const ATTACHMENTS: usize = 20;
/// Probability of being an article or a manual from which a page is taken for one text.
const ONE_TEXT: f32 = 0.5;
/// Lines below these odds are never kept, however poor the page.
const FLOOR: f32 = -3.0;

/// The element that holds the main text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Container {
    /// The element.
    pub node: NodeId,
    /// `Σ tokens · (p - θ)` over its lines.
    pub value: f32,
}

/// Probability of log-odds.
pub(super) fn probability(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// The element with the greatest value; of equals the innermost. `None` for a page without lines.
pub(super) fn container(page: &Page, outline: &Outline, odds: &[f32]) -> Option<Container> {
    let mut sums = Vec::with_capacity(odds.len() + 1);
    let mut sum = 0.0f32;
    sums.push(sum);
    for (line, odds) in outline.lines.iter().zip(odds) {
        sum += line.all.tokens as f32 * (probability(*odds) - THETA);
        sums.push(sum);
    }
    let mut best: Option<Container> = None;
    for (at, node) in page.nodes().iter().enumerate() {
        if node.tag == Tag::TEXT {
            continue;
        }
        let range = outline.range(page, at as NodeId);
        if range.is_empty() {
            continue;
        }
        let value = sums[range.end] - sums[range.start];
        if best.is_none_or(|b| value >= b.value) {
            best = Some(Container {
                node: at as NodeId,
                value,
            });
        }
    }
    best
}

/// The main text.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// Lines kept, in order.
    pub lines: Vec<usize>,
    /// What each line of the page says that is not text.
    pub phrases: Vec<Option<Phrase>>,
    /// Which way decided.
    pub method: &'static str,
    /// 0 to 1.
    pub confidence: f32,
    /// What the page is.
    pub kind: Kind,
    /// Probability that it is a thread.
    pub talk: f32,
}

/// The lines to keep, and the F1 to be expected of them. A clear page is cut a second time with lower odds: what is
/// doubtful beside a clear text is rarely part of it.
pub(super) fn select(tokens: &[u32], odds: &[f32]) -> (Vec<usize>, f32) {
    let (lines, expected) = cut(tokens, odds);
    if expected < CLEAR {
        return (lines, expected);
    }
    let lower: Vec<f32> = odds.iter().map(|o| o - DOUBT).collect();
    (cut(tokens, &lower).0, expected)
}

/// Of all cuts through the lines in order of odds, the one with the greatest expected F1,
/// `2 Σ kept t·p / (Σ kept t + Σ all t·p)`: a page of clear odds is cut near one half; on a page where every
/// line is doubtful the likeliest ones stay.
fn cut(tokens: &[u32], odds: &[f32]) -> (Vec<usize>, f32) {
    let mut order: Vec<usize> = (0..odds.len()).filter(|i| odds[*i] > FLOOR).collect();
    order.sort_by(|a, b| odds[*b].total_cmp(&odds[*a]).then(a.cmp(b)));
    let weight = |i: usize| tokens[i] as f32 * probability(odds[i]);
    let wanted: f32 = (0..odds.len()).map(weight).sum();
    let (mut hit, mut kept) = (0.0f32, 0.0f32);
    let mut best = (0.0f32, 0);
    for (n, i) in order.iter().enumerate() {
        hit += weight(*i);
        kept += tokens[*i] as f32;
        let expected = 2.0 * hit / (kept + wanted).max(1.0);
        if expected >= best.0 {
            best = (expected, n + 1);
        }
    }
    let mut lines = order;
    lines.truncate(best.1);
    lines.sort_unstable();
    (lines, best.0)
}

/// What the main text is looked for with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search<'a> {
    /// The page.
    pub page: &'a Page,
    /// Its lines.
    pub outline: &'a Outline,
    /// Line of the headline, if it was found.
    pub title: Option<usize>,
    /// What the head says.
    pub head: &'a Head<'a>,
    /// What the page is by its shape and its address.
    pub judged: &'a Judged,
    /// What was learned of lines and pages.
    pub weights: &'a Weights,
}

/// All that was found out on the way to the lines of the main text.
#[derive(Debug)]
pub(super) struct Judgement {
    /// Type of the page.
    pub types: PageType,
    /// Each line alone.
    pub first: LineModel,
    /// The element that holds most of the text.
    pub container: Option<Container>,
    /// Log-odds of each line, all things considered.
    pub odds: Vec<f32>,
}

impl Judgement {
    /// Judges every line of a page.
    pub(super) fn of(search: &Search<'_>, view: &View<'_>) -> Self {
        let types = PageType::of(view, search.head, search.judged, search.weights);
        let first = LineModel::of(view, search.weights);
        let container = container(search.page, search.outline, &first.odds);
        let second = Second::of(view, &first.odds, container);
        let odds = odds::second(&second, &first, &types, search.weights);
        Self {
            types,
            container,
            odds,
            first,
        }
    }
}

/// The main text of a page.
pub(super) fn main_text(search: &Search<'_>, config: &Config, guide: Option<Guide<'_>>) -> Body {
    let outline = search.outline;
    let view = View::of(search.page, outline, search.title);
    if outline.lines.is_empty() {
        return Body {
            method: "none",
            kind: search.judged.kind,
            ..Body::default()
        };
    }
    let judgement = Judgement::of(search, &view);
    let (mut lines, expected, method) = match &guide {
        Some(guide) => guided::choose(search.page, outline, &judgement.odds, guide),
        None => {
            let tokens: Vec<u32> = outline.lines.iter().map(|l| l.all.tokens).collect();
            let (lines, expected) = select(&tokens, &judgement.odds);
            (lines, expected, "ratio+blocks")
        }
    };
    complete(search.page, &view, &judgement.odds, &mut lines);
    let [article, talk, reference, ..] = judgement.types.0;
    if article + reference > ONE_TEXT {
        parts::drop_foreign(search.page, &view, &mut lines);
    }
    let kept = lines.iter().fold((0u32, 0u32), |sum, i| {
        let line = &outline.lines[*i];
        (sum.0 + line.all.tokens, sum.1 + line.linked.tokens)
    });
    // Kept links are a list, however clearly it stands out.
    let plain = 1.0 - kept.1 as f32 / kept.0.max(1) as f32;
    let short = 0.5 + 0.5 * (kept.0 as f32 / (2 * config.min_tokens).max(1) as f32).min(1.0);
    Body {
        lines,
        method,
        confidence: expected * plain * short,
        kind: judgement.types.kind(&view, search.judged.kind),
        talk,
        phrases: view.phrases,
    }
}

/// Adds what belongs to kept lines though it does not read like text: the other rows of a table, lists that stand
/// among paragraphs, attachments named right below; then whole parts that stand among paragraphs.
fn complete(page: &Page, view: &View<'_>, odds: &[f32], lines: &mut Vec<usize>) {
    let outline = view.outline;
    let mut more = other_rows(page, outline, lines);
    more.extend(lists(page, outline, odds, lines));
    more.extend(between(view, odds, lines));
    if let Some(last) = lines.last().copied() {
        let below = (last + 1..outline.lines.len()).take(ATTACHMENTS);
        more.extend(below.take_while(|i| view.phrases[*i] == Some(Phrase::Attachment)));
    }
    lines.extend(more);
    lines.sort_unstable();
    lines.dedup();
    lines.extend(gaps::lines(page, view, odds, lines));
    lines.sort_unstable();
}

/// Lines of the tables that hold a kept cell between kept paragraphs.
fn other_rows(page: &Page, outline: &Outline, lines: &[usize]) -> Vec<usize> {
    let prose = |i: &&usize| is_prose(&outline.lines[**i]);
    let first = lines.iter().find(prose).copied().unwrap_or(usize::MAX);
    let last = lines.iter().rfind(prose).copied().unwrap_or(0);
    let mut more: Vec<usize> = Vec::new();
    let mut last_table = None;
    for i in lines.iter().filter(|i| (first..=last).contains(*i)) {
        let line = &outline.lines[*i];
        let inside = line.marks.any(Marks::TABLE) && line.all.tokens <= CELL_TOKENS;
        let table = inside
            .then(|| {
                page.ancestors(line.first)
                    .take(6)
                    .find(|a| page.node(*a).tag == Tag::TABLE)
            })
            .flatten();
        if let Some(table) = table.filter(|t| last_table != Some(*t)) {
            last_table = Some(table);
            let range = outline.range(page, table);
            let sum = outline.sum(range.clone());
            let small = sum.tokens <= CELL_TOKENS * sum.lines.max(1);
            let within = first < range.start && range.end <= last;
            if within && small && sum.linked * 3 < sum.tokens && range.len() <= TABLE_LINES {
                more.extend(range);
            }
        }
    }
    more
}

/// Lines between two kept lines of the same kind, alone in their gap: a short verse of a poem, an answer of one word.
fn between<'a>(
    view: &'a View<'_>,
    odds: &'a [f32],
    lines: &'a [usize],
) -> impl Iterator<Item = usize> + 'a {
    let all = &view.outline.lines;
    let parent = |i: usize| view.page.node(all[i].block).parent;
    let gaps = lines
        .windows(2)
        .filter(|w| w[1] == w[0] + 2)
        .map(|w| w[0] + 1);
    gaps.filter(move |i| {
        let (line, before, after) = (&all[*i], &all[i - 1], &all[i + 1]);
        let alike = line.path == before.path && line.path == after.path;
        let beside = parent(*i) == parent(i - 1) && parent(*i) == parent(i + 1);
        let plain = line.links == 0 && view.phrases[*i].is_none() && line.marks == before.marks;
        alike && beside && plain && odds[*i] > STILL_DOUBTFUL
    })
}

/// Mean of the odds of some lines; 0 of none.
pub(super) fn mean_odds(odds: &[f32], range: std::ops::Range<usize>) -> f32 {
    let odds = odds.get(range).unwrap_or_default();
    odds.iter().sum::<f32>() / odds.len().max(1) as f32
}

/// Lines of the lists right below a kept paragraph, under the same parent, that hold words rather than links and are
/// not much less likely than it.
fn lists(page: &Page, outline: &Outline, odds: &[f32], lines: &[usize]) -> Vec<usize> {
    let mut more = Vec::new();
    for marked in outline.marked.iter().filter(|m| m.marks.any(Marks::LIST)) {
        let range = outline.range(page, marked.node);
        let above = range
            .start
            .checked_sub(1)
            .filter(|i| lines.binary_search(i).is_ok());
        let Some(above) = above.map(|i| outline.lines[i].block) else {
            continue;
        };
        let sum = outline.sum(range.clone());
        let wordy = sum.tokens >= ITEM_TOKENS * sum.lines && sum.linked * 4 < sum.tokens;
        let sibling = page.node(marked.node).parent == page.node(above).parent;
        let mean = mean_odds(odds, range.clone());
        if sibling && wordy && mean > STILL_DOUBTFUL && range.len() <= TABLE_LINES {
            more.extend(range);
        }
    }
    more
}
