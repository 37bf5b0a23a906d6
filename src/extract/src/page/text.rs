//! Appends text to the arena of a page: raw text arrives in pieces, white space is collapsed, entities are decoded. Text
//! without an entity costs no allocation.

use super::markup::{TextKind, is_space};
use super::open::{InsertionContext, Phase};
use super::tree::Tree;
use super::{Tag, script};

impl Tree {
    /// A piece of text.
    pub(super) fn characters(&mut self, raw: &[u8], kind: TextKind) {
        if self.is_full() {
            return;
        }
        let mut raw = raw;
        if self.text.skip_newline {
            self.text.skip_newline = false;
            raw = raw.strip_prefix(b"\r").unwrap_or(raw);
            raw = raw.strip_prefix(b"\n").unwrap_or(raw);
        }
        if raw.is_empty() || self.text_of_element(raw, kind) {
            return;
        }
        let blank = raw.iter().all(|&b| is_space(b));
        if blank && !self.keeps_space() {
            self.text.owed_space = true;
            if self.phase == Phase::Body && !self.context().is_table() {
                self.reopen_formatting();
            }
            return;
        }
        if !self.makes_room_for_text(blank) {
            return;
        }
        self.text.fostering = self.context().is_table();
        self.reopen_formatting();
        if self.keeps_space() {
            self.append_verbatim(raw, kind);
        } else {
            self.append(raw, kind);
        }
        self.text.fostering = false;
    }

    /// Keeps or drops a text as the element around it asks; false where that asks for nothing of its own.
    fn text_of_element(&mut self, raw: &[u8], kind: TextKind) -> bool {
        match self.current_tag() {
            Tag::STYLE => {
                let open = self
                    .current()
                    .map(|open| self.nodes[open.node as usize].span);
                let media = open.and_then(|span| self.kept_value(span, super::Attr::Media));
                let media = media.map(<[u8]>::to_vec);
                self.hiding.add_sheet(media, raw);
            }
            Tag::IFRAME | Tag::NOEMBED | Tag::NOFRAMES => {}
            Tag::SCRIPT => self.script(raw),
            Tag::NOSCRIPT | Tag::XMP if kind == TextKind::Raw => {
                self.append_verbatim(raw, TextKind::Raw);
            }
            _ if self.is_open(Tag::PLAINTEXT) => {
                self.reopen_formatting();
                self.append_verbatim(raw, TextKind::Raw);
            }
            Tag::TITLE if raw.iter().all(|&b| is_space(b)) => self.text.owed_space = true,
            Tag::TITLE => self.append(raw, kind),
            Tag::TEXTAREA => self.append_verbatim(raw, kind),
            _ => return false,
        }
        true
    }

    /// Keeps JSON-LD and data whole, and of other scripts what they say of the page: when it was published, and URLs.
    fn script(&mut self, raw: &[u8]) {
        let Some(open) = self.current() else {
            return;
        };
        let span = self.nodes[open.node as usize].span;
        let kind = self.kept_value(span, super::Attr::Type);
        let is_ld = |kind: &[u8]| {
            kind.trim_ascii()
                .eq_ignore_ascii_case(b"application/ld+json")
        };
        if kind.is_some_and(is_ld) {
            self.append_verbatim(raw, TextKind::Raw);
            return;
        }
        let is_json = kind.is_some_and(|kind| memchr::memmem::find(kind, b"json").is_some());
        self.scripts.add(open.node, is_json, raw);
        let excerpts = script::read(raw);
        // What is kept of a script shows nothing in the line it is in.
        let shows = self.text.line_shows;
        for excerpt in excerpts.publications {
            self.append_verbatim(excerpt, TextKind::Raw);
        }
        if !excerpts.addresses.is_empty() {
            self.append_verbatim(&excerpts.addresses, TextKind::Raw);
        }
        self.text.line_shows = shows;
    }

    /// Opens the body or ends a group of columns before a text; false where none can be.
    fn makes_room_for_text(&mut self, blank: bool) -> bool {
        if self.phase == Phase::Frameset {
            return false;
        }
        if self.phase < Phase::Body && !self.is_open(Tag::TEMPLATE) {
            if blank {
                return false;
            }
            self.open_body(super::Span::default());
        }
        if self.context() == InsertionContext::ColumnGroup && !blank {
            if self.current_tag() != Tag::COLGROUP {
                return false;
            }
            self.pop();
        }
        true
    }

    fn keeps_space(&self) -> bool {
        self.is_open(Tag::PRE) || self.is_open(Tag::LISTING) || self.is_open(Tag::TEXTAREA)
    }

    /// Goes on with the last node when it is a text of the same parent that has just been written.
    fn open_text(&mut self) -> bool {
        let end = self.arena.len() as u32;
        let Some(parent) = self.insertion_parent() else {
            return false;
        };
        let goes_on = self.nodes.last().is_some_and(|last| {
            last.tag == Tag::TEXT
                && last.parent == parent.node
                && last.span.start + last.span.len == end
        });
        if !goes_on && self.push_text(end).is_none() {
            return false;
        }
        self.text.raw_from.get_or_insert(end);
        true
    }

    fn close_piece(&mut self) {
        let end = self.arena.len() as u32;
        if let Some(last) = self.nodes.last_mut() {
            last.span.len = end - last.span.start;
        }
    }

    fn append_verbatim(&mut self, raw: &[u8], kind: TextKind) {
        if !self.open_text() {
            return;
        }
        self.text.has_entity |= kind == TextKind::Data && memchr::memchr(b'&', raw).is_some();
        self.arena.extend_from_slice(raw);
        self.text.line_shows = raw.last() != Some(&b'\n');
        self.text.owed_space = false;
        self.close_piece();
    }

    fn append(&mut self, raw: &[u8], kind: TextKind) {
        if !self.open_text() {
            return;
        }
        self.text.has_entity |= kind == TextKind::Data && memchr::memchr(b'&', raw).is_some();
        let mut space = self.text.owed_space;
        let mut shows = self.text.line_shows;
        let mut rest = raw;
        while let Some(&first) = rest.first() {
            if is_space(first) {
                space = true;
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            if space && shows {
                self.arena.push(b' ');
            }
            space = false;
            shows = true;
            let len = plain_len(rest);
            let (plain, tail) = rest.split_at(len);
            self.arena.extend_from_slice(plain);
            rest = tail;
        }
        self.text.owed_space = space;
        self.text.line_shows = shows;
        self.close_piece();
    }

    /// The text node is complete: entities can be decoded.
    pub(super) fn finish_text(&mut self) {
        let Some(from) = self.text.raw_from.take() else {
            return;
        };
        if std::mem::take(&mut self.text.has_entity) {
            let from = from as usize;
            let raw = self.arena.get(from..).unwrap_or_default();
            let decoded = match htmlize::unescape_bytes_in(raw, htmlize::Context::General) {
                std::borrow::Cow::Owned(decoded) => decoded,
                std::borrow::Cow::Borrowed(_) => return,
            };
            self.arena.truncate(from);
            match memchr::memchr(b'\r', &decoded) {
                None => self.arena.extend_from_slice(&decoded),
                Some(_) => self.append_without_returns(&decoded),
            }
            self.close_piece();
        }
    }

    /// Appends a text with `&#13;` in it, which shows as a blank: tools that save pages write the ends of lines so.
    fn append_without_returns(&mut self, text: &[u8]) {
        let from = self.arena.len();
        for byte in text {
            let byte = if *byte == b'\r' { b' ' } else { *byte };
            let last = self.arena.get(from..).and_then(<[u8]>::last).copied();
            match (last, byte) {
                (Some(b' ' | b'\n'), b' ') => continue,
                (Some(b' '), b'\n') => drop(self.arena.pop()),
                _ => {}
            }
            self.arena.push(byte);
        }
    }

    /// A block begins or ends, or a line break: what white space was owed is not shown.
    pub(super) fn break_line(&mut self) {
        self.text.owed_space = false;
        self.text.line_shows = false;
    }

    /// An inline element begins or ends: white space before it stands outside (or inside) of it.
    pub(super) fn settle_space(&mut self) {
        if !self.text.owed_space {
            return;
        }
        self.text.owed_space = false;
        if !self.text.line_shows || self.phase != Phase::Body || self.context().is_table() {
            return;
        }
        if self.open_text() {
            self.arena.push(b' ');
            self.close_piece();
            self.finish_text();
        }
    }

    /// Something that is no text but takes its place in the line.
    pub(super) fn show_in_line(&mut self) {
        self.text.line_shows = true;
    }
}

/// Length of the beginning that can be copied as it is: single blanks between other characters are fine.
fn plain_len(bytes: &[u8]) -> usize {
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] <= b' ' && is_space(bytes[at]) {
            let next_shows = bytes.get(at + 1).is_some_and(|&b| !is_space(b));
            if bytes[at] != b' ' || !next_shows {
                return at;
            }
        }
        at += 1;
    }
    at
}
