//! What happens to one document that a follower is told of. In: that it is a hit, or none any more. Out: whether it waits to be
//! told, and as what. Never numbers a delivery.

use std::collections::HashSet;

use super::error::Result;
use super::sql::{Connection, ToSql, params};

use super::documents::Change;
use super::follows::FollowMark;

/// What a follower wants to be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// Documents that are hits for the first time.
    pub new: bool,
    /// Hits that were told and have changed since.
    pub changed: bool,
    /// Hits that were told and are gone, or no hits any more.
    pub gone: bool,
}

impl Told {
    /// Everything.
    pub const ALL: Told = Told {
        new: true,
        changed: true,
        gone: true,
    };
}

/// Notes that a document is a hit, new or changed. Gives 1 if there is something to tell.
pub(super) fn hit(tx: &Connection, name: &str, fingerprint: i64, told: Told) -> Result<usize> {
    let of = params![name, fingerprint];
    match standing(tx, name, fingerprint)? {
        None if told.new => tx.execute(
            "INSERT INTO follow_hit (follow, fingerprint, state, change) VALUES (?1, ?2, 0, 0)",
            of,
        ),
        // Taken as known, so that its changes can be told.
        None => {
            tx.execute(
                "INSERT INTO follow_hit (follow, fingerprint, state, known) VALUES (?1, ?2, 1, 1)",
                of,
            )?;
            Ok(0)
        }
        // It waits: what is told is what it says when it is sent. One that was gone is there again.
        Some(Standing::Waiting) => {
            tx.execute(
                "UPDATE follow_hit SET change = 1 \
                 WHERE follow = ?1 AND fingerprint = ?2 AND change = 2",
                of,
            )?;
            Ok(0)
        }
        Some(Standing::Sent) if told.changed => tx.execute(
            "UPDATE follow_hit SET later = 1 WHERE follow = ?1 AND fingerprint = ?2",
            of,
        ),
        Some(Standing::Settled { known: true }) if told.changed => again(tx, of, Change::Changed),
        Some(Standing::Settled { known: false }) if told.changed && told.new => {
            again(tx, of, Change::New)
        }
        Some(_) => Ok(0),
    }
}

/// Notes that a document is gone, or no hit any more. Gives 1 if there is something to tell.
pub(super) fn gone(tx: &Connection, name: &str, fingerprint: i64, told: Told) -> Result<usize> {
    let of = params![name, fingerprint];
    let sql = match standing(tx, name, fingerprint)? {
        Some(Standing::Settled { known: true }) if told.gone => {
            return again(tx, of, Change::Deleted);
        }
        Some(Standing::Sent) if told.gone => {
            "UPDATE follow_hit SET later = 2 WHERE follow = ?1 AND fingerprint = ?2"
        }
        Some(Standing::Waiting) if told.gone => {
            tx.execute(
                "UPDATE follow_hit SET change = 2 \
                 WHERE follow = ?1 AND fingerprint = ?2 AND known = 1",
                of,
            )?;
            "DELETE FROM follow_hit WHERE follow = ?1 AND fingerprint = ?2 AND known = 0"
        }
        Some(Standing::Sent) | None => return Ok(0),
        Some(_) => "DELETE FROM follow_hit WHERE follow = ?1 AND fingerprint = ?2",
    };
    tx.execute(sql, of)
}

/// How it stands with telling one document.
enum Standing {
    /// In no delivery yet.
    Waiting,
    /// In a delivery that is not settled.
    Sent,
    /// Told or given up; whether it was ever told.
    Settled { known: bool },
}

fn standing(tx: &Connection, name: &str, fingerprint: i64) -> Result<Option<Standing>> {
    tx.row(
        "SELECT state, delivery, known FROM follow_hit WHERE follow = ?1 AND fingerprint = ?2",
        params![name, fingerprint],
        |row| {
            let (state, delivery): (i64, Option<i64>) = (row.get(0)?, row.get(1)?);
            Ok(match (state, delivery) {
                (0, None) => Standing::Waiting,
                (0, Some(_)) => Standing::Sent,
                _ => Standing::Settled { known: row.get(2)? },
            })
        },
    )
}

/// Lets a settled document wait once more, behind all others.
fn again(tx: &Connection, of: &[&dyn ToSql], change: Change) -> Result<usize> {
    let change = change as i64;
    let sql = format!(
        "UPDATE follow_hit SET id = (SELECT max(id) + 1 FROM follow_hit), state = 0, \
         delivery = NULL, change = {change} WHERE follow = ?1 AND fingerprint = ?2"
    );
    tx.execute(&sql, of)
}

/// Documents that the follower may know, that changed up to `reached`, and that are there but none of the hits.
pub(super) fn lost(
    tx: &Connection,
    name: &str,
    hits: &[u64],
    reached: FollowMark,
    told: Told,
) -> Result<Vec<i64>> {
    if !told.gone {
        return Ok(Vec::new());
    }
    let hits: HashSet<i64> = hits.iter().map(|hit| hit.cast_signed()).collect();
    let sql = "SELECT d.fingerprint FROM follow f JOIN document d ON d.seq > f.seq AND d.seq <= ?2 \
         JOIN follow_hit h ON h.follow = f.name AND h.fingerprint = d.fingerprint \
         WHERE f.name = ?1 AND d.state = 0 ORDER BY d.seq";
    let changed: Vec<i64> = tx.rows(sql, params![name, reached.seq.cast_signed()], |row| {
        row.get(0)
    })?;
    Ok(changed
        .into_iter()
        .filter(|found| !hits.contains(found))
        .collect())
}
