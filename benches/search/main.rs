//! The figures of the search, over corpora that are not part of the program: ranking, literal recall, speed and size
//! of the index, latency through HTTP, reprints; and beside them what tantivy's own words and bigrams give.
//!
//! ```sh
//! cargo bench --bench search -- FOLDER [quality answers literal index latency clients reprints compare lexicon]
//! ```
//!
//! FOLDER holds `news.jsonl.gz` (`{"id","text"}` a line), `*_ir.json` (`{"docs":{id:text},"queries":[[id,text,id or
//! ids]]}`), `queries200_latency.txt` and `queries300_terms.txt`; for `lexicon`, `news.jsonl.gz` and a `lexicon.txt` of the
//! field are enough, and without the latter the built-in one is asked for. Compare the lines of one run only. With
//! `ENGINE=http://HOST:PORT` quality, literal, index, latency and clients are measured there as well, in an OpenSearch or
//! Elasticsearch of which one shard is used; whoever started it removes the indexes. With `THREADS=1,2` latency and clients are measured for one and for two threads of a search, in turns on one index, which is made
//! for the most.

#![expect(clippy::print_stdout, reason = "figures are what it is run for")]

mod answers;
mod clients;
mod collection;
mod compare;
mod corpus;
mod indexing;
mod lexicon;
mod quality;
mod reprints;

use std::path::Path;

use collection::Engine;

const PARTS: [&str; 9] = [
    "quality", "answers", "literal", "index", "latency", "clients", "reprints", "compare",
    "lexicon",
];

fn main() {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with("--"))
        .collect();
    let Some((folder, parts)) = args.split_first() else {
        println!(
            "usage: cargo bench --bench search -- FOLDER [{}]",
            PARTS.join(" ")
        );
        return;
    };
    let folder = Path::new(folder);
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|p| p == part);
    let analyzer = collection::analyzer();
    let scratch = tempfile::tempdir().expect("a folder for indexes");
    let news = corpus::news(folder);
    if wanted("quality") {
        quality::ranking(folder, scratch.path(), &analyzer, &news);
    }
    if wanted("answers") {
        answers::measure(scratch.path(), &analyzer, &news);
    }
    if ["index", "literal", "latency", "clients"]
        .into_iter()
        .any(wanted)
    {
        let engines = Engine::all().into_iter();
        let indexes: Vec<_> = engines
            .map(|engine| (engine.folder(scratch.path(), "news"), engine))
            .collect();
        for (dir, engine) in &indexes {
            indexing::build(dir, *engine, &analyzer, &news);
            if wanted("literal") {
                quality::literal(folder, (dir, *engine), &analyzer, &news);
            }
        }
        quality::totals(folder, &indexes, &analyzer);
        if wanted("latency") || wanted("clients") {
            clients::measure(
                folder,
                &indexes,
                &analyzer,
                wanted("latency"),
                wanted("clients"),
            );
        }
    }
    if wanted("reprints") {
        reprints::measure(scratch.path(), &analyzer, &news);
    }
    if wanted("compare") {
        compare::measure(folder, scratch.path(), &news);
    }
    if wanted("lexicon") {
        lexicon::measure(folder, scratch.path(), &news);
    }
}
