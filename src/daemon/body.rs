//! A body while it arrives: parsed as a page, or kept when it is a feed or a sitemap. In: chunks. Out: [`Form`]. Never
//! holds a page whole.

use std::ops::ControlFlow;

use crate::fetch::{ContentClass, Head, Sink};
use crate::page;
use crate::uri::CrawlUri;

/// The body while it arrives.
pub(super) struct Body {
    limits: page::Config,
    url: CrawlUri,
    is_list: bool,
    /// No document is wanted.
    links_only: bool,
    pub(super) form: Form,
}

/// What the body turned out to be.
pub(super) enum Form {
    /// No byte yet: the head alone does not say.
    Open,
    /// HTML, parsed as it comes.
    Html(Box<page::Builder>),
    /// A feed or sitemap, kept.
    List(Vec<u8>),
    /// Undeclared, and no text by its first bytes: not read on.
    Binary,
}

impl Body {
    pub(super) fn new(limits: &page::Config, url: CrawlUri, is_list: bool) -> Self {
        Self {
            limits: limits.clone(),
            url,
            is_list,
            links_only: false,
            form: Form::Open,
        }
    }

    /// One of which only the links are wanted.
    pub(super) fn links_only(self) -> Self {
        Self {
            links_only: true,
            ..self
        }
    }

    fn html(&self, charset: Option<&str>) -> Form {
        let hints = page::Hints {
            url: Some(self.url.clone()),
            charset: charset.map(str::to_owned),
            limits: self.limits.clone(),
        };
        Form::Html(Box::new(match self.links_only {
            true => page::Builder::for_links(hints),
            false => page::Builder::new(hints),
        }))
    }
}

impl Sink for Body {
    fn begin(&mut self, head: &Head) {
        self.form = match head.class {
            _ if self.is_list => Form::List(Vec::new()),
            ContentClass::Html => self.html(head.charset()),
            ContentClass::Feed => Form::List(Vec::new()),
            // Decided by the first bytes; these types seldom come with a charset worth keeping.
            _ => Form::Open,
        };
    }

    fn chunk(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        if matches!(self.form, Form::Open) {
            self.form = match bytes {
                list if looks_like_list(list) => Form::List(Vec::new()),
                binary if looks_binary(binary) => Form::Binary,
                _ => self.html(None),
            };
        }
        match &mut self.form {
            Form::Html(builder) => builder.feed(bytes),
            Form::List(kept) => kept.extend_from_slice(bytes),
            Form::Open => {}
            Form::Binary => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }
}

/// Whether a body of undeclared type begins like a feed or sitemap.
fn looks_like_list(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(512)).unwrap_or_default();
    let has = |word: &[u8]| head.windows(word.len()).any(|w| w == word);
    head.starts_with(&[0x1f, 0x8b])
        || [
            &b"<rss"[..],
            b"<feed",
            b"<rdf:RDF",
            b"<urlset",
            b"<sitemapindex",
        ]
        .iter()
        .any(|word| has(word))
}

/// Whether a body of undeclared type is no text: it has a control byte that text never has (the "binary data bytes"
/// of the WHATWG's MIME sniffing) and no byte order mark that would explain it.
fn looks_binary(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(512)).unwrap_or_default();
    let utf16 = head.starts_with(&[0xfe, 0xff]) || head.starts_with(&[0xff, 0xfe]);
    let never = |byte: &u8| matches!(byte, 0x00..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    !utf16 && head.iter().any(never)
}

#[cfg(test)]
mod tests {
    use super::looks_binary;

    #[test]
    fn programs_are_told_from_pages_without_a_type() {
        assert!(looks_binary(b"MZ\x90\x00\x03\x00"));
        assert!(looks_binary(b"PK\x03\x04"));
        let (gbk, _, _) = encoding_rs::GBK.encode("<p>页岩气\t水平井\r\n");
        assert!(!looks_binary(&gbk));
        assert!(!looks_binary("\u{feff}<p>储气库".as_bytes()));
        assert!(!looks_binary(b"\xff\xfe<\x00p\x00>\x00"));
        assert!(!looks_binary(b""));
    }
}
