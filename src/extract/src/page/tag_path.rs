//! Interned tag paths with the counts of the texts under each. [`PathTable::intern`] returns the same [`PathId`] for the
//! same path; the [`PathCounts`] are complete at the end of the page.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::measure::Measure;
use super::{Page, PathId, Tag};

/// One interned tag path: the path of the parent element plus the element's own tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TagPath {
    /// Path without the last tag; the root's path is its own parent.
    pub parent: PathId,
    /// The last tag.
    pub tag: Tag,
    /// Number of tags on the path.
    pub len: u16,
    /// A link is among the tags: the texts of the path are link texts.
    pub is_link: bool,
    /// `p` or `strong` is among them.
    pub is_emphatic: bool,
}

/// What the texts of one tag path are, counted one by one; the paper's ratios are computed from it (`path_ratio`). A token is
/// a CJK character or a word; texts without any are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathCounts {
    /// Number of texts.
    pub texts: u32,
    /// Tokens of all of them.
    pub tokens: u32,
    /// Sentence marks of all of them.
    pub marks: u32,
    /// Sum of the squares of their tokens.
    pub tokens_squared: u64,
    /// Sum of the squares of their sentence marks.
    pub marks_squared: u64,
}

impl PathCounts {
    /// Counts one text.
    pub fn add(&mut self, tokens: u32, marks: u32) {
        self.texts += 1;
        self.tokens = self.tokens.saturating_add(tokens);
        self.marks = self.marks.saturating_add(marks);
        self.tokens_squared = self.tokens_squared.saturating_add(u64::from(tokens).pow(2));
        self.marks_squared = self.marks_squared.saturating_add(u64::from(marks).pow(2));
    }

    /// Takes a text back that was counted here.
    fn remove(&mut self, tokens: u32, marks: u32) {
        self.texts = self.texts.saturating_sub(1);
        self.tokens = self.tokens.saturating_sub(tokens);
        self.marks = self.marks.saturating_sub(marks);
        self.tokens_squared = self.tokens_squared.saturating_sub(u64::from(tokens).pow(2));
        self.marks_squared = self.marks_squared.saturating_sub(u64::from(marks).pow(2));
    }
}

/// The paths of a page while it grows.
#[derive(Debug, Default)]
pub(super) struct PathTable {
    paths: Vec<TagPath>,
    counts: Vec<PathCounts>,
    ids: HashMap<(Option<PathId>, Tag, bool), PathId, RandomState>,
    /// For each path the child that was interned last: an element is mostly like its sibling before it.
    last: Vec<Option<(Tag, bool, PathId)>>,
}

impl PathTable {
    /// The id of `parent` plus `tag`; with no parent, of the path that is `tag` alone. `is_link` if the element is a link:
    /// an `<a>` that leads nowhere has a path of its own.
    pub(super) fn intern(&mut self, parent: Option<PathId>, tag: Tag, is_link: bool) -> PathId {
        let Some(above) = parent.map(|parent| parent as usize) else {
            return self.find_or_add(None, tag, is_link);
        };
        if let Some((last_tag, last_is_link, id)) = self.last[above]
            && (last_tag, last_is_link) == (tag, is_link)
        {
            return id;
        }
        let id = self.find_or_add(parent, tag, is_link);
        self.last[above] = Some((tag, is_link, id));
        id
    }

    fn find_or_add(&mut self, parent: Option<PathId>, tag: Tag, is_link: bool) -> PathId {
        *self.ids.entry((parent, tag, is_link)).or_insert_with(|| {
            let id = self.paths.len() as PathId;
            let above = parent.map(|p| self.paths[p as usize]);
            self.paths.push(TagPath {
                parent: parent.unwrap_or(id),
                tag,
                len: above.map_or(0, |p| p.len).saturating_add(1),
                is_link: is_link || above.is_some_and(|p| p.is_link),
                is_emphatic: matches!(tag, Tag::P | Tag::STRONG)
                    || above.is_some_and(|p| p.is_emphatic),
            });
            self.counts.push(PathCounts::default());
            self.last.push(None);
            id
        })
    }

    /// Counts a text under its path.
    pub(super) fn count(&mut self, path: PathId, measure: &Measure) {
        if measure.tokens > 0 {
            self.counts[path as usize].add(measure.tokens, measure.marks);
        }
    }

    /// A text that was counted under one path has another now.
    pub(super) fn move_count(&mut self, from: PathId, to: PathId, measure: &Measure) {
        if measure.tokens > 0 {
            self.counts[from as usize].remove(measure.tokens, measure.marks);
            self.counts[to as usize].add(measure.tokens, measure.marks);
        }
    }

    pub(super) fn finish(mut self) -> (Vec<TagPath>, Vec<PathCounts>) {
        self.paths.shrink_to_fit();
        self.counts.shrink_to_fit();
        (self.paths, self.counts)
    }
}

impl Page {
    /// The tags of a path, from the last one up to the root's.
    pub(crate) fn path_tags(&self, path: PathId) -> impl Iterator<Item = Tag> + '_ {
        let mut next = self.paths().get(path as usize).copied();
        std::iter::from_fn(move || {
            let here = next?;
            next = (here.len > 1).then(|| self.paths()[here.parent as usize]);
            Some(here.tag)
        })
    }

    /// A path as text, for example `html.body.div.p`.
    pub fn path_name(&self, path: PathId) -> String {
        let mut tags: Vec<&str> = self.path_tags(path).map(Tag::name).collect();
        tags.reverse();
        tags.join(".")
    }
}
