//! Copies of the documents, made and kept up to date from the log: whenever they ask, they end up the same as the store,
//! or are told that they cannot.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::store::{Change, PackedBody, Retention};

const DAY_MS: i64 = 86_400_000;

/// The documents somewhere else, with the cursor of the last answer.
#[derive(Default)]
struct Copy {
    documents: BTreeMap<u64, PackedBody>,
    cursor: Cursor,
}

impl Copy {
    /// Asks once. What cannot be told makes it begin again, as the text of a cursor that is lost says.
    fn ask(&mut self, store: &Store, limit: usize) -> Result<bool, CursorLost> {
        // As it comes back from a client.
        let cursor: Cursor = self.cursor.to_string().parse().unwrap();
        let documents = &mut self.documents;
        let followed = store.follow(&cursor, limit, |row, change| {
            match row.body {
                Some(body) => documents.insert(row.fingerprint, body),
                None => documents.remove(&row.fingerprint),
            };
            assert_eq!(
                change == Change::Deleted,
                !documents.contains_key(&row.fingerprint)
            );
            true
        });
        match followed.unwrap() {
            Ok(followed) => {
                self.cursor = followed.next;
                Ok(followed.more)
            }
            Err(lost) => {
                *self = Copy::default();
                Err(lost)
            }
        }
    }
}

fn present(store: &Store) -> BTreeMap<u64, PackedBody> {
    let rows = store.documents_after(0, usize::MAX).unwrap();
    let there = rows
        .into_iter()
        .filter_map(|row| Some((row.fingerprint, row.body?)));
    there.collect()
}

#[derive(Debug, Clone)]
enum Step {
    Put(u64),
    Delete(u64),
    Ask(usize),
    Days(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..12u64).prop_map(Step::Put),
        2 => (0..12u64).prop_map(Step::Delete),
        3 => (1..5usize).prop_map(Step::Ask),
        1 => (1..4i64).prop_map(Step::Days),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cursor_copy_equals_store(steps in prop::collection::vec(step(), 1..80)) {
        let (_dir, mut store) = new_store();
        store.set_retention(Retention { tombstone_days: 3, ..Retention::default() });
        let (mut now, mut copy) = (NOW, Copy::default());
        for (n, step) in steps.into_iter().enumerate() {
            match step {
                Step::Put(fingerprint) => {
                    change_document(&mut store, fingerprint, says(n.to_string()), now);
                }
                Step::Delete(fingerprint) => {
                    change_document(&mut store, fingerprint, DocOp::Delete, now);
                }
                // A copy that lost its cursor begins again; here it is only its own fault that matters below.
                Step::Ask(limit) => drop(copy.ask(&store, limit)),
                Step::Days(days) => {
                    now += days * DAY_MS;
                    while store.forget_old_documents(now).unwrap() > 0 {}
                }
            }
        }
        let mut asked = 0;
        while copy.ask(&store, 3) != Ok(false) {
            asked += 1;
            prop_assert!(asked < 100, "the list has no end");
        }
        prop_assert_eq!(copy.documents, present(&store));
    }
}

#[test]
fn cursor_first_list_is_complete() {
    let (_dir, mut store) = new_store();
    for fingerprint in 1..=6 {
        change_document(&mut store, fingerprint, says("x"), NOW);
    }
    change_document(&mut store, 1, DocOp::Delete, NOW);
    change_document(&mut store, 2, DocOp::Delete, NOW + 80 * DAY_MS);
    let old: Cursor = "3".parse().unwrap();
    assert!(store.follow(&old, 9, |_, _| true).unwrap().is_ok());
    store.forget_old_documents(NOW + 100 * DAY_MS).unwrap();

    let mut seen = Vec::new();
    let mut page = |cursor: &Cursor, limit| {
        let each = |row: DocumentRow, change| {
            seen.push((row.fingerprint, change));
            true
        };
        store.follow(cursor, limit, each).unwrap()
    };
    let first = page(&Cursor::default(), 2).unwrap();
    assert!(first.more);
    // Alone, the number says nothing of what the copy had before; the cursor does.
    let number = Cursor {
        began: 0,
        ..first.next
    };
    assert_eq!(page(&number, 9), Err(CursorLost::TooOld));
    let rest = page(&first.next, 9).unwrap();
    assert_eq!(
        (rest.more, rest.next),
        (false, Cursor::at(store.identity().unwrap().id, 8))
    );
    let new = |fingerprint| (fingerprint, Change::New);
    assert_eq!(seen, [new(3), new(4), new(5), new(6)]);
    assert_eq!(
        store.follow(&old, 9, |_, _| true).unwrap(),
        Err(CursorLost::TooOld)
    );
}

#[test]
fn cursor_of_other_history() {
    let (_dir, mut store) = new_store();
    change_document(&mut store, 1, says("a"), NOW);
    let mut copy = Copy::default();
    assert_eq!(copy.ask(&store, 9), Ok(false));
    store.begin_new_history(40).unwrap();
    change_document(&mut store, 2, says("b"), NOW);
    assert_eq!(copy.ask(&store, 9), Err(CursorLost::OtherHistory));
    assert_eq!(copy.ask(&store, 9), Ok(false));
    assert_eq!(copy.documents, present(&store));
    // A number that this store has not reached yet cannot be its own.
    let ahead: Cursor = "42".parse().unwrap();
    assert_eq!(
        store.follow(&ahead, 9, |_, _| true).unwrap(),
        Err(CursorLost::OtherHistory)
    );
}

#[test]
fn cursor_parse_refuses_text() {
    for text in [
        "",
        "-1",
        "+1",
        "1.5",
        "x",
        "12-3",
        "00000000000000zz-3",
        "0123456789ABCDEF-3",
        "0123456789abcdef-",
        "0123456789abcdef-3-x",
        "99999999999999999999",
    ] {
        assert!(text.parse::<Cursor>().is_err(), "{text}");
    }
    for text in ["0", "17", "fedcba9876543210-17", "0000000000000001-17-40"] {
        assert_eq!(text.parse::<Cursor>().unwrap().to_string(), text);
    }
}
