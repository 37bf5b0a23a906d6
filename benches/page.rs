//! Speed of the page model as a ratio to its floor: lol_html with empty handlers over the same bytes.
//!
//! `cargo bench --bench page` measures generated pages; `TAOJIN_PAGES=folder cargo bench --bench page` measures the
//! files of that folder as well. Compare the lines of one run only: they were measured in turn in one process.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput};
use lol_html::{HtmlRewriter, Settings, doc_text, element, end_tag};
use taojin::page::{Hints, Page};

/// The tokenizer is fed in slices of this size, as the page model feeds it.
const SLICE_BYTES: usize = 64 << 10;

/// lol_html with an empty element, end tag and text handler: what any reader of the stream has to pay.
fn floor(bytes: &[u8]) -> usize {
    let mut passed = 0;
    let settings = Settings::new()
        .with_strict(false)
        .append_element_content_handler(element!("*", |el| {
            if el.can_have_content() {
                el.on_end_tag(end_tag!(|_| Ok(())))?;
            }
            Ok(())
        }))
        .append_document_content_handler(doc_text!(|_| Ok(())));
    let mut rewriter = HtmlRewriter::new(settings, |chunk: &[u8]| passed += chunk.len());
    for slice in bytes.chunks(SLICE_BYTES) {
        if rewriter.write(slice).is_err() {
            return passed;
        }
    }
    let _ = rewriter.end();
    passed
}

/// lol_html with nothing but a text handler.
fn text_only(bytes: &[u8]) -> usize {
    let mut passed = 0;
    let settings = Settings::new()
        .with_strict(false)
        .append_document_content_handler(doc_text!(|_| Ok(())));
    let mut rewriter = HtmlRewriter::new(settings, |chunk: &[u8]| passed += chunk.len());
    for slice in bytes.chunks(SLICE_BYTES) {
        if rewriter.write(slice).is_err() {
            return passed;
        }
    }
    let _ = rewriter.end();
    passed
}

fn page(bytes: &[u8]) -> usize {
    Page::parse(bytes, Hints::default()).nodes().len()
}

/// A news page with menus, a body of `paragraphs` and lists beside it; about 60 bytes a node, as real pages have.
fn news_page(paragraphs: usize) -> String {
    let mut html = String::from(
        "<!doctype html><html><head><meta charset=\"utf-8\"><title>油田新闻 - 示例网</title>\
         <script>var a = {\"b\": [1, 2, 3]}; if (a.b < 4) { document.title = '<p>'; }</script>\
         <style>.a { color: red } .b > p { margin: 0 }</style></head>\n<body>\n",
    );
    for i in 0..paragraphs {
        html.push_str(&format!(
            "  <ul class=\"nav nav-{i}\">\n    <li><a href=\"/news/2019/{i}.shtml\" target=\"_blank\">要闻 {i}</a></li>\n\
             \x20   <li class=\"last\"><a href=\"/pic/{i}.html\" title=\"图片新闻\"><img src=\"/i/{i}.jpg\" width=\"120\" alt=\"\"></a></li>\n  </ul>\n\
             \x20 <p style=\"text-indent:2em\">今年以来，油田坚持效益优先，产量稳步增长&nbsp;{i}&nbsp;万吨，<strong>安全生产</strong>形势平稳，\
             各项指标好于去年同期。<a href=\"http://example.com/{i}\">更多</a></p>\n  <!-- end of part {i} -->\n",
        ));
    }
    html.push_str("</body></html>\n");
    html
}

/// Reads a page and gives a number that depends on it.
type Way = fn(&[u8]) -> usize;

fn measure(c: &mut Criterion, name: &str, pages: &[Vec<u8>]) {
    let bytes: usize = pages.iter().map(Vec::len).sum();
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Bytes(bytes as u64));
    group.sample_size(20);
    let ways: [(&str, Way); 3] = [("floor", floor), ("text", text_only), ("page", page)];
    for (way, run) in ways {
        group.bench_function(way, |b| {
            b.iter(|| pages.iter().map(|page| run(black_box(page))).sum::<usize>());
        });
    }
    group.finish();
}

fn folder(path: &Path) -> Vec<Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(path) else {
        return Vec::new();
    };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.iter().flat_map(std::fs::read).collect()
}

fn main() {
    let mut c = Criterion::default().configure_from_args();
    let generated: Vec<Vec<u8>> = (1..=20).map(|i| news_page(i * 10).into_bytes()).collect();
    measure(&mut c, "generated", &generated);
    if let Some(path) = std::env::var_os("TAOJIN_PAGES") {
        let pages = folder(Path::new(&path));
        if !pages.is_empty() {
            measure(&mut c, "folder", &pages);
        }
    }
    c.final_summary();
}
