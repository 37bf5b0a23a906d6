//! One page, one text. In: the lines kept. Out: the same without parts of the page that follow the text, stand elsewhere,
//! look otherwise and call themselves something else, or follow what calls itself the text: comments below an article,
//! other articles, consent to cookies.
//! Never touches the element that the text is in. Linear in the lines kept.

use std::collections::HashSet;

use foldhash::fast::RandomState;

use crate::classify::features::View;
use crate::cues::phrases::Phrase;
use crate::lines::hints::Marks;
use crate::lines::outline::is_prose;
use crate::page::{NodeId, Page, PathId};

/// Tokens that the text must have before what is elsewhere can be foreign to it.
const TEXT_TOKENS: u32 = 60;
/// Share of tokens in lines of tag paths that the text has, from which a part is more of it.
const SAME_PATHS: f32 = 0.3;
/// Share of a part that must lie in elements marked against being text.
const MARKED: f32 = 0.6;
/// Marks of elements that call themselves the text.
const NAMED: Marks = Marks::BODY.with(Marks::DECLARED).with(Marks::ARTICLE);
/// Lines above a part that may hold its heading.
const HEADING_LINES: usize = 4;

/// What is known of the text so far.
struct Text<'a> {
    view: &'a View<'a>,
    tokens: u32,
    paths: HashSet<PathId, RandomState>,
    marks: Marks,
    /// Its last line.
    last: usize,
}

/// Drops the foreign parts from `lines`, which are in order. The text is the element around the first prose below the
/// headline; each element around it adds to the text what follows in it, or is left without it.
pub(crate) fn drop_foreign(page: &Page, view: &View<'_>, lines: &mut Vec<usize>) {
    let Some(first) = first_prose(view, lines) else {
        return;
    };
    let mut part = page.node(view.outline.lines[first].block).parent;
    let mut range = kept_in(page, view, lines, part);
    let mut text = Text::new(view);
    text.add(lines.get(range.clone()).unwrap_or_default());
    let mut foreign = vec![false; lines.len()];
    while part != 0 {
        part = page.node(part).parent;
        let wider = kept_in(page, view, lines, part);
        let after = range.end..wider.end;
        let added = lines.get(after.clone()).unwrap_or_default();
        if text.is_foreign(added) {
            foreign
                .iter_mut()
                .take(after.end)
                .skip(after.start)
                .for_each(|f| *f = true);
        } else {
            text.add(added);
        }
        text.add(lines.get(wider.start..range.start).unwrap_or_default());
        range = wider;
    }
    let mut foreign = foreign.into_iter();
    lines.retain(|_| foreign.next() != Some(true));
}

/// The first kept line of prose at or below the headline.
fn first_prose(view: &View<'_>, lines: &[usize]) -> Option<usize> {
    let title = view.title.unwrap_or(0);
    let mut below = lines.iter().copied().filter(|i| *i >= title);
    below.find(|i| is_prose(&view.outline.lines[*i]))
}

/// Which of the kept lines are inside an element.
fn kept_in(page: &Page, view: &View<'_>, lines: &[usize], node: NodeId) -> std::ops::Range<usize> {
    let range = view.outline.range(page, node);
    let before = |end: usize| lines.partition_point(|i| *i < end);
    before(range.start)..before(range.end)
}

impl<'a> Text<'a> {
    fn new(view: &'a View<'a>) -> Self {
        Self {
            view,
            tokens: 0,
            paths: HashSet::default(),
            marks: Marks::default(),
            last: 0,
        }
    }

    fn add(&mut self, lines: &[usize]) {
        for i in lines {
            let line = &self.view.outline.lines[*i];
            self.tokens += line.all.tokens;
            self.paths.insert(line.path);
            self.marks = self.marks.with(line.marks);
            self.last = self.last.max(*i);
        }
    }

    /// True if the lines below the text are not more of it.
    fn is_foreign(&self, below: &[usize]) -> bool {
        let Some(begin) = below
            .first()
            .copied()
            .filter(|_| self.tokens >= TEXT_TOKENS)
        else {
            return false;
        };
        let against = Marks::AGAINST.with(Marks::AUTHOR).without(self.marks);
        let (mut whole, mut alike, mut marked) = (0, 0, 0);
        for line in below.iter().map(|i| &self.view.outline.lines[*i]) {
            whole += line.all.tokens;
            alike += line.all.tokens * u32::from(self.paths.contains(&line.path));
            marked += line.all.tokens * u32::from(line.marks.any(against));
        }
        let share = |of: u32| of as f32 / whole.max(1) as f32;
        if share(alike) >= SAME_PATHS {
            return false;
        }
        let from = (self.last + 1).max(begin.saturating_sub(HEADING_LINES));
        let headed = (from..=begin).any(|i| {
            matches!(
                self.view.phrases[i],
                Some(Phrase::Related | Phrase::Comments | Phrase::Footer)
            )
        });
        // Behind an element that calls itself the text stands something else.
        let is_named = |i: &usize| self.view.outline.lines[*i].marks.any(NAMED);
        let outside = self.marks.any(NAMED) && !below.iter().any(is_named);
        outside || headed || share(marked) >= MARKED
    }
}

#[cfg(test)]
mod tests {
    use crate::page::{Hints, Page};
    use crate::{Context, extract};

    #[test]
    fn what_stands_behind_the_element_that_calls_itself_the_text_is_not_text() {
        let story: String = (1..=5)
            .map(|i| format!("<p>储气库扩建工程第{i}标段日前通过验收，注气能力比去年提高三成，现场设备运行平稳。</p>"))
            .collect();
        let notice: String = (1..=4)
            .map(|i| format!("<li><p>账号可以在{i}台设备上登录，但不能同时阅读，请在设置中退出其他设备。</p></li>"))
            .collect();
        let text = |name: &str| {
            let html = format!(
                "<title>储气库扩建</title><h1>储气库扩建</h1><div class='{name}'>{story}</div><section><ul>{notice}</ul></section>"
            );
            extract(
                &Page::parse(html.as_bytes(), Hints::default()),
                &Context::default(),
            )
            .text
        };
        assert!(text("article-content").contains("第5标段"));
        assert!(!text("article-content").contains("账号"));
        // Where nothing is named, no place is behind the text.
        assert!(text("x1").contains("账号"));
    }
}
