//! Reads labelled pages from a directory with `<set>/gold.jsonl` and `<set>/html/<id>.html`, or with one set directly. At
//! most one line or one page is in memory.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use super::structure::GoldBlock;

/// A longer line labels no page that anybody would label by hand.
const MAX_LINE_BYTES: u64 = 32 << 20;
/// File of a set that says what its pages should give.
const GOLD: &str = "gold.jsonl";

/// What stops an evaluation. The caller can mend all but `Write`.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// No labelled pages there.
    #[error("{}: no labelled pages: neither {GOLD} nor SET/{GOLD} is there", dir.display())]
    NoGold {
        /// The directory that was named.
        dir: PathBuf,
    },
    /// A line that says nothing usable.
    #[error("{}:{line}: {why}", file.display())]
    BadLine {
        /// File of gold, or of a saved run.
        file: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A set was requested that is not there.
    #[error("no set {name}; there are: {known}")]
    NoSuchSet {
        /// What was requested.
        name: String,
        /// What is there.
        known: String,
    },
    /// No page is of the language that was requested.
    #[error("no labelled page has lang {lang}")]
    NoPageOfLanguage {
        /// What was requested.
        lang: String,
    },
    /// A file that cannot be read.
    #[error("{}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Results that cannot be written.
    #[error("{}: {source}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A comment of the gold: its text alone, or an object that has one.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a comment is a text or an object with a `text`")]
pub enum GoldComment {
    /// The text.
    Text(String),
    /// An object; author and time are not compared.
    Object {
        /// What it says.
        #[serde(default)]
        text: Option<String>,
    },
}

impl GoldComment {
    /// What it says.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Object { text } => text.as_deref().unwrap_or_default(),
        }
    }
}

/// The value of a named field: one text, or a list. A list holds the items of a value, or several spellings of one.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a field is a text or a list of texts")]
pub enum GoldField {
    /// One text.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl GoldField {
    /// Its texts.
    pub fn texts(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Several(texts) => texts,
        }
    }
}

/// What a page should give; a field that is absent, null or empty is not judged. Other fields are ignored.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Gold {
    /// Name of the page: its file is `html/<id>.html`.
    pub id: String,
    /// URL it was saved from.
    pub url: Option<String>,
    /// Language, as `zh`.
    pub lang: Option<String>,
    /// Headline.
    pub title: Option<String>,
    /// First publication; compared by the day.
    pub published: Option<String>,
    /// Main text.
    pub text: Option<String>,
    /// Readers' comments; none is not the same as unknown, but neither is judged.
    pub comments: Option<Vec<GoldComment>>,
    /// `article`, `list` or what else it is.
    pub page_type: Option<String>,
    /// The site or template that it belongs to.
    pub cluster: Option<String>,
    /// Named fields beyond these.
    pub fields: BTreeMap<String, GoldField>,
    /// Headings, items, rows, listings, links and pictures of its main text.
    pub blocks: Vec<GoldBlock>,
    /// The labels do not fit the page: it is skipped.
    pub bad_gold: Option<bool>,
}

impl Gold {
    /// Whether title, text or date is known.
    pub fn is_labelled(&self) -> bool {
        let said = |field: &Option<String>| field.as_ref().is_some_and(|f| !f.is_empty());
        said(&self.title) || said(&self.text) || said(&self.published)
    }

    /// Language for the tables; `und` (undetermined, as in BCP 47) if none is given.
    pub fn language(&self) -> &str {
        self.lang.as_deref().unwrap_or("und")
    }
}

/// One set of labelled pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// Name of its directory.
    pub name: String,
    dir: PathBuf,
}

/// Where a set comes from, as its README says in lines that begin with `Source:` and `Licence:`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SetInfo {
    /// URL and commit.
    pub source: String,
    /// Name of the licence.
    pub licence: String,
}

/// Beginnings of the names of licences that let everyone learn from a work.
const LICENCES: [&str; 12] = [
    "MIT",
    "Apache",
    "GPL",
    "LGPL",
    "AGPL",
    "BSD",
    "CC",
    "MPL",
    "ISC",
    "ODbL",
    "EUPL",
    "Unlicense",
];

impl SetInfo {
    /// True if a licence is named, rather than missing or "for research only".
    pub fn is_licensed(&self) -> bool {
        LICENCES.iter().any(|name| self.licence.starts_with(name))
    }
}

/// The sets of `dir` by name: itself if it has gold, else its directories that have.
pub(super) fn list_sets(dir: &Path) -> Result<Vec<Set>, EvalError> {
    let name = |path: &Path| {
        path.file_name()
            .map_or_else(|| "pages".to_owned(), |n| n.to_string_lossy().into_owned())
    };
    if dir.join(GOLD).is_file() {
        let whole = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
        return Ok(vec![Set {
            name: name(&whole),
            dir: dir.to_owned(),
        }]);
    }
    let failed = |source| EvalError::Read {
        file: dir.to_owned(),
        source,
    };
    let mut sets: Vec<Set> = fs::read_dir(dir)
        .map_err(failed)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join(GOLD).is_file())
        .map(|dir| Set {
            name: name(&dir),
            dir,
        })
        .collect();
    sets.sort_by(|a, b| a.name.cmp(&b.name));
    if sets.is_empty() {
        return Err(EvalError::NoGold {
            dir: dir.to_owned(),
        });
    }
    Ok(sets)
}

impl Set {
    /// The gold of the set, page by page. Lines that are blank, and pages with bad gold, are skipped.
    pub fn gold(&self) -> Result<impl Iterator<Item = Result<Gold, EvalError>>, EvalError> {
        let lines = GoldLines::open(&self.dir.join(GOLD))?;
        Ok(lines.filter_map(|line| {
            match line.and_then(|line| {
                let gold: Gold = line.parse()?;
                if is_file_name(&gold.id) {
                    Ok(gold)
                } else {
                    Err(line.fault("`id` must be the name of a file in html/, without .html"))
                }
            }) {
                Ok(gold) if gold.bad_gold == Some(true) => None,
                other => Some(other),
            }
        }))
    }

    /// Bytes of a page, at most `limit` of them.
    pub fn html(&self, id: &str, limit: usize) -> io::Result<Vec<u8>> {
        let file = File::open(self.html_path(id))?;
        let known = file.metadata().map_or(0, |m| m.len()).min(limit as u64);
        let mut bytes = Vec::with_capacity(known as usize + 1);
        file.take(limit as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// What the README of the set says of where it comes from; nothing if there is none.
    pub fn about(&self) -> SetInfo {
        let text = fs::read_to_string(self.dir.join("README.md")).unwrap_or_default();
        let says = |names: &[&str]| {
            let value = text.lines().find_map(|line| {
                let line = line.trim_start_matches(['-', '*', ' ']);
                names.iter().find_map(|name| line.strip_prefix(name))
            });
            let value = value.unwrap_or_default().trim_start_matches(':');
            let name = value.split(['(', ';']).next().unwrap_or_default();
            name.replace('`', "").trim().to_owned()
        };
        SetInfo {
            source: says(&["Source"]),
            licence: says(&["Licence", "License"]),
        }
    }

    /// File of a page.
    pub fn html_path(&self, id: &str) -> PathBuf {
        self.dir.join("html").join(format!("{id}.html"))
    }
}

/// A file in `html/` or below, never outside.
fn is_file_name(id: &str) -> bool {
    !id.is_empty()
        && Path::new(id)
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
}

/// Lines of a file of JSON objects, with their numbers; blank ones are skipped.
pub(super) struct GoldLines {
    reader: BufReader<File>,
    file: PathBuf,
    line: usize,
}

/// One line.
pub(super) struct GoldLine {
    bytes: Vec<u8>,
    file: PathBuf,
    line: usize,
}

impl GoldLines {
    /// Opens a file.
    pub(super) fn open(file: &Path) -> Result<Self, EvalError> {
        let opened = File::open(file).map_err(|source| EvalError::Read {
            file: file.to_owned(),
            source,
        })?;
        Ok(Self {
            reader: BufReader::new(opened),
            file: file.to_owned(),
            line: 0,
        })
    }

    fn read(&mut self) -> Result<Option<GoldLine>, EvalError> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut bytes)
            .map_err(|source| EvalError::Read {
                file: self.file.clone(),
                source,
            })?;
        self.line += 1;
        let line = GoldLine {
            bytes,
            file: self.file.clone(),
            line: self.line,
        };
        match read as u64 {
            0 => Ok(None),
            MAX_LINE_BYTES => Err(line.fault("line of more than 32 MiB")),
            _ => Ok(Some(line)),
        }
    }
}

impl Iterator for GoldLines {
    type Item = Result<GoldLine, EvalError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.read() {
                Ok(Some(line)) if line.json().trim_ascii().is_empty() => {}
                Ok(line) => return line.map(Ok),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl GoldLine {
    /// The object on the line.
    pub(super) fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, EvalError> {
        serde_json::from_slice(self.json()).map_err(|error| {
            let why = error.to_string();
            // The place is that within this one line.
            let why = why.rsplit_once(" at line ").map_or(&*why, |(what, _)| what);
            self.fault(&format!("{why} (column {})", error.column()))
        })
    }

    /// An error that names the line.
    pub(super) fn fault(&self, why: &str) -> EvalError {
        EvalError::BadLine {
            file: self.file.clone(),
            line: self.line,
            why: why.to_owned(),
        }
    }

    /// Editors on Windows begin files with a byte order mark.
    fn json(&self) -> &[u8] {
        let bytes = self.bytes.as_slice();
        bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
    }
}
