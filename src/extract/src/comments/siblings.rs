//! Records that tell no time. In: a [`Group`]. Out: the same with the siblings of its records that are built like them.
//! How alike two elements are built is told by their leaf paths (POL, Zhu et al. 2013).

use super::groups::{Group, MAX_RECORDS};
use crate::page::{NodeId, Page, Tag};
use crate::similarity::Skeleton;
use crate::similarity::pol::LeafPaths;

/// Similarity from which siblings are of one kind: best of .7, .8 and .9 in the paper.
pub(super) const ALIKE: f64 = 0.8;
/// Records of one parent between which others are sought.
const FEWEST: usize = 2;
/// Most siblings compared under one parent.
const MOST: usize = 200;

/// Adds the siblings of the group's records that stand between them and are built like a neighbour.
pub(super) fn join(page: &Page, group: &mut Group) {
    let mut more = Vec::new();
    let mut rest = group.records.as_slice();
    while let Some(first) = rest.first() {
        let parent = page.node(first.start).parent;
        let same = rest
            .iter()
            .take_while(|r| page.node(r.start).parent == parent)
            .count();
        let (under, after) = rest.split_at(same);
        rest = after;
        let whole = under.iter().all(|r| page.node(r.start).end == r.end);
        if same >= FEWEST && whole {
            let known: Vec<NodeId> = under.iter().map(|r| r.start).collect();
            more.extend(alike(page, parent, &known));
        }
    }
    let room = MAX_RECORDS.saturating_sub(group.records.len());
    group
        .records
        .extend(more.into_iter().take(room).map(|id| page.subtree(id)));
    group.records.sort_by_key(|r| r.start);
}

/// Children of `parent` after the first of `known` that are not among them and like the nearest one before.
fn alike(page: &Page, parent: NodeId, known: &[NodeId]) -> Vec<NodeId> {
    let paths = |id: NodeId| LeafPaths::of(&Skeleton::of_tags(page, id));
    let mut model: Option<(NodeId, Option<LeafPaths>)> = None;
    let mut out = Vec::new();
    for child in page.children(parent).take(MOST) {
        if known.binary_search(&child).is_ok() {
            model = Some((child, None));
            continue;
        }
        let Some((id, made)) = &mut model else {
            continue;
        };
        let node = page.node(child);
        let empty = node.end == child + 1;
        if node.tag == Tag::TEXT || node.tag != page.node(*id).tag || empty {
            continue;
        }
        let model_paths = made.get_or_insert_with(|| paths(*id));
        if model_paths.leaves() > 2 && model_paths.similarity(&paths(child)) >= ALIKE {
            out.push(child);
        }
    }
    out
}
