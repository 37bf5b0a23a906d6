//! Computes how alike two titles are, 0 to 1, on their normal forms.

use unicode_normalization::UnicodeNormalization;

use crate::page::measure::is_cjk;

/// Longest title compared, in characters; the comparison is quadratic.
pub(crate) const MAX_CHARS: usize = 200;

/// Characters, those of Chinese counted twice.
pub(crate) fn width(chars: impl Iterator<Item = char>) -> usize {
    chars.map(|c| 1 + usize::from(is_cjk(c))).sum()
}

/// The form that titles are compared in: NFKC, lower case, no quotes, one space between words and none
/// next to a CJK character. Cut at 200 characters.
pub(crate) fn normal_form(text: &str) -> Vec<char> {
    plain_form(text).unwrap_or_else(|| {
        let mut form = FormBuilder::new(text.len());
        text.nfkc()
            .flat_map(char::to_lowercase)
            .all(|c| form.push(c));
        form.chars
    })
}

/// The same of a text of plain characters, as nearly all are; none for the others.
fn plain_form(text: &str) -> Option<Vec<char>> {
    let mut form = FormBuilder::new(text.len());
    let mut rest = text;
    while form.has_room() {
        let end = rest.bytes().position(|b| !IN_WORD[usize::from(b)]);
        let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
        form.append_word(word.as_bytes());
        rest = behind;
        let Some(c) = rest.chars().next().filter(|_| form.has_room()) else {
            break;
        };
        match c {
            '\u{4e00}'..='\u{9fff}' => form.append(c, true),
            '…' => form.append_word(b"..."),
            _ => {
                form.push(if c.is_ascii() { c } else { plain(c)? });
            }
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    // What is cut off may still belong to the last character.
    let next = rest.chars().next();
    let ends = next.is_none_or(|c| c.is_ascii() || plain(c).is_some());
    ends.then_some(form.chars)
}

/// True for the bytes of ASCII but white space and quotes.
const IN_WORD: [bool; 256] = {
    let mut in_word = [false; 256];
    let mut at = 0u8;
    while at < 0x80 {
        in_word[at as usize] = !matches!(at, b'\t'..=b'\r' | b' ' | b'"' | b'\'' | b'`');
        at += 1;
    }
    in_word
};

/// NFKC and lower case of a character outside ASCII that does not depend on those next to it; none for the others, which
/// are rare.
pub(crate) fn plain(c: char) -> Option<char> {
    let moved = |by: i32| char::from_u32(u32::from(c).wrapping_add_signed(by));
    match c {
        '\u{4e00}'..='\u{9fff}' | '、' | '。' | '《'..='】' => Some(c),
        '！'..='～' => moved(-0xFEE0).map(|half| half.to_ascii_lowercase()),
        '\u{a0}' | '\u{3000}' => Some(' '),
        '‐' | '‒'..='―' | '‘'..='•' | '«' | '»' | '©' | '®' | '·' => Some(c),
        // Kana and Hangul.
        '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fe}' | '\u{ac00}'..='\u{d7a3}' => Some(c),
        // Latin letters with signs, Cyrillic.
        'À'..='Ö' | 'Ø'..='Þ' | 'А'..='Я' => moved(0x20),
        'ß'..='ö' | 'ø'..='ÿ' | 'а'..='џ' => Some(c),
        'Ѐ'..='Џ' => moved(0x50),
        'Ā'..='į' | 'Ĵ'..='ľ' | 'Ł'..='ň' | 'Ŋ'..='ž' => c.to_lowercase().next(),
        _ => None,
    }
}

/// A normal form while it grows.
struct FormBuilder {
    chars: Vec<char>,
    /// White space is behind the last character.
    gap: bool,
    /// The last character is there and is not CJK.
    in_words: bool,
}

impl FormBuilder {
    fn new(bytes: usize) -> Self {
        Self {
            chars: Vec::with_capacity(bytes.min(MAX_CHARS + 1)),
            gap: false,
            in_words: false,
        }
    }

    fn has_room(&self) -> bool {
        self.chars.len() < MAX_CHARS
    }

    /// Adds a character; false when there is no more room.
    fn push(&mut self, c: char) -> bool {
        if !self.has_room() {
            return false;
        }
        if c.is_whitespace() {
            self.gap = true;
        } else if !is_quote(c) {
            self.append(c, is_cjk(c));
        }
        true
    }

    /// Adds a character that is neither white space nor a quote.
    fn append(&mut self, c: char, cjk: bool) {
        if self.gap && self.in_words && !cjk {
            self.chars.push(' ');
        }
        self.chars.push(c);
        (self.gap, self.in_words) = (false, !cjk);
    }

    /// Adds as much of a run of ASCII without white space and quotes as there is room for.
    fn append_word(&mut self, word: &[u8]) {
        let Some((first, others)) = word.split_first() else {
            return;
        };
        let small = |byte: &u8| char::from(byte.to_ascii_lowercase());
        self.append(small(first), false);
        let room = MAX_CHARS.saturating_sub(self.chars.len());
        self.chars.extend(others.iter().take(room).map(small));
    }
}

fn is_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '“' | '”' | '‘' | '’' | '「' | '」' | '『' | '』' | '«' | '»' | '`'
    )
}

/// The distance from which two texts with a common substring of this length are not more alike than `least`.
pub(crate) fn distance_limit(common: usize, least: f64) -> usize {
    (common as f64 / least - common as f64).ceil() as usize
}

/// `LCS / (LD + LCS)` with the longest common substring and the Levenshtein distance, over characters, where it is
/// greater than `least`: 1 only for equal texts, none when no character is shared. `longest` is a bound on the common
/// substring. What cannot be is not computed: `likeness > least` means `LD < LCS / least - LCS`.
pub(crate) fn likeness_from(a: &[char], b: &[char], longest: usize, least: f64) -> Option<f64> {
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    let bound = distance_limit(short.min(longest), least);
    if short == 0 || bound <= long - short {
        return None;
    }
    // The cheaper of the two first: it shows how far the other must be followed.
    if bound <= NARROW && find_distance_below(a, b, bound).is_none() {
        return None;
    }
    let common = find_common_substring(a, b);
    let limit = distance_limit(common as usize, least);
    if limit <= long - short {
        return None;
    }
    let distance = find_distance_below(a, b, limit)?;
    let common = f64::from(common);
    Some(common / (f64::from(distance) + common)).filter(|likeness| *likeness > least)
}

/// A distance below this is cheap to compute, or to rule out.
const NARROW: usize = 6;

/// Levenshtein distance if it is below `limit`: only cells so near to the diagonal can take part (Ukkonen 1985).
fn find_distance_below(a: &[char], b: &[char], limit: usize) -> Option<u32> {
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
pub(crate) fn find_common_substring(a: &[char], b: &[char]) -> u32 {
    let mut best = 0;
    // Texts that are alike have it where they begin, or not far from there.
    for shift in 0..a.len().max(b.len()) {
        best = find_longest_run(a.get(shift..).unwrap_or_default(), b, best);
        best = find_longest_run(a, b.get(shift..).unwrap_or_default(), best);
    }
    best as u32
}

/// Length of the longest run of places where two texts are equal, if it is longer than `best`, else that.
fn find_longest_run(a: &[char], b: &[char], mut best: usize) -> usize {
    let len = a.len().min(b.len());
    let mut from = 0;
    // A longer run that begins at `from` or later goes through this place or lies behind it.
    while let Some(place) = Some(from + best).filter(|place| *place < len) {
        if a[place] != b[place] {
            from = place + 1;
            continue;
        }
        let equal = |at: &usize| a[*at] == b[*at];
        let before = (from..place).rev().take_while(equal).count();
        let behind = (place + 1..len).take_while(equal).count();
        best = best.max(before + 1 + behind);
        from = place + behind + 2;
    }
    best
}

/// Texts of twice this length and more that share no run of it are not called alike.
const RUN: usize = 4;

/// Normal forms that many texts are compared with.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    /// Each of them once, sorted.
    forms: Vec<Vec<char>>,
    runs: Runs,
}

impl Forms {
    /// The normal forms of texts.
    pub(crate) fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut forms: Vec<Vec<char>> = texts.map(normal_form).collect();
        forms.sort_unstable();
        forms.dedup();
        let mut runs = Runs::default();
        forms.iter().for_each(|form| runs.add(form));
        Self { forms, runs }
    }

    /// True if `form` is one of the forms.
    pub(crate) fn contain(&self, form: &[char]) -> bool {
        self.forms
            .binary_search_by(|f| f.as_slice().cmp(form))
            .is_ok()
    }

    /// The greatest likeness of a normal form to one of these, if it is greater than `least`, which is at least one half.
    pub(crate) fn best(&self, form: &[char], least: f64) -> Option<f64> {
        if self.contain(form) {
            return Some(1.0);
        }
        let shared = self.shared(form);
        let mut best = None;
        for other in &self.forms {
            let least = best.unwrap_or(least);
            if shared.allow(form.len().min(other.len()), least) {
                best = likeness_from(form, other, shared.longest, least).or(best);
            }
        }
        best
    }

    /// What a form shares with all of these together.
    fn shared(&self, form: &[char]) -> Shared {
        // The runs of a short text mean little.
        if form.len() < 2 * RUN {
            return Shared {
                longest: form.len(),
                lost: 0,
            };
        }
        let (known, in_a_row) = self.runs.known(form);
        let longest = if known == 0 { 0 } else { in_a_row + RUN - 1 };
        Shared {
            longest,
            lost: form.len() - (RUN - 1) - known,
        }
    }
}

/// What a text shares with others.
#[derive(Debug, Clone, Copy)]
struct Shared {
    /// No common substring is longer.
    longest: usize,
    /// Runs that are in none of the others.
    lost: usize,
}

impl Shared {
    /// False where the text cannot be more alike to one of the others than `least`; `short` is the length of the shorter.
    fn allow(self, short: usize, least: f64) -> bool {
        // A change of one character takes away no more runs than it is in (Ukkonen 1992).
        let changes = self.lost.div_ceil(RUN);
        changes < distance_limit(short.min(self.longest), least)
    }
}

/// Which runs of [`RUN`] characters are in some texts: a bit for the hash of each. Says yes of few others.
#[derive(Debug)]
struct Runs([u64; Runs::WORDS]);

impl Default for Runs {
    fn default() -> Self {
        Self([0; Self::WORDS])
    }
}

impl Runs {
    /// 2^14 bits; a title has some hundred runs.
    const WORDS: usize = 1 << 8;

    fn add(&mut self, text: &[char]) {
        for at in places(text) {
            self.0[at / 64] |= 1 << (at % 64);
        }
    }

    /// How many runs of `text` are known, and how many in a row at most.
    fn known(&self, text: &[char]) -> (usize, usize) {
        let (mut all, mut most, mut row) = (0, 0, 0);
        for at in places(text) {
            let known = (self.0[at / 64] >> (at % 64) & 1) as usize;
            all += known;
            row = (row + 1) * known;
            most = most.max(row);
        }
        (all, most)
    }
}

/// The bit of each run of a text.
fn places(text: &[char]) -> impl Iterator<Item = usize> {
    // Sixteen bits of each of the last characters; what two runs share beyond that makes them no more than look alike.
    let mut run = 0u64;
    let keys = text.iter().map(move |c| {
        run = run << 16 | u64::from(u32::from(*c) & 0xFFFF);
        run
    });
    let bits = (Runs::WORDS * 64).ilog2();
    keys.skip(RUN - 1)
        .map(move |run| (run.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - bits)) as usize)
}
