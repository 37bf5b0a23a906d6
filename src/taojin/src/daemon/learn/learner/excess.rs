//! Which templates of a site go when it has too many.

use super::Working;
use crate::daemon::learn::templates::unpack;
use taojin_crawl::store::{StoreError, TemplateRow};
use taojin_extract::template::Template;

impl Working {
    /// Drops the templates of a site that it has too many of: those that fitted the fewest pages since the start, then the
    /// oldest; of the `new` ones only when nothing else is left. What a person labelled or disabled stays. Gives how many.
    pub(super) fn drop_excess(&mut self, name: &str, new: &[i64]) -> Result<usize, StoreError> {
        let rows = self.store.templates(Some(name))?;
        let excess = rows.len().saturating_sub(self.of.config.max_per_site);
        if excess == 0 {
            return Ok(0);
        }
        let drift = self.sites.get(name).map(|site| &site.drift);
        let used = |id: &i64| drift.and_then(|d| d.get(id)).map_or(0, |d| d.pages);
        let is_own = |row: &&TemplateRow| {
            let template: Option<Template> = unpack(&row.data);
            !row.disabled
                && template
                    .is_none_or(|t| t.labels.is_empty() && t.slots.iter().all(|slot| !slot.is_said))
        };
        let mut unneeded: Vec<_> = rows
            .iter()
            .filter(is_own)
            .map(|row| (new.contains(&row.id), used(&row.id), row.version, row.id))
            .collect();
        unneeded.sort_unstable();
        unneeded.truncate(excess);
        for (.., id) in &unneeded {
            self.store.delete(*id)?;
            self.site(name).drift.remove(id);
        }
        Ok(unneeded.len())
    }
}
