//! Regions of a template: the places where text stands. In: the lines of the cluster's pages. Out: for each place how
//! often it is there, how much its text varies, which fields the extraction saw in it; and what follows from that.
//!
//! Text that is the same on every page is decoration, text that differs on every page is data: the entropy of the texts
//! of a place over the pages, divided by its maximum, tells them apart (after Lin and Ho, KDD 2002).

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::field::Field;
use super::observation::{Observation, ObservedLine};

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
pub(super) fn regions(members: &[&Observation]) -> Vec<Region> {
    let mut counting: HashMap<u64, Counting> = HashMap::new();
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
struct Counting {
    region: Region,
    last_page: Option<u32>,
    voted: [Option<u32>; 7],
    /// Text of the place on the present page, all lines together.
    text: u64,
    texts: HashMap<u64, u32>,
}

impl Counting {
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

/// Gives the single fields to the places with most votes, the body to all places where it stands, boilerplate to what
/// is the same everywhere.
fn name_fields(regions: &mut [Region], pages: f32) {
    for field in [Field::Title, Field::Published, Field::Author, Field::Source] {
        let votes = |r: &Region| r.votes_for(field);
        let best = (0..regions.len())
            .filter(|at| regions[*at].field.is_none())
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
