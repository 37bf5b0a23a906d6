//! What a perfect crawl of the sample web finds, for tests: the table `web/articles.jsonl`.

use serde::Deserialize;

/// One article a line, in the order of publication within its site.
pub(crate) const TABLE: &str = include_str!("../web/articles.jsonl");

/// One article of the sample web.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Article {
    /// Name of its site.
    pub site: String,
    /// Its canonical URL.
    pub url: String,
    /// Headline without the site's name.
    pub title: String,
    /// First publication as precisely as the page shows it: ISO 8601 date, or date and time with offset.
    pub published: String,
    /// Named writer, where the page names one.
    pub author: Option<String>,
    /// Media source, where the page names one.
    pub source: Option<String>,
    /// The round of its publication, 1 or 2.
    pub round: usize,
    /// Whether it is a picture with one sentence.
    #[serde(default)]
    pub is_picture: bool,
    /// What leads to it if no list does.
    pub found_by: Option<Discovery>,
    /// Other paths under which it is linked.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The URL of the article that it was copied from.
    pub reprint_of: Option<String>,
    /// The charset of its page and how that is declared, in words.
    pub charset: String,
    /// The paragraphs of its body, as they should come out of its page in this round.
    pub text: Vec<String>,
    /// The paragraph that the second round adds to it.
    pub added: Option<String>,
    /// The comments or answers below it.
    #[serde(default)]
    pub comments: Vec<Comment>,
}

/// How a crawler can find an article that is on no list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discovery {
    /// Only from a sitemap.
    Sitemap,
    /// Only from a feed.
    Feed,
    /// Only at the end of a chain of redirects: its aliases.
    Redirects,
    /// Only inside a directory that robots.txt allows within one that it refuses.
    AllowedFolder,
}

/// A comment or an answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comment {
    /// Who wrote it.
    pub author: String,
    /// What it says.
    pub text: String,
}

/// Reads the articles of a round, 1 or 2, from the text of the table.
///
/// # Panics
///
/// If a line is no article.
pub(crate) fn parse(table: &str, round: usize) -> Vec<Article> {
    let parse = |line| serde_json::from_str(line).expect("a line of articles.jsonl is an article");
    let mut articles: Vec<Article> = table.lines().map(parse).collect();
    articles.retain(|article| article.round <= round);
    if round == 2 {
        for article in &mut articles {
            article.text.extend(article.added.clone());
        }
    }
    articles
}
