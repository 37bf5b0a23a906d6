use super::*;

const MARK: FollowMark = FollowMark {
    seq: 10,
    fetched_ms: NOW,
};

fn later(seq: u64) -> FollowMark {
    FollowMark {
        seq,
        fetched_ms: NOW + 1,
    }
}

#[test]
fn a_topic_begins_at_the_present_and_again_when_it_asks_for_something_else() {
    let dir = tempfile::tempdir().unwrap();
    let follows = Store::open(dir.path()).unwrap().follows().unwrap();
    assert_eq!(follows.begin("a", "油", MARK).unwrap(), MARK);
    follows.found("a", &[1], later(20)).unwrap();
    assert_eq!(follows.begin("a", "油", later(30)).unwrap(), later(20));
    assert_eq!(follows.begin("a", "气", later(30)).unwrap(), later(30));
    // What was found keeps: the other query must not tell it again.
    assert_eq!(follows.found("a", &[1, 2], later(31)).unwrap(), 1);
}

#[test]
fn a_delivery_stays_the_same_until_it_is_settled() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let follows = store.follows().unwrap();
    follows.begin("a", "油", MARK).unwrap();
    assert_eq!(follows.next("a", 2).unwrap(), None);
    assert_eq!(follows.found("a", &[5, 3, u64::MAX], later(11)).unwrap(), 3);
    let first = Delivery {
        number: 1,
        fingerprints: vec![5, 3],
    };
    assert_eq!(follows.next("a", 2).unwrap().as_ref(), Some(&first));
    follows.failed("a", NOW + 60_000, "503").unwrap();
    follows.found("a", &[9], later(12)).unwrap();
    // After a restart too.
    drop((follows, store));
    let store = Store::open(dir.path()).unwrap();
    let follows = store.follows().unwrap();
    assert_eq!(follows.next("a", 2).unwrap(), Some(first));
    let record = follows.record("a").unwrap().unwrap();
    assert_eq!(
        (record.tries, record.next_ms, record.waiting),
        (1, NOW + 60_000, 4)
    );
    assert_eq!(record.last_error.as_deref(), Some("503"));

    follows.told("a", 1, NOW).unwrap();
    let second = follows.next("a", 2).unwrap().unwrap();
    assert_eq!(
        (second.number, second.fingerprints.as_slice()),
        (2, &[u64::MAX, 9][..])
    );
    let record = follows.record("a").unwrap().unwrap();
    assert_eq!((record.told, record.tries, record.last_error), (2, 0, None));
    assert_eq!(record.told_ms, Some(NOW));

    follows.give_up("a", 2, "410").unwrap();
    assert_eq!(follows.next("a", 2).unwrap(), None);
    // Told or given up: never again.
    assert_eq!(follows.found("a", &[5, 9, 77], later(13)).unwrap(), 1);
    let third = follows.next("a", 2).unwrap().unwrap();
    assert_eq!((third.number, third.fingerprints), (3, vec![77]));
    assert_eq!(store.follow_records().unwrap().len(), 1);
    assert_eq!(store.follow_records().unwrap()[0].given_up, 2);
}

#[test]
fn topics_do_not_touch_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let follows = Store::open(dir.path()).unwrap().follows().unwrap();
    for name in ["a", "b"] {
        follows.begin(name, "油", MARK).unwrap();
        assert_eq!(follows.found(name, &[1, 2], later(11)).unwrap(), 2);
    }
    let delivery = follows.next("a", 10).unwrap().unwrap();
    follows.told("a", delivery.number, NOW).unwrap();
    assert_eq!(follows.next("a", 10).unwrap(), None);
    assert_eq!(follows.next("b", 10).unwrap().unwrap().fingerprints, [1, 2]);
    assert_eq!(follows.record("c").unwrap(), None);
}

#[test]
fn what_waits_is_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let follows = Store::open(dir.path()).unwrap().follows().unwrap();
    follows.begin("a", "油", MARK).unwrap();
    let many: Vec<u64> = (0..10_050).collect();
    follows.found("a", &many, later(11)).unwrap();
    let record = follows.record("a").unwrap().unwrap();
    assert_eq!((record.waiting, record.given_up), (10_000, 50));
    // The oldest are lost, the latest are told.
    assert_eq!(follows.next("a", 1).unwrap().unwrap().fingerprints, [50]);
}
