//! Files of JSON lines. In: a file or standard input, plain or compressed with gzip or zstd, told by the first bytes.
//! Out: lines, each bounded. Never holds more than one line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use anyhow::Context as _;
use flate2::bufread::MultiGzDecoder;

use super::context::Usage;
use taojin_extract::page::{self, HEAD_BYTES};

/// A longer line is not a document that we wrote.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// First bytes of the two compressions.
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Lines of a file.
pub(super) struct Lines {
    source: Box<dyn BufRead>,
    /// Lines read so far.
    pub(super) number: u64,
}

impl Lines {
    /// Opens a file, `-` for standard input. What holds no lines is the caller's mistake.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let refused = |why: String| Usage(format!("{}: {why}", path.display()));
        if path.as_os_str() == "-" {
            return Self::of(io::stdin().lock()).map_err(|e| refused(format!("{e:#}")).into());
        }
        let file = File::open(path).map_err(|e| refused(e.to_string()))?;
        let is_dir = file.metadata().is_ok_and(|data| data.is_dir());
        if is_dir {
            return Err(refused("is a folder; name its files".to_owned()).into());
        }
        Self::of(BufReader::new(file)).map_err(|e| refused(format!("{e:#}")).into())
    }

    fn of(mut source: impl Read + 'static) -> anyhow::Result<Self> {
        let mut head = Vec::with_capacity(HEAD_BYTES);
        (&mut source)
            .take(HEAD_BYTES as u64)
            .read_to_end(&mut head)?;
        let is = |mark: &[u8]| head.starts_with(mark);
        let (is_gzip, is_zstd) = (is(GZIP), is(ZSTD));
        if !is_gzip
            && !is_zstd
            && let Some(format) = page::foreign_format(&head)
        {
            let mend =
                "JSON lines are read, also with zstd or gzip (taojin export --format jsonl.zst)";
            anyhow::bail!("is {format}; {mend}");
        }
        let whole = BufReader::new(Cursor::new(head).chain(source));
        let source: Box<dyn BufRead> = if is_gzip {
            Box::new(BufReader::new(MultiGzDecoder::new(whole)))
        } else if is_zstd {
            Box::new(BufReader::new(zstd::Decoder::with_buffer(whole)?))
        } else {
            Box::new(whole)
        };
        Ok(Self { source, number: 0 })
    }

    /// Puts the next line into `line`; false at the end.
    pub(super) fn next(&mut self, line: &mut Vec<u8>) -> anyhow::Result<bool> {
        line.clear();
        let number = self.number + 1;
        let got = (&mut self.source)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', line)
            .with_context(|| format!("breaks off in line {number}"))?;
        let too_long = got as u64 == MAX_LINE_BYTES && !line.ends_with(b"\n");
        anyhow::ensure!(
            !too_long,
            "line {number} has more than {MAX_LINE_BYTES} bytes"
        );
        self.number = number;
        Ok(got > 0)
    }
}
