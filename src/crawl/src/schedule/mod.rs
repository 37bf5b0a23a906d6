//! When what is fetched, and what the machine-readable lists of a site say. In: the settings of a site, what came of
//! a visit, the bytes of sitemaps and feeds, and the time. Out: run times, the next state of a URL record, links.
//! Pure: never fetches, never reads a clock, never writes.

mod cron;
mod feed;
mod revisit;
mod site;
mod sitemap;
mod xml;

#[cfg(test)]
mod tests;

pub use cron::{Cron, CronError};
pub use feed::{FeedError, read_feed};
pub use revisit::{Config, Finding, PageFacts, PageKind, Revisit, Shown, revisit};
pub use site::{Addresses, Scope, Site, SiteError};
pub use sitemap::{Cut, Sitemap, SitemapReader, read_sitemap};

use taojin_uri::CrawlUri;

/// A link from a feed or a sitemap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatedLink {
    /// The address.
    pub uri: CrawlUri,
    /// When its page was published or last changed, as far as the list says.
    pub date_ms: Option<i64>,
}
