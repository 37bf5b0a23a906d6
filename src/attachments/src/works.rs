//! Microsoft Works 4 to 9, whose files are named `.wps` as those of Kingsoft are.

use std::io::{Cursor, Read as _};

use taojin_extract::page::decode_text;

use crate::draft::Draft;
use crate::{MAX_TEXT_BYTES, Place, Unreadable};

/// Bytes of an entry in the index of parts: size, name, kind, place and length.
const ENTRY_BYTES: usize = 24;

/// Reads the text of a Works document from its stream of parts.
pub(crate) fn read(bytes: &[u8]) -> Result<Draft, Unreadable> {
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).map_err(|_| Unreadable::Damaged)?;
    let mut content = Vec::new();
    for stream in ["/CONTENTS", "/MN0", "/MM"] {
        if let Ok(stream) = file.open_stream(stream) {
            let read = stream.take(MAX_TEXT_BYTES as u64).read_to_end(&mut content);
            read.map_err(|_| Unreadable::Damaged)?;
            break;
        }
    }
    let mut draft = Draft::default();
    let number = |at: usize| {
        let bytes = content.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    for at in 0..content.len().saturating_sub(ENTRY_BYTES) {
        let entry = content.get(at..at + ENTRY_BYTES).unwrap_or_default();
        // Size, then the name twice over: of the part, and of the kind of its data.
        if !entry.starts_with(b"\x18\0TEXT") {
            continue;
        }
        if let (Some(start), Some(length)) = (number(at + 16), number(at + 20)) {
            let text = content
                .get(start..start.saturating_add(length))
                .unwrap_or_default();
            let utf16 = [b"\xff\xfe", text].concat();
            draft.push(Place::Whole, decode_text(&utf16, None).replace('\r', "\n"));
        }
    }
    Ok(draft)
}
