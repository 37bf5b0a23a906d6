//! What address and head say of the sort of a page. In: a page, its head. Out: features by name. Never judges.

use std::sync::LazyLock;

use super::feature_vector::FeatureVector;
use crate::cues;
use crate::fields::head::Head;
use crate::page::Page;

/// Words of a path that belong to threads.
const TALK: &[&str] = &[
    "forum",
    "forums",
    "thread",
    "threads",
    "topic",
    "topics",
    "discussion",
    "discussions",
    "questions",
    "question",
    "viewtopic",
    "showthread",
    "bbs",
    "community",
    "comments",
    "talk",
    "boards",
    "board",
    "viewthread",
    "ask",
];
/// … to manuals.
const REFERENCE: &[&str] = &[
    "docs",
    "doc",
    "documentation",
    "guide",
    "guides",
    "reference",
    "manual",
    "api",
    "wiki",
    "help",
    "kb",
    "tutorial",
    "tutorials",
    "install",
    "usage",
    "configuration",
    "getting-started",
    "user_guide",
];
/// … to shops.
const SHOP: &[&str] = &[
    "product",
    "products",
    "collections",
    "collection",
    "shop",
    "store",
    "item",
    "category",
    "cat",
    "sale",
    "catalog",
    "buy",
    "categories",
    "departments",
];
/// … to texts.
const TEXT: &[&str] = &[
    "blog",
    "news",
    "article",
    "articles",
    "story",
    "stories",
    "post",
    "posts",
    "magazine",
    "resources",
    "learn",
    "insights",
    "press",
    "opinion",
    "features",
    "blogs",
    "advice",
    "library",
    "review",
    "reviews",
];
/// … to companies and authorities.
const SERVICE: &[&str] = &[
    "about",
    "services",
    "service",
    "contact",
    "solutions",
    "pricing",
    "locations",
    "calendar",
    "events",
    "local",
    "insurance",
    "industries",
    "company",
    "programs",
    "membership",
    "classes",
    "about-us",
];
/// … to lists.
const LIST: &[&str] = &[
    "list",
    "lists",
    "tag",
    "tags",
    "search",
    "index",
    "rankings",
    "directory",
    "archive",
    "top",
];

/// The words of a path and the first label of a host that belong together, with the feature they make.
const GROUPS: [(&str, &[&str]); 6] = [
    ("path: talk", TALK),
    ("path: reference", REFERENCE),
    ("path: shop", SHOP),
    ("path: text", TEXT),
    ("path: service", SERVICE),
    ("path: list", LIST),
];

const HOSTS: [(&str, &[&str]); 4] = [
    (
        "host: talk",
        &[
            "forum",
            "forums",
            "bbs",
            "community",
            "discuss",
            "boards",
            "ask",
            "discussion",
            "discussions",
            "answers",
            "club",
        ],
    ),
    (
        "host: reference",
        &[
            "docs",
            "doc",
            "developer",
            "developers",
            "help",
            "support",
            "wiki",
            "api",
            "learn",
            "readthedocs",
        ],
    ),
    ("host: shop", &["shop", "store", "buy"]),
    (
        "host: text",
        &[
            "blog",
            "news",
            "newsletter",
            "medium",
            "substack",
            "wordpress",
            "blogspot",
        ],
    ),
];

/// Features of the address.
pub(crate) fn address<const NAMED: bool>(page: &Page, cells: &mut FeatureVector<NAMED>) {
    let url = page.url.as_ref();
    let path = url
        .map(|u| u.path().to_ascii_lowercase())
        .unwrap_or_default();
    let segments: Vec<&str> = path.split('/').filter(|s| !s.is_empty()).collect();
    let last = segments.last().copied().unwrap_or_default();
    let above = segments.split_last().map_or(&[][..], |(_, above)| above);
    let stem = |s: &str| s.split(['.', '?']).next().unwrap_or_default().to_owned();
    let words = stem(last)
        .split(['-', '_'])
        .filter(|w| !w.is_empty())
        .count();
    let digits = path.bytes().filter(u8::is_ascii_digit).count();
    cells.flag("no address", url.is_none());
    cells.flag("home", url.is_some() && segments.is_empty());
    cells.put("path: depth", segments.len().min(6) as f32 / 6.0);
    cells.put("path: words", words.min(8) as f32 / 8.0);
    cells.put("path: digits", digits.min(10) as f32 / 10.0);
    cells.flag("path: one short word", segments.len() == 1 && words <= 2);
    cells.flag("path: ends in slash", path.len() > 1 && path.ends_with('/'));
    cells.flag("path: file", last.contains('.'));
    cells.flag("query", url.is_some_and(|u| u.query().is_some()));
    for (name, list) in GROUPS {
        let named = |s: &&str| list.contains(&stem(s).split(['-', '_']).next().unwrap_or_default());
        let exact = above.iter().any(|s| list.contains(s)) || list.contains(&stem(last).as_str());
        let begins = segments.iter().any(named);
        cells.put(
            name,
            if exact {
                1.0
            } else {
                f32::from(u8::from(begins)) * 0.5
            },
        );
    }
    let host = url
        .map(|u| u.host().to_ascii_lowercase())
        .unwrap_or_default();
    for (name, list) in HOSTS {
        cells.flag(name, host.split('.').any(|label| list.contains(&label)));
    }
    let inside = ["forum", "talk", "exchange", "community"]
        .iter()
        .any(|w| host.contains(w));
    cells.flag("host: names a forum", inside);
}

/// Features of what the page calls itself.
pub(crate) fn declared<const NAMED: bool>(head: &Head<'_>, cells: &mut FeatureVector<NAMED>) {
    let kind = head.og_type.unwrap_or_default().to_ascii_lowercase();
    cells.flag("og: article", kind == "article");
    cells.flag("og: product", kind.contains("product"));
    cells.flag("og: website", kind == "website");
    let is = |names: &[&str]| head.json.types.iter().any(|t| names.contains(&t.as_str()));
    cells.flag(
        "json: article",
        is(&[
            "Article",
            "NewsArticle",
            "BlogPosting",
            "ReportageNewsArticle",
            "TechArticle",
            "MedicalScholarlyArticle",
        ]),
    );
    cells.flag(
        "json: product",
        is(&["Product", "ProductGroup", "Offer", "AggregateOffer"]),
    );
    cells.flag(
        "json: talk",
        is(&["DiscussionForumPosting", "QAPage", "Question"]),
    );
    cells.flag(
        "json: list",
        is(&[
            "ItemList",
            "CollectionPage",
            "SearchResultsPage",
            "ProductCollection",
        ]),
    );
    cells.flag("json: questions", is(&["FAQPage"]));
    cells.flag(
        "json: company",
        is(&[
            "LocalBusiness",
            "Service",
            "Store",
            "MovingCompany",
            "Event",
            "Place",
            "EducationalOrganization",
        ]),
    );
    cells.flag(
        "head: published",
        !head.published.is_empty() || head.json.published.is_some(),
    );
    cells.flag(
        "head: author",
        !head.authors.is_empty() || !head.json.authors.is_empty(),
    );
    generator(head, cells);
    title(&head.title, cells);
}

fn generator<const NAMED: bool>(head: &Head<'_>, cells: &mut FeatureVector<NAMED>) {
    let generator = head.generator.unwrap_or_default().to_ascii_lowercase();
    let made_by = |names: &[&str]| names.iter().any(|n| generator.contains(n));
    cells.flag(
        "generator: talk",
        made_by(&[
            "discourse",
            "phpbb",
            "xenforo",
            "vbulletin",
            "mybb",
            "invision",
            "discuz",
            "nodebb",
            "flarum",
        ]),
    );
    cells.flag(
        "generator: reference",
        made_by(&[
            "sphinx",
            "docusaurus",
            "mkdocs",
            "gitbook",
            "docfx",
            "vuepress",
            "hugo",
        ]),
    );
    cells.flag(
        "generator: blog",
        made_by(&["wordpress", "ghost", "substack", "medium", "jekyll", "hexo"]),
    );
}

/// The words that a title may say, and those that it begins with.
static TITLE: LazyLock<[Vec<String>; 4]> =
    LazyLock::new(|| ["title.talk", "title.reference", "title.shop", "title.how"].map(cues::words));

fn title<const NAMED: bool>(title: &str, cells: &mut FeatureVector<NAMED>) {
    let title = title.to_lowercase();
    let [talk, reference, shop, how] = &*TITLE;
    let says = |words: &[String]| words.iter().any(|word| title.contains(word.as_str()));
    cells.flag("title: talk", says(talk));
    cells.flag("title: reference", says(reference));
    cells.flag("title: shop", says(shop));
    cells.flag(
        "title: question",
        title.contains('?') || title.contains('？'),
    );
    let begins = |word: &String| title.starts_with(word.as_str());
    cells.flag("title: how", how.iter().any(begins));
}
