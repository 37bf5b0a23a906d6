//! Scores documents against the gold: a [`PageScore`] each, summed up in a [`Tally`], reported as a [`RateRow`].
//!
//! - text: precision, recall and F1 of shingles of four tokens. `f1`, `p`, `r` come from the shares of each page, averaged;
//!   `page` is the mean of the pages' own F1.
//! - title: the same characters but for width, white space and quotes. Date: the same day.
//! - comments: a gold comment is found if one of those extracted, not taken yet, has a token F1 of 0.9 or more with it.
//! - kind: article, or list.

use serde::{Deserialize, Serialize};

use super::corpus::Gold;
use super::tokens::{BODY_SHINGLE, Bag, Overlap, TokenNumbers, normalize_title, parse_day};
use taojin_extract::{Document, Kind};

/// Token F1 from which two comments are the same.
const SAME_COMMENT: f64 = 0.9;

/// Comments of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommentScore {
    /// In the gold and found.
    pub right: u32,
    /// Extracted.
    pub given: u32,
    /// In the gold.
    pub gold: u32,
}

/// What came of one page. A field that the gold does not know is `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageScore {
    /// Set of the page.
    pub set: String,
    /// Name of the page.
    pub id: String,
    /// Language by the gold, else `und`.
    pub lang: String,
    /// Its HTML could not be read: everything counts as empty.
    pub missing: bool,
    /// Shingles of the main text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Overlap>,
    /// The title is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<bool>,
    /// The day is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<bool>,
    /// Comments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comments: Option<CommentScore>,
    /// The kind is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<bool>,
    /// Bytes of HTML that were extracted from.
    pub bytes: u64,
    /// Time of the extraction in nanoseconds.
    pub ns: u64,
}

impl PageScore {
    /// Judges a document, `None` if there was no page, by its gold; `hubs` says that the whole set has no labelled page.
    pub fn new(set: &str, gold: &Gold, document: Option<&Document>, hubs: bool) -> Self {
        let title = document.and_then(|d| d.title.as_deref());
        let published = document.and_then(|d| d.published.as_deref());
        Self {
            set: set.to_owned(),
            id: gold.id.clone(),
            lang: gold.language().to_owned(),
            missing: document.is_none(),
            text: has_content(&gold.text).map(|t| score_text(t, document.map_or("", |d| &d.text))),
            title: has_content(&gold.title)
                .map(|t| normalize_title(t) == normalize_title(title.unwrap_or_default())),
            date: gold
                .published
                .as_deref()
                .and_then(parse_day)
                .map(|gold| published.and_then(parse_day) == Some(gold)),
            comments: score_comments(gold, document),
            kind: score_kind(gold, document.map(|d| d.kind), hubs),
            bytes: 0,
            ns: 0,
        }
    }
}

pub(super) fn has_content(field: &Option<String>) -> Option<&str> {
    field.as_deref().filter(|f| !f.is_empty())
}

pub(super) fn score_text(gold: &str, extracted: &str) -> Overlap {
    let mut numbers = TokenNumbers::default();
    let gold = Bag::new(gold, BODY_SHINGLE, &mut numbers);
    gold.overlap(&Bag::new(extracted, BODY_SHINGLE, &mut numbers))
}

/// Each gold comment in turn takes the extracted one that is most like it, if it is like enough.
fn score_comments(gold: &Gold, document: Option<&Document>) -> Option<CommentScore> {
    let gold = gold.comments.as_deref().filter(|c| !c.is_empty())?;
    let mut numbers = TokenNumbers::default();
    let mut left: Vec<Bag> = document
        .map_or(&[][..], |d| &d.comments)
        .iter()
        .filter(|c| !c.opening)
        .map(|c| Bag::new(&c.text, 1, &mut numbers))
        .collect();
    let mut score = CommentScore {
        given: left.len() as u32,
        gold: gold.len() as u32,
        right: 0,
    };
    for comment in gold {
        let bag = Bag::new(comment.text(), 1, &mut numbers);
        let mut best: Option<(usize, f64)> = None;
        for (i, other) in left.iter().enumerate() {
            let f1 = bag.overlap(other).f1();
            if best.is_none_or(|(_, best)| f1 > best) {
                best = Some((i, f1));
            }
        }
        if let Some((i, f1)) = best
            && f1 >= SAME_COMMENT
        {
            left.remove(i);
            score.right += 1;
        }
    }
    Some(score)
}

/// `page_type` says what is right; without one, labelled pages are articles, and those of a set that has none are lists.
fn score_kind(gold: &Gold, kind: Option<Kind>, hubs: bool) -> Option<bool> {
    let is = |wanted: Kind| kind == Some(wanted);
    match has_content(&gold.page_type) {
        Some("article") => Some(is(Kind::Article)),
        Some("list" | "hub") => Some(is(Kind::Hub)),
        Some(_) => Some(kind.is_some() && !is(Kind::Article)),
        None if hubs => Some(is(Kind::Hub)),
        None => gold.is_labelled().then(|| is(Kind::Article)),
    }
}

/// Scores of pages, added up.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    pages: u32,
    missing: u32,
    texts: u32,
    shares: Overlap,
    f1_sum: f64,
    title: Hits,
    date: Hits,
    kind: Hits,
    comments: CommentScore,
    bytes: u64,
    ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Hits {
    right: u32,
    all: u32,
}

impl Hits {
    fn add(&mut self, hit: Option<bool>) {
        self.all += u32::from(hit.is_some());
        self.right += u32::from(hit == Some(true));
    }

    fn rate(self) -> Option<f64> {
        (self.all > 0).then(|| round(f64::from(self.right) / f64::from(self.all)))
    }
}

impl Tally {
    /// Counts a page.
    pub fn add(&mut self, page: &PageScore) {
        self.pages += 1;
        self.missing += u32::from(page.missing);
        if let Some(text) = &page.text {
            self.texts += 1;
            let shares = text.shares();
            self.shares.right += shares.right;
            self.shares.extra += shares.extra;
            self.shares.missed += shares.missed;
            self.f1_sum += text.f1();
        }
        self.title.add(page.title);
        self.date.add(page.date);
        self.kind.add(page.kind);
        if let Some(comments) = page.comments {
            self.comments.right += comments.right;
            self.comments.given += comments.given;
            self.comments.gold += comments.gold;
        }
        self.bytes += page.bytes;
        self.ns += page.ns;
    }

    /// All of `pages`.
    pub fn from_pages<'a>(pages: impl IntoIterator<Item = &'a PageScore>) -> Self {
        let mut tally = Self::default();
        for page in pages {
            tally.add(page);
        }
        tally
    }

    /// The rates.
    pub fn row(&self) -> RateRow {
        let text = (self.texts > 0).then(|| self.shares.rates());
        let found = Overlap {
            right: f64::from(self.comments.right),
            extra: f64::from(self.comments.given - self.comments.right),
            missed: f64::from(self.comments.gold - self.comments.right),
        };
        let comments = (self.comments.gold > 0).then(|| found.rates());
        RateRow {
            pages: self.pages,
            missing: self.missing,
            text: (self.texts > 0).then_some(self.texts),
            f1: text.map(|(_, _, f1)| round(f1)),
            p: text.map(|(p, _, _)| round(p)),
            r: text.map(|(_, r, _)| round(r)),
            page: (self.texts > 0).then(|| round(self.f1_sum / f64::from(self.texts))),
            title: self.title.rate(),
            date: self.date.rate(),
            comments_p: comments.map(|(p, _, _)| round(p)),
            comments_r: comments.map(|(_, r, _)| round(r)),
            comments_f1: comments.map(|(_, _, f1)| round(f1)),
            kind: self.kind.rate(),
            // Bytes in a nanosecond are thousands of megabytes in a second.
            mb_per_s: (self.ns > 0).then(|| round(self.bytes as f64 * 1e3 / self.ns as f64)),
        }
    }
}

/// Rates of some pages, four digits; `None` where the gold says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct RateRow {
    /// Pages judged.
    pub pages: u32,
    /// Pages whose HTML is not there.
    pub missing: u32,
    /// Pages with gold text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<u32>,
    /// F1 of the text, from the averaged shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f1: Option<f64>,
    /// Its precision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Its recall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r: Option<f64>,
    /// Mean of the pages' own F1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<f64>,
    /// Share of right titles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<f64>,
    /// Share of right days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<f64>,
    /// Share of extracted comments that are in the gold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comments_p: Option<f64>,
    /// Share of gold comments that were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comments_r: Option<f64>,
    /// F1 of comments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comments_f1: Option<f64>,
    /// Share of pages whose kind is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<f64>,
    /// Megabytes (10⁶ bytes) of HTML in a second, of processor time where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mb_per_s: Option<f64>,
}

/// To four digits, as they are printed.
pub(crate) fn round(value: f64) -> f64 {
    format!("{value:.4}").parse().unwrap_or(value)
}
