//! An index open for reading. Out: documents by their identity, all documents, counts and sizes; `search` asks
//! for ranked ones. Sees every commit at once, also one of another process, because it looks at the time stamp of
//! the index before each look. Never writes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::collector::TopDocs;
use tantivy::query::{AllQuery, TermQuery};
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{DocAddress, Index, IndexReader, ReloadPolicy, Searcher, TantivyDocument, Term};

use super::clauses::place_of;
use super::folder::Folder;
use super::schema::{
    FINGERPRINT_FIELD, Fields, SEQ_FIELD, check_readable, refuse_newer, unreadable,
};
use super::site_titles::SiteTitles;
use super::source::{DocumentSource, StoredDocument};
use super::terms::Terms;
use super::{Config, IndexError};
use crate::analyze::{Analyzer, tokenizers};

/// File that tantivy replaces with every commit.
const META_FILE: &str = "meta.json";

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
    documents: Arc<dyn DocumentSource>,
    seen: Mutex<Stamp>,
    terms: Mutex<Option<Arc<Terms>>>,
}

impl Reader {
    /// Opens the index in `dir`, whose documents are kept in `documents`. The analyzer should have the lexicons of the
    /// writer.
    pub fn open(
        dir: &Path,
        analyzer: &Analyzer,
        config: &Config,
        documents: Arc<dyn DocumentSource>,
    ) -> Result<Self, IndexError> {
        let seen = stamp(dir)?;
        refuse_newer(dir)?;
        let directory = Folder::open(dir).map_err(|e| unreadable(dir, e))?;
        let mut index = Index::open(directory).map_err(|e| unreadable(dir, e))?;
        index.set_tokenizers(tokenizers());
        check_readable(dir, &index)?;
        let fields = Fields::of(&index);
        let inner = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(|e| unreadable(dir, e))?;
        Ok(Self {
            dir: dir.to_owned(),
            inner,
            fields,
            analyzer: analyzer.clone(),
            config: config.clone(),
            titles: SiteTitles::default(),
            documents,
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
        match found.first() {
            Some(&(_, at)) => self.load(&searcher, at),
            None => Ok(None),
        }
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

    /// Whether a document is of a site of this name, or of a host of this name or below it.
    pub fn has_site(&self, name: &str) -> Result<bool, IndexError> {
        let searcher = self.searcher()?;
        let Some(place) = place_of(name) else {
            return Ok(false);
        };
        let term = Term::from_field_text(self.fields.places, &place);
        let found = searcher.doc_freq(&term);
        found.map(|found| found > 0).map_err(|e| self.failed(e))
    }

    /// Documents in the index.
    pub fn num_docs(&self) -> Result<u64, IndexError> {
        Ok(self.searcher()?.num_docs())
    }

    /// Sequence number of the last commit.
    pub fn last_seq(&self) -> Result<u64, IndexError> {
        let searcher = self.searcher()?;
        Ok(check_readable(&self.dir, searcher.index())?.seq)
    }

    /// Bytes of the index's files on disk.
    pub fn size_bytes(&self) -> Result<u64, IndexError> {
        let usage = self.searcher()?.space_usage().map_err(|e| self.failed(e))?;
        Ok(usage.total().get_bytes())
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
            if let Some(stored) = self.load(&searcher, address)?
                && !each(stored)
            {
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

    /// The document at this place; none if it is gone and the index does not know yet.
    pub(super) fn load(
        &self,
        searcher: &Searcher,
        at: DocAddress,
    ) -> Result<Option<StoredDocument>, IndexError> {
        if let Some(stored) = self.load_kept(searcher, at)? {
            return Ok(Some(stored));
        }
        let (fingerprint, seq) = identity(searcher, at).map_err(|e| self.failed(e))?;
        let stored = self.documents.get(fingerprint, seq);
        stored.map_err(|e| self.failed(e))
    }

    /// The document that an index of an older format keeps itself.
    fn load_kept(
        &self,
        searcher: &Searcher,
        at: DocAddress,
    ) -> Result<Option<StoredDocument>, IndexError> {
        let Some(field) = self.fields.kept else {
            return Ok(None);
        };
        let document: TantivyDocument = searcher.doc(at).map_err(|e| self.failed(e))?;
        let bytes = document.get_first(field).and_then(|value| value.as_bytes());
        let stored = bytes.map(serde_json::from_slice).transpose();
        stored.map_err(|e| self.failed(e))
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

/// Which document stands at a place, and the number of the change that made it what it is.
pub(super) fn identity(searcher: &Searcher, at: DocAddress) -> tantivy::Result<(u64, u64)> {
    let columns = searcher.segment_reader(at.segment_ord).fast_fields();
    let first = |column: tantivy::columnar::Column<u64>| column.first(at.doc_id);
    let fingerprint = first(columns.u64(FINGERPRINT_FIELD)?);
    let seq = first(columns.u64(SEQ_FIELD)?);
    Ok((fingerprint.unwrap_or_default(), seq.unwrap_or_default()))
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
