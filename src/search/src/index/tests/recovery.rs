//! Crashes, broken folders, other formats.

use super::*;

#[test]
fn a_replay_after_a_crash_ends_in_the_same_index() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::default();
    let outbox: Vec<Document> = (0..20)
        .map(|n| {
            let text = format!("第{n}号井日产原油{n}吨");
            document(&format!("https://a.example/{n}"), "日报", &text)
        })
        .collect();
    let mut seen_seq = Vec::new();
    for crash_after in [0, 7, 8, 20] {
        let mut writer = Writer::open(dir.path(), &config).unwrap();
        let done = writer.last_seq();
        seen_seq.push(done);
        for (seq, document) in (1..).zip(&outbox).skip(done as usize) {
            writer
                .upsert(&Entry {
                    fingerprint: seq,
                    seq,
                    fetched_ms: 0,
                    document,
                })
                .unwrap();
            if seq % 5 == 0 {
                writer.commit(seq).unwrap();
            }
            if seq == crash_after {
                break;
            }
        }
        // Dropped without a commit, as by a crash.
    }
    assert_eq!(seen_seq, [0, 20, 20, 20]);
    let reader = Reader::open(dir.path(), &ANALYZER, &config).unwrap();
    assert_eq!(reader.num_docs().unwrap(), 20);
    assert_eq!(reader.last_seq().unwrap(), 20);
}

#[test]
fn an_uncommitted_tail_is_added_again() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::default();
    let text = document("https://a.example/1", "日报", "日产原油");
    let mut writer = Writer::open(dir.path(), &config).unwrap();
    add(&mut writer, 1, &text);
    writer.commit(1).unwrap();
    add(&mut writer, 2, &text);
    drop(writer);
    let mut writer = Writer::open(dir.path(), &config).unwrap();
    assert_eq!(writer.last_seq(), 1);
    add(&mut writer, 2, &text);
    add(&mut writer, 2, &text);
    writer.commit(2).unwrap();
    assert_eq!(writer.last_seq(), 2);
    assert!(writer.tidy().unwrap());
    writer.close().unwrap();
    let reader = Reader::open(dir.path(), &ANALYZER, &config).unwrap();
    assert_eq!(reader.num_docs().unwrap(), 2);
    // A merge keeps what the commit before it noted.
    assert_eq!(reader.last_seq().unwrap(), 2);
}

#[test]
fn broken_folders_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::default();
    let open = |path: &std::path::Path| Reader::open(path, &ANALYZER, &config).map(|_| ());
    let nothing = dir.path().join("nothing");
    assert!(matches!(open(&nothing), Err(IndexError::Missing(_))));
    assert!(!nothing.exists(), "looking must not create");

    let index = dir.path().join("index");
    let mut writer = Writer::open(&index, &config).unwrap();
    add(
        &mut writer,
        1,
        &document("https://a.example/1", "日报", "日产原油"),
    );
    writer.commit(1).unwrap();
    let second = Writer::open(&index, &config).map(|_| ());
    assert!(matches!(second, Err(IndexError::Locked(_))), "{second:?}");
    drop(writer);

    let meta = index.join("meta.json");
    let good = std::fs::read_to_string(&meta).unwrap();
    for cut in [0, 1, good.len() / 2, good.len() - 2] {
        std::fs::write(&meta, &good.as_bytes()[..cut]).unwrap();
        for result in [open(&index), Writer::open(&index, &config).map(|_| ())] {
            let error = result.unwrap_err();
            assert!(matches!(error, IndexError::Unreadable { .. }), "{error:?}");
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
        }
    }
    let format = |number: u32| format!("\\\"format\\\":{number}");
    std::fs::write(&meta, good.replace(&format(FORMAT), &format(0))).unwrap();
    let error = open(&index).unwrap_err().to_string();
    assert!(
        error.contains("format 0") && error.contains("mend: "),
        "{error}"
    );
    let error = Writer::open(&index, &config).map(|_| ()).unwrap_err();
    assert!(matches!(error, IndexError::Format { .. }), "{error}");

    std::fs::write(&meta, good).unwrap();
    for file in std::fs::read_dir(&index).unwrap() {
        let path = file.unwrap().path();
        if path
            .extension()
            .is_some_and(|e| e == "term" || e == "idx" || e == "store")
        {
            std::fs::write(path, b"").unwrap();
        }
    }
    assert!(matches!(open(&index), Err(IndexError::Unreadable { .. })));
    std::fs::write(dir.path().join("file"), b"x").unwrap();
    let on_file = Writer::open(&dir.path().join("file"), &config).map(|_| ());
    assert!(
        matches!(on_file, Err(IndexError::Unreadable { .. })),
        "{on_file:?}"
    );
}

#[test]
fn an_index_of_another_format_is_rebuilt() {
    let dir = tempfile::tempdir().unwrap();
    let index = dir.path().join("index");
    let config = Config::default();
    let mut writer = Writer::open(&index, &config).unwrap();
    for n in 1..=3 {
        add(
            &mut writer,
            n,
            &document(&format!("https://a.example/{n}"), "日报", "日产原油"),
        );
    }
    writer.commit(9).unwrap();
    drop(writer);
    let meta = index.join("meta.json");
    let good = std::fs::read_to_string(&meta).unwrap();
    let format = |number: u32| format!("\\\"format\\\":{number}");
    std::fs::write(&meta, good.replace(&format(FORMAT), &format(0))).unwrap();
    let busy = tantivy::Index::open_in_dir(&index).unwrap();
    let busy: tantivy::IndexWriter = busy.writer_with_num_threads(1, 16 << 20).unwrap();
    let refused = rebuild(&index, &config);
    assert!(matches!(refused, Err(IndexError::Locked(_))), "{refused:?}");
    drop(busy);
    assert_eq!(rebuild(&index, &config).unwrap(), 3);
    let reader = Reader::open(&index, &ANALYZER, &config).unwrap();
    assert_eq!(ids(&reader, &literal("日产原油")), [1, 2, 3]);
    assert_eq!(reader.last_seq().unwrap(), 9);
    assert_eq!(
        std::fs::read_dir(dir.path()).unwrap().count(),
        1,
        "no folder is left over"
    );
}
