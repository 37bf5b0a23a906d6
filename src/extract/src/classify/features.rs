//! Features of a line from the [`Outline`]: one row of numbers a line, each with a readable name.

use std::sync::LazyLock;

use crate::body::proposal::ProposedLine;
use crate::cues::line_cues::{LineSigns, is_short};
use crate::cues::phrases::{Phrase, SeenWords, classify_phrase};
use crate::lines::Line;
use crate::lines::hints::Marks;
use crate::lines::outline::{Outline, is_prose};
use crate::page::measure::ends_sentence;
use crate::page::{NodeId, Page, PathCounts, Tag};

/// Names of the phrases, in order.
const PHRASES: [(Phrase, &str); 12] = [
    (Phrase::Footer, "says footer"),
    (Phrase::Related, "says related"),
    (Phrase::Editor, "says editor"),
    (Phrase::OriginalTitle, "says original title"),
    (Phrase::Tools, "says tools"),
    (Phrase::Comments, "says comments"),
    (Phrase::Source, "says source"),
    (Phrase::Promo, "says promo"),
    (Phrase::Legal, "says legal"),
    (Phrase::Paging, "says paging"),
    (Phrase::Tags, "says tags"),
    (Phrase::Crumbs, "says crumbs"),
];

/// Longest line that is checked as a notice, in bytes; other phrases are in shorter ones.
const NOTICE_BYTES: usize = 600;

/// What several features need, computed once a page.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// The page.
    pub page: &'a Page,
    /// Its lines.
    pub outline: &'a Outline,
    /// What each line says that is not text.
    pub phrases: Vec<Option<Phrase>>,
    /// Lines that are notices of the site by their words.
    notices: Vec<usize>,
    /// Whether each line ends as a sentence does.
    pub ends: Vec<bool>,
    /// Line of the headline.
    pub title: Option<usize>,
    /// What short lines say of the sort of the page.
    pub signs: LineSigns,
    /// What the lines of the blocks of each tag path say of it.
    paths: Vec<PathFeatures>,
    /// What the three elements around each line hold.
    around: Vec<[Surroundings; 3]>,
    /// What each line is to those next to it: its tokens outside links (a logarithm), its link share, its marks.
    beside: Vec<[f32; 3]>,
    footer_from: usize,
    /// Line ranges of the elements around the headline, innermost first.
    around_title: Vec<std::ops::Range<usize>>,
}

impl<'a> View<'a> {
    /// Looks at every line once; one that the ratios rule out is not described but for what its words say of the page.
    /// `title` is the line of the headline, if it was found.
    pub(crate) fn new(
        page: &'a Page,
        outline: &'a Outline,
        title: Option<usize>,
        proposed: &[ProposedLine],
    ) -> Self {
        let mut phrases = Vec::with_capacity(outline.lines.len());
        let mut ends = Vec::with_capacity(outline.lines.len());
        let mut signs = LineSigns::default();
        let mut notices = Vec::new();
        for (i, (line, proposed)) in outline.lines.iter().zip(proposed).enumerate() {
            let text = outline.text(page, line);
            let short = is_short(&line.all);
            let is_described = !proposed.is_ruled_out();
            let is_read = short || (is_described && text.len() <= NOTICE_BYTES);
            let seen = is_read.then(|| SeenWords::new(text));
            let described = seen.filter(|_| is_described);
            phrases.push(described.and_then(|seen| classify_phrase(text, seen)));
            if described.is_some_and(SeenWords::is_notice) {
                notices.push(i);
            }
            ends.push(is_described && ends_sentence(text));
            if let Some(seen) = seen.filter(|_| short) {
                signs.add(text, &line.all, seen.signs());
            }
        }
        let last_prose = outline.lines.iter().rposition(is_prose).unwrap_or(0);
        let footer_from = phrases
            .iter()
            .position(|p| *p == Some(Phrase::Footer))
            .filter(|at| at * 2 > last_prose)
            .unwrap_or(phrases.len());
        Self {
            page,
            outline,
            phrases,
            notices,
            ends,
            title,
            signs,
            paths: PathFeatures::all(page, outline),
            around: around(page, outline, proposed),
            beside: outline.lines.iter().map(find_neighbours).collect(),
            footer_from,
            around_title: title.map_or_else(Vec::new, |t| {
                let first = outline.lines[t].first;
                page.ancestors(first)
                    .map(|a| outline.range(page, a))
                    .collect()
            }),
        }
    }

    /// Lines that are notices of the site by their words, in order.
    pub(crate) fn notices(&self) -> &[usize] {
        &self.notices
    }

    /// Features of line `i`.
    pub(crate) fn row(&self, i: usize) -> FeatureRow {
        let mut cells = FeatureVector::<false>::default();
        self.fill(i, &mut cells);
        *cells.row
    }

    /// Names of the features, in the order of the row.
    pub(crate) fn names(&self, i: usize) -> Vec<&'static str> {
        let mut cells = FeatureVector::with_names();
        self.fill(i, &mut cells);
        cells.names
    }

    pub(crate) fn fill<const NAMED: bool>(&self, i: usize, cells: &mut FeatureVector<NAMED>) {
        let line = &self.outline.lines[i];
        own(cells, line, self.ends[i]);
        tag(cells, self.page.node(line.block).tag);
        self.neighbours(cells, i);
        self.path(cells, line);
        self.surroundings(cells, i);
        marks(cells, line);
        self.phrase(cells, i);
        self.place(cells, i);
    }

    fn neighbours<const NAMED: bool>(&self, cells: &mut FeatureVector<NAMED>, i: usize) {
        const NAMES: [[&str; 6]; 4] = [
            [
                "no line before",
                "before: tokens",
                "before: linked",
                "before: same path",
                "before: marks",
                "before: ends sentence",
            ],
            [
                "no line after",
                "after: tokens",
                "after: linked",
                "after: same path",
                "after: marks",
                "after: ends sentence",
            ],
            [
                "no 2nd before",
                "2nd before: tokens",
                "2nd before: linked",
                "2nd before: same path",
                "2nd before: marks",
                "2nd before: ends sentence",
            ],
            [
                "no 2nd after",
                "2nd after: tokens",
                "2nd after: linked",
                "2nd after: same path",
                "2nd after: marks",
                "2nd after: ends sentence",
            ],
        ];
        let lines = &self.outline.lines;
        for (step, names) in [-1isize, 1, -2, 2].into_iter().zip(&NAMES) {
            let at = i.checked_add_signed(step).filter(|j| *j < lines.len());
            let beside = at.map_or([0.0; 3], |j| self.beside[j]);
            cells.flag(names[0], at.is_none());
            cells.put(names[1], beside[0]);
            cells.put(names[2], beside[1]);
            cells.flag(names[3], at.is_some_and(|j| lines[j].path == lines[i].path));
            cells.put(names[4], beside[2]);
            cells.flag(names[5], at.is_some_and(|j| self.ends[j]));
        }
    }

    fn path<const NAMED: bool>(&self, cells: &mut FeatureVector<NAMED>, line: &Line) {
        let path = &self.paths[line.path as usize];
        cells.put("path: TPR", path.tpr);
        cells.put("path: PPR", path.ppr);
        cells.put("path: linked", path.linked);
        cells.put("path: ETPR", path.etpr);
        cells.put("path: share of the greatest", path.share_of_greatest);
        cells.put("path: share of the page", path.share);
        cells.put("path: texts", path.lines);
    }

    fn surroundings<const NAMED: bool>(&self, cells: &mut FeatureVector<NAMED>, i: usize) {
        const NAMES: [[&str; 6]; 3] = [
            [
                "block: prose",
                "block: linked",
                "block: share of prose",
                "block: prose rate",
                "block: lines",
                "block: mean line",
            ],
            [
                "parent: prose",
                "parent: linked",
                "parent: share of prose",
                "parent: prose rate",
                "parent: lines",
                "parent: mean line",
            ],
            [
                "grandparent: prose",
                "grandparent: linked",
                "grandparent: share of prose",
                "grandparent: prose rate",
                "grandparent: lines",
                "grandparent: mean line",
            ],
        ];
        for (names, around) in NAMES.iter().zip(&self.around[i]) {
            for (name, value) in names.iter().zip(around) {
                cells.put(name, *value);
            }
        }
    }

    fn phrase<const NAMED: bool>(&self, cells: &mut FeatureVector<NAMED>, i: usize) {
        let here = self.phrases[i];
        for (kind, name) in PHRASES {
            cells.flag(name, here == Some(kind));
        }
        // A heading such as 相关阅读 speaks of the lines below it.
        let above = (1..=8)
            .filter_map(|n| i.checked_sub(n))
            .find(|j| self.phrases[*j] == Some(Phrase::Related));
        cells.put(
            "below a related heading",
            above.map_or(0.0, |j| 1.0 / (i - j) as f32),
        );
        cells.flag("after the footer begins", i > self.footer_from);
        let comments = (1..=4)
            .filter_map(|n| i.checked_sub(n))
            .any(|j| self.phrases[j] == Some(Phrase::Comments));
        cells.flag("below a comments heading", comments);
    }

    fn place<const NAMED: bool>(&self, cells: &mut FeatureVector<NAMED>, i: usize) {
        let n = self.outline.lines.len().max(1) as f32;
        cells.put("place in page", i as f32 / n);
        cells.flag("no headline", self.title.is_none());
        cells.flag("before headline", self.title.is_some_and(|t| i < t));
        cells.flag("headline", self.title == Some(i));
        cells.put(
            "below headline",
            self.title.map_or(0.0, |t| i.saturating_sub(t) as f32 / n),
        );
        cells.flag(
            "just below headline",
            self.title.is_some_and(|t| i > t && i - t <= 3),
        );
        let level = self.around_title.iter().position(|r| r.contains(&i));
        cells.put(
            "levels up to headline",
            level.map_or(0.0, |l| log(l as f32)),
        );
        let share = level.map_or(0.0, |l| {
            let prose = self.outline.sum(self.around_title[l].clone()).prose;
            prose as f32 / self.outline.total().prose.max(1) as f32
        });
        cells.put("share of prose as near to headline", share);
        cells.put("page: prose", log(self.outline.total().prose as f32) / 8.0);
    }
}

fn find_neighbours(line: &Line) -> [f32; 3] {
    let marks = (line.all.marks as f32).min(8.0) / 8.0;
    [log(plain(line)), link_share(line), marks]
}

/// What an element holds: its prose, link share, share of the page's prose, rate of prose, lines and their mean length.
type Surroundings = [f32; 6];

/// What the block of each line holds, and the two elements around it; 0 where the line is ruled out. Lines next to each other are
/// mostly in the same elements.
fn around(page: &Page, outline: &Outline, proposed: &[ProposedLine]) -> Vec<[Surroundings; 3]> {
    let all = outline.total().prose.max(1) as f32;
    let of = |node: NodeId| -> Surroundings {
        let sum = outline.sum(outline.range(page, node));
        let tokens = sum.tokens.max(1) as f32;
        [
            log(sum.prose as f32),
            sum.linked as f32 / tokens,
            sum.prose as f32 / all,
            sum.prose as f32 / tokens,
            log(sum.lines as f32),
            log(sum.tokens as f32 / sum.lines.max(1) as f32),
        ]
    };
    let mut known = [(NodeId::MAX, Surroundings::default()); 3];
    let of_line = |(line, proposed): (&Line, &ProposedLine)| {
        if proposed.is_ruled_out() {
            return Default::default();
        }
        let mut node = line.block;
        for (at, around) in &mut known {
            if *at != node {
                (*at, *around) = (node, of(node));
            }
            node = page.node(node).parent;
        }
        known.map(|(_, around)| around)
    };
    outline.lines.iter().zip(proposed).map(of_line).collect()
}

/// Features that all lines of the blocks of one tag path share.
#[derive(Debug, Clone, Copy, Default)]
struct PathFeatures {
    /// Logarithm of the tokens a line.
    tpr: f32,
    /// Sentence marks a line, in eighths, at most 1.
    ppr: f32,
    /// Share of the tokens in links.
    linked: f32,
    /// Logarithm of the extended ratio, in fourths.
    etpr: f32,
    /// Tokens as a share of those of the path that has most.
    share_of_greatest: f32,
    /// Share of the page's tokens.
    share: f32,
    /// Logarithm of the number of lines.
    lines: f32,
}

impl PathFeatures {
    /// The features of each tag path of the page, by what its lines count.
    fn all(page: &Page, outline: &Outline) -> Vec<Self> {
        let mut counts = vec![(PathCounts::default(), 0u32); page.paths().len()];
        for line in &outline.lines {
            let (path, linked) = &mut counts[line.path as usize];
            path.add(line.all.tokens, line.all.marks);
            *linked += line.linked.tokens;
        }
        let most = counts.iter().map(|(path, _)| path.tokens).max();
        let most = most.unwrap_or_default().max(1) as f32;
        let total = outline.total().tokens.max(1) as f32;
        let of = |(path, linked): &(PathCounts, u32)| match path.texts {
            0 => Self::default(),
            lines => Self {
                tpr: log(path.tpr() as f32),
                ppr: (path.ppr() as f32).min(8.0) / 8.0,
                linked: *linked as f32 / path.tokens.max(1) as f32,
                etpr: log(path.etpr() as f32) / 4.0,
                share_of_greatest: path.tokens as f32 / most,
                share: path.tokens as f32 / total,
                lines: log(lines as f32),
            },
        };
        counts.iter().map(of).collect()
    }
}

/// Number of features of a line.
pub(crate) const COUNT: usize = 128;

/// A line's features.
pub(crate) type FeatureRow = [f32; COUNT];

/// Cells of a row while it is filled; with `NAMED`, the names of the features are kept as well.
#[derive(Debug)]
pub(crate) struct FeatureVector<const NAMED: bool = false> {
    /// The values; apart, so that where the next one goes need not be read again after each.
    pub row: Box<FeatureRow>,
    at: usize,
    /// Names, when they are wanted.
    pub names: Vec<&'static str>,
}

impl<const NAMED: bool> Default for FeatureVector<NAMED> {
    fn default() -> Self {
        Self {
            row: Box::new([0.0; COUNT]),
            at: 0,
            names: Vec::new(),
        }
    }
}

impl FeatureVector<true> {
    /// Cells that keep the names too.
    pub(crate) fn with_names() -> Self {
        Self::default()
    }
}

impl<const NAMED: bool> FeatureVector<NAMED> {
    /// Begins the row of the next line, in the same place.
    pub(crate) fn rewind(&mut self) {
        self.at = 0;
    }

    /// The next value.
    #[inline]
    pub(crate) fn put(&mut self, name: &'static str, value: f32) {
        if let Some(cell) = self.row.get_mut(self.at) {
            *cell = value;
        }
        if NAMED {
            self.names.push(name);
        }
        self.at += 1;
    }

    /// The next value: 1 or 0.
    #[inline]
    pub(crate) fn flag(&mut self, name: &'static str, on: bool) {
        self.put(name, f32::from(u8::from(on)));
    }
}

/// Numbers whose logarithm is kept; most are counts below it.
const KEPT: usize = 2048;

/// `ln(1 + x)`, 0 for 0 and below.
pub(crate) fn log(x: f32) -> f32 {
    static LOGS: LazyLock<Vec<f32>> =
        LazyLock::new(|| (0..KEPT).map(|i| (i as f32).ln_1p()).collect());
    let x = x.max(0.0);
    let whole = x as usize;
    match LOGS.get(whole) {
        Some(log) if whole as f32 == x => *log,
        _ => x.ln_1p(),
    }
}

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
    line.plain_tokens() as f32
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
