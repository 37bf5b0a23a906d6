//! Takes the sections of CDATA off a list of records in XML (`<datastore>`), which hold markup: for a reader of HTML each
//! is a comment up to its first `>`, and the first tag of each record would be lost. All other texts pass as they are.

use std::borrow::Cow;

const OPEN: &str = "<![CDATA[";
const CLOSE: &str = "]]>";
const ROOT: &str = "<datastore";
/// Bytes in which the root begins, behind the declaration of XML.
const PROLOG: usize = 300;

/// Reads the text of a body piece by piece.
#[derive(Debug, Default)]
pub(super) struct RecordReader {
    /// Whether it is a list of records; unknown before the first piece.
    is_list: Option<bool>,
    /// The end of the last piece, where it may be the begin of a sign.
    held: String,
}

impl RecordReader {
    /// The next piece without the signs of CDATA. What may be half a sign comes with the next piece; at the end of the body
    /// that is no text that anybody reads.
    pub(super) fn unwrap<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let is_list = *self.is_list.get_or_insert_with(|| begins_list(text));
        if !is_list {
            return Cow::Borrowed(text);
        }
        let mut whole = std::mem::take(&mut self.held);
        whole.push_str(text);
        let mut out = whole.replace(OPEN, "").replace(CLOSE, "");
        let half = (1..OPEN.len()).rev().find(|len| {
            let is_half = |sign: &str| sign.get(..*len).is_some_and(|half| out.ends_with(half));
            is_half(OPEN) || (*len < CLOSE.len() && is_half(CLOSE))
        });
        self.held = out.split_off(out.len() - half.unwrap_or(0));
        Cow::Owned(out)
    }
}

fn begins_list(text: &str) -> bool {
    let text = text.trim_start_matches('\u{FEFF}').trim_start();
    let begin = text.get(..text.floor_char_boundary(PROLOG));
    let begin = begin.unwrap_or_default();
    begin.starts_with(ROOT) || (begin.starts_with("<?xml") && begin.contains(ROOT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, piece: usize) -> String {
        let mut reader = RecordReader::default();
        let (begin, rest) = text.split_at(text.len().min(40));
        let mut out = reader.unwrap(begin).into_owned();
        let chars: Vec<char> = rest.chars().collect();
        for piece in chars.chunks(piece) {
            out.push_str(&reader.unwrap(&piece.iter().collect::<String>()));
        }
        out
    }

    #[test]
    fn records_are_unwrapped() {
        let records = "<?xml version='1.0'?>\n<datastore><record><![CDATA[<a href=/1>水价]]></record><record><![CDATA[a < b]]></record></datastore>";
        let want = "<?xml version='1.0'?>\n<datastore><record><a href=/1>水价</record><record>a < b</record></datastore>";
        for piece in 1..30 {
            assert_eq!(read(records, piece), want, "pieces of {piece}");
        }
    }

    #[test]
    fn other_texts_pass() {
        for text in [
            "<html><p><![CDATA[a]]></p>",
            "<?xml version='1.0'?><rss><![CDATA[a]]></rss>",
            "a ]]> b <",
            "",
        ] {
            assert_eq!(read(text, 3), text);
        }
    }
}
