//! The place of a node in PostgreSQL: a row of `node`, held by a lease that it renews, and the partitions that it crawls. In: a
//! connection, the name of the data folder. Out: a lease, the proof of it in every transaction, an even share of the
//! partitions.
//!
//! Any node deletes the row of one whose lease has run out, and takes its partitions; every transaction of a node raises
//! `commit_no` in its own row. So a node that was paused or cut off, and whose place was taken meanwhile, changes nothing any
//! more. A partition leaves a node in no other way than by its own word or with its row, so that row is proof enough for all
//! of them. The lease is the database's time. The node itself goes by the time since its machine was started, from the
//! moment at which it asked for the renewal (`lease`): clocks that differ do not matter.

use std::thread::sleep;
use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::error::SqlState;

use super::lease::{Heartbeat, NodeLease, TERM, ms, since_start_ms};
use super::postgres::{Postgres, Writer};
use super::values::{Bound, bound};
use super::{Error, Result, params};
use crate::store::partitions::PARTITIONS;
use crate::store::partitions::Partition;
use crate::store::place::Duties;

/// A server that is not there at a clean end is not waited for longer.
const FAREWELL: Duration = Duration::from_secs(2);

/// Nodes come, and take partitions, one by one.
const ONE_BY_ONE: &str =
    "SELECT CAST(pg_advisory_xact_lock(1415664487, hashtext(current_schema()::text)) AS TEXT)";

/// The same where one does not wait for it.
const TRY_ONE_BY_ONE: &str =
    "SELECT pg_try_advisory_xact_lock(1415664487, hashtext(current_schema()::text))";

/// How many nodes share the partitions, whether this one does, and whether it leads. One node that serves leads: another one comes
/// after it when its row is gone or when it drains.
const STAND: &str = "UPDATE node SET leads = CASE WHEN serves = 1 AND draining = 0 \
     AND NOT EXISTS (SELECT 1 FROM node AS other WHERE other.leads = 1 AND other.session <> ?1) THEN 1 ELSE 0 END \
     WHERE session = ?1 \
     RETURNING (SELECT count(*) FROM node AS each WHERE each.draining = 0 AND each.crawls = 1), draining = 0 AND crawls = 1, leads";

/// Nodes join within milliseconds: whoever holds them up longer moves the whole store.
const JOIN_TIMEOUT: &str = "SET LOCAL lock_timeout = '10s'";

/// The server ends a transaction of a process that was paused in the middle of it, which would hold up the next node.
pub(super) const WRITES: &str = "SET idle_in_transaction_session_timeout = '15s'";

/// The time of the database in milliseconds.
pub(in crate::store) const NOW_MS: &str =
    "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";

/// Another node with the same name is looked at so often: its lease is renewed or runs out meanwhile.
const LOOK_AT_OTHER: Duration = Duration::from_secs(1);

/// What came of asking for a place.
enum Place {
    /// It is this node's.
    Taken {
        /// Its number.
        session: i64,
        /// The time of the database.
        now_ms: i64,
    },
    /// A node in another folder has it.
    Others {
        /// The machine of that node.
        host: String,
        /// When its lease runs out.
        expires_ms: i64,
    },
}

/// What came of asking for partitions.
#[derive(Debug, Default)]
pub(in crate::store) struct Share {
    /// Taken just now.
    pub(in crate::store) gained: Vec<Gained>,
    /// So many of this node's are to be given back.
    pub(in crate::store) surplus: usize,
    /// This node does what one node does for all.
    pub(in crate::store) leads: bool,
}

/// A partition that this node has from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gained {
    /// Its number.
    pub part: Partition,
    /// Its last row number.
    pub(in crate::store) last: i64,
    /// The node before came to no clean end: it may have asked hosts a moment ago of which nothing is stored.
    pub rests: bool,
}

impl Postgres {
    /// Becomes one of the nodes, in the name of a data folder whose lock this process holds: what had that name before is over.
    /// It has no partition yet, and takes none unless it crawls.
    /// One that has this name in another folder is refused to be replaced while it is alive.
    pub(in crate::store) fn join(&self, id: &str, folder: &str, duties: Duties) -> Result<()> {
        let mut lease_of_other = None;
        let (session, now_ms, asked_ms) = loop {
            let asked_ms = since_start_ms();
            self.begin("BEGIN")?;
            let taken = self.take_place(id, folder, duties);
            match taken {
                Ok(Place::Taken { session, now_ms }) => {
                    self.commit()?;
                    break (session, now_ms, asked_ms);
                }
                Ok(Place::Others { host, expires_ms }) => {
                    // It is alive if it renews its lease, and its place is free when that has run out.
                    let is_alive = lease_of_other.is_some_and(|seen_ms| expires_ms > seen_ms);
                    lease_of_other = Some(expires_ms);
                    match is_alive {
                        true => self.commit()?,
                        false => self.roll_back(),
                    }
                    if is_alive {
                        return Err(Error::Unfit(format!(
                            "a node on {host} has the name of this data folder and is alive: was the folder copied? Remove the file \
                             `node` from the copy and start again; the node on {host} goes on"
                        )));
                    }
                    sleep(LOOK_AT_OTHER);
                }
                Err(error) => {
                    self.roll_back();
                    return Err(error);
                }
            }
        };
        self.run_script(WRITES)?;
        self.lease.begin(asked_ms);
        self.lease.note_time(now_ms);
        let heartbeat = Heartbeat::start(self.way.clone(), session, self.lease.clone())?;
        *self.heartbeat.borrow_mut() = Some(heartbeat);
        self.writer.set(Some(Writer {
            session,
            commit_no: 0,
        }));
        Ok(())
    }

    /// The lease of this connection, if it is the one that writes.
    pub(in crate::store) fn lease(&self) -> Option<NodeLease> {
        let is_node = self.writer.get().is_some();
        is_node.then(|| self.lease.clone())
    }

    /// The number of this node's place; none where it does not write.
    pub(in crate::store) fn session_no(&self) -> Option<i64> {
        self.writer.get().map(|writer| writer.session)
    }

    fn take_place(&self, id: &str, folder: &str, duties: Duties) -> Result<Place> {
        self.run_script(JOIN_TIMEOUT)?;
        self.query(ONE_BY_ONE, Vec::new()).map_err(held_up)?;
        let machine = rustix::system::uname();
        let host = machine.nodename().to_string_lossy();
        let sql = format!(
            "UPDATE node SET rival = ?3 WHERE id = ?1 AND place <> ?2 AND place <> '' AND expires_ms > {NOW_MS} \
             RETURNING host, expires_ms"
        );
        let others = self.query(&sql, bound(params![id, folder, host.as_ref()])?)?;
        if let Some(other) = others.first() {
            return Ok(Place::Others {
                host: other.try_get(0)?,
                expires_ms: other.try_get(1)?,
            });
        }
        let sql = "SELECT max(session) FROM node WHERE id = ?1";
        let before = self.query(sql, bound(params![id])?)?;
        let before: Option<i64> = before.first().ok_or_else(Error::no_rows)?.try_get(0)?;
        self.remove("id = ?1", bound(params![id])?)?;
        let sql = format!(
            "INSERT INTO node (id, host, version, crawls, serves, place, started_ms, expires_ms) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, {NOW_MS}, {NOW_MS} + {}) RETURNING session, started_ms",
            ms(TERM)
        );
        let version = env!("CARGO_PKG_VERSION");
        let Duties { crawls, serves } = duties;
        let (crawls, serves) = (i64::from(crawls), i64::from(serves));
        let values = params![id, host.as_ref(), version, crawls, serves, folder];
        let rows = self.query(&sql, bound(values)?)?;
        let row = rows.first().ok_or_else(Error::no_rows)?;
        let session: i64 = row.try_get(0)?;
        // A process that was killed has left its turns behind.
        let sql = "UPDATE turn SET session = ?1 WHERE session = ?2";
        self.query(sql, bound(params![session, before])?)?;
        Ok(Place::Taken {
            session,
            now_ms: row.try_get(1)?,
        })
    }

    /// Takes nodes out whose lease has run out. While the database was away, nobody could renew one: then the others have a moment
    /// to do so first, as this node has done.
    fn remove_lost(&self, own: i64) -> Result<()> {
        match self.lease().is_some_and(|lease| lease.is_settled()) {
            true => self.remove(
                &format!("expires_ms <= {NOW_MS} AND session <> ?1"),
                bound(params![own])?,
            ),
            false => Ok(()),
        }
    }

    /// Takes nodes out. Their partitions are free; their hosts rest first.
    fn remove(&self, which: &str, values: Vec<Bound>) -> Result<()> {
        let sql = format!("DELETE FROM node WHERE {which} RETURNING host");
        for row in self.query(&sql, values)? {
            let host: String = row.try_get(0)?;
            tracing::warn!(host, "a node is gone, its partitions are free");
        }
        let sql = "UPDATE part SET session = NULL, rests = 1 \
                   WHERE session IS NOT NULL AND session NOT IN (SELECT session FROM node)";
        self.query(sql, Vec::new())?;
        Ok(())
    }

    /// Takes partitions that are free, as many as make an even share, and looks how many this node has too many. `own` of
    /// them it has. Nothing where another node does the same at this moment.
    pub(in crate::store) fn take_share(&self, own: usize) -> Result<Share> {
        let Some(writer) = self.writer.get() else {
            return Ok(Share::default());
        };
        self.begin("BEGIN")?;
        match self.try_take_share(writer.session, own) {
            Ok(share) => {
                self.commit()?;
                Ok(share)
            }
            Err(error) => {
                self.roll_back();
                Err(error)
            }
        }
    }

    fn try_take_share(&self, session: i64, own: usize) -> Result<Share> {
        self.query(ONE_BY_ONE, Vec::new())?;
        self.remove_lost(session)?;
        let rows = self.query(STAND, bound(params![session])?)?;
        let row = rows.first().ok_or_else(Error::no_rows)?;
        let (nodes, takes_some, leads): (i64, bool, i64) =
            (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        let nodes = usize::try_from(nodes).unwrap_or_default();
        let even = (PARTITIONS as usize).div_ceil(nodes.max(1));
        let even = if takes_some { even } else { 0 };
        let wanted = i64::try_from(even.saturating_sub(own)).unwrap_or_default();
        let sql = "UPDATE part SET session = ?1 WHERE part IN \
                   (SELECT part FROM part WHERE session IS NULL ORDER BY part LIMIT ?2) RETURNING part, last, rests";
        let rows = self.query(sql, bound(params![session, wanted])?)?;
        let gained = rows.iter().map(gained).collect::<Result<_>>()?;
        // Until its hosts have rested, whoever comes after this node has them rest too: the mark goes with a clean end.
        Ok(Share {
            gained,
            surplus: own.saturating_sub(even),
            leads: leads == 1,
        })
    }

    /// The partitions that are this node's.
    pub(in crate::store) fn held(&self) -> Result<Vec<Gained>> {
        let Some(session) = self.session_no() else {
            return Ok(Vec::new());
        };
        let sql = "SELECT part, last, rests FROM part WHERE session = ?1 ORDER BY part";
        let rows = self.query(sql, bound(params![session])?)?;
        rows.iter().map(gained).collect()
    }

    /// For an open transaction that wants the database for itself: refused while nodes crawl, and none joins before its end.
    pub(in crate::store) fn refuse_nodes(&self) -> Result<()> {
        let rows = self.query(TRY_ONE_BY_ONE, Vec::new())?;
        let is_alone: bool = rows.first().ok_or_else(Error::no_rows)?.try_get(0)?;
        let sql = format!("SELECT host FROM node WHERE expires_ms > {NOW_MS} LIMIT 1");
        let found = self.query(&sql, Vec::new())?;
        let host: Option<String> = found.first().map(|row| row.try_get(0)).transpose()?;
        match (host, is_alone) {
            (Some(host), _) => Err(Error::Unfit(format!(
                "taojin crawls with it on {host}: stop all nodes first"
            ))),
            (None, false) => Err(Error::Unfit(
                "another taojin is about to change it: try again when that is done".to_owned(),
            )),
            (None, true) => Ok(()),
        }
    }

    /// Gives the place back, where the server is there: the next node need not wait for the end of the lease.
    pub(super) fn leave(&self) {
        drop(self.heartbeat.take());
        let (Some(writer), Some(session)) = (self.writer.take(), &*self.session.borrow()) else {
            return;
        };
        let session_no = writer.session;
        let sql = format!(
            "UPDATE part SET session = NULL, rests = 0 WHERE session = {session_no}; \
             DELETE FROM node WHERE session = {session_no}"
        );
        let farewell = async {
            let said = timeout(FAREWELL, session.client.batch_execute(&sql)).await;
            Ok::<_, Error>(said.is_ok_and(|said| said.is_ok()))
        };
        if !matches!(self.wait(farewell), Ok(true)) {
            tracing::debug!("the place in the database is free when the lease ends");
        }
    }
}

fn gained(row: &tokio_postgres::Row) -> Result<Gained> {
    Ok(Gained {
        part: row.try_get(0)?,
        last: row.try_get(1)?,
        rests: row.try_get::<_, i64>(2)? == 1,
    })
}

/// What a node is told that waited too long for its turn.
fn held_up(error: Error) -> Error {
    match error {
        Error::Postgres(e) if e.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => Error::Unfit(
            "its store is being moved (`taojin cluster import` or `export`): start again when that is done".to_owned(),
        ),
        error => error,
    }
}
