//! The log of documents as someone outside follows it: a copy of the documents somewhere else. In: a [`Cursor`], which
//! says how far the copy is. Out: the changes after it and the next cursor, or why no list of changes can bring this copy
//! up to date any more. A copy that takes in every answer is the same as the store, whenever it asks.
//!
//! Two things can make such a list incomplete. The end of a document is remembered for so long only
//! ([`super::Retention`]): the store notes the highest number that it has forgotten so. And a store that was set back to a
//! backup goes on with another history: it has a new id.

use std::fmt;
use std::str::FromStr;

use super::sql::{self, Connection};

use super::documents::{COLUMNS, Change, DocumentRow, REPLACED, read};
use super::error::Result;
use super::keys::meta;
use super::open::{FORGOTTEN_SEQ, LAST_SEQ, Reader};

/// How far someone has followed the log. As text it is a number alone, or `STORE-SEQ` or `STORE-SEQ-BEGAN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor {
    /// [`Reader::store_id`] of the history it belongs to; none: not known, and not checked.
    pub store: Option<i64>,
    /// All changes up to this number are known.
    pub seq: i64,
    /// Number of the last change when the first, whole list began, while `seq` is below it: what was gone by then was
    /// never in the copy. 0 afterwards.
    pub began: i64,
}

/// Why no list of changes can bring a copy up to date: it must be rebuilt, from the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CursorLost {
    /// Of another store, or of this one before it was set back to a backup.
    #[error("it belongs to another history: the store was replaced or restored from a backup")]
    OtherHistory,
    /// Documents have gone since, and which ones is not remembered any more.
    #[error(
        "it is too old: the store has forgotten which documents have gone since then (documents.keep_deleted_days)"
    )]
    TooOld,
}

/// Some changes, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Followed {
    /// Where to go on.
    pub next: Cursor,
    /// Whether there are more changes already.
    pub more: bool,
    /// Number of the last change ever made.
    pub last_seq: i64,
}

impl Cursor {
    /// The same for whoever has seen everything up to `seq`.
    pub fn at(store: i64, seq: i64) -> Self {
        Cursor {
            store: Some(store),
            seq,
            began: 0,
        }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(store) = self.store {
            write!(f, "{:016x}-", store.cast_unsigned())?;
        }
        write!(f, "{}", self.seq)?;
        match self.began {
            0 => Ok(()),
            began => write!(f, "-{began}"),
        }
    }
}

/// It is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write 0, a number of a change, or the cursor of an answer")]
pub struct NoCursor;

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let number = |digits: &str| {
            let plain = digits.bytes().all(|b| b.is_ascii_digit());
            digits.parse::<i64>().ok().filter(|_| plain).ok_or(NoCursor)
        };
        let Some((store, rest)) = text.split_once('-') else {
            return Ok(Cursor {
                seq: number(text)?,
                ..Cursor::default()
            });
        };
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        let id = u64::from_str_radix(store, 16).ok();
        let id = id.filter(|_| store.len() == 16 && store.bytes().all(hex));
        let (seq, began) = rest.split_once('-').unwrap_or((rest, "0"));
        Ok(Cursor {
            store: Some(id.ok_or(NoCursor)?.cast_signed()),
            seq: number(seq)?,
            began: number(began)?,
        })
    }
}

impl Reader {
    /// Calls `each` with the changes after `cursor` in order, of a document that changed several times with the last only,
    /// until there are `limit` or it returns false; the change it was called with then still counts. From number 0 on
    /// these are the present documents alone. All of it is of one moment.
    pub fn follow(
        &self,
        cursor: &Cursor,
        limit: usize,
        each: impl FnMut(DocumentRow, Change) -> bool,
    ) -> Result<Result<Followed, CursorLost>> {
        follow(&*self.conn.snapshot()?, cursor, limit, each)
    }
}

fn follow(
    conn: &Connection,
    cursor: &Cursor,
    limit: usize,
    mut each: impl FnMut(DocumentRow, Change) -> bool,
) -> Result<Result<Followed, CursorLost>> {
    let store = meta(conn, "store_id")?;
    let last_seq = meta(conn, LAST_SEQ)?;
    let known = cursor.seq.max(cursor.began);
    if cursor.store.is_some_and(|id| id != store) || known > last_seq {
        return Ok(Err(CursorLost::OtherHistory));
    }
    // Whoever begins now has no document that is gone by now.
    let began = match cursor.seq {
        0 if cursor.began == 0 => last_seq,
        _ => known,
    };
    if meta(conn, FORGOTTEN_SEQ)? > began {
        return Ok(Err(CursorLost::TooOld));
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM document WHERE seq > ?1 AND state <> {REPLACED} AND (body IS NOT NULL OR seq > ?2) \
         ORDER BY seq LIMIT ?3"
    );
    let (mut taken, mut seq, mut more) = (0, cursor.seq, false);
    let mut full = limit == 0;
    let most = sql::limit(limit.saturating_add(1));
    conn.each(&sql, [cursor.seq, began, most], |row| {
        if full {
            more = true;
            return Ok(false);
        }
        let row = read(row)?;
        seq = row.seq;
        taken += 1;
        let change = match &row.body {
            // What came before the first list began is new to whoever reads it.
            Some(_) if row.seq <= began => Change::New,
            _ => row.change_since(began),
        };
        full = !each(row, change) || taken == limit;
        Ok(true)
    })?;
    let seq = if more { seq } else { last_seq };
    let next = Cursor {
        store: Some(store),
        seq,
        began: if seq < began { began } else { 0 },
    };
    Ok(Ok(Followed {
        next,
        more,
        last_seq,
    }))
}
