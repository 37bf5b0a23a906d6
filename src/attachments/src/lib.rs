//! Reads what offices publish beside their pages: bytes of a file in, honest text out.
//!
//! [`read`] recognises a file by its content and returns an [`Attachment`]: its text in [`Part`]s that know their page, sheet or
//! slide, its title, authors and days where these are sane, and the members of archives and mails. If no honest text can be had, it
//! returns why as an [`Unreadable`]: a scan, a password, a text layer that is garbage, damage. Such a file must not be indexed as
//! text.
//!
//! Files come from strangers, and libraries of others read them. [`read`] catches their panics and bounds what it unpacks, but not
//! time, memory or the stack, nor what code may do that a file smuggles in: call it through a [`contained::Reader`], which reads each
//! file in a child process that is limited and confined.
//!
//! # Limits
//!
//! Of one file at most [`MAX_UNPACKED_BYTES`] are unpacked and [`MAX_TEXT_BYTES`] of text are kept, of archives [`MAX_MEMBERS`] members
//! in [`MAX_DEPTH`] levels. A text that was cut says so ([`Attachment::is_cut`]).

mod archive;
mod biff;
mod confinement;
pub mod contained;
mod disposition;
mod draft;
mod drawing;
mod file_type;
mod han_numbers;
mod heading;
mod honesty;
mod mail;
mod metadata;
mod number_format;
mod numbering;
mod ofd;
mod office;
mod opc;
mod open_document;
mod package;
mod pdf;
mod rtf;
mod sheets;
mod slides;
#[cfg(test)]
mod tests;
mod text;
mod word;
mod works;
mod xml;

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};

pub use disposition::Disposition;
pub use file_type::{FileType, FileTypes};

use draft::Draft;

/// Text kept of one file with all its members: a thick book has 2 MB.
pub const MAX_TEXT_BYTES: usize = 4 << 20;
/// Bytes unpacked of one file with all its members.
pub const MAX_UNPACKED_BYTES: u64 = 256 << 20;
/// Members read of one file, of all levels.
pub const MAX_MEMBERS: usize = 200;
/// Levels of archives and mails in each other: a mail with an archive of archives.
pub const MAX_DEPTH: usize = 3;

/// What was read of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// What it is by its content.
    pub file_type: FileType,
    /// Its own title: one that it declares and shows, else its heading. `None` if neither is sane.
    pub title: Option<String>,
    /// Persons or offices that it names as its authors; programs and accounts are left out.
    pub authors: Vec<String>,
    /// When it was made, Unix seconds; `None` if it does not say or cannot be true. The clock is not read: it may lie ahead.
    pub created: Option<i64>,
    /// When it was last changed, Unix seconds; as `created`.
    pub modified: Option<i64>,
    /// Pages, sheets or slides, if it has such.
    pub pages: Option<u32>,
    /// Its text in reading order. Parts without text are left out.
    pub parts: Vec<Part>,
    /// Lines of its text that are headings, in their order, where its format says so.
    pub headings: Vec<Heading>,
    /// Members of an archive, attachments of a mail, in their order.
    pub members: Vec<Member>,
    /// Pages whose text is garbage and was left out.
    pub garbled_pages: u32,
    /// A limit of this crate cut off text or members.
    pub is_cut: bool,
}

impl Attachment {
    /// Returns the text of all parts, divided by line breaks, without that of members.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().map(|part| &*part.text).collect();
        texts.join("\n")
    }
}

/// A heading of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// A line of the text of its part.
    pub text: String,
}

/// A stretch of text with its place in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Where it is.
    pub place: Place,
    /// Lines; cells of a table row are divided by tabs.
    pub text: String,
}

/// A place in a file, to be named beside a match.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// The file as a whole: its kind has no fixed pages.
    Whole,
    /// A page, from 1.
    Page(u32),
    /// A slide, from 1.
    Slide(u32),
    /// A chapter of a book, from 1.
    Chapter(u32),
    /// A sheet, by its name.
    Sheet(String),
}

/// A file inside a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its name with the folders it is in.
    pub name: String,
    /// What was read of it.
    pub content: Result<Attachment, Unreadable>,
}

/// Why no honest text can be had of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Unreadable {
    /// Pages are pictures.
    #[error("has only pictures of its text, as a scan has")]
    Scanned,
    /// A password is needed.
    #[error("is protected by a password")]
    Password,
    /// Its characters do not say what a person sees.
    #[error("shows text that its data does not tell: no or wrong character codes")]
    Garbled,
    /// A drawing, or nothing at all.
    #[error("has no text")]
    NoText,
    /// It does not follow its own format.
    #[error("is damaged")]
    Damaged,
    /// Its kind is not read.
    #[error("is {0}, which is not read")]
    NotRead(String),
    /// It, or what it unpacks to, is larger than a limit.
    #[error("is larger than is read")]
    TooLarge,
    /// It took longer than it may.
    #[error("takes too long to read")]
    TimedOut,
    /// Its reader failed, or ran out of memory.
    #[error("made its reader fail or run out of memory")]
    Crashed,
}

impl Unreadable {
    /// Of an archive whose method is not known.
    pub(crate) fn unknown_packing() -> Self {
        Self::NotRead("packed in an unknown way".to_owned())
    }

    /// Of a kind that is not wanted.
    pub(crate) fn switched_off(kind: &str) -> Self {
        Self::NotRead(format!("{kind} (crawl.attachment_types)"))
    }

    /// Returns the word for machines, as in JSON and metrics.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Scanned => "scanned",
            Self::Password => "password",
            Self::Garbled => "garbled",
            Self::NoText => "no_text",
            Self::Damaged => "damaged",
            Self::NotRead(_) => "not_read",
            Self::TooLarge => "too_large",
            Self::TimedOut => "timed_out",
            Self::Crashed => "crashed",
        }
    }
}

/// Reads a file. Its name decides only between kinds that look alike, such as CSV and plain text.
///
/// # Errors
///
/// Returns an [`Unreadable`] if no honest text can be had.
pub fn read(bytes: &[u8], name: &str) -> Result<Attachment, Unreadable> {
    Budget::default().read(bytes, name, 0)
}

/// Reads a file if it is of one of these kinds by its content, and of its members those that are. No other is parsed.
///
/// # Errors
///
/// As [`read`]; [`Unreadable::NotRead`] for a kind that is not among them.
pub fn read_among(bytes: &[u8], name: &str, wanted: FileTypes) -> Result<Attachment, Unreadable> {
    let mut budget = Budget {
        wanted,
        ..Budget::default()
    };
    budget.read(bytes, name, 0)
}

/// What may still be read of one file and its members.
struct Budget {
    /// Kinds that are read.
    wanted: FileTypes,
    members: usize,
    unpacked: u64,
    text: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            wanted: FileTypes::ALL,
            members: MAX_MEMBERS,
            unpacked: MAX_UNPACKED_BYTES,
            text: MAX_TEXT_BYTES,
        }
    }
}

impl Budget {
    /// Reads a file that is `depth` levels deep in others.
    fn read(&mut self, bytes: &[u8], name: &str, depth: usize) -> Result<Attachment, Unreadable> {
        let file_type = FileType::detect_among(bytes, name, self.wanted)?;
        if !self.wanted.contains(file_type) {
            return Err(Unreadable::switched_off(file_type.as_str()));
        }
        // A reader that panics leaves nothing behind but its budget, of which it has used some.
        let reading = catch_unwind(AssertUnwindSafe(|| match file_type {
            FileType::Pdf => pdf::read(bytes, depth, self),
            FileType::Ofd => ofd::read(bytes, self),
            FileType::Docx | FileType::Doc | FileType::Xlsx | FileType::Xls => {
                office::read(bytes, file_type, depth, self)
            }
            FileType::Pptx | FileType::Ppt => office::read(bytes, file_type, depth, self),
            FileType::Odt | FileType::Ods | FileType::Odp => open_document::read(bytes, self),
            FileType::Epub => open_document::read_book(bytes, self),
            FileType::Rtf => rtf::read(bytes),
            FileType::Wps => works::read(bytes),
            FileType::Csv | FileType::Txt => Ok(text::read(bytes)),
            FileType::Html if mail::is_mail(bytes) => mail::read_page(bytes),
            FileType::Html => Ok(text::read_html(bytes, None)),
            FileType::Eml => mail::read(bytes, depth, self),
            FileType::Msg => mail::read_outlook(bytes, depth, self),
            FileType::Zip => archive::read_zip(bytes, depth, self),
            FileType::Rar => archive::read_rar(bytes, depth, self),
            FileType::SevenZ => archive::read_7z(bytes, depth, self),
        }));
        let draft: Draft = reading.unwrap_or(Err(Unreadable::Crashed))?;
        draft.finish(file_type, name, &mut self.text)
    }
}
