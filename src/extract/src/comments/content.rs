//! Where the text of a record stands. In: the [`Record`]s of a group with the role of each piece. Out: the slot of the
//! element that holds what the records say differently. Never looks at one record alone.

use std::collections::{BTreeMap, HashSet};

use super::keys::{self, Key};
use super::record::{Record, Role};
use super::words;
use crate::page::{NodeId, Page, Tag};

/// Share of an element's text that a child must have for the text to be sought there.
const DESCEND: f32 = 0.7;
/// The same for an inline element: beside it may stand the rest of its line.
const DESCEND_INLINE: f32 = 0.9;
/// Most that one text adds to the weight of its place, in bytes: one long post does not decide for all.
const WEIGHT_BYTES: usize = 400;

/// The place of the text: from the record down, as long as one child has most of what the records say differently.
pub(super) fn content_slot(page: &Page, records: &[Record], roles: &[Vec<Role>]) -> Key {
    // For each slot: weight, records that have it, an element of it, one more than the last record that has it.
    let mut slots: BTreeMap<Key, (f32, usize, NodeId, usize)> = BTreeMap::new();
    let mut children: BTreeMap<Key, Vec<Key>> = BTreeMap::new();
    let mut said: HashSet<u64> = HashSet::new();
    let mut with_text = 0;
    for (n, (record, roles)) in (1..).zip(records.iter().zip(roles)) {
        let mut has_text = false;
        for (piece, role) in record.pieces.iter().zip(roles) {
            if *role != Role::Text || !said.insert(piece.hash()) {
                continue;
            }
            has_text = true;
            let weight = piece.text.len().min(WEIGHT_BYTES) as f32;
            let mut below: Option<Key> = None;
            for at in record.around(piece) {
                let element = &record.elements[at];
                let entry = slots
                    .entry(element.slot)
                    .or_insert((0.0, 0, element.node, 0));
                entry.0 += weight;
                entry.1 += usize::from(entry.3 != n);
                entry.3 = n;
                if let Some(child) = below {
                    let known = children.entry(element.slot).or_default();
                    if !known.contains(&child) {
                        known.push(child);
                    }
                }
                below = Some(element.slot);
            }
        }
        with_text += usize::from(has_text);
    }
    let mut at: Key = 0;
    // A slot is never its own descendant but by a clash of hashes; the count ends such a circle.
    for _ in 0..64 {
        let Some((all, ..)) = slots.get(&at) else {
            break;
        };
        let known = children.get(&at).map(Vec::as_slice).unwrap_or_default();
        let weighted = |slot: &Key| {
            let (weight, records, node, _) = slots[slot];
            (weight * leaning(page, node), records, node, *slot)
        };
        let below: f32 = known.iter().map(|s| slots[s].0).sum();
        let total: f32 = known.iter().map(|s| weighted(s).0).sum::<f32>() + (all - below).max(0.0);
        let best = known
            .iter()
            .map(weighted)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((weight, records, node, slot)) = best else {
            break;
        };
        let called = page.attr(node, crate::page::Attr::Class).is_some();
        let enters = called || !is_run_of_text(page.node(node).tag);
        let share = if page.node(node).tag.is_inline() {
            DESCEND_INLINE
        } else {
            DESCEND
        };
        if !enters || weight < share * total || records * 3 < with_text * 2 {
            break;
        }
        at = slot;
    }
    at
}

/// What a class says of being the text.
fn leaning(page: &Page, node: NodeId) -> f32 {
    if keys::is_called(page, node, words::CONTENT) {
        2.5
    } else if keys::is_called(page, node, words::BESIDE) {
        0.4
    } else {
        1.0
    }
}

/// Elements of which a text may have several side by side.
fn is_run_of_text(tag: Tag) -> bool {
    tag.is_inline()
        || tag.is_heading()
        || matches!(
            tag,
            Tag::P | Tag::PRE | Tag::BLOCKQUOTE | Tag::LI | Tag::UL | Tag::OL | Tag::DD | Tag::DT
        )
}
