//! Documents that must stay short do. A limit is what a reader takes in at one sitting, or what a page loads without a wait.

use std::fs;
use std::path::Path;

use super::read;
use crate::support::ROOT;

/// Bytes of a document at most.
const LIMITS: [(&str, usize); 3] = [
    ("README.md", 9_000),
    ("README.zh-CN.md", 9_000),
    ("ARCHITECTURE.md", 12_000),
];
/// Bytes of the newest entry of `CHANGELOG.md`, with what stands above it.
const NEWEST_CHANGES: usize = 4_000;
/// Bytes of a picture.
const PICTURE: u64 = 150_000;

/// The text up to the second entry.
fn newest_entry(changelog: &str) -> &str {
    let entries: Vec<usize> = changelog.match_indices("\n## ").map(|(at, _)| at).collect();
    let end = entries.get(1).copied().unwrap_or(changelog.len());
    changelog.get(..end).unwrap_or(changelog)
}

#[test]
fn documents_keep_to_their_sizes() {
    for (document, limit) in LIMITS {
        let bytes = read(document).len();
        assert!(bytes <= limit, "{document}: {bytes} bytes, at most {limit}");
    }
    let bytes = newest_entry(&read("CHANGELOG.md")).len();
    assert!(
        bytes <= NEWEST_CHANGES,
        "the newest entry of CHANGELOG.md: {bytes} bytes, at most {NEWEST_CHANGES}"
    );
    let pictures = fs::read_dir(Path::new(ROOT).join("docs/pictures")).expect("docs/pictures");
    let pictures = pictures.flatten().map(|entry| entry.path());
    let pictures = pictures.filter(|path| path.extension().is_some_and(|e| e == "png"));
    for path in pictures {
        let bytes = path.metadata().expect("a file").len();
        assert!(
            bytes <= PICTURE,
            "{}: {bytes} bytes, at most {PICTURE}",
            path.display()
        );
    }
}

#[test]
fn newest_entry_ends_at_the_second() {
    for (changelog, newest) in [
        (
            "# Changes\n\n## 2\n\nb\n\n## 1\n\na\n",
            "# Changes\n\n## 2\n\nb\n",
        ),
        ("# Changes\n\n## 1\n\na\n", "# Changes\n\n## 1\n\na\n"),
    ] {
        assert_eq!(newest_entry(changelog), newest);
    }
}
