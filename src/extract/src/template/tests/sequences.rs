//! Sequences: merging of repeats, essential and optional nodes on the example of the thesis.

use crate::template::nodes::{Node, Piece, pieces};
use crate::template::repeats::{Token, merge};

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
