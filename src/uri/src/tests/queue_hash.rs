use crate::{QueueHash, elf, hf, hfip};

/// ELF, HfIp and hf of one text.
type Vector = (&'static str, u32, u32, u32);

const VECTORS: &[Vector] = &[
    ("", 0, 0, 0),
    ("a", 97, 97, 291),
    ("abcd", 424_084, 1_684_234_849, 2_970),
    ("abcde", 6_785_445, 1_684_234_756, 4_485),
    ("http://news.cnpc.com.cn/", 107_368_927, 291_062_356, 79_725),
    (
        "http://news.cnpc.com.cn/system/2016/05/09/001591599.shtml",
        34_651_804,
        173_545_824,
        365_514,
    ),
];

#[test]
fn queue_hash_published_vectors() {
    for &(text, want_elf, want_hfip, want_hf) in VECTORS {
        let bytes = text.as_bytes();
        assert_eq!(
            (elf(bytes), hfip(bytes), hf(bytes)),
            (want_elf, want_hfip, want_hf),
            "{text}"
        );
    }
    let (text, ..) = VECTORS[5];
    let shards = QueueHash::ALL.map(|h| h.shard(text, 50));
    assert_eq!(shards[1..], [24, 14, 4]);
    for hash in QueueHash::ALL {
        assert_eq!(hash.shard(text, 0), 0, "no shard at all counts as one");
        assert_eq!(hash.shard("石油\u{7f}", 1), 0);
    }
}

/// Loads of `shards` queues under the addresses of one host of a news system.
fn loads(hash: QueueHash, shards: u32) -> Vec<u32> {
    let mut loads = vec![0u32; shards as usize];
    for i in 0..37_000u32 {
        let (month, day) = (i / 3_000 + 1, i / 100 % 28 + 1);
        let text = format!(
            "http://news.cnpc.com.cn/system/2016/{month:02}/{day:02}/{:09}.shtml",
            1_570_000 + i
        );
        loads[hash.shard(&text, shards) as usize] += 1;
    }
    loads
}

/// Heaviest queue over the mean, and how many stay empty.
fn balance(loads: &[u32]) -> (f64, usize) {
    let mean = f64::from(loads.iter().sum::<u32>()) / loads.len() as f64;
    let max = f64::from(*loads.iter().max().unwrap());
    (max / mean, loads.iter().filter(|&&l| l == 0).count())
}

#[test]
fn xxh3_even_distribution() {
    for shards in [50, 53, 64, 100] {
        let (max, empty) = balance(&loads(QueueHash::Xxh3, shards));
        assert!(
            max < 1.25 && empty == 0,
            "xxh3 over {shards}: {max} {empty}"
        );
    }
    // what the documented table says of the others
    assert_eq!(balance(&loads(QueueHash::Elf, 50)).1, 25);
    assert_eq!(balance(&loads(QueueHash::Elf, 64)).1, 60);
    assert!(balance(&loads(QueueHash::HfIp, 64)).1 >= 32);
    for hash in [QueueHash::HfIp, QueueHash::Elf] {
        let (max, empty) = balance(&loads(hash, 53));
        assert!(
            max < 1.6 && empty == 0,
            "{hash:?} over a prime: {max} {empty}"
        );
    }
}
