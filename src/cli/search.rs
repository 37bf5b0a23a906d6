//! `taojin search`: hits in the terminal or as JSON.

use std::process::ExitCode;

use super::filters::Filters;
use super::{Context, Usage, output};
use crate::analyze::Analyzer;
use crate::config::Loaded;
use crate::index::{self, Reader};
use crate::serve::{self, Found, FoundList, SearchAnswer, SearchHit, Wanted};

/// Hits shown when nothing is said.
const DEFAULT_LIMIT: usize = 10;
/// How often `--follow` looks; the index commits twice a second.
const FOLLOW_EVERY: std::time::Duration = std::time::Duration::from_millis(500);
/// Hits printed after one look at most: nobody reads more.
const FOLLOWED_AT_ONCE: usize = 1_000;
/// Hits remembered as printed, 16 bytes each.
const FOLLOWED_KEPT: usize = 1_000_000;

/// Arguments of `search`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Words, "exact phrases", -without, a OR b, title: site: author: source: since: until:
    #[arg(required = true)]
    query: Vec<String>,
    #[command(flatten)]
    filters: Filters,
    /// Order of the hits
    #[arg(long, value_enum, default_value_t = Sort::Relevance)]
    sort: Sort,
    /// Age that halves a score with --sort both (24h, 7d, 6m, 1y)
    #[arg(long, value_name = "PERIOD")]
    half_life: Option<String>,
    /// Every reprint as a hit of its own (always so with --json)
    #[arg(long)]
    reprints: bool,
    /// Number of hits
    #[arg(long, default_value_t = DEFAULT_LIMIT)]
    limit: usize,
    /// Hits to pass over
    #[arg(long, default_value_t = 0)]
    offset: usize,
    /// Wait for new hits and print each as it comes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["limit", "offset", "sort"])]
    follow: bool,
    /// One JSON object, as GET /api/search answers; with --follow one object for each new hit
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Sort {
    /// Best match first
    Relevance,
    /// Newest first
    Date,
    /// Best match first, but a score halves with each half-life of age
    Both,
}

/// Searches the index of the data directory.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let reader = open(&loaded)?;
    let window = loaded.config.serve.window;
    if args.limit == 0 || args.limit.saturating_add(args.offset) > window {
        return Err(Usage(format!(
            "--limit and --offset: hits 1 to {window} can be shown"
        ))
        .into());
    }
    let narrowed = args.filters.wanted(&reader)?;
    let wanted = Wanted {
        text: quoted(&args.query),
        sort: args.sort.into(),
        half_life_ms: args.half_life.as_deref().map(half_life).transpose()?,
        grouped: !args.json && !args.reprints,
        limit: args.limit,
        offset: args.offset,
        ..narrowed
    };
    if args.follow {
        return follow(&reader, wanted, args.json);
    }
    let started = std::time::Instant::now();
    let found = serve::ask(&reader, &wanted)?;
    let took_ms = started.elapsed().as_secs_f64() * 1000.0;
    if args.json {
        output::json(&SearchAnswer::new(found, took_ms, false))?;
    } else {
        for note in &found.notes {
            output::note(&output::printable(&note.to_string()));
        }
        print(&found, took_ms, args.offset);
    }
    Ok(ExitCode::SUCCESS)
}

impl From<Sort> for index::Sort {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Relevance => Self::Relevance,
            Sort::Date => Self::Date,
            Sort::Both => Self::Both,
        }
    }
}

/// Prints what comes until the program is stopped; a document that changes is printed once.
fn follow(reader: &Reader, mut wanted: Wanted, json: bool) -> anyhow::Result<ExitCode> {
    let mut after = reader.watermark()?;
    let mut printed = std::collections::HashSet::new();
    output::note("waiting for new hits - Ctrl-C ends");
    loop {
        std::thread::sleep(FOLLOW_EVERY);
        wanted.now_ms = crate::daemon::now_ms();
        let query = serve::understood(reader, &wanted).query;
        let mut new = Vec::new();
        let reached = reader.scan(&query, true, after, |stored| {
            if printed.insert(stored.fingerprint) {
                new.push(stored);
            }
            new.len() < FOLLOWED_AT_ONCE
        })?;
        let whole = new.len() < FOLLOWED_AT_ONCE;
        after = if whole { reached } else { reader.watermark()? };
        new.sort_by_key(|stored| (stored.seq, stored.fetched_ms));
        for hit in serve::as_hits(reader, &wanted, new) {
            match json {
                true => output::json(&SearchHit::from(hit.found))?,
                false => print_hit(&output::Paint::new(), &hit.found, "*"),
            }
        }
        if printed.len() > FOLLOWED_KEPT {
            printed.clear();
        }
    }
}

fn half_life(text: &str) -> Result<i64, Usage> {
    let wrong = || {
        Usage(format!(
            "--half-life {text}: write a period: 24h, 7d, 6m, 1y"
        ))
    };
    serve::period_ms(text)
        .filter(|&ms| ms > 0)
        .ok_or_else(wrong)
}

/// The index of the data directory, open for searching.
pub(super) fn open(loaded: &Loaded) -> anyhow::Result<Reader> {
    let analyzer = Analyzer::new(&loaded.lexicons()?);
    Ok(Reader::open(
        &loaded.index_dir(),
        &analyzer,
        &loaded.config.index,
    )?)
}

/// Words as the shell gave them; one that held spaces was meant as a phrase only if the caller quoted inside.
fn quoted(words: &[String]) -> String {
    words.join(" ")
}

/// Hits for a person.
pub(super) fn print(found: &FoundList, took_ms: f64, offset: usize) {
    let paint = output::Paint::new();
    output::line(&format!("{} hits in {took_ms:.1} ms", found.total));
    if let Some(other) = &found.did_you_mean {
        output::line(&format!("Did you mean: {other}"));
    }
    for (rank, hit) in found.hits.iter().enumerate() {
        print_hit(&paint, hit, &format!("{}.", offset + rank + 1));
        if hit.duplicates > 0 {
            let word = if hit.duplicates == 1 {
                "reprint"
            } else {
                "reprints"
            };
            let more = format!("and {} {word} (--reprints shows all)", hit.duplicates);
            output::line(&format!("     {}", paint.dim(&more)));
        }
    }
}

fn print_hit(paint: &output::Paint, hit: &Found, mark: &str) {
    let title = paint.marked(&hit.title, output::BOLD);
    let published = hit.published.as_deref();
    let published = published.and_then(|p| p.get(..10)).unwrap_or("");
    let facts = [published, hit.site.as_deref().unwrap_or(""), &hit.url];
    let facts: Vec<&str> = facts.into_iter().filter(|f| !f.is_empty()).collect();
    output::line(&format!("\n{mark:>4} {title}"));
    output::line(&format!("     {}", paint.dim(&facts.join("  "))));
    if !hit.snippet.text.is_empty() {
        output::line(&format!("     {}", paint.marked(&hit.snippet, "")));
    }
}
