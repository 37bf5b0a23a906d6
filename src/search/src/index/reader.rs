//! An index open for reading. Out: documents by their identity, all documents, counts and sizes; `search` asks
//! for ranked ones. Sees every commit at once, also one of another process, because it looks at the time stamp of
//! the index before each look. Never writes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tantivy::collector::TopDocs;
use tantivy::directory::MmapDirectory;
use tantivy::query::{AllQuery, TermQuery};
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{DocAddress, Index, IndexReader, ReloadPolicy, Searcher, TantivyDocument, Term};

use super::entry::host_of;
use super::schema::{FINGERPRINT_FIELD, Fields, check_format, unreadable};
use super::site_titles::SiteTitles;
use super::terms::Terms;
use super::{Config, IndexError};
use crate::analyze::{Analyzer, tokenizers};
use taojin_extract::Document;

/// File that tantivy replaces with every commit.
const META_FILE: &str = "meta.json";
/// Decompressed blocks of documents kept for the next hit, about 32 KB each.
const CACHED_BLOCKS: usize = 128;

/// A document as the index keeps it: everything but its links.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredDocument {
    /// Identity of the page.
    pub fingerprint: u64,
    /// Number in the outbox.
    pub seq: u64,
    /// When the page was fetched, Unix milliseconds.
    pub fetched_ms: i64,
    /// The document.
    pub document: Document,
}

impl StoredDocument {
    /// The identifier used in addresses and answers: 16 hexadecimal digits.
    pub fn id(&self) -> String {
        format!("{:016x}", self.fingerprint)
    }

    /// Name of the site, or the host of a document that came from none; what counts by site go by.
    pub fn site(&self) -> String {
        let host = || host_of(&self.document.url);
        self.document.site.clone().unwrap_or_else(host)
    }
}

/// What tells one commit from the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    changed_s: i64,
    changed_ns: i64,
    bytes: u64,
}

/// An index open for searching.
pub struct Reader {
    dir: PathBuf,
    inner: IndexReader,
    pub(super) fields: Fields,
    analyzer: Analyzer,
    config: Config,
    titles: SiteTitles,
    seen: Mutex<Stamp>,
    terms: Mutex<Option<Arc<Terms>>>,
}

impl Reader {
    /// Opens the index in `dir`. The analyzer should have the lexicons of the writer.
    pub fn open(dir: &Path, analyzer: &Analyzer, config: &Config) -> Result<Self, IndexError> {
        let seen = stamp(dir)?;
        let directory = MmapDirectory::open(dir).map_err(|e| unreadable(dir, e))?;
        let mut index = Index::open(directory).map_err(|e| unreadable(dir, e))?;
        index.set_tokenizers(tokenizers());
        let fields = Fields::new();
        check_format(dir, &index, &fields)?;
        let inner = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .doc_store_cache_num_blocks(CACHED_BLOCKS)
            .try_into()
            .map_err(|e| unreadable(dir, e))?;
        Ok(Self {
            dir: dir.to_owned(),
            inner,
            fields,
            analyzer: analyzer.clone(),
            config: config.clone(),
            titles: SiteTitles::default(),
            seen: Mutex::new(seen),
            terms: Mutex::new(None),
        })
    }

    /// The same reader, to which sites have these names for readers as well.
    pub fn with_titles(self, titles: SiteTitles) -> Self {
        Self { titles, ..self }
    }

    /// What readers call sites.
    pub fn titles(&self) -> &SiteTitles {
        &self.titles
    }

    /// The terms of the current dictionary.
    pub(super) fn terms(&self) -> Arc<Terms> {
        let dictionary = self.analyzer().dictionary();
        let mut known = self.terms.lock().unwrap_or_else(PoisonError::into_inner);
        match known.as_ref() {
            Some(terms) if terms.version == dictionary.version() => Arc::clone(terms),
            _ => {
                let terms = Arc::new(Terms::new(&dictionary));
                *known = Some(Arc::clone(&terms));
                terms
            }
        }
    }

    /// The document with this fingerprint.
    pub fn document(&self, fingerprint: u64) -> Result<Option<StoredDocument>, IndexError> {
        let searcher = self.searcher()?;
        let term = Term::from_field_u64(self.fields.fingerprint, fingerprint);
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        let found = searcher
            .search(&query, &TopDocs::with_limit(1).order_by_score())
            .map_err(|e| self.failed(e))?;
        found
            .first()
            .map(|&(_, address)| self.load(&searcher, address))
            .transpose()
    }

    /// The document with this identifier, as [`StoredDocument::id`] writes it.
    pub fn document_by_id(&self, id: &str) -> Result<Option<StoredDocument>, IndexError> {
        match u64::from_str_radix(id, 16) {
            Ok(fingerprint) if id.len() == 16 => self.document(fingerprint),
            _ => Ok(None),
        }
    }

    /// Fingerprints of all documents of a site; the site of a document that came from none is its host.
    pub fn fingerprints_of_site(&self, site: &str) -> Result<Vec<u64>, IndexError> {
        let searcher = self.searcher()?;
        let term = Term::from_field_text(self.fields.site, site);
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        let found = searcher
            .search(&query, &tantivy::collector::DocSetCollector)
            .map_err(|e| self.failed(e))?;
        let mut columns = Vec::new();
        for segment in searcher.segment_readers() {
            let column = segment.fast_fields().u64(FINGERPRINT_FIELD);
            columns.push(column.map_err(|e| self.failed(e))?);
        }
        let fingerprint = |at: DocAddress| columns.get(at.segment_ord as usize)?.first(at.doc_id);
        Ok(found.into_iter().filter_map(fingerprint).collect())
    }

    /// Documents in the index.
    pub fn num_docs(&self) -> Result<u64, IndexError> {
        Ok(self.searcher()?.num_docs())
    }

    /// Sequence number of the last commit.
    pub fn last_seq(&self) -> Result<u64, IndexError> {
        let searcher = self.searcher()?;
        check_format(&self.dir, searcher.index(), &self.fields)
    }

    /// Bytes of the index's files on disk, and of them those that keep the documents.
    pub fn size_bytes(&self) -> Result<(u64, u64), IndexError> {
        let usage = self.searcher()?.space_usage().map_err(|e| self.failed(e))?;
        let stored = usage
            .segments()
            .iter()
            .map(|segment| segment.store().total().get_bytes())
            .sum();
        Ok((usage.total().get_bytes(), stored))
    }

    /// Calls `each` with every document, in no order, until it returns false.
    pub fn for_each(&self, mut each: impl FnMut(StoredDocument) -> bool) -> Result<(), IndexError> {
        let searcher = self.searcher()?;
        let all = searcher
            .search(&AllQuery, &tantivy::collector::DocSetCollector)
            .map_err(|e| self.failed(e))?;
        let mut addresses: Vec<DocAddress> = all.into_iter().collect();
        addresses.sort_unstable();
        for address in addresses {
            if !each(self.load(&searcher, address)?) {
                break;
            }
        }
        Ok(())
    }

    /// The analyzer queries are cut with.
    pub fn analyzer(&self) -> &Analyzer {
        &self.analyzer
    }

    /// The settings it was opened with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    pub(super) fn load(
        &self,
        searcher: &Searcher,
        at: DocAddress,
    ) -> Result<StoredDocument, IndexError> {
        let document: TantivyDocument = searcher.doc(at).map_err(|e| self.failed(e))?;
        let bytes = document
            .get_first(self.fields.document)
            .and_then(|value| value.as_bytes())
            .ok_or_else(|| self.failed("a document without its stored form"))?;
        serde_json::from_slice(bytes).map_err(|e| self.failed(e))
    }

    /// The newest state: reloads when the index was committed since the last look.
    pub(super) fn searcher(&self) -> Result<Searcher, IndexError> {
        let now = stamp(&self.dir)?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen != now {
            self.inner.reload().map_err(|e| unreadable(&self.dir, e))?;
            *seen = now;
        }
        Ok(self.inner.searcher())
    }

    pub(super) fn failed(&self, error: impl std::fmt::Display) -> IndexError {
        IndexError::Failed {
            dir: self.dir.clone(),
            cause: error.to_string(),
        }
    }
}

fn stamp(dir: &Path) -> Result<Stamp, IndexError> {
    let meta = std::fs::metadata(dir.join(META_FILE)).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => IndexError::Missing(dir.to_owned()),
        _ => unreadable(dir, e),
    })?;
    Ok(Stamp {
        inode: meta.ino(),
        changed_s: meta.mtime(),
        changed_ns: meta.mtime_nsec(),
        bytes: meta.size(),
    })
}
