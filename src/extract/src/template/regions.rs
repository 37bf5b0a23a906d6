//! Regions of a template: places of text with statistics over the cluster's pages, that is how often a place occurs, how
//! much its text varies, and which fields the extraction assigned. Slots are the gaps between two nodes of the template,
//! with names from labels and people, and their values on a page.
//!
//! Text that is the same on every page is decoration, text that differs on every page is data: the entropy of the texts
//! of a place over the pages, divided by its maximum, distinguishes them (after Lin and Ho, KDD 2002).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::nodes::{Alignment, Nodes, TemplateNode};
use super::observation::{Field, Observation, ObservedLine};
use super::sequence::{Layout, Sequence, Token, TokenKind, split_label};
use crate::cues::phrases::{Phrase, SeenWords, classify_phrase};
use crate::fields::label_words::normalize_label;
use crate::page::{NodeId, Page};
use crate::similarity::mix;

/// Share of a place's pages (or lines, for the body) that must vote for a field.
const MAJORITY: f32 = 0.5;
/// Below this entropy a place says the same everywhere.
const CONSTANT: f32 = 0.25;

/// What was counted at one place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// Fine key of the block.
    pub key: u64,
    /// Pages that have it.
    pub pages: u32,
    /// Its lines on all pages.
    pub lines: u32,
    /// Lines that the extraction took for main text.
    pub kept: u32,
    /// Tokens of all lines.
    pub tokens: u64,
    /// Tokens of the lines kept.
    pub kept_tokens: u64,
    /// Entropy of its texts over the pages, 0 (the same everywhere) to 1 (never the same).
    pub entropy: f32,
    /// Pages whose extraction found a field here, in the order of [`Field::ALL`].
    pub votes: [u32; 7],
    /// What it holds.
    pub field: Option<Field>,
}

impl Region {
    /// Pages that voted for a field.
    pub fn votes_for(&self, field: Field) -> u32 {
        Field::ALL
            .iter()
            .position(|f| *f == field)
            .map_or(0, |at| self.votes[at])
    }

    /// The text is the same on all pages that have it.
    pub fn is_constant(&self) -> bool {
        self.pages >= 3 && self.entropy < CONSTANT
    }
}

/// The regions of some pages in order of keys, fields named.
pub(super) fn find_regions(members: &[&Observation]) -> Vec<Region> {
    let mut counting: HashMap<u64, RegionCounts> = HashMap::new();
    for (page, seen) in (0u32..).zip(members) {
        for line in &seen.lines {
            counting.entry(line.key).or_default().add(page, line);
        }
    }
    let mut regions: Vec<Region> = counting
        .into_iter()
        .map(|(key, counting)| counting.finish(key))
        .collect();
    regions.sort_unstable_by_key(|r| r.key);
    name_fields(&mut regions, members.len() as f32);
    regions
}

#[derive(Default)]
struct RegionCounts {
    region: Region,
    last_page: Option<u32>,
    voted: [Option<u32>; 7],
    /// Text of the place on the present page, all lines together.
    text: u64,
    texts: HashMap<u64, u32>,
}

impl RegionCounts {
    fn add(&mut self, page: u32, line: &ObservedLine) {
        if self.last_page != Some(page) {
            self.close();
            self.last_page = Some(page);
            self.region.pages += 1;
        }
        self.text = crate::similarity::mix(self.text, line.text);
        let region = &mut self.region;
        region.lines += 1;
        region.tokens += u64::from(line.tokens);
        if line.vote == Some(Field::Body) {
            region.kept += 1;
            region.kept_tokens += u64::from(line.tokens);
        }
        for (n, field) in Field::ALL.into_iter().enumerate() {
            if line.vote == Some(field) && self.voted[n] != Some(page) {
                self.voted[n] = Some(page);
                region.votes[n] += 1;
            }
        }
    }

    fn close(&mut self) {
        if self.last_page.is_some() {
            *self.texts.entry(self.text).or_default() += 1;
        }
        self.text = 0;
    }

    fn finish(mut self, key: u64) -> Region {
        self.close();
        let pages = self.region.pages as f32;
        let entropy: f32 = self
            .texts
            .values()
            .map(|n| *n as f32 / pages)
            .map(|p| -p * p.log2())
            .sum();
        Region {
            key,
            entropy: if pages < 2.0 {
                1.0
            } else {
                (entropy / pages.log2()).clamp(0.0, 1.0)
            },
            ..self.region
        }
    }
}

/// Gives the single fields to the places with most votes, the body to all places where it is, boilerplate to what
/// is the same everywhere.
fn name_fields(regions: &mut [Region], pages: f32) {
    for field in [Field::Title, Field::Published, Field::Author, Field::Source] {
        let votes = |r: &Region| r.votes_for(field);
        // A line that says the same on every page is the name of the site, however like a headline it is set.
        let may_hold = |r: &Region| field != Field::Title || !r.is_constant();
        let best = (0..regions.len())
            .filter(|at| regions[*at].field.is_none() && may_hold(&regions[*at]))
            // Of equal ones the place with fewer lines: a field of its own, not a list.
            .max_by_key(|at| (votes(&regions[*at]), std::cmp::Reverse(regions[*at].lines)));
        if let Some(at) = best {
            let region = &regions[at];
            let votes = votes(region) as f32;
            let enough = votes >= 2.0 && votes >= 0.3 * pages;
            if enough && votes >= MAJORITY * region.pages as f32 {
                regions[at].field = Some(field);
            }
        }
    }
    for region in regions.iter_mut().filter(|r| r.field.is_none()) {
        let share = |n: u32| n as f32 / region.lines.max(1) as f32;
        let comments = region.votes_for(Field::Comments) as f32;
        region.field = if comments >= MAJORITY * region.pages as f32 {
            Some(Field::Comments)
        } else if region.is_constant() {
            Some(Field::Boilerplate)
        } else if share(region.kept) >= MAJORITY {
            Some(Field::Body)
        } else {
            None
        };
    }
}

/// Slots kept of a template, those of most pages first.
const MAX_SLOTS: usize = 400;
/// Share of the pages on which a slot is that is named by its label, and so many of them.
const NAMED: f32 = 0.3;
const NAMED_PAGES: u32 = 3;
/// Texts a page in a slot that a label names, on average: more are a list of links or a text.
const NAMED_TEXTS: u32 = 24;
/// Between two values where the page shows no signs, and the longest signs, in characters.
const SEPARATOR: &str = " / ";
const MAX_SEPARATOR: usize = 4;
/// Nodes from a label to its value.
const NEAR: usize = 4;
/// Values taken of one slot, and characters of each.
const MAX_VALUES: usize = 64;
const MAX_CHARS: usize = 300;

/// A place between the nodes of a template where the texts vary from page to page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    /// Its key, for commands and URLs.
    pub key: u64,
    /// The node that it follows, or whose text it is the rest of.
    pub after: usize,
    /// Pages that have it, of those learned from.
    pub pages: u32,
    /// Different contents on them.
    pub values: u32,
    /// Name of its field; none for a slot that gives no field.
    pub name: Option<String>,
    /// A person said so.
    #[serde(default)]
    pub is_said: bool,
}

/// What a page says in the slots of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotValue {
    /// Name of the field.
    pub name: String,
    /// A person gave the name.
    pub is_said: bool,
    /// Its texts in the order of the page.
    pub texts: Vec<String>,
    /// What parts them on the page.
    pub separator: String,
}

impl SlotValue {
    /// Its texts as one, as the page has them.
    pub fn join(&self) -> String {
        self.texts.join(&self.separator)
    }
}

/// The key of the slot that a token of an aligned page is in; none before the first node.
pub fn slot_key(alignment: &Alignment, token: usize) -> Option<u64> {
    let after = alignment.at.get(token).copied().flatten()?;
    Some(mix(after as u64, alignment.places[token]))
}

/// Finds the slots of some pages. `words` says what a hash of a name or a label means.
pub(super) fn find_slots(
    nodes: &Nodes,
    pages: &[&[Token]],
    words: &HashMap<u64, String>,
) -> Vec<Slot> {
    #[derive(Default)]
    struct RegionCounts {
        after: usize,
        pages: u32,
        texts: u32,
        contents: HashSet<u64>,
    }
    let mut counting: HashMap<u64, RegionCounts> = HashMap::new();
    for tokens in pages {
        let alignment = nodes.align(tokens, &Layout::new(tokens));
        let mut own: BTreeMap<u64, (usize, u32, u64)> = BTreeMap::new();
        for (at, token) in tokens.iter().enumerate() {
            if token.is_text()
                && !alignment.is_node[at]
                && let (Some(key), Some(after)) = (slot_key(&alignment, at), alignment.at[at])
            {
                let (_, texts, content) = own.entry(key).or_insert((after, 0, 0));
                *texts += 1;
                *content = mix(*content, token.name);
            }
        }
        for (key, (after, texts, content)) in own {
            let slot = counting.entry(key).or_default();
            slot.after = after;
            slot.pages += 1;
            slot.texts += texts;
            slot.contents.insert(content);
        }
    }
    let all = pages.len() as f32;
    let named = |slot: &RegionCounts| {
        let is_usual = slot.pages >= NAMED_PAGES && slot.pages as f32 >= NAMED * all;
        let varies = slot.contents.len() > 1 && slot.texts <= NAMED_TEXTS * slot.pages;
        let name = find_label(nodes, slot.after, words);
        name.filter(|_| is_usual && varies)
    };
    let mut slots: Vec<Slot> = counting
        .into_iter()
        .filter(|(_, slot)| slot.pages > 1)
        .map(|(key, slot)| Slot {
            key,
            after: slot.after,
            pages: slot.pages,
            values: slot.contents.len() as u32,
            name: named(&slot),
            is_said: false,
        })
        .collect();
    slots.sort_by_key(|slot| (std::cmp::Reverse(slot.pages), slot.after, slot.key));
    slots.truncate(MAX_SLOTS);
    slots.sort_by_key(|slot| (slot.after, slot.key));
    // What a label says is what comes next to it.
    let mut taken: HashMap<usize, usize> = HashMap::new();
    for slot in &mut slots {
        let label = find_label_before(nodes, slot.after).unwrap_or_default();
        if slot.name.is_some() && *taken.entry(label).or_insert(slot.after) != slot.after {
            slot.name = None;
        }
    }
    slots
}

/// The number of the last text before a slot; a few elements may open between a label and its value.
fn find_label_before(nodes: &Nodes, after: usize) -> Option<usize> {
    let from = after.saturating_sub(NEAR - 1);
    (from..=after)
        .rev()
        .find(|at| nodes.nodes.get(*at).is_some_and(TemplateNode::is_text))
}

/// The name that the label before a slot gives it.
pub(super) fn find_label(
    nodes: &Nodes,
    after: usize,
    words: &HashMap<u64, String>,
) -> Option<String> {
    let at = find_label_before(nodes, after)?;
    let label = nodes.nodes.get(at)?;
    let mut before = nodes.nodes.get(..at)?.iter().rev();
    let around = before.find(|node| !node.is_text() && node.depth < label.depth);
    let around = around.and_then(|node| words.get(&node.name));
    let is_element = |tag: &str| {
        let name = around.and_then(|name| name.strip_prefix(tag));
        name.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '#']))
    };
    // A headline that is linked says something of somebody, not of the page.
    let is_headline = label.is_begun && is_element("a");
    let is_head = is_element("th") || is_element("dt");
    if is_headline || (label.kind != TokenKind::Label && !is_head) {
        return None;
    }
    let words = words.get(&label.name)?;
    let name = normalize_label(words.trim_start_matches(['（', '(']))?;
    let line = format!("{name}：");
    let elsewhere = matches!(
        classify_phrase(&line, SeenWords::new(&line)),
        Some(
            Phrase::Footer
                | Phrase::Related
                | Phrase::Tools
                | Phrase::Comments
                | Phrase::Source
                | Phrase::Promo
                | Phrase::Legal
                | Phrase::Paging
                | Phrase::Crumbs
                | Phrase::Attachment
        )
    );
    (!elsewhere).then_some(name)
}

/// The texts of a page that are in a slot: number of the token, key of the slot, what it says without its label.
pub fn collect_slot_texts<'a>(
    alignment: &'a Alignment,
    sequence: &'a Sequence,
    page: &'a Page,
) -> impl Iterator<Item = (usize, u64, &'a str)> {
    let texts = sequence.tokens.iter().enumerate();
    let texts = texts.filter(|(at, token)| token.is_text() && !alignment.is_node[*at]);
    texts.filter_map(|(at, _)| {
        let text = page.text(sequence.nodes[at]).trim();
        let value = split_label(text).filter(|_| alignment.is_labelled[at]);
        let text = value.map_or(text, |(_, value)| value);
        let text = text.trim_start_matches([':', '：']).trim_start();
        Some((at, slot_key(alignment, at)?, text))
    })
}

/// The values of a page's named slots, in the order of the page; a name that several slots have comes once, with the texts of
/// all.
pub(super) fn read_values(
    slots: &[Slot],
    alignment: &Alignment,
    sequence: &Sequence,
    page: &Page,
) -> Vec<SlotValue> {
    let named = slots.iter().filter(|slot| slot.name.is_some());
    let named: HashMap<u64, &Slot> = named.map(|slot| (slot.key, slot)).collect();
    let mut values: Vec<SlotValue> = Vec::new();
    if named.is_empty() {
        return values;
    }
    let mut last: Option<(usize, usize)> = None;
    for (at, key, text) in collect_slot_texts(alignment, sequence, page) {
        let Some((slot, name)) = named
            .get(&key)
            .and_then(|slot| Some((slot, slot.name.as_ref()?)))
        else {
            continue;
        };
        let known = values.iter().position(|value| value.name == *name);
        let number = known.unwrap_or_else(|| {
            values.push(SlotValue {
                name: name.clone(),
                is_said: false,
                texts: Vec::new(),
                separator: SEPARATOR.to_owned(),
            });
            values.len() - 1
        });
        let value = &mut values[number];
        value.is_said |= slot.is_said;
        if let Some((_, before)) = last.filter(|(of, _)| *of == number && value.texts.len() == 1) {
            let between = sequence.nodes[before] + 1..sequence.nodes[at];
            value.separator = separator(page, between).unwrap_or_else(|| SEPARATOR.to_owned());
        }
        if value.texts.len() < MAX_VALUES {
            value.texts.push(text.chars().take(MAX_CHARS).collect());
        }
        last = Some((number, at));
    }
    values
}

/// The signs between two texts of a list, if nothing else is there.
fn separator(page: &Page, between: Range<NodeId>) -> Option<String> {
    let signs: String = page.shown_texts(between).map(|id| page.text(id)).collect();
    let is_separator = signs.contains(|c: char| !c.is_whitespace() && !c.is_alphanumeric())
        && signs.chars().count() <= MAX_SEPARATOR;
    is_separator.then_some(signs)
}
