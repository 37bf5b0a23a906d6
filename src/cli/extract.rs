//! `taojin extract`: documents from files, URLs or standard input, one JSON object a line or as text.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;

use super::{Context, Usage, explain, output, runtime};
use crate::config::Config;
use crate::daemon::{self, now_ms};
use crate::extract::{self, Document, Piece, Trace};
use crate::fetch::{Fetcher, Outcome, Request};
use crate::page::{Hints, Page};
use crate::uri::CrawlUri;

/// Arguments of `extract`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// HTML, WARC or ARC files, http(s) URLs or - for standard input
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<String>,
    /// Address that a file was saved from: resolves its links and dates
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// One JSON object a line; the same as --format json
    #[arg(long)]
    json: bool,
    /// How documents are printed: xml is one <document> for each input
    #[arg(long, value_enum, conflicts_with = "json", default_value_t)]
    format: Format,
    /// Say why: candidates for each field, tag paths with their ratios, the decision on every line
    #[arg(long)]
    explain: bool,
}

/// Forms of a printed document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    /// For reading
    #[default]
    Text,
    /// One JSON object a line
    Json,
    /// One element for each document
    Xml,
}

impl Args {
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// A document, and why it came out so if that was asked for.
struct Extracted {
    document: Document,
    trace: Option<Trace>,
}

/// What `--explain --json` prints: the document's fields and one more.
#[derive(serde::Serialize)]
struct Explained<'a> {
    #[serde(flatten)]
    document: &'a Document,
    explain: &'a Trace,
}

impl Extracted {
    fn show(&self, format: Format) -> anyhow::Result<()> {
        let document = &self.document;
        match (&self.trace, format) {
            (Some(explain), Format::Json) => output::json(&Explained { document, explain })?,
            (Some(trace), Format::Text) => {
                print(document);
                explain::print(document, trace);
            }
            _ => show(document, format)?,
        }
        Ok(())
    }
}

/// Extracts each input; goes on after one that cannot be read and then exits with 1.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    // Files need no configuration: a broken one must not stop a developer from looking at a page.
    let config = if context.config.is_some() {
        context.load()?.config
    } else {
        Config::default()
    };
    let url = match &args.url {
        Some(text) => Some(CrawlUri::parse(text).map_err(|e| Usage(format!("--url {text}: {e}")))?),
        None => None,
    };
    let mut failed = 0;
    for input in &args.inputs {
        if is_archive(input) {
            if args.explain {
                return Err(Usage(format!("{input}: --explain takes pages, not archives")).into());
            }
            failed += usize::from(!archive(&config, Path::new(input), args.format())?);
            continue;
        }
        let reading = Reading {
            config: &config,
            explain: args.explain,
        };
        match reading.read(input, url.clone()) {
            Ok(extracted) => extracted.show(args.format())?,
            Err(error) => {
                failed += 1;
                output::note(&format!("{input}: {error:#}"));
            }
        }
    }
    match failed {
        0 => Ok(ExitCode::SUCCESS),
        n if n == args.inputs.len() => Err(Usage("no input could be read".to_owned()).into()),
        _ => Ok(ExitCode::FAILURE),
    }
}

/// Whether a file is a WARC or ARC file, by its first bytes; pages are not taken compressed.
fn is_archive(input: &str) -> bool {
    if input == "-" || input.contains("://") {
        return false;
    }
    let mut head = Vec::new();
    let read = File::open(input).and_then(|file| file.take(11).read_to_end(&mut head));
    let begins = |mark: &[u8]| head.starts_with(mark);
    read.is_ok() && (begins(b"WARC/") || begins(b"filedesc://") || begins(&[0x1f, 0x8b]))
}

/// The documents of an archive; false if it cannot be read at all.
fn archive(config: &Config, path: &Path, format: Format) -> anyhow::Result<bool> {
    let mut wrong = None;
    let read = daemon::documents_of_archive(path, config, |document| {
        show(&document, format).inspect_err(|e| wrong = Some(e.to_string()))
    });
    match read {
        Ok(problem) => {
            problem.iter().for_each(|p| output::note(p));
            Ok(true)
        }
        Err(error) if wrong.is_some() => Err(error),
        Err(error) => {
            output::note(&format!("{}: {error:#}", path.display()));
            Ok(false)
        }
    }
}

/// How one page is read.
struct Reading<'a> {
    config: &'a Config,
    explain: bool,
}

impl Reading<'_> {
    fn read(&self, input: &str, url: Option<CrawlUri>) -> anyhow::Result<Extracted> {
        if input.starts_with("http://") || input.starts_with("https://") {
            return self.fetch(&CrawlUri::parse(input)?);
        }
        let limit = self.config.page.max_decoded_bytes as u64 + 1;
        let mut bytes = Vec::new();
        if input == "-" {
            io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
        } else {
            File::open(Path::new(input))?
                .take(limit)
                .read_to_end(&mut bytes)?;
        }
        Ok(self.extract(&bytes, url, None))
    }

    fn fetch(&self, uri: &CrawlUri) -> anyhow::Result<Extracted> {
        let fetcher = Fetcher::new(self.config.fetch.clone())?;
        let mut body: Vec<u8> = Vec::new();
        let fetched =
            runtime()?.block_on(fetcher.fetch(&Request::page(uri.clone(), now_ms()), &mut body));
        match &fetched.outcome {
            Outcome::Page => Ok(self.extract(&body, Some(uri.clone()), fetched.head.charset())),
            Outcome::Redirect { to, .. } => Err(anyhow::anyhow!("redirects to {to}")),
            Outcome::Refused(refusal) => Err(anyhow::anyhow!("{refusal}")),
            other => Err(anyhow::anyhow!("{}", other.word()))
                .context(format!("status {}", fetched.head.status)),
        }
    }

    fn extract(&self, bytes: &[u8], url: Option<CrawlUri>, charset: Option<&str>) -> Extracted {
        let hints = Hints {
            url,
            charset: charset.map(str::to_owned),
            limits: self.config.page.clone(),
        };
        let page = Page::parse(bytes, hints);
        let context = extract::Context {
            now_ms: now_ms(),
            ..Default::default()
        };
        if self.explain {
            let (document, trace) = extract::explain(&page, &context, &self.config.extract);
            return Extracted {
                document,
                trace: Some(trace),
            };
        }
        Extracted {
            document: extract::extract_with(&page, &context, &self.config.extract),
            trace: None,
        }
    }
}

fn show(document: &Document, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Text => print(document),
        Format::Json => return output::json(document),
        Format::Xml => output::line(extract::to_xml(document).trim_end()),
    }
    Ok(())
}

fn print(document: &Document) {
    let field = |name: &str, value: &Option<String>| {
        if let Some(value) = value {
            output::line(&format!("{name:10} {}", output::printable(value)));
        }
    };
    field("title", &document.title);
    field("published", &document.published);
    field("author", &document.author);
    field("source", &document.source);
    output::line(&format!(
        "{:10} {:?}, {}, confidence {:.2}",
        "kind", document.kind, document.method, document.confidence
    ));
    output::line(&format!("{:10} {}", "charset", document.charset));
    output::line(&format!("{:10} {}\n", "links", document.links.len()));
    for piece in extract::pieces(document.text.lines(), document.images.clone()) {
        match piece {
            Piece::Paragraph(paragraph) => output::line(&output::printable(paragraph)),
            // Only where the page says what it shows.
            Piece::Image(image) if image.alt.is_empty() => {}
            Piece::Image(image) => {
                output::line(&format!("[{}]", output::printable(&image.alt)));
            }
        }
    }
    for comment in &document.comments {
        output::line(&format!("\n> {}", output::printable(&comment.text)));
    }
    output::line("");
}
