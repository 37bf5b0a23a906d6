//! Takes the body of an answer while it arrives: [`PageBody`] parses a page or sitemap, keeps a feed or file, and reads nothing else.

use std::fs::File;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

use taojin_attachments::{Disposition, FileType};
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
    declared: Declared,
    /// No byte has come yet.
    is_first: bool,
    form: BodyForm,
}

/// What the head of the answer says that the body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declared {
    /// A page, or nothing that tells.
    Page,
    /// Any bytes: it is a page only if it looks like one.
    Bytes,
    /// No page: a file, or nothing that is read.
    File,
    /// A file that may be written as HTML: Excel and Word open those too.
    OfficeFile,
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
            declared: Declared::Page,
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
            _ if looks_like_html(bytes) => {
                let is_offered =
                    self.class == UrlClass::Attachment || self.declared == Declared::File;
                self.declared == Declared::OfficeFile || (is_offered && is_by_office(bytes))
            }
            UrlClass::Attachment => true,
            _ => {
                FileType::is_begun_by(bytes)
                    || matches!(self.declared, Declared::File | Declared::OfficeFile)
            }
        };
        let folder = self.files.as_ref().filter(|_| is_file)?;
        tempfile::tempfile_in(folder).map(BodyForm::File).ok()
    }

    /// Whether the body can be no page by what is declared: a file, or bytes that do not look like a page. A few bytes do not tell.
    fn is_no_page(&self, bytes: &[u8]) -> bool {
        match self.declared {
            Declared::Page => false,
            Declared::Bytes => {
                bytes.len() >= MIN_TELLING_BYTES
                    && !looks_like_page(bytes)
                    && !looks_like_xml(bytes)
            }
            Declared::File | Declared::OfficeFile => !looks_like_html(bytes),
        }
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
        self.declared = declared(head);
        let is_file = matches!(self.declared, Declared::File | Declared::OfficeFile);
        self.form = match head.class {
            _ if self.class == UrlClass::Sitemap => self.sitemap(),
            _ if self.class == UrlClass::Feed => BodyForm::List(Vec::new()),
            _ if self.class == UrlClass::Attachment || is_file => BodyForm::Open,
            ContentClass::Html if self.declared == Declared::Page => self.html(head.charset()),
            ContentClass::Feed => BodyForm::List(Vec::new()),
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
                page if self.class == UrlClass::Attachment && looks_like_html(page) => {
                    self.html(None)
                }
                page if self.is_no_page(page) => BodyForm::Binary,
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

fn declared(head: &Head) -> Declared {
    const OFFICE: &[&str] = &[
        "ms-excel",
        "msword",
        "ms-word",
        "officedocument",
        "opendocument",
    ];
    let mime = head.mime();
    let disposition = Disposition::parse(head.disposition.as_deref().unwrap_or_default());
    let is_saved = disposition.is_attachment;
    let name = disposition.file_name.unwrap_or_default().to_lowercase();
    let is_office_name = [".xls", ".xlsx", ".et", ".doc", ".docx", ".wps", ".mht"]
        .iter()
        .any(|end| name.ends_with(end));
    if OFFICE.iter().any(|part| mime.contains(part)) || (is_saved && is_office_name) {
        Declared::OfficeFile
    } else if head.class == ContentClass::Other || (is_saved && head.class != ContentClass::Html) {
        Declared::File
    } else if !matches!(head.status, 200 | 203) || mime == "application/octet-stream" {
        Declared::Bytes
    } else {
        Declared::Page
    }
}

/// Whether a page was made by Excel or Word, which open it under their own suffixes.
fn is_by_office(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(4096)).unwrap_or_default();
    let marks: [&[u8]; 4] = [
        b"urn:schemas-microsoft-com:office:",
        b"Excel.Sheet",
        b"Word.Document",
        b"<x:ExcelWorkbook",
    ];
    marks
        .iter()
        .any(|mark| head.windows(mark.len()).any(|window| window == *mark))
}

/// Bytes that tell whether a body looks like a page.
const MIN_TELLING_BYTES: usize = 64;

/// Whether a tag of HTML is among the first bytes, in any charset.
fn looks_like_page(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(2048)).unwrap_or_default();
    let text: Vec<u8> = head
        .iter()
        .filter(|byte| **byte != 0)
        .map(u8::to_ascii_lowercase)
        .collect();
    let tags: [&[u8]; 16] = [
        b"<!doctype",
        b"<html",
        b"<head",
        b"<body",
        b"<title",
        b"<meta",
        b"<script",
        b"<style",
        b"<link",
        b"<div",
        b"<p>",
        b"<p ",
        b"<table",
        b"<a ",
        b"<h1",
        b"<br",
    ];
    tags.iter()
        .any(|tag| text.windows(tag.len()).any(|window| window == *tag))
}

fn looks_like_xml(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"<")
        || begins_with(bytes, &[b"<?xml", b"<urlset", b"<sitemapindex"])
        || looks_like_list(bytes)
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
    use taojin_crawl::fetch::{ContentClass, Head, Sink as _};
    use taojin_crawl::store::UrlClass;
    use taojin_extract::page;
    use taojin_uri::CrawlUri;

    use super::{BodyForm, PageBody, is_noise, looks_binary};

    /// What becomes of a body with this head: its status, its type and the name that it is saved under.
    fn form(head: (u16, &str, &str), class: UrlClass, bytes: &str) -> &'static str {
        let (status, mime, name) = head;
        let folder = tempfile::tempdir().expect("a folder");
        let uri = CrawlUri::parse("http://a.example/d/1").expect("an address");
        let mut body = PageBody::new(&page::Config::default(), uri, class)
            .keep_files(folder.path().to_owned());
        body.begin(&Head {
            status,
            content_type: Some(mime.to_owned()),
            class: match mime {
                HTML => ContentClass::Html,
                BYTES => ContentClass::Unknown,
                _ => ContentClass::Other,
            },
            disposition: (!name.is_empty()).then(|| format!("attachment; filename={name}")),
            ..Head::default()
        });
        let _ = body.chunk(bytes.as_bytes());
        match body.into_form() {
            BodyForm::Html(_) => "page",
            BodyForm::File(_) => "file",
            BodyForm::Binary => "nothing",
            _ => "other",
        }
    }

    const HTML: &str = "text/html";
    const BYTES: &str = "application/octet-stream";
    const PDF: &str = "application/pdf";
    const EXCEL: &str = "application/vnd.ms-excel";

    #[test]
    fn body_is_what_its_bytes_say() {
        use UrlClass::{Attachment as Linked, Unknown};
        let pdf = "%PDF-1.4 and so on";
        let html = "<html><body><p>水库的水位在六月里升高了两米，下游的河道没有受到影响。</p></body></html>";
        let office = "<html xmlns:x=\"urn:schemas-microsoft-com:office:excel\"><table><tr><td>水位</td></tr></table></html>";
        let table = "站名,水位,雨量\n东岸,12.5,30\n西岸,13.1,28\n南岸,11.9,31\n北岸,12.0,27\n中洲,12.2,29\n";
        for (head, class, bytes, is) in [
            ((200, PDF, ""), Unknown, pdf, "file"),
            ((200, BYTES, ""), Unknown, pdf, "file"),
            // Pages that come instead of files.
            ((200, PDF, ""), Unknown, html, "page"),
            ((200, PDF, ""), Linked, html, "page"),
            ((200, BYTES, ""), Unknown, html, "page"),
            ((200, BYTES, ""), Unknown, table, "nothing"),
            ((200, BYTES, "a.csv"), Unknown, table, "file"),
            ((299, HTML, ""), Unknown, table, "nothing"),
            ((299, HTML, ""), Unknown, html, "page"),
            // Pages that Excel opens.
            ((200, EXCEL, ""), Linked, html, "file"),
            ((200, BYTES, "a.xls"), Linked, html, "file"),
            ((200, HTML, ""), Linked, office, "file"),
            ((200, HTML, ""), Unknown, office, "page"),
        ] {
            assert_eq!(form(head, class, bytes), is, "{head:?}, {class:?}: {bytes}");
        }
    }

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
