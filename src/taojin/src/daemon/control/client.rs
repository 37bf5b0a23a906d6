//! The other side of the socket, for the command line. In: a data folder and a request. Out: the end of the answer, each
//! step on the way. Blocks.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::{Answer, Request, SOCKET, short_path};
use crate::serve::{CommandRefused, Why};

/// Longest line of an answer: the addresses of one document.
const ANSWER_BYTES: u64 = 32 << 20;

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
    let mut lines = BufReader::new(stream);
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
