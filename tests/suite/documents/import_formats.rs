//! What `taojin export` writes, `taojin import` reads again: plain, compressed, from a file and from standard input.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::support::folder::{Folder, RunExt as _, assert_has};

/// Lines of the export; enough that a compressed stream has several blocks.
const DOCUMENTS: usize = 300;
const PACKED: [&str; 5] = ["export", "--format", "jsonl.zst", "-o", "all.jsonl.zst"];

fn filled() -> Folder {
    let folder = Folder::new("", &[]);
    folder.import((0..DOCUMENTS).map(|at| {
        let text = format!("页岩油产量上升第{at}次，{}。", "储气库注气".repeat(at % 17));
        let url = format!("https://a.example/{at}");
        json!({"url": url, "title": format!("第{at}篇"), "text": text, "published": "2026-05-01", "author": "李四"})
    }));
    folder
}

/// The documents of a data folder in the order of their addresses.
fn exported(folder: &Folder, data: &str) -> Vec<String> {
    let documents = folder.lines(&["--data-dir", data, "export"]);
    let mut lines: Vec<String> = documents
        .into_iter()
        .map(|mut document| {
            // When it came into this index, and what it is called there.
            let fields = document.as_object_mut().expect("an object");
            fields.remove("fetched_ms");
            assert!(fields.remove("id").is_some());
            document.to_string()
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn import_reads_every_export() {
    let folder = filled();
    let all = exported(&folder, "data");
    assert_eq!(all.len(), DOCUMENTS);
    folder.done(&["export", "-o", "all.jsonl"]);
    folder.done(&PACKED);
    let plain = folder.read("all.jsonl").into_bytes();
    // Two members one after the other are one file.
    let mut packed = Vec::new();
    let (first, rest) = plain.split_at(plain.len() / 2);
    for part in [first, rest] {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(part).expect("packed");
        packed.extend(encoder.finish().expect("packed"));
    }
    // The name does not matter.
    folder.write("all.of.it", packed);
    for file in ["all.jsonl", "all.jsonl.zst", "all.of.it"] {
        let named = format!("from-{file}");
        folder.done(&["--data-dir", &named, "import", file]);
        assert!(exported(&folder, &named) == all, "{file}");
        let piped = format!("piped-{file}");
        let input = fs::File::open(folder.file(file)).expect("the export");
        let mut import = folder.taojin(&["--data-dir", &piped, "import", "-"]);
        import.stdin(input).ran().good();
        assert!(
            exported(&folder, &piped) == all,
            "{file} from standard input"
        );
    }
}

#[test]
fn import_refuses_other_formats() {
    let folder = filled();
    folder.done(&["export", "-o", "in.jsonl"]);
    folder.done(&["export", "--format", "parquet", "-o", "all.parquet"]);
    folder.write("x.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    for (file, wanted) in [
        ("all.parquet", "all.parquet: is a Parquet file"),
        ("x.png", "x.png: is a PNG picture"),
        (".", ".: is a folder"),
        ("none.jsonl", "none.jsonl: there is no such file"),
    ] {
        let line = folder.refused(&["--data-dir", "new", "import", "in.jsonl", file]);
        assert_has(&line, &[wanted]);
        assert!(!folder.file("new").exists(), "{file}: something was made");
    }
}

#[test]
fn import_torn_file_fails() {
    let folder = filled();
    folder.done(&["export", "-o", "in.jsonl"]);
    folder.done(&PACKED);
    let whole = fs::read(folder.file("all.jsonl.zst")).expect("the export");
    folder.write("torn", &whole[..whole.len() - 9]);
    let import = ["--data-dir", "other", "import", "torn", "in.jsonl"];
    let said = folder.run(&import).failed(1).err;
    assert_has(&said, &["torn: breaks off in line "]);
    // The next file is imported all the same.
    assert_eq!(exported(&folder, "other"), exported(&folder, "data"));
}
