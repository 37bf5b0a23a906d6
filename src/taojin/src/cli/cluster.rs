//! `taojin cluster`: a store in PostgreSQL before anything crawls, a single machine that moves into it or out of it, and the
//! crawl nodes that share it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use askama::Template;
use serde::Serialize;

use super::context::{Context, UsageError};
use super::output;
use crate::daemon::now_ms;
use taojin_crawl::store::{
    self, CopyProgress, DatabaseFacts, MovedRows, NodeRecord, Reader, SiteDifferences, StoreError,
    StorePlace, Waiting,
};

/// Arguments of `cluster`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Check the database: version, rights, encryption, round trip, and settings that would endanger the crawl
    Check {
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
    /// Have a node give its partitions to the others, so that it can be stopped without a page fetched twice
    Drain {
        /// Name of its machine, or the number behind # in `taojin cluster status`
        node: String,
        /// Take partitions again, after an earlier drain
        ///
        /// It then gets its share of the partitions again.
        #[arg(long)]
        undo: bool,
        /// Do not wait until it has none left
        ///
        /// Without it, the command waits up to two minutes until the node has no partitions left, and fails if it has.
        #[arg(long)]
        no_wait: bool,
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
    /// Copy the store in the database into a folder: from a cluster to a single machine. All nodes must be stopped
    Export {
        /// The folder, which has no store yet; without it the data folder of this machine
        folder: Option<PathBuf>,
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
    /// Copy the store of a single machine into the database, which must be empty. Its daemon must be stopped
    Import {
        /// The data folder that has it; without it the data folder of this machine
        folder: Option<PathBuf>,
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
    /// Make the tables in the database
    Init {
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
    /// Show the nodes that crawl, what each has, and what waits between them
    Status {
        /// One JSON object with the nodes and what waits
        ///
        /// Its keys are `nodes` and `waiting`.
        #[arg(long)]
        json: bool,
    },
}

/// Carries it out.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let place = loaded.store_place();
    if !place.is_postgres() {
        let words = "the store is a file in the data folder, which one machine has: for a database that several can reach, set \
                     [store] url (docs/cluster.md)";
        return Err(UsageError(words.to_owned()).into());
    }
    let data_dir = &loaded.config.data_dir;
    match &args.command {
        Command::Check { json } => check(&place, *json),
        Command::Init { json } => init(&place, *json),
        Command::Import { folder, json } => {
            import(folder.as_ref().unwrap_or(data_dir), &place, *json)
        }
        Command::Export { folder, json } => {
            export(&place, folder.as_ref().unwrap_or(data_dir), *json)
        }
        Command::Status { json } => status(&Reader::open(&place)?, *json),
        Command::Drain {
            node,
            undo,
            no_wait,
            json,
        } => {
            let node = drain(&Reader::open(&place)?, node, *undo, *no_wait)?;
            output::answer_in(*json, &node, |node| NodeText { node })
        }
    }
}

/// A commit has ten round trips: at 5 ms each, finished pages wait for a twentieth of a second.
const FAR_US: u64 = 5_000;
/// Nodes go by the time of the database; logs and schedules are hard to read where another clock differs more.
const CLOCK_MS: i64 = 2_000;
/// Connections that one node opens: it writes, renews its lease, and answers readers.
const OF_A_NODE: i64 = 12;

/// What `check --json` prints.
#[derive(Serialize, Template)]
#[template(path = "database.txt")]
struct Checked {
    #[serde(flatten)]
    facts: DatabaseFacts,
    /// What an operator should know, a sentence each.
    warnings: Vec<String>,
}

fn check(place: &StorePlace, json: bool) -> anyhow::Result<ExitCode> {
    let facts = DatabaseFacts::read(place, now_ms)?;
    let warnings = warnings(&facts);
    output::answer_in(json, &Checked { facts, warnings }, |checked| checked)
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
struct TablesMade {
    changed: bool,
}

fn init(place: &StorePlace, json: bool) -> anyhow::Result<ExitCode> {
    let changed = DatabaseFacts::set_up(place)?;
    output::answer(json, &TablesMade { changed }, |made| {
        output::line(if made.changed {
            "the tables are made: start the nodes, or move a single machine in with `taojin cluster import`"
        } else {
            "the tables are there"
        });
    })
}

fn import(dir: &Path, place: &StorePlace, json: bool) -> anyhow::Result<ExitCode> {
    let moved = with_bar(|each| store::import(dir, place, each))?;
    output::answer(json, &moved, |moved| {
        output::line(&format!("moved into the database: {}", describe(moved)));
        output::line(&format!(
            "{} stays as it is and is not used any more; start every node with the same [store] url, sites and lexicons",
            dir.join("crawl.sqlite").display()
        ));
    })
}

fn export(place: &StorePlace, dir: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let moved = with_bar(|each| store::export(place, dir, each))?;
    output::answer(json, &moved, |moved| {
        output::line(&format!("moved to {}: {}", dir.display(), describe(moved)));
        output::line(
            "the database stays as it is; take [store] url out of the configuration before you start taojin",
        );
    })
}

fn with_bar(
    copy: impl FnOnce(&mut dyn FnMut(CopyProgress)) -> Result<MovedRows, StoreError>,
) -> Result<MovedRows, StoreError> {
    let bar = output::progress_bar(0, "rows");
    let copied = copy(&mut |at| {
        bar.set_length(at.all);
        bar.set_position(at.done);
    });
    bar.finish_and_clear();
    copied
}

fn describe(moved: &MovedRows) -> String {
    format!(
        "{} addresses of {} hosts, {} versions of documents, {} sites, {} templates, {} followed topics, {} takedowns",
        moved.rows_of("url"),
        moved.rows_of("host"),
        moved.rows_of("document"),
        moved.rows_of("site"),
        moved.rows_of("template"),
        moved.rows_of("follow"),
        moved.rows_of("takedown"),
    )
}

/// A node that drains is waited for so long: fetches under way may take half a minute.
const WAIT: Duration = Duration::from_secs(120);

/// What `status --json` prints.
#[derive(Serialize, Template)]
#[template(path = "nodes.txt")]
struct ClusterView {
    nodes: Vec<NodeRecord>,
    waiting: Waiting,
    differences: SiteDifferences,
}

fn status(reader: &Reader, json: bool) -> anyhow::Result<ExitCode> {
    let nodes = reader.cluster().nodes()?;
    let status = ClusterView {
        differences: SiteDifferences::from_nodes(&nodes),
        waiting: reader.cluster().waiting()?,
        nodes,
    };
    output::answer_in(json, &status, |status| status)
}

/// Marks a node and waits until it has done what it is told.
fn drain(reader: &Reader, name: &str, undo: bool, no_wait: bool) -> anyhow::Result<NodeRecord> {
    let session = name.trim_start_matches('#').parse().ok();
    let find = || -> anyhow::Result<NodeRecord> {
        let mut nodes = reader.cluster().nodes()?;
        nodes.retain(|node| node.host == name || Some(node.session) == session);
        match nodes.len() {
            1 => Ok(nodes.remove(0)),
            0 => Err(UsageError(format!(
                "no node {name:?}: `taojin cluster status` shows them; a node that was stopped has given its partitions back already"
            ))
            .into()),
            _ => Err(UsageError(format!(
                "{name:?} is the machine of several nodes: name one by its number, as `taojin cluster status` shows it"
            ))
            .into()),
        }
    };
    let node = find()?;
    reader.cluster().set_draining(node.session, !undo)?;
    let end = Instant::now() + WAIT;
    loop {
        let node = find()?;
        if undo || no_wait || node.partitions == 0 {
            return Ok(node);
        }
        if Instant::now() > end {
            anyhow::bail!(
                "{} still has {} partitions after {} s: pages of them are being fetched, or it does not answer; \
                 it goes on giving them back",
                node.host,
                node.partitions,
                WAIT.as_secs()
            );
        }
        thread::sleep(Duration::from_millis(250));
    }
}

/// A node for a person.
#[derive(Template)]
#[template(path = "node.txt")]
struct NodeText<'a> {
    node: &'a NodeRecord,
}
