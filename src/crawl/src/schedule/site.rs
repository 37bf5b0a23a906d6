//! Settings of one site: a file of `sites.d`. [`Site::check`] gives an error that names the file's key, its value and the mend.
//! Never reads a file.

use serde::{Deserialize, Serialize};

use super::cron::{Cron, CronError};
use taojin_uri::CrawlUri;

/// Longer names of sites fit no list.
const MAX_TITLE_CHARS: usize = 100;

/// One site, as a file in `sites.d` describes it.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Site {
    /// Name of the site in lists, filters and logs: letters, digits, `-`, `_` and `.`. The file's name without
    /// `.toml` if left out.
    pub name: String,
    /// What the site calls itself, as readers see it in lists and hits and may write it after `site:`. The name if left
    /// out.
    pub title: String,
    /// A site that is not enabled keeps its pages in the index and is not crawled.
    pub enabled: bool,
    /// Pages where a cycle begins, usually the front page and the section pages.
    pub seeds: Vec<String>,
    /// Feeds (RSS, Atom, JSON) that are read in each cycle.
    pub feeds: Vec<String>,
    /// Sitemaps that are read in each cycle.
    pub sitemaps: Vec<String>,
    /// Also read the sitemaps that robots.txt names.
    pub robots_sitemaps: bool,
    /// When a cycle begins: a crontab line (`minute hour day month weekday`), `@hourly` or `@daily`.
    pub schedule: String,
    /// Time zone of the schedule and of dates on the pages that name none.
    pub time_zone: String,
    /// Which pages belong to the site.
    pub scope: Scope,
    /// Read the files that its pages offer: PDF, Word, tables.
    pub attachments: bool,
    /// Largest attachment taken, in bytes, in the place of `fetch.max_attachment_bytes`.
    pub max_attachment_bytes: Option<u64>,
    /// Lexicons that its pages are cut with, by name; files in the lexicon directory.
    pub lexicons: Vec<String>,
    /// Synonyms that searches find as well, by name; files next to the configuration.
    pub synonyms: Vec<String>,
    /// Pages fetched in one cycle; the rest waits for the next one. No limit if left out.
    pub max_pages_per_cycle: Option<i64>,
    /// Least time between two fetches from one of its hosts, in milliseconds, where it is more than the crawler's own.
    pub delay_ms: Option<i64>,
    /// Queues of each of its hosts: so many pages of a host are fetched at once, each queue with its own delay. More than one is for
    /// servers of one's own, or with their owner's permission.
    pub queues: u32,
}

/// Which pages belong to a site.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scope {
    /// Hosts, `www.example.com` or `*.example.com` (the domain and all below it). The hosts of the seeds, with and
    /// without `www.`, if left out.
    pub hosts: Vec<String>,
    /// Only pages whose path matches one of these: a prefix (`/news/`), a glob (`/news/*/list`), or a regular
    /// expression after `~` (`~^/\d{4}/`).
    pub include: Vec<String>,
    /// No page whose path matches one of these; the same forms.
    pub exclude: Vec<String>,
    /// Pages that are documents although they read like lists or tables: films, goods, people. The same forms.
    pub documents: Vec<String>,
    /// Which comments its documents have.
    pub comments: Comments,
    /// Links from a seed.
    pub max_hops: u16,
    /// Redirects in a row.
    pub max_redirects: u8,
    /// Segments of a path.
    pub max_path_segments: usize,
    /// Times that one segment may be repeated in a path.
    pub max_repeated_segments: usize,
    /// Bytes of an address.
    pub max_url_bytes: usize,
}

/// Which comments the documents of a site have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Comments {
    /// Those that stand in the page.
    #[default]
    Page,
    /// Also those that its scripts read as JSON: their address is requested as well.
    Follow,
}

impl Default for Site {
    fn default() -> Self {
        Site {
            name: String::new(),
            title: String::new(),
            enabled: true,
            seeds: Vec::new(),
            feeds: Vec::new(),
            sitemaps: Vec::new(),
            robots_sitemaps: true,
            // News sites add most of their pages by day; four looks a day find all of them soon enough.
            schedule: "0 */6 * * *".to_owned(),
            // The sites that this program was made for.
            time_zone: "Asia/Shanghai".to_owned(),
            scope: Scope::default(),
            attachments: true,
            max_attachment_bytes: None,
            lexicons: Vec::new(),
            synonyms: Vec::new(),
            max_pages_per_cycle: None,
            delay_ms: None,
            queues: 1,
        }
    }
}

impl Default for Scope {
    fn default() -> Self {
        Scope {
            hosts: Vec::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            documents: Vec::new(),
            comments: Comments::default(),
            // Links from a seed. The next page of a list counts none where the link says so; in other archives each may be one. What
            // has no end is told by other rules (see `frontier`).
            max_hops: 1000,
            // As browsers and other crawlers have it, for one chain.
            max_redirects: 5,
            // Real paths have fewer than ten.
            max_path_segments: 20,
            // `/a/b/a/b/a/b/` comes from a wrong relative link.
            max_repeated_segments: 2,
            // Longer addresses are made by programs.
            max_url_bytes: 2048,
        }
    }
}

/// What is wrong with a site's settings. The caller adds the file's name.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SiteError {
    /// A value cannot be used.
    #[error("{key} = {value:?}: {mend}")]
    Value {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What to do.
        mend: String,
    },
    /// There is nothing to begin with.
    #[error("seeds = []: {mend}")]
    Empty {
        /// What to do.
        mend: &'static str,
    },
    /// The schedule or the time zone cannot be used.
    #[error(transparent)]
    Cron(#[from] CronError),
}

impl Site {
    /// Whether every text can be used; what numbers may be, the configuration says.
    pub fn check(&self) -> Result<(), SiteError> {
        let fault = |key, value: &str, mend: &str| {
            Err(SiteError::Value {
                key,
                value: value.to_owned(),
                mend: mend.to_owned(),
            })
        };
        let good = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let hidden = self.name.starts_with('.');
        let long = self.name.chars().count() > 64;
        if self.name.is_empty() || long || hidden || !self.name.chars().all(good) {
            return fault(
                "name",
                &self.name,
                "use 1 to 64 letters, digits, '-', '_' or '.', none of '.' at the start, for example news-example",
            );
        }
        if self.title.chars().count() > MAX_TITLE_CHARS || self.title.chars().any(char::is_control)
        {
            return fault(
                "title",
                &self.title,
                "use one line of 100 characters at most, for example 西部油气网",
            );
        }
        if self.seeds.is_empty() && self.feeds.is_empty() && self.sitemaps.is_empty() {
            let mend = "name at least one seed, feed or sitemap, for example [\"https://www.example.com/\"]";
            return Err(SiteError::Empty { mend });
        }
        self.addresses()?;
        for host in &self.scope.hosts {
            let bare = host.strip_prefix("*.").unwrap_or(host);
            if bare.is_empty() || bare.contains(['/', '*', ' ', '@']) {
                let mend = "write a host like www.example.com, or *.example.com for a whole domain";
                return fault("scope.hosts", host, mend);
            }
        }
        self.cron()?;
        Ok(())
    }

    /// The schedule.
    pub fn cron(&self) -> Result<Cron, CronError> {
        Cron::parse(&self.schedule, &self.time_zone)
    }

    /// Seeds, feeds and sitemaps as addresses, in this order.
    pub fn addresses(&self) -> Result<Addresses, SiteError> {
        let parse = |key: &'static str, texts: &[String]| {
            texts
                .iter()
                .map(|text| {
                    CrawlUri::parse(text).map_err(|e| SiteError::Value {
                        key,
                        value: text.clone(),
                        mend: format!("{e}; write a whole address like https://www.example.com/"),
                    })
                })
                .collect::<Result<Vec<CrawlUri>, SiteError>>()
        };
        Ok(Addresses {
            seeds: parse("seeds", &self.seeds)?,
            feeds: parse("feeds", &self.feeds)?,
            sitemaps: parse("sitemaps", &self.sitemaps)?,
        })
    }

    /// Hosts of the site: as set, else those of its seeds (and feeds and sitemaps) with and without `www.`.
    pub fn hosts(&self) -> Vec<String> {
        if !self.scope.hosts.is_empty() {
            return self.scope.hosts.iter().map(|h| host_as_asked(h)).collect();
        }
        let mut hosts = Vec::new();
        let texts = [&self.seeds, &self.feeds, &self.sitemaps];
        for uri in texts.into_iter().flatten().flat_map(|t| CrawlUri::parse(t)) {
            let authority = uri.authority();
            let twin = match authority.strip_prefix("www.") {
                Some(bare) => bare.to_owned(),
                None => format!("www.{authority}"),
            };
            let literal = uri.literal_address().is_some();
            for host in [Some(authority.to_owned()), (!literal).then_some(twin)] {
                hosts.extend(host.filter(|h| !hosts.contains(h)));
            }
        }
        hosts
    }
}

/// A host as it stands in addresses: in lower case, Chinese names in ASCII.
fn host_as_asked(host: &str) -> String {
    let (star, bare) = match host.strip_prefix("*.") {
        Some(bare) => ("*.", bare),
        None => ("", host),
    };
    let uri = CrawlUri::parse(&format!("http://{bare}/"));
    let bare = uri.map_or_else(|_| bare.to_ascii_lowercase(), |u| u.authority().to_owned());
    format!("{star}{bare}")
}

/// The addresses that a cycle begins with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Addresses {
    /// Start pages.
    pub seeds: Vec<CrawlUri>,
    /// Feeds.
    pub feeds: Vec<CrawlUri>,
    /// Sitemaps.
    pub sitemaps: Vec<CrawlUri>,
}
