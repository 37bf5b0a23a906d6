//! What narrows documents down, the same for every command that asks the index. In: options. Out: a [`Wanted`] without
//! a query, or what is wrong with them.

use super::context::Usage;
use crate::serve::{Calendar, Wanted};
use taojin_search::index::Reader;

/// Options that leave documents out.
#[derive(Debug, clap::Args)]
pub(super) struct Filters {
    /// Only this site (may be given several times)
    #[arg(long, value_name = "NAME")]
    pub(super) site: Vec<String>,
    /// Published on or after this day, month or year (2016-05-09, 2016-05, 2016)
    #[arg(long, value_name = "DATE")]
    pub(super) since: Option<String>,
    /// Published on or before this day, month or year
    #[arg(long, value_name = "DATE")]
    pub(super) until: Option<String>,
    /// Found or changed then: a day, month or year, a range (2016-05-09..2016-05-12), or a period before now (7d)
    #[arg(long, value_name = "TIME")]
    pub(super) changed: Option<String>,
}

impl Filters {
    /// All documents that are left, with days as the index counts them and periods before now.
    pub(super) fn wanted(&self, reader: &Reader) -> Result<Wanted, Usage> {
        let calendar = Calendar {
            utc_offset_minutes: reader.config().utc_offset_minutes,
            now_ms: crate::daemon::now_ms(),
        };
        let (since_ms, until_ms) = calendar
            .range(self.since.as_deref(), self.until.as_deref())
            .map_err(|e| Usage(e.to_string()))?;
        let changed = self.changed.as_deref().map(|text| calendar.span(text));
        let changed = changed.transpose().map_err(|e| Usage(e.to_string()))?;
        Ok(Wanted {
            changed_ms: changed.unwrap_or_default(),
            sites: self.site.clone(),
            since_ms,
            until_ms,
            now_ms: calendar.now_ms,
            ..Wanted::default()
        })
    }
}
