//! Adjusts the odds of lines on list pages (animals to adopt, courses, threads): towards text for lines in the main part
//! that are not named as something else, however little they read like prose.

use super::context::probability;
use super::features::View;
use super::page_type::{LIST, PageType};
use crate::lines::hints::Marks;

/// How far odds are drawn on a page that is surely a list; this and the next three by cross-validation over sites.
const TRUST: f32 = 0.8;
/// Probability that a line of the main part is text.
const IN_MAIN: f32 = 0.85;
/// The same on a page that names no main part.
const ANYWHERE: f32 = 0.5;
/// The same next to the main part.
const BESIDE_MAIN: f32 = 0.05;
/// Share of the page's tokens that the main part must hold.
const MAIN_SHARE: f32 = 0.15;
/// Pages that are less likely lists are left as they are.
const LEAST: f32 = 0.1;

/// What is known of a page as a list.
#[derive(Debug)]
pub(crate) struct ListPage<'a> {
    view: &'a View<'a>,
    /// How far odds are drawn, 0 to 1.
    share: f32,
    has_main: bool,
}

impl<'a> ListPage<'a> {
    /// Looks for the main part of a page that may be a list.
    pub(crate) fn new(view: &'a View<'a>, types: &PageType) -> Self {
        let list = types.0[LIST];
        let lines = &view.outline.lines;
        let main = lines.iter().filter(|l| l.marks.any(Marks::MAIN));
        let main: u32 = main.map(|l| l.all.tokens).sum();
        Self {
            view,
            share: if list < LEAST { 0.0 } else { TRUST * list },
            has_main: main as f32 >= MAIN_SHARE * view.outline.total().tokens as f32,
        }
    }

    /// The odds of line `i`, drawn.
    pub(crate) fn drawn(&self, i: usize, odds: f32) -> f32 {
        if self.share == 0.0 {
            return odds;
        }
        let line = &self.view.outline.lines[i];
        let beside = self.has_main && !line.marks.any(Marks::MAIN);
        let named = line.marks.any(Marks::AGAINST) || self.view.phrases[i].is_some();
        let wanted = match (beside, named) {
            (true, _) => BESIDE_MAIN,
            (false, true) => return odds,
            (false, false) if self.has_main => IN_MAIN,
            (false, false) => ANYWHERE,
        };
        let p = (1.0 - self.share) * probability(odds) + self.share * wanted;
        (p / (1.0 - p)).ln()
    }
}
