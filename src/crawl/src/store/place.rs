//! Where a store is: a [`StorePlace`] names the data directory and, for a shared store, the PostgreSQL database.
//!
//! [`DatabaseFacts`] describe that database to an operator before anything crawls, and create its tables if they are
//! missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::error::{Result, StoreError};
use super::open::Reader;
use super::schema;
use super::sql::{NONE, NodeLease, PgConnector};

/// Where PostgreSQL listens unless it is told otherwise.
const DEFAULT_PORT: u16 = 5432;

/// Directory of the copy of the documents, in the data directory.
const COPY: &str = "documents";

/// Where a store is: a file in the data directory, or a PostgreSQL database. The small files of this machine (lock, filter of
/// seen addresses, pages being visited) stand in the data directory either way.
#[derive(Debug, Clone)]
pub struct StorePlace {
    pub(super) dir: PathBuf,
    url: String,
    password_file: Option<PathBuf>,
    ca_file: Option<PathBuf>,
    duties: Duties,
    pub(super) lease: NodeLease,
}

/// What a node of a shared store does; where the store is a file, its process does both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duties {
    /// It takes part in the crawl.
    pub crawls: bool,
    /// It has an index and answers searches.
    pub serves: bool,
}

impl Default for Duties {
    fn default() -> Self {
        Duties {
            crawls: true,
            serves: true,
        }
    }
}

/// A PostgreSQL database.
#[derive(Debug, Clone)]
pub(super) struct Server {
    pub(super) connector: PgConnector,
    /// As it is told in messages.
    pub(super) at: PathBuf,
}

impl StorePlace {
    /// A PostgreSQL database by its address (`postgres://user@host/database`), with the files of this machine in `dir`. The
    /// password stands in a file of its own, if one is needed. With an empty address the store is a file in `dir`.
    pub fn new(dir: &Path, url: &str, password_file: Option<PathBuf>) -> Self {
        StorePlace {
            dir: dir.to_owned(),
            url: url.to_owned(),
            password_file,
            ca_file: None,
            duties: Duties::default(),
            lease: NodeLease::default(),
        }
    }

    /// With a PEM file of the authorities that may vouch for the server; without, those of the system may.
    pub fn with_ca_file(self, ca_file: Option<PathBuf>) -> Self {
        StorePlace { ca_file, ..self }
    }

    /// For a node that does not do all that a node may do.
    #[must_use]
    pub fn with_duties(self, duties: Duties) -> Self {
        StorePlace { duties, ..self }
    }

    /// For a process that becomes a node, or is one: all that it asks of the database shares this lease, so that nothing waits for
    /// one that is silent.
    #[must_use]
    pub fn with_lease(self, lease: NodeLease) -> Self {
        StorePlace { lease, ..self }
    }

    /// What a node here does.
    pub fn duties(&self) -> Duties {
        self.duties
    }

    /// The data directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether PostgreSQL holds the state.
    pub fn is_postgres(&self) -> bool {
        !self.url.is_empty()
    }

    /// Where this machine keeps its own copy of the documents of a store in PostgreSQL
    /// ([`DocumentCopy`](super::DocumentCopy)): a store in a file of its own.
    #[must_use]
    pub fn copy(&self) -> Self {
        StorePlace::new(&self.dir.join(COPY), "", None)
    }

    /// Whether there is such a copy.
    pub fn has_copy(&self) -> bool {
        self.is_postgres() && super::moving::is_there(self.copy().dir())
    }

    /// What is wrong with the address or the file of its password.
    pub fn problem(&self) -> Option<StoreError> {
        self.server().err()
    }

    /// How to connect; none where the store is a file.
    pub(super) fn server(&self) -> Result<Option<Server>> {
        let unusable = |detail: String| StoreError::Address { detail };
        let url = &self.url;
        if url.is_empty() {
            return Ok(None);
        }
        if !["postgres://", "postgresql://"]
            .iter()
            .any(|start| url.starts_with(start))
        {
            return Err(unusable("it must begin with postgres://".to_owned()));
        }
        let mut config: Config = url
            .parse()
            .map_err(|e| unusable(super::sql::describe(&e)))?;
        if config.get_password().is_some() {
            return Err(unusable(
                "put the password into store.password_file".to_owned(),
            ));
        }
        if let Some(file) = &self.password_file {
            let password = fs::read_to_string(file).map_err(|e| StoreError::io(file, e))?;
            config.password(password.trim_end());
        }
        let host = match config.get_hosts() {
            [] => return Err(unusable("it names no host".to_owned())),
            [Host::Tcp(name), ..] => name.clone(),
            [Host::Unix(folder), ..] => folder.display().to_string(),
        };
        let database = config
            .get_dbname()
            .or(config.get_user())
            .unwrap_or_default();
        let port = match config.get_ports() {
            [] | [DEFAULT_PORT] => String::new(),
            [port, ..] => format!(":{port}"),
        };
        let at = PathBuf::from(format!("postgres://{host}{port}/{database}"));
        let connector = PgConnector::new(config, self.ca_file.as_deref()).map_err(unusable)?;
        Ok(Some(Server { connector, at }))
    }
}

impl From<&Path> for StorePlace {
    fn from(dir: &Path) -> Self {
        #[cfg(test)]
        if let Some(place) = super::tests::on_postgres::place(dir) {
            return place;
        }
        StorePlace::new(dir, "", None)
    }
}

impl From<&PathBuf> for StorePlace {
    fn from(dir: &PathBuf) -> Self {
        StorePlace::from(dir.as_path())
    }
}

impl From<&StorePlace> for StorePlace {
    fn from(place: &StorePlace) -> Self {
        place.clone()
    }
}

/// Round trips of which the middle one counts.
const ROUND_TRIPS: usize = 21;

/// What was found out about a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DatabaseFacts {
    /// Its address without the user.
    pub database: String,
    /// Version of the server, as it says it.
    pub server: String,
    /// Whether the connection is encrypted.
    pub is_encrypted: bool,
    /// Version of its tables; 0: there are none yet.
    pub tables: i64,
    /// Version of the tables that this program makes.
    pub tables_known: i64,
    /// Time of a short question and its answer, microseconds.
    pub round_trip_us: u64,
    /// How much the clock of the database is ahead of this machine's, milliseconds; negative if it is behind.
    pub ahead_ms: i64,
    /// Size on its disk, bytes.
    pub bytes: i64,
    /// Connections that are open, of all programs.
    pub connections: i64,
    /// Most connections that the server takes.
    pub max_connections: i64,
    /// Whether a transaction is on the disk when it is reported as done (`fsync`, `synchronous_commit`).
    pub is_durable: bool,
    /// Nodes that crawl with it.
    pub nodes: i64,
}

impl DatabaseFacts {
    /// Looks at the database of `place`. `now_ms` tells this machine's time in Unix milliseconds.
    pub fn read(place: &StorePlace, now_ms: impl Fn() -> i64) -> Result<Self> {
        let reader = Reader::connect_database(place)?;
        let tables = schema::version(&reader.conn)?;
        let mut trips = Vec::with_capacity(ROUND_TRIPS);
        let mut ahead_ms = 0;
        for _ in 0..ROUND_TRIPS {
            let (begun, asked_ms) = (Instant::now(), now_ms());
            let sql = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";
            let database_ms = reader.row(sql, NONE, |row| row.get::<i64>(0))?;
            trips.push(begun.elapsed());
            // The database looked at its clock somewhere between the two.
            let middle_ms = asked_ms + (now_ms() - asked_ms) / 2;
            ahead_ms = database_ms.unwrap_or(middle_ms) - middle_ms;
        }
        trips.sort_unstable();
        let nodes = if tables > 0 {
            "(SELECT count(*) FROM node)"
        } else {
            "CAST(0 AS BIGINT)"
        };
        let sql = format!(
            "SELECT current_setting('server_version'), \
             coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false), \
             pg_database_size(current_database()), \
             (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'), \
             CAST(current_setting('max_connections') AS BIGINT), \
             current_setting('fsync') = 'on' AND current_setting('synchronous_commit') <> 'off', {nodes}"
        );
        let found = reader.row(&sql, NONE, |row| {
            Ok(DatabaseFacts {
                database: reader.path().display().to_string(),
                server: row.get(0)?,
                is_encrypted: row.get(1)?,
                tables,
                tables_known: schema::VERSION,
                round_trip_us: micros(trips[ROUND_TRIPS / 2]),
                ahead_ms,
                bytes: row.get(2)?,
                connections: row.get(3)?,
                max_connections: row.get(4)?,
                is_durable: row.get(5)?,
                nodes: row.get(6)?,
            })
        })?;
        found.ok_or(StoreError::Missing {
            path: reader.path().to_owned(),
        })
    }

    /// Makes the tables of a store. True if they were missing.
    pub fn set_up(place: &StorePlace) -> Result<bool> {
        let reader = Reader::connect_database(place)?;
        let before = schema::version(&reader.conn)?;
        schema::create(&reader.conn)?;
        Ok(before == 0)
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
