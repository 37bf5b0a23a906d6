//! The crawl nodes of a store in PostgreSQL. In: a connection, the data folder of this machine. Out: the place of this node,
//! its share of the partitions, and which nodes there are.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::Serialize;

use super::error::{Result, StoreError};
use super::open::{Reader, Store};
use super::partitions::{Partition, Partitions};
use super::place::StorePlace;
use super::sql::{self, Gained, NONE, Row, Share, list, params};

/// In the data folder: the name of this node, by which it knows the place that it had before a crash as its own.
const FILE: &str = "node";

/// A node, as the database knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NodeRecord {
    /// Name of its data folder.
    pub id: String,
    /// Name of its machine.
    pub host: String,
    /// Version of its program.
    pub version: String,
    /// Number of its place: rises with each start.
    pub session: i64,
    /// When it was started by the clock of the database, Unix milliseconds.
    pub started_ms: i64,
    /// How long its lease holds, milliseconds; negative if it has run out.
    pub lease_ms: i64,
    /// Transactions since its start.
    pub commits: i64,
    /// Partitions whose hosts it crawls, of 256.
    pub partitions: i64,
    /// It gives its partitions back and takes no more.
    pub draining: bool,
    /// It takes part in the crawl; if not, it only serves.
    pub crawls: bool,
    /// It has an index and answers searches; if not, it only crawls.
    pub serves: bool,
    /// It does what one node does for all: sending hits to webhooks, forgetting old versions.
    pub leads: bool,
    /// What its sites are ([`Store::set_node_sites`]); none before it has said so.
    #[serde(skip)]
    pub sites: Option<String>,
}

/// How the sites of nodes that crawl differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SiteDifferences {
    /// Names of the sites that they do not all have, or not with the same settings; in order.
    pub sites: Vec<String>,
    /// They have no site in common: they are no cluster.
    pub are_strangers: bool,
}

impl SiteDifferences {
    /// Those of these nodes, as far as they crawl now.
    pub fn of(nodes: &[NodeRecord]) -> Self {
        let crawling = nodes.iter().filter(|node| node.crawls && node.lease_ms > 0);
        let sites: Vec<&str> = crawling.filter_map(|node| node.sites.as_deref()).collect();
        let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
        for line in sites.iter().flat_map(|sites| sites.lines()) {
            *lines.entry(line).or_default() += 1;
        }
        let name = |line: &str| {
            line.split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        let differing = lines.iter().filter(|(_, of)| **of < sites.len());
        let mut names: Vec<String> = differing.map(|(line, _)| name(line)).collect();
        names.dedup();
        let have_some = sites.iter().filter(|sites| !sites.is_empty()).count();
        SiteDifferences {
            sites: names,
            are_strangers: have_some > 1 && lines.values().all(|of| *of == 1),
        }
    }
}

impl fmt::Display for SiteDifferences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sites = self.sites.join(", ");
        match self.are_strangers {
            true => write!(
                f,
                "no site is the same on two nodes ({sites}): do two clusters use this database? Give each one of its own"
            ),
            false => write!(
                f,
                "these sites are not the same on all nodes: {sites}; copy the same site files to all of them"
            ),
        }
    }
}

/// Addresses that one node has found and another one is to take up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// How many.
    pub addresses: i64,
    /// When the oldest was sent, Unix milliseconds.
    pub oldest_ms: Option<i64>,
}

/// What came of asking for partitions.
#[derive(Debug, Default)]
pub struct Moved {
    /// Taken just now.
    pub gained: Vec<Gained>,
    /// To be given back as soon as nothing of them is under way.
    pub surplus: Vec<Partition>,
    /// Whether this node does what one node does for all: sending hits to webhooks, forgetting old versions. It serves.
    pub leads: bool,
}

impl Reader {
    /// Whether several nodes may share the store.
    pub fn may_be_shared(&self) -> bool {
        self.conn.postgres().is_some()
    }

    /// The nodes of a store in PostgreSQL, in the order of their starts.
    pub fn nodes(&self) -> Result<Vec<NodeRecord>> {
        if self.conn.postgres().is_none() {
            return Ok(Vec::new());
        }
        let sql = "SELECT id, host, version, session, started_ms, \
                   expires_ms - CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT), commit_no, \
                   (SELECT count(*) FROM part WHERE part.session = node.session), draining, crawls, serves, leads, sites \
                   FROM node ORDER BY session";
        self.rows(sql, NONE, |row: &Row<'_>| {
            Ok(NodeRecord {
                id: row.get(0)?,
                host: row.get(1)?,
                version: row.get(2)?,
                session: row.get(3)?,
                started_ms: row.get(4)?,
                lease_ms: row.get(5)?,
                commits: row.get(6)?,
                partitions: row.get(7)?,
                draining: row.get(8)?,
                crawls: row.get(9)?,
                serves: row.get(10)?,
                leads: row.get(11)?,
                sites: row.get(12)?,
            })
        })
    }

    /// What nodes have sent each other and nobody has taken up yet.
    pub fn waiting(&self) -> Result<Waiting> {
        if self.conn.postgres().is_none() {
            return Ok(Waiting::default());
        }
        let sql = "SELECT count(*), min(sent_ms) FROM inbox";
        let found = self.row(sql, NONE, |row| {
            Ok(Waiting {
                addresses: row.get(0)?,
                oldest_ms: row.get(1)?,
            })
        })?;
        Ok(found.unwrap_or_default())
    }

    /// Tells a node to give its partitions back (`draining`) or to take its share again; false if there is no such node.
    pub fn set_draining(&self, session: i64, draining: bool) -> Result<bool> {
        let sql = "UPDATE node SET draining = ?2 WHERE session = ?1";
        Ok(self.conn.execute(sql, [session, i64::from(draining)])? > 0)
    }
}

impl Store {
    /// The partitions that this node has none of yet, or all of them where nobody else can have any.
    pub fn first_share(&self) -> Partitions {
        match self.conn.postgres() {
            Some(_) => Partitions::none(),
            None => Partitions::ALL,
        }
    }

    /// Asks for an even share of the partitions where `own` are this node's.
    pub fn take_share(&mut self, own: &Partitions) -> Result<Moved> {
        let Some(conn) = self.conn.postgres().filter(|_| own.are_shared()) else {
            return Ok(Moved {
                leads: true,
                ..Moved::default()
            });
        };
        let share: Share = self.conn.wrap(conn.take_share(own.len()))?;
        for gained in &share.gained {
            self.numbers.set_last(gained.part, gained.last);
        }
        Ok(Moved {
            gained: share.gained,
            surplus: own
                .iter()
                .collect::<Vec<_>>()
                .split_off(own.len() - share.surplus),
            leads: share.leads,
        })
    }

    /// Tells other nodes what this one crawls: a line for each site, its name and a digest of its settings.
    pub fn set_node_sites(&self, sites: &[(&str, u64)]) -> Result<()> {
        let Some(session) = self.conn.postgres().and_then(sql::Postgres::session_no) else {
            return Ok(());
        };
        let lines: Vec<String> = sites
            .iter()
            .map(|(name, digest)| format!("{name} {digest:016x}"))
            .collect();
        let sql = "UPDATE node SET sites = ?2 WHERE session = ?1";
        self.write(|tx| tx.execute(sql, params![session, lines.join("\n")]))?;
        Ok(())
    }

    /// The partitions that this node has already.
    pub fn held_partitions(&self) -> Result<Vec<Gained>> {
        let held = self.conn.postgres().map(sql::Postgres::held);
        let held = self.conn.wrap(held.transpose())?;
        Ok(held.unwrap_or_default())
    }

    /// Gives partitions back of which nothing is under way: another node may have them at once.
    pub fn give_back(&mut self, parts: &[Partition]) -> Result<()> {
        if parts.is_empty() {
            return Ok(());
        }
        let sql = format!(
            "UPDATE part SET session = NULL, rests = 0 WHERE part IN ({})",
            list(parts.iter().copied())
        );
        self.write(|tx| tx.execute(&sql, NONE))?;
        // What another node adds is not known here.
        self.caches.hosts.clear();
        self.caches.host_sites.clear();
        Ok(())
    }

    /// Makes lists and seeds due that were not asked for since the last cycle of their site began: the node that had these
    /// partitions may have been lost before it came to them.
    pub fn catch_up_cycles(&mut self, parts: &Partitions, rank: u8, now_ms: i64) -> Result<usize> {
        let of_parts = parts.condition("id");
        let due = format!(
            "UPDATE url SET due_ms = ?1, rank = ?2 FROM site WHERE site.id = url.site_id AND class < 4 AND state <> 3 \
             AND (due_ms IS NULL OR due_ms > ?1) AND fetched_ms < site.last_cycle_ms \
             AND (class = 0 OR fetched_ms + interval_ms <= ?1){} RETURNING host_id",
            parts.condition("url.id")
        );
        self.write(|tx| {
            let hosts: Vec<i64> = tx.rows(&due, super::sql::params![now_ms, rank], |row| row.get(0))?;
            if !hosts.is_empty() {
                let sql = format!(
                    "UPDATE host SET next_due_ms = ?1 WHERE id IN ({}){of_parts} AND (next_due_ms IS NULL OR next_due_ms > ?1)",
                    list(hosts.iter().copied())
                );
                tx.execute(&sql, [now_ms])?;
            }
            Ok(hosts.len())
        })
    }
}

/// Becomes a node. Nothing to do for a file.
pub(super) fn join(reader: &Reader, place: &StorePlace) -> Result<()> {
    let Some(conn) = reader.conn.postgres() else {
        return Ok(());
    };
    let id = name(reader, place.dir())?;
    let folder = folder(&place.dir().join(FILE))?;
    let joined = conn.join(&id, &folder, place.duties());
    reader.conn.wrap(joined)
}

/// Which file on which running machine keeps the name: a copy of it, or of the whole machine, is another one.
fn folder(file: &Path) -> Result<String> {
    let found = fs::metadata(file).map_err(|e| StoreError::io(file, e))?;
    // Where the system does not tell, a copy on another machine is not noticed.
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    Ok(format!("{} {}:{}", boot.trim(), found.dev(), found.ino()))
}

/// The name of this node; made at its first start.
fn name(reader: &Reader, dir: &Path) -> Result<String> {
    let file = dir.join(FILE);
    match fs::read_to_string(&file) {
        Ok(name) if !name.trim().is_empty() => return Ok(name.trim().to_owned()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(StoreError::io(&file, error));
        }
        _ => {}
    }
    let sql = "SELECT CAST(gen_random_uuid() AS TEXT)";
    let name = reader.row(sql, NONE, |row| row.get::<String>(0))?;
    let name = name.unwrap_or_default();
    fs::write(&file, format!("{name}\n")).map_err(|e| StoreError::io(&file, e))?;
    Ok(name)
}
