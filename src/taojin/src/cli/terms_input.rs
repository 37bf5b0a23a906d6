//! Texts for `taojin terms`. In: files of documents, one JSON object a line, also packed with gzip or zstd. Out: texts
//! to look at. Takes any object with a `text`; never fails over a line that is none.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

use super::context::Named;
use super::output;
use taojin_search::terms::Text;

/// A longer line is not a document.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// What is read of a line; `url` or `id` says where it is from.
#[derive(Debug, Deserialize)]
struct Line {
    text: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    id: Option<serde_json::Value>,
}

/// The texts of a file (`-` is standard input), `max_chars` characters at most.
pub(super) fn texts(path: &Path, max_chars: usize) -> anyhow::Result<Vec<Text>> {
    let name = path.display().to_string();
    let mut lines = BufReader::new(open(path)?);
    let (mut texts, mut left, mut line) = (Vec::new(), max_chars, Vec::new());
    for number in 1.. {
        line.clear();
        let got = lines
            .by_ref()
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line);
        if got.with_context(|| format!("{name} cannot be read"))? == 0 || left == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Line>(&line) {
            Ok(line) => {
                left = left.saturating_sub(line.text.chars().count());
                texts.push(text(line, number));
            }
            Err(error) => output::note(&format!("{name}:{number}: skipped: {error}")),
        }
    }
    Ok(texts)
}

fn text(line: Line, number: usize) -> Text {
    let id = line.id.map(|id| match id {
        serde_json::Value::String(id) => id,
        id => id.to_string(),
    });
    Text {
        document: line.url.or(id).unwrap_or_else(|| format!("line {number}")),
        title: line.title.unwrap_or_default(),
        text: line.text,
    }
}

fn open(path: &Path) -> anyhow::Result<Box<dyn Read>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).named(path.display())?;
    Ok(match path.extension().and_then(|e| e.to_str()) {
        Some("gz") => Box::new(flate2::read::MultiGzDecoder::new(file)),
        Some("zst") => Box::new(zstd::stream::read::Decoder::new(file)?),
        _ => Box::new(file),
    })
}
