//! The place of a node in PostgreSQL: a row of `node`, held by a lease that it renews, and the partitions that it
//! crawls. Every transaction proves the lease; partitions are shared evenly among the nodes.
//!
//! Any node deletes the row of one whose lease has run out, and takes its partitions; every transaction of a node raises
//! `commit_no` in its own row. So a node that was paused or cut off, and whose place was taken meanwhile, changes nothing any
//! more. A partition leaves a node in no other way than by its own word or with its row, so that row is proof enough for all
//! of them. The lease is the database's time. The node itself goes by the time since its machine was started, from the
//! moment at which it asked for the renewal (`lease`): clocks that differ do not matter.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::postgres::{Bound, PgConnector, Postgres, Writer, bound};
use super::{Error, Result, params};
use crate::store::cluster::{PARTITIONS, Partition};
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
    /// A node in another directory has it.
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
    /// Becomes one of the nodes, in the name of a data directory whose lock this process holds: what had that name before is over.
    /// It has no partition yet, and takes none unless it crawls.
    /// One that has this name in another directory is refused to be replaced while it is alive.
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
                    if is_alive {
                        self.commit()?
                    } else {
                        self.roll_back()
                    }
                    if is_alive {
                        return Err(Error::Unfit(format!(
                            "a node on {host} has the name of this data folder and is alive: was the folder copied? Remove the file \
                             `node` from the copy and start again; the node on {host} goes on"
                        )));
                    }
                    thread::sleep(LOOK_AT_OTHER);
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
        let heartbeat = Heartbeat::start(self.connector.clone(), session, self.lease.clone())?;
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
        if self.lease().is_some_and(|lease| lease.is_settled()) {
            self.remove(
                &format!("expires_ms <= {NOW_MS} AND session <> ?1"),
                bound(params![own])?,
            )
        } else {
            Ok(())
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

/// A lease lasts so long after its renewal was asked for. Other nodes take over after it.
pub(super) const TERM: Duration = Duration::from_secs(15);
/// It is renewed so often: three renewals may fail before anything has to wait.
const RENEW_EVERY: Duration = Duration::from_secs(3);
/// Nothing is fetched so long before its end: a fetch that is broken off needs a moment to end.
const MARGIN: Duration = Duration::from_secs(3);
/// Who holds its lease for so long without a break has seen that the database is there, and that who did not renew its own
/// meanwhile is gone.
const SETTLED: Duration = Duration::from_secs(7);
/// The end of a lease is searched for so often where one waits for it: a machine that was asleep notices when it wakes.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The same where the database is silent.
const LOOK_SOON: Duration = Duration::from_millis(100);
/// The lease of a node whose place was taken.
const LOST: i64 = i64::MIN;
/// With each renewal the clock goes this far at most towards the time of the database: a thousandth of the time between.
const STEP_MS: i64 = 3;
/// A clock that is further off is set at once: no answer was so late.
const LEAP_MS: i64 = 1_000;

/// Whether this process may go on: the right to fetch and to write that a node has for some seconds at a time.
#[derive(Debug, Clone, Default)]
pub struct NodeLease {
    /// By [`since_start_ms`]; [`LOST`] once another node has the place.
    ends_ms: Arc<AtomicI64>,
    /// Since when it is held without a break, by the same clock.
    since_ms: Arc<AtomicI64>,
    /// What the database's time is ahead of [`since_start_ms`].
    ahead_ms: Arc<AtomicI64>,
    /// Whether the last renewal failed.
    is_silent: Arc<watch::Sender<bool>>,
    /// Whether a database that is silent is not waited for any more.
    hurries: Arc<AtomicBool>,
}

impl NodeLease {
    /// Begins where it was asked for at this time.
    pub(super) fn begin(&self, asked_ms: i64) {
        self.since_ms.store(asked_ms, Ordering::Relaxed);
        self.renew(asked_ms);
    }

    /// Whether the database did not answer when it was asked last, some seconds ago at most.
    pub fn is_silent(&self) -> bool {
        *self.is_silent.borrow()
    }

    /// What came of asking the database before there is a lease.
    pub fn set_silent(&self, is_silent: bool) {
        self.is_silent.send_replace(is_silent);
    }

    /// The process is to end: a database that is silent is not waited for any more.
    pub fn hurry(&self) {
        self.hurries.store(true, Ordering::Relaxed);
    }

    /// Waits until it is of no use to wait for the database: it is silent, and the lease is not held any more or the process is to
    /// end.
    pub(super) async fn given_up(&self) {
        loop {
            let mut silent = self.is_silent.subscribe();
            // The sender is a part of this.
            let _ = silent.wait_for(|silent| *silent).await;
            if self.is_given_up() {
                return;
            }
            sleep(LOOK_SOON).await;
        }
    }

    /// Whether it is of no use to wait for the database.
    pub(super) fn is_given_up(&self) -> bool {
        let is_over = self.hurries.load(Ordering::Relaxed) || !self.is_held();
        self.is_silent() && is_over
    }

    /// The time of the database, Unix milliseconds, by which all nodes go: it may be late by the time that an answer takes.
    pub fn database_ms(&self) -> i64 {
        since_start_ms() + self.ahead_ms.load(Ordering::Relaxed)
    }

    /// The database has said what time it is. Answers are late, each by another time: a clock that followed them at once would
    /// leap, and every rest of a host in between would be too short.
    pub(super) fn note_time(&self, database_ms: i64) {
        let known_ms = self.ahead_ms.load(Ordering::Relaxed);
        let off_ms = database_ms - since_start_ms() - known_ms;
        let step_ms = match off_ms.abs() {
            LEAP_MS.. => off_ms,
            _ => off_ms.clamp(-STEP_MS, STEP_MS),
        };
        self.ahead_ms.store(known_ms + step_ms, Ordering::Relaxed);
    }

    /// Whether it holds for some seconds more. False while the database cannot be reached for too long; it may come back.
    pub fn is_held(&self) -> bool {
        self.left_ms(since_start_ms()) > 0
    }

    /// Whether another node has the place.
    pub fn is_lost(&self) -> bool {
        self.ends_ms.load(Ordering::Relaxed) == LOST
    }

    /// Waits until the lease is no longer held.
    pub async fn in_doubt(&self) {
        loop {
            match u64::try_from(self.left_ms(since_start_ms())) {
                Ok(left_ms @ 1..) => sleep(LOOK_EVERY.min(Duration::from_millis(left_ms))).await,
                _ => return,
            }
        }
    }

    /// Milliseconds until nothing may be fetched any more, at this time since the machine was started.
    fn left_ms(&self, now_ms: i64) -> i64 {
        let ends_ms = self.ends_ms.load(Ordering::Relaxed);
        ends_ms.saturating_sub(now_ms).saturating_sub(ms(MARGIN))
    }

    /// Whether it has been held for a while without a break. After the database was away, the leases of all nodes may have run
    /// out, and each needs a moment to renew its own.
    pub(super) fn is_settled(&self) -> bool {
        let now_ms = since_start_ms();
        let ends_ms = self.ends_ms.load(Ordering::Relaxed);
        now_ms < ends_ms && now_ms - self.since_ms.load(Ordering::Relaxed) >= ms(SETTLED)
    }

    fn renew(&self, asked_ms: i64) {
        if asked_ms >= self.ends_ms.load(Ordering::Relaxed) {
            self.since_ms.store(asked_ms, Ordering::Relaxed);
        }
        self.ends_ms.store(asked_ms + ms(TERM), Ordering::Relaxed);
        self.set_silent(false);
    }
}

/// Renews a lease until it is dropped.
pub(super) struct Heartbeat {
    runtime: Option<Runtime>,
}

impl Heartbeat {
    pub(super) fn start(connector: PgConnector, session: i64, lease: NodeLease) -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("lease")
            .enable_all()
            .build()
            .map_err(|e| Error::Unreachable(e.to_string()))?;
        runtime.spawn(keep(connector, session, lease));
        Ok(Heartbeat {
            runtime: Some(runtime),
        })
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn keep(connector: PgConnector, session: i64, lease: NodeLease) {
    let mut client = None;
    loop {
        sleep(RENEW_EVERY).await;
        let asked_ms = since_start_ms();
        let renewed = timeout(RENEW_EVERY, renew(&connector, session, &mut client)).await;
        match renewed {
            Ok(Ok(Some(database_ms))) => {
                lease.renew(asked_ms);
                lease.note_time(database_ms);
            }
            Ok(Ok(None)) => {
                lease.ends_ms.store(LOST, Ordering::Relaxed);
                tracing::error!("another node has taken the place of this one");
                return;
            }
            Ok(Err(error)) => {
                tracing::warn!(?error, "the lease was not renewed");
                lease.set_silent(true);
                client = None;
            }
            Err(_) => {
                tracing::warn!("the lease was not renewed in time");
                lease.set_silent(true);
                client = None;
            }
        }
    }
}

/// The time of the database; none once another node has the place. A lease that ran out and was not taken is good again.
async fn renew(
    connector: &PgConnector,
    session: i64,
    client: &mut Option<Client>,
) -> Result<Option<i64>> {
    let client = match client {
        Some(client) => client,
        None => client.insert(connector.connect(RENEW_EVERY).await?),
    };
    let term = ms(TERM);
    let sql = format!(
        "UPDATE node AS own SET expires_ms = {NOW_MS} + {term}, rival = NULL FROM node AS before \
         WHERE own.session = {session} AND before.session = {session} RETURNING own.expires_ms - {term}, before.rival"
    );
    let renewed = client.query_typed(&sql, &[]).await?;
    let Some(row) = renewed.first() else {
        return Ok(None);
    };
    if let Some(rival) = row.try_get::<_, Option<String>>(1)? {
        tracing::error!(
            "a node on {rival} has tried to start with the name of this data folder and was refused: was the folder copied?"
        );
    }
    Ok(Some(row.try_get(0)?))
}

/// Milliseconds since the machine was started, asleep or not.
pub(super) fn since_start_ms() -> i64 {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
}

pub(super) fn ms(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lease_ends_before_takeover() {
        let lease = NodeLease::default();
        lease.begin(-ms(TERM));
        lease.renew(1_000);
        let most_ms = ms(TERM) - ms(MARGIN);
        assert_eq!(lease.left_ms(1_000), most_ms);
        assert_eq!(lease.left_ms(1_000 + most_ms), 0);
        // Held from this moment on, it is settled after a while, and not again before that after it ran out.
        let lease = NodeLease::default();
        lease.begin(since_start_ms());
        assert!(!lease.is_settled());
        lease.since_ms.fetch_sub(ms(SETTLED), Ordering::Relaxed);
        lease.renew(since_start_ms());
        assert!(lease.is_settled());
        lease.ends_ms.store(since_start_ms() - 1, Ordering::Relaxed);
        assert!(!lease.is_settled());
        lease.renew(since_start_ms());
        assert!(lease.is_held() && !lease.is_settled());
        lease.ends_ms.store(LOST, Ordering::Relaxed);
        // Late answers hardly move the clock, a wrong one is set right.
        let far = since_start_ms() + 1_000_000_000_000;
        lease.note_time(far);
        let hand = lease.ahead_ms.load(Ordering::Relaxed);
        lease.note_time(far - 40);
        lease.note_time(far + 500);
        let moved = lease.ahead_ms.load(Ordering::Relaxed) - hand;
        assert!(moved.abs() <= STEP_MS, "{moved}");
        assert!(lease.is_lost() && lease.left_ms(0) < 0);
    }
}
