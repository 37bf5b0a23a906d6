//! Takes the body of an answer while it arrives: [`PageBody`] parses a page or sitemap, keeps a feed or file, and reads nothing else.

use std::fs::File;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

use taojin_attachments::FileType;
use taojin_crawl::fetch::{ContentClass, Head, Sink};
use taojin_crawl::schedule::SitemapReader;
use taojin_crawl::store::UrlClass;
use taojin_extract::page;
use taojin_uri::CrawlUri;

/// The body while it arrives.
pub(crate) struct PageBody {
    limits: page::Config,
    url: CrawlUri,
    /// What the links to it said that it is.
    class: UrlClass,
    /// No document is wanted.
    links_only: bool,
    max_sitemap_bytes: u64,
    /// Where files are kept while they are read; none where they are not wanted.
    files: Option<PathBuf>,
    /// Its declared type is that of no page.
    is_file: bool,
    /// No byte has come yet.
    is_first: bool,
    form: BodyForm,
}

/// What the body turned out to be.
pub(crate) enum BodyForm {
    /// No byte yet: the head alone does not say.
    Open,
    /// HTML, parsed as it comes.
    Html(Box<page::Builder>),
    /// A feed, kept.
    List(Vec<u8>),
    /// A sitemap, read as it comes.
    Sitemap(Box<SitemapReader>),
    /// A file that a page may offer, kept in one without a name.
    File(File),
    /// No text by its first bytes: not read on.
    Binary,
}

impl PageBody {
    pub(crate) fn new(limits: &page::Config, url: CrawlUri, class: UrlClass) -> Self {
        Self {
            limits: limits.clone(),
            url,
            class,
            max_sitemap_bytes: u64::MAX,
            links_only: false,
            files: None,
            is_file: false,
            is_first: true,
            form: BodyForm::Open,
        }
    }

    /// A sitemap is read up to so many bytes, unpacked.
    pub(crate) fn max_sitemap_bytes(self, max_sitemap_bytes: u64) -> Self {
        Self {
            max_sitemap_bytes,
            ..self
        }
    }

    /// Keeps files that pages may offer in this folder, without a name: nothing is left of them after a crash.
    pub(crate) fn keep_files(self, folder: PathBuf) -> Self {
        Self {
            files: Some(folder),
            ..self
        }
    }

    /// What it turned out to be, once it has ended.
    pub(crate) fn into_form(self) -> BodyForm {
        self.form
    }

    /// A file whose first bytes say that it is one; none where files are not wanted or there is no place for it.
    fn file(&self, bytes: &[u8]) -> Option<BodyForm> {
        let is_file = match self.class {
            UrlClass::Sitemap | UrlClass::Feed => false,
            UrlClass::Attachment => !looks_like_html(bytes),
            _ => FileType::is_begun_by(bytes),
        };
        let folder = self.files.as_ref().filter(|_| is_file)?;
        tempfile::tempfile_in(folder).map(BodyForm::File).ok()
    }

    fn sitemap(&self) -> BodyForm {
        let reader = SitemapReader::new(self.url.clone(), self.max_sitemap_bytes);
        BodyForm::Sitemap(Box::new(reader))
    }

    /// One of which only the links are wanted.
    pub(crate) fn links_only(self) -> Self {
        Self {
            links_only: true,
            ..self
        }
    }

    fn html(&self, charset: Option<&str>) -> BodyForm {
        let hints = page::Hints {
            url: Some(self.url.clone()),
            charset: charset.map(str::to_owned),
            limits: self.limits.clone(),
        };
        BodyForm::Html(Box::new(if self.links_only {
            page::Builder::for_links(hints)
        } else {
            page::Builder::new(hints)
        }))
    }
}

impl Sink for PageBody {
    fn begin(&mut self, head: &Head) {
        self.form = match head.class {
            _ if self.class == UrlClass::Sitemap => self.sitemap(),
            _ if self.class == UrlClass::Feed => BodyForm::List(Vec::new()),
            _ if self.class == UrlClass::Attachment => BodyForm::Open,
            ContentClass::Html => self.html(head.charset()),
            ContentClass::Feed => BodyForm::List(Vec::new()),
            // A file, or nothing that is read.
            ContentClass::Other => {
                self.is_file = true;
                BodyForm::Open
            }
            // Decided by the first bytes; these types seldom come with a charset worth keeping.
            _ => BodyForm::Open,
        };
    }

    fn chunk(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        // Servers call a file anything, HTML too.
        let file = self.is_first.then(|| self.file(bytes)).flatten();
        if let Some(file) = file {
            self.form = file;
        } else if matches!(self.form, BodyForm::Open) {
            self.form = match bytes {
                _ if self.is_file => BodyForm::Binary,
                sitemap if begins_with(sitemap, &[b"<urlset", b"<sitemapindex"]) => self.sitemap(),
                list if looks_like_list(list) => BodyForm::List(Vec::new()),
                binary if looks_binary(binary) => BodyForm::Binary,
                _ => self.html(None),
            };
        }
        if std::mem::take(&mut self.is_first)
            && matches!(self.form, BodyForm::Html(_))
            && is_noise(bytes)
        {
            self.form = BodyForm::Binary;
        }
        match &mut self.form {
            BodyForm::Html(builder) => builder.feed(bytes),
            BodyForm::List(kept) => kept.extend_from_slice(bytes),
            BodyForm::Sitemap(reader) => {
                if !reader.feed(bytes) {
                    return ControlFlow::Break(());
                }
            }
            BodyForm::Open => {}
            BodyForm::File(file) => {
                if file.write_all(bytes).is_err() {
                    // The disk is full: there is no file.
                    self.form = BodyForm::Binary;
                    return ControlFlow::Break(());
                }
            }
            BodyForm::Binary => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }
}

/// Whether an answer to the address of a file begins like a page.
fn looks_like_html(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(512)).unwrap_or_default();
    let head = head.trim_ascii_start().to_ascii_lowercase();
    head.starts_with(b"<!") || begins_with(&head, &[b"<html", b"<head", b"<body", b"<script"])
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
    fn noise_is_not_html() {
        let noise: Vec<u8> = (0..=255).map(|n: u8| n.wrapping_mul(167)).collect();
        assert!(is_noise(&noise));
        let page = "<title>页\u{b}岩\u{1}气</title><p>".to_owned() + &"水平井".repeat(20);
        assert!(!is_noise(page.as_bytes()));
        assert!(!is_noise(b"<\0h\0t\0m\0l\0>\0-N"));
        assert!(!is_noise(b""));
    }

    #[test]
    fn binaries_are_not_html() {
        assert!(looks_binary(b"MZ\x90\x00\x03\x00"));
        assert!(looks_binary(b"PK\x03\x04"));
        let (gbk, _, _) = encoding_rs::GBK.encode("<p>页岩气\t水平井\r\n");
        assert!(!looks_binary(&gbk));
        assert!(!looks_binary("\u{feff}<p>储气库".as_bytes()));
        assert!(!looks_binary(b"\xff\xfe<\x00p\x00>\x00"));
        assert!(!looks_binary(b""));
    }
}
