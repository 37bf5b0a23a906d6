//! What is known of a line before it is judged. In: an [`Outline`]. Out: one row of numbers a line, each with
//! a name that a person can read. Never judges: the weights are in `weights`.

use super::feature_vector::{FeatureVector, Row, log};
use super::line_cues::{Signs, is_short};
use super::line_features::{link_share, marks, own, plain, tag};
use crate::cues::phrases::{MAX_BYTES, Phrase, Seen, phrase_of};
use crate::lines::Line;

use crate::lines::outline::{Outline, Sum, is_prose};
use crate::page::measure::ends_sentence;
use crate::page::{Page, PathCounts};

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

/// What several features need, computed once a page.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// The page.
    pub page: &'a Page,
    /// Its lines.
    pub outline: &'a Outline,
    /// What each line says that is not text.
    pub phrases: Vec<Option<Phrase>>,
    /// Whether each line ends as a sentence does.
    pub ends: Vec<bool>,
    /// Line of the headline.
    pub title: Option<usize>,
    /// What short lines say of the sort of the page.
    pub signs: Signs,
    /// What the lines of the blocks of each tag path count.
    paths: Vec<PathCounts>,
    /// What each line is to those beside it: its tokens outside links (a logarithm), its link share, its marks.
    beside: Vec<[f32; 3]>,
    path_linked: Vec<u32>,
    path_max: f32,
    footer_from: usize,
    /// Line ranges of the elements around the headline, innermost first.
    around_title: Vec<std::ops::Range<usize>>,
}

impl<'a> View<'a> {
    /// Looks at every line once. `title` is the line of the headline, if it was found.
    pub(crate) fn of(page: &'a Page, outline: &'a Outline, title: Option<usize>) -> Self {
        let mut phrases = Vec::with_capacity(outline.lines.len());
        let mut ends = Vec::with_capacity(outline.lines.len());
        let mut signs = Signs::default();
        for line in &outline.lines {
            let text = outline.text(page, line);
            let short = is_short(&line.all);
            let seen = (short || text.len() <= MAX_BYTES).then(|| Seen::of(text));
            phrases.push(seen.and_then(|seen| phrase_of(text, seen)));
            ends.push(ends_sentence(text));
            if let Some(seen) = seen.filter(|_| short) {
                signs.add(text, &line.all, seen.signs());
            }
        }
        let mut paths = vec![PathCounts::default(); page.paths().len()];
        for line in &outline.lines {
            paths[line.path as usize].add(line.all.tokens, line.all.marks);
        }
        let mut path_linked = vec![0; paths.len()];
        for line in &outline.lines {
            path_linked[line.path as usize] += line.linked.tokens;
        }
        let path_max = paths.iter().map(|p| p.tokens).max().unwrap_or(0).max(1) as f32;
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
            ends,
            title,
            signs,
            paths,
            beside: outline.lines.iter().map(beside).collect(),
            path_linked,
            path_max,
            footer_from,
            around_title: title.map_or_else(Vec::new, |t| {
                let first = outline.lines[t].first;
                page.ancestors(first)
                    .map(|a| outline.range(page, a))
                    .collect()
            }),
        }
    }

    /// Features of line `i`.
    pub(crate) fn row(&self, i: usize) -> Row {
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
        self.surroundings(cells, line);
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
        let linked = self.path_linked[line.path as usize] as f32 / path.tokens.max(1) as f32;
        cells.put("path: TPR", log(path.tpr() as f32));
        cells.put("path: PPR", (path.ppr() as f32).min(8.0) / 8.0);
        cells.put("path: linked", linked);
        cells.put("path: ETPR", log(path.etpr() as f32) / 4.0);
        cells.put(
            "path: share of the greatest",
            path.tokens as f32 / self.path_max,
        );
        cells.put(
            "path: share of the page",
            path.tokens as f32 / self.outline.total().tokens.max(1) as f32,
        );
        cells.put("path: texts", log(path.texts as f32));
    }

    fn surroundings<const NAMED: bool>(&self, cells: &mut FeatureVector<NAMED>, line: &Line) {
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
        let total = self.outline.total();
        let mut node = line.block;
        for names in &NAMES {
            let sum = self.outline.sum(self.outline.range(self.page, node));
            cells.put(names[0], log(sum.prose as f32));
            cells.put(names[1], sum.linked as f32 / sum.tokens.max(1) as f32);
            cells.put(names[2], sum.prose as f32 / total.prose.max(1) as f32);
            cells.put(names[3], prose_rate(sum));
            cells.put(names[4], log(sum.lines as f32));
            cells.put(names[5], log(sum.tokens as f32 / sum.lines.max(1) as f32));
            node = self.page.node(node).parent;
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

fn beside(line: &Line) -> [f32; 3] {
    let marks = (line.all.marks as f32).min(8.0) / 8.0;
    [log(plain(line)), link_share(line), marks]
}

fn prose_rate(sum: Sum) -> f32 {
    sum.prose as f32 / sum.tokens.max(1) as f32
}
