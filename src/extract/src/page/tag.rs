//! Element and attribute names as small numbers. In: the bytes of a name as the page spells it. Out: a [`Tag`] or
//! an [`Attr`]. Never allocates.

use std::fmt;

use super::tag_table::{
    BLOCK, BREAKOUT, CLOSES_P, CLOSES_SCOPE, FORMATTING, HEAD, HEADING, IMPLIED_END, INVISIBLE,
    REPLACED, SCOPE, SPECIAL, TABLE, TABLE_PART, VOID,
};

/// An element name. Known HTML names have constants; every other name is [`Tag::OTHER`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub u16);

/// Number of known tags.
pub(super) const TAGS: usize = TABLE.len();

/// Slots of the name table: a power of two well above the number of names keeps the probes short.
const SLOTS: usize = 1024;
const NAME_SLOTS: [u8; SLOTS] = name_slots();
/// The names of the table as numbers.
const KEYS: [u64; TAGS] = keys();
/// Names of so many bytes are equal if they are as numbers.
const PACKED: usize = 8;

/// A name of up to [`PACKED`] bytes as one number, lower case; longer names fold their rest in (and are compared after).
const fn pack(name: &[u8]) -> u64 {
    let mut key = 0u64;
    let mut i = 0;
    while i < name.len() {
        key = (key.rotate_left(8)) ^ name[i].to_ascii_lowercase() as u64;
        i += 1;
    }
    key
}

const fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as usize
}

const fn keys() -> [u64; TAGS] {
    let mut keys = [0; TAGS];
    let mut i = 0;
    while i < TAGS {
        keys[i] = pack(TABLE[i].0.as_bytes());
        i += 1;
    }
    keys
}

const fn name_slots() -> [u8; SLOTS] {
    let mut slots = [0u8; SLOTS];
    let mut i = 2;
    while i < TABLE.len() {
        let mut at = slot(pack(TABLE[i].0.as_bytes()));
        while slots[at] != 0 {
            at = (at + 1) % SLOTS;
        }
        slots[at] = i as u8;
        i += 1;
    }
    slots
}

impl Tag {
    /// The tag of a name in any case; [`Tag::OTHER`] when the table does not have it.
    pub fn from_name(name: &[u8]) -> Tag {
        let key = pack(name);
        let mut at = slot(key);
        loop {
            let index = NAME_SLOTS[at];
            if index == 0 {
                return Tag::OTHER;
            }
            let known = TABLE[usize::from(index)].0.as_bytes();
            if KEYS[usize::from(index)] == key
                && known.len() == name.len()
                && (name.len() <= PACKED || known.eq_ignore_ascii_case(name))
            {
                return Tag(u16::from(index));
            }
            at = (at + 1) % SLOTS;
        }
    }

    /// The name in lower case; `#text` and `unknown` for the two that are no HTML names.
    pub fn name(self) -> &'static str {
        TABLE.get(self.0 as usize).map_or("unknown", |row| row.0)
    }

    const fn has(self, flag: u16) -> bool {
        (self.0 as usize) < TABLE.len() && TABLE[self.0 as usize].1 & flag != 0
    }

    /// Has no content and no end tag (`<br>`, `<img>` …).
    pub const fn is_void(self) -> bool {
        self.has(VOID)
    }

    /// Starts and ends a line of text when shown.
    pub const fn is_block(self) -> bool {
        self.has(BLOCK)
    }

    /// Flows inside a line of text; a text node does too.
    pub const fn is_inline(self) -> bool {
        !self.has(BLOCK)
    }

    /// One of `<h1>` … `<h6>`.
    pub const fn is_heading(self) -> bool {
        self.has(HEADING)
    }

    /// Never shown, with all that it holds: the head and what belongs there, scripts, styles, templates, frames.
    pub const fn is_invisible(self) -> bool {
        self.has(INVISIBLE)
    }

    /// Shows something of its own although it may hold no text (pictures, players, form controls).
    pub const fn is_replaced(self) -> bool {
        self.has(REPLACED)
    }

    pub(super) const fn is_special(self) -> bool {
        self.has(SPECIAL)
    }

    pub(super) const fn is_formatting(self) -> bool {
        self.has(FORMATTING)
    }

    pub(super) const fn closes_p(self) -> bool {
        self.has(CLOSES_P)
    }

    pub(super) const fn is_scope(self) -> bool {
        self.has(SCOPE)
    }

    pub(super) const fn has_implied_end(self) -> bool {
        self.has(IMPLIED_END)
    }

    pub(super) const fn belongs_in_head(self) -> bool {
        self.has(HEAD)
    }

    pub(super) const fn breaks_out(self) -> bool {
        self.has(BREAKOUT)
    }

    pub(super) const fn closes_scope(self) -> bool {
        self.has(CLOSES_SCOPE)
    }

    /// Holds content of the body inside a table.
    pub(super) const fn is_cell(self) -> bool {
        matches!(self, Tag::TD | Tag::TH | Tag::CAPTION)
    }

    pub(super) const fn is_table_part(self) -> bool {
        self.has(TABLE_PART)
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
