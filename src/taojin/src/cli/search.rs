//! `taojin search`: hits in the terminal or as JSON. Other commands that ask the index share its [`Filters`].

use std::convert::Infallible;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Instant;

use askama::Template;
use clap::Command;

use super::context::{Context, UsageError, bail_usage, words};
use super::output::{self, Paint};
use crate::config::LoadedConfig;
use crate::documents::open_index;
use crate::serve::{self, Calendar, DocumentHit, Relaxation, SearchRequest, SearchResults};
use taojin_search::analyze::Expanded;
use taojin_search::index::{FORMAT, Match, Query, Reader, Reason, SiteTitles, Sort};

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
    /// Words, "exact phrases", -without, a OR b, title: site: author: source: since: until: changed:
    ///
    /// `taojin search --syntax` prints the language with examples.
    #[arg(required_unless_present = "syntax", value_parser = word)]
    query: Vec<String>,
    /// Print the query language and exit
    #[arg(long)]
    syntax: bool,
    /// How many of the words a document must have [default: all of up to three, most of more]
    ///
    /// `most` weighs each word by how rare it is; `any` is one of them. A word of the query language (phrases, -without,
    /// title:) always holds.
    #[arg(long = "match", value_name = "HOW", value_parser = words::<Match>(["all", "most", "any"]))]
    matching: Option<Match>,
    /// Explain the rank of each hit
    ///
    /// What each word, the age and the title add to its score, one sentence each.
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    filters: Filters,
    /// Order of the hits
    ///
    /// `relevance`: best match first; `date`: newest first; `both`: a score halves with each half-life of age.
    #[arg(long, default_value = "relevance", value_parser = words::<Sort>(["relevance", "date", "both"]))]
    sort: Sort,
    /// Age that halves a score with --sort both (24h, 7d, 6m, 1y)
    ///
    /// The default is `index.half_life_days`.
    #[arg(long, value_name = "PERIOD")]
    half_life: Option<String>,
    /// Show every reprint as a hit of its own
    ///
    /// Without it, the best hit of a group of reprints stands for all. With --json it is always so.
    #[arg(long)]
    reprints: bool,
    /// Only the words as typed, without their synonyms
    ///
    /// Quoted phrases and excluded words never have any.
    #[arg(long)]
    no_synonyms: bool,
    /// Never search for a corrected query instead
    ///
    /// Otherwise a query that finds nothing is replaced by a correction that finds something, and a note says so. Phrases
    /// and excluded words are never replaced.
    #[arg(long)]
    as_typed: bool,
    /// Number of hits
    ///
    /// Together with --offset at most `serve.window`.
    #[arg(long, default_value_t = DEFAULT_LIMIT)]
    limit: usize,
    /// Skip this many hits
    ///
    /// For the next page: `--offset 10` after the first ten.
    #[arg(long, default_value_t = 0)]
    offset: usize,
    /// Wait for new hits and print each as it comes, until Ctrl-C
    ///
    /// Documents that are new or changed from now on, each once.
    #[arg(long, conflicts_with_all = ["limit", "offset", "sort"])]
    follow: bool,
    /// One JSON object, as GET /api/search answers
    ///
    /// With --follow one object for each new hit, one a line.
    #[arg(long)]
    json: bool,
}

/// Searches the index of the data directory.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    if args.syntax {
        output::line(serve::syntax_in(&output::language()).trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    let loaded = context.load()?;
    let reader = open(&loaded)?;
    if let Some(format) = reader.outdated_format() {
        output::note(&format!(
            "the search index has format {format}, this taojin writes format {FORMAT}; some spellings are not found until: taojin reindex"
        ));
    }
    let window = loaded.config.serve.window;
    if args.limit == 0 || args.limit.saturating_add(args.offset) > window {
        bail_usage!("--limit and --offset: hits 1 to {window} can be shown");
    }
    let narrowed = args.filters.search_request(&reader)?;
    let wanted = SearchRequest {
        text: quoted(&args.query),
        sort: args.sort,
        matching: args.matching.unwrap_or_default(),
        explain: args.explain,
        half_life_ms: args.half_life.as_deref().map(half_life).transpose()?,
        grouped: !args.json && !args.reprints,
        as_typed: args.no_synonyms,
        corrected: !args.as_typed,
        limit: args.limit,
        offset: args.offset,
        ..narrowed
    };
    if args.follow {
        return follow(&reader, wanted, args.json);
    }
    if args.json {
        let started = Instant::now();
        let mut found = ask(&reader, &wanted)?;
        found.took_ms = elapsed_ms(started);
        output::json(&found)?;
    } else {
        show(&reader, &wanted, window)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn elapsed_ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// All hits asked for, however many: one look at the index gives [`Query::MAX_LIMIT`].
fn ask(reader: &Reader, wanted: &SearchRequest) -> anyhow::Result<SearchResults> {
    let mut all = serve::search_corrected(reader, wanted)?;
    let full = |hits: usize| hits > 0 && hits.is_multiple_of(Query::MAX_LIMIT);
    while all.hits.len() < wanted.limit && full(all.hits.len()) {
        let next = SearchRequest {
            offset: wanted.offset + all.hits.len(),
            limit: wanted.limit - all.hits.len(),
            ..wanted.clone()
        };
        let more = serve::search_corrected(reader, &next)?;
        all.weaker = more.weaker;
        if more.hits.is_empty() {
            break;
        }
        all.hits.extend(more.hits);
    }
    Ok(all)
}

/// Searches and prints the hits for a person. `window` is how deep hits can be asked for.
pub(super) fn show(reader: &Reader, wanted: &SearchRequest, window: usize) -> anyhow::Result<()> {
    let started = Instant::now();
    // One hit more than is shown tells whether there are more: reprints are one hit, so the total does not.
    let limit = (wanted.limit + 1).min(window.saturating_sub(wanted.offset));
    let further = SearchRequest {
        limit,
        ..wanted.clone()
    };
    let mut found = ask(reader, &further)?;
    let took_ms = elapsed_ms(started);
    let is_more = found.hits.len() > wanted.limit;
    found.hits.truncate(wanted.limit);
    if let Some(weaker) = &mut found.weaker {
        weaker.hits.truncate(wanted.limit - found.hits.len());
    }
    for note in &found.notes {
        output::note(&output::printable(&serve::note_in(output::locale(), note)));
    }
    if let Some(text) = &found.searched_instead {
        let typed = &wanted.text;
        output::note(&output::printable(&output::pick(
            format!("nothing has \"{typed}\"; searched for {text} instead (--as-typed does not)"),
            format!("没有找到“{typed}”，以下是“{text}”的结果（加 --as-typed 不作更正）"),
        )));
    }
    for Expanded { typed, also } in &found.synonyms {
        let text = output::pick(
            format!(
                "{typed}: also searched for {} (--no-synonyms does not)",
                also.join(", ")
            ),
            format!(
                "{typed}：同时搜索了 {}（加 --no-synonyms 只搜原词）",
                also.join("、")
            ),
        );
        output::note(&output::printable(&text));
    }
    let text = HitsText {
        shown: found.hits.len() as u64,
        found: &found,
        took_ms: took_ms.ceil(),
        offset: wanted.offset as u64,
        next: is_more.then_some(wanted.offset + wanted.limit),
        c: Paint::new(),
    };
    if output::is_chinese() {
        output::text(&ChineseHitsText {
            found: &found,
            c: &text.c,
            t: &text,
        })
    } else {
        output::text(&text)
    }
}

/// Prints what comes until the program is stopped; a document that changes is printed once.
fn follow(reader: &Reader, mut wanted: SearchRequest, json: bool) -> anyhow::Result<ExitCode> {
    let mut after = reader.watermark()?;
    let mut printed = std::collections::HashSet::new();
    output::note(output::pick(
        "waiting for new hits - Ctrl-C ends",
        "等待新的结果，按 Ctrl-C 结束",
    ));
    loop {
        std::thread::sleep(FOLLOW_EVERY);
        wanted.now_ms = crate::daemon::now_ms();
        let query = serve::parse_request(reader, &wanted).query;
        let mut new = Vec::new();
        let reached = reader.scan(&query, after, |stored| {
            if printed.insert(stored.fingerprint) {
                new.push(stored);
            }
            new.len() < FOLLOWED_AT_ONCE
        })?;
        let whole = new.len() < FOLLOWED_AT_ONCE;
        after = if whole { reached } else { reader.watermark()? };
        new.sort_by_key(|stored| (stored.seq, stored.fetched_ms));
        for hit in serve::to_hits(reader, &wanted, new) {
            if json {
                output::json(&hit.found)?
            } else {
                output::line(&format!("\n{}", HitText::new(&hit.found)))
            }
        }
        if printed.len() > FOLLOWED_KEPT {
            printed.clear();
        }
    }
}

fn half_life(text: &str) -> Result<i64, UsageError> {
    let wrong = || {
        UsageError(format!(
            "--half-life {text}: write a period: 24h, 7d, 6m, 1y"
        ))
    };
    serve::period_ms(text)
        .filter(|&ms| ms > 0)
        .ok_or_else(wrong)
}

/// The index of the data directory, open for searching.
pub(super) fn open(loaded: &LoadedConfig) -> anyhow::Result<Reader> {
    let analyzer = loaded.analyzer()?;
    let reader = open_index(loaded, &analyzer)?;
    let titles = crate::daemon::titles_of(&loaded.sites);
    Ok(reader.with_titles(SiteTitles::new(move || titles.clone())))
}

/// Words as the shell gave them; one that held spaces was meant as a phrase only if the caller quoted inside.
fn quoted(words: &[String]) -> String {
    words.join(" ")
}

/// Hits for a person.
#[derive(Template)]
#[template(path = "hits.txt")]
struct HitsText<'a> {
    found: &'a SearchResults,
    shown: u64,
    took_ms: f64,
    offset: u64,
    /// What `--offset` shows the next, if there are more.
    next: Option<usize>,
    c: Paint,
}

/// The same in Chinese.
#[derive(Template)]
#[template(path = "hits.zh.txt")]
struct ChineseHitsText<'a> {
    t: &'a HitsText<'a>,
    found: &'a SearchResults,
    c: &'a Paint,
}

impl HitsText<'_> {
    /// Number of the hit at this place, counted from 1.
    fn mark(&self, at: usize) -> String {
        format!("{}.", self.offset + at as u64)
    }
}

/// One hit of `--follow`.
#[derive(Template)]
#[template(path = "hit.txt")]
struct HitText<'a> {
    hit: &'a DocumentHit,
    mark: &'static str,
    c: Paint,
}

impl<'a> HitText<'a> {
    fn new(hit: &'a DocumentHit) -> Self {
        Self {
            hit,
            mark: "*",
            c: Paint::new(),
        }
    }
}

/// Why a hit stands where it does, in the language of the terminal.
fn reason(why: &Reason) -> String {
    serve::reason_in(output::locale(), why)
}

/// What is known of a hit, in one line.
fn facts(hit: &DocumentHit) -> String {
    let day = hit.published.as_deref().and_then(|p| p.get(..10));
    let site = hit.site_title.as_ref().or(hit.site.as_ref());
    // Many pages name their own site as the source.
    let source = hit.source.as_ref().filter(|source| Some(*source) != site);
    let names = [site, source, hit.author.as_ref()];
    let names = names.into_iter().flatten().map(|name| name.trim());
    let format = hit.file.as_ref().map(|file| file.format.as_str());
    let all = day
        .into_iter()
        .chain(format)
        .chain(names)
        .chain([hit.url.as_str()]);
    all.filter(|fact| !fact.is_empty())
        .collect::<Vec<_>>()
        .join("  ")
}

/// Options that leave documents out.
#[derive(Debug, clap::Args)]
pub(super) struct Filters {
    /// Only this site (may be given several times)
    ///
    /// The name of a site as in `taojin site list`, not its host.
    #[arg(long, value_name = "NAME")]
    pub(super) site: Vec<String>,
    /// Published on or after this day, month or year (2016-05-09, 2016-05, 2016)
    ///
    /// Days begin as `index.utc_offset_minutes` says. Documents without a date are left out.
    #[arg(long, value_name = "DATE")]
    pub(super) since: Option<String>,
    /// Published on or before this day, month or year
    ///
    /// The day, month or year itself is included. Documents without a date are left out.
    #[arg(long, value_name = "DATE")]
    pub(super) until: Option<String>,
    /// Found or changed at this time
    ///
    /// A day, month or year, a range (2016-05-09..2016-05-12), or a period before now (24h, 7d, 6m, 1y). Unlike --since and
    /// --until it does not go by the date of publication.
    #[arg(long, value_name = "TIME")]
    pub(super) changed: Option<String>,
}

impl Filters {
    /// All documents that are left, with days as the index counts them and periods before now.
    pub(super) fn search_request(&self, reader: &Reader) -> Result<SearchRequest, UsageError> {
        let calendar = Calendar {
            utc_offset_minutes: reader.config().utc_offset_minutes,
            now_ms: crate::daemon::now_ms(),
        };
        let (since_ms, until_ms) = calendar
            .range(self.since.as_deref(), self.until.as_deref())
            .map_err(UsageError::new)?;
        let changed = self.changed.as_deref().map(|text| calendar.span(text));
        let changed = changed.transpose().map_err(UsageError::new)?;
        Ok(SearchRequest {
            changed_ms: changed.unwrap_or_default(),
            sites: self.site.clone(),
            since_ms,
            until_ms,
            now_ms: calendar.now_ms,
            ..SearchRequest::default()
        })
    }
}

/// Put before a word of a query that begins with a hyphen (`-招聘` refuses a word), so that clap does not take it for an option; no keyboard types it.
const MARK: char = '\u{F8FF}';
/// The command whose words they are.
const SEARCH: &str = "search";

/// The arguments of `program` with refused words marked, if they are those of a search.
pub(super) fn mark_words(program: &Command, mut args: Vec<OsString>) -> Vec<OsString> {
    let Some(at) = subcommand(program, &args) else {
        return args;
    };
    let search = program.find_subcommand(SEARCH);
    let commands = [Some(program), search];
    let is_short = |c: char| {
        let mut options = commands.iter().flatten().flat_map(|c| c.get_arguments());
        c == 'h' || options.any(|option| option.get_short() == Some(c))
    };
    for arg in args.iter_mut().skip(at + 1) {
        let Some(text) = arg.to_str() else {
            continue;
        };
        if text == "--" {
            break;
        }
        let refused = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        if refused.is_some_and(|word| !word.is_empty() && !word.chars().all(is_short)) {
            *arg = format!("{MARK}{text}").into();
        }
    }
    args
}

/// Where the sub-command stands, if it is the search.
fn subcommand(program: &Command, args: &[OsString]) -> Option<usize> {
    let mut rest = args.iter().enumerate().skip(1);
    while let Some((at, arg)) = rest.next() {
        let text = arg.to_str()?;
        let Some(option) = text.strip_prefix("--") else {
            if text.starts_with('-') {
                continue;
            }
            return (text == SEARCH).then_some(at);
        };
        let takes_value =
            |o: &clap::Arg| o.get_long() == Some(option) && o.get_action().takes_values();
        if program.get_arguments().any(takes_value) {
            rest.next();
        }
    }
    None
}

/// A word of a query as it was typed.
pub(super) fn word(text: &str) -> Result<String, Infallible> {
    Ok(text.strip_prefix(MARK).unwrap_or(text).to_owned())
}
