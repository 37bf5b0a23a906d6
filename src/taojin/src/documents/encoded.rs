//! Encodes documents for the log, and decodes them.
//!
//! [`EncodedDocument::new`] encodes a document once, in the task that read it; [`EncodedDocument::row`] adds where it is
//! stored; [`unpack`] returns the document again.

use serde::{Deserialize, Serialize};

use taojin_crawl::store::NewDocument;
use taojin_extract::{Document, Provenance};

/// A document as it goes into the log, and a digest of what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedDocument {
    /// Digest of title, date and text: two pages with the same one are one.
    pub content: u64,
    /// Digest of the words of the text. Addresses, numbers and identifiers that a page is filled in with do not count, so that
    /// a page that refuses a reader has the same one at each address.
    pub wording: u64,
    url: String,
    site: String,
    json: Vec<u8>,
}

/// What a body holds beside the document as it was read.
#[derive(Serialize)]
struct BodyHeader<'a> {
    fetched_ms: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    addresses: &'a [String],
}

/// A body, read again.
#[derive(Deserialize)]
struct StoredBody {
    fetched_ms: i64,
    url: Option<String>,
    #[serde(default)]
    addresses: Vec<String>,
    document: Document,
}

impl EncodedDocument {
    /// Encodes a document. Its links are not kept: take them out before, so that they cost nothing.
    pub fn new(document: &Document) -> Self {
        Self {
            content: content(document),
            wording: wording(&document.text),
            url: document.url.clone(),
            site: document.site.clone().unwrap_or_default(),
            json: to_json(document),
        }
    }

    /// The document again, but for its links.
    pub(crate) fn decode(&self) -> anyhow::Result<Document> {
        Ok(serde_json::from_slice(&self.json)?)
    }

    /// Whether it says the same as another in every field; how each was read, how sure that is, and where the links of the text lead
    /// does not count: an address may hold the number of a session.
    pub(crate) fn is_same(&self, other: &Document) -> bool {
        let Ok(own) = self.decode() else {
            return false;
        };
        let other = Document {
            structure: own.structure,
            method: own.method,
            provenance: Provenance {
                confidence: own.provenance.confidence,
                ratio_lines: own.provenance.ratio_lines,
                text_cut: own.provenance.text_cut,
                ..other.provenance
            },
            ..other.clone()
        };
        self.json == Self::new(&other).json
    }

    /// What the log takes of the document as it was fetched at `fetched_ms`, Unix milliseconds; at `url`, if it stands for
    /// another page, and with the other addresses that say the same.
    pub fn row(&self, fetched_ms: i64, url: Option<&str>, addresses: &[String]) -> NewDocument {
        let beside = BodyHeader {
            fetched_ms,
            url,
            addresses,
        };
        NewDocument {
            url: url.unwrap_or(&self.url).to_owned(),
            site: self.site.clone(),
            body: join_body(&beside, &self.json),
        }
    }
}

/// What the log takes of a document that comes from elsewhere than a visit, so that nobody asks for its digests.
/// `fetched_ms`: Unix milliseconds.
pub fn encode(document: &Document, fetched_ms: i64) -> NewDocument {
    let beside = BodyHeader {
        fetched_ms,
        url: None,
        addresses: &[],
    };
    NewDocument {
        url: document.url.clone(),
        site: document.site.clone().unwrap_or_default(),
        body: join_body(&beside, &to_json(document)),
    }
}

fn to_json(document: &Document) -> Vec<u8> {
    serde_json::to_vec(document).expect("a document of strings and numbers serializes")
}

/// The body: the object of the header continues with the document, which is not encoded again.
fn join_body(header: &BodyHeader, document: &[u8]) -> Vec<u8> {
    let mut json = serde_json::to_vec(header).expect("strings and a number serialize");
    json.pop();
    json.extend_from_slice(br#","document":"#);
    json.extend_from_slice(document);
    json.push(b'}');
    json
}

/// The document of a body of the log, and when it was fetched, Unix milliseconds. An error says that it is damaged.
pub(crate) fn unpack(body: &[u8]) -> anyhow::Result<(i64, Document)> {
    let StoredBody {
        fetched_ms,
        url,
        addresses,
        mut document,
    } = from_json(body)?;
    if let Some(url) = url {
        document.url = url;
    }
    if !addresses.is_empty() {
        document.addresses = addresses;
    }
    Ok((fetched_ms, document))
}

/// Reads JSON. That all of it is UTF-8 is checked at once, several times as fast as text by text.
pub(crate) fn from_json<'j, T: Deserialize<'j>>(json: &'j [u8]) -> serde_json::Result<T> {
    match simdutf8::basic::from_utf8(json) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(json),
    }
}

fn content(document: &Document) -> u64 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    for part in [&document.title, &document.published] {
        hasher.update(part.as_deref().unwrap_or_default().as_bytes());
        hasher.update(&[0]);
    }
    hasher.update(document.text.as_bytes());
    hasher.digest()
}

/// Digest of the words of a text, without what looks like an address, a number or an identifier.
pub(crate) fn wording(text: &str) -> u64 {
    let mut words = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|c: char| c.is_ascii() != first.is_ascii());
            let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
            let letters = run.trim_end_matches(['.', ',', '!', '?', ';', ')']);
            if !first.is_ascii() || letters.bytes().all(|b| b.is_ascii_alphabetic()) {
                words.push_str(run);
            }
            rest = after;
        }
    }
    xxhash_rust::xxh3::xxh3_64(words.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use taojin_extract::RatioLines;

    #[test]
    fn wording_ignores_numbers() {
        let refused = |at: &str, id: &str| {
            wording(&format!(
                "您访问的页面{at}需要验证。 Please wait, request id: {id}."
            ))
        };
        assert_eq!(
            refused("/news/1.html", "8f3a0c"),
            refused("/2026/05/t1_2.htm", "77d1")
        );
        assert_ne!(
            refused("/1", "8f3a0c"),
            wording("您访问的页面需要登录。 Please wait.")
        );
    }

    fn document(text: &str) -> Document {
        Document {
            url: "http://a.example/2".to_owned(),
            site: Some("s".to_owned()),
            title: Some("标题\"".to_owned()),
            text: text.to_owned(),
            ..Document::default()
        }
    }

    #[test]
    fn encoded_document_round_trip() {
        for text in ["正文\n}", "页岩气产量创新高。".repeat(500).as_str()] {
            let document = document(text);
            let encoded = EncodedDocument::new(&document);
            let plain = encoded.row(7, None, &[]);
            assert_eq!((&*plain.url, &*plain.site), ("http://a.example/2", "s"));
            assert_eq!(unpack(&plain.body).unwrap(), (7, document.clone()));
            let addresses = ["http://a.example/2".to_owned()];
            let moved = encoded.row(7, Some("http://a.example/1"), &addresses);
            assert_eq!(moved.url, "http://a.example/1");
            let expected = Document {
                url: "http://a.example/1".to_owned(),
                addresses: addresses.to_vec(),
                ..document
            };
            assert_eq!(unpack(&moved.body).unwrap(), (7, expected));
        }
    }

    #[test]
    fn ratio_lines_stored_but_no_change() {
        let old = document("正文");
        let mut new = old.clone();
        new.provenance.ratio_lines = Some(RatioLines {
            ruled_out: 40,
            proposed: 12,
            open: 9,
        });
        let encoded = EncodedDocument::new(&new);
        assert_eq!(unpack(&encoded.row(7, None, &[]).body).unwrap(), (7, new));
        // A document from before they were kept has none, and says the same.
        let before = EncodedDocument::new(&old);
        let stored = String::from_utf8(before.json.clone()).unwrap();
        assert!(!stored.contains("ratio"), "{stored}");
        assert!(encoded.is_same(&old) && before.is_same(&encoded.decode().unwrap()));
    }

    #[test]
    fn damaged_body_is_error() {
        for body in [&b"{\"fetched_ms\":5,\"document\":"[..], b"(\xb5/\xfd", b""] {
            assert!(unpack(body).is_err());
        }
    }
}
