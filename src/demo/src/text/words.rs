//! The words that slots draw from (`data/words.txt`), the regions of stories (`data/regions.txt`), and the sentences
//! that fit any genre (`data/sentences.txt`).

use std::collections::HashMap;
use std::sync::LazyLock;

use super::tables::Tables;

/// A basin with its rocks and the provinces it lies in.
pub(crate) struct Region {
    /// Name of the basin.
    pub(crate) basin: &'static str,
    /// Rocks that are drilled for there.
    pub(crate) formations: Vec<&'static str>,
    /// Provinces above it, or the coast beside it.
    pub(crate) provinces: Vec<&'static str>,
}

/// Words a slot of the given name draws from; `None` if no table has that name.
pub(crate) fn table(name: &str) -> Option<&'static [&'static str]> {
    WORDS.get(name).map(Vec::as_slice)
}

/// The regions of a kind: `land`, `shale` or `sea`.
pub(crate) fn regions(kind: &str) -> &'static [Region] {
    REGIONS.get(kind).map_or(&[], Vec::as_slice)
}

/// Sentences for any genre: `background`, `comments`, `plant_replies`, `well_replies` or `updates`.
pub(crate) fn sentences(kind: &str) -> &'static [&'static str] {
    SENTENCES.section(kind)
}

static WORDS: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let tables = Tables::read(include_str!("../data/words.txt"));
    let words = |name| tables.section(name).iter().flat_map(|line| line.split(' '));
    tables
        .names()
        .map(|name| (name, words(name).collect()))
        .collect()
});

static REGIONS: LazyLock<HashMap<&str, Vec<Region>>> = LazyLock::new(|| {
    let tables = Tables::read(include_str!("../data/regions.txt"));
    let regions = |name| tables.section(name).iter().copied().map(region).collect();
    tables.names().map(|name| (name, regions(name))).collect()
});

static SENTENCES: LazyLock<Tables> =
    LazyLock::new(|| Tables::read(include_str!("../data/sentences.txt")));

fn region(line: &'static str) -> Region {
    let mut columns = line.split(" | ");
    let mut words = || columns.next().unwrap_or_default().split(' ');
    Region {
        basin: words().next().unwrap_or_default(),
        formations: words().collect(),
        provinces: words().collect(),
    }
}
