//! Mail: RFC 5322, folders of Foxmail, and messages of Outlook.

use std::io::{Cursor, Read as _};

use mail_parser::{Address, Encoding, Message, MessageParser, MimeHeaders as _, PartType};
use taojin_extract::page::decode_text;

use crate::draft::Draft;
use crate::metadata::sane_time;
use crate::{Budget, MAX_DEPTH, Member, Place, Unreadable, text};

/// What a folder of Foxmail has before each message.
const FOXMAIL: &[u8] = b"\x10\x10\x10\x10\x10\x10\x10\x11\x11\x11\x11\x11\x11S";
/// Headers of which a mail has two or more in its first lines.
const HEADERS: &[&str] = &[
    "from",
    "to",
    "subject",
    "date",
    "message-id",
    "mime-version",
    "received",
    "return-path",
    "content-type",
    "delivered-to",
    "x-mailer",
    "reply-to",
    "cc",
    "sender",
];
/// Lines in which they are looked for.
const HEADER_LINES: usize = 20;

/// Whether a file begins as a mail does.
pub(crate) fn is_mail(bytes: &[u8]) -> bool {
    if bytes.starts_with(FOXMAIL) {
        return true;
    }
    let mut found = 0;
    for line in bytes.split(|byte| *byte == b'\n').take(HEADER_LINES) {
        let mut name = line.split(|byte| *byte == b':');
        let name = name
            .next()
            .filter(|_| name.next().is_some())
            .unwrap_or_default();
        let is_known = HEADERS
            .iter()
            .any(|header| name.eq_ignore_ascii_case(header.as_bytes()));
        let is_other = name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
        let is_folded =
            line.starts_with(b" ") || line.starts_with(b"\t") || line.starts_with(b"From ");
        found += usize::from(is_known);
        if line.trim_ascii().is_empty() || !(is_folded || (is_other && !name.is_empty())) {
            break;
        }
    }
    found > 1
}

/// Whether a mail is a page that was saved with its pictures (MHTML): it has parts that belong together, and nobody gets it.
pub(crate) fn is_page(bytes: &[u8]) -> bool {
    let Some(message) = MessageParser::default().parse_headers(bytes) else {
        return false;
    };
    let kind = message.content_type();
    let is_related = kind.is_some_and(|kind| kind.subtype() == Some("related"));
    is_related && message.to().is_none() && message.cc().is_none()
}

/// Reads a page that was saved as a mail.
pub(crate) fn read_page(bytes: &[u8]) -> Result<Draft, Unreadable> {
    let message = MessageParser::default()
        .parse(bytes)
        .ok_or(Unreadable::Damaged)?;
    let mut draft = Draft::default();
    for index in 0..message.html_body_count() {
        let html = message.body_html(index).unwrap_or_default();
        let page = text::read_html(html.as_bytes(), Some("utf-8"));
        draft.declared_title = draft.declared_title.or(page.declared_title);
        draft.parts.extend(page.parts);
    }
    Ok(draft)
}

/// Reads a message, or the messages of a folder as members.
pub(crate) fn read(bytes: &[u8], depth: usize, budget: &mut Budget) -> Result<Draft, Unreadable> {
    if !bytes.starts_with(FOXMAIL) {
        return read_message(bytes, depth, budget);
    }
    let mut starts: Vec<usize> = Vec::new();
    for at in memchr::memmem::find_iter(bytes, FOXMAIL).take(crate::MAX_MEMBERS + 1) {
        starts.push(at);
    }
    starts.push(bytes.len());
    let messages = starts.windows(2).map(|ends| {
        bytes
            .get(ends[0] + FOXMAIL.len()..ends[1])
            .unwrap_or_default()
            .trim_ascii_start()
    });
    let messages: Vec<&[u8]> = messages.collect();
    if let [message] = *messages {
        return read_message(message, depth, budget);
    }
    let mut draft = Draft::default();
    for (number, message) in (1..).zip(messages) {
        push_member(&mut draft, format!("{number}.eml"), message, depth, budget);
    }
    Ok(draft)
}

fn read_message(bytes: &[u8], depth: usize, budget: &mut Budget) -> Result<Draft, Unreadable> {
    let message = MessageParser::default()
        .parse(bytes)
        .ok_or(Unreadable::Damaged)?;
    let mut draft = Draft {
        declared_title: message.subject().map(str::to_owned),
        authors: message.from().map(senders).unwrap_or_default(),
        created: message
            .date()
            .and_then(|date| sane_time(date.to_timestamp())),
        ..Draft::default()
    };
    let mut text = message.subject().unwrap_or_default().to_owned();
    for index in 0..message.text_body_count() {
        text.push('\n');
        text.push_str(&body(&message, index));
    }
    draft.push(Place::Whole, text);
    for part in message.attachments() {
        let name = part.attachment_name().unwrap_or("mail.eml").to_owned();
        let content = match &part.body {
            PartType::Message(message) => message.raw_message(),
            PartType::Multipart(_) => continue,
            _ => part.contents(),
        };
        push_member(&mut draft, name, content, depth, budget);
    }
    Ok(draft)
}

/// Text of a body. The charset of bytes that are not encoded is found in them: what is declared is often wrong.
fn body(message: &Message<'_>, index: usize) -> String {
    let position = u32::try_from(index).unwrap_or(u32::MAX);
    let declared = message.body_text(index).unwrap_or_default();
    let Some(part) = message.text_part(position) else {
        return declared.into_owned();
    };
    let raw = message
        .raw_message()
        .get(part.raw_body_offset() as usize..part.raw_end_offset() as usize);
    match (&part.body, part.encoding, raw) {
        (PartType::Text(_), Encoding::None, Some(raw)) if !raw.is_ascii() => {
            let charset = part
                .content_type()
                .and_then(|content| content.attribute("charset"));
            decode_text(raw, charset)
        }
        _ => declared.into_owned(),
    }
}

fn senders(address: &Address<'_>) -> Vec<String> {
    let names = address
        .iter()
        .filter_map(|sender| sender.name.as_deref().or(sender.address.as_deref()));
    names.map(str::to_owned).collect()
}

/// Reads a member, unless there are too many or it is too deep.
pub(crate) fn push_member(
    draft: &mut Draft,
    name: String,
    bytes: &[u8],
    depth: usize,
    budget: &mut Budget,
) {
    if budget.members == 0 {
        draft.is_cut = true;
        return;
    }
    budget.members -= 1;
    let content = if depth < MAX_DEPTH {
        budget.read(bytes, &name, depth + 1)
    } else {
        Err(Unreadable::TooLarge)
    };
    draft.members.push(Member { name, content });
}

/// Reads a message of Outlook, whose properties are streams of a compound file.
pub(crate) fn read_outlook(
    bytes: &[u8],
    depth: usize,
    budget: &mut Budget,
) -> Result<Draft, Unreadable> {
    let mut file = Properties {
        file: cfb::CompoundFile::open(Cursor::new(bytes)).map_err(|_| Unreadable::Damaged)?,
    };
    let subject = file.text("/", "0037", budget)?;
    let body = file.text("/", "1000", budget)?;
    let mut draft = Draft {
        declared_title: Some(subject.clone()),
        authors: vec![file.text("/", "0C1A", budget)?],
        ..Draft::default()
    };
    draft.push(Place::Whole, format!("{subject}\n{body}"));
    let folders = file
        .file
        .read_root_storage()
        .map(|entry| entry.name().to_owned());
    let attached: Vec<String> = folders
        .filter(|name| name.starts_with("__attach_version1.0_"))
        .collect();
    for folder in attached {
        let folder = format!("/{folder}/");
        let long = file.text(&folder, "3707", budget)?;
        let name = if long.is_empty() {
            file.text(&folder, "3704", budget)?
        } else {
            long
        };
        let content = file.bytes(&format!("{folder}__substg1.0_37010102"), budget)?;
        push_member(&mut draft, name, &content, depth, budget);
    }
    Ok(draft)
}

struct Properties<'a> {
    file: cfb::CompoundFile<Cursor<&'a [u8]>>,
}

impl Properties<'_> {
    /// Returns a text property by its number: in UTF-16, else in an unknown code page.
    fn text(
        &mut self,
        folder: &str,
        number: &str,
        budget: &mut Budget,
    ) -> Result<String, Unreadable> {
        let utf16 = self.bytes(&format!("{folder}__substg1.0_{number}001F"), budget)?;
        if !utf16.is_empty() {
            return Ok(decode_text(&[b"\xff\xfe", &*utf16].concat(), None));
        }
        let bytes = self.bytes(&format!("{folder}__substg1.0_{number}001E"), budget)?;
        Ok(decode_text(&bytes, None))
    }

    /// Returns a stream; one that is missing is empty.
    fn bytes(&mut self, path: &str, budget: &mut Budget) -> Result<Vec<u8>, Unreadable> {
        let mut bytes = Vec::new();
        if let Ok(stream) = self.file.open_stream(path) {
            let read = stream.take(budget.unpacked + 1).read_to_end(&mut bytes);
            read.map_err(|_| Unreadable::Damaged)?;
        }
        budget.take_unpacked(bytes.len())?;
        Ok(bytes)
    }
}
