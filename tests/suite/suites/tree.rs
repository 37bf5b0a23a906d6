//! html5lib's tree-construction suite and our own cases in its form: what a browser makes of a page against `Page`.
//!
//! A case agrees in its texts when every text has the same tag path, and as a whole when all elements and texts are
//! the same in the same order.

use std::collections::BTreeMap;
use std::path::Path;

use taojin_extract::page::{Hints, Page};

use super::browser;
use super::dat::{Case, cases, files};
use super::suite;
use crate::suites::outline::{Item, Outline};
use crate::support::say;

/// Cases in which all texts must have the right path, of a thousand. The numbers only ever go up.
const FLOOR_TEXTS: usize = 991;
/// Cases in which the whole tree must be right.
const FLOOR_WHOLE: usize = 917;
/// Cases of our own.
const OWN_CASES: usize = 40;

/// Why a tree differs from a browser's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// What a browser moves before a table stands where it was written, and a second part of the table follows it.
    MovedOutOfTable,
    /// A frameset after content that shows nothing takes the place of the body.
    Frameset,
    /// Anything else.
    Other,
}

impl Class {
    fn of(case: &Case, expected: &Outline, came: &Outline) -> Self {
        let distinct = |outline: &Outline| {
            let mut paths: Vec<String> = outline
                .items
                .iter()
                .map(|i: &Item| i.path.clone())
                .collect();
            paths.sort();
            paths.dedup();
            paths
        };
        let has = |name: &[u8]| case.data.windows(name.len()).any(|w| w == name);
        if has(b"<table") && distinct(expected) == distinct(came) {
            Class::MovedOutOfTable
        } else if has(b"<frameset") {
            Class::Frameset
        } else {
            Class::Other
        }
    }
}

#[derive(Debug, Default, Clone)]
struct Agreement {
    cases: usize,
    texts: usize,
    whole: usize,
    /// Cases about the content of one element, which no page is, or about a browser without scripts.
    left_out: usize,
    classes: BTreeMap<Class, usize>,
}

impl Agreement {
    fn add(&mut self, case: &Case) {
        let left_out = ["document-fragment", "script-off"];
        if left_out.iter().any(|name| case.section(name).is_some()) {
            self.left_out += 1;
            return;
        }
        self.cases += 1;
        let expected = case.outline();
        let came = Outline::of(&Page::parse(&case.data, Hints::default())).finish();
        let texts = came.sorted_texts() == expected.sorted_texts();
        self.texts += usize::from(texts);
        if came == expected {
            self.whole += 1;
            return;
        }
        let class = Class::of(case, &expected, &came);
        *self.classes.entry(class).or_default() += 1;
        if std::env::var_os("TAOJIN_SUITES_VERBOSE").is_some() {
            let what = if texts { "elements" } else { "texts" };
            let page = String::from_utf8_lossy(&case.data);
            say(&format!(
                "{what} of {page:?}, {class:?}\nexpected:\n{expected}came:\n{came}"
            ));
        }
    }

    fn per_mille(&self, part: usize) -> usize {
        (part * 1000).checked_div(self.cases).unwrap_or(0)
    }
}

#[test]
fn html5lib_tree_suite() {
    let Some(folder) = suite("html5lib-tree") else {
        return;
    };
    let mut all = Agreement::default();
    for file in files(&folder) {
        // Pages that scripts write into are another matter.
        if file.parent().is_some_and(|f| f.ends_with("scripted")) {
            continue;
        }
        for case in cases(&file) {
            all.add(&case);
        }
    }
    let (texts, whole) = (all.per_mille(all.texts), all.per_mille(all.whole));
    say(&format!(
        "html5lib-tree: {} cases ({} about fragments or without scripts left out): texts right in {} ({:.1} %), whole \
         tree right in {} ({:.1} %); the others: {:?}",
        all.cases,
        all.left_out,
        all.texts,
        texts as f64 / 10.0,
        all.whole,
        whole as f64 / 10.0,
        all.classes,
    ));
    assert!(all.cases > 1500, "only {} cases were read", all.cases);
    assert!(texts >= FLOOR_TEXTS, "texts: {texts} of a thousand");
    assert!(whole >= FLOOR_WHOLE, "whole: {whole} of a thousand");
}

#[test]
fn own_tree_cases() {
    let folder = Path::new(crate::support::ROOT).join("tests/trees");
    let (mut count, mut faults) = (0, String::new());
    for file in files(&folder) {
        for case in cases(&file) {
            count += 1;
            let page = String::from_utf8_lossy(&case.data).into_owned();
            let expected = case.outline();
            // What is written down must be what a browser does, not what we do.
            let theirs = browser::outline(&page);
            if theirs != expected {
                faults.push_str(&format!(
                    "{page:?}\nwritten:\n{expected}a browser:\n{theirs}"
                ));
            }
            let came = Outline::of(&Page::parse(&case.data, Hints::default())).finish();
            if came != expected {
                faults.push_str(&format!("{page:?}\nexpected:\n{expected}came:\n{came}"));
            }
        }
    }
    assert!(count >= OWN_CASES, "only {count} cases");
    assert!(faults.is_empty(), "\n{faults}");
}
