//! Values that the types alone do not check. In: settings. Out: every one that cannot be used, as `key = value: what to
//! write`, one line for each key. Never looks at the machine: see `place`.

use toml::Table;

use super::Config;
use super::limits;
use super::problem::key_of;
use crate::serve;
use taojin_crawl::frontier::{Refusal, Scope, pattern_problem};
use taojin_crawl::schedule::Site;
use taojin_uri::CrawlUri;

/// What is wrong with the values of `taojin.toml`.
pub(super) fn of_config(config: &Config, defaults: &Table) -> Vec<String> {
    let mut found = out_of_limits(config, defaults);
    found.extend(pairs(config));
    let section = |name: &'static str, problems: Vec<String>| {
        problems
            .into_iter()
            .map(move |problem| format!("{name}.{problem}"))
    };
    found.extend(section("fetch", config.fetch.problems()));
    found.extend(section("serve", config.serve.problems()));
    found.extend(section(
        "terms",
        config.terms.problem().into_iter().collect(),
    ));
    found.extend(section("follow", serve::Follow::problems(&config.follow)));
    one_a_key(found)
}

/// What is wrong with the values of a site's file.
pub(super) fn of_site(site: &Site, defaults: &Table) -> Vec<String> {
    let mut found = out_of_limits(site, defaults);
    found.extend(site.check().err().map(|e| e.to_string()));
    for (key, patterns) in [
        ("scope.include", &site.scope.include),
        ("scope.exclude", &site.scope.exclude),
        ("scope.documents", &site.scope.documents),
    ] {
        for pattern in patterns {
            if let Some(reason) = pattern_problem(pattern) {
                found.push(format!(
                    "{key} = {pattern:?}: {reason}; write for example \"/news/\", \"/news/*/list\" or '~^/\\d{{4}}/'"
                ));
            }
        }
    }
    if found.is_empty() {
        found.extend(outside(site));
    }
    one_a_key(found)
}

/// Entries that the site's own scope refuses: they would never be fetched, and nobody would hear why.
fn outside(site: &Site) -> Vec<String> {
    let (Ok(entries), Ok(rules)) = (site.addresses(), Scope::new(site)) else {
        return Vec::new();
    };
    let lists = [
        ("seeds", entries.seeds),
        ("feeds", entries.feeds),
        ("sitemaps", entries.sitemaps),
    ];
    let refused = |key: &str, uri: &CrawlUri| {
        let refusal = rules.check(uri, 0, 0, 0).err()?;
        let host = uri.authority();
        Some(match refusal {
            Refusal::Host => format!(
                "{key} = \"{uri}\": {host} is not one of scope.hosts ({}); add it: hosts = [\"{host}\"]",
                site.hosts().join(", ")
            ),
            other => format!(
                "{key} = \"{uri}\": {}; change [scope] or take the address out",
                other.describe()
            ),
        })
    };
    lists
        .iter()
        .flat_map(|(key, uris)| uris.iter().filter_map(|uri| refused(key, uri)))
        .collect()
}

/// Numbers that may not stand there.
fn out_of_limits(settings: &impl serde::Serialize, defaults: &Table) -> Vec<String> {
    // Settings that were read from TOML can be written as TOML.
    let table = Table::try_from(settings).unwrap_or_default();
    let said = |(key, value): (String, String)| {
        let allowed = limits::allowed(&key).unwrap_or_default();
        let example = super::explain::example(&key, defaults);
        let example = example.map_or(String::new(), |e| format!(", for example {e}"));
        format!("{key} = {value}: {allowed}{example}")
    };
    limits::unusable(&table).into_iter().map(said).collect()
}

/// Values that do not go together.
fn pairs(config: &Config) -> Vec<String> {
    let (f, r, t) = (&config.frontier, &config.revisit, &config.templates);
    let above = [
        (
            ("frontier.min_delay_ms", f.min_delay_ms),
            ("frontier.max_delay_ms", f.max_delay_ms),
        ),
        (
            ("frontier.throttle_backoff_ms", f.throttle_backoff_ms),
            ("frontier.max_backoff_ms", f.max_backoff_ms),
        ),
        (
            ("frontier.connect_backoff_ms", f.connect_backoff_ms),
            ("frontier.max_backoff_ms", f.max_backoff_ms),
        ),
        (("revisit.min_ms", r.min_ms), ("revisit.max_ms", r.max_ms)),
        (
            ("revisit.retry_ms", r.retry_ms),
            ("revisit.max_retry_ms", r.max_retry_ms),
        ),
        (
            ("templates.learn_at", t.learn_at as i64),
            ("templates.max_pending", t.max_pending as i64),
        ),
    ];
    let mut found: Vec<String> = above
        .iter()
        .filter(|((_, low), (_, high))| low > high)
        .map(|((key, low), (other, high))| {
            format!("{key} = {low}: is more than {other} = {high}; make one of them fit the other")
        })
        .collect();
    if let serve::Config { listen, .. } = &config.serve
        && listen.ip().is_multicast()
    {
        found.push(format!(
            "serve.listen = \"{listen}\": nobody can listen there; write for example \"127.0.0.1:8080\""
        ));
    }
    found
}

/// The first of several mistakes of one key: the others follow from it.
fn one_a_key(found: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for problem in found {
        let key = key_of(&problem);
        let many = matches!(
            key,
            "seeds" | "feeds" | "sitemaps" | "scope.include" | "scope.exclude" | "scope.documents"
        ) || key.starts_with("follow.");
        if many || !kept.iter().any(|k| key_of(k) == key) {
            kept.push(problem);
        }
    }
    kept.dedup();
    kept
}
