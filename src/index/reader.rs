//! Searching. In: a [`Query`]. Out: the stored documents that fit, ranked. Sees every commit at once, also one of
//! another process, because it looks at the time stamp of the index before each search. Never writes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tantivy::collector::{Count, TopDocs};
use tantivy::directory::MmapDirectory;
use tantivy::query::{AllQuery, Query as TantivyQuery, TermQuery};
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{
    DocAddress, Index, IndexReader, Order, ReloadPolicy, Searcher, TantivyDocument, Term,
};

use super::clauses::Builder;
use super::plain::Demand;
use super::query::{Query, Sort};
use super::schema::{Fields, PUBLISHED_FIELD};
use super::sites::SiteCounts;
use super::writer::{check_format, host_of, unreadable};
use super::{Config, Entry, IndexError};
use crate::analyze::{Analyzer, tokenizers};
use crate::extract::Document;

/// File that tantivy replaces with every commit.
const META_FILE: &str = "meta.json";
/// Decompressed blocks of documents kept for the next hit, about 32 KB each.
const CACHED_BLOCKS: usize = 64;

/// With fewer hits than this a query of plain words demands less.
const FEW_HITS: u64 = 10;

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
    pub(super) fn of(entry: &Entry<'_>) -> Self {
        let mut document = entry.document.clone();
        document.links = Vec::new();
        Self {
            fingerprint: entry.fingerprint,
            seq: entry.seq,
            fetched_ms: entry.fetched_ms,
            document,
        }
    }

    pub(super) fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

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

/// A document that fits a query.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundDocument {
    /// BM25 score, 0 when sorted by date.
    pub score: f32,
    /// The document.
    pub stored: StoredDocument,
}

/// Documents of one site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SiteCount {
    /// Name of the site, or its host.
    pub site: String,
    /// How many documents.
    pub documents: u64,
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Documents that fit, all pages together.
    pub total: usize,
    /// Time of the search.
    pub took: Duration,
    /// The page that was asked for.
    pub documents: Vec<FoundDocument>,
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
    seen: Mutex<Stamp>,
}

impl Reader {
    /// Opens the index in `dir`. The analyzer should have the lexicons of the writer.
    pub fn open(dir: &Path, analyzer: &Analyzer, config: &Config) -> Result<Self, IndexError> {
        let seen = stamp(dir)?;
        let directory = MmapDirectory::open(dir).map_err(|e| unreadable(dir, e))?;
        let mut index = Index::open(directory).map_err(|e| unreadable(dir, e))?;
        index.set_tokenizers(tokenizers(analyzer));
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
            seen: Mutex::new(seen),
        })
    }

    /// Finds documents. `limit` and `offset` are cut to [`Query::MAX_LIMIT`] and [`Query::MAX_WINDOW`].
    pub fn search(&self, query: &Query) -> Result<Found, IndexError> {
        let started = Instant::now();
        let searcher = self.searcher()?;
        let limit = query.limit.min(Query::MAX_LIMIT);
        let offset = query.offset.min(Query::MAX_WINDOW - limit);
        let rank = |demand| {
            let built = self.build(query, demand);
            self.rank(&searcher, built.as_ref(), query.sort, offset, limit)
                .map_err(|e| self.failed(e))
        };
        let (mut total, mut ranked) = rank(Demand::Words)?;
        if demands_less(query, total as u64) {
            (total, ranked) = rank(Demand::Pairs)?;
        }
        let mut documents = Vec::with_capacity(ranked.len());
        for (score, address) in ranked {
            let stored = self.load(&searcher, address)?;
            documents.push(FoundDocument { score, stored });
        }
        Ok(Found {
            total,
            took: started.elapsed(),
            documents,
        })
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

    /// How many of the documents that fit each site has, most first. Page and order of the query do not matter.
    pub fn sites(&self, query: &Query) -> Result<Vec<SiteCount>, IndexError> {
        let searcher = self.searcher()?;
        let count = |demand| {
            searcher
                .search(self.build(query, demand).as_ref(), &SiteCounts)
                .map_err(|e| self.failed(e))
        };
        let mut counts = count(Demand::Words)?;
        let total: u64 = counts.iter().map(|(_, count)| count).sum();
        if demands_less(query, total) {
            counts = count(Demand::Pairs)?;
        }
        Ok(counts
            .into_iter()
            .map(|(site, documents)| SiteCount { site, documents })
            .collect())
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

    pub(super) fn build(&self, query: &Query, demand: Demand) -> Box<dyn TantivyQuery> {
        Builder {
            fields: &self.fields,
            dictionary: &self.analyzer.dictionary(),
            config: &self.config,
            demand,
        }
        .build(query)
    }

    fn rank(
        &self,
        searcher: &Searcher,
        query: &dyn TantivyQuery,
        sort: Sort,
        offset: usize,
        limit: usize,
    ) -> tantivy::Result<(usize, Vec<(f32, DocAddress)>)> {
        if limit == 0 {
            return Ok((searcher.search(query, &Count)?, Vec::new()));
        }
        let top = TopDocs::with_limit(limit).and_offset(offset);
        match sort {
            Sort::Relevance => {
                let (ranked, total) = searcher.search(query, &(top.order_by_score(), Count))?;
                Ok((total, ranked))
            }
            Sort::Date => {
                let by_date = top.order_by_fast_field::<i64>(PUBLISHED_FIELD, Order::Desc);
                let (ranked, total) = searcher.search(query, &(by_date, Count))?;
                Ok((total, ranked.into_iter().map(|(_, at)| (0.0, at)).collect()))
            }
        }
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

pub(super) fn demands_less(query: &Query, hits: u64) -> bool {
    hits < FEW_HITS && !query.words.trim().is_empty()
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
