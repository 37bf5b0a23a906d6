//! What lies in the store's outbox for one document. In: a document, once, in the task that read it; then where it stands.
//! Out: a row; and out of a row the document again, for the indexer.

use serde::{Deserialize, Serialize};

use taojin_crawl::store::DocOp;
use taojin_extract::Document;

/// A document as it goes into the outbox, and a digest of what it says.
#[derive(Debug, Clone)]
pub(super) struct EncodedDocument {
    /// Digest of title, date and text: two pages with the same one are one.
    pub(super) content: u64,
    json: Vec<u8>,
}

/// What stands in a row beside the document as it was read.
#[derive(Serialize)]
struct Beside<'a> {
    fetched_ms: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    addresses: &'a [String],
}

/// A row, read again.
#[derive(Deserialize)]
struct Row {
    fetched_ms: i64,
    url: Option<String>,
    #[serde(default)]
    addresses: Vec<String>,
    document: Document,
}

impl EncodedDocument {
    /// Encodes a document, whose links were taken out before.
    pub(super) fn new(document: &Document) -> Self {
        let json =
            serde_json::to_vec(document).expect("a document of strings and numbers serializes");
        let content = content(document);
        Self { content, json }
    }

    /// The row of the document as it was fetched at `fetched_ms`; at `url`, if it stands for another page, and with the
    /// other addresses that say the same.
    pub(super) fn row(&self, fetched_ms: i64, url: Option<&str>, addresses: &[String]) -> DocOp {
        let beside = Beside {
            fetched_ms,
            url,
            addresses,
        };
        let mut row = serde_json::to_vec(&beside).expect("strings and a number serialize");
        // The object goes on with the document, which is not encoded again.
        row.pop();
        row.extend_from_slice(br#","document":"#);
        row.extend_from_slice(&self.json);
        row.push(b'}');
        DocOp::Upsert(row)
    }
}

/// The document of a row, and when it was fetched.
pub(super) fn read(row: &[u8]) -> serde_json::Result<(i64, Document)> {
    let Row {
        fetched_ms,
        url,
        addresses,
        mut document,
    } = serde_json::from_slice(row)?;
    if let Some(url) = url {
        document.url = url;
    }
    if !addresses.is_empty() {
        document.addresses = addresses;
    }
    Ok((fetched_ms, document))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        Document {
            url: "http://a.example/2".to_owned(),
            title: Some("标题\"".to_owned()),
            text: "正文\n}".to_owned(),
            ..Document::default()
        }
    }

    fn bytes(op: DocOp) -> Vec<u8> {
        match op {
            DocOp::Upsert(row) => row,
            DocOp::Delete => panic!("deleted"),
        }
    }

    #[test]
    fn a_row_gives_back_the_document_and_where_it_stands() {
        let encoded = EncodedDocument::new(&document());
        let plain = bytes(encoded.row(7, None, &[]));
        assert_eq!(read(&plain).unwrap(), (7, document()));
        let addresses = ["http://a.example/2".to_owned()];
        let moved = bytes(encoded.row(7, Some("http://a.example/1"), &addresses));
        let expected = Document {
            url: "http://a.example/1".to_owned(),
            addresses: addresses.to_vec(),
            ..document()
        };
        assert_eq!(read(&moved).unwrap(), (7, expected));
    }

    #[test]
    fn a_row_of_an_older_version_is_read_and_half_a_row_is_an_error() {
        let document = Document {
            addresses: vec!["http://a.example/3".to_owned()],
            ..document()
        };
        let row = serde_json::json!({"fetched_ms": 5, "document": document});
        assert_eq!(read(row.to_string().as_bytes()).unwrap(), (5, document));
        assert!(read(b"{\"fetched_ms\":5,\"document\":").is_err());
    }
}
