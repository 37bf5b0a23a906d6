//! The attributes that are kept. In: the bytes of a name as the page spells it. Out: an [`Attr`], or nothing for
//! the many that no stage asks for.

/// An attribute that is kept while parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the HTML attribute of that name")]
#[repr(u8)]
pub enum Attr {
    Id,
    Class,
    Name,
    Property,
    Itemprop,
    Content,
    HttpEquiv,
    Charset,
    Href,
    Src,
    /// What names a picture that a script shows later, by any of the names that sites use.
    DataSrc,
    DataOriginal,
    /// `srcset` and `data-srcset`.
    Srcset,
    Alt,
    Title,
    Rel,
    Type,
    Datetime,
    /// Kept only when it can hide the element.
    Style,
    Hidden,
    Role,
    AriaHidden,
    Lang,
}

/// A set of attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attrs(u32);

impl Attrs {
    /// The set of these.
    pub const fn of(attrs: &[Attr]) -> Self {
        let (mut set, mut at) = (0, 0);
        while at < attrs.len() {
            set |= 1 << attrs[at] as u32;
            at += 1;
        }
        Self(set)
    }

    /// True if both sets have one in common.
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn add(&mut self, attr: Attr) {
        self.0 |= 1 << attr as u32;
    }
}

impl Attr {
    /// The attribute of a name in any case, if it is one that is kept.
    pub fn from_name(name: &[u8]) -> Option<Attr> {
        let first = name.first()? | 0x20;
        let (known, attr) = match (name.len(), first) {
            (2, b'i') => ("id", Attr::Id),
            (3, b'a') => ("alt", Attr::Alt),
            (3, b'r') => ("rel", Attr::Rel),
            (3, b's') => ("src", Attr::Src),
            (4, b'h') => ("href", Attr::Href),
            (4, b'l') => ("lang", Attr::Lang),
            (4, b'n') => ("name", Attr::Name),
            (4, b'r') => ("role", Attr::Role),
            (4, b't') => ("type", Attr::Type),
            (5, b'c') => ("class", Attr::Class),
            (5, b's') => ("style", Attr::Style),
            (5, b't') => ("title", Attr::Title),
            (6, b'h') => ("hidden", Attr::Hidden),
            (7, b'c') if name[1] | 0x20 == b'h' => ("charset", Attr::Charset),
            (7, b'c') => ("content", Attr::Content),
            (6, b's') => ("srcset", Attr::Srcset),
            (4, b'_') => ("_src", Attr::DataSrc),
            (8, b'd') if name[4] == b'-' && name[5] | 0x20 == b'u' => ("data-url", Attr::DataSrc),
            (8, b'd') if name[4] == b'-' => ("data-src", Attr::DataSrc),
            (8, b'z') => ("zoomfile", Attr::DataSrc),
            (9, b'd') if name[5] | 0x20 == b'e' => ("data-echo", Attr::DataSrc),
            (9, b'd') => ("data-lazy", Attr::DataSrc),
            (11, b'd') => ("data-srcset", Attr::Srcset),
            (8, b'd') => ("datetime", Attr::Datetime),
            (8, b'i') => ("itemprop", Attr::Itemprop),
            (8, b'p') => ("property", Attr::Property),
            (8, b'x') => ("xml:lang", Attr::Lang),
            (10, b'h') => ("http-equiv", Attr::HttpEquiv),
            (11, b'a') => ("aria-hidden", Attr::AriaHidden),
            (13, b'd') if name[5] | 0x20 == b'o' => ("data-original", Attr::DataOriginal),
            (13, b'd') if name[9] == b'-' => ("data-lazy-src", Attr::DataSrc),
            (13, b'd') => ("data-lazyload", Attr::DataSrc),
            (14, b'd') => ("data-actualsrc", Attr::DataSrc),
            (17, b'd') => ("data-original-src", Attr::DataOriginal),
            _ => return None,
        };
        // Nearly all pages spell them small.
        let known = known.as_bytes();
        (name == known || name.eq_ignore_ascii_case(known)).then_some(attr)
    }
}
