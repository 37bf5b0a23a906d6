//! Patterns without the whole of Unicode in them. In: a pattern. Out: the same with small classes of characters instead
//! of `\d`, `\D`, `\W`, `\p{L}` and `\p{Lu}`: an automaton for one of those takes a hundred kilobytes, and a pattern may
//! have ten of them. Never changes anything else.

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

/// Characters that are no letters, digits or accents, as ranges of a class.
const SIGNS: &str = concat!(
    r"\x00-/:-@\[-\^`\{-\u{A9}\u{AB}-\u{B1}\u{B2}-\u{B4}\u{B6}-\u{B9}\u{BB}-\u{BF}\u{D7}\u{F7}\u{2000}-\u{200B}",
    r"\u{200E}-\u{203E}\u{2041}-\u{2053}\u{2055}-\u{2070}\u{2074}-\u{207E}\u{2080}-\u{208E}\u{20A0}-\u{20CF}",
    r"\u{2100}\u{2101}\u{2103}-\u{2106}\u{2116}\u{2117}\u{2120}-\u{2123}\u{2150}-\u{215F}\u{2190}-\u{24B5}\u{24EA}-\u{2BFF}",
    r"\u{2E00}-\u{2E2E}\u{2E30}-\u{3004}\u{3008}-\u{3020}\u{3030}\u{303D}-\u{3040}\u{309B}\u{309C}\u{30A0}\u{30FB}",
    r"\u{3200}-\u{33FF}\u{E000}-\u{F8FF}\u{FE10}-\u{FE19}\u{FE30}-\u{FE32}\u{FE35}-\u{FE4C}\u{FE50}-\u{FE6F}\u{FEFF}-\u{FF0F}",
    r"\u{FF1A}-\u{FF20}\u{FF3B}-\u{FF3E}\u{FF40}\u{FF5B}-\u{FF65}\u{FFE0}-\u{FFFF}\u{1F000}-\u{1F12F}\u{1F200}-\u{1FAFF}"
);

/// What stands for a class, inside brackets.
const CLASSES: [(&str, &str); 4] = [
    (r"\p{Lu}", CASED),
    (r"\p{L}", LETTERS),
    (r"\W", SIGNS),
    (r"\d", "0-9"),
];

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
            .find_map(|(name, class)| Some((*class, rest.strip_prefix(name)?)));
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
