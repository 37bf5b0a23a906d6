//! Sequences: merging of repeats against the suffix tree, essential and optional nodes on the example of the thesis.

use proptest::prelude::*;

use crate::template::nodes::{Node, Piece, pieces};
use crate::template::repeats::{Token, ends, merge};
use crate::template::suffix_order::Leaves;
use crate::template::suffix_tree::{Run, SuffixTree, equal_subtrees};
use crate::template::{suffix_order, ukkonen};

fn token(label: u64, depth: u16) -> Token {
    Token {
        label,
        depth,
        plus: false,
    }
}

/// `a0 b1 c1` as tokens, a trailing `+` as merged.
fn tokens(text: &str) -> Vec<Token> {
    text.split_whitespace()
        .map(|word| {
            let plus = word.ends_with('+');
            let word = word.trim_end_matches('+');
            let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
            let depth = word.trim_start_matches(name);
            Token {
                plus,
                ..token(u64::from(name.as_bytes()[0]), depth.parse().unwrap())
            }
        })
        .collect()
}

fn any_sequence() -> impl Strategy<Value = Vec<Token>> {
    prop::collection::vec((0u64..3, 0u16..5), 1..40).prop_map(|nodes| {
        let mut last = 0;
        nodes
            .into_iter()
            .enumerate()
            .map(|(at, (label, depth))| {
                // A child is one deeper than its parent, and there is one root.
                last = if at == 0 { 0 } else { depth.clamp(1, last + 1) };
                token(label, last)
            })
            .collect()
    })
}

/// Whether two subtrees are the same, looked at element by element.
fn same(sequence: &[Token], ends: &[u32], a: usize, b: usize) -> bool {
    let (x, y) = (
        &sequence[a..ends[a] as usize],
        &sequence[b..ends[b] as usize],
    );
    x.len() == y.len()
        && x.iter().zip(y).all(|(m, n)| {
            m.label == n.label && m.depth - sequence[a].depth == n.depth - sequence[b].depth
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_suffix_tree_finds_every_equal_subtree(sequence in any_sequence()) {
        let ends = ends(sequence.iter().map(|t| t.depth));
        let mut wanted: Vec<Vec<usize>> = Vec::new();
        for at in 0..sequence.len() {
            match wanted.iter_mut().find(|g| same(&sequence, &ends, g[0], at)) {
                Some(group) => group.push(at),
                None => wanted.push(vec![at]),
            }
        }
        wanted.retain(|g| g.len() > 1);
        prop_assert_eq!(equal_subtrees(&sequence), wanted);
    }

    #[test]
    fn merging_by_hashes_holds_every_literal_merge(sequence in any_sequence()) {
        let merged = merge(&sequence);
        // A fixed point: nothing is left to merge.
        let again = merge(&merged.tokens);
        prop_assert_eq!(&again.tokens, &merged.tokens);
        // Of equal subtrees under one parent, as the suffix tree finds them, one is left at most.
        let ends = ends(sequence.iter().map(|t| t.depth));
        let parent = |at: usize| (0..at).rev().find(|p| ends[*p] as usize > at && sequence[*p].depth < sequence[at].depth);
        for group in equal_subtrees(&sequence) {
            for (n, a) in group.iter().enumerate() {
                for b in &group[n + 1..] {
                    if parent(*a) == parent(*b) {
                        let left = [a, b].iter().filter(|at| merged.places.contains(at)).count();
                        prop_assert!(left <= 1, "{a} and {b} are both left");
                    }
                }
            }
        }
        // Places rise, and what stands there is what is left.
        for (token, place) in merged.tokens.iter().zip(&merged.places) {
            prop_assert_eq!((token.label, token.depth), (sequence[*place].label, sequence[*place].depth));
        }
    }
}

/// The runs of a tree in order of length, those of one length in order of place.
fn sorted(tree: &SuffixTree) -> Vec<Run> {
    let mut runs = tree.repeated_runs();
    runs.sort_by_key(|(start, length, _)| (*length, *start));
    runs
}

/// The runs of a text over so many letters at most, by each of the two ways to build its tree.
fn runs_both_ways(text: &[u32], letters: u32) -> [Vec<Run>; 2] {
    let text = [text, &[letters]].concat();
    let long = suffix_order::leaves(text.clone(), letters as usize + 1);
    let leaves: [Leaves; 2] = [ukkonen::leaves(&text), long];
    leaves.map(|leaves| sorted(&SuffixTree { leaves }))
}

/// Runs that end where two occurrences go on differently, found by trying all.
fn runs_by_trying(text: &[u32]) -> Vec<Run> {
    let mut runs = Vec::new();
    for length in 1..text.len() {
        for start in 0..text.len() - length {
            let run = &text[start..start + length];
            let places: Vec<usize> = (0..=text.len() - length)
                .filter(|at| text[*at..].starts_with(run))
                .collect();
            let after = |at: &usize| text.get(at + length);
            let differ = places.iter().any(|at| after(at) != after(&places[0]));
            if places[0] == start && differ {
                runs.push((start as u32, length as u32, places.len() as u32));
            }
        }
    }
    runs
}

proptest! {
    #[test]
    fn both_suffix_trees_list_every_repeated_run(text in prop::collection::vec(0u32..3, 0..40)) {
        let wanted = runs_by_trying(&text);
        let [short, long] = runs_both_ways(&text, 3);
        prop_assert_eq!(&short, &wanted);
        prop_assert_eq!(&long, &wanted);
    }

    #[test]
    fn both_suffix_trees_agree_on_long_texts(
        part in prop::collection::vec(0u32..3, 1..50), times in 1usize..40, rest in prop::collection::vec(0u32..3, 0..200)
    ) {
        let text = [part.repeat(times), rest].concat();
        let [short, long] = runs_both_ways(&text, 3);
        prop_assert_eq!(short, long);
    }

    #[test]
    fn both_suffix_trees_agree_however_many_letters_there_are(
        letters in prop::sample::select(vec![2u32, 30, 126, 127, 128, 129, 300]), text in prop::collection::vec(0u32..300, 0..600)
    ) {
        let text: Vec<u32> = text.iter().map(|letter| letter % letters).collect();
        let [short, long] = runs_both_ways(&text, letters);
        prop_assert_eq!(short, long);
    }
}

#[test]
fn both_suffix_trees_agree_on_more_letters_than_two_bytes_hold() {
    for letters in [32_766u32, 32_767, 32_768, 40_000] {
        let text: Vec<u32> = (0..letters).chain(letters - 900..letters).collect();
        let [short, long] = runs_both_ways(&text, letters);
        assert_eq!(short, long);
        assert_eq!(short.len(), 900);
    }
}

#[test]
fn one_tree_for_texts_that_need_the_order_of_their_suffixes() {
    // Long enough for the second way; the runs of a text of equal symbols are known.
    let n = 70_000u32;
    let runs = sorted(&SuffixTree::of(&vec![7; n as usize]));
    let wanted: Vec<Run> = (1..n).map(|length| (0, length, n - length + 1)).collect();
    assert!(runs == wanted);
}

#[test]
fn repeated_runs_of_banana() {
    let text: Vec<u64> = "BANANA".bytes().map(u64::from).collect();
    let tree = SuffixTree::of(&text);
    // A three times, NA and ANA twice.
    assert_eq!(sorted(&tree), [(1, 1, 3), (2, 2, 2), (1, 3, 2)]);
}

#[test]
fn a_suffix_tree_has_fewer_than_two_nodes_for_each_symbol() {
    for n in [1_000usize, 2_000, 4_000, 40_000] {
        let same = vec![7u64; n];
        let mixed: Vec<u64> = (0..n as u64).map(|i| i * i % 13).collect();
        for text in [same, mixed] {
            let nodes = SuffixTree::of(&text).node_count();
            assert!(nodes <= 2 * (n + 1), "{nodes} nodes for {n} symbols");
        }
    }
}

#[test]
fn records_are_merged_and_marked() {
    let list = tokens("u0 l1 a2 l1 a2 l1 a2 p1");
    assert_eq!(merge(&list).tokens, tokens("u0 l1+ a2 p1"));
    assert_eq!(merge(&list).places, [0, 1, 2, 7]);
    // Outer records that become equal by the merging of inner ones.
    let nested = tokens("u0 l1 a2 a2 l1 a2 a2 a2");
    assert_eq!(merge(&nested).tokens, tokens("u0 l1+ a2+"));
    // Records of two siblings.
    let terms = tokens("d0 t1 x1 t1 x1 t1 x1");
    assert_eq!(merge(&terms).tokens, tokens("d0 t1+ x1+"));
    assert_eq!(merge(&[]).tokens, []);
    // A wide element among small ones.
    let wide: Vec<Token> = (0..1_000u64).map(|n| token(n % 400, 2)).collect();
    let small = tokens("s1 a2 b2 a2");
    let all = [tokens("r0 w1"), wide, small.clone(), small].concat();
    let merged = merge(&all).tokens;
    assert_eq!(merged.len(), 2 + 400 + 3);
    assert_eq!(merged[402..], tokens("s1+ a2+ b2"));
}

fn word(text: &str) -> Vec<Node> {
    text.bytes()
        .map(|b| Node {
            name: u64::from(b),
            depth: 0,
            key: u64::from(b),
            plus: false,
        })
        .collect()
}

fn letters(nodes: &[Node]) -> String {
    nodes.iter().map(|n| n.name as u8 as char).collect()
}

#[test]
fn essential_and_optional_nodes_of_the_thesis() {
    let members = ["athubeatcdlxe", "athubeatcdpkue", "aorzbcdlxe"].map(word);
    let found: Vec<String> = pieces(&members, 0)
        .iter()
        .map(|piece| match piece {
            Piece::Essential(nodes) => letters(nodes),
            Piece::Optional(alternatives) => {
                let each = alternatives
                    .iter()
                    .map(|(share, nodes)| format!("{} {:.0}/3", letters(nodes), share * 3.0));
                format!("({})", each.collect::<Vec<_>>().join("|"))
            }
        })
        .collect();
    assert_eq!(
        found,
        [
            "a",
            "(thu 2/3|orz 1/3)",
            "b",
            "(eat 2/3)",
            "cd",
            "(lx 2/3|pku 1/3)",
            "e"
        ]
    );
}

#[test]
fn templates_of_one_and_of_equal_pages_have_no_optional_nodes() {
    let one = pieces(&[word("abc")], 0);
    assert!(matches!(&one[..], [Piece::Essential(nodes)] if letters(nodes) == "abc"));
    let same = pieces(&[word("abc"), word("abc")], 1);
    assert_eq!(one, same);
    assert!(pieces(&[], 0).is_empty());
    // Nothing in common: one gap of alternatives.
    let apart = pieces(&[word("abc"), word("xyz")], 0);
    assert!(matches!(&apart[..], [Piece::Optional(all)] if all.len() == 2));
}
