//! `taojin search`: hits in the terminal or as JSON.

use std::process::ExitCode;

use super::{Context, Usage, output};
use crate::analyze::Analyzer;
use crate::config::Loaded;
use crate::index::{self, Reader};
use crate::serve::{self, Calendar, FoundList, SearchAnswer, Wanted};

/// Hits shown when nothing is said.
const DEFAULT_LIMIT: usize = 10;

/// Arguments of `search`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Words, "exact phrases", -without, a OR b, title: site: author: source: since: until:
    #[arg(required = true)]
    query: Vec<String>,
    /// Only this site (may be given several times)
    #[arg(long, value_name = "NAME")]
    site: Vec<String>,
    /// Published on or after this day, month or year (2016-05-09, 2016-05, 2016)
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Published on or before this day, month or year
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
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
    /// One JSON object, as GET /api/search answers
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
    let calendar = Calendar {
        utc_offset_minutes: reader.config().utc_offset_minutes,
        now_ms: crate::daemon::now_ms(),
    };
    let (since_ms, until_ms) = calendar
        .range(args.since.as_deref(), args.until.as_deref())
        .map_err(|e| Usage(e.to_string()))?;
    let half_life_ms = args.half_life.as_deref().map(half_life).transpose()?;
    let wanted = Wanted {
        text: quoted(&args.query),
        sites: args.site.clone(),
        since_ms,
        until_ms,
        sort: args.sort.into(),
        half_life_ms,
        now_ms: calendar.now_ms,
        grouped: !args.json && !args.reprints,
        limit: args.limit,
        offset: args.offset,
        ..Wanted::default()
    };
    let started = std::time::Instant::now();
    let found = serve::ask(&reader, &wanted)?;
    let took_ms = started.elapsed().as_secs_f64() * 1000.0;
    if args.json {
        output::json(&SearchAnswer::new(found, took_ms, false))?;
    } else {
        found.notes.iter().for_each(|note| output::note(note));
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
        let title = paint.marked(&hit.title, output::BOLD);
        let published = hit
            .published
            .as_deref()
            .and_then(|p| p.get(..10))
            .unwrap_or("");
        let facts = [published, hit.site.as_deref().unwrap_or(""), &hit.url];
        let facts: Vec<&str> = facts.into_iter().filter(|f| !f.is_empty()).collect();
        output::line(&format!("\n{:>3}. {title}", offset + rank + 1));
        output::line(&format!("     {}", paint.dim(&facts.join("  "))));
        if hit.duplicates > 0 {
            let more = format!("and {} reprints (--reprints shows them)", hit.duplicates);
            output::line(&format!("     {}", paint.dim(&more)));
        }
        if !hit.snippet.text.is_empty() {
            output::line(&format!("     {}", paint.marked(&hit.snippet, "")));
        }
    }
}
