//! Bodies of documents: smaller with a dictionary, read back whatever they were written with, and one damaged body is no
//! more than that.

use super::*;
use crate::store::documents::PackedBody;

/// Sentences that the documents of a site share, each with numbers of its own.
fn article(n: usize) -> String {
    let about = ["页岩气", "常规油", "煤层气", "液化天然气"][n % 4];
    format!(
        "{{\"title\":\"{about}第{n}号公报\",\"text\":\"本报讯 记者从能源局获悉,{about}日产量达到{}万立方米,比上月增长{}个百分点。\
         编号{:x}。\"}}",
        n * 7919 % 1009,
        n % 17,
        n.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    )
}

fn put(store: &mut Store, articles: std::ops::Range<usize>) {
    let documents = articles.map(|n| (n as u64, says(article(n)))).collect();
    let batch = Batch {
        documents,
        ..Batch::default()
    };
    store.commit(&batch, NOW).unwrap();
}

fn packed_bytes(store: &Store, n: usize) -> usize {
    let row = store.document(n as u64).unwrap().unwrap();
    let body = store.body(&row).unwrap().unwrap();
    assert_eq!(String::from_utf8(body).unwrap(), article(n));
    row.body.unwrap().0.len()
}

#[test]
fn body_dictionary_shrinks_documents() {
    let (dir, mut store) = new_store();
    put(&mut store, 0..2_000);
    put(&mut store, 2_000..2_010);
    let (alone, with_dictionary) = (packed_bytes(&store, 1_999), packed_bytes(&store, 2_000));
    assert!(with_dictionary * 2 < alone, "{with_dictionary} {alone}");
    // The next process and a reader next to it use the same dictionary.
    let reader = store.reader().unwrap();
    drop(store);
    let mut store = Store::open(dir.path()).unwrap();
    put(&mut store, 2_010..2_011);
    assert!(packed_bytes(&store, 2_010) * 2 < alone);
    let row = reader.document(2_010).unwrap().unwrap();
    assert_eq!(
        reader.body(&row).unwrap().unwrap(),
        article(2_010).as_bytes()
    );
}

#[test]
fn body_empty_is_stored() {
    let (_dir, mut store) = new_store();
    for round in 0..3_u64 {
        let documents = (0..2_000).map(|n| (round * 2_000 + n, says([]))).collect();
        let batch = Batch {
            documents,
            ..Batch::default()
        };
        store.commit(&batch, NOW).unwrap();
    }
    let row = store.document(5_999).unwrap().unwrap();
    assert_eq!(store.body(&row).unwrap(), Some(Vec::new()));
}

#[test]
fn body_frame_round_trip() {
    let (_dir, mut store) = new_store();
    let frame = zstd::bulk::compress(b"text", 3).unwrap();
    let batch = Batch {
        documents: vec![(1, says(frame.clone()))],
        ..Batch::default()
    };
    store.commit(&batch, NOW).unwrap();
    let mut row = store.document(1).unwrap().unwrap();
    assert_eq!(store.body(&row).unwrap(), Some(frame.clone()));
    row.body = Some(PackedBody(frame));
    assert_eq!(store.body(&row).unwrap(), Some(b"text".to_vec()));
}

#[test]
fn body_damaged_is_error() {
    let (_dir, mut store) = new_store();
    put(&mut store, 0..2_000);
    put(&mut store, 2_000..2_001);
    let mut row = store.document(2_000).unwrap().unwrap();
    let good = row.body.clone().unwrap().0;
    let bomb = zstd::bulk::compress(&vec![b' '; (256 << 20) + 1], 1).unwrap();
    let mut of_no_dictionary = good.clone();
    of_no_dictionary[5..9].fill(0x55);
    let mut changed = good.clone();
    changed[good.len() / 2] ^= 1;
    let short = good[..good.len() - 1].to_vec();
    for bad in [bomb, of_no_dictionary, changed, short, good[..4].to_vec()] {
        row.body = Some(PackedBody(bad));
        let error = store.body(&row).unwrap_err();
        assert!(matches!(error, StoreError::Body { .. }), "{error}");
        assert!(error.to_string().contains("http://a.cn/"), "{error}");
    }
    row.body = Some(PackedBody(good));
    assert!(store.body(&row).is_ok());
}

#[test]
fn body_flipped_bit_is_noticed() {
    let (_dir, mut store) = new_store();
    put(&mut store, 0..2_000);
    put(&mut store, 2_000..2_001);
    for n in [7, 2_000] {
        let mut row = store.document(n).unwrap().unwrap();
        let good = row.body.clone().unwrap().0;
        // What begins otherwise is no frame; the decoder of documents refuses it.
        for bit in 4 * 8..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            row.body = Some(PackedBody(bad));
            if let Ok(Some(body)) = store.body(&row) {
                let whole = article(usize::try_from(n).unwrap());
                assert_eq!(body, whole.as_bytes(), "bit {bit}");
            }
        }
    }
}

/// Spoils the first page of the database that is wanted, by its number and its bytes.
fn spoil(dir: &Path, is_page: impl Fn(i64, &[u8]) -> bool) {
    let path = dir.join("crawl.sqlite");
    let mut bytes = std::fs::read(&path).unwrap();
    let mut pages = bytes.chunks_mut(8192).zip(1_i64..);
    let page = pages.find(|(page, number)| is_page(*number, page));
    page.unwrap().0[0] = 0;
    std::fs::write(&path, bytes).unwrap();
}

/// Compression saves room; nothing that stands in its way may stop what is crawled from being stored.
#[test]
fn commit_survives_damaged_pages() {
    let (dir, mut store) = new_store();
    put(&mut store, 0..2_000);
    drop(store);
    // A page full of documents, as a dictionary is about to be made of them.
    let url = b"http://a.cn/";
    spoil(dir.path(), |_, page| {
        page[0] == 13 && page.windows(url.len()).filter(|w| w == url).count() > 2
    });
    let mut store = Store::open(dir.path()).unwrap();
    put(&mut store, 2_000..2_001);
    assert!(packed_bytes(&store, 2_000) > 0);

    let (dir, mut store) = new_store();
    put(&mut store, 0..2_000);
    put(&mut store, 2_000..2_001);
    let sql = "SELECT rootpage FROM sqlite_master WHERE name = 'dictionary'";
    let root: i64 = file(&store).query_row(sql, [], |row| row.get(0)).unwrap();
    drop(store);
    // The dictionary itself.
    spoil(dir.path(), |number, _| number == root);
    let mut store = Store::open(dir.path()).unwrap();
    put(&mut store, 2_001..2_002);
    assert!(packed_bytes(&store, 2_001) > 0);
}
