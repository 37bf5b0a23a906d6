//! Reads what JSON-LD scripts state about the article. Broken JSON is read by pattern.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

/// Deepest nesting walked.
const MAX_DEPTH: u32 = 12;
/// Longest script read, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Most types kept.
const MAX_TYPES: usize = 24;
/// More than one thing has no name that is the page's.
const MAX_THINGS: usize = 2;

/// What the scripts say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct JsonLd {
    /// `headline`, or `name` of an article or of the thing that the page is about.
    pub headline: Option<String>,
    /// `datePublished`.
    pub published: Option<String>,
    /// `dateCreated`, `uploadDate`.
    pub created: Option<String>,
    /// `dateModified`.
    pub modified: Option<String>,
    /// Names of `author`.
    pub authors: Vec<String>,
    /// Name of `publisher`.
    pub publisher: Option<String>,
    /// The types of the objects, at most [`MAX_TYPES`].
    pub types: Vec<String>,
    /// Whether the values came from a type that is an article.
    pub article: bool,
    /// Names of the things that the page is about, at most [`MAX_THINGS`].
    pub things: Vec<String>,
}

/// Types of structured data in attributes that are kept: those of pages that are talk.
const TALK_TYPES: [&str; 2] = ["DiscussionForumPosting", "QAPage"];

impl JsonLd {
    /// Adds the type of an element (`https://schema.org/QAPage`) if it is one of a talk.
    pub(crate) fn add_talk_type(&mut self, url: &str) {
        let kind = url.rsplit('/').next().unwrap_or_default();
        if self.types.len() < MAX_TYPES
            && TALK_TYPES.contains(&kind)
            && !self.types.iter().any(|known| known == kind)
        {
            self.types.push(kind.to_owned());
        }
    }
}

static DATE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""datePublished"\s*:\s*"([^"]{6,40})""#).expect("a constant pattern")
});
static HEADLINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""headline"\s*:\s*"([^"\\]{4,300})""#).expect("a constant pattern")
});

/// Adds what one script says; values of an article win over those of other types.
pub(crate) fn read(script: &str, into: &mut JsonLd) {
    let script = script
        .trim()
        .trim_start_matches("<!--")
        .trim_end_matches("-->");
    let script = script.trim().trim_end_matches(';');
    if script.len() > MAX_BYTES {
        return;
    }
    // Raw line breaks inside strings are the most common error of hand-made templates.
    let one_line;
    let value = match serde_json::from_str::<Value>(script) {
        Ok(value) => Ok(value),
        Err(_) => {
            one_line = script.replace(['\n', '\r', '\t'], " ");
            serde_json::from_str(&one_line)
        }
    };
    match value {
        Ok(value) => walk_json(&value, 0, into),
        Err(_) => {
            let take = |regex: &Regex| regex.captures(script).map(|c| c[1].to_owned());
            into.published = into.published.take().or_else(|| take(&DATE));
            into.headline = into.headline.take().or_else(|| take(&HEADLINE));
        }
    }
}

fn walk_json(value: &Value, depth: u32, into: &mut JsonLd) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|v| walk_json(v, depth + 1, into)),
        Value::Object(object) => {
            let room = MAX_TYPES.saturating_sub(into.types.len());
            let named = list_types(object.get("@type"))
                .map(|t| t.rsplit('/').next().unwrap_or(t).to_owned());
            into.types.extend(named.take(room));
            let article = is_article(object.get("@type"));
            let page = is_page(object.get("@type"));
            let thing = is_thing(object.get("@type"));
            if thing || list_types(object.get("@type")).any(|t| t == "Recipe") {
                add_name(object, &mut into.things);
            }
            if article || page || thing || object.get("datePublished").is_some() {
                take(object, article, into);
            }
            for key in [
                "@graph",
                "mainEntity",
                "mainEntityOfPage",
                "itemListElement",
                "hasPart",
                "@list",
            ] {
                if let Some(inner) = object.get(key).filter(|v| !v.is_string()) {
                    walk_json(inner, depth + 1, into);
                }
            }
        }
        _ => {}
    }
}

/// Adds the name of a thing, once.
fn add_name(object: &Map<String, Value>, things: &mut Vec<String>) {
    let name = object.get("name").and_then(Value::as_str);
    // Templates escape their JSON as if it were HTML.
    let name = name.map(|name| htmlize::unescape(name).trim().to_owned());
    let is_new = |name: &String| !name.is_empty() && !things.contains(name);
    let has_room = things.len() < MAX_THINGS;
    let name = name.filter(|name| has_room && is_new(name));
    things.extend(name);
}

fn list_types(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let (one, many) = match value {
        Some(Value::String(s)) => (Some(s.as_str()), None),
        Some(Value::Array(items)) => (None, Some(items)),
        _ => (None, None),
    };
    one.into_iter()
        .chain(many.into_iter().flatten().filter_map(Value::as_str))
}

fn is_article(kind: Option<&Value>) -> bool {
    list_types(kind).any(|t| {
        let t = t.rsplit('/').next().unwrap_or(t);
        t.ends_with("Article")
            || t.ends_with("Posting")
            || matches!(
                t,
                "Report"
                    | "Review"
                    | "Question"
                    | "Recipe"
                    | "BlogPost"
                    | "CreativeWork"
                    | "VideoObject"
            )
    })
}

fn is_page(kind: Option<&Value>) -> bool {
    list_types(kind).any(|t| t.ends_with("Page") || t == "Product")
}

/// A thing of which a page tells by labels and values: a film, goods, a place.
fn is_thing(kind: Option<&Value>) -> bool {
    const THINGS: [&str; 18] = [
        "Book",
        "Course",
        "Dataset",
        "Game",
        "Hotel",
        "IndividualProduct",
        "LocalBusiness",
        "MobileApplication",
        "Movie",
        "MusicAlbum",
        "MusicRecording",
        "Place",
        "Product",
        "Restaurant",
        "SoftwareApplication",
        "TVEpisode",
        "TVSeries",
        "VideoGame",
    ];
    list_types(kind).any(|t| {
        let t = t.rsplit('/').next().unwrap_or(t);
        t.ends_with("Event") || THINGS.contains(&t)
    })
}

fn take(object: &Map<String, Value>, article: bool, into: &mut JsonLd) {
    if into.article && !article {
        return;
    }
    if article && !into.article {
        *into = JsonLd {
            article: true,
            types: std::mem::take(&mut into.types),
            things: std::mem::take(&mut into.things),
            ..JsonLd::default()
        };
    }
    let text = |key: &str| {
        object
            .get(key)
            .and_then(Value::as_str)
            .map(str::trim)
            .filter(|s| !s.is_empty())
    };
    let keep = |slot: &mut Option<String>, value: Option<&str>| {
        if slot.is_none() {
            // Templates escape their JSON as if it were HTML.
            *slot = value.map(|v| htmlize::unescape(v).trim().to_owned());
        }
    };
    keep(
        &mut into.headline,
        text("headline")
            .or_else(|| text("name").filter(|_| article || is_thing(object.get("@type")))),
    );
    keep(&mut into.published, text("datePublished"));
    keep(
        &mut into.created,
        text("dateCreated").or_else(|| text("uploadDate")),
    );
    keep(&mut into.modified, text("dateModified"));
    if into.authors.is_empty() {
        list_names(
            object.get("author").or_else(|| object.get("creator")),
            0,
            &mut into.authors,
        );
    }
    if into.publisher.is_none() {
        let mut publisher = Vec::new();
        list_names(object.get("publisher"), 0, &mut publisher);
        into.publisher = publisher.into_iter().next();
    }
}

fn list_names(value: Option<&Value>, depth: u32, into: &mut Vec<String>) {
    match value {
        Some(Value::String(s)) if !s.trim().is_empty() && !s.starts_with("http") => {
            into.push(s.trim().to_owned())
        }
        Some(Value::Array(items)) if depth < 3 => items
            .iter()
            .for_each(|v| list_names(Some(v), depth + 1, into)),
        Some(Value::Object(object)) if depth < 3 => list_names(object.get("name"), depth + 1, into),
        _ => {}
    }
}
