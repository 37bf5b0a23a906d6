//! Writes three finite state transducers that the program uses as they are, from jieba-rs' own dictionary: `general.fst`, its
//! words and frequencies, `sounds.fst`, its more frequent words behind their pinyin, and `names.fst`, how much each character
//! speaks for the name of a person. Cargo says where the sources of jieba-rs are. Works without a network.

#[path = "src/analyze/syllables.rs"]
mod syllables;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/analyze/syllables.rs");
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    if let Err(problem) = write_words() {
        panic!("cannot make the table of words from the dictionary of jieba-rs: {problem}");
    }
}

fn write_words() -> Outcome<()> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let dictionary = dictionary(&out)?;
    let text = fs::read_to_string(&dictionary)
        .map_err(|problem| format!("{}: {problem}", dictionary.display()))?;
    let mut words: Vec<(&str, u64)> = Vec::new();
    let mut sounds: Vec<(String, u64)> = Vec::new();
    let mut names = Names::default();
    for line in text.lines() {
        let mut fields = line.split_ascii_whitespace();
        if let (Some(word), Some(frequency)) = (fields.next(), fields.next()) {
            let frequency = frequency.parse()?;
            words.push((word, frequency));
            let tag = fields.next().unwrap_or_default();
            names.count(word, tag);
            if !tag.starts_with("nr") && frequency >= SOUNDING_FREQUENCY && is_sounding(word) {
                sounds.push((format!("{}\0{word}", syllables::syllables(word)), frequency));
            }
        }
    }
    sounds.sort_unstable();
    let mut table = fst::MapBuilder::memory();
    table.extend_iter(sounds)?;
    fs::write(out.join("sounds.fst"), table.into_inner()?)?;
    // The empty word has the sum of all frequencies.
    words.push(("", words.iter().map(|(_, frequency)| frequency).sum()));
    words.sort_unstable();
    let mut table = fst::MapBuilder::memory();
    table.extend_iter(words)?;
    fs::write(out.join("general.fst"), table.into_inner()?)?;
    fs::write(out.join("names.fst"), names.table()?)?;
    Ok(())
}

/// Characters by place: `1`, `2` and `3` in words of two or three characters, `t` anywhere in a word.
type Place = (char, char);

/// How often characters stand in names and in other words. Chinese names (`nr`) are told by surname and given name,
/// transcribed ones (`nrt`) by characters that stand for sounds.
#[derive(Default)]
struct Names {
    /// Times in names, and in other words.
    counts: BTreeMap<Place, (f64, f64)>,
    /// The same of all characters of a place.
    totals: BTreeMap<char, (f64, f64)>,
}

impl Names {
    fn count(&mut self, word: &str, tag: &str) {
        let chars: Vec<char> = word.chars().collect();
        if chars.len() < 2 || word.is_ascii() {
            return;
        }
        for (place, c) in "123".chars().zip(&chars).filter(|_| chars.len() <= 3) {
            self.add((place, *c), matches!(tag, "nr" | "nrfg"));
        }
        for c in chars {
            self.add(('t', c), tag == "nrt");
        }
    }

    fn add(&mut self, at: Place, is_name: bool) {
        let counts = self.counts.entry(at).or_default();
        let totals = self.totals.entry(at.0).or_default();
        for (names, others) in [counts, totals] {
            *if is_name { names } else { others } += 1.0;
        }
    }

    /// Place and character, and `16 · ln(P(character | name) / P(character | other word)) + 128`.
    fn table(&self) -> Outcome<Vec<u8>> {
        let mut table = fst::MapBuilder::memory();
        for ((place, c), (names, others)) in &self.counts {
            let (all_names, all_others) = self.totals.get(place).copied().unwrap_or_default();
            let share = |count: f64, all: f64| (count + SMOOTHING) / (all + SMOOTHING * DIFFERENT);
            let weight = (share(*names, all_names) / share(*others, all_others)).ln();
            table.insert(
                format!("{place}{c}"),
                (weight * 16.0 + 128.0).clamp(0.0, 255.0) as u64,
            )?;
        }
        Ok(table.into_inner()?)
    }
}

/// Added to each count, so that what was never seen is not impossible, for about as many characters.
const SMOOTHING: f64 = 0.5;
const DIFFERENT: f64 = 3_000.0;

/// How often a word stands in the text that jieba's frequencies were counted in, to be known by its sound: what is seldom
/// is often a misspelling (天燃气 has 3).
const SOUNDING_FREQUENCY: u64 = 5;

/// Whether a word is typed by its sound: two to eight Chinese characters.
fn is_sounding(word: &str) -> bool {
    let chinese = |c: char| ('\u{4E00}'..='\u{9FFF}').contains(&c);
    (2..=8).contains(&word.chars().count()) && word.chars().all(chinese)
}

/// The file of jieba-rs' dictionary.
fn dictionary(out: &Path) -> Outcome<PathBuf> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let lock = fs::read_to_string(root.join("Cargo.lock"))
        .map_err(|problem| format!("Cargo.lock: {problem}"))?;
    let manifest = asking_package(out, &lock)?;
    // The folder of the project: its settings of cargo (a mirror, a vendored registry) count.
    let asked = Command::new(env::var("CARGO")?)
        .current_dir(root)
        .args(["metadata", "--offline", "--format-version", "1"])
        .args(["--filter-platform", &env::var("TARGET")?])
        .arg("--manifest-path")
        .arg(manifest)
        .output()?;
    if !asked.status.success() {
        let said = String::from_utf8_lossy(&asked.stderr);
        return Err(format!("cargo metadata failed: {}", said.trim()).into());
    }
    let answer: serde_json::Value = serde_json::from_slice(&asked.stdout)?;
    let packages = answer["packages"].as_array().into_iter().flatten();
    let manifest = packages
        .filter(|package| package["name"] == "jieba-rs")
        .find_map(|package| package["manifest_path"].as_str())
        .ok_or("cargo metadata does not name jieba-rs")?;
    Ok(Path::new(manifest).with_file_name("src/data/dict.txt"))
}

/// A package that needs jieba-rs alone, in the version of the project: about the project itself cargo would answer
/// only where the packages of its tests lie too, which a plain build does not download.
fn asking_package(out: &Path, lock: &str) -> Outcome<PathBuf> {
    let version = lock
        .split("[[package]]")
        .filter(|package| package.lines().any(|line| line == r#"name = "jieba-rs""#))
        .find_map(|package| package.lines().find(|line| line.starts_with("version = ")))
        .and_then(|line| line.split('"').nth(1))
        .ok_or("Cargo.lock does not name jieba-rs")?;
    let folder = out.join("asking");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("lib.rs"), "")?;
    fs::write(folder.join("Cargo.lock"), lock)?;
    let manifest = folder.join("Cargo.toml");
    let text = format!(
        "[package]\nname = \"asking\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [lib]\npath = \"lib.rs\"\n[dependencies]\njieba-rs = \"={version}\"\n[workspace]\n"
    );
    fs::write(&manifest, text)?;
    Ok(manifest)
}
