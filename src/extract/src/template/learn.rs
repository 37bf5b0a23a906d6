//! Learns templates from the observations of a site. [`Learned`] has a template for each cluster that is large enough, and
//! the cluster of each observation.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::cluster;
use super::config::Config;
use super::nodes::{Nodes, QUORUM, TemplateNode};
use super::observation::{Field, KeySet, Keys, Observation};
use super::regions::{Region, Slot, find_label, find_regions, find_slots, slot_key};
use super::sequence::{Layout, Sequence, Token};

/// Pages aligned for the nodes of a template, those nearest the middle; the rest counts for the regions.
const MAX_ALIGNED: usize = 60;
/// A key belongs to the middle of a cluster when so many of its pages have it.
const MIDDLE: f32 = 0.5;
/// Share of the tokens of a page's text that another one has as well, from which it is a copy.
const COPIED: f32 = 0.8;
/// Share of the main text that the container holds at least.
const ALMOST_ALL: f32 = 0.9;
/// Share of the pages that have the container at least.
const ON_MOST: f32 = 0.8;
/// Blocks above a line that are checked for the container.
const MAX_ABOVE: u32 = 64;
/// Tokens of a line that is rarely the same by chance.
const LONG_LINE: u32 = 20;
/// A line is a notice of the site if it is on so many pages at least, and on this share of them. The orders of an office and the
/// questions of an interview are the same on up to half of the pages, but for their numbers, and they are text.
const NOTICE_PAGES: u32 = 3;
const NOTICE_SHARE: f32 = 0.8;
/// Fewest and most tokens of a notice: a shorter line is the same by chance, of a longer one somebody quotes.
const NOTICE_TOKENS: std::ops::RangeInclusive<u32> = 6..=150;

/// What the pages of one layout have in common.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Template {
    /// Pages it was learned from.
    pub pages: u32,
    /// Keys of the middle of the cluster: a page is as far from the template as from this set.
    pub middle: KeySet,
    /// Mean distance of the pages it was learned from.
    pub mean_distance: f32,
    /// Greatest distance of one of them.
    pub max_distance: f32,
    /// Essential and optional nodes.
    pub nodes: Nodes,
    /// Places between the nodes where the texts vary.
    pub slots: Vec<Slot>,
    /// Places of text, in order of keys.
    pub regions: Vec<Region>,
    /// The innermost block that holds almost all main text on almost every page, and the share of its tokens that are
    /// main text; none if there is no such block.
    pub container: Option<(u64, f32)>,
    /// Hashes of the lines that several pages of the site say, of this layout or another: notices, not texts.
    #[serde(default)]
    notices: KeySet,
    /// Fields that a person gave to places.
    pub labels: BTreeMap<u64, Field>,
    /// Names of nodes by hash.
    pub names: HashMap<u64, String>,
}

impl Template {
    /// The region at a key.
    pub fn region(&self, key: u64) -> Option<&Region> {
        let at = self.regions.binary_search_by_key(&key, |r| r.key).ok()?;
        self.regions.get(at)
    }

    /// Whether several pages of the site say a line with this hash.
    pub(crate) fn is_notice(&self, text: u64) -> bool {
        self.notices.contains(text)
    }

    /// The name of a node, `…` if it is not known.
    pub fn name_of(&self, node: &TemplateNode) -> &str {
        self.names.get(&node.name).map_or("…", String::as_str)
    }

    /// The field at a key: what a person said, else what was learned.
    pub fn field(&self, key: u64) -> Option<Field> {
        let said = self.labels.get(&key).copied();
        said.or_else(|| self.region(key).and_then(|r| r.field))
    }

    /// The slot that a text of a page is in, so that it can be named. A text that so far held pages to its place, since it
    /// is the same on most of them, varies from now on. None for what is no text, and before the first node.
    pub fn slot_at(&mut self, keys: &Keys, token: usize) -> Option<u64> {
        let Sequence { tokens, layout, .. } = &keys.sequence;
        let mut alignment = self.nodes.align(tokens, layout);
        if !tokens.get(token)?.is_text() {
            return None;
        }
        let mut pages = 1;
        if alignment.is_node[token] {
            let node = alignment.at[token]?;
            pages = self.nodes.nodes.get(node)?.pages;
            self.nodes.release(node);
            alignment = self.nodes.align(tokens, layout);
        }
        let key = slot_key(&alignment, token)?;
        if self.slots.iter().all(|slot| slot.key != key) {
            self.slots.push(Slot {
                key,
                after: alignment.at[token]?,
                pages,
                values: 1,
                name: None,
                is_said: false,
            });
        }
        Some(key)
    }

    /// Whether a person named or labelled something of it, which documents that were read before lack.
    pub fn has_said_fields(&self) -> bool {
        let is_said = |slot: &Slot| slot.is_said && slot.name.is_some();
        !self.labels.is_empty() || self.slots.iter().any(is_said)
    }

    /// Gives a slot a name as a person said, or takes its name from it: then it gives no field. False if there is no such
    /// slot.
    pub fn name_slot(&mut self, key: u64, name: Option<&str>) -> bool {
        let slot = self.slots.iter_mut().find(|slot| slot.key == key);
        slot.map(|slot| {
            slot.name = name.map(str::to_owned);
            slot.is_said = true;
        })
        .is_some()
    }

    /// Takes back what a person said of a slot: it has the name that its label gives it. False if there is no such slot.
    pub fn forget_slot(&mut self, key: u64) -> bool {
        let slot = self.slots.iter_mut().find(|slot| slot.key == key);
        slot.map(|slot| {
            slot.name = find_label(&self.nodes, slot.after, &self.names);
            slot.is_said = false;
        })
        .is_some()
    }

    /// A region that almost every page has.
    pub fn is_essential(&self, region: &Region) -> bool {
        self.presence(region) >= QUORUM
    }

    /// The share of the pages that have a region.
    pub fn presence(&self, region: &Region) -> f32 {
        region.pages as f32 / self.pages.max(1) as f32
    }
}

/// What was learned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Learned {
    /// Templates, that of most pages first.
    pub templates: Vec<Template>,
    /// For each observation the template it belongs to.
    pub template_of: Vec<Option<usize>>,
}

/// Clusters observations and makes a template of each cluster with enough pages.
pub fn learn(seen: &[Observation], config: &Config) -> Learned {
    let sets: Vec<KeySet> = seen.iter().map(Observation::key_set).collect();
    let clusters = cluster::cluster_sets(&sets, config.max_distance);
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, cluster) in clusters.iter().enumerate() {
        members.entry(*cluster).or_default().push(at);
    }
    let mut groups: Vec<(Vec<usize>, Vec<usize>)> = members
        .into_values()
        .map(|all| (find_originals(seen, &all), all))
        .filter(|(originals, _)| originals.len() >= config.min_pages.max(2))
        .collect();
    groups.sort_by_key(|(originals, _)| std::cmp::Reverse(originals.len()));
    let notices = find_notices(seen);
    let mut learned = Learned {
        template_of: vec![None; seen.len()],
        ..Learned::default()
    };
    for (originals, all) in groups {
        for at in all {
            learned.template_of[at] = Some(learned.templates.len());
        }
        learned.templates.push(Template {
            notices: notices.clone(),
            ..make_template(seen, &sets, &originals)
        });
    }
    learned
}

/// Members that are no copies of others: what two copies share is no boilerplate. A long line alone makes none, since pages of
/// two goods may have the same description.
fn find_originals(seen: &[Observation], members: &[usize]) -> Vec<usize> {
    let mut owner: HashMap<u64, usize> = HashMap::new();
    let mut kept = Vec::new();
    for at in members {
        let body = |page: usize| {
            let lines = seen[page].lines.iter();
            lines.filter(|l| l.vote == Some(Field::Body))
        };
        let long: HashSet<u64> = body(*at)
            .filter(|l| l.tokens >= LONG_LINE)
            .map(|l| l.text)
            .collect();
        let others: HashSet<usize> = long.iter().filter_map(|t| owner.get(t).copied()).collect();
        let is_copy = others.into_iter().any(|other| {
            let there: HashSet<u64> = body(other).map(|l| l.text).collect();
            let tokens = |is_there: bool| -> u32 {
                let lines = body(*at).filter(|l| there.contains(&l.text) == is_there);
                lines.map(|l| l.tokens).sum()
            };
            let (shared, own) = (tokens(true) as f32, tokens(false) as f32);
            shared >= COPIED * (shared + own)
        });
        if is_copy {
            continue;
        }
        for text in long {
            owner.entry(text).or_insert(*at);
        }
        kept.push(*at);
    }
    kept
}

/// Hashes of the lines that several pages of a site say which are no copies of each other, whatever their layout. A line
/// counts once a page: a refrain is no notice.
fn find_notices(seen: &[Observation]) -> KeySet {
    let originals = find_originals(seen, &(0..seen.len()).collect::<Vec<_>>());
    let mut pages: HashMap<u64, u32> = HashMap::new();
    for at in &originals {
        let lines = seen[*at].lines.iter();
        let long = lines.filter(|line| NOTICE_TOKENS.contains(&line.tokens));
        for text in long.map(|line| line.text).collect::<HashSet<u64>>() {
            *pages.entry(text).or_default() += 1;
        }
    }
    let least = NOTICE_PAGES.max((NOTICE_SHARE * originals.len() as f32).ceil() as u32);
    let notices = pages.into_iter().filter(|(_, count)| *count >= least);
    KeySet::new(notices.map(|(text, _)| text).collect())
}

fn make_template(seen: &[Observation], sets: &[KeySet], members: &[usize]) -> Template {
    let pages = members.len();
    let mut counts: HashMap<u64, u32> = HashMap::new();
    for key in members.iter().flat_map(|at| sets[*at].keys()) {
        *counts.entry(*key).or_default() += 1;
    }
    let middle = counts
        .into_iter()
        .filter(|(_, n)| *n as f32 >= MIDDLE * pages as f32);
    let middle = KeySet::new(middle.map(|(key, _)| key).collect());
    let mut near: Vec<(f32, usize)> = members
        .iter()
        .map(|at| (1.0 - sets[*at].similarity(&middle), *at))
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let distances = || near.iter().map(|(distance, _)| *distance);
    let (mean_distance, max_distance) = (
        distances().sum::<f32>() / pages.max(1) as f32,
        distances().fold(0.0, f32::max),
    );
    let aligned: Vec<&[Token]> = near
        .iter()
        .take(MAX_ALIGNED)
        .map(|(_, at)| seen[*at].tokens.as_slice())
        .collect();
    let all: Vec<&Observation> = members.iter().map(|at| &seen[*at]).collect();
    let words: HashMap<u64, String> = all.iter().flat_map(|seen| seen.names.clone()).collect();
    let nodes = Nodes::learn(&aligned);
    Template {
        pages: pages as u32,
        middle,
        mean_distance,
        max_distance,
        slots: find_slots(&nodes, &aligned, &words),
        container: find_container(&all),
        regions: find_regions(&all),
        notices: KeySet::default(),
        labels: BTreeMap::new(),
        names: nodes
            .nodes
            .iter()
            .filter_map(|node| Some((node.name, words.get(&node.name)?.clone())))
            .collect(),
        nodes,
    }
}

/// The innermost key that holds almost all main text, with the share of its tokens that are main text.
fn find_container(members: &[&Observation]) -> Option<(u64, f32)> {
    let mut above: HashMap<u64, u64> = HashMap::new();
    let mut pages: HashMap<u64, (u32, usize)> = HashMap::new();
    for (page, seen) in (1..).zip(members) {
        let mut open: Vec<u64> = Vec::new();
        for (token, key) in seen.tokens.iter().zip(Layout::new(&seen.tokens).keys) {
            open.truncate(usize::from(token.depth));
            if token.is_block() {
                above.insert(key, open.last().copied().unwrap_or_default());
                let (count, last) = pages.entry(key).or_default();
                *count += u32::from(*last != page);
                *last = page;
            }
            if !token.is_text() {
                open.push(key);
            }
        }
    }
    let mut inside: HashMap<u64, (u64, u64, u32)> = HashMap::new();
    let mut total = 0;
    for line in members.iter().flat_map(|seen| &seen.lines) {
        let kept = u64::from(line.tokens) * u64::from(line.vote == Some(Field::Body));
        total += kept;
        let mut key = line.key;
        for depth in 0..MAX_ABOVE {
            let Some(next) = above.get(&key).copied() else {
                break;
            };
            let (all, of_kept, height) = inside.entry(key).or_default();
            *all += u64::from(line.tokens);
            *of_kept += kept;
            *height = (*height).max(depth);
            key = next;
        }
    }
    let everywhere = |key: &u64| {
        let count = pages.get(key).map_or(0, |(count, _)| *count);
        count as f32 >= ON_MOST * members.len() as f32
    };
    inside
        .into_iter()
        .filter(|(key, (_, kept, _))| *kept as f32 >= ALMOST_ALL * total as f32 && everywhere(key))
        .min_by_key(|(key, (all, _, height))| (*all, *height, *key))
        .map(|(key, (all, kept, _))| (key, kept as f32 / all.max(1) as f32))
}
