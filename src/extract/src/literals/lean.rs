//! Patterns without the whole of Unicode in them. In: a pattern. Out: the same with small classes of characters instead
//! of `\d`, `\D`, `\W`, `\p{L}` and `\p{Lu}`: an automaton for one of those takes a hundred kilobytes, and a pattern may
//! have ten of them. Never changes anything else.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Letters of the scripts that names, months and labels are written in, as ranges of a class.
const LETTERS: &str = concat!(
    r"A-Za-z\u{AA}\u{B5}\u{BA}\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{24F}\u{370}-\u{373}\u{376}-\u{37D}\u{386}-\u{481}",
    r"\u{48A}-\u{556}\u{561}-\u{587}\u{5D0}-\u{5EA}\u{620}-\u{64A}\u{66E}-\u{6D3}\u{904}-\u{939}\u{E01}-\u{E30}",
    r"\u{E40}-\u{E46}\u{10A0}-\u{10FA}\u{1E00}-\u{1FFC}\u{3041}-\u{3096}\u{30A1}-\u{30FA}\u{30FC}-\u{30FF}",
    r"\u{3400}-\u{4DBF}\u{4E00}-\u{9FFF}\u{AC00}-\u{D7A3}"
);

/// Letters that have a capital or are one.
const CASED: &str = concat!(
    r"A-Za-z\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{24F}\u{370}-\u{373}\u{376}\u{377}\u{37F}\u{386}\u{388}-\u{481}",
    r"\u{48A}-\u{556}\u{561}-\u{587}\u{10A0}-\u{10FF}\u{1E00}-\u{1FFC}"
);

/// Characters that are no letters, digits or accents: first and last of each range, in order.
#[rustfmt::skip]
const SIGNS: [(char, char); 46] = [
    ('\u{0}', '/'), (':', '@'), ('[', '^'), ('`', '`'), ('{', '\u{a9}'),
    ('\u{ab}', '\u{b4}'), ('\u{b6}', '\u{b9}'), ('\u{bb}', '\u{bf}'), ('\u{d7}', '\u{d7}'), ('\u{f7}', '\u{f7}'),
    ('\u{2000}', '\u{200b}'), ('\u{200e}', '\u{203e}'), ('\u{2041}', '\u{2053}'), ('\u{2055}', '\u{2070}'), ('\u{2074}', '\u{207e}'),
    ('\u{2080}', '\u{208e}'), ('\u{20a0}', '\u{20cf}'), ('\u{2100}', '\u{2101}'), ('\u{2103}', '\u{2106}'), ('\u{2116}', '\u{2117}'),
    ('\u{2120}', '\u{2123}'), ('\u{2150}', '\u{215f}'), ('\u{2190}', '\u{24b5}'), ('\u{24ea}', '\u{2bff}'), ('\u{2e00}', '\u{2e2e}'),
    ('\u{2e30}', '\u{3004}'), ('\u{3008}', '\u{3020}'), ('\u{3030}', '\u{3030}'), ('\u{303d}', '\u{3040}'), ('\u{309b}', '\u{309c}'),
    ('\u{30a0}', '\u{30a0}'), ('\u{30fb}', '\u{30fb}'), ('\u{3200}', '\u{33ff}'), ('\u{e000}', '\u{f8ff}'), ('\u{fe10}', '\u{fe19}'),
    ('\u{fe30}', '\u{fe32}'), ('\u{fe35}', '\u{fe4c}'), ('\u{fe50}', '\u{fe6f}'), ('\u{feff}', '\u{ff0f}'), ('\u{ff1a}', '\u{ff20}'),
    ('\u{ff3b}', '\u{ff3e}'), ('\u{ff40}', '\u{ff40}'), ('\u{ff5b}', '\u{ff65}'), ('\u{ffe0}', '\u{ffff}'), ('\u{1f000}', '\u{1f12f}'),
    ('\u{1f200}', '\u{1faff}'),
];

/// What stands for a class, inside brackets.
static CLASSES: LazyLock<[(&str, Cow<'_, str>); 4]> = LazyLock::new(|| {
    let range = |(first, last): &(char, char)| {
        let (first, last) = (u32::from(*first), u32::from(*last));
        format!(r"\u{{{first:X}}}-\u{{{last:X}}}")
    };
    let signs: String = SIGNS.iter().map(range).collect();
    [
        (r"\p{Lu}", CASED.into()),
        (r"\p{L}", LETTERS.into()),
        (r"\W", signs.into()),
        (r"\d", "0-9".into()),
    ]
});

/// True for what `\W` stands for.
pub fn is_sign(c: char) -> bool {
    match c {
        '\0'..='\x7F' => !c.is_ascii_alphanumeric() && c != '_',
        '\u{3400}'..='\u{9FFF}' => false,
        _ => {
            let at = SIGNS.partition_point(|(first, _)| *first <= c);
            at.checked_sub(1).is_some_and(|at| c <= SIGNS[at].1)
        }
    }
}

/// A pattern that is a constant of the program, with lean classes.
///
/// # Panics
/// When the pattern is wrong; tests compile each.
pub fn compiled(pattern: &str) -> Regex {
    Regex::new(&lean(pattern)).expect("the pattern is a constant that a test compiles")
}

/// The pattern with lean classes. `\p{Lu}` stands for small letters too, as it does where case does not count.
pub(super) fn lean(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() * 2);
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(first) = rest.chars().next() {
        let class = CLASSES
            .iter()
            .find_map(|(name, class)| Some((class.as_ref(), rest.strip_prefix(name)?)));
        if let Some((class, after)) = class {
            let (open, close) = if in_class { ("", "") } else { ("[", "]") };
            out.extend([open, class, close]);
            rest = after;
            continue;
        }
        if let Some(after) = rest.strip_prefix(r"\D") {
            out.push_str("[^0-9]");
            rest = after;
            continue;
        }
        // What is escaped is no bracket.
        let taken = if first == '\\' { 2 } else { 1 };
        match first {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        let end = rest
            .char_indices()
            .nth(taken)
            .map_or(rest.len(), |(at, _)| at);
        let (head, tail) = rest.split_at(end);
        out.push_str(head);
        rest = tail;
    }
    out
}
