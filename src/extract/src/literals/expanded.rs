//! Words that are written down together. In: `sign[ -]?up|log ?in( to)?`. Out: each of the words. Knows alternatives,
//! groups, one of several characters and what may be left out; all else stands for itself.

use std::iter::Peekable;
use std::str::Chars;

/// Every word that `words` stands for.
pub fn spelled(words: &str) -> Vec<String> {
    alternatives(&mut words.chars().peekable())
}

/// The words up to the end of a group.
fn alternatives(chars: &mut Peekable<Chars<'_>>) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        all.append(&mut one(chars));
        if chars.next_if_eq(&'|').is_none() {
            return all;
        }
    }
}

/// The words of one alternative.
fn one(chars: &mut Peekable<Chars<'_>>) -> Vec<String> {
    let mut out = vec![String::new()];
    while let Some(char) = chars.next_if(|c| !matches!(c, '|' | ')')) {
        let mut choices = match char {
            '(' => {
                let inside = alternatives(chars);
                chars.next();
                inside
            }
            '[' => {
                let inside = chars.by_ref().take_while(|c| *c != ']');
                inside.map(String::from).collect()
            }
            char => vec![char.into()],
        };
        if chars.next_if_eq(&'?').is_some() {
            choices.push(String::new());
        }
        let longer = |word: &String| {
            let with = |choice: &String| format!("{word}{choice}");
            choices.iter().map(with).collect::<Vec<_>>()
        };
        out = out.iter().flat_map(longer).collect();
    }
    out
}
