//! `taojin cluster`: the crawl nodes of a store in PostgreSQL.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use super::context::{Context, Usage};
use super::output::{self, printable, time};
use taojin_crawl::store::{NodeRecord, Reader, Waiting};

/// A node that drains is waited for so long: fetches under way may take half a minute.
const WAIT: Duration = Duration::from_secs(120);

/// Arguments of `cluster`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Have a node give its partitions to the others, so that it can be stopped without a page fetched twice
    Drain {
        /// Name of its machine, or the number behind # in `taojin cluster status`
        node: String,
        /// Take partitions again
        #[arg(long)]
        undo: bool,
        /// Do not wait until it has none left
        #[arg(long)]
        no_wait: bool,
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
    /// Show the nodes that crawl, what each has, and what waits between them
    Status {
        /// One JSON array with an object for each node
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
        return Err(Usage(words.to_owned()).into());
    }
    let reader = Reader::open(&place)?;
    match &args.command {
        Command::Status { json } => status(&reader, *json),
        Command::Drain {
            node,
            undo,
            no_wait,
            json,
        } => {
            let node = drain(&reader, node, *undo, *no_wait)?;
            output::answer(*json, &node, print)
        }
    }
}

/// What `status --json` prints.
#[derive(serde::Serialize)]
struct Status {
    nodes: Vec<NodeRecord>,
    waiting: Waiting,
}

fn status(reader: &Reader, json: bool) -> anyhow::Result<ExitCode> {
    let status = Status {
        nodes: reader.nodes()?,
        waiting: reader.waiting()?,
    };
    output::answer(json, &status, |status| {
        if status.nodes.is_empty() {
            output::line("no node crawls now; one does after `taojin run` or `taojin crawl`");
        }
        status.nodes.iter().for_each(print);
        if let Waiting {
            addresses: n @ 1..,
            oldest_ms,
        } = status.waiting
        {
            let oldest = time(oldest_ms);
            output::line(&format!(
                "{n} addresses wait to be taken up, the oldest since {oldest}"
            ));
        }
    })
}

/// Marks a node and waits until it has done what it is told.
fn drain(reader: &Reader, name: &str, undo: bool, no_wait: bool) -> anyhow::Result<NodeRecord> {
    let find = || -> anyhow::Result<NodeRecord> {
        let mut nodes = reader.nodes()?;
        nodes.retain(|node| {
            node.host == name || format!("{}", node.session) == name.trim_start_matches('#')
        });
        match nodes.len() {
            1 => Ok(nodes.remove(0)),
            0 => Err(Usage(format!(
                "no node {name:?}: `taojin cluster status` shows them; a node that was stopped has given its partitions back already"
            ))
            .into()),
            _ => Err(Usage(format!(
                "{name:?} is the machine of several nodes: name one by its number, as `taojin cluster status` shows it"
            ))
            .into()),
        }
    };
    let node = find()?;
    reader.set_draining(node.session, !undo)?;
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

fn print(node: &NodeRecord) {
    let lease = match node.lease_ms {
        ms @ 1.. => format!("holds its lease for {} s more", ms / 1_000),
        ms => format!("lost since {} s: its partitions are free", ms.abs() / 1_000),
    };
    output::line(&format!(
        "{} #{}  {} of 256 partitions{}, taojin {} since {}, {} transactions, {lease}",
        printable(&node.host),
        node.session,
        node.partitions,
        if node.draining {
            " (gives them back)"
        } else {
            ""
        },
        printable(&node.version),
        time(Some(node.started_ms)),
        node.commits,
    ));
}
