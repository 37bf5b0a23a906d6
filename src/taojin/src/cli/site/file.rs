//! The file of a new site, as `site add` writes it. In: what was learned. Out: TOML with a word on each key that a
//! person may want to change.

use super::probe::Probe;
use crate::cli::output;
use taojin_crawl::schedule::Site;
use taojin_uri::CrawlUri;

/// The text of the file of `name`, whose front page is `seed`; `hosts` are its own.
pub(super) fn text(seed: &CrawlUri, name: &str, hosts: &[String], probe: &Probe) -> String {
    let defaults = Site::default();
    let title = probe.title.as_deref().unwrap_or_default();
    let headline = match title {
        "" => String::new(),
        title => format!("{} - ", output::printable(title)),
    };
    let sitemaps: &[CrawlUri] = if probe.sitemaps_in_robots {
        &[]
    } else {
        &probe.sitemaps
    };
    let delay = probe
        .crawl_delay_ms
        .map(|ms| format!(" robots.txt asks for {} s.", ms as f64 / 1000.0));
    format!(
        r##"# {headline}{seed}
# Every key with its default: config/sites.d/README.md. After a change: taojin check && systemctl reload taojin

name = {}
# What readers see in lists and hits, and may write after site: in a search.
title = {}

# Pages where a cycle begins: the front page, and section pages that change often.
seeds = {}

# Feeds and sitemaps read in each cycle. Those that robots.txt names are read anyway (robots_sitemaps = true).
feeds = {}
sitemaps = {}

# When a cycle begins: minute hour day month weekday.
schedule = {}
time_zone = {}

# Least time between two fetches, in milliseconds; the crawler's own politeness holds in any case.{}
# delay_ms = 2000

# Terms of the field, kept whole in search: built-in "oil-gas", or files.
# lexicons = ["oil-gas"]
# Words that mean the same: built-in "oil-gas", or files with one group a line (CO2, 二氧化碳).
# synonyms = ["oil-gas"]

[scope]
# Hosts of the site: www.example.com, or *.example.com for a domain and all below it.
hosts = {}
# Only paths that match one of these, and none of those: "/news/", "/news/*/list", '~^/\d{{4}}/'
include = []
exclude = []
"##,
        quoted(name),
        quoted(title),
        list(std::slice::from_ref(seed)),
        list(&probe.feeds),
        list(sitemaps),
        quoted(&defaults.schedule),
        quoted(&defaults.time_zone),
        delay.unwrap_or_default(),
        list(hosts),
    )
}

/// A text of TOML, whatever is in it.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn list(items: &[impl ToString]) -> String {
    let quoted: Vec<String> = items.iter().map(|i| quoted(&i.to_string())).collect();
    format!("[{}]", quoted.join(", "))
}
