//! Extracts the main text: the kept lines and a confidence.
//!
//! Each line is judged alone and then in its context; of all cuts through the lines the one with the greatest expected F1
//! is taken. Then lines that belong to it are added, and parts that are foreign to it removed.

mod complete;
pub(crate) mod facts;
pub(crate) mod guided;
pub(crate) mod judgement;
pub(crate) mod notes;
pub(crate) mod proposal;
pub(crate) mod thread;

use super::{Config, Method};
use crate::classify::features::View;
use crate::cues::phrases::Phrase;
use crate::lines::hints::Marks;
use crate::lines::outline::Outline;
use crate::page::{HUB_LINKS, Judged, Kind};
use crate::template::Guide;
use complete::add_related;
use judgement::{Judgement, LineContext, count_tokens, select};
use proposal::{BodyProposal, RatioLines};

/// Probability of being an article or a manual from which a page is taken for one text.
const ONE_TEXT: f32 = 0.5;

/// Which step decided what the text of a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum DecidedBy {
    /// There was nothing to decide about.
    #[default]
    Nothing,
    /// The path ratios, with `method = "ratio"`.
    Ratio,
    /// The learned models.
    Model,
    /// The models, and the template of the site's pages, which kept the same lines.
    ModelAndTemplate,
    /// The template, which kept other lines than the models.
    Template,
    /// The posts of a thread.
    Posts,
}

impl DecidedBy {
    /// The word for it in `Document::method`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            DecidedBy::Nothing => "none",
            DecidedBy::Ratio => "ratio",
            DecidedBy::Model => "model",
            DecidedBy::ModelAndTemplate => "model+template",
            DecidedBy::Template => "template",
            DecidedBy::Posts => "posts",
        }
    }
}

/// The main text.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// Lines kept, in order.
    pub lines: Vec<usize>,
    /// What each line of the page says that is not text.
    pub phrases: Vec<Option<Phrase>>,
    pub decided_by: DecidedBy,
    /// 0 to 1.
    pub confidence: f32,
    /// What the page is.
    pub kind: Kind,
    /// Its posts are its text.
    pub is_thread: bool,
    /// What the path ratios decide of its lines; `None` without lines.
    pub ratio_lines: Option<RatioLines>,
}

/// Fewer tokens than this outside links, without a sentence mark, are no text: a pager, the dates of a short list.
const NO_TEXT_TOKENS: u32 = 30;

/// Whether a page without a text is a list, as far as its links and its URL say.
fn may_be_list(judged: &Judged) -> bool {
    let signs = judged.signs;
    judged.shape.links >= HUB_LINKS && signs.declared <= 0 && signs.address <= 0
}

/// The lines to keep by their odds, and the F1 to be expected of them. Comments are likely lines too: where they win
/// over the article above them, it is selected without them.
fn select_text(search: &LineContext<'_>, judgement: &Judgement) -> (Vec<usize>, f32) {
    let outline = search.outline;
    let select_by = |odds: &[f32]| select(&count_tokens(&outline.lines, odds), odds);
    let chosen = select_by(&judgement.odds);
    let types = &judgement.types;
    let Some(is_open) = thread::prefer_article(outline, search.posts, types, &chosen.0) else {
        return chosen;
    };
    let odds = judgement.odds.iter().zip(is_open);
    let odds: Vec<f32> = odds
        .map(|(odds, open)| if open { *odds } else { f32::MIN })
        .collect();
    let article = select_by(&odds);
    if outline.tokens_of(&article.0) >= thread::TEXT_TOKENS {
        article
    } else {
        chosen
    }
}

/// Whether all lines are in the foot of the page and most of the page is elsewhere.
fn is_in_footer(outline: &Outline, lines: &[usize]) -> bool {
    let in_footer = |i: &usize| outline.lines[*i].marks.any(Marks::FOOTER);
    lines.iter().all(in_footer) && 2 * outline.tokens_of(lines) < outline.total().tokens
}

/// The main text of a page.
pub(super) fn extract_main_text(
    search: &LineContext<'_>,
    config: &Config,
    guide: Option<&Guide<'_>>,
) -> Body {
    let outline = search.outline;
    let proposal = BodyProposal::new(search.page, outline);
    let view = View::new(search.page, outline, search.title, &proposal.lines);
    if outline.lines.is_empty() {
        return Body {
            kind: search.judged.kind,
            ..Body::default()
        };
    }
    let ratio_lines = proposal.line_counts();
    if config.method == Method::Ratio {
        return Body {
            lines: proposal.text_lines(),
            decided_by: DecidedBy::Ratio,
            confidence: proposal.confidence(outline),
            kind: search.judged.kind,
            is_thread: false,
            ratio_lines,
            phrases: view.phrases,
        };
    }
    let mut judgement = Judgement::new(search, &view, proposal);
    notes::rule_out_notices(search.page, &view, guide, &mut judgement.odds);
    let (mut lines, expected, decided_by) = match &guide {
        Some(guide) => guided::choose(search.page, outline, &judgement.odds, guide),
        None => {
            let (lines, expected) = select_text(search, &judgement);
            (lines, expected, DecidedBy::Model)
        }
    };
    add_related(search.page, &view, &judgement.odds, &mut lines);
    let [article, _, reference, ..] = judgement.types.0;
    if article + reference > ONE_TEXT {
        notes::drop_foreign(search.page, &view, &mut lines);
    }
    // The foot of a list, which has nothing else that reads like text.
    if is_in_footer(outline, &lines) {
        lines.clear();
    }
    let kept = lines.iter().fold((0u32, 0u32, 0u32), |sum, i| {
        let line = &outline.lines[*i];
        (
            sum.0 + line.all.tokens,
            sum.1 + line.linked.tokens,
            sum.2 + line.all.marks,
        )
    });
    let mut kind = judgement.types.kind(&view, search.judged.kind);
    if kind == Kind::Article
        && kept.0 - kept.1 < NO_TEXT_TOKENS
        && kept.2 == 0
        && may_be_list(search.judged)
    {
        kind = Kind::Hub;
    }
    // Kept links are a list, however clearly it stands out.
    let plain = 1.0 - kept.1 as f32 / kept.0.max(1) as f32;
    let short = 0.5 + 0.5 * (kept.0 as f32 / (2 * config.min_tokens).max(1) as f32).min(1.0);
    Body {
        is_thread: thread::is_thread(outline, search.posts, &judgement.types, &lines),
        lines,
        decided_by,
        confidence: expected * plain * short,
        kind,
        ratio_lines,
        phrases: view.phrases,
    }
}
