//! Where else a text may be when the page shows almost none. In: a document with hardly any text. Out: the
//! same with the text of a `noscript` element, of hidden elements, of pictures or of structured data. Never replaces a text
//! that was found in plain sight.

use crate::document::Document;
use crate::lines::hints::Marks;
use crate::lines::is_skipped;
use crate::lines::measure::Measure;
use crate::lines::paragraphs::paragraphs;
use crate::page::{Attr, Hints, Kind, NodeId, Page, Tag};
use crate::{Config, Context, Reading};

/// Smallest `noscript` content that may be a whole page, in bytes; smaller ones hold counters and pictures.
const NOSCRIPT_BYTES: usize = 600;
/// A text found elsewhere must have this many times the tokens of what the page shows.
const MUCH_MORE: u32 = 3;
/// Most pictures whose alternative texts are joined.
const MAX_PICTURES: usize = 40;
/// Sentence marks from which a hidden text is that of an article.
const FEW_MARKS: u32 = 4;
/// What confidence is left when a text was not in plain sight.
const TRUST: f32 = 0.7;

/// Looks for a text elsewhere; `shown` is what was read in plain sight.
pub(crate) fn mend(
    document: &mut Document,
    page: &Page,
    shown: Reading<'_>,
    context: &Context<'_>,
    config: &Config,
) {
    let enough = (Measure::of(&document.text).tokens * MUCH_MORE).max(config.min_tokens);
    if let Some((text, confidence)) = from_noscript(page, context, config, enough) {
        (document.text, document.confidence) = (text, confidence * TRUST);
        "noscript".clone_into(&mut document.method);
        return;
    }
    // To read a page twice is dear, and most have nothing to hide.
    let hidden = if hides(page, config.min_tokens) {
        Reading::with(page, context, config, true, None)
    } else {
        shown
    };
    if hidden.tokens() >= enough && hidden.body.confidence > 0.5 {
        (document.text, document.images) = hidden.text(page);
        document.confidence = hidden.body.confidence * TRUST;
        "hidden".clone_into(&mut document.method);
        // The kind was judged by what is shown: of an article that a script shows, nothing but the headline.
        let is_prose = Measure::of(&document.text).marks >= FEW_MARKS;
        if document.kind == Kind::Other && document.title.is_some() && is_prose {
            document.kind = Kind::Article;
        }
        return;
    }
    if let Some(text) = from_pictures(page, &hidden, enough) {
        document.text = text;
        document.confidence = TRUST * TRUST;
        "pictures".clone_into(&mut document.method);
        return;
    }
    let json = hidden.head.json.body.as_deref();
    if let Some(text) = json.filter(|t| Measure::of(t).tokens >= enough) {
        document.text = plain(text);
        document.confidence = TRUST * TRUST;
        "json-ld".clone_into(&mut document.method);
    }
}

/// True if hidden elements hold so many tokens.
fn hides(page: &Page, tokens: u32) -> bool {
    let mut hidden = 0;
    let mut end = 0;
    let mut at: NodeId = 0;
    while let Some(node) = page.nodes().get(at as usize) {
        if node.tag == Tag::TEXT {
            if at < end {
                hidden += Measure::of(page.text(at)).tokens;
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

/// The text of the longest `noscript` element of the body: forums put the whole page there for readers without
/// scripts.
fn from_noscript(
    page: &Page,
    context: &Context<'_>,
    config: &Config,
    enough: u32,
) -> Option<(String, f32)> {
    let longest = page
        .nodes()
        .iter()
        .enumerate()
        .filter(|(_, n)| n.tag == Tag::NOSCRIPT)
        .flat_map(|(id, _)| page.children(id as NodeId))
        .map(|id| page.text(id))
        .max_by_key(|text| text.len())
        .filter(|text| text.len() >= NOSCRIPT_BYTES)?;
    let hints = Hints {
        url: page.url.clone(),
        charset: Some("utf-8".to_owned()),
        ..Hints::default()
    };
    let inner = Page::parse(longest.as_bytes(), hints);
    let reading = Reading::of(&inner, context, config);
    (reading.tokens() >= enough).then(|| {
        let text = paragraphs(&inner, &reading.outline, &reading.body.lines).0;
        (text, reading.body.confidence)
    })
}

/// The alternative texts of the pictures right below the headline: a story told in one long picture.
fn from_pictures(page: &Page, reading: &Reading<'_>, enough: u32) -> Option<String> {
    /// Lines below the headline that a picture may stand behind.
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
        let is_text = Measure::of(alt).marks > 0;
        if is_text && !beside && !texts.contains(&alt) {
            texts.push(alt);
        }
    }
    let text = texts.join("\n");
    (Measure::of(&text).tokens >= enough).then_some(text)
}

/// Text that may hold markup, as paragraphs.
fn plain(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}
