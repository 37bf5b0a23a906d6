//! The sample web's pages through page and extract, without a network: what comes out against what was planted.

use std::collections::BTreeMap;

use taojin::demo::{Ask, Body, Planted, Template, World};
use taojin::extract::{Context, Document, extract};
use taojin::page::{Hints, Page};
use taojin::uri::CrawlUri;

const NOW_MS: i64 = 1_795_140_000_000;

/// Pages of a template on which a field may still come out otherwise than planted; where nothing is said, none. The
/// numbers only ever go down.
const MISSES: &[(Template, &str, usize)] = &[
    (Template::Agency, "author", 29),
    (Template::Agency, "source", 36),
    (Template::Agency, "text", 36),
    (Template::Forum, "author", 24),
    (Template::Newspaper, "author", 13),
    (Template::Newspaper, "text", 13),
    (Template::Portal, "author", 38),
    (Template::Portal, "text", 6),
];

fn document(world: &World, article: &Planted) -> Document {
    let url = world.url(article);
    let ask = Ask {
        host: &world.site_of(article).host,
        target: &article.path,
        asked_before: 1,
        ..Ask::default()
    };
    let answer = world.answer(&ask).expect("planted pages are answered");
    let Body::Bytes(bytes) = &answer.body else {
        panic!("{url} is endless")
    };
    let content_type = answer.header("content-type").expect("a content type");
    let hints = Hints {
        charset: content_type
            .split_once("charset=")
            .map(|(_, label)| label.to_owned()),
        url: Some(CrawlUri::parse(&url).expect("planted addresses are good")),
        ..Hints::default()
    };
    let context = Context {
        now_ms: NOW_MS,
        ..Context::default()
    };
    extract(&Page::parse(bytes, hints), &context)
}

/// The fields that came out otherwise than planted: name, what came, what was planted.
fn faults(
    world: &World,
    article: &Planted,
    document: &Document,
) -> Vec<(&'static str, String, String)> {
    let text = world.paragraphs(article).join("\n");
    let day = |date: &Option<String>| {
        date.as_deref()
            .and_then(|date| date.get(..10).map(str::to_owned))
    };
    let planted_day = day(&Some(article.published.clone()));
    let shown = |value: &Option<String>| value.clone().unwrap_or_default();
    let mut out = vec![
        ("title", shown(&document.title), article.title.clone()),
        ("text", document.text.clone(), text),
        (
            "date",
            shown(&day(&document.published)),
            shown(&planted_day),
        ),
    ];
    if article.author.is_some() {
        out.push(("author", shown(&document.author), shown(&article.author)));
    }
    if article.source.is_some() {
        out.push(("source", shown(&document.source), shown(&article.source)));
    }
    out.retain(|(_, came, planted)| came != planted);
    out
}

#[test]
fn planted_pages_give_what_was_planted() {
    for seed in [2026, 7] {
        let world = World::generate(seed, NOW_MS, 18080);
        let mut missed: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for article in &world.articles {
            let template = world.site_of(article).template;
            for (field, came, planted) in faults(&world, article, &document(&world, article)) {
                missed
                    .entry(format!("{template:?} {field}"))
                    .or_default()
                    .push(format!(
                        "{} {:?}:\n{came}\n--- instead of ---\n{planted}",
                        article.path, article.encoding
                    ));
            }
        }
        for (what, pages) in missed {
            let allowed = MISSES
                .iter()
                .find(|(template, field, _)| format!("{template:?} {field}") == what)
                .map_or(0, |(_, _, allowed)| *allowed);
            assert!(
                pages.len() <= allowed,
                "{what}: {} of at most {allowed}, {}",
                pages.len(),
                pages[0]
            );
        }
    }
}
