//! Turns at servers whose hosts are crawled by several nodes: names in different partitions that lead to one IP address. In: which
//! addresses a node wants, and which it is done with. Out: which it has. A turn is a row that only its node renews.

use std::collections::HashSet;
use std::net::IpAddr;

use super::error::Result;
use super::open::Store;
use super::partitions::PARTITION_SHIFT;
use super::sql::{self, NONE, NOW_MS, Row};

/// A turn that is not renewed ends after so long: later than the lease of its node, whose last fetch is over by then.
const TERM_MS: i64 = 20_000;

impl Store {
    /// IP addresses of hosts in more than one partition. Reads all hosts.
    pub fn shared_ips(&self) -> Result<HashSet<IpAddr>> {
        let sql = format!(
            "SELECT ip FROM host WHERE ip IS NOT NULL GROUP BY ip \
             HAVING min(id >> {PARTITION_SHIFT}) <> max(id >> {PARTITION_SHIFT})"
        );
        let ips = self.rows(&sql, NONE, |row| Ok(row.text(0)?.parse().ok()))?;
        Ok(ips.into_iter().flatten().collect())
    }

    /// Asks for turns, or renews them. Which of these addresses are this node's now; the others are another node's, or rest.
    pub fn take_turns(&self, ips: &[IpAddr]) -> Result<Vec<IpAddr>> {
        let session = self.conn.postgres().and_then(sql::Postgres::session_no);
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
        let taken = self.conn.query_once(&sql, read)?;
        Ok(taken.into_iter().flatten().collect())
    }

    /// This node is done with addresses, each of which rests for so long, in milliseconds: another node may have the next turn
    /// afterwards.
    pub fn end_turns(&self, turns: &[(IpAddr, i64)]) -> Result<()> {
        let session = self.conn.postgres().and_then(sql::Postgres::session_no);
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
        self.conn.query_once(&sql, |_| Ok(()))?;
        Ok(())
    }
}
