//! Attachments for `taojin extract`: read in a child process.

use std::path::Path;
use std::str::FromStr as _;

use anyhow::Context as _;
use taojin_attachments::contained::{Limits, Reader};
use taojin_attachments::{Attachment, FileType, Unreadable};
use tokio::runtime::Runtime;

use super::context::runtime;

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
