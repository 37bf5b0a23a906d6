//! The page model against a browser's: every text of a page must have the tag path that html5ever (through
//! `dom_query`) gives it. Over the hand-made pages and the sample web always; over the sets of a corpus
//! (`DIR/<set>/html/*`) when `TAOJIN_CORPUS` names one.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use dom_query::{Document, NodeRef};
use taojin_extract::page::{Config, Hints, Page};

use crate::suites::outline::{Outline, name};

/// Texts with the same tag path, of a thousand, that every set of pages must have.
const FLOOR_PER_MILLE: usize = 995;
/// How many classes of differences are told.
const CLASSES_TOLD: usize = 12;

/// The outline of a page as html5ever builds it.
pub(crate) fn outline(html: &str) -> Outline {
    let document = Document::from(as_with_scripts(html).as_str());
    let mut outline = Outline::default();
    let mut open: Vec<(NodeRef<'_>, String)> = vec![(document.root(), String::new())];
    while let Some((node, parent)) = open.pop() {
        if node.is_text() {
            outline.text(parent, &node.text());
            continue;
        }
        let contents = node.element_ref().and_then(|e| e.template_contents);
        let path = match node.node_name().filter(|_| node.is_element()) {
            Some(spelled) => {
                let tag = name(&spelled);
                let path = if parent.is_empty() {
                    tag.to_owned()
                } else {
                    format!("{parent}.{tag}")
                };
                outline.element(path.clone());
                path
            }
            None => parent,
        };
        let inner = contents
            .and_then(|id| document.tree.get(&id))
            .unwrap_or(node);
        open.extend(inner.children_it(true).map(|child| (child, path.clone())));
    }
    outline.finish()
}

/// `dom_query` reads a page as a browser without scripts does, and we as one with them: then `<noscript>` holds no
/// elements, just as `<noframes>`.
fn as_with_scripts(html: &str) -> String {
    let mut out = html.to_owned();
    for (at, _) in html.match_indices('<') {
        let is_end = html.get(at + 1..).is_some_and(|rest| rest.starts_with('/'));
        let from = at + 1 + usize::from(is_end);
        if html
            .get(from..from + 8)
            .is_some_and(|name| name.eq_ignore_ascii_case("noscript"))
        {
            out.replace_range(from..from + 8, "noframes");
        }
    }
    out
}

/// Texts compared, texts the same, and what became of the others.
#[derive(Default)]
struct Tally {
    texts: usize,
    same: usize,
    classes: BTreeMap<String, usize>,
}

impl Tally {
    fn add(&mut self, bytes: &[u8], header_charset: Option<&str>) {
        let hints = Hints {
            charset: header_charset.map(str::to_owned),
            limits: Config {
                max_decoded_bytes: 1 << 30,
                max_nodes: 1 << 24,
                ..Config::default()
            },
            ..Hints::default()
        };
        let page = Page::parse(bytes, hints);
        let charset = encoding_rs::Encoding::for_label(page.charset.as_bytes())
            .expect("the page names a charset");
        let (html, _, _) = charset.decode(bytes);
        self.compare(&Outline::of(&page).finish(), &outline(&html));
    }

    fn compare(&mut self, ours: &Outline, theirs: &Outline) {
        let mut left: HashMap<(&str, &str), usize> = HashMap::new();
        for text in ours.texts() {
            *left.entry(text).or_default() += 1;
        }
        let mut missing = Vec::new();
        for text in theirs.texts() {
            self.texts += 1;
            match left.get_mut(&text).filter(|count| **count > 0) {
                Some(count) => {
                    *count -= 1;
                    self.same += 1;
                }
                None => missing.push(text),
            }
        }
        for (path, text) in missing {
            let elsewhere = left
                .iter()
                .find(|((_, other), count)| **count > 0 && *other == text);
            let class = match elsewhere {
                Some(((other, _), _)) => difference(path, other),
                None => "parted or joined otherwise".to_owned(),
            };
            *self.classes.entry(class).or_default() += 1;
        }
    }

    fn assert_floor(&self, set: &str) {
        let mut classes: Vec<_> = self.classes.iter().collect();
        classes.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let mut report = format!(
            "{set}: {} of {} texts have the same path",
            self.same, self.texts
        );
        for (class, count) in classes.into_iter().take(CLASSES_TOLD) {
            report.push_str(&format!("\n  {count:5} {class}"));
        }
        crate::support::say(&report);
        assert!(self.texts > 0, "{set} has no text");
        assert!(self.same * 1000 >= self.texts * FLOOR_PER_MILLE, "{report}");
    }
}

/// The parts of two paths from the last common tag on.
fn difference(theirs: &str, ours: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (theirs.split('.').collect(), ours.split('.').collect());
    let common = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let from = common.saturating_sub(1);
    format!(
        "{} here, {} in a browser",
        b.get(from..).unwrap_or_default().join("."),
        a.get(from..).unwrap_or_default().join(".")
    )
}

fn pages_of(folder: &Path) -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "html"))
        .collect();
    pages.sort();
    pages
}

#[test]
fn browser_paths_of_page_cases() {
    let mut tally = Tally::default();
    for path in pages_of(&Path::new(crate::support::ROOT).join("tests/pages")) {
        let expected = fs::read_to_string(path.with_extension("expected.json")).expect("beside it");
        let expected: serde_json::Value = serde_json::from_str(&expected).expect("JSON");
        let charset = expected.get("header_charset").and_then(|c| c.as_str());
        tally.add(&fs::read(&path).expect("just listed"), charset);
    }
    tally.assert_floor("tests/pages");
}

#[test]
fn browser_paths_of_sample_web() {
    let mut tally = Tally::default();
    for (bytes, charset) in crate::extract::sample_pages::bodies() {
        tally.add(&bytes, charset.as_deref());
    }
    tally.assert_floor("sample web");
}

#[test]
fn browser_paths_of_corpora() {
    let Some(folder) = std::env::var_os("TAOJIN_CORPUS") else {
        crate::support::say("corpora are skipped: TAOJIN_CORPUS is not set (see CONTRIBUTING.md)");
        return;
    };
    let mut sets: Vec<PathBuf> = fs::read_dir(folder)
        .expect("TAOJIN_CORPUS is a folder")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("html").is_dir())
        .collect();
    sets.sort();
    for set in sets {
        let mut tally = Tally::default();
        for page in pages_of(&set.join("html")) {
            tally.add(&fs::read(page).expect("just listed"), None);
        }
        tally.assert_floor(&set.file_name().unwrap_or_default().to_string_lossy());
    }
}

#[test]
fn tally_reports_moved_text() {
    let mut tally = Tally::default();
    let ours = Outline::of(&Page::parse(b"<p>a<i>b</i>", Hints::default())).finish();
    tally.compare(&ours, &outline("<p>a<b>b</b>"));
    assert_eq!((tally.texts, tally.same), (2, 1));
    let classes: Vec<&str> = tally.classes.keys().map(String::as_str).collect();
    assert_eq!(classes, ["p.i here, p.b in a browser"]);
}
