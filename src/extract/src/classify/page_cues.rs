//! Features of a page from its URL and head.

use std::sync::LazyLock;

use super::features::FeatureVector;
use crate::cues;
use crate::fields::head::Head;
use crate::page::{Attr, Page, Tag};

/// Features with the words that make each.
type Groups<const N: usize> = LazyLock<[(&'static str, Vec<String>); N]>;

/// The words of a feature `path: talk` are those of the section `path.talk`.
fn count_groups<const N: usize>(names: [&'static str; N]) -> [(&'static str, Vec<String>); N] {
    names.map(|name| (name, cues::words(&name.replace(": ", "."))))
}

static PATHS: Groups<6> = LazyLock::new(|| {
    count_groups([
        "path: talk",
        "path: reference",
        "path: shop",
        "path: text",
        "path: service",
        "path: list",
    ])
});
static HOSTS: Groups<4> =
    LazyLock::new(|| count_groups(["host: talk", "host: reference", "host: shop", "host: text"]));
/// Words that are anywhere in the host of a forum.
static FORUM_HOSTS: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("host.inside"));
/// Types of structured data.
static TYPES: Groups<6> = LazyLock::new(|| {
    count_groups([
        "json: article",
        "json: product",
        "json: talk",
        "json: list",
        "json: questions",
        "json: company",
    ])
});
/// Programs that make pages.
static GENERATORS: Groups<3> =
    LazyLock::new(|| count_groups(["generator: talk", "generator: reference", "generator: blog"]));

/// Parts of the names of the first elements of pages that forum software makes.
static SOFTWARE: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("software.talk"));
/// Elements at the beginning of a page whose names are those of the software.
const NAMED_FIRST: usize = 8;

/// Features of the URL.
pub(crate) fn address_features<const NAMED: bool>(page: &Page, cells: &mut FeatureVector<NAMED>) {
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
    for (name, list) in &*PATHS {
        let has = |word: &str| list.iter().any(|known| known == word);
        let first = |s: &str| has(stem(s).split(['-', '_']).next().unwrap_or_default());
        let exact = above.iter().any(|s| has(s)) || has(&stem(last));
        let value = if exact {
            1.0
        } else {
            f32::from(u8::from(segments.iter().any(|s| first(s)))) * 0.5
        };
        cells.put(name, value);
    }
    let host = url
        .map(|u| u.host().to_ascii_lowercase())
        .unwrap_or_default();
    for (name, list) in &*HOSTS {
        let has = |label: &str| list.iter().any(|known| known == label);
        cells.flag(name, host.split('.').any(has));
    }
    let inside = FORUM_HOSTS.iter().any(|word| host.contains(word.as_str()));
    cells.flag("host: names a forum", inside);
}

/// Features of what the page calls itself.
pub(crate) fn declared_features<const NAMED: bool>(
    head: &Head<'_>,
    cells: &mut FeatureVector<NAMED>,
) {
    let kind = head.og_type.unwrap_or_default().to_ascii_lowercase();
    cells.flag("og: article", kind == "article");
    cells.flag("og: product", kind.contains("product"));
    cells.flag("og: website", kind == "website");
    for (name, types) in &*TYPES {
        cells.flag(name, head.json.types.iter().any(|t| types.contains(t)));
    }
    let is_declared = |kind: &str| head.json.types.iter().any(|t| t == kind);
    cells.flag("declared: thread", is_declared("DiscussionForumPosting"));
    cells.flag("declared: questions", is_declared("QAPage"));
    cells.flag(
        "head: published",
        !head.published.is_empty() || head.json.published.is_some(),
    );
    cells.flag(
        "head: author",
        !head.authors.is_empty() || !head.json.authors.is_empty(),
    );
    generator_feature(head, cells);
    title_features(&head.title, cells);
}

fn generator_feature<const NAMED: bool>(head: &Head<'_>, cells: &mut FeatureVector<NAMED>) {
    let generator = head.generator.unwrap_or_default().to_ascii_lowercase();
    for (name, programs) in &*GENERATORS {
        let made_by = programs.iter().any(|p| generator.contains(p.as_str()));
        cells.flag(name, made_by);
    }
}

/// Whether a program for forums made the page, as its generator or the names of its first elements say.
pub(crate) fn software_feature<const NAMED: bool>(
    page: &Page,
    head: &Head<'_>,
    cells: &mut FeatureVector<NAMED>,
) {
    let generator = head.generator.unwrap_or_default().to_ascii_lowercase();
    let [(_, programs), ..] = &*GENERATORS;
    let is_generated = programs.iter().any(|p| generator.contains(p.as_str()));
    let elements = page.nodes().iter().zip(0..);
    let named = elements.filter(|(node, _)| matches!(node.tag, Tag::HTML | Tag::BODY | Tag::DIV));
    let mut names = named
        .take(NAMED_FIRST)
        .flat_map(|(_, at)| [page.attr(at, Attr::Id), page.attr(at, Attr::Class)])
        .flatten()
        .flat_map(str::split_ascii_whitespace);
    let is_known = |name: &str| {
        SOFTWARE
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    };
    cells.flag("software: talk", is_generated || names.any(is_known));
}

/// The words that a title may say, and those that it begins with.
static TITLE: LazyLock<[Vec<String>; 4]> =
    LazyLock::new(|| ["title.talk", "title.reference", "title.shop", "title.how"].map(cues::words));

fn title_features<const NAMED: bool>(title: &str, cells: &mut FeatureVector<NAMED>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Hints;

    #[test]
    fn talk_by_software_and_declared_types() {
        let value = |html: &str, name: &str| {
            let page = Page::parse(html.as_bytes(), Hints::default());
            let head = Head::read(&page);
            let mut cells = FeatureVector::with_names();
            declared_features(&head, &mut cells);
            software_feature(&page, &head, &mut cells);
            let at = cells.names.iter().position(|known| *known == name);
            cells.row[at.expect("a feature of this name")]
        };
        for (html, name, expected) in [
            ("<html id=XF><p>text", "software: talk", 1.0),
            (
                "<body id=nv_forum class=pg_viewthread><p>text",
                "software: talk",
                1.0,
            ),
            (
                "<meta name=generator content='Discourse 3.2'><p>text",
                "software: talk",
                1.0,
            ),
            ("<body class=single-post><p>phpbb", "software: talk", 0.0),
            (
                "<div itemscope itemtype=https://schema.org/DiscussionForumPosting>text",
                "declared: thread",
                1.0,
            ),
            (
                "<div itemtype=http://schema.org/QAPage>text",
                "declared: questions",
                1.0,
            ),
            (
                "<div itemtype=http://schema.org/Article>text",
                "declared: questions",
                0.0,
            ),
            (
                r#"<script type="application/ld+json">{"@type": "QAPage"}</script>"#,
                "declared: questions",
                1.0,
            ),
        ] {
            assert_eq!(value(html, name), expected, "{name}: {html}");
        }
    }
}
