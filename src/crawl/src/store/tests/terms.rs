use super::super::StoreError;
use super::super::terms::{TermList, TermMark, TermRecord, TermState};

fn term(name: &str, termhood: f64) -> TermRecord {
    TermRecord {
        normal: name.to_owned(),
        term: name.to_uppercase(),
        termhood,
        occurrences: 7,
        documents: 3,
        facts: "{}".to_owned(),
        state: TermState::Proposed,
        found_ms: 5,
        decided_ms: None,
    }
}

fn names(list: &TermList, state: TermState) -> Vec<String> {
    let found = list.list(state, 0, 10).unwrap();
    found.into_iter().map(|term| term.normal).collect()
}

fn decided(list: &mut TermList, state: TermState, name: &str) {
    let named = vec![(name.to_owned(), name.to_owned())];
    let noted = list.alone(state, 9, || Ok::<_, StoreError>(named));
    assert_eq!(noted.unwrap(), 1);
}

#[test]
fn decisions_outlive_a_new_look() {
    let dir = tempfile::tempdir().unwrap();
    let mut list = TermList::open(dir.path()).unwrap();
    let mark = TermMark { seq: 4, at_ms: 5 };
    let found = [
        term("a", 0.2),
        term("b", 0.9),
        term("c", 0.5),
        term("d", 0.5),
    ];
    list.propose(&found, mark).unwrap();
    assert_eq!(names(&list, TermState::Proposed), ["b", "c", "d", "a"]);
    decided(&mut list, TermState::Accepted, "b");
    decided(&mut list, TermState::Rejected, "c");
    decided(&mut list, TermState::Rejected, "never found");
    let mark = TermMark { seq: 8, at_ms: 50 };
    list.propose(&[term("b", 0.7), term("c", 0.8), term("e", 0.1)], mark)
        .unwrap();
    drop(list);
    let list = TermList::open(dir.path()).unwrap();
    assert_eq!(list.mark().unwrap(), mark);
    assert_eq!(
        names(&list, TermState::Proposed),
        ["e"],
        "what was not found again goes"
    );
    assert_eq!(names(&list, TermState::Accepted), ["b"]);
    assert_eq!(names(&list, TermState::Rejected), ["c", "never found"]);
    let b = list.get("b").unwrap().unwrap();
    assert_eq!((b.termhood, b.found_ms, b.decided_ms), (0.7, 5, Some(9)));
    let counts = list.counts().unwrap();
    assert_eq!(
        (counts.proposed, counts.accepted, counts.rejected),
        (1, 1, 2)
    );
}

#[test]
fn terms_failed_change_decides_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut list = TermList::open(dir.path()).unwrap();
    list.propose(&[term("a", 0.2)], TermMark::default())
        .unwrap();
    let failed = list.alone(TermState::Accepted, 9, || {
        Err(StoreError::Full {
            path: dir.path().to_owned(),
        })
    });
    assert!(failed.is_err());
    assert_eq!(names(&list, TermState::Proposed), ["a"]);
}

#[test]
fn terms_foreign_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert!(!TermList::exists(dir.path()));
    let other = rusqlite::Connection::open(dir.path().join("terms.sqlite")).unwrap();
    other.execute_batch("CREATE TABLE precious (a)").unwrap();
    let refused = TermList::open(dir.path()).unwrap_err();
    assert!(matches!(refused, StoreError::Damaged { .. }), "{refused}");
    let there: i64 = other
        .query_row("SELECT count(*) FROM sqlite_master", [], |r| r.get(0))
        .unwrap();
    assert_eq!(there, 1);
}
