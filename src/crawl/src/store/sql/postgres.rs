//! A connection to PostgreSQL. In: statements of the store. Out: rows. A connection that is lost is made again: what reads
//! outside a transaction is asked again, a transaction that was open is reported as not done, and a COMMIT whose answer
//! was lost is looked up in the row of this node, so that nothing is done twice.
//!
//! Answers of PostgreSQL. In: statements on their way, errors of the client. Out: their answers in order; what an error says
//! and whether it may go by itself.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::types::Value;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use super::lease::{Heartbeat, NodeLease};
use super::node::WRITES;
use super::tls::Way;
use super::values::Bound;
use super::{Error, Result};

/// A lost connection is tried again for so long before anybody is told, unless [`Postgres::set_patience`] says otherwise: a
/// server restarts within seconds, a fail-over takes half a minute.
const PATIENCE: Duration = Duration::from_secs(60);
/// First pause between two tries; doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// Longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Servers that do not answer for so long are not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A machine that takes in nothing for so long is gone; the system itself would wait for a quarter of an hour.
const SILENCE: Duration = Duration::from_secs(20);
/// What is said of it then, and of a database that was asked in vain a moment ago.
const SILENT: &str = "it has not answered for some seconds";
/// Statements kept compiled on a connection.
const STATEMENTS: usize = 256;
/// Statements that wait to be sent together: about a page's worth of memory each.
const MOST_WAITING: usize = 4_096;

/// The server notices within half a minute that this machine is gone, and lets go of its rows; compiling queries to machine
/// code costs more than our queries do.
const SESSION: &str = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; \
     SET jit = off";

/// Part of every transaction of a node: changes no row once another node has taken the place.
const RAISE: &str =
    "UPDATE node SET commit_no = commit_no + 1 WHERE session = ?1 AND commit_no = ?2";
/// The last transaction of a node, once none of it is under way.
const REACHED: &str = "SELECT commit_no FROM node WHERE session = ?1 FOR UPDATE";

/// A connection.
pub(in crate::store) struct Postgres {
    runtime: Option<Runtime>,
    pub(super) way: Way,
    pub(super) session: RefCell<Option<Session>>,
    waiting: RefCell<Vec<(String, Vec<Bound>)>>,
    in_transaction: Cell<bool>,
    pub(super) writer: Cell<Option<Writer>>,
    pub(super) heartbeat: RefCell<Option<Heartbeat>>,
    /// The lease of the node that this process is, or of one that it does not become.
    pub(super) lease: NodeLease,
    patience: Cell<Duration>,
    /// What `commit_no` is if the last COMMIT was carried out, where its answer was lost and the server is away since.
    in_doubt: Cell<Option<i64>>,
}

/// One life of a connection.
pub(super) struct Session {
    pub(super) client: Client,
    statements: HashMap<String, Statement>,
}

/// What proves that this process is the one that writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writer {
    /// Its row in `node`.
    pub(super) session: i64,
    /// Number of its last transaction.
    pub(super) commit_no: i64,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres")
            .field("writer", &self.writer)
            .finish_non_exhaustive()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.leave();
        // Waiting for its end would be refused where readers are answered.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Postgres {
    /// Connects once, without patience: an address that is wrong is to be told at once.
    pub(in crate::store) fn connect(way: &Way, lease: &NodeLease) -> Result<Self> {
        if lease.is_silent() {
            return Err(Error::Unreachable(SILENT.to_owned()));
        }
        let mut way = way.clone();
        let config = &mut way.config;
        config.application_name("taojin");
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        config.keepalives_idle(Duration::from_secs(10));
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| Error::Unreachable(e.to_string()))?;
        let conn = Postgres {
            runtime: Some(runtime),
            way,
            session: RefCell::default(),
            waiting: RefCell::default(),
            in_transaction: Cell::new(false),
            writer: Cell::new(None),
            heartbeat: RefCell::default(),
            lease: lease.clone(),
            patience: Cell::new(PATIENCE),
            in_doubt: Cell::new(None),
        };
        let session = conn.new_session()?;
        *conn.session.borrow_mut() = Some(session);
        Ok(conn)
    }

    /// For how long a server that does not answer is waited for.
    pub(in crate::store) fn set_patience(&self, patience: Duration) {
        self.patience.set(patience);
    }

    /// Rows of an answer.
    pub(super) fn query(&self, sql: &str, values: Vec<Bound>) -> Result<Vec<Row>> {
        self.flush()?;
        self.patiently(|| self.query_once(sql, &values))
    }

    fn query_once(&self, sql: &str, values: &[Bound]) -> Result<Vec<Row>> {
        let statement = self.statement(sql)?;
        let values: Vec<_> = values.iter().map(|v| v as &(dyn ToSql + Sync)).collect();
        self.with_client(|client| self.wait(client.query(&statement, &values)))
    }

    /// Rows of an answer to a statement that is not kept compiled: one round trip.
    pub(super) fn query_unprepared(&self, sql: &str) -> Result<Vec<Row>> {
        self.flush()?;
        self.patiently(|| self.with_client(|client| self.wait(client.query_typed(sql, &[]))))
    }

    /// How many rows a statement changed. It is not repeated when the connection is lost: nobody knows whether it was done.
    pub(super) fn execute(&self, sql: &str, values: Vec<Bound>) -> Result<usize> {
        self.flush()?;
        if !self.in_transaction.get() {
            self.ensure()?;
        }
        let statement = self.statement(sql)?;
        let changed =
            self.with_client(|client| self.wait(client.execute_raw(&statement, &values)))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// A statement that is sent with those after it.
    pub(super) fn put(&self, sql: &str, values: Vec<Bound>) -> Result<()> {
        self.waiting.borrow_mut().push((sql.to_owned(), values));
        if !self.in_transaction.get() || self.waiting.borrow().len() >= MOST_WAITING {
            self.flush()?;
        }
        Ok(())
    }

    /// Statements without values, as a migration has them.
    pub(in crate::store) fn run_script(&self, sql: &str) -> Result<()> {
        self.flush()?;
        self.batch(sql)
    }

    /// Opens a transaction with this statement.
    pub(super) fn begin(&self, sql: &str) -> Result<()> {
        if self.in_doubt.get().is_some() {
            let reason = "what became of the last transaction is not known yet";
            return Err(Error::Unreachable(reason.to_owned()));
        }
        self.patiently(|| self.batch(sql))?;
        self.in_transaction.set(true);
        Ok(())
    }

    /// Makes the open transaction durable. Where the answer is lost, the row of the writer says what became of it.
    pub(super) fn commit(&self) -> Result<()> {
        let committed = self.try_commit();
        self.in_transaction.set(false);
        match committed {
            Ok(()) => Ok(()),
            Err(error) => {
                self.roll_back();
                Err(error)
            }
        }
    }

    fn try_commit(&self) -> Result<()> {
        let Some(writer) = self.writer.get() else {
            self.flush()?;
            return self.batch("COMMIT");
        };
        let (session, last) = (Value::from(writer.session), Value::from(writer.commit_no));
        let fence = vec![Bound(session), Bound(last)];
        self.waiting.borrow_mut().push((RAISE.to_owned(), fence));
        if self.flush()?.last() != Some(&1) {
            return Err(Error::Fenced);
        }
        let next = Writer {
            commit_no: writer.commit_no + 1,
            ..writer
        };
        match self.batch("COMMIT") {
            Err(Error::Unreachable(lost)) => {
                self.in_transaction.set(false);
                self.in_doubt.set(Some(next.commit_no));
                match self.settle()? {
                    true => Ok(()),
                    false => Err(Error::Unreachable(lost)),
                }
            }
            Err(error) => Err(error),
            Ok(()) => {
                self.writer.set(Some(next));
                Ok(())
            }
        }
    }

    /// Whether a COMMIT whose answer was lost was carried out; false where there is none. Reaches the server, or fails. The row of
    /// this node is free as soon as the server has ended that transaction, one way or the other.
    pub(in crate::store) fn settle(&self) -> Result<bool> {
        let (Some(writer), Some(wanted)) = (self.writer.get(), self.in_doubt.get()) else {
            self.query("SELECT 1", Vec::new())?;
            return Ok(false);
        };
        let session = Bound(Value::from(writer.session));
        let found = self.query(REACHED, vec![session])?;
        let row = found.first().ok_or(Error::Fenced)?;
        let commit_no: i64 = row.try_get(0)?;
        self.writer.set(Some(Writer {
            commit_no,
            ..writer
        }));
        self.in_doubt.set(None);
        Ok(commit_no == wanted)
    }

    /// Nothing of the open transaction stays.
    pub(super) fn roll_back(&self) {
        self.waiting.borrow_mut().clear();
        self.in_transaction.set(false);
        let alive = self.session.borrow().is_some();
        if alive && self.batch("ROLLBACK").is_err() {
            *self.session.borrow_mut() = None;
        }
    }

    /// Sends what waits, all of it at once; how many rows each statement changed.
    fn flush(&self) -> Result<Vec<u64>> {
        let waiting = std::mem::take(&mut *self.waiting.borrow_mut());
        if waiting.is_empty() {
            return Ok(Vec::new());
        }
        let mut statements = Vec::with_capacity(waiting.len());
        for (sql, _) in &waiting {
            statements.push(self.statement(sql)?);
        }
        self.with_client(|client| {
            let runs = statements.iter().zip(&waiting);
            let runs = runs.map(|(statement, (_, values))| client.execute_raw(statement, values));
            self.wait(all_at_once(runs.map(Box::pin).collect()))
        })
    }

    /// Asks again while the server is not there, for as long as its patience lasts. Not inside a transaction, which is lost
    /// with its connection.
    fn patiently<T>(&self, ask: impl Fn() -> Result<T>) -> Result<T> {
        if self.in_transaction.get() {
            return ask();
        }
        let end = Instant::now() + self.patience.get();
        let mut pause = FIRST_PAUSE;
        loop {
            match self.ensure().and_then(|()| ask()) {
                Err(Error::Unreachable(reason))
                    if Instant::now() < end && !self.lease.is_given_up() =>
                {
                    tracing::warn!(reason, "PostgreSQL cannot be reached, trying again");
                    *self.session.borrow_mut() = None;
                    std::thread::sleep(pause);
                    pause = LONGEST_PAUSE.min(2 * pause);
                }
                answer => return answer,
            }
        }
    }

    /// There is a connection.
    fn ensure(&self) -> Result<()> {
        let alive = |session: &Session| !session.client.is_closed();
        if self.session.borrow().as_ref().is_some_and(alive) {
            return Ok(());
        }
        let session = self.new_session()?;
        *self.session.borrow_mut() = Some(session);
        match self.writer.get() {
            Some(_) => self.batch(WRITES),
            None => Ok(()),
        }
    }

    fn new_session(&self) -> Result<Session> {
        let client = self.wait(self.way.connect(CONNECT_TIMEOUT))?;
        self.wait(client.batch_execute(SESSION))?;
        Ok(Session {
            client,
            statements: HashMap::new(),
        })
    }

    /// The statement compiled on this connection.
    fn statement(&self, sql: &str) -> Result<Statement> {
        if let Some(session) = &*self.session.borrow()
            && let Some(known) = session.statements.get(sql)
        {
            return Ok(known.clone());
        }
        let numbered = sql.replace('?', "$");
        let statement = self.with_client(|client| self.wait(client.prepare(&numbered)))?;
        if let Some(session) = &mut *self.session.borrow_mut() {
            if session.statements.len() >= STATEMENTS {
                session.statements.clear();
            }
            session.statements.insert(sql.to_owned(), statement.clone());
        }
        Ok(statement)
    }

    fn batch(&self, sql: &str) -> Result<()> {
        self.with_client(|client| self.wait(client.batch_execute(sql)))
    }

    fn with_client<T>(&self, with: impl FnOnce(&Client) -> Result<T>) -> Result<T> {
        match &*self.session.borrow() {
            Some(session) => with(&session.client),
            None => Err(Error::Unreachable("the connection was lost".to_owned())),
        }
    }

    /// Waits for an answer; a node gives up when it is told that the server answers nothing any more ([`NodeLease::given_up`]).
    /// Inside of another runtime, where the daemon opens its store, tokio lets no thread wait; then another one does.
    pub(super) fn wait<T: Send, E: Into<Error> + Send>(
        &self,
        work: impl Future<Output = std::result::Result<T, E>> + Send,
    ) -> Result<T> {
        let closed = || Error::Unreachable("the connection is closed".to_owned());
        let runtime = self.runtime.as_ref().ok_or_else(closed)?;
        let lease = &self.lease;
        let work = async {
            tokio::select! {
                done = work => done.map_err(Into::into),
                () = lease.given_up() => Err(Error::Unreachable(SILENT.to_owned())),
            }
        };
        match Handle::try_current() {
            Err(_) => runtime.block_on(work),
            Ok(_) => thread::scope(|scope| scope.spawn(|| runtime.block_on(work)).join())
                .unwrap_or_else(|panic| resume_unwind(panic)),
        }
    }
}

/// Sends all of them before it waits for the first answer: one round trip. The answers in order, or the first error.
pub(super) fn all_at_once<F: Future<Output = Answer> + Unpin>(
    mut runs: Vec<F>,
) -> impl Future<Output = std::result::Result<Vec<u64>, tokio_postgres::Error>> {
    let mut answers: Vec<Option<Answer>> = runs.iter().map(|_| None).collect();
    let (mut sent, mut answered) = (false, 0);
    poll_fn(move |context| {
        // Each is sent when it is first looked at.
        for (run, answer) in runs.iter_mut().zip(&mut answers).filter(|_| !sent) {
            if let Poll::Ready(early) = Pin::new(run).poll(context) {
                *answer = Some(early);
            }
        }
        sent = true;
        while let Some(answer) = answers.get_mut(answered) {
            if answer.is_none() {
                match Pin::new(&mut runs[answered]).poll(context) {
                    Poll::Ready(late) => *answer = Some(late),
                    Poll::Pending => return Poll::Pending,
                }
            }
            answered += 1;
        }
        Poll::Ready(answers.iter_mut().filter_map(Option::take).collect())
    })
}

type Answer = std::result::Result<u64, tokio_postgres::Error>;

/// What went wrong, with its causes.
pub(in crate::store) fn in_words(error: &tokio_postgres::Error) -> String {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        words = format!("{words}: {inner}");
        cause = inner.source();
    }
    words
}

/// Whether it may go by itself: the server is not there, shuts down, starts, or has no connection left. A value of the wrong
/// type never does.
pub(super) fn is_passing(error: &tokio_postgres::Error) -> bool {
    match error.code() {
        Some(code) => code.code().starts_with("57P0") || *code == SqlState::TOO_MANY_CONNECTIONS,
        None => error.is_closed() || io_cause(error),
    }
}

fn io_cause(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(|cause| cause.is::<std::io::Error>())
        || error.to_string().starts_with("error connecting")
        || error.to_string().starts_with("timeout")
}
