//! What is known of a line by itself. In: the line. Out: numbers with names, put into its row. Never looks at other
//! lines.

use super::feature_vector::{FeatureVector, log};
use crate::lines::Line;
use crate::lines::hints::Marks;
use crate::page::Tag;

/// Names of the marks, in the order of their bits.
const MARKS: [&str; 23] = [
    "in nav",
    "in header",
    "in footer",
    "in aside",
    "in comments",
    "in related",
    "in share",
    "in promo",
    "in about",
    "in author card",
    "in body",
    "in declared body",
    "in caption",
    "in title",
    "in lead",
    "in form",
    "in legal",
    "in article",
    "in main",
    "in list",
    "in table",
    "in quote",
    "in popup",
];

/// Tokens outside links.
pub(crate) fn plain(line: &Line) -> f32 {
    line.all.tokens.saturating_sub(line.linked.tokens) as f32
}

/// Share of the line's tokens that are inside links.
pub(crate) fn link_share(line: &Line) -> f32 {
    line.linked.tokens as f32 / line.all.tokens.max(1) as f32
}

/// Length, links, punctuation.
pub(crate) fn own<const NAMED: bool>(cells: &mut FeatureVector<NAMED>, line: &Line, ends: bool) {
    let tokens = line.all.tokens;
    cells.put("bias", 1.0);
    cells.put("tokens", log(plain(line)));
    cells.flag("1-2 tokens", tokens <= 2);
    cells.flag("3-6 tokens", (3..=6).contains(&tokens));
    cells.flag("7-14 tokens", (7..=14).contains(&tokens));
    cells.flag("15-30 tokens", (15..=30).contains(&tokens));
    cells.flag("over 60 tokens", tokens > 60);
    cells.put("linked", link_share(line));
    cells.flag("one link", line.linked.tokens == tokens && tokens > 0);
    cells.flag("several links", line.links > 1);
    cells.put("marks", (line.all.marks as f32).min(8.0) / 8.0);
    cells.put("mark rate", line.all.marks as f32 / tokens.max(4) as f32);
    cells.flag("ends sentence", ends);
    cells.flag("short but ends sentence", ends && tokens < 12);
    cells.put("numbers", line.all.numbers as f32 / tokens.max(1) as f32);
    cells.put(
        "bars",
        (line.all.bars as f32 / tokens.max(1) as f32).min(1.0),
    );
    cells.flag("after br", line.after_break);
    cells.put("CJK", line.all.cjk as f32 / tokens.max(1) as f32);
}

/// The element that holds the line.
pub(crate) fn tag<const NAMED: bool>(cells: &mut FeatureVector<NAMED>, tag: Tag) {
    cells.flag("p", tag == Tag::P);
    cells.flag("li", matches!(tag, Tag::LI | Tag::DD | Tag::DT));
    cells.flag("td", matches!(tag, Tag::TD | Tag::TH));
    cells.flag("h1", tag == Tag::H1);
    cells.flag("h2", tag == Tag::H2);
    cells.flag(
        "h3-h6",
        tag.is_heading() && tag != Tag::H1 && tag != Tag::H2,
    );
    cells.flag("quote or pre", matches!(tag, Tag::BLOCKQUOTE | Tag::PRE));
}

/// The marks of its ancestors.
pub(crate) fn marks<const NAMED: bool>(cells: &mut FeatureVector<NAMED>, line: &Line) {
    for (bit, name) in MARKS.iter().enumerate() {
        cells.flag(name, line.marks.any(Marks(1 << bit)));
    }
    let against = line.marks.any(Marks::AGAINST);
    cells.put(
        "marked against: its share of prose",
        if against { line.marked_share } else { 0.0 },
    );
    cells.flag(
        "marked against, and no text before it",
        against && line.marked_alone,
    );
    let comment = line.marks.any(Marks::COMMENT);
    cells.put(
        "in comments: their share of prose",
        if comment { line.marked_share } else { 0.0 },
    );
}
