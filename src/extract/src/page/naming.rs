//! Reads of a page only what names URLs, for a crawl without documents.
//!
//! [`read_naming_tags`] goes over the text once, from `<` to `<`, and gives the tree the tags that may name a URL and nothing
//! else. It skips comments and texts such as that of a script as HTML has them; no tokenizer is needed for that.

use memchr::{memchr, memchr_iter, memmem};

use super::Tag;
use super::markup::{Content, NAME_END, Pieces, TagEnd, until};
use super::tree::Tree;

/// What names URLs.
const NAMING: [Tag; 10] = [
    Tag::A,
    Tag::AREA,
    Tag::BASE,
    Tag::EMBED,
    Tag::FRAME,
    Tag::IFRAME,
    Tag::LINK,
    Tag::META,
    Tag::OBJECT,
    Tag::OPTION,
];

/// Gives `tree` the start tags of a whole page that may name a URL, in order.
pub(super) fn read_naming_tags(page: &[u8], tree: &mut Tree) {
    let mut rest = page;
    let mut drawings = 0;
    while let Some(at) = memchr(b'<', rest).filter(|_| !tree.is_full()) {
        let markup = rest.get(at..).unwrap_or_default();
        let Some(after) = skip_markup(markup, &mut drawings, tree) else {
            return;
        };
        rest = after;
    }
}

/// What comes after the markup that begins here, and after its text where that is none to be searched; `None` if the page ends
/// in it. `drawings`: how many elements of SVG or MathML are open, in which all texts are markup.
fn skip_markup<'t>(markup: &'t [u8], drawings: &mut u32, tree: &mut Tree) -> Option<&'t [u8]> {
    let is_end = markup.get(1) == Some(&b'/');
    let first = *markup.get(1 + usize::from(is_end))?;
    if !first.is_ascii_alphabetic() {
        let end = match first {
            b'!' if !is_end => declaration_end(markup, *drawings > 0)?,
            _ if is_end || first == b'?' => memchr(b'>', markup)? + 1,
            _ => 1,
        };
        return markup.get(end..);
    }
    let name = markup.get(1 + usize::from(is_end)..)?;
    let (name, rest) = name.split_at(until(NAME_END, name));
    let (end, after) = tag_end(rest);
    if end == TagEnd::Missing {
        return None;
    }
    if is_end {
        let is_drawing = || matches!(Tag::from_name(name), Tag::SVG | Tag::MATH);
        *drawings -= u32::from(*drawings > 0 && is_drawing());
        return Some(after);
    }
    let tag = Tag::from_name(name);
    if NAMING.contains(&tag) {
        tree.tag(markup.get(..markup.len() - after.len())?);
    }
    if tag.breaks_out() {
        *drawings = 0;
    } else if matches!(tag, Tag::SVG | Tag::MATH) && end == TagEnd::Open {
        *drawings += 1;
    }
    if *drawings > 0 {
        return Some(after);
    }
    let (text_len, _) = Content::from_tag(tag).text_len(after);
    after.get(text_len..)
}

/// How the tag ends whose name is before this, and what comes after it.
fn tag_end(rest: &[u8]) -> (TagEnd, &[u8]) {
    // Most have no attributes.
    if let Some(after) = rest.strip_prefix(b">") {
        return (TagEnd::Open, after);
    }
    let mut pieces = Pieces::new(rest, Content::Markup);
    let end = pieces.attributes(|_, _| {});
    (end, pieces.rest())
}

/// End of the comment, doctype or CDATA that begins here.
fn declaration_end(markup: &[u8], in_drawing: bool) -> Option<usize> {
    if markup.starts_with(b"<!--") {
        // The dashes of `<!-->` are those of its end as well.
        let is_end = |at: &usize| {
            let ends = |from, dashes| markup.get(from..*at).is_some_and(|c| c.ends_with(dashes));
            ends(2, &b"--"[..]) || ends(4, b"--!")
        };
        return Some(memchr_iter(b'>', markup).find(is_end)? + 1);
    }
    if in_drawing && markup.starts_with(b"<![CDATA[") {
        return Some(memmem::find(markup, b"]]>")? + 3);
    }
    Some(memchr(b'>', markup)? + 1)
}
