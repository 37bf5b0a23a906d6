//! What a page asks not to show: by attributes, by the style of an element, and by the simple rules of its own style
//! sheets. Style sheets of other files are not read, and neither is what a rule says of elements inside others, of a state
//! (`:hover`) or of a device (`@media`).

use std::collections::HashMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use foldhash::fast::RandomState;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Attr, Attribute, Node, NodeId, Span, Tag};
use crate::literals::Literals;

/// Most bytes of the style sheets of a page that are read.
const MAX_SHEET_BYTES: usize = 256 << 10;
/// Most classes and ids that are remembered.
const MAX_RULES: usize = 4_000;
/// Distance beyond the edge of a page, in pixels, at which nothing is seen.
const BEYOND: f32 = 999.0;
/// Class of the signs that Discuz puts between the words of a post against copying.
const JAMMER: &str = "jammer";
/// Classes of what is read aloud to those who do not see, and shown to nobody: those of the usual frameworks and programs.
const READ_ALOUD: [&str; 13] = [
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
    "screen-reader-text",
    "screen-reader-only",
    "assistive-text",
    "element-invisible",
    "hiddenVisually",
    "hidden-visually",
    "show-for-sr",
    "off-screen",
    "u-srOnly",
    "ui-helper-hidden-accessible",
];
/// Classes and ids of what a script lays over the page: dialogs of Bootstrap, and what asks for consent.
const OVERLAYS: [(u8, &str); 11] = [
    (b'.', "modal"),
    (b'.', "modal-dialog"),
    (b'#', "onetrust-consent-sdk"),
    (b'#', "CybotCookiebotDialog"),
    (b'#', "didomi-host"),
    (b'#', "usercentrics-root"),
    (b'#', "cookie-law-info-bar"),
    (b'#', "qc-cmp2-container"),
    (b'.', "fc-consent-root"),
    (b'.', "cky-consent-container"),
    (b'.', "cmplz-cookiebanner"),
];
/// The rules above and those of [`LINE_NUMBERS`], which every page has.
const KNOWN_RULES: usize = 1 + READ_ALOUD.len() + OVERLAYS.len() + LINE_NUMBERS.len();

/// What numbers the lines of a code, in pages of the highlighters in use.
const LINE_NUMBERS: [(Tag, &str); 9] = [
    (Tag::TD, "gutter"),
    (Tag::TD, "rouge-gutter"),
    (Tag::TD, "linenos"),
    (Tag::TD, "lineno"),
    (Tag::TD, "hljs-ln-numbers"),
    (Tag::SPAN, "lineno"),
    (Tag::SPAN, "linenos"),
    (Tag::UL, "pre-numbering"),
    (Tag::PRE, "lineno"),
];

/// Words without which no style hides.
static HIDING_WORDS: LazyLock<Literals> = LazyLock::new(|| {
    // A size is in many styles, one of nothing in few.
    let sizes = ["size:0", "size: 0", "size :0", "size : 0"];
    let words = ["none", "hidden", "clip", "absolute", "fixed"]
        .into_iter()
        .chain(sizes);
    Literals::new(words.map(|word| (word, 1)))
});
/// The same for style sheets, which are long and written in small letters.
static SHEET_WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let words = ["none", "hidden", "clip:", "clip-path", "size:0", "size: 0"];
    // Only searches of this kind look at many bytes at once.
    let words = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(words);
    words.expect("few constant words")
});

/// Which elements a style hides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Hidden {
    /// Those of a line: text of size 0 often is the room between blocks that set it anew, and a block that a style sheet
    /// leaves out is often shown by a script.
    Inline,
    /// All but headings: that of a page is often there for those alone who do not see.
    Unheaded,
    Any,
}

/// What the page asks not to show, as far as it was read.
#[derive(Debug)]
pub(super) struct PageHiding {
    /// Attributes that may hide what is in their element, in order: few have one.
    attributes: Vec<u32>,
    /// Elements that hide what is in them, in order.
    elements: Vec<NodeId>,
    /// Classes (`.name`) and ids (`#name`) that hide, by [`key_of`].
    rules: HashMap<u64, Hidden, RandomState>,
    /// A bit for each of these names, by [`filter_bit`].
    filter: [u64; 4],
    /// What was read of a style sheet that is not over.
    sheet: Vec<u8>,
    /// Bytes of style sheets that are still read.
    room: usize,
}

impl Default for PageHiding {
    fn default() -> Self {
        let mut out = Self {
            attributes: Vec::new(),
            elements: Vec::new(),
            rules: HashMap::default(),
            filter: [0; 4],
            sheet: Vec::new(),
            room: MAX_SHEET_BYTES,
        };
        out.add_rule(Tag::OTHER, b'.', JAMMER.as_bytes(), Some(Hidden::Inline));
        for name in READ_ALOUD {
            let name = name.as_bytes();
            out.add_rule(Tag::OTHER, b'.', name, Some(Hidden::Unheaded));
        }
        for (sign, name) in OVERLAYS {
            out.add_rule(Tag::OTHER, sign, name.as_bytes(), Some(Hidden::Any));
        }
        for (tag, name) in LINE_NUMBERS {
            out.add_rule(tag, b'.', name.as_bytes(), Some(Hidden::Any));
        }
        out
    }
}

impl PageHiding {
    /// An element hides what is in it.
    pub(super) fn hide(&mut self, element: NodeId) {
        self.elements.push(element);
    }

    /// Whether the element that was noted last is this one.
    pub(super) fn hides_last(&self, element: NodeId) -> bool {
        self.elements.last() == Some(&element)
    }

    /// Whether this element was noted.
    pub(super) fn is_hiding(&self, element: NodeId) -> bool {
        self.elements.binary_search(&element).is_ok()
    }

    /// Whether an element around hides each node from `first` on, the last nodes of a page.
    pub(super) fn find_hidden(&self, nodes: &[Node], first: NodeId) -> Vec<bool> {
        let is_around = |mut above: NodeId| {
            while above != 0 && !self.is_hiding(above) {
                above = nodes[above as usize].parent;
            }
            self.is_hiding(above)
        };
        let mut known = None;
        let mut hidden: Vec<bool> = Vec::with_capacity(nodes.len() - first as usize);
        for node in &nodes[first as usize..] {
            let is_hidden = match (node.parent.checked_sub(first), known) {
                (Some(at), _) => hidden[at as usize] || self.is_hiding(node.parent),
                (None, Some((parent, is_hidden))) if parent == node.parent => is_hidden,
                (None, _) => is_around(node.parent),
            };
            if node.parent < first {
                known = Some((node.parent, is_hidden));
            }
            hidden.push(is_hidden);
        }
        hidden
    }

    /// Forgets the elements from this one on: they are noted anew.
    pub(super) fn forget_from(&mut self, element: NodeId) {
        let kept = self.elements.partition_point(|node| *node < element);
        self.elements.truncate(kept);
    }

    /// The elements that hide what is in them, in order.
    pub(super) fn into_elements(self) -> Vec<NodeId> {
        self.elements
    }

    /// Adds a piece of a style sheet, unless its medium is another than the screen.
    pub(super) fn add_sheet(&mut self, media: Option<Vec<u8>>, piece: &[u8]) {
        let is_shown = |media: Vec<u8>| {
            let media = media.trim_ascii().to_ascii_lowercase();
            matches!(&*media, b"" | b"all" | b"screen")
        };
        if !media.is_none_or(is_shown) {
            return;
        }
        let piece = piece.get(..self.room).unwrap_or(piece);
        self.room -= piece.len();
        self.sheet.extend_from_slice(piece);
    }

    /// An attribute was read, number `at` of the page's attributes.
    pub(super) fn note(&mut self, at: usize, name: Attr, value: &[u8]) {
        let may_hide = match name {
            Attr::Style | Attr::Hidden => true,
            Attr::Role => is_overlay(value),
            Attr::Class | Attr::Id => {
                if !self.sheet.is_empty() {
                    self.read_sheet();
                }
                self.may_have_rule(value)
            }
            _ => false,
        };
        if may_hide {
            self.attributes.push(at as u32);
        }
    }

    /// Whether one of these names may be in a rule.
    fn may_have_rule(&self, names: &[u8]) -> bool {
        let mut names = names.split(|byte| *byte <= b' ');
        names.any(|name| {
            let (word, bit) = filter_bit(name);
            self.filter[word] & bit != 0 && !name.is_empty()
        })
    }

    /// Whether one of these attributes may hide. Mostly they were read last, and none does.
    pub(super) fn may_hide(&self, attributes: Span) -> bool {
        let last = self.attributes.last();
        last.is_some_and(|last| *last >= attributes.start)
    }

    /// Whether an element hides what is in it, see [`super::Page::is_hidden`].
    pub(super) fn hides<'a>(
        &self,
        tag: Tag,
        attributes: &[Attribute],
        value: impl Fn(Span) -> &'a str,
    ) -> bool {
        let has_rule = |sign: u8, name: &str| {
            let of = |tag| self.rules.get(&key_of(tag, sign, name.as_bytes())).copied();
            let found = of(Tag::OTHER).max(of(tag));
            found.is_some_and(|hidden| hidden.holds(tag))
        };
        attributes.iter().any(|attribute| {
            let text = value(attribute.value);
            match attribute.name {
                Attr::Hidden => {
                    let id = attributes.iter().find(|a| a.name == Attr::Id);
                    let is_streamed = id.is_some_and(|id| is_late_part(value(id.value)));
                    !text.eq_ignore_ascii_case("until-found") && !is_streamed
                }
                Attr::Style => hidden_by(text, false).is_some_and(|hidden| hidden.holds(tag)),
                Attr::Class => text
                    .split_ascii_whitespace()
                    .any(|name| has_rule(b'.', name)),
                Attr::Id => has_rule(b'#', text.trim()),
                Attr::Role => is_overlay(text.as_bytes()),
                _ => false,
            }
        })
    }

    /// Reads the rules of the style sheet that is over.
    fn read_sheet(&mut self) {
        let sheet = std::mem::take(&mut self.sheet);
        let mut words = SHEET_WORDS
            .find_iter(&sheet)
            .map(|word| word.start())
            .peekable();
        let mut at = 0;
        // What is left changes nothing once there is no word and nothing to show again.
        while (words.peek().is_some() || self.rules.len() > KNOWN_RULES)
            && let Some(open) = memchr::memchr(b'{', sheet.get(at..).unwrap_or_default())
        {
            let open = at + open;
            let before = sheet.get(at..open).unwrap_or_default();
            // What is before a rule: other statements, notes.
            let from = memchr::memrchr2(b';', b'/', before).map_or(0, |at| at + 1);
            let selectors = before.get(from..).unwrap_or_default().trim_ascii();
            let block = sheet.get(open + 1..).unwrap_or_default();
            let is_rule = !selectors.starts_with(b"@");
            let len = if is_rule {
                memchr::memchr(b'}', block).unwrap_or(block.len())
            } else {
                end_of_block(block)
            };
            at = open + len + 2;
            let mut may_hide = false;
            while words.next_if(|word| *word < at).is_some() {
                may_hide = true;
            }
            if is_rule {
                self.read_rule(selectors, block.get(..len).unwrap_or_default(), may_hide);
            }
        }
    }

    /// Reads a rule; one that hides nothing matters to what is hidden so far.
    fn read_rule(&mut self, selectors: &[u8], style: &[u8], may_hide: bool) {
        let mut found = None;
        for selector in selectors.split(|byte| *byte == b',') {
            let Some((tag, sign, name)) = simple_selector(selector) else {
                continue;
            };
            if !may_hide && !self.rules.contains_key(&key_of(tag, sign, name)) {
                continue;
            }
            let (hidden, shown) = *found.get_or_insert_with(|| {
                let style = std::str::from_utf8(style).unwrap_or_default();
                (hidden_by(style, true), shows(style))
            });
            if hidden.is_some() || shown {
                self.add_rule(tag, sign, name, hidden);
            }
        }
    }

    /// Remembers what elements of a name are hidden; `Tag::OTHER` are all elements.
    fn add_rule(&mut self, tag: Tag, sign: u8, name: &[u8], hidden: Option<Hidden>) {
        let key = key_of(tag, sign, name);
        match hidden {
            Some(hidden) if self.rules.len() < MAX_RULES => {
                let (word, bit) = filter_bit(name);
                self.filter[word] |= bit;
                self.rules.insert(key, hidden);
            }
            Some(_) => {}
            None => drop(self.rules.remove(&key)),
        }
    }
}

impl Hidden {
    fn holds(self, tag: Tag) -> bool {
        match self {
            Self::Inline => !tag.is_block(),
            Self::Unheaded => !tag.is_heading(),
            Self::Any => true,
        }
    }
}

/// Whether an element with this role is laid over the page.
fn is_overlay(role: &[u8]) -> bool {
    matches!(role.trim_ascii(), b"dialog" | b"alertdialog")
}

/// React sends late parts of a page behind the rest (`<div hidden id="S:2">`), and a script puts them in their place.
fn is_late_part(id: &str) -> bool {
    let number = id.strip_prefix("S:");
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Length of the block of an `@` rule, with the blocks in it, without its last brace.
fn end_of_block(block: &[u8]) -> usize {
    let mut depth = 1;
    let ends = memchr::memchr2_iter(b'{', b'}', block).find(|at| {
        depth = if block.get(*at) == Some(&b'{') {
            depth + 1
        } else {
            depth - 1
        };
        depth == 0
    });
    ends.unwrap_or(block.len())
}

fn key_of(tag: Tag, sign: u8, name: &[u8]) -> u64 {
    xxh3_64_with_seed(name, u64::from(tag.0) << 8 | u64::from(sign))
}

/// The bit of a name in a filter, by word and bit: it tells most names that no rule has.
fn filter_bit(name: &[u8]) -> (usize, u64) {
    let at = |place: usize| usize::from(name.get(place).copied().unwrap_or_default());
    let ends = at(0) * 31 + at(name.len() / 2) * 7 + at(name.len().saturating_sub(1));
    let mixed = (ends + name.len() * 53) % 256;
    (mixed / 64, 1 << (mixed % 64))
}

/// The tag, the sign and the name of a selector that is no more than these: `.name`, `tag.name`, `#name`.
fn simple_selector(selector: &[u8]) -> Option<(Tag, u8, &[u8])> {
    let selector = selector.trim_ascii();
    let at = memchr::memchr2(b'.', b'#', selector)?;
    let (tag, name) = selector.split_at(at);
    let (sign, name) = name.split_first()?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | 0x80..);
    if name.is_empty() || !name.iter().all(is_name) {
        return None;
    }
    let tag = match tag {
        b"" => Tag::OTHER,
        tag => Some(Tag::from_name(tag)).filter(|tag| *tag != Tag::OTHER)?,
    };
    Some((tag, *sign, name))
}

/// True for a style that can hide something: few can.
pub(super) fn can_hide(style: &[u8]) -> bool {
    HIDING_WORDS.seen(style) != 0
}

/// The declarations of a style: property and value.
fn declarations(style: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = style.split(';').filter_map(|one| one.split_once(':'));
    pairs.map(|(property, value)| {
        let value = value.split('!').next().unwrap_or_default();
        (property.trim(), value.trim())
    })
}

/// What a style hides, that of an element or of a rule of a style sheet.
fn hidden_by(style: &str, in_sheet: bool) -> Option<Hidden> {
    let is = |text: &str, word: &str| text.eq_ignore_ascii_case(word);
    let is_lifted = declarations(style).any(|(property, value)| {
        is(property, "position") && (is(value, "absolute") || is(value, "fixed"))
    });
    let hidden = declarations(style).filter_map(|(property, value)| {
        let first = value.split(' ').next().unwrap_or_default();
        if is(property, "display") && is(first, "none") {
            return Some(if in_sheet {
                Hidden::Inline
            } else {
                Hidden::Any
            });
        }
        let is_small = || is(property, "font-size") && number(value) == Some(0.0);
        if is_small() {
            return Some(Hidden::Inline);
        }
        let is_beyond = || {
            let side = ["left", "top", "right", "bottom"]
                .iter()
                .any(|side| is(property, side));
            side && is_lifted && number(value).is_some_and(|at| at <= -BEYOND)
        };
        let is_hidden = is(property, "visibility") && is(first, "hidden");
        (is_hidden || is_clipped(property, value) || is_beyond()).then_some(Hidden::Any)
    });
    hidden.max()
}

/// What reads aloud is often cut to nothing: `clip: rect(0, 0, 0, 0)`, `clip-path: inset(50%)`.
fn is_clipped(property: &str, value: &str) -> bool {
    let inside = |name: &str| {
        let (found, inside) = value.split_once('(')?;
        found.trim().eq_ignore_ascii_case(name).then_some(inside)
    };
    if property.eq_ignore_ascii_case("clip") {
        let sides = inside("rect").map(|sides| sides.trim_end_matches(')').split([',', ' ']));
        let mut sides = sides.into_iter().flatten().filter(|side| !side.is_empty());
        return sides.clone().count() == 4
            && sides.all(|side| number(side).is_some_and(|n| n.abs() <= 1.0));
    }
    property.eq_ignore_ascii_case("clip-path")
        && inside("inset")
            .is_some_and(|side| side.contains('%') && number(side).is_some_and(|n| n >= 50.0))
}

/// The number at the head of a value.
fn number(value: &str) -> Option<f32> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
    let end = value.find(|c| !is_part(c)).unwrap_or(value.len());
    value.get(..end)?.parse().ok()
}

/// True for a style that shows what another hid.
fn shows(style: &str) -> bool {
    declarations(style).any(|(property, _)| {
        ["display", "visibility", "font-size"]
            .iter()
            .any(|name| property.eq_ignore_ascii_case(name))
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Hints, Page};

    /// The shown text of a page.
    fn shown(html: &str) -> String {
        let page = Page::parse(html.as_bytes(), Hints::default());
        let texts = page.texts().iter().filter(|text| !text.is_hidden);
        texts.map(|text| page.text(text.node)).collect()
    }

    #[test]
    fn styles_that_hide() {
        for style in [
            "display:none",
            "color:red; DISPLAY : None !important",
            "visibility:hidden",
            "font-size:0",
            "font-size: 0px;color:#fff",
            "position:absolute;left:-9999px",
            "left:-2000em;position:fixed",
            "clip:rect(0 0 0 0);position:absolute",
            "clip: rect(1px, 1px, 1px, 1px)",
            "clip-path:inset(50%)",
        ] {
            assert_eq!(
                shown(&format!("<p>井<i style='{style}'>x</i>口")),
                "井口",
                "{style}"
            );
        }
        for style in [
            "font-size:0.8em",
            "font-size:10px",
            "left:-9999px",
            "position:absolute;left:-9px",
            "clip:rect(0,90px,20px,0)",
            "clip:auto",
            "display:inline",
            "overflow:hidden",
            "list-style:none",
            "clip-path:inset(5%)",
        ] {
            assert_eq!(
                shown(&format!("<p>井<i style='{style}'>x</i>口")),
                "井x口",
                "{style}"
            );
        }
        // The room between blocks is taken away so; they set the size anew.
        assert_eq!(
            shown("<div style='font-size:0'><p style='font-size:9px'>井</p></div>"),
            "井"
        );
    }

    #[test]
    fn style_sheets_that_hide() {
        for (sheet, inside) in [
            (".q{display:none}", "<i class=q>x</i>"),
            (
                ".a{color:red}.q{font-size:9px}
.q { font-size: 0 }",
                "<i class='z q'>x</i>",
            ),
            ("a{}/* note */ .b , i.q{display:none}", "<i class=q>x</i>"),
            ("@import url(x.css); #q{visibility:hidden}", "<p id=q>x</p>"),
            (
                "@media (min-width:9px){.q{color:red}} .q{visibility:hidden;}",
                "<div class=q>x</div>",
            ),
        ] {
            let page = format!("<style>{sheet}</style><div>井{inside}口</div>");
            assert_eq!(shown(&page), "井口", "{sheet}");
        }
        for (sheet, inside) in [
            (".q{display:none}", "<i class=Q>x</i>"),
            (".q{display:none} .q{display:inline}", "<i class=q>x</i>"),
            (".w .q{display:none}", "<i class=q>x</i>"),
            (".q:hover{display:none}", "<i class=q>x</i>"),
            ("b.q{display:none}", "<i class=q>x</i>"),
            ("@media print{.q{display:none}}", "<i class=q>x</i>"),
            // A script shows it when somebody asks.
            (".q{display:none}", "<div class=q>x</div>"),
            (".q{display:none", "<i class=w>x</i>"),
            ("}}{{;.q", "<i class=q>x</i>"),
        ] {
            let page = format!("<style>{sheet}</style><div>井{inside}口</div>");
            assert_eq!(shown(&page), "井x口", "{sheet}");
        }
    }

    #[test]
    fn classes_known_everywhere() {
        assert_eq!(
            shown("<p>井<font class=jammer>x</font><span class='a sr-only'>y</span>口"),
            "井口"
        );
        assert_eq!(shown("<h1 class=sr-only>井口</h1>"), "井口");
        assert_eq!(shown("<p>井<nav><p class=sr-only>x</p>口</nav>"), "井口");
        let drop_cap = "<p><span aria-hidden=true><b>H</b>assan</span><span class=screen-reader-only>Hassan</span> a</p>";
        assert_eq!(shown(drop_cap), "Hassan a");
        let code =
            "<table><tr><td class=gutter><pre>7\n8</pre><td class=code><pre>read()</pre></table>";
        assert_eq!(shown(code), "read()");
        assert_eq!(shown("<div class='col gutter'>井口</div>"), "井口");
    }

    #[test]
    fn overlays_are_hidden() {
        for overlay in [
            "role=dialog",
            "role=alertdialog",
            "class='modal fade'",
            "id=onetrust-consent-sdk",
        ] {
            let html = format!("<p>井</p><div {overlay}><h2>x</h2><p>y</p></div><p>口</p>");
            assert_eq!(shown(&html), "井口", "{overlay}");
        }
        assert_eq!(shown("井<dialog>x</dialog>口"), "井口");
        for shown_part in ["role=tabpanel", "class=modality", "class=accordion"] {
            let html = format!("<p>井</p><div {shown_part}>x</div>");
            assert_eq!(shown(&html), "井x", "{shown_part}");
        }
        assert_eq!(
            shown("<style>.q{display:none}.modal{display:block}</style><div class=modal>x</div>"),
            "x"
        );
    }

    #[test]
    fn style_sheets_are_bounded() {
        let sheet = ".a{color:red}".repeat(30_000) + ".q{display:none}";
        assert_eq!(
            shown(&format!("<style>{sheet}</style><i class=q>x</i>")),
            "x"
        );
        let sheet: String = (0..9_000)
            .map(|n| format!(".q{n}{{display:none}}"))
            .collect();
        let page = format!("<style>{sheet}</style><i class=q1>x</i><i class=q8999>y</i>");
        assert_eq!(shown(&page), "y");
    }
}
