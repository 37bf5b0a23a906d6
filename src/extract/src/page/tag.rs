//! The names of elements and attributes as small numbers ([`Tag`], [`Attr`]), and the properties of elements that tree
//! rules and readers need. Attributes that no stage reads have no number. Never allocates.

use std::fmt;

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

    pub(crate) const fn is_formatting(self) -> bool {
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

pub(super) const VOID: u16 = 1;
pub(super) const BLOCK: u16 = 1 << 1;
pub(super) const HEADING: u16 = 1 << 2;
pub(super) const INVISIBLE: u16 = 1 << 3;
/// "Special" of the HTML standard: an end tag of an ordinary element never reaches over one.
pub(super) const SPECIAL: u16 = 1 << 4;
/// Formatting elements of the HTML standard: reopened in the next block when left open.
pub(super) const FORMATTING: u16 = 1 << 5;
/// A start tag closes an open paragraph.
pub(super) const CLOSES_P: u16 = 1 << 6;
/// Boundary of the standard's "has an element in scope".
pub(super) const SCOPE: u16 = 1 << 7;
/// The standard's "generate implied end tags".
pub(super) const IMPLIED_END: u16 = 1 << 8;
/// Belongs into the head when it comes before the body.
pub(super) const HEAD: u16 = 1 << 9;
/// A start tag of it ends SVG or MathML content.
pub(super) const BREAKOUT: u16 = 1 << 10;
/// Inline element that shows something although it holds no text.
pub(super) const REPLACED: u16 = 1 << 11;
/// An end tag of it closes up to the element when that is in scope (the block-like end tags of the standard).
pub(super) const CLOSES_SCOPE: u16 = 1 << 12;
/// One of the table's own parts.
pub(super) const TABLE_PART: u16 = 1 << 13;

pub(super) const PLAIN_BLOCK: u16 = BLOCK | SPECIAL | CLOSES_P | CLOSES_SCOPE;
pub(super) const HEADLINE: u16 = BLOCK | HEADING | SPECIAL | CLOSES_P | BREAKOUT;
pub(super) const FORMAT: u16 = FORMATTING | BREAKOUT;

/// Makes of a line for each name its constant and its row; its place is the number of the tag.
macro_rules! tags {
    ($($(#[$doc:meta])* $constant:ident $name:literal = $properties:expr;)*) => {
        /// Every known name with its properties; the index is the number of the tag.
        pub(super) const TABLE: &[(&str, u16)] = &[$(($name, $properties)),*];

        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "named as the constants")]
        enum Number {
            $($constant),*
        }

        #[expect(missing_docs, reason = "each is the HTML element of that name")]
        impl Tag {
            $($(#[$doc])* pub const $constant: Tag = Tag(Number::$constant as u16);)*
        }
    };
}

tags! {
    /// A text node.
    TEXT "#text" = 0;
    /// An element whose name is not in the table.
    OTHER "unknown" = 0;
    HTML "html" = BLOCK | SPECIAL | SCOPE;
    HEAD "head" = BLOCK | SPECIAL | INVISIBLE | BREAKOUT;
    TITLE "title" = SPECIAL | INVISIBLE | HEAD;
    BASE "base" = VOID | SPECIAL | INVISIBLE | HEAD;
    LINK "link" = VOID | SPECIAL | INVISIBLE | HEAD;
    META "meta" = VOID | SPECIAL | INVISIBLE | HEAD | BREAKOUT;
    STYLE "style" = SPECIAL | INVISIBLE | HEAD;
    SCRIPT "script" = SPECIAL | INVISIBLE | HEAD;
    NOSCRIPT "noscript" = SPECIAL | INVISIBLE | HEAD;
    TEMPLATE "template" = SPECIAL | INVISIBLE | HEAD | SCOPE;
    BODY "body" = BLOCK | SPECIAL | BREAKOUT;
    ARTICLE "article" = PLAIN_BLOCK;
    SECTION "section" = PLAIN_BLOCK;
    NAV "nav" = PLAIN_BLOCK;
    ASIDE "aside" = PLAIN_BLOCK;
    H1 "h1" = HEADLINE;
    H2 "h2" = HEADLINE;
    H3 "h3" = HEADLINE;
    H4 "h4" = HEADLINE;
    H5 "h5" = HEADLINE;
    H6 "h6" = HEADLINE;
    HGROUP "hgroup" = PLAIN_BLOCK;
    HEADER "header" = PLAIN_BLOCK;
    FOOTER "footer" = PLAIN_BLOCK;
    ADDRESS "address" = PLAIN_BLOCK;
    MAIN "main" = PLAIN_BLOCK;
    P "p" = BLOCK | SPECIAL | CLOSES_P | IMPLIED_END | BREAKOUT;
    HR "hr" = VOID | BLOCK | SPECIAL | CLOSES_P | BREAKOUT;
    PRE "pre" = PLAIN_BLOCK | BREAKOUT;
    BLOCKQUOTE "blockquote" = PLAIN_BLOCK | BREAKOUT;
    OL "ol" = PLAIN_BLOCK | BREAKOUT;
    UL "ul" = PLAIN_BLOCK | BREAKOUT;
    MENU "menu" = PLAIN_BLOCK | BREAKOUT;
    LI "li" = BLOCK | SPECIAL | IMPLIED_END | BREAKOUT;
    DL "dl" = PLAIN_BLOCK | BREAKOUT;
    DT "dt" = BLOCK | SPECIAL | IMPLIED_END | BREAKOUT;
    DD "dd" = BLOCK | SPECIAL | IMPLIED_END | BREAKOUT;
    FIGURE "figure" = PLAIN_BLOCK;
    FIGCAPTION "figcaption" = PLAIN_BLOCK;
    DIV "div" = PLAIN_BLOCK | BREAKOUT;
    CENTER "center" = PLAIN_BLOCK | BREAKOUT;
    SEARCH "search" = PLAIN_BLOCK;
    A "a" = FORMATTING;
    EM "em" = FORMAT;
    STRONG "strong" = FORMAT;
    SMALL "small" = FORMAT;
    S "s" = FORMAT;
    CITE "cite" = 0;
    Q "q" = 0;
    DFN "dfn" = 0;
    ABBR "abbr" = 0;
    RUBY "ruby" = BREAKOUT;
    RB "rb" = IMPLIED_END;
    RT "rt" = IMPLIED_END;
    RTC "rtc" = IMPLIED_END;
    RP "rp" = IMPLIED_END;
    DATA "data" = 0;
    TIME "time" = 0;
    CODE "code" = FORMAT;
    VAR "var" = BREAKOUT;
    SAMP "samp" = 0;
    KBD "kbd" = 0;
    SUB "sub" = BREAKOUT;
    SUP "sup" = BREAKOUT;
    I "i" = FORMAT;
    B "b" = FORMAT;
    U "u" = FORMAT;
    MARK "mark" = 0;
    BDI "bdi" = 0;
    BDO "bdo" = 0;
    SPAN "span" = BREAKOUT;
    BR "br" = VOID | SPECIAL | BREAKOUT;
    WBR "wbr" = VOID | SPECIAL;
    INS "ins" = 0;
    DEL "del" = 0;
    TT "tt" = FORMAT;
    BIG "big" = FORMAT;
    FONT "font" = FORMATTING;
    STRIKE "strike" = FORMAT;
    NOBR "nobr" = FORMAT;
    ACRONYM "acronym" = 0;
    PICTURE "picture" = 0;
    SOURCE "source" = VOID | SPECIAL;
    IMG "img" = VOID | SPECIAL | BREAKOUT | REPLACED;
    IFRAME "iframe" = SPECIAL | INVISIBLE;
    EMBED "embed" = VOID | SPECIAL | BREAKOUT | REPLACED;
    OBJECT "object" = SPECIAL | SCOPE;
    PARAM "param" = VOID | SPECIAL;
    VIDEO "video" = REPLACED;
    AUDIO "audio" = REPLACED;
    TRACK "track" = VOID | SPECIAL;
    MAP "map" = 0;
    AREA "area" = VOID | SPECIAL;
    SVG "svg" = REPLACED;
    MATH "math" = REPLACED;
    TABLE "table" = BLOCK | SPECIAL | SCOPE | BREAKOUT;
    CAPTION "caption" = BLOCK | SPECIAL | SCOPE | TABLE_PART;
    COLGROUP "colgroup" = BLOCK | SPECIAL | TABLE_PART;
    COL "col" = VOID | BLOCK | SPECIAL | TABLE_PART;
    TBODY "tbody" = BLOCK | SPECIAL | TABLE_PART;
    THEAD "thead" = BLOCK | SPECIAL | TABLE_PART;
    TFOOT "tfoot" = BLOCK | SPECIAL | TABLE_PART;
    TR "tr" = BLOCK | SPECIAL | TABLE_PART;
    TD "td" = BLOCK | SPECIAL | SCOPE | TABLE_PART;
    TH "th" = BLOCK | SPECIAL | SCOPE | TABLE_PART;
    FORM "form" = BLOCK | SPECIAL | CLOSES_P;
    LABEL "label" = 0;
    INPUT "input" = VOID | SPECIAL | REPLACED;
    BUTTON "button" = SPECIAL | CLOSES_SCOPE | REPLACED;
    SELECT "select" = SPECIAL | REPLACED | SCOPE | CLOSES_SCOPE;
    DATALIST "datalist" = 0;
    OPTGROUP "optgroup" = BLOCK | IMPLIED_END;
    OPTION "option" = BLOCK | IMPLIED_END;
    TEXTAREA "textarea" = SPECIAL | REPLACED;
    OUTPUT "output" = 0;
    PROGRESS "progress" = REPLACED;
    METER "meter" = REPLACED;
    FIELDSET "fieldset" = PLAIN_BLOCK;
    LEGEND "legend" = BLOCK;
    DETAILS "details" = PLAIN_BLOCK;
    SUMMARY "summary" = PLAIN_BLOCK;
    DIALOG "dialog" = PLAIN_BLOCK;
    SLOT "slot" = 0;
    CANVAS "canvas" = REPLACED;
    FRAMESET "frameset" = BLOCK | SPECIAL | INVISIBLE;
    FRAME "frame" = VOID | SPECIAL | INVISIBLE;
    NOFRAMES "noframes" = SPECIAL | INVISIBLE | HEAD;
    NOEMBED "noembed" = SPECIAL | INVISIBLE;
    APPLET "applet" = SPECIAL | SCOPE;
    MARQUEE "marquee" = SPECIAL | SCOPE;
    XMP "xmp" = BLOCK | SPECIAL | CLOSES_P;
    PLAINTEXT "plaintext" = BLOCK | SPECIAL | CLOSES_P;
    LISTING "listing" = PLAIN_BLOCK | BREAKOUT;
    DIR "dir" = PLAIN_BLOCK;
    BGSOUND "bgsound" = VOID | SPECIAL | INVISIBLE | HEAD;
    BASEFONT "basefont" = VOID | SPECIAL | INVISIBLE | HEAD;
    KEYGEN "keygen" = VOID | SPECIAL;
    IMAGE "image" = VOID | REPLACED;
    G "g" = 0;
    PATH "path" = 0;
    USE "use" = 0;
    RECT "rect" = 0;
    CIRCLE "circle" = 0;
    /// A text node.
    SVG_TEXT "text" = 0;
    TSPAN "tspan" = 0;
    DESC "desc" = 0;
    FOREIGN_OBJECT "foreignobject" = 0;
    MI "mi" = 0;
    MO "mo" = 0;
    MN "mn" = 0;
    MS "ms" = 0;
    MTEXT "mtext" = 0;
    MROW "mrow" = 0;
    // A formula again, for programs.
    ANNOTATION "annotation" = INVISIBLE;
    ANNOTATION_XML "annotation-xml" = INVISIBLE;
}

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
    /// The file of an `<object>`.
    Data,
    /// Kept of what can name a page: an option, a parameter.
    Value,
    /// What a script does when the element is clicked or changed: `onclick`, `onchange`.
    OnClick,
    /// Where a script leads who clicks, by any of the names that sites use.
    DataHref,
    /// The same, or the file of a picture.
    DataUrl,
    /// What names a picture that a script shows later, by any of the names that sites use.
    DataSrc,
    DataOriginal,
    /// `srcset` and `data-srcset`.
    Srcset,
    Alt,
    Title,
    Rel,
    /// `type`, or `itemtype`: what structured data says that the element is.
    Type,
    Datetime,
    /// Kept only when it can hide the element.
    Style,
    Hidden,
    Role,
    AriaHidden,
    Lang,
    Colspan,
    Rowspan,
    /// Kept of style sheets.
    Media,
    /// Where a script reads the comments from: `data-comments-url` and whatever else begins so.
    DataComments,
}

/// A set of attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attrs(u32);

impl Attrs {
    /// The set of these.
    pub const fn new(attrs: &[Attr]) -> Self {
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

/// Beginning of the names of attributes that say where a script reads the comments from.
const COMMENTS: &[u8] = b"data-comment";

impl Attr {
    /// The attribute of a name in any case, if it is one that is kept.
    pub fn from_name(name: &[u8]) -> Option<Attr> {
        let first = name.first()? | 0x20;
        if name.len() > COMMENTS.len() && first == b'd' && name[5] | 0x20 == b'c' {
            let begin = name.get(..COMMENTS.len())?;
            return begin
                .eq_ignore_ascii_case(COMMENTS)
                .then_some(Attr::DataComments);
        }
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
            (5, b'm') => ("media", Attr::Media),
            (5, b's') => ("style", Attr::Style),
            (5, b't') => ("title", Attr::Title),
            (6, b'h') => ("hidden", Attr::Hidden),
            (7, b'c') if name[2] | 0x20 == b'l' => ("colspan", Attr::Colspan),
            (7, b'c') if name[1] | 0x20 == b'h' => ("charset", Attr::Charset),
            (7, b'c') => ("content", Attr::Content),
            (6, b's') => ("srcset", Attr::Srcset),
            (7, b'r') => ("rowspan", Attr::Rowspan),
            (4, b'_') => ("_src", Attr::DataSrc),
            (8, b'd') if name[4] == b'-' && name[5] | 0x20 == b'u' && name[7] | 0x20 == b'l' => {
                ("data-url", Attr::DataUrl)
            }
            (8, b'd') if name[4] == b'-' && name[5] | 0x20 == b'u' => ("data-uri", Attr::DataHref),
            (8, b'd') if name[4] == b'-' => ("data-src", Attr::DataSrc),
            (8, b'z') => ("zoomfile", Attr::DataSrc),
            (9, b'd') if name[5] | 0x20 == b'e' => ("data-echo", Attr::DataSrc),
            (9, b'd') if name[5] | 0x20 == b'h' => ("data-href", Attr::DataHref),
            (9, b'd') if name[5] | 0x20 == b'j' => ("data-jump", Attr::DataHref),
            (9, b'd') if name[7] | 0x20 == b'n' => ("data-link", Attr::DataHref),
            (9, b'd') => ("data-lazy", Attr::DataSrc),
            (4, b'd') => ("data", Attr::Data),
            (5, b'v') => ("value", Attr::Value),
            (7, b'o') => ("onclick", Attr::OnClick),
            (8, b'o') => ("onchange", Attr::OnClick),
            (12, b'd') => ("data-linkurl", Attr::DataHref),
            (15, b'd') if name[5] | 0x20 == b't' => ("data-target-url", Attr::DataHref),
            (15, b'd') => ("data-detail-url", Attr::DataHref),
            (11, b'd') => ("data-srcset", Attr::Srcset),
            (8, b'd') => ("datetime", Attr::Datetime),
            (8, b'i') if name[4] | 0x20 == b't' => ("itemtype", Attr::Type),
            (8, b'i') => ("itemprop", Attr::Itemprop),
            (8, b'p') => ("property", Attr::Property),
            (8, b'x') => ("xml:lang", Attr::Lang),
            (10, b'h') => ("http-equiv", Attr::HttpEquiv),
            (11, b'a') => ("aria-hidden", Attr::AriaHidden),
            (13, b'd') if name[5] | 0x20 == b'o' => ("data-original", Attr::DataOriginal),
            (13, b'd') if name[9] == b'-' && name[5] | 0x20 == b'j' => {
                ("data-jump-url", Attr::DataHref)
            }
            (13, b'd') if name[9] == b'-' && name[6] | 0x20 == b'i' => {
                ("data-link-url", Attr::DataHref)
            }
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

    /// Whether it is kept of an element of this name: many have one that no stage reads.
    pub(super) fn is_kept_of(self, tag: Tag) -> bool {
        match self {
            Attr::Data => tag == Tag::OBJECT,
            Attr::Value => matches!(tag, Tag::OPTION | Tag::PARAM),
            _ => true,
        }
    }
}
