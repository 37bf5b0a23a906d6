//! Labelled pages and saved runs on disk: what is wrong with them is reported with file and line.

use std::fs;
use std::path::Path;

use crate::{EvalError, Extraction, PageFilter, Run, choose, run};

fn write(dir: &Path, file: &str, text: impl AsRef<[u8]>) {
    let path = dir.join(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    fs::write(path, text).expect("written");
}

fn refusal(dir: &Path, choice: &PageFilter) -> String {
    choose(dir, choice).expect_err("refused").to_string()
}

#[test]
fn corpus_without_labels() {
    let dir = tempfile::tempdir().expect("temporary directory");
    write(dir.path(), "set/html/a.html", "<p>");
    let line = refusal(dir.path(), &PageFilter::default());
    assert!(line.contains("no labelled pages"), "{line}");
    let line = refusal(&dir.path().join("nowhere"), &PageFilter::default());
    assert!(line.contains("nowhere"), "{line}");
}

#[test]
fn corpus_broken_line() {
    for (bad, part) in [
        ("{\"id\": \"b\"", "EOF"),
        ("{\"id\": \"b\", \"title\": 3}", "expected a string"),
        ("{\"title\": \"no id\"}", "`id`"),
        ("{\"id\": \"../secret\"}", "`id`"),
        ("{\"id\": \"/etc/secret\"}", "`id`"),
        ("{\"id\": \"b\", \"comments\": [7]}", "a comment is"),
        ("[]", ""),
        ("\u{fffd}", ""),
    ] {
        let dir = tempfile::tempdir().expect("temporary directory");
        let gold = format!("\u{feff}{{\"id\": \"a\"}}\r\n\n{bad}\n");
        write(dir.path(), "set/gold.jsonl", gold);
        let line = refusal(dir.path(), &PageFilter::default());
        assert!(line.contains("gold.jsonl:3: "), "{bad}: {line}");
        assert!(line.contains(part), "{bad}: {line}");
        assert!(!line.contains("line 1"), "{bad}: {line}");
    }
    let dir = tempfile::tempdir().expect("temporary directory");
    write(dir.path(), "set/gold.jsonl", b"{\"id\": \"\xff\"}");
    let line = refusal(dir.path(), &PageFilter::default());
    assert!(line.contains("gold.jsonl:1: "), "{line}");
}

#[test]
fn filter_unknown_set_or_language() {
    let dir = tempfile::tempdir().expect("temporary directory");
    write(
        dir.path(),
        "one/gold.jsonl",
        "{\"id\": \"a\", \"lang\": \"zh\"}",
    );
    write(
        dir.path(),
        "two/gold.jsonl",
        "{\"id\": \"a\"}\n{\"id\": \"b\", \"bad_gold\": true}",
    );
    let mut choice = PageFilter {
        sets: vec!["three".to_owned()],
        ..PageFilter::default()
    };
    assert_eq!(
        refusal(dir.path(), &choice),
        "no set three; there are: one, two"
    );
    choice.sets = vec!["two".to_owned()];
    let (sets, pages) = choose(dir.path(), &choice).expect("chosen");
    assert_eq!((sets.len(), pages), (1, 1));
    choice.lang = Some("zh".to_owned());
    assert_eq!(refusal(dir.path(), &choice), "no labelled page has lang zh");
}

#[test]
fn run_missing_page_is_empty() {
    let dir = tempfile::tempdir().expect("temporary directory");
    write(dir.path(), "gold.jsonl", "{\"id\": \"a\", \"text\": \"x\"}");
    let (sets, _) = choose(dir.path(), &PageFilter::default()).expect("chosen");
    assert_eq!(
        Some(sets[0].name.as_str()),
        dir.path().file_name().and_then(|n| n.to_str())
    );
    let mut unread = 0;
    let run = run(
        &sets,
        &PageFilter::default(),
        &Extraction::default(),
        |page| {
            unread += usize::from(page.document.is_err());
            Ok(())
        },
    )
    .expect("judged");
    assert_eq!((unread, run.pages.len(), run.unit), (1, 1, None));
    assert!(run.pages[0].missing);
    assert_eq!(run.pages[0].text.map(|t| t.f1()), Some(0.0));
}

#[test]
fn run_save_and_load() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let text = "页岩气水平井分段压裂试验在盆地南缘完成，日产量超过设计。".repeat(20);
    let gold = serde_json::json!({"id": "a", "title": "t", "published": "2020-01-02", "text": text, "comments": ["c"]});
    write(dir.path(), "gold.jsonl", gold.to_string());
    write(
        dir.path(),
        "html/a.html",
        format!("<title>t</title><h1>t</h1><p>{text}</p>"),
    );
    let (sets, _) = choose(dir.path(), &PageFilter::default()).expect("chosen");
    let saved = run(
        &sets,
        &PageFilter::default(),
        &Extraction::default(),
        |_| Ok(()),
    )
    .expect("judged");
    assert!(saved.pages[0].ns > 0 && saved.pages[0].bytes > 0);
    let file = dir.path().join("run.jsonl");
    saved.save(&file).expect("saved");
    assert_eq!(Run::load(&file).expect("loaded").pages, saved.pages);

    let gone = saved
        .save(&dir.path().join("no/folder"))
        .expect_err("refused");
    assert!(matches!(gone, EvalError::Write { .. }), "{gone}");
    for (text, part) in [
        ("", "run.jsonl:1: not a run"),
        ("{\"id\": \"a\"}\n", "run.jsonl:1: not a run"),
        (
            "{\"taojin_eval\": 9}\n",
            "run.jsonl:1: saved by another version (9)",
        ),
        (
            "{\"taojin_eval\": 1}\n{\"set\": \"x\"}\n",
            "run.jsonl:2: missing field",
        ),
    ] {
        fs::write(&file, text).expect("written");
        let line = Run::load(&file).expect_err("refused").to_string();
        assert!(line.contains(part), "{line}");
    }
}
