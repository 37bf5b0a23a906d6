//! Attachments for `taojin extract`: read in a child process, printed for people or as JSON.

use std::path::Path;
use std::str::FromStr as _;

use anyhow::Context as _;
use askama::Template;
use chrono::DateTime;
use serde::Serialize;
use taojin_attachments::contained::{Limits, Reader};
use taojin_attachments::{Attachment, FileType, Member, Unreadable};
use tokio::runtime::Runtime;

use super::context::runtime;
use super::output;

/// Reads attachments, one after the other.
pub(super) struct AttachmentReader {
    reader: Reader,
    runtime: Runtime,
}

impl AttachmentReader {
    /// Largest file that is read, in bytes.
    pub(super) fn max_file_bytes() -> u64 {
        Limits::default().file_bytes as u64
    }

    pub(super) fn new() -> anyhow::Result<Self> {
        let reader = Reader::new(Limits::default()).context("this program does not find itself")?;
        let runtime = runtime()?;
        Ok(Self { reader, runtime })
    }

    pub(super) fn read(&self, bytes: &[u8], name: &str) -> Result<Attachment, Unreadable> {
        self.runtime.block_on(self.reader.read(bytes, name))
    }
}

/// Whether a file has the suffix of an attachment. Plain text and HTML are pages.
pub(super) fn is_named(path: &Path) -> bool {
    let suffix = path.extension().unwrap_or_default().to_string_lossy();
    let file_type = FileType::from_str(&suffix.to_ascii_lowercase());
    file_type.is_ok_and(|file_type| !matches!(file_type, FileType::Txt | FileType::Html))
}

/// What `--json` prints: the attachment's fields, and where it was read.
#[derive(Serialize)]
struct Line<'a> {
    input: &'a str,
    kind: &'static str,
    #[serde(flatten)]
    attachment: &'a Attachment,
}

/// Prints an attachment as one JSON object.
pub(super) fn print_json(input: &str, attachment: &Attachment) -> anyhow::Result<()> {
    let kind = "attachment";
    output::json(&Line {
        input,
        kind,
        attachment,
    })
}

/// Prints an attachment and its members for a person.
pub(super) fn print_text(input: Option<&str>, attachment: &Attachment) -> anyhow::Result<()> {
    let facts = describe(attachment);
    output::text(&AttachmentText {
        input,
        a: attachment,
        facts,
    })?;
    output::line("");
    for Member { name, content } in &attachment.members {
        match content {
            Ok(member) => print_text(Some(name), member)?,
            Err(why) => output::line(&output::printable(&format!("{name}: {why}\n"))),
        }
    }
    Ok(())
}

/// Kind, size and day in one line.
fn describe(attachment: &Attachment) -> String {
    let mut facts = vec![attachment.file_type.as_str().to_owned()];
    let count =
        |number: u32, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
    facts.extend(attachment.pages.map(|pages| count(pages, "page")));
    if attachment.garbled_pages > 0 {
        facts.push(format!(
            "{} unreadable",
            count(attachment.garbled_pages, "page")
        ));
    }
    let changed = attachment.modified.or(attachment.created);
    let day = changed.and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    facts.extend(day.map(|day| day.format("%Y-%m-%d").to_string()));
    if attachment.is_cut {
        facts.push("cut short".to_owned());
    }
    facts.join(", ")
}

/// An attachment for a person.
#[derive(Template)]
#[template(path = "attachment.txt")]
struct AttachmentText<'a> {
    input: Option<&'a str>,
    a: &'a Attachment,
    facts: String,
}
