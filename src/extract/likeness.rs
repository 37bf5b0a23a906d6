//! How alike two titles are. In: two short texts. Out: 0 to 1, or a text in the form that is compared.
//! Never looks at the page.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

/// Longest title compared, in characters; the comparison is quadratic.
const MAX_CHARS: usize = 200;

/// Characters, those of Chinese counted twice.
pub(super) fn width(chars: impl Iterator<Item = char>) -> usize {
    chars.map(|c| 1 + usize::from(is_cjk(c))).sum()
}

/// True for characters of scripts that write words without spaces.
pub(super) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}

/// The form that titles are compared in: NFKC, lower case, no quotes, one space between words and none
/// beside a CJK character. Cut at 200 characters.
pub(super) fn normal_form(text: &str) -> Vec<char> {
    if text.is_ascii() {
        return ascii_form(text.as_bytes());
    }
    let mut form = Form::new(text.len());
    if text.chars().all(|c| plain(c).is_some()) {
        text.chars().filter_map(plain).all(|c| form.push(c));
    } else {
        text.nfkc()
            .flat_map(char::to_lowercase)
            .all(|c| form.push(c));
    }
    form.chars
}

/// The same of a text of ASCII alone.
fn ascii_form(text: &[u8]) -> Vec<char> {
    let mut chars = Vec::with_capacity(text.len().min(MAX_CHARS + 1));
    let mut gap = false;
    for &byte in text {
        if chars.len() >= MAX_CHARS {
            break;
        }
        match byte {
            b'\t'..=b'\r' | b' ' => gap = true,
            b'"' | b'\'' | b'`' => {}
            _ => {
                if gap && !chars.is_empty() {
                    chars.push(' ');
                }
                gap = false;
                chars.push(char::from(byte.to_ascii_lowercase()));
            }
        }
    }
    chars
}

/// NFKC and lower case of a character that does not depend on those beside it; none for the others, which are rare.
fn plain(c: char) -> Option<char> {
    match c {
        '\0'..='\x7f' => Some(c.to_ascii_lowercase()),
        '\u{4e00}'..='\u{9fff}' | '、' | '。' | '《'..='】' | '—' | '‘' | '’' | '“' | '”' | '·' => {
            Some(c)
        }
        '！'..='～' => {
            char::from_u32(u32::from(c) - 0xFEE0).map(|half| half.to_ascii_lowercase())
        }
        _ => None,
    }
}

/// A normal form while it grows.
struct Form {
    chars: Vec<char>,
    gap: bool,
}

impl Form {
    fn new(bytes: usize) -> Self {
        Self {
            chars: Vec::with_capacity(bytes.min(MAX_CHARS)),
            gap: false,
        }
    }

    /// Adds a character; false when there is no more room.
    fn push(&mut self, c: char) -> bool {
        if self.chars.len() >= MAX_CHARS {
            return false;
        }
        if c.is_whitespace() {
            self.gap = true;
        } else if !is_quote(c) {
            let between_words = !is_cjk(c) && self.chars.last().is_some_and(|l| !is_cjk(*l));
            if self.gap && between_words {
                self.chars.push(' ');
            }
            self.gap = false;
            self.chars.push(c);
        }
        true
    }
}

fn is_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '“' | '”' | '‘' | '’' | '「' | '」' | '『' | '』' | '«' | '»' | '`'
    )
}

/// Normal forms that many texts are compared with.
#[derive(Debug, Default)]
pub(super) struct Forms {
    forms: Vec<Vec<char>>,
    /// Every run of [`RUN`] characters of any form, sorted.
    runs: Vec<[char; RUN]>,
    /// A bit for the hash of each run: most texts have none of them, and this is quicker to ask.
    bits: Vec<u64>,
}

/// Bits for the hashes of runs; a title has some hundred.
const BITS: usize = 4096;

fn hash(run: &[char]) -> usize {
    let mixed = run.iter().fold(0u32, |hash, c| {
        (hash ^ u32::from(*c))
            .wrapping_mul(0x9E37_79B1)
            .rotate_left(5)
    });
    mixed as usize % BITS
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
        let mut bits = vec![0; BITS / 64];
        for run in &runs {
            let at = hash(run);
            bits[at / 64] |= 1 << (at % 64);
        }
        Self { forms, runs, bits }
    }

    /// True if `form` is one of the forms.
    pub(super) fn contain(&self, form: &[char]) -> bool {
        self.forms
            .binary_search_by(|f| f.as_slice().cmp(form))
            .is_ok()
    }

    /// The greatest likeness of a text to one of the forms, if it is greater than `least`, which is at least one half.
    pub(super) fn best_of(&self, text: &str, least: f64) -> Option<f64> {
        // NFKC, dropped quotes and blanks change a length by less than this, but for texts made to.
        let chars = text.chars().count();
        let fits = |form: &Vec<char>| chars <= 4 * form.len() + 16 && 4 * chars + 16 >= form.len();
        if !self.forms.iter().any(fits) {
            return None;
        }
        self.best(&normal_form(text), least)
    }

    /// The same for a normal form, whatever its length.
    pub(super) fn best_of_form(&self, form: &[char], least: f64) -> Option<f64> {
        let fits = |other: &Vec<char>| {
            form.len() <= 4 * other.len() + 16 && 4 * form.len() + 16 >= other.len()
        };
        self.forms
            .iter()
            .any(fits)
            .then(|| self.best(form, least))
            .flatten()
    }

    /// The same for a normal form.
    pub(super) fn best(&self, form: &[char], least: f64) -> Option<f64> {
        if self
            .forms
            .binary_search_by(|f| f.as_slice().cmp(form))
            .is_ok()
        {
            return Some(1.0);
        }
        let common = self.longest_common(form);
        let mut best = None;
        for other in &self.forms {
            let least = best.unwrap_or(least);
            best = likeness_from(form, other, common, least).or(best);
        }
        best
    }

    /// No common substring with any of the forms is longer than this.
    fn longest_common(&self, form: &[char]) -> usize {
        if form.len() < 2 * RUN {
            return form.len();
        }
        let (mut longest, mut hits) = (0, 0);
        for run in form.windows(RUN) {
            let at = hash(run);
            let may_hit = self
                .bits
                .get(at / 64)
                .is_some_and(|bits| bits >> (at % 64) & 1 == 1);
            let is_hit = may_hit
                && <[char; RUN]>::try_from(run)
                    .is_ok_and(|run| self.runs.binary_search(&run).is_ok());
            hits = if is_hit { hits + 1 } else { 0 };
            longest = longest.max(hits);
        }
        if longest == 0 { 0 } else { longest + RUN - 1 }
    }
}

/// `LCS / (LD + LCS)` with the longest common substring and the Levenshtein distance, over characters, where it is
/// greater than `least`: 1 only for equal texts, none when no character is shared. `longest` is a bound on the common
/// substring. What cannot be is not computed: `likeness > least` means `LD < LCS / least - LCS`.
pub(super) fn likeness_from(a: &[char], b: &[char], longest: usize, least: f64) -> Option<f64> {
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    let limit = |common: usize| (common as f64 / least - common as f64).ceil() as usize;
    let bound = limit(short.min(longest));
    if short == 0 || bound <= long - short {
        return None;
    }
    let distance = distance_below(a, b, bound)?;
    let common = f64::from(common_substring(a, b));
    Some(common / (f64::from(distance) + common)).filter(|likeness| *likeness > least)
}

/// Levenshtein distance if it is below `limit`: only cells so near to the diagonal can take part (Ukkonen 1985).
fn distance_below(a: &[char], b: &[char], limit: usize) -> Option<u32> {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (a.get(head..)?, b.get(head..)?);
    let tail = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    let (a, b) = (a.get(..a.len() - tail)?, b.get(..b.len() - tail)?);
    let far = u32::try_from(limit).unwrap_or(u32::MAX);
    let mut row: Vec<u32> = (0..=b.len() as u32).map(|d| d.min(far)).collect();
    for (i, x) in a.iter().enumerate() {
        let from = (i + 1).saturating_sub(limit).max(1);
        let to = (i + 1).saturating_add(limit).min(b.len());
        let mut diagonal = row[from - 1];
        row[from - 1] = if from == 1 {
            (i as u32 + 1).min(far)
        } else {
            far
        };
        let mut least = row[from - 1];
        for j in from..=to {
            let above = row[j];
            let replaced = diagonal + u32::from(b[j - 1] != *x);
            row[j] = replaced.min(above + 1).min(row[j - 1] + 1).min(far);
            least = least.min(row[j]);
            diagonal = above;
        }
        if least >= far {
            return None;
        }
        if let Some(past) = row.get_mut(to + 1) {
            *past = far;
        }
    }
    row.last().copied().filter(|distance| *distance < far)
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
