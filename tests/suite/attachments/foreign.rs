//! Foreign files with what a person reads in them: `TAOJIN_SUITES=DIR` with `DIR/attachments/gold.jsonl` and the files it names.
//!
//! `TAOJIN_SUITES=… cargo test -p taojin --test suite attachments::foreign -- --nocapture` prints the table by kind;
//! `TAOJIN_SUITES_VERBOSE=1` names each file that differs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde::Deserialize;
use taojin_attachments::contained::Limits;
use taojin_attachments::{Attachment, FileType, Unreadable};
use unicode_normalization::UnicodeNormalization as _;

use super::{block_on, patient, reader};
use crate::suites::suite;
use crate::support::{say, scaled};

/// A file and what is expected of it.
#[derive(Deserialize)]
struct Case {
    file: PathBuf,
    kind: String,
    expect: Expectation,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Expectation {
    contains: Vec<String>,
    members: Vec<String>,
    order: Vec<String>,
    title: Option<String>,
    unreadable: bool,
}

/// What came out, by kind.
#[derive(Default)]
struct Score {
    readable: u32,
    /// Of these, with all that is expected.
    complete: u32,
    titles: u32,
    titles_right: u32,
    unreadable: u32,
    told: u32,
    slowest: Duration,
}

/// The cases of the suite, with the path of each file; none without the suite.
fn cases() -> Vec<(Case, PathBuf)> {
    let Some(folder) = suite("attachments") else {
        return Vec::new();
    };
    let gold = fs::read_to_string(folder.join("gold.jsonl")).expect("gold.jsonl");
    let find = |file: &Path| {
        let beside = folder.join(file);
        if beside.exists() {
            beside
        } else {
            folder.join("files").join(file)
        }
    };
    let parse = |line| {
        let case: Case = serde_json::from_str(line).expect("a case");
        let path = find(&case.file);
        (case, path)
    };
    gold.lines().map(parse).collect()
}

/// Text for comparison: compatibility forms folded, without white space.
fn bare(text: &str) -> String {
    text.nfkc().filter(|c| !c.is_whitespace()).collect()
}

/// Text and names of a file and its members.
fn all_text(attachment: &Attachment, text: &mut String) {
    text.push_str(&attachment.text());
    for member in &attachment.members {
        text.push_str(&member.name);
        if let Ok(member) = &member.content {
            all_text(member, text);
        }
    }
}

impl Expectation {
    /// Returns what is missing in a text, or stands in another order.
    fn find_missing<'a>(&'a self, text: &str) -> Vec<&'a str> {
        let all = self.contains.iter().chain(&self.members);
        let mut missing: Vec<&str> = all
            .filter(|part| !text.contains(&bare(part)))
            .map(String::as_str)
            .collect();
        let mut rest = text;
        for part in &self.order {
            match rest.split_once(&bare(part)) {
                Some((_, after)) => rest = after,
                None => missing.push(part),
            }
        }
        missing
    }
}

#[test]
fn foreign_files_are_read_or_told() {
    let reader = reader(patient());
    let is_verbose = std::env::var_os("TAOJIN_SUITES_VERBOSE").is_some();
    let report = |line: String| {
        if is_verbose {
            say(&line);
        }
    };
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    for (case, path) in cases() {
        let name = path.display().to_string();
        let bytes = fs::read(&path).expect("a file of the suite");
        let start = Instant::now();
        let read = block_on(reader.read(&bytes, &name));
        let kind = case.kind.split([':', ' ']).next().unwrap_or_default();
        let score = scores.entry(kind.to_owned()).or_default();
        score.slowest = score.slowest.max(start.elapsed());
        if case.expect.unreadable {
            score.unreadable += 1;
            score.told += u32::from(read.is_err());
            if let Ok(attachment) = read {
                report(format!(
                    "{name}: is no honest text: {:.60}",
                    attachment.text()
                ));
            }
            continue;
        }
        score.readable += 1;
        let (mut text, mut title) = (String::new(), None);
        match read {
            Ok(attachment) => {
                all_text(&attachment, &mut text);
                title = attachment.title;
            }
            Err(why) => report(format!("{name}: {why}")),
        }
        let missing = case.expect.find_missing(&bare(&text));
        score.complete += u32::from(missing.is_empty());
        if !missing.is_empty() {
            report(format!("{name}: lacks {missing:?}"));
        }
        if let Some(expected) = &case.expect.title {
            let is_right = title
                .as_deref()
                .is_some_and(|title| bare(title) == bare(expected));
            score.titles += 1;
            score.titles_right += u32::from(is_right);
            if !is_right {
                report(format!("{name}: is titled {title:?}, not {expected:?}"));
            }
        }
    }
    let mut all = Score::default();
    for (kind, score) in &scores {
        say(&format!("{kind:8} {}", score.describe()));
        all.add(score);
        let is_strict = ["ofd", "docx", "doc", "xls"].contains(&&**kind);
        assert!(
            !is_strict || score.complete * 10 >= score.readable * 9,
            "{kind}"
        );
    }
    say(&format!("all      {}", all.describe()));
    assert!(
        all.complete * 10 >= all.readable * 9,
        "fewer than 90 % are complete"
    );
    assert_eq!(all.told, all.unreadable, "an unreadable file was read");
}

impl Score {
    fn add(&mut self, other: &Self) {
        self.readable += other.readable;
        self.complete += other.complete;
        self.titles += other.titles;
        self.titles_right += other.titles_right;
        self.unreadable += other.unreadable;
        self.told += other.told;
        self.slowest = self.slowest.max(other.slowest);
    }

    fn describe(&self) -> String {
        format!(
            "complete {:2} of {:2}, titles {:2} of {:2}, unreadable told {} of {}, slowest {} ms",
            self.complete,
            self.readable,
            self.titles_right,
            self.titles,
            self.told,
            self.unreadable,
            self.slowest.as_millis()
        )
    }
}

/// Numbers that are the same in each run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end.max(1) as u64).unwrap_or_default()
    }
}

/// Copies with random bytes, or cut, or with a stretch doubled.
fn damage(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut copy = bytes.to_vec();
    match numbers.below(4) {
        0 => copy.truncate(numbers.below(bytes.len())),
        1 => {
            let start = numbers.below(bytes.len());
            let end = (start + numbers.below(5000)).min(bytes.len());
            let at = numbers.below(copy.len());
            copy.splice(at..at, bytes[start..end].iter().copied());
        }
        _ => {
            for _ in 0..=numbers.below(40) {
                let at = numbers.below(copy.len());
                if let Some(byte) = copy.get_mut(at) {
                    *byte = numbers.below(256) as u8;
                }
            }
        }
    }
    copy
}

/// Damaged files that are read at one time.
const PARALLEL: usize = 3;

/// Each file of the suite is damaged again and again: whatever becomes of the child, the reader goes on.
#[test]
fn damaged_files_cost_their_child_only() {
    let limits = Limits {
        parallel: PARALLEL,
        ..patient()
    };
    let reader = reader(limits);
    let files = cases();
    let mut numbers = Numbers(0x7461_6f6a_696e);
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    let mut slowest = Duration::ZERO;
    let runs = if files.is_empty() {
        0
    } else {
        scaled([100, 10_000])
    };
    let jobs: Vec<usize> = (0..runs).collect();
    for batch in jobs.chunks(PARALLEL) {
        let mut copies: Vec<(String, Vec<u8>)> = Vec::new();
        for run in batch {
            let (_, path) = &files[run % files.len()];
            let bytes = fs::read(path).expect("a file of the suite");
            copies.push((path.display().to_string(), damage(&bytes, &mut numbers)));
        }
        let start = Instant::now();
        let reads = join_all(copies.iter().map(|(name, copy)| reader.read(copy, name)));
        for (read, (name, _)) in block_on(reads).into_iter().zip(&copies) {
            let end = read.as_ref().map_or_else(Unreadable::as_str, |_| "read");
            if matches!(read, Err(Unreadable::TimedOut | Unreadable::Crashed)) {
                say(&format!("{name}, run {} or the next ones: {end}", batch[0]));
            }
            *ends.entry(end).or_default() += 1;
        }
        slowest = slowest.max(start.elapsed());
    }
    say(&format!(
        "{runs} damaged files: {ends:?}, slowest {PARALLEL} in {} ms",
        slowest.as_millis()
    ));
    let sound = block_on(reader.read(b"{\\rtf1 sound}", "a.rtf"));
    assert_eq!(sound.map(|read| read.file_type), Ok(FileType::Rtf));
}
