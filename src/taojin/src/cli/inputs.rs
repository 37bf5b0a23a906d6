//! What commands read beside the store: saved pages and archives as files, folders, addresses and `-`, and files of JSON lines,
//! plain or compressed. What is compressed, an archive or no page at all is told by the first bytes. Every page and every line
//! is bounded, and only one is held.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use flate2::bufread::MultiGzDecoder;
use serde::Deserialize;

use super::attachment;
use super::context::UsageError;
use super::output;
use crate::config::Config;
use crate::daemon::{now_ms, pages_of_archive};
use taojin_extract::page::{self, HEAD_BYTES, Hints, Page};
use taojin_search::terms::Text;
use taojin_uri::CrawlUri;

/// Files taken from one directory: more is not a directory of saved pages but a disk.
const MAX_FOLDER_FILES: usize = 200_000;
/// Directories within directories that are looked into.
const MAX_FOLDER_DEPTH: usize = 32;
/// Names of files that are taken from a directory end so; archives have `.warc` anywhere in their names.
const PAGE_ENDINGS: [&str; 7] = [
    ".shtml",
    ".html",
    ".htm",
    ".xhtml",
    ".html.gz",
    ".htm.gz",
    ".xhtml.gz",
];
const ARCHIVE_ENDINGS: [&str; 2] = [".arc", ".arc.gz"];
const ARCHIVE_WORD: &str = ".warc";
/// First bytes of gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// First bytes of archives, plain or unpacked.
const ARCHIVES: [&[u8]; 2] = [b"WARC/", b"filedesc://"];
/// Enough bytes to tell.
const ARCHIVE_MARK_BYTES: u64 = 11;
/// Below this unpacked size the ratio does not matter: a short page may well be one character again and again.
const RATIO_FLOOR_BYTES: u64 = 64 << 10;

/// One thing to extract documents from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    /// Standard input.
    Standard,
    /// An address to fetch.
    Url(String),
    /// A file that was named, or found in a directory that was.
    File(PathBuf),
}

/// Why an input gives no document: what is said of it after its name.
#[derive(Debug, thiserror::Error)]
pub(super) enum InputError {
    /// Nothing has this name.
    #[error("there is no such file or folder")]
    Missing,
    /// Nothing has this name, which looks like that of a host.
    #[error(
        "there is no such file or folder; if it is an address on the web, begin it with https://"
    )]
    NoScheme,
    /// The empty text.
    #[error("an input without a name: write a file, a folder, a URL, or - for standard input")]
    NoName,
    /// An address that is never fetched.
    #[error("only addresses with http:// or https:// are fetched")]
    Scheme,
    /// No address at all.
    #[error("{0}")]
    Address(String),
    /// It is there and may not be read.
    #[error("this user may not read it")]
    Denied,
    /// It has no bytes.
    #[error("is empty")]
    Empty,
    /// By its first bytes it is something else.
    #[error("is {0}, not a page")]
    Foreign(&'static str),
    /// By its server it is something else.
    #[error("is {0}, not a page")]
    ContentType(String),
    /// An archive where only a page can be read.
    #[error("is an archive; give the name of its file")]
    Archive,
    /// A directory without pages.
    #[error("no pages in this folder: no *.html, *.htm, *.html.gz or *.warc files")]
    NoPages,
    /// A directory with too many of them.
    #[error("more than {MAX_FOLDER_FILES} files in this folder; name its folders one by one")]
    TooMany,
    /// Unpacking it is an attack or a mistake.
    #[error("unpacks to more than {0} times its size (fetch.max_ratio): not read")]
    Bomb(u64),
    /// The system or the packed data say no.
    #[error("cannot be read: {0}")]
    Other(io::Error),
}

impl From<io::Error> for InputError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::Missing,
            ErrorKind::PermissionDenied => Self::Denied,
            _ => Self::Other(error),
        }
    }
}

impl Input {
    /// The inputs that an argument stands for: one, or the files of a directory in the order of their names.
    pub(super) fn from_argument(argument: &str) -> Result<Vec<Self>, InputError> {
        if argument == "-" {
            return Ok(vec![Self::Standard]);
        }
        if argument.is_empty() {
            return Err(InputError::NoName);
        }
        if argument.starts_with("http://") || argument.starts_with("https://") {
            CrawlUri::parse(argument).map_err(|error| InputError::Address(error.to_string()))?;
            return Ok(vec![Self::Url(argument.to_owned())]);
        }
        let is_input = |name: &str| is_taken(name) || attachment::is_named(Path::new(name));
        let files = find_files(Path::new(argument), &is_input).map_err(|error| match error {
            InputError::Missing if argument.contains("://") => InputError::Scheme,
            InputError::Missing if is_like_host(argument) => InputError::NoScheme,
            error => error,
        })?;
        Ok(files.into_iter().map(Self::File).collect())
    }

    /// What the person knows it by.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Standard => "-".to_owned(),
            Self::Url(url) => url.clone(),
            Self::File(path) => path.display().to_string(),
        }
    }
}

/// Whether a name that no file has begins like that of a host: `www.example.com/news`.
fn is_like_host(name: &str) -> bool {
    let host = name.split('/').next().unwrap_or_default();
    let is_page = is_taken(host) || host.ends_with(".jsonl");
    let labels: Vec<&str> = host.split('.').collect();
    let top = labels.last().copied().unwrap_or_default();
    !is_page
        && labels.len() > 1
        && labels.iter().all(|l| !l.is_empty())
        && top.len() > 1
        && top.chars().all(|c| c.is_ascii_alphabetic())
}

impl InputError {
    /// Whether it is no page but may be an attachment.
    pub(super) fn is_foreign(&self) -> bool {
        matches!(self, Self::Foreign(_) | Self::ContentType(_))
    }

    /// Whether the argument was wrong, rather than what it names.
    pub(super) fn is_mistake(&self) -> bool {
        use InputError::{Address, Missing, NoName, NoScheme, Scheme};
        matches!(self, Missing | NoScheme | NoName | Scheme | Address(_))
    }
}

/// The file of this name, or the pages and archives of the directory in the order of their names.
pub(super) fn files(path: &Path) -> Result<Vec<PathBuf>, InputError> {
    find_files(path, &is_taken)
}

/// The file of this name, or those in the directory whose names are taken.
fn find_files(path: &Path, is_taken: &dyn Fn(&str) -> bool) -> Result<Vec<PathBuf>, InputError> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    add_folder(path, 0, is_taken, &mut files)?;
    if files.is_empty() {
        return Err(InputError::NoPages);
    }
    files.sort();
    Ok(files)
}

/// Adds what has a name that is taken. Links are left out: they lead out of the directory or in circles.
fn add_folder(
    dir: &Path,
    depth: usize,
    is_taken: &dyn Fn(&str) -> bool,
    files: &mut Vec<PathBuf>,
) -> Result<(), InputError> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < MAX_FOLDER_DEPTH {
            add_folder(&entry.path(), depth + 1, is_taken, files)?;
        } else if kind.is_file() && is_taken(&entry.file_name().to_string_lossy()) {
            files.push(entry.path());
        }
        if files.len() > MAX_FOLDER_FILES {
            return Err(InputError::TooMany);
        }
    }
    Ok(())
}

fn is_taken(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let endings = PAGE_ENDINGS.iter().chain(&ARCHIVE_ENDINGS);
    name.contains(ARCHIVE_WORD) || endings.into_iter().any(|ending| name.ends_with(ending))
}

/// What a file holds.
pub(super) enum Contents {
    /// A WARC or ARC file, to be read by its name.
    Archive,
    /// A page.
    Page(PageBytes),
}

/// The bytes of a page.
pub(super) struct PageBytes {
    pub(super) bytes: Vec<u8>,
    /// There was more than is taken of a page; how many bytes in all, where that is known.
    pub(super) cut: Option<Option<u64>>,
}

/// Reads a file as far as a page goes, or says that it is an archive.
pub(super) fn read_file(path: &Path, config: &Config) -> Result<Contents, InputError> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    read(BufReader::new(file), Some(size), config)
}

/// Reads standard input as far as a page goes.
pub(super) fn read_standard(config: &Config) -> Result<PageBytes, InputError> {
    match read(io::stdin().lock(), None, config)? {
        Contents::Page(page) => Ok(page),
        Contents::Archive => Err(InputError::Archive),
    }
}

fn read(
    mut source: impl BufRead,
    size: Option<u64>,
    config: &Config,
) -> Result<Contents, InputError> {
    let is_gzip = source.fill_buf()?.starts_with(&GZIP);
    let most = config.page.max_decoded_bytes as u64;
    let mut bytes = Vec::new();
    if !is_gzip {
        source.take(most + 1).read_to_end(&mut bytes)?;
        return contents(bytes, size, most);
    }
    let mut packed = CountingReader { source, bytes: 0 };
    let mut unpacking = MultiGzDecoder::new(&mut packed);
    (&mut unpacking)
        .take(ARCHIVE_MARK_BYTES)
        .read_to_end(&mut bytes)?;
    if is_archive(&bytes) {
        return Ok(Contents::Archive);
    }
    let rest = (most + 1).saturating_sub(bytes.len() as u64);
    unpacking.take(rest).read_to_end(&mut bytes)?;
    let ratio = config.fetch.max_ratio;
    let unpacked = bytes.len() as u64;
    if unpacked > RATIO_FLOOR_BYTES && unpacked > packed.bytes.saturating_mul(ratio) {
        return Err(InputError::Bomb(ratio));
    }
    contents(bytes, None, most)
}

fn contents(mut bytes: Vec<u8>, size: Option<u64>, most: u64) -> Result<Contents, InputError> {
    if bytes.is_empty() {
        return Err(InputError::Empty);
    }
    if is_archive(&bytes) {
        return Ok(Contents::Archive);
    }
    if let Some(format) = page::detect_foreign_format(&bytes) {
        return Err(InputError::Foreign(format));
    }
    let cut = (bytes.len() as u64 > most).then_some(size);
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(Contents::Page(PageBytes { bytes, cut }))
}

fn is_archive(head: &[u8]) -> bool {
    ARCHIVES.iter().any(|mark| head.starts_with(mark))
}

/// Counts what is taken from a source.
struct CountingReader<R> {
    source: R,
    bytes: u64,
}

impl<R: BufRead> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for CountingReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.source.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.bytes += amount as u64;
        self.source.consume(amount);
    }
}

/// A saved page.
pub(super) struct Saved {
    pub(super) name: String,
    pub(super) page: Page,
    pub(super) at_ms: i64,
}

/// Reads the pages of a file, which is a page or an archive. One that cannot be read is named and left out.
pub(super) fn pages(
    file: &Path,
    config: &Config,
    mut each: impl FnMut(Saved) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let page = match read_file(file, config) {
        Ok(Contents::Page(page)) => page,
        Ok(Contents::Archive) => {
            let problem = pages_of_archive(file, config, |page, _, at_ms| {
                let name = page.url.as_ref().map(|u| u.as_str().to_owned());
                each(Saved {
                    name: name.unwrap_or_default(),
                    page,
                    at_ms,
                })
            })?;
            problem.iter().for_each(|p| output::note(p));
            return Ok(());
        }
        Err(error) => {
            output::note(&format!("{}: {error}", file.display()));
            return Ok(());
        }
    };
    let hints = Hints {
        limits: config.page.clone(),
        ..Hints::default()
    };
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    each(Saved {
        name: name.into_owned(),
        page: Page::parse(&page.bytes, hints),
        at_ms: now_ms(),
    })
}

/// A longer line is not a document that we wrote.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// First bytes of zstd.
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Lines of a file.
pub(super) struct LineReader {
    source: Box<dyn BufRead>,
    /// Lines read so far.
    pub(super) number: u64,
}

impl LineReader {
    /// Opens a file, `-` for standard input. What holds no lines is the caller's mistake.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let refused = |why: String| UsageError(format!("{}: {why}", path.display()));
        if path.as_os_str() == "-" {
            return Self::new(io::stdin().lock()).map_err(|e| refused(format!("{e:#}")).into());
        }
        let file = File::open(path).map_err(|e| refused(InputError::from(e).to_string()))?;
        let is_dir = file.metadata().is_ok_and(|data| data.is_dir());
        if is_dir {
            return Err(refused("is a folder; name its files".to_owned()).into());
        }
        Self::new(BufReader::new(file)).map_err(|e| refused(format!("{e:#}")).into())
    }

    fn new(mut source: impl Read + 'static) -> anyhow::Result<Self> {
        let mut head = Vec::with_capacity(HEAD_BYTES);
        (&mut source)
            .take(HEAD_BYTES as u64)
            .read_to_end(&mut head)?;
        let is = |mark: &[u8]| head.starts_with(mark);
        let (is_gzip, is_zstd) = (is(&GZIP), is(ZSTD));
        if !is_gzip
            && !is_zstd
            && let Some(format) = page::detect_foreign_format(&head)
        {
            let mend =
                "JSON lines are read, also with zstd or gzip (taojin export --format jsonl.zst)";
            anyhow::bail!("is {format}; {mend}");
        }
        let whole = BufReader::new(Cursor::new(head).chain(source));
        let source: Box<dyn BufRead> = if is_gzip {
            Box::new(BufReader::new(MultiGzDecoder::new(whole)))
        } else if is_zstd {
            Box::new(BufReader::new(zstd::Decoder::with_buffer(whole)?))
        } else {
            Box::new(whole)
        };
        Ok(Self { source, number: 0 })
    }

    /// Puts the next line into `line`; false at the end.
    pub(super) fn next(&mut self, line: &mut Vec<u8>) -> anyhow::Result<bool> {
        line.clear();
        let number = self.number + 1;
        let got = (&mut self.source)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', line)
            .with_context(|| format!("breaks off in line {number}"))?;
        let too_long = got as u64 == MAX_LINE_BYTES && !line.ends_with(b"\n");
        anyhow::ensure!(
            !too_long,
            "line {number} has more than {MAX_LINE_BYTES} bytes"
        );
        self.number = number;
        Ok(got > 0)
    }
}

/// What is read of a line; `url` or `id` says where it is from.
#[derive(Debug, Deserialize)]
struct TextLine {
    text: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    id: Option<serde_json::Value>,
}

/// The texts of a file (`-` is standard input), `max_chars` characters at most. A line that is no object with a `text` is
/// left out and named.
pub(super) fn texts(path: &Path, max_chars: usize) -> anyhow::Result<Vec<Text>> {
    let name = path.display();
    let mut lines = LineReader::open(path)?;
    let (mut texts, mut left, mut line) = (Vec::new(), max_chars, Vec::new());
    let broken = || format!("{name} cannot be read");
    while left > 0 && lines.next(&mut line).with_context(broken)? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<TextLine>(&line) {
            Ok(line) => {
                left = left.saturating_sub(line.text.chars().count());
                texts.push(text(line, lines.number));
            }
            Err(error) => output::note(&format!("{name}:{}: skipped: {error}", lines.number)),
        }
    }
    Ok(texts)
}

fn text(line: TextLine, number: u64) -> Text {
    let id = line.id.map(|id| match id {
        serde_json::Value::String(id) => id,
        id => id.to_string(),
    });
    Text {
        document: line.url.or(id).unwrap_or_else(|| format!("line {number}")),
        title: line.title.unwrap_or_default(),
        text: line.text,
    }
}
