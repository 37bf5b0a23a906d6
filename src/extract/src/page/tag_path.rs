//! Interned tag paths. In: the path of the parent and a tag. Out: a [`PathId`], the same for the same path.

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

/// The paths of a page while it grows, with an open-addressing index over them.
#[derive(Debug, Default)]
pub(super) struct PathTable {
    paths: Vec<TagPath>,
    /// Path id + 1, or 0 for a free slot; the length is a power of two at least twice the number of paths.
    slots: Vec<PathId>,
}

impl PathTable {
    /// The id of `parent` plus `tag`; with no parent, of the path that is `tag` alone.
    pub(super) fn intern(&mut self, parent: Option<PathId>, tag: Tag) -> PathId {
        if self.slots.len() <= self.paths.len() * 2 {
            self.grow();
        }
        let mut at = self.slot(parent, tag);
        while let Some(id) = self.slots[at].checked_sub(1) {
            let path = self.paths[id as usize];
            let path_parent = (path.len > 1).then_some(path.parent);
            if path.tag == tag && path_parent == parent {
                return id;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        let id = self.paths.len() as PathId;
        let len = parent.map_or(0, |p| self.paths[p as usize].len);
        self.paths.push(TagPath {
            parent: parent.unwrap_or(id),
            tag,
            len: len.saturating_add(1),
        });
        self.slots[at] = id + 1;
        id
    }

    pub(super) fn finish(mut self) -> Vec<TagPath> {
        self.paths.shrink_to_fit();
        self.paths
    }

    fn slot(&self, parent: Option<PathId>, tag: Tag) -> usize {
        let key = u64::from(parent.map_or(0, |p| p + 1)) << 16 | u64::from(tag.0);
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (hash >> 32) as usize & (self.slots.len() - 1)
    }

    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(256);
        self.slots = vec![0; len];
        for id in 0..self.paths.len() {
            let path = self.paths[id];
            let parent = (path.len > 1).then_some(path.parent);
            let mut at = self.slot(parent, path.tag);
            while self.slots[at] != 0 {
                at = (at + 1) & (len - 1);
            }
            self.slots[at] = id as PathId + 1;
        }
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
