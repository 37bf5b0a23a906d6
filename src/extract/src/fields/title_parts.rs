//! What a `<title>` is made of. In: its text. Out: its parts between joints, and what stands before and behind each.
//! Never judges which of them is the headline.

use super::likeness::normal_form;
use super::title_forms::Forms;

/// Signs that join a headline with section and site in `<title>`.
const JOINTS: [char; 14] = [
    '-', '_', '|', '—', '–', '·', '»', '«', '｜', 'ㅣ', '>', '<', '丨', '•',
];

/// The parts of a `<title>`: what stands before each joint and what stands after it.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// The whole title, cleaned.
    pub whole: String,
    /// Beginnings that end at a joint, longest first; the whole is the first.
    pub heads: Vec<String>,
    /// Ends that begin after a joint, longest first.
    pub tails: Vec<String>,
    /// Single parts between joints.
    pub parts: Vec<String>,
}

/// A `<title>` with all that a headline may be compared with.
#[derive(Debug, Default)]
pub(crate) struct Title {
    /// What it is made of.
    pub parts: Parts,
    /// Normal form of the whole.
    pub form: Vec<char>,
    /// Normal forms of its parts.
    pub forms: Forms,
}

impl Title {
    /// Reads the text of a `<title>`.
    pub(crate) fn of(title: &str) -> Self {
        let parts = Parts::of(title);
        Self {
            form: normal_form(&parts.whole),
            forms: parts.forms(),
            parts,
        }
    }
}

impl Parts {
    /// Splits a title. A hyphen inside a word or number (`5G-A`, `2019-09`) is no joint.
    pub(crate) fn of(title: &str) -> Self {
        let whole = title.trim().to_owned();
        let joints = joints(&whole);
        let mut out = Self {
            heads: vec![whole.clone()],
            ..Self::default()
        };
        let mut from = 0;
        for (start, end) in &joints {
            out.parts.push(piece(&whole, from, *start));
            out.tails.push(piece(&whole, *end, whole.len()));
            from = *end;
        }
        out.parts.push(piece(&whole, from, whole.len()));
        out.heads.extend(
            joints
                .iter()
                .rev()
                .map(|(start, _)| piece(&whole, 0, *start)),
        );
        out.whole = whole;
        for list in [&mut out.heads, &mut out.tails, &mut out.parts] {
            list.retain(|s| !s.is_empty());
        }
        // Forums end their titles so; it is no headline, however long it is.
        out.parts.retain(|part| !is_maker(part));
        out
    }

    /// True for a title with a single part, as most headings are.
    pub(crate) fn is_single(title: &str) -> bool {
        let title = title.trim();
        if joints(title).is_empty() {
            !trimmed(title).is_empty()
        } else {
            Self::of(title).parts.len() == 1
        }
    }

    /// Normal forms of everything the title may be compared by.
    fn forms(&self) -> Forms {
        let all = self.heads.iter().chain(&self.tails).chain(&self.parts);
        Forms::of(all.map(String::as_str))
    }
}

/// The name of the program that made the page: `Powered by Discuz!`.
fn is_maker(part: &str) -> bool {
    const BEGINNING: &str = "powered by";
    let head = part.get(..BEGINNING.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(BEGINNING))
}

fn piece(text: &str, from: usize, to: usize) -> String {
    trimmed(text.get(from..to).unwrap_or_default()).to_owned()
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == ':' || JOINTS.contains(&c))
}

/// Joints of a title that are looked at.
const MAX_JOINTS: usize = 12;

/// Byte ranges of the joints, at most [`MAX_JOINTS`].
fn joints(title: &str) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let signs = title.char_indices();
    for (at, c) in signs.filter(|(_, c)| *c == ':' || JOINTS.contains(c)) {
        if out.len() == MAX_JOINTS {
            break;
        }
        let from = at + c.len_utf8();
        let last = title
            .get(..at)
            .and_then(|before| before.chars().next_back());
        let after = title.get(from..).and_then(|behind| behind.chars().next());
        // `Headline :: Section` and `Headline : Site`; a colon in a sentence has no space before it.
        let spaced = last == Some(' ') && matches!(after, Some(' ' | ':'));
        if c == ':' && (spaced || last == Some(':')) {
            out.push((at, from));
            continue;
        }
        if !JOINTS.contains(&c) {
            continue;
        }
        let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let loose = matches!(c, '_' | '|' | '»' | '｜' | '丨') || !(word(last) && word(after));
        if loose {
            out.push((at, from));
        }
    }
    out
}
