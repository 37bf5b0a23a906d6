//! Estimates the type of a page, finer than [`crate::page::Kind`]: an article is one column of prose, a thread many short
//! texts, a shop has little prose anywhere. Features come from URL, head and lines; words count only if they are typical of
//! such pages.

use super::features::{FeatureVector, View, log};
use super::learned::{TYPES, Weights};
use super::page_cues as page_signs;
use crate::cues::line_cues::LineSigns;
use crate::fields::head::Head;
use crate::lines::hints::Marks;
use crate::lines::outline::is_prose;
use crate::page::{Judged, Kind, Tag};

/// Share of CJK characters from which a page counts as written in them.
const CJK_PAGE: f32 = 0.3;

/// Number of the type of threads.
pub(crate) const TALK: usize = 1;

/// Number of the type of lists.
pub(crate) const LIST: usize = 5;

/// Names of the types as features of a line.
pub(crate) const FEATURES: [&str; TYPES] = [
    "page: article",
    "page: talk",
    "page: reference",
    "page: service",
    "page: shop",
    "page: list",
];

/// What each type adds to the odds of a line, by cross-validation over sites: posts are found by their shape besides, and
/// companies say what they do in few words on all of the page.
const LEANINGS: [f32; TYPES] = [0.0, -0.4, 0.0, 0.4, 0.0, 0.0];

/// Probability of each type; they add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct PageType(pub [f32; TYPES]);

impl PageType {
    /// The type of a page.
    pub(crate) fn estimate(
        view: &View<'_>,
        head: &Head<'_>,
        judged: &Judged,
        weights: &Weights,
    ) -> Self {
        let row = page_features(view, head, judged);
        let mut odds = [0.0f32; TYPES];
        for (value, (_, weights)) in row.row.iter().zip(weights.page.iter()) {
            for (odd, weight) in odds.iter_mut().zip(weights) {
                *odd += value * f32::from(*weight) * 0.001;
            }
        }
        Self(softmax(odds))
    }

    /// The kind of a page of this type. `by_shape` is what page and URL alone say; on pages written in Chinese,
    /// Japanese or Korean it counts, since most pages that the types were learned from are in English.
    pub(crate) fn kind(&self, view: &View<'_>, by_shape: Kind) -> Kind {
        let blank = view.outline.lines.is_empty();
        let cjk = total_cjk(view) / view.outline.total().tokens.max(1) as f32;
        if by_shape == Kind::Error || blank || cjk > CJK_PAGE {
            return by_shape;
        }
        match (self.likeliest(), by_shape) {
            _ if self.0[0] > 0.5 => Kind::Article,
            (_, Kind::Hub) | (LIST, Kind::Article) => Kind::Hub,
            _ => Kind::Other,
        }
    }

    /// What the type adds to the odds of every line.
    pub(crate) fn leaning(&self) -> f32 {
        self.0
            .iter()
            .zip(LEANINGS)
            .map(|(p, leaning)| p * leaning)
            .sum()
    }

    fn likeliest(&self) -> usize {
        (0..TYPES)
            .max_by(|a, b| self.0[*a].total_cmp(&self.0[*b]))
            .unwrap_or(0)
    }
}

/// Probabilities of log-odds.
pub(crate) fn softmax(odds: [f32; TYPES]) -> [f32; TYPES] {
    let most = odds.iter().copied().fold(f32::MIN, f32::max);
    let powers = odds.map(|o| (o - most).exp());
    let sum: f32 = powers.iter().sum();
    powers.map(|p| p / sum)
}

/// Features of a page.
pub(crate) fn page_features(view: &View<'_>, head: &Head<'_>, judged: &Judged) -> FeatureVector {
    let mut cells = FeatureVector::default();
    fill(view, head, judged, &mut cells);
    cells
}

/// Names of the features, in order.
pub(crate) fn feature_names(
    view: &View<'_>,
    head: &Head<'_>,
    judged: &Judged,
) -> Vec<&'static str> {
    let mut cells = FeatureVector::with_names();
    fill(view, head, judged, &mut cells);
    cells.names
}

fn fill<const NAMED: bool>(
    view: &View<'_>,
    head: &Head<'_>,
    judged: &Judged,
    cells: &mut FeatureVector<NAMED>,
) {
    cells.put("bias", 1.0);
    page_signs::address_features(view.page, cells);
    page_signs::declared_features(head, cells);
    page_signs::software_feature(view.page, head, cells);
    shape_features(judged, cells);
    line_features(view, cells);
    word_features(&view.signs, cells);
}

fn shape_features<const NAMED: bool>(judged: &Judged, cells: &mut FeatureVector<NAMED>) {
    let Judged { shape, signs, .. } = judged;
    cells.put("sign: declared", signs.declared as f32 / 4.0);
    cells.put("sign: address", signs.address as f32 / 4.0);
    cells.put("sign: prose", signs.prose as f32 / 4.0);
    cells.put("sign: links", signs.links as f32 / 4.0);
    cells.put("sign: headline", signs.headline as f32 / 4.0);
    cells.put("sign: dates", signs.dates as f32);
    cells.put("sign: sum", signs.sum() as f32 / 8.0);
    cells.put("link share", shape.link_share() as f32);
    cells.put("headline links", log(shape.headlines as f32) / 4.0);
    cells.put("column", log(shape.column as f32) / 10.0);
    cells.put("prose", log(shape.prose as f32) / 10.0);
    cells.put("longest text", log(shape.longest as f32) / 10.0);
    cells.put(
        "column's share of prose",
        shape.column as f32 / shape.prose.max(1) as f32,
    );
}

/// Marks whose share of the tokens is a feature.
const MARKED: [(&str, Marks); 8] = [
    ("in lists", Marks::LIST),
    ("in tables", Marks::TABLE),
    ("in comments", Marks::COMMENT),
    ("in quotes", Marks::QUOTE),
    ("in body", Marks::BODY),
    ("in article", Marks::ARTICLE),
    ("in main", Marks::MAIN),
    ("in author cards", Marks::AUTHOR),
];

fn line_features<const NAMED: bool>(view: &View<'_>, cells: &mut FeatureVector<NAMED>) {
    let lines = &view.outline.lines;
    let (mut prose, mut sentences, mut short, mut headings, mut h1) =
        (0u32, 0u32, 0u32, 0u32, 0u32);
    // Tokens of the lines with each mark, and of code.
    let (mut marked, mut code) = ([0u32; MARKED.len()], 0u32);
    for (i, line) in lines.iter().enumerate() {
        let (tag, tokens) = (view.page.node(line.block).tag, line.all.tokens);
        prose += u32::from(is_prose(line));
        sentences += u32::from(view.ends[i]);
        short += u32::from(tokens <= 3);
        headings += u32::from(tag.is_heading());
        h1 += u32::from(tag == Tag::H1);
        code += tokens * u32::from(tag == Tag::PRE);
        for (sum, (_, marks)) in marked.iter_mut().zip(MARKED) {
            *sum += tokens * u32::from(line.marks.any(marks));
        }
    }
    let n = lines.len().max(1) as f32;
    let total = view.outline.total();
    let tokens = total.tokens.max(1) as f32;
    cells.put("lines", log(n) / 8.0);
    cells.put("tokens a line", log(tokens / n) / 4.0);
    cells.put("prose rate", total.prose as f32 / tokens);
    cells.put("prose lines", log(prose as f32) / 6.0);
    cells.put("sentences", sentences as f32 / n);
    cells.put("short lines", short as f32 / n);
    cells.put("headings", (headings as f32 / n * 4.0).min(1.0));
    cells.put("h1", log(h1 as f32) / 2.0);
    for (sum, (name, _)) in marked.into_iter().zip(MARKED) {
        cells.put(name, sum as f32 / tokens);
    }
    cells.put("code", code as f32 / tokens);
    cells.put("CJK", total_cjk(view) / tokens);
}

fn total_cjk(view: &View<'_>) -> f32 {
    view.outline.lines.iter().map(|l| l.all.cjk).sum::<u32>() as f32
}

fn word_features<const NAMED: bool>(signs: &LineSigns, cells: &mut FeatureVector<NAMED>) {
    cells.put("prices", log(signs.prices as f32) / 3.0);
    cells.put("shop words", log(signs.shop as f32) / 2.0);
    cells.put("talk words", log(signs.talk as f32) / 3.0);
    cells.put("reading words", log(signs.reading as f32) / 2.0);
    cells.put("call words", log(signs.call as f32) / 2.0);
    cells.put("times", log(signs.times as f32) / 3.0);
    cells.put("questions", log(signs.questions as f32) / 3.0);
}
