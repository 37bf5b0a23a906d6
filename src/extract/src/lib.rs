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
//! assert_eq!(document.published.as_deref(), Some("2026-05-03T08:30:00+08:00"));
//! assert!(document.text.starts_with("记者从现场了解到"));
//! ```
//!
//! More of it: `README.md` next to this crate, and its examples.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadMe;

mod blocking_page;
mod body;
mod classify;
pub mod comments;
mod cues;
mod date;
mod document;
mod fallback;
mod fields;
mod lines;
pub mod literals;
pub mod page;
mod paragraphs;
pub mod path_ratio;
mod reading;
pub mod similarity;
mod state;
pub mod structure;
pub mod template;
#[cfg(test)]
mod tests;
mod times;
mod trace;
mod xml;

use std::path::PathBuf;
use std::sync::Arc;

use fields::{author, images};
use serde::{Deserialize, Serialize};

pub use blocking_page::is_blocking_address;
pub use body::proposal::RatioVerdict;
pub use classify::learn;
pub use date::stamp::{Clock, Stamp};
pub use document::{
    Attachment, Comment, DateSource, Document, FilePart, Image, Kind, Link, LinkKind, Meta, Piece,
    Provenance, RatioLines, RobotsTags, SourceFile, split_pieces,
};
pub use fields::author::NameTrace;
pub use fields::file_days::find_day;
pub use fields::list_extent::is_list_cut;
pub use fields::listed_date::read_listed_date;
pub use fields::meta::{Typed, TypedFields};
pub use fields::title_parts::find_site_title;
pub use paragraphs::habits::add_habits;
pub use trace::{DateTrace, LineTrace, PathTrace, TitleTrace, Trace};
pub use xml::{to_xml, to_xml_record};

use crate::template::{Guide, Keys, ObservedLine, read_roles, text_hash};
use lines::Line;
use page::{Page, Tag};
use reading::{Reading, find_opening};

/// What is known of a page besides its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// When the page was fetched, Unix milliseconds: relative times and days without a year are resolved against it, and nothing
    /// is published after the day that follows it. Without it, neither of the former is.
    pub now_ms: Option<i64>,
    /// Time zone of times that name none, in minutes east of UTC. Without one, Chinese pages and `.cn` hosts
    /// get +08:00.
    pub default_offset_min: Option<i32>,
    /// Name of the site in the configuration.
    pub site: Option<&'a str>,
    /// The page is a document, whatever it reads like: an operator said so of its URL.
    pub is_document: bool,
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
        self.weights.or(own).unwrap_or_else(|| &learn::COMMITTED)
    }
}

/// Fewest tokens that are called a text when nothing else speaks for it.
pub const MIN_TOKENS: u32 = 25;
/// The lists of an archive have some thousands, and what is not followed there is found nowhere else.
pub const MAX_OUTLINKS: usize = 4096;
/// A novel in one page is as long; what is longer is a list or a dump, and takes the index a second.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// What decides which lines are the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The learned models.
    #[default]
    Model,
    /// The path ratios alone: no words, nothing learned, no template.
    Ratio,
}

/// Settings of the extraction.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// What decides which lines are the text.
    pub method: Method,
    /// Texts with fewer tokens (CJK characters or words) are kept only with little confidence.
    pub min_tokens: u32,
    /// Links of one page that are kept and followed.
    pub max_outlinks: usize,
    /// Text of one document, and as much of its comments: what is beyond is left out, and the document says so.
    pub max_text_bytes: usize,
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
            method: Method::default(),
            min_tokens: MIN_TOKENS,
            max_outlinks: MAX_OUTLINKS,
            max_text_bytes: MAX_TEXT_BYTES,
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
    extract_guided(page, context, config, None)
}

/// The document of a page, with a template if it has one.
pub fn extract_guided(
    page: &Page,
    context: &Context<'_>,
    config: &Config,
    guide: Option<&Guide<'_>>,
) -> Document {
    let reading = Reading::with(page, context, config, false, guide);
    finish(reading, page, context, config, guide)
}

/// The document of what was read; looks elsewhere when there is almost no text, and asks the template for fields that
/// are missing.
fn finish(
    mut reading: Reading<'_>,
    page: &Page,
    context: &Context<'_>,
    config: &Config,
    guide: Option<&Guide<'_>>,
) -> Document {
    let mut document = reading.document(page, context, config, guide);
    let image = reading.head.image.map(str::to_owned);
    if document.published.is_none() && document.kind == Kind::Article {
        fallback::date_by_data(&mut document, page, &reading);
    }
    let is_short = reading.tokens() < config.min_tokens.max(fallback::SHORT);
    if is_short && config.method == Method::Model {
        fallback::search_elsewhere(&mut document, page, reading, context, config);
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
    document.cut_text(config.max_text_bytes);
    document.drop_controls();
    document
}

/// The clock by which the days of a page are read: for what other pages say of it.
pub fn clock_of(page: &Page, document: &Document, context: &Context<'_>) -> Clock {
    reading::make_clock(page, context, document.language.as_deref(), None)
}

/// The document of a page as the models alone find it, and its lines with what each was taken for.
pub fn observe(
    page: &Page,
    keys: &Keys,
    context: &Context<'_>,
    config: &Config,
) -> (Document, Vec<ObservedLine>) {
    let reading = Reading::new(page, context, config);
    let votes = reading.votes(page);
    let lines = reading.outline.lines.iter().zip(votes);
    let observed = lines
        .map(|(line, vote)| ObservedLine {
            key: keys.fine(line.block),
            text: hash_line(page, line),
            tokens: line.all.tokens,
            vote,
        })
        .collect();
    (finish(reading, page, context, config, None), observed)
}

/// Hash of what a line says, as templates know it.
fn hash_line(page: &Page, line: &Line) -> u64 {
    let texts = (line.first..line.end).filter(|id| page.node(*id).tag == Tag::TEXT);
    text_hash(texts.map(|id| page.text(id)))
}

/// The document of a page and why it came out so.
pub fn explain(page: &Page, context: &Context<'_>, config: &Config) -> (Document, Trace) {
    explain_guided(page, context, config, None)
}

/// The document of a page and why it came out so, with a template if it has one: then each line says what it is in that.
pub fn explain_guided(
    page: &Page,
    context: &Context<'_>,
    config: &Config,
    guide: Option<&Guide<'_>>,
) -> (Document, Trace) {
    let reading = Reading::with(page, context, config, false, guide);
    let judged = page::classify_page(page, None);
    let search = body::judgement::LineContext {
        page,
        outline: &reading.outline,
        title: reading.guess,
        head: &reading.head,
        judged: &judged,
        posts: &reading.posts,
        weights: context.weights(config),
    };
    let sources = date::Sources {
        page,
        outline: &reading.outline,
        head: &reading.head,
        anchors: reading.anchors,
        opening: find_opening(&reading.posts, &reading.body),
        clock: &reading.clock,
    };
    let mut trace = trace::build_trace(
        &search,
        &reading.body,
        &reading.headline.candidates,
        &date::collect_candidates(&sources),
        author::find_names(page, &reading.outline, &reading.head, reading.anchors, true),
        &reading.clock,
    );
    if let Some(guide) = guide {
        trace.name_slots(&reading.outline, &read_roles(guide, page));
    }
    (finish(reading, page, context, config, guide), trace)
}
