//! The documents that terms are found in, cut into words: [`KeptCorpus`] reads what is new in the index and is kept in a file
//! from one search for terms to the next.
//!
//! The file only saves work. Without it, or with one that is not whole, all is read again. It is replaced by one rename, after
//! the documents were read and before the terms of them are on the review list: whoever is killed in between takes up there.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use taojin_search::analyze::Dictionary;
use taojin_search::index::{IndexError, Reader};
use taojin_search::terms::{self, Corpus, Found, Patterns, Text, TextKey};
use xxhash_rust::xxh3::xxh3_64;

/// The file in the data folder.
pub(super) const CORPUS_FILE: &str = "terms.corpus";
/// What it begins with: another form of it gets another number.
const MAGIC: [u8; 8] = *b"TaoTerm1";

/// After a crawl, one in so many of its documents is read: cutting one again costs about half of what its crawl cost.
const SHARE: usize = 10;
/// As many characters are read in any case: a thousand articles, a third of a second.
const LEAST_CHARS: usize = 1_000_000;

/// How much a search for terms may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// As much as the settings allow.
    Whole,
    /// So little that it is a small part of the work of the crawl that brought it: a share of the new documents.
    Share,
}

impl Budget {
    /// The bounds of a search that keeps so many characters.
    pub(super) fn chars(self, max_chars: usize) -> ReadingBudget {
        let (least_chars, share) = match self {
            Self::Whole => (max_chars, 1),
            Self::Share => (LEAST_CHARS.min(max_chars), SHARE),
        };
        ReadingBudget {
            max_chars,
            least_chars,
            share,
        }
    }
}

/// A [`Budget`] in numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadingBudget {
    /// Characters that are kept, and read at most.
    pub(super) max_chars: usize,
    /// Characters that are read in any case.
    pub(super) least_chars: usize,
    /// One in so many new documents is read beyond that.
    pub(super) share: usize,
}

impl ReadingBudget {
    fn is_spent(&self, chars: usize, documents: usize, new: usize) -> bool {
        chars >= self.max_chars
            || (chars >= self.least_chars && documents >= new.div_ceil(self.share))
    }
}

/// The documents of a search for terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadDocuments {
    /// Those that were read: the newest of the new ones.
    pub read: usize,
    /// Those that are new since the last search.
    pub new: usize,
}

/// Documents cut into words.
#[derive(Debug)]
pub(super) struct KeptCorpus {
    corpus: Corpus,
    /// The number of the latest change that was met.
    seq: u64,
}

impl KeptCorpus {
    /// What is kept in a file; nothing if it is not there or not whole.
    pub(super) fn load(path: &Path, patterns: Patterns) -> Self {
        let bytes = fs::read(path).unwrap_or_default();
        Self::parse(&bytes, &patterns).unwrap_or_else(|| Self {
            corpus: Corpus::new(patterns),
            seq: 0,
        })
    }

    fn parse(bytes: &[u8], patterns: &Patterns) -> Option<Self> {
        let (magic, rest) = bytes.split_first_chunk::<8>()?;
        let (sum, body) = rest.split_first_chunk::<8>()?;
        if *magic != MAGIC || u64::from_le_bytes(*sum) != xxh3_64(body) {
            return None;
        }
        let (seq, corpus) = body.split_first_chunk::<8>()?;
        Some(Self {
            corpus: Corpus::from_bytes(corpus, patterns.clone())?,
            seq: u64::from_le_bytes(*seq),
        })
    }

    /// Replaces the file. After a loss of power it may not be whole, which its sum shows.
    pub(super) fn save(&self, path: &Path) -> io::Result<()> {
        let mut body = self.seq.to_le_bytes().to_vec();
        body.extend(self.corpus.to_bytes());
        let dir = path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(&MAGIC)?;
        file.write_all(&xxh3_64(&body).to_le_bytes())?;
        file.write_all(&body)?;
        file.persist(path)?;
        Ok(())
    }

    /// Reads the documents that are new in an index, the newest ones if that is too much, and drops those that are gone or
    /// have changed; none if `go_on` said no.
    pub(super) fn read_new(
        mut self,
        reader: &Reader,
        budget: ReadingBudget,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<(Self, ReadDocuments)>, IndexError> {
        // Another index, whose numbers begin again.
        if reader.last_seq()? < self.seq {
            self.corpus.retain(0, |_| false);
            self.seq = 0;
        }
        let oldest = self.corpus.keys().map(|key| key.version).min();
        let after = oldest.map(|oldest| oldest.saturating_sub(1).min(self.seq));
        let changed = reader.changed_after(after)?;
        let keys = changed.into_iter();
        let current: HashSet<TextKey> = keys.map(|(id, version)| TextKey { id, version }).collect();
        let is_new = |key: &&TextKey| after.is_none() || key.version > self.seq;
        let mut new: Vec<TextKey> = current.iter().filter(is_new).copied().collect();
        new.sort_unstable_by_key(|key| (std::cmp::Reverse(key.version), key.id));
        let (mut texts, mut chars) = (Vec::new(), 0);
        for &key in &new {
            if !go_on() {
                return Ok(None);
            }
            if budget.is_spent(chars, texts.len(), new.len()) {
                break;
            }
            if let Some(text) = load_text(reader, key)? {
                chars += text.text.chars().count();
                texts.push((key, text));
            }
        }
        self.corpus.retain(usize::MAX, |key| current.contains(&key));
        let dictionary = reader.analyzer().dictionary();
        for (key, text) in texts.iter().rev() {
            if !go_on() {
                return Ok(None);
            }
            self.corpus.read(*key, text, &dictionary);
        }
        self.corpus.retain(budget.max_chars, |_| true);
        let newest = new.first().map_or(0, |key| key.version);
        self.seq = self.seq.max(newest);
        let documents = ReadDocuments {
            read: texts.len(),
            new: new.len(),
        };
        Ok(Some((self, documents)))
    }

    /// Finds the terms of all that is kept; none if `go_on` said no.
    pub(super) fn discover(
        &self,
        reader: &Reader,
        dictionary: &Dictionary,
        config: &terms::Config,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Vec<Found>>, IndexError> {
        let mut failure = None;
        let mut load = |key| {
            load_text(reader, key).unwrap_or_else(|error| {
                failure = Some(error);
                None
            })
        };
        let found = self.corpus.discover(dictionary, config, &mut load, go_on);
        failure.map_or(Ok(found), Err)
    }
}

fn load_text(reader: &Reader, key: TextKey) -> Result<Option<Text>, IndexError> {
    let stored = reader.version((key.id, key.version))?;
    Ok(stored.map(|stored| Text {
        document: stored.document.url,
        title: stored.document.title.unwrap_or_default(),
        text: stored.document.text,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_is_share_of_new_documents() {
        for (budget, chars, documents, new, is_spent, case) in [
            (
                Budget::Share,
                900_000,
                900,
                2_000,
                false,
                "less than is read in any case",
            ),
            (
                Budget::Share,
                1_000_000,
                1_000,
                2_000,
                true,
                "more than a share",
            ),
            (
                Budget::Share,
                1_500_000,
                1_500,
                20_000,
                false,
                "less than a share",
            ),
            (Budget::Share, 2_000_000, 2_000, 20_000, true, "a share"),
            (
                Budget::Share,
                4_000_000,
                4_000,
                900_000,
                true,
                "as much as is kept",
            ),
            (
                Budget::Whole,
                3_999_999,
                20_000,
                20_000,
                false,
                "less than is kept",
            ),
            (
                Budget::Whole,
                4_000_000,
                10,
                20_000,
                true,
                "as much as is kept",
            ),
        ] {
            let spent = budget.chars(4_000_000).is_spent(chars, documents, new);
            assert_eq!(spent, is_spent, "{case}");
        }
    }

    #[test]
    fn broken_file_is_read_as_none() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(CORPUS_FILE);
        let mut corpus = Corpus::new(Patterns::builtin().clone());
        let text = Text {
            document: String::new(),
            title: String::new(),
            text: "水平井压裂液投产了。".to_owned(),
        };
        let key = TextKey { id: 7, version: 3 };
        corpus.read(key, &text, &Dictionary::new(&[]));
        KeptCorpus { corpus, seq: 9 }.save(&path).expect("saved");
        let keys = |path: &Path| {
            let kept = KeptCorpus::load(path, Patterns::builtin().clone());
            (kept.seq, kept.corpus.keys().collect::<Vec<_>>())
        };
        assert_eq!(keys(&path), (9, vec![key]));
        let whole = fs::read(&path).expect("read");
        for (bytes, case) in [
            (
                whole.get(..whole.len() - 1).unwrap_or_default().to_vec(),
                "cut short",
            ),
            ([&whole[..], b"x"].concat(), "too long"),
            (
                [b"TaoTerm0", whole.get(8..).unwrap_or_default()].concat(),
                "another form",
            ),
            (Vec::new(), "empty"),
        ] {
            fs::write(&path, bytes).expect("written");
            assert_eq!(keys(&path), (0, Vec::new()), "{case}");
        }
    }
}
