//! The learned [`Weights`] as one value, and the format of their file.

use std::collections::HashMap;
use std::fmt::Display;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::trees::{DEPTH, DecisionTree};

/// Number of types of pages.
pub(crate) const TYPES: usize = 6;
/// The types, in the order of the weights.
pub(crate) const TYPE_NAMES: [&str; TYPES] =
    ["article", "talk", "reference", "service", "shop", "list"];
/// Most questions that the trees may ask of first features: they are kept for every line.
pub(crate) const MOST_KEPT: usize = 56;
/// Version of the file.
const VERSION: u32 = 1;
/// What is before the name of a feature of the line alone where a tree asks for it.
pub(crate) const ALONE: &str = "alone: ";
/// Most trees; each costs time on every line.
const MOST_TREES: usize = 256;

/// All that is learned of the extraction.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Features of a line alone, with the thousandths that each adds to the log-odds that it is text.
    pub first: Vec<(&'static str, i16)>,
    /// Features of a page, with the thousandths that each adds to the log-odds of each type.
    pub page: Vec<(&'static str, [i16; TYPES])>,
    /// Features of a line alone that the trees ask for, by their number in `first`.
    pub kept: Vec<u16>,
    /// Thousandths that the votes of the trees are added to.
    pub bias: i16,
    /// Trees over a line's second features, the types of its page and `kept`, in this order.
    pub trees: Vec<DecisionTree>,
    /// The sets that it was learned from.
    pub sources: Vec<Source>,
}

/// Names of the features of pages, of lines alone, of lines together.
#[derive(Debug, Clone, Default)]
pub struct FeatureNames {
    /// Of a page.
    pub page: Vec<&'static str>,
    /// Of a line judged alone.
    pub first: Vec<&'static str>,
    /// Of a line judged with the others.
    pub second: Vec<&'static str>,
}

/// A set of labelled pages that weights were learned from: an entry of their manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Name of its directory.
    pub set: String,
    /// Where it comes from, with the commit where that is known; empty if the set does not say.
    pub source: String,
    /// Its licence as the set states it; empty if it states none.
    pub licence: String,
    /// Pages that were learned from.
    pub pages: usize,
    /// XXH3-64 of the bytes and the labels of these pages, in hexadecimal digits.
    pub hash: String,
}

/// What is wrong with a file of weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightsError(String);

impl Display for WeightsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WeightsError {}

/// The file as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightsFile {
    taojin_weights: u32,
    sources: Vec<Source>,
    lines: Vec<(String, i16)>,
    pages: Vec<(String, [i16; TYPES])>,
    bias: i16,
    kept: Vec<String>,
    trees: Vec<TreeEntry>,
}

/// Questions (name of a feature, value to exceed) and votes.
#[derive(Serialize, Deserialize)]
struct TreeEntry {
    asks: Vec<(String, f32)>,
    votes: Vec<i16>,
}

fn weights_error(why: String) -> WeightsError {
    WeightsError(why)
}

impl Weights {
    /// Reads a file of weights over these features.
    pub(super) fn read(text: &str, names: &FeatureNames) -> Result<Self, WeightsError> {
        #[derive(Deserialize)]
        struct Version {
            taojin_weights: u32,
        }
        let Version { taojin_weights } = parse_json(text)?;
        if taojin_weights != VERSION {
            return Err(weights_error(format!(
                "taojin_weights = {taojin_weights}: this version reads {VERSION}; learn the weights again"
            )));
        }
        let file: WeightsFile = parse_json(text)?;
        let mut kept = Vec::with_capacity(file.kept.len().min(MOST_KEPT));
        for name in &file.kept {
            let at = names.first.iter().position(|known| known == name);
            kept.push(at.ok_or_else(|| unknown_feature("kept", name))? as u16);
        }
        if kept.len() > MOST_KEPT || file.trees.len() > MOST_TREES {
            return Err(weights_error(format!(
                "at most {MOST_KEPT} features can be kept, and {MOST_TREES} trees"
            )));
        }
        let asked = question_names(names, &kept);
        let numbers: HashMap<&str, u16> = asked.iter().map(String::as_str).zip(0..).collect();
        let trees = file.trees.iter().map(|tree| tree.read(&numbers));
        Ok(Self {
            first: order_by_name("lines", &names.first, &file.lines)?,
            page: order_by_name("pages", &names.page, &file.pages)?,
            kept,
            bias: file.bias,
            trees: trees.collect::<Result<_, _>>()?,
            sources: file.sources,
        })
    }

    /// The text of a file of these weights: JSON, a feature or a tree a line.
    pub(super) fn write(&self, names: &FeatureNames) -> String {
        let asked = question_names(names, &self.kept);
        let name = |at: u16| asked.get(usize::from(at)).cloned().unwrap_or_default();
        let tree = |tree: &DecisionTree| {
            let real = tree.asks.iter().filter(|(_, least)| *least < f32::MAX);
            TreeEntry {
                asks: real.map(|(at, least)| (name(*at), *least)).collect(),
                votes: tree.votes.to_vec(),
            }
        };
        let kept = self.kept.iter().map(|at| self.first[usize::from(*at)].0);
        let lists = [
            ("sources", write_lines(&self.sources)),
            ("lines", write_lines(&self.first)),
            ("pages", write_lines(&self.page)),
            ("kept", write_lines(&kept.collect::<Vec<_>>())),
            (
                "trees",
                write_lines(&self.trees.iter().map(tree).collect::<Vec<_>>()),
            ),
        ];
        let mut out = format!("{{\"taojin_weights\": {VERSION},\n\"bias\": {}", self.bias);
        for (key, list) in lists {
            out.push_str(&format!(",\n\"{key}\": [\n{list}\n]"));
        }
        out.push_str("}\n");
        out
    }
}

impl TreeEntry {
    /// A tree that stopped early asks what nothing exceeds: the answer is always no.
    fn read(&self, numbers: &HashMap<&str, u16>) -> Result<DecisionTree, WeightsError> {
        let votes = self.votes.clone().try_into();
        let votes =
            votes.map_err(|_| weights_error(format!("a tree needs {} votes", 1 << DEPTH)))?;
        let mut asks = [(0, f32::MAX); DEPTH];
        if self.asks.len() > DEPTH {
            return Err(weights_error(format!(
                "a tree asks at most {DEPTH} questions"
            )));
        }
        for (ask, (name, least)) in asks.iter_mut().zip(&self.asks) {
            let at = numbers.get(name.as_str());
            *ask = (*at.ok_or_else(|| unknown_feature("trees", name))?, *least);
        }
        Ok(DecisionTree { asks, votes })
    }
}

/// Names of what the trees may ask for, in the order of their numbers.
pub(super) fn question_names(names: &FeatureNames, kept: &[u16]) -> Vec<String> {
    let kept = kept.iter().map(|at| names.first[usize::from(*at)]);
    let own = names.second.iter().copied().chain(TYPE_NAMES);
    own.map(str::to_owned)
        .chain(kept.map(|name| format!("{ALONE}{name}")))
        .collect()
}

/// The values of all features that there are, in the order of their names; nothing for one that the file does not have.
fn order_by_name<T: Copy + Default>(
    key: &str,
    names: &[&'static str],
    given: &[(String, T)],
) -> Result<Vec<(&'static str, T)>, WeightsError> {
    let values: HashMap<&str, T> = given.iter().map(|(n, v)| (n.as_str(), *v)).collect();
    if let Some((name, _)) = given.iter().find(|(n, _)| !names.contains(&n.as_str())) {
        return Err(unknown_feature(key, name));
    }
    let value = |name: &&'static str| (*name, values.get(name).copied().unwrap_or_default());
    Ok(names.iter().map(value).collect())
}

fn unknown_feature(key: &str, name: &str) -> WeightsError {
    weights_error(format!(
        "{key}: this version has no feature \"{name}\"; learn the weights again with it"
    ))
}

fn parse_json<T: DeserializeOwned>(text: &str) -> Result<T, WeightsError> {
    serde_json::from_str(text).map_err(|e| {
        weights_error(format!(
            "not a file that `taojin eval DIR --learn` wrote: {e}"
        ))
    })
}

/// The entries of a list as JSON, one a line.
fn write_lines<T: Serialize>(list: &[T]) -> String {
    let line = |entry: &T| serde_json::to_string(entry).unwrap_or_default();
    list.iter().map(line).collect::<Vec<_>>().join(",\n")
}
