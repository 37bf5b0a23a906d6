use super::*;
use crate::store::{Change, DeliveredHit, NotifyOn};

const MARK: FollowMark = FollowMark {
    seq: 10,
    fetched_ms: NOW,
};

fn told_as(fingerprint: u64, change: Change) -> DeliveredHit {
    DeliveredHit {
        fingerprint,
        change,
    }
}

fn new(fingerprint: u64) -> DeliveredHit {
    told_as(fingerprint, Change::New)
}

/// The deliveries of an empty store.
fn new_follows() -> (tempfile::TempDir, Follows) {
    let (dir, store) = new_store();
    (dir, store.follows().unwrap())
}

fn later(seq: u64) -> FollowMark {
    FollowMark {
        seq,
        fetched_ms: NOW + 1,
    }
}

/// Enters hits for a follower of everything; how many there are to be sent.
fn found(follows: &Follows, name: &str, hits: &[u64], mark: FollowMark) -> usize {
    follows.found(name, hits, mark, NotifyOn::ALL).unwrap()
}

#[test]
fn follow_begins_at_present() {
    let (_dir, follows) = new_follows();
    assert_eq!(follows.begin("a", "油", MARK).unwrap(), MARK);
    found(&follows, "a", &[1], later(20));
    assert_eq!(follows.begin("a", "油", later(30)).unwrap(), later(20));
    assert_eq!(follows.begin("a", "气", later(30)).unwrap(), later(30));
    // What was found keeps: the other query must not tell it again.
    assert_eq!(found(&follows, "a", &[1, 2], later(31)), 1);
}

#[test]
fn delivery_stays_until_settled() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let follows = store.follows().unwrap();
    follows.begin("a", "油", MARK).unwrap();
    assert_eq!(follows.next("a", 2).unwrap(), None);
    assert_eq!(found(&follows, "a", &[5, 3, u64::MAX], later(11)), 3);
    let first = Delivery {
        number: 1,
        hits: vec![new(5), new(3)],
    };
    assert_eq!(follows.next("a", 2).unwrap().as_ref(), Some(&first));
    follows.failed("a", NOW + 60_000, "503").unwrap();
    found(&follows, "a", &[9], later(12));
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
        (second.number, second.hits),
        (2, vec![new(u64::MAX), new(9)])
    );
    let record = follows.record("a").unwrap().unwrap();
    assert_eq!((record.told, record.tries, record.last_error), (2, 0, None));
    assert_eq!(record.told_ms, Some(NOW));

    follows.give_up("a", 2, "410").unwrap();
    assert_eq!(follows.next("a", 2).unwrap(), None);
    // Told or given up: never again, for a follower of new hits only.
    let new_only = NotifyOn {
        changed: false,
        gone: false,
        ..NotifyOn::ALL
    };
    assert_eq!(
        follows
            .found("a", &[5, 9, 77], later(13), new_only)
            .unwrap(),
        1
    );
    let third = follows.next("a", 2).unwrap().unwrap();
    assert_eq!((third.number, third.hits), (3, vec![new(77)]));
    assert_eq!(FollowRecord::list(&store).unwrap().len(), 1);
    assert_eq!(FollowRecord::list(&store).unwrap()[0].given_up, 2);
}

#[test]
fn deliveries_are_per_topic() {
    let (_dir, follows) = new_follows();
    for name in ["a", "b"] {
        follows.begin(name, "油", MARK).unwrap();
        assert_eq!(found(&follows, name, &[1, 2], later(11)), 2);
    }
    let delivery = follows.next("a", 10).unwrap().unwrap();
    follows.told("a", delivery.number, NOW).unwrap();
    assert_eq!(follows.next("a", 10).unwrap(), None);
    assert_eq!(
        follows.next("b", 10).unwrap().unwrap().hits,
        [new(1), new(2)]
    );
    assert_eq!(follows.record("c").unwrap(), None);
}

#[test]
fn delivery_waiting_is_bounded() {
    let (_dir, follows) = new_follows();
    follows.begin("a", "油", MARK).unwrap();
    let many: Vec<u64> = (0..10_050).collect();
    found(&follows, "a", &many, later(11));
    let record = follows.record("a").unwrap().unwrap();
    assert_eq!((record.waiting, record.given_up), (10_000, 50));
    // The oldest are lost, the latest are told.
    assert_eq!(follows.next("a", 1).unwrap().unwrap().hits, [new(50)]);
}

fn change(store: &mut Store, fingerprint: u64, op: DocOp) {
    change_document(store, fingerprint, op, NOW);
}

/// A store whose log has these documents, numbered from 1, and its follower of topic `a`.
fn with_log(dir: &Path, documents: &[u64]) -> (Store, Follows) {
    let mut store = Store::open(dir).unwrap();
    for fingerprint in documents {
        change(&mut store, *fingerprint, says("油"));
    }
    let follows = store.follows().unwrap();
    follows.begin("a", "油", MARK).unwrap();
    (store, follows)
}

/// What is sent next to `a`, which arrives.
fn deliver(follows: &Follows) -> Vec<DeliveredHit> {
    let Some(delivery) = follows.next("a", 10).unwrap() else {
        return Vec::new();
    };
    follows.told("a", delivery.number, NOW).unwrap();
    delivery.hits
}

#[test]
fn delivery_change_sequence() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, follows) = with_log(dir.path(), &[1, 2]);
    found(&follows, "a", &[1, 2], later(11));
    assert_eq!(deliver(&follows), [new(1), new(2)]);
    found(&follows, "a", &[2], later(12));
    assert_eq!(deliver(&follows), [told_as(2, Change::Changed)]);
    change(&mut store, 2, DocOp::Delete);
    // One that nobody was told of is not told as gone.
    change(&mut store, 7, says("油"));
    change(&mut store, 7, DocOp::Delete);
    assert_eq!(follows.gone("a", NotifyOn::ALL).unwrap(), 1);
    assert_eq!(follows.gone("a", NotifyOn::ALL).unwrap(), 0);
    assert_eq!(deliver(&follows), [told_as(2, Change::Deleted)]);
    assert_eq!(deliver(&follows), []);
    found(&follows, "a", &[2], later(20));
    assert_eq!(deliver(&follows), [new(2)]);
}

#[test]
fn delivery_lost_hit_is_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, follows) = with_log(dir.path(), &[1, 2]);
    let seq = |store: &Store| u64::try_from(store.last_document_seq().unwrap()).unwrap();
    let begun = later(seq(&store));
    found(&follows, "a", &[1, 2], begun);
    assert_eq!(deliver(&follows).len(), 2);
    change(&mut store, 1, says("油"));
    change(&mut store, 2, says("油"));
    found(&follows, "a", &[2], later(seq(&store)));
    let told = [told_as(1, Change::Deleted), told_as(2, Change::Changed)];
    assert_eq!(deliver(&follows), told);
}

/// What happens to a document while a delivery of it is under way is told afterwards, also after a restart: nobody knows
/// which of the two texts the receiver has.
#[test]
fn delivery_change_meanwhile_follows() {
    for (deleted, expected) in [(false, Change::Changed), (true, Change::Deleted)] {
        let dir = tempfile::tempdir().unwrap();
        let (mut store, follows) = with_log(dir.path(), &[1]);
        found(&follows, "a", &[1], later(11));
        let sent = follows.next("a", 10).unwrap().unwrap();
        if deleted {
            change(&mut store, 1, DocOp::Delete);
            assert_eq!(follows.gone("a", NotifyOn::ALL).unwrap(), 1);
        } else {
            found(&follows, "a", &[1], later(12));
        }
        drop((follows, store));
        let follows = Store::open(dir.path()).unwrap().follows().unwrap();
        assert_eq!(follows.next("a", 10).unwrap(), Some(sent.clone()));
        follows.told("a", sent.number, NOW).unwrap();
        assert_eq!(deliver(&follows), [told_as(1, expected)]);
    }
}

#[test]
fn delivery_obeys_notify_on() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, follows) = with_log(dir.path(), &[1]);
    let gone_only = NotifyOn {
        new: false,
        changed: false,
        gone: true,
    };
    for seq in [11, 12] {
        assert_eq!(follows.found("a", &[1], later(seq), gone_only).unwrap(), 0);
    }
    change(&mut store, 1, DocOp::Delete);
    assert_eq!(follows.gone("a", gone_only).unwrap(), 1);
    assert_eq!(deliver(&follows), [told_as(1, Change::Deleted)]);
    // One that waits and was never told is forgotten when it goes.
    found(&follows, "a", &[3], later(13));
    change(&mut store, 3, says("油"));
    change(&mut store, 3, DocOp::Delete);
    follows.gone("a", NotifyOn::ALL).unwrap();
    assert_eq!(deliver(&follows), []);
}
