//! Nodes of one store: shares of the partitions, lost nodes, their log of documents.

use super::*;

/// Numbers of the partitions that a node takes.
fn parts_of(moved: &Moved) -> Vec<Partition> {
    moved.gained.iter().map(|gained| gained.part).collect()
}

#[test]
fn nodes_share_partitions() {
    let Some(server) = server("shares of nodes") else {
        return;
    };
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = in_schema(one.path(), &server.url());
    let mut first = Store::open(&place).unwrap();
    let mut own = first.cluster().first_share();
    assert!(own.is_empty() && own.are_shared());
    let all = first.take_share(&own).unwrap();
    assert_eq!((all.gained.len(), all.surplus.len()), (256, 0));
    assert!(all.gained.iter().all(|gained| !gained.rests));
    parts_of(&all).into_iter().for_each(|part| own.add(part));

    let mut second = Store::open(beside(&place, two.path())).unwrap();
    let nothing = second.take_share(&second.cluster().first_share()).unwrap();
    assert!(nothing.gained.is_empty(), "the first has all");
    let surplus = first.take_share(&own).unwrap().surplus;
    assert_eq!(surplus.len(), 128);
    first.give_back(&surplus).unwrap();
    let half = second.take_share(&second.cluster().first_share()).unwrap();
    assert_eq!(parts_of(&half), surplus);
    assert!(
        half.gained.iter().all(|gained| !gained.rests),
        "handed over"
    );
    let shares: Vec<i64> = first
        .cluster()
        .nodes()
        .unwrap()
        .iter()
        .map(|node| node.partitions)
        .collect();
    assert_eq!(shares, [128, 128]);

    // One that only serves has none and does not count.
    let three = tempfile::tempdir().unwrap();
    let serving = beside(&place, three.path()).with_duties(Duties {
        crawls: false,
        serves: true,
    });
    let mut third = Store::open(&serving).unwrap();
    let nothing = third.take_share(&third.cluster().first_share()).unwrap();
    assert_eq!((nothing.gained.len(), nothing.surplus.len()), (0, 0));
    surplus.iter().for_each(|part| own.remove(*part));
    assert_eq!(first.take_share(&own).unwrap().surplus.len(), 0);
    surplus.iter().for_each(|part| own.add(*part));
    let nodes = first.cluster().nodes().unwrap();
    let crawls: Vec<bool> = nodes.iter().map(|node| node.crawls).collect();
    assert_eq!(crawls, [true, true, false]);
    drop(third);

    // One that drains has none left to keep and takes none.
    let session = first.cluster().nodes().unwrap()[0].session;
    assert!(first.cluster().set_draining(session, true).unwrap());
    surplus.iter().for_each(|part| own.remove(*part));
    assert_eq!(first.take_share(&own).unwrap().surplus.len(), 128);
    drop(first);
    // After a clean end another node has the rest at once, and its hosts need not rest.
    let mut own = second.cluster().first_share();
    surplus.iter().for_each(|part| own.add(*part));
    let rest = second.take_share(&own).unwrap();
    assert_eq!(rest.gained.len(), 128);
    assert!(rest.gained.iter().all(|gained| !gained.rests));
}

/// What one node does for all is done by one that serves, and by another one after its end or while it drains.
#[test]
fn nodes_have_one_leader() {
    let Some(server) = server("the node that leads") else {
        return;
    };
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let place = in_schema(dirs[0].path(), &server.url());
    let crawls_only = place.clone().with_duties(Duties {
        crawls: true,
        serves: false,
    });
    let leads = |store: &mut Store| {
        store
            .take_share(&store.cluster().first_share())
            .unwrap()
            .leads
    };
    let mut crawling = Store::open(&crawls_only).unwrap();
    assert!(!leads(&mut crawling), "it has no index to find hits in");
    let mut second = Store::open(beside(&place, dirs[1].path())).unwrap();
    let mut third = Store::open(beside(&place, dirs[2].path())).unwrap();
    assert!(leads(&mut second) && !leads(&mut third) && leads(&mut second));
    let nodes = crawling.cluster().nodes().unwrap();
    let shown: Vec<_> = nodes.iter().map(|node| (node.serves, node.leads)).collect();
    assert_eq!(shown, [(false, false), (true, true), (true, false)]);
    assert!(
        second
            .cluster()
            .set_draining(nodes[1].session, true)
            .unwrap()
    );
    assert!(!leads(&mut third), "the other one has not heard of it yet");
    assert!(!leads(&mut second) && leads(&mut third));
    assert!(
        second
            .cluster()
            .set_draining(nodes[1].session, false)
            .unwrap()
    );
    drop(third);
    assert!(leads(&mut second));
}

/// A node that went without a word: its machine has its place back at once, another one has its partitions when the lease ends.
#[test]
fn nodes_take_lost_partitions() {
    let Some(server) = server("a lost node on PostgreSQL") else {
        return;
    };
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = in_schema(one.path(), &server.url());
    drop(Store::open(&place).unwrap());
    let id = std::fs::read_to_string(one.path().join("node")).unwrap();
    let lost = |lease_ms: i64| {
        let conn = admin(&place);
        let sql = format!(
            "INSERT INTO node (id, host, version, started_ms, expires_ms) VALUES ('{}', 'lost', '1', 0, \
             {lease_ms} + CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)); \
             UPDATE part SET session = (SELECT max(session) FROM node), rests = 0",
            id.trim()
        );
        conn.run_script(&sql).unwrap();
    };
    lost(60_000);
    let mut store = Store::open(&place).unwrap();
    let gained = store
        .take_share(&store.cluster().first_share())
        .unwrap()
        .gained;
    assert_eq!(gained.len(), 256);
    assert!(gained.iter().all(|gained| gained.rests));
    drop(store);
    lost(1_500);
    let begun = Instant::now();
    let mut store = Store::open(beside(&place, two.path())).unwrap();
    let gained = loop {
        let gained = store
            .take_share(&store.cluster().first_share())
            .unwrap()
            .gained;
        if !gained.is_empty() {
            break gained;
        }
        assert!(begun.elapsed() < Duration::from_secs(12));
        thread::sleep(Duration::from_millis(100));
    };
    // The database may have been away until now: the node that came gives the others a moment to renew their leases.
    assert!(begun.elapsed() > Duration::from_secs(6));
    assert!(gained.len() == 256 && gained.iter().all(|gained| gained.rests));
    let nodes = store.cluster().nodes().unwrap();
    assert_eq!(nodes.len(), 1);
    assert_ne!(nodes[0].id, id.trim());
    assert!((10_000..=15_000).contains(&nodes[0].lease_ms), "{nodes:?}");
}

/// Documents of two nodes at the same time: a follower that reads next to them sees every number, in order.
#[test]
fn nodes_log_has_no_gap() {
    let Some(server) = server("the log of two nodes") else {
        return;
    };
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let place = in_schema(dirs[0].path(), &server.url());
    DatabaseFacts::set_up(&place).unwrap();
    const EACH: usize = 40;
    let write = |node: usize| {
        let mut store = Store::open(beside(&place, dirs[node].path())).unwrap();
        // Addresses of one partition are added by one node only: both have a domain of their own.
        let front = format!("http://node{node}.cn/");
        for at in 0..EACH {
            let address = format!("{front}{at}");
            offer(&mut store, &[&address]);
            let page = visited(&store, &address, &front, says(address.as_str()));
            commit_pages(&mut store, vec![page]);
        }
    };
    let follow = || {
        let reader = Reader::open(&place).unwrap();
        let end = Instant::now() + Duration::from_secs(60);
        let mut last = 0;
        while last < 2 * EACH as i64 {
            assert!(Instant::now() < end, "only {last} documents came");
            for row in reader.documents_after(last, 100).unwrap() {
                assert_eq!(row.seq, last + 1);
                last = row.seq;
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| write(0));
        scope.spawn(|| write(1));
        scope.spawn(follow);
    });
}

#[test]
fn node_lease_is_renewed() {
    let Some(mut server) = server("renewals of a lease") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(in_schema(dir.path(), &server.url())).unwrap();
    let expires_ms = || {
        let sql = "SELECT expires_ms FROM node";
        let found = store.row(sql, NONE, |row| row.get::<i64>(0)).unwrap();
        found.unwrap()
    };
    let renewed = || {
        let end = Instant::now() + Duration::from_secs(9);
        let before_ms = expires_ms();
        while expires_ms() <= before_ms {
            assert!(Instant::now() < end, "the lease is not renewed");
            thread::sleep(Duration::from_millis(50));
        }
    };
    renewed();
    server.crash();
    renewed();
    assert!(store.is_leased().unwrap());
    // Also on a connection that was made again, the server ends a transaction whose process is paused.
    let sql = "SELECT current_setting('idle_in_transaction_session_timeout')";
    let limit = store.row(sql, NONE, |row| row.get::<String>(0)).unwrap();
    assert_eq!(limit.as_deref(), Some("15s"));
}

#[test]
fn postgres_crash_is_waited_for() {
    let Some(mut server) = server("a crash of PostgreSQL") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(in_schema(dir.path(), &server.url())).unwrap();
    for round in 0..3 {
        let address = format!("http://a.cn/{round}");
        assert_eq!(offer(&mut store, &[&address]).inserted.len(), 1);
        server.crash();
        assert!(store.lookup(&uri(&address)).unwrap().is_some());
        assert_eq!(store.counts().unwrap().total("urls"), round + 1);
    }
}

/// Another process took the place of one that was paused or cut off.
#[test]
fn node_without_lease_is_fenced() {
    let Some(server) = server("fencing on PostgreSQL") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let place = in_schema(dir.path(), &server.url());
    let mut store = Store::open(&place).unwrap();
    offer(&mut store, &["http://a.cn/1"]);
    let conn = admin(&place);
    conn.run_script("DELETE FROM node").unwrap();
    let batch = Batch {
        urls: vec![link("http://a.cn/2")],
        ..Batch::default()
    };
    for _ in 0..2 {
        let error = store.commit(&batch, NOW).unwrap_err();
        assert!(matches!(error, StoreError::Fenced { .. }), "{error}");
    }
    let reader = Reader::open(&place).unwrap();
    assert_eq!(reader.counts().unwrap().total("urls"), 1);
    // A process that has nothing to write learns of it too, with the next renewal.
    let end = Instant::now() + Duration::from_secs(6);
    while store.is_leased().is_ok() {
        assert!(Instant::now() < end, "the lost lease goes unnoticed");
        thread::sleep(Duration::from_millis(50));
    }
    assert!(matches!(store.is_leased(), Err(StoreError::Fenced { .. })));
}

#[test]
fn nodes_create_tables_once() {
    let Some(server) = server("the first start of several nodes") else {
        return;
    };
    let dirs: Vec<_> = (0..6).map(|_| tempfile::tempdir().unwrap()).collect();
    let place = in_schema(dirs[0].path(), &server.url());
    thread::scope(|scope| {
        let open = |dir: &tempfile::TempDir| {
            let place = beside(&place, dir.path());
            scope.spawn(move || {
                Store::open(place).map(|store| store.cluster().nodes().unwrap().len())
            })
        };
        let nodes: Vec<_> = dirs.iter().map(open).collect();
        for node in nodes {
            assert!(node.join().unwrap().unwrap() > 0);
        }
    });
}

#[test]
fn node_copied_directory_is_refused() {
    let Some(server) = server("a copied data folder") else {
        return;
    };
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = in_schema(one.path(), &server.url());
    let mut first = Store::open(&place).unwrap();
    std::fs::copy(one.path().join("node"), two.path().join("node")).unwrap();
    let copied = || Store::open(beside(&place, two.path()));
    let refused = copied().unwrap_err().to_string();
    assert!(refused.contains("was the folder copied?"), "{refused}");
    offer(&mut first, &["http://a.cn/1"]);
    drop(first);
    let moved = copied().unwrap();
    drop(moved);
    // With a name of its own it is another node.
    let first = Store::open(&place).unwrap();
    std::fs::remove_file(two.path().join("node")).unwrap();
    let second = copied().unwrap();
    assert_eq!(second.cluster().nodes().unwrap().len(), 2);
    drop(first);
}

#[test]
fn nodes_name_differing_sites() {
    let Some(server) = server("sites of nodes") else {
        return;
    };
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = in_schema(one.path(), &server.url());
    let first = Store::open(&place).unwrap();
    let second = Store::open(beside(&place, two.path())).unwrap();
    let differences = || SiteDifferences::from_nodes(&first.cluster().nodes().unwrap());
    first
        .cluster()
        .set_node_sites(&[("a", 1), ("b", 2)])
        .unwrap();
    assert_eq!(differences(), SiteDifferences::default(), "not known yet");
    second
        .cluster()
        .set_node_sites(&[("b", 3), ("a", 1)])
        .unwrap();
    assert_eq!(differences().sites, ["b"]);
    second.cluster().set_node_sites(&[]).unwrap();
    assert_eq!(differences().sites, ["a", "b"]);
    assert!(!differences().are_strangers);
    second.cluster().set_node_sites(&[("c", 4)]).unwrap();
    let said = differences().to_string();
    assert!(said.contains("(a, b, c): do two clusters use"), "{said}");
    second
        .cluster()
        .set_node_sites(&[("b", 2), ("a", 1)])
        .unwrap();
    assert!(differences().sites.is_empty());
}

/// The copy that a node searches: the same documents as the store, whatever happened to either.
#[test]
fn node_copy_equals_store() {
    let Some(server) = server("a copy of the documents") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let place = in_schema(dir.path(), &server.url());
    let mut store = Store::open(&place).unwrap();
    let put = |store: &mut Store, fingerprint: u64, op: DocOp| {
        change_document(store, fingerprint, op, 1_000);
    };
    assert!(!place.has_copy());
    for n in 0..40 {
        put(&mut store, n, says(format!("第{n}篇")));
    }
    put(&mut store, 3, says("改过"));
    put(&mut store, 5, DocOp::Delete);
    let same = |store: &Store| {
        let mut copy = DocumentCopy::open(&place).unwrap();
        while copy.take(7).unwrap().changes > 0 {}
        let copied = Reader::open(place.copy()).unwrap();
        let wanted = store.documents_after(0, 100).unwrap();
        assert_eq!(copied.documents_after(0, 100).unwrap(), wanted);
        assert_eq!(copied.identity().unwrap().id, store.identity().unwrap().id);
        assert_eq!(copied.addresses().key(), store.addresses().key());
        assert_eq!(
            copied.last_document_seq().unwrap(),
            store.last_document_seq().unwrap()
        );
        for row in &wanted {
            assert_eq!(copied.body(row).unwrap(), store.body(row).unwrap());
        }
    };
    same(&store);
    assert!(place.has_copy());
    put(&mut store, 5, says("又来"));
    put(&mut store, 6, DocOp::Delete);
    same(&store);
    // The ends of documents are forgotten in both.
    store.set_retention(Retention {
        version_days: 0,
        tombstone_days: 0,
        ..Retention::default()
    });
    store.forget_old_documents(i64::MAX / 2).unwrap();
    put(&mut store, 7, says("七"));
    same(&store);
    // Set back to a backup, the store has another history; and a copy may be damaged.
    store.begin_new_history(1_000).unwrap();
    put(&mut store, 8, says("八"));
    same(&store);
    let file = place.copy().dir().join("crawl.sqlite");
    std::fs::write(&file, "no database").unwrap();
    same(&store);
}
