//! An article of the sample web, as ground truth: where it is, how it is found and how it is delivered.

use super::text::genre::Genre;

/// Charset of an article's page, and how the page or its header declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// UTF-8, declared correctly.
    Utf8,
    /// GBK, declared correctly in the page.
    GbkInPage,
    /// GBK, declared correctly in the header and nowhere else.
    GbkInHeader,
    /// GBK, not declared at all.
    GbkUndeclared,
    /// GBK, declared as UTF-8.
    GbkDeclaredUtf8,
    /// UTF-8, declared as gb2312.
    Utf8DeclaredGb2312,
    /// UTF-8, not declared at all.
    Utf8Undeclared,
}

impl Encoding {
    /// Whether the bytes are GBK.
    pub fn is_gbk(self) -> bool {
        matches!(
            self,
            Self::GbkInPage | Self::GbkInHeader | Self::GbkUndeclared | Self::GbkDeclaredUtf8
        )
    }
}

/// How a crawler can find an article.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Discovery {
    /// From a list page.
    List,
    /// Only from a sitemap.
    Sitemap,
    /// Only from a feed.
    Feed,
    /// Only at the end of a chain of redirects.
    Redirects,
    /// Only inside a folder that robots.txt allows within one that it refuses.
    AllowedFolder,
}

/// How the server delivers an article.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// Answers at once.
    Prompt,
    /// Answers late.
    Slow,
    /// Answers 429 with Retry-After the first time.
    Throttled,
}

/// One article of the sample web: what a perfect crawl finds.
#[derive(Debug, Clone)]
pub struct Article {
    /// Its index in [`articles`](crate::World::articles).
    pub index: usize,
    /// The index of its site in [`sites`](crate::World::sites).
    pub site: usize,
    /// The index of its section in the site.
    pub section: usize,
    /// What it is about.
    pub genre: Genre,
    /// Headline without the site's name.
    pub title: String,
    /// First publication as precisely as the page shows it: ISO 8601 date, or date and time with offset.
    pub published: String,
    /// First publication, Unix milliseconds.
    pub published_ms: i64,
    /// Last change, Unix milliseconds.
    pub modified_ms: i64,
    /// Named writer, where the page names one.
    pub author: Option<String>,
    /// Media source, where the page names one.
    pub source: Option<String>,
    /// Canonical path and query.
    pub path: String,
    /// Other paths under which the same article is linked.
    pub aliases: Vec<String>,
    /// The article this one was copied from.
    pub reprint_of: Option<usize>,
    /// The round of its publication; the first is 1.
    pub round: u32,
    /// The round in which it was changed, if it was.
    pub changed_round: Option<u32>,
    /// Its charset and how that is declared.
    pub encoding: Encoding,
    /// How it is found.
    pub discovery: Discovery,
    /// How it is answered.
    pub delivery: Delivery,
    /// How many comments or replies it has.
    pub comments: usize,
    pub(super) seed: u64,
}
