//! Plain text, tables of values, and pages saved under another name. The charset is found as that of a page.

use taojin_extract::page::decode_text;

use crate::Place;
use crate::draft::Draft;
use crate::xml::find_texts;

/// Reads plain text or values divided by commas.
pub(crate) fn read(bytes: &[u8]) -> Draft {
    let mut draft = Draft::default();
    draft.push(Place::Whole, decode_text(bytes, None));
    draft
}

/// Reads the text of a page, without judging what of it is content.
pub(crate) fn read_html(bytes: &[u8]) -> Draft {
    let html = decode_text(bytes, None);
    let mut draft = Draft::default();
    let titles = find_texts(html.as_bytes(), &["title"]);
    draft.declared_title = titles.into_iter().next().map(|(_, title)| title);
    draft.push(
        Place::Whole,
        mail_parser::decoders::html::html_to_text(&html),
    );
    draft
}
