//! What a reader of one kind of file returns, and how it becomes an [`Attachment`].

use crate::heading::clean_headings;
use crate::honesty::{clean, is_garbage};
use crate::metadata::{choose_title, keep_persons};
use crate::{Attachment, FileType, Heading, Member, Part, Place, Unreadable};

/// A file as its reader found it: nothing is judged yet.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) declared_title: Option<String>,
    /// What the file may show as its title, the likeliest first.
    pub(crate) headings: Vec<String>,
    /// The headings of its text.
    pub(crate) sections: Vec<Heading>,
    pub(crate) authors: Vec<String>,
    pub(crate) created: Option<i64>,
    pub(crate) modified: Option<i64>,
    pub(crate) pages: Option<u32>,
    pub(crate) parts: Vec<Part>,
    pub(crate) members: Vec<Member>,
    pub(crate) has_pictures: bool,
    pub(crate) is_cut: bool,
}

impl Draft {
    /// Adds text. Of a sheet, columns before the first that has something are left out.
    pub(crate) fn push(&mut self, place: Place, mut text: String) {
        if matches!(place, Place::Sheet(_)) {
            let indent = |line: &str| line.len() - line.trim_start_matches('\t').len();
            let rows = || text.lines().filter(|line| !line.trim().is_empty());
            let margin = rows().map(indent).min().unwrap_or(0);
            if margin > 0 {
                let rows: Vec<&str> = rows().filter_map(|row| row.get(margin..)).collect();
                text = rows.join("\n");
            }
        }
        self.parts.push(Part { place, text });
    }

    /// Cleans and judges the text, and takes it from what is left of `text_bytes`.
    pub(crate) fn finish(
        self,
        file_type: FileType,
        name: &str,
        text_bytes: &mut usize,
    ) -> Result<Attachment, Unreadable> {
        let mut parts: Vec<Part> = Vec::new();
        let (mut garbled_pages, mut is_cut) = (0, self.is_cut);
        for part in self.parts {
            // Cleaning makes it shorter, but hardly by half.
            let most = part.text.floor_char_boundary(2 * *text_bytes);
            is_cut |= most < part.text.len();
            let mut text = clean(part.text.get(..most).unwrap_or_default());
            if is_garbage(&text) {
                garbled_pages += 1;
                continue;
            }
            if text.len() > *text_bytes {
                text.truncate(text.floor_char_boundary(*text_bytes));
                is_cut = true;
            }
            *text_bytes -= text.len();
            if !text.is_empty() {
                parts.push(Part { text, ..part });
            }
        }
        if parts.is_empty() && self.members.is_empty() {
            return Err(match (garbled_pages, self.has_pictures) {
                (1.., _) => Unreadable::Garbled,
                (_, true) => Unreadable::Scanned,
                _ => Unreadable::NoText,
            });
        }
        let text = parts.first().map_or("", |part| &*part.text);
        Ok(Attachment {
            file_type,
            title: choose_title(self.declared_title, &self.headings, text, name),
            authors: keep_persons(&self.authors),
            created: self.created,
            modified: self.modified,
            pages: self.pages,
            parts,
            headings: clean_headings(self.sections),
            members: self.members,
            garbled_pages,
            is_cut,
        })
    }
}
