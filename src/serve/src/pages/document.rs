//! The text of a document as it was crawled. In: a document, the marks of the query in its texts, and what goes with it.
//! Out: what `document.html` prints. Never the page's own HTML: only its extracted text.

use askama::Template;

use super::citation::Citation;
use super::html::Html;
use super::lang::Lang;
use super::moment::Moment;
use super::thread;
use super::versions::{self, VersionLink};
use super::view::{Chrome, address, link, outward, site_path, title};
use crate::document_log::Past;
use crate::search::params::Params;
use crate::search::source::{Found, Marked, Related};
use taojin_extract::{self as extract, Attachment, Document, Image, Piece, Typed};
use taojin_search::query::is_label;

/// A comment, or a post of a thread, as shown.
struct CommentView {
    author: String,
    published: Option<Moment>,
    reply_to: String,
    votes: String,
    pieces: Vec<Piece<Html>>,
}

/// A file that the page offers.
struct AttachmentView {
    name: String,
    format: String,
    /// None for an address that no reader should follow.
    url: Option<String>,
}

/// A labelled field.
struct FieldView {
    label: String,
    /// What searches call it; empty if they cannot.
    name: String,
    /// Its value, item by item where it is a list.
    items: Vec<String>,
}

fn field((label, value): (&str, &str)) -> FieldView {
    let name: String = label.chars().filter(|c| !c.is_whitespace()).collect();
    FieldView {
        label: label.to_owned(),
        name: Some(name).filter(|name| is_label(name)).unwrap_or_default(),
        items: match Typed::of(value) {
            Some(Typed::List(items)) => items,
            _ => vec![value.to_owned()],
        },
    }
}

/// A document that goes with this one.
struct OtherView {
    title: Html,
    /// Its text as crawled.
    href: String,
    outlet: String,
    published: Option<Moment>,
}

#[derive(Template)]
#[template(path = "document.html")]
pub(crate) struct DocumentPage {
    c: Chrome,
    plain_title: String,
    title: Html,
    language: String,
    url: Option<String>,
    address: String,
    site: String,
    source: String,
    author: String,
    published: Option<Moment>,
    /// The address of a picture is that of a page or none; this page never loads it.
    pieces: Vec<Piece<Html>>,
    fields: Vec<FieldView>,
    attachments: Vec<AttachmentView>,
    comments: Vec<CommentView>,
    comments_heading: String,
    citation: Citation,
    reprints: Vec<OtherView>,
    similar: Vec<OtherView>,
    /// All its versions, where there is more than one.
    versions: Vec<VersionLink>,
    /// When its web page last showed it, if the last visit did not.
    confirmed: Option<Moment>,
    back: Option<String>,
    /// Path of the page of its site; none where there are no such pages.
    site_page: Option<String>,
    id: String,
}

impl DocumentPage {
    /// `marked` holds the title, then the paragraphs, then the comments' texts, as [`DocumentPage::texts`] gave them.
    pub(crate) fn new(
        c: Chrome,
        params: &Params,
        id: String,
        document: Document,
        marked: &[Marked],
        (related, past): (Related, &Past),
    ) -> DocumentPage {
        let citation = Citation::of(&document, c.clock.now_ms, c.clock.utc_offset_minutes);
        let body = Body::of(&c, &document, marked);
        let headline = marked.first().cloned().unwrap_or_default();
        let back = (!params.text.is_empty() || params.filtered()).then(|| c.search(params));
        let site = document
            .site
            .as_deref()
            .map(|site| c.site(site))
            .unwrap_or_default();
        let comments = body.comments.len() as u64;
        let others = |found: Vec<Found>| found.into_iter().map(|hit| other(&c, hit)).collect();
        let plain_title = document.title.filter(|t| !t.trim().is_empty());
        DocumentPage {
            title: title(&headline, c.t),
            plain_title: plain_title.unwrap_or_else(|| c.t.untitled.to_owned()),
            language: document
                .language
                .unwrap_or_else(|| Lang::Zh.tag().to_owned()),
            url: outward(&document.url),
            address: address(&document.url),
            // A site that names itself as its source says nothing new.
            source: document
                .source
                .filter(|source| document.site.as_ref() != Some(source) && *source != site)
                .unwrap_or_default(),
            site_page: document
                .site
                .as_deref()
                .filter(|_| c.operator)
                .map(site_path),
            site,
            author: document.author.unwrap_or_default(),
            published: c.moment(document.published.as_ref()),
            comments_heading: match body.is_thread {
                true => c.t.counts.replies.of(comments),
                false => c.t.counts.comments.of(comments),
            },
            pieces: body.pieces,
            fields: document.meta.iter().map(field).collect(),
            attachments: document.attachments.into_iter().map(attachment).collect(),
            comments: body.comments,
            citation,
            reprints: others(related.reprints),
            similar: others(related.similar),
            versions: versions::links(&c, &id, &past.versions),
            confirmed: past.confirmed_ms.and_then(|ms| c.clock.at(ms)),
            back,
            id,
            c,
        }
    }

    /// Where documents with the same item in a field are searched.
    fn search_path(&self, name: &str, item: &str) -> String {
        let item = item.replace('"', " ");
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("q", &format!("{name}:\"{item}\""))
            .finish();
        format!("{}/?{query}", self.c.base)
    }

    /// The texts of a document that are searched for matches.
    pub(crate) fn texts(document: &Document) -> Vec<String> {
        let title = document.title.clone().unwrap_or_default();
        std::iter::once(title)
            .chain(paragraphs(document).into_iter().map(str::to_owned))
            .chain(document.comments.iter().map(|comment| comment.text.clone()))
            .collect()
    }
}

fn attachment(file: Attachment) -> AttachmentView {
    AttachmentView {
        url: outward(&file.url),
        name: if file.name.is_empty() {
            address(&file.url)
        } else {
            file.name
        },
        format: file.format.to_uppercase(),
    }
}

fn paragraphs(document: &Document) -> Vec<&str> {
    let lines = document.text.lines().map(str::trim);
    lines.filter(|p| !p.is_empty()).collect()
}

/// Text and comments; what is both stands below, once, as a post with its author and time.
struct Body {
    pieces: Vec<Piece<Html>>,
    comments: Vec<CommentView>,
    /// Whether most of the comments are posts.
    is_thread: bool,
}

impl Body {
    fn of(c: &Chrome, document: &Document, marked: &[Marked]) -> Body {
        let owners = thread::owners(&paragraphs(document), &document.comments);
        let (head, comments) =
            marked.split_at(marked.len().saturating_sub(document.comments.len()));
        let mut own = Share::default();
        let mut posts: Vec<Share> = vec![Share::default(); document.comments.len()];
        let mut images = document.images.iter().peekable();
        let paragraphs = head.iter().skip(1).zip(&owners);
        let mut before = None;
        for (at, (paragraph, owner)) in (0..).zip(paragraphs) {
            // A picture belongs to whoever wrote the paragraph above it.
            while let Some(image) = images.next_if(|image| image.after <= at) {
                share(&mut own, &mut posts, before).show(image);
            }
            let text = Html::marked(paragraph);
            share(&mut own, &mut posts, *owner).paragraphs.push(text);
            before = *owner;
        }
        for image in images {
            share(&mut own, &mut posts, before).show(image);
        }
        let inside = posts.iter().filter(|post| !post.paragraphs.is_empty());
        let is_thread = inside.count() * 2 > document.comments.len();
        let comments = document.comments.iter().zip(comments).zip(posts);
        let view = |((comment, text), mut post): ((&extract::Comment, &Marked), Share)| {
            if post.paragraphs.is_empty() {
                post.paragraphs.push(Html::marked(text));
            }
            CommentView {
                author: comment.author.clone().unwrap_or_default(),
                published: c.moment(comment.published.as_ref()),
                reply_to: comment.reply_to.clone().unwrap_or_default(),
                votes: comment.votes.map(|n| n.to_string()).unwrap_or_default(),
                pieces: post.pieces(),
            }
        };
        Body {
            comments: comments.map(view).collect(),
            pieces: own.pieces(),
            is_thread,
        }
    }
}

/// What belongs together: the text of a document, or one post.
#[derive(Clone, Default)]
struct Share {
    paragraphs: Vec<Html>,
    images: Vec<Image>,
}

impl Share {
    /// A picture after what is there already.
    fn show(&mut self, image: &Image) {
        self.images.push(Image {
            url: image.url.as_deref().and_then(outward),
            alt: image.alt.clone(),
            after: u32::try_from(self.paragraphs.len()).unwrap_or(u32::MAX),
        });
    }

    fn pieces(self) -> Vec<Piece<Html>> {
        extract::pieces(self.paragraphs.into_iter(), self.images)
    }
}

fn share<'s>(own: &'s mut Share, posts: &'s mut [Share], owner: Option<usize>) -> &'s mut Share {
    match owner {
        Some(at) if at < posts.len() => &mut posts[at],
        _ => own,
    }
}

fn other(c: &Chrome, hit: Found) -> OtherView {
    let plain = Params {
        lang: c.asked_lang,
        ..Params::default()
    };
    OtherView {
        title: title(&hit.title, c.t),
        href: link(&c.base, &format!("/doc/{}", hit.id), &plain.query_string()),
        outlet: hit.site.or(hit.source).unwrap_or_default(),
        published: c.moment(hit.published.as_ref()),
    }
}
