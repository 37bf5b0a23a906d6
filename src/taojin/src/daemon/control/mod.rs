//! Commands of the operator to a running daemon, over a socket in the data directory.
//!
//! [`send_command`] is the client, `Controller` the client of web page and API, `ControlSocket` the server: it bounds
//! connections, bytes and the time that a request may take to arrive, and passes requests on to the crawl loop. Responses come
//! once what was requested is durable.
//!
//! A connection carries one [`Command`], a line of JSON, and gets lines of JSON: any number of steps, then the end. Who may
//! write to the socket may do everything, so it is the owner's alone, or the group's where the data directory is.

pub(super) mod commands;
pub(super) mod page_fetcher;
mod watches;

use std::fs;
use std::io::{BufRead, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixListener;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use page_fetcher::PageFetcher;

use super::crawl::crawl_log::LogLine;
use super::crawl::crawler::Event;
use super::index::RebuildProgress;
use super::reloading::Current;
use super::{Shared, StatusBoard, Summary};
use crate::config::LoadedConfig;
use crate::serve::{
    Command, CommandDone, CommandError, GivenPage, SiteControl, SourceError, Status, Visit,
};
use taojin_crawl::schedule::Site;

pub use commands::execute_alone;
pub(super) use watches::Watches;

/// The socket in the data directory.
const SOCKET: &str = "control.sock";

/// Longest request: a few hundred names of sites, or one address.
const REQUEST_BYTES: usize = 64 * 1024;

/// Responses of one request that wait for the client; steps beyond it are left out, the end never is.
const ANSWERS: usize = 256;

/// The longest path that the address of a socket has room for.
const MAX_PATH: usize = 107;

/// Requests under way: people and their scripts, not the public.
const CONNECTIONS: usize = 16;
/// A request is one line, sent at once.
const REQUEST_TIME: Duration = Duration::from_secs(5);
/// A client that takes nothing for so long is hung up on.
const SEND_TIME: Duration = Duration::from_secs(10);
/// Time that the index gets to follow; it commits twice a second.
const INDEX_TIME: Duration = Duration::from_secs(120);
/// Time after which a rebuild that does not begin is given up, with the reason.
const TROUBLE_TIME: Duration = Duration::from_secs(15);
/// How often it is checked.
const LOOK: Duration = Duration::from_millis(20);
/// A failed accept (no file handles) is tried again after this.
const RETRY: Duration = Duration::from_millis(200);
/// The socket before it has its name.
const DRAFT: &str = ".control.sock";

/// Longest line of an answer: the addresses of one document.
const ANSWER_BYTES: u64 = 32 << 20;

/// The end of the crawl log that is looked through for visits of one site.
const LOG_TAIL: u64 = 256 * 1024;
/// Visits that are shown.
const VISITS: usize = 20;

/// One line of the response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// A visit has ended; more follows.
    Step(Step),
    /// How far a new index is; more follows.
    Reindexing(RebuildProgress),
    /// The end of a crawl.
    Crawled(Box<Summary>),
    /// What the daemon knows and does, but for the number of documents, which the index tells.
    Status(Box<Status>),
    /// The end of a command.
    Done(CommandDone),
    /// The end: it was not executed.
    Refused(CommandError),
}

impl Response {
    /// Returns what was done, for a command that ends with that.
    pub fn into_done(self) -> Result<CommandDone, CommandError> {
        match self {
            Response::Done(done) => Ok(done),
            Response::Refused(error) => Err(error),
            Response::Step(_)
            | Response::Reindexing(_)
            | Response::Crawled(_)
            | Response::Status(_) => Err(CommandError::failed(
                "the daemon answered another question; is it of another version of taojin?",
            )),
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
    fn new(line: &LogLine, left: u64) -> Self {
        Self {
            outcome: line.outcome.as_str().to_owned(),
            url: line.url.clone(),
            left,
        }
    }
}

/// The response of the crawl loop.
#[derive(Debug)]
pub(super) enum Reply {
    /// Pass this on.
    Now(Response),
    /// Pass this on when the index has committed this change.
    AfterIndex(u64, Response),
}

/// A command on its way to the crawl loop.
#[derive(Debug)]
pub(super) struct PendingRequest {
    pub(super) command: Command,
    pub(super) reply: tokio::sync::mpsc::Sender<Reply>,
}

/// The socket under a name that is short enough: a long one is reached through a handle on its directory, which has to be
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

pub(super) fn stopping() -> CommandError {
    let text = "the daemon is stopping: nothing was done; ask again when it runs";
    CommandError::NoCrawler(text.to_owned())
}

/// The socket while the daemon listens on it; dropping it removes it.
pub(in crate::daemon) struct ControlSocket {
    path: PathBuf,
    inode: u64,
    task: JoinHandle<()>,
}

impl ControlSocket {
    /// Listens in the data directory, whose lock this process holds: whatever has the name is left over, and replaced.
    pub(in crate::daemon) fn open(
        data_dir: &Path,
        events: SyncSender<Event>,
        shared: &Arc<Shared>,
        board: StatusBoard,
    ) -> anyhow::Result<Self> {
        let path = data_dir.join(SOCKET);
        let draft = data_dir.join(DRAFT);
        if draft.symlink_metadata().is_ok() {
            fs::remove_file(&draft)?;
        }
        let (short, _folder) = short_path(data_dir, DRAFT)?;
        let listener = UnixListener::bind(&short)
            .with_context(|| format!("{} cannot be made", path.display()))?;
        // Nobody else may write to it, or only the group that may write to the directory.
        let group = fs::metadata(data_dir)?.permissions().mode() & 0o020 != 0;
        let mode = if group { 0o660 } else { 0o600 };
        fs::set_permissions(&draft, fs::Permissions::from_mode(mode))?;
        let inode = fs::metadata(&draft)?.ino();
        fs::rename(&draft, &path).with_context(|| format!("{} cannot be made", path.display()))?;
        let task = tokio::spawn(accept(listener, events, Arc::clone(shared), board));
        Ok(Self { path, inode, task })
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        self.task.abort();
        // Another daemon may have put its own there meanwhile.
        if fs::metadata(&self.path).is_ok_and(|m| m.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

async fn accept(
    listener: UnixListener,
    events: SyncSender<Event>,
    shared: Arc<Shared>,
    board: StatusBoard,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut clients = tokio::task::JoinSet::new();
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a control connection could not be taken");
                tokio::time::sleep(RETRY).await;
                continue;
            }
        };
        while clients.try_join_next().is_some() {}
        let place = Arc::clone(&places).try_acquire_owned();
        let (events, shared) = (events.clone(), Arc::clone(&shared));
        let board = board.clone();
        clients.spawn(async move {
            let (read, mut write) = stream.into_split();
            let end = match place {
                Ok(_place) => handle_connection(read, &mut write, &events, &shared, board).await,
                Err(_) => {
                    let text = "too many requests at once; try again".to_owned();
                    Some(Response::Refused(CommandError::NotNow(text)))
                }
            };
            if let Some(end) = end {
                send(&mut write, &end).await;
            }
        });
    }
}

/// Reads the command and passes the responses on. Returns the last one; `None` if the client is gone.
async fn handle_connection(
    read: OwnedReadHalf,
    write: &mut OwnedWriteHalf,
    events: &SyncSender<Event>,
    shared: &Shared,
    board: StatusBoard,
) -> Option<Response> {
    let mut read = BufReader::new(read);
    let command = timeout(REQUEST_TIME, read_command(&mut read)).await;
    let command = match command.unwrap_or_else(|_| Err("no request came".to_owned())) {
        Ok(Command::Reindex) => return reindex(write, shared, false).await,
        Ok(Command::TakeOverIndex) => return reindex(write, shared, true).await,
        Ok(Command::Status) => return Some(read_status(board).await),
        Ok(command) => command,
        Err(message) => return Some(Response::Refused(CommandError::Invalid(message))),
    };
    let (reply, mut replies) = mpsc::channel(ANSWERS);
    if let Err(error) = submit(events, shared, PendingRequest { command, reply }) {
        return Some(Response::Refused(error));
    }
    let mut rest = [0u8; 64];
    loop {
        let next = tokio::select! {
            next = replies.recv() => next,
            // A client that hangs up no longer waits; what it requested continues.
            _ = read.read(&mut rest) => return None,
        };
        match next {
            Some(Reply::Now(Response::Step(step))) => {
                if !send(write, &Response::Step(step)).await {
                    return None;
                }
            }
            Some(Reply::Now(end)) => return Some(end),
            Some(Reply::AfterIndex(seq, end)) => {
                let until = Instant::now() + INDEX_TIME;
                while shared.index().indexed() < seq {
                    if Instant::now() >= until {
                        return Some(Response::Refused(index_is_late()));
                    }
                    tokio::time::sleep(LOOK).await;
                }
                return Some(end);
            }
            None => return Some(Response::Refused(stopping())),
        }
    }
}

/// Returns what the daemon knows and does; the client adds the number of documents.
async fn read_status(board: StatusBoard) -> Response {
    let read = tokio::task::spawn_blocking(move || board.read(0)).await;
    match read {
        Ok(Ok(status)) => Response::Status(Box::new(status)),
        Ok(Err(error)) => Response::Refused(CommandError::Failed(format!("{error:#}"))),
        Err(error) => Response::Refused(CommandError::failed(error)),
    }
}

/// Has the indexer rebuild the index, and reports the progress. Returns `None` if the client is gone; the work continues.
async fn reindex(
    write: &mut OwnedWriteHalf,
    shared: &Shared,
    takes_over: bool,
) -> Option<Response> {
    let before = shared.index().finished_rebuilds();
    if takes_over {
        shared.index().request_take_over();
    }
    shared.index().request_rebuild();
    let patience = Instant::now() + TROUBLE_TIME;
    let mut said = None;
    while shared.index().finished_rebuilds() == before {
        if shared.lifecycle().is_stopping() {
            let text = "the daemon is stopping; it goes on with the new index when it runs again";
            return Some(Response::Refused(CommandError::NoCrawler(text.to_owned())));
        }
        let progress = shared.index().rebuild_progress();
        if let Some(trouble) = shared.index().trouble()
            && Instant::now() >= patience
        {
            return Some(Response::Refused(CommandError::Failed(trouble.text)));
        }
        if let Some(at) = progress.filter(|_| progress != said)
            && !send(write, &Response::Reindexing(at)).await
        {
            return None;
        }
        said = progress;
        tokio::time::sleep(LOOK).await;
    }
    Some(Response::Done(CommandDone::default()))
}

/// Passes a request to the crawl loop.
fn submit(
    events: &SyncSender<Event>,
    shared: &Shared,
    request: PendingRequest,
) -> Result<(), CommandError> {
    if shared.lifecycle().is_stopping() {
        return Err(stopping());
    }
    events
        .try_send(Event::Request(Box::new(request)))
        .map_err(|e| match e {
            TrySendError::Full(_) => {
                CommandError::NotNow("the crawler is busy; try again in a moment".to_owned())
            }
            TrySendError::Disconnected(_) => stopping(),
        })
}

fn index_is_late() -> CommandError {
    CommandError::NotNow(
        "it is taken out of the store, but the index has not followed yet: searches show it until it has; \
         `taojin status` shows what is on its way"
            .to_owned(),
    )
}

async fn read_command(read: &mut BufReader<OwnedReadHalf>) -> Result<Command, String> {
    let mut line = Vec::new();
    let most = REQUEST_BYTES as u64 + 1;
    let mut bounded = read.take(most);
    bounded
        .read_until(b'\n', &mut line)
        .await
        .map_err(|e| e.to_string())?;
    if line.len() > REQUEST_BYTES {
        return Err(format!("a request has at most {REQUEST_BYTES} bytes"));
    }
    serde_json::from_slice(&line).map_err(|e| format!("not a request: {e}"))
}

/// Whether the client took it.
async fn send(write: &mut OwnedWriteHalf, response: &Response) -> bool {
    let Ok(mut text) = serde_json::to_vec(response) else {
        return false;
    };
    text.push(b'\n');
    matches!(timeout(SEND_TIME, write.write_all(&text)).await, Ok(Ok(())))
}

/// Sends a command to the daemon of this data directory, and calls `report` with what it sends meanwhile: visits, progress.
/// Returns the end of its response; `None` if no daemon listens.
pub fn send_command(
    data_dir: &Path,
    command: &Command,
    mut report: impl FnMut(&Response),
) -> Result<Option<Response>, CommandError> {
    let Some(mut stream) = connect(data_dir)? else {
        return Ok(None);
    };
    let text = serde_json::to_string(command).map_err(unreachable)?;
    stream
        .write_all(format!("{text}\n").as_bytes())
        .map_err(unreachable)?;
    let mut lines = std::io::BufReader::new(stream);
    loop {
        let mut line = String::new();
        let read = lines.by_ref().take(ANSWER_BYTES).read_line(&mut line);
        if read.map_err(unreachable)? == 0 {
            let text = "the daemon ended before it answered; `taojin status` shows what stands";
            return Err(CommandError::NoCrawler(text.to_owned()));
        }
        let response = serde_json::from_str(&line).map_err(|_| {
            unreachable("its answer cannot be read; is it of another version of taojin?")
        })?;
        match response {
            Response::Step(_) | Response::Reindexing(_) => report(&response),
            Response::Refused(refused) => return Err(refused),
            end => return Ok(Some(end)),
        }
    }
}

/// Returns `None` where no daemon listens: the socket is missing, or left over from one that was killed.
fn connect(data_dir: &Path) -> Result<Option<UnixStream>, CommandError> {
    let connected =
        short_path(data_dir, SOCKET).and_then(|(path, _folder)| UnixStream::connect(path));
    match connected {
        Ok(stream) => Ok(Some(stream)),
        Err(e) => match e.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused | ErrorKind::NotADirectory => {
                Ok(None)
            }
            ErrorKind::PermissionDenied => {
                let path = data_dir.join(SOCKET);
                let mend = "run it as the user that the daemon runs as (sudo)";
                let message = format!("{}: permission denied; {mend}", path.display());
                Err(CommandError::Invalid(message))
            }
            _ => Err(unreachable(e)),
        },
    }
}

fn unreachable(error: impl std::fmt::Display) -> CommandError {
    CommandError::Failed(format!("the daemon cannot be asked: {error}"))
}

/// Passes commands of `serve` to the daemon.
pub(in crate::daemon) struct Controller {
    data_dir: PathBuf,
    log: PathBuf,
    current: tokio::sync::watch::Receiver<Current>,
    /// Fetches pages, where this process crawls.
    pages: Option<PageFetcher>,
}

impl Controller {
    /// Over the data directory of a configuration.
    pub(in crate::daemon) fn new(
        loaded: &LoadedConfig,
        current: tokio::sync::watch::Receiver<Current>,
    ) -> Self {
        Self {
            data_dir: loaded.config.data_dir.clone(),
            log: loaded.log_dir().join("crawl.log"),
            current,
            pages: None,
        }
    }

    /// Fetches pages with this.
    pub(in crate::daemon) fn with_pages(self, pages: PageFetcher) -> Self {
        Self {
            pages: Some(pages),
            ..self
        }
    }

    /// The last visits of a site, as far as the end of the log has them. Without a log there are none.
    fn visits(&self, name: &str) -> Vec<Visit> {
        let read = || -> std::io::Result<Vec<u8>> {
            let mut file = std::fs::File::open(&self.log)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(LOG_TAIL)))?;
            let mut tail = Vec::new();
            file.take(LOG_TAIL).read_to_end(&mut tail)?;
            Ok(tail)
        };
        let tail = read().unwrap_or_default();
        tail.rsplit(|b| *b == b'\n')
            .filter_map(|line| serde_json::from_slice::<Visit>(line).ok())
            .filter(|visit| visit.site == name)
            .take(VISITS)
            .collect()
    }
}

impl SiteControl for Controller {
    fn execute(&self, command: Command) -> Result<CommandDone, CommandError> {
        match send_command(&self.data_dir, &command, |_| {})? {
            Some(response) => response.into_done(),
            None => Err(CommandError::NoCrawler(
                "no crawler runs on this data folder, so nothing was done; start one with: taojin run".to_owned(),
            )),
        }
    }

    fn fetch_page(&self, url: &str) -> Result<GivenPage, CommandError> {
        let sites = self.current.borrow().sites.clone();
        match &self.pages {
            Some(pages) => pages.fetch(&sites, url),
            None => Err(CommandError::NoCrawler(
                "this server does not crawl, so it fetches no page".to_owned(),
            )),
        }
    }

    fn site(&self, name: &str) -> Result<Option<(Site, Vec<Visit>)>, SourceError> {
        let sites = self.current.borrow().sites.clone();
        let Some(site) = sites.iter().find(|s| s.name == name) else {
            return Ok(None);
        };
        Ok(Some((site.clone(), self.visits(name))))
    }
}
