//! An index open for reading: documents by their identity, all documents, those that came since a [`Watermark`], counts
//! and sizes; [`super::search`] ranks. [`SiteTitles`] are what readers call sites. Never writes.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::facets::trends::Comparison;
use super::query::Query;
use super::rank::clauses::{expanded, place_of};
use super::rank::plan::Plan;
use super::remote::{EngineTrouble, RemoteIndex, RemoteView, TroubleKind};
use super::schema::{Column, FORMAT};
use super::search::Search;
use super::storage::embedded::Opened;
use super::stored::{DocumentSource, SourceError, StoredDocument};
use super::view::{Order, View, Wanted, reckoned};
use super::{Config, IndexError};
use crate::analyze::{Analyzer, Expanded, normalize};

/// What keeps the index.
enum Engine {
    Embedded(Opened),
    Remote(RemoteIndex),
}

/// An index open for searching.
pub struct Reader {
    engine: Engine,
    analyzer: Analyzer,
    config: Config,
    titles: SiteTitles,
    documents: Arc<dyn DocumentSource>,
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
        let engine = Engine::Embedded(Opened::open(dir, config.parallelism)?);
        Ok(Self::over(engine, analyzer, config, documents))
    }

    /// The same for an index in an engine that is reached over the network, which may not answer yet.
    pub fn remote(
        index: RemoteIndex,
        analyzer: &Analyzer,
        config: &Config,
        documents: Arc<dyn DocumentSource>,
    ) -> Self {
        Self::over(Engine::Remote(index), analyzer, config, documents)
    }

    fn over(
        engine: Engine,
        analyzer: &Analyzer,
        config: &Config,
        documents: Arc<dyn DocumentSource>,
    ) -> Self {
        Self {
            engine,
            analyzer: analyzer.clone(),
            config: config.clone(),
            titles: SiteTitles::default(),
            documents,
        }
    }

    /// The format of the index, where it is one of an earlier version: it is searched, but finds less than one that is made
    /// again.
    pub fn outdated_format(&self) -> Option<u32> {
        match &self.engine {
            Engine::Embedded(opened) => opened.format().filter(|format| *format != FORMAT),
            Engine::Remote(_) => None,
        }
    }

    /// Whether the index is in an engine that is reached over the network, so that each question takes time.
    pub fn is_remote(&self) -> bool {
        matches!(self.engine, Engine::Remote(_))
    }

    /// The same reader, to which sites have these names for readers as well.
    pub fn with_titles(self, titles: SiteTitles) -> Self {
        Self { titles, ..self }
    }

    /// What readers call sites.
    pub fn titles(&self) -> &SiteTitles {
        &self.titles
    }

    /// The document with this fingerprint.
    pub fn document(&self, fingerprint: u64) -> Result<Option<StoredDocument>, IndexError> {
        let view = self.view()?;
        match view.find(fingerprint)? {
            Some(at) => self.version(view.identity(at)?),
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

    /// Identifier of the document at an address, as [`StoredDocument::id`] writes it; none where the index has none.
    pub fn id_at(&self, url: &str) -> Result<Option<String>, IndexError> {
        let found = self
            .documents
            .find(url)
            .map_err(|e| unreadable(&self.engine, e))?;
        let Some(fingerprint) = found else {
            return Ok(None);
        };
        let there = self.view()?.find(fingerprint)?;
        Ok(there.map(|_| format!("{fingerprint:016x}")))
    }

    /// Fingerprints of all documents of a site; the site of a document that came from none is its host.
    pub fn fingerprints_of_site(&self, site: &str) -> Result<Vec<u64>, IndexError> {
        let view = self.view()?;
        let plan = Plan::Term(Column::Site, site.to_owned());
        let mut fingerprints = Vec::new();
        view.each(&plan, None, &mut |at| {
            fingerprints.push(view.identity(at)?.0);
            Ok(true)
        })?;
        Ok(fingerprints)
    }

    /// Whether a document is of a site of this name, or of a host of this name or below it.
    pub fn has_site(&self, name: &str) -> Result<bool, IndexError> {
        let Some(place) = place_of(name) else {
            return Ok(false);
        };
        let view = self.view()?;
        reckoned(view.as_ref(), |statistics| {
            statistics.frequency(Column::Places, &place) > 0
        })
    }

    /// Documents in the index.
    pub fn num_docs(&self) -> Result<u64, IndexError> {
        reckoned(self.view()?.as_ref(), |statistics| statistics.documents())
    }

    /// Sequence number of the last commit.
    pub fn last_seq(&self) -> Result<u64, IndexError> {
        self.view()?.last_seq()
    }

    /// Bytes of the index's files on disk.
    pub fn size_bytes(&self) -> Result<u64, IndexError> {
        self.view()?.size_bytes()
    }

    /// Fingerprint and number of the last change of each document that changed after change `seq`, or of every document, in
    /// no order. Reads no document.
    pub fn changed_after(&self, seq: Option<u64>) -> Result<Vec<(u64, u64)>, IndexError> {
        let after = seq.map(|seq| Watermark {
            seq,
            fetched_ms: i64::MAX,
        });
        self.view()?.identities(after)
    }

    /// The document of this fingerprint as the change of this number left it, or, where that version is not kept any more,
    /// as it is now; none if it is gone.
    pub fn version(
        &self,
        (fingerprint, seq): (u64, u64),
    ) -> Result<Option<StoredDocument>, IndexError> {
        let stored = self.documents.get(fingerprint, seq);
        stored.map_err(|e| unreadable(&self.engine, e))
    }

    /// The words of a query for which others are searched for as well.
    pub fn expanded(&self, query: &Query) -> Vec<Expanded> {
        expanded(query, &self.analyzer().dictionary())
    }

    /// The analyzer queries are cut with.
    pub fn analyzer(&self) -> &Analyzer {
        &self.analyzer
    }

    /// The settings it was opened with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The newest state of the index.
    pub(crate) fn view(&self) -> Result<Box<dyn View + '_>, IndexError> {
        Ok(match &self.engine {
            Engine::Embedded(opened) => Box::new(opened.newest()?),
            Engine::Remote(index) => Box::new(RemoteView::new(index)),
        })
    }

    /// Counts for comparing queries.
    pub fn comparison(&self) -> Comparison<'_> {
        Comparison(self)
    }
}

/// How far an earlier run came. A document that is written or changed later has a higher number in the outbox, or, if
/// it was imported, a later time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watermark {
    /// Highest number in the outbox.
    pub seq: u64,
    /// Latest time at which a document was fetched or imported, Unix milliseconds.
    pub fetched_ms: i64,
}

impl Watermark {
    /// Whether a document came or changed after this.
    pub fn is_before(&self, seq: u64, fetched_ms: i64) -> bool {
        seq > self.seq || fetched_ms > self.fetched_ms
    }

    fn max(self, other: Self) -> Self {
        Self {
            seq: self.seq.max(other.seq),
            fetched_ms: self.fetched_ms.max(other.fetched_ms),
        }
    }
}

impl Reader {
    /// Where the index stands: a scan after this gives only what comes later.
    pub fn watermark(&self) -> Result<Watermark, IndexError> {
        self.view()?.watermark()
    }

    /// Calls `each` with every document that fits and came after `after`, until it returns false; then the
    /// watermark stays. Limit, offset and order of the query do not matter.
    pub fn scan(
        &self,
        query: &Query,
        after: Watermark,
        mut each: impl FnMut(StoredDocument) -> bool,
    ) -> Result<Watermark, IndexError> {
        let view = self.view()?;
        let plan = Search::new(self, view.as_ref(), query)?.plan;
        // Before the documents: what comes meanwhile is for the next run.
        let newest = view.watermark()?;
        let all = view.each(&plan, Some(after), &mut |at| {
            let stored = self.version(view.identity(at)?)?;
            Ok(stored.is_none_or(&mut each))
        })?;
        Ok(if all { after.max(newest) } else { after })
    }

    /// The documents that fit and came last, latest first.
    pub fn latest(&self, query: &Query, limit: usize) -> Result<Vec<StoredDocument>, IndexError> {
        let view = self.view()?;
        let plan = Search::new(self, view.as_ref(), query)?.plan;
        let wanted = Wanted {
            order: Order::Fetched,
            range: 0..limit.clamp(1, Query::MAX_LIMIT),
            counts: false,
            utc_offset_minutes: 0,
            stop: &query.stop,
        };
        let latest = view.rank(&plan, &wanted)?.documents;
        let mut documents = Vec::with_capacity(latest.len());
        for ranked in latest {
            documents.extend(self.version(view.identity(ranked.at)?)?);
        }
        Ok(documents)
    }
}

/// Gives name and title of each site that has a title.
type Source = Arc<dyn Fn() -> Vec<(String, String)> + Send + Sync>;

/// The titles of sites; none without a source.
#[derive(Clone, Default)]
pub struct SiteTitles(Option<Source>);

impl SiteTitles {
    /// Asks `source` at each look, since a reload may change them.
    pub fn new(source: impl Fn() -> Vec<(String, String)> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(source)))
    }

    /// The title of the site `name`, if it has one.
    pub fn title(&self, name: &str) -> Option<String> {
        let found = self.all().into_iter().find(|(site, _)| site == name);
        found.map(|(_, title)| title)
    }

    /// The names of the sites that a reader calls so; several sites may share a title.
    pub fn names(&self, title: &str) -> Vec<String> {
        let wanted = normalize(title.trim());
        let called = |(_, title): &(String, String)| normalize(title.trim()) == wanted;
        let found = self.all().into_iter().filter(called);
        found.map(|(name, _)| name).collect()
    }

    /// Returns the titles by the names of their sites.
    pub fn by_name(&self) -> HashMap<String, String> {
        self.all().into_iter().collect()
    }

    /// Returns name and title of each site that has a title.
    pub fn all(&self) -> Vec<(String, String)> {
        let mut all = self.0.as_ref().map(|source| source()).unwrap_or_default();
        all.retain(|(_, title)| !title.trim().is_empty());
        all
    }
}

impl fmt::Debug for SiteTitles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all()).finish()
    }
}

/// The error where the store does not give a document.
fn unreadable(engine: &Engine, error: SourceError) -> IndexError {
    match engine {
        Engine::Embedded(opened) => opened.failed(error),
        Engine::Remote(index) => IndexError::Remote {
            place: index.place(),
            trouble: EngineTrouble::new(
                TroubleKind::Other,
                format!("a document cannot be read from the store: {error}"),
            ),
        },
    }
}
