//! Fuzzing of all that reads bytes from outside. Each target is a bolero check: `cargo test -p taojin --test suite fuzz::` runs each
//! for a second on random input and prints the seed of one that fails. How to run them longer, and with coverage as a
//! guide, stands in CONTRIBUTING.md.

mod attachments;
mod pages;
mod protocols;
mod structure;
mod words;

use taojin_extract::page::{Page, Tag};

/// 2026-11-20 10:00 in China.
const NOW_MS: i64 = 1_795_140_000_000;

/// What holds of every page: nodes stand in document order, ends and depths agree with parents, texts are not empty,
/// paths are those of the elements.
fn assert_sound(page: &Page) {
    for (id, node) in page.nodes().iter().enumerate() {
        let id = id as u32;
        assert!(node.end > id && node.end as usize <= page.nodes().len());
        let parent = page.node(node.parent);
        if id == 0 {
            assert_eq!((node.parent, node.depth), (0, 0));
        } else {
            assert!(node.parent < id && node.end <= parent.end);
            assert_eq!(node.depth, parent.depth + 1);
            assert_ne!(parent.tag, Tag::TEXT);
        }
        let path = page.paths()[node.path as usize];
        if node.tag == Tag::TEXT {
            assert!(!page.text(id).is_empty());
            assert_eq!(node.path, parent.path);
        } else {
            assert_eq!((path.tag, path.len), (node.tag, node.depth + 1));
            assert!(
                page.attributes_of(id)
                    .all(|(_, value)| value.len() <= 3 * 4096)
            );
        }
    }
    assert!(encoding_rs::Encoding::for_label(page.charset.as_bytes()).is_some());
}
