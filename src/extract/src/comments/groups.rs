//! Finds groups of records: elements of one kind that each contain a time or are named as a comment. Returns [`Group`]s of
//! node ranges, best first; they lie side by side or inside records of each other. Siblings whose leaf paths are like those
//! of the records (POL, Zhu et al. 2013) belong to the group though they contain no time.
//!
//! A key proposes its elements as records. The key wins whose records are many, hold the text and are built alike: a key of
//! the whole list has one record, a key of a part of a record misses text, a class of two different things has records of
//! two kinds.

use std::ops::Range;

use super::proposal::{RecordProposal, Sums, propose, rank, rate_conformity};
use super::record::{self, ElementNames, Key};
use super::time_cues::TimeSign;
use crate::page::{NodeId, Page, Tag};
use crate::similarity::Skeleton;
use crate::similarity::pol::LeafPaths;

/// Most levels that a record is above its sign.
const MAX_LEVELS: usize = 28;
/// Most groups of one page.
const MAX_GROUPS: usize = 10;
/// Most records of one page.
pub(super) const MAX_RECORDS: usize = 3_000;
/// Proposals whose records are held against each other; the rest is poor anyway.
const MOST_COMPARED: usize = 14;
/// Records from which a record with most of them is their list.
const FEW_RECORDS: usize = 4;
/// Own text that a record around others must have.
const OWN_TEXT: u32 = 12;
/// Chosen records before one among which the one around it is sought.
const MAX_NESTING: usize = 64;

/// Records of one kind, in document order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// Node ranges; each is a whole subtree or a run of sibling subtrees.
    pub records: Vec<Range<NodeId>>,
    /// Its records lie in the records of another group.
    pub nested: bool,
}

/// The groups that elements of these kinds make. `marked` are elements that are called comments, in document order.
pub(super) fn find_groups(
    page: &Page,
    names: &mut ElementNames,
    kinds: &[ElementKind],
    signs: &[TimeSign],
    marked: &[NodeId],
) -> Vec<Group> {
    let sums = Sums::new(page, signs);
    let mut proposals: Vec<RecordProposal> = Vec::new();
    for same in kinds.chunk_by(|a, b| a.0 == b.0) {
        let nodes: Vec<NodeId> = same.iter().map(|(_, id)| *id).collect();
        proposals.extend(propose(page, &sums, &nodes, marked));
    }
    rank(&mut proposals);
    proposals.dedup_by(|a, b| a.records == b.records);
    for (at, proposal) in proposals.iter_mut().enumerate() {
        let alike = if at < MOST_COMPARED {
            rate_conformity(page, names, &proposal.records)
        } else {
            0.5
        };
        proposal.value = (proposal.value as f32 * alike * alike) as u32;
    }
    rank(&mut proposals);
    let groups = choose(page, &sums, proposals);
    groups.into_iter().flat_map(|g| regions(page, g)).collect()
}

/// A key with one of its elements.
pub(super) type ElementKind = (Key, NodeId);

/// Keys with the elements that hold a sign or a marked element, sorted; each element once for a key. Only at these does a
/// record of a group begin.
pub(super) fn group_by_key(page: &Page, signs: &[TimeSign], marked: &[NodeId]) -> Vec<ElementKind> {
    let mut seen = vec![false; page.nodes().len()];
    let mut out = Vec::new();
    let starts = signs.iter().map(|s| s.node).chain(marked.iter().copied());
    for start in starts {
        let chain = std::iter::once(start).chain(page.ancestors(start));
        for id in chain.take(MAX_LEVELS) {
            let tag = page.node(id).tag;
            if matches!(tag, Tag::BODY | Tag::HTML)
                || std::mem::replace(&mut seen[id as usize], true)
            {
                break;
            }
            if tag != Tag::TEXT {
                record::list_keys(page, id, |key| out.push((key, id)));
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// Greedy choice, best first. A group inside the records of another stays when two of its records are side by
/// side there: replies under a comment, not parts of it.
fn choose(page: &Page, sums: &Sums, proposals: Vec<RecordProposal>) -> Vec<Group> {
    let mut out: Vec<Group> = Vec::new();
    let mut taken: Vec<Range<NodeId>> = Vec::new();
    let mut count = 0;
    for proposal in proposals {
        if out.len() >= MAX_GROUPS || count >= MAX_RECORDS {
            break;
        }
        let (mut outside, mut around) = (Vec::new(), Vec::new());
        let mut inside: Vec<(usize, Range<NodeId>)> = Vec::new();
        for record in proposal.records {
            // `taken` is sorted by start; an outer range comes before those inside it.
            let before = taken.partition_point(|t| t.start <= record.start);
            let near = before.saturating_sub(MAX_NESTING);
            let holder = taken[near..before]
                .iter()
                .rposition(|t| t.end >= record.end)
                .map(|at| at + near);
            match holder {
                Some(at) if taken[at] == record => {}
                Some(at) => inside.push((at, record)),
                None if taken[before..]
                    .first()
                    .is_some_and(|t| t.start < record.end) =>
                {
                    if is_alone(sums, &record, &taken[before..]) && !holds_most(&record, &out) {
                        around.push(record);
                    }
                }
                None if before > 0 && taken[before - 1].end > record.start => {}
                None => outside.push(record),
            }
        }
        let beside = inside.windows(2).any(|pair| {
            pair[0].0 == pair[1].0
                && page.node(pair[0].1.start).parent == page.node(pair[1].1.start).parent
        });
        let nested = outside.is_empty() && around.is_empty();
        let mut records = outside;
        if records.len() + around.len() > 1 {
            records.append(&mut around);
        }
        if beside && nested {
            records.extend(inside.into_iter().map(|(_, record)| record));
        }
        if records.is_empty() {
            continue;
        }
        records.sort_by_key(|r| r.start);
        records.truncate(MAX_RECORDS - count);
        count += records.len();
        taken.extend(records.iter().cloned());
        taken.sort_by_key(|r| (r.start, std::cmp::Reverse(r.end)));
        out.push(Group { records, nested });
    }
    out
}

/// A record around chosen ones contains a time and says something besides them: an answer with comments under it.
fn is_alone(sums: &Sums, record: &Range<NodeId>, inside: &[Range<NodeId>]) -> bool {
    let (mut text, mut times) = (sums.text(record), sums.times(record));
    let mut end = record.start;
    for other in inside.iter().take_while(|r| r.start < record.end) {
        if other.start >= end {
            text = text.saturating_sub(sums.text(other));
            times = times.saturating_sub(sums.times(other));
            end = other.end;
        }
    }
    times > 0 && text >= OWN_TEXT
}

/// The record holds most of a chosen group: it is their list.
fn holds_most(record: &Range<NodeId>, groups: &[Group]) -> bool {
    groups.iter().any(|group| {
        let from = group.records.partition_point(|r| r.start < record.start);
        let to = group.records.partition_point(|r| r.start < record.end);
        group.records.len() >= FEW_RECORDS && (to - from) * 2 > group.records.len()
    })
}

/// A group in lists that are apart: comments and a list of news may share a class. Lists of a single record are left
/// together: each post of a thread may have a wrapper of its own.
fn regions(page: &Page, group: Group) -> Vec<Group> {
    let mut lists: Vec<(NodeId, Vec<Range<NodeId>>)> = Vec::new();
    let mut end = 0;
    for record in &group.records {
        let parent = page.node(record.start).parent;
        match lists.last_mut() {
            Some((_, list)) if record.start < end => list.push(record.clone()),
            Some((known, list)) if *known == parent => list.push(record.clone()),
            _ => lists.push((parent, vec![record.clone()])),
        }
        end = end.max(record.end);
    }
    if lists.len() < 2 || lists.len() > MAX_GROUPS || lists.iter().any(|(_, list)| list.len() < 2) {
        return vec![group];
    }
    let nested = group.nested;
    lists
        .into_iter()
        .map(|(_, records)| Group { records, nested })
        .collect()
}

/// Similarity from which siblings are of one kind: best of .7, .8 and .9 in the paper.
pub(super) const ALIKE: f64 = 0.8;
/// Records of one parent between which others are sought.
const FEWEST: usize = 2;
/// Most siblings compared under one parent.
const MOST: usize = 200;

/// Adds the siblings of the group's records that are between them and are built like a neighbour.
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
    let paths = |id: NodeId| LeafPaths::new(&Skeleton::of_tags(page, id));
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
