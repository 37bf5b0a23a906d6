//! From observations to templates. In: the observations of a site. Out: [`Learned`]: a template for each cluster that is
//! large enough, and which observation went where.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::cluster;
use super::config::Config;
use super::field::Field;
use super::keys::KeySet;
use super::nodes::{Piece, QUORUM, pieces, sequence_of};
use super::observation::Observation;
use super::regions::{Region, regions, repeated_texts};

/// Pages aligned for the nodes of a template, those nearest the middle; the rest counts for the regions.
const MAX_ALIGNED: usize = 60;
/// A key belongs to the middle of a cluster when so many of its pages have it.
const MIDDLE: f32 = 0.5;
/// Long lines that two pages share from which one is a copy of the other.
const COPIED: f32 = 0.5;
/// Share of the main text that the container holds at least.
const ALMOST_ALL: f32 = 0.9;
/// Share of the pages that have the container at least.
const ON_MOST: f32 = 0.8;
/// Blocks above a line that are looked at for the container.
const MAX_ABOVE: u32 = 64;
/// Tokens of a line that is rarely the same by chance.
const LONG_LINE: u32 = 20;

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
    /// Keys that stand on almost every page.
    pub essential: KeySet,
    /// Essential and optional nodes.
    pub pieces: Vec<Piece>,
    /// Places of text, in order of keys.
    pub regions: Vec<Region>,
    /// Texts that stand on several pages, with the number of pages.
    pub repeated: Vec<(u64, u32)>,
    /// The innermost block that holds almost all main text on almost every page, and the share of its tokens that are
    /// main text; none if there is no such block.
    pub container: Option<(u64, f32)>,
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

    /// The field at a key: what a person said, else what was learned.
    pub fn field(&self, key: u64) -> Option<Field> {
        let said = self.labels.get(&key).copied();
        said.or_else(|| self.region(key).and_then(|r| r.field))
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
        .map(|all| (originals(seen, &all), all))
        .filter(|(originals, _)| originals.len() >= config.min_pages.max(2))
        .collect();
    groups.sort_by_key(|(originals, _)| std::cmp::Reverse(originals.len()));
    let mut learned = Learned {
        template_of: vec![None; seen.len()],
        ..Learned::default()
    };
    for (originals, all) in groups {
        for at in all {
            learned.template_of[at] = Some(learned.templates.len());
        }
        learned.templates.push(template(seen, &sets, &originals));
    }
    learned
}

/// Members that are no copies of others: what two copies share is no boilerplate.
fn originals(seen: &[Observation], members: &[usize]) -> Vec<usize> {
    let mut owner: HashMap<u64, usize> = HashMap::new();
    let mut kept = Vec::new();
    for at in members {
        let long: HashSet<u64> = seen[*at]
            .lines
            .iter()
            .filter(|l| l.vote == Some(Field::Body) && l.tokens >= LONG_LINE)
            .map(|l| l.text)
            .collect();
        let mut by_owner: HashMap<usize, usize> = HashMap::new();
        for text in &long {
            if let Some(other) = owner.get(text) {
                *by_owner.entry(*other).or_default() += 1;
            }
        }
        let most = by_owner.values().copied().max().unwrap_or_default();
        if most as f32 > COPIED * long.len() as f32 {
            continue;
        }
        for text in long {
            owner.entry(text).or_insert(*at);
        }
        kept.push(*at);
    }
    kept
}

fn template(seen: &[Observation], sets: &[KeySet], members: &[usize]) -> Template {
    let pages = members.len();
    let mut counts: HashMap<u64, u32> = HashMap::new();
    for key in members.iter().flat_map(|at| sets[*at].keys()) {
        *counts.entry(*key).or_default() += 1;
    }
    let at_least = |share: f32| {
        let keys = counts
            .iter()
            .filter(|(_, n)| **n as f32 >= share * pages as f32);
        KeySet::of(keys.map(|(key, _)| *key).collect())
    };
    let middle = at_least(MIDDLE);
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
    let sequences: Vec<_> = near
        .iter()
        .take(MAX_ALIGNED)
        .map(|(_, at)| sequence_of(&seen[*at]))
        .collect();
    let all: Vec<&Observation> = members.iter().map(|at| &seen[*at]).collect();
    let pieces = pieces(&sequences, 0);
    let names = names(&pieces, &all);
    Template {
        pages: pages as u32,
        essential: at_least(QUORUM),
        middle,
        mean_distance,
        max_distance,
        pieces,
        container: container(&all),
        regions: regions(&all),
        repeated: repeated_texts(&all),
        labels: BTreeMap::new(),
        names,
    }
}

/// The innermost key that holds almost all main text, with the share of its tokens that are main text.
fn container(members: &[&Observation]) -> Option<(u64, f32)> {
    let mut above: HashMap<u64, u64> = HashMap::new();
    let mut pages: HashMap<u64, (u32, usize)> = HashMap::new();
    for (page, seen) in (1..).zip(members) {
        let mut open: Vec<u64> = Vec::new();
        for node in &seen.nodes {
            open.truncate(usize::from(node.depth));
            above.insert(node.key, open.last().copied().unwrap_or_default());
            open.push(node.key);
            let (count, last) = pages.entry(node.key).or_default();
            *count += u32::from(*last != page);
            *last = page;
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

/// Names of the nodes of the pieces.
fn names(pieces: &[Piece], members: &[&Observation]) -> HashMap<u64, String> {
    let mut wanted: HashSet<u64> = HashSet::new();
    for piece in pieces {
        match piece {
            Piece::Essential(nodes) => wanted.extend(nodes.iter().map(|n| n.name)),
            Piece::Optional(all) => {
                wanted.extend(all.iter().flat_map(|(_, nodes)| nodes).map(|n| n.name));
            }
        }
    }
    members
        .iter()
        .flat_map(|seen| &seen.names)
        .filter(|(hash, _)| wanted.contains(hash))
        .map(|(hash, name)| (*hash, name.clone()))
        .collect()
}
