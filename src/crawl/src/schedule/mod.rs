//! Decides when pages are fetched, and reads the machine-readable lists of a site: run times of sites, the next state
//! of a URL record, the links of sitemaps and feeds. Pure: never fetches, never reads a clock, never writes.

mod cron;
mod lists;
mod revisit;
mod site;

#[cfg(test)]
mod tests;

pub use cron::{Cron, CronError};
pub use lists::{Cut, FeedError, Sitemap, SitemapReader, read_feed, read_sitemap};
pub use revisit::{Config, Finding, PageFacts, PageKind, Revisit, Shown, revisit};
pub use site::{Addresses, Comments, Scope, Site, SiteError};

use taojin_uri::CrawlUri;

/// A link from a feed or a sitemap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatedLink {
    /// The address.
    pub uri: CrawlUri,
    /// When its page was published or last changed, as far as the list says.
    pub date_ms: Option<i64>,
    /// When its page was published, as the list has it, in whatever form.
    pub published: Option<String>,
}
