//! `taojin extract`: documents and attachments from files, directories, URLs or standard input, one JSON object a line or as text, with what
//! decided about them if that is requested. What is no page is said and makes the exit code 1.

use std::cell::OnceCell;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use askama::Template;
use askama::filters::Safe;

use super::attachment::{self, AttachmentReader};
use super::context::{Context, Named, UsageError, runtime, words};
use super::gate::{describe_refusal, open_gate, person_turn};
use super::inputs::{self, Contents, Input, InputError, PageBytes};
use super::output::{self, Paint};
use super::templates::read_exported;
use crate::config::{Config, read_weights};
use crate::daemon::{self, now_ms};
use crate::documents::attachment::{Origin, of_attachment};
use taojin_attachments::Unreadable;
use taojin_crawl::fetch::{Fetched, Gate, Purpose, Request, Sink};
use taojin_crawl::store::StorePlace;
use taojin_crawl::{Failure, VisitOutcome};
use taojin_extract::page::{self, Hints, Page};
use taojin_extract::template::{
    Guide, Keys, Library, MAX_MISSING, choose_template, rank_templates,
};
use taojin_extract::{
    self as extract, Document, Method, NameTrace, Piece, RatioVerdict, Trace, TypedFields,
};
use taojin_uri::CrawlUri;

/// Arguments of `extract`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// HTML files (also .gz), WARC or ARC files, attachments, folders of them, http(s) URLs, or - for standard input
    ///
    /// Attachments are PDF, OFD, Word, Excel, PowerPoint, OpenDocument, RTF, EPUB, CSV, mail and archives of these, recognised by their
    /// content. One of which no honest text can be had (a scan, a password) is named with the reason.
    ///
    /// Folders are read with their subfolders; links in them are skipped. An input that cannot be read is named, and the others are still
    /// extracted; the exit code is then 1.
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<String>,
    /// URL that a file was saved from: resolves its links and dates
    ///
    /// Archives and fetched pages have their own.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// One JSON object a line; the same as --format json
    #[arg(long)]
    json: bool,
    /// How documents are printed: xml is one <document> for each input; markdown and html are the text with its headings, lists, tables,
    /// code, links and pictures
    #[arg(long, value_enum, conflicts_with = "json", default_value_t)]
    format: Format,
    /// Explain: candidates of each field, ratios of tag paths, the decision on every line
    ///
    /// With --json, the explanation is the key `explain` of each object.
    #[arg(long)]
    explain: bool,
    /// What decides which lines are the text [default: extract.method]
    ///
    /// `model`: the learned line and context models; `ratio`: the ratios of text to tag path alone.
    #[arg(long, value_parser = words::<Method>(["model", "ratio"]))]
    method: Option<Method>,
    /// Extract with the templates in this file
    ///
    /// `taojin templates export` and `taojin templates learn --output` write such files. Each page is read with the
    /// template nearest to it, whatever its site. With --explain, which one it fits and how well is said, and each line is
    /// named after its slot.
    #[arg(long, value_name = "FILE")]
    templates: Option<PathBuf>,
    /// Use the weights in this file [default: extract.weights]
    ///
    /// `taojin eval DIR --learn FILE` writes such files.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
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
    /// The text as Markdown, without its title
    Markdown,
    /// The text as a fragment of HTML, without its title
    Html,
}

impl Args {
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// A document with the input it is of, and why it came out so if that was asked for.
struct Extracted {
    document: Document,
    trace: Option<Trace>,
    /// How the page fits the templates that were named, if that was asked for.
    fit: Option<FitReport>,
    /// What a person should know of it: what was left out.
    note: Option<String>,
}

/// What `--json` prints: the document's fields, and where it was read.
#[derive(serde::Serialize)]
struct Line<'a> {
    input: &'a str,
    #[serde(flatten)]
    document: &'a Document,
    /// Numbers, days and lists among the labelled fields.
    #[serde(skip_serializing_if = "TypedFields::is_empty")]
    fields: TypedFields,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<&'a Trace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    template_fit: Option<&'a FitReport>,
}

/// Extracts each input; goes on after one that cannot be read and then exits with 1, or with 2 when all that was named
/// is missing.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let mut config = context.named_config()?;
    use_weights(&mut config, args.weights.as_deref())?;
    if let Some(method) = args.method {
        config.extract.method = method;
    }
    let url = match &args.url {
        Some(text) => Some(CrawlUri::parse(text).named(format_args!("--url {text}"))?),
        None => None,
    };
    let templates = match &args.templates {
        Some(file) => read_exported(file)?,
        None => Vec::new(),
    };
    let origins = templates.iter().map(|read| read.site.clone()).collect();
    let templates = templates.into_iter().map(|read| Arc::new(read.template));
    let mut reading = Reading {
        templates: Library::new(
            (1..).zip(templates).collect(),
            config.templates.max_distance,
        ),
        origins,
        config: &config,
        url,
        explain: args.explain,
        format: args.format(),
        named: args.inputs.len() > 1,
        place: context.read().0.store_place(),
        gate: OnceCell::new(),
        attachments: None,
        failed: 0,
    };
    let mut missing = 0;
    for argument in &args.inputs {
        match Input::from_argument(argument) {
            Ok(inputs) => {
                reading.named |= inputs.len() > 1;
                for input in &inputs {
                    reading.show(input)?;
                }
            }
            Err(error) => {
                missing += usize::from(error.is_mistake());
                reading.refuse(argument, &error);
            }
        }
    }
    Ok(match reading.failed {
        0 => ExitCode::SUCCESS,
        _ if missing == args.inputs.len() => ExitCode::from(2),
        _ => ExitCode::FAILURE,
    })
}

/// Takes the weights of a file that the caller names, if any, in place of those of the configuration.
pub(super) fn use_weights(config: &mut Config, file: Option<&Path>) -> Result<(), UsageError> {
    if let Some(file) = file {
        let read = read_weights(file);
        let wrong = |why| UsageError(format!("--weights {}: {why}", file.display()));
        config.extract.loaded = Some(read.map_err(wrong)?);
    }
    Ok(())
}

/// How inputs are read and shown.
struct Reading<'a> {
    config: &'a Config,
    url: Option<CrawlUri>,
    explain: bool,
    format: Format,
    /// There are several inputs: each is named where the format has no field for it.
    named: bool,
    /// Templates that pages are laid on.
    templates: Library,
    /// Their sites; they are numbered from 1 on.
    origins: Vec<String>,
    /// Where the store may be that knows what was taken down.
    place: StorePlace,
    /// Opened for the first address.
    gate: OnceCell<Gate>,
    /// Started for the first attachment.
    attachments: Option<AttachmentReader>,
    /// Inputs that gave no document or not all of theirs.
    failed: usize,
}

impl Reading<'_> {
    /// Prints the documents of an input, or says why there are none. Fails only when nothing can be printed.
    fn show(&mut self, input: &Input) -> anyhow::Result<()> {
        let name = input.name();
        let read = match input {
            Input::Url(url) => match self.fetch(url) {
                Err(why) if is_foreign(&why) => {
                    let bytes = self.fetch_attachment(url);
                    return self.attachment(&name, bytes, &why);
                }
                fetched => fetched,
            },
            Input::Standard => inputs::read_standard(self.config)
                .map(|page| self.page(page))
                .map_err(Into::into),
            Input::File(path) => match inputs::read_file(path, self.config) {
                Ok(Contents::Archive) if self.explain => {
                    Err(anyhow::anyhow!("--explain takes pages, not archives"))
                }
                Ok(Contents::Archive) if !self.templates.is_empty() => {
                    Err(anyhow::anyhow!("--templates takes pages, not archives"))
                }
                Ok(Contents::Archive) => return self.archive(path, &name),
                Ok(Contents::Page(page)) if !attachment::is_named(path) => Ok(self.page(page)),
                Ok(Contents::Page(_)) => {
                    let why = anyhow::anyhow!("is neither a page nor an attachment");
                    return self.attachment(&name, read_attachment(path), &why);
                }
                Err(error) if error.is_foreign() => {
                    return self.attachment(&name, read_attachment(path), &error.into());
                }
                Err(error) => Err(error.into()),
            },
        };
        match read {
            Ok(extracted) => {
                if let Some(note) = &extracted.note {
                    output::note(&output::printable(&format!("{name}: {note}")));
                }
                self.print(&name, &extracted)
            }
            Err(error) => {
                self.refuse(&name, &format!("{error:#}"));
                Ok(())
            }
        }
    }

    /// Prints what is read of an attachment, or says why nothing is: `why_no_page` if its kind is not read.
    fn attachment(
        &mut self,
        name: &str,
        bytes: anyhow::Result<Vec<u8>>,
        why_no_page: &anyhow::Error,
    ) -> anyhow::Result<()> {
        let reader = match &self.attachments {
            Some(reader) => reader,
            None => self.attachments.insert(AttachmentReader::new()?),
        };
        let size = bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        let read = bytes.map(|bytes| reader.read(&bytes, name));
        match read {
            Err(error) => self.refuse(name, &format!("{error:#}")),
            Ok(Err(Unreadable::NotRead(_))) => self.refuse(name, &format!("{why_no_page:#}")),
            Ok(Err(why)) => self.refuse(name, &why),
            Ok(Ok(_)) if self.explain => {
                self.refuse(name, &"--explain takes pages, not attachments");
            }
            Ok(Ok(found)) => {
                if found.is_cut {
                    output::note(&output::printable(&format!("{name}: too long, cut short")));
                }
                if found.garbled_pages > 0 {
                    let pages = found.garbled_pages;
                    let note = format!("{name}: {pages} pages left out, their text is garbled");
                    output::note(&output::printable(&note));
                }
                let origin = Origin {
                    url: if name.contains("://") { name } else { "" },
                    name,
                    bytes: size,
                    at_ms: now_ms(),
                    offset_min: self.config.index.utc_offset_minutes,
                    ..Origin::default()
                };
                let document = of_attachment(found, &origin);
                return self.print(name, &Extracted::without_trace(document));
            }
        }
        Ok(())
    }

    fn refuse(&mut self, name: &str, why: &impl std::fmt::Display) {
        self.failed += 1;
        output::note(&output::printable(&format!("{name}: {why}")));
    }

    fn print(&self, name: &str, extracted: &Extracted) -> anyhow::Result<()> {
        let document = &extracted.document;
        match self.format {
            Format::Json => {
                let line = Line {
                    input: name,
                    fields: document.meta.typed(),
                    document,
                    explain: extracted.trace.as_ref(),
                    template_fit: extracted.fit.as_ref(),
                };
                return output::json(&line);
            }
            Format::Xml => output::line(extract::to_xml(document).trim_end()),
            // A document has no control characters but line breaks and tabs.
            Format::Markdown => {
                if self.named {
                    output::line(&format!("# {}\n", output::printable(name)));
                }
                output::line(&document.markdown());
            }
            Format::Html => {
                if self.named {
                    let name = output::printable(name).replace('&', "&amp;");
                    output::line(&format!("<h1>{}</h1>", name.replace('<', "&lt;")));
                }
                output::line(&document.html());
            }
            Format::Text => {
                let images = document.images.clone();
                output::text(&DocumentText {
                    input: self.named.then_some(name),
                    d: document,
                    pieces: extract::split_pieces(document.text.lines(), images),
                })?;
                output::line("");
                if let Some(trace) = &extracted.trace {
                    output::text(&TraceText {
                        document,
                        trace,
                        fit: extracted.fit.as_ref(),
                        slots: list_slots(trace),
                        names: [("author", &trace.authors), ("source", &trace.sources)],
                        c: Paint::new(),
                    })?;
                    output::line("");
                }
            }
        }
        Ok(())
    }

    /// The documents of an archive.
    fn archive(&mut self, path: &Path, name: &str) -> anyhow::Result<()> {
        let mut wrong = None;
        let mut documents = 0;
        let read = daemon::documents_of_archive(path, self.config, |document| {
            documents += 1;
            self.print(name, &Extracted::without_trace(document))
                .inspect_err(|e| wrong = Some(e.to_string()))
        });
        match read {
            Err(error) if wrong.is_some() => return Err(error),
            Err(error) => self.refuse(name, &format!("{error:#}")),
            Ok(Some(problem)) => {
                self.failed += 1;
                output::note(&problem);
            }
            Ok(None) if documents == 0 => self.refuse(name, &"no page in this archive"),
            Ok(None) => {}
        }
        Ok(())
    }

    fn page(&self, page: PageBytes) -> Extracted {
        let note = page.cut.map(|whole| {
            let most = self.config.page.max_decoded_bytes;
            let whole = whole.map_or(String::new(), |bytes| format!(" of {}", megabytes(bytes)));
            format!(
                "only the first {}{whole} are read (page.max_decoded_bytes = {most})",
                megabytes(most as u64)
            )
        });
        Extracted {
            note,
            // When it was saved is not known: what it tells from then is told of no day.
            ..self.extract(&page.bytes, self.url.clone(), None, None)
        }
    }

    fn request(&self, request: &Request, sink: &mut dyn Sink) -> anyhow::Result<Fetched> {
        let gate = match self.gate.get() {
            Some(gate) => gate,
            None => {
                let gate = open_gate(self.config, &self.place)?;
                self.gate.get_or_init(|| gate)
            }
        };
        let mut turn = person_turn(self.config);
        let fetched = gate.fetch(request, Purpose::Named, &mut turn, sink);
        let fetched = runtime()?.block_on(fetched);
        fetched.map_err(|refused| anyhow::anyhow!(describe_refusal(gate, &request.uri, &refused)))
    }

    fn fetch(&self, url: &str) -> anyhow::Result<Extracted> {
        let uri = CrawlUri::parse(url)?;
        let mut body: Vec<u8> = Vec::new();
        let fetched = self.request(&Request::page(uri.clone()), &mut body)?;
        let limits = &self.config.fetch;
        let too_large = format!("fetch.max_body_bytes = {}", limits.max_body_bytes);
        let note = match fetched.failure {
            None if fetched.outcome == VisitOutcome::Page => None,
            Some(Failure::TooLarge) if !body.is_empty() => Some(format!(
                "only the first {} are read ({too_large})",
                megabytes(body.len() as u64)
            )),
            Some(Failure::TooLarge) => {
                anyhow::bail!("is larger than {too_large}: not read")
            }
            Some(Failure::ContentType) => {
                let named = fetched.head.content_type;
                let named = named.unwrap_or_else(|| "of another type".to_owned());
                return Err(InputError::ContentType(named).into());
            }
            Some(Failure::Bomb) => {
                return Err(InputError::Bomb(limits.max_ratio).into());
            }
            _ => anyhow::bail!("{}", fetched.describe()),
        };
        if body.is_empty() {
            return Err(InputError::Empty.into());
        }
        if let Some(format) = page::detect_foreign_format(&body) {
            return Err(InputError::Foreign(format).into());
        }
        let extracted = self.extract(&body, Some(uri), fetched.head.charset(), Some(now_ms()));
        Ok(Extracted { note, ..extracted })
    }

    /// Fetches what is no page, whole.
    fn fetch_attachment(&self, url: &str) -> anyhow::Result<Vec<u8>> {
        let request = Request {
            max_body_bytes: Some(AttachmentReader::max_file_bytes()),
            ..Request::any(CrawlUri::parse(url)?)
        };
        let mut body: Vec<u8> = Vec::new();
        let fetched = self.request(&request, &mut body)?;
        match fetched.failure {
            None if !body.is_empty() => Ok(body),
            None => Err(InputError::Empty.into()),
            Some(Failure::TooLarge) => anyhow::bail!("{}", Unreadable::TooLarge),
            Some(_) => anyhow::bail!("{}", fetched.describe()),
        }
    }

    /// `fetched_ms`: when the page came, Unix milliseconds, if that is known.
    fn extract(
        &self,
        bytes: &[u8],
        url: Option<CrawlUri>,
        charset: Option<&str>,
        fetched_ms: Option<i64>,
    ) -> Extracted {
        let hints = Hints {
            url,
            charset: charset.map(str::to_owned),
            limits: self.config.page.clone(),
        };
        let page = Page::parse(bytes, hints);
        let context = extract::Context {
            now_ms: fetched_ms,
            ..Default::default()
        };
        let config = &self.config.extract;
        let keys = (!self.templates.is_empty()).then(|| Keys::new(&page));
        let keys = keys.as_ref();
        let found = keys.and_then(|keys| choose_template(&self.templates, keys));
        let guide = found.as_ref().zip(keys);
        let guide = guide.map(|(found, keys)| Guide::new(&found.template, keys, &page));
        if !self.explain {
            let document = extract::extract_guided(&page, &context, config, guide.as_ref());
            return Extracted::without_trace(document);
        }
        let (document, trace) = extract::explain_guided(&page, &context, config, guide.as_ref());
        Extracted {
            document,
            trace: Some(trace),
            fit: keys.map(|keys| self.report_fit(keys)),
            note: None,
        }
    }

    /// Compares a page with the templates.
    fn report_fit(&self, keys: &Keys) -> FitReport {
        let ranked = rank_templates(&self.templates, keys).map(|ranked| NearTemplate {
            number: ranked.assigned.id,
            site: usize::try_from(ranked.assigned.id - 1)
                .ok()
                .and_then(|at| self.origins.get(at).cloned())
                .unwrap_or_default(),
            pages: ranked.assigned.template.pages,
            similarity: 1.0 - ranked.assigned.distance,
            missing: ranked.missing,
            fits: ranked.fits,
        });
        let nearest: Vec<NearTemplate> = ranked.collect();
        FitReport {
            number: nearest.iter().find(|near| near.fits).map(|n| n.number),
            least_similarity: 1.0 - self.templates.max_distance(),
            most_missing: MAX_MISSING,
            nearest,
        }
    }
}

impl Extracted {
    fn without_trace(document: Document) -> Self {
        Self {
            document,
            trace: None,
            fit: None,
            note: None,
        }
    }
}

/// How a page fits the templates of a file.
#[derive(serde::Serialize)]
struct FitReport {
    /// Number in the file of the one that it is read with; none if it fits none.
    number: Option<i64>,
    /// Share of common block paths, 0 to 1, from which on a page fits.
    least_similarity: f32,
    /// Share of a template's essential nodes, 0 to 1, that a page that fits lacks at most.
    most_missing: f32,
    /// Some of them, nearest first.
    nearest: Vec<NearTemplate>,
}

impl FitReport {
    fn chosen(&self) -> Option<&NearTemplate> {
        self.nearest.iter().find(|near| near.fits)
    }
}

/// A template of a file with how well a page fits it.
#[derive(serde::Serialize)]
struct NearTemplate {
    /// Its number in the file, from 1 on.
    number: i64,
    /// Its site as the file has it.
    site: String,
    /// Pages that it was learned from.
    pages: u32,
    /// Share of the block paths that page and template have in common, 0 to 1.
    similarity: f32,
    /// Share of the template's essential nodes that the page lacks, 0 to 1.
    missing: f32,
    /// The page can be read with it.
    fits: bool,
}

/// The different slots of a page's lines, in the order of the page.
fn list_slots(trace: &Trace) -> Vec<&str> {
    let mut slots: Vec<&str> = Vec::new();
    for slot in trace.lines.iter().flat_map(|line| &line.slots) {
        if !slots.contains(&slot.as_str()) && slots.len() < MAX_SLOTS {
            slots.push(slot);
        }
    }
    slots
}

/// Whether an input was refused as something else than a page.
fn is_foreign(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(InputError::is_foreign)
}

/// Reads a file as far as attachments are read.
fn read_attachment(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(InputError::from)?;
    let mut file = file.take(AttachmentReader::max_file_bytes() + 1);
    file.read_to_end(&mut bytes).map_err(InputError::from)?;
    Ok(bytes)
}

/// Bytes as a person reads them.
fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// A document for a person.
#[derive(Template)]
#[template(path = "document.txt")]
struct DocumentText<'a> {
    input: Option<&'a str>,
    d: &'a Document,
    pieces: Vec<Piece<&'a str>>,
}

/// What was decided and by what.
#[derive(Template)]
#[template(path = "trace.txt")]
struct TraceText<'a> {
    document: &'a Document,
    trace: &'a Trace,
    fit: Option<&'a FitReport>,
    /// The slots that are named, in the order of their colours.
    slots: Vec<&'a str>,
    names: [(&'static str, &'a [NameTrace]); 2],
    c: Paint,
}

impl TraceText<'_> {
    /// What a line is in the template, each slot in its colour.
    fn slots_of(&self, names: &[String]) -> Safe<String> {
        let at = |name: &String| self.slots.iter().position(|slot| slot == name);
        let names = names.iter().map(|name| (name.as_str(), at(name)));
        self.c.coloured(names)
    }

    fn legend(&self) -> Safe<String> {
        let slots = self.slots.iter().enumerate();
        self.c.coloured(slots.map(|(at, slot)| (*slot, Some(at))))
    }
}

/// Different slots that have a colour.
const MAX_SLOTS: usize = 200;

/// Widest text of a line shown, in characters.
const WIDTH: usize = 60;

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
