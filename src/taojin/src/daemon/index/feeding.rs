//! Feeds rows of the log into an index, in order.
//!
//! A document that cannot be read, or that makes indexing fail, is skipped with its reason, and those after it continue.
//!
//! The index works in threads of its own, so a failed commit does not say which document it was. After any failure the
//! rows that were under way are therefore tried alone before they go in again. [`LogFeed`] remembers them.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use super::ROWS;
use super::turns::LogTurns;
use crate::documents::decode;
use taojin_crawl::store::{self, DocumentRow, StoreError};
use taojin_search::index::{IndexError, IndexWriter, SkippedDocument, caught};

/// Time after which other work of the indexer has its turn: the texts of some pages take it long.
const SLICE: Duration = Duration::from_millis(400);

/// Stands for documents that cannot be named, since their rows cannot be read.
const UNKNOWN: u64 = 0;

/// What failures have taught about the rows to come.
#[derive(Debug, Default)]
struct SuspectRows {
    /// The last row that was given to the index.
    given: u64,
    /// Rows up to this one are tried alone first.
    until: u64,
    /// The row at which the index went down, and how.
    fatal: Option<(u64, String)>,
    /// It was the last failure that told this row.
    is_new: bool,
}

impl SuspectRows {
    /// The index has failed, for whatever reason.
    fn failed(&mut self) {
        self.until = self.until.max(self.given);
    }

    /// This row failed before.
    fn suspect(&mut self, seq: u64) {
        self.until = self.until.max(seq);
    }

    /// Whether the last failure told the row at which the index went down. Each is told once.
    fn take_warning(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }
}

/// What was added at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AddedRows {
    /// So many changes.
    pub(super) count: usize,
    /// There are more.
    pub(super) has_more: bool,
}

impl AddedRows {
    /// Whether so many came that more of them should be committed at once.
    pub(super) fn are_many(self) -> bool {
        self.count >= ROWS
    }
}

/// The log as an indexer feeds it into its index, and into the one that is to replace that.
pub(super) struct LogFeed {
    reader: store::Reader,
    turns: LogTurns,
    suspects: SuspectRows,
    rebuild_suspects: SuspectRows,
}

impl LogFeed {
    pub(super) fn new(reader: store::Reader) -> Self {
        Self {
            reader,
            turns: LogTurns::default(),
            suspects: SuspectRows::default(),
            rebuild_suspects: SuspectRows::default(),
        }
    }

    pub(super) fn reader(&self) -> &store::Reader {
        &self.reader
    }

    /// Returns the number of the last change in the log; 0 if it is empty.
    pub(super) fn last_seq(&self) -> Result<u64, StoreError> {
        Ok(number(self.reader.last_document_seq()?))
    }

    /// Puts at most [`ROWS`] changes after `seq` into the index, as many as it can in [`SLICE`], and moves `seq` on to the last one
    /// up to which there are all.
    pub(super) fn add_rows(
        &mut self,
        writer: &mut dyn IndexWriter,
        seq: &mut u64,
    ) -> anyhow::Result<AddedRows> {
        let last = self.last_seq()?;
        let added = self.add_next_rows(writer, seq)?;
        if added.count == 0 {
            // Of a store that was set back the last numbers are of no change.
            *seq = last.max(*seq);
        }
        Ok(added)
    }

    fn add_next_rows(
        &mut self,
        writer: &mut dyn IndexWriter,
        seq: &mut u64,
    ) -> anyhow::Result<AddedRows> {
        // A row at which the index goes down is found in the order of the log.
        if *seq < self.suspects.until {
            return add_rows(&self.reader, writer, seq, &mut self.suspects);
        }
        let added = self.add_in_turns(writer, seq);
        if added.is_err() {
            // What was under way is not known to be in the index.
            self.turns = LogTurns::default();
        }
        match added {
            Err(error) if is_damage(&error) => {
                add_rows(&self.reader, writer, seq, &mut self.suspects)
            }
            added => added,
        }
    }

    fn add_in_turns(
        &mut self,
        writer: &mut dyn IndexWriter,
        seq: &mut u64,
    ) -> anyhow::Result<AddedRows> {
        let started = Instant::now();
        self.turns.begin(*seq);
        self.turns.list(&self.reader)?;
        let mut count = 0;
        while count < ROWS && (count == 0 || started.elapsed() < SLICE) {
            let Some(change) = self.turns.next() else {
                break;
            };
            // One that has changed since comes again.
            let row = self.reader.document(change.fingerprint)?;
            if let Some(row) = row.filter(|row| number(row.seq) == change.seq) {
                add(&self.reader, &row, writer, &mut self.suspects)?;
            }
            *seq = self.turns.finish(change);
            count += 1;
        }
        let has_more = self.turns.has_more();
        Ok(AddedRows { count, has_more })
    }

    /// The same for the index that is to replace it, at which other rows may have failed.
    pub(super) fn add_rows_to_rebuild(
        &mut self,
        writer: &mut dyn IndexWriter,
        seq: &mut u64,
    ) -> anyhow::Result<AddedRows> {
        add_rows(&self.reader, writer, seq, &mut self.rebuild_suspects)
    }

    /// Takes one row into the index, or skips its document. An error is none of the document's, or leaves the index in a
    /// state in which it must be opened again.
    pub(super) fn add(
        &mut self,
        row: &DocumentRow,
        writer: &mut dyn IndexWriter,
    ) -> anyhow::Result<()> {
        add(&self.reader, row, writer, &mut self.suspects)
    }

    /// Tries documents again that another version of the program skipped. Returns whether all of the log must be gone through
    /// for that, since it is not known which ones they are.
    pub(super) fn retry_skipped(&mut self, writer: &mut dyn IndexWriter) -> anyhow::Result<bool> {
        retry_skipped(&self.reader, writer, &mut self.suspects)
    }

    /// Suspects the rows that were under way when the indexing failed, for whatever reason.
    pub(super) fn record_failure(&mut self) {
        self.suspects.failed();
        self.rebuild_suspects.failed();
    }

    /// Whether the last failure named its row: that is skipped the next time, so there is no reason to wait. Each is named once.
    pub(super) fn take_warning(&mut self) -> bool {
        self.suspects.take_warning() | self.rebuild_suspects.take_warning()
    }
}

fn add_rows(
    reader: &store::Reader,
    writer: &mut dyn IndexWriter,
    seq: &mut u64,
    suspects: &mut SuspectRows,
) -> anyhow::Result<AddedRows> {
    let started = Instant::now();
    let after = i64::try_from(*seq).unwrap_or(i64::MAX);
    let rows = match reader.documents_after(after, ROWS) {
        // One of them lies in a damaged page of the database: row by row, those around it can be had.
        Err(StoreError::Damaged { .. }) => return add_one_by_one(reader, writer, seq, suspects),
        rows => rows?,
    };
    let mut count = 0;
    for row in &rows {
        if count > 0 && started.elapsed() >= SLICE {
            break;
        }
        add(reader, row, writer, suspects)?;
        *seq = number(row.seq);
        count += 1;
    }
    let has_more = count < rows.len() || rows.len() == ROWS;
    Ok(AddedRows { count, has_more })
}

fn add(
    reader: &store::Reader,
    row: &DocumentRow,
    writer: &mut dyn IndexWriter,
    suspects: &mut SuspectRows,
) -> anyhow::Result<()> {
    let seq = number(row.seq);
    suspects.given = suspects.given.max(seq);
    if let Some((_, reason)) = suspects.fatal.take_if(|(fatal, _)| *fatal == seq) {
        skip_document(row, reason, writer)?;
        // At once: if another one brought it down before the next commit, this one would have to be found again.
        return Ok(writer.commit(seq.max(writer.last_seq()))?);
    }
    let stored = match caught(|| decode(reader, row)) {
        Ok(Ok(Some(stored))) => stored,
        Ok(Ok(None)) => {
            return Ok(writer.delete(row.fingerprint, seq)?);
        }
        // The store cannot be read for now, whatever the document is.
        Ok(Err(error)) if is_of_store(&error) => return Err(error),
        Ok(Err(error)) => {
            return Ok(skip_document(row, format!("{error:#}"), writer)?);
        }
        Err(panic) => {
            return Ok(skip_document(row, panic, writer)?);
        }
    };
    if seq <= suspects.until
        && let Err(reason) = caught(|| writer.try_alone(&stored)).flatten()
    {
        return Ok(skip_document(row, reason, writer)?);
    }
    match caught(|| writer.upsert(&stored)) {
        Ok(done) => Ok(done?),
        Err(panic) => {
            let why = format!("{} brought the indexing down: {panic}", row.url);
            (suspects.fatal, suspects.is_new) = (Some((seq, panic)), true);
            bail!(why)
        }
    }
}

fn retry_skipped(
    reader: &store::Reader,
    writer: &mut dyn IndexWriter,
    suspects: &mut SuspectRows,
) -> anyhow::Result<bool> {
    let left_out = writer.left_out();
    if left_out.is_empty() {
        return Ok(false);
    }
    if left_out.unlisted > 0 {
        writer.commit(writer.last_seq())?;
        return Ok(true);
    }
    for left in left_out.listed.iter().filter(|l| l.fingerprint != UNKNOWN) {
        suspects.suspect(left.seq);
        match reader.document(left.fingerprint) {
            Ok(Some(row)) => add(reader, &row, writer, suspects)?,
            Ok(None) => writer.delete(left.fingerprint, left.seq)?,
            // It stays aside.
            Err(StoreError::Damaged { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    writer.commit(writer.last_seq())?;
    let rest = writer.left_out().count();
    tracing::info!(
        tried = left_out.listed.len(),
        left_out = rest,
        "documents that an earlier version could not index were tried again"
    );
    Ok(false)
}

fn add_one_by_one(
    reader: &store::Reader,
    writer: &mut dyn IndexWriter,
    seq: &mut u64,
    suspects: &mut SuspectRows,
) -> anyhow::Result<AddedRows> {
    for count in 0..ROWS {
        let after = i64::try_from(*seq).unwrap_or(i64::MAX);
        match reader.documents_after(after, 1) {
            Ok(rows) => {
                let Some(row) = rows.first() else {
                    let has_more = false;
                    return Ok(AddedRows { count, has_more });
                };
                add(reader, row, writer, suspects)?;
                *seq = number(row.seq);
            }
            Err(error @ StoreError::Damaged { .. }) => {
                *seq = pass_over(reader, after, &error, writer)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(AddedRows {
        count: ROWS,
        has_more: true,
    })
}

/// Puts the change after number `after` aside, which lies in a damaged page of the database, or all of that page. Gives the
/// number after which to continue.
fn pass_over(
    reader: &store::Reader,
    after: i64,
    error: &StoreError,
    writer: &mut dyn IndexWriter,
) -> anyhow::Result<u64> {
    match reader.documents_after_without_bodies(after, 1) {
        Ok(mut row) => {
            let row = row
                .pop()
                .with_context(|| format!("a change cannot be read: {error}"))?;
            skip_document(&row, error.to_string(), writer)?;
            Ok(number(row.seq))
        }
        Err(StoreError::Damaged { .. }) => {
            let next = reader.beyond_damage(after);
            let next = next.with_context(|| format!("no change can be read any more: {error}"))?;
            tracing::error!(
                "changes {} to {next} are left out of the index: {error}",
                after + 1
            );
            writer.skip_document(SkippedDocument {
                fingerprint: UNKNOWN,
                seq: number(next),
                url: format!("changes {} to {next}", after + 1),
                reason: error.to_string(),
            })?;
            Ok(number(next))
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a page of the database is damaged.
fn is_damage(error: &anyhow::Error) -> bool {
    let of_store = error.downcast_ref::<StoreError>();
    of_store.is_some_and(|e| matches!(e, StoreError::Damaged { .. }))
}

/// Whether the store failed, and not the one document that was requested.
fn is_of_store(error: &anyhow::Error) -> bool {
    let of_store = error.downcast_ref::<StoreError>();
    of_store.is_some_and(|e| !matches!(e, StoreError::Body { .. } | StoreError::Damaged { .. }))
}

fn skip_document(
    row: &DocumentRow,
    reason: String,
    writer: &mut dyn IndexWriter,
) -> Result<(), IndexError> {
    tracing::error!(
        url = %row.url,
        document = %format!("{:016x}", row.fingerprint),
        "a document is left out of the index, the others go on: {reason}"
    );
    writer.skip_document(SkippedDocument {
        fingerprint: row.fingerprint,
        seq: number(row.seq),
        url: row.url.clone(),
        reason,
    })
}

fn number(seq: i64) -> u64 {
    u64::try_from(seq).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// What the store cannot give for the moment is tried again; leaving its documents out would last until an upgrade.
    #[test]
    fn store_failure_blames_no_document() {
        let path = PathBuf::from("crawl.sqlite");
        let busy = StoreError::Io {
            path: path.clone(),
            source: std::io::Error::from_raw_os_error(24),
        };
        assert!(is_of_store(&busy.into()));
        let body = StoreError::Body {
            path,
            url: "http://a.example/".to_owned(),
            detail: "checksum".to_owned(),
        };
        assert!(!is_of_store(&body.into()));
        assert!(!is_of_store(&anyhow::Error::msg("no document")));
    }
}
