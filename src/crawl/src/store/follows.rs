//! Deliveries to the followers of topics: collects the documents of a topic that are new, changed or gone, and returns
//! the next delivery, the same one until it is settled, so that a receiver that gets it twice can notice. Never sends
//! anything itself.
//!
//! Each hit has a [`DeliveryState`]: whether it waits to be sent, and as what.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::documents::{Change, GONE, LastKnown, PRESENT};
use super::error::Result;
use super::open::Reader;
use super::place::StorePlace;
use super::sql::{self, Connection, NONE, ToSql, params};

/// Hits of one topic that are remembered as told; older ones count as new if they change again. About 50 bytes each.
const TOLD_KEPT: i64 = 200_000;
/// Hits of one topic that wait at most; a receiver that is away for long misses the oldest.
const WAITING_MAX: i64 = 10_000;

/// Changes of the log after which it is noted that they were looked at although there was nothing in them: what was not
/// noted is looked at again after a restart.
const NOTED_EVERY: i64 = 10_000;

/// `follow_hit.state`: it is in no delivery that is settled.
const WAITING: i64 = 0;
/// `follow_hit.state`: the follower has it.
const TOLD: i64 = 1;
/// `follow_hit.state`: it is not sent any more.
const GIVEN_UP: i64 = 2;
/// `follow_hit.change` and `follow_hit.later`.
const NEW: i64 = Change::New as i64;
const CHANGED: i64 = Change::Changed as i64;
const DELETED: i64 = Change::Deleted as i64;

/// How far the hits of a topic have been collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FollowMark {
    /// Number in the log.
    pub seq: u64,
    /// Time of fetching, Unix milliseconds.
    pub fetched_ms: i64,
}

/// One document of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveredHit {
    /// Which document.
    pub fingerprint: u64,
    /// What happened to it since the follower was told of it last.
    pub change: Change,
}

/// Hits that are told together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Rises from delivery to delivery of a topic.
    pub number: i64,
    /// The documents, in the order of finding.
    pub hits: Vec<DeliveredHit>,
}

/// How telling a topic's follower stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FollowRecord {
    /// Name of the topic.
    pub name: String,
    /// Hits that wait to be told.
    pub waiting: u64,
    /// Hits that were told.
    pub told: u64,
    /// Hits that were given up.
    pub given_up: u64,
    /// Failed tries of the present delivery.
    pub tries: u32,
    /// No try before this, Unix milliseconds.
    pub next_ms: i64,
    /// When the last delivery succeeded.
    pub told_ms: Option<i64>,
    /// Why the last try failed; none after a success.
    pub last_error: Option<String>,
}

/// The deliveries of all topics, on a connection of their own. Made by the process that has the [`Store`](super::Store).
#[derive(Debug)]
pub struct Follows {
    reader: Mutex<Reader>,
}

impl FollowRecord {
    /// How telling the followers stands, by name of the topic.
    pub fn list(reader: &Reader) -> Result<Vec<Self>> {
        let sql = format!(
            "SELECT name, told, given_up, tries, next_ms, told_ms, last_error, \
                   (SELECT count(*) FROM follow_hit WHERE follow = name AND state = {WAITING}) \
                   FROM follow ORDER BY name"
        );
        reader.rows(&sql, NONE, |row| {
            Ok(FollowRecord {
                name: row.get(0)?,
                told: row.get::<i64>(1)?.unsigned_abs(),
                given_up: row.get::<i64>(2)?.unsigned_abs(),
                tries: row.get(3)?,
                next_ms: row.get(4)?,
                told_ms: row.get(5)?,
                last_error: row.get(6)?,
                waiting: row.get::<i64>(7)?.unsigned_abs(),
            })
        })
    }
}

impl Follows {
    /// On a connection of its own.
    pub(super) fn open(place: &StorePlace) -> Result<Self> {
        let reader = Reader::open_to_write(place)?;
        Ok(Follows {
            reader: Mutex::new(reader),
        })
    }

    /// Up to which change of the log a topic was looked at for documents that are gone, and the last change that there is.
    fn last_of_log(&self, name: &str) -> Result<Option<(i64, i64)>> {
        let sql = "SELECT log_seq, (SELECT coalesce(max(seq), 0) FROM document) \
                   FROM follow WHERE name = ?1";
        self.lock()
            .row(sql, [name], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Where to go on with a topic: at `present` if it is new, or if it asks for something else (`asked`) than before.
    pub fn begin(&self, name: &str, asked: &str, present: FollowMark) -> Result<FollowMark> {
        self.write(|tx| {
            tx.execute(
                "INSERT INTO follow (name, asked, seq, fetched_ms, log_seq) \
                 VALUES (?1, ?2, ?3, ?4, (SELECT coalesce(max(seq), 0) FROM document)) \
                 ON CONFLICT (name) DO UPDATE SET asked = excluded.asked, seq = excluded.seq, \
                 fetched_ms = excluded.fetched_ms WHERE follow.asked <> excluded.asked",
                params![name, asked, present.seq.cast_signed(), present.fetched_ms],
            )?;
            tx.query_row(
                "SELECT seq, fetched_ms FROM follow WHERE name = ?1",
                [name],
                |row| {
                    Ok(FollowMark {
                        seq: row.get::<i64>(0)?.cast_unsigned(),
                        fetched_ms: row.get(1)?,
                    })
                },
            )
        })
    }

    /// Keeps hits that came or changed since the last time, and that everything up to `reached` was looked at. Hits that the
    /// follower knows and that have changed into something else than a hit count as gone. How many there are to be told.
    pub fn found(
        &self,
        name: &str,
        fingerprints: &[u64],
        reached: FollowMark,
        told: NotifyOn,
    ) -> Result<usize> {
        let nothing = |conn: &Connection| -> Result<bool> {
            let seq: Option<i64> =
                conn.row("SELECT seq FROM follow WHERE name = ?1", [name], |row| {
                    row.get(0)
                })?;
            let behind = reached.seq.cast_signed() - seq.unwrap_or_default();
            Ok(fingerprints.is_empty()
                && behind < NOTED_EVERY
                && lost(conn, name, fingerprints, reached, told)?.is_empty())
        };
        if self.read(nothing)? {
            return Ok(0);
        }
        self.write(|tx| {
            let mut waiting = 0;
            for fingerprint in lost(tx, name, fingerprints, reached, told)? {
                waiting += gone(tx, name, fingerprint, told)?;
            }
            for fingerprint in fingerprints {
                waiting += hit(tx, name, fingerprint.cast_signed(), told)?;
            }
            tx.execute(
                "UPDATE follow SET seq = ?2, fetched_ms = ?3 WHERE name = ?1",
                params![name, reached.seq.cast_signed(), reached.fetched_ms],
            )?;
            if waiting > 0 {
                bound(tx, name)?;
            }
            Ok(waiting)
        })
    }

    /// Looks for documents that the follower was told of and that are gone since the last time. How many there are.
    pub fn gone(&self, name: &str, told: NotifyOn) -> Result<usize> {
        let looked = self.last_of_log(name)?;
        let Some((after, last)) = looked.filter(|(after, last)| after < last) else {
            return Ok(0);
        };
        let ended: Vec<i64> = self.read(|conn| {
            conn.rows(
                &format!(
                    "SELECT d.fingerprint FROM document d JOIN follow_hit h \
                 ON h.follow = ?1 AND h.fingerprint = d.fingerprint \
                 WHERE d.seq > ?2 AND d.seq <= ?3 AND d.state = {GONE} ORDER BY d.seq"
                ),
                params![name, after, last],
                |row| row.get(0),
            )
        })?;
        if ended.is_empty() && last - after < NOTED_EVERY {
            return Ok(0);
        }
        self.write(|tx| {
            let mut waiting = 0;
            for fingerprint in ended {
                waiting += gone(tx, name, fingerprint, told)?;
            }
            tx.execute(
                "UPDATE follow SET log_seq = ?2 WHERE name = ?1",
                params![name, last],
            )?;
            if waiting > 0 {
                bound(tx, name)?;
            }
            Ok(waiting)
        })
    }

    /// What is to be told next, `limit` hits at most; the same again until it is settled.
    pub fn next(&self, name: &str, limit: usize) -> Result<Option<Delivery>> {
        self.write(|tx| {
            let begun: Option<i64> = tx.query_row(
                &format!(
                    "SELECT min(delivery) FROM follow_hit WHERE follow = ?1 AND state = {WAITING}"
                ),
                [name],
                |row| row.get(0),
            )?;
            let number = match begun {
                Some(number) => number,
                None => begin_delivery(tx, name, sql::limit(limit))?,
            };
            let hits: Vec<DeliveredHit> = tx.rows(
                &format!(
                    "SELECT fingerprint, change FROM follow_hit \
                     WHERE follow = ?1 AND state = {WAITING} AND delivery = ?2 ORDER BY id"
                ),
                params![name, number],
                |row| {
                    Ok(DeliveredHit {
                        fingerprint: row.get::<i64>(0)?.cast_unsigned(),
                        change: row.get(1)?,
                    })
                },
            )?;
            Ok((!hits.is_empty()).then_some(Delivery { number, hits }))
        })
    }

    /// The delivery arrived.
    pub fn told(&self, name: &str, number: i64, now_ms: i64) -> Result<()> {
        self.write(|tx| {
            let told = settle(tx, name, number, TOLD)?;
            tx.execute(
                "UPDATE follow SET told = told + ?2, told_ms = ?3, tries = 0, next_ms = 0, \
                 last_error = NULL WHERE name = ?1",
                params![name, told, now_ms],
            )?;
            Ok(())
        })
    }

    /// The delivery did not arrive; it is tried again at `next_ms`.
    pub fn failed(&self, name: &str, next_ms: i64, error: &str) -> Result<()> {
        self.write(|tx| {
            tx.execute(
                "UPDATE follow SET tries = tries + 1, next_ms = ?2, last_error = ?3 WHERE name = ?1",
                params![name, next_ms, error],
            )?;
            Ok(())
        })
    }

    /// The delivery is not tried any more.
    pub fn give_up(&self, name: &str, number: i64, error: &str) -> Result<()> {
        self.write(|tx| {
            let lost = settle(tx, name, number, GIVEN_UP)?;
            tx.execute(
                "UPDATE follow SET given_up = given_up + ?2, tries = 0, next_ms = 0, \
                 last_error = ?3 WHERE name = ?1",
                params![name, lost, error],
            )?;
            Ok(())
        })
    }

    /// How telling stands.
    pub fn record(&self, name: &str) -> Result<Option<FollowRecord>> {
        let found = FollowRecord::list(&self.lock())?;
        Ok(found.into_iter().find(|record| record.name == name))
    }

    /// What is known of a document, also of one that is gone; none where nothing is.
    pub fn last_known(&self, fingerprint: u64) -> Result<Option<LastKnown>> {
        self.lock().last_known(fingerprint)
    }

    fn lock(&self) -> MutexGuard<'_, Reader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let reader = self.lock();
        work(&reader.conn)
    }

    fn write<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.lock().write(work)
    }
}

/// Numbers a new delivery and gives it the oldest hits that have none.
fn begin_delivery(tx: &Connection, name: &str, limit: i64) -> Result<i64> {
    let number: i64 = tx
        .row(
            &format!("UPDATE follow SET deliveries = deliveries + 1 WHERE name = ?1 AND EXISTS \
             (SELECT 1 FROM follow_hit WHERE follow = ?1 AND state = {WAITING}) RETURNING deliveries"),
            [name],
            |row| row.get(0),
        )?
        .unwrap_or_default();
    tx.execute(
        &format!(
            "UPDATE follow_hit SET delivery = ?2 WHERE id IN (SELECT id FROM follow_hit \
         WHERE follow = ?1 AND state = {WAITING} AND delivery IS NULL ORDER BY id LIMIT ?3)"
        ),
        params![name, number, limit],
    )?;
    Ok(number)
}

/// Settles a delivery: its documents were told ([`TOLD`]) or given up ([`GIVEN_UP`]). What happened to them meanwhile waits next.
fn settle(tx: &Connection, name: &str, number: i64, state: i64) -> Result<i64> {
    let settled = tx.execute(
        &format!("UPDATE follow_hit SET state = ?3, known = CASE WHEN CAST(?3 AS BIGINT) = {TOLD} THEN 1 ELSE known END \
         WHERE follow = ?1 AND state = {WAITING} AND delivery = ?2"),
        params![name, number, state],
    )?;
    // Who knows that a document is gone, or never heard of it, has forgotten it: if it comes back, it is new.
    tx.execute(
        &format!(
            "DELETE FROM follow_hit WHERE follow = ?1 AND delivery = ?2 AND \
         ((change = {DELETED} AND later IS NULL) OR (later = {DELETED} AND known = 0))"
        ),
        params![name, number],
    )?;
    tx.execute(
        &format!(
            "UPDATE follow_hit SET state = {WAITING}, delivery = NULL, later = NULL, \
         change = CASE WHEN change = {DELETED} OR known = 0 THEN {NEW} ELSE later END \
         WHERE follow = ?1 AND delivery = ?2 AND later IS NOT NULL"
        ),
        params![name, number],
    )?;
    Ok(sql::limit(settled))
}

/// Forgets what was told longest ago, and gives up what has waited longest, beyond the limits.
fn bound(tx: &Connection, name: &str) -> Result<()> {
    tx.execute(
        &format!("DELETE FROM follow_hit WHERE id IN (SELECT id FROM follow_hit \
         WHERE follow = ?1 AND state <> {WAITING} ORDER BY id DESC LIMIT 9223372036854775807 OFFSET ?2)"),
        params![name, TOLD_KEPT],
    )?;
    let lost = tx.execute(
        &format!("UPDATE follow_hit SET state = {GIVEN_UP} WHERE id IN (SELECT id FROM follow_hit \
         WHERE follow = ?1 AND state = {WAITING} ORDER BY id DESC LIMIT 9223372036854775807 OFFSET ?2)"),
        params![name, WAITING_MAX],
    )?;
    tx.execute(
        "UPDATE follow SET given_up = given_up + ?2 WHERE name = ?1",
        params![name, sql::limit(lost)],
    )?;
    Ok(())
}

/// What a follower wants to be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotifyOn {
    /// Documents that are hits for the first time.
    pub new: bool,
    /// Hits that were told and have changed since.
    pub changed: bool,
    /// Hits that were told and are gone, or no hits any more.
    pub gone: bool,
}

impl NotifyOn {
    /// Everything.
    pub const ALL: NotifyOn = NotifyOn {
        new: true,
        changed: true,
        gone: true,
    };
}

/// Notes that a document is a hit, new or changed. Gives 1 if there is something to tell.
pub(super) fn hit(tx: &Connection, name: &str, fingerprint: i64, told: NotifyOn) -> Result<usize> {
    let of = params![name, fingerprint];
    match delivery_state(tx, name, fingerprint)? {
        None if told.new => tx.execute(
            &format!("INSERT INTO follow_hit (follow, fingerprint, state, change) VALUES (?1, ?2, {WAITING}, {NEW})"),
            of,
        ),
        // Taken as known, so that its changes can be told.
        None => {
            tx.execute(
                &format!("INSERT INTO follow_hit (follow, fingerprint, state, known) VALUES (?1, ?2, {TOLD}, 1)"),
                of,
            )?;
            Ok(0)
        }
        // It waits: what is told is what it says when it is sent. One that was gone is there again.
        Some(DeliveryState::Waiting) => {
            tx.execute(
                &format!("UPDATE follow_hit SET change = {CHANGED} \
                 WHERE follow = ?1 AND fingerprint = ?2 AND change = {DELETED}"),
                of,
            )?;
            Ok(0)
        }
        Some(DeliveryState::Sent) if told.changed => tx.execute(
            &format!("UPDATE follow_hit SET later = {CHANGED} WHERE follow = ?1 AND fingerprint = ?2"),
            of,
        ),
        Some(DeliveryState::Settled { known: true }) if told.changed => again(tx, of, Change::Changed),
        Some(DeliveryState::Settled { known: false }) if told.changed && told.new => {
            again(tx, of, Change::New)
        }
        Some(_) => Ok(0),
    }
}

/// Notes that a document is gone, or no hit any more. Gives 1 if there is something to tell.
pub(super) fn gone(tx: &Connection, name: &str, fingerprint: i64, told: NotifyOn) -> Result<usize> {
    let of = params![name, fingerprint];
    let sql = match delivery_state(tx, name, fingerprint)? {
        Some(DeliveryState::Settled { known: true }) if told.gone => {
            return again(tx, of, Change::Deleted);
        }
        Some(DeliveryState::Sent) if told.gone => {
            format!(
                "UPDATE follow_hit SET later = {DELETED} WHERE follow = ?1 AND fingerprint = ?2"
            )
        }
        Some(DeliveryState::Waiting) if told.gone => {
            tx.execute(
                &format!(
                    "UPDATE follow_hit SET change = {DELETED} \
                 WHERE follow = ?1 AND fingerprint = ?2 AND known = 1"
                ),
                of,
            )?;
            "DELETE FROM follow_hit WHERE follow = ?1 AND fingerprint = ?2 AND known = 0".to_owned()
        }
        Some(DeliveryState::Sent) | None => return Ok(0),
        Some(_) => "DELETE FROM follow_hit WHERE follow = ?1 AND fingerprint = ?2".to_owned(),
    };
    tx.execute(&sql, of)
}

/// How it stands with telling one document.
enum DeliveryState {
    /// In no delivery yet.
    Waiting,
    /// In a delivery that is not settled.
    Sent,
    /// Told or given up; whether it was ever told.
    Settled { known: bool },
}

fn delivery_state(tx: &Connection, name: &str, fingerprint: i64) -> Result<Option<DeliveryState>> {
    tx.row(
        "SELECT state, delivery, known FROM follow_hit WHERE follow = ?1 AND fingerprint = ?2",
        params![name, fingerprint],
        |row| {
            let (state, delivery): (i64, Option<i64>) = (row.get(0)?, row.get(1)?);
            Ok(match (state, delivery) {
                (WAITING, None) => DeliveryState::Waiting,
                (WAITING, Some(_)) => DeliveryState::Sent,
                _ => DeliveryState::Settled { known: row.get(2)? },
            })
        },
    )
}

/// Lets a settled document wait once more, behind all others.
fn again(tx: &Connection, of: &[&dyn ToSql], change: Change) -> Result<usize> {
    let change = change as i64;
    let sql = format!(
        "UPDATE follow_hit SET id = (SELECT max(id) + 1 FROM follow_hit), state = {WAITING}, \
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
    told: NotifyOn,
) -> Result<Vec<i64>> {
    if !told.gone {
        return Ok(Vec::new());
    }
    let hits: HashSet<i64> = hits.iter().map(|hit| hit.cast_signed()).collect();
    let sql = format!(
        "SELECT d.fingerprint FROM follow f JOIN document d ON d.seq > f.seq AND d.seq <= ?2 \
         JOIN follow_hit h ON h.follow = f.name AND h.fingerprint = d.fingerprint \
         WHERE f.name = ?1 AND d.state = {PRESENT} ORDER BY d.seq"
    );
    let changed: Vec<i64> = tx.rows(&sql, params![name, reached.seq.cast_signed()], |row| {
        row.get(0)
    })?;
    Ok(changed
        .into_iter()
        .filter(|found| !hits.contains(found))
        .collect())
}
