//! How evenly the queue hashes divide addresses: the heaviest queue by the mean, and the queues that stay empty, for the
//! addresses of the sample web and for 37,000 generated ones of one host. `cargo bench --bench balance`.

#![expect(clippy::print_stdout, reason = "a report for a person")]

use taojin_demo::World;
use taojin_uri::QueueHash;

const QUEUES: [u32; 6] = [50, 53, 64, 100, 101, 1024];

fn main() {
    let world = World::generate(7, 1_790_000_000_000, 80);
    let sample: Vec<String> = world.articles.iter().map(|a| world.url(a)).collect();
    let generated: Vec<String> = (0..37_000)
        .map(|i| {
            let (month, day) = (i / 3_000 + 1, i / 100 % 28 + 1);
            let number = 1_570_000 + i;
            format!("http://news.cnpc.com.cn/system/2016/{month:02}/{day:02}/{number:09}.shtml")
        })
        .collect();
    for (name, urls) in [("sample", &sample), ("generated", &generated)] {
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
}

fn cell(hash: QueueHash, urls: &[String], queues: u32) -> String {
    let mut loads = vec![0u32; usize::try_from(queues).expect("few queues")];
    for url in urls {
        loads[usize::try_from(hash.shard(url, queues)).expect("few queues")] += 1;
    }
    let most = loads.iter().max().copied().unwrap_or(0);
    let mean = urls.len() as f64 / f64::from(queues);
    let empty = loads.iter().filter(|l| **l == 0).count();
    format!("{:.2} ({empty})", f64::from(most) / mean)
}
