//! The document that is indexed and printed. The JSON form of [`Document`] is stable: `extract --json`, `import` and the
//! outbox use it.

use encoding_rs::WINDOWS_1252;
use serde::{Deserialize, Serialize};

use crate::comments::answer::MAX_COMMENTS;
use crate::literals::count_bytes;
use crate::reading::MainText;
use crate::structure::{Structure, html, markdown};

pub use crate::body::proposal::RatioLines;
pub use crate::fields::meta::Meta;
pub use crate::page::Kind;

/// What a link seems to lead to, judged from its place and its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// Probably a detail page.
    Article,
    /// Probably a list page: sections, pagination.
    Hub,
    /// A feed or sitemap named in the head.
    Feed,
    /// None of these.
    #[default]
    Other,
}

/// One link of the page, resolved and canonical; each URL once, in document order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Link {
    /// Canonical absolute URL.
    pub url: String,
    /// Link text, or the image's alternative text.
    pub text: String,
    /// What it seems to lead to.
    #[serde(default)]
    pub kind: LinkKind,
    /// The page asked not to follow it (`rel=nofollow`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nofollow: bool,
}

/// One comment of a reader, or one post of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = CommentAnswer))]
pub struct Comment {
    /// Who wrote it, as printed.
    #[serde(default)]
    pub author: Option<String>,
    /// When, ISO 8601 where it could be read, else as printed.
    #[serde(default)]
    pub published: Option<String>,
    /// What it says.
    pub text: String,
    /// Whom it answers, where the page states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// Votes for it, where the page counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub votes: Option<i64>,
    /// It is the post that the others of a thread answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opening: bool,
}

/// A picture of the main text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = ImageAnswer))]
pub struct Image {
    /// Canonical absolute URL, where the page names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The alternative text: what the page says that the picture shows; may be empty.
    #[serde(default)]
    pub alt: String,
    /// Number of paragraphs of the text that are before it.
    #[serde(default)]
    pub after: u32,
}

/// A file that the page offers next to its text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = AttachmentAnswer))]
pub struct Attachment {
    /// Canonical absolute URL.
    pub url: String,
    /// What the page calls it.
    pub name: String,
    /// Ending of the file in lower case, `pdf`; empty where neither URL nor name states.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub format: String,
    /// The day that stands beside its link, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
}

/// The file that a document was read from, where that is no web page.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = FileAnswer))]
pub struct SourceFile {
    /// What it is, by its content: `pdf`, `docx`, `xls` …; as [`Attachment::format`] calls it.
    pub format: String,
    /// Its size.
    pub bytes: u64,
    /// Pages, sheets or slides, where it has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<u32>,
    /// Canonical URL of the web page that offers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_url: Option<String>,
    /// Headline of that page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_title: Option<String>,
    /// Where its pages, sheets, slides or members begin in the text, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<FilePart>,
}

impl SourceFile {
    /// The part in which a paragraph (the first is 0) of the text stands.
    pub fn part_of(&self, paragraph: u32) -> Option<&FilePart> {
        let behind = self.parts.partition_point(|part| part.after <= paragraph);
        behind.checked_sub(1).and_then(|at| self.parts.get(at))
    }
}

/// A page, sheet, slide or member of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = FilePartAnswer))]
pub struct FilePart {
    /// Number of a page or slide, name of a sheet or member.
    pub name: String,
    /// Number of paragraphs of the text that are before it.
    pub after: u32,
}

/// A piece of a text with its pictures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<P> {
    /// A paragraph, in the form that was given.
    Paragraph(P),
    /// A picture.
    Image(Image),
}

/// Paragraphs with the pictures at their places.
pub fn split_pieces<P>(
    paragraphs: impl Iterator<Item = P>,
    images: impl IntoIterator<Item = Image>,
) -> Vec<Piece<P>> {
    let mut images = images.into_iter().peekable();
    let mut pieces = Vec::new();
    for (before, paragraph) in (0..).zip(paragraphs) {
        while let Some(image) = images.next_if(|image| image.after <= before) {
            pieces.push(Piece::Image(image));
        }
        pieces.push(Piece::Paragraph(paragraph));
    }
    pieces.extend(images.map(Piece::Image));
    pieces
}

/// Where the day of a document was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DateSource {
    /// JSON-LD.
    JsonLd,
    /// A meta element.
    Meta,
    /// An element that is made to hold a day: `time`, `itemprop`, an abbreviation.
    Element,
    /// The address.
    Url,
    /// The text of the page.
    Text,
    /// A script.
    Script,
    /// The data from which a script makes the page.
    State,
    /// `<title>` or the description.
    Title,
    /// The last change: the page names no other day.
    Modified,
    /// What a template or a person says of the pages of the site.
    Template,
    /// A feed, a sitemap, or the line beside the link of a file.
    List,
    /// The file itself.
    File,
    /// The page that offers the file.
    Page,
}

impl DateSource {
    /// In English, for a person.
    pub fn describe(self) -> &'static str {
        match self {
            Self::JsonLd => "the page's JSON-LD",
            Self::Meta => "a meta element",
            Self::Element => "an element that holds a day",
            Self::Url => "the address",
            Self::Text => "the text of the page",
            Self::Script => "a script",
            Self::State => "the data of a script",
            Self::Title => "the title or the description",
            Self::Modified => "the last change",
            Self::Template => "the template of the site",
            Self::List => "the list that names it",
            Self::File => "the file",
            Self::Page => "the page that offers it",
        }
    }

    /// In Chinese, for a person.
    pub fn in_chinese(self) -> &'static str {
        match self {
            Self::JsonLd => "网页的 JSON-LD",
            Self::Meta => "网页的 meta 元素",
            Self::Element => "含日期的元素",
            Self::Url => "网址",
            Self::Text => "网页正文",
            Self::Script => "脚本",
            Self::State => "脚本中的数据",
            Self::Title => "标题或摘要",
            Self::Modified => "最后修改时间",
            Self::Template => "站点模板",
            Self::List => "列出它的列表",
            Self::File => "文件本身",
            Self::Page => "提供它的网页",
        }
    }
}

/// What Taojin knows of a page: this is indexed, exported and answered.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Document {
    /// Canonical URL of the page; empty if unknown.
    pub url: String,
    /// The page's own canonical URL (`rel=canonical`, `og:url`) where it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canonical: Option<String>,
    /// Other URLs at which the crawl found the same text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// Name of the site in the configuration, if it came from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// Headline without the site's name.
    pub title: Option<String>,
    /// First publication: ISO 8601 date, or date and time with offset when known. Of a page that has only its last
    /// change, that.
    pub published: Option<String>,
    /// Named writer.
    pub author: Option<String>,
    /// Media source as printed (来源).
    pub source: Option<String>,
    /// Main text: paragraphs in order, one a line.
    pub text: String,
    /// What the paragraphs of the text are: headings, items, rows, code; and what ranges of them are: links, what is set off.
    #[serde(skip_serializing_if = "Structure::is_empty")]
    pub structure: Structure,
    /// Pictures that belong to the text, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Fields that the page labels: index number, document number, office.
    #[serde(skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
    /// Files that the page offers, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The file that it was read from, where it is no web page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<SourceFile>,
    /// Readers' comments in page order; of a thread its posts, the opening one first.
    pub comments: Vec<Comment>,
    /// Where the page loads comments from by script, as its scripts name it; they are not fetched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comment_endpoints: Vec<String>,
    /// Links of the page.
    pub links: Vec<Link>,
    /// URLs of the pages on which the article continues, in order: of a page alone those that it links to, of a document
    /// of the crawl those whose text is in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<String>,
    /// URL of the first page, where this is a later one of an article over several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
    /// What the page is.
    pub kind: Kind,
    /// Which way of extraction decided: `model`, `ratio`, `template`, `model+template` (they agree), `posts`, `script`,
    /// `noscript`, `hidden`, `pictures`, or `none`.
    pub method: String,
    /// Charset the bytes were decoded with.
    pub charset: String,
    /// Language tag (`zh`, `en` …) where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// How it was found, for a person who asks why.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// What the page asks of crawlers.
    #[serde(flatten)]
    pub asks: RobotsTags,
}

/// How the fields of a document were found.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// How sure the extractor is of the main text, 0 to 1.
    pub confidence: f32,
    /// Where `published` was found; `None` where it was not found by Taojin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_source: Option<DateSource>,
    /// What the path ratios decided of the lines that the page shows; `None` without lines, of a file, and of a document from
    /// before these counts were kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_lines: Option<RatioLines>,
    /// Text or comments are longer than they may be (`extract.max_text_bytes`), and what is beyond is left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub text_cut: bool,
}

/// What a page asks of crawlers, in its meta elements or the header X-Robots-Tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RobotsTags {
    /// Not to be indexed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub noindex: bool,
    /// Not to follow its links.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nofollow: bool,
}

impl Document {
    /// The text as Markdown (CommonMark with the tables of GitHub): headings, lists, quotations, tables, code, links, pictures.
    /// Without the title, which is a field of its own.
    pub fn markdown(&self) -> String {
        markdown::write(&self.text, &self.structure, &self.images)
    }

    /// The text as a fragment of HTML with nothing in it but [`structure::ELEMENTS`](crate::structure::ELEMENTS): what a page
    /// wrote is escaped, and links and pictures lead to `http` and `https` only. Without the title.
    pub fn html(&self) -> String {
        html::write(&self.text, &self.structure, &self.images)
    }

    /// Takes control characters out of the text, and moves the ranges of its structure with what is left.
    fn clean_text(&mut self) {
        if !has_controls(&self.text) {
            return;
        }
        let mut clean = String::with_capacity(self.text.len());
        // For each byte of the text where it is now, and for each paragraph where it began and begins.
        let mut moved: Vec<u32> = Vec::with_capacity(self.text.len() + 1);
        let mut starts = vec![(0, 0)];
        for c in self.text.chars() {
            moved.resize(moved.len() + c.len_utf8(), clean.len() as u32);
            clean.extend(kept(c));
            if c == '\n' {
                starts.push((moved.len(), clean.len() as u32));
            }
        }
        moved.push(clean.len() as u32);
        self.structure.move_ranges(|at, offset| {
            let Some((old, new)) = starts.get(at as usize) else {
                return 0;
            };
            let byte = moved.get(old + offset as usize).or(moved.last());
            byte.map_or(0, |byte| byte.saturating_sub(*new))
        });
        self.text = clean;
    }

    /// Replaces the text, and with it all that counts its paragraphs.
    pub(crate) fn set_text(&mut self, main: MainText) {
        (self.text, self.structure, self.images) = (main.text, main.structure, main.images);
    }

    /// Adds those of `comments`, in their order, that it does not have yet, until it has [`MAX_COMMENTS`].
    pub fn add_comments(&mut self, comments: impl IntoIterator<Item = Comment>) {
        for comment in comments {
            if self.comments.len() >= MAX_COMMENTS {
                break;
            }
            let is_known =
                |other: &Comment| other.text == comment.text && other.author == comment.author;
            // Some answers repeat the article before its comments.
            if comment.text != self.text && !self.comments.iter().any(is_known) {
                self.comments.push(comment);
            }
        }
    }

    /// Leaves out what text and comments have beyond so many bytes each, at the end of a paragraph or a comment where one is near.
    pub fn cut_text(&mut self, most_bytes: usize) {
        let said = |comment: &Comment| comment.text.len();
        let mut left = most_bytes;
        let kept = self.comments.iter().take_while(|comment| {
            let fits = said(comment) <= left;
            left = left.saturating_sub(said(comment));
            fits
        });
        let kept = kept.count();
        self.provenance.text_cut |= kept < self.comments.len();
        self.comments.truncate(kept);
        if self.text.len() <= most_bytes {
            return;
        }
        let most = self.text.floor_char_boundary(most_bytes);
        let head = self.text.get(..most).unwrap_or_default();
        let line_end = head.rfind('\n').filter(|end| *end >= most / 2);
        self.text.truncate(line_end.unwrap_or(most));
        let paragraphs = u32::try_from(self.text.lines().count()).unwrap_or(u32::MAX);
        // The marks of a paragraph that is cut would reach beyond it.
        let whole = paragraphs - u32::from(line_end.is_none());
        self.structure.truncate(whole);
        for image in &mut self.images {
            image.after = image.after.min(paragraphs);
        }
        if let Some(file) = &mut self.file {
            file.parts.retain(|part| part.after < paragraphs);
        }
        self.provenance.text_cut = true;
    }

    /// Takes control characters out of every field, but for line breaks and tabs: pages hold stray ones, JSON spells
    /// them out, and databases refuse them. Those that part words become a space, and U+0080 to U+009F what browsers
    /// take them for where they are spelled out: the quotes and dashes of Windows-1252.
    pub fn drop_controls(&mut self) {
        for field in [
            &mut self.canonical,
            &mut self.site,
            &mut self.title,
            &mut self.published,
            &mut self.author,
            &mut self.source,
            &mut self.language,
            &mut self.part_of,
        ] {
            clean_field(field);
        }
        self.clean_text();
        for text in [&mut self.url, &mut self.method, &mut self.charset] {
            clean(text);
        }
        let lists = [
            &mut self.addresses,
            &mut self.comment_endpoints,
            &mut self.pages,
        ];
        lists.into_iter().flatten().for_each(clean);
        self.meta.texts_mut().for_each(clean);
        for file in &mut self.attachments {
            clean(&mut file.url);
            clean(&mut file.name);
        }
        if let Some(file) = &mut self.file {
            clean(&mut file.format);
            clean_field(&mut file.page_url);
            clean_field(&mut file.page_title);
            file.parts.iter_mut().for_each(|part| clean(&mut part.name));
        }
        for image in &mut self.images {
            clean_field(&mut image.url);
            clean(&mut image.alt);
        }
        for comment in &mut self.comments {
            clean_field(&mut comment.author);
            clean_field(&mut comment.published);
            clean_field(&mut comment.reply_to);
            clean(&mut comment.text);
        }
        for link in &mut self.links {
            clean(&mut link.url);
            clean(&mut link.text);
        }
    }
}

/// The same of a field that may be missing: one that said nothing else is.
fn clean_field(field: &mut Option<String>) {
    if let Some(text) = field
        && has_controls(text)
    {
        clean(text);
        let trimmed = text.trim();
        *field = (!trimmed.is_empty()).then(|| trimmed.to_owned());
    }
}

fn clean(text: &mut String) {
    if has_controls(text) {
        *text = text.chars().filter_map(kept).collect();
    }
}

/// What stands for a character, if anything does.
pub(crate) fn kept(c: char) -> Option<char> {
    match c {
        '\n' | '\t' => Some(c),
        '\u{80}'..='\u{9F}' => {
            let byte = [u8::try_from(c).ok()?];
            let (text, _) = WINDOWS_1252.decode_without_bom_handling(&byte);
            text.chars().next().filter(|c| !c.is_control())
        }
        c if c.is_control() => c.is_whitespace().then_some(' '),
        c => Some(c),
    }
}

/// Whether there is any. Hardly a text has a byte that may be of one, and many bytes are asked in one step.
fn has_controls(text: &str) -> bool {
    // U+0080 to U+009F begin with C2.
    let may_be = |b: u8| (b < b' ' && b != b'\n' && b != b'\t') || b == 0x7F || b == 0xC2;
    count_bytes(text.as_bytes(), may_be) > 0
        && text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t'))
}
