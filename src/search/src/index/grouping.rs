//! Reprints and the index. In: documents as they are written. Out: the group of each. Reads texts that a new one
//! seems to repeat, as they were at the last commit, and starts with what the index already holds. Never writes.

use std::sync::Arc;

use tantivy::collector::TopDocs;
use tantivy::query::{Query as TantivyQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, Index, IndexReader, ReloadPolicy, Searcher};

use super::alike::Text;
use super::embedded::identity;
use super::reprints::{Placed, REMEMBERED, Reprints};
use super::schema::Column;
use super::sketch::Sketch;
use super::stored::{DocumentSource, StoredDocument};

/// What is known of reprints while an index is written.
pub(super) struct Grouping {
    reprints: Reprints,
    committed: IndexReader,
    documents: Arc<dyn DocumentSource>,
    stale: bool,
}

impl Grouping {
    /// Takes up the latest documents of an index.
    pub(super) fn open(index: &Index, documents: Arc<dyn DocumentSource>) -> tantivy::Result<Self> {
        let committed: IndexReader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        let mut reprints = Reprints::new(REMEMBERED);
        recall(&committed.searcher(), &mut reprints)?;
        Ok(Self {
            reprints,
            committed,
            documents,
            stale: false,
        })
    }

    /// The group of a document whose text is this in normal form; none for a text too short to tell.
    pub(super) fn place(
        &mut self,
        stored: &StoredDocument,
        normal: &str,
    ) -> tantivy::Result<Option<Placed>> {
        if self.stale {
            self.committed.reload()?;
            self.stale = false;
        }
        let searcher = self.committed.searcher();
        let documents = &self.documents;
        let read = |wanted| {
            // What cannot be read is not compared: the document is then a group of its own.
            let seq = seq_of(&searcher, wanted)?;
            let stored = documents.get(wanted, seq).ok()??;
            Some(Text::of(&stored.document, &stored.body()))
        };
        let text = Text::of(&stored.document, normal);
        Ok(self.reprints.place(stored.fingerprint, text, read))
    }

    /// A document is deleted, or comes again.
    pub(super) fn forget(&mut self, fingerprint: u64) {
        self.reprints.forget(fingerprint);
    }

    /// After a commit: what it wrote can be read.
    pub(super) fn committed(&mut self) {
        self.stale = true;
    }
}

/// The number of the change that was committed last of a document.
fn seq_of(searcher: &Searcher, fingerprint: u64) -> Option<u64> {
    let term = Column::Fingerprint.number(fingerprint);
    let query: Box<dyn TantivyQuery> = Box::new(TermQuery::new(term, IndexRecordOption::Basic));
    let top = TopDocs::with_limit(1).order_by_score();
    let (_, at) = searcher.search(&*query, &top).ok()?.into_iter().next()?;
    Some(identity(searcher, at).ok()?.1)
}

/// Remembers the latest documents of the index, the latest last.
fn recall(searcher: &Searcher, reprints: &mut Reprints) -> tantivy::Result<()> {
    let mut latest: Vec<(u64, DocAddress)> = Vec::new();
    for (ordinal, segment) in (0..).zip(searcher.segment_readers()) {
        let Some(seq) = segment
            .fast_fields()
            .column_opt::<u64>(Column::Seq.name())?
        else {
            continue;
        };
        let alive = segment.doc_ids_alive();
        latest
            .extend(alive.map(|doc| (seq.first(doc).unwrap_or(0), DocAddress::new(ordinal, doc))));
    }
    latest.sort_unstable();
    let skipped = latest.len().saturating_sub(REMEMBERED);
    let mut columns = Vec::new();
    for segment in searcher.segment_readers() {
        let fields = segment.fast_fields();
        columns.push((
            fields.column_opt::<u64>(Column::Fingerprint.name())?,
            fields.column_opt::<u64>(Column::Group.name())?,
            fields.column_opt::<u64>(Column::Sketch.name())?,
        ));
    }
    for (_, at) in latest.into_iter().skip(skipped) {
        let Some((Some(fingerprint), Some(group), Some(sketch))) =
            columns.get(at.segment_ord as usize)
        else {
            continue;
        };
        let packed = sketch.values_for_doc(at.doc_id);
        let (fingerprint, group) = (fingerprint.first(at.doc_id), group.first(at.doc_id));
        if let (Some(fingerprint), Some(group), Some(sketch)) =
            (fingerprint, group, Sketch::unpacked(packed))
        {
            reprints.remember(fingerprint, group, sketch);
        }
    }
    Ok(())
}
