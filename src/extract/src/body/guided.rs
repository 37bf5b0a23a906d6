//! Extracts with a template: combines the odds of the models with those of the site's template, and fills missing fields. A
//! template never costs a page its text: if both disagree too much, the models decide.

use std::collections::HashSet;

use super::DecidedBy;
use super::judgement::{count_tokens, select};
use crate::date::stamp::Clock;
use crate::date::text::{DateForm, find_dates};
use crate::document::{DateSource, Document};
use crate::fields::author::{clean_name, find_author, find_source};
use crate::fields::title_region::TitleRegion;
use crate::lines::Line;
use crate::lines::outline::Outline;
use crate::page::{Page, Tag};
use crate::template::{Field, Guide};

/// Of what the models are sure of, this share at least must stay, or the template is not believed.
const LEAST_LEFT: f32 = 0.5;
/// Odds from which the models are sure of a line.
const SURE: f32 = 0.5;
/// Where the models expect less of what they found that is no link, nothing reads like text: of a list a template of articles
/// says nothing.
const LEAST_EXPECTED: f32 = 0.2;
/// Of all that it kept, this share must stay at least: a template of articles leaves less of a list.
const LEAST_OF_ALL: f32 = 0.25;
/// Lines of more tokens do not repeat by being part of the layout, but because somebody quotes.
const LONGEST_REPEAT: u32 = 120;
/// What is believed of the container's log-odds.
const INSIDE: f32 = 1.3;

/// The lines to keep when a template helps: its odds are added to those of the models, and what repeats goes.
pub(crate) fn choose(
    page: &Page,
    outline: &Outline,
    odds: &[f32],
    guide: &Guide<'_>,
) -> (Vec<usize>, f32, DecidedBy) {
    let tokens: Vec<u32> = outline.lines.iter().map(|l| l.all.tokens).collect();
    let (model, expected) = select(&count_tokens(&outline.lines, odds), odds);
    let guided: Vec<f32> = outline
        .lines
        .iter()
        .zip(odds)
        .map(|(line, odds)| {
            let odds = odds + template_odds(page, line, guide);
            let may_repeat = line.all.tokens <= LONGEST_REPEAT && odds > -1.0;
            if may_repeat && !guide.is_said(line.block) && guide.is_furniture(line.first..line.end)
            {
                odds + guide.against_furniture()
            } else {
                odds
            }
        })
        .collect();
    let (mut lines, sure) = select(&count_tokens(&outline.lines, &guided), &guided);
    // What the models kept goes only where the template speaks against it, not because other lines have become likelier.
    lines.extend(model.iter().filter(|i| guided[**i] >= odds[**i]));
    lines.sort_unstable();
    lines.dedup();
    let mut certain: HashSet<usize> = model.iter().copied().filter(|i| odds[*i] >= SURE).collect();
    if certain.is_empty() {
        certain.extend(&model);
    }
    let of_certain = |lines: &[usize]| {
        let both = lines.iter().filter(|i| certain.contains(i));
        both.map(|i| tokens[*i]).sum::<u32>() as f32
    };
    let sum = |lines: &[usize]| lines.iter().map(|i| tokens[*i]).sum::<u32>() as f32;
    let shared: Vec<usize> = lines
        .iter()
        .copied()
        .filter(|i| model.binary_search(i).is_ok())
        .collect();
    let enough = sum(&shared) >= LEAST_OF_ALL * sum(&model);
    let said = outline.lines.iter().any(|line| guide.is_said(line.block));
    let linked: u32 = model.iter().map(|i| outline.lines[*i].linked.tokens).sum();
    let plain = 1.0 - linked as f32 / sum(&model).max(1.0);
    if !said && expected * plain < LEAST_EXPECTED {
        (model, expected, DecidedBy::Model)
    } else if lines == model {
        (model, expected.max(sure), DecidedBy::ModelAndTemplate)
    } else if said || (of_certain(&lines) >= LEAST_LEFT * of_certain(&model) && enough) {
        (lines, sure, DecidedBy::Template)
    } else {
        (model, expected, DecidedBy::Model)
    }
}

/// Log-odds of a line by the template: what the past of its place says against it, and what the container around it says
/// for it. What speaks for a place, the models saw as well. They are often shy of lists and short lines; where almost
/// everything is main text, such a line is too, unless it is a caption.
fn template_odds(page: &Page, line: &Line, guide: &Guide<'_>) -> f32 {
    if let Some(odds) = guide.said(line.block) {
        return odds;
    }
    let inside = guide.inside(line.block);
    if inside <= 0.0 || is_in_figure(page, line) {
        return guide.against(line.block);
    }
    INSIDE * inside
}

fn is_in_figure(page: &Page, line: &Line) -> bool {
    let mut around = std::iter::once(line.block).chain(page.ancestors(line.block).take(4));
    around.any(|at| matches!(page.node(at).tag, Tag::FIGURE | Tag::FIGCAPTION))
}

/// Fields that the models did not find, or that a person pointed at, from the regions and slots of the template; the headline
/// also where another was found than the one in the region that was learned. `title_line` is where it was found.
pub(crate) fn fill_fields(
    document: &mut Document,
    page: &Page,
    outline: &Outline,
    guide: &Guide<'_>,
    (title_line, clock): (Option<usize>, &Clock),
) {
    let values = guide.values(page);
    let read = |field: Field, said_only: bool| -> Option<String> {
        let named = values
            .iter()
            .find(|value| value.is_said && value.name == field.name());
        if let Some(value) = named {
            return Some(value.join());
        }
        let line = outline.lines.iter().find(|line| {
            guide.field(line.block) == Some(field) && (!said_only || guide.is_said(line.block))
        })?;
        Some(outline.text(page, line).to_owned())
    };
    let region = TitleRegion::new(page, outline, guide);
    if let Some(title) = region.read(&values, document.title.as_deref(), title_line) {
        document.title = Some(title);
    }
    if let Some(line) = read(Field::Published, document.published.is_some()) {
        let found = find_dates(&line, clock)
            .into_iter()
            .find(|f| f.form == DateForm::Full);
        if let Some(found) = found {
            document.published = Some(found.stamp.iso(clock));
            document.provenance.date_source = Some(DateSource::Template);
        }
    }
    if let Some(line) = read(Field::Author, document.author.is_some()) {
        document.author = find_author(&line)
            .or_else(|| clean_name(&line))
            .or(document.author.take());
    }
    if let Some(line) = read(Field::Source, document.source.is_some()) {
        document.source = find_source(&line)
            .or_else(|| clean_name(&line))
            .or(document.source.take());
    }
    for value in values {
        let text = value.join();
        if value.is_said && Field::named(&value.name).is_none() {
            document.meta.set_said(value.name, text);
        } else if !value.is_said {
            document.meta.add(value.name, text);
        }
    }
}
