//! A connection to PostgreSQL. A lost connection is made again: reads outside a transaction are repeated, an open
//! transaction is reported as not done, and a COMMIT whose response was lost is looked up in the row of this node, so
//! that nothing is done twice.
//!
//! Errors of the client are described with their causes and sorted into those that may pass by themselves and others.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::error::Error as StdError;
use std::future::{Future, poll_fn};
use std::io;
use std::panic::resume_unwind;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use bytes::{BufMut, BytesMut};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, NoTls, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::node::{Heartbeat, NodeLease, WRITES};
use super::{Error, Result, Result as SqlResult};

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
    pub(super) connector: PgConnector,
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
    pub(in crate::store) fn connect(connector: &PgConnector, lease: &NodeLease) -> Result<Self> {
        if lease.is_silent() {
            return Err(Error::Unreachable(SILENT.to_owned()));
        }
        let mut connector = connector.clone();
        let config = &mut connector.config;
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
            connector,
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
                if self.settle()? {
                    Ok(())
                } else {
                    Err(Error::Unreachable(lost))
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
        let client = self.wait(self.connector.connect(CONNECT_TIMEOUT))?;
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
pub(in crate::store) fn describe(error: &tokio_postgres::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
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
        None => error.is_closed() || error.source().is_some_and(|cause| cause.is::<io::Error>()),
    }
}

/// How to reach a server.
#[derive(Debug, Clone)]
pub(in crate::store) struct PgConnector {
    pub(in crate::store) config: Config,
    tls: Option<Arc<ClientConfig>>,
}

impl PgConnector {
    /// `authorities`: a PEM file with the certificates of those that may vouch for the server; none: those of the system.
    pub(in crate::store) fn new(
        mut config: Config,
        authorities: Option<&Path>,
    ) -> Result<Self, String> {
        if config.get_ssl_mode() != SslMode::Require {
            if let Some(file) = authorities {
                return Err(format!(
                    "{} is named, but the connection is not encrypted: add ?sslmode=require to the address",
                    file.display()
                ));
            }
            // Without a check of the certificate, encryption keeps nobody out who can change what is sent.
            config.ssl_mode(SslMode::Disable);
            return Ok(PgConnector { config, tls: None });
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?;
        let builder = match authorities {
            Some(file) => builder.with_root_certificates(roots(file)?),
            None => builder
                .with_platform_verifier()
                .map_err(|e| e.to_string())?,
        };
        let tls = Some(Arc::new(builder.with_no_client_auth()));
        Ok(PgConnector { config, tls })
    }

    /// Connects within this time to the first host that is what the address asks for; the connection works on the present
    /// runtime until the client is dropped. A host that does not answer takes its share of the time, so that the next one is
    /// reached.
    pub(super) async fn connect(&self, limit: Duration) -> SqlResult<Client> {
        let hosts = one_by_one(&self.config);
        let each = limit / u32::try_from(hosts.len()).unwrap_or(1).max(1);
        let mut failed = Error::Unreachable("no host is named".to_owned());
        for host in &hosts {
            match timeout(each, self.connect_to(host)).await {
                Ok(Ok(client)) => return Ok(client),
                // The client's own time limit is the only failure to connect that has no cause.
                Ok(Err(error)) if error.source().is_none() => {
                    failed = Error::Unreachable(describe(&error));
                }
                Ok(Err(error)) => failed = error.into(),
                Err(_) => {
                    let ms = each.as_millis();
                    failed = Error::Unreachable(format!("no answer within {ms} ms"));
                }
            }
        }
        Err(failed)
    }

    async fn connect_to(&self, host: &Config) -> Result<Client, tokio_postgres::Error> {
        match &self.tls {
            None => {
                let (client, connection) = host.connect(NoTls).await?;
                tokio::spawn(connection);
                Ok(client)
            }
            Some(tls) => {
                let tls = MakeRustlsConnect::new(ClientConfig::clone(tls));
                let (client, connection) = host.connect(tls).await?;
                tokio::spawn(connection);
                Ok(client)
            }
        }
    }
}

/// The same for each host alone, in their order.
fn one_by_one(all: &Config) -> Vec<Config> {
    let (hosts, ports) = (all.get_hosts(), all.get_ports());
    if hosts.len() < 2 || !all.get_hostaddrs().is_empty() {
        return vec![all.clone()];
    }
    let of_host = |(at, host): (usize, &Host)| {
        let mut one = Config::new();
        match host {
            Host::Tcp(name) => one.host(name),
            Host::Unix(folder) => one.host_path(folder),
        };
        // One port may stand for all hosts.
        if let Some(port) = ports.get(at).or(ports.first()) {
            one.port(*port);
        }
        if let Some(user) = all.get_user() {
            one.user(user);
        }
        if let Some(password) = all.get_password() {
            one.password(password);
        }
        if let Some(name) = all.get_dbname() {
            one.dbname(name);
        }
        if let Some(options) = all.get_options() {
            one.options(options);
        }
        if let Some(name) = all.get_application_name() {
            one.application_name(name);
        }
        if let Some(limit) = all.get_connect_timeout() {
            one.connect_timeout(*limit);
        }
        if let Some(limit) = all.get_tcp_user_timeout() {
            one.tcp_user_timeout(*limit);
        }
        one.ssl_mode(all.get_ssl_mode())
            .ssl_negotiation(all.get_ssl_negotiation())
            .keepalives(all.get_keepalives())
            .keepalives_idle(all.get_keepalives_idle())
            .target_session_attrs(all.get_target_session_attrs())
            .channel_binding(all.get_channel_binding());
        one
    };
    hosts.iter().enumerate().map(of_host).collect()
}

fn roots(file: &Path) -> Result<RootCertStore, String> {
    let unusable = |reason: String| format!("{}: {reason}", file.display());
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file).map_err(|e| unusable(e.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|e| unusable(e.to_string()))?;
        roots
            .add(certificate)
            .map_err(|e| unusable(e.to_string()))?;
    }
    if roots.is_empty() {
        Err(unusable("holds no certificate".to_owned()))
    } else {
        Ok(roots)
    }
}

/// A value of a statement.
#[derive(Debug)]
pub(super) struct Bound(pub(super) Value);

/// Values of a statement, to be kept until it is sent.
pub(super) fn bound(values: &[&dyn rusqlite::ToSql]) -> Result<Vec<Bound>> {
    values
        .iter()
        .map(|value| match value.to_sql()? {
            ToSqlOutput::Owned(value) => Ok(Bound(value)),
            ToSqlOutput::Borrowed(value) => Ok(Bound(value.try_into()?)),
            _ => Err(rusqlite::Error::InvalidQuery.into()),
        })
        .collect()
}

impl ToSql for Bound {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match (&self.0, ty) {
            (Value::Null, _) => return Ok(IsNull::Yes),
            (Value::Integer(n), &Type::INT8) => out.put_i64(*n),
            (Value::Integer(n), &Type::INT4) => out.put_i32(i32::try_from(*n)?),
            (Value::Integer(n), &Type::BOOL) => out.put_u8(u8::from(*n != 0)),
            (Value::Real(x), &Type::FLOAT8) => out.put_f64(*x),
            (Value::Text(text), &Type::TEXT) if text.contains('\0') => {
                out.put_slice(text.replace('\0', "\u{fffd}").as_bytes());
            }
            (Value::Text(text), &Type::TEXT) => out.put_slice(text.as_bytes()),
            (Value::Blob(bytes), &Type::BYTEA) => out.put_slice(bytes),
            (value, ty) => {
                return Err(format!("{:?} where {ty} is expected", value.data_type()).into());
            }
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A value of an answer.
pub(super) struct FromServer<'a>(pub(super) ValueRef<'a>);

impl<'a> FromSql<'a> for FromServer<'a> {
    fn from_sql(
        ty: &Type,
        raw: &'a [u8],
    ) -> std::result::Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(FromServer(match *ty {
            Type::INT8 => ValueRef::Integer(i64::from_be_bytes(raw.try_into()?)),
            Type::INT4 => ValueRef::Integer(i32::from_be_bytes(raw.try_into()?).into()),
            Type::BOOL => ValueRef::Integer(raw.first().copied().unwrap_or_default().into()),
            Type::FLOAT8 => ValueRef::Real(f64::from_be_bytes(raw.try_into()?)),
            Type::BYTEA => ValueRef::Blob(raw),
            Type::TEXT | Type::VARCHAR | Type::NAME => ValueRef::Text(raw),
            _ => return Err(format!("{ty} is no type of the store").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> std::result::Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(FromServer(ValueRef::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
