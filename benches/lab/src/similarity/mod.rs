//! The measures of structure of the literature. In: two [`Skeleton`]s. Out: a similarity from 0 to 1. Never reads text, never
//! recurses, never costs more than its limits allow.
//!
//! They stand side by side, each in the form that its paper prints and, where that form has a fault, in a mended one;
//! one law test runs over all of them. Those that production uses are in `taojin_extract::similarity`.

mod collection;
mod combined_tree;
mod edit_distance;
mod fourier;
mod lcs;
mod path_bag;
mod pol;
mod shingles;
mod simple_tree;
mod substring;
mod tag_set;
#[cfg(test)]
mod tests;
mod tree;
mod tree_matching;
mod tree_path;
mod weighted_lcs;
mod weighted_tag;

pub(crate) use collection::{COLLECTION_DISTANCE, Vocabulary, collection_distances};
pub(crate) use path_bag::PathMatch;
pub(crate) use tree::{Labels, parse, skeleton};

use taojin_extract::similarity::Skeleton;
use taojin_extract::template::cluster::Distances;

/// Whether a formula is taken as its paper prints it or with its faults mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Mode {
    /// As printed, so that the paper's numbers come out.
    Literal,
    /// With the faults mended; what is used.
    #[default]
    Fixed,
}

/// One way to compare two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Measure {
    /// Longest common subsequence of tags with depths, over the longer one.
    Lcs,
    /// The same with nodes weighted 0.8^depth.
    WeightedLcs,
    /// Simple tree matching (Yang 1991), over the mean size.
    TreeMatching,
    /// Children of the body only; the mended form looks through single wrappers first.
    SimpleTree(Mode),
    /// Paths from root to leaf, best common prefixes (Joshi et al., KDD 2003).
    TreePath,
    /// Paths with sibling counts and positions (Wang et al. 2015).
    ImprovedTreePath(Mode),
    /// Leaf paths as sets of tags with orders, cosine (Zhu et al. 2013).
    Pol(Mode),
    /// Ordered tree edit distance with unit costs (Zhang and Shasha 1989): printed over the greater size, which it can
    /// exceed; mended over the sum of sizes.
    EditDistance(Mode),
    /// Longest common run of tags breadth first, over the longer one.
    Substring,
    /// Shared nodes of the two trees laid over each other.
    CombinedTree,
    /// Jaccard index of the sets of tags (Buttler 2004).
    TagSet,
    /// Tag counts; the printed sum leaves unshared tags out (Buttler 2004).
    WeightedTag(Mode),
    /// Spectra of the tag sequences (Flesca et al. 2002).
    Fourier,
    /// Multisets of paths from the root to every node (Buttler 2004).
    Path(PathMatch),
    /// Sets of paths from the root to every node: how often one occurs does not count.
    PathSet,
    /// Shingles of paths in document order (Buttler 2004).
    PathShingles {
        /// Paths in one shingle.
        window: usize,
        /// How often a shingle occurs counts too.
        bag: bool,
        /// Hashes in the k-min sketch; 0 compares all.
        sketch: usize,
    },
}

/// The measure of a page against its template: of the cheap ones that which parts layouts within a site. Collections of
/// many sites are clustered by [`collection_distances`].
pub(crate) const DEFAULT: Measure = Measure::PathSet;

impl Measure {
    /// Every measure in every form.
    pub(crate) const ALL: [Measure; 25] = [
        Measure::Lcs,
        Measure::WeightedLcs,
        Measure::TreeMatching,
        Measure::SimpleTree(Mode::Literal),
        Measure::SimpleTree(Mode::Fixed),
        Measure::TreePath,
        Measure::ImprovedTreePath(Mode::Literal),
        Measure::ImprovedTreePath(Mode::Fixed),
        Measure::Pol(Mode::Literal),
        Measure::Pol(Mode::Fixed),
        Measure::EditDistance(Mode::Literal),
        Measure::EditDistance(Mode::Fixed),
        Measure::Substring,
        Measure::CombinedTree,
        Measure::TagSet,
        Measure::WeightedTag(Mode::Literal),
        Measure::WeightedTag(Mode::Fixed),
        Measure::Fourier,
        Measure::Path(PathMatch::Binary),
        Measure::Path(PathMatch::Partial),
        Measure::Path(PathMatch::Weighted),
        Measure::PathSet,
        Measure::PathShingles {
            window: 2,
            bag: false,
            sketch: 0,
        },
        Measure::PathShingles {
            window: 2,
            bag: true,
            sketch: 0,
        },
        Measure::PathShingles {
            window: 2,
            bag: false,
            sketch: 100,
        },
    ];

    /// Name for tables and for the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Measure::Lcs => "lcs",
            Measure::WeightedLcs => "weighted-lcs",
            Measure::TreeMatching => "tree-matching",
            Measure::SimpleTree(Mode::Literal) => "simple-tree-literal",
            Measure::SimpleTree(Mode::Fixed) => "simple-tree",
            Measure::TreePath => "tree-path-traditional",
            Measure::ImprovedTreePath(Mode::Literal) => "tree-path-literal",
            Measure::ImprovedTreePath(Mode::Fixed) => "tree-path",
            Measure::Pol(Mode::Literal) => "pol-literal",
            Measure::Pol(Mode::Fixed) => "pol",
            Measure::EditDistance(Mode::Literal) => "edit-distance-literal",
            Measure::EditDistance(Mode::Fixed) => "edit-distance",
            Measure::Substring => "substring",
            Measure::CombinedTree => "combined-tree",
            Measure::TagSet => "tag-set",
            Measure::WeightedTag(Mode::Literal) => "weighted-tag-literal",
            Measure::WeightedTag(Mode::Fixed) => "weighted-tag",
            Measure::Fourier => "fourier",
            Measure::Path(PathMatch::Binary) => "path",
            Measure::Path(PathMatch::Partial) => "path-partial",
            Measure::Path(PathMatch::Weighted) => "path-weighted",
            Measure::PathSet => "path-set",
            Measure::PathShingles { sketch: 1.., .. } => "shingles-sketch",
            Measure::PathShingles { bag: true, .. } => "shingles-bag",
            Measure::PathShingles { .. } => "shingles",
        }
    }

    /// Distances (1 less the similarity) of all pairs of trees.
    pub(crate) fn distances(self, trees: &[Skeleton]) -> Distances {
        Distances::from_fn(trees.len(), |i, j| {
            (1.0 - self.similarity(&trees[i], &trees[j])) as f32
        })
    }

    /// Similarity of two trees, whichever comes first: 1 for equal ones (and for two empty ones), 0 when one is empty.
    pub(crate) fn similarity(self, a: &Skeleton, b: &Skeleton) -> f64 {
        match (a.is_empty(), b.is_empty()) {
            (true, true) => return 1.0,
            (false, false) => {}
            _ => return 0.0,
        }
        let similarity = match self {
            Measure::Lcs => lcs::similarity(a, b),
            Measure::WeightedLcs => weighted_lcs::similarity(a, b),
            Measure::TreeMatching => tree_matching::similarity(a, b),
            Measure::SimpleTree(mode) => simple_tree::similarity(a, b, mode),
            Measure::TreePath => tree_path::traditional(a, b),
            Measure::ImprovedTreePath(mode) => tree_path::improved(a, b, mode),
            Measure::Pol(mode) => pol::similarity(a, b, mode),
            Measure::EditDistance(mode) => edit_distance::similarity(a, b, mode),
            Measure::Substring => substring::similarity(a, b),
            Measure::CombinedTree => combined_tree::similarity(a, b),
            Measure::TagSet => tag_set::similarity(a, b),
            Measure::WeightedTag(mode) => weighted_tag::similarity(a, b, mode),
            Measure::Fourier => fourier::similarity(a, b),
            Measure::Path(matching) => path_bag::similarity(a, b, matching),
            Measure::PathSet => path_bag::set_similarity(a, b),
            Measure::PathShingles {
                window,
                bag,
                sketch,
            } => shingles::similarity(a, b, window, bag, sketch),
        };
        similarity.clamp(0.0, 1.0)
    }
}
