//! `taojin cluster init` and `check`: the database before anything crawls.

use std::process::ExitCode;

use serde::Serialize;

use crate::cli::output::{self, printable};
use crate::daemon::now_ms;
use taojin_crawl::store::{DatabaseFacts, StorePlace};

/// A commit has ten round trips: at 5 ms each, finished pages wait for a twentieth of a second.
const FAR_US: u64 = 5_000;
/// Nodes go by the time of the database; logs and schedules are hard to read where another clock differs more.
const CLOCK_MS: i64 = 2_000;
/// Connections that one node opens: it writes, renews its lease, and answers readers.
const OF_A_NODE: i64 = 12;

/// What `check --json` prints.
#[derive(Debug, Serialize)]
struct Checked {
    #[serde(flatten)]
    facts: DatabaseFacts,
    /// What an operator should know, a sentence each.
    warnings: Vec<String>,
}

pub(super) fn check(place: &StorePlace, json: bool) -> anyhow::Result<ExitCode> {
    let facts = DatabaseFacts::read(place, now_ms)?;
    let warnings = warnings(&facts);
    output::answer(json, &Checked { facts, warnings }, |checked| {
        let facts = &checked.facts;
        output::line(&format!(
            "{}: PostgreSQL {}, {}, {} of {} connections in use, {} MiB",
            printable(&facts.database),
            printable(&facts.server),
            match facts.is_encrypted {
                true => "encrypted",
                false => "not encrypted",
            },
            facts.connections,
            facts.max_connections,
            facts.bytes >> 20,
        ));
        output::line(&format!(
            "round trip {} µs; its clock is {} ms {} this machine's; {} nodes crawl",
            facts.round_trip_us,
            facts.ahead_ms.abs(),
            match facts.ahead_ms {
                ..0 => "behind",
                _ => "ahead of",
            },
            facts.nodes,
        ));
        for warning in &checked.warnings {
            output::line(&format!("warning: {warning}"));
        }
    })
}

fn warnings(facts: &DatabaseFacts) -> Vec<String> {
    let mut found = Vec::new();
    if facts.tables == 0 {
        found.push(
            "it has no tables yet: `taojin cluster init` makes them, or the first node that starts"
                .to_owned(),
        );
    }
    if !facts.is_durable {
        found.push(
            "fsync or synchronous_commit is off: pages that were stored are lost when the server's machine fails; set both to on"
                .to_owned(),
        );
    }
    if facts.round_trip_us > FAR_US {
        found.push(format!(
            "it is far away: every commit of pages waits for some {} ms; put the nodes near the database",
            facts.round_trip_us * 10 / 1_000
        ));
    }
    if facts.ahead_ms.abs() > CLOCK_MS {
        found.push(format!(
            "the clocks differ by {} s: set this machine's right (NTP); the crawl goes by the database's",
            facts.ahead_ms.abs() / 1_000
        ));
    }
    let free = facts.max_connections - facts.connections;
    if free < OF_A_NODE {
        found.push(format!(
            "{free} connections are left, and a node takes up to {OF_A_NODE}: raise max_connections"
        ));
    }
    found
}

/// What `init --json` prints.
#[derive(Debug, Serialize)]
struct Made {
    changed: bool,
}

pub(super) fn init(place: &StorePlace, json: bool) -> anyhow::Result<ExitCode> {
    let changed = DatabaseFacts::set_up(place)?;
    output::answer(json, &Made { changed }, |made| {
        output::line(match made.changed {
            true => {
                "the tables are made: start the nodes, or move a single machine in with `taojin cluster import`"
            }
            false => "the tables are there",
        });
    })
}
