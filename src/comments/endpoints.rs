//! Where a page loads its comments from by script. In: a [`Page`]. Out: the addresses in its scripts and frames that
//! speak of comments, and the names of comment services. Never fetches them.

use std::sync::LazyLock;

use regex::Regex;

use crate::page::{Attr, NodeId, Page, Tag};

/// Longest script that is read, in bytes; of longer ones the head is.
const MAX_SCRIPT: usize = 200_000;
/// Most addresses reported.
const MAX_FOUND: usize = 8;

static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)["'`](?P<url>(?:https?:)?(?:\\?/){1,2}[^"'`\s<>]{0,200}?(?:comment|pinglun|gentie|/reply|replies|/cmt|liuyan|disqus|changyan|duoshuo|livere|giscus|utteranc|gitalk|valine|waline|twikoo|artalk|isso|commento|remark42|hypercomments|coral)[^"'`\s<>]{0,200})["'`]"#,
    )
    .expect("the pattern is a constant that a test compiles")
});

/// Endings of files that are no comments: the program and the style of the comment box.
const FILES: [&str; 8] = [
    ".css", ".png", ".jpg", ".gif", ".svg", ".woff", ".woff2", ".map",
];

/// The addresses, absolute where the page's own is known, each once, in the order of the page.
pub fn endpoints(page: &Page) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (at, node) in page.nodes().iter().enumerate() {
        let id = at as NodeId;
        match node.tag {
            Tag::SCRIPT => {
                let text = page
                    .children(id)
                    .map(|child| page.text(child))
                    .next()
                    .unwrap_or_default();
                let head = text.get(..MAX_SCRIPT).unwrap_or(text);
                for found in ADDRESS.captures_iter(head).filter_map(|c| c.name("url")) {
                    add(page, found.as_str(), &mut out);
                }
                if let Some(src) = page.attr(id, Attr::Src).filter(|src| is_service(src)) {
                    add(page, src, &mut out);
                }
            }
            Tag::IFRAME => {
                if let Some(src) = page.attr(id, Attr::Src).filter(|src| is_service(src)) {
                    add(page, src, &mut out);
                }
            }
            _ => {}
        }
        if out.len() >= MAX_FOUND {
            break;
        }
    }
    out
}

/// The address of a frame or script that holds comments rather than helps to write them.
fn is_service(src: &str) -> bool {
    let quoted = format!("\"{src}\"");
    ADDRESS.is_match(&quoted)
}

fn add(page: &Page, found: &str, out: &mut Vec<String>) {
    let address = found.replace("\\/", "/");
    let path = address.split(['?', '#']).next().unwrap_or_default();
    if FILES.iter().any(|end| path.ends_with(end)) {
        return;
    }
    let absolute = match &page.url {
        Some(url) => url.join(&address).map(|u| u.as_str().to_owned()).ok(),
        None => Some(address),
    };
    if let Some(absolute) = absolute.filter(|a| !out.contains(a)) {
        out.push(absolute);
    }
}
