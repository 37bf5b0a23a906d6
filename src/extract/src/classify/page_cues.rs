//! Features of a page from its URL and head.

use std::sync::LazyLock;

use super::features::FeatureVector;
use crate::cues;
use crate::fields::head::Head;
use crate::page::Page;

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
