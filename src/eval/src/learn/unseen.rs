//! Weights that have not seen the page they judge: for each page those learned without its part of the sets.

use std::collections::{HashMap, HashSet};

use super::super::corpus::{EvalError, Gold, Set};
use super::labelled::{Labelled, load_labelled};
use super::{feature_names, learn_from};
use taojin_extract::learn::Weights;

/// Weights for pages that they were not learned from.
#[derive(Debug, Clone)]
pub struct Unseen {
    weights: Vec<Weights>,
    /// Number of the weights for each page of each set.
    of: HashMap<String, HashMap<String, usize>>,
}

impl Unseen {
    /// Parts the sites at random, by `seed`, into `count` parts, at least two; a page is judged with what the other parts
    /// teach. `seen` is called after each part. `None` if the pages of the other parts have no text for one of them.
    pub fn folds(
        sets: &[Set],
        licensed: bool,
        count: usize,
        seed: u64,
        seen: impl FnMut(),
    ) -> Result<Option<Self>, EvalError> {
        let pages = load_labelled(sets, licensed)?;
        let count = count.max(2);
        let part = |page: &Labelled| {
            let hash = xxhash_rust::xxh3::xxh3_64_with_seed(page.site.as_bytes(), seed);
            (hash % count as u64) as usize
        };
        let others = |fold: usize| move |page: &Labelled| part(page) != fold;
        let parts = (0..count).map(others);
        Ok(Self::learn(&pages, parts, |page| Some(part(page)), seen))
    }

    /// Leaves one set out: each of `judged` is judged with what the other sets of `all` teach, but for their pages of its
    /// sites.
    pub fn sets(
        all: &[Set],
        licensed: bool,
        judged: &[Set],
        seen: impl FnMut(),
    ) -> Result<Option<Self>, EvalError> {
        let pages = load_labelled(all, licensed)?;
        let sites = |set: &str| -> HashSet<String> {
            let own = pages.iter().filter(|p| p.set == set);
            own.map(|p| p.site.clone()).collect()
        };
        let sites: Vec<_> = judged.iter().map(|set| sites(&set.name)).collect();
        let others = sites.iter().zip(judged).map(|(sites, set)| {
            move |page: &Labelled| page.set != set.name && !sites.contains(&page.site)
        });
        let part = |page: &Labelled| judged.iter().position(|set| set.name == page.set);
        Ok(Self::learn(&pages, others, part, seen))
    }

    fn learn<F: Fn(&Labelled) -> bool>(
        pages: &[Labelled],
        parts: impl Iterator<Item = F>,
        part: impl Fn(&Labelled) -> Option<usize>,
        mut seen: impl FnMut(),
    ) -> Option<Self> {
        let mut learned = Vec::new();
        for takes in parts {
            let others = pages.iter().filter(|page| page.learned && takes(page));
            let others: Vec<&Labelled> = others.collect();
            let names = feature_names(others.iter().copied())?;
            learned.push(learn_from(&others, &names));
            seen();
        }
        let mut of: HashMap<String, HashMap<String, usize>> = HashMap::new();
        for page in pages {
            if let Some(part) = part(page) {
                let of_set = of.entry(page.set.clone()).or_default();
                of_set.insert(page.id.clone(), part);
            }
        }
        Some(Self {
            weights: learned,
            of,
        })
    }

    /// The weights that have seen neither this page nor another of its site.
    pub(in super::super) fn weights_for(&self, set: &str, gold: &Gold) -> Option<&Weights> {
        let part = self.of.get(set)?.get(&gold.id)?;
        self.weights.get(*part)
    }
}
