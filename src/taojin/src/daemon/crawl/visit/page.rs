//! Reads a page: its document, what it is compared by, and where it leads.

use std::mem;

use super::article::{MissingPart, OpenArticle};
use super::body::BodyForm;
use super::comments::PendingComments;
use super::visitor::Visitor;
use super::{Content, Digests, Held, PageRead, Unindexed, link_from, list};
use crate::daemon::learn::templates::Extracted;
use crate::documents::EncodedDocument;
use taojin_crawl::Failure;
use taojin_crawl::fetch::{Fetched, Head};
use taojin_crawl::store::{Announcement, NewUrl, UrlClass, UrlRecord};
use taojin_extract as extract;
use taojin_extract::page::{self, Attr, LinkRole, Page, Tag};
use taojin_extract::{Document, Kind, LinkKind};
use taojin_uri::CrawlUri;

/// Confidence in the text from which a page that is no article is worth finding.
const CLEAR_TEXT: f32 = 0.7;

/// Bytes of text up to which a page that was cut off at the limit may still be an article.
const MAX_TEXT_OF_CUT: usize = 128 << 10;

/// Characters of a text that its outline is made from, and links.
const OUTLINE: usize = 2_000;

/// What is known of a page beside its body.
#[derive(Clone, Copy)]
pub(crate) struct FetchedPage<'a> {
    pub(crate) record: &'a UrlRecord,
    /// How it was fetched.
    pub(crate) fetched: &'a Fetched,
    /// It comes from its server, which may be asked for more.
    pub(crate) is_live: bool,
    /// The pages of an article become one document.
    pub(crate) joins: bool,
    /// The files that it offers are to be read.
    pub(crate) attachments: bool,
}

impl FetchedPage<'_> {
    fn head(&self) -> &Head {
        &self.fetched.head
    }

    /// It was cut off at the limit of its size.
    pub(super) fn is_cut(&self) -> bool {
        self.fetched.failure == Some(Failure::TooLarge)
    }
}

/// Reads a body that came whole (or whose beginning is enough), and where it leads. Where no documents are wanted, only its links.
pub(super) fn read(
    visitor: &Visitor,
    fetched_page: &FetchedPage<'_>,
    form: BodyForm,
    context: &extract::Context<'_>,
) -> (Content, Vec<NewUrl>) {
    match form {
        BodyForm::Html(builder) => {
            let page = builder.finish();
            let Some(extracted) = visitor.extract(&page, context) else {
                let (page, outlinks) = follow_page(fetched_page, &page);
                return (Content::Page(Box::new(page)), outlinks);
            };
            let Extracted {
                mut document,
                template,
            } = extracted;
            let dated_by = date_by_list(fetched_page.record, &page, &mut document, context);
            let comments = find_comments(visitor, fetched_page, &page, &document, context);
            let article = OpenArticle::start(fetched_page, &document, template, comments);
            let is_list = matches!(detail_kind(&document), Kind::Hub | Kind::Other);
            let is_list_cut = is_list && extract::is_list_cut(&page, &document);
            let (page, outlinks) = read_page(fetched_page, document);
            let page = Box::new(PageRead {
                is_list_cut,
                template,
                dated_by,
                ..page
            });
            let content = match article {
                Some(article) => Content::Open {
                    article,
                    so_far: page,
                },
                None => Content::Page(page),
            };
            (content, outlinks)
        }
        BodyForm::List(bytes) => list::read_list(fetched_page, &bytes, visitor.max_sitemap_bytes()),
        BodyForm::Sitemap(reader) => {
            list::read_sitemap(fetched_page, reader.finish(), visitor.max_sitemap_bytes())
        }
        BodyForm::Open => (Content::EmptyBody, Vec::new()),
        // A file is read by a child process, which is waited for elsewhere.
        BodyForm::File(_) | BodyForm::Binary => (Content::Binary, Vec::new()),
    }
}

/// Where the comments of a page are to be had, if its site's are followed and a script of the page reads them.
fn find_comments(
    visitor: &Visitor,
    fetched_page: &FetchedPage<'_>,
    page: &Page,
    document: &Document,
    context: &extract::Context<'_>,
) -> Option<PendingComments> {
    let is_wanted = fetched_page.is_live && visitor.follows_comments(&fetched_page.record.site);
    let endpoints = is_wanted.then(|| extract::comments::find_json_endpoints(page));
    let clock = extract::clock_of(page, document, context);
    PendingComments::new(endpoints?, clock)
}

/// Gives a document that names no day the one by which a feed or sitemap lists it; the address of that list, if it was needed.
fn date_by_list(
    record: &UrlRecord,
    page: &Page,
    document: &mut Document,
    context: &extract::Context<'_>,
) -> Option<String> {
    let said = record.announced.as_ref()?;
    let listed = said.listed.as_deref()?;
    if document.published.is_some() {
        return None;
    }
    let clock = extract::clock_of(page, document, context);
    document.published = Some(extract::read_listed_date(listed, &clock)?);
    document.provenance.date_source = Some(extract::DateSource::List);
    Some(said.page_url.clone())
}

/// A page of which only the links are wanted.
fn follow_page(fetched_page: &FetchedPage<'_>, page: &Page) -> (PageRead, Vec<NewUrl>) {
    let links = page::links(page, extract::MAX_OUTLINKS);
    let read = PageRead {
        kind: Kind::Other,
        document: Held::None,
        unindexed: Some(Unindexed::Off),
        is_blocking: false,
        digests: Digests {
            content: digest(links.iter().map(|l| l.url.as_str())),
            ..Digests::default()
        },
        canonical: None,
        missing: None,
        is_list_cut: false,
        template: None,
        dated_by: None,
    };
    if fetched_page.head().nofollow || asks_not_to_follow(page) {
        return (read, Vec::new());
    }
    let followed = links.into_iter().filter(|l| !l.nofollow);
    let outlinks = followed.map(|link| {
        let class = match link.role {
            LinkRole::Feed => UrlClass::Feed,
            _ => UrlClass::Unknown,
        };
        link_from(fetched_page.record, link.url, class)
    });
    (read, outlinks.collect())
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

/// Reads the document of a page, and where the page leads.
pub(crate) fn read_page(
    fetched_page: &FetchedPage<'_>,
    mut document: Document,
) -> (PageRead, Vec<NewUrl>) {
    let (record, head) = (fetched_page.record, fetched_page.head());
    document.asks.noindex |= head.noindex;
    document.asks.nofollow |= head.nofollow;
    let links = mem::take(&mut document.links);
    let mut kind = detail_kind(&document);
    let mut outlinks = Vec::new();
    let mut unindexed = unindexed(&document, head);
    let first = document.part_of.as_ref();
    let first = first.filter(|_| fetched_page.joins && unindexed.is_none());
    if let Some(first) = first {
        unindexed = Some(Unindexed::PartOf(first.clone()));
        let uri = CrawlUri::parse(first).ok();
        outlinks.extend(uri.map(|uri| link_beside(record, uri)));
    }
    let digests = Digests {
        content: digest_of(&document, &links),
        outline: Some(outline(&document, &links, unindexed.is_none())),
        face: (!links.is_empty()).then(|| face(&document, &links)),
    };
    // Whatever the page was taken for: a judgement may be wrong, and must not cost the pages behind it.
    if !document.asks.nofollow {
        // The pager of a further page leads to pages that the first one tells of.
        let is_pager = |l: &extract::Link| {
            first.is_some() && (l.continues_list() || document.pages.contains(&l.url))
        };
        let is_list = document.kind == Kind::Hub || record.visit.class.is_hub();
        let offered = if fetched_page.attachments {
            find_offered(record, &document, &links)
        } else {
            Vec::new()
        };
        let is_offered = |l: &extract::Link| offered.iter().any(|file| file.uri.as_str() == l.url);
        let is_followed = |l: &&extract::Link| !l.nofollow && !is_pager(l) && !is_offered(l);
        let followed = links.iter().filter(is_followed);
        outlinks.extend(followed.filter_map(|l| outlink(record, l, is_list)));
        outlinks.extend(offered);
    }
    // That address is fetched as well, and takes over once it has a document; until then this page keeps its own.
    let canonical = find_canonical(record, &document);
    outlinks.extend(canonical.clone().map(|uri| link_beside(record, uri)));
    // Pictures in the page leave an article short; a text as long as this is a list without an end.
    if fetched_page.is_cut() && unindexed.is_none() && document.text.len() > MAX_TEXT_OF_CUT {
        kind = Kind::Other;
        unindexed = Some(Unindexed::Endless);
    }
    let read = PageRead {
        kind,
        is_blocking: document.is_blocking_page(),
        document: match unindexed {
            _ if document.asks.noindex => Held::Withheld(EncodedDocument::new(&document)),
            None => Held::Document(EncodedDocument::new(&document)),
            Some(_) => Held::None,
        },
        unindexed,
        digests,
        canonical,
        missing: document.provenance.text_cut.then_some(MissingPart::End),
        is_list_cut: false,
        template: None,
        dated_by: None,
    };
    (read, outlinks)
}

/// Whether an article begins on this page that continues on others.
pub(super) fn continues(fetched_page: &FetchedPage<'_>, document: &Document) -> bool {
    fetched_page.joins
        && !fetched_page.is_cut()
        && document.part_of.is_none()
        && !document.pages.is_empty()
        && unindexed(document, fetched_page.head()).is_none()
}

/// Whether a page is a document that readers may comment on.
pub(super) fn may_have_comments(fetched_page: &FetchedPage<'_>, document: &Document) -> bool {
    fetched_page.is_live
        && !fetched_page.is_cut()
        && document.part_of.is_none()
        && unindexed(document, fetched_page.head()).is_none()
}

/// A link to an address of the page itself, or of the article that it is of: no further from the seeds.
fn link_beside(record: &UrlRecord, uri: CrawlUri) -> NewUrl {
    NewUrl {
        hops: record.hops,
        ..link_from(record, uri, UrlClass::Unknown)
    }
}

/// The files that a page offers, with what it says of them.
fn find_offered(record: &UrlRecord, document: &Document, links: &[extract::Link]) -> Vec<NewUrl> {
    let files = document.attachments.iter();
    let may_follow = |url: &str| !links.iter().any(|link| link.nofollow && link.url == url);
    let files = files.filter(|file| may_follow(&file.url));
    // In a list of files with days the day of the page is that of one of them, and that of a list is that of no file.
    let is_dated = document
        .attachments
        .iter()
        .any(|file| file.published.is_some());
    let has_day = document.kind != Kind::Hub && !is_dated;
    let published = document.published.as_ref().filter(|_| has_day);
    let file = |file: &extract::Attachment| {
        let uri = CrawlUri::parse(&file.url).ok()?;
        Some(NewUrl {
            announced: Some(Box::new(Announcement {
                name: file.name.clone(),
                page_url: document.url.clone(),
                page_title: document.title.clone(),
                published: published.cloned(),
                listed: file.published.clone(),
            })),
            ..link_from(record, uri, UrlClass::Attachment)
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

/// The address that the page calls its own, where that is another spelling of its address.
fn find_canonical(record: &UrlRecord, document: &Document) -> Option<CrawlUri> {
    let canonical = CrawlUri::parse(document.canonical.as_deref()?).ok()?;
    is_other_spelling(&record.uri, &canonical).then_some(canonical)
}

/// A thread or a page of a service is neither article nor list; where its text is clear it is crawled and
/// searched as an article is.
fn detail_kind(document: &Document) -> Kind {
    match document.kind {
        Kind::Other if document.provenance.confidence >= CLEAR_TEXT => Kind::Article,
        kind => kind,
    }
}

/// Why a document is not worth being found: only articles are, and other pages with a clear text, unless they ask not to be.
fn unindexed(document: &Document, head: &Head) -> Option<Unindexed> {
    Some(match detail_kind(document) {
        _ if head.noindex => Unindexed::HeaderNoindex,
        _ if document.asks.noindex => Unindexed::MetaNoindex,
        Kind::Hub => Unindexed::ListPage,
        Kind::Error => Unindexed::ErrorPage,
        _ if document.text.is_empty() => Unindexed::NoText,
        Kind::Other => Unindexed::Unclear,
        Kind::Article | Kind::Attachment => return None,
    })
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

fn outlink(record: &UrlRecord, link: &extract::Link, is_list: bool) -> Option<NewUrl> {
    let uri = CrawlUri::parse(&link.url).ok()?;
    let is_own = uri.authority() == record.uri.authority();
    if is_list && is_own && link.continues_list() {
        // The pages of a list stand side by side: the last is no deeper than the first.
        return Some(NewUrl {
            hops: record.hops.max(1),
            ..link_from(record, uri, UrlClass::Hub)
        });
    }
    let class = match link.kind {
        LinkKind::Feed => UrlClass::Feed,
        _ => UrlClass::Unknown,
    };
    Some(link_from(record, uri, class))
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
