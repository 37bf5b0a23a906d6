//! The names of elements and what the tree rules and readers have to know of each.

use super::tag::Tag;

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
