//! The operator's wishes while the daemon runs. In: requests over a socket in the data folder. Out: answers, after what they ask
//! for is durable. [`ask`] is the client's side, `Controller` that of web page and API, `ControlSocket` the daemon's: it is
//! bounded in connections, in bytes and in the time that a request may take to arrive, and passes requests on to the crawl loop.
//!
//! A connection carries one request, a line of JSON, and gets lines of JSON: any number of steps, then the end. Who may
//! write to the socket may do everything, so it is the owner's alone, or the group's where the data folder is.

pub(super) mod commands;

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

use super::crawl::crawl_log::LogLine;
use super::crawl::crawl_loop::Event;
use super::index::Progress;
use super::reloading::Current;
use super::{Shared, StatusBoard, Summary};
use crate::config::Loaded;
use crate::serve::{
    CommandDone, CommandRefused, SiteCommand, SiteControl, SourceError, Status, Visit, Why,
};
use taojin_crawl::schedule::Site;

pub(super) use commands::Watches;
pub use commands::carry_out_alone;

/// The socket in the data folder.
const SOCKET: &str = "control.sock";

/// Longest request: a few hundred names of sites, or one address.
const REQUEST_BYTES: usize = 64 * 1024;

/// Answers of one request that wait for the client; steps beyond it are left out, the end never is.
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
/// How often it is looked at.
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

/// The socket while the daemon listens on it; dropping it removes it.
pub(in crate::daemon) struct ControlSocket {
    path: PathBuf,
    inode: u64,
    task: JoinHandle<()>,
}

impl ControlSocket {
    /// Listens in the data folder, whose lock this process holds: whatever has the name is left over, and replaced.
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
        // Nobody else may write to it, or only the group that may write to the folder.
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
                Ok(_place) => attend(read, &mut write, &events, &shared, board).await,
                Err(_) => Some(refused(Why::NotNow, "too many requests at once; try again")),
            };
            if let Some(end) = end {
                send(&mut write, &end).await;
            }
        });
    }
}

/// Reads the request and passes the answers on. The last one is given back; none if the client is gone.
async fn attend(
    read: OwnedReadHalf,
    write: &mut OwnedWriteHalf,
    events: &SyncSender<Event>,
    shared: &Shared,
    board: StatusBoard,
) -> Option<Answer> {
    let mut read = BufReader::new(read);
    let request = match timeout(REQUEST_TIME, request(&mut read)).await {
        Ok(Ok(request)) => request,
        Ok(Err(message)) => return Some(refused(Why::Mistake, message)),
        Err(_) => return Some(refused(Why::Mistake, "no request came")),
    };
    match request {
        Request::Reindex => return reindex(write, shared).await,
        Request::Status => return Some(status(board).await),
        _ => {}
    }
    let (reply, mut replies) = mpsc::channel(ANSWERS);
    if let Err(refused) = hand_over(events, shared, Wish { request, reply }) {
        return Some(Answer::Refused(refused));
    }
    let mut rest = [0u8; 64];
    loop {
        let next = tokio::select! {
            next = replies.recv() => next,
            // A client that hangs up no longer waits; what it asked for goes on.
            _ = read.read(&mut rest) => return None,
        };
        match next {
            Some(Reply::Now(Answer::Step(step))) => {
                if !send(write, &Answer::Step(step)).await {
                    return None;
                }
            }
            Some(Reply::Now(end)) => return Some(end),
            Some(Reply::AfterIndex(seq, end)) => {
                let until = Instant::now() + INDEX_TIME;
                while shared.indexed() < seq {
                    if Instant::now() >= until {
                        return Some(index_is_late());
                    }
                    tokio::time::sleep(LOOK).await;
                }
                return Some(end);
            }
            None => return Some(Answer::Refused(stopping())),
        }
    }
}

/// What the daemon knows and does; the number of documents is the asker's to add.
async fn status(board: StatusBoard) -> Answer {
    let read = tokio::task::spawn_blocking(move || board.read(0)).await;
    match read {
        Ok(Ok(status)) => Answer::Status(Box::new(status)),
        Ok(Err(error)) => refused(Why::Failed, format!("{error:#}")),
        Err(error) => refused(Why::Failed, error.to_string()),
    }
}

/// Has the indexer make the index anew, and tells how far it is. None if the client is gone; the work goes on.
async fn reindex(write: &mut OwnedWriteHalf, shared: &Shared) -> Option<Answer> {
    let before = shared.reindexed();
    shared.ask_reindex();
    let mut said = None;
    while shared.reindexed() == before {
        if shared.is_stopping() {
            return Some(refused(
                Why::NoCrawler,
                "the daemon is stopping; it goes on with the new index when it runs again",
            ));
        }
        let progress = shared.reindexing();
        if let Some(at) = progress.filter(|_| progress != said)
            && !send(write, &Answer::Reindexing(at)).await
        {
            return None;
        }
        said = progress;
        tokio::time::sleep(LOOK).await;
    }
    Some(Answer::Done(CommandDone::default()))
}

/// Gives a request to the crawl loop.
fn hand_over(
    events: &SyncSender<Event>,
    shared: &Shared,
    wish: Wish,
) -> Result<(), CommandRefused> {
    if shared.is_stopping() {
        return Err(stopping());
    }
    events
        .try_send(Event::Wish(Box::new(wish)))
        .map_err(|e| match e {
            TrySendError::Full(_) => {
                CommandRefused::new(Why::NotNow, "the crawler is busy; try again in a moment")
            }
            TrySendError::Disconnected(_) => stopping(),
        })
}

fn index_is_late() -> Answer {
    refused(
        Why::NotNow,
        "it is taken out of the store, but the index has not followed yet: searches show it until it has; \
         `taojin status` shows what is on its way",
    )
}

async fn request(read: &mut BufReader<OwnedReadHalf>) -> Result<Request, String> {
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
async fn send(write: &mut OwnedWriteHalf, answer: &Answer) -> bool {
    let Ok(mut text) = serde_json::to_vec(answer) else {
        return false;
    };
    text.push(b'\n');
    matches!(timeout(SEND_TIME, write.write_all(&text)).await, Ok(Ok(())))
}

fn refused(why: Why, message: impl Into<String>) -> Answer {
    Answer::Refused(CommandRefused::new(why, message))
}

/// Asks the daemon of this data folder. `each` is told of what it reports on the way: visits, how far it is.
/// Gives its answer, which is no step; none where no daemon listens.
pub fn ask(
    data_dir: &Path,
    request: &Request,
    mut each: impl FnMut(&Answer),
) -> Result<Option<Answer>, CommandRefused> {
    let Some(mut stream) = connect(data_dir)? else {
        return Ok(None);
    };
    let text = serde_json::to_string(request).map_err(|e| failed(&e))?;
    stream
        .write_all(format!("{text}\n").as_bytes())
        .map_err(|e| failed(&e))?;
    let mut lines = std::io::BufReader::new(stream);
    loop {
        let mut line = String::new();
        let read = lines.by_ref().take(ANSWER_BYTES).read_line(&mut line);
        if read.map_err(|e| failed(&e))? == 0 {
            return Err(CommandRefused::new(
                Why::NoCrawler,
                "the daemon ended before it answered; `taojin status` shows what stands",
            ));
        }
        let answer = serde_json::from_str(&line).map_err(|_| {
            failed(&"its answer cannot be read; is it of another version of taojin?")
        })?;
        match answer {
            Answer::Step(_) | Answer::Reindexing(_) => each(&answer),
            Answer::Refused(refused) => return Err(refused),
            end => return Ok(Some(end)),
        }
    }
}

/// None where no daemon listens: the socket is missing, or left over from one that was killed.
fn connect(data_dir: &Path) -> Result<Option<UnixStream>, CommandRefused> {
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
                Err(CommandRefused::new(Why::Mistake, message))
            }
            _ => Err(failed(&e)),
        },
    }
}

fn failed(error: &dyn std::fmt::Display) -> CommandRefused {
    CommandRefused::new(Why::Failed, format!("the daemon cannot be asked: {error}"))
}

/// Where `serve` hands commands.
pub(in crate::daemon) struct Controller {
    data_dir: PathBuf,
    log: PathBuf,
    current: tokio::sync::watch::Receiver<Current>,
}

impl Controller {
    /// Over the data folder of a configuration.
    pub(in crate::daemon) fn new(
        loaded: &Loaded,
        current: tokio::sync::watch::Receiver<Current>,
    ) -> Self {
        Self {
            data_dir: loaded.config.data_dir.clone(),
            log: loaded.log_dir().join("crawl.log"),
            current,
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
    fn carry_out(&self, command: SiteCommand) -> Result<CommandDone, CommandRefused> {
        match ask(&self.data_dir, &Request::Command(command), |_| {})? {
            Some(answer) => answer.into_done(),
            None => Err(CommandRefused::new(
                Why::NoCrawler,
                "no crawler runs on this data folder, so nothing was done; start one with: taojin run",
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
