//! What holds for every measure, on trees made by chance and on hostile ones.

use proptest::prelude::*;

use taojin_extract::page::{Hints, Page};
use taojin_extract::similarity::Skeleton;

use crate::similarity::{Labels, Measure, Mode, Vocabulary, collection_distances, parse, skeleton};

/// Trees of up to 40 nodes with few labels, so that they have something in common.
fn any_tree() -> impl Strategy<Value = Skeleton> {
    prop::collection::vec((0u64..5, 0u16..8), 1..40).prop_map(|mut nodes| {
        // All in one family of roots: two of five trees have different ones.
        nodes[0].0 %= 2;
        Skeleton::from_depths(nodes)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn range_identity_and_symmetry(a in any_tree(), b in any_tree()) {
        for measure in Measure::ALL {
            let name = measure.name();
            let there = measure.similarity(&a, &b);
            prop_assert!((0.0..=1.0).contains(&there), "{name}: {there}");
            prop_assert!((measure.similarity(&a, &a) - 1.0).abs() < 1e-9, "{name}: identity");
            let back = measure.similarity(&b, &a);
            prop_assert!((there - back).abs() < 1e-9, "{name}: {there} and {back}");
        }
    }
}

#[test]
fn empty_trees() {
    let (none, one) = (Skeleton::default(), parse("a(b)"));
    for measure in Measure::ALL {
        assert_eq!(measure.similarity(&none, &none), 1.0, "{}", measure.name());
        assert_eq!(measure.similarity(&none, &one), 0.0, "{}", measure.name());
        assert_eq!(measure.similarity(&one, &none), 0.0, "{}", measure.name());
    }
}

#[test]
fn unlike_trees_are_less_alike_than_like_ones() {
    let base = parse("html(body(header(nav(a,a,a)),main(h1,p,p,p),footer(p)))");
    let like = parse("html(body(header(nav(a,a,a)),main(h1,p,p,p,p),footer(p)))");
    let unlike = parse("html(body(table(tr(td(font),td(table(tr(td)))))))");
    for measure in Measure::ALL {
        let (near, far) = (
            measure.similarity(&base, &like),
            measure.similarity(&base, &unlike),
        );
        // The printed weighted tag similarity looks at labels of both alone: that is its fault.
        let blind = measure == Measure::WeightedTag(Mode::Literal);
        assert!(near >= far || blind, "{}: {near} and {far}", measure.name());
        assert!(near > 0.6, "{}: {near}", measure.name());
    }
}

/// Wide, deep and mixed trees far beyond the limits: each pair must come back soon, or the test runs out of time.
#[test]
fn the_cost_of_hostile_trees_is_bounded() {
    let wide = Skeleton::from_depths((0..12_000u64).map(|n| (n % 7, u16::from(n > 0))));
    let distinct = Skeleton::from_depths((0..12_000u64).map(|n| (n, u16::from(n > 0))));
    let deep = Skeleton::from_depths((0..4_000u64).map(|n| (n % 3, u16::try_from(n).unwrap())));
    let mixed = Skeleton::from_depths((0..12_000u64).map(|n| (n % 11, (n * n % 23) as u16)));
    let trees = [&wide, &distinct, &deep, &mixed];
    for measure in Measure::ALL {
        for (i, a) in trees.iter().enumerate() {
            let b = trees[(i + 1) % trees.len()];
            let similarity = measure.similarity(a, b);
            assert!((0.0..=1.0).contains(&similarity), "{}", measure.name());
            assert!(measure.similarity(a, a) > 0.999, "{}", measure.name());
        }
    }
}

#[test]
fn inline_elements_are_no_blocks() {
    let page = |text: &str| {
        let html = format!("<body><div class=story><p>{text}</p></div></body>");
        Page::parse(html.as_bytes(), Hints::default())
    };
    let of = |text: &str, labels| skeleton(&page(text), labels);
    let (plain, bold) = ("一二", "一<b>二</b>");
    assert_ne!(of(plain, Labels::Tags), of(bold, Labels::Tags));
    assert_eq!(of(plain, Labels::Blocks), of(bold, Labels::Blocks));
}

#[test]
fn a_skeleton_has_neither_text_nor_scripts() {
    let html = "<html><head><title>t</title></head><body><script>a<b</script><p>one<b>two</b></p><!--x--></body></html>";
    let page = Page::parse(html.as_bytes(), Hints::default());
    let tree = skeleton(&page, Labels::Tags);
    assert_eq!(tree.depths(), [0, 1, 2]);
}

#[test]
fn a_collection_is_weighed_by_what_is_rare() {
    let page = |class: &str| {
        let html = format!(
            "<body><div class=frame><ul><li>a</li></ul></div><div class={class}><p>t</p></div></body>"
        );
        Page::parse(html.as_bytes(), Hints::default())
    };
    let bags: Vec<_> = ["story", "story", "photo", "photo"]
        .map(|class| Vocabulary::of(&page(class)))
        .into();
    let all = collection_distances(&bags);
    assert_eq!(all.count(), 4);
    assert!(all.get(1, 0) < 1e-6 && all.get(3, 2) < 1e-6, "{all:?}");
    assert!(all.get(2, 0) > 0.5, "{all:?}");
    assert!((all.get(2, 0) - all.get(3, 1)).abs() < 1e-6, "{all:?}");
    assert_eq!(collection_distances(&[]).count(), 0);
    assert_eq!(collection_distances(&bags[..1]).get(0, 0), 0.0);
}
