//! How evenly the queue hashes share out addresses: the heaviest queue by the mean, and the queues that stay empty; for 37,000
//! generated addresses of one host, and those of evaluation sets. `cargo bench --bench balance [-- FOLDER]`.

#![expect(clippy::print_stdout, reason = "a report for a person")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use taojin_uri::{CrawlUri, QueueHash};

const QUEUES: [u32; 7] = [2, 4, 8, 16, 50, 53, 64];

fn main() {
    let generated: Vec<String> = (0..37_000)
        .map(|i| {
            let (month, day) = (i / 3_000 + 1, i / 100 % 28 + 1);
            let number = 1_570_000 + i;
            format!("http://news.cnpc.com.cn/system/2016/{month:02}/{day:02}/{number:09}.shtml")
        })
        .collect();
    report("generated", &generated);
    // cargo passes `--bench` as well.
    let folder = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    if let Some(folder) = folder {
        report("real", &addresses(Path::new(&folder)));
    }
}

/// The canonical addresses in the gold of all sets of a folder.
fn addresses(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for set in fs::read_dir(folder).expect("a folder of sets").flatten() {
        let gold = fs::read_to_string(set.path().join("gold.jsonl")).unwrap_or_default();
        for line in gold.lines() {
            let page: Value = serde_json::from_str(line).expect("one object a line");
            let uri = page["url"]
                .as_str()
                .and_then(|url| CrawlUri::parse(url).ok());
            found.extend(uri.map(|uri| uri.to_string()));
        }
    }
    found.sort();
    found.dedup();
    found
}

fn report(name: &str, urls: &[String]) {
    println!(
        "\n{} {name} addresses: max / mean load (empty queues)\n",
        urls.len()
    );
    println!("| queues | xxh3 | HfIp | hf | ELF |\n|---|---|---|---|---|");
    for queues in QUEUES {
        let cells: Vec<String> = QueueHash::ALL
            .iter()
            .map(|h| cell(*h, urls, queues))
            .collect();
        println!("| {queues} | {} |", cells.join(" | "));
    }
}

fn cell(hash: QueueHash, urls: &[String], queues: u32) -> String {
    let mut loads = vec![0u32; queues as usize];
    for url in urls {
        loads[hash.shard(url, queues) as usize] += 1;
    }
    let most = loads.iter().max().copied().unwrap_or(0);
    let mean = urls.len() as f64 / f64::from(queues);
    let empty = loads.iter().filter(|l| **l == 0).count();
    format!("{:.2} ({empty})", f64::from(most) / mean)
}
