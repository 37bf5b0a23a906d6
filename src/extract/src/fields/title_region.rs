//! Finds the headline where the template of a page says that it stands: what a person named or labelled, or the region in
//! which the headlines of the site's other pages were found.

use super::likeness::normal_form;
use crate::lines::Line;
use crate::lines::outline::Outline;
use crate::page::Page;
use crate::template::{Field, Guide, SlotValue};

/// Longest headline, in characters and in tokens; what is longer is a text.
const MAX_CHARS: usize = 200;
const MAX_TOKENS: u32 = 60;
/// Entropy from which the texts of a region are taken for headlines: there is hardly one twice.
const VARIED: f32 = 0.6;
/// Pages that a region must be known from.
const LEAST_PAGES: u32 = 4;

/// Where the headline of a page stands by its template.
pub(crate) struct TitleRegion<'a> {
    page: &'a Page,
    outline: &'a Outline,
    guide: &'a Guide<'a>,
}

impl<'a> TitleRegion<'a> {
    /// That of a page on which a template was laid.
    pub(crate) fn new(page: &'a Page, outline: &'a Outline, guide: &'a Guide<'a>) -> Self {
        Self {
            page,
            outline,
            guide,
        }
    }

    /// The headline that the template names, if it has another than `found`, which stands on the line `found_line`.
    ///
    /// What a person said goes first, then what was learned. `None` where the page has nothing there, or nothing that can be
    /// a headline: then `found` stays.
    pub(crate) fn read(
        &self,
        values: &[SlotValue],
        found: Option<&str>,
        found_line: Option<usize>,
    ) -> Option<String> {
        let title = Field::Title.name();
        let named = values.iter().find(|v| v.is_said && v.name == title);
        let named = named.map(SlotValue::join).filter(|text| is_headline(text));
        named
            .or_else(|| self.labelled())
            .or_else(|| self.learned(found, found_line))
    }

    fn labelled(&self) -> Option<String> {
        self.lines()
            .filter(|line| self.guide.is_said(line.block))
            .find_map(|line| self.text(line))
    }

    /// What stands in the region that was learned, unless the headline was found there anyway: then it is as good or better,
    /// since it has been compared with what the head of the page says.
    fn learned(&self, found: Option<&str>, found_line: Option<usize>) -> Option<String> {
        let found_line = found_line.and_then(|at| self.outline.lines.get(at));
        let is_there = |line: &Line| self.guide.field(line.block) == Some(Field::Title);
        if found.is_some() && found_line.is_some_and(is_there) {
            return None;
        }
        let mut lines = self.lines().filter(|line| self.is_sure(line));
        let line = lines.next()?;
        // One of several is as likely an entry of a list.
        if lines.next().is_some() {
            return None;
        }
        // The head names the thing, and the line adds a year or a number to it.
        let text = self.text(line)?;
        let is_begun = |found: &str| normal_form(&text).starts_with(&normal_form(found));
        let is_found = found.is_some_and(|found| is_headline(found) && is_begun(found));
        (!is_found).then_some(text)
    }

    /// Lines in regions of the headline, in the order of the page.
    fn lines(&self) -> impl Iterator<Item = &Line> {
        let lines = self.outline.lines.iter();
        lines.filter(|line| self.guide.field(line.block) == Some(Field::Title))
    }

    /// Whether the headlines of other pages differ there, and this page does not say what all pages say.
    fn is_sure(&self, line: &Line) -> bool {
        let region = self.guide.template.region(self.guide.keys.fine(line.block));
        let is_varied = |region: &crate::template::Region| {
            region.pages >= LEAST_PAGES && region.entropy >= VARIED
        };
        region.is_some_and(is_varied) && !self.guide.is_furniture(line.first..line.end)
    }

    fn text(&self, line: &Line) -> Option<String> {
        let text = self.outline.text(self.page, line);
        (line.all.tokens <= MAX_TOKENS && is_headline(text)).then(|| text.to_owned())
    }
}

fn is_headline(text: &str) -> bool {
    text.contains(char::is_alphanumeric) && text.chars().nth(MAX_CHARS).is_none()
}
