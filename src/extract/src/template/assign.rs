//! Assigns a page to the nearest template of its site under the threshold. A [`Guide`] returns what that template knows of
//! each line.

use std::ops::Range;
use std::sync::Arc;

use super::learn::Template;
use super::nodes::Alignment;
use super::observation::{Field, KeySet, Keys};
use super::regions::{Region, SlotValue, read_values};
use crate::page::{NodeId, Page};

/// Log-odds of a line whose place a person called body, or not body.
const SAID: f32 = 12.0;
/// Pages at which half of what was counted at a place is believed.
const HALF_BELIEVED: f32 = 1.5;
/// Log-odds against a line that the template says.
const FURNITURE: f32 = -8.0;
/// Log-odds against a place that says the same on every page.
const CONSTANT: f32 = -3.0;
/// Pages from which what is usual at a place is known.
const SURE_PAGES: u32 = 8;
/// A place holds text when one of so many of its lines was taken for it, or more.
const TEXT: u32 = 5;
/// A place never holds text when one of so many of its lines was taken for it, or fewer.
const NEVER: u32 = 20;
/// Most that the counts of a place can say, in log-odds.
const MOST: f32 = 4.0;

/// The templates of one site that are in use.
#[derive(Debug, Clone, Default)]
pub struct Library {
    templates: Vec<(i64, Arc<Template>)>,
    max_distance: f32,
}

/// A page's template.
#[derive(Debug, Clone, PartialEq)]
pub struct Assigned {
    /// Number of the template in the store.
    pub id: i64,
    /// The template.
    pub template: Arc<Template>,
    /// Distance of the page from its middle, 0 to 1.
    pub distance: f32,
}

impl Library {
    /// The templates in use and the greatest distance of a page from its template.
    pub fn new(templates: Vec<(i64, Arc<Template>)>, max_distance: f32) -> Self {
        Self {
            templates,
            max_distance,
        }
    }

    /// Greatest distance of a page that the template was learned from.
    pub fn widest(&self, id: i64) -> Option<f32> {
        let found = self.templates.iter().find(|(own, _)| *own == id);
        found.map(|(_, template)| template.max_distance)
    }

    /// No template is known.
    pub fn is_empty(&self) -> bool {
        self.templates.is_empty()
    }

    /// Greatest distance of a page from its template.
    pub fn max_distance(&self) -> f32 {
        self.max_distance
    }

    /// The nearest templates, near enough or not, nearest first; `most` at most.
    pub(super) fn nearest(&self, set: &KeySet, most: usize) -> Vec<Assigned> {
        let templates = self.templates.iter();
        let mut all: Vec<(&(i64, Arc<Template>), f32)> = templates
            .map(|template| (template, 1.0 - template.1.middle.similarity(set)))
            .collect();
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        let nearest = all.into_iter().take(most);
        nearest
            .map(|((id, template), distance)| Assigned {
                id: *id,
                template: Arc::clone(template),
                distance,
            })
            .collect()
    }

    /// The nearest template, if it is near enough; of equally near ones the first.
    pub fn assign(&self, set: &KeySet) -> Option<Assigned> {
        let (id, template, distance) = self
            .templates
            .iter()
            .map(|(id, template)| (id, template, 1.0 - template.middle.similarity(set)))
            .reduce(|best, next| if next.2 < best.2 { next } else { best })?;
        (distance <= self.max_distance).then(|| Assigned {
            id: *id,
            template: Arc::clone(template),
            distance,
        })
    }
}

/// A template laid on a page.
#[derive(Debug, Clone)]
pub struct Guide<'a> {
    /// The template.
    pub template: &'a Template,
    /// Keys of the page.
    pub keys: &'a Keys,
    /// The page's tokens among the nodes of the template.
    pub alignment: Alignment,
    /// First node and end of the block that holds the main text, if the page has it.
    container: (NodeId, NodeId),
    /// Log-odds of what is in it.
    pure: f32,
}

impl<'a> Guide<'a> {
    /// Lays a template on a page.
    pub fn new(template: &'a Template, keys: &'a Keys, page: &Page) -> Self {
        let found = template.container.and_then(|(key, share)| {
            let at = keys.first_of(key)?;
            Some(((at, page.node(at).end), share))
        });
        let (container, share) = found.unwrap_or(((0, 0), 0.5));
        // As if one page more had all, and one nothing: few pages make nobody sure.
        let pages = template.pages as f32;
        let share = ((share * pages + 1.0) / (pages + 2.0)).max(0.5);
        Self {
            alignment: template
                .nodes
                .align(&keys.sequence.tokens, &keys.sequence.layout),
            template,
            keys,
            container,
            pure: (share / (1.0 - share)).ln(),
        }
    }

    /// Log-odds that a line inside the container is main text because almost everything there is. 0 outside it, when
    /// few pages were seen, and for places where the extraction hardly ever found text: something new may be set in
    /// anywhere, and what a tweet or a caption says is text on some pages and not on others.
    pub fn inside(&self, block: NodeId) -> f32 {
        let within = self.container.0 < block && block < self.container.1;
        let region = self.template.region(self.keys.fine(block));
        let is_text = |r: &Region| !r.is_constant() && r.kept * TEXT >= r.lines;
        if within && self.template.pages >= SURE_PAGES && region.is_some_and(is_text) {
            self.pure
        } else {
            0.0
        }
    }

    /// Log-odds, 0 or less, against a line because of its place: one that says the same on every page, or that is on
    /// many pages and never held text. What is on a few pages only was not seen often enough to say.
    pub fn against(&self, block: NodeId) -> f32 {
        let Some(region) = self.template.region(self.keys.fine(block)) else {
            return 0.0;
        };
        let odds = believed(region.kept, region.lines, region.pages).min(0.0);
        let known = region.pages >= SURE_PAGES;
        if region.is_constant() && (known || 2 * region.pages >= self.template.pages) {
            odds.min(CONSTANT)
        } else if known && region.kept * NEVER <= region.lines {
            odds
        } else {
            0.0
        }
    }

    /// Log-odds of a line whose place, by its innermost block, a person gave a field: it is body, or not.
    pub fn said(&self, block: NodeId) -> Option<f32> {
        let field = self.template.labels.get(&self.keys.fine(block))?;
        Some(if *field == Field::Body { SAID } else { -SAID })
    }

    /// Whether a person gave the place of a line a field.
    pub fn is_said(&self, block: NodeId) -> bool {
        self.said(block).is_some()
    }

    /// Share of the template's essential nodes that the page lacks.
    pub fn missing(&self) -> f32 {
        self.alignment.missing
    }

    /// Whether all that a range of nodes says is part of the template: no text of the page.
    pub fn is_furniture(&self, range: Range<NodeId>) -> bool {
        let sequence = &self.keys.sequence;
        let from = sequence.nodes.partition_point(|node| *node < range.start);
        let to = sequence.nodes.partition_point(|node| *node < range.end);
        let mut texts = (from..to)
            .filter(|at| sequence.tokens[*at].is_text())
            .peekable();
        let is_furniture = |at: usize| {
            let (token, place) = (&sequence.tokens[at], sequence.layout.places[at]);
            self.alignment.is_node[at] || self.template.nodes.is_repeated(token, place)
        };
        texts.peek().is_some() && texts.all(is_furniture)
    }

    /// Whether several pages of the site say a line, given by its [`text_hash`](super::text_hash).
    pub fn is_notice(&self, text: u64) -> bool {
        self.template.is_notice(text)
    }

    /// Log-odds against a line that is part of the template.
    pub fn against_furniture(&self) -> f32 {
        FURNITURE
    }

    /// The values of the page's named slots.
    pub fn values(&self, page: &Page) -> Vec<SlotValue> {
        read_values(
            &self.template.slots,
            &self.alignment,
            &self.keys.sequence,
            page,
        )
    }

    /// The field at the block of a line.
    pub fn field(&self, block: NodeId) -> Option<Field> {
        self.template.field(self.keys.fine(block))
    }
}

/// Log-odds of the share kept, believed the more the more pages were seen.
fn believed(kept: u32, lines: u32, pages: u32) -> f32 {
    let share = (kept as f32 + 0.5) / (lines as f32 + 1.0);
    let trust = pages as f32 / (pages as f32 + HALF_BELIEVED);
    (trust * (share / (1.0 - share)).ln()).clamp(-MOST, MOST)
}
