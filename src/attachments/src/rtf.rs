//! Rich Text Format: groups, control words, and characters in the code page of their font.

use encoding_rs::{Encoding, WINDOWS_1252};

use crate::draft::Draft;
use crate::{Place, Unreadable};

/// Groups in each other; deeper ones are skipped.
const MAX_DEPTH: usize = 500;
/// Fonts with a charset of their own.
const MAX_FONTS: usize = 1000;
/// Groups that are not text of the document.
const HIDDEN: &[&str] = &[
    "fonttbl",
    "colortbl",
    "stylesheet",
    "pict",
    "object",
    "themedata",
    "datastore",
    "listtable",
    "listoverridetable",
    "rsidtbl",
    "generator",
    "filetbl",
    "revtbl",
    "xmlnstbl",
    "latentstyles",
    "fldinst",
    "header",
    "footer",
    "info",
    "bkmkstart",
    "bkmkend",
    // Other forms of a shape, a picture and a table in a cell.
    "shprslt",
    "nonshppict",
    "nonesttables",
];

/// What holds inside of a group.
#[derive(Clone)]
struct Group {
    is_hidden: bool,
    encoding: &'static Encoding,
    /// Characters after a `\u` that repeat it for old programs.
    repeats: usize,
    is_fonts: bool,
    is_title: bool,
    /// Characters that Word does not show: hidden ones, and deleted ones of a change that is not settled.
    is_vanished: bool,
    is_deleted: bool,
    is_in_table: bool,
}

/// Reads the text, and the title and author of its information group.
pub(crate) fn read(bytes: &[u8]) -> Result<Draft, Unreadable> {
    let mut reader = RtfReader {
        group: Group {
            is_hidden: false,
            encoding: WINDOWS_1252,
            repeats: 1,
            is_fonts: false,
            is_title: false,
            is_vanished: false,
            is_deleted: false,
            is_in_table: false,
        },
        groups: Vec::new(),
        fonts: Vec::new(),
        font: 0,
        skip: 0,
        raw: Vec::new(),
        high_surrogate: None,
        text: String::new(),
        title: String::new(),
    };
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        rest = match first {
            b'{' => {
                reader.flush();
                reader.open();
                tail
            }
            b'}' => {
                reader.flush();
                if let Some(group) = reader.groups.pop() {
                    reader.group = group;
                }
                tail
            }
            b'\\' => reader.control(tail),
            b'\r' | b'\n' => tail,
            byte => {
                reader.push_byte(*byte);
                tail
            }
        };
    }
    reader.flush();
    let mut draft = Draft {
        declared_title: Some(reader.title).filter(|title| !title.is_empty()),
        ..Draft::default()
    };
    draft.push(Place::Whole, reader.text);
    Ok(draft)
}

struct RtfReader {
    group: Group,
    groups: Vec<Group>,
    /// Charset of each font by its number.
    fonts: Vec<(i32, &'static Encoding)>,
    /// The font that is described in the table of fonts.
    font: i32,
    /// Characters to skip after a `\u`.
    skip: usize,
    /// Bytes that are not decoded yet: a character may have two.
    raw: Vec<u8>,
    high_surrogate: Option<u16>,
    text: String,
    title: String,
}

impl RtfReader {
    fn open(&mut self) {
        self.groups.push(self.group.clone());
        self.group.is_hidden |= self.groups.len() > MAX_DEPTH;
    }

    fn push_byte(&mut self, byte: u8) {
        if self.skip > 0 {
            self.skip -= 1;
        } else {
            self.raw.push(byte);
        }
    }

    fn flush(&mut self) {
        let raw = std::mem::take(&mut self.raw);
        if !raw.is_empty() {
            let text = self.group.encoding.decode_without_bom_handling(&raw).0;
            self.push(&text);
        }
    }

    fn is_at_paragraph_start(&self) -> bool {
        self.text.is_empty() || self.text.ends_with('\n')
    }

    fn push(&mut self, text: &str) {
        if self.group.is_title {
            self.title.push_str(text);
        } else if !(self.group.is_hidden || self.group.is_vanished || self.group.is_deleted) {
            self.text.push_str(text);
        }
    }

    /// Takes the control word or sign at the beginning of `rest`; returns what is behind it.
    fn control<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        let letters = rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        let (word, mut tail) = rest.split_at(letters);
        if word.is_empty() {
            return self.sign(rest);
        }
        let digits = tail
            .iter()
            .enumerate()
            .take_while(|(i, byte)| byte.is_ascii_digit() || (*i == 0 && **byte == b'-'))
            .count();
        let (digits, after) = tail.split_at(digits);
        tail = after.strip_prefix(b" ").unwrap_or(after);
        let number = std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| digits.parse::<i32>().ok());
        let word = std::str::from_utf8(word).unwrap_or_default();
        if word == "bin" {
            return tail
                .get(usize::try_from(number.unwrap_or_default()).unwrap_or_default()..)
                .unwrap_or_default();
        }
        self.flush();
        self.word(word, number);
        tail
    }

    fn sign<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        match rest {
            [b'\'', high, low, tail @ ..] => {
                let digits = [*high, *low];
                let byte = std::str::from_utf8(&digits)
                    .ok()
                    .and_then(|digits| u8::from_str_radix(digits, 16).ok());
                if let Some(byte) = byte {
                    self.push_byte(byte);
                }
                tail
            }
            [b'*', tail @ ..] => {
                self.group.is_hidden = true;
                tail
            }
            [sign @ (b'\\' | b'{' | b'}'), tail @ ..] => {
                self.push_byte(*sign);
                tail
            }
            [sign, tail @ ..] => {
                self.flush();
                match sign {
                    b'~' => self.push(" "),
                    b'\n' | b'\r' => self.push("\n"),
                    _ => {}
                }
                tail
            }
            [] => rest,
        }
    }

    fn word(&mut self, word: &str, number: Option<i32>) {
        match (word, number) {
            ("u", Some(number)) => {
                // Negative above 32767.
                let unit = (number & 0xffff) as u16;
                let units = [self.high_surrogate.take().unwrap_or(unit), unit];
                let pair = if units[0] == unit {
                    &units[1..]
                } else {
                    &units[..]
                };
                match unit {
                    0xd800..=0xdbff => self.high_surrogate = Some(unit),
                    _ => self.push(&String::from_utf16_lossy(pair)),
                }
                self.skip = self.group.repeats;
            }
            ("uc", Some(number)) => {
                self.group.repeats = usize::try_from(number).unwrap_or_default().min(8)
            }
            ("ansicpg", Some(number)) => self.group.encoding = code_page(number),
            ("f", Some(number)) if self.group.is_fonts => self.font = number,
            ("f", Some(number)) => {
                if let Some((_, encoding)) = self.fonts.iter().find(|(font, _)| *font == number) {
                    self.group.encoding = encoding;
                }
            }
            ("fcharset", Some(number)) if self.fonts.len() < MAX_FONTS => {
                if let Some(encoding) = charset(number) {
                    self.fonts.push((self.font, encoding));
                }
            }
            ("par" | "line" | "row" | "nestrow" | "sect" | "page", _) => self.push("\n"),
            ("cell" | "nestcell", _) => self.push("\t"),
            // At the beginning of a paragraph it indents.
            ("tab", _) if self.group.is_in_table || !self.is_at_paragraph_start() => {
                self.push("\t")
            }
            ("intbl", _) => self.group.is_in_table = true,
            ("pard", _) => self.group.is_in_table = false,
            ("v", number) => self.group.is_vanished = number != Some(0),
            ("deleted", number) => self.group.is_deleted = number != Some(0),
            ("plain", _) => (self.group.is_vanished, self.group.is_deleted) = (false, false),
            ("shptxt", _) => self.group.is_hidden = false,
            ("emdash", _) => self.push("—"),
            ("endash", _) => self.push("–"),
            ("lquote", _) => self.push("‘"),
            ("rquote", _) => self.push("’"),
            ("ldblquote", _) => self.push("“"),
            ("rdblquote", _) => self.push("”"),
            ("bullet", _) => self.push("•"),
            ("title", _) => self.group.is_title = true,
            (word, _) if HIDDEN.contains(&word) => {
                self.group.is_hidden = true;
                self.group.is_fonts |= word == "fonttbl";
            }
            _ => {}
        }
    }
}

pub(crate) fn code_page(number: i32) -> &'static Encoding {
    let label = match number {
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        65001 => "utf-8".to_owned(),
        number => format!("windows-{number}"),
    };
    Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252)
}

/// The encoding of a charset of Windows fonts; `None` for the default one.
fn charset(number: i32) -> Option<&'static Encoding> {
    let page = match number {
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    };
    Some(code_page(page))
}
