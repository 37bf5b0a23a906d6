//! The operator's wishes while the daemon runs. In: requests over a socket in the data folder, or from the server of this
//! process. Out: answers, after what they ask for is durable. The crawl loop carries them out (`perform`), since it owns
//! the frontier and the store; without a daemon the same functions work on a store that was just opened (`alone`).
//!
//! A connection carries one request, a line of JSON, and gets lines of JSON: any number of steps, then the end. Who may
//! write to the socket may do everything, so it is the owner's alone, or the group's where the data folder is.

pub(super) mod actions;
mod alone;
mod client;
mod controller;
mod perform;
mod server;
mod watch;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Summary;
use super::crawl::crawl_log::LogLine;
use super::index::Progress;
use crate::serve::{CommandDone, CommandRefused, SiteCommand, Status, Why};

pub use alone::carry_out as carry_out_alone;
pub use client::ask;
pub(super) use controller::Controller;
pub(super) use server::ControlSocket;
pub(super) use watch::Watches;

/// The socket in the data folder.
const SOCKET: &str = "control.sock";

/// Longest request: a few hundred names of sites, or one address.
const REQUEST_BYTES: usize = 64 * 1024;

/// Answers of one request that wait for the client; steps beyond it are left out, the end never is.
const ANSWERS: usize = 256;

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// A cycle of these sites, or of all that are due; ends when nothing of them is left to do now.
    Crawl {
        /// Names of sites.
        sites: Vec<String>,
        /// Also ask for every known article again.
        recheck: bool,
    },
    /// Visit an address now; ends when it was visited.
    Fetch {
        /// The address.
        url: String,
    },
    /// Make the index anew; ends when it is in its place.
    Reindex,
    /// Say what it knows and does.
    Status,
    /// Anything else; ends when it is durable.
    Command(SiteCommand),
}

/// One line of the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// A visit has ended; more follows.
    Step(Step),
    /// How far a new index is; more follows.
    Reindexing(Progress),
    /// The end of a crawl.
    Crawled(Box<Summary>),
    /// What the daemon knows and does, but for the number of documents, which the index tells.
    Status(Box<Status>),
    /// The end of a command.
    Done(CommandDone),
    /// The end: it was not carried out.
    Refused(CommandRefused),
}

impl Answer {
    /// What was done, by a command that only does something.
    pub fn into_done(self) -> Result<CommandDone, CommandRefused> {
        match self {
            Answer::Done(done) => Ok(done),
            Answer::Refused(refused) => Err(refused),
            Answer::Step(_) | Answer::Reindexing(_) | Answer::Crawled(_) | Answer::Status(_) => {
                Err(CommandRefused::new(
                    Why::Failed,
                    "the daemon answered another question; is it of another version of taojin?",
                ))
            }
        }
    }
}

/// One visit, as it is shown while one waits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Step {
    /// How it ended.
    pub outcome: String,
    /// The address.
    pub url: String,
    /// Addresses that are known to be due after it.
    pub left: u64,
}

impl Step {
    fn of(line: &LogLine, left: u64) -> Self {
        Self {
            outcome: line.outcome.as_str().to_owned(),
            url: line.url.clone(),
            left,
        }
    }
}

/// What the crawl loop says to a request.
#[derive(Debug)]
pub(super) enum Reply {
    /// Pass this on.
    Now(Answer),
    /// Pass this on when the index has committed this change.
    AfterIndex(u64, Answer),
}

/// A request on its way to the crawl loop.
#[derive(Debug)]
pub(super) struct Wish {
    pub(super) request: Request,
    pub(super) reply: tokio::sync::mpsc::Sender<Reply>,
}

/// Where the socket is.
fn socket_path(data_dir: &Path) -> PathBuf {
    data_dir.join(SOCKET)
}

/// The longest path that the address of a socket has room for.
const MAX_PATH: usize = 107;

/// The socket under a name that is short enough: a long one is reached through a handle on its folder, which has to be
/// kept meanwhile.
fn short_path(data_dir: &Path, name: &str) -> std::io::Result<(PathBuf, Option<std::fs::File>)> {
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;

    let path = data_dir.join(name);
    if path.as_os_str().as_bytes().len() <= MAX_PATH {
        return Ok((path, None));
    }
    let folder = std::fs::File::open(data_dir)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}/{name}", folder.as_raw_fd()));
    Ok((short, Some(folder)))
}

fn stopping() -> CommandRefused {
    CommandRefused::new(
        Why::NoCrawler,
        "the daemon is stopping: nothing was done; ask again when it runs",
    )
}
