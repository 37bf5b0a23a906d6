//! Selects the pictures that belong to the main text: [`Image`]s in page order, each with the paragraph it follows.

use std::ops::Range;

use crate::document::Image;
use crate::lines::hints::Marks;
use crate::lines::outline::Outline;
use crate::page;
use crate::page::{Attr, NodeId, Page, Tag};
use crate::paragraphs::formulas;
use taojin_uri::CrawlUri;

/// Most pictures of one text.
const MAX_IMAGES: usize = 64;
/// Most pictures that are checked.
const MAX_LOOKED_AT: usize = 1_000;
/// Most sources of a picture that are checked.
const MAX_SOURCES: usize = 16;
/// Longest alternative text, in characters; a longer one is cut.
const MAX_ALT: usize = 300;
/// Words of URLs whose pictures show nothing of the text.
const ORNAMENTS: [&str; 17] = [
    "icon", "favicon", "logo", "avatar", "qrcode", "blank", "spacer", "pixel", "loading", "share",
    "button", "btn", "1x1", "arrow", "emoji", "smiley", "weixin",
];

/// Where the text is: its lines, and how many paragraphs it has up to the end of each.
pub(crate) struct BodyLines<'a> {
    /// Line of the headline.
    pub title: Option<usize>,
    /// Lines of the text, in order.
    pub lines: &'a [usize],
    /// For each of them, the number of paragraphs that end with it.
    pub paragraphs: &'a [u32],
}

/// The pictures of a text. Of lines next to a picture at least one is of the text: the picture is between two of them,
/// between the headline and the first, or behind the last in the same element.
pub(crate) fn select_images(page: &Page, outline: &Outline, body: &BodyLines<'_>) -> Vec<Image> {
    let mut out: Vec<Image> = Vec::new();
    let mut base = None;
    let pictures = find_reach(page, outline, body).filter(|id| page.node(*id).tag == Tag::IMG);
    // What shows a formula is a part of its line.
    let pictures = pictures.filter(|id| formulas::of_picture(page, *id).is_none());
    for id in pictures.take(MAX_LOOKED_AT) {
        if out.len() >= MAX_IMAGES {
            break;
        }
        let Some(after) = paragraph(page, outline, body, id) else {
            continue;
        };
        let base = base.get_or_insert_with(|| page::find_base(page));
        let url = find_address(page, id, base.as_ref());
        let alt = read_alternative(page, id);
        let known = url.is_some() && out.iter().any(|image| image.url == url);
        if (url.is_some() || !alt.is_empty()) && !known {
            out.push(Image { url, alt, after });
        }
    }
    out
}

/// The nodes among which the pictures of a text are searched for: from the headline, or the first line, to the end of the
/// element that the last line is in.
fn find_reach(page: &Page, outline: &Outline, body: &BodyLines<'_>) -> Range<NodeId> {
    let (Some(first), Some(last)) = (body.lines.first(), body.lines.last()) else {
        return 0..0;
    };
    let above = body.title.filter(|title| title < first);
    let from = outline.lines[above.unwrap_or(*first)].block;
    from..end_of_last(page, outline, *last)
}

/// End of the element around the block of the last line.
fn end_of_last(page: &Page, outline: &Outline, last: usize) -> NodeId {
    let parent = page.node(outline.lines[last].block).parent;
    page.node(parent).end
}

/// Number of paragraphs before the picture; `None` if it is no picture of the text.
fn paragraph(page: &Page, outline: &Outline, body: &BodyLines<'_>, id: NodeId) -> Option<u32> {
    let next = outline.line_at(id);
    let kept = |line: usize| body.lines.binary_search(&line);
    let before = next.checked_sub(1).and_then(|line| kept(line).ok());
    let after = kept(next).ok();
    let beside = match (before, after) {
        // Behind the text, in the element of a line that is none of it: the mark before 责任编辑.
        (Some(before), None) if is_opening(page, outline, id, next, body.lines[before]) => {
            return None;
        }
        (Some(before), _) => body.lines[before],
        // Above the text, with nothing but what is below a headline between.
        (None, Some(0)) => next,
        (None, _) => return None,
    };
    if is_foreign(page, outline, id, outline.lines[beside].first) {
        return None;
    }
    Some(before.map_or(0, |at| body.paragraphs[at]))
}

/// The picture is in the block of line `next`, which line `before` does not.
fn is_opening(page: &Page, outline: &Outline, id: NodeId, next: usize, before: usize) -> bool {
    outline.lines.get(next).is_some_and(|next| {
        let block = page.subtree(next.block);
        block.contains(&id) && !block.contains(&outline.lines[before].first)
    })
}

/// The picture is in an element of its own, not around the line, that is hidden or no part of the text.
fn is_foreign(page: &Page, outline: &Outline, id: NodeId, line: NodeId) -> bool {
    let against = |element: NodeId| {
        let at = outline.marked.binary_search_by_key(&element, |m| m.node);
        at.is_ok_and(|at| outline.marked[at].marks.any(Marks::AGAINST))
    };
    let around_line = |element: NodeId| page.subtree(element).contains(&line);
    std::iter::once(id)
        .chain(page.ancestors(id))
        .take_while(|element| !around_line(*element))
        .any(|element| against(element) || page.is_hidden(element))
}

/// URL of the picture itself: what a script shows later before what is there until then, and the widest of several.
fn find_address(page: &Page, id: NodeId, base: Option<&CrawlUri>) -> Option<String> {
    let named = [Attr::DataOriginal, Attr::DataSrc, Attr::DataUrl, Attr::Src];
    let named = named.into_iter().filter_map(|name| page.attr(id, name));
    // The other sources of a `<picture>` are before it.
    let parent = page.node(id).parent;
    let sources = (parent + 1..id).filter(|at| page.node(*at).tag == Tag::SOURCE);
    let sets = std::iter::once(id).chain(sources.take(MAX_SOURCES));
    let widest = sets.filter_map(|at| find_widest(page.attr(at, Attr::Srcset)?));
    let mut references = named.chain(widest).map(str::trim);
    references.find_map(|reference| read_picture(reference, base))
}

/// The canonical URL of a picture, unless it is a placeholder or shows nothing of the text.
fn read_picture(reference: &str, base: Option<&CrawlUri>) -> Option<String> {
    if reference.is_empty() || reference.starts_with("data:") {
        return None;
    }
    let url = CrawlUri::resolve(base, reference).ok()?;
    let file = url.path().rsplit('/').next().unwrap_or_default();
    let mut words = file.split(|c: char| !c.is_ascii_alphanumeric());
    let is_ornament = words.any(|word| ORNAMENTS.iter().any(|o| word.eq_ignore_ascii_case(o)));
    (!is_ornament).then(|| url.into())
}

/// The URL in a `srcset` for the widest screen: `a.jpg 480w, b.jpg 1200w`, `a.jpg, b.jpg 2x`.
fn find_widest(set: &str) -> Option<&str> {
    let mut best: Option<(f32, &str)> = None;
    // A URL may hold commas, but none at its end, and ends with a blank.
    let mut words = set.split_ascii_whitespace();
    while let Some(word) = words.next() {
        let address = word.trim_end_matches(',');
        let size = (address == word).then(|| words.next()).flatten();
        let size = size.map(|size| size.trim_end_matches([',', 'w', 'x']));
        let size = size.and_then(|size| size.parse().ok()).unwrap_or(1.0);
        if best.is_none_or(|best| size > best.0) {
            best = Some((size, address));
        }
    }
    best.map(|best| best.1)
        .filter(|address| !address.is_empty())
}

/// The picture that the page names as its own, where its text has none.
pub(crate) fn declared(page: &Page, reference: &str) -> Option<Image> {
    let url = read_picture(reference.trim(), page::find_base(page).as_ref())?;
    Some(Image {
        url: Some(url),
        ..Image::default()
    })
}

/// What the page says that the picture shows, in one line.
fn read_alternative(page: &Page, id: NodeId) -> String {
    let alt = page.attr(id, Attr::Alt).unwrap_or_default();
    let words = alt.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(MAX_ALT).collect()
}
