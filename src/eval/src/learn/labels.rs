//! Labels the lines of a page from its gold text: the share of each line that the gold contains. The place of a line counts
//! only to separate a word in the text from the same word elsewhere.

use std::collections::{HashMap, HashSet};

use super::super::tokens::tokenize;

/// Tokens in a run that is searched for in the gold text.
const RUN: usize = 4;

/// Tokens of the texts as numbers.
#[derive(Debug, Default)]
pub(super) struct Numbering<'a>(HashMap<&'a str, u32>);

impl<'a> Numbering<'a> {
    /// Numbers of the tokens of a text.
    pub(super) fn number_tokens(&mut self, text: &'a str) -> Vec<u32> {
        let mut number = |token| {
            let next = self.0.len() as u32;
            *self.0.entry(token).or_insert(next)
        };
        tokenize(text).map(&mut number).collect()
    }
}

/// Share of each line that is text. A line of fewer than four tokens is judged by whether the gold has it as a line or
/// within one, and by the long lines next to it.
pub(super) fn labels(lines: &[Vec<u32>], gold: &[Vec<u32>]) -> Vec<f32> {
    let whole: Vec<u32> = gold.iter().flatten().copied().collect();
    let runs: Vec<HashSet<&[u32]>> = (0..=RUN)
        .map(|n| {
            if n == 0 {
                HashSet::new()
            } else {
                whole.windows(n).collect()
            }
        })
        .collect();
    let gold_lines: HashSet<&[u32]> = gold.iter().map(Vec::as_slice).collect();
    let long: Vec<Option<f32>> = lines
        .iter()
        .map(|line| {
            (line.len() >= RUN).then(|| {
                let found = line.windows(RUN).filter(|w| runs[RUN].contains(w)).count();
                found as f32 / (line.len() + 1 - RUN) as f32
            })
        })
        .collect();
    let short = |(i, line): (usize, &Vec<u32>)| {
        let before = long[..i].iter().rev().find_map(|l| *l).unwrap_or(0.0);
        let after = long[i + 1..].iter().find_map(|l| *l).unwrap_or(0.0);
        let (exact, inside) = (
            gold_lines.contains(line.as_slice()),
            !line.is_empty() && runs[line.len()].contains(line.as_slice()),
        );
        match (before > 0.5, after > 0.5) {
            (true, true) if exact => 1.0,
            (true, true) if inside => 0.8,
            (true, false) | (false, true) if exact => 0.6,
            _ if inside && !exact => 0.2,
            _ if exact => 0.1,
            _ => 0.0,
        }
    };
    let of = |(i, line): (usize, &Vec<u32>)| long[i].unwrap_or_else(|| short((i, line)));
    lines.iter().enumerate().map(of).collect()
}
