//! What followers of topics were told. In: hits of a topic, and how telling them went. Out: the next delivery, the same
//! one until it is settled, so that a receiver that is asked twice can see that it was. Never tells anybody itself.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::error::StoreError;
use super::open::{Reader, Store};

/// Hits of one topic that are remembered as told; older ones count as new if they change again. About 50 bytes each.
const TOLD_KEPT: i64 = 200_000;
/// Hits of one topic that wait at most; a receiver that is away for long misses the oldest.
const WAITING_MAX: i64 = 10_000;

/// How far the hits of a topic have been collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FollowMark {
    /// Number in the outbox.
    pub seq: u64,
    /// Time of fetching, Unix milliseconds.
    pub fetched_ms: i64,
}

/// Hits that are told together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Rises from delivery to delivery of a topic.
    pub number: i64,
    /// Fingerprints of the documents, in the order of finding.
    pub fingerprints: Vec<u64>,
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

/// The deliveries of all topics, on a connection of their own. Made by the process that has the [`Store`].
#[derive(Debug)]
pub struct Follows {
    reader: Mutex<Reader>,
}

impl Store {
    /// Opens the deliveries, to be written beside the crawl.
    pub fn follows(&self) -> Result<Follows, StoreError> {
        let reader = Reader::writing(self.dir())?;
        Ok(Follows {
            reader: Mutex::new(reader),
        })
    }
}

impl Follows {
    /// Where to go on with a topic: at `present` if it is new, or if it asks for something else (`asked`) than before.
    pub fn begin(
        &self,
        name: &str,
        asked: &str,
        present: FollowMark,
    ) -> Result<FollowMark, StoreError> {
        self.write(|tx| {
            tx.execute(
                "INSERT INTO follow (name, asked, seq, fetched_ms) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (name) DO UPDATE SET asked = excluded.asked, seq = excluded.seq, \
                 fetched_ms = excluded.fetched_ms WHERE follow.asked <> excluded.asked",
                params![name, asked, present.seq.cast_signed(), present.fetched_ms],
            )?;
            tx.query_row(
                "SELECT seq, fetched_ms FROM follow WHERE name = ?1",
                [name],
                |row| {
                    Ok(FollowMark {
                        seq: row.get::<_, i64>(0)?.cast_unsigned(),
                        fetched_ms: row.get(1)?,
                    })
                },
            )
        })
    }

    /// Keeps hits that nobody was told of yet, and that everything up to `reached` was looked at. How many are new.
    pub fn found(
        &self,
        name: &str,
        fingerprints: &[u64],
        reached: FollowMark,
    ) -> Result<usize, StoreError> {
        self.write(|tx| {
            let mut insert = tx.prepare_cached(
                "INSERT INTO follow_hit (follow, fingerprint, state) VALUES (?1, ?2, 0) \
                 ON CONFLICT (follow, fingerprint) DO NOTHING",
            )?;
            let mut new = 0;
            for fingerprint in fingerprints {
                new += insert.execute(params![name, fingerprint.cast_signed()])?;
            }
            tx.execute(
                "UPDATE follow SET seq = ?2, fetched_ms = ?3 WHERE name = ?1",
                params![name, reached.seq.cast_signed(), reached.fetched_ms],
            )?;
            if new > 0 {
                bound(tx, name)?;
            }
            Ok(new)
        })
    }

    /// What is to be told next, `limit` hits at most; the same again until it is settled.
    pub fn next(&self, name: &str, limit: usize) -> Result<Option<Delivery>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.write(|tx| {
            let begun: Option<i64> = tx.query_row(
                "SELECT min(delivery) FROM follow_hit WHERE follow = ?1 AND state = 0",
                [name],
                |row| row.get(0),
            )?;
            let number = match begun {
                Some(number) => number,
                None => begin_delivery(tx, name, limit)?,
            };
            let fingerprints: Vec<u64> = tx
                .prepare_cached(
                    "SELECT fingerprint FROM follow_hit \
                     WHERE follow = ?1 AND state = 0 AND delivery = ?2 ORDER BY id",
                )?
                .query_map(params![name, number], |row| row.get::<_, i64>(0))?
                .map(|fingerprint| fingerprint.map(i64::cast_unsigned))
                .collect::<rusqlite::Result<_>>()?;
            Ok((!fingerprints.is_empty()).then_some(Delivery {
                number,
                fingerprints,
            }))
        })
    }

    /// The delivery arrived.
    pub fn told(&self, name: &str, number: i64, now_ms: i64) -> Result<(), StoreError> {
        self.write(|tx| {
            let told = settle(tx, name, number, 1)?;
            tx.execute(
                "UPDATE follow SET told = told + ?2, told_ms = ?3, tries = 0, next_ms = 0, \
                 last_error = NULL WHERE name = ?1",
                params![name, told, now_ms],
            )?;
            Ok(())
        })
    }

    /// The delivery did not arrive; it is tried again at `next_ms`.
    pub fn failed(&self, name: &str, next_ms: i64, error: &str) -> Result<(), StoreError> {
        self.write(|tx| {
            tx.execute(
                "UPDATE follow SET tries = tries + 1, next_ms = ?2, last_error = ?3 WHERE name = ?1",
                params![name, next_ms, error],
            )?;
            Ok(())
        })
    }

    /// The delivery is not tried any more.
    pub fn give_up(&self, name: &str, number: i64, error: &str) -> Result<(), StoreError> {
        self.write(|tx| {
            let lost = settle(tx, name, number, 2)?;
            tx.execute(
                "UPDATE follow SET given_up = given_up + ?2, tries = 0, next_ms = 0, \
                 last_error = ?3 WHERE name = ?1",
                params![name, lost, error],
            )?;
            Ok(())
        })
    }

    /// How telling stands.
    pub fn record(&self, name: &str) -> Result<Option<FollowRecord>, StoreError> {
        let found = self.lock().follow_records()?;
        Ok(found.into_iter().find(|record| record.name == name))
    }

    fn lock(&self) -> MutexGuard<'_, Reader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut reader = self.lock();
        let run = |conn: &mut Connection| {
            let tx = Transaction::new(conn, TransactionBehavior::Immediate)?;
            let value = work(&tx)?;
            tx.commit()?;
            Ok(value)
        };
        run(&mut reader.conn).map_err(|e| reader.fail(e))
    }
}

impl Reader {
    /// How telling the followers stands, by name of the topic.
    pub fn follow_records(&self) -> Result<Vec<FollowRecord>, StoreError> {
        let sql = "SELECT name, told, given_up, tries, next_ms, told_ms, last_error, \
                   (SELECT count(*) FROM follow_hit WHERE follow = name AND state = 0) \
                   FROM follow ORDER BY name";
        self.rows(sql, [], |row| {
            Ok(FollowRecord {
                name: row.get(0)?,
                told: row.get::<_, i64>(1)?.unsigned_abs(),
                given_up: row.get::<_, i64>(2)?.unsigned_abs(),
                tries: row.get(3)?,
                next_ms: row.get(4)?,
                told_ms: row.get(5)?,
                last_error: row.get(6)?,
                waiting: row.get::<_, i64>(7)?.unsigned_abs(),
            })
        })
    }
}

/// Numbers a new delivery and gives it the oldest hits that have none.
fn begin_delivery(tx: &Connection, name: &str, limit: i64) -> rusqlite::Result<i64> {
    let number: i64 = tx
        .query_row(
            "UPDATE follow SET deliveries = deliveries + 1 WHERE name = ?1 AND EXISTS \
             (SELECT 1 FROM follow_hit WHERE follow = ?1 AND state = 0) RETURNING deliveries",
            [name],
            |row| row.get(0),
        )
        .optional()?
        .unwrap_or_default();
    tx.execute(
        "UPDATE follow_hit SET delivery = ?2 WHERE id IN (SELECT id FROM follow_hit \
         WHERE follow = ?1 AND state = 0 AND delivery IS NULL ORDER BY id LIMIT ?3)",
        params![name, number, limit],
    )?;
    Ok(number)
}

fn settle(tx: &Connection, name: &str, number: i64, state: i64) -> rusqlite::Result<i64> {
    let settled = tx.execute(
        "UPDATE follow_hit SET state = ?3 WHERE follow = ?1 AND state = 0 AND delivery = ?2",
        params![name, number, state],
    )?;
    Ok(i64::try_from(settled).unwrap_or(i64::MAX))
}

/// Forgets what was told longest ago, and gives up what has waited longest, beyond the limits.
fn bound(tx: &Connection, name: &str) -> rusqlite::Result<()> {
    tx.execute(
        "DELETE FROM follow_hit WHERE id IN (SELECT id FROM follow_hit \
         WHERE follow = ?1 AND state <> 0 ORDER BY id DESC LIMIT -1 OFFSET ?2)",
        params![name, TOLD_KEPT],
    )?;
    let lost = tx.execute(
        "UPDATE follow_hit SET state = 2 WHERE id IN (SELECT id FROM follow_hit \
         WHERE follow = ?1 AND state = 0 ORDER BY id DESC LIMIT -1 OFFSET ?2)",
        params![name, WAITING_MAX],
    )?;
    tx.execute(
        "UPDATE follow SET given_up = given_up + ?2 WHERE name = ?1",
        params![name, i64::try_from(lost).unwrap_or(i64::MAX)],
    )?;
    Ok(())
}
