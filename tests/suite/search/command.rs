//! `taojin search` for a person: refused words in any place, how many hits there are and where the next ones are.

use std::fs;
use std::process::{Command, Output};

/// Documents of the index; every second one has the refused word.
const DOCUMENTS: usize = 24;

struct Index(tempfile::TempDir);

impl Index {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("temporary directory");
        let lines: String = (0..DOCUMENTS)
            .map(|at| {
                let job = if at % 2 == 0 { "招聘工程师" } else { "注气开始" };
                let document = serde_json::json!({
                    "url": format!("https://a.example/{at}"), "title": format!("储气库{job}第{at}号"),
                    "text": format!("文{at}号储气库{job}，本站记者报道。"), "author": "王小明", "source": "石油商报",
                });
                format!("{document}\n")
            })
            .collect();
        fs::write(dir.path().join("in.jsonl"), lines).expect("written");
        let index = Self(dir);
        assert!(index.run(&["import", "in.jsonl"]).status.success());
        index
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
        command
            .args(["--data-dir", "data"])
            .args(args)
            .current_dir(self.0.path());
        command.output().expect("taojin runs")
    }

    fn shown(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

#[test]
fn a_refused_word_may_stand_anywhere() {
    let index = Index::new();
    for args in [
        &["search", "储气库", "-招聘", "--json"][..],
        &["search", "--json", "储气库", "-招聘"],
        &["search", "-招聘", "储气库", "--json"],
        &["search", "-招聘", "--json", "储气库"],
        &["search", "--json", "--limit", "5", "储气库 -招聘"],
        &["search", "储气库", "-招聘", "--limit", "5", "--json"],
        &["search", "--json", "--", "-招聘"],
        &["search", "-招聘", "--json"],
        &["--verbose", "search", "-招聘", "--json"],
        // One whose first letter is that of an option.
        &["search", "储气库", "-招聘", "-volcano", "--json"],
    ] {
        let answer: serde_json::Value =
            serde_json::from_str(&index.shown(args)).unwrap_or_else(|e| panic!("{args:?}: {e}"));
        assert_eq!(answer["total"], DOCUMENTS / 2, "{args:?}");
    }
    // A mistyped option is no word.
    let wrong = index.run(&["search", "储气库", "--jsno"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("--jsno"));
    assert!(
        index
            .run(&["search", "--", "储气库", "--jsno"])
            .status
            .success()
    );
}

#[test]
fn the_first_line_counts_and_the_last_one_leads_on() {
    let index = Index::new();
    let first = index.shown(&["search", "储气库", "--reprints"]);
    let head = first.lines().next().unwrap_or_default();
    assert!(
        head.starts_with("10 of 24 hits in ") && head.ends_with(" ms"),
        "{head}"
    );
    assert_eq!(first.lines().last(), Some("--offset 10 shows the next"));
    assert!(first.contains("石油商报  王小明"), "{first}");
    let last = index.shown(&["search", "储气库", "--reprints", "--offset", "20"]);
    assert!(last.starts_with("21 to 24 of 24 hits in "), "{last}");
    assert!(!last.contains("shows the next"), "{last}");
    let all = index.shown(&["search", "储气库", "--reprints", "--limit", "24"]);
    assert!(
        all.starts_with("24 hits in ") && !all.contains("shows the next"),
        "{all}"
    );
    let beyond = index.shown(&["search", "储气库", "--reprints", "--offset", "30"]);
    assert!(beyond.starts_with("none of 24 hits in "), "{beyond}");
}

#[test]
fn what_was_meant_and_synonyms_are_searched_and_said() {
    let index = Index::new();
    let line = |text: &str, at: usize| {
        let url = format!("https://b.example/{at}");
        format!(
            "{}\n",
            serde_json::json!({ "url": url, "title": "快讯", "text": text })
        )
    };
    let lines = [
        line("涪陵页岩气田投产。", 1),
        line("注入CO2三万吨。", 2),
        line("注入二氧化碳五万吨。", 3),
    ];
    fs::write(index.0.path().join("more.jsonl"), lines.concat()).expect("written");
    assert!(index.run(&["import", "more.jsonl"]).status.success());
    let said = |args: &[&str]| {
        let output = index.run(args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    };
    let (hits, note) = said(&["search", "yeyanqi"]);
    assert!(
        hits.starts_with("1 hit in ") && hits.contains("页岩气"),
        "{hits}"
    );
    assert!(
        note.contains("searched for 页岩气 instead (--as-typed does not)"),
        "{note}"
    );
    let (hits, note) = said(&["search", "--as-typed", "yeyanqi"]);
    assert!(
        hits.starts_with("0 hits in ") && hits.contains("Did you mean: 页岩气"),
        "{hits}"
    );
    assert!(!note.contains("instead"), "{note}");
    let (hits, note) = said(&["search", "CO2"]);
    assert!(hits.starts_with("2 hits in "), "{hits}");
    assert!(
        note.contains("co2: also searched for 二氧化碳, 碳酸气"),
        "{note}"
    );
    let (hits, _) = said(&["search", "--no-synonyms", "CO2"]);
    assert!(hits.starts_with("1 hit in "), "{hits}");
    let (answer, _) = said(&["search", "--json", "yeyanqi"]);
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(answer["searched_instead"], "页岩气");
}

#[test]
fn synonyms_of_the_operator_are_checked_and_used() {
    let index = Index::new();
    let file =
        |name: &str, text: &str| fs::write(index.0.path().join(name), text).expect("written");
    file(
        "taojin.toml",
        "data_dir = \"data\"\n[analyze]\nsynonyms = [\"own.txt\"]\n",
    );
    file("own.txt", "# ours\n储气库 => 气窖\n注气\n");
    let wrong = index.run(&["--config", "taojin.toml", "check"]);
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&wrong.stdout),
        String::from_utf8_lossy(&wrong.stderr)
    );
    assert!(!wrong.status.success(), "{said}");
    assert!(
        said.contains("synonyms own.txt, line 3: \"注气\" stands alone"),
        "{said}"
    );
    file("own.txt", "地下气窖, 储气库\n");
    let found = index.run(&["--config", "taojin.toml", "search", "--json", "地下气窖"]);
    let answer: serde_json::Value = serde_json::from_slice(&found.stdout).expect("JSON");
    assert_eq!(answer["total"], DOCUMENTS, "{answer}");
    assert_eq!(answer["synonyms"][0]["also"][0], "储气库");
}

#[test]
fn without_an_index_the_next_step_is_said() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
    let output = command
        .args(["--data-dir", "data", "search", "x"])
        .current_dir(dir.path())
        .output();
    let output = output.expect("taojin runs");
    let line = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        line.contains("data/index")
            && line.contains("taojin crawl")
            && line.contains("taojin demo"),
        "{line}"
    );
}
