//! Features of a line that depend on the log-odds of all lines, from a [`PageContext`].

use super::context::PageContext;
use super::features::{FeatureVector, link_share, log};
use crate::cues::phrases::Phrase;
use crate::lines::hints::Marks;
use crate::page::{NodeId, Page, Tag};

/// Odds beyond this say no more.
const CLAMP: f32 = 6.0;
impl PageContext<'_> {
    /// Features of line `i`, behind those that the vector holds.
    pub(crate) fn fill<const NAMED: bool>(&self, i: usize, vector: &mut FeatureVector<NAMED>) {
        let line = &self.view.outline.lines[i];
        let page = self.view.page;
        let odds = |j: Option<usize>| {
            j.and_then(|j| self.odds.get(j))
                .map_or(-3.0, |o| o.clamp(-CLAMP, CLAMP))
        };
        vector.put("bias", 1.0);
        vector.put("first odds", odds(Some(i)));
        vector.put("odds before", odds(i.checked_sub(1)));
        vector.put("odds after", odds(Some(i + 1)));
        vector.put(
            "lower odds beside",
            odds(i.checked_sub(1)).min(odds(Some(i + 1))),
        );
        vector.put(
            "mean odds of 3 before",
            (1..=3).map(|n| odds(i.checked_sub(n))).sum::<f32>() / 3.0,
        );
        vector.put(
            "mean odds of 3 after",
            (1..=3).map(|n| odds(Some(i + n))).sum::<f32>() / 3.0,
        );
        let inside = self.inside.contains(&i);
        vector.flag("outside container", !inside);
        vector.put("odds outside", if inside { 0.0 } else { odds(Some(i)) });
        self.core_features(i, inside, vector);
        let branch = self.branch(page, i);
        vector.put("branch: p", branch.0);
        vector.put("branch: share", branch.1);
        let parent = page.node(line.block).parent;
        vector.put(
            "parent: p",
            Self::mean(self.mass_of(self.view.outline.range(page, parent))),
        );
        let above = page.node(parent).parent;
        vector.put(
            "grandparent: p",
            Self::mean(self.mass_of(self.view.outline.range(page, above))),
        );
        vector.put("path: p", Self::mean(self.paths[line.path as usize]));
        vector.flag("same parent as core", parent == self.core_parent);
        vector.flag("same path as core", line.path == self.core_path);
        vector.flag("a body is named", self.body.is_some());
        vector.flag(
            "in the named body",
            self.body.as_ref().is_some_and(|b| b.contains(&i)),
        );
        vector.flag(
            "outside the named body",
            self.body.as_ref().is_some_and(|b| !b.contains(&i)),
        );
        self.line_features(i, inside, vector);
        self.part_features(i, vector);
    }

    fn core_features<const NAMED: bool>(
        &self,
        i: usize,
        inside: bool,
        vector: &mut FeatureVector<NAMED>,
    ) {
        let between = self.core.is_some_and(|(a, b)| a <= i && i <= b);
        vector.flag("within core", between);
        let before = self.core.filter(|c| i < c.0).map_or(0, |c| c.0 - i);
        let after = self.core.filter(|c| i > c.1).map_or(0, |c| i - c.1);
        vector.put("before core", log(before as f32));
        vector.put("after core", log(after as f32));
        vector.flag("just before core", (1..=2).contains(&before) && inside);
        vector.flag("just after core", (1..=2).contains(&after) && inside);
        vector.flag("no core", self.core.is_none());
        vector.put("levels up to core", log(self.levels_to_core(i) as f32));
    }

    /// Elements to climb from the line until the one that holds the core's parent.
    fn levels_to_core(&self, i: usize) -> usize {
        const MOST: usize = 12;
        let page = self.view.page;
        let (core, end) = (self.core_parent, page.node(self.core_parent).end);
        let first = self.view.outline.lines[i].first;
        page.ancestors(first)
            .take(MOST)
            .position(|a| a <= core && page.node(a).end >= end)
            .unwrap_or(MOST)
    }

    /// The child of the container around the line: its mean p and its share of the container's text.
    fn branch(&self, page: &Page, i: usize) -> (f32, f32) {
        let Some(container) = self.container.filter(|_| self.inside.contains(&i)) else {
            return (0.0, 0.0);
        };
        let line = &self.view.outline.lines[i];
        let branch = page
            .ancestors(line.first)
            .take_while(|a| *a != container.node)
            .last()
            .unwrap_or(line.block);
        let sum = self.mass_of(self.view.outline.range(page, branch));
        let whole = self.mass_of(self.inside.clone());
        (Self::mean(sum), sum.0 / whole.0.max(1.0))
    }

    fn line_features<const NAMED: bool>(
        &self,
        i: usize,
        inside: bool,
        vector: &mut FeatureVector<NAMED>,
    ) {
        let line = &self.view.outline.lines[i];
        let tokens = line.all.tokens;
        let short = tokens <= 12;
        vector.flag("short", short);
        vector.flag("short inside", short && inside);
        vector.flag(
            "heading inside",
            inside && self.view.page.node(line.block).tag.is_heading(),
        );
        vector.flag("caption inside", inside && line.marks.any(Marks::CAPTION));
        vector.put("linked", link_share(line));
        vector.put("linked inside", if inside { link_share(line) } else { 0.0 });
        vector.flag("marked against", line.marks.any(Marks::AGAINST));
        let comment = line.marks.any(Marks::COMMENT);
        vector.flag("in comments", comment);
        let beside = if comment { self.beside_comments } else { 0.0 };
        vector.put("in comments: share of text beside them", beside);
        vector.flag(
            "in comments beside a text",
            comment && self.beside_comments > 0.3,
        );
        vector.flag("about", line.marks.any(Marks::ABOUT.with(Marks::AUTHOR)));
        vector.flag("headline", self.view.title == Some(i));
        let phrase = self.view.phrases[i];
        vector.flag("a phrase", phrase.is_some());
        vector.flag(
            "footer or related",
            matches!(phrase, Some(Phrase::Footer | Phrase::Related)),
        );
        vector.put("tokens", log(tokens as f32));
        vector.flag("ends sentence", self.view.ends[i]);
    }

    /// The features of line `i`.
    pub(crate) fn vector(&self, i: usize) -> FeatureVector {
        let mut vector = FeatureVector::default();
        self.fill(i, &mut vector);
        vector
    }

    /// Names of the features, in order.
    pub(crate) fn names(&self, i: usize) -> Vec<&'static str> {
        let mut vector = FeatureVector::with_names();
        self.fill(i, &mut vector);
        vector.names
    }

    /// What is around the part of the text that the line belongs to: a list is text as a whole or not at
    /// all, and between two paragraphs it is.
    fn part_features<const NAMED: bool>(&self, i: usize, vector: &mut FeatureVector<NAMED>) {
        let branch = self
            .core_branch(i)
            .map(|b| self.view.outline.range(self.view.page, b));
        vector.flag("in the core's parent", branch.is_some());
        self.range_features(
            branch.unwrap_or(i..i + 1),
            [
                "core branch: p",
                "core branch: linked",
                "core branch: odds before",
                "core branch: odds after",
                "core branch: between text",
                "core branch: lines",
            ],
            vector,
        );
        let group = self
            .group(i)
            .map(|g| self.view.outline.range(self.view.page, g));
        vector.flag("in a group", group.is_some());
        self.range_features(
            group.unwrap_or(i..i + 1),
            [
                "group: p",
                "group: linked",
                "group: odds before",
                "group: odds after",
                "group: between text",
                "group: lines",
            ],
            vector,
        );
    }

    fn range_features<const NAMED: bool>(
        &self,
        range: std::ops::Range<usize>,
        names: [&'static str; 6],
        vector: &mut FeatureVector<NAMED>,
    ) {
        let within = |j: &usize| self.core_lines.contains(j);
        let odds = |j: Option<usize>| {
            j.filter(within)
                .and_then(|j| self.odds.get(j))
                .map_or(-3.0, |o| o.clamp(-3.0, 3.0))
        };
        let (before, after) = (odds(range.start.checked_sub(1)), odds(Some(range.end)));
        let sum = self.view.outline.sum(range.clone());
        vector.put(names[0], Self::mean(self.mass_of(range)));
        vector.put(names[1], sum.linked as f32 / sum.tokens.max(1) as f32);
        vector.put(names[2], before);
        vector.put(names[3], after);
        vector.flag(names[4], before > 0.5 && after > 0.5);
        vector.put(names[5], log(sum.lines as f32));
    }

    /// The child of the core's parent around the line.
    fn core_branch(&self, i: usize) -> Option<NodeId> {
        let page = self.view.page;
        let line = &self.view.outline.lines[i];
        self.core_lines.contains(&i).then(|| {
            let inside = page
                .ancestors(line.first)
                .take_while(|a| *a != self.core_parent);
            inside.last().unwrap_or(line.first)
        })
    }

    /// The nearest list, table, quotation or box around the line, if any.
    fn group(&self, i: usize) -> Option<NodeId> {
        const LEVELS: usize = 5;
        let page = self.view.page;
        let mut above = page
            .ancestors(self.view.outline.lines[i].first)
            .take(LEVELS);
        above.find(|a| {
            matches!(
                page.node(*a).tag,
                Tag::UL
                    | Tag::OL
                    | Tag::DL
                    | Tag::TABLE
                    | Tag::BLOCKQUOTE
                    | Tag::ASIDE
                    | Tag::FIGURE
            )
        })
    }
}
