//! Each relative link and image leads to a file of the repository, and each anchor to a heading of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use percent_encoding::percent_decode_str;
use pulldown_cmark::{Event, Tag, TagEnd};

use super::{documents, events, read};
use crate::support::ROOT;

/// Where a document leads, and where one can be led to in it.
#[derive(Debug, Default)]
struct Places {
    links: Vec<String>,
    anchors: BTreeSet<String>,
}

impl Places {
    fn new(markdown: &str) -> Self {
        let mut places = Self::default();
        let mut heading: Option<String> = None;
        let mut seen = BTreeMap::new();
        for event in events(markdown) {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::Text(part) | Event::Code(part) => {
                    if let Some(heading) = &mut heading {
                        *heading += &part;
                    }
                }
                Event::End(TagEnd::Heading(_)) => {
                    let slug = slug(&heading.take().unwrap_or_default());
                    let count: &mut usize = seen.entry(slug.clone()).or_default();
                    places.anchors.insert(match *count {
                        0 => slug,
                        n => format!("{slug}-{n}"),
                    });
                    *count += 1;
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    places.links.push(dest_url.to_string());
                }
                Event::Html(html) | Event::InlineHtml(html) => {
                    let of = |name| values(&html, name).map(str::to_owned);
                    places
                        .links
                        .extend(of("href").chain(of("src")).chain(of("srcset")));
                    places.anchors.extend(of("id").chain(of("name")));
                }
                _ => {}
            }
        }
        places
    }
}

/// The values of an attribute in a piece of HTML.
fn values<'h>(html: &'h str, name: &str) -> impl Iterator<Item = &'h str> {
    let start = format!(" {name}=\"");
    let parts: Vec<&str> = html.split(start.as_str()).skip(1).collect();
    parts.into_iter().filter_map(|rest| rest.split('"').next())
}

/// The anchor that GitHub makes of a heading, without the number of a repetition.
fn slug(heading: &str) -> String {
    let lower = heading.trim().to_lowercase();
    let kept = lower.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    kept.collect()
}

fn has_scheme(link: &str) -> bool {
    link.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '+')
    })
}

/// The path of a link's file from the top of the repository; `None` if it leads out of it.
fn resolve(document: &str, file: &str) -> Option<PathBuf> {
    let mut path = Path::new(document).parent()?.to_owned();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// The links of a document that lead nowhere. `anchors` returns those of another document.
fn broken_links(
    document: &str,
    markdown: &str,
    exists: impl Fn(&Path) -> bool,
    anchors: impl Fn(&Path) -> BTreeSet<String>,
) -> Vec<String> {
    let places = Places::new(markdown);
    let mut broken = Vec::new();
    for link in places.links.iter().filter(|link| !has_scheme(link)) {
        let decoded = percent_decode_str(link).decode_utf8_lossy();
        let (file, anchor) = decoded.split_once('#').unwrap_or((&decoded, ""));
        let target = if file.is_empty() {
            Some(PathBuf::from(document))
        } else {
            resolve(document, file).filter(|path| exists(path))
        };
        let Some(target) = target else {
            broken.push(format!("{document}: {link}: no such file"));
            continue;
        };
        let is_known = if anchor.is_empty() || target.extension().is_none_or(|e| e != "md") {
            true
        } else if file.is_empty() {
            places.anchors.contains(anchor)
        } else {
            anchors(&target).contains(anchor)
        };
        if !is_known {
            broken.push(format!("{document}: {link}: no such heading"));
        }
    }
    broken
}

#[test]
fn links_lead_to_files_and_headings() {
    let root = Path::new(ROOT);
    let mut broken = Vec::new();
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let documents = documents();
    for document in &documents {
        known.insert(document.clone(), Places::new(&read(document)).anchors);
    }
    for document in &documents {
        let exists = |path: &Path| root.join(path).exists();
        let anchors = |path: &Path| {
            let anchors = known.get(&*path.to_string_lossy());
            anchors.cloned().unwrap_or_default()
        };
        broken.extend(broken_links(document, &read(document), exists, anchors));
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn broken_link_is_reported() {
    let sample = "# Two words: `code`, 中文（标题）！\n## Same\n## Same\n## a_b-c 1.2\n<a id=\"by-hand\"></a>\n\n\
        [good](b.md) [good](../x/b.md#head) [good](#two-words-code-中文标题) [good](#same) [good](#same-1) [good](#a_b-c-12)\n\
        [good](#by-hand) [good](https://nowhere.example/#x) [good](mailto:a@b.example) [good](c.txt#L3) [good](%62.md)\n\
        `[no link](in-code.md)` <img src=\"gone.svg\"> [ref]\n\n[ref]: gone-ref.md\n\n\
        [a](gone.md) [b](b.md#gone) [c](#same-2) [d](../../out.md) [e](/abs.md) ![f](gone.png) [g](#Same)\n\n\
        ```text\n[no link](in-block.md)\n```\n";
    let exists = |path: &Path| {
        ["x/b.md", "x/c.txt"]
            .iter()
            .any(|known| path == Path::new(known))
    };
    let anchors = |_: &Path| BTreeSet::from(["head".to_owned()]);
    let broken = broken_links("x/a.md", sample, exists, anchors);
    let expected = [
        "x/a.md: gone.svg: no such file",
        "x/a.md: gone-ref.md: no such file",
        "x/a.md: gone.md: no such file",
        "x/a.md: b.md#gone: no such heading",
        "x/a.md: #same-2: no such heading",
        "x/a.md: ../../out.md: no such file",
        "x/a.md: /abs.md: no such file",
        "x/a.md: gone.png: no such file",
        "x/a.md: #Same: no such heading",
    ];
    assert_eq!(broken, expected);
}
