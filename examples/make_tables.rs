//! Makes the tables of the analyzer: `index/general.fst` (words and frequencies) from jieba's dictionary and
//! `index/simplified.txt` (traditional to simplified characters) from OpenCC's tables. To be run from the root of the
//! repository when one of the two libraries, `index/variants.txt` or the normal form changes; the tests of
//! `analyze` say when that is. The argument is jieba-rs' `src/data/dict.txt`, in the folder of its sources:
//!
//! `cargo run --example make_tables -- ~/.cargo/registry/src/*/jieba-rs-*/src/data/dict.txt`

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;

use ferrous_opencc::OpenCC;
use ferrous_opencc::config::BuiltinConfig;
use jieba_rs::Jieba;

fn main() -> Result<(), Box<dyn Error>> {
    let dictionary = std::env::args()
        .nth(1)
        .ok_or("usage: make_tables jieba-rs/src/data/dict.txt")?;
    fs::write("index/simplified.txt", simplified()?)?;
    fs::write(
        "index/general.fst",
        general(&fs::read_to_string(dictionary)?)?,
    )?;
    Ok(())
}

/// One line for each character that has a simplified form: both, without anything between them.
fn simplified() -> Result<String, Box<dyn Error>> {
    let converter = OpenCC::from_config(BuiltinConfig::T2s)?;
    // One line a character: phrases of the converter cannot reach over a line break.
    let characters: Vec<char> = taojin::analyze::TABLE.filter_map(char::from_u32).collect();
    let all: String = characters.iter().flat_map(|c| [*c, '\n']).collect();
    let mut lines = String::new();
    for (from, to) in characters.iter().zip(converter.convert(&all).lines()) {
        if to.chars().count() == 1 && !to.starts_with(*from) {
            lines.push_str(&format!("{from}{to}\n"));
        }
    }
    Ok(lines)
}

/// The words of the dictionary and those variants whose normal form it lacks.
fn general(dictionary: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut words: BTreeMap<String, u64> = BTreeMap::new();
    for line in dictionary.lines() {
        let mut fields = line.split_ascii_whitespace();
        if let (Some(word), Some(frequency)) = (fields.next(), fields.next()) {
            words.insert(word.to_owned(), frequency.parse()?);
        }
    }
    let mut jieba = Jieba::new();
    for normal in taojin::analyze::normal_variants() {
        let frequency = jieba.add_word(&normal, None, None);
        words.insert(normal, frequency as u64);
    }
    let total = words.values().sum();
    words.insert(String::new(), total);
    let mut builder = fst::MapBuilder::memory();
    builder.extend_iter(words)?;
    Ok(builder.into_inner()?)
}
