//! What the head of a page (and its structured data) says. In: a [`Page`]. Out: a [`Head`]. One pass over the
//! array; nothing is judged here.

use super::json_ld as jsonld;
use super::json_ld::JsonLd;
use crate::page::{Attr, NodeId, Page, Tag};

/// Names of meta elements that hold the time of first publication, surest first.
const PUBLISHED: &[&str] = &[
    "article:published_time",
    "og:published_time",
    "og:article:published_time",
    "article:create_at",
    "apub:time",
    "_pubtime",
    "datepublished",
    "publishdate",
    "pubdate",
    "publish_date",
    "publish-date",
    "publish_time",
    "publication_date",
    "published_time",
    "article_date_original",
    "originalpublicationdate",
    "dc.date.issued",
    "dcterms.issued",
    "dc.date.created",
    "dcterms.created",
    "dcterms.date",
    "dc.date",
    "dcterms.available",
    "parsely-pub-date",
    "sailthru.date",
    "cxenseparse:recs:publishtime",
    "cxenseparse:publishtime",
    "rnews:datepublished",
    "article.published",
    "published-date",
    "date.release",
    "releasedate",
    "release_date",
    "og:release_date",
    "video:release_date",
    "bt:pubdate",
    "prism.publicationdate",
    "citation_publication_date",
    "citation_date",
    "article:published",
    "article-published",
    "weibo:article:create_at",
    "created",
    "datecreated",
    "date",
    "eprints.date",
    "pub_date",
];

/// Names of meta elements that hold the writer, surest first.
const AUTHORS: &[&str] = &[
    "author",
    "article:author_name",
    "byl",
    "parsely-author",
    "sailthru.author",
    "dc.creator",
    "dcterms.creator",
    "citation_author",
    "article:author",
    "og:article:author",
    "contentauthor",
    "cxenseparse:author",
    "bt:author",
];

/// More of a `<title>` is not looked at; what is longer is no title.
const MAX_TITLE_CHARS: usize = 1000;

/// One name-value pair of a meta element.
#[derive(Debug, Clone, Copy)]
struct Meta<'a> {
    name: &'a str,
    value: &'a str,
}

/// The meta elements of a page, found by name. A page has dozens, and more than a hundred names are asked for.
#[derive(Debug, Default)]
struct Metas<'a> {
    /// Ordered by the length of their names, else as the page has them.
    all: Vec<Meta<'a>>,
    /// Where those with names of each length begin, and the end; what is longer than the last is not asked for.
    begin: [usize; Metas::LONGEST + 2],
}

impl<'a> Metas<'a> {
    /// Length of the longest name that is asked for.
    const LONGEST: usize = 30;

    fn add(&mut self, page: &'a Page, id: NodeId) {
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
        let metas = names.into_iter().flatten().map(|name| Meta {
            name: name.trim(),
            value,
        });
        self.all
            .extend(metas.filter(|m| m.name.len() <= Self::LONGEST));
    }

    fn order(&mut self) {
        self.all.sort_by_key(|m| m.name.len());
        for meta in &self.all {
            self.begin[meta.name.len() + 1] += 1;
        }
        let mut before = 0;
        for begin in &mut self.begin {
            before += *begin;
            *begin = before;
        }
    }

    /// Values of the elements of that name, in any case.
    fn called(&self, name: &'static str) -> impl Iterator<Item = &'a str> {
        let range = self.begin[name.len()]..self.begin[name.len() + 1];
        self.all[range]
            .iter()
            .filter(move |m| m.name.eq_ignore_ascii_case(name))
            .map(|m| m.value)
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
    /// Reads the head data of `page`, wherever they stand in it.
    pub(crate) fn of(page: &'a Page) -> Self {
        let mut head = Head::default();
        let mut metas = Metas::default();
        for (at, node) in page.nodes().iter().enumerate() {
            let id = at as NodeId;
            match node.tag {
                Tag::META => metas.add(page, id),
                Tag::HTML => head.language = page.attr(id, Attr::Lang).or(head.language),
                Tag::TITLE if head.title.is_empty() && !in_svg(page, id) => {
                    head.title = children_text(page, id);
                }
                Tag::LINK if has_word(page.attr(id, Attr::Rel), "canonical") => {
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
        }
        metas.order();
        head.sort(&metas);
        head
    }

    fn sort(&mut self, metas: &Metas<'a>) {
        let all = |name| metas.called(name);
        let first = |name: &'static str| all(name).next();
        for name in [
            "og:title",
            "twitter:title",
            "headline",
            "parsely-title",
            "sailthru.title",
            "dc.title",
            "dcterms.title",
            "citation_title",
            "title",
            "articletitle",
        ] {
            self.titles.extend(all(name));
        }
        self.site_name = first("og:site_name")
            .or_else(|| first("application-name"))
            .or_else(|| first("sitename"));
        for name in PUBLISHED {
            self.published.extend(all(name).map(|v| (*name, v)));
        }
        for name in [
            "article:modified_time",
            "og:updated_time",
            "datemodified",
            "last-modified",
            "lastmod",
            "dcterms.modified",
            "revised",
        ] {
            self.modified.extend(all(name));
        }
        for name in AUTHORS {
            self.authors.extend(all(name));
        }
        self.source = first("source")
            .or_else(|| first("article:source"))
            .or_else(|| first("contentsource"));
        self.canonical = self.canonical.or_else(|| first("og:url"));
        for name in ["robots", "taojin", "googlebot"] {
            self.robots.extend(all(name));
        }
        self.language = self
            .language
            .filter(|l| !l.is_empty())
            .or_else(|| first("content-language"))
            .or_else(|| first("og:locale"));
        self.description = first("description").or_else(|| first("og:description"));
        self.og_type = first("og:type");
        self.locale = first("og:locale");
        self.image = first("og:image").or_else(|| first("twitter:image"));
        self.generator = first("generator");
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

fn has_word(value: Option<&str>, word: &str) -> bool {
    value.is_some_and(|v| {
        v.split_ascii_whitespace()
            .any(|w| w.eq_ignore_ascii_case(word))
    })
}

fn is_json_ld(kind: Option<&str>) -> bool {
    kind.is_some_and(|k| k.trim().eq_ignore_ascii_case("application/ld+json"))
}

fn in_svg(page: &Page, id: NodeId) -> bool {
    page.ancestors(id).any(|a| page.node(a).tag == Tag::SVG)
}

fn children_text(page: &Page, id: NodeId) -> String {
    let mut out = String::new();
    for child in page.children(id) {
        out.extend(page.text(child).chars().take(MAX_TITLE_CHARS));
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}
