//! The PostgreSQL database of a store, as an operator sees it before anything crawls. In: where it is. Out: its tables, made if
//! they are missing; what was found out about it.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::error::{Result, StoreError};
use super::open::Reader;
use super::place::StorePlace;
use super::schema;
use super::sql::NONE;

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
