//! The numbers that the papers print, or that follow from their formulas by hand.

use taojin_extract::similarity::Skeleton;

use crate::similarity::edit_distance::edit_distance;
use crate::similarity::path_bag::{Bag, bag_similarity};
use crate::similarity::shingles::Shingles;
use crate::similarity::{Measure, Mode, PathMatch, parse as tree, weighted_lcs};

fn near(value: f64, wanted: f64) {
    assert!((value - wanted).abs() < 5e-5, "{value} is not {wanted}");
}

const T1: &str = "li(div(img),div(a,span,p))";
const T2: &str = "li(div(img),div(a,span,p,img))";
const T3: &str = "li(div(img),div(a,img,span,p))";

#[test]
fn leaf_paths_of_a_list_item() {
    let pol = |x, mode| Measure::Pol(mode).similarity(&tree(T1), &tree(x));
    near(pol(T2, Mode::Literal), 26.0 / 27.0);
    near(pol(T2, Mode::Fixed), 26.0 / 27.0);
    near(pol(T3, Mode::Literal), 0.8148);
    near(pol(T3, Mode::Fixed), 0.9630);
}

#[test]
fn nested_equal_pairs_are_counted_only_when_mended() {
    let (a, b) = (tree("div(div(div(p)))"), tree("div(div(p))"));
    near(Measure::Pol(Mode::Literal).similarity(&a, &b), 1.0);
    assert!(Measure::Pol(Mode::Fixed).similarity(&a, &b) < 0.99);
}

#[test]
fn baselines_of_the_leaf_paths() {
    let all = |x| {
        [
            Measure::TreeMatching,
            Measure::Substring,
            Measure::CombinedTree,
        ]
        .map(|m| m.similarity(&tree(T1), &tree(x)))
    };
    let [matching, run, combined] = all(T2);
    near(matching, 14.0 / 15.0);
    near(run, 0.875);
    near(combined, 0.875);
    let [matching, run, combined] = all(T3);
    near(matching, 14.0 / 15.0);
    near(run, 0.625);
    near(combined, 0.5);
    assert_eq!(edit_distance(&tree(T1), &tree(T2)), 1);
    assert_eq!(edit_distance(&tree(T1), &tree(T3)), 1);
}

#[test]
fn chain_and_star_are_further_apart_than_either_is_large() {
    let (chain, star) = (tree("a(a(a(a)))"), tree("a(a,a,a)"));
    assert_eq!(edit_distance(&chain, &star), 4);
    let (chain, star) = (tree("a(a(a(a(a(a(a(a)))))))"), tree("a(a,a,a,a,a,a,a)"));
    assert_eq!(edit_distance(&chain, &star), 12);
    let literal = Measure::EditDistance(Mode::Literal);
    assert_eq!(literal.similarity(&chain, &star), 0.0);
    assert!(Measure::EditDistance(Mode::Fixed).similarity(&chain, &star) > 0.0);
    assert_eq!(literal.similarity(&tree(T1), &tree(T2)), 0.875);
    assert_eq!(literal.similarity(&tree(T1), &tree(T3)), 0.875);
}

#[test]
fn edit_distance_of_the_paper_of_zhang_and_shasha() {
    // The example of their paper: f(d(a c(b)) e) against f(c(d(a b)) e).
    assert_eq!(
        edit_distance(&tree("f(d(a,c(b)),e)"), &tree("f(c(d(a,b)),e)")),
        2
    );
    assert_eq!(edit_distance(&tree("a"), &tree("b")), 1);
    assert_eq!(edit_distance(&tree("a(b,c)"), &Skeleton::default()), 3);
}

#[test]
fn tree_paths_of_figure_two() {
    let (a, b) = (tree("a(b(c),b(c),d)"), tree("a(b(c),e(d))"));
    near(Measure::TreePath.similarity(&a, &b), 13.0 / 18.0);
    near(
        Measure::ImprovedTreePath(Mode::Literal).similarity(&a, &b),
        79.0 / 108.0,
    );
    near(
        Measure::ImprovedTreePath(Mode::Fixed).similarity(&a, &b),
        31.0 / 54.0,
    );
}

#[test]
fn one_path_of_figure_two() {
    // Trees of the one path: what is left is content, length and location of abc.
    let (a, b) = (tree("a(b(c),b(c))"), tree("a(b(c))"));
    // Content 11/12, distances 0 + 1 + 0 over three places and two leaves.
    near(
        Measure::ImprovedTreePath(Mode::Fixed).similarity(&a, &b),
        11.0 / 12.0 * (1.0 - 1.0 / 6.0),
    );
}

#[test]
fn repeated_labels_are_counted_by_embeddings() {
    let (a, b) = (tree("a(a(a))"), tree("a(a)"));
    let improved = Measure::ImprovedTreePath(Mode::Fixed).similarity(&a, &b);
    // z = aa: in aaa each of the first two nodes stands in 2 and 2 of 3 embeddings, in aa in 1 and 1 of 1.
    near(improved, (0.5 * (0.5 + 1.0) * 2.0) / 2.0 * (2.0 / 3.0));
    let other = Measure::ImprovedTreePath(Mode::Fixed).similarity(&tree("x(a)"), &b);
    near(other, 0.0);
}

#[test]
fn weighted_subsequences() {
    let a = tree("html(body(div(a,p),div))");
    let b = tree("html(body(div(p),div(span)))");
    near(Measure::Lcs.similarity(&a, &b), 5.0 / 6.0);
    let w = |f: fn(u16) -> f64| weighted_lcs::weighted(&a, &b, f);
    near(w(|_| 1.0), 0.8333);
    near(w(|d| 1.0 / (1.0 + f64::from(d))), 0.9062);
    near(w(|d| 0.8f64.powi(i32::from(d))), 0.8752);
    near(Measure::WeightedLcs.similarity(&a, &b), 0.8752);
}

#[test]
fn simple_trees() {
    let a = tree("body(header,nav,div,div,div,footer)");
    let b = tree("body(header,nav,div,div,aside,footer)");
    near(
        Measure::SimpleTree(Mode::Literal).similarity(&a, &b),
        0.8571,
    );
    let app = tree("body(app(header,nav,div,div,div,footer))");
    near(Measure::SimpleTree(Mode::Fixed).similarity(&app, &a), 1.0);
    assert!(Measure::SimpleTree(Mode::Literal).similarity(&app, &a) < 0.3);
}

fn tags(counts: &[(&str, usize)]) -> Skeleton {
    // A forest has no root here: the first tag holds the rest.
    let list: Vec<String> = counts
        .iter()
        .flat_map(|(tag, n)| std::iter::repeat_n((*tag).to_owned(), *n))
        .collect();
    let (root, rest) = list.split_first().expect("there is a tag");
    tree(&format!("{root}({})", rest.join(",")))
}

#[test]
fn tag_counts_of_buttler() {
    let a = tags(&[("div", 10), ("p", 5), ("a", 3)]);
    let b = tags(&[("div", 8), ("p", 7), ("table", 4)]);
    near(Measure::WeightedTag(Mode::Fixed).similarity(&a, &b), 0.7027);
    near(
        Measure::WeightedTag(Mode::Literal).similarity(&a, &b),
        0.8667,
    );
    near(Measure::TagSet.similarity(&a, &b), 0.5);
}

#[test]
fn shingles_of_buttler() {
    let a = tree("html(head(title),body(div(p,p)))");
    // The same paths with the last one replaced.
    let b = tree("html(head(title),body(div(p),ul))");
    let shingles = |w| (Shingles::of(&a, w), Shingles::of(&b, w));
    let (x, y) = shingles(1);
    near(x.resemblance(&y), 6.0 / 7.0);
    near(x.bag_resemblance(&y), 6.0 / 8.0);
    let (x, y) = shingles(2);
    near(x.resemblance(&y), 5.0 / 7.0);
    let (x, y) = shingles(3);
    near(x.resemblance(&y), 4.0 / 6.0);
    // More paths asked for than there are: one shingle of all.
    let (x, y) = shingles(99);
    near(x.resemblance(&y), 0.0);
    near(x.resemblance(&x), 1.0);
}

#[test]
fn a_sketch_estimates_the_resemblance() {
    let wide = |from: usize, to: usize| {
        let list: Vec<String> = (from..to).map(|n| format!("t{n}")).collect();
        Shingles::of(&tree(&format!("r({})", list.join(","))), 1)
    };
    // 1,000 shared of 3,001 in all: the root and t1000 … t1999.
    let (a, b) = (wide(0, 2_000), wide(1_000, 3_000));
    let exact = a.resemblance(&b);
    near(exact, 1_001.0 / 3_001.0);
    for (k, allowed) in [(100, 0.15), (1_000, 0.05)] {
        let estimate = a.sketch(k).resemblance(&b.sketch(k));
        assert!((estimate - exact).abs() < allowed, "k = {k}: {estimate}");
    }
    near(a.sketch(5_000).resemblance(&b.sketch(5_000)), exact);
}

#[test]
fn paths_left_over_are_paired_by_their_beginnings() {
    let (a, b) = (tree("a(b(c(d)))"), tree("a(b(c(e)))"));
    let path = |matching| Measure::Path(matching).similarity(&a, &b);
    near(path(PathMatch::Binary), 6.0 / 8.0);
    // abcd and abce share three of four steps.
    near(path(PathMatch::Partial), (3.0 + 0.75) / 4.0);
    near(path(PathMatch::Weighted), (3.0 + 1.75 / 1.875) / 4.0);
}

#[test]
fn bags_count() {
    let (a, b) = (Bag::new(vec![1, 1, 2, 3]), Bag::new(vec![1, 3, 3, 4]));
    assert_eq!(a.shared(&b), 2);
    assert_eq!((a.total(), a.count(1), a.count(9)), (4, 2, 0));
    near(bag_similarity(&a, &b), 0.5);
}
