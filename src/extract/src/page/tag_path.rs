//! Interned tag paths. In: the path of the parent and a tag. Out: a [`PathId`], the same for the same path.

use std::collections::HashMap;

use foldhash::fast::RandomState;

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
}

/// The paths of a page while it grows.
#[derive(Debug, Default)]
pub(super) struct PathTable {
    paths: Vec<TagPath>,
    ids: HashMap<(Option<PathId>, Tag), PathId, RandomState>,
}

impl PathTable {
    /// The id of `parent` plus `tag`; with no parent, of the path that is `tag` alone.
    pub(super) fn intern(&mut self, parent: Option<PathId>, tag: Tag) -> PathId {
        *self.ids.entry((parent, tag)).or_insert_with(|| {
            let id = self.paths.len() as PathId;
            let len = parent.map_or(0, |p| self.paths[p as usize].len);
            self.paths.push(TagPath {
                parent: parent.unwrap_or(id),
                tag,
                len: len.saturating_add(1),
            });
            id
        })
    }

    pub(super) fn finish(mut self) -> Vec<TagPath> {
        self.paths.shrink_to_fit();
        self.paths
    }
}

impl Page {
    /// The tags of a path, from the last one up to the root's.
    fn path_tags(&self, path: PathId) -> impl Iterator<Item = Tag> + '_ {
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
