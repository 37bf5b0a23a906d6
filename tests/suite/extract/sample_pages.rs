//! The sample web's pages through page and extract, without a network: what comes out against the ground truth.

use std::collections::HashMap;

use taojin_demo::{Article, SampleWeb};
use taojin_extract::page::{Hints, Page};
use taojin_extract::{Context, Document, extract};
use taojin_uri::CrawlUri;

const NOW_MS: i64 = 1_795_140_000_000;

/// F1 from which a text counts as found. A picture story has to be found exactly.
const GOOD_TEXT: f64 = 0.9;

/// The site whose pages are read for their answers too.
const FORUM: &str = "petro-forum";

fn sample_web() -> SampleWeb {
    SampleWeb::new(18080, NOW_MS)
}

/// The bytes of an article's page, and the charset that its header names.
fn body(web: &SampleWeb, article: &Article) -> (Vec<u8>, Option<String>) {
    let response = web.get(&article.url);
    let content_type = response.header("content-type").expect("a content type");
    let charset = content_type
        .split_once("charset=")
        .map(|(_, label)| label.to_owned());
    (response.bytes().to_vec(), charset)
}

/// The pages of all articles.
pub(crate) fn bodies() -> Vec<(Vec<u8>, Option<String>)> {
    let web = sample_web();
    let articles = web.articles();
    articles.iter().map(|article| body(&web, article)).collect()
}

fn document(web: &SampleWeb, article: &Article) -> Document {
    let (bytes, charset) = body(web, article);
    let hints = Hints {
        charset,
        url: Some(CrawlUri::parse(&article.url).expect("article URLs are good")),
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
fn article_text(article: &Article) -> String {
    let mut text = article.text.clone();
    if article.site == FORUM {
        text.extend(article.comments.iter().map(|comment| comment.text.clone()));
    }
    text.join("\n")
}

/// The fields that came out otherwise than in the ground truth: name, what came, what is true.
fn faults(article: &Article, document: &Document) -> Vec<(&'static str, String, String)> {
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
    let text = article_text(article);
    let good = if article.is_picture {
        document.text == text
    } else {
        text_f1(&document.text, &text) >= GOOD_TEXT
    };
    if !good {
        out.push(("text", document.text.clone(), text));
    }
    out
}

#[test]
fn sample_pages_ground_truth() {
    let web = sample_web();
    // All pages that there are in one of the rounds.
    let mut pages = Vec::new();
    for article in web.articles() {
        pages.push((document(&web, &article), article));
    }
    web.advance();
    for article in web.articles() {
        if article.round == 2 || article.added.is_some() {
            pages.push((document(&web, &article), article));
        }
    }
    for (document, article) in pages {
        let faults = faults(&article, &document);
        let (url, charset) = (&article.url, &article.charset);
        assert!(faults.is_empty(), "{url} ({charset}): {faults:#?}");
    }
}
