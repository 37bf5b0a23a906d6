//! A clock that was set back while nobody looked. In: the time at the start. Out: stored moments that lie further ahead than
//! the crawl ever plans, cut to what it could have planned now: else hosts and addresses would wait for as long as the
//! clock was wrong.

use super::sql::params;

use super::error::Result;
use super::keys::set_meta;
use super::open::Store;
use super::record::{HELD_MS, UrlState};

/// Name of the time of the last transaction.
pub(super) const CLOCK: &str = "clock_ms";

/// A clock may be set right by this much without a word.
const SLACK_MS: i64 = 60_000;

impl Store {
    /// Cuts moments that were planned by a clock that was ahead of `now_ms`. Gives by how much it was, in milliseconds; none
    /// if it was not. `visit_ms` is the longest time between two visits of an address. Takes some seconds for millions of addresses, and does nothing otherwise.
    pub fn set_clock_right(&mut self, now_ms: i64, visit_ms: i64) -> Result<Option<i64>> {
        let last = self.row("SELECT value FROM meta WHERE name = ?1", [CLOCK], |row| {
            row.get::<i64>(0)
        })?;
        let Some(ahead_ms) = last.map(|last| last - now_ms).filter(|ms| *ms > SLACK_MS) else {
            return Ok(None);
        };
        let visit_ms = now_ms.saturating_add(visit_ms);
        self.write(|tx| {
            // A host that rests for longer than a clock that is right would have it is asked early, once.
            for column in ["not_before_ms", "trouble_ms"] {
                let sql = format!("UPDATE host SET {column} = {column} - ?1 WHERE {column} > ?2");
                tx.execute(&sql, [ahead_ms, now_ms])?;
            }
            for (table, column) in [
                ("host", "cycle_ms"),
                ("host", "next_due_ms"),
                ("follow", "next_ms"),
            ] {
                let sql = format!("UPDATE {table} SET {column} = ?1 WHERE {column} > ?1");
                tx.execute(&sql, [now_ms])?;
            }
            // What was never visited waits for nothing; the rest for no longer than its own interval.
            tx.execute(
                "UPDATE url SET due_ms = ?2 WHERE state = ?1 AND due_ms > ?2 AND due_ms < ?3",
                params![UrlState::New, now_ms, HELD_MS],
            )?;
            tx.execute(
                "UPDATE url SET due_ms = ?1 + interval_ms \
                 WHERE interval_ms > 0 AND due_ms > ?1 + interval_ms AND due_ms < ?2",
                [now_ms, HELD_MS],
            )?;
            tx.execute(
                "UPDATE url SET due_ms = ?1 WHERE due_ms > ?1 AND due_ms < ?2",
                [visit_ms, HELD_MS],
            )?;
            set_meta(tx, CLOCK, now_ms)
        })?;
        Ok(Some(ahead_ms))
    }
}
