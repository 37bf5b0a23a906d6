//! Picture news judged by hand: which pages of the public sets are pictures with short texts, and what their gold has wrong. The
//! file names pages, and lines by a hash of their text; it holds no text of any page.

use std::collections::HashMap;

use serde::Deserialize;
use taojin_extract::page::{Page, Tag};
use xxhash_rust::xxh3::xxh3_64;

/// One page a line, as the gold of a set.
const FILE: &str = include_str!("picture_news.jsonl");

/// One page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JudgedPage {
    set: String,
    id: String,
    /// In a few words.
    #[expect(dead_code, reason = "for a person who reads the file")]
    verdict: String,
    /// Lines of the gold that are not the article's, each as [`name_line`] has it.
    #[serde(default)]
    drop: Vec<String>,
    /// Texts of the page that the gold lacks, likewise.
    #[serde(default)]
    add: Vec<String>,
}

/// The pages by set and name.
#[derive(Debug)]
pub(super) struct PictureNews(HashMap<(String, String), JudgedPage>);

impl PictureNews {
    /// Reads the file in the program.
    pub(super) fn read() -> Self {
        let lines = FILE.lines();
        let pages = lines.map(|line| {
            let page: JudgedPage =
                serde_json::from_str(line).expect("a constant that a test reads");
            ((page.set.clone(), page.id.clone()), page)
        });
        Self(pages.collect())
    }

    /// What was judged of a page, if it is among them.
    pub(super) fn find(&self, set: &str, id: &str) -> Option<&JudgedPage> {
        self.0.get(&(set.to_owned(), id.to_owned()))
    }
}

/// The name of a line: 16 hexadecimal digits of xxh3 over its text.
fn name_line(text: &str) -> String {
    format!("{:016x}", xxh3_64(text.as_bytes()))
}

impl JudgedPage {
    /// The gold as it should be; without the page nothing is added.
    pub(super) fn correct(&self, gold: &str, page: Option<&Page>) -> String {
        let is_in =
            |text: &str, names: &[String]| !names.is_empty() && names.contains(&name_line(text));
        let gold = gold.lines().filter(|line| !is_in(line, &self.drop));
        let mut lines: Vec<&str> = gold.collect();
        if let Some(page) = page {
            let nodes = (0..).zip(page.nodes());
            let texts = nodes.filter(|(_, node)| node.tag == Tag::TEXT);
            let texts = texts.map(|(id, _)| page.text(id).trim());
            lines.extend(texts.filter(|text| is_in(text, &self.add)));
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use taojin_extract::page::Hints;

    use super::*;

    #[test]
    fn file_has_twenty_pages() {
        let news = PictureNews::read();
        assert_eq!((news.0.len(), FILE.lines().count()), (20, 20));
        for page in news.0.values() {
            let mut names = page.drop.iter().chain(&page.add);
            let is_hash = |name: &String| name.len() == 16 && u64::from_str_radix(name, 16).is_ok();
            assert!(names.all(is_hash), "{page:?}");
        }
    }

    #[test]
    fn correct_drops_and_adds_lines() {
        let page = Page::parse(
            "<p>图为现场，人很多</p><p>记者摄</p>".as_bytes(),
            Hints::default(),
        );
        let judged = JudgedPage {
            set: String::new(),
            id: String::new(),
            verdict: String::new(),
            drop: vec![name_line("关注我们的微博")],
            add: vec![name_line("图为现场，人很多")],
        };
        let gold = "记者摄\n关注我们的微博";
        assert_eq!(
            judged.correct(gold, Some(&page)),
            "记者摄\n图为现场，人很多"
        );
        assert_eq!(judged.correct(gold, None), "记者摄");
    }
}
