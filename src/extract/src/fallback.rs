//! Other sources of the text when a page shows almost none: the data of a script, a `noscript` element, hidden elements,
//! pictures. Never replaces a long text that was found in plain sight.

use crate::date::text::parse_value;
use crate::document::{DateSource, Document};
use crate::fields::author;
use crate::lines::hints::Marks;
use crate::lines::language;
use crate::page::measure::Measure;
use crate::page::{Attr, Hints, Kind, NodeId, Page, Tag, is_skipped};
use crate::paragraphs::join_paragraphs;
use crate::reading::{MainText, Reading};
use crate::{Config, Context, state};

/// Smallest `noscript` content that may be a whole page, in bytes; smaller ones hold counters and pictures.
const NOSCRIPT_BYTES: usize = 600;
/// A text found elsewhere must have this many times the tokens of what the page shows.
const MUCH_MORE: u32 = 3;
/// Most pictures whose alternative texts are joined.
const MAX_PICTURES: usize = 40;
/// Sentence marks from which a hidden text is that of an article.
const FEW_MARKS: u32 = 4;
/// A text of fewer tokens may be but the beginning of what a script shows.
pub(crate) const SHORT: u32 = 120;
/// What confidence is left when a text was not in plain sight.
const TRUST: f32 = 0.7;

/// Looks for a text elsewhere; `shown` is what was read in plain sight.
pub(crate) fn search_elsewhere(
    document: &mut Document,
    page: &Page,
    shown: Reading<'_>,
    context: &Context<'_>,
    config: &Config,
) {
    if shown.tokens() < config.min_tokens {
        search_hidden(document, page, &shown, context, config);
    }
    from_data(document, page, &shown, context, config);
}

/// Takes the text that the page holds but does not show.
fn search_hidden(
    document: &mut Document,
    page: &Page,
    shown: &Reading<'_>,
    context: &Context<'_>,
    config: &Config,
) {
    let enough = (Measure::new(&document.text).tokens * MUCH_MORE).max(config.min_tokens);
    if from_noscript(document, page, context, config, enough) {
        return;
    }
    // To read a page twice is dear, and most have nothing to hide.
    let again = is_hiding(page, config.min_tokens);
    let again = again.then(|| Reading::with(page, context, config, true, None));
    let hidden = again.as_ref().unwrap_or(shown);
    if hidden.tokens() >= enough && hidden.body.confidence > 0.5 {
        document.set_text(hidden.text(page));
        document.provenance.confidence = hidden.body.confidence * TRUST;
        "hidden".clone_into(&mut document.method);
        // The kind was judged by what is shown: of an article that a script shows, nothing but the headline.
        let is_prose = Measure::new(&document.text).marks >= FEW_MARKS;
        if document.kind == Kind::Other && document.title.is_some() && is_prose {
            document.kind = Kind::Article;
        }
        return;
    }
    if let Some(text) = from_pictures(page, hidden, enough) {
        let images = std::mem::take(&mut document.images);
        document.set_text(MainText {
            text,
            images,
            ..MainText::default()
        });
        document.provenance.confidence = TRUST * TRUST;
        "pictures".clone_into(&mut document.method);
    }
}

/// Takes the text from the data of scripts, with what is next to it and the page does not show, if it is longer than what
/// was found elsewhere.
fn from_data(
    document: &mut Document,
    page: &Page,
    reading: &Reading<'_>,
    context: &Context<'_>,
    config: &Config,
) {
    let shown = reading.tokens();
    let is_list = document.kind == Kind::Hub;
    let head = [reading.head.title.as_str()];
    let titles = document
        .title
        .as_deref()
        .into_iter()
        .chain(head)
        .chain(reading.head.titles.iter().copied());
    let titles: Vec<&str> = titles.filter(|title| !title.is_empty()).collect();
    let known = Measure::new(&document.text).tokens;
    let enough = (shown * MUCH_MORE)
        .max(config.min_tokens)
        .max(known + known / 4);
    let Some(found) = state::find(page, &titles, enough) else {
        return;
    };
    if !found.is_titled && (is_list || known >= config.min_tokens) {
        return;
    }
    document.set_text(if found.is_markup {
        text_from_markup(page, &found, context, config)
    } else {
        MainText {
            text: plain(&found.text),
            ..MainText::default()
        }
    });
    document.provenance.confidence = TRUST * if found.is_titled { 1.0 } else { TRUST };
    "script".clone_into(&mut document.method);
    if reading.headline.line.is_none() || document.title.is_none() {
        document.title = found.title.or(document.title.take());
    }
    let mut scripts = language::Scripts::default();
    scripts.add(&document.text);
    document.language = scripts.language(reading.head.language);
    let clock = crate::reading::make_clock(
        page,
        context,
        document.language.as_deref(),
        reading.head.language,
    );
    let mut times = found
        .times
        .iter()
        .filter_map(|time| parse_value(time, &clock));
    if document.published.is_none()
        && let Some(time) = times.next()
    {
        document.published = Some(time.iso(&clock));
        document.provenance.date_source = Some(DateSource::State);
    }
    document.author = document
        .author
        .take()
        .or(found.author.as_deref().and_then(author::clean_name));
    document.source = document
        .source
        .take()
        .or(found.source.as_deref().and_then(author::clean_name));
    if document.kind == Kind::Other || (is_list && document.published.is_some()) {
        document.kind = Kind::Article;
    }
}

/// Takes the day from the data of scripts, where a page that shows its text names none.
pub(crate) fn date_by_data(document: &mut Document, page: &Page, reading: &Reading<'_>) {
    let titles = document.title.as_deref().into_iter();
    let titles = titles.chain(reading.head.titles.iter().copied());
    let titles: Vec<&str> = titles.filter(|title| !title.is_empty()).collect();
    let times = state::find_times(page, &titles);
    let mut days = times
        .iter()
        .filter_map(|time| parse_value(time, &reading.clock));
    if let Some(day) = days.next() {
        document.published = Some(day.iso(&reading.clock));
        document.provenance.date_source = Some(DateSource::State);
    }
}

/// Text, structure and pictures of markup from a script: the main text of it as of a page, unless that leaves much out.
fn text_from_markup(
    page: &Page,
    found: &state::DataText,
    context: &Context<'_>,
    config: &Config,
) -> MainText {
    let inner = Page::parse(found.text.as_bytes(), make_inner_hints(page));
    let mut reading = Reading::new(&inner, context, config);
    let total = reading.outline.total().tokens;
    if reading.tokens() * 10 < total * 8 {
        reading.body.lines = (0..reading.outline.lines.len()).collect();
    }
    reading.text(&inner)
}

/// What is known of a page inside a page.
fn make_inner_hints(page: &Page) -> Hints {
    Hints {
        url: page.url.clone(),
        charset: Some("utf-8".to_owned()),
        ..Hints::default()
    }
}

/// True if hidden elements hold so many tokens.
fn is_hiding(page: &Page, tokens: u32) -> bool {
    let mut hidden = 0;
    let mut end = 0;
    let mut at: NodeId = 0;
    while let Some(node) = page.nodes().get(at as usize) {
        if node.tag == Tag::TEXT {
            if at < end {
                hidden += Measure::new(page.text(at)).tokens;
                if hidden >= tokens {
                    return true;
                }
            }
        } else if is_skipped(node.tag) {
            at = node.end;
            continue;
        } else if at >= end && page.is_hidden(at) {
            end = node.end;
        }
        at += 1;
    }
    false
}

/// Takes text and comments from the longest `noscript` element of the body: forums put the whole page there for readers
/// without scripts. False if it holds too little.
fn from_noscript(
    document: &mut Document,
    page: &Page,
    context: &Context<'_>,
    config: &Config,
    enough: u32,
) -> bool {
    let longest = page
        .nodes()
        .iter()
        .enumerate()
        .filter(|(_, n)| n.tag == Tag::NOSCRIPT)
        .flat_map(|(id, _)| page.children(id as NodeId))
        .map(|id| page.text(id))
        .max_by_key(|text| text.len())
        .filter(|text| text.len() >= NOSCRIPT_BYTES);
    let Some(longest) = longest else {
        return false;
    };
    let inner = Page::parse(longest.as_bytes(), make_inner_hints(page));
    let mut reading = Reading::new(&inner, context, config);
    if reading.tokens() < enough {
        return false;
    }
    let paragraphs = join_paragraphs(&inner, &reading.outline, &reading.body.lines);
    let images = std::mem::take(&mut document.images);
    document.set_text(MainText {
        text: paragraphs.text,
        structure: paragraphs.structure,
        images,
    });
    document.provenance.confidence = reading.body.confidence * TRUST;
    "noscript".clone_into(&mut document.method);
    document.comments = reading.take_comments(&inner);
    if let Some(found) = reading.published.filter(|_| document.published.is_none()) {
        document.published = Some(found.stamp.iso(&reading.clock));
        document.provenance.date_source = Some(found.origin.source());
    }
    true
}

/// The alternative texts of the pictures right below the headline: a story stated in one long picture.
fn from_pictures(page: &Page, reading: &Reading<'_>, enough: u32) -> Option<String> {
    /// Lines below the headline that a picture may be behind.
    const BELOW: usize = 6;
    let title = reading.headline.line?;
    let outline = &reading.outline;
    let mut texts: Vec<&str> = Vec::new();
    let from = outline.lines.get(title)?.first;
    let pictures = page.nodes().iter().enumerate().skip(from as usize);
    for (id, _) in pictures.filter(|(_, n)| n.tag == Tag::IMG) {
        let id = id as NodeId;
        if outline.line_at(id) > title + BELOW || texts.len() >= MAX_PICTURES {
            break;
        }
        let marks = outline
            .lines
            .get(outline.line_at(id).saturating_sub(1))
            .map(|l| l.marks);
        let beside = marks.is_some_and(|m| m.any(Marks::AGAINST));
        let alt = page.attr(id, Attr::Alt).unwrap_or_default().trim();
        let is_text = Measure::new(alt).marks > 0;
        if is_text && !beside && !texts.contains(&alt) {
            texts.push(alt);
        }
    }
    let text = texts.join("\n");
    (Measure::new(&text).tokens >= enough).then_some(text)
}

/// Text that may hold markup, as paragraphs.
fn plain(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}
