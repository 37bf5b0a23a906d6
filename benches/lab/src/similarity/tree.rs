//! Skeletons as the measures need them: with the labels asked for, cut to their upper levels, as paths, written by hand.

use std::borrow::Cow;

use taojin_extract::page::{NodeId, Page};
use taojin_extract::similarity::{Skeleton, mix, name_hash};
use xxhash_rust::xxh3::xxh3_64;

/// What an element is called when trees are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Labels {
    /// Its tag alone, as the papers have it.
    Tags,
    /// Its tag with the stable words of class and id; inline elements are left out, since they come and go with what an
    /// author writes.
    #[default]
    Blocks,
}

/// The body of a page.
pub(crate) fn skeleton(page: &Page, labels: Labels) -> Skeleton {
    let Some(body) = page.body() else {
        return Skeleton::default();
    };
    let is_kept = |id: NodeId| id == body || page.node(id).tag.is_block();
    match labels {
        Labels::Tags => Skeleton::of_tags(page, body),
        Labels::Blocks => Skeleton::new(page, body, |id| is_kept(id).then(|| name_hash(page, id))),
    }
}

/// A tree written as `a(b(c),d)`; what cannot be read is skipped.
pub(crate) fn parse(text: &str) -> Skeleton {
    let mut nodes = Vec::new();
    let mut depth = 0u16;
    for part in text.split_inclusive(['(', ')', ',']) {
        let name = part.trim_end_matches(['(', ')', ',']);
        if !name.is_empty() {
            nodes.push((xxh3_64(name.as_bytes()), depth));
        }
        if part.ends_with('(') {
            depth += 1;
        } else if part.ends_with(')') {
            depth = depth.saturating_sub(1);
        }
    }
    Skeleton::from_depths(nodes)
}

/// For each node a hash of the labels from the root to it.
pub(super) fn path_hashes(tree: &Skeleton) -> Vec<u64> {
    let mut hashes: Vec<u64> = Vec::with_capacity(tree.len());
    for (label, parent) in tree.labels().iter().zip(tree.parents()) {
        // The root is its own parent, and has no hash yet.
        let above = hashes.get(*parent as usize).copied().unwrap_or(0);
        hashes.push(mix(above, *label));
    }
    hashes
}

/// The tree with only its upper levels, as many as hold at most `limit` nodes (the root always stays).
pub(super) fn top(tree: &Skeleton, limit: usize) -> Cow<'_, Skeleton> {
    if tree.len() <= limit {
        return Cow::Borrowed(tree);
    }
    let deepest = tree.depths().iter().copied().max().unwrap_or_default();
    let mut counts = vec![0usize; usize::from(deepest) + 1];
    for depth in tree.depths() {
        counts[usize::from(*depth)] += 1;
    }
    let mut sum = 0;
    let levels = counts
        .iter()
        .take_while(|count| {
            sum += **count;
            sum <= limit
        })
        .count()
        .max(1);
    let nodes = tree
        .labels()
        .iter()
        .copied()
        .zip(tree.depths().iter().copied());
    let kept = nodes.filter(|(_, depth)| usize::from(*depth) < levels);
    Cow::Owned(Skeleton::from_depths(kept))
}
