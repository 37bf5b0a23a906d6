//! Main text by pre-pruning and entropy, a yardstick. In: the pages of a set. Out: the text of a page, at the extraction path that
//! the pages of its cluster have in common. All other fields are those of the extraction.
//!
//! After a short paper on tree pre-pruning and information entropy: a page is its *simple tree*, the body and its children; pages whose
//! simple trees are alike form a cluster; of one page of each cluster the content node is found, and its path from the body is
//! the extraction path of the whole cluster. We have the paper without its formulas. Reconstructed: with W the longest common
//! subsequence of the labels of the children, `sim = 2 (W + 1) / (|A| + |B|)`, roots counted, and `score(v) = plain share ·
//! (1 - link density) · (1 + H)`, where H is the entropy of the lengths of the texts in v.

use std::path::PathBuf;

use taojin_eval::{PageFilter, PageScore, Run};
use taojin_extract::page::{Attr, NodeId, Page, Tag, count_chars};

/// Similarity from which two pages are of one cluster (the paper, after Reis et al. 2004).
const ALIKE: f64 = 0.8;
/// Share of the page's text from which an only child stands for the body.
const WRAPPED: f64 = 0.9;
/// Share of the plain text of a node that its best child must hold to be taken in its place.
const MOST: f64 = 0.6;
/// A node of less plain text, in characters, and more link text than this share is pruned.
const SHORT: u32 = 50;
const LINKED: f64 = 0.7;
/// Most children of a simple tree; the comparison takes their product.
const CHILDREN: usize = 200;

/// Arguments of `prune`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Directory with SET/gold.jsonl and SET/html/ID.html
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Only this set (may be given several times)
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
}

/// Judges the texts that are found so; all other fields are those of the extraction.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let choice = PageFilter {
        sets: args.set.clone(),
        ..PageFilter::default()
    };
    let (sets, _) = taojin_eval::choose(&args.dir, &choice)?;
    let extraction = crate::extraction();
    let mut run = Run::default();
    for set in &sets {
        let mut clusters = Clusters::default();
        for gold in set.gold()? {
            if let Some(page) = extraction.saved_page(set, &gold?) {
                clusters.add(&page);
            }
        }
        for gold in set.gold()? {
            let gold = gold?;
            let document = extraction.saved_page(set, &gold).map(|page| {
                let context = extraction.context();
                let mut document =
                    taojin_extract::extract_with(&page, &context, &extraction.extract);
                document.text = clusters.text(&page);
                document
            });
            run.pages
                .push(PageScore::new(&set.name, &gold, document.as_ref(), false));
        }
    }
    let report = taojin_eval::report(&run, 0, false, Vec::new());
    for line in taojin_eval::format_run(&run, &report) {
        println!("{line}");
    }
    Ok(())
}

/// One step of an extraction path: a tag and which of the siblings of this tag.
type Step = (Tag, usize);

/// The clusters of a set, each with its extraction path.
#[derive(Debug, Default)]
pub(super) struct Clusters(Vec<(Vec<String>, Vec<Step>)>);

impl Clusters {
    /// Puts a page into the cluster of its like, or begins one with it.
    pub(super) fn add(&mut self, page: &Page) {
        let tree = simple_tree(page);
        if self.path(&tree).is_none() {
            let pruned = Pruned::of(page);
            let path = pruned.content().map(|node| path_to(page, node));
            self.0.push((tree, path.unwrap_or_default()));
        }
    }

    fn path(&self, tree: &[String]) -> Option<&[Step]> {
        let like = |(other, _): &&(Vec<String>, Vec<Step>)| similarity(other, tree) >= ALIKE;
        self.0.iter().find(like).map(|(_, path)| path.as_slice())
    }

    /// The text of a page at the path of its cluster; where that leads nowhere or to nothing, at its own content node.
    pub(super) fn text(&self, page: &Page) -> String {
        let pruned = Pruned::of(page);
        let at_path = self
            .path(&simple_tree(page))
            .and_then(|path| follow(page, path));
        let text = at_path.map(|node| pruned.text(node)).unwrap_or_default();
        match pruned.content() {
            Some(node) if text.is_empty() => pruned.text(node),
            _ => text,
        }
    }
}

/// The labels of the children of the body: tag, and words of class and id without digits.
fn simple_tree(page: &Page) -> Vec<String> {
    let Some(mut root) = page.body() else {
        return Vec::new();
    };
    let elements = |node| {
        page.children(node)
            .filter(|id| page.node(*id).tag != Tag::TEXT)
    };
    let length = |node| {
        page.shown_texts(page.subtree(node))
            .map(|t| count_chars(page.text(t)))
    };
    // Many pages put all into one element.
    loop {
        let whole: usize = length(root).sum();
        let holds = |child: &NodeId| length(*child).sum::<usize>() as f64 >= WRAPPED * whole as f64;
        match elements(root).find(holds) {
            Some(child) if whole > 0 && elements(child).next().is_some() => root = child,
            _ => break,
        }
    }
    elements(root)
        .take(CHILDREN)
        .map(|id| label(page, id))
        .collect()
}

fn label(page: &Page, id: NodeId) -> String {
    let values = [Attr::Class, Attr::Id]
        .into_iter()
        .filter_map(|name| page.attr(id, name));
    let words = values.flat_map(str::split_ascii_whitespace);
    let mut words: Vec<String> = words
        .map(|word| word.chars().filter(|c| !c.is_ascii_digit()).collect())
        .collect();
    words.sort();
    format!("{} {}", page.node(id).tag.name(), words.join(" "))
}

/// `2 (W + 1) / (|A| + |B|)` with the longest common subsequence W of the children, both roots counted.
fn similarity<T: PartialEq>(a: &[T], b: &[T]) -> f64 {
    let mut row = vec![0usize; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y {
                diagonal + 1
            } else {
                above.max(row[j])
            };
            diagonal = above;
        }
    }
    2.0 * (row[b.len()] + 1) as f64 / (a.len() + b.len() + 2) as f64
}

/// The steps from the body to a node.
fn path_to(page: &Page, node: NodeId) -> Vec<Step> {
    let body = page.body().unwrap_or_default();
    let line = std::iter::once(node).chain(page.ancestors(node));
    let mut path: Vec<Step> = line
        .take_while(|at| *at != body)
        .map(|at| {
            let (tag, parent) = (page.node(at).tag, page.node(at).parent);
            let before = page.children(parent).take_while(|sibling| *sibling != at);
            (
                tag,
                before
                    .filter(|sibling| page.node(*sibling).tag == tag)
                    .count(),
            )
        })
        .collect();
    path.reverse();
    path
}

fn follow(page: &Page, path: &[Step]) -> Option<NodeId> {
    let mut at = page.body()?;
    for (tag, index) in path {
        let mut like = page
            .children(at)
            .filter(|child| page.node(*child).tag == *tag);
        at = like.nth(*index)?;
    }
    Some(at)
}

/// What is left of a page.
struct Pruned<'p> {
    page: &'p Page,
    /// Characters outside links and inside, of what is left in each node.
    plain: Vec<u32>,
    linked: Vec<u32>,
    /// `Σ n log2 n` over the lengths of the texts outside links.
    logs: Vec<f64>,
    /// Nodes that are cut off with what they hold.
    cut: Vec<bool>,
}

impl<'p> Pruned<'p> {
    fn of(page: &'p Page) -> Self {
        let count = page.nodes().len();
        let mut pruned = Self {
            page,
            plain: vec![0; count],
            linked: vec![0; count],
            logs: vec![0.0; count],
            cut: vec![false; count],
        };
        let mut link_end = 0;
        for id in 0..count as NodeId {
            let node = page.node(id);
            if node.tag == Tag::A {
                link_end = link_end.max(node.end);
            }
            if node.tag == Tag::TEXT {
                let chars = count_chars(page.text(id)) as u32;
                if id < link_end {
                    pruned.linked[id as usize] = chars;
                } else if chars > 0 {
                    pruned.plain[id as usize] = chars;
                    pruned.logs[id as usize] = f64::from(chars) * f64::from(chars).log2();
                }
            } else {
                let headed = || page.subtree(id).any(|at| page.node(at).tag == Tag::H1);
                pruned.cut[id as usize] = match node.tag {
                    Tag::HTML | Tag::BODY => false,
                    Tag::HEADER => !headed(),
                    Tag::NAV | Tag::FOOTER | Tag::ASIDE => true,
                    tag => tag.is_invisible() || is_control(tag) || page.is_hidden(id),
                };
            }
        }
        // Children come after their parents.
        for id in (0..count).rev() {
            let (plain, linked) = (pruned.plain[id], pruned.linked[id]);
            let node = page.node(id as NodeId);
            let share = f64::from(linked) / f64::from((plain + linked).max(1));
            let is_menu = share > LINKED && plain < SHORT && node.tag.is_block();
            pruned.cut[id] |= node.tag != Tag::TEXT && (plain + linked == 0 || is_menu);
            let parent = node.parent as usize;
            if !pruned.cut[id] && parent != id {
                pruned.plain[parent] += plain;
                pruned.linked[parent] += linked;
                pruned.logs[parent] += pruned.logs[id];
            }
        }
        pruned
    }

    /// `(1 - link density) · (1 + H)` times the plain characters, which is the share times that of the page.
    fn score(&self, id: NodeId) -> f64 {
        let at = id as usize;
        let plain = f64::from(self.plain[at]);
        if plain == 0.0 {
            return 0.0;
        }
        let density = f64::from(self.linked[at]) / (plain + f64::from(self.linked[at]));
        plain * (1.0 - density) * (1.0 + entropy(plain, self.logs[at]))
    }

    /// From the body down into the best child, while it holds most of the text.
    fn content(&self) -> Option<NodeId> {
        let mut at = self.page.body()?;
        loop {
            let left = self
                .page
                .children(at)
                .filter(|child| !self.cut[*child as usize]);
            let blocks = left.filter(|child| self.page.node(*child).tag.is_block());
            let best = blocks.max_by(|a, b| self.score(*a).total_cmp(&self.score(*b)));
            let holds = |child: &NodeId| {
                f64::from(self.plain[*child as usize]) >= MOST * f64::from(self.plain[at as usize])
            };
            match best.filter(|best| self.plain[*best as usize] > 0 && holds(best)) {
                Some(best) => at = best,
                None => return (self.plain[at as usize] > 0).then_some(at),
            }
        }
    }

    /// What is left in a node, a line for each block.
    fn text(&self, root: NodeId) -> String {
        let mut text = String::new();
        let mut at = root;
        while at < self.page.node(root).end {
            let node = self.page.node(at);
            if node.tag != Tag::TEXT && self.cut[at as usize] {
                at = node.end;
                continue;
            }
            if node.tag == Tag::TEXT {
                text.push_str(self.page.text(at));
            } else if node.tag.is_block() || node.tag == Tag::BR {
                text.push('\n');
            }
            at += 1;
            let ends = |above: NodeId| {
                self.page.node(above).end == at && self.page.node(above).tag.is_block()
            };
            if self
                .page
                .ancestors(at - 1)
                .take_while(|a| *a >= root)
                .any(ends)
            {
                text.push('\n');
            }
        }
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Entropy in bits of lengths that add up to `whole`, given `logs = Σ n log2 n`.
fn entropy(whole: f64, logs: f64) -> f64 {
    (whole.log2() - logs / whole).max(0.0)
}

fn is_control(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::IFRAME
            | Tag::SVG
            | Tag::BUTTON
            | Tag::SELECT
            | Tag::TEXTAREA
            | Tag::INPUT
            | Tag::NOSCRIPT
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use taojin_extract::page::Hints;

    fn page(html: &str) -> Page {
        Page::parse(html.as_bytes(), Hints::default())
    }

    const STORY: &str = "<p>储气库扩建工程日前通过验收，注气能力比去年提高三成，现场设备运行平稳。</p>\
        <p>项目负责人介绍，今年更换阀门七台，检修人员由三班增加到四班，夜间值守改为屏幕巡检。</p>";
    const FRAME: &str = "<header><a href=/>首页</a></header><nav><a href=/a>要闻</a></nav>";

    #[test]
    fn simple_trees_of_the_worked_example() {
        let a = ["header", "nav", "div", "div", "div", "footer"];
        let b = ["header", "nav", "div", "div", "aside", "footer"];
        assert!((similarity(&a, &b) - 12.0 / 14.0).abs() < 1e-9);
        assert_eq!(similarity(&a, &a), 1.0);
    }

    #[test]
    fn entropy_is_that_of_the_shares() {
        // Two equal halves: one bit.
        assert!((entropy(8.0, 2.0 * 4.0 * 2.0) - 1.0).abs() < 1e-9);
        assert_eq!(entropy(8.0, 8.0 * 3.0), 0.0);
    }

    #[test]
    fn pages_of_a_cluster_share_the_path_of_the_first() {
        let of = |title: &str, story: &str| {
            page(&format!(
                "<body>{FRAME}<div class=list1><h1>{title}</h1><div>{story}</div></div>\
                 <div><p>联系我们，电话一二三四。</p></div><footer>版权所有</footer>"
            ))
        };
        let (first, second) = (of("一", STORY), of("二", "<p>短讯。</p>"));
        let mut clusters = Clusters::default();
        clusters.add(&first);
        clusters.add(&second);
        let [(_, path)] = clusters.0.as_slice() else {
            panic!("one cluster, not {clusters:?}");
        };
        assert_eq!(path, &[(Tag::DIV, 0), (Tag::DIV, 0)]);
        assert_eq!(clusters.text(&first).lines().count(), 2);
        // Alone, the second page would be taken for its longer footer.
        assert_eq!(clusters.text(&second), "短讯。");
    }

    #[test]
    fn a_page_without_text_has_none() {
        let mut clusters = Clusters::default();
        for html in [
            "",
            "<frameset><frame src=a></frameset>",
            "<body><nav>要闻</nav>",
        ] {
            clusters.add(&page(html));
            assert_eq!(clusters.text(&page(html)), "");
        }
    }
}
