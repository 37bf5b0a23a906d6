//! Writes `general.fst`, the words and frequencies of jieba-rs' own dictionary, and `sounds.fst`, its more frequent words
//! behind their pinyin, as finite state transducers that the program uses as they are. Cargo says where the sources of
//! jieba-rs are. Works without a network.

#[path = "src/analyze/syllables.rs"]
mod syllables;

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
    for line in text.lines() {
        let mut fields = line.split_ascii_whitespace();
        if let (Some(word), Some(frequency)) = (fields.next(), fields.next()) {
            let frequency = frequency.parse()?;
            words.push((word, frequency));
            let is_name = fields.next().is_some_and(|tag| tag.starts_with("nr"));
            if !is_name && frequency >= SOUNDING_FREQUENCY && is_sounding(word) {
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
    Ok(())
}

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
