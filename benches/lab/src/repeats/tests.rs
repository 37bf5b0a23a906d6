//! Repeats against trying all of them, and the merging of twins against the repeats.

use std::collections::HashMap;

use proptest::prelude::*;
use taojin_extract::template::TokenKind;

use super::*;

/// Elements of `name` and depth, as the thesis writes them: `div3 div4 a5`.
fn sequence(text: &str) -> Vec<Token> {
    let element = |word: &str| {
        let at = word.find(|c: char| c.is_ascii_digit()).expect("a depth");
        let (name, depth) = word.split_at(at);
        token(
            mix(name.len() as u64, u64::from(name.as_bytes()[0])),
            depth.parse().expect("a depth"),
        )
    };
    text.split_whitespace().map(element).collect()
}

fn token(name: u64, depth: u16) -> Token {
    Token {
        name,
        depth,
        kind: TokenKind::Block,
        label: 0,
    }
}

/// Any preorder sequence: each element at most one level below the one before it.
fn any_sequence() -> impl Strategy<Value = Vec<Token>> {
    prop::collection::vec((0u64..3, 0u16..5), 0..60).prop_map(|steps| {
        let mut depth = 0u16;
        let of = |(name, up): (u64, u16)| {
            depth = if up == 0 {
                depth + 1
            } else {
                (depth + 1).saturating_sub(up).max(1)
            };
            token(name, depth)
        };
        std::iter::once(token(9, 0))
            .chain(steps.into_iter().map(of))
            .collect()
    })
}

/// All groups of equal subtrees, by comparing them.
fn equal_subtrees(elements: &[Token]) -> Vec<Repeat> {
    let mut groups: HashMap<Vec<(u64, u16)>, Vec<usize>> = HashMap::new();
    for (at, end) in find_ends(elements).into_iter().enumerate() {
        let subtree = elements[at..end].iter().map(|t| (t.name, t.depth));
        groups.entry(subtree.collect()).or_default().push(at);
    }
    let groups = groups.into_iter().filter(|(_, places)| places.len() > 1);
    let repeat = |(subtree, places): (Vec<_>, Vec<usize>)| Repeat {
        length: subtree.len(),
        places,
    };
    let mut repeats: Vec<Repeat> = groups.map(repeat).collect();
    repeats.sort();
    repeats
}

#[test]
fn tree_of_banana() {
    let text: Vec<u64> = "BANANA".bytes().map(u64::from).collect();
    let tree = SuffixTree::new(&text);
    let leaves = Leaves::new(&tree, text.len());
    let mut found = Vec::new();
    let mut open = vec![(ROOT, 0)];
    while let Some((node, before)) = open.pop() {
        for child in tree
            .node(node)
            .children
            .values()
            .filter(|c| !tree.is_leaf(**c))
        {
            let length = before + tree.edge(*child).len();
            found.push((length, leaves.places(*child)));
            open.push((*child, length));
        }
    }
    found.sort();
    // A three times, NA and ANA twice.
    assert_eq!(
        found,
        [(1, vec![1, 3, 5]), (2, vec![2, 4]), (3, vec![1, 3])]
    );
}

#[test]
fn records_of_the_thesis() {
    let page = sequence("html0 body1 div2 div3 div4 div3 div4 a5 img5 div4 a5 img5 p2");
    let record = Repeat {
        length: 3,
        places: vec![6, 9],
    };
    let repeats = find_repeats(&page, Form::Mended);
    assert!(repeats.contains(&record), "{repeats:?}");
    assert_eq!(repeats, equal_subtrees(&page));
    // As printed: the edge ends where the records go on differently, and what is below it is dropped.
    let printed = find_repeats(&page, Form::Printed);
    assert!(!printed.contains(&record), "{printed:?}");
    let twins = merge(&page);
    assert_eq!(twins[9..12], [Some(6), Some(7), Some(8)]);
}

#[test]
fn printed_form_misses_what_goes_on_differently() {
    // Two equal rows, the second of which the page ends with: nothing that follows is the same.
    let page = sequence("html0 tr1 td2 b3 p1 tr1 td2 b3");
    let printed = find_repeats(&page, Form::Printed);
    let mended = find_repeats(&page, Form::Mended);
    assert_eq!(mended.iter().map(|r| r.length).max(), Some(3));
    assert_eq!(printed, []);
    // With the same element behind both it is found.
    let page = sequence("html0 tr1 td2 b3 p1 tr1 td2 b3 p1 a1");
    assert_eq!(
        find_repeats(&page, Form::Printed)
            .iter()
            .map(|r| r.length)
            .max(),
        Some(3)
    );
}

proptest! {
    #[test]
    fn mended_repeats_are_the_equal_subtrees(elements in any_sequence()) {
        prop_assert_eq!(find_repeats(&elements, Form::Mended), equal_subtrees(&elements));
    }

    #[test]
    fn printed_repeats_are_some_of_them(elements in any_sequence()) {
        let mended = find_repeats(&elements, Form::Mended);
        for repeat in find_repeats(&elements, Form::Printed) {
            prop_assert!(mended.contains(&repeat), "{:?} {:?}", repeat, mended);
        }
    }

    /// Merging finds every record that the tree finds next to its like, and what it finds are records.
    #[test]
    fn merging_contains_the_repeats(elements in any_sequence()) {
        let twins = merge(&elements);
        let ends = find_ends(&elements);
        let first = |at: usize| std::iter::successors(Some(at), |at| twins[*at]).last();
        for repeat in find_repeats(&elements, Form::Mended) {
            for pair in repeat.places.windows(2).filter(|pair| ends[pair[0]] == pair[1]) {
                // A twin inside of a twin is a twin of its own; else it is one of the record before it.
                let is_inside = (0..pair[1]).any(|at| ends[at] > pair[1] && twins[at].is_some());
                prop_assert!(is_inside || twins[pair[1]].is_some(), "{:?} {:?}", repeat, twins);
                prop_assert_eq!(elements[pair[1]].name, elements[first(pair[1]).unwrap()].name);
            }
        }
        for (at, twin) in twins.iter().enumerate() {
            if let Some(twin) = twin {
                prop_assert_eq!(elements[at].name, elements[*twin].name);
                prop_assert_eq!(elements[at].depth, elements[*twin].depth);
            }
        }
    }
}

#[test]
fn equal_elements_do_not_exhaust_the_stack() {
    let mut page = vec![token(0, 0)];
    page.extend((0..6_000).map(|_| token(1, 1)));
    page.extend((0..2_000).map(|at| token(2, at + 1)));
    let repeats = find_repeats(&page, Form::Mended);
    assert_eq!(repeats[0].places.len(), 6_000);
}
