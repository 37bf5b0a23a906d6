//! Algorithm 2 of Wang Du et al. 2018, §2.2.1: a result of the path ratios is taken if it has more than α sentence marks and
//! fewer link characters than β; else it is counted again with `p` and `strong`, and the best result that passes is taken.
//!
//! The paper leaves open what a result of the second pass is, how the elements count, and both numbers. Here a result is the
//! texts of one block, `Σ scores · log2(2 + p + strong)`, above the threshold; where none passes, the best block that is no
//! list of links and no footer.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use taojin_extract::page::{NodeId, Tag};
use taojin_extract::path_ratio::threshold;

use super::path_texts::{PathTexts, cut};

/// Words of a footer.
const FOOTER: [&str; 8] = [
    "版权所有",
    "Copyright",
    "©",
    "ICP备",
    "京公网安备",
    "主办单位",
    "网站地图",
    "All rights reserved",
];

/// α and β.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SecondPass {
    /// A text has more sentence marks than this.
    pub alpha: u32,
    /// A text has fewer link characters than this.
    pub beta: LinkLimit,
}

impl Default for SecondPass {
    /// The paper names neither: two sentence marks, and less than three tenths of the characters in links. A number of
    /// characters, as the paper has it, refuses long articles for the links in them.
    fn default() -> Self {
        Self {
            alpha: 1,
            beta: LinkLimit::Percent(30),
        }
    }
}

/// What the link characters of a text stay below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkLimit {
    /// So many.
    Chars(u32),
    /// This share of all characters, in hundredths.
    Percent(u32),
}

/// No limit of link characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither a number of characters, as 30, nor a share of 1% to 100%")]
pub struct BadLinkLimit(String);

impl FromStr for LinkLimit {
    type Err = BadLinkLimit;

    fn from_str(text: &str) -> Result<Self, BadLinkLimit> {
        let bad = || BadLinkLimit(text.to_owned());
        let number = |text: &str| text.parse::<u32>().map_err(|_| bad());
        match text.strip_suffix('%') {
            Some(share) => match number(share)? {
                share @ 1..=100 => Ok(Self::Percent(share)),
                _ => Err(bad()),
            },
            None => number(text).map(Self::Chars),
        }
    }
}

impl fmt::Display for LinkLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chars(chars) => write!(f, "{chars}"),
            Self::Percent(share) => write!(f, "{share}%"),
        }
    }
}

impl Serialize for LinkLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What a result holds.
#[derive(Debug, Clone, Copy, Default)]
struct Content {
    chars: u32,
    linked: u32,
    marks: u32,
}

impl Content {
    fn of(texts: &PathTexts<'_>, kept: &[usize]) -> Self {
        let mut content = Self::default();
        for text in kept.iter().map(|at| &texts.texts[*at]) {
            content.chars += text.chars;
            content.marks += text.marks;
            content.linked += if text.is_link { text.chars } else { 0 };
        }
        content
    }

    /// Half of it or more is links.
    fn is_links(self) -> bool {
        u64::from(self.linked) * 2 >= u64::from(self.chars)
    }
}

/// The texts that have the same block around them.
#[derive(Debug, Default)]
struct Block {
    texts: Vec<usize>,
    emphatic: u32,
    score: f64,
}

impl SecondPass {
    /// The texts of the page.
    pub(super) fn extract(self, texts: &PathTexts<'_>) -> Vec<usize> {
        let scores = texts.scores(|path| texts.counts(path).etpr_as_printed());
        let first = cut(&scores);
        if self.is_text(Content::of(texts, &first)) {
            return first;
        }
        let mut blocks = read_blocks(texts, &scores);
        let least = threshold(&blocks.iter().map(|block| block.score).collect::<Vec<_>>());
        // Of blocks without a score the longest is first: a path with one text has none.
        let chars = |block: &Block| Content::of(texts, &block.texts).chars;
        blocks.sort_by(|a, b| {
            let by_score = b.score.total_cmp(&a.score);
            by_score.then_with(|| chars(b).cmp(&chars(a)))
        });
        let passes =
            |block: &&Block| block.score > least && self.is_text(Content::of(texts, &block.texts));
        let may_be = |block: &&Block| {
            !Content::of(texts, &block.texts).is_links() && !is_footer(texts, &block.texts)
        };
        let found = blocks.iter().find(passes);
        let found = found.or_else(|| blocks.iter().find(may_be));
        found.map_or_else(Vec::new, |block| block.texts.clone())
    }

    fn is_text(self, content: Content) -> bool {
        let has_few_links = match self.beta {
            LinkLimit::Chars(chars) => content.linked < chars,
            LinkLimit::Percent(share) => {
                u64::from(content.linked) * 100 < u64::from(content.chars) * u64::from(share)
            }
        };
        content.marks > self.alpha && has_few_links
    }
}

/// The blocks in the order of the page.
fn read_blocks(texts: &PathTexts<'_>, scores: &[f64]) -> Vec<Block> {
    let page = texts.page;
    let block_of = |node: NodeId| page.ancestors(node).find(|at| is_block(page.node(*at).tag));
    let mut blocks: BTreeMap<NodeId, Block> = BTreeMap::new();
    for (at, (text, score)) in texts.texts.iter().zip(scores).enumerate() {
        let block = blocks.entry(block_of(text.node).unwrap_or(0)).or_default();
        block.texts.push(at);
        block.score += score;
    }
    for (node, _) in (0..)
        .zip(page.nodes())
        .filter(|(_, n)| matches!(n.tag, Tag::P | Tag::STRONG))
    {
        if let Some(block) = block_of(node).and_then(|at| blocks.get_mut(&at)) {
            block.emphatic += 1;
        }
    }
    let mut blocks: Vec<Block> = blocks.into_values().collect();
    for block in &mut blocks {
        block.score *= f64::from(2 + block.emphatic).log2();
    }
    blocks
}

fn is_block(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::ARTICLE | Tag::MAIN | Tag::SECTION | Tag::DIV | Tag::TD | Tag::LI | Tag::BODY
    )
}

fn is_footer(texts: &PathTexts<'_>, kept: &[usize]) -> bool {
    let mut kept = kept.iter().map(|at| texts.page.text(texts.texts[*at].node));
    kept.any(|text| FOOTER.iter().any(|word| text.contains(word)))
}

#[cfg(test)]
mod tests {
    use taojin_extract::page::{Hints, Page};

    use super::super::path_texts::tests::worked_page;
    use super::*;

    const MENU: &str =
        "<ul><li><a href=/1>要闻</a><li><a href=/2>炼化</a><li><a href=/3>勘探开发</a></ul>";
    const FOOT: &str = "<div><span>某某公司版权所有，未经许可，不得转载。</span><span>联系我们：本市某路，一号。</span></div>";

    fn text(pass: SecondPass, html: &str) -> String {
        let page = Page::parse(html.as_bytes(), Hints::default());
        let texts = PathTexts::read(&page);
        texts.join(&pass.extract(&texts))
    }

    #[test]
    fn first_pass_is_accepted() {
        let page = worked_page();
        let texts = PathTexts::read(&page);
        // 34 marks and 4 link characters.
        let first = [2, 3, 4, 5, 6, 7, 8];
        for (alpha, beta, is_first) in [
            (1, LinkLimit::Chars(30), true),
            (30, LinkLimit::Chars(5), true),
            (30, LinkLimit::Percent(2), true),
            (1, LinkLimit::Chars(4), false),
            (1, LinkLimit::Percent(1), false),
            (31, LinkLimit::Chars(30), false),
        ] {
            let pass = SecondPass { alpha, beta };
            assert_eq!(pass.extract(&texts) == first, is_first, "{pass:?}");
        }
    }

    #[test]
    fn second_pass_takes_block() {
        // Two lines of a footer score; the text of the picture has a path of its own, and no score.
        let picture = "<div><img src=a><p>图为储气库扩建工程现场，注气能力比去年提高三成，设备运行平稳。</p></div>";
        let html = format!("<body>{MENU}{picture}{FOOT}");
        let strict = SecondPass {
            alpha: 9,
            ..SecondPass::default()
        };
        assert!(
            text(strict, &html).starts_with("图为储气库"),
            "{}",
            text(strict, &html)
        );
        // The paper's own failure: with a smaller α the footer is taken for the text.
        assert!(text(SecondPass::default(), &html).contains("版权所有"));
    }

    #[test]
    fn second_pass_never_takes_links_or_footer() {
        for html in [
            format!("<body>{MENU}"),
            format!("<body>{MENU}{FOOT}"),
            String::new(),
        ] {
            let strict = SecondPass {
                alpha: 99,
                ..SecondPass::default()
            };
            assert_eq!(text(strict, &html), "", "{html}");
        }
    }

    #[test]
    fn link_limit_from_text() {
        assert_eq!("30".parse(), Ok(LinkLimit::Chars(30)));
        assert_eq!("30%".parse(), Ok(LinkLimit::Percent(30)));
        for bad in ["", "%", "-1", "0%", "101%", "a", "3.5"] {
            let error = bad.parse::<LinkLimit>().expect_err(bad).to_string();
            assert!(error.starts_with(&format!("`{bad}` is neither")), "{error}");
        }
        for limit in [LinkLimit::Chars(7), LinkLimit::Percent(7)] {
            assert_eq!(limit.to_string().parse(), Ok(limit));
        }
    }
}
