//! Pages with known classes. In: nothing, or a folder of labelled pages. Out: [`Data`]: each page in the forms that the
//! measures compare, and its class.

use std::collections::BTreeMap;
use std::path::Path;

use taojin_extract::page::{Hints, Page};
use taojin_extract::similarity::Skeleton;

use crate::rng::{Rng, many, perhaps};
use crate::similarity::{Labels, Vocabulary, skeleton};

/// Sets of the real mix, and the fewest pages of a class that counts.
const REAL: [(&str, usize); 4] = [
    ("bbc_news", 1),
    ("zh_163_gbk", 1),
    ("zh_gne", 3),
    ("fundus_history", 1),
];

/// Pages with the number of their class.
#[derive(Default)]
pub(crate) struct Data {
    pub(crate) words: Vec<Vocabulary>,
    pub(crate) tags: Vec<Skeleton>,
    pub(crate) blocks: Vec<Skeleton>,
    pub(crate) classes: Vec<usize>,
}

impl Data {
    /// The trees with tags alone, or with the names of blocks.
    pub(crate) fn trees(&self, labels: Labels) -> &[Skeleton] {
        match labels {
            Labels::Tags => &self.tags,
            Labels::Blocks => &self.blocks,
        }
    }
}

fn skeletons(pages: &[(Page, usize)]) -> Data {
    let of = |labels| pages.iter().map(|(p, _)| skeleton(p, labels)).collect();
    Data {
        words: pages.iter().map(|(p, _)| Vocabulary::of(p)).collect(),
        tags: of(Labels::Tags),
        blocks: of(Labels::Blocks),
        classes: pages.iter().map(|(_, class)| *class).collect(),
    }
}

/// 150 pages of three templates whose parts are left out or repeated by chance.
pub(crate) fn made() -> Data {
    let mut rng = Rng(2_015);
    let pages: Vec<(Page, usize)> = (0..150)
        .map(|n| {
            let html = generated(n / 50, &mut rng);
            (Page::parse(html.as_bytes(), Hints::default()), n / 50)
        })
        .collect();
    skeletons(&pages)
}

/// A page of template `class`: the templates share their frame and differ inside, as those of one site do.
fn generated(class: usize, rng: &mut Rng) -> String {
    let nav = many(rng, 8, "<li><a>n</a></li>");
    let side = many(rng, 6, "<div class=card><a><img></a><p>t</p></div>");
    let ad = perhaps(rng, 40, "<div class=ad><iframe></iframe></div>");
    let main = match class {
        0 => format!(
            "<div class=article><h1>t</h1><div class=info><span>d</span>{}</div>{}{}{}</div>",
            perhaps(rng, 50, "<span>a</span>"),
            many(rng, 20, "<p>x</p>"),
            perhaps(rng, 30, "<table><tr><td>1</td><td>2</td></tr></table>"),
            perhaps(rng, 60, "<div class=tags><a>k</a><a>k</a></div>")
        ),
        1 => format!(
            "<div class=gallery><h2>t</h2><ul>{}</ul>{}</div>",
            many(rng, 25, "<li><a><img></a><span>c</span></li>"),
            perhaps(rng, 50, "<p>x</p>")
        ),
        _ => format!(
            "<div class=thread><h1>t</h1>{}{}</div>",
            many(
                rng,
                15,
                "<div class=post><div class=who><a>u</a><em>d</em></div><div class=what><p>x</p></div></div>"
            ),
            perhaps(rng, 50, "<form><textarea></textarea><input></form>")
        ),
    };
    let more = perhaps(
        rng,
        50,
        "<div class=more><ul><li>m</li><li>m</li></ul></div>",
    );
    format!(
        "<html><body><div class=head><ul>{nav}</ul>{ad}</div><div class=main>{main}{more}</div><div class=side>{side}</div>\
         <div class=foot><p>f</p></div></body></html>"
    )
}

/// Pages of real sites, classes as their gold names them.
pub(crate) fn real(dir: &Path) -> Data {
    skeletons(&real_pages(dir))
}

/// The same as pages, each with the number of its class.
pub(crate) fn real_pages(dir: &Path) -> Vec<(Page, usize)> {
    let mut pages = Vec::new();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for (set, least) in REAL {
        let Ok(gold) = std::fs::read_to_string(dir.join(set).join("gold.jsonl")) else {
            println!("{set}: not there");
            continue;
        };
        let mut of_class: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in gold.lines() {
            let gold: serde_json::Value = serde_json::from_str(line).expect("a line of gold");
            let text = |name: &str| gold[name].as_str().unwrap_or_default().to_owned();
            of_class
                .entry(text("cluster"))
                .or_default()
                .push(text("id"));
        }
        for (class, ids) in of_class
            .into_iter()
            .filter(|(c, ids)| !c.is_empty() && ids.len() >= least)
        {
            let next = numbers.len();
            let number = *numbers.entry(format!("{set}/{class}")).or_insert(next);
            for id in ids {
                let file = dir.join(set).join("html").join(format!("{id}.html"));
                if let Ok(bytes) = std::fs::read(file) {
                    pages.push((Page::parse(&bytes, Hints::default()), number));
                }
            }
        }
    }
    pages
}
