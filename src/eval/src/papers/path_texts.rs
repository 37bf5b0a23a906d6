//! The texts of a page with what is counted under each tag path, as Wu et al. (CIKM 2013) count them: characters and sentence
//! marks. [`PathTexts::scores`] gives each text the score of its path, smoothed along the page; [`cut`] keeps what is above
//! the threshold.

use taojin_extract::page::{NodeId, Page, PathCounts, PathId, Tag, count_chars};
use taojin_extract::path_ratio::{path_distance, smooth, threshold};

/// Sentence marks, in both widths.
const MARKS: [char; 13] = [
    '，', '。', '；', '：', '？', '！', '、', ',', '.', ';', ':', '?', '!',
];

/// One text below the body.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathText {
    pub(super) node: NodeId,
    pub(super) path: PathId,
    pub(super) chars: u32,
    pub(super) marks: u32,
    /// It is a link's.
    pub(super) is_link: bool,
}

/// The texts of a page in order.
#[derive(Debug)]
pub(super) struct PathTexts<'p> {
    pub(super) page: &'p Page,
    pub(super) texts: Vec<PathText>,
    counts: Vec<PathCounts>,
}

impl<'p> PathTexts<'p> {
    /// Counts every text with a letter or digit that is not a script's, a style's or the head's.
    pub(super) fn read(page: &'p Page) -> Self {
        let mut texts = Vec::new();
        let mut counts = vec![PathCounts::default(); page.paths().len()];
        let mut at: NodeId = 0;
        while let Some(node) = page.nodes().get(at as usize) {
            let is_left_out = matches!(
                node.tag,
                Tag::HEAD | Tag::SCRIPT | Tag::STYLE | Tag::NOSCRIPT | Tag::TEMPLATE
            );
            let text = page.text(at);
            if text.chars().any(char::is_alphanumeric) {
                let marks = text.chars().filter(|c| MARKS.contains(c)).count();
                let (chars, marks) = (count_chars(text) as u32, marks as u32);
                counts[node.path as usize].add(chars, marks);
                texts.push(PathText {
                    node: at,
                    path: node.path,
                    chars,
                    marks,
                    is_link: page.paths()[node.path as usize].is_link,
                });
            }
            at = if is_left_out { node.end } else { at + 1 };
        }
        Self {
            page,
            texts,
            counts,
        }
    }

    /// What is counted under a path.
    pub(super) fn counts(&self, path: PathId) -> &PathCounts {
        &self.counts[path as usize]
    }

    /// The score of its path for each text, smoothed.
    pub(super) fn scores(&self, of_path: impl Fn(PathId) -> f64) -> Vec<f64> {
        let scores: Vec<f64> = self.texts.iter().map(|text| of_path(text.path)).collect();
        smooth(&scores, |i, j| {
            path_distance(self.page, self.texts[i].path, self.texts[j].path)
        })
    }

    /// Some of the texts, one a line.
    pub(super) fn join(&self, kept: &[usize]) -> String {
        let texts = kept.iter().map(|at| self.page.text(self.texts[*at].node));
        texts.map(str::trim).collect::<Vec<_>>().join("\n")
    }
}

/// Which scores are above the threshold; all where they do not differ.
pub(super) fn cut(scores: &[f64]) -> Vec<usize> {
    let least = threshold(scores);
    let kept = scores.iter().enumerate();
    let kept = kept.filter(|(_, score)| **score > least || least == 0.0);
    kept.map(|(at, _)| at).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use taojin_extract::page::Hints;

    use super::*;

    /// The worked page of the papers: two menu links, a headline, four paragraphs with one link between, two lines of the footer.
    /// Characters and sentence marks as in its table.
    pub(in crate::papers) fn worked_page() -> Page {
        let text = |chars: usize, marks: usize| "字".repeat(chars - marks) + &"，".repeat(marks);
        let html = format!(
            "<html><body><div><ul><li><a href=/1>{a}</a></li><li><a href=/2>{a}</a></li></ul><h1>{h1}</h1><p>{p1}</p>\
             <p>{p2}<a href=/3>{link}</a>{p3}</p><p>{p4}</p><div><p>{f1}</p><p>{f2}</p></div></div>",
            a = text(2, 0),
            h1 = text(12, 0),
            p1 = text(80, 6),
            p2 = text(120, 10),
            link = text(4, 0),
            p3 = text(40, 3),
            p4 = text(100, 8),
            f1 = text(30, 4),
            f2 = text(26, 3),
        );
        Page::parse(html.as_bytes(), Hints::default())
    }

    #[test]
    fn cut_worked_page() {
        let page = worked_page();
        let texts = PathTexts::read(&page);
        assert_eq!(texts.texts.len(), 10);
        let kept = |of: fn(&PathCounts) -> f64| {
            let scores = texts.scores(|path| of(texts.counts(path)));
            (scores[3], cut(&scores))
        };
        let (score, by_tpr) = kept(PathCounts::tpr);
        assert!((score - 64.99).abs() < 0.01, "{score}");
        assert_eq!(by_tpr, [2, 3, 4, 5, 6, 7, 8, 9]);
        let (score, by_etpr) = kept(PathCounts::etpr_as_printed);
        assert!((score - 31860.62).abs() < 0.01, "{score}");
        assert_eq!(by_etpr, [2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn texts_without_scripts_and_head() {
        let html = "<title>t</title><body><style>s{}</style><p>甲 乙 。</p>|<noscript>n</noscript><b hidden>丙</b>";
        let page = Page::parse(html.as_bytes(), Hints::default());
        let texts = PathTexts::read(&page);
        let found: Vec<(u32, u32)> = texts.texts.iter().map(|t| (t.chars, t.marks)).collect();
        assert_eq!(found, [(5, 1), (1, 0)]);
        // Scores that do not differ keep every text.
        assert_eq!(texts.join(&cut(&[1.0, 1.0])), "甲 乙 。\n丙");
        assert_eq!(cut(&[0.0, 9.0]), [1]);
    }
}
