//! `taojin check --online`: network access. In: the settings and the sites. Out: for the proxy, each name and each robots.txt
//! whether it answers, and how to mend it if not. Asks every site for its robots.txt only, each within a time limit.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use serde::Serialize;
use tokio::net::{TcpStream, lookup_host};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use crate::config::Loaded;
use crate::daemon::now_ms;
use crate::documents::IndexAt;
use taojin_crawl::fetch::{Access, Fetcher, RobotsCache};
use taojin_crawl::schedule::Site;
use taojin_search::index::remote::RemoteIndex;
use taojin_uri::CrawlUri;

/// A name server, a proxy or a robots.txt that takes longer would hold up every page.
const LIMIT: Duration = Duration::from_secs(10);
/// Questions at the same time, each to another server.
const AT_ONCE: usize = 16;
/// Sites asked: their common trouble shows itself with fewer.
const SITES: usize = 200;

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Ok,
    /// It works, and yet nothing would be crawled, or not all was asked.
    Warning,
    Error,
}

/// What was asked, and what came of it.
#[derive(Debug, Serialize)]
pub(super) struct Tried {
    /// `proxy`, `dns`, `search` or `robots`.
    pub(super) step: &'static str,
    /// The host, or the name of the site.
    pub(super) of: String,
    pub(super) level: Level,
    pub(super) text: String,
    pub(super) took_ms: u64,
}

/// Tries everything that a crawl would need of the network.
pub(super) async fn try_out(loaded: &Loaded) -> anyhow::Result<Vec<Tried>> {
    let enabled = || loaded.sites.iter().filter(|site| site.enabled);
    let seeds: Vec<(&Site, CrawlUri)> = enabled()
        .filter_map(|site| Some((site, site.addresses().ok()?.seeds.into_iter().next()?)))
        .take(SITES)
        .collect();
    let mut tried = Vec::new();
    match &loaded.config.fetch.proxy {
        Some(proxy) => tried.push(proxy_answers(proxy).await),
        None => tried.extend(names(loaded, &seeds).await),
    }
    if let Some(at) = IndexAt::of(loaded).remote() {
        tried.push(engine_answers(at.index.clone()).await);
    }
    let broken: BTreeSet<String> = tried
        .iter()
        .filter(|t| t.level == Level::Error)
        .map(|t| t.of.clone())
        .collect();
    let fetcher = Fetcher::new(loaded.config.fetch.clone())?;
    let reachable = seeds
        .iter()
        .filter(|(_, seed)| loaded.config.fetch.proxy.is_some() || !broken.contains(seed.host()));
    if loaded.config.fetch.proxy.is_none() || broken.is_empty() {
        let asked = reachable.map(|(site, seed)| robots(&fetcher, site, seed));
        tried.extend(
            stream::iter(asked)
                .buffered(AT_ONCE)
                .collect::<Vec<_>>()
                .await,
        );
    }
    let left_out = enabled().count().saturating_sub(SITES);
    if left_out > 0 {
        tried.push(Tried {
            step: "robots",
            of: String::new(),
            level: Level::Warning,
            text: format!("{left_out} more sites were not asked: {SITES} are at most"),
            took_ms: 0,
        });
    }
    Ok(tried)
}

/// Waits for an answer, but not for ever.
async fn ask(
    step: &'static str,
    of: &str,
    question: impl Future<Output = Result<(Level, String), String>>,
) -> Tried {
    let begun = Instant::now();
    let (level, text) = match timeout(LIMIT, question).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(text)) => (Level::Error, text),
        Err(_) => (
            Level::Error,
            format!("no answer within {} s", LIMIT.as_secs()),
        ),
    };
    let mend = match (level, step) {
        (Level::Error, "proxy") => "; is it running, and is fetch.proxy right?",
        (Level::Error, "search") => "; is it running, and is search.url right?",
        (Level::Error, "dns") => {
            "; is the name of the seed right, and does this machine know a name server (/etc/resolv.conf)?"
        }
        (Level::Error, _) => {
            "; does a browser on this machine get it, or is a proxy needed (fetch.proxy)?"
        }
        _ => "",
    };
    Tried {
        step,
        of: of.to_owned(),
        level,
        text: format!("{text}{mend}"),
        took_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

async fn proxy_answers(proxy: &str) -> Tried {
    let url = url::Url::parse(proxy).ok();
    let host = url
        .as_ref()
        .and_then(url::Url::host_str)
        .unwrap_or_default();
    let port = url.as_ref().and_then(url::Url::port_or_known_default);
    // The usual port of SOCKS, which is the only other kind there is.
    let port = port.unwrap_or(1080);
    let question = async {
        match TcpStream::connect((host.trim_matches(['[', ']']), port)).await {
            Ok(_) => Ok((Level::Ok, "takes connections".to_owned())),
            Err(error) => Err(error.to_string()),
        }
    };
    ask("proxy", &format!("{host}:{port}"), question).await
}

/// Asks the engine of the search index how far that is.
async fn engine_answers(index: RemoteIndex) -> Tried {
    let place = index.place();
    let question = async {
        let state = spawn_blocking(move || index.state()).await;
        match state.map_err(|e| e.to_string())? {
            Ok(state) if state.seq == 0 => {
                Ok((Level::Ok, "answers; it has no documents yet".to_owned()))
            }
            Ok(state) => Ok((
                Level::Ok,
                format!("answers; has all changes up to {}", state.seq),
            )),
            Err(error) => Err(error.to_string()),
        }
    };
    ask("search", &place, question).await
}

/// Looks up the host of each seed, but for those with an address of their own.
async fn names(loaded: &Loaded, seeds: &[(&Site, CrawlUri)]) -> Vec<Tried> {
    let fixed = &loaded.config.fetch.hosts;
    let hosts: BTreeSet<&str> = seeds
        .iter()
        .filter(|(_, seed)| seed.literal_address().is_none() && !fixed.contains_key(seed.host()))
        .map(|(_, seed)| seed.host())
        .collect();
    let asked = hosts.into_iter().map(|host| {
        ask("dns", host, async move {
            let found = lookup_host((host, 0)).await.map_err(|e| e.to_string())?;
            match found.count() {
                0 => Err("the name has no address".to_owned()),
                n => Ok((
                    Level::Ok,
                    format!("has {n} address{}", if n == 1 { "" } else { "es" }),
                )),
            }
        })
    });
    stream::iter(asked).buffered(AT_ONCE).collect().await
}

/// Asks a site whether its first seed may be crawled.
async fn robots(fetcher: &Fetcher, site: &Site, seed: &CrawlUri) -> Tried {
    ask("robots", &site.name, async {
        let verdict = RobotsCache::new().verdict(fetcher, seed, now_ms(), None).await;
        match verdict.access {
            Access::Allowed(_) => Ok((Level::Ok, format!("lets us fetch {seed}"))),
            Access::Refused(rule) => Ok((
                Level::Warning,
                format!(
                    "its robots.txt does not let {} fetch {seed} (line {}: Disallow: {}): nothing will be crawled",
                    fetcher.config().robots_token(),
                    rule.line,
                    rule.pattern
                ),
            )),
            Access::Unreachable { .. } => Err(verdict.trouble),
        }
    })
    .await
}
