//! Reads the head of a page and its structured data into a [`Head`], in one pass over the nodes and without choosing.

use std::sync::LazyLock;

use foldhash::HashMap;

use super::json_ld as jsonld;
use super::json_ld::JsonLd;
use crate::cues;
use crate::page::{Attr, NodeId, Page, Tag, has_word};

/// More of a `<title>` is not checked; what is longer is no title.
const MAX_TITLE_CHARS: usize = 1000;

/// The section of each name of a meta element that is requested, and its place there: surest first.
static NAMES: LazyLock<HashMap<String, (&str, usize)>> = LazyLock::new(|| {
    let names = SECTIONS.iter().flat_map(|section| {
        let names = cues::words(section).into_iter().enumerate();
        names.map(|(rank, name)| (name, (*section, rank)))
    });
    names.collect()
});

const SECTIONS: [&str; 14] = [
    "meta.titles",
    "meta.site",
    "meta.published",
    "meta.modified",
    "meta.authors",
    "meta.source",
    "meta.address",
    "meta.robots",
    "meta.language",
    "meta.locale",
    "meta.description",
    "meta.type",
    "meta.image",
    "meta.generator",
];

/// What a meta element says.
#[derive(Debug, Clone, Copy)]
struct MetaElement<'a> {
    section: &'static str,
    rank: usize,
    name: &'static str,
    value: &'a str,
}

/// Adds what a meta element says that is requested, for each of its names.
fn read_meta<'a>(page: &'a Page, id: NodeId, metas: &mut Vec<MetaElement<'a>>) {
    let (mut value, mut names) = (None, [None; 4]);
    for (attr, text) in page.attributes_of(id) {
        let slot = match attr {
            Attr::Content => &mut value,
            Attr::Property => &mut names[0],
            Attr::Name => &mut names[1],
            Attr::Itemprop => &mut names[2],
            Attr::HttpEquiv => &mut names[3],
            _ => continue,
        };
        slot.get_or_insert(text);
    }
    let Some(value) = value.map(str::trim).filter(|v| !v.is_empty()) else {
        return;
    };
    for name in names.into_iter().flatten() {
        let known = NAMES.get_key_value(&name.trim().to_ascii_lowercase());
        metas.extend(known.map(|(name, (section, rank))| MetaElement {
            section,
            rank: *rank,
            name,
            value,
        }));
    }
}

/// Head data; text is as the page has it.
#[derive(Debug, Default)]
pub(crate) struct Head<'a> {
    /// Text of `<title>`.
    pub title: String,
    /// `og:title`, `twitter:title`, `dc.title` and the like, in that order of trust.
    pub titles: Vec<&'a str>,
    /// `og:site_name`, `application-name`.
    pub site_name: Option<&'a str>,
    /// Publication times in order of trust, with the name they came from.
    pub published: Vec<(&'a str, &'a str)>,
    /// Times of the last change.
    pub modified: Vec<&'a str>,
    /// Writers.
    pub authors: Vec<&'a str>,
    /// Media source.
    pub source: Option<&'a str>,
    /// `rel=canonical`, `og:url`.
    pub canonical: Option<&'a str>,
    /// `meta name=robots` and the like.
    pub robots: Vec<&'a str>,
    /// `html lang`, `content-language`, `og:locale`.
    pub language: Option<&'a str>,
    /// `description`, `og:description`.
    pub description: Option<&'a str>,
    /// `og:type`.
    pub og_type: Option<&'a str>,
    /// `og:locale`.
    pub locale: Option<&'a str>,
    /// `og:image`, `twitter:image`.
    pub image: Option<&'a str>,
    /// Program that made the page.
    pub generator: Option<&'a str>,
    /// JSON-LD.
    pub json: JsonLd,
    /// Parts of other scripts that name the time of publication.
    pub scripts: Vec<&'a str>,
}

impl<'a> Head<'a> {
    /// Reads the head data of `page`, wherever they are in it.
    pub(crate) fn read(page: &'a Page) -> Self {
        let mut head = Head::default();
        let mut metas = Vec::new();
        for (at, node) in page.nodes().iter().enumerate() {
            let id = at as NodeId;
            match node.tag {
                Tag::META => read_meta(page, id, &mut metas),
                Tag::HTML => head.language = page.attr(id, Attr::Lang).or(head.language),
                Tag::TITLE if head.title.is_empty() && !is_in_svg(page, id) => {
                    head.title = join_children(page, id);
                }
                Tag::LINK
                    if page
                        .attr(id, Attr::Rel)
                        .is_some_and(|rel| has_word(rel, &["canonical"])) =>
                {
                    head.canonical = head.canonical.or(page.attr(id, Attr::Href));
                }
                Tag::SCRIPT => {
                    let data = is_json_ld(page.attr(id, Attr::Type));
                    for child in page.children(id) {
                        if data {
                            jsonld::read(page.text(child), &mut head.json);
                        } else {
                            head.scripts.push(page.text(child));
                        }
                    }
                }
                _ => {}
            }
            if matches!(
                node.tag,
                Tag::HTML | Tag::BODY | Tag::MAIN | Tag::ARTICLE | Tag::SECTION | Tag::DIV
            ) && let Some(kind) = page.attr(id, Attr::Type)
            {
                head.json.add_talk_type(kind);
            }
        }
        metas.sort_by_key(|meta| meta.rank);
        head.sort(&metas);
        head
    }

    /// Takes what meta elements say, surest first.
    fn sort(&mut self, metas: &[MetaElement<'a>]) {
        let said = |section| metas.iter().filter(move |meta| meta.section == section);
        let all = |section| said(section).map(|meta| meta.value);
        let first = |section| all(section).next();
        self.titles.extend(all("meta.titles"));
        self.site_name = first("meta.site");
        let published = said("meta.published").map(|meta| (meta.name, meta.value));
        self.published.extend(published);
        self.modified.extend(all("meta.modified"));
        self.authors.extend(all("meta.authors"));
        self.source = first("meta.source");
        self.canonical = self.canonical.or_else(|| first("meta.address"));
        self.robots.extend(all("meta.robots"));
        self.locale = first("meta.locale");
        self.language = self
            .language
            .filter(|l| !l.is_empty())
            .or_else(|| first("meta.language"))
            .or(self.locale);
        self.description = first("meta.description");
        self.og_type = first("meta.type");
        self.image = first("meta.image");
        self.generator = first("meta.generator");
    }

    /// True if the page asks for `directive` (`noindex`, `nofollow`) or for `none`.
    pub(crate) fn asks(&self, directive: &str) -> bool {
        self.robots
            .iter()
            .any(|value| has_directive(value, directive))
    }
}

/// True if a robots value holds the directive, or `none`, which stands for all.
pub(crate) fn has_directive(value: &str, directive: &str) -> bool {
    value
        .split([',', ';', ':'])
        .map(str::trim)
        .any(|d| d.eq_ignore_ascii_case(directive) || d.eq_ignore_ascii_case("none"))
}

fn is_json_ld(kind: Option<&str>) -> bool {
    kind.is_some_and(|k| k.trim().eq_ignore_ascii_case("application/ld+json"))
}

fn is_in_svg(page: &Page, id: NodeId) -> bool {
    page.ancestors(id).any(|a| page.node(a).tag == Tag::SVG)
}

fn join_children(page: &Page, id: NodeId) -> String {
    let mut out = String::new();
    for child in page.children(id) {
        out.extend(page.text(child).chars().take(MAX_TITLE_CHARS));
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}
