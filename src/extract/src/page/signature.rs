//! What a file is when it is no page, by its first bytes. In: the beginning of a file. Out: a name for a person, or
//! nothing for what may be HTML or text. Knows the formats that stand beside saved pages; never reads on.

/// First bytes of formats that are no text, and what a person calls them.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF87a", "a GIF picture"),
    (b"GIF89a", "a GIF picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"\0\0\x01\0", "an icon"),
    (b"%PDF-", "a PDF document"),
    (b"%!PS", "a PostScript document"),
    (b"{\\rtf", "an RTF document"),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old Office document",
    ),
    (b"PK\x03\x04", "a ZIP archive or an Office document"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (b"BZh", "compressed with bzip2"),
    (b"\xfd7zXZ\0", "compressed with xz"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"ID3", "an MP3 file"),
    (b"OggS", "an Ogg file"),
    (b"fLaC", "a FLAC file"),
    (b"\x1aE\xdf\xa3", "a video"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"\0\x01\0\0\0", "a font"),
    (b"OTTO", "a font"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\0", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\0asm", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
];

/// The same for formats that are told by bytes further on: place, bytes, name.
const INNER_SIGNATURES: &[(usize, &[u8], &str)] = &[
    (8, b"WEBP", "a WebP picture"),
    (8, b"WAVE", "a WAV file"),
    (8, b"AVI ", "a video"),
    (4, b"ftypavif", "an AVIF picture"),
    (4, b"ftyphei", "a HEIC picture"),
    (4, b"ftyp", "a video"),
    (257, b"ustar", "a tar archive"),
];

/// Bytes of a file that are looked at.
pub const HEAD_BYTES: usize = 1024;
/// One byte in so many may be one that text never has: a stray one is common in pages.
const STRAY: usize = 20;

/// What a file is that begins so, if it is neither HTML nor text in any encoding.
pub fn foreign_format(head: &[u8]) -> Option<&'static str> {
    let head = head.get(..head.len().min(HEAD_BYTES)).unwrap_or_default();
    let outer = SIGNATURES.iter().find(|(bytes, _)| head.starts_with(bytes));
    let inner = INNER_SIGNATURES.iter().find(|(at, bytes, _)| {
        let there = head.get(*at..).unwrap_or_default();
        there.starts_with(bytes)
    });
    outer
        .map(|(_, name)| *name)
        .or(inner.map(|(_, _, name)| *name))
        .or(is_binary(head).then_some("binary data"))
}

/// Whether these bytes are no text: too many that text never has (the "binary data bytes" of the WHATWG's MIME
/// sniffing), or too many zeros that are not those of UTF-16, which stand in every other place.
fn is_binary(head: &[u8]) -> bool {
    if head.starts_with(&[0xfe, 0xff]) || head.starts_with(&[0xff, 0xfe]) {
        return false;
    }
    let control = |b: &u8| matches!(b, 0x01..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    let controls = head.iter().filter(|b| control(b)).count();
    let zeros = |first: usize| {
        head.iter()
            .skip(first)
            .step_by(2)
            .filter(|b| **b == 0)
            .count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    let stray_zeros = even.min(odd);
    let only_zeros = even + odd == head.len() && !head.is_empty();
    (controls + stray_zeros) * STRAY > head.len() || only_zeros
}

#[cfg(test)]
mod tests {
    use super::foreign_format;

    #[test]
    fn formats_that_are_no_pages_are_named() {
        for (head, name) in [
            (&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], Some("a PNG picture")),
            (b"%PDF-1.7\n1 0 obj <<", Some("a PDF document")),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Some("a WebP picture")),
            (b"\0\0\0 ftypisom", Some("a video")),
            (b"\0\0\0\0\0\0\0\0", Some("binary data")),
            (b"<p>\0\x01\x02\x03\x04", Some("binary data")),
            (
                b"<!DOCTYPE html><p>PK\x03\x04 is the beginning of a ZIP file",
                None,
            ),
            (b"plain text", None),
            (b"", None),
        ] {
            assert_eq!(foreign_format(head), name, "{head:?}");
        }
    }

    #[test]
    fn text_in_any_encoding_is_no_foreign_format() {
        let text = "<title>页\u{b}岩气</title><p>水平井\t产量\r\n".repeat(9);
        let (gbk, _, _) = encoding_rs::GBK.encode(&text);
        assert_eq!(foreign_format(text.as_bytes()), None);
        assert_eq!(foreign_format(&gbk), None);
        let utf16: Vec<u8> = "<html><head><title>t"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(foreign_format(&utf16), None);
        let with_mark: Vec<u8> = "\u{feff}一丁七万丈三上下"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(foreign_format(&with_mark), None);
    }
}
