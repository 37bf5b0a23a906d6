//! Charsets, case by case: `tests/charsets.json` says of which bytes a page is made, how they are declared, and what
//! must be read.

use serde::Deserialize;
use taojin_extract::page::{Hints, Page};
use taojin_uri::CrawlUri;

/// Fewest cases.
const CASES: usize = 40;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    about: String,
    /// Charset of the response's header.
    header: Option<String>,
    url: Option<String>,
    parts: Vec<Part>,
    /// Name of the charset that must be found.
    charset: String,
    /// What the text of the page must be, line by line.
    text: Vec<String>,
}

/// Some bytes: a text in a charset, or bytes in hexadecimal; `times` of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    charset: Option<String>,
    text: Option<String>,
    hex: Option<String>,
    times: Option<usize>,
}

impl Part {
    fn bytes(&self) -> Vec<u8> {
        let once = match (&self.hex, &self.text) {
            (Some(hex), _) => hex
                .split_whitespace()
                .map(|byte| u8::from_str_radix(byte, 16).expect("two hexadecimal digits"))
                .collect(),
            (None, text) => encoded(
                self.charset.as_deref().unwrap_or("utf-8"),
                text.as_deref().unwrap_or_default(),
            ),
        };
        once.repeat(self.times.unwrap_or(1))
    }
}

fn encoded(charset: &str, text: &str) -> Vec<u8> {
    match charset {
        "utf-16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        "utf-16be" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        label => {
            let encoding = encoding_rs::Encoding::for_label(label.as_bytes())
                .unwrap_or_else(|| panic!("{label} is no charset"));
            let (bytes, _, unmappable) = encoding.encode(text);
            assert!(!unmappable, "{label} cannot say {text:?}");
            bytes.into_owned()
        }
    }
}

#[test]
fn charset_cases() {
    let path = std::path::Path::new(crate::support::ROOT).join("tests/charsets.json");
    let json = std::fs::read_to_string(path).expect("the file is there");
    let cases: Vec<Case> = serde_json::from_str(&json).expect("cases");
    assert!(cases.len() >= CASES, "only {} cases", cases.len());
    let mut faults = String::new();
    for case in &cases {
        let bytes: Vec<u8> = case.parts.iter().flat_map(Part::bytes).collect();
        let hints = Hints {
            charset: case.header.clone(),
            url: case
                .url
                .as_deref()
                .map(|url| CrawlUri::parse(url).expect("an address")),
            ..Hints::default()
        };
        let page = Page::parse(&bytes, hints);
        let texts = page.shown_texts(0..page.nodes().len() as u32);
        let lines: Vec<&str> = texts
            .map(|id| page.text(id).trim())
            .filter(|line| !line.is_empty())
            .collect();
        if page.charset != case.charset || lines != case.text {
            faults.push_str(&format!(
                "{}\n  - {} {:?}\n  + {} {lines:?}\n",
                case.about, case.charset, case.text, page.charset
            ));
        }
    }
    assert!(faults.is_empty(), "\n{faults}");
}
