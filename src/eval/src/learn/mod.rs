//! Learns the weights of the extraction from labelled pages: [`Weights`] with the manifest of their sources. The features
//! of all pages are in memory at once, unlike elsewhere in this crate; the same pages always return the same weights.
//!
//! Three tables: page types (logistic regression over classes), lines alone (logistic regression), lines together (boosted
//! trees). The trees are fed cross-fitted predictions of the first two, from weights that never saw the page's site;
//! otherwise they would trust them too much.

mod boost;
mod labelled;
mod labels;
mod linear;
mod manifest;
mod sites;
mod table;
mod unseen;

pub use unseen::Unseen;

use taojin_extract::learn::{DEPTH, FeatureNames, MOST_KEPT, TYPES, Weights};

use super::corpus::{EvalError, Set};
use boost::{Examples, Forest};
use labelled::{Labelled, load_labelled};
use linear::ClassExamples;

/// The weights learned from the pages of `sets`; with `licensed` only from sets that state a licence. `None` if no page has a
/// gold text.
pub fn learn(sets: &[Set], licensed: bool) -> Result<Option<Weights>, EvalError> {
    let pages = load_labelled(sets, licensed)?;
    let all: Vec<&Labelled> = pages.iter().filter(|p| p.learned).collect();
    let Some(names) = feature_names(all.iter().copied()) else {
        return Ok(None);
    };
    let mut weights = learn_from(&all, &names);
    weights.sources = manifest::list_sources(sets, &all);
    Ok(Some(weights))
}

fn feature_names<'a>(pages: impl IntoIterator<Item = &'a Labelled>) -> Option<FeatureNames> {
    let mut texts = pages.into_iter().filter(|p| p.has_text());
    texts.find_map(|p| p.prepared.names(&p.page))
}

fn learn_from(pages: &[&Labelled], names: &FeatureNames) -> Weights {
    let (firsts, types) = (names.first.len(), names.page.len());
    let first = |fold: Option<usize>| {
        let mut examples = Examples::default();
        for page in pages
            .iter()
            .filter(|p| Some(p.fold) != fold && p.has_text())
        {
            examples.rows.extend(
                page.sample
                    .iter()
                    .filter_map(|i| page.rows[*i].get(..firsts)),
            );
            page.tell(&mut examples);
        }
        linear::fit(&examples, firsts)
    };
    let kinds = |fold: Option<usize>| {
        let of_page = |p: &'_ Labelled| -> Option<(usize, f32)> {
            (Some(p.fold) != fold).then_some(())?;
            Some((p.kind?, p.weight))
        };
        let classed: Vec<ClassExamples<'_>> = pages
            .iter()
            .filter_map(|p| Some((p, of_page(p)?)))
            .flat_map(|(p, (class, weight))| {
                // As often without its URL as with it: a file that was saved has none.
                let rows = [p.prepared.page(), &p.nameless];
                rows.map(|row| ClassExamples {
                    row: &row[..types],
                    class,
                    weight,
                })
            })
            .collect();
        linear::fit_classes(&classed, TYPES.len(), types)
    };
    let mut joint: Vec<Vec<f32>> = Vec::new();
    for fold in 0..labelled::FOLDS {
        let (weights, kinds) = (first(Some(fold)), kinds(Some(fold)));
        for page in pages.iter().filter(|p| p.fold == fold && p.has_text()) {
            joint.extend(make_joint_rows(page, names, &weights, &kinds));
        }
    }
    let in_folds = (0..labelled::FOLDS)
        .flat_map(|f| pages.iter().filter(move |p| p.fold == f && p.has_text()));
    let mut examples = Examples {
        rows: joint.iter().map(Vec::as_slice).collect(),
        ..Examples::default()
    };
    for page in in_folds {
        page.tell(&mut examples);
    }
    let (forest, kept) = grow_forest(&examples, names.second.len() + TYPES.len());
    table::to_weights(names, &first(None), &kinds(None), &forest, &kept)
}

/// What the trees may ask of the lines of a page: second features, types, first features.
fn make_joint_rows(
    page: &Labelled,
    names: &FeatureNames,
    weights: &[f32],
    kinds: &[Vec<f32>],
) -> Vec<Vec<f32>> {
    let odds: Vec<f32> = page
        .rows
        .iter()
        .map(|row| linear::dot(row, weights))
        .collect();
    let types = page
        .prepared
        .page()
        .get(..names.page.len())
        .unwrap_or_default();
    let types = linear::class_shares(kinds.iter().map(Vec::as_slice), types);
    let second = page.prepared.second(&page.page, &odds);
    let of_line = |i: &usize| {
        let second = second[*i].iter().take(names.second.len());
        let first = page.rows[*i].iter().take(names.first.len());
        second.chain(&types).chain(first).copied().collect()
    };
    page.sample.iter().map(of_line).collect()
}

/// Trees that ask for few enough first features to be kept for every line: grown twice, the second time with the most
/// wanted alone. Their questions count first features from `before` in the order of the list.
fn grow_forest(examples: &Examples<'_>, before: usize) -> (Forest, Vec<usize>) {
    let width = examples.rows.first().map_or(0, |r| r.len());
    let free = boost::grow(examples, DEPTH, &vec![true; width]);
    let mut wanted: Vec<(u32, usize)> = (before..width).map(|f| (0, f)).collect();
    for (feature, _) in free.trees.iter().flat_map(|t| &t.asks) {
        if let Some(entry) = feature
            .checked_sub(before)
            .and_then(|at| wanted.get_mut(at))
        {
            entry.0 += 1;
        }
    }
    wanted.sort_by_key(|(count, feature)| (std::cmp::Reverse(*count), *feature));
    let mut allowed: Vec<bool> = (0..width).map(|f| f < before).collect();
    for (_, feature) in wanted.iter().take(MOST_KEPT) {
        allowed[*feature] = true;
    }
    let mut forest = boost::grow(examples, DEPTH, &allowed);
    let asked = forest.trees.iter().flat_map(|t| &t.asks).map(|(f, _)| *f);
    let mut kept: Vec<usize> = asked.filter(|f| *f >= before).collect();
    kept.sort_unstable();
    kept.dedup();
    for (feature, _) in forest.trees.iter_mut().flat_map(|t| &mut t.asks) {
        if let Ok(at) = kept.binary_search(feature) {
            *feature = before + at;
        }
    }
    (forest, kept.into_iter().map(|f| f - before).collect())
}
