//! Counts of labels (Buttler 2004, weighted tag similarity). In: two skeletons. Out:
//! `Σ 2·min(w, v) / Σ (w + v)`. The printed sum runs over labels that stand in both trees, which ignores the others;
//! mended, it runs over all.

use taojin_extract::similarity::Skeleton;

use super::Mode;
use super::path_bag::{Bag, bag_similarity};

/// Similarity of two trees that are not empty.
pub(super) fn similarity(a: &Skeleton, b: &Skeleton, mode: Mode) -> f64 {
    let (x, y) = (Bag::new(a.labels().to_vec()), Bag::new(b.labels().to_vec()));
    match mode {
        Mode::Fixed => bag_similarity(&x, &y),
        Mode::Literal => {
            let shared = |bag: &Bag, other: &Bag| {
                let kept = bag.counts().filter(|(label, _)| other.count(*label) > 0);
                Bag::counted(kept.collect())
            };
            let (x, y) = (shared(&x, &y), shared(&y, &x));
            if x.total() == 0 {
                return 0.0;
            }
            bag_similarity(&x, &y)
        }
    }
}
