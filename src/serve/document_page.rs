//! The text of a document as it was crawled. In: a document and the marks of the query in its texts. Out: what
//! `document.html` prints. Never the page's own HTML: only its extracted text.

use askama::Template;

use super::html::Html;
use super::lang::Lang;
use super::params::Params;
use super::site_page::site_path;
use super::source::Marked;
use super::view::{Chrome, Day, address, day, outward, title};
use crate::extract::{self, Document, Image, Piece};

/// A comment as shown.
pub(crate) struct CommentView {
    author: String,
    published: String,
    reply_to: String,
    votes: String,
    text: Html,
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
    published: Option<Day>,
    /// The address of a picture is that of a page or none; this page never loads it.
    pieces: Vec<Piece<Html>>,
    comments: Vec<CommentView>,
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
    ) -> DocumentPage {
        let comment_count = document.comments.len();
        let (head, comments) = marked.split_at(marked.len().saturating_sub(comment_count));
        let headline = head.first().cloned().unwrap_or_default();
        let back = (!params.text.is_empty() || params.filtered()).then(|| c.search(params));
        let site = document
            .site
            .as_deref()
            .map(|site| c.site(site))
            .unwrap_or_default();
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
            id,
            site,
            author: document.author.unwrap_or_default(),
            published: document.published.as_deref().and_then(day),
            pieces: extract::pieces(
                head.iter().skip(1).map(Html::marked),
                document.images.into_iter().map(|image| Image {
                    url: image.url.as_deref().and_then(outward),
                    ..image
                }),
            ),
            comments: document
                .comments
                .into_iter()
                .zip(comments)
                .map(|(comment, text)| CommentView {
                    author: comment.author.unwrap_or_default(),
                    published: comment.published.unwrap_or_default(),
                    reply_to: comment.reply_to.unwrap_or_default(),
                    votes: comment.votes.map(|n| n.to_string()).unwrap_or_default(),
                    text: Html::marked(text),
                })
                .collect(),
            back,
            c,
        }
    }

    /// The texts of a document that are searched for matches.
    pub(crate) fn texts(document: &Document) -> Vec<String> {
        let title = document.title.clone().unwrap_or_default();
        let paragraphs = document
            .text
            .lines()
            .map(str::trim)
            .filter(|p| !p.is_empty());
        std::iter::once(title)
            .chain(paragraphs.map(str::to_owned))
            .chain(document.comments.iter().map(|comment| comment.text.clone()))
            .collect()
    }
}
