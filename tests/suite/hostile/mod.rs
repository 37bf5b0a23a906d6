//! Pages that try to cost more than they are long. What is built is counted here: nodes, paths, bytes of memory, text,
//! links; the time is measured by `cargo bench --bench hostile` over the same inputs.

mod inputs;
mod servers;
mod web;

use inputs::INPUTS;
use taojin_extract::page::{Builder, Config, Hints, Page, Tag};
use taojin_extract::{Context, Document, MAX_OUTLINKS, extract};

/// 2026-11-20 10:00 in China.
const NOW_MS: i64 = 1_795_140_000_000;
/// Small enough for a test build, large enough that a square would show.
const BYTES: usize = 16 << 10;
/// Fewest kinds.
const KINDS: usize = 80;
/// Memory of a page for each byte of it, at most: a node takes 28 bytes and the shortest tag is three bytes long. Formatting
/// that goes on in each block is told again there.
const MEMORY_PER_BYTE: usize = 40;
/// What doubling may add to counts that start small.
const SLACK: usize = 64;

fn page(bytes: &[u8]) -> Page {
    Page::parse(bytes, Hints::default())
}

fn document(page: &Page) -> Document {
    let context = Context {
        now_ms: Some(NOW_MS),
        ..Context::default()
    };
    extract(page, &context)
}

/// What was built of a page.
#[derive(Debug)]
struct Counts {
    nodes: usize,
    paths: usize,
    memory_bytes: usize,
    text_bytes: usize,
}

impl Counts {
    fn of(page: &Page, document: &Document) -> Self {
        Self {
            nodes: page.nodes().len(),
            paths: page.paths().len(),
            memory_bytes: page.memory_bytes(),
            text_bytes: document.text.len(),
        }
    }

    /// Whether this is at most about twice the other.
    fn is_double(&self, of: &Counts) -> bool {
        let fits = |large: usize, small: usize| large <= small * 23 / 10 + SLACK;
        fits(self.nodes, of.nodes)
            && fits(self.paths, of.paths)
            && fits(self.memory_bytes, of.memory_bytes + 4096)
    }
}

#[test]
fn page_size_grows_linearly() {
    assert!(INPUTS.len() >= KINDS, "only {} kinds", INPUTS.len());
    for (name, make) in INPUTS {
        let (small, large) = (make(BYTES), make(BYTES * 2));
        assert!(large.len() > small.len(), "{name} does not grow");
        let counts = |bytes: &[u8]| {
            let page = page(bytes);
            let document = document(&page);
            assert!(document.links.len() <= MAX_OUTLINKS, "{name}");
            Counts::of(&page, &document)
        };
        let (first, second) = (counts(&small), counts(&large));
        assert!(
            second.is_double(&first),
            "{name}: {first:?} then {second:?}"
        );
        assert!(
            second.memory_bytes <= large.len() * MEMORY_PER_BYTE,
            "{name}: {} bytes of {}",
            second.memory_bytes,
            large.len()
        );
        assert!(
            second.text_bytes <= large.len() * 3,
            "{name}: {} bytes of text",
            second.text_bytes
        );
    }
}

#[test]
fn hostile_page_in_single_bytes() {
    for (name, make) in INPUTS {
        let bytes = make(2 << 10);
        let mut builder = Builder::new(Hints::default());
        for byte in &bytes {
            builder.feed(std::slice::from_ref(byte));
        }
        assert!(builder.finish() == page(&bytes), "{name}");
    }
}

#[test]
fn open_divs_end_at_limits() {
    let page = page("<div>".repeat(1_000_000).as_bytes());
    let limits = Config::default();
    assert!(page.truncated.is_some());
    assert!(page.nodes().len() <= limits.max_nodes);
    let deepest = page
        .nodes()
        .iter()
        .map(|node| usize::from(node.depth))
        .max();
    assert!(deepest.is_some_and(|depth| depth <= limits.max_depth));
    assert_eq!(document(&page).text, "");
}

#[test]
fn huge_text_is_cut() {
    let limits = Config::default();
    let text = "油田今年产量稳步增长。".repeat(50_000);
    let mut builder = Builder::new(Hints::default());
    builder.feed(b"<title>t</title><p>");
    for _ in 0..(50 << 20) / text.len() {
        builder.feed(text.as_bytes());
    }
    let page = builder.finish();
    assert_eq!(page.truncated, Some("bytes"));
    assert!(page.memory_bytes() <= limits.max_decoded_bytes + 4096);
    assert!(page.nodes().len() < 10);
}

#[test]
fn unclosed_tags_end() {
    for tag in [
        "b",
        "a href=x",
        "p",
        "li",
        "td",
        "font color=red",
        "x-y",
        "svg",
        "select",
        "template",
        "h1",
        "button",
    ] {
        let html = format!("<title>t</title>{}", format!("<{tag}>石油").repeat(100_000));
        let page = page(html.as_bytes());
        assert!(page.nodes().len() <= Config::default().max_nodes, "{tag}");
        let texts = page.nodes().iter().filter(|n| n.tag == Tag::TEXT).count();
        assert!(texts > 1, "{tag}");
    }
}

#[test]
fn huge_attribute_is_cut() {
    let html = format!("<p>a<img alt='{}' src=x>b", "油".repeat(350_000));
    let page = page(html.as_bytes());
    assert!(page.memory_bytes() < 3 * Config::default().max_attribute_bytes);
    assert_eq!(page.inline_text(0), "ab");
}

#[test]
fn empty_and_binary_pages() {
    for bytes in [
        &b""[..],
        b"\0",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"<",
        b"&",
        b"\x1f\x8b\x08\0\0",
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3",
    ] {
        let page = page(bytes);
        let document = document(&page);
        assert_eq!(document.title, None, "{bytes:?}");
        assert!(
            document.published.is_none() && document.links.is_empty(),
            "{bytes:?}"
        );
    }
}
