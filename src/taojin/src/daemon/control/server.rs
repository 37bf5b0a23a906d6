//! The socket in the data folder. In: connections, each with one request. Out: the answers of the crawl loop. Bounded in
//! connections, in bytes and in the time that a request may take to arrive. Never carries out anything itself.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use anyhow::Context as _;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixListener;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::{
    ANSWERS, Answer, REQUEST_BYTES, Reply, Request, Wish, short_path, socket_path, stopping,
};
use crate::daemon::Shared;
use crate::daemon::StatusBoard;
use crate::daemon::crawl::state::Event;
use crate::serve::{CommandDone, CommandRefused, Why};

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
        let path = socket_path(data_dir);
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
