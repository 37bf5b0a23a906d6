//! The page of a document: its text as it was crawled, the comments or the posts of a thread below it, and how to cite it in the
//! manner of GB/T 7714-2015. What is not known is left out, never made up.

use std::collections::{BTreeMap, HashMap};

use askama::Template;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, FixedOffset};
use taojin_extract as extract;
use taojin_extract::{Attachment, Comment, Document, SourceFile, Typed};
use taojin_search::query::is_label;

use crate::api::log::Past;
use crate::pages::moment::Moment;
use crate::pages::request::{PageRequest, broken, page};
use crate::pages::structured::{ContentsEntry, StructuredText};
use crate::pages::versions;
use crate::pages::versions::VersionLink;
use crate::pages::view::{
    Chrome, Html, Linked, Place, address, author_beside, outward, site_path, title,
};
use crate::pages::words::{Lang, fill};
use crate::search::params::Params;
use crate::search::source::{DocumentHit, Marked, Related};

/// What the names of headings begin with.
const HEADING_PREFIX: &str = "s-";
/// Other addresses of a document that its page names.
const ADDRESSES_SHOWN: usize = 10;

/// A comment, or a post of a thread, as shown.
struct CommentView {
    author: String,
    published: Option<Moment>,
    reply_to: String,
    votes: String,
    text: Html,
}

/// A file that the page offers.
struct AttachmentView {
    name: String,
    format: String,
    /// None for an address that no reader should follow.
    url: Option<String>,
    /// Its text, where it is a document.
    text: Option<String>,
}

/// The file that a document was read from.
pub(crate) struct FileView {
    /// `PDF`.
    pub(crate) format: String,
    /// Pages and size.
    pub(crate) extent: String,
    pub(crate) parts: Vec<PartView>,
    /// The page that offers it: its headline, and where it is.
    page: Option<(String, String)>,
}

/// A page, sheet, slide or member of a file.
pub(crate) struct PartView {
    /// Name of the place in the page of the document.
    pub(crate) anchor: String,
    pub(crate) heading: String,
    after: u32,
}

impl PartView {
    fn of_file(c: &Chrome, file: &SourceFile) -> Vec<PartView> {
        let heading = |name: &str| match name.parse::<u32>() {
            Ok(number) => fill(c.t.sentences.part, &[("n", &number.to_string())]),
            Err(_) => name.to_owned(),
        };
        let parts = file.parts.iter().map(|part| PartView {
            anchor: format!("part-{}", part.after),
            heading: heading(&part.name),
            after: part.after,
        });
        parts.collect()
    }
}

impl FileView {
    pub(crate) fn new(c: &Chrome, file: &SourceFile) -> FileView {
        let unit = match file.format.as_str() {
            "ppt" | "pptx" | "odp" | "dps" => &c.t.counts.slides,
            "xls" | "xlsx" | "ods" | "et" => &c.t.counts.sheets,
            _ => &c.t.counts.pages,
        };
        let pages = file.pages.map(|pages| unit.fill(u64::from(pages)));
        let size = (file.bytes > 0).then(|| size(file.bytes));
        let page = file.page_url.as_deref().and_then(outward);
        FileView {
            format: file.format.to_uppercase(),
            extent: pages
                .into_iter()
                .chain(size)
                .collect::<Vec<_>>()
                .join(" · "),
            parts: PartView::of_file(c, file),
            page: page.map(|url| {
                (
                    file.page_title.clone().unwrap_or_else(|| address(&url)),
                    url,
                )
            }),
        }
    }
}

/// A size for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
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
        items: match Typed::parse(value) {
            Some(Typed::List(items)) => items,
            _ => vec![value.to_owned()],
        },
    }
}

#[derive(Template)]
#[template(path = "document.html")]
pub(crate) struct DocumentPage {
    c: Chrome,
    plain_title: String,
    title: Html,
    language: String,
    place: Place,
    site: String,
    source: String,
    author: String,
    published: Option<Moment>,
    text: TextView,
    fields: Vec<FieldView>,
    file: Option<FileView>,
    attachments: Vec<AttachmentView>,
    comments: Vec<CommentView>,
    comments_heading: String,
    citation: Citation,
    reprints: Vec<Linked>,
    similar: Vec<Linked>,
    /// All its versions, where there is more than one.
    versions: Vec<VersionLink>,
    /// When its web page last showed it, if the last visit did not.
    confirmed: Option<Moment>,
    back: Option<String>,
    /// Path of the page of its site; `None` if there are no such pages.
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
        let site = document.site.as_deref().map(|site| c.site(site));
        let (now_ms, offset) = (c.clock.now_ms, c.clock.utc_offset_minutes);
        let citation = Citation::new(&document, site.as_deref(), now_ms, offset);
        let site = site.unwrap_or_default();
        let body = Body::new(&c, &document, marked);
        let headline = marked.first().cloned().unwrap_or_default();
        let back = (!params.text.is_empty() || params.filtered()).then(|| c.search(params));
        let comments = body.comments.len() as u64;
        let others =
            |found: Vec<DocumentHit>| found.into_iter().map(|hit| other(&c, hit)).collect();
        let plain_title = document.title.filter(|t| !t.trim().is_empty());
        DocumentPage {
            title: title(&headline, c.t),
            plain_title: plain_title.unwrap_or_else(|| c.t.untitled.to_owned()),
            language: document
                .language
                .unwrap_or_else(|| Lang::Zh.tag().to_owned()),
            place: Place::new(&document.url, &document.addresses, ADDRESSES_SHOWN),
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
            // A byline is how most texts begin.
            author: author_beside(document.author, lines(&document.text).next().unwrap_or("")),
            published: c.moment(document.published.as_ref()),
            comments_heading: if body.is_thread {
                c.t.counts.replies.fill(comments)
            } else {
                c.t.counts.comments.fill(comments)
            },
            text: TextView::new(&c, body.text, document.file.as_ref()),
            fields: document.meta.iter().map(field).collect(),
            file: document.file.as_ref().map(|file| {
                let mut view = FileView::new(&c, file);
                let own = file
                    .page_url
                    .as_ref()
                    .and_then(|url| related.linked.get(url));
                if let (Some((_, href)), Some(id)) = (&mut view.page, own) {
                    *href = c.document(id);
                }
                view
            }),
            attachments: document
                .attachments
                .into_iter()
                .map(|file| attachment(&c, file, &related.linked))
                .collect(),
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
            .chain(document.text.lines().map(str::to_owned))
            .chain(document.comments.iter().map(|comment| comment.text.clone()))
            .collect()
    }
}

fn attachment(c: &Chrome, file: Attachment, known: &BTreeMap<String, String>) -> AttachmentView {
    AttachmentView {
        text: known.get(&file.url).map(|id| c.document(id)),
        url: outward(&file.url),
        name: if file.name.is_empty() {
            address(&file.url)
        } else {
            file.name
        },
        format: file.format.to_uppercase(),
    }
}

/// The text as it is shown.
struct TextView {
    /// Its parts: of a file under the headings of its pages, sheets, slides or members; else one without a heading.
    sections: Vec<SectionView>,
    contents: Vec<ContentsEntry>,
}

struct SectionView {
    part: Option<PartView>,
    html: Html,
}

impl SectionView {
    /// None for one without a heading and with nothing in it.
    fn new(c: &Chrome, part: Option<PartView>, text: &StructuredText) -> Option<SectionView> {
        (part.is_some() || !text.is_empty()).then(|| SectionView {
            part,
            html: text.write(HEADING_PREFIX, c.t.picture),
        })
    }
}

impl TextView {
    fn new(c: &Chrome, mut text: StructuredText, file: Option<&SourceFile>) -> TextView {
        let contents = text.contents(HEADING_PREFIX);
        let parts = file.map(|file| PartView::of_file(c, file));
        let parts = parts.unwrap_or_default();
        let mut sections = Vec::new();
        let (mut from, mut under) = (0, None);
        for part in parts {
            let to = (part.after as usize).max(from);
            let above = text.split_to(to - from);
            sections.extend(SectionView::new(c, under, &above));
            (from, under) = (to, Some(part));
        }
        sections.extend(SectionView::new(c, under, &text));
        TextView { sections, contents }
    }
}

/// Text and comments; what is both stands below, once, as a post with its author and time.
struct Body {
    text: StructuredText,
    comments: Vec<CommentView>,
    /// Whether most of the comments are posts.
    is_thread: bool,
}

impl Body {
    fn new(c: &Chrome, document: &Document, marked: &[Marked]) -> Body {
        let paragraphs: Vec<&str> = document.text.lines().map(str::trim).collect();
        let owners = owners(&paragraphs, &document.comments);
        let (head, comments) =
            marked.split_at(marked.len().saturating_sub(document.comments.len()));
        let mut own = StructuredText::default();
        let mut posts = vec![StructuredText::default(); document.comments.len()];
        let mut images = document.images.iter().peekable();
        let paragraphs = head.iter().skip(1).zip(&owners);
        let mut before = None;
        for (at, (paragraph, owner)) in (0..).zip(paragraphs) {
            // A picture belongs to whoever wrote the paragraph above it.
            while let Some(image) = images.next_if(|image| image.after <= at) {
                share(&mut own, &mut posts, before).show(image);
            }
            let block = document.structure.block(at);
            share(&mut own, &mut posts, *owner).add(paragraph, block);
            before = *owner;
        }
        for image in images {
            share(&mut own, &mut posts, before).show(image);
        }
        let inside = posts.iter().filter(|post| post.has_paragraphs());
        let replies = document.comments.iter().filter(|post| !post.opening);
        let is_thread = inside.count() * 2 > replies.count();
        let comments = document.comments.iter().zip(comments).zip(posts);
        // The post that opens a thread stands above its replies, as the text.
        let comments = comments.filter(|((comment, _), _)| !comment.opening);
        let view = |(at, ((comment, text), mut post)): (
            usize,
            ((&extract::Comment, &Marked), StructuredText),
        )| {
            if !post.has_paragraphs() {
                post.add(text, None);
            }
            CommentView {
                author: comment.author.clone().unwrap_or_default(),
                published: c.moment(comment.published.as_ref()),
                reply_to: comment.reply_to.clone().unwrap_or_default(),
                votes: comment.votes.map(|n| n.to_string()).unwrap_or_default(),
                text: post.write(&format!("post-{at}-"), c.t.picture),
            }
        };
        Body {
            comments: comments.enumerate().map(view).collect(),
            text: own,
            is_thread,
        }
    }
}

fn share<'s>(
    own: &'s mut StructuredText,
    posts: &'s mut [StructuredText],
    owner: Option<usize>,
) -> &'s mut StructuredText {
    match owner {
        Some(at) if at < posts.len() => &mut posts[at],
        _ => own,
    }
}

fn other(c: &Chrome, hit: DocumentHit) -> Linked {
    let mut linked = c.linked(&hit);
    if hit.site.is_none() {
        linked.site = hit.source.unwrap_or_default();
    }
    linked
}

/// `/doc/{id}`: the text of a document as it was crawled.
pub(crate) async fn document(
    id: Result<Path<String>, PathRejection>,
    request: PageRequest,
) -> Response {
    let c = request.chrome();
    let id = id.map(|Path(id)| id).unwrap_or_default();
    let document = match request.server.document(id.clone()).await {
        Ok(Some(document)) => document,
        Ok(None) => return versions::gone(&id, request).await,
        Err(error) => return broken(c, &error),
    };
    let PageRequest { server, params, .. } = request;
    let texts = DocumentPage::texts(&document);
    // The text is what was requested: it is shown even where what goes with it is not found in time.
    let related = server.related(id.clone()).await.unwrap_or_default();
    let number = versions::number(&id).unwrap_or_default();
    let past = server.ask(&server.log, move |log| log.past(number)).await;
    let past = past.ok().flatten().unwrap_or_default();
    match server.mark(params.text.clone(), texts).await {
        Ok(marked) => page(
            &DocumentPage::new(c, &params, id, document, &marked, (related, &past)),
            StatusCode::OK,
        ),
        Err(error) => broken(c, &error),
    }
}

/// Share of a comment's characters that must stand in the text for the comment to be a post of it. The rest is the card of
/// its writer or a signature.
const SHARE_IN_TEXT: f32 = 0.5;

/// For each paragraph the comment that it belongs to. Posts and paragraphs are both in the order of the page.
pub(crate) fn owners(paragraphs: &[&str], comments: &[Comment]) -> Vec<Option<usize>> {
    let mut posts: HashMap<&str, Vec<usize>> = HashMap::new();
    let replies = comments
        .iter()
        .enumerate()
        .filter(|(_, post)| !post.opening);
    for (at, comment) in replies {
        for line in lines(&comment.text) {
            let known = posts.entry(line).or_default();
            if known.last() != Some(&at) {
                known.push(at);
            }
        }
    }
    let mut current = 0;
    let mut owners: Vec<Option<usize>> = Vec::with_capacity(paragraphs.len());
    for paragraph in paragraphs {
        let with_it = posts.get(paragraph).map(Vec::as_slice).unwrap_or_default();
        let next = with_it.partition_point(|post| *post < current);
        let owner = with_it.get(next).copied();
        current = owner.unwrap_or(current);
        owners.push(owner);
    }
    let mut in_text = vec![0; comments.len()];
    for (paragraph, owner) in paragraphs.iter().zip(&owners) {
        if let Some(chars) = owner.and_then(|post| in_text.get_mut(post)) {
            *chars += paragraph.chars().count();
        }
    }
    let is_post = |at: &usize| {
        let all: usize = comments.get(*at).map_or(0, |comment| {
            lines(&comment.text).map(|line| line.chars().count()).sum()
        });
        let inside = in_text.get(*at).copied().unwrap_or_default();
        inside as f32 >= SHARE_IN_TEXT * all as f32
    };
    owners.iter().map(|owner| owner.filter(is_post)).collect()
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Bytes of a date in ISO 8601.
const DATE_BYTES: usize = 10;

/// A document's citations, each one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Citation {
    /// GB/T 7714-2015: `李四. 题名[EB/OL]. 新华社, (2026-05-01)[2026-11-22]. https://…`
    pub(crate) standard: String,
    /// `李四: 题名. 新华社, 2026-05-01. https://…`
    pub(crate) plain: String,
}

impl Citation {
    /// The citations of a document that is read at `now_ms`, in the zone of the readers; `site` is what they call its site.
    pub(crate) fn new(
        document: &Document,
        site: Option<&str>,
        now_ms: i64,
        utc_offset_minutes: i32,
    ) -> Citation {
        let named = |text: &str| Some(one_line(text)).filter(|t| !t.is_empty());
        let known = |text: &Option<String>| text.as_deref().and_then(named);
        let title = known(&document.title).unwrap_or_else(|| one_line(&document.url));
        let outlet = known(&document.source).or_else(|| site.and_then(named));
        let author = known(&document.author).filter(|author| outlet.as_ref() != Some(author));
        let date = document.published.as_deref().and_then(date).unwrap_or("");
        let url = one_line(&document.url);

        let by = author
            .as_ref()
            .map(|a| format!("{a}. "))
            .unwrap_or_default();
        let read = today(now_ms, utc_offset_minutes);
        let outlet_part = outlet.as_ref().map(|o| format!("{o}, "));
        let published = match date {
            "" => String::new(),
            date => format!("({date})"),
        };
        let standard = format!(
            "{by}{title}[EB/OL]. {}{published}[{read}]. {url}",
            outlet_part.unwrap_or_default()
        );

        let by = author.map(|a| format!("{a}: ")).unwrap_or_default();
        let when: Vec<&str> = [outlet.as_deref().unwrap_or_default(), date]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        let when = match when.as_slice() {
            [] => String::new(),
            parts => format!("{}. ", parts.join(", ")),
        };
        let stop = if title.ends_with(['。', '.', '？', '?', '！', '!']) {
            ""
        } else {
            "."
        };
        let plain = format!("{by}{title}{stop} {when}{url}");
        Citation { standard, plain }
    }
}

/// The day of a time in ISO 8601.
fn date(text: &str) -> Option<&str> {
    let date = text.trim().get(..DATE_BYTES)?;
    chrono::NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?;
    Some(date)
}

fn today(now_ms: i64, utc_offset_minutes: i32) -> String {
    let seconds = utc_offset_minutes.saturating_mul(60);
    let zone = FixedOffset::east_opt(seconds);
    let now = DateTime::from_timestamp_millis(now_ms).unwrap_or_default();
    let now = zone.map_or_else(|| now.fixed_offset(), |zone| now.with_timezone(&zone));
    now.format("%Y-%m-%d").to_string()
}

/// Runs of white space and control characters as one space.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comments(texts: &[&str]) -> Vec<Comment> {
        let comment = |text: &&str| Comment {
            text: (*text).to_owned(),
            ..Comment::default()
        };
        texts.iter().map(comment).collect()
    }

    #[test]
    fn a_post_is_found_in_the_text_of_its_thread() {
        let text = ["开头", "顶", "先看流程图", "再去巡检", "顶"];
        let posts = comments(&["顶", "先看流程图\n\n再去巡检", "顶"]);
        let owners = owners(&text, &posts);
        assert_eq!(owners, [None, Some(0), Some(1), Some(1), Some(2)]);
    }

    #[test]
    fn opening_post_owns_no_paragraph() {
        let mut posts = comments(&["开头", "顶"]);
        posts[0].opening = true;
        assert_eq!(owners(&["开头", "顶"], &posts), [None, Some(1)]);
    }

    #[test]
    fn a_card_and_a_signature_do_not_hide_a_post() {
        let text = ["Why does it hiss?", "It is the seat, change it soon."];
        let posts = comments(&["Member\nIt is the seat, change it soon.\nA kettle"]);
        assert_eq!(owners(&text, &posts), [None, Some(0)]);
    }

    #[test]
    fn a_comment_that_quotes_a_paragraph_is_no_post() {
        let text = ["油价上涨。", "第二段。"];
        let posts = comments(&["油价上涨。\n这话去年也说过，后来跌了一半还多，谁还会相信呢"]);
        assert_eq!(owners(&text, &posts), [None, None]);
    }

    /// 2026-11-22 01:00 in Beijing, still the day before in Greenwich.
    const NOW_MS: i64 = 1_795_280_400_000;

    fn document() -> Document {
        Document {
            url: "https://a.example/1".to_owned(),
            title: Some("渤海深井\n获得高产".to_owned()),
            ..Document::default()
        }
    }

    #[test]
    fn a_citation_names_author_outlet_date_and_address() {
        let document = Document {
            author: Some("李四".to_owned()),
            source: Some("新华社".to_owned()),
            site: Some("转载网".to_owned()),
            published: Some("2026-05-01T08:30:00+08:00".to_owned()),
            ..document()
        };
        let citation = Citation::new(&document, None, NOW_MS, 480);
        assert_eq!(
            citation.standard,
            "李四. 渤海深井 获得高产[EB/OL]. 新华社, (2026-05-01)[2026-11-22]. https://a.example/1"
        );
        assert_eq!(
            citation.plain,
            "李四: 渤海深井 获得高产. 新华社, 2026-05-01. https://a.example/1"
        );
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let citation = Citation::new(&document(), None, NOW_MS, 0);
        assert_eq!(
            citation.standard,
            "渤海深井 获得高产[EB/OL]. [2026-11-21]. https://a.example/1"
        );
        assert_eq!(citation.plain, "渤海深井 获得高产. https://a.example/1");
    }
}
