//! Evaluates how much of a page's structure its Markdown has, on pages whose gold has `blocks`: headings, items, rows, listings,
//! links and pictures, as a reader of Markdown finds them.

use std::collections::{BTreeMap, HashMap};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde::{Deserialize, Serialize};

use super::corpus::{EvalError, Gold, Set};
use super::scores::round;
use super::tokens::harmonic_mean;
use super::{Extraction, PageFilter};

/// A block of the gold.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum GoldBlock {
    /// A heading of any level.
    Heading {
        /// What it says.
        text: String,
    },
    /// An item of a list, without the lists in it.
    Item {
        /// What it says.
        text: String,
    },
    /// A row of a table.
    Row {
        /// Its cells in order, empty ones too.
        cells: Vec<String>,
    },
    /// A listing.
    Code {
        /// All of its lines.
        text: String,
    },
    /// A link.
    Link {
        /// What it says.
        text: String,
        /// Absolute address.
        url: String,
    },
    /// A picture.
    Picture {
        /// Absolute address.
        url: String,
    },
}

/// The kinds of blocks, as they are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockType {
    /// A heading.
    Heading,
    /// An item of a list.
    Item,
    /// A row of a table.
    Row,
    /// A listing.
    Code,
    /// A link, with its address.
    Link,
    /// A picture.
    Picture,
}

impl BlockType {
    const ALL: [BlockType; 6] = [
        BlockType::Heading,
        BlockType::Item,
        BlockType::Row,
        BlockType::Code,
        BlockType::Link,
        BlockType::Picture,
    ];

    fn name(self) -> &'static str {
        match self {
            BlockType::Heading => "heading",
            BlockType::Item => "item",
            BlockType::Row => "row",
            BlockType::Code => "code",
            BlockType::Link => "link",
            BlockType::Picture => "picture",
        }
    }
}

/// Blocks of one kind, and how many of each content.
type Blocks = HashMap<(BlockType, String), u32>;

/// How many blocks of one kind there are over all pages of a set, and their F1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct BlockRate {
    /// In Markdown and gold.
    pub right: u32,
    /// In the Markdown.
    pub found: u32,
    /// In the gold.
    pub gold: u32,
    /// Harmonic mean of precision and recall, 0 to 1.
    pub f1: f64,
}

/// One set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StructureRow {
    /// Its name.
    pub set: String,
    /// Pages judged.
    pub pages: usize,
    /// Mean F1 of the kinds that Markdown or gold have.
    pub mean: f64,
    /// The kinds.
    pub blocks: BTreeMap<BlockType, BlockRate>,
}

/// Judges the pages of the chosen sets whose gold has blocks. A page that cannot be read has found nothing. `each` is called for
/// every page.
pub fn evaluate_structure(
    sets: &[Set],
    choice: &PageFilter,
    extraction: &Extraction,
    mut each: impl FnMut(),
) -> Result<Vec<StructureRow>, EvalError> {
    let mut rows = Vec::new();
    for set in sets {
        let mut pages = 0;
        let mut counts: BTreeMap<BlockType, BlockRate> = BTreeMap::new();
        for gold in set.gold()? {
            let gold = gold?;
            each();
            if !choice.includes(&gold) || gold.blocks.is_empty() {
                continue;
            }
            pages += 1;
            let markdown = write_markdown(extraction, set, &gold);
            count(&read_markdown(&markdown), &read_gold(&gold), &mut counts);
        }
        if pages > 0 {
            rows.push(row(set, pages, counts));
        }
    }
    Ok(rows)
}

fn row(set: &Set, pages: usize, mut blocks: BTreeMap<BlockType, BlockRate>) -> StructureRow {
    for rate in blocks.values_mut() {
        let share = |of: u32| f64::from(rate.right) / f64::from(of.max(1));
        rate.f1 = round(harmonic_mean(share(rate.found), share(rate.gold)));
    }
    let sum: f64 = blocks.values().map(|rate| rate.f1).sum();
    StructureRow {
        set: set.name.clone(),
        pages,
        mean: round(sum / blocks.len().max(1) as f64),
        blocks,
    }
}

fn count(found: &Blocks, gold: &Blocks, counts: &mut BTreeMap<BlockType, BlockRate>) {
    for (key, number) in found {
        let rate = counts.entry(key.0).or_default();
        rate.found += number;
        rate.right += number.min(gold.get(key).unwrap_or(&0));
    }
    for (key, number) in gold {
        counts.entry(key.0).or_default().gold += number;
    }
}

/// The Markdown of a page, empty where its file cannot be read.
fn write_markdown(extraction: &Extraction, set: &Set, gold: &Gold) -> String {
    let html = set.html(&gold.id, extraction.page.max_decoded_bytes + 1);
    html.map(|html| extraction.document(&html, &set.name, gold).0.markdown())
        .unwrap_or_default()
}

fn read_gold(gold: &Gold) -> Blocks {
    let mut blocks = Blocks::new();
    for block in &gold.blocks {
        let key = match block {
            GoldBlock::Heading { text } => (BlockType::Heading, letters(text)),
            GoldBlock::Item { text } => (BlockType::Item, letters(text)),
            GoldBlock::Row { cells } => (BlockType::Row, join_cells(cells)),
            GoldBlock::Code { text } => (BlockType::Code, letters(text)),
            GoldBlock::Link { text, url } => (BlockType::Link, join_link(text, url)),
            GoldBlock::Picture { url } => (BlockType::Picture, url.clone()),
        };
        *blocks.entry(key).or_default() += 1;
    }
    blocks
}

/// What counts of a text: letters, digits and underscores in lower case.
fn letters(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric() || *c == '_');
    letters.flat_map(char::to_lowercase).collect()
}

fn join_cells(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| letters(cell)).collect();
    cells.join("|")
}

fn join_link(text: &str, url: &str) -> String {
    format!("{} {url}", letters(text))
}

/// What a reader of Markdown is in.
#[derive(Default)]
struct Reader {
    heading: Option<String>,
    row: Vec<String>,
    cell: Option<String>,
    /// The open items, each with the text that is in no other.
    items: Vec<String>,
    code: Option<String>,
    link: Option<(String, String)>,
    in_picture: bool,
    blocks: Blocks,
}

/// The blocks that a reader of Markdown with tables finds.
fn read_markdown(markdown: &str) -> Blocks {
    let mut reader = Reader::default();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(tag) => reader.begin(tag),
            Event::End(tag) => reader.end(tag),
            Event::Text(text) | Event::Code(text) => reader.add_text(&text),
            _ => {}
        }
    }
    reader.blocks
}

impl Reader {
    fn begin(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } => self.heading = Some(String::new()),
            Tag::Item => self.items.push(String::new()),
            Tag::TableHead | Tag::TableRow => self.row.clear(),
            Tag::TableCell => self.cell = Some(String::new()),
            Tag::CodeBlock(_) => self.code = Some(String::new()),
            Tag::Link { dest_url, .. } => self.link = Some((String::new(), dest_url.into_string())),
            Tag::Image { dest_url, .. } => {
                self.in_picture = true;
                self.add(BlockType::Picture, dest_url.into_string());
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                let text = self.heading.take().unwrap_or_default();
                self.add(BlockType::Heading, letters(&text));
            }
            TagEnd::Item => {
                let text = letters(&self.items.pop().unwrap_or_default());
                if !text.is_empty() {
                    self.add(BlockType::Item, text);
                }
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                let row = std::mem::take(&mut self.row);
                let filled = row.iter().filter(|cell| !letters(cell).is_empty());
                if filled.count() > 1 {
                    self.add(BlockType::Row, join_cells(&row));
                }
            }
            TagEnd::TableCell => self.row.extend(self.cell.take()),
            TagEnd::CodeBlock => {
                let text = self.code.take().unwrap_or_default();
                self.add(BlockType::Code, letters(&text));
            }
            TagEnd::Link => {
                if let Some((text, url)) =
                    self.link.take().filter(|(text, _)| !text.trim().is_empty())
                {
                    self.add(BlockType::Link, join_link(&text, &url));
                }
            }
            TagEnd::Image => self.in_picture = false,
            _ => {}
        }
    }

    fn add_text(&mut self, text: &str) {
        if self.in_picture {
            return;
        }
        if let Some((link, _)) = &mut self.link {
            link.push_str(text);
        }
        let of = [&mut self.code, &mut self.heading, &mut self.cell];
        let innermost = of.into_iter().find_map(Option::as_mut);
        if let Some(innermost) = innermost.or(self.items.last_mut()) {
            innermost.push_str(text);
        }
    }

    fn add(&mut self, kind: BlockType, content: String) {
        *self.blocks.entry((kind, content)).or_default() += 1;
    }
}

/// The sets as a table: F1 of each kind, then how many the gold has.
pub fn format_structure(rows: &[StructureRow]) -> Vec<String> {
    let width = rows
        .iter()
        .map(|row| row.set.len())
        .max()
        .unwrap_or(0)
        .max(12);
    let names = BlockType::ALL.map(|kind| format!(" {:>8}", kind.name()));
    let mut lines = vec![format!(
        "{:width$} {:>5}{} {:>6}",
        "set",
        "pages",
        names.concat(),
        "mean"
    )];
    for row in rows {
        let rates = BlockType::ALL.map(|kind| match row.blocks.get(&kind) {
            Some(rate) => format!(" {:>8.3}", rate.f1),
            None => format!(" {:>8}", "-"),
        });
        let counts = BlockType::ALL
            .map(|kind| format!(" {:>8}", row.blocks.get(&kind).map_or(0, |rate| rate.gold)));
        lines.push(format!(
            "{:width$} {:>5}{} {:>6.3}",
            row.set,
            row.pages,
            rates.concat(),
            row.mean
        ));
        lines.push(format!("{:width$} {:>5}{}", "", "gold", counts.concat()));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_markdown_and_gold_are_the_same() {
        let markdown = "## 标题 *一*\n\n- 甲 [乙](https://a.cn/)\n  - 丙\n\n```rust\nlet a_b = 1;\n```\n\n| 名 | 价 |\n| --- | --- |\n| 油 | |\n| 气 | 7 |\n\n![图](https://a.cn/1.jpg)\n";
        let gold = serde_json::from_str::<Gold>(
            r#"{"id": "1", "blocks": [{"type": "heading", "text": "标题一"}, {"type": "item", "text": "甲乙"},
                {"type": "link", "text": "乙", "url": "https://a.cn/"}, {"type": "item", "text": "丙"},
                {"type": "code", "text": "let a_b=1"}, {"type": "row", "cells": ["名", "价"]},
                {"type": "row", "cells": ["气", "7"]}, {"type": "picture", "url": "https://a.cn/1.jpg"}]}"#,
        );
        assert_eq!(read_markdown(markdown), read_gold(&gold.unwrap()));
    }

    #[test]
    fn each_block_counts_once() {
        let found = read_markdown("# a\n\n# a\n\n# b\n");
        let gold = read_markdown("# a\n\n# c\n");
        let mut counts = BTreeMap::new();
        count(&found, &gold, &mut counts);
        let rate = counts[&BlockType::Heading];
        assert_eq!((rate.right, rate.found, rate.gold), (1, 3, 2));
    }
}
