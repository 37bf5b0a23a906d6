//! Recognises files by their content: first bytes, members of ZIP archives, streams of compound files. Names decide only between
//! kinds of the same bytes.

use std::fmt;
use std::io::Cursor;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use taojin_extract::page;

use crate::Unreadable;
use crate::mail;
use crate::opc::{OfficePackage, root_element};
use crate::package::Package;

/// A kind of file that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileType {
    /// Portable Document Format
    Pdf,
    /// 版式文档, GB/T 33190
    Ofd,
    /// Word, Office Open XML
    Docx,
    /// Word 6 to 2003
    Doc,
    /// Excel, Office Open XML
    Xlsx,
    /// Excel up to 2003
    Xls,
    /// PowerPoint, Office Open XML
    Pptx,
    /// PowerPoint 97 to 2003
    Ppt,
    /// OpenDocument text
    Odt,
    /// OpenDocument spreadsheet
    Ods,
    /// OpenDocument presentation
    Odp,
    /// Rich Text Format
    Rtf,
    /// Microsoft Works. The files of Kingsoft's WPS Office are `Docx` or `Doc` by their content
    Wps,
    /// Book
    Epub,
    /// Values divided by commas or tabs
    Csv,
    /// Plain text
    Txt,
    /// A page saved under another name, as programs export tables to "Excel"
    Html,
    /// Mail, or a folder of Foxmail
    Eml,
    /// Mail of Outlook
    Msg,
    /// Archive
    Zip,
    /// Archive
    Rar,
    /// Archive
    #[serde(rename = "7z")]
    SevenZ,
}

/// First bytes of compound files: Office before 2007, Outlook.
const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// First bytes of ZIP archives and what is packed as one; the second of empty ones.
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
const RAR: &[u8] = b"Rar!\x1a\x07";
/// What pages begin with, in lower case.
const PAGE_TAGS: &[&str] = &[
    "<!doctype html",
    "<html",
    "<head",
    "<body",
    "<table",
    "<meta",
    "<title",
    "<style",
    "<script",
    "<div",
    "<p>",
    "<p ",
    "<center",
    "<font",
    "<h1",
    "<h2",
    "<span",
];
const SEVEN_Z: &[u8] = b"7z\xbc\xaf\x27\x1c";
const PDF: &[u8] = b"%PDF-";
const RTF: &[u8] = b"{\\rtf";
/// Kinds that are compound files.
const COMPOUNDS: [FileType; 5] = [
    FileType::Doc,
    FileType::Xls,
    FileType::Ppt,
    FileType::Msg,
    FileType::Wps,
];
/// Kinds that are ZIP archives.
const PACKAGES: [FileType; 9] = [
    FileType::Ofd,
    FileType::Docx,
    FileType::Xlsx,
    FileType::Pptx,
    FileType::Odt,
    FileType::Ods,
    FileType::Odp,
    FileType::Epub,
    FileType::Zip,
];
/// A PDF may have other bytes before its own; readers search so many.
const PDF_HEAD_BYTES: usize = 1024;
/// Lines that must have the same number of commas or tabs in a table without a name.
const TABLE_LINES: usize = 5;

impl FileType {
    /// Every kind with its usual suffix, in the order of their declaration.
    pub const ALL: [(Self, &'static str); 22] = [
        (Self::Pdf, "pdf"),
        (Self::Ofd, "ofd"),
        (Self::Docx, "docx"),
        (Self::Doc, "doc"),
        (Self::Xlsx, "xlsx"),
        (Self::Xls, "xls"),
        (Self::Pptx, "pptx"),
        (Self::Ppt, "ppt"),
        (Self::Odt, "odt"),
        (Self::Ods, "ods"),
        (Self::Odp, "odp"),
        (Self::Rtf, "rtf"),
        (Self::Wps, "wps"),
        (Self::Epub, "epub"),
        (Self::Csv, "csv"),
        (Self::Txt, "txt"),
        (Self::Html, "html"),
        (Self::Eml, "eml"),
        (Self::Msg, "msg"),
        (Self::Zip, "zip"),
        (Self::Rar, "rar"),
        (Self::SevenZ, "7z"),
    ];

    /// Returns its usual suffix, as in `filetype:pdf`.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Whether the first bytes of a body are those of a file and of no page. A file of text has none that tell.
    pub fn is_begun_by(head: &[u8]) -> bool {
        let begins = [COMPOUND, RAR, SEVEN_Z, PDF, RTF].into_iter().chain(ZIP);
        begins.into_iter().any(|begin| head.starts_with(begin))
    }

    /// Recognises a file.
    ///
    /// # Errors
    ///
    /// Returns [`Unreadable::NotRead`] for other kinds, [`Unreadable::Damaged`] if not even its container can be read.
    pub fn detect(bytes: &[u8], name: &str) -> Result<Self, Unreadable> {
        Self::detect_among(bytes, name, FileTypes::ALL)
    }

    /// Recognises a file if it may be of one of these kinds: a container that can hold none of them is not opened.
    pub(crate) fn detect_among(
        bytes: &[u8],
        name: &str,
        wanted: FileTypes,
    ) -> Result<Self, Unreadable> {
        let head = bytes.get(..PDF_HEAD_BYTES).unwrap_or(bytes);
        if bytes.starts_with(COMPOUND) {
            if !COMPOUNDS.into_iter().any(|kind| wanted.contains(kind)) {
                return Err(Unreadable::switched_off("a compound file"));
            }
            return detect_compound(bytes);
        }
        if ZIP.iter().any(|begin| bytes.starts_with(begin)) {
            if !PACKAGES.into_iter().any(|kind| wanted.contains(kind)) {
                return Err(Unreadable::switched_off("a ZIP archive"));
            }
            return detect_package(bytes);
        }
        if bytes.starts_with(RAR) {
            return Ok(Self::Rar);
        }
        if bytes.starts_with(SEVEN_Z) {
            return Ok(Self::SevenZ);
        }
        if head.windows(PDF.len()).any(|window| window == PDF) {
            return Ok(Self::Pdf);
        }
        if bytes.trim_ascii_start().starts_with(RTF) {
            return Ok(Self::Rtf);
        }
        if mail::is_mail(bytes) {
            return Ok(if mail::is_page(bytes) {
                Self::Html
            } else {
                Self::Eml
            });
        }
        if let Some(format) = page::detect_foreign_format(bytes) {
            return Err(Unreadable::NotRead(format.to_owned()));
        }
        detect_text(&page::decode_text(head, None), name)
    }
}

/// Kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileTypes(u32);

impl FileTypes {
    /// Every kind.
    pub const ALL: Self = Self((1 << FileType::ALL.len()) - 1);

    /// Whether a kind is among them.
    pub fn contains(self, file_type: FileType) -> bool {
        self.0 & Self::bit(file_type) != 0
    }

    fn bit(file_type: FileType) -> u32 {
        1 << file_type as u32
    }
}

impl FromIterator<FileType> for FileTypes {
    fn from_iter<I: IntoIterator<Item = FileType>>(kinds: I) -> Self {
        let bits = kinds.into_iter().map(Self::bit);
        Self(bits.fold(0, |all, bit| all | bit))
    }
}

/// Their usual suffixes with commas between.
impl fmt::Display for FileTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = FileType::ALL.into_iter();
        let among = kinds.filter(|(kind, _)| self.contains(*kind));
        let suffixes: Vec<&str> = among.map(|(_, suffix)| suffix).collect();
        f.write_str(&suffixes.join(","))
    }
}

impl FromStr for FileTypes {
    type Err = String;

    fn from_str(list: &str) -> Result<Self, String> {
        let suffixes = list.split(',').filter(|suffix| !suffix.is_empty());
        suffixes.map(FileType::from_str).collect()
    }
}

/// What a ZIP archive is, by its members.
fn detect_package(bytes: &[u8]) -> Result<FileType, Unreadable> {
    let mut package = Package::open(bytes)?;
    let mut budget = crate::Budget::default();
    if package.contains("ofd.xml") {
        return Ok(FileType::Ofd);
    }
    let mimetype = package.read("mimetype", &mut budget).unwrap_or_default();
    let mimetype = String::from_utf8_lossy(&mimetype);
    for (part, file_type) in [
        ("epub", FileType::Epub),
        ("opendocument.text", FileType::Odt),
        ("opendocument.spreadsheet", FileType::Ods),
        ("opendocument.presentation", FileType::Odp),
    ] {
        if mimetype.contains(part) {
            return Ok(file_type);
        }
    }
    if package.contains("meta-inf/container.xml") {
        return Ok(FileType::Epub);
    }
    let package = OfficePackage::open(package, &mut budget);
    let office = package.map_or(Ok(None), |mut package| package.file_type(&mut budget))?;
    Ok(office.unwrap_or(FileType::Zip))
}

/// What a compound file is, by its streams.
fn detect_compound(bytes: &[u8]) -> Result<FileType, Unreadable> {
    let file = cfb::CompoundFile::open(Cursor::new(bytes)).map_err(|_| Unreadable::Damaged)?;
    if file.exists("/EncryptedPackage") {
        return Err(Unreadable::Password);
    }
    for (stream, file_type) in [
        ("/WordDocument", FileType::Doc),
        ("/Workbook", FileType::Xls),
        ("/Book", FileType::Xls),
        ("/PowerPoint Document", FileType::Ppt),
        ("/__properties_version1.0", FileType::Msg),
        ("/MatOST", FileType::Wps),
        ("/CONTENTS", FileType::Wps),
    ] {
        if file.exists(stream) {
            return Ok(file_type);
        }
    }
    let format = "a compound file of an unknown program";
    Err(Unreadable::NotRead(format.to_owned()))
}

/// What an XML file of an office is, by its first element. `start`: the beginning of the file in lower case.
fn detect_xml(start: &str) -> Option<FileType> {
    let root = root_element(start.as_bytes());
    Some(match &*root {
        "workbook" if start.contains("office:spreadsheet") || start.contains("excel.sheet") => {
            FileType::Xls
        }
        "worddocument" => FileType::Doc,
        // The part that all others hang from may begin after the head; Word writes such files most.
        "package" if start.contains("spreadsheetml") => FileType::Xlsx,
        "package" if start.contains("presentationml") => FileType::Pptx,
        "package" if start.contains("pkg:") || start.contains("2006/xmlpackage") => FileType::Docx,
        "document" if start.contains("opendocument.spreadsheet") => FileType::Ods,
        "document" if start.contains("opendocument.presentation") => FileType::Odp,
        "document" if start.contains("opendocument.text") => FileType::Odt,
        _ => return None,
    })
}

/// What a text is, by its beginning and, if both are possible, its name.
fn detect_text(head: &str, name: &str) -> Result<FileType, Unreadable> {
    let start = head.trim_start().to_lowercase();
    if start.starts_with('<') {
        if let Some(file_type) = detect_xml(&start) {
            return Ok(file_type);
        }
        if PAGE_TAGS.iter().any(|tag| start.starts_with(tag)) || start.contains("<html") {
            return Ok(FileType::Html);
        }
        if start.starts_with("<?xml") {
            return Err(Unreadable::NotRead("XML data".to_owned()));
        }
    }
    let suffix = name.rsplit('.').next().unwrap_or_default();
    if suffix.eq_ignore_ascii_case("txt") {
        return Ok(FileType::Txt);
    }
    // The last line may be cut off.
    let mut lines: Vec<&str> = head
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines.truncate(TABLE_LINES.min(lines.len().saturating_sub(1)));
    let is_table = |mark: char| {
        let counts: Vec<usize> = lines
            .iter()
            .map(|line| line.matches(mark).count())
            .collect();
        counts.len() > 1 && counts.iter().all(|count| *count > 0 && *count == counts[0])
    };
    let is_csv = suffix.eq_ignore_ascii_case("csv") || is_table(',') || is_table('\t');
    Ok(if is_csv { FileType::Csv } else { FileType::Txt })
}

impl FromStr for FileType {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        let found = all.find_map(|(file_type, suffix)| (suffix == word).then_some(file_type));
        found.ok_or_else(|| format!("`{word}` is not a kind of file that is read"))
    }
}
