//! `taojin cluster status` and `drain`: which nodes crawl, and having one give its partitions back.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::context::Usage;
use crate::cli::output::{self, printable, time};
use taojin_crawl::store::{NodeRecord, Reader, SiteDifferences, Waiting};

/// A node that drains is waited for so long: fetches under way may take half a minute.
const WAIT: Duration = Duration::from_secs(120);

/// What `status --json` prints.
#[derive(serde::Serialize)]
struct Status {
    nodes: Vec<NodeRecord>,
    waiting: Waiting,
    differences: SiteDifferences,
}

pub(super) fn status(reader: &Reader, json: bool) -> anyhow::Result<ExitCode> {
    let nodes = reader.nodes()?;
    let status = Status {
        differences: SiteDifferences::of(&nodes),
        waiting: reader.waiting()?,
        nodes,
    };
    output::answer(json, &status, |status| {
        if status.nodes.is_empty() {
            output::line("no node crawls now; one does after `taojin run` or `taojin crawl`");
        }
        status.nodes.iter().for_each(print);
        if !status.differences.sites.is_empty() {
            output::line(&format!("warning: {}", status.differences));
        }
        if let Waiting {
            addresses: n @ 1..,
            oldest_ms,
        } = status.waiting
        {
            let oldest = time(oldest_ms);
            output::line(&format!(
                "{n} addresses wait for another node, the oldest since {oldest}"
            ));
        }
    })
}

/// Marks a node and waits until it has done what it is told.
pub(super) fn drain(
    reader: &Reader,
    name: &str,
    undo: bool,
    no_wait: bool,
) -> anyhow::Result<NodeRecord> {
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

pub(super) fn print(node: &NodeRecord) {
    let lease = match node.lease_ms {
        ms @ 1.. => format!("holds its lease for {} s more", ms / 1_000),
        ms => format!("lost since {} s: its partitions are free", ms.abs() / 1_000),
    };
    output::line(&format!(
        "{} #{}  {} of 256 partitions{}, taojin {} since {}, {} transactions, {lease}",
        printable(&node.host),
        node.session,
        node.partitions,
        match (node.crawls, node.draining, node.serves) {
            (false, ..) => " (only serves)",
            (_, true, _) => " (gives them back)",
            (.., false) => " (only crawls)",
            _ => "",
        },
        printable(&node.version),
        time(Some(node.started_ms)),
        node.commits,
    ));
}
