//! From the bytes of a web page to a document: title, time, author, text, comments, links. Never does I/O, never fails: a
//! bad page is a document of kind `error` or `other`.
//!
//! ```
//! use taojin_extract::page::{Hints, Page};
//! use taojin_extract::{Context, extract};
//!
//! let html = "<title>储气库投产 - 西部油气网</title><h1>储气库投产</h1><p>2026-05-03 08:30</p>\
//!     <p>记者从现场了解到，经过一百二十天的施工，改造工程日前通过验收，现场设备运行平稳。</p>\
//!     <p>项目负责人介绍，今年更换阀门七台，检修人员由三班增加到四班，夜间值守改为屏幕巡检。</p>";
//! let page = Page::parse(html.as_bytes(), Hints::default());
//! let document = extract(&page, &Context::default());
//! assert_eq!(document.title.as_deref(), Some("储气库投产"));
//! assert!(document.text.starts_with("记者从现场了解到"));
//! ```

mod body;
mod classify;
pub mod comments;
mod cues;
mod date;
mod document;
mod fields;
mod lines;
pub mod literals;
pub mod page;
pub mod similarity;
mod state;
pub mod template;
#[cfg(test)]
mod tests;
mod times;
mod trace;
mod xml;

use std::path::PathBuf;
use std::sync::Arc;

use body::fallback;
use body::guided;
use body::notes;
use body::thread as posts;
use classify::learned;
use fields::author;
use fields::head;
use fields::headline;
use fields::images;
use fields::labels;
use fields::links;
use fields::pages::Pages;
use fields::title_parts;
use lines::language;
use lines::outline;
use lines::paragraphs;
use serde::{Deserialize, Serialize};

pub use body::guided::{extract_guided, observe};
pub use classify::learn;
pub use date::stamp::{Clock, Stamp};
pub use document::{
    Attachment, Comment, Document, Image, Kind, Link, LinkKind, Meta, Piece, pieces,
};
pub use fields::author::NameTrace;
pub use fields::site_title::site_title;
pub use lines::path_ratio;
pub use trace::{DateTrace, LineTrace, PathTrace, TitleTrace, Trace};
pub use xml::to_xml;

use crate::template::Guide;
use fields::head::Head;
use lines::outline::Outline;
use page::Page;
use taojin_uri::CrawlUri;

/// Time zone of Chinese pages that name none, in minutes east of UTC.
const CHINA_OFFSET_MIN: i32 = 8 * 60;

/// What is known of a page besides its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// When the page was fetched, Unix milliseconds: relative times are told from it, and nothing is
    /// published after the day that follows it.
    pub now_ms: i64,
    /// Time zone of times that name none, in minutes east of UTC. Without one, Chinese pages and `.cn` hosts
    /// get +08:00.
    pub default_offset_min: Option<i32>,
    /// Name of the site in the configuration.
    pub site: Option<&'a str>,
    /// Value of the `X-Robots-Tag` header.
    pub robots_header: Option<&'a str>,
    /// Learned weights to be judged instead of those in the source.
    pub weights: Option<&'a learn::Weights>,
}

impl<'a> Context<'a> {
    fn weights<'b>(&self, config: &'b Config) -> &'b learn::Weights
    where
        'a: 'b,
    {
        let own = config.loaded.as_deref();
        self.weights.or(own).unwrap_or(&learned::COMMITTED)
    }
}

/// Fewest tokens that are called a text when nothing else speaks for it.
pub const MIN_TOKENS: u32 = 25;
/// The lists of an archive have some thousands, and what is not followed there is found nowhere else.
pub const MAX_OUTLINKS: usize = 4096;

/// Settings of the extraction.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Texts with fewer tokens (CJK characters or words) are kept only with little confidence.
    pub min_tokens: u32,
    /// Links of one page that are kept and followed.
    pub max_outlinks: usize,
    /// File of learned weights, written by `taojin eval DIR --learn FILE`; empty for those in the program. Relative to the
    /// configuration.
    pub weights: PathBuf,
    /// What that file holds, once the program has read it.
    #[serde(skip)]
    pub loaded: Option<Arc<learn::Weights>>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            min_tokens: MIN_TOKENS,
            max_outlinks: MAX_OUTLINKS,
            weights: PathBuf::new(),
            loaded: None,
        }
    }
}

/// The document of a page. See [`extract_with`] for settings.
pub fn extract(page: &Page, context: &Context<'_>) -> Document {
    extract_with(page, context, &Config::default())
}

/// The document of a page, with settings.
pub fn extract_with(page: &Page, context: &Context<'_>, config: &Config) -> Document {
    finish(
        Reading::of(page, context, config),
        page,
        context,
        config,
        None,
    )
}

/// The document of what was read; looks elsewhere when there is almost no text, and asks the template for fields that
/// are missing.
fn finish(
    mut reading: Reading<'_>,
    page: &Page,
    context: &Context<'_>,
    config: &Config,
    guide: Option<Guide<'_>>,
) -> Document {
    let mut document = reading.document(page, context, config, guide);
    let image = reading.head.image.map(str::to_owned);
    if reading.tokens() < config.min_tokens.max(fallback::SHORT) {
        fallback::mend(&mut document, page, reading, context, config);
        let paragraphs = document.text.lines().count() as u32;
        for image in &mut document.images {
            image.after = image.after.min(paragraphs);
        }
    }
    if document.images.is_empty() && document.kind == Kind::Article && !document.text.is_empty() {
        document.images.extend(
            image
                .as_deref()
                .and_then(|image| images::declared(page, image)),
        );
    }
    document.drop_controls();
    document
}

/// The document of a page and why it came out so.
pub fn explain(page: &Page, context: &Context<'_>, config: &Config) -> (Document, Trace) {
    let reading = Reading::of(page, context, config);
    let judged = page::judge(page, None);
    let search = body::judgement::Search {
        page,
        outline: &reading.outline,
        title: reading.guess,
        head: &reading.head,
        judged: &judged,
        weights: context.weights(config),
    };
    let sources = date::Sources {
        page,
        outline: &reading.outline,
        head: &reading.head,
        anchors: reading.anchors,
        opening: opening(&reading.comments),
        clock: &reading.clock,
    };
    let trace = trace::trace(
        &search,
        &reading.body,
        &reading.headline.candidates,
        &date::candidates(&sources),
        author::names(page, &reading.outline, &reading.head, reading.anchors, true),
        &reading.clock,
    );
    (finish(reading, page, context, config, None), trace)
}

/// Everything that was found out about a page.
struct Reading<'a> {
    head: Head<'a>,
    outline: Outline,
    language: Option<String>,
    clock: Clock,
    guess: Option<usize>,
    body: body::Body,
    headline: headline::Headline,
    anchors: date::Anchors,
    published: Option<Stamp>,
    comments: comments::Found,
    labels: labels::Labels,
}

impl<'a> Reading<'a> {
    fn of(page: &'a Page, context: &Context<'_>, config: &Config) -> Self {
        Self::with(page, context, config, false, None)
    }

    /// With `hidden_too`, what the page hides is read as well.
    fn with(
        page: &'a Page,
        context: &Context<'_>,
        config: &Config,
        hidden_too: bool,
        guide: Option<Guide<'_>>,
    ) -> Self {
        let head = Head::of(page);
        let mut outline = Outline::of(page, hidden_too);
        let language = scripts(page, &outline).language(head.language);
        let clock = clock_of(page, context, language.as_deref(), head.language);
        let title = title_parts::Title::of(&head.title);
        let headings = headline::headings(page, &outline, &title.forms);
        let guess = headline::first_guess(page, &outline, &title.forms, &headings);
        outline.spread_marks(page, guess);
        let judged = page::judge(page, None);
        let search = body::judgement::Search {
            page,
            outline: &outline,
            title: guess,
            head: &head,
            judged: &judged,
            weights: context.weights(config),
        };
        let mut body = body::main_text(&search, config, guide);
        let comments = posts::find(page, &outline);
        if posts::settle(page, &outline, &comments, body.talk, &mut body.lines) {
            body.method = "posts";
        }
        let headline = headline::headline(page, &outline, &head, &title, &headings, &body);
        notes::drop_notes(page, &outline, &headline, &clock, &mut body);
        let labels = labels::labels(page, &outline);
        labels.leave_out(&outline, &mut body.lines);
        let anchors = date::Anchors {
            title: headline.line,
            body_start: body.lines.first().copied(),
            body_end: body.lines.last().map_or(0, |l| l + 1),
        };
        let sources = date::Sources {
            page,
            outline: &outline,
            head: &head,
            anchors,
            opening: opening(&comments),
            clock: &clock,
        };
        let published = date::choose(&sources);
        Self {
            head,
            outline,
            language,
            clock,
            guess,
            body,
            headline,
            anchors,
            published,
            comments,
            labels,
        }
    }

    /// Tokens of the main text.
    fn tokens(&self) -> u32 {
        self.body
            .lines
            .iter()
            .map(|i| self.outline.lines[*i].all.tokens)
            .sum()
    }

    /// The main text with its pictures.
    fn text(&self, page: &Page) -> (String, Vec<Image>) {
        let lines = &self.body.lines;
        let (text, paragraphs) = paragraphs::paragraphs(page, &self.outline, lines);
        let body = images::BodyLines {
            title: self.headline.line,
            lines,
            paragraphs: &paragraphs,
        };
        (text, images::images(page, &self.outline, &body))
    }

    /// Writer and media source.
    fn names(&self, page: &Page) -> (Option<String>, Option<String>) {
        let names = author::names(page, &self.outline, &self.head, self.anchors, false);
        let first = |names: Vec<NameTrace>| names.into_iter().next().map(|n| n.text);
        (first(names.authors), first(names.sources))
    }

    /// The document; takes what it needs out of the reading, but for lines and headline.
    fn document(
        &mut self,
        page: &Page,
        context: &Context<'_>,
        config: &Config,
        guide: Option<Guide<'_>>,
    ) -> Document {
        let (author, source) = self.names(page);
        let links = page::links(page, config.max_outlinks);
        // The pages of a thread are documents of their own.
        let pages = if self.body.method == "posts" {
            Pages::default()
        } else {
            Pages::of(page, &self.outline, &links, self.anchors)
        };
        let (links, attachments) = links::links(page, &self.outline, self.headline.line, links);
        let (text, images) = self.text(page);
        let url = page
            .url
            .as_ref()
            .map(|u| u.as_str().to_owned())
            .unwrap_or_default();
        let asks = |directive| {
            let header = context.robots_header;
            self.head.asks(directive) || header.is_some_and(|h| head::has_directive(h, directive))
        };
        let mut document = Document {
            addresses: Vec::new(),
            canonical: canonical(page, &self.head).filter(|c| *c != url),
            url,
            site: context.site.map(str::to_owned),
            published: self.published.map(|s| s.iso(&self.clock)),
            author,
            source,
            text,
            images,
            meta: std::mem::take(&mut self.labels.meta),
            attachments,
            comment_endpoints: comments::endpoints(page),
            comments: posts::comments(std::mem::take(&mut self.comments), &self.clock),
            links,
            pages: pages.following,
            part_of: pages.first,
            kind: self.body.kind,
            method: self.body.method.to_owned(),
            charset: page.charset.clone(),
            confidence: self.body.confidence,
            noindex: asks("noindex"),
            nofollow: asks("nofollow"),
            title: self.headline.text.take(),
            language: self.language.take(),
        };
        if let Some(guide) = guide {
            guided::mend_fields(&mut document, page, &self.outline, &guide, &self.clock);
        }
        document
    }
}

/// When the first post of a thread was written, as printed.
fn opening(found: &comments::Found) -> Option<&str> {
    let first = found.opening.as_ref().filter(|_| found.thread)?;
    first.time.as_deref()
}

/// The scripts of the page: of its prose, and where there is little of the lines that come first.
fn scripts(page: &Page, outline: &Outline) -> language::Scripts {
    const FIRST: usize = 200;
    let mut scripts = language::Scripts::default();
    let prose = outline.lines.iter().filter(|l| outline::is_prose(l));
    for line in prose.chain(outline.lines.iter().take(FIRST)) {
        if !scripts.add(outline.text(page, line)) {
            break;
        }
    }
    scripts
}

fn canonical(page: &Page, head: &Head<'_>) -> Option<String> {
    let reference = head.canonical?;
    let parsed = CrawlUri::resolve(page.url.as_ref(), reference);
    parsed.ok().map(|u| u.as_str().to_owned())
}

fn clock_of(
    page: &Page,
    context: &Context<'_>,
    language: Option<&str>,
    declared: Option<&str>,
) -> Clock {
    let host = page.url.as_ref().map(|u| u.host()).unwrap_or_default();
    let chinese = language == Some("zh") || host.ends_with(".cn");
    let american = declared.is_some_and(|d| d.eq_ignore_ascii_case("en-us"))
        || !(host.ends_with(".uk") || host.ends_with(".au"));
    Clock {
        now_ms: context.now_ms,
        offset_min: context
            .default_offset_min
            .or(chinese.then_some(CHINA_OFFSET_MIN)),
        month_first: language == Some("en") && american,
    }
}
