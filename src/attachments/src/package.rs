//! A ZIP archive in memory. Names are found whatever their case and whichever slash they use; what is unpacked counts against the
//! budget of the file.

use std::io::{Cursor, Read as _};

use encoding_rs::GBK;
use taojin_extract::page::decode_text;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::honesty::is_garbage;
use crate::{Budget, Unreadable};

/// An open archive.
pub(crate) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// Names for people, in the order of the archive.
    names: Vec<String>,
}

impl<'a> Package<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| unreadable(&error))?;
        let names = archive.file_names_raw().map(decode_name).collect();
        Ok(Self { archive, names })
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn contains(&self, path: &str) -> bool {
        self.find(path).is_some()
    }

    fn find(&self, path: &str) -> Option<usize> {
        let path = path.trim_start_matches('/');
        let is_path = |name: &String| name.trim_start_matches('/').eq_ignore_ascii_case(path);
        self.names.iter().position(is_path)
    }

    /// Unpacks a member by its path.
    pub(crate) fn read(&mut self, path: &str, budget: &mut Budget) -> Result<Vec<u8>, Unreadable> {
        let index = self.find(path).ok_or(Unreadable::Damaged)?;
        self.read_at(index, budget)
    }

    /// Unpacks a member by its number in the archive.
    pub(crate) fn read_at(
        &mut self,
        index: usize,
        budget: &mut Budget,
    ) -> Result<Vec<u8>, Unreadable> {
        let member = self
            .archive
            .by_index(index)
            .map_err(|error| unreadable(&error))?;
        let mut bytes = Vec::new();
        // What comes before a fault may still be readable.
        let read = member.take(budget.unpacked + 1).read_to_end(&mut bytes);
        budget.take_unpacked(bytes.len())?;
        if read.is_err() && bytes.is_empty() {
            return Err(Unreadable::Damaged);
        }
        Ok(bytes)
    }

    /// Whether a member is a folder.
    pub(crate) fn is_folder(&self, index: usize) -> bool {
        self.names
            .get(index)
            .is_some_and(|name| name.ends_with('/'))
    }
}

impl Budget {
    /// Takes what a member unpacked to from what may be unpacked.
    pub(crate) fn take_unpacked(&mut self, bytes: usize) -> Result<(), Unreadable> {
        let left = self.unpacked.checked_sub(bytes as u64);
        self.unpacked = left.unwrap_or_default();
        left.map(|_| ()).ok_or(Unreadable::TooLarge)
    }
}

/// Decodes a name. UTF-8 is seldom flagged and GBK never, and a few bytes tell no statistics.
pub(crate) fn decode_name(bytes: &[u8]) -> String {
    let name = match (
        std::str::from_utf8(bytes),
        GBK.decode_without_bom_handling_and_without_replacement(bytes),
    ) {
        (Ok(name), _) => name.to_owned(),
        (_, Some(name)) if !is_garbage(&name) => name.into_owned(),
        _ => decode_text(bytes, None),
    };
    name.replace('\\', "/")
}

/// Resolves a path that a file at `base` names.
pub(crate) fn resolve(base: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = base.split('/').collect();
    parts.pop();
    for part in path.split(['/', '\\']) {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn unreadable(error: &ZipError) -> Unreadable {
    match error {
        ZipError::InvalidPassword | ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
            Unreadable::Password
        }
        ZipError::UnsupportedArchive(_) => Unreadable::unknown_packing(),
        _ => Unreadable::Damaged,
    }
}
