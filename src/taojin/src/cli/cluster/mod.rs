//! `taojin cluster`: a store in PostgreSQL, and the crawl nodes that share it.

mod database;
mod moving;
mod nodes;

use std::path::PathBuf;
use std::process::ExitCode;

use super::context::{Context, Usage};
use super::output;
use taojin_crawl::store::Reader;

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
    let data_dir = &loaded.config.data_dir;
    match &args.command {
        Command::Check { json } => database::check(&place, *json),
        Command::Init { json } => database::init(&place, *json),
        Command::Import { folder, json } => {
            moving::import(folder.as_ref().unwrap_or(data_dir), &place, *json)
        }
        Command::Export { folder, json } => {
            moving::export(&place, folder.as_ref().unwrap_or(data_dir), *json)
        }
        Command::Status { json } => nodes::status(&Reader::open(&place)?, *json),
        Command::Drain {
            node,
            undo,
            no_wait,
            json,
        } => {
            let node = nodes::drain(&Reader::open(&place)?, node, *undo, *no_wait)?;
            output::answer(*json, &node, nodes::print)
        }
    }
}
