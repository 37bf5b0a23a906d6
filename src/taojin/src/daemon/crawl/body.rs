//! A body while it arrives: parsed as a page or a sitemap, or kept when it is a feed. In: chunks. Out: [`Form`]. Never
//! holds a page whole.

use std::ops::ControlFlow;

use taojin_crawl::fetch::{ContentClass, Head, Sink};
use taojin_crawl::schedule::SitemapReader;
use taojin_crawl::store::UrlClass;
use taojin_extract::page;
use taojin_uri::CrawlUri;

/// The body while it arrives.
pub(crate) struct Body {
    limits: page::Config,
    url: CrawlUri,
    /// What the links to it said that it is.
    class: UrlClass,
    /// No document is wanted.
    links_only: bool,
    max_sitemap_bytes: u64,
    /// No byte has come yet.
    is_first: bool,
    pub(crate) form: Form,
}

/// What the body turned out to be.
pub(crate) enum Form {
    /// No byte yet: the head alone does not say.
    Open,
    /// HTML, parsed as it comes.
    Html(Box<page::Builder>),
    /// A feed, kept.
    List(Vec<u8>),
    /// A sitemap, read as it comes.
    Sitemap(Box<SitemapReader>),
    /// No text by its first bytes: not read on.
    Binary,
}

impl Body {
    pub(crate) fn new(limits: &page::Config, url: CrawlUri, class: UrlClass) -> Self {
        Self {
            limits: limits.clone(),
            url,
            class,
            max_sitemap_bytes: u64::MAX,
            links_only: false,
            is_first: true,
            form: Form::Open,
        }
    }

    /// A sitemap is read up to so many bytes, unpacked.
    pub(crate) fn max_sitemap_bytes(self, max_sitemap_bytes: u64) -> Self {
        Self {
            max_sitemap_bytes,
            ..self
        }
    }

    fn sitemap(&self) -> Form {
        let reader = SitemapReader::new(self.url.clone(), self.max_sitemap_bytes);
        Form::Sitemap(Box::new(reader))
    }

    /// One of which only the links are wanted.
    pub(crate) fn links_only(self) -> Self {
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
            _ if self.class == UrlClass::Sitemap => self.sitemap(),
            _ if self.class == UrlClass::Feed => Form::List(Vec::new()),
            ContentClass::Html => self.html(head.charset()),
            ContentClass::Feed => Form::List(Vec::new()),
            // Decided by the first bytes; these types seldom come with a charset worth keeping.
            _ => Form::Open,
        };
    }

    fn chunk(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        if matches!(self.form, Form::Open) {
            self.form = match bytes {
                sitemap if begins_with(sitemap, &[b"<urlset", b"<sitemapindex"]) => self.sitemap(),
                list if looks_like_list(list) => Form::List(Vec::new()),
                binary if looks_binary(binary) => Form::Binary,
                _ => self.html(None),
            };
        }
        if std::mem::take(&mut self.is_first)
            && matches!(self.form, Form::Html(_))
            && is_noise(bytes)
        {
            self.form = Form::Binary;
        }
        match &mut self.form {
            Form::Html(builder) => builder.feed(bytes),
            Form::List(kept) => kept.extend_from_slice(bytes),
            Form::Sitemap(reader) => {
                if !reader.feed(bytes) {
                    return ControlFlow::Break(());
                }
            }
            Form::Open => {}
            Form::Binary => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }
}

/// Whether a body of undeclared type begins like a feed, or a packed list.
fn looks_like_list(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b]) || begins_with(bytes, &[b"<rss", b"<feed", b"<rdf:RDF"])
}

/// Whether one of these tags is among the first bytes.
fn begins_with(bytes: &[u8], tags: &[&[u8]]) -> bool {
    let head = bytes.get(..bytes.len().min(512)).unwrap_or_default();
    let has = |tag: &&[u8]| head.windows(tag.len()).any(|w| w == *tag);
    tags.iter().any(has)
}

/// Whether a body of undeclared type is no text: it has a control byte that text never has (the "binary data bytes"
/// of the WHATWG's MIME sniffing) and no byte order mark that would explain it.
fn looks_binary(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(512)).unwrap_or_default();
    let utf16 = head.starts_with(&[0xfe, 0xff]) || head.starts_with(&[0xff, 0xfe]);
    !utf16 && head.iter().any(|b| *b == 0 || is_no_text(*b))
}

/// Whether a body that is called a page is none: one byte in twenty is one that text never has. A stray one is common
/// in pages; zeros are half of UTF-16.
fn is_noise(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(512)).unwrap_or_default();
    head.iter().filter(|b| is_no_text(**b)).count() * 20 > head.len()
}

fn is_no_text(byte: u8) -> bool {
    matches!(byte, 0x01..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f)
}

#[cfg(test)]
mod tests {
    use super::{is_noise, looks_binary};

    #[test]
    fn noise_that_is_called_a_page_is_told_from_pages_with_a_stray_byte() {
        let noise: Vec<u8> = (0..=255).map(|n: u8| n.wrapping_mul(167)).collect();
        assert!(is_noise(&noise));
        let page = "<title>页\u{b}岩\u{1}气</title><p>".to_owned() + &"水平井".repeat(20);
        assert!(!is_noise(page.as_bytes()));
        assert!(!is_noise(b"<\0h\0t\0m\0l\0>\0-N"));
        assert!(!is_noise(b""));
    }

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
