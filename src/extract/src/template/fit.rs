//! Says which templates a page fits and how well, and what each of its texts is in one of them (丘骏鹏 2013, §6.2).
//!
//! [`rank_templates`] compares a page with templates of any sites; [`read_roles`] goes through the texts of a page that is laid
//! on one of them. Neither extracts anything.

use std::collections::HashMap;
use std::fmt;

use super::assign::{Assigned, Guide, Library};
use super::observation::{Field, Keys};
use super::regions::{Slot, slot_key};
use crate::page::{NodeId, Page};

/// A page that lacks more of a template's essential nodes, as a share of them, is of another layout, however alike its blocks are.
pub const MAX_MISSING: f32 = 0.4;

/// A template with how well a page fits it.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedTemplate {
    /// The template, with the distance of the page from its middle: `1 - distance` is the share of block paths that both have.
    pub assigned: Assigned,
    /// Share of its essential nodes that the page lacks, 0 to 1.
    pub missing: f32,
    /// The page is near enough, and lacks few enough nodes, to be read with it.
    pub fits: bool,
}

/// Templates that are tried, and listed, for one page.
const NEAREST: usize = 8;

/// Returns the eight templates nearest to a page, nearest first, each compared when it is asked for.
pub fn rank_templates(library: &Library, keys: &Keys) -> impl Iterator<Item = RankedTemplate> {
    let nearest = library.nearest(keys.set(), NEAREST).into_iter();
    nearest.map(|assigned: Assigned| {
        let sequence = &keys.sequence;
        let nodes = &assigned.template.nodes;
        let missing = nodes.align(&sequence.tokens, &sequence.layout).missing;
        RankedTemplate {
            fits: assigned.distance <= library.max_distance() && missing <= MAX_MISSING,
            assigned,
            missing,
        }
    })
}

/// Returns the template that a page is read with: the nearest that it fits, of whichever site.
pub fn choose_template(library: &Library, keys: &Keys) -> Option<Assigned> {
    let is_near = |ranked: &RankedTemplate| ranked.assigned.distance <= library.max_distance();
    let mut near = rank_templates(library, keys).take_while(is_near);
    near.find(|ranked| ranked.fits)
        .map(|ranked| ranked.assigned)
}

/// What a text of a page is in a template. Written out, it is a name for people: that of `templates show`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TextRole {
    /// In a slot that has a name.
    Named(String),
    /// Part of the template: most pages have the same text there.
    Fixed,
    /// In a region that holds this field.
    Region(Field),
    /// In a slot without a name, which has this key.
    Slot(u64),
    /// In no place that the template knows.
    Unknown,
}

impl fmt::Display for TextRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Fixed => f.write_str("fixed text"),
            Self::Region(field) => f.write_str(field.name()),
            Self::Slot(key) => write!(f, "[{:08x}]", key >> 32),
            Self::Unknown => f.write_str("no slot"),
        }
    }
}

/// Returns the texts of a page in its order with what each is in the template; texts without letters and digits, and what is
/// beyond the length that is aligned, are skipped.
pub fn read_roles(guide: &Guide<'_>, page: &Page) -> Vec<(NodeId, TextRole)> {
    let slots = &guide.template.slots;
    let known: HashMap<u64, &Slot> = slots.iter().map(|slot| (slot.key, slot)).collect();
    let (sequence, alignment) = (&guide.keys.sequence, &guide.alignment);
    let role = |at: usize, node: NodeId| {
        let slot = slot_key(alignment, at).and_then(|key| known.get(&key));
        let slot = slot.filter(|_| !alignment.is_node[at]);
        if let Some(name) = slot.and_then(|slot| slot.name.clone()) {
            TextRole::Named(name)
        } else if alignment.is_node[at] {
            TextRole::Fixed
        } else if let Some(field) = guide.field(page.block_of(node)) {
            TextRole::Region(field)
        } else if let Some(slot) = slot {
            TextRole::Slot(slot.key)
        } else {
            TextRole::Unknown
        }
    };
    let texts = sequence.tokens.iter().zip(&sequence.nodes).enumerate();
    let texts = texts.filter(|(_, (token, _))| token.is_text());
    texts
        .map(|(at, (_, node))| (*node, role(at, *node)))
        .collect()
}
