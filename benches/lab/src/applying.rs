//! What a template costs: finding and applying it, beside making the document of the page without one; and learning from a
//! thousand pages. Pages are real ones; for a thousand, copies whose paragraphs say something else each.

use std::fs;
use std::path::Path;

use taojin_extract::page::{Hints, Page};
use taojin_extract::template::{self, Guide, Keys, Library, Observation};
use taojin_extract::{self as extract, Context};

use crate::cpu_time;

/// Rounds over all pages; of each page the best counts.
const ROUNDS: usize = 5;
/// Pages learned from.
const MANY: usize = 1_000;

/// Prints shares of the time from bytes to document, and the seconds of learning.
pub(crate) fn applying(dir: &Path) {
    println!("\ntemplates, processor time");
    for set in ["bbc_news", "zh_163_gbk"] {
        let pages = read(&dir.join(set).join("html"));
        if !pages.is_empty() {
            costs_of(set, &pages);
        }
    }
}

fn read(dir: &Path) -> Vec<Vec<u8>> {
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<_> = files.map(|entry| entry.path()).collect();
    files.sort();
    files
        .iter()
        .filter_map(|file| fs::read(file).ok())
        .collect()
}

fn observe(html: &[u8]) -> Observation {
    let page = Page::parse(html, Hints::default());
    let keys = Keys::new(&page);
    let (_, lines) = extract::observe(
        &page,
        &keys,
        &Context::default(),
        &extract::Config::default(),
    );
    Observation::new(&page, &keys, lines)
}

fn costs_of(set: &str, pages: &[Vec<u8>]) {
    let from = cpu_time::thread_ns();
    let seen: Vec<Observation> = (0..MANY)
        .map(|n| observe(&varied(&pages[n % pages.len()], n)))
        .collect();
    let observed = cpu_time::thread_ns();
    let learned = template::learn(&seen, &template::Config::default());
    let done = cpu_time::thread_ns();
    println!(
        "{set:12} learning from {MANY} pages: {:.2} s after {:.2} s of reading them; {} templates",
        (done - observed) as f64 / 1e9,
        (observed - from) as f64 / 1e9,
        learned.templates.len()
    );
    drop(seen);
    let templates = learned.templates.into_iter().map(std::sync::Arc::new);
    let library = Library::new((1..).zip(templates).collect(), 0.5);
    let (mut alone, mut finding, mut guided) = (0, 0, 0);
    for html in pages {
        let best = (0..ROUNDS)
            .map(|_| once(html, &library))
            .fold([u64::MAX; 3], |best, now| {
                std::array::from_fn(|at| best[at].min(now[at]))
            });
        alone += best[0];
        finding += best[1];
        guided += best[2];
    }
    let share = |ns: u64| 100.0 * ns as f64 / alone as f64;
    println!(
        "{set:12} bytes to document {:.2} ms a page; keys and nearest template {:.1} %, all that a template adds {:+.1} %",
        alone as f64 / 1e6 / pages.len() as f64,
        share(finding),
        share(guided) - 100.0
    );
}

/// Nanoseconds from bytes to document without a template, of keys and nearest template, and of all with one.
fn once(html: &[u8], library: &Library) -> [u64; 3] {
    let (context, config) = (Context::default(), extract::Config::default());
    let from = cpu_time::thread_ns();
    let page = Page::parse(html, Hints::default());
    let parsed = cpu_time::thread_ns();
    // Once unseen, so that neither of the two below finds the caches colder than the other.
    let first = extract::extract_guided(&page, &context, &config, None);
    let warm = cpu_time::thread_ns();
    let document = extract::extract_guided(&page, &context, &config, None);
    let alone = cpu_time::thread_ns();
    let keys = Keys::new(&page);
    let found = library.assign(keys.set());
    let assigned = cpu_time::thread_ns();
    let guide = found
        .as_ref()
        .map(|a| Guide::new(&a.template, &keys, &page));
    let with = extract::extract_guided(&page, &context, &config, guide.as_ref());
    let done = cpu_time::thread_ns();
    assert_eq!(first.text, document.text);
    assert!(document.text.is_empty() || !with.text.is_empty());
    let parsing = parsed - from;
    [
        parsing + alone - warm,
        assigned - alone,
        parsing + done - alone,
    ]
}

/// The page with a word of its own in each paragraph, and here and there an element that other copies do not have.
fn varied(html: &[u8], n: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(html.len() + html.len() / 16);
    let mut at = 0;
    while let Some(found) = html
        .get(at..)
        .and_then(|rest| rest.windows(4).position(|w| w == b"</p>"))
    {
        out.extend_from_slice(&html[at..at + found]);
        let letter = |k: usize| b'a' + (k % 26) as u8;
        out.extend_from_slice(&[
            b' ',
            letter(n),
            letter(n / 26),
            letter(n / 676),
            letter(at),
            b' ',
        ]);
        out.extend_from_slice(b"</p>");
        if (n * 31 + at).is_multiple_of(7) {
            let name = [b'n', b'o', b't', letter((n * 17 + at) % 9), letter(at % 5)];
            out.extend_from_slice(b"<aside class=");
            out.extend_from_slice(&name);
            out.extend_from_slice(b"><p>note</p></aside>");
        }
        at += found + 4;
    }
    out.extend_from_slice(&html[at..]);
    out
}
