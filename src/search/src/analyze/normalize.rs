//! One spelling for texts that mean the same: the normal form (NFKC, lower case, simplified characters, single spaces, one
//! dash, numbers without separators, nothing invisible) of any text and, on request, the way back to the original bytes.
//! Never depends on more than one combining sequence or number at a time, so a part of a text has the same form alone as in
//! its place: that is what makes literal search complete. For the same reason characters are simplified one by one and not
//! by phrase. The text of a document ([`normalize_document`]) also loses the blanks between ideographs.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::fold::{Kind, Omission, PAUSE, omissions};
use unicode_normalization::char::{canonical_combining_class, decompose_compatible};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// First character the table of simplified forms covers (CJK Extension A).
const TABLE_FIRST: u32 = 0x3400;
/// First character after the table (end of the main CJK block).
const TABLE_END: u32 = 0xA000;

/// Forms that conversion by phrase leaves undecided. Both sides of a search go through the same table, so the
/// common traditional reading may win; the few simplified words it would hide are in the dictionary as variants.
const COMMON_READINGS: &[(char, char)] = &[('瞭', '了'), ('藉', '借'), ('著', '着')];

static SIMPLIFIED: LazyLock<Box<[char]>> = LazyLock::new(simplified_table);

fn simplified_table() -> Box<[char]> {
    let converter = ferrous_opencc::OpenCC::from_config(ferrous_opencc::config::BuiltinConfig::T2s)
        .expect("the traditional to simplified tables are part of the program");
    // One line a character: phrases of the converter cannot reach over a line break.
    let all: String = (TABLE_FIRST..TABLE_END)
        .filter_map(char::from_u32)
        .flat_map(|c| [c, '\n'])
        .collect();
    let mut table: Vec<char> = converter
        .convert(&all)
        .lines()
        .zip((TABLE_FIRST..TABLE_END).filter_map(char::from_u32))
        .map(|(line, c)| {
            let mut chars = line.chars();
            match (chars.next(), chars.next()) {
                (Some(simple), None) => simple,
                _ => c,
            }
        })
        .collect();
    for &(from, to) in COMMON_READINGS {
        if let Some(slot) = table.get_mut((u32::from(from) - TABLE_FIRST) as usize) {
            *slot = to;
        }
    }
    let once = table.clone();
    let lookup = |c: char| table_get(&once, c);
    table.iter().map(|&c| lookup(c)).collect()
}

fn table_get(table: &[char], c: char) -> char {
    let slot = u32::from(c).wrapping_sub(TABLE_FIRST) as usize;
    table.get(slot).copied().unwrap_or(c)
}

/// The normal form of a text: NFKC, lower case, traditional characters simplified, runs of white space as one
/// space, all dashes as `-`, numbers without separators of thousands, invisible characters dropped. Borrowed when the text
/// already is in normal form.
pub fn normalize(text: &str) -> Cow<'_, str> {
    normal_form(text, false)
}

/// The normal form of a text of a document: the same without blanks between ideographs that stand in one line.
pub fn normalize_document(text: &str) -> Cow<'_, str> {
    normal_form(text, true)
}

fn normal_form(text: &str, of_document: bool) -> Cow<'_, str> {
    let left_out = omissions(text, of_document);
    if left_out.is_empty() && is_plain_ascii(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    walk(text, &left_out, &mut out, |_, _, _| {});
    Cow::Owned(out)
}

fn is_plain_ascii(text: &str) -> bool {
    let mut before_space = false;
    text.bytes().all(|b| {
        let space = b == b' ';
        let is_plain = (0x20..0x7F).contains(&b) && !b.is_ascii_uppercase() && b != b'~';
        let fine = is_plain && !(space && before_space);
        before_space = space;
        fine
    })
}

/// A run of the normal form and where it came from.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Byte offset in the normal form.
    normal: u32,
    /// Byte offset in the original.
    original: u32,
    /// The run came from one sequence as a whole: its inner offsets have no counterpart.
    whole: bool,
}

/// A text of a document in normal form ([`normalize_document`]) that remembers where each part of it stood.
#[derive(Debug, Clone, Default)]
pub struct Normalized {
    text: String,
    steps: Vec<Step>,
    original_len: usize,
}

impl Normalized {
    /// Normalises `text`. Only its first 4 GiB can be mapped back; callers bound texts far below that.
    pub fn new(text: &str) -> Self {
        let mut out = String::with_capacity(text.len());
        let mut steps: Vec<Step> = Vec::new();
        let mut shift = 0i64;
        walk(
            text,
            &omissions(text, true),
            &mut out,
            |normal, original, whole| {
                let here = original as i64 - normal as i64;
                if whole || here != shift || steps.last().is_some_and(|s| s.whole) {
                    steps.push(Step {
                        normal: u32::try_from(normal).unwrap_or(u32::MAX),
                        original: u32::try_from(original).unwrap_or(u32::MAX),
                        whole,
                    });
                    shift = here;
                }
            },
        );
        Self {
            text: out,
            steps,
            original_len: text.len(),
        }
    }

    /// The normal form.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the original that became the bytes `start..end` of the normal form, on character boundaries
    /// of both. An empty range maps to an empty range.
    pub fn original(&self, start: usize, end: usize) -> std::ops::Range<usize> {
        let from = self.start_of(start).min(self.original_len);
        if end <= start {
            return from..from;
        }
        let until = self.end_of(end).min(self.original_len);
        from..until.max(from)
    }

    fn step_at(&self, normal: usize) -> Option<usize> {
        self.steps
            .partition_point(|s| s.normal as usize <= normal)
            .checked_sub(1)
    }

    fn start_of(&self, normal: usize) -> usize {
        match self.step_at(normal).and_then(|i| self.steps.get(i)) {
            None => normal,
            Some(step) if step.whole => step.original as usize,
            Some(step) => step.original as usize + (normal - step.normal as usize),
        }
    }

    fn end_of(&self, normal: usize) -> usize {
        let Some(at) = self.step_at(normal - 1) else {
            return normal;
        };
        match self.steps.get(at) {
            Some(step) if step.whole => self
                .steps
                .get(at + 1)
                .map_or(self.original_len, |next| next.original as usize),
            Some(step) => step.original as usize + (normal - step.normal as usize),
            None => normal,
        }
    }
}

/// Writes the normal form of `text` without the parts that are `left_out` to `out`, and tells
/// `mark(normal offset, original offset, whole)` of every character or sequence before it is written; a last mark stands at
/// the end.
fn walk(
    text: &str,
    left_out: &[Omission],
    out: &mut String,
    mut mark: impl FnMut(usize, usize, bool),
) {
    let table: &[char] = &SIMPLIFIED;
    let mut chars = text.chars();
    let mut left_out = left_out.iter().peekable();
    let mut after_space = false;
    loop {
        let at = text.len() - chars.as_str().len();
        if let Some(omitted) = left_out.next_if(|omitted| omitted.at.start == at) {
            chars = text.get(omitted.at.end..).unwrap_or_default().chars();
            if omitted.kind == Kind::Comma {
                mark(out.len(), at, false);
                out.push(PAUSE);
                after_space = false;
            }
            continue;
        }
        let same = simplified_beginning(table, chars.as_str());
        if !same.is_empty() {
            // All of them have the same shift as the first.
            mark(out.len(), at, false);
            out.push_str(same);
            chars = text.get(at + same.len()..).unwrap_or_default().chars();
            after_space = false;
            continue;
        }
        let Some(c) = chars.next() else {
            break;
        };
        if is_ideograph(c) {
            // A few simplified forms stand outside the basic plane and are longer.
            let simple = table_get(table, c);
            mark(out.len(), at, simple.len_utf8() != c.len_utf8());
            out.push(simple);
            after_space = false;
            continue;
        }
        let next = chars.clone().next();
        if next.is_none_or(starts_sequence)
            && let Some(simple) = simple_form(c)
        {
            if simple == ' ' && after_space {
                continue;
            }
            after_space = simple == ' ';
            let end = at + c.len_utf8();
            let has_tail = left_out
                .peek()
                .is_some_and(|omitted| omitted.kind == Kind::Tail && omitted.at.start == end);
            mark(out.len(), at, has_tail || simple.len_utf8() != c.len_utf8());
            out.push(simple);
            continue;
        }
        let mut rest = chars.clone();
        while let Some(follower) = rest.next() {
            if starts_sequence(follower) || !continues(follower) {
                break;
            }
            chars = rest.clone();
        }
        let end = text.len() - chars.as_str().len();
        let sequence = text.get(at..end).unwrap_or_default();
        push_sequence(sequence, at, out, &mut after_space, &mut mark);
    }
    mark(out.len(), text.len(), false);
}

/// The ideographs that a text begins with and that are simplified forms already: most of a Chinese text, copied whole.
fn simplified_beginning<'t>(table: &[char], text: &'t str) -> &'t str {
    let is_other = |c: char| !is_ideograph(c) || table_get(table, c) != c;
    let same = text.find(is_other).and_then(|end| text.get(..end));
    same.unwrap_or(text)
}

/// Bytes of an ideograph of the main block.
pub(super) const IDEOGRAPH_BYTES: usize = 3;

/// The ideographs of the main block that a text begins with, found by bytes alone.
pub(crate) fn ideographs_at_start(text: &str) -> &str {
    let is_ideograph = |bytes: &&[u8]| matches!(bytes, [0xE5..=0xE9, ..] | [0xE4, 0xB8..=0xBF, ..]);
    let run = text.as_bytes().chunks_exact(IDEOGRAPH_BYTES);
    let count = run.take_while(is_ideograph).count();
    text.get(..count * IDEOGRAPH_BYTES).unwrap_or_default()
}

fn push_sequence(
    sequence: &str,
    at: usize,
    out: &mut String,
    after_space: &mut bool,
    mark: &mut impl FnMut(usize, usize, bool),
) {
    let mut marked = false;
    for c in sequence.nfkc().flat_map(char::to_lowercase) {
        let c = if c.is_whitespace() { ' ' } else { c };
        if is_invisible(c) || (c == ' ' && *after_space) {
            continue;
        }
        if !marked {
            mark(out.len(), at, true);
            marked = true;
        }
        *after_space = c == ' ';
        out.push(match c {
            'ς' => 'σ',
            c if is_dash(c) => '-',
            c => table_get(&SIMPLIFIED, c),
        });
    }
}

/// The form of a character that needs no look at its neighbours, if there is a short way to it.
fn simple_form(c: char) -> Option<char> {
    match c {
        ' ' | '\t' | '\n' | '\r' | '\u{3000}' => Some(' '),
        '~' | '—' | '～' => Some('-'),
        '!'..='}' => Some(c.to_ascii_lowercase()),
        '、' | '。' | '〈'..='】' | '“' | '”' | '‘' | '’' => Some(c),
        '！'..='｝' => {
            char::from_u32(u32::from(c) - 0xFEE0).map(|ascii| ascii.to_ascii_lowercase())
        }
        _ => None,
    }
}

/// What joins two numbers or the parts of a code, however it is typed.
fn is_dash(c: char) -> bool {
    matches!(
        c,
        '~' | '\u{2010}'..='\u{2015}' | '\u{2043}' | '\u{2053}' | '−' | '∼' | '─' | '━' | '〜'
    )
}

/// Ideographs of the table: they never compose with what follows.
pub(super) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}')
}

/// Surely does not compose with what stands before.
fn starts_sequence(c: char) -> bool {
    c < '\u{300}'
        || is_ideograph(c)
        || matches!(c, '\u{3000}'..='\u{3029}' | '！'..='～' | '—' | '‘'..='”' | '…')
}

/// May compose with, or be reordered against, what stands before.
fn continues(c: char) -> bool {
    let joins = |c: char| {
        canonical_combining_class(c) != 0
            || is_nfkc_quick(std::iter::once(c)) == IsNormalized::Maybe
    };
    if joins(c) || is_dressing(c) {
        return true;
    }
    let mut first = None;
    decompose_compatible(c, |part| {
        first.get_or_insert(part);
    });
    first.is_some_and(joins)
}

/// Characters that are there and cannot be seen: soft hyphens, zero width spaces and joiners, marks of
/// direction, variation selectors, the byte order mark, control characters; and what only dresses another character.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || is_dressing(c)
        || matches!(c, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{180B}'..='\u{180E}' | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
            | '\u{E0100}'..='\u{E01EF}')
}

/// Dresses the emoji or the digit before it: a keycap, a tone of skin.
fn is_dressing(c: char) -> bool {
    matches!(c, '\u{20E3}' | '\u{1F3FB}'..='\u{1F3FF}')
}
