//! Speed of the way from bytes to document against the tokenizer alone and against a peer, all in one process:
//!
//! - `floor`: lol_html with empty handlers for elements, end tags and text: what any reader of the stream pays.
//! - `page`: bytes to `Page`.
//! - `document`: bytes to `Document`, all fields.
//! - `dom_smoothie`: a fast readability in Rust, title and text only.
//!
//! `cargo bench --bench page` measures generated pages; with `TAOJIN_CORPUS=DIR` (`DIR/<set>/html/*.html`) the sets of
//! [`SETS`] as well. It counts processor time. At the end the medians are printed as a table with their ratios, and in one line
//! what is slower than `baseline.toml` has it.

#![expect(clippy::print_stdout, reason = "a report for a person")]

#[path = "baseline/mod.rs"]
mod baseline;
#[path = "cpu_time/mod.rs"]
mod cpu_time;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, Throughput};
use lol_html::{HtmlRewriter, Settings, doc_text, element, end_tag};
use taojin_extract::page::{Hints, Page};
use taojin_extract::{Context, extract};

/// Sets of a corpus that are measured: Chinese news, English articles.
const SETS: [&str; 2] = ["zh_gne", "scrapinghub_aeb"];
/// The tokenizer is fed in slices of this size, as the page model feeds it.
const SLICE_BYTES: usize = 64 << 10;
/// 2026-11-20 10:00 in China.
const NOW_MS: i64 = 1_795_140_000_000;

/// Processor time, for criterion.
struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = u64;
    type Value = u64;

    fn start(&self) -> u64 {
        cpu_time::thread_ns()
    }

    fn end(&self, from: u64) -> u64 {
        cpu_time::thread_ns() - from
    }

    fn add(&self, a: &u64, b: &u64) -> u64 {
        a + b
    }

    fn zero(&self) -> u64 {
        0
    }

    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

/// A page and what is known of it.
struct Sample {
    bytes: Vec<u8>,
    /// For the peer, which reads text: its charset is found for it.
    charset: &'static encoding_rs::Encoding,
}

impl Sample {
    fn new(bytes: Vec<u8>) -> Self {
        let page = Page::parse(&bytes, Hints::default());
        let charset = encoding_rs::Encoding::for_label(page.charset.as_bytes());
        Self {
            bytes,
            charset: charset.unwrap_or(encoding_rs::UTF_8),
        }
    }
}

fn floor(sample: &Sample) -> usize {
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
    for slice in sample.bytes.chunks(SLICE_BYTES) {
        if rewriter.write(slice).is_err() {
            return passed;
        }
    }
    let _ = rewriter.end();
    passed
}

fn page(sample: &Sample) -> usize {
    Page::parse(&sample.bytes, Hints::default()).nodes().len()
}

fn document(sample: &Sample) -> usize {
    let context = Context {
        now_ms: Some(NOW_MS),
        ..Context::default()
    };
    extract(&Page::parse(&sample.bytes, Hints::default()), &context)
        .text
        .len()
}

fn dom_smoothie(sample: &Sample) -> usize {
    let (html, _, _) = sample.charset.decode(&sample.bytes);
    dom_smoothie::Readability::new(html.as_ref(), None, None)
        .and_then(|mut readability| readability.parse())
        .map_or(0, |article| article.text_content.len())
}

/// Reads a page and gives a number that depends on it.
type Way = fn(&Sample) -> usize;

const WAYS: [(&str, Way); 4] = [
    ("floor", floor),
    ("page", page),
    ("document", document),
    ("dom_smoothie", dom_smoothie),
];

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

/// Median nanoseconds of a measurement that criterion has written down.
fn median_ns(results: &Path, set: &str, way: &str) -> Option<f64> {
    let file = results.join(set).join(way).join("new/estimates.json");
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    json.get("median")?.get("point_estimate")?.as_f64()
}

fn measure(c: &mut Criterion<CpuTime>, name: &str, samples: &[Sample]) -> usize {
    let bytes: usize = samples.iter().map(|sample| sample.bytes.len()).sum();
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Bytes(bytes as u64));
    group.sample_size(20);
    group.warm_up_time(Duration::from_secs(1));
    for (way, run) in WAYS {
        group.bench_function(way, |b| {
            b.iter(|| {
                samples
                    .iter()
                    .map(|page| run(black_box(page)))
                    .sum::<usize>()
            });
        });
    }
    group.finish();
    bytes
}

fn samples_of(folder: &Path) -> Vec<Sample> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
        .iter()
        .flat_map(std::fs::read)
        .map(Sample::new)
        .collect()
}

/// Speeds in MB/s and as a share of the floor's.
fn table(results: &Path, sets: &[(String, usize)]) {
    println!(
        "{:16} {:>8} {:>14} {:>18} {:>18}",
        "MB/s", "floor", "page", "document", "dom_smoothie"
    );
    let mut ratios = Vec::new();
    for (set, bytes) in sets {
        let speed = |way: &str| {
            median_ns(results, set, way).map_or(f64::NAN, |ns| *bytes as f64 * 1e3 / ns)
        };
        let [floor, page, document, peer] = WAYS.map(|(way, _)| speed(way));
        println!(
            "{set:16} {floor:8.1} {page:8.1} {:4.0}% {document:8.1} {:4.0}% {:3.1}x {peer:8.1} {:4.0}%",
            page / floor * 100.0,
            document / floor * 100.0,
            document / peer,
            peer / floor * 100.0
        );
        ratios.push((set.clone(), document / floor));
    }
    // What was not measured is not compared.
    ratios.retain(|(_, ratio)| ratio.is_finite());
    println!("{}", baseline::compare("page", &ratios));
}

fn main() {
    let results = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let results = results.join("taojin-bench");
    let mut c = Criterion::default()
        .with_measurement(CpuTime)
        .output_directory(&results)
        .configure_from_args();
    let generated: Vec<Sample> = (1..=20)
        .map(|i| Sample::new(news_page(i * 10).into_bytes()))
        .collect();
    let mut sets = vec![(
        "generated".to_owned(),
        measure(&mut c, "generated", &generated),
    )];
    if let Some(corpus) = std::env::var_os("TAOJIN_CORPUS") {
        for set in SETS {
            let samples = samples_of(&Path::new(&corpus).join(set).join("html"));
            if !samples.is_empty() {
                sets.push((set.to_owned(), measure(&mut c, set, &samples)));
            }
        }
    }
    c.final_summary();
    table(&results, &sets);
}
