//! How alike two titles are. In: two short texts. Out: 0 to 1, or a text in the form that is compared.
//! Never looks at the page.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

/// Longest title compared, in characters; the comparison is quadratic.
const MAX_CHARS: usize = 200;

/// True for characters of scripts that write words without spaces.
pub(super) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}

/// The form that titles are compared in: NFKC, lower case, no quotes, one space between words and none
/// beside a CJK character. Cut at 200 characters.
pub(super) fn normal_form(text: &str) -> Vec<char> {
    let mut out: Vec<char> = Vec::with_capacity(text.len().min(MAX_CHARS));
    let mut gap = false;
    let ascii = text
        .is_ascii()
        .then(|| text.chars().map(|c| c.to_ascii_lowercase()));
    let other = ascii
        .is_none()
        .then(|| text.nfkc().flat_map(char::to_lowercase));
    for c in ascii
        .into_iter()
        .flatten()
        .chain(other.into_iter().flatten())
    {
        if out.len() >= MAX_CHARS {
            break;
        }
        if c.is_whitespace() {
            gap = true;
        } else if !is_quote(c) {
            let between_words = !is_cjk(c) && out.last().is_some_and(|l| !is_cjk(*l));
            if gap && between_words {
                out.push(' ');
            }
            gap = false;
            out.push(c);
        }
    }
    out
}

fn is_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '“' | '”' | '‘' | '’' | '「' | '」' | '『' | '』' | '«' | '»' | '`'
    )
}

/// `LCS / (LD + LCS)` with the longest common substring and the Levenshtein distance, over characters:
/// 1 only for equal texts, 0 when no character is shared. Two empty texts are equal.
pub(super) fn likeness(a: &[char], b: &[char]) -> f64 {
    if a.is_empty() && b.is_empty() {
        return 1.0;
    }
    let common = f64::from(common_substring(a, b));
    if common == 0.0 {
        return 0.0;
    }
    common / (f64::from(super::smooth::edit_distance(a, b)) + common)
}

/// Normal forms that many texts are compared with.
#[derive(Debug, Default)]
pub(super) struct Forms {
    forms: Vec<Vec<char>>,
    /// Every run of [`RUN`] characters of any form, sorted.
    runs: Vec<[char; RUN]>,
}

/// Two texts of twice this length that share no run of it are less alike than one half.
const RUN: usize = 4;

impl Forms {
    /// The distinct normal forms of texts.
    pub(super) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let forms: Vec<Vec<char>> = texts
            .map(normal_form)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let mut runs: Vec<[char; RUN]> = forms
            .iter()
            .flat_map(|f| f.windows(RUN))
            .filter_map(|w| <[char; RUN]>::try_from(w).ok())
            .collect();
        runs.sort_unstable();
        runs.dedup();
        Self { forms, runs }
    }

    /// The greatest likeness of `form` to one of the forms; 0 where it is sure to be below one half.
    pub(super) fn best(&self, form: &[char]) -> f64 {
        let shares = |w: &[char]| {
            <[char; RUN]>::try_from(w).is_ok_and(|w| self.runs.binary_search(&w).is_ok())
        };
        if form.len() >= 2 * RUN && !form.windows(RUN).any(shares) {
            return 0.0;
        }
        let mut best = 0.0f64;
        for other in &self.forms {
            if other == form {
                return 1.0;
            }
            let (short, long) = (form.len().min(other.len()), form.len().max(other.len()));
            if 2 * short > long {
                best = best.max(likeness(form, other));
            }
        }
        best
    }
}

/// Length of the longest common substring, in characters.
pub(super) fn common_substring(a: &[char], b: &[char]) -> u32 {
    let mut row = vec![0u32; b.len() + 1];
    let mut best = 0;
    for x in a {
        let mut diagonal = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y { diagonal + 1 } else { 0 };
            best = best.max(row[j + 1]);
            diagonal = above;
        }
    }
    best
}
