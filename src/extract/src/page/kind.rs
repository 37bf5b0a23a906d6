//! What a page is, judged from its shape, its address and what it says of itself. In: a [`Page`] and the status of
//! the response. Out: a [`Kind`]. Never looks at single words but for those that error pages use.
//!
//! Signs are added up; each is worth about as much as it parted articles from lists on saved pages. An article does
//! not need much text: a picture story has one sentence, but its headline stands in the title and is no link.

use serde::{Deserialize, Serialize};

use super::address::{address_of_board, address_of_talk, address_sign};
use super::error_page::says_error;
use super::shape::{Shown, shown_texts};
use super::{Attr, NodeId, Page, Shape, Tag};
use crate::times;

/// What a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A detail page: one text with a title.
    Article,
    /// A list or directory page: its worth is its links.
    Hub,
    /// An error page, whatever its status code says.
    Error,
    /// None of these.
    #[default]
    Other,
}

impl Kind {
    /// The word that is printed, logged and indexed.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Article => "article",
            Kind::Hub => "hub",
            Kind::Error => "error",
            Kind::Other => "other",
        }
    }
}

/// The signs that decide, for explaining a decision. Points for an article are positive, for a hub negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KindSigns {
    /// The page calls itself an article, or something else that is no list.
    pub declared: i32,
    /// The address looks like one of a detail page or of a list.
    pub address: i32,
    /// Prose in one column.
    pub prose: i32,
    /// Text is mostly links.
    pub links: i32,
    /// A headline outside links stands in the title.
    pub headline: i32,
    /// Dates: one or two belong to an article, many to a list.
    pub dates: i32,
}

impl KindSigns {
    /// Sum of all signs.
    pub fn sum(&self) -> i32 {
        self.declared + self.address + self.prose + self.links + self.headline + self.dates
    }
}

/// Prose of this many units (see [`Shape`]) in one column is a whole text; 1,200 is about 120 Chinese characters.
const COLUMN_UNITS: [(u32, i32); 3] = [(2500, 3), (1200, 2), (500, 1)];
/// When all prose is this many times that of the largest column, it is scattered: summaries under headlines.
const SCATTERED: u32 = 5;
/// Fewer links than this make no list.
pub(crate) const HUB_LINKS: u32 = 12;

/// A page's kind with what it was judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Judged {
    /// The kind.
    pub kind: Kind,
    /// How the page divides into prose and links.
    pub shape: Shape,
    /// The signs.
    pub signs: KindSigns,
}

/// Judges a page; `status` is that of the response, if there was one.
pub fn kind(page: &Page, status: Option<u16>) -> Kind {
    judge(page, status).kind
}

/// Judges a page and says by what.
pub fn judge(page: &Page, status: Option<u16>) -> Judged {
    let texts = shown_texts(page);
    let shape = Shape::of(page, &texts);
    let declared = declared(page);
    let signs = signs(page, &texts, &shape, declared);
    let kind = if status.is_some_and(|status| status >= 400) || says_error(page, &texts, &shape) {
        Kind::Error
    } else if page.nodes().is_empty()
        || shape.text == 0
        || declared == Some(Declared::Talk)
        || address_of_talk(page)
    {
        Kind::Other
    } else if signs.sum() > 0 && !address_of_board(page) {
        Kind::Article
    } else if shape.links >= HUB_LINKS && declared != Some(Declared::Product) {
        Kind::Hub
    } else {
        Kind::Other
    };
    Judged { kind, shape, signs }
}

/// The signs of a page of this shape.
fn signs(page: &Page, texts: &[Shown], shape: &Shape, declared: Option<Declared>) -> KindSigns {
    let prose = COLUMN_UNITS
        .iter()
        .find(|(units, _)| shape.column >= *units)
        .map_or(-1, |(_, points)| *points);
    let share = shape.link_share();
    let links = match () {
        () if shape.headlines >= 8 && share > 0.7 && shape.column < 1200 => -3,
        () if shape.headlines >= 8 && share > 0.5 && shape.column < 2500 => -1,
        () if shape.prose_blocks >= 8 && shape.column * SCATTERED < shape.prose => -2,
        () if shape.links >= HUB_LINKS && shape.column * 4 < shape.link_text => -1,
        () => 0,
    };
    KindSigns {
        declared: match declared {
            Some(Declared::Article) => 2,
            Some(Declared::Product) => -4,
            Some(Declared::Talk) | None => 0,
        },
        address: address_sign(page),
        prose,
        links,
        headline: if headline_in_title(page, texts) { 3 } else { 0 },
        dates: match dates(page, texts) {
            1..=3 => 1,
            8.. => -1,
            _ => 0,
        },
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declared {
    Article,
    Product,
    /// A thread of a forum, or a question with its answers.
    Talk,
}

/// What the page calls itself in `og:type`, JSON-LD or microdata.
fn declared(page: &Page) -> Option<Declared> {
    let mut found = None;
    for (id, node) in page.nodes().iter().enumerate() {
        let id = id as NodeId;
        match node.tag {
            Tag::META => {
                let name = page
                    .attr(id, Attr::Property)
                    .or_else(|| page.attr(id, Attr::Name))
                    .unwrap_or_default();
                let content = page.attr(id, Attr::Content).unwrap_or_default();
                match name {
                    "og:type" if content.contains("product") => found = Some(Declared::Product),
                    "og:type" if content.trim() == "article" => found = Some(Declared::Article),
                    "article:published_time" => found = Some(Declared::Article),
                    _ => {}
                }
            }
            Tag::SCRIPT => {
                let text = page.children(id).next().map(|t| page.text(t));
                match text.and_then(json_type) {
                    // Articles name the products they write of.
                    Some(Declared::Product) => found = found.or(Some(Declared::Product)),
                    Some(other) => return Some(other),
                    None => {}
                }
            }
            _ => {}
        }
    }
    found
}

/// The `@type` that decides in a piece of JSON-LD; searched as text, since half of it does not parse.
fn json_type(json: &str) -> Option<Declared> {
    let mut found = None;
    for (at, _) in json.match_indices("\"@type\"") {
        let after = json.get(at + 7..).unwrap_or_default().trim_start();
        let after = after.strip_prefix(':').unwrap_or(after).trim_start();
        let mut names = after.trim_start_matches('[').trim_start().split('"');
        match names.nth(1).unwrap_or_default() {
            "Product" => found = found.or(Some(Declared::Product)),
            "DiscussionForumPosting" | "QAPage" => return Some(Declared::Talk),
            "Article" | "NewsArticle" | "BlogPosting" | "ReportageNewsArticle" => {
                found = Some(Declared::Article);
            }
            _ => {}
        }
    }
    found
}

/// Bytes of nine characters outside ASCII at least.
const SHORTEST_BYTES: usize = 18;

/// A line of the page outside links that the title contains, and that is long enough to be no site's name.
fn headline_in_title(page: &Page, texts: &[Shown]) -> bool {
    let Some(title) = page.title_text() else {
        return false;
    };
    let title: String = title.chars().filter(|c| !c.is_whitespace()).collect();
    let enough = |text: &str| {
        let wide = text.chars().filter(|c| !c.is_ascii()).count();
        wide >= 9 || text.len() >= 28
    };
    for shown in texts.iter().filter(|shown| shown.link == 0) {
        let text = page.text(shown.id);
        // Blanks are single, so a text in the title is not twice as long.
        if !(SHORTEST_BYTES..=400.min(2 * title.len() + 2)).contains(&text.len()) {
            continue;
        }
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        if enough(&text) && title.contains(&text) {
            return true;
        }
    }
    false
}

/// Short shown texts outside links with a whole date in them.
fn dates(page: &Page, texts: &[Shown]) -> usize {
    texts
        .iter()
        .filter(|shown| {
            let text = page.text(shown.id);
            text.len() <= 160 && times::holds_whole_day(text)
        })
        .take(20)
        .count()
}
