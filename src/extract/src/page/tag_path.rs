//! Interned tag paths. In: the path of the parent and a tag. Out: a [`PathId`], the same for the same path.
//! Distances between paths are measured on the tags, never on text.

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
    pub fn path_tags(&self, path: PathId) -> impl Iterator<Item = Tag> + '_ {
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

    /// Levenshtein distance of two paths over their tags, or `limit` when it is at least that.
    ///
    /// Paths of one page share their beginning, which costs nothing here: only the parts below the deepest common
    /// ancestor are compared, and those in a band of `limit` around the diagonal.
    pub fn path_distance(&self, a: PathId, b: PathId, limit: u32) -> u32 {
        if a == b {
            return 0;
        }
        let (mut left, mut right) = (Vec::new(), Vec::new());
        self.split_paths(a, b, &mut left, &mut right);
        banded_distance(&left, &right, limit)
    }

    /// The tags of both paths below their deepest common path, last tag first.
    fn split_paths(&self, a: PathId, b: PathId, left: &mut Vec<Tag>, right: &mut Vec<Tag>) {
        let paths = self.paths();
        let (mut a, mut b) = (a, b);
        while a != b {
            let (pa, pb) = (paths[a as usize], paths[b as usize]);
            if pa.len >= pb.len {
                left.push(pa.tag);
                if pa.len > 1 {
                    a = pa.parent;
                }
            }
            if pb.len >= pa.len {
                right.push(pb.tag);
                if pb.len > 1 {
                    b = pb.parent;
                }
            }
            if pa.len == 1 && pb.len == 1 {
                break;
            }
        }
    }
}

/// Levenshtein distance with unit costs, cut off at `limit`; cells further than that off the diagonal cannot
/// take part in a distance below it.
fn banded_distance(a: &[Tag], b: &[Tag], limit: u32) -> u32 {
    let band = limit as usize;
    if a.len().abs_diff(b.len()) >= band {
        return limit;
    }
    let mut row: Vec<u32> = (0..=b.len() as u32).map(|d| d.min(limit)).collect();
    for (i, tag) in a.iter().enumerate() {
        let from = (i + 1).saturating_sub(band).max(1);
        let to = (i + 1).saturating_add(band).min(b.len());
        let mut diagonal = row[from - 1];
        row[from - 1] = if from == 1 { i as u32 + 1 } else { limit };
        for j in from..=to {
            let above = row[j];
            let substituted = diagonal + u32::from(b[j - 1] != *tag);
            row[j] = substituted.min(above + 1).min(row[j - 1] + 1).min(limit);
            diagonal = above;
        }
        if let Some(past) = row.get_mut(to + 1) {
            *past = limit;
        }
    }
    row[b.len()].min(limit)
}
