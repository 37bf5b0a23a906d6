//! The sample web's pages through page and extract, without a network: what comes out against the ground truth.

use std::collections::{BTreeMap, HashMap};

use taojin_demo::{Article, Body, Genre, Request, Template, World};
use taojin_extract::page::{Hints, Page};
use taojin_extract::{Context, Document, extract};
use taojin_uri::CrawlUri;

const NOW_MS: i64 = 1_795_140_000_000;

/// F1 from which a text counts as found. A picture story has to be found exactly.
const GOOD_TEXT: f64 = 0.9;

/// Pages of a template on which a field may still differ from the ground truth; none where nothing is listed. The numbers
/// only ever go down.
const MISSES: &[(Template, &str, usize)] = &[
    // Until comments are told apart, a thread is one text.
    (Template::Forum, "text", 24),
];

/// The bytes of an article's page, and the charset that its header names.
fn body(world: &World, article: &Article) -> (Vec<u8>, Option<String>) {
    let request = Request {
        host: &world.site_of(article).host,
        target: &article.path,
        asked_before: 1,
        ..Request::default()
    };
    let answer = world.answer(&request).expect("articles are answered");
    let content_type = answer.header("content-type").expect("a content type");
    let charset = content_type
        .split_once("charset=")
        .map(|(_, label)| label.to_owned());
    let Body::Bytes(bytes) = answer.body else {
        panic!("{} is endless", article.path)
    };
    (bytes, charset)
}

/// The pages of all articles of one world.
pub(crate) fn bodies() -> Vec<(Vec<u8>, Option<String>)> {
    let world = World::generate(2026, NOW_MS, 18080);
    let articles = world.articles.iter();
    articles.map(|article| body(&world, article)).collect()
}

fn document(world: &World, article: &Article) -> Document {
    let url = world.url(article);
    let (bytes, charset) = body(world, article);
    let hints = Hints {
        charset,
        url: Some(CrawlUri::parse(&url).expect("article addresses are good")),
        ..Hints::default()
    };
    let context = Context {
        now_ms: Some(NOW_MS),
        ..Context::default()
    };
    extract(&Page::parse(&bytes, hints), &context)
}

/// How much of the text came out, and nothing else: F1 over runs of four characters.
fn text_f1(came: &str, truth: &str) -> f64 {
    let grams = |text: &str| {
        let chars: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
        let mut counts: HashMap<Vec<char>, i64> = HashMap::new();
        for gram in chars.windows(4) {
            *counts.entry(gram.to_vec()).or_default() += 1;
        }
        counts
    };
    let (came, truth) = (grams(came), grams(truth));
    let common: i64 = came
        .iter()
        .map(|(gram, n)| truth.get(gram).map_or(0, |m| *n.min(m)))
        .sum();
    let all: i64 = came.values().chain(truth.values()).sum();
    2.0 * common as f64 / all.max(1) as f64
}

/// The article's paragraphs; in a thread the answers too, since a thread is read for them.
fn article_text(world: &World, article: &Article) -> String {
    let mut text = world.paragraphs(article).join("\n");
    if world.site_of(article).template == Template::Forum {
        for comment in world.comments(article) {
            text.push('\n');
            text.push_str(&comment.text);
        }
    }
    text
}

/// The fields that came out otherwise than in the ground truth: name, what came, what is true.
fn faults(
    world: &World,
    article: &Article,
    document: &Document,
) -> Vec<(&'static str, String, String)> {
    let day = |date: &Option<String>| {
        date.as_deref()
            .and_then(|date| date.get(..10).map(str::to_owned))
            .unwrap_or_default()
    };
    let shown = |value: &Option<String>| value.clone().unwrap_or_default();
    let mut out = vec![
        ("title", shown(&document.title), article.title.clone()),
        (
            "date",
            day(&document.published),
            day(&Some(article.published.clone())),
        ),
    ];
    if article.author.is_some() {
        out.push(("author", shown(&document.author), shown(&article.author)));
    }
    if article.source.is_some() {
        out.push(("source", shown(&document.source), shown(&article.source)));
    }
    out.retain(|(_, came, truth)| came != truth);
    let text = article_text(world, article);
    let good = match article.genre {
        Genre::Picture => document.text == text,
        _ => text_f1(&document.text, &text) >= GOOD_TEXT,
    };
    if !good {
        out.push(("text", document.text.clone(), text));
    }
    out
}

#[test]
fn pages_give_the_ground_truth() {
    for seed in [2026, 7] {
        let world = World::generate(seed, NOW_MS, 18080);
        let mut missed: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for article in &world.articles {
            let template = world.site_of(article).template;
            for (field, came, truth) in faults(&world, article, &document(&world, article)) {
                missed
                    .entry(format!("{template:?} {field}"))
                    .or_default()
                    .push(format!(
                        "{} {:?}:\n{came}\n--- instead of ---\n{truth}",
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
