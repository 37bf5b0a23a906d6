//! Reads [`Marks`] from the name, role, class and id words of an element. Text is not read; a mark is a hint that later
//! stages weigh against the text.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use crate::cues;
use crate::literals::{Literals, expand_spelling};
use crate::page::{Attr, Attrs, NodeId, Page, Tag};

/// A set of hints, inherited by what is inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Marks(pub u32);

impl Marks {
    /// Menus, breadcrumbs, pagination.
    pub(crate) const NAV: Marks = Marks(1);
    /// Head of the page or of the site.
    pub(crate) const HEADER: Marks = Marks(1 << 1);
    /// Foot of the page or of the site.
    pub(crate) const FOOTER: Marks = Marks(1 << 2);
    /// Beside the text: side columns, widgets.
    pub(crate) const ASIDE: Marks = Marks(1 << 3);
    /// Readers' comments and the box to write one.
    pub(crate) const COMMENT: Marks = Marks(1 << 4);
    /// Other articles: related, hot, recommended, next and previous.
    pub(crate) const RELATED: Marks = Marks(1 << 5);
    /// Share bars, buttons, social media.
    pub(crate) const SHARE: Marks = Marks(1 << 6);
    /// Advertisements, sponsors, subscription boxes.
    pub(crate) const PROMO: Marks = Marks(1 << 7);
    /// Date, source, editor, tags: about the text, not of it.
    pub(crate) const ABOUT: Marks = Marks(1 << 8);
    /// Author cards.
    pub(crate) const AUTHOR: Marks = Marks(1 << 9);
    /// Calls itself the text: content, article, entry.
    pub(crate) const BODY: Marks = Marks(1 << 10);
    /// Declared to be the text: `itemprop=articleBody` and its kin.
    pub(crate) const DECLARED: Marks = Marks(1 << 11);
    /// Caption of a picture.
    pub(crate) const CAPTION: Marks = Marks(1 << 12);
    /// Headline.
    pub(crate) const TITLE: Marks = Marks(1 << 13);
    /// Lead or summary above the text.
    pub(crate) const LEAD: Marks = Marks(1 << 14);
    /// Inside a form or form control.
    pub(crate) const FORM: Marks = Marks(1 << 15);
    /// Copyright and licence notes.
    pub(crate) const LEGAL: Marks = Marks(1 << 16);
    /// Inside an `article` element.
    pub(crate) const ARTICLE: Marks = Marks(1 << 17);
    /// Inside a `main` element or `role=main`.
    pub(crate) const MAIN: Marks = Marks(1 << 18);
    /// Inside a list.
    pub(crate) const LIST: Marks = Marks(1 << 19);
    /// Inside a table.
    pub(crate) const TABLE: Marks = Marks(1 << 20);
    /// Inside a quotation.
    pub(crate) const QUOTE: Marks = Marks(1 << 21);
    /// Cookie and consent banners, pop-ups, dialogs.
    pub(crate) const POPUP: Marks = Marks(1 << 22);

    /// Classes that state how a page is laid out, or what a part around the text has: what they name is not in them.
    const LAYOUT: Marks = Marks(1 << 23);
    /// What is not believed next to such words. Lists of comments have them as well.
    const NOT_BESIDE_LAYOUT: Marks = Marks(
        (Self::AGAINST.0 & !Self::COMMENT.0) | Self::AUTHOR.0 | Self::ABOUT.0 | Self::LAYOUT.0,
    );

    /// Where other texts are mentioned than that of the page.
    pub(crate) const ELSEWHERE: Marks = Marks(Self::COMMENT.0 | Self::RELATED.0 | Self::ASIDE.0);
    /// All hints against being text.
    pub(crate) const AGAINST: Marks = Marks(
        Self::NAV.0
            | Self::HEADER.0
            | Self::FOOTER.0
            | Self::ASIDE.0
            | Self::COMMENT.0
            | Self::RELATED.0
            | Self::SHARE.0
            | Self::PROMO.0
            | Self::LEGAL.0
            | Self::FORM.0
            | Self::POPUP.0,
    );

    /// True if any of `other` is set.
    pub(crate) fn any(self, other: Marks) -> bool {
        self.0 & other.0 != 0
    }

    /// Both sets.
    #[must_use]
    pub(crate) const fn with(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }

    /// The set less `other`.
    #[must_use]
    pub(crate) const fn without(self, other: Marks) -> Marks {
        Marks(self.0 & !other.0)
    }
}

/// Sections of word stems of class and id values, with what they hint at.
const STEMS: [(&str, Marks); 17] = [
    ("stems.nav", Marks::NAV),
    ("stems.header", Marks::HEADER),
    ("stems.footer", Marks::FOOTER),
    ("stems.aside", Marks::ASIDE),
    ("stems.comment", Marks::COMMENT),
    ("stems.related", Marks::RELATED),
    ("stems.share", Marks::SHARE),
    ("stems.promo", Marks::PROMO),
    ("stems.about", Marks::ABOUT),
    ("stems.author", Marks::AUTHOR),
    ("stems.body", Marks::BODY),
    ("stems.caption", Marks::CAPTION),
    ("stems.title", Marks::TITLE),
    ("stems.lead", Marks::LEAD),
    ("stems.legal", Marks::LEGAL),
    ("stems.popup", Marks::POPUP),
    ("stems.layout", Marks::LAYOUT),
];

/// The stems as words. Signs and blanks are alike in them, but for the two that join the parts of a name.
static WORDS: LazyLock<Literals> = LazyLock::new(|| {
    let words = STEMS.iter().flat_map(|(section, marks)| {
        // A bound is a joint or anything else that is no letter.
        let stems = cues::alternatives(section).replace(['^', '$'], "[ -]");
        expand_spelling(&stems)
            .into_iter()
            .map(|word| (word, marks.0))
    });
    Literals::new(words)
});

/// A byte of a value as it is in words.
fn fold_case(byte: u8) -> u8 {
    match byte {
        b'-' | b'_' => b'-',
        _ if byte.is_ascii_alphanumeric() => byte,
        _ => b' ',
    }
}

/// Attributes that say what an element is for.
const SAYING: Attrs = Attrs::new(&[Attr::Class, Attr::Id, Attr::Role, Attr::Itemprop]);

/// Reads the marks of the elements of a page. It remembers those of class and id values, which repeat all over a page.
#[derive(Debug)]
pub(crate) struct MarkReader<'a> {
    page: &'a Page,
    known: HashMap<&'a str, Marks, RandomState>,
}

impl<'a> MarkReader<'a> {
    pub(crate) fn new(page: &'a Page) -> Self {
        Self {
            page,
            known: HashMap::default(),
        }
    }

    /// The element's own marks: by name, role, `itemprop`, class and id.
    pub(crate) fn marks(&mut self, id: NodeId) -> Marks {
        let page = self.page;
        let tag = page.node(id).tag;
        if tag == Tag::HTML || tag == Tag::BODY {
            // Their classes describe the whole site.
            return Marks::default();
        }
        let mut marks = marks_of_tag(tag);
        if !page.attribute_names(id).any(SAYING) {
            return marks;
        }
        for (name, value) in page.attributes_of(id) {
            let more = match name {
                Attr::Class | Attr::Id => {
                    let known = self.known.entry(value);
                    *known.or_insert_with(|| marks_of_value(value))
                }
                Attr::Role => marks_of_role(value),
                Attr::Itemprop => marks_of_itemprop(value),
                _ => continue,
            };
            marks = marks.with(more);
        }
        marks
    }
}

/// The marks of a class or id.
fn marks_of_value(value: &str) -> Marks {
    // A blank on either side bounds the first and the last name.
    let bytes = value.bytes().map(fold_case);
    let bounded: Vec<u8> = [b' '].into_iter().chain(bytes).chain([b' ']).collect();
    let marks = Marks(WORDS.seen(&bounded));
    if marks.any(Marks::LAYOUT) {
        marks.without(Marks::NOT_BESIDE_LAYOUT)
    } else {
        marks
    }
}

fn marks_of_tag(tag: Tag) -> Marks {
    match tag {
        Tag::NAV => Marks::NAV,
        Tag::HEADER => Marks::HEADER,
        Tag::FOOTER => Marks::FOOTER,
        Tag::ASIDE => Marks::ASIDE,
        Tag::FORM => Marks::FORM,
        Tag::FIGCAPTION => Marks::CAPTION,
        Tag::ARTICLE => Marks::ARTICLE,
        Tag::MAIN => Marks::MAIN,
        Tag::BLOCKQUOTE => Marks::QUOTE,
        Tag::TABLE => Marks::TABLE,
        Tag::UL | Tag::OL | Tag::DL => Marks::LIST,
        Tag::H1 => Marks::TITLE,
        _ => Marks::default(),
    }
}

fn marks_of_role(role: &str) -> Marks {
    match role {
        "navigation" | "menu" | "menubar" | "toolbar" | "tablist" => Marks::NAV,
        "banner" => Marks::HEADER,
        "contentinfo" => Marks::FOOTER,
        "complementary" => Marks::ASIDE,
        "dialog" | "alertdialog" | "alert" => Marks::POPUP,
        "search" | "form" => Marks::FORM,
        "main" => Marks::MAIN,
        "article" => Marks::ARTICLE,
        _ => Marks::default(),
    }
}

fn marks_of_itemprop(prop: &str) -> Marks {
    match prop {
        "articleBody" | "reviewBody" | "text" => Marks::DECLARED,
        "headline" => Marks::TITLE,
        "author" => Marks::AUTHOR,
        "comment" => Marks::COMMENT,
        "datePublished" | "dateModified" | "keywords" | "publisher" => Marks::ABOUT,
        "description" => Marks::LEAD,
        "caption" => Marks::CAPTION,
        _ => Marks::default(),
    }
}
