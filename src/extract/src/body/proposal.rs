//! Selects text by path ratios, the first stage of the extraction, without words and without learning. A [`BodyProposal`] says
//! of each line whether it is proposed, ruled out or left to the models, from the table of tag paths that was counted while the
//! page arrived.
//!
//! First pass (Wu et al., CIKM 2013, `path_ratio`): each text has the score of its path, link texts 0; scores are smoothed along
//! the page by the distance of paths, and what is above the threshold is proposed.
//!
//! Second pass, after Wang Du et al. 2018, §2.2.1, algorithm 2, which counts again with `p` and `strong` and wants results of
//! at least α sentence marks and with fewer link characters than β. The paper leaves open what a result is: here it is an
//! element. From the body down to the child that holds nearly all of what the first pass scored, as long as there is one; only
//! there is text, and there a lower threshold does.
//!
//! Half of the lines of a page are menus, footers and lists of other articles, far from every text: they are ruled out, and no
//! later stage looks at them. A line is ruled out where each run of [`RUN`] lines that holds it lies outside the element, scores
//! next to nothing ([`HOPELESS`]) and holds little but links ([`LEAST_PROSE`]). Nothing is ruled out where
//! the proposal itself is weak ([`LEAST_TEXT`], [`LEAST_SHARE`]): there the text is written in a way that the ratios do not see.

use serde::{Deserialize, Serialize};

use crate::lines::outline::Outline;
use crate::page::{NodeId, Page, PathCounts, PathId, Tag, TagPath, TextCounts};
use crate::path_ratio::{path_distance, smooth, threshold};

/// α: sentence marks that an element with text has at least.
const LEAST_MARKS: u32 = 1;
/// β: share of the tokens in links that it stays below, in hundredths.
const MOST_LINKED: u64 = 30;
/// Texts inside `p` or `strong` count so many times in the second pass.
const EMPHASIS: f64 = 2.0;
/// Share of the score of an element that its child must hold to be taken in its place; .75 and .8 are alike on the sets that
/// it was chosen on, .6 and .9 worse.
const NEARLY_ALL: f64 = 0.8;
/// Factor of the threshold inside the element; .2 to .4 are alike.
const LOWER: f64 = 0.3;
/// Share of the threshold below which a line has no text near it: .02 to .1 are alike.
const HOPELESS: f64 = 0.05;
/// Lines that are looked at together: 4 to 6 are alike on articles, threads want 5.
const RUN: usize = 5;
/// So many tokens outside links in such a run are left to the models whatever they score: a path with few texts has a low score,
/// and so have lists and tables.
const LEAST_PROSE: u32 = 24;
/// Tokens outside links that must be proposed before any line is ruled out, and the share of the page's that they must be.
const LEAST_TEXT: u32 = 50;
const LEAST_SHARE: f32 = 0.3;

/// What a line's log-odds gain where it is proposed, and lose where it is not.
const PROPOSED: f32 = 0.3;
const NOT_PROPOSED: f32 = 0.15;

/// What the path ratios decide of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RatioVerdict {
    /// It is not text, and neither is anything near it: no later stage looks at it.
    RuledOut,
    /// The ratios do not tell: left to the models.
    #[default]
    Open,
    /// It is proposed as text; the models may still disagree.
    Proposed,
}

/// How many lines of a page the path ratios rule out, propose, and leave to the models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatioLines {
    /// [`RatioVerdict::RuledOut`].
    pub ruled_out: u32,
    /// [`RatioVerdict::Proposed`].
    pub proposed: u32,
    /// [`RatioVerdict::Open`].
    pub open: u32,
}

impl RatioLines {
    /// Counts the verdicts of all lines.
    fn count(lines: &[ProposedLine]) -> Self {
        let mut counts = Self::default();
        for line in lines {
            match line.verdict {
                RatioVerdict::RuledOut => counts.ruled_out += 1,
                RatioVerdict::Proposed => counts.proposed += 1,
                RatioVerdict::Open => counts.open += 1,
            }
        }
        counts
    }

    /// Lines of the page.
    pub fn total(&self) -> u64 {
        [self.ruled_out, self.proposed, self.open]
            .into_iter()
            .map(u64::from)
            .sum()
    }
}

/// What the ratios say of one line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ProposedLine {
    /// After both passes.
    pub verdict: RatioVerdict,
    /// The first pass says that it is text.
    pub is_above: bool,
}

impl ProposedLine {
    /// It is proposed as text.
    pub(crate) fn is_text(self) -> bool {
        self.verdict == RatioVerdict::Proposed
    }

    /// No model judges it.
    pub(crate) fn is_ruled_out(self) -> bool {
        self.verdict == RatioVerdict::RuledOut
    }

    /// What it adds to the log-odds by the learned models, which do not see the proposal otherwise.
    pub(crate) fn lean(self) -> f32 {
        if self.is_text() {
            PROPOSED
        } else {
            -NOT_PROPOSED
        }
    }
}

/// What the ratios say of a page.
#[derive(Debug, Default)]
pub(crate) struct BodyProposal {
    /// For each line of the outline.
    pub lines: Vec<ProposedLine>,
    /// The element that holds the text; `None` where there is none.
    pub element: Option<NodeId>,
    /// What is counted under each tag path, of the texts that are read.
    pub paths: Vec<PathCounts>,
    /// The score that a text must exceed in the first pass.
    pub threshold: f64,
}

/// What the second pass adds up over the lines that the first proposes.
#[derive(Debug, Clone, Copy, Default)]
struct TokenSum {
    score: f64,
    tokens: u32,
    linked: u32,
    marks: u32,
}

impl TokenSum {
    fn less(self, other: TokenSum) -> TokenSum {
        TokenSum {
            score: self.score - other.score,
            tokens: self.tokens - other.tokens,
            linked: self.linked - other.linked,
            marks: self.marks - other.marks,
        }
    }

    /// Sentence marks enough and links few enough for a text.
    fn may_be_text(self) -> bool {
        self.marks >= LEAST_MARKS
            && u64::from(self.linked) * 100 < u64::from(self.tokens) * MOST_LINKED
    }
}

impl BodyProposal {
    /// What the ratios say of the lines of `page`.
    pub(crate) fn new(page: &Page, outline: &Outline) -> Self {
        let mut proposal = Self {
            lines: Vec::with_capacity(outline.lines.len()),
            paths: page.path_counts().to_vec(),
            ..Self::default()
        };
        let (texts, of_line) = list_line_texts(page, outline);
        if texts.iter().any(|text| text.is_hidden) {
            proposal.count_hidden(&texts);
        }
        let smoothed = proposal.score(page, &texts);
        let (sums, is_hopeless) = proposal.first_pass(page, &texts, &of_line, &smoothed);
        proposal.second_pass(page, outline, &sums);
        proposal.rule_out(page, outline, &is_hopeless);
        proposal
    }

    /// Lines that it says are text.
    pub(crate) fn text_lines(&self) -> Vec<usize> {
        let lines = self.lines.iter().enumerate();
        lines.filter(|(_, l)| l.is_text()).map(|(i, _)| i).collect()
    }

    /// How many lines it rules out, proposes and leaves open; `None` without lines.
    pub(crate) fn line_counts(&self) -> Option<RatioLines> {
        (!self.lines.is_empty()).then(|| RatioLines::count(&self.lines))
    }

    /// How sure it is, 0 to 1: the share of the text's tokens that the first pass proposed as well.
    pub(crate) fn confidence(&self, outline: &Outline) -> f32 {
        let (mut sure, mut all) = (0u32, 0u32);
        for (proposed, line) in self.lines.iter().zip(&outline.lines) {
            let tokens = if proposed.is_text() {
                line.all.tokens
            } else {
                0
            };
            all += tokens;
            sure += if proposed.is_above { tokens } else { 0 };
        }
        sure as f32 / all.max(1) as f32
    }

    /// Hidden texts are read as well this time, so they count.
    fn count_hidden(&mut self, texts: &[&TextCounts]) {
        for text in texts.iter().filter(|text| text.is_hidden) {
            let counts = &mut self.paths[text.path as usize];
            counts.add(text.measure.tokens, text.measure.marks);
        }
    }

    /// Smoothed score of each text.
    fn score(&mut self, page: &Page, texts: &[&TextCounts]) -> Vec<f64> {
        let paths = self.paths.iter().zip(page.paths());
        let of_path = |(counts, path): (&PathCounts, &TagPath)| match counts.texts {
            0 => 0.0,
            _ if path.is_link => 0.0,
            _ => counts.etpr(),
        };
        let of_paths: Vec<f64> = paths.map(of_path).collect();
        let scores: Vec<f64> = texts.iter().map(|t| of_paths[t.path as usize]).collect();
        // The same two paths are next to each other all over a page.
        let mut known: ((PathId, PathId), u32) = ((0, 0), 0);
        let smoothed = smooth(&scores, |i, j| {
            let (a, b) = (texts[i].path, texts[j].path);
            if a == b {
                return 0;
            }
            let pair = (a.min(b), a.max(b));
            if known.0 != pair {
                known = (pair, path_distance(page, a, b));
            }
            known.1
        });
        self.threshold = threshold(&smoothed);
        smoothed
    }

    /// Judges each line by its texts; returns the sums over the first lines that are above the threshold, and which lines
    /// score next to nothing.
    fn first_pass(
        &mut self,
        page: &Page,
        texts: &[&TextCounts],
        of_line: &[usize],
        smoothed: &[f64],
    ) -> (Vec<TokenSum>, Vec<bool>) {
        let mut is_hopeless = Vec::with_capacity(of_line.len());
        let mut sums = Vec::with_capacity(of_line.len() + 1);
        let mut sum = TokenSum::default();
        sums.push(sum);
        let mut from = 0;
        for end in of_line {
            let mut line = TokenSum::default();
            let (mut above, mut near, mut best) = (0, 0, 0.0f64);
            for (text, score) in texts[from..*end].iter().zip(&smoothed[from..*end]) {
                let (tokens, path) = (text.measure.tokens, &page.paths()[text.path as usize]);
                let emphasis = if path.is_emphatic { EMPHASIS } else { 1.0 };
                best = best.max(*score);
                line.tokens += tokens;
                line.marks += text.measure.marks;
                line.linked += if path.is_link { tokens } else { 0 };
                line.score += f64::from(tokens) * score.sqrt() * emphasis;
                above += if *score > self.threshold { tokens } else { 0 };
                near += if *score > self.threshold * LOWER {
                    tokens
                } else {
                    0
                };
            }
            from = *end;
            let is_most = |tokens: u32| tokens > 0 && tokens * 2 >= line.tokens;
            self.lines.push(ProposedLine {
                is_above: is_most(above),
                // Until the second pass says where: text if it is in that place.
                verdict: if is_most(near) {
                    RatioVerdict::Proposed
                } else {
                    RatioVerdict::Open
                },
            });
            is_hopeless.push(best < self.threshold * HOPELESS);
            if is_most(above) {
                sum.score += line.score;
                sum.tokens += line.tokens;
                sum.linked += line.linked;
                sum.marks += line.marks;
            }
            sums.push(sum);
        }
        (sums, is_hopeless)
    }

    /// Looks for the element that holds the text, and leaves only lines in it.
    fn second_pass(&mut self, page: &Page, outline: &Outline, sums: &[TokenSum]) {
        let sum = |node: NodeId| {
            let range = outline.range(page, node);
            sums[range.end].less(sums[range.start])
        };
        let Some(mut at) = page.body().filter(|body| sum(*body).tokens > 0) else {
            let lines = self.lines.iter_mut();
            lines.for_each(|line| line.verdict = RatioVerdict::Open);
            return;
        };
        loop {
            let children = page
                .children(at)
                .filter(|child| may_hold_text(page.node(*child).tag));
            let children = children.map(|child| (child, sum(child)));
            let (mut rest, mut best) = (sum(at).score, (at, 0.0));
            for (child, sum) in children {
                if !sum.may_be_text() {
                    // Wherever the text is, not there.
                    rest -= sum.score;
                } else if sum.score > best.1 {
                    best = (child, sum.score);
                }
            }
            if best.1 <= 0.0 || best.1 < NEARLY_ALL * rest {
                break;
            }
            at = best.0;
        }
        let inside = outline.range(page, at);
        for (i, line) in self.lines.iter_mut().enumerate() {
            if !inside.contains(&i) {
                line.verdict = RatioVerdict::Open;
            } else if line.is_above {
                line.verdict = RatioVerdict::Proposed;
            }
        }
        self.element = Some(at);
    }

    /// Rules out the lines that are far from every text, given which score next to nothing.
    fn rule_out(&mut self, page: &Page, outline: &Outline, is_hopeless: &[bool]) {
        let Some(element) = self.element else { return };
        let inside = outline.range(page, element);
        // For each line the sums over those before it.
        let mut before = Vec::with_capacity(self.lines.len() + 1);
        let (mut plain, mut hopeful, mut proposed) = (0u32, 0u32, 0u32);
        before.push((plain, hopeful));
        for (i, (line, found)) in outline.lines.iter().zip(&self.lines).enumerate() {
            let own = line.plain_tokens();
            plain += own;
            proposed += if found.is_text() { own } else { 0 };
            hopeful += u32::from(inside.contains(&i) || !is_hopeless[i]);
            before.push((plain, hopeful));
        }
        if proposed < LEAST_TEXT || (proposed as f32) < LEAST_SHARE * plain as f32 {
            return;
        }
        let mut is_far = vec![true; self.lines.len()];
        let run = RUN.min(self.lines.len());
        for start in 0..=self.lines.len() - run {
            let (first, last) = (before[start], before[start + run]);
            if last.0 - first.0 >= LEAST_PROSE || last.1 > first.1 {
                is_far[start..start + run].fill(false);
            }
        }
        for (line, _) in self.lines.iter_mut().zip(is_far).filter(|(_, far)| *far) {
            line.verdict = RatioVerdict::RuledOut;
        }
    }
}

/// Whether an element may be what holds the text: none that holds one paragraph.
fn may_hold_text(tag: Tag) -> bool {
    tag.is_block() && tag != Tag::P
}

/// The texts of all lines in order that have tokens, and for each line the end of its own.
pub(crate) fn list_line_texts<'p>(
    page: &'p Page,
    outline: &Outline,
) -> (Vec<&'p TextCounts>, Vec<usize>) {
    let mut next = page.texts().iter().peekable();
    let mut texts = Vec::with_capacity(page.texts().len());
    let mut ends = Vec::with_capacity(outline.lines.len());
    for line in &outline.lines {
        while let Some(text) = next.next_if(|text| text.node < line.end) {
            let is_read = outline.reads_hidden || !text.is_hidden;
            if text.node >= line.first && is_read && text.measure.tokens > 0 {
                texts.push(text);
            }
        }
        ends.push(texts.len());
    }
    (texts, ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Hints;

    const STORY: &str = "<p>储气库扩建工程日前通过验收，注气能力比去年提高三成，现场设备运行平稳。</p>\
        <p>项目负责人介绍，今年更换阀门七台，检修人员由三班增加到四班，夜间值守改为屏幕巡检。</p>\
        <p>“下一步要把数据接进调度中心。”他说。</p>";
    const MENU: &str =
        "<ul><li><a href=/a>要闻</a><li><a href=/b>炼化</a><li><a href=/c>勘探开发</a></ul>";
    const FOOTER: &str =
        "<div><div><span>本网站由某某公司主办，未经许可不得转载。</span></div></div>";

    /// The texts of the lines that are proposed.
    fn proposed(html: &str, hidden_too: bool) -> Vec<String> {
        let page = Page::parse(html.as_bytes(), Hints::default());
        let outline = Outline::new(&page, hidden_too);
        let proposal = BodyProposal::new(&page, &outline);
        assert_eq!(proposal.lines.len(), outline.lines.len());
        let lines = proposal.text_lines().into_iter();
        lines
            .map(|i| outline.text(&page, &outline.lines[i]).to_owned())
            .collect()
    }

    #[test]
    fn proposal_plain_story() {
        let html = format!("<body>{MENU}<div><div>{STORY}</div></div>{MENU}{FOOTER}");
        let lines = proposed(&html, false);
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].starts_with("储气库") && lines[2].ends_with("他说。"));
    }

    #[test]
    fn proposal_skips_text_elsewhere() {
        // The same tag path, and above the threshold: only the second pass knows the place.
        let other = "<div><p>编辑部地址：某市某路一号，欢迎来信，也欢迎来电。</p></div>";
        let html = format!("<body>{MENU}<div>{}</div>{other}", STORY.repeat(3));
        let page = Page::parse(html.as_bytes(), Hints::default());
        let outline = Outline::new(&page, false);
        let proposal = BodyProposal::new(&page, &outline);
        let last = proposal.lines.last().unwrap();
        assert!(last.is_above && !last.is_text(), "{last:?}");
        assert_eq!(proposal.text_lines().len(), 9);
        assert!(proposal.confidence(&outline) > 0.9);
    }

    #[test]
    fn line_counts_of_page() {
        let counts = |html: &str| {
            let page = Page::parse(html.as_bytes(), Hints::default());
            BodyProposal::new(&page, &Outline::new(&page, false)).line_counts()
        };
        let menu = MENU.repeat(4);
        let found = counts(&format!("<body>{menu}<div>{STORY}</div>{menu}"));
        let found = found.expect("a page with lines");
        assert_eq!((found.proposed, found.total()), (3, 27));
        assert!(found.ruled_out >= 10, "{found:?}");
        assert_eq!(counts("<body>"), None);
    }

    /// Of each line its text and what was decided.
    fn verdicts(html: &str) -> Vec<(String, RatioVerdict)> {
        let page = Page::parse(html.as_bytes(), Hints::default());
        let outline = Outline::new(&page, false);
        let lines = BodyProposal::new(&page, &outline).lines;
        let texts = outline.lines.iter().map(|l| outline.text(&page, l));
        let verdicts = lines.iter().map(|l| l.verdict);
        texts.map(str::to_owned).zip(verdicts).collect()
    }

    #[test]
    fn proposal_rules_out_what_is_far_from_text() {
        let menu = MENU.repeat(4);
        let html = format!("<body>{menu}<div><div>{STORY}</div></div>{menu}");
        let verdicts = verdicts(&html);
        let story = verdicts
            .iter()
            .position(|(_, v)| *v == RatioVerdict::Proposed);
        let story = story.expect("the story is proposed");
        for (i, (text, verdict)) in verdicts.iter().enumerate() {
            let away = story.saturating_sub(i).max(i.saturating_sub(story + 2));
            // Smoothing gives a part of the story's score to the lines beside it.
            let expected = match away {
                0 => RatioVerdict::Proposed,
                1..RUN => RatioVerdict::Open,
                _ if away > RUN => RatioVerdict::RuledOut,
                _ => continue,
            };
            assert_eq!(*verdict, expected, "{text}");
        }
    }

    #[test]
    fn proposal_leaves_prose_and_weak_pages_to_models() {
        let ruled_out = |html: &str| {
            let lines = verdicts(html).into_iter();
            let out = lines.filter(|(_, v)| *v == RatioVerdict::RuledOut);
            out.map(|(text, _)| text).collect::<Vec<_>>()
        };
        let menu = MENU.repeat(4);
        // A table of words has no sentence, so no score, but more than links.
        let row = "<tr><td>一号注气井</td><td>二号采气井</td><td>三号监测井</td></tr>";
        let table = format!("<table>{}</table>", row.repeat(6));
        let html = format!("<body>{menu}<div>{STORY}</div>{menu}{table}");
        let out = ruled_out(&html);
        assert!(
            !out.is_empty() && out.iter().all(|t| !t.contains('井')),
            "{out:?}"
        );
        // The ratios see a short notice and not the long list of words that is the text of the page.
        let words = "<ul>".to_owned() + &"<li>钻杆 套管 油管 抽油杆</li>".repeat(60) + "</ul>";
        let html = format!("<body>{menu}<div>{STORY}</div>{menu}{words}");
        assert_eq!(ruled_out(&html), [""; 0]);
        // No proposal at all.
        assert_eq!(ruled_out(&format!("<body>{menu}")), [""; 0]);
    }

    #[test]
    fn proposal_keeps_short_paragraph() {
        let html = format!("<body>{MENU}<div>{STORY}<div><p>待续</p></div>{STORY}</div>{FOOTER}");
        assert!(proposed(&html, false).contains(&"待续".to_owned()));
    }

    #[test]
    fn proposal_single_paragraph_or_breaks() {
        let one = "<div><div>储气库扩建工程日前通过验收，注气能力比去年提高三成，现场设备运行平稳。</div></div>";
        assert_eq!(proposed(&format!("<body>{MENU}{one}"), false).len(), 1);
        let breaks = STORY.replace("<p>", "").replace("</p>", "<br>");
        let html = format!("<body>{MENU}<table><tr><td>{breaks}</table>");
        assert_eq!(proposed(&html, false).len(), 3);
    }

    #[test]
    fn proposal_without_text() {
        for html in [
            "",
            MENU,
            "<frameset><frame src=a></frameset>",
            "<p>",
            "<p>。。。",
        ] {
            assert_eq!(proposed(html, false), [""; 0], "{html}");
        }
    }

    #[test]
    fn proposal_hidden_texts() {
        let html = format!("<body>{MENU}<div hidden>{STORY}</div>");
        assert_eq!(proposed(&html, false), [""; 0]);
        assert_eq!(proposed(&html, true).len(), 3);
    }

    #[test]
    fn proposal_without_punctuation() {
        let story = "<p>การประชุมครั้งนี้จัดขึ้นเพื่อหารือเกี่ยวกับความร่วมมือ ด้านพลังงานของทั้งสองประเทศ ในอนาคต</p>";
        let html = format!("<body>{MENU}<div>{}</div>", story.repeat(3));
        // Without a sentence mark no element is taken, so the whole body is the place.
        assert_eq!(proposed(&html, false).len(), 3);
    }

    #[test]
    fn proposal_of_100k_texts() {
        let html = "<p>甲，乙<a href=x>丙</a><span>丁。</span></p>".repeat(25_000);
        assert_eq!(proposed(&html, false).len(), 25_000);
    }
}
