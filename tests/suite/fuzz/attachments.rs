//! Fuzz target of attachments: any bytes, behind the first ones of each kind of file.

use taojin_attachments::{MAX_TEXT_BYTES, read};

/// Beginnings that choose a reader. ZIP archives are checked by their checksums before any of it is read: their readers see only
/// what `attachments::foreign` damages.
const BEGINNINGS: [&[u8]; 9] = [
    b"",
    b"%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n",
    b"{\\rtf1\\ansi ",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"PK\x03\x04",
    b"Rar!\x1a\x07\x01\0",
    b"7z\xbc\xaf\x27\x1c\0\x04",
    b"From: a@example.com\r\nSubject: a\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n",
    b"<html><table>",
];

#[test]
fn attachment() {
    bolero::check!().for_each(|input: &[u8]| {
        let (first, rest) = input.split_first().unwrap_or((&0, &[]));
        let beginning = BEGINNINGS[usize::from(*first) % BEGINNINGS.len()];
        if let Ok(attachment) = read(&[beginning, rest].concat(), "a") {
            assert!(attachment.text().len() <= MAX_TEXT_BYTES);
        }
    });
}
