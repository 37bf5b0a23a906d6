//! `taojin export`: documents, or those that fit a query, as a file for other programs; and beside it what is gone since the
//! last export. A mark is never moved beyond a deletion that was not written.

use std::collections::HashSet;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context as _;
use serde::Serialize;

use super::context::{Context, UsageError, bail_usage};
use super::output;
use super::search::Filters;
use crate::config::LoadedConfig;
use crate::documents::IndexAt;
use crate::export::{Draft, Format, Sink, WatermarkFile};
use crate::serve::{self, SearchRequest};
use taojin_crawl::store::{self, Cursor, CursorLost, StoreError};
use taojin_search::index::{Reader, Watermark};

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only documents that `taojin search` would find with this query
    ///
    /// All of them, in no order of rank; the empty query is all documents. `taojin search --syntax` prints the language.
    #[arg(long, value_name = "QUERY", default_value = "")]
    query: String,
    #[command(flatten)]
    filters: Filters,
    /// Form of the file
    ///
    /// Only jsonl may go to a terminal.
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// File to write, whole or not at all [default: standard output]
    ///
    /// An earlier file of that name is replaced once the export is complete.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only documents that are new or changed since the last export with FILE
    ///
    /// The file is created by the first export, which has all documents, and updated after each. It holds for the same
    /// query and filters only.
    #[arg(long, value_name = "FILE")]
    since_watermark: Option<PathBuf>,
    /// Write documents that are gone since then, or no longer match
    ///
    /// One JSON object a line. Needs --since-watermark, and from the first export on: a watermark that was written without
    /// it is refused.
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
        bail_usage!("this format is not for a terminal; {mend}");
    }
    let wanted = SearchRequest {
        text: args.query.clone(),
        limit: 0,
        offset: 0,
        ..args.filters.search_request(&reader)?
    };
    let mark = args.since_watermark.as_deref();
    let mark = mark
        .map(|path| WatermarkFile::read(path, &described(args)))
        .transpose()?;
    let after = mark
        .as_ref()
        .map_or(Watermark::default(), WatermarkFile::after);
    let started = Instant::now();
    let mut deletions = match (&args.deleted, &mark) {
        (Some(path), Some(mark)) => Some(Deletions::open(&loaded, path, mark)?),
        _ => None,
    };
    let mut exported = ExportedDocuments::default();
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
pub(super) struct ExportedDocuments {
    count: u64,
    /// Keys of the documents, for whoever asks what is not among them.
    pub(super) fingerprints: HashSet<u64>,
}

fn write<W: Write + Send>(
    reader: &Reader,
    wanted: &SearchRequest,
    args: &Args,
    after: Watermark,
    out: W,
    exported: &mut ExportedDocuments,
) -> anyhow::Result<(W, Watermark)> {
    let query = serve::parse_request(reader, wanted).query;
    let (offset, titles) = (
        reader.config().utc_offset_minutes,
        reader.titles().by_name(),
    );
    let mut sink = Sink::new(args.format, out, offset, titles)?;
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
    let what = if parts.is_empty() {
        "all documents".to_owned()
    } else {
        parts.join(", ")
    };
    // A copy that was never told what is gone cannot begin with that in the middle.
    match args.deleted {
        Some(_) => format!("{what}, with what is gone"),
        None => what,
    }
}

/// The file of deletions, on its way.
pub(super) struct Deletions {
    store: store::Reader,
    store_id: i64,
    /// Where the last export ended.
    after: Cursor,
    /// The last change that the index knew before this export began.
    upto: i64,
    path: PathBuf,
    mark: PathBuf,
    draft: Draft,
    count: usize,
}

impl Deletions {
    /// Before the documents are read: what the index comes to know meanwhile is the next export's.
    pub(super) fn open(
        loaded: &LoadedConfig,
        path: &Path,
        mark: &WatermarkFile,
    ) -> anyhow::Result<Self> {
        let store = store::Reader::open(loaded.store_place())?;
        let store_id = store.identity()?.id;
        let Some(seq) = IndexAt::new(loaded).seq_of(store_id)? else {
            let mend = "run taojin reindex, or wait until the daemon has rebuilt it";
            bail_usage!("--deleted: the index is not of this store; {mend}");
        };
        let deletions = Self {
            store_id,
            after: Cursor::at(
                mark.store.unwrap_or(store_id),
                i64::try_from(mark.after().seq).unwrap_or(i64::MAX),
            ),
            upto: i64::try_from(seq).unwrap_or(i64::MAX),
            path: path.to_owned(),
            mark: mark.path().to_owned(),
            draft: Draft::new(path).with_context(|| unwritable(path))?,
            count: 0,
            store,
        };
        // Told at once, not after a long export.
        let kept = deletions.store.follow(&deletions.after, 0, |_, _| false)?;
        kept.map_err(|lost| deletions.lost(lost))?;
        Ok(deletions)
    }

    fn lost(&self, lost: store::CursorLost) -> UsageError {
        let mark = self.mark.display();
        UsageError(format!(
            "{mark}: {lost}; delete {mark} and export everything again, into an empty copy"
        ))
    }

    /// Writes what is gone; `exported` is what came since the last export.
    pub(super) fn write(&mut self, exported: &ExportedDocuments) -> anyhow::Result<()> {
        // Whoever begins has nothing to take out.
        let gone = match self.after.seq {
            0 => Vec::new(),
            _ => {
                let (after, upto) = (&self.after, self.upto);
                let gone = gone_since(&self.store, after, upto, &exported.fingerprints)?;
                gone.map_err(|lost| self.lost(lost))?
            }
        };
        self.count = gone.len();
        let line = |draft: &mut Draft, gone: &Gone| -> std::io::Result<()> {
            serde_json::to_writer(&mut *draft, gone)?;
            draft.write_all(b"\n")
        };
        for gone in &gone {
            line(&mut self.draft, gone).with_context(|| unwritable(&self.path))?;
        }
        Ok(())
    }

    /// Puts the file in its place and moves the mark, as far as both are complete. Gives what is to be said of it.
    pub(super) fn publish(self, mark: WatermarkFile, reached: Watermark) -> anyhow::Result<String> {
        let path = self.path;
        self.draft.publish().with_context(|| unwritable(&path))?;
        let upto = u64::try_from(self.upto).unwrap_or_default();
        mark.of_store(self.store_id).write(Watermark {
            seq: upto,
            ..reached
        })?;
        let (count, path) = (self.count, path.display());
        Ok(format!(
            ", and {count} to remove in {path}; complete up to change {upto}"
        ))
    }
}

fn unwritable(path: &Path) -> String {
    format!("{}: cannot be written", path.display())
}

/// A document that does not belong into the copy (any more). The names are stable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Gone {
    /// Id of the document, as exports have it.
    id: String,
    /// Its address.
    url: String,
    /// The name of its site.
    site: Option<String>,
    /// `deleted`, or `changed`: it is there, but does not fit the query or the filters any more.
    why: &'static str,
    /// Number of the change.
    seq: i64,
    /// When the change was found, Unix milliseconds.
    changed_ms: i64,
}

/// The documents that changed after `after` and up to change `upto` and are not among those exported since then. The inner
/// error says why they are not known.
fn gone_since(
    reader: &store::Reader,
    after: &Cursor,
    upto: i64,
    exported: &HashSet<u64>,
) -> Result<Result<Vec<Gone>, CursorLost>, StoreError> {
    let mut all = Vec::new();
    let followed = reader.follow(after, usize::MAX, |row, _| {
        if row.seq > upto {
            return false;
        }
        if row.body.is_none() || !exported.contains(&row.fingerprint) {
            all.push(Gone {
                id: format!("{:016x}", row.fingerprint),
                why: if row.body.is_none() {
                    "deleted"
                } else {
                    "changed"
                },
                site: Some(row.site).filter(|site| !site.is_empty()),
                url: row.url,
                seq: row.seq,
                changed_ms: row.changed_ms,
            });
        }
        true
    })?;
    Ok(followed.map(|_| all))
}
