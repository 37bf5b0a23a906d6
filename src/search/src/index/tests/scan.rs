use super::*;

on_each_engine!(
    scan_continues_from_mark,
    scan_interrupted_keeps_mark,
    scan_loose_widens_words,
    latest_newest_first,
);

fn put(writer: &mut Keeping, fingerprint: u64, seq: u64, fetched_ms: i64, text: &str) {
    let document = document("https://a.example/", "标题", text);
    writer
        .upsert(StoredDocument {
            fingerprint,
            seq,
            fetched_ms,
            changed_ms: 1_700_000_000_000,
            document,
        })
        .unwrap();
}

fn scanned(reader: &Reader, query: &Query, after: Watermark) -> (Vec<u64>, Watermark) {
    let mut found = Vec::new();
    let reached = reader
        .scan(query, after, |stored| {
            found.push(stored.fingerprint);
            true
        })
        .unwrap();
    found.sort_unstable();
    (found, reached)
}

fn scan_continues_from_mark(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
    let all = Query::default();
    assert_eq!(
        scanned(&reader, &all, Watermark::default()),
        (vec![], Watermark::default())
    );
    for at in 1..=50 {
        put(&mut writer, at, at, 1_000, "页岩气开发");
    }
    writer.commit(50).unwrap();
    let (found, mark) = scanned(&reader, &all, Watermark::default());
    assert_eq!(found, (1..=50).collect::<Vec<u64>>());
    assert_eq!(scanned(&reader, &all, mark), (vec![], mark));

    // A changed document, a new one, one that is taken out, and an import: no new number, but a later time.
    put(&mut writer, 7, 51, 2_000, "页岩油开发");
    put(&mut writer, 60, 52, 2_000, "煤层气开发");
    writer.delete(8, 53).unwrap();
    writer.commit(53).unwrap();
    put(&mut writer, 61, 53, 2_001, "页岩油产量");
    writer.commit(53).unwrap();
    let (found, later) = scanned(&reader, &all, mark);
    assert_eq!(found, [7, 60, 61]);
    assert_eq!(
        scanned(&reader, &literal("页岩油"), mark),
        (vec![7, 61], later)
    );
    assert_eq!(scanned(&reader, &all, Watermark::default()).0.len(), 51);
    assert_eq!(reader.watermark().unwrap(), later);
    assert_eq!(scanned(&reader, &all, later).0, [0; 0]);
}

fn scan_interrupted_keeps_mark(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
    for at in 1..=5 {
        put(&mut writer, at, at, 1_000, "页岩气开发");
    }
    writer.commit(5).unwrap();
    let start = Watermark {
        seq: 2,
        fetched_ms: 1_000,
    };
    let mut count = 0;
    let end = reader.scan(&Query::default(), start, |_| {
        count += 1;
        count < 2
    });
    assert_eq!((end.unwrap(), count), (start, 2));
}

fn scan_loose_widens_words(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
    put(&mut writer, 1, 1, 1_000, "输气管道投产");
    put(&mut writer, 2, 2, 1_000, "管道工人");
    writer.commit(2).unwrap();
    let mut query = Query::plain("输气管道");
    query.limit = 10;
    let searched = ids(&reader, &query);
    let mut loose = Vec::new();
    let each = |stored: StoredDocument| {
        loose.push(stored.fingerprint);
        true
    };
    reader.scan(&query, Watermark::default(), each).unwrap();
    loose.sort_unstable();
    assert_eq!(loose, searched);
    assert_eq!(scanned(&reader, &query, Watermark::default()).0, [1]);
}

fn latest_newest_first(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
    for at in 1..=30 {
        put(
            &mut writer,
            at,
            at,
            1_000 + at.cast_signed() * 7 % 31,
            "页岩气",
        );
    }
    writer.commit(30).unwrap();
    let latest = reader.latest(&literal("页岩"), 5).unwrap();
    let times: Vec<i64> = latest.iter().map(|stored| stored.fetched_ms).collect();
    assert_eq!(times, [1_030, 1_029, 1_028, 1_027, 1_026]);
}
