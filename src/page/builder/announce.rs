//! What the tokenizer says of the pieces that it hands on: a handler announces the next one. In: a mark that handlers set
//! and the sink reads. Out: the tokenizer's settings. Never touches a piece itself.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use lol_html::html_content::{Comment, Doctype, TextChunk, TextType};
use lol_html::send::{DocumentContentHandlers, Element, ElementContentHandlers, Settings};

pub(super) const MARKUP: u8 = 0;
pub(super) const DATA: u8 = 1;
pub(super) const RAW: u8 = 2;
const COMMENT: u8 = 3;
pub(super) const SKIPPED: u8 = 4;

/// What names addresses.
const NAMING: [&str; 7] = ["a", "area", "base", "frame", "iframe", "link", "meta"];

/// Says of each text and comment what it is; all the rest is tags.
pub(super) fn announce_all(next: Arc<AtomicU8>) -> Settings<'static, 'static> {
    let (text, comment, doctype) = (Arc::clone(&next), Arc::clone(&next), next);
    let handlers = DocumentContentHandlers::default()
        .text(move |chunk: &mut TextChunk<'_>| {
            // The end of a text node is told by an empty chunk, which is not handed to the sink.
            if !chunk.as_str().is_empty() {
                let kind = match chunk.text_type() {
                    TextType::Data | TextType::RCData => DATA,
                    _ => RAW,
                };
                text.store(kind, Ordering::Relaxed);
            }
            Ok(())
        })
        .comments(move |_: &mut Comment<'_>| {
            comment.store(COMMENT, Ordering::Relaxed);
            Ok(())
        })
        .doctype(move |_: &mut Doctype<'_>| {
            doctype.store(MARKUP, Ordering::Relaxed);
            Ok(())
        });
    Settings::new_send().append_document_content_handler(handlers)
}

/// Says of each tag that may name an address that it does; all the rest is skipped. The tokenizer need not look into
/// what no handler asks for.
pub(super) fn announce_naming(next: &Arc<AtomicU8>) -> Settings<'static, 'static> {
    let mut settings = Settings::new_send();
    for name in NAMING {
        let next = Arc::clone(next);
        let handler = ElementContentHandlers::default().element(move |_: &mut Element<'_, '_>| {
            next.store(MARKUP, Ordering::Relaxed);
            Ok(())
        });
        let selector = name.parse().expect("a name of an element is a selector");
        settings = settings.append_element_content_handler((Cow::Owned(selector), handler));
    }
    settings
}
