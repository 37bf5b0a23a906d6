//! Suffix trees against trying all, and the merging that templates use against the equal subtrees that the tree finds.

use proptest::prelude::*;

use super::{Run, SuffixTree, equal_subtrees};
use crate::repeats::{Token, ends, merge};

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

/// Runs that end where two occurrences go on differently, found by trying all.
fn runs_by_trying(text: &[u32]) -> Vec<Run> {
    let mut runs = Vec::new();
    for length in 1..text.len() {
        let mut repeats = false;
        for start in 0..text.len() - length {
            let run = &text[start..start + length];
            let places: Vec<usize> = (0..=text.len() - length)
                .filter(|at| text[*at..].starts_with(run))
                .collect();
            repeats |= places.len() > 1;
            let after = |at: &usize| text.get(at + length);
            let differ = places.iter().any(|at| after(at) != after(&places[0]));
            if places[0] == start && differ {
                runs.push((start as u32, length as u32, places.len() as u32));
            }
        }
        if !repeats {
            break;
        }
    }
    runs
}

fn check_against_trying(text: &[u32]) -> Result<(), TestCaseError> {
    let symbols: Vec<u64> = text.iter().map(|letter| u64::from(*letter)).collect();
    prop_assert_eq!(sorted(&SuffixTree::of(&symbols)), runs_by_trying(text));
    Ok(())
}

proptest! {
    #[test]
    fn every_repeated_run_is_listed(text in prop::collection::vec(0u32..3, 0..40)) {
        check_against_trying(&text)?;
    }

    #[test]
    fn every_repeated_run_of_a_long_text_is_listed(
        part in prop::collection::vec(0u32..3, 1..20), times in 1usize..8, rest in prop::collection::vec(0u32..3, 0..60)
    ) {
        check_against_trying(&[part.repeat(times), rest].concat())?;
    }

    // As many as fit a byte, and more: symbols are kept as small as can be.
    #[test]
    fn every_repeated_run_is_listed_however_many_letters_there_are(
        letters in prop::sample::select(vec![2u32, 30, 126, 127, 128, 129, 300]), text in prop::collection::vec(0u32..300, 0..150)
    ) {
        let text: Vec<u32> = (0..letters).chain(text.iter().map(|letter| letter % letters)).collect();
        check_against_trying(&text)?;
    }
}

#[test]
fn more_letters_than_two_bytes_hold() {
    for letters in [32_766u64, 32_767, 32_768, 40_000] {
        let text: Vec<u64> = (0..letters).chain(letters - 900..letters).collect();
        let runs = sorted(&SuffixTree::of(&text));
        let wanted: Vec<Run> = (1..=900u32).map(|n| (letters as u32 - n, n, 2)).collect();
        assert!(runs == wanted);
    }
}

#[test]
fn runs_of_equal_symbols() {
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
