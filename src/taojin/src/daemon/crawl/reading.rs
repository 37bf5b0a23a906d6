//! Reads the body of a page, feed or sitemap into a [`VisitResult`] with its document and outlinks.
//!
//! [`PageBody`] takes the bytes and parses them as they arrive, [`read`] makes of it what the crawl loop needs. Neither
//! touches the network or the store.

use std::fs::File;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use super::visit::{VisitContext, VisitResult};
use crate::documents::EncodedDocument;
use taojin_attachments::FileType;
use taojin_crawl::VisitOutcome;
use taojin_crawl::fetch::{ContentClass, Head, Sink};
use taojin_crawl::schedule::{self, Cut, DatedLink, Sitemap, SitemapReader};
use taojin_crawl::store::{Announcement, NewUrl, UrlClass, UrlRecord};
use taojin_extract as extract;
use taojin_extract::page::{self, Attr, LinkRole, Page, Tag};
use taojin_extract::{Document, Kind, LinkKind};
use taojin_uri::CrawlUri;

/// Confidence in the text from which a page that is no article is worth finding.
const CLEAR_TEXT: f32 = 0.7;

/// Bytes of text up to which a page that was cut off at the limit may still be an article.
const MAX_TEXT_OF_CUT: usize = 128 << 10;

/// The reason of a visit that brought bytes which are neither a page nor a file that is read.
pub(crate) const NO_TEXT: &str = "content-type: no text";

/// Characters of a text that its outline is made from, and links.
const OUTLINE: usize = 2_000;

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
    pub(crate) form: BodyForm,
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

pub(crate) fn redirect(record: &UrlRecord, to: &CrawlUri) -> VisitResult {
    let mut visited = VisitResult::nothing(VisitOutcome::Redirect, None);
    let class = match record.visit.class {
        UrlClass::Article => UrlClass::Unknown,
        class => class,
    };
    visited.outlinks.push(NewUrl {
        redirects: record.redirects.saturating_add(1),
        hops: record.hops,
        announced: record.announced.clone(),
        ..child(record, to.clone(), class)
    });
    visited.target = Some(to.clone());
    visited
}

/// What is known of a body beside the body itself.
#[derive(Clone, Copy)]
pub(crate) struct FetchedPage<'a> {
    pub(crate) record: &'a UrlRecord,
    pub(crate) head: &'a Head,
    /// It was cut off at the limit of its size.
    pub(crate) cut: bool,
    /// The pages of an article become one document.
    pub(crate) joins: bool,
    /// The files that it offers are to be read.
    pub(crate) attachments: bool,
}

/// A body that came whole (or whose beginning is enough). Where no documents are wanted, only its links.
pub(crate) fn read(
    tools: &VisitContext,
    answer: &FetchedPage<'_>,
    form: BodyForm,
    context: &extract::Context<'_>,
) -> VisitResult {
    match form {
        BodyForm::Html(builder) => {
            let page = builder.finish();
            match &tools.extract {
                Some(config) => {
                    let document = tools.templates.extract(&page, context, config);
                    read_page(answer, document)
                }
                None => follow_page(answer, &page),
            }
        }
        BodyForm::List(bytes) => read_list(answer.record, &bytes),
        BodyForm::Sitemap(reader) => {
            let mut found = reader.finish();
            if answer.cut {
                found.cut = Some(Cut::Bytes);
            }
            list(answer.record, found)
        }
        BodyForm::Open => VisitResult::nothing(VisitOutcome::Page, Some("empty body".to_owned())),
        // A file is read by a child process, which is waited for elsewhere.
        BodyForm::File(_) | BodyForm::Binary => {
            VisitResult::nothing(VisitOutcome::Unwanted, Some(NO_TEXT.to_owned()))
        }
    }
}

/// A page of which only the links are wanted.
fn follow_page(answer: &FetchedPage<'_>, page: &Page) -> VisitResult {
    let FetchedPage { record, head, .. } = *answer;
    let mut visited = VisitResult::nothing(VisitOutcome::Page, None);
    visited.kind = Some(Kind::Other);
    visited.unindexed = Some("documents are switched off (crawl.documents = false)".to_owned());
    let links = page::links(page, extract::MAX_OUTLINKS);
    visited.digest = Some(digest(links.iter().map(|l| l.url.as_str())));
    if !head.nofollow && !asks_not_to_follow(page) {
        let followed = links.into_iter().filter(|l| !l.nofollow);
        visited.outlinks = followed
            .map(|link| {
                let class = match link.role {
                    LinkRole::Feed => UrlClass::Feed,
                    _ => UrlClass::Unknown,
                };
                child(record, link.url, class)
            })
            .collect();
    }
    visited
}

/// `<meta name="robots" content="nofollow">`, or `none`.
fn asks_not_to_follow(page: &Page) -> bool {
    let nodes = page.nodes().iter().zip(0..);
    let metas = nodes.filter(|(node, _)| node.tag == Tag::META);
    let mut robots = metas.filter(|(_, id)| {
        let name = page.attr(*id, Attr::Name).unwrap_or_default();
        name.eq_ignore_ascii_case("robots")
    });
    robots.any(|(_, id)| {
        let words = page.attr(id, Attr::Content).unwrap_or_default();
        let is = |word: &str| {
            matches!(
                word.trim().to_ascii_lowercase().as_str(),
                "nofollow" | "none"
            )
        };
        words.split([',', ';', ':']).any(is)
    })
}

pub(crate) fn read_page(answer: &FetchedPage<'_>, mut document: Document) -> VisitResult {
    let FetchedPage {
        record,
        head,
        cut,
        joins,
        attachments,
    } = *answer;
    document.noindex |= head.noindex;
    document.nofollow |= head.nofollow;
    let mut visited = VisitResult::nothing(VisitOutcome::Page, None);
    visited.kind = Some(detail_kind(&document));
    visited.is_blocking = document.is_blocking_page();
    let links = std::mem::take(&mut document.links);
    visited.digest = Some(digest_of(&document, &links));
    visited.unindexed = unindexed(&document, head);
    let is_article = joins && visited.unindexed.is_none();
    if is_article {
        join(answer, &document, &links, &mut visited);
    }
    visited.outline = Some(outline(&document, &links, visited.unindexed.is_none()));
    visited.face = (!links.is_empty()).then(|| face(&document, &links));
    // Whatever the page was taken for: a judgement may be wrong, and must not cost the pages behind it.
    if !document.nofollow {
        let is_list = document.kind == Kind::Hub || record.visit.class.is_hub();
        // The pager of a later page leads to pages that the first one tells of.
        let is_pager = |l: &&extract::Link| {
            is_article
                && document.part_of.is_some()
                && (l.continues_list() || document.pages.contains(&l.url))
        };
        let offered = if attachments {
            offered(record, &document, &links)
        } else {
            Vec::new()
        };
        let is_offered = |l: &&extract::Link| offered.iter().any(|file| file.uri.as_str() == l.url);
        let followed = links
            .iter()
            .filter(|l| !l.nofollow && !is_pager(l) && !is_offered(l));
        visited
            .outlinks
            .extend(followed.filter_map(|l| outlink(record, l, is_list)));
        visited.outlinks.extend(offered);
    }
    note_canonical(record, &document, &mut visited);
    // Pictures in the page leave an article short; a text as long as this is a list without an end.
    if cut && visited.unindexed.is_none() && document.text.len() > MAX_TEXT_OF_CUT {
        visited.kind = Some(Kind::Other);
        visited.unindexed = Some("the text has no end".to_owned());
    }
    if document.noindex {
        visited.withheld = Some(EncodedDocument::new(&document));
    } else if visited.unindexed.is_none() {
        visited.document = Some(EncodedDocument::new(&document));
    }
    visited
}

/// The files that a page offers, with what it says of them.
fn offered(record: &UrlRecord, document: &Document, links: &[extract::Link]) -> Vec<NewUrl> {
    let files = document.attachments.iter();
    let may_follow = |url: &str| !links.iter().any(|link| link.nofollow && link.url == url);
    let files = files.filter(|file| may_follow(&file.url));
    let file = |file: &extract::Attachment| {
        let uri = CrawlUri::parse(&file.url).ok()?;
        Some(NewUrl {
            announced: Some(Box::new(Announcement {
                name: file.name.clone(),
                page_url: document.url.clone(),
                page_title: document.title.clone(),
                published: document.published.clone(),
            })),
            ..child(record, uri, UrlClass::Attachment)
        })
    };
    files.filter_map(file).collect()
}

/// Digest of what would make the page a changed one.
fn digest_of(document: &Document, links: &[extract::Link]) -> u64 {
    let title = document.title.as_deref().unwrap_or_default();
    let text = [title, &document.text].into_iter();
    let text = text.chain(document.meta.watched());
    match document.kind {
        Kind::Hub => digest(links.iter().map(|l| l.url.as_str())),
        // A page on which readers continue talking is checked again soon, though its text stays.
        _ => digest(text.chain(document.comments.iter().map(|c| c.text.as_str()))),
    }
}

/// Digest of all that a page shows.
fn face(document: &Document, links: &[extract::Link]) -> u64 {
    let title = document.title.as_deref().unwrap_or_default();
    let shown = links.iter().flat_map(|link| {
        let path = link.url.trim_end_matches('/');
        [
            link.text.as_str(),
            path.rsplit('/').next().unwrap_or_default(),
        ]
    });
    digest([title, &document.text].into_iter().chain(shown))
}

/// An article of several pages: a later one leads to the first, and the first continues.
fn join(
    answer: &FetchedPage<'_>,
    document: &Document,
    links: &[extract::Link],
    visited: &mut VisitResult,
) {
    let record = answer.record;
    if let Some(first) = &document.part_of {
        visited.unindexed = Some(format!(
            "its text stands in the document of the article's first page, {first}"
        ));
        let first = CrawlUri::parse(first).ok();
        let link = |uri| NewUrl {
            hops: record.hops,
            ..child(record, uri, UrlClass::Unknown)
        };
        visited.outlinks.extend(first.map(link));
    } else if !document.pages.is_empty() && !answer.cut {
        visited.goes_on = Some(Box::new(Document {
            links: links.to_vec(),
            ..document.clone()
        }));
    }
}

/// The address that the page calls its own, where that is another one.
fn note_canonical(record: &UrlRecord, document: &Document, visited: &mut VisitResult) {
    let canonical = document
        .canonical
        .as_deref()
        .and_then(|c| CrawlUri::parse(c).ok());
    if let Some(canonical) = canonical.filter(|c| is_other_spelling(&record.uri, c)) {
        // That address is fetched as well, and takes over once it has a document; until then this page keeps its own.
        visited.outlinks.push(NewUrl {
            hops: record.hops,
            ..child(record, canonical.clone(), UrlClass::Unknown)
        });
        visited.target = Some(canonical);
    }
}

/// A thread or a page of a service is neither article nor list; where its text is clear it is crawled and
/// searched as an article is.
fn detail_kind(document: &Document) -> Kind {
    match document.kind {
        Kind::Other if document.confidence >= CLEAR_TEXT => Kind::Article,
        kind => kind,
    }
}

/// Why a document is not worth being found, in words: only articles are, and other pages with a clear text, unless they
/// ask not to be.
fn unindexed(document: &Document, head: &Head) -> Option<String> {
    let reason = match detail_kind(document) {
        _ if head.noindex => "asks not to be indexed (X-Robots-Tag: noindex)",
        _ if document.noindex => "asks not to be indexed (meta robots: noindex)",
        Kind::Hub => "judged to be a list page",
        Kind::Error => "judged to be an error page by what its title or text says",
        _ if document.text.is_empty() => "no main text found",
        Kind::Other => "judged to be neither an article nor a list: its text is not clear enough",
        Kind::Article | Kind::Attachment => return None,
    };
    Some(reason.to_owned())
}

/// Whether `canonical` names the same page as `uri` in another spelling: same host but for `www.` and scheme, and the
/// same last path segment. A canonical address that is the home page of every article is a mistake of the site.
pub(crate) fn is_other_spelling(uri: &CrawlUri, canonical: &CrawlUri) -> bool {
    let bare = |u: &CrawlUri| u.authority().trim_start_matches("www.").to_owned();
    let last = |u: &CrawlUri| {
        let path = u.path().trim_end_matches('/').to_owned();
        path.rsplit('/').next().unwrap_or_default().to_owned()
    };
    uri != canonical
        && bare(uri) == bare(canonical)
        && !last(canonical).is_empty()
        && last(uri) == last(canonical)
}

/// A feed. One that the bytes say is a sitemap is read as one; one that is neither has no links.
fn read_list(record: &UrlRecord, bytes: &[u8]) -> VisitResult {
    let found = match schedule::read_feed(bytes, &record.uri) {
        Ok(pages) => Sitemap {
            pages,
            ..Sitemap::default()
        },
        Err(_) => schedule::read_sitemap(bytes, &record.uri),
    };
    list(record, found)
}

fn list(record: &UrlRecord, found: Sitemap) -> VisitResult {
    let mut visited = VisitResult::nothing(VisitOutcome::Page, None);
    visited.kind = Some(Kind::Hub);
    let Sitemap {
        pages, sitemaps, ..
    } = found;
    let is_sitemap = record.visit.class == UrlClass::Sitemap;
    visited.sitemap_cut = found.cut.filter(|_| is_sitemap || !pages.is_empty());
    visited.digest = Some(digest(
        pages.iter().chain(&sitemaps).map(|l| l.uri.as_str()),
    ));
    let children = |links: Vec<DatedLink>, class: UrlClass| {
        links
            .into_iter()
            .map(move |link| child(record, link.uri, class))
    };
    visited.outlinks = children(sitemaps, UrlClass::Sitemap)
        .chain(children(pages, UrlClass::Unknown))
        .collect();
    visited
}

fn outlink(record: &UrlRecord, link: &extract::Link, is_list: bool) -> Option<NewUrl> {
    let uri = CrawlUri::parse(&link.url).ok()?;
    let is_own = uri.authority() == record.uri.authority();
    if is_list && is_own && link.continues_list() {
        // The pages of a list stand side by side: the last is no deeper than the first.
        return Some(NewUrl {
            hops: record.hops.max(1),
            ..child(record, uri, UrlClass::Hub)
        });
    }
    let class = match link.kind {
        LinkKind::Feed => UrlClass::Feed,
        _ => UrlClass::Unknown,
    };
    Some(child(record, uri, class))
}

pub(crate) fn child(record: &UrlRecord, uri: CrawlUri, class: UrlClass) -> NewUrl {
    let site = Arc::clone(&record.site);
    NewUrl {
        class,
        via: Some(record.id),
        ..NewUrl::link(uri, &site, record.hops.saturating_add(1))
    }
}

/// Digest of what a page says without its numbers: the months of a calendar have the same. In the text of an article
/// numbers stay: the prices of each day are reported in the same words.
fn outline(document: &Document, links: &[extract::Link], is_article: bool) -> u64 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    let mut add = |text: &str, whole: bool| {
        for piece in text.split(|c: char| c.is_ascii_digit() && !whole) {
            hasher.update(piece.as_bytes());
        }
        hasher.update(&[0]);
    };
    add(document.title.as_deref().unwrap_or_default(), false);
    let end = document
        .text
        .char_indices()
        .nth(OUTLINE)
        .map_or(document.text.len(), |(at, _)| at);
    add(document.text.get(..end).unwrap_or_default(), is_article);
    links
        .iter()
        .take(OUTLINE / 20)
        .for_each(|link| add(&link.text, false));
    hasher.digest()
}

/// 64-bit digest of texts in order.
pub(super) fn digest<'a>(parts: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    hasher.digest()
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
