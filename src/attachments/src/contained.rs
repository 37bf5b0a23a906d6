//! Reads attachments in a child process that can harm nobody but itself.
//!
//! [`Reader::read`] starts the same program again with [`ARGUMENT`] and an empty environment, writes the file to its standard input
//! and reads the answer from its standard output. The program must call [`run_child`] before anything else. Before it reads the first
//! byte, the child leaves the processor to others, gives up files, connections, programs and processes for good (`confinement`), and
//! limits its memory and processor time. The parent ends it after [`PATIENCE`] times [`Limits::time`], takes a bounded answer, and
//! always reaps it.
//!
//! A child that cannot confine itself reads nothing. Where the kernel is without Landlock it reads with the filter of system calls
//! alone, and [`missing_confinement`] lets the parent say so.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, Signal, setrlimit};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use crate::confinement::{filter_calls, give_up_access, missing_in_kernel, yield_processor};
use crate::{Attachment, FileTypes, MAX_TEXT_BYTES, Unreadable};

/// Has mimalloc, where the program uses it, take memory as it is needed: what it reserves at its start otherwise, 1 GiB, would
/// not count against the limit of a child, which comes later.
const ALLOCATOR_RESERVE: (&str, &str) = ("MIMALLOC_ARENA_RESERVE", "0");

/// First argument of a child. The second and third are its memory in bytes and its processor time in seconds, the fourth the kinds that
/// it may read, if not all.
pub const ARGUMENT: &str = "read-attachment";
/// The program as it runs, also when its file has been replaced.
const SELF: &str = "/proc/self/exe";
/// An answer cannot be larger: text, names and what JSON adds.
const MAX_ANSWER_BYTES: u64 = 4 * MAX_TEXT_BYTES as u64;
/// Standard input, output and error, and no more.
const OPEN_FILES: u64 = 3;
/// How much longer a child may take by the clock than at the processor: a busy machine leaves it a small share.
pub const PATIENCE: u32 = 6;
/// Names are cut to this many bytes.
const MAX_NAME_BYTES: usize = 1024;

/// What a child may take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Address space. Most files need 30 MB, the worst of those that were tried some 520. All children together must fit beside the
    /// daemon into the memory that its service may take.
    pub memory_bytes: u64,
    /// Processor time of the child. By the clock it may take [`PATIENCE`] times that, since it comes last at the processor.
    pub time: Duration,
    /// Size of the file.
    pub file_bytes: usize,
    /// Children at one time; others wait.
    pub parallel: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 768 << 20,
            time: Duration::from_secs(20),
            file_bytes: 64 << 20,
            parallel: 2,
        }
    }
}

/// Reads attachments in children. Share one, since it counts them.
#[derive(Debug)]
pub struct Reader {
    program: PathBuf,
    limits: Limits,
    wanted: FileTypes,
    turns: Semaphore,
}

/// Says which part of the confinement of children this kernel is without; `None` if none that matters.
pub fn missing_confinement() -> Option<&'static str> {
    missing_in_kernel()
}

impl Reader {
    /// Makes a reader whose children are this program.
    ///
    /// # Errors
    ///
    /// Fails if the program does not know its own file.
    pub fn new(limits: Limits) -> io::Result<Self> {
        let own = Path::new(SELF);
        let program = if own.exists() {
            own.to_owned()
        } else {
            std::env::current_exe()?
        };
        Ok(Self::with_program(program, limits))
    }

    /// Makes a reader whose children are another program that calls [`run_child`].
    pub fn with_program(program: PathBuf, limits: Limits) -> Self {
        let turns = Semaphore::new(limits.parallel.max(1));
        Self {
            program,
            limits,
            wanted: FileTypes::ALL,
            turns,
        }
    }

    /// Has other kinds of files not parsed, whatever their names are, and not as members of archives and mails either.
    pub fn only(self, wanted: FileTypes) -> Self {
        Self { wanted, ..self }
    }

    /// Reads a file as [`crate::read_among`] does. Dropping the future ends the child.
    ///
    /// # Errors
    ///
    /// Also returns [`Unreadable::TooLarge`], [`Unreadable::TimedOut`] and [`Unreadable::Crashed`]; the last too if no child can be
    /// started.
    pub async fn read(&self, bytes: &[u8], name: &str) -> Result<Attachment, Unreadable> {
        if bytes.len() > self.limits.file_bytes {
            return Err(Unreadable::TooLarge);
        }
        let _turn = self.turns.acquire().await;
        self.read_in_turn(bytes, name).await
    }

    /// The same of a file on disk, from its beginning. It is in memory only while it is its turn.
    ///
    /// # Errors
    ///
    /// As [`Reader::read`], and [`Unreadable::Crashed`] if the disk does not give it.
    pub async fn read_file(&self, mut file: File, name: &str) -> Result<Attachment, Unreadable> {
        let _turn = self.turns.acquire().await;
        let mut bytes = Vec::new();
        let most = self.limits.file_bytes as u64;
        let mut read = || {
            file.rewind()?;
            (&mut file)
                .take(most.saturating_add(1))
                .read_to_end(&mut bytes)
        };
        match read() {
            Err(_) => Err(Unreadable::Crashed),
            Ok(length) if length as u64 > most => Err(Unreadable::TooLarge),
            Ok(_) => self.read_in_turn(&bytes, name).await,
        }
    }

    async fn read_in_turn(&self, bytes: &[u8], name: &str) -> Result<Attachment, Unreadable> {
        let seconds = self.limits.time.as_secs().max(1);
        let mut child = Command::new(&self.program)
            .arg(ARGUMENT)
            .args([self.limits.memory_bytes.to_string(), seconds.to_string()])
            .arg(self.wanted.to_string())
            .env_clear()
            .envs([ALLOCATOR_RESERVE])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|_| Unreadable::Crashed)?;
        let started = Instant::now();
        let most = self.limits.time.saturating_mul(PATIENCE);
        let exchanged = tokio::time::timeout(most, exchange(&mut child, bytes, name)).await;
        // Ends it whatever it does, and reaps it. One that the system has ended is not ended again.
        let _ = child.start_kill();
        let ended = child.wait().await;
        match exchanged {
            Err(_) => Err(Unreadable::TimedOut),
            Ok(Err(_)) => Err(Unreadable::Crashed),
            Ok(Ok(answer)) if answer.len() as u64 > MAX_ANSWER_BYTES => Err(Unreadable::TooLarge),
            Ok(Ok(answer)) => serde_json::from_slice(&answer).unwrap_or_else(|_| {
                // The system ends in the same way who has used up its time and who is in the way when memory runs out.
                let is_killed = ended.is_ok_and(|end| end.signal() == Some(Signal::KILL.as_raw()));
                Err(if is_killed && started.elapsed() >= self.limits.time {
                    Unreadable::TimedOut
                } else {
                    Unreadable::Crashed
                })
            }),
        }
    }
}

/// Writes the file and reads the answer at the same time: either side may be more than a pipe holds.
async fn exchange(child: &mut Child, bytes: &[u8], name: &str) -> io::Result<Vec<u8>> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let name = name
        .get(..name.floor_char_boundary(MAX_NAME_BYTES))
        .unwrap_or_default();
    let write = async {
        let length = u32::try_from(name.len()).unwrap_or_default();
        input.write_all(&length.to_le_bytes()).await?;
        input.write_all(name.as_bytes()).await?;
        input.write_all(bytes).await?;
        drop(input);
        io::Result::Ok(())
    };
    let mut answer = Vec::new();
    let mut output = output.take(MAX_ANSWER_BYTES + 1);
    // A child that ends early reads no further; its answer still counts.
    let (_, read) = tokio::join!(write, output.read_to_end(&mut answer));
    read?;
    Ok(answer)
}

/// Serves as a child if the arguments of the program say so: confines itself, reads the file, writes the answer. `None` otherwise.
pub fn run_child(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    arguments.next();
    if arguments.next()? != ARGUMENT {
        return None;
    }
    let mut number = || arguments.next()?.to_str()?.parse().ok();
    let (Some(memory), Some(seconds)) = (number(), number()) else {
        return Some(ExitCode::from(2));
    };
    let wanted = arguments.next().map_or(Ok(FileTypes::ALL), |list| {
        list.to_str().unwrap_or_default().parse()
    });
    let Ok(wanted) = wanted else {
        return Some(ExitCode::from(2));
    };
    let served = serve(memory, seconds, wanted);
    Some(served.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

fn serve(memory_bytes: u64, seconds: u64, wanted: FileTypes) -> io::Result<()> {
    confine(memory_bytes, seconds)?;
    // Its words would go nowhere, and to make them takes memory.
    std::panic::set_hook(Box::new(|_| {}));
    let mut input = io::stdin().lock();
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let mut name = vec![0; MAX_NAME_BYTES.min(u32::from_le_bytes(length) as usize)];
    input.read_exact(&mut name)?;
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let read = crate::read_among(&bytes, &String::from_utf8_lossy(&name), wanted);
    let answer = serde_json::to_vec(&read)?;
    io::stdout().lock().write_all(&answer)
}

/// Leaves this process its memory, its time and its three pipes. Each step needs what the next ones take.
pub(crate) fn confine(memory_bytes: u64, seconds: u64) -> io::Result<()> {
    // Where memory runs out all the same, the child is ended and not its parent. It may always say so of itself.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    yield_processor();
    give_up_access()?;
    limit(memory_bytes, seconds)?;
    filter_calls()
}

fn limit(memory_bytes: u64, seconds: u64) -> io::Result<()> {
    for (resource, most) in [
        (Resource::As, memory_bytes),
        (Resource::Cpu, seconds),
        (Resource::Nofile, OPEN_FILES),
        (Resource::Fsize, 0),
        (Resource::Nproc, 0),
        (Resource::Core, 0),
    ] {
        setrlimit(
            resource,
            Rlimit {
                current: Some(most),
                maximum: Some(most),
            },
        )?;
    }
    Ok(())
}
