//! `taojin extract --explain`: why a document came out as it did, for a person at a terminal. In: a document and its
//! trace. Out: text. Never changes the outcome.

use std::fmt::Write as _;

use super::output::{self, Paint};
use taojin_extract::{Document, LineTrace, NameTrace, Trace};

/// Most candidates shown of one field.
const CANDIDATES: usize = 6;
/// Most tag paths shown.
const PATHS: usize = 12;
/// Widest text of a line shown, in characters.
const WIDTH: usize = 60;

/// Prints what was decided and by what.
pub(super) fn print(document: &Document, trace: &Trace) {
    let paint = Paint::new();
    whole(document, trace);
    candidates(&paint, trace);
    paths(&paint, trace);
    head(
        &paint,
        "lines: + kept, log-odds of the line alone → with its page, and what weighed most",
    );
    for l in &trace.lines {
        let text = output::printable(&decision(l));
        output::line(&if l.kept { text } else { paint.dim(&text) });
    }
    output::line("");
}

/// The table of tag paths that was counted while the page arrived, and what it proposes.
fn paths(paint: &Paint, trace: &Trace) {
    head(
        paint,
        "tag paths: texts, tokens, a text's tokens (TPR ± σ) and marks (PPR ± σ), extended ratio (ETPR), proposed, kept",
    );
    for p in trace.paths.iter().take(PATHS) {
        line(&format!(
            "{:5} {:6} {:7.1} ±{:6.1} {:5.1} ±{:4.1} {:10.0} {:4.0} % {:4.0} %  {}",
            p.texts,
            p.tokens,
            p.tpr,
            p.deviation_tokens,
            p.ppr,
            p.deviation_marks,
            p.etpr,
            p.proposed * 100.0,
            p.kept * 100.0,
            tail(&p.path)
        ));
    }
    let element = trace.element.as_deref().unwrap_or("none");
    line(&format!(
        "proposed: smoothed ratio above {:.0}, in {element}",
        trace.threshold
    ));
}

fn head(paint: &Paint, text: &str) {
    output::line(&format!("\n{}", paint.bold(text)));
}

fn line(text: &str) {
    output::line(&output::printable(text));
}

/// What the page is, and how its text was found.
fn whole(document: &Document, trace: &Trace) {
    let (kind, confidence) = (document.kind, document.confidence);
    let types = trace.types.iter();
    let types: Vec<String> = types
        .map(|(t, p)| format!("{t} {:.0} %", p * 100.0))
        .collect();
    let container = trace.container.as_deref().unwrap_or("none");
    line(&format!("kind       {kind:?}, confidence {confidence:.2}"));
    line(&format!("page type  {}", types.join(", ")));
    line(&format!("pass       {}", pass(&document.method)));
    line(&format!("container  {container}"));
}

/// What each field was chosen from, the best first.
fn candidates(paint: &Paint, trace: &Trace) {
    head(
        paint,
        "title: similarity to a part of <title>, accepted from 0.60",
    );
    for (at, c) in trace.titles.iter().take(CANDIDATES).enumerate() {
        let (mark, text) = (arrow(at), short(&c.text));
        line(&format!("{mark} {:.2}  {:<10} {text}", c.score, c.origin));
    }
    head(
        paint,
        "published: reliability of the position, the highest wins",
    );
    for (at, c) in trace.dates.iter().take(CANDIDATES).enumerate() {
        let mark = arrow(at);
        line(&format!(
            "{mark} {:.2}  {:<10} {}",
            c.score, c.origin, c.value
        ));
    }
    for (what, names) in [("author", &trace.authors), ("source", &trace.sources)] {
        if !names.is_empty() {
            head(paint, &format!("{what}: the first wins"));
            for (at, NameTrace { text, origin }) in names.iter().take(CANDIDATES).enumerate() {
                line(&format!("{} {origin:<34} {}", arrow(at), short(text)));
            }
        }
    }
}

/// What a method means.
fn pass(method: &str) -> String {
    let meaning = match method {
        "ratio" => "what the path ratios propose, nothing else",
        "model" => "lines judged alone, then with the rest of the page",
        "posts" => "a thread: the posts found by their repeated structure are the text",
        "noscript" => "the page shows next to nothing: text of its noscript element",
        "hidden" => "the page shows next to nothing: text it hides until a script runs",
        "pictures" => "the page shows next to nothing: alternative texts of its pictures",
        "script" => "the page shows next to nothing: text of the data in its scripts",
        "template" => "the models with the template of the site",
        "model+template" => "the models; the template of the site agrees",
        "none" => "no text",
        _ => return method.to_owned(),
    };
    format!("{method}: {meaning}")
}

fn arrow(at: usize) -> &'static str {
    if at == 0 { "→" } else { " " }
}

fn decision(l: &LineTrace) -> String {
    let mut out = format!(
        "{} {:5.1} → {:5.1}  {}",
        if l.kept { '+' } else { '-' },
        l.alone,
        l.together,
        short(&l.text)
    );
    let reasons: Vec<String> = l
        .reasons
        .iter()
        .map(|(name, odds)| format!("{} {odds:+.1}", feature(name)))
        .collect();
    let _ = write!(out, "  [{}] {}", reasons.join(", "), tail(&l.place));
    out
}

/// How a feature is called here. The file of weights names the score of the line model otherwise.
fn feature(name: &str) -> &str {
    match name {
        "first odds" => "line model",
        name => name,
    }
}

/// The beginning of a text.
fn short(text: &str) -> String {
    let mut out: String = text.chars().take(WIDTH).collect();
    if text.chars().nth(WIDTH).is_some() {
        out.push('…');
    }
    out
}

/// The end of a path.
fn tail(path: &str) -> String {
    let count = path.chars().count();
    if count <= WIDTH {
        return path.to_owned();
    }
    let end: String = path.chars().skip(count - WIDTH).collect();
    format!("…{end}")
}
