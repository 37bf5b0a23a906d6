//! `taojin import`: documents, one JSON object a line, into the store and the index.

use std::path::PathBuf;
use std::process::ExitCode;

use super::context::{Context, UsageError};
use super::inputs::LineReader;
use super::output;
use crate::daemon::index::{catch_up, rebuild_index};
use crate::daemon::open_store;
use crate::documents::{encode, from_json};
use taojin_crawl::store::{Batch, DocOp, Store};
use taojin_extract::Document;
use taojin_uri::CrawlUri;

/// Documents written in one transaction: what an interruption costs is at most this.
const AT_ONCE: usize = 1_000;

/// Skipped lines of a file that are told one by one.
const TOLD: u64 = 10;

/// Arguments of `import`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files of documents as `extract --json` and `export` write them
    ///
    /// They may be compressed with zstd or gzip; - is standard input. A document with the URL of an earlier one replaces
    /// it. Lines that are no document are skipped and counted.
    #[arg(required_unless_present = "rebuild", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Rebuild the index from the store first
    ///
    /// FILE may then be absent. `taojin reindex` does the same beside a running daemon.
    #[arg(long)]
    rebuild: bool,
    /// One JSON object with the counts
    ///
    /// How many documents were imported, and how many lines were skipped.
    #[arg(long)]
    json: bool,
}

/// Adds the documents; a document with the same URL is replaced.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    // Before anything is made on disk.
    for path in args.files.iter().filter(|p| p.as_os_str() != "-") {
        LineReader::open(path)?;
    }
    let data_dir = &loaded.config.data_dir;
    std::fs::create_dir_all(data_dir)
        .map_err(|e| UsageError(format!("{}: cannot be made: {e}", data_dir.display())))?;
    let store = open_store(&loaded)?;
    if args.rebuild {
        let documents = rebuild_index(&loaded, false, |_| {})?;
        tracing::info!(documents, "indexed again");
    }
    let mut import = Import {
        store,
        waiting: Vec::new(),
        imported: 0,
        skipped: 0,
    };
    let mut broken = 0;
    for path in &args.files {
        let name = if path.as_os_str() == "-" {
            "standard input".to_owned()
        } else {
            path.display().to_string()
        };
        // What came before the break is in the store; the exit code says that it is not all.
        if let Err(error) = import.read(&name, LineReader::open(path)?)? {
            broken += 1;
            output::note(&format!("{name}: {error:#}"));
        }
    }
    import.write()?;
    catch_up(&loaded)?;
    if args.json {
        output::json(
            &serde_json::json!({ "imported": import.imported, "skipped": import.skipped }),
        )?;
    } else {
        output::line(&format!(
            "{} documents imported, {} lines skipped",
            import.imported, import.skipped
        ));
    }
    Ok(if import.skipped + broken == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

struct Import {
    store: Store,
    /// Documents that are not written yet.
    waiting: Vec<(u64, DocOp)>,
    imported: u64,
    skipped: u64,
}

impl Import {
    /// Adds what is in a file. The inner error is the file's: it breaks off.
    fn read(&mut self, name: &str, mut lines: LineReader) -> anyhow::Result<anyhow::Result<()>> {
        let mut line = Vec::new();
        let (before, mut skipped) = (self.imported, 0);
        loop {
            match lines.next(&mut line) {
                Ok(true) => {}
                end => {
                    if skipped > 0 && self.imported == before {
                        output::note(&format!(
                            "{name}: no line of it is a document; `taojin extract --json FILE` makes documents of pages"
                        ));
                    } else if skipped > TOLD {
                        output::note(&format!("{name}: {} more lines skipped", skipped - TOLD));
                    }
                    return Ok(end.map(|_| ()));
                }
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            match self.add(&line) {
                Ok(()) => self.imported += 1,
                Err(error) => {
                    self.skipped += 1;
                    skipped += 1;
                    if skipped <= TOLD {
                        output::note(&format!("{name}:{}: skipped: {error}", lines.number));
                    }
                }
            }
            if self.waiting.len() >= AT_ONCE {
                self.write()?;
            }
        }
    }

    fn add(&mut self, line: &[u8]) -> anyhow::Result<()> {
        let document: Document = from_json(line)?;
        let fingerprint = self.identity(&document)?;
        let mut document = Document {
            links: Vec::new(),
            ..document
        };
        document.drop_controls();
        let new = encode(&document, crate::daemon::now_ms());
        self.waiting.push((fingerprint, DocOp::Upsert(new)));
        Ok(())
    }

    /// A document is its address; a saved file that was extracted without one is what it says.
    fn identity(&self, document: &Document) -> anyhow::Result<u64> {
        if !document.url.is_empty() {
            let uri = CrawlUri::parse(&document.url)?;
            return Ok(self.store.addresses().document_key(&uri)?);
        }
        anyhow::ensure!(!document.text.is_empty(), "neither url nor text");
        let title = document.title.as_deref().unwrap_or_default();
        let said = format!("{title}\n{}", document.text);
        Ok(xxhash_rust::xxh3::xxh3_64(said.as_bytes()))
    }

    /// Makes what waits durable.
    fn write(&mut self) -> anyhow::Result<()> {
        let batch = Batch {
            documents: std::mem::take(&mut self.waiting),
            ..Batch::default()
        };
        self.store.commit(&batch, crate::daemon::now_ms())?;
        Ok(())
    }
}
