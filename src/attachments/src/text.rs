//! Plain text, tables of values, and pages saved under another name. The charset is found as that of a page.

use taojin_extract::page::{Hints, Page, Tag, decode_text};

use crate::Place;
use crate::draft::Draft;

/// Reads plain text or values divided by commas.
pub(crate) fn read(bytes: &[u8]) -> Draft {
    let mut draft = Draft::default();
    draft.push(Place::Whole, decode_text(bytes, None));
    draft
}

/// Reads the text of a page, without judging what of it is content. The charset is known if it came in a mail.
pub(crate) fn read_html(bytes: &[u8], charset: Option<&str>) -> Draft {
    let hints = Hints {
        charset: charset.map(str::to_owned),
        ..Hints::default()
    };
    let page = Page::parse(bytes, hints);
    let titles = page
        .nodes()
        .iter()
        .zip(0..)
        .filter(|(node, _)| node.tag == Tag::TITLE);
    let mut draft = Draft {
        declared_title: titles.map(|(_, id)| page.inline_text(id)).next(),
        ..Draft::default()
    };
    draft.push(Place::Whole, page_text(&page));
    draft
}

/// The lines of a page: blocks, and rows with their cells divided by tabs.
fn page_text(page: &Page) -> String {
    let mut text = String::new();
    if page.nodes().is_empty() {
        return text;
    }
    // The cell that was opened last ends before this node; the block of the text before.
    let (mut cell_end, mut last_block) = (0, 0);
    let mut is_first_cell = true;
    for id in page.shown(page.subtree(0)) {
        let node = page.node(id);
        let is_in_cell = id < cell_end;
        match node.tag {
            Tag::TR => {
                end_line(&mut text);
                is_first_cell = true;
            }
            Tag::TD | Tag::TH => {
                if !std::mem::take(&mut is_first_cell) {
                    text.push('\t');
                }
                cell_end = node.end;
                last_block = id;
            }
            Tag::BR if is_in_cell => push_words(&mut text, " "),
            Tag::BR => text.push('\n'),
            Tag::TEXT => {
                let block = page.block_of(id);
                if block != last_block && is_in_cell {
                    push_words(&mut text, " ");
                } else if block != last_block {
                    end_line(&mut text);
                }
                last_block = block;
                push_words(&mut text, page.text(id));
            }
            _ => {}
        }
    }
    text
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Adds text with its white space folded.
fn push_words(text: &mut String, words: &str) {
    for c in words.chars() {
        if !c.is_whitespace() {
            text.push(c);
        } else if !text.is_empty() && !text.ends_with(char::is_whitespace) {
            text.push(' ');
        }
    }
}
