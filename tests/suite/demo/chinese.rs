//! What a person reads in a Chinese locale has no English sentence in it.

use std::path::Path;

use crate::support::folder::{RunExt as _, assert_has, taojin_in};

/// So many English words in a row are a sentence.
const SENTENCE: usize = 3;

/// A word of English text: neither a setting, a path, a number nor an address.
fn is_english(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'');
    word.len() > 1 && word.chars().all(|c| c.is_ascii_alphabetic() || c == '\'')
}

/// The lines with an English sentence. Lines of the log are English; commands, options and what documents say are not ours.
fn english(text: &str) -> Vec<&str> {
    let is_sentence = |line: &&str| {
        let is_log = line.contains(" WARN ") || line.contains("ERROR");
        let is_shown =
            line.starts_with("$ ") || line.starts_with("     ") || line.starts_with("  ");
        if is_log || is_shown {
            return false;
        }
        let said = line.split("taojin ").next().unwrap_or_default();
        let words: Vec<&str> = said.split_whitespace().collect();
        words
            .windows(SENTENCE)
            .any(|row| row.iter().all(|word| is_english(word)))
    };
    text.lines().filter(is_sentence).collect()
}

/// What the program says on both outputs, where it went well.
fn said(dir: &Path, args: &[&str]) -> String {
    let mut command = taojin_in(dir);
    command.args(args).env("LC_ALL", "zh_CN.UTF-8");
    let ran = command.ran().good();
    let text = format!("{}{}", ran.out, ran.err);
    let left = english(&text);
    assert!(left.is_empty(), "{args:?}: {left:#?}");
    text
}

#[test]
fn english_lines_are_found() {
    let text = "抓取 3 页\nsite x: not crawled yet\n删除：rm -r /tmp/a b\n同时搜索了 shale gas\n";
    assert_eq!(english(text), ["site x: not crawled yet"]);
}

#[test]
fn demo_speaks_chinese() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let demo = said(dir.path(), &["demo", "--once", "--data-dir", "d"]);
    let parts = [
        "样例网站     6 个站点",
        "\n第一轮\n抓取         ",
        "× robots.txt 第 2 行 Disallow: /internal/",
        "× 主机不属于任何站点（scope.hosts）",
        "\n增量         新增 ",
        "条结果，",
        "\n自己的站点   ",
    ];
    assert_has(&demo, &parts);
    let run = |args: &[&str]| said(dir.path(), &[&["--config", "d/demo.toml"], args].concat());
    assert_has(&run(&["site", "list"]), &["篇文档，上一轮 20", " +08:00"]);
    let added = run(&["site", "add", "--no-probe", "news.example.org"]);
    assert_has(&added, &["采用 https://news.example.org/", "检查后执行："]);
    assert_has(&run(&["status"]), &["概况       ", "磁盘       索引 "]);
    assert_has(
        &run(&["search", "--explain", "储气库"]),
        &["     - “储气库”：正文出现 "],
    );
    let nowhere = run(&["search", "site:nowhere 天然气"]);
    assert_has(
        &nowhere,
        &["site:nowhere：这里没有这个站点的文档", "0 条结果，"],
    );
    let changes = run(&["changes", "--limit", "2"]);
    assert_has(&changes, &["  新增  v1", "2 条变更，后面还有：taojin "]);
    let url = changes
        .split_whitespace()
        .find(|word| word.starts_with("http://"));
    let url = url.expect("an address");
    assert_has(&run(&["history", url]), &["第 1 版  20", " 字"]);
    assert_has(
        &run(&["why", url]),
        &[
            "状态         已抓取\n",
            "收录         已收录\n",
            "\n路径比       共 ",
        ],
    );
    assert_has(
        &run(&["why", "bohai-energy"]),
        &["上一轮       正常：新文档 "],
    );
    let log = std::fs::read_to_string(dir.path().join("d/log/crawl.log")).expect("a log");
    let mut outcomes = std::collections::BTreeMap::new();
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let key = format!("{} {} {}", line["outcome"], line["reason"], line["class"]);
        outcomes
            .entry(key)
            .or_insert_with(|| line["url"].as_str().expect("a URL").to_owned());
    }
    // An address of each kind of end.
    assert!(outcomes.len() > 12, "{outcomes:?}");
    for url in outcomes.values() {
        assert_has(&run(&["why", url]), &["\n收录         "]);
    }
    let stopped = run(&["purge", "--yes", url]);
    assert_has(&stopped, &["已撤下 1 篇文档"]);
    let purged = run(&["why", url]);
    assert_eq!(purged.matches("撤下").count(), 1, "{purged}");
}
