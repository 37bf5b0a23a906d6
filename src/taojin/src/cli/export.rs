//! `taojin export`: documents, or those that fit a query, as a file for other programs.

use std::collections::HashSet;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context as _;

use super::context::{Context, Usage};
use super::export_deleted::Deletions;
use super::filters::Filters;
use super::output;
use crate::export::{Draft, Format, Mark, Sink};
use crate::serve::{self, Wanted};
use taojin_search::index::{Reader, Watermark};

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only documents that `taojin search` would find with this query
    #[arg(long, value_name = "QUERY", default_value = "")]
    query: String,
    #[command(flatten)]
    filters: Filters,
    /// Form of the file
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// File to write, whole or not at all [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only documents that came or changed since the last export with this file, which is then brought up to date
    #[arg(long, value_name = "FILE")]
    since_watermark: Option<PathBuf>,
    /// File for the documents that are gone since then, or do not fit any more: one JSON object a line
    #[arg(long, value_name = "FILE", requires = "since_watermark")]
    deleted: Option<PathBuf>,
}

/// Exports from the index of the data directory, beside a running daemon or without one.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let reader = super::search::open(&loaded)?;
    let to_terminal = args.output.is_none() && io::stdout().is_terminal();
    if to_terminal && args.format != Format::Jsonl {
        let mend = "write it to a file with --output FILE";
        return Err(Usage(format!("this format is not for a terminal; {mend}")).into());
    }
    let wanted = Wanted {
        text: args.query.clone(),
        limit: 0,
        offset: 0,
        ..args.filters.wanted(&reader)?
    };
    let mark = args.since_watermark.as_deref();
    let mark = mark
        .map(|path| Mark::read(path, &described(args)))
        .transpose()?;
    let after = mark.as_ref().map_or(Watermark::default(), |m| m.after);
    let started = Instant::now();
    let mut deletions = match (&args.deleted, &mark) {
        (Some(path), Some(mark)) => Some(Deletions::begin(&loaded, path, mark)?),
        _ => None,
    };
    let mut exported = Exported::default();
    let reached = match &args.output {
        Some(path) => {
            let named = || format!("{}: cannot be written", path.display());
            let draft = Draft::new(path).with_context(named)?;
            let (draft, reached) = write(&reader, &wanted, args, after, draft, &mut exported)?;
            // Before anything is in its place: where this fails, nothing was exported.
            if let Some(deletions) = &mut deletions {
                deletions.write(&exported)?;
            }
            draft.publish().with_context(named)?;
            reached
        }
        None => {
            let out = BufWriter::new(io::stdout());
            let (_, reached) = write(&reader, &wanted, args, after, out, &mut exported)?;
            if let Some(deletions) = &mut deletions {
                deletions.write(&exported)?;
            }
            reached
        }
    };
    let (count, seconds) = (exported.count, started.elapsed().as_secs_f64());
    // Marks come last: a mark must never be ahead of what it stands for.
    let said = match (deletions, mark) {
        (Some(deletions), Some(mark)) => deletions.publish(mark, reached)?,
        (_, Some(mark)) => {
            mark.write(reached)?;
            String::new()
        }
        _ => String::new(),
    };
    output::note(&format!(
        "{count} documents exported in {seconds:.1} s{said}"
    ));
    Ok(ExitCode::SUCCESS)
}

/// What was exported.
#[derive(Debug, Default)]
pub(super) struct Exported {
    count: u64,
    /// Keys of the documents, for whoever asks what is not among them.
    pub(super) fingerprints: HashSet<u64>,
}

fn write<W: Write + Send>(
    reader: &Reader,
    wanted: &Wanted,
    args: &Args,
    after: Watermark,
    out: W,
    exported: &mut Exported,
) -> anyhow::Result<(W, Watermark)> {
    let query = serve::understood(reader, wanted).query;
    let mut sink = Sink::new(args.format, out, reader.config().utc_offset_minutes)?;
    let mut done = Ok(());
    let reached = reader.scan(&query, after, |stored| {
        if args.deleted.is_some() {
            exported.fingerprints.insert(stored.fingerprint);
        }
        done = sink.write(stored);
        exported.count += u64::from(done.is_ok());
        done.is_ok()
    })?;
    match done.and_then(|()| sink.finish()) {
        Ok(out) => Ok((out, reached)),
        // `taojin export | head`
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(e) => Err(e).context("the export cannot be written"),
    }
}

/// What is exported in a few words: a mark holds for this and nothing else.
fn described(args: &Args) -> String {
    let mut parts = Vec::new();
    if !args.query.trim().is_empty() {
        parts.push(format!("query {:?}", args.query.trim()));
    }
    let mut sites = args.filters.site.clone();
    sites.sort();
    parts.extend(sites.iter().map(|site| format!("site {site:?}")));
    parts.extend(args.filters.since.iter().map(|day| format!("since {day}")));
    parts.extend(args.filters.until.iter().map(|day| format!("until {day}")));
    parts.extend(
        args.filters
            .changed
            .iter()
            .map(|time| format!("changed {time}")),
    );
    let what = match parts.is_empty() {
        true => "all documents".to_owned(),
        false => parts.join(", "),
    };
    // A copy that was never told what is gone cannot begin with that in the middle.
    match args.deleted {
        Some(_) => format!("{what}, with what is gone"),
        None => what,
    }
}
