//! Reads the day that stands beside the link of a file, in a list of files: on its line, in its row or item, in the part of
//! the page that holds no other file. The day of the page is that of another thing there.

use crate::date::clues::Label;
use crate::date::stamp::{Clock, Stamp};
use crate::date::text::{DateForm, find_dates};
use crate::lines::outline::Outline;
use crate::page::{NodeId, Page, Tag};

/// Elements around a link that are checked.
const LEVELS: usize = 8;
/// Most lines of what is said of one file.
const MOST_LINES: usize = 12;
/// Longest line that states a day rather than tells of one, in bytes.
const LONGEST: usize = 160;

/// The first whole day in a text, ISO 8601.
pub fn find_day(text: &str, clock: &Clock) -> Option<String> {
    let found = find_dates(text, clock);
    let mut whole = found.iter().filter(|date| date.form == DateForm::Full);
    whole.next().map(|date| date.stamp.iso(clock))
}

/// Finds the days of the files of a page.
pub(crate) struct FileDays<'a> {
    page: &'a Page,
    outline: &'a Outline,
    clock: &'a Clock,
    /// The links to files, in order.
    files: Vec<NodeId>,
}

impl<'a> FileDays<'a> {
    pub(crate) fn new(
        page: &'a Page,
        outline: &'a Outline,
        clock: &'a Clock,
        mut files: Vec<NodeId>,
    ) -> Self {
        files.sort_unstable();
        Self {
            page,
            outline,
            clock,
            files,
        }
    }

    /// The day of the file that the link `node` leads to; `at` is the line that the link is in.
    pub(crate) fn find(&self, node: NodeId, at: usize) -> Option<Stamp> {
        let page = self.page;
        let line = self.outline.lines.get(at)?;
        let own = |range: std::ops::Range<usize>| self.day_of(range, node);
        // A line begins with the text of a link, not with the link.
        if self.count(line.first.min(node), line.end) == 1
            && let Some(day) = own(at..at + 1)
        {
            return Some(day);
        }
        for above in page.ancestors(node).take(LEVELS) {
            let (tag, end) = (page.node(above).tag, page.node(above).end);
            // One row may offer a file in several forms.
            let is_item = matches!(tag, Tag::TR | Tag::LI);
            let lines = self.outline.range(page, above);
            if matches!(tag, Tag::BODY | Tag::HTML)
                || lines.len() > MOST_LINES
                || !is_item && self.count(above, end) > 1
            {
                return None;
            }
            if let Some(day) = own(lines).filter(|_| tag.is_block() || is_item) {
                return Some(day);
            }
            if is_item {
                return None;
            }
        }
        None
    }

    /// Files whose links are in a range of nodes.
    fn count(&self, from: NodeId, to: NodeId) -> usize {
        let before = |node| self.files.partition_point(|file| *file < node);
        before(to) - before(from)
    }

    /// The whole day that these lines state outside of the link: the one that is called so, else the first.
    fn day_of(&self, lines: std::ops::Range<usize>, link: NodeId) -> Option<Stamp> {
        let name = self.page.inline_text(link);
        let mut first = None;
        for line in self.outline.lines.get(lines)? {
            let text = self.outline.text(self.page, line);
            if text.len() > LONGEST || line.all.numbers == 0 && line.all.cjk == 0 {
                continue;
            }
            let beside = if name.is_empty() {
                text.to_owned()
            } else {
                text.replace(&name, " ")
            };
            let found = find_dates(&beside, self.clock);
            for date in found.iter().filter(|date| date.form == DateForm::Full) {
                if date.label == Label::Published {
                    return Some(date.stamp);
                }
                first = first.or(Some(date.stamp));
            }
        }
        first
    }
}
