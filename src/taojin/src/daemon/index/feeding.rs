//! Rows of the log into an index. In: rows in order. Out: documents in the index; one that cannot be read, or brings the
//! indexing down, is put aside with its reason, and those after it go on.
//!
//! The index works in threads of its own, so a failed commit does not say which document it was. After any failure the
//! rows that were under way are therefore tried alone before they go in again.

use anyhow::{Context as _, bail};

use super::ROWS;
use crate::documents::decode;
use taojin_crawl::store::{self, DocumentRow, StoreError};
use taojin_search::index::{LeftOut, Writer, caught};

/// What failures have taught about the rows to come.
#[derive(Debug, Default)]
pub(super) struct Caution {
    /// The last row that was given to the index.
    given: u64,
    /// Rows up to this one are tried alone first.
    until: u64,
    /// The row at which the index went down, and how.
    fatal: Option<(u64, String)>,
}

impl Caution {
    /// The index has failed, for whatever reason.
    pub(super) fn failed(&mut self) {
        self.until = self.until.max(self.given);
    }

    /// This row failed before.
    pub(super) fn suspect(&mut self, seq: u64) {
        self.until = self.until.max(seq);
    }

    /// Whether the row is known at which the index went down.
    pub(super) fn is_warned(&self) -> bool {
        self.fatal.is_some()
    }
}

/// Puts at most [`ROWS`] changes after `seq` into an index and moves `seq` on. Gives how many.
pub(super) fn add_rows(
    reader: &store::Reader,
    writer: &mut Writer,
    seq: &mut u64,
    caution: &mut Caution,
) -> anyhow::Result<usize> {
    let after = i64::try_from(*seq).unwrap_or(i64::MAX);
    let rows = match reader.documents_after(after, ROWS) {
        // One of them lies in a damaged page of the database: row by row, those around it can be had.
        Err(StoreError::Damaged { .. }) => return add_one_by_one(reader, writer, seq, caution),
        rows => rows?,
    };
    for row in &rows {
        add(reader, row, writer, caution)?;
        *seq = number(row.seq);
    }
    Ok(rows.len())
}

/// Takes a row into the index, or puts its document aside. An error is none of the document's, or leaves the index in a
/// state in which it must be opened again.
pub(super) fn add(
    reader: &store::Reader,
    row: &DocumentRow,
    writer: &mut Writer,
    caution: &mut Caution,
) -> anyhow::Result<()> {
    let seq = number(row.seq);
    caution.given = caution.given.max(seq);
    if let Some((_, reason)) = caution.fatal.take_if(|(fatal, _)| *fatal == seq) {
        leave_out(row, reason, writer);
        return Ok(());
    }
    let stored = match caught(|| decode(reader, row)) {
        Ok(Ok(Some(stored))) => stored,
        Ok(Ok(None)) => {
            writer.delete(row.fingerprint);
            return Ok(());
        }
        Ok(Err(error)) => {
            leave_out(row, format!("{error:#}"), writer);
            return Ok(());
        }
        Err(panic) => {
            leave_out(row, panic, writer);
            return Ok(());
        }
    };
    let entry = stored.entry();
    if seq <= caution.until
        && let Err(reason) = caught(|| writer.try_alone(&entry)).flatten()
    {
        leave_out(row, reason, writer);
        return Ok(());
    }
    match caught(|| writer.upsert(&entry)) {
        Ok(done) => Ok(done?),
        Err(panic) => {
            let why = format!("{} brought the indexing down: {panic}", row.url);
            caution.fatal = Some((seq, panic));
            bail!(why)
        }
    }
}

fn add_one_by_one(
    reader: &store::Reader,
    writer: &mut Writer,
    seq: &mut u64,
    caution: &mut Caution,
) -> anyhow::Result<usize> {
    for added in 0..ROWS {
        let after = i64::try_from(*seq).unwrap_or(i64::MAX);
        match reader.documents_after(after, 1) {
            Ok(rows) => {
                let Some(row) = rows.first() else {
                    return Ok(added);
                };
                add(reader, row, writer, caution)?;
                *seq = number(row.seq);
            }
            Err(error @ StoreError::Damaged { .. }) => {
                let row = reader.document_after_without_body(after);
                // Without its number there is no way past it.
                let row = row?.context("a change that cannot be read")?;
                leave_out(&row, error.to_string(), writer);
                *seq = number(row.seq);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(ROWS)
}

fn leave_out(row: &DocumentRow, reason: String, writer: &mut Writer) {
    tracing::error!(
        url = %row.url,
        document = %format!("{:016x}", row.fingerprint),
        "a document is left out of the index, the others go on: {reason}"
    );
    writer.leave_out(LeftOut {
        fingerprint: row.fingerprint,
        seq: number(row.seq),
        url: row.url.clone(),
        reason,
    });
}

fn number(seq: i64) -> u64 {
    u64::try_from(seq).unwrap_or_default()
}
