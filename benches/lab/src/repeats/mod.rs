//! Repeats of a page's elements by a suffix tree (丘骏鹏, 大数据环境下信息抽取模板自动聚类与发现, 清华大学 2013, §3.1–3.3, algorithms 1
//! and 2), next to the merging of twins that templates use. In: pages. Out: repeats by their length, as table 6.4 has them, and what
//! they cost.
//!
//! The printed algorithm 2 drops what its own recursion finds, and says nothing of a repeat behind which the page goes on
//! differently. The mended one finds each group of equal subtrees.

mod suffix_tree;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use taojin_extract::page::{Hints, Page};
use taojin_extract::similarity::mix;
use taojin_extract::template::{Sequence, Token, merge_twins};

use crate::cpu_time;
use suffix_tree::{ROOT, SuffixTree};

/// Arguments of `repeats`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folders of saved pages
    #[arg(value_name = "DIR", required = true)]
    dirs: Vec<PathBuf>,
}

/// Longest repeat with a row of its own; those above it are counted together, as in table 6.4.
const ROWS: usize = 10;

/// A string of elements that occurs more than once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Repeat {
    /// Elements in it.
    length: usize,
    /// Where it occurs, rising.
    places: Vec<usize>,
}

/// The two forms of algorithm 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As the thesis prints it.
    Printed,
    /// All equal subtrees.
    Mended,
}

/// The elements of a page without its texts.
fn elements(page: &Page) -> Vec<Token> {
    let tokens = Sequence::new(page).tokens;
    tokens.into_iter().filter(|t| !t.is_text()).collect()
}

/// Algorithm 1: searches below each child of the root that is no leaf.
fn find_repeats(elements: &[Token], form: Form) -> Vec<Repeat> {
    let symbol = |t: &Token| mix(t.name, u64::from(t.depth)).min(u64::MAX - 1);
    let text: Vec<u64> = elements.iter().map(symbol).collect();
    let tree = SuffixTree::new(&text);
    let search = Search {
        elements,
        leaves: Leaves::new(&tree, elements.len()),
        tree,
        form,
    };
    let mut repeats = Vec::new();
    for child in search.inner_children(ROOT) {
        let first = &elements[search.tree.edge(child).start];
        search.below(child, first.depth, &mut repeats);
    }
    repeats.sort();
    repeats
}

/// What algorithm 2 looks at.
struct Search<'a> {
    elements: &'a [Token],
    tree: SuffixTree,
    leaves: Leaves,
    form: Form,
}

impl Search<'_> {
    fn inner_children(&self, node: usize) -> impl Iterator<Item = usize> {
        let children = self.tree.node(node).children.values().copied();
        children.filter(|child| !self.tree.is_leaf(*child))
    }

    /// Algorithm 2 below an edge from the root, whose first element has the depth `root`.
    fn below(&self, child: usize, root: u16, repeats: &mut Vec<Repeat>) {
        // Nodes that are to be looked at, with the number of elements before their edges.
        let mut open = vec![(child, 0)];
        while let Some((node, before)) = open.pop() {
            let edge = &self.elements[self.tree.edge(node)];
            let is_inside = |(at, t): &(usize, &Token)| before + at == 0 || t.depth > root;
            let taken = edge.iter().enumerate().take_while(is_inside).count();
            let length = before + taken;
            if taken < edge.len() {
                // The next element is the same everywhere, and is no part of the subtree.
                self.add(length, self.leaves.places(node), repeats);
            } else if self.form == Form::Mended {
                let mut whole = self.leaves.places(node);
                whole.retain(|at| self.ends_subtree(at + length, root));
                if whole.len() > 1 {
                    self.add(length, whole, repeats);
                }
                let goes_on = |next: &usize| !self.ends_subtree(self.tree.edge(*next).start, root);
                let children = self.inner_children(node).filter(goes_on);
                open.extend(children.map(|next| (next, length)));
            }
            // As printed the rest is searched as well, and what is found there dropped.
        }
    }

    /// Whether a subtree whose first element has the depth `root` ends before this place.
    fn ends_subtree(&self, at: usize, root: u16) -> bool {
        self.elements.get(at).is_none_or(|t| t.depth <= root)
    }

    fn add(&self, length: usize, places: Vec<usize>, repeats: &mut Vec<Repeat>) {
        if self.form == Form::Printed {
            // A repeat that is the end of this one goes: its last element is the same.
            let ends = |r: &Repeat| r.places.first().map(|at| at + r.length);
            let end = places.first().map(|at| at + length);
            repeats.retain(|r| r.length >= length || ends(r) != end);
        }
        repeats.push(Repeat { length, places });
    }
}

/// Which suffixes are below each node: a stretch of all leaves from left to right.
struct Leaves {
    suffixes: Vec<usize>,
    of_node: Vec<std::ops::Range<usize>>,
}

impl Leaves {
    fn new(tree: &SuffixTree, length: usize) -> Self {
        enum Step {
            Enter { node: usize, before: usize },
            Leave { node: usize, first: usize },
        }
        let mut suffixes = Vec::with_capacity(length + 1);
        let mut of_node = vec![0..0; 2 * (length + 1)];
        let mut steps = vec![Step::Enter {
            node: ROOT,
            before: 0,
        }];
        while let Some(step) = steps.pop() {
            match step {
                Step::Enter { node, before } if tree.is_leaf(node) => {
                    suffixes.push(tree.edge(node).start - before);
                }
                Step::Enter { node, before } => {
                    let first = suffixes.len();
                    steps.push(Step::Leave { node, first });
                    let before = before + tree.edge(node).len();
                    let children = tree.node(node).children.values();
                    steps.extend(children.map(|child| Step::Enter {
                        node: *child,
                        before,
                    }));
                }
                Step::Leave { node, first } => of_node[node] = first..suffixes.len(),
            }
        }
        Self { suffixes, of_node }
    }

    /// Where the string of an inner node occurs, rising.
    fn places(&self, node: usize) -> Vec<usize> {
        let mut places = self.suffixes[self.of_node[node].clone()].to_vec();
        places.sort_unstable();
        places
    }
}

/// The repeats of some pages.
#[derive(Default)]
struct Counted {
    /// By length, those of [`ROWS`] elements and more together.
    by_length: [usize; ROWS],
    /// Processor time, nanoseconds.
    ns: u64,
}

impl Counted {
    fn add(&mut self, elements: &[Token], form: Form) {
        let from = cpu_time::thread_ns();
        let repeats = find_repeats(elements, form);
        self.ns += cpu_time::thread_ns() - from;
        for repeat in repeats {
            self.by_length[repeat.length.clamp(1, ROWS) - 1] += 1;
        }
    }
}

/// For each element that merging takes for another one, that one.
pub(crate) fn merge(elements: &[Token]) -> Vec<Option<usize>> {
    let ends = find_ends(elements);
    let ids: Vec<Option<u64>> = elements
        .iter()
        .map(|t| Some(mix(t.name, u64::from(t.depth))))
        .collect();
    merge_twins(elements, &ends, &ids)
}

/// For each element one past the end of its subtree.
fn find_ends(elements: &[Token]) -> Vec<usize> {
    let mut ends = vec![elements.len(); elements.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, element) in elements.iter().enumerate() {
        while let Some(last) = open.pop_if(|last| elements[*last].depth >= element.depth) {
            ends[last] = at;
        }
        open.push(at);
    }
    ends
}

/// Prints how many repeats of each length there are, and what finding them takes.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let (mut printed, mut mended) = (Counted::default(), Counted::default());
    let (mut pages, mut count, mut twins, mut merging_ns) = (0, 0, 0, 0);
    for dir in &args.dirs {
        let entries = std::fs::read_dir(dir)?.collect::<Result<Vec<_>, _>>()?;
        let mut files: Vec<PathBuf> = entries.iter().map(|entry| entry.path()).collect();
        files.sort();
        for file in files.iter().filter(|file| file.is_file()) {
            let page = Page::parse(&std::fs::read(file)?, Hints::default());
            let elements = elements(&page);
            (pages, count) = (pages + 1, count + elements.len());
            printed.add(&elements, Form::Printed);
            mended.add(&elements, Form::Mended);
            let from = cpu_time::thread_ns();
            twins += merge(&elements).iter().flatten().count();
            merging_ns += cpu_time::thread_ns() - from;
        }
    }
    println!("{pages} pages, {count} elements\n\nlength  printed   mended");
    for (row, (printed, mended)) in printed.by_length.iter().zip(mended.by_length).enumerate() {
        let more = if row + 1 == ROWS { ">=" } else { "  " };
        println!("{more}{:>4} {printed:>8} {mended:>8}", row + 1);
    }
    let ms = |ns: u64| ns as f64 / 1e6;
    let (printed_ms, mended_ms) = (ms(printed.ns), ms(mended.ns));
    println!("\nms      {printed_ms:>8.0} {mended_ms:>8.0}");
    println!("merging twins: {twins} elements, {:.0} ms", ms(merging_ns));
    Ok(())
}
