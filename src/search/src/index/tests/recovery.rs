//! Crashes, broken directories, other formats.

use super::*;

#[test]
fn replay_after_crash_is_equal() {
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
        let mut writer = open_writer(dir.path(), &config).unwrap();
        let done = writer.last_seq();
        seen_seq.push(done);
        for (seq, document) in (1..).zip(&outbox).skip(done as usize) {
            writer
                .upsert(StoredDocument {
                    fingerprint: seq,
                    seq,
                    fetched_ms: 0,
                    changed_ms: 1_700_000_000_000,
                    document: document.clone(),
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
    let reader = open_reader(dir.path(), &ANALYZER, &config).unwrap();
    assert_eq!(reader.num_docs().unwrap(), 20);
    assert_eq!(reader.last_seq().unwrap(), 20);
}

#[test]
fn replay_adds_uncommitted_tail() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::default();
    let text = document("https://a.example/1", "日报", "日产原油");
    let mut writer = open_writer(dir.path(), &config).unwrap();
    add(&mut writer, 1, &text);
    writer.commit(1).unwrap();
    add(&mut writer, 2, &text);
    drop(writer);
    let mut writer = open_writer(dir.path(), &config).unwrap();
    assert_eq!(writer.last_seq(), 1);
    add(&mut writer, 2, &text);
    add(&mut writer, 2, &text);
    writer.commit(2).unwrap();
    assert_eq!(writer.last_seq(), 2);
    // The commit has begun to merge, since a segment has more replaced documents than others.
    assert!(!writer.embedded().tidy().unwrap());
    writer.close().unwrap();
    let reader = open_reader(dir.path(), &ANALYZER, &config).unwrap();
    assert_eq!(reader.num_docs().unwrap(), 2);
    // A merge keeps what the commit before it noted.
    assert_eq!(reader.last_seq().unwrap(), 2);
}

#[test]
fn leftovers_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::default();
    let text = document("https://a.example/1", "日报", "日产原油");
    let mut writer = open_writer(dir.path(), &config).unwrap();
    add(&mut writer, 1, &text);
    add(&mut writer, 2, &text);
    writer.commit(2).unwrap();
    drop(writer);
    let names = || -> Vec<String> {
        let entries = std::fs::read_dir(dir.path()).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        entries.map(|e| name(e).into_string().unwrap()).collect()
    };
    let term = names().into_iter().find(|n| n.ends_with(".term")).unwrap();
    let segment = term.trim_end_matches(".term");
    // Which documents are replaced was written, the commit was not. The next one gives the file one of these names.
    for opstamp in 1..100 {
        std::fs::write(dir.path().join(format!("{segment}.{opstamp}.del")), b"cut").unwrap();
    }
    std::fs::write(dir.path().join(".tmpAbCdEf"), b"cut").unwrap();
    let mut writer = open_writer(dir.path(), &config).unwrap();
    add(&mut writer, 1, &text);
    writer.commit(3).unwrap();
    drop(writer);
    let reader = open_reader(dir.path(), &ANALYZER, &config).unwrap();
    assert_eq!(reader.num_docs().unwrap(), 2);
    let left = names().into_iter();
    let left: Vec<String> = left
        .filter(|n| n.ends_with(".del") || n == ".tmpAbCdEf")
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn broken_folders_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::default();
    let open = |path: &std::path::Path| open_reader(path, &ANALYZER, &config).map(|_| ());
    let nothing = dir.path().join("nothing");
    assert!(matches!(open(&nothing), Err(IndexError::Missing(_))));
    assert!(!nothing.exists(), "looking must not create");

    let index = dir.path().join("index");
    let mut writer = open_writer(&index, &config).unwrap();
    add(
        &mut writer,
        1,
        &document("https://a.example/1", "日报", "日产原油"),
    );
    writer.commit(1).unwrap();
    let second = open_writer(&index, &config).map(|_| ());
    assert!(matches!(second, Err(IndexError::Locked(_))), "{second:?}");
    drop(writer);

    let meta = index.join("meta.json");
    let good = std::fs::read_to_string(&meta).unwrap();
    for cut in [0, 1, good.len() / 2, good.len() - 2] {
        std::fs::write(&meta, &good.as_bytes()[..cut]).unwrap();
        for result in [open(&index), open_writer(&index, &config).map(|_| ())] {
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
    let error = open_writer(&index, &config).map(|_| ()).unwrap_err();
    assert!(matches!(error, IndexError::Format { .. }), "{error}");

    // The index of the format before is searched until it is made again, and not written to.
    std::fs::write(&meta, good.replace(&format(FORMAT), &format(FORMAT - 1))).unwrap();
    let old = open_reader(&index, &ANALYZER, &config).unwrap();
    assert_eq!(old.outdated_format(), Some(FORMAT - 1));
    assert_eq!(ids(&old, &literal("日产原油")), [1]);
    assert!(can_be_searched(&index));
    let error = open_writer(&index, &config).map(|_| ()).unwrap_err();
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
    let on_file = open_writer(&dir.path().join("file"), &config).map(|_| ());
    assert!(
        matches!(on_file, Err(IndexError::Unreadable { .. })),
        "{on_file:?}"
    );
}

#[test]
fn open_refuses_other_store() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::default();
    let mut writer = open_writer(dir.path(), &config).unwrap();
    add(
        &mut writer,
        1,
        &document("https://a.example/1", "日报", "日产原油"),
    );
    writer.commit(1).unwrap();
    drop(writer);
    let noted = noted(dir.path()).unwrap();
    assert_eq!((noted.seq, noted.format, noted.store), (1, FORMAT, STORE));
    let other = Writer::open(
        dir.path(),
        &ANALYZER,
        &config,
        documents_of(dir.path()),
        STORE + 1,
    );
    let error = other.map(|_| ()).unwrap_err();
    assert!(matches!(error, IndexError::OtherStore(_)), "{error}");
}

#[test]
fn swap_under_open_readers() {
    let dir = tempfile::tempdir().unwrap();
    let index = dir.path().join("index");
    let config = Config::default();
    let write = |path: &Path, texts: &[&str]| {
        let mut writer = open_writer(path, &config).unwrap();
        for (n, text) in (1..).zip(texts) {
            add(
                &mut writer,
                n,
                &document("https://a.example/", "日报", text),
            );
            documents_of(&index).put(StoredDocument {
                fingerprint: n,
                seq: n,
                fetched_ms: 0,
                changed_ms: 0,
                document: document("https://a.example/", "日报", text),
            });
        }
        writer.commit(9).unwrap();
        writer.close().unwrap();
    };
    write(&index, &["日产原油"]);
    let reader = open_reader(&index, &ANALYZER, &config).unwrap();
    assert_eq!(ids(&reader, &literal("日产原油")), [1]);
    write(&fresh_dir(&index), &["日产原油", "日产原油"]);
    // A crash before this leaves the old one, a crash after it the new one.
    put_in_place(&index).unwrap();
    assert_eq!(ids(&reader, &literal("日产原油")), [1, 2]);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    // And where none is there.
    write(&fresh_dir(&index), &["日产原油"]);
    std::fs::remove_dir_all(&index).unwrap();
    put_in_place(&index).unwrap();
    assert_eq!(ids(&reader, &literal("日产原油")), [1]);
}

/// A tokenizer that panics at one character, as a mistake in one would.
#[derive(Clone)]
struct Mine;

impl tantivy::tokenizer::Tokenizer for Mine {
    type TokenStream<'a> = tantivy::tokenizer::BoxTokenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        assert!(!text.contains('雷'), "a mine");
        tantivy::tokenizer::BoxTokenStream::new(EndOfText)
    }
}

struct EndOfText;

impl tantivy::tokenizer::TokenStream for EndOfText {
    fn advance(&mut self) -> bool {
        false
    }

    fn token(&self) -> &tantivy::tokenizer::Token {
        unreachable!("there is none")
    }

    fn token_mut(&mut self) -> &mut tantivy::tokenizer::Token {
        unreachable!("there is none")
    }
}

/// The index works in threads of its own: the commit fails and names nobody. Tried alone, the guilty one is known.
#[test]
fn try_alone_finds_panic() {
    let dir = tempfile::tempdir().unwrap();
    let open = || {
        let tokenizers = crate::analyze::tokenizers();
        tokenizers.register(crate::analyze::GRAMS, Mine);
        let documents = documents_of(dir.path());
        Writer::open_with(
            dir.path(),
            &ANALYZER,
            &Config::default(),
            documents,
            STORE,
            tokenizers,
        )
        .unwrap()
    };
    let good = document("https://a.example/1", "日报", "日产原油");
    let bad = document("https://a.example/2", "日报", "地雷");
    let stored = |seq: u64, document: &Document| StoredDocument {
        fingerprint: seq,
        seq,
        fetched_ms: 0,
        changed_ms: 0,
        document: document.clone(),
    };
    let mut writer = open();
    let added = [(1, &good), (2, &bad)]
        .map(|(seq, document)| writer.upsert(&stored(seq, document)).is_ok());
    assert!(!added.contains(&false) && writer.commit(2).is_err());
    drop(writer);

    let mut writer = open();
    assert_eq!(caught(|| writer.try_alone(&stored(1, &good))), Ok(Ok(())));
    let reason = caught(|| writer.try_alone(&stored(2, &bad))).unwrap_err();
    assert_eq!(reason, "panicked: a mine");
    writer.upsert(&stored(1, &good)).unwrap();
    writer
        .skip_document(SkippedDocument {
            fingerprint: 2,
            seq: 2,
            url: bad.url.clone(),
            reason,
        })
        .unwrap();
    writer.commit(2).unwrap();
    assert_eq!(noted(dir.path()).unwrap().left_out.count(), 1);
    drop(writer);
    assert_eq!(open().left_out().listed[0].url, bad.url);
}

/// Also where the library of this version could not even read it.
#[test]
fn open_refuses_newer_format() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::default();
    let mut writer = open_writer(dir.path(), &config).unwrap();
    writer.commit(1).unwrap();
    writer.close().unwrap();
    let meta = dir.path().join("meta.json");
    let good = std::fs::read_to_string(&meta).unwrap();
    let format = |number: u32| format!("\\\"format\\\":{number}");
    let newer = good.replace(&format(FORMAT), &format(FORMAT + 1));
    assert_ne!(newer, good);
    for newer in [newer.clone(), newer.replace("\"segments\"", "\"parts\"")] {
        std::fs::write(&meta, &newer).unwrap();
        for refused in [
            open_writer(dir.path(), &config).map(|_| ()),
            open_reader(dir.path(), &ANALYZER, &config).map(|_| ()),
        ] {
            let error = refused.unwrap_err();
            assert!(matches!(error, IndexError::Newer { .. }), "{error:?}");
            assert!(
                error.to_string().contains("install the newer taojin again"),
                "{error}"
            );
        }
        assert_eq!(std::fs::read_to_string(&meta).unwrap(), newer);
    }
}

#[test]
fn merges_stop_without_space() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open_writer(dir.path(), &Config::default()).unwrap();
    let segments = |writer: &mut Keeping| writer.embedded().segments().unwrap();
    let text = document("https://a.example/1", "日报", "日产原油");
    let fill = |writer: &mut Keeping, from: u64| {
        for seq in from..from + 20 {
            add(writer, seq, &text);
            writer.commit(seq).unwrap();
        }
    };
    writer.embedded().allow_merges(false);
    fill(&mut writer, 1);
    assert!(!writer.embedded().tidy().unwrap());
    assert_eq!(segments(&mut writer), 20);
    // There is room again.
    writer.embedded().allow_merges(true);
    assert!(writer.embedded().tidy().unwrap());
    writer.close().unwrap();
    let mut writer = open_writer(dir.path(), &Config::default()).unwrap();
    assert_eq!(segments(&mut writer), 1);
}
