//! Files of SQLite that others made: what acts by itself, or is not ours, never becomes a store.

use rusqlite::config::DbConfig;

use super::*;

/// A copy of a store with all that a copy can carry, in the file `copy.sqlite` of the directory.
fn copy_with_everything(dir: &Path) -> PathBuf {
    let mut store = Store::open(&*dir.join("data")).unwrap();
    offer(&mut store, &["http://a.cn/1"]);
    let page = visited(&store, "http://a.cn/1", "http://a.cn/2", says("text"));
    commit_pages(&mut store, vec![page]);
    drop(TermList::open(&dir.join("data")).unwrap());
    let words = dir.join("terms.txt");
    std::fs::write(&words, "页岩气\n").unwrap();
    let kept = KeptFile {
        name: "terms.txt",
        path: &words,
    };
    let copy = dir.join("copy.sqlite");
    back_up(&store, &copy, &[kept], |_| ()).unwrap();
    copy
}

fn change(file: &Path, sql: &str) {
    let conn = rusqlite::Connection::open(file).unwrap();
    conn.execute_batch(sql).unwrap();
}

/// What the file is refused for.
fn foreign<T: std::fmt::Debug>(result: Result<T, StoreError>) -> String {
    match result {
        Err(error @ StoreError::Foreign { .. }) => {
            let line = error.to_string();
            assert!(!line.contains('\n'), "{line}");
            let StoreError::Foreign { found, .. } = error else {
                unreachable!("it is one")
            };
            assert!(line.contains(&found), "{line}");
            found
        }
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn restore_takes_only_our_schema() {
    let dir = tempfile::tempdir().unwrap();
    let copy = copy_with_everything(dir.path());
    check_backup(&copy).unwrap();
    let whole = std::fs::read(&copy).unwrap();
    let target = dir.path().join("target");
    for (sql, found) in [
        (
            "CREATE TRIGGER leak AFTER INSERT ON document BEGIN DELETE FROM url; END",
            "trigger leak",
        ),
        (
            "CREATE VIEW all_urls AS SELECT url FROM url",
            "view all_urls",
        ),
        (
            "DROP TABLE takedown; CREATE VIEW takedown AS SELECT 1 AS fingerprint, 2 AS url, 3 AS named, 4 AS at_ms",
            "another definition of table takedown",
        ),
        (
            "CREATE VIRTUAL TABLE words USING fts5(word)",
            "virtual table words",
        ),
        ("CREATE TABLE diary (day TEXT)", "table diary"),
        (
            "CREATE TABLE \"a\u{202e}\nb\" (day TEXT)",
            "table a\\u{202e}\\nb",
        ),
        ("CREATE INDEX spy ON url (url)", "index spy"),
        (
            "DROP INDEX host_due; CREATE INDEX host_due ON host (abs(next_due_ms)) WHERE next_due_ms IS NOT NULL",
            "another definition of index host_due",
        ),
        (
            "ALTER TABLE url ADD COLUMN note TEXT",
            "column note of table url",
        ),
        (
            "ALTER TABLE meta ADD COLUMN twice BIGINT AS (value * 2)",
            "column twice of table meta",
        ),
        (
            "DROP TABLE seen_run; CREATE TABLE seen_run (run INTEGER PRIMARY KEY, entries BIGINT NOT NULL CHECK (entries < 9))",
            "another definition of table seen_run",
        ),
        ("DROP TABLE follow", "no table follow"),
        (
            "ALTER TABLE url DROP COLUMN etag",
            "no column etag of table url",
        ),
        (
            "ALTER TABLE backup_file ADD COLUMN mode INTEGER",
            "column mode of table backup_file",
        ),
    ] {
        std::fs::write(&copy, &whole).unwrap();
        change(&copy, sql);
        assert_eq!(foreign(check_backup(&copy)), found, "{sql}");
        assert_eq!(
            foreign(restore(&target, &copy, &[], |_| ())),
            found,
            "{sql}"
        );
        assert!(!target.join("crawl.sqlite").exists(), "{sql}");
    }
    std::fs::write(&copy, &whole).unwrap();
    restore(&target, &copy, &[], |_| ()).unwrap();
    assert!(
        Reader::open(&*target)
            .unwrap()
            .lookup(&uri("http://a.cn/1"))
            .unwrap()
            .is_some()
    );
}

#[test]
fn restore_takes_stores_of_before() {
    let dir = tempfile::tempdir().unwrap();
    let copy = copy_with_everything(dir.path());
    change(
        &copy,
        "DROP INDEX url_template; ALTER TABLE url DROP COLUMN template_id; ALTER TABLE url DROP COLUMN template_ms; \
         ALTER TABLE url DROP COLUMN announced; ALTER TABLE template DROP COLUMN changed_ms",
    );
    check_backup(&copy).unwrap();
    let target = dir.path().join("target");
    restore(&target, &copy, &[], |_| ()).unwrap();
    // The columns are the last ones now.
    let again = dir.path().join("again.sqlite");
    let store = Store::open(&*target).unwrap();
    back_up(&store, &again, &[], |_| ()).unwrap();
    check_backup(&again).unwrap();
}

#[test]
fn backup_refuses_what_restore_would() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    file(&store)
        .execute_batch("CREATE TABLE diary (day TEXT)")
        .unwrap();
    let copy = dir.path().join("copy.sqlite");
    assert_eq!(foreign(back_up(&store, &copy, &[], |_| ())), "table diary");
    assert!(!copy.exists());
}

#[test]
fn rows_of_damaged_file_are_not_computed() {
    let dir = tempfile::tempdir().unwrap();
    let copy = copy_with_everything(dir.path());
    let whole = std::fs::read(&copy).unwrap();
    let target = dir.path().join("target");
    let endless = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS fingerprint FROM n";
    for (sql, found) in [
        (
            format!("DROP TABLE takedown; CREATE VIEW takedown AS {endless}"),
            "view takedown",
        ),
        (
            "ALTER TABLE meta ADD COLUMN big AS (hex(zeroblob(9)))".to_owned(),
            "table meta",
        ),
    ] {
        std::fs::write(&copy, &whole).unwrap();
        change(&copy, &sql);
        assert_eq!(foreign(restore_damaged(&target, &copy)), found, "{sql}");
        assert!(!target.join("crawl.sqlite").exists(), "{sql}");
    }
}

#[test]
fn connections_are_defensive() {
    let (_dir, store) = new_store();
    let reader = store.reader().unwrap();
    for conn in [file(&store), reader.conn.sqlite().unwrap()] {
        let set = |config| conn.db_config(config).unwrap();
        assert!(set(DbConfig::SQLITE_DBCONFIG_DEFENSIVE));
        assert!(!set(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA));
        conn.execute_batch("PRAGMA writable_schema = ON").unwrap();
        for (sql, refused) in [
            ("UPDATE sqlite_schema SET sql = sql", "may not be modified"),
            ("SELECT load_extension('x')", "not authorized"),
        ] {
            let error = conn.execute_batch(sql).unwrap_err().to_string();
            assert!(error.contains(refused), "{sql}: {error}");
        }
    }
}
