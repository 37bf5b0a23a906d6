//! Pages that try to cost more than they are long. What is built is counted here: nodes, paths, bytes of memory, text,
//! links; the time is measured by `cargo bench --bench hostile` over the same inputs.

mod inputs;
mod neighbours;
mod servers;
mod web;

use inputs::inputs;
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
    let count = inputs().count();
    assert!(count >= KINDS, "only {count} kinds");
    for input in inputs() {
        let name = &input.name;
        let (small, large) = (input.make(BYTES), input.make(BYTES * 2));
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
    for input in inputs() {
        let bytes = input.make(2 << 10);
        let mut builder = Builder::new(Hints::default());
        for byte in &bytes {
            builder.feed(std::slice::from_ref(byte));
        }
        assert!(builder.finish() == page(&bytes), "{}", input.name);
    }
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
