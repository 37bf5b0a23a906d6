//! Settings of template learning, the section `[templates]`.

use serde::{Deserialize, Serialize};

/// So many articles show what varies and what does not (the thesis of Qiu 2013 learns from a buffer as well).
pub const LEARN_AT: usize = 30;
/// A small site may never have more: learned from this many once none has come for a while.
pub const LEARN_SMALL_AT: usize = 10;
/// Greatest distance of a page from its template, and of clusters that are joined; by the bake-off.
pub const MAX_DISTANCE: f32 = 0.5;
/// Fewer pages show no template.
pub const MIN_PAGES: usize = 3;
/// Observations kept of a site at most: a site without templates must not fill the store.
pub const MAX_PENDING: usize = 120;
/// Saved pages kept for the view of a template.
pub const SAMPLES: usize = 6;
/// A site has a handful of layouts: enough for a redesign each month of three years. Each page is compared with all of them.
const MAX_PER_SITE: usize = 40;

/// Settings of the templates.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Learn the templates of each site and extract with them.
    pub enabled: bool,
    /// Articles without a template that are collected before one is learned.
    pub learn_at: usize,
    /// The same for small sites: at the end of a cycle this many are enough.
    pub learn_small_at: usize,
    /// Greatest distance (0 to 1) between a page and its template.
    pub max_distance: f32,
    /// Pages that must look alike before they make a template.
    pub min_pages: usize,
    /// Articles without a template kept of one site at most; the oldest go first.
    pub max_pending: usize,
    /// Templates kept of one site at most; of those that nobody labelled or disabled, the least used and oldest go first.
    pub max_per_site: usize,
    /// Saved pages kept of each template, for looking at it in the browser.
    pub samples: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            enabled: true,
            learn_at: LEARN_AT,
            learn_small_at: LEARN_SMALL_AT,
            max_distance: MAX_DISTANCE,
            min_pages: MIN_PAGES,
            max_pending: MAX_PENDING,
            max_per_site: MAX_PER_SITE,
            samples: SAMPLES,
        }
    }
}
