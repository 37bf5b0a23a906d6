//! What the tokenizer says of the pieces that it hands on: a handler announces the next one. In: a mark that handlers set
//! and the sink reads. Out: the tokenizer's settings. Never touches a piece itself.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lol_html::html_content::Comment;
use lol_html::send::{DocumentContentHandlers, Element, ElementContentHandlers, Settings};

/// What names addresses.
const NAMING: [&str; 7] = ["a", "area", "base", "frame", "iframe", "link", "meta"];

/// Says of each comment that it is one; all the rest is tags and texts. Were it to say so of texts, the tokenizer would
/// decode each of them, which takes longer than all else that it does.
pub(super) fn announce_comments(announced: Arc<AtomicBool>) -> Settings<'static, 'static> {
    let handlers = DocumentContentHandlers::default().comments(move |_: &mut Comment<'_>| {
        announced.store(true, Ordering::Relaxed);
        Ok(())
    });
    Settings::new_send().append_document_content_handler(handlers)
}

/// Says of each tag that may name an address that it does; all the rest is skipped. The tokenizer need not look into
/// what no handler asks for.
pub(super) fn announce_naming(announced: &Arc<AtomicBool>) -> Settings<'static, 'static> {
    let mut settings = Settings::new_send();
    for name in NAMING {
        let announced = Arc::clone(announced);
        let handler = ElementContentHandlers::default().element(move |_: &mut Element<'_, '_>| {
            announced.store(true, Ordering::Relaxed);
            Ok(())
        });
        let selector = name.parse().expect("a name of an element is a selector");
        settings = settings.append_element_content_handler((Cow::Owned(selector), handler));
    }
    settings
}
