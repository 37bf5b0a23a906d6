//! What several nodes share in one PostgreSQL database: who is there, which partitions of the hosts each one crawls, the addresses
//! that one finds for another, and turns at servers that hosts of several partitions lead to.
//!
//! Addresses for another node are sent in the transaction of the page that has them, and taken up in the one that adds their
//! rows: none is lost, and none is there twice. A turn is a row that only its node renews.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::{fmt, fs, io};

use serde::Serialize;
use taojin_uri::{CrawlUri, FingerprintKey};
use xxhash_rust::xxh3::xxh3_64;

use super::commit::announced_text;
use super::error::{Result, StoreError};
use super::keys::{meta, set_meta};
use super::open::Reader;
use super::place::StorePlace;
use super::record::{Batch, NewUrl, UrlClass, UrlId, UrlState};
use super::sql::{self, Connection, Gained, NONE, NOW_MS, Row, list, params};
use super::urls::announced;

/// In the data directory: the name of this node, by which it knows the place that it had before a crash as its own.
const FILE: &str = "node";

/// A node, as the database knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NodeRecord {
    /// Name of its data directory.
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
    /// What its sites are ([`Cluster::set_node_sites`]); none before it has said so.
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
    pub fn from_nodes(nodes: &[NodeRecord]) -> Self {
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
        if self.are_strangers {
            write!(
                f,
                "no site is the same on two nodes ({sites}): do two clusters use this database? Give each one of its own"
            )
        } else {
            write!(
                f,
                "these sites are not the same on all nodes: {sites}; copy the same site files to all of them"
            )
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

/// What the nodes of a store say to each other there. Of a store in a file there is nothing to say.
#[derive(Debug, Clone, Copy)]
pub struct Cluster<'a>(pub(super) &'a Reader);

impl Cluster<'_> {
    /// Whether several nodes may share the store.
    pub fn may_be_shared(&self) -> bool {
        self.0.conn.postgres().is_some()
    }

    /// The nodes of a store in PostgreSQL, in the order of their starts.
    pub fn nodes(&self) -> Result<Vec<NodeRecord>> {
        if self.0.conn.postgres().is_none() {
            return Ok(Vec::new());
        }
        let sql = "SELECT id, host, version, session, started_ms, \
                   expires_ms - CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT), commit_no, \
                   (SELECT count(*) FROM part WHERE part.session = node.session), draining, crawls, serves, leads, sites \
                   FROM node ORDER BY session";
        self.0.rows(sql, NONE, |row: &Row<'_>| {
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
        if self.0.conn.postgres().is_none() {
            return Ok(Waiting::default());
        }
        let sql = "SELECT count(*), min(sent_ms) FROM inbox";
        let found = self.0.row(sql, NONE, |row| {
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
        Ok(self.0.conn.execute(sql, [session, i64::from(draining)])? > 0)
    }

    /// The partitions that this node has none of yet, or all of them where nobody else can have any.
    pub fn first_share(&self) -> Partitions {
        match self.0.conn.postgres() {
            Some(_) => Partitions::none(),
            None => Partitions::ALL,
        }
    }

    /// Tells other nodes what this one crawls: a line for each site, its name and a digest of its settings.
    pub fn set_node_sites(&self, sites: &[(&str, u64)]) -> Result<()> {
        let Some(session) = self.0.conn.postgres().and_then(sql::Postgres::session_no) else {
            return Ok(());
        };
        let lines: Vec<String> = sites
            .iter()
            .map(|(name, digest)| format!("{name} {digest:016x}"))
            .collect();
        let sql = "UPDATE node SET sites = ?2 WHERE session = ?1";
        self.0
            .write(|tx| tx.execute(sql, params![session, lines.join("\n")]))?;
        Ok(())
    }

    /// The partitions that this node has already.
    pub fn held_partitions(&self) -> Result<Vec<Gained>> {
        let held = self.0.conn.postgres().map(sql::Postgres::held);
        let held = self.0.conn.wrap(held.transpose())?;
        Ok(held.unwrap_or_default())
    }

    /// Makes lists and seeds due that were not asked for since the last cycle of their site began: the node that had these
    /// partitions may have been lost before it came to them.
    pub fn catch_up_cycles(&self, parts: &Partitions, rank: u8, now_ms: i64) -> Result<usize> {
        let of_parts = parts.condition("id");
        let due = format!(
            "UPDATE url SET due_ms = ?1, rank = ?2 FROM site WHERE site.id = url.site_id AND class < {article} AND state <> {gone} \
             AND (due_ms IS NULL OR due_ms > ?1) AND fetched_ms < site.last_cycle_ms \
             AND (class = {seed} OR fetched_ms + interval_ms <= ?1){} RETURNING host_id",
            parts.condition("url.id"),
            article = UrlClass::Article as i64,
            gone = UrlState::Gone as i64,
            seed = UrlClass::Seed as i64,
        );
        self.0.write(|tx| {
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

    /// At most `limit` addresses that other nodes have found in these partitions, for [`Batch::urls`] and
    /// [`Batch::taken_up`]. One that does not parse, or that is there already, is only to be taken out.
    pub fn sent_here(
        &self,
        parts: &Partitions,
        limit: usize,
    ) -> Result<Vec<(u64, Option<NewUrl>)>> {
        if !parts.are_shared() || parts.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT hash, url, site, class, hops, redirects, via, due_ms, announced FROM inbox WHERE part IN ({}) LIMIT {limit}",
            list(parts.iter())
        );
        self.0.conn.query_once(&sql, read)
    }

    /// The same of all partitions, in the order of their fingerprints, behind one of them.
    pub(super) fn sent_after(&self, hash: i64, limit: u64) -> Result<Vec<(u64, Option<NewUrl>)>> {
        let sql = format!(
            "SELECT hash, url, site, class, hops, redirects, via, due_ms, announced FROM inbox \
             WHERE hash > {hash} ORDER BY hash LIMIT {limit}"
        );
        self.0.conn.query_once(&sql, read)
    }

    /// IP addresses of hosts in more than one partition. Reads all hosts.
    pub fn shared_ips(&self) -> Result<HashSet<IpAddr>> {
        let sql = format!(
            "SELECT ip FROM host WHERE ip IS NOT NULL GROUP BY ip \
             HAVING min(id >> {PARTITION_SHIFT}) <> max(id >> {PARTITION_SHIFT})"
        );
        let ips = self
            .0
            .rows(&sql, NONE, |row| Ok(row.text(0)?.parse().ok()))?;
        Ok(ips.into_iter().flatten().collect())
    }

    /// Asks for turns, or renews them. Which of these addresses are this node's now; the others are another node's, or rest.
    pub fn take_turns(&self, ips: &[IpAddr]) -> Result<Vec<IpAddr>> {
        let session = self.0.conn.postgres().and_then(sql::Postgres::session_no);
        let (Some(session), false) = (session, ips.is_empty()) else {
            return Ok(Vec::new());
        };
        // In one order, so that two nodes do not wait for each other.
        let mut ips = ips.to_vec();
        ips.sort_unstable();
        let rows: Vec<String> = ips
            .iter()
            .map(|ip| format!("('{ip}', {session}, {NOW_MS} + {TERM_MS})"))
            .collect();
        let sql = format!(
            "INSERT INTO turn (ip, session, until_ms) VALUES {} ON CONFLICT (ip) \
             DO UPDATE SET session = excluded.session, until_ms = excluded.until_ms \
             WHERE turn.session = excluded.session OR turn.until_ms <= {NOW_MS} RETURNING ip",
            rows.join(", ")
        );
        let read = |row: &Row<'_>| Ok(row.text(0)?.parse().ok());
        let taken = self.0.conn.query_once(&sql, read)?;
        Ok(taken.into_iter().flatten().collect())
    }

    /// This node is done with addresses, each of which rests for so long, in milliseconds: another node may have the next turn
    /// afterwards.
    pub fn end_turns(&self, turns: &[(IpAddr, i64)]) -> Result<()> {
        let session = self.0.conn.postgres().and_then(sql::Postgres::session_no);
        let (Some(session), false) = (session, turns.is_empty()) else {
            return Ok(());
        };
        let mut turns = turns.to_vec();
        turns.sort_unstable();
        let rests: Vec<String> = turns
            .iter()
            .map(|(ip, rest_ms)| format!("('{ip}', {rest_ms})"))
            .collect();
        // Of no node, or this one would go on with it.
        let sql = format!(
            "UPDATE turn SET session = 0, until_ms = {NOW_MS} + rest_ms FROM (VALUES {}) AS rests (of_ip, rest_ms) \
             WHERE ip = of_ip AND session = {session}",
            rests.join(", ")
        );
        self.0.conn.query_once(&sql, |_| Ok(()))?;
        Ok(())
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

/// Bits of a row number below its partition: more than a hundred million million rows in each.
pub(super) const PARTITION_SHIFT: u32 = 47;

/// Number of a partition, 0 to 255.
pub type Partition = i64;

/// The partitions whose hosts this node crawls. A store in a file belongs to one node, which has all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Partitions(Option<BTreeSet<Partition>>);

impl Partitions {
    /// All there are, of a store that only one process can have.
    pub const ALL: Self = Partitions(None);

    /// None yet.
    pub fn none() -> Self {
        Partitions(Some(BTreeSet::new()))
    }

    /// Whether other nodes may have some.
    pub fn are_shared(&self) -> bool {
        self.0.is_some()
    }

    /// How many these are.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(PARTITIONS as usize, BTreeSet::len)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether this is one of them.
    pub fn has(&self, part: Partition) -> bool {
        self.0.as_ref().is_none_or(|own| own.contains(&part))
    }

    /// Whether the row of an address or of a host is in one of them.
    pub fn has_row(&self, id: UrlId) -> bool {
        self.0.is_none() || self.has(part_of_row(id))
    }

    /// Whether an address belongs to one of them.
    pub fn has_uri(&self, uri: &CrawlUri) -> bool {
        self.0.is_none() || self.has(partition(uri))
    }

    /// Whether this node keeps the books of a site, whose hosts may be in several partitions: one node does.
    pub fn has_site(&self, name: &str) -> bool {
        self.0.is_none() || self.has((xxh3_64(name.as_bytes()) % PARTITIONS).cast_signed())
    }

    /// Takes up another one.
    pub fn add(&mut self, part: Partition) {
        if let Some(own) = &mut self.0 {
            own.insert(part);
        }
    }

    /// Gives one up.
    pub fn remove(&mut self, part: Partition) {
        if let Some(own) = &mut self.0 {
            own.remove(&part);
        }
    }

    /// In order; of a store in a file, none is told by itself.
    pub fn iter(&self) -> impl Iterator<Item = Partition> + '_ {
        self.0.iter().flatten().copied()
    }

    /// A condition that leaves only rows of them; nothing where all are this node's.
    pub(super) fn condition(&self, column: &str) -> String {
        match &self.0 {
            Some(own) if own.is_empty() => " AND FALSE".to_owned(),
            Some(own) if (own.len() as u64) < PARTITIONS => format!(
                " AND ({column} >> {PARTITION_SHIFT}) IN ({})",
                list(own.iter().copied())
            ),
            _ => String::new(),
        }
    }
}

/// The partition of an address.
pub fn partition(uri: &CrawlUri) -> Partition {
    (xxh3_64(uri.registrable_domain().as_bytes()) % PARTITIONS).cast_signed()
}

/// The partition that a row number begins with.
pub fn part_of_row(id: UrlId) -> Partition {
    id >> PARTITION_SHIFT
}

/// Below all rows of a partition.
pub fn first_row(part: Partition) -> UrlId {
    part << PARTITION_SHIFT
}

/// Partitions of the addresses, for ever.
pub const PARTITIONS: u64 = 256;

/// Name of the highest row number of a URL in SQLite.
const LAST_URL: &str = "url_id";

/// The last number of each partition.
#[derive(Debug, Default, Clone)]
pub(super) struct Numbers {
    last: BTreeMap<i64, i64>,
    /// Partitions whose last number is not written yet.
    unwritten: BTreeSet<i64>,
    is_partitioned: bool,
}

impl Numbers {
    /// Those that were given so far.
    pub(super) fn load(conn: &Connection) -> Result<Self> {
        let is_partitioned = conn.postgres().is_some();
        let last = if is_partitioned {
            let read = |row: &sql::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            conn.rows("SELECT part, last FROM part", sql::NONE, read)?
        } else {
            vec![(0, meta(conn, LAST_URL)?)]
        };
        Ok(Numbers {
            last: BTreeMap::from_iter(last),
            unwritten: BTreeSet::new(),
            is_partitioned,
        })
    }

    /// The last number of a partition that another node has given back.
    pub(super) fn set_last(&mut self, part: i64, last: i64) {
        self.last.insert(part, last);
        self.unwritten.remove(&part);
    }

    /// The last row number of a partition.
    pub(super) fn last_of(&self, part: i64) -> UrlId {
        first_row(part) | self.last.get(&part).copied().unwrap_or_default()
    }

    /// How many numbers were ever given: rises with each.
    pub(super) fn given(&self) -> UrlId {
        self.last.values().sum()
    }

    /// The next number for an address.
    pub(super) fn next_url(&mut self, uri: &CrawlUri) -> UrlId {
        let part = if self.is_partitioned {
            partition(uri)
        } else {
            0
        };
        let last = self.last.entry(part).or_default();
        *last += 1;
        self.unwritten.insert(part);
        first_row(part) | *last
    }

    /// The next number for the host of an address; none where the database gives it.
    pub(super) fn next_host(&mut self, uri: &CrawlUri) -> Option<i64> {
        self.is_partitioned.then(|| self.next_url(uri))
    }

    /// Writes down which were given.
    pub(super) fn write(&mut self, conn: &Connection) -> Result<()> {
        for part in std::mem::take(&mut self.unwritten) {
            let last = self.last.get(&part).copied().unwrap_or_default();
            if self.is_partitioned {
                conn.put(
                    "INSERT INTO part (part, last) VALUES (?1, ?2) \
                         ON CONFLICT (part) DO UPDATE SET last = excluded.last",
                    params![part, last],
                )?
            } else {
                set_meta(conn, LAST_URL, last)?
            }
        }
        Ok(())
    }
}

/// How many numbers a store has ever given.
pub(super) fn given(conn: &Connection) -> Result<UrlId> {
    match conn.postgres() {
        None => meta(conn, LAST_URL),
        Some(_) => conn.query_row(
            "SELECT CAST(coalesce(sum(last), 0) AS BIGINT) FROM part",
            sql::NONE,
            |row| row.get(0),
        ),
    }
}

/// Sends and takes up in the open transaction. In the order of the fingerprints, so that two nodes seldom wait for each other.
pub(super) fn write(
    conn: &Connection,
    key: FingerprintKey,
    batch: &Batch,
    now_ms: i64,
) -> Result<()> {
    if !batch.taken_up.is_empty() {
        let taken = list(batch.taken_up.iter().map(|hash| hash.cast_signed()));
        conn.put(
            &format!("DELETE FROM inbox WHERE hash IN ({taken})"),
            sql::NONE,
        )?;
    }
    if batch.foreign.is_empty() {
        return Ok(());
    }
    let mut sent: Vec<&NewUrl> = batch.foreign.iter().collect();
    sent.sort_by_cached_key(|url| key.fingerprint(&url.uri));
    let sql = "INSERT INTO inbox (hash, part, url, site, class, hops, redirects, via, due_ms, sent_ms, announced) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING";
    for url in sent {
        let values = params![
            key.fingerprint(&url.uri).cast_signed(),
            partition(&url.uri),
            url.uri.as_str(),
            url.site,
            url.class,
            url.hops,
            url.redirects,
            url.via,
            url.due_ms,
            now_ms,
            announced_text(url),
        ];
        conn.put(sql, values)?;
    }
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<(u64, Option<NewUrl>)> {
    let hash = row.get::<i64>(0)?.cast_unsigned();
    let Ok(uri) = CrawlUri::parse(row.text(1)?) else {
        return Ok((hash, None));
    };
    let site: Arc<str> = Arc::from(row.text(2)?);
    let url = NewUrl {
        class: row.get(3)?,
        redirects: row.get(5)?,
        via: row.get(6)?,
        due_ms: row.get(7)?,
        announced: announced(row, 8)?,
        ..NewUrl::link(uri, &site, row.get(4)?)
    };
    Ok((hash, Some(url)))
}

/// A turn that is not renewed ends after so long: later than the lease of its node, whose last fetch is over by then.
const TERM_MS: i64 = 20_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_own_rows() {
        let news = CrawlUri::parse("http://news.example.com/1").unwrap();
        let www = CrawlUri::parse("https://www.example.com/2").unwrap();
        let part = partition(&news);
        assert_eq!(part, partition(&www), "one registrable domain");
        let mut own = Partitions::none();
        assert!(own.is_empty() && !own.has_uri(&news) && Partitions::ALL.has_uri(&news));
        assert_eq!(own.condition("id"), " AND FALSE");
        own.add(part);
        assert!(own.has_uri(&www) && own.has_row(first_row(part) | 7));
        assert!(!own.has_row(first_row((part + 1) % 256) | 7));
        assert_eq!(own.condition("id"), format!(" AND (id >> 47) IN ({part})"));
        (0..256).for_each(|part| own.add(part));
        assert_eq!((own.len(), own.condition("id")), (256, String::new()));
        own.remove(0);
        assert!(!own.has(0) && Partitions::ALL.has(0));
    }
}
