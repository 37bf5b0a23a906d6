//! `taojin check` and `taojin config`: is the configuration right, what is in force and who said so, when is each site
//! crawled next, and, if asked, does the network let us out. Asks every site for its robots.txt only, each within a time limit.

use std::collections::BTreeSet;
use std::future::Future;
use std::process::ExitCode;
use std::time::Duration;

use askama::Template;
use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use tokio::net::{TcpStream, lookup_host};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};

use super::context::{Context, runtime};
use super::gate::{describe_refusal, open_gate, person_turn};
use super::output;
use crate::config::{self, Config, ConfigProblem, LoadedConfig, Origin, dropped_keys};
use crate::daemon::now_ms;
use crate::documents::{IndexAt, RemoteAt};
use taojin_crawl::fetch::{Gate, ProxyAddress, Purpose, Refused};
use taojin_crawl::schedule::Site;
use taojin_crawl::store::Reader;
use taojin_search::index::CancellationToken;
use taojin_search::index::remote::{self, Finding, Severity};
use taojin_uri::CrawlUri;

/// Coming cycles shown for each site.
const RUNS: usize = 5;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// One JSON object
    #[arg(long)]
    json: bool,
    /// Check network access as well: proxy, DNS, search engine, and each site's robots.txt
    ///
    /// Only if the configuration has no mistake. Whatever cannot be reached makes the exit code 1.
    #[arg(long)]
    online: bool,
}

/// Reads everything that the daemon would read and opens nothing that it writes. Names every mistake, not the first
/// one only; with any, the exit code is 2. Without network access it is 1. Warnings do not change it.
pub(crate) fn check(context: &Context, args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let (mut loaded, mut problems) = context.read();
    let exposed = loaded.exposed_secrets();
    let unread = problems.iter().any(|p| p.file == loaded.file);
    if !unread || loaded.file.is_none() {
        // With a mistake in the file, these would be mistakes of the defaults.
        problems.extend(loaded.problems());
        if !loaded.secrets_of_the_service() {
            problems.extend(loaded.read_secrets());
        }
    }
    let mut warnings = warnings(&loaded);
    warnings.extend(exposed);
    warnings.extend(dropped_keys(&loaded));
    let tried = if !problems.is_empty() {
        Vec::new()
    } else if args.online {
        runtime()?.block_on(try_out(&loaded))?
    } else {
        // Whether a proxy on this machine is there can be told without the network.
        let proxy = proxy_of(&loaded).filter(ProxyAddress::is_local);
        let asked = proxy
            .map(|proxy| runtime()?.block_on(async { anyhow::Ok(proxy_answers(&proxy).await) }));
        asked
            .transpose()?
            .into_iter()
            .filter(|step| step.level == Level::Error)
            .collect()
    };
    if args.json {
        output::json(&answer(&loaded, &problems, &warnings, &tried))?;
    }
    for problem in &problems {
        output::error(&problem.to_string());
    }
    if !problems.is_empty() {
        return Ok(ExitCode::from(2));
    }
    if !args.json {
        let now = now_ms();
        let runs = |site| -> anyhow::Result<(&Site, Vec<String>)> {
            let next = Site::cron(site)?.next_runs(now, RUNS);
            Ok((
                site,
                next.into_iter().map(|ms| output::time(Some(ms))).collect(),
            ))
        };
        let lexicons = loaded.lexicons()?;
        let open = tried.iter().filter(|step| step.level != Level::Error);
        let text = CheckText {
            terms: lexicons.iter().map(|l| l.terms().count()).sum(),
            lexicons: lexicons.len(),
            synonyms: loaded.synonyms()?.len(),
            add_site: context.command("site add URL"),
            runs: loaded.sites.iter().map(runs).collect::<Result<_, _>>()?,
            tried: open
                .map(|step| output::localized(&shown(step)).into_owned())
                .collect(),
            warnings: warnings
                .iter()
                .map(|warning| output::localized(warning).into_owned())
                .collect(),
            loaded: &loaded,
        };
        if output::is_chinese() {
            output::text(&ChineseCheckText { t: text })?;
        } else {
            output::text(&text)?;
        }
    }
    let closed = tried.iter().filter(|step| step.level == Level::Error);
    for step in closed.clone() {
        output::error(&shown(step));
    }
    Ok(ExitCode::from(u8::from(closed.count() > 0)))
}

/// One line of what was tried.
fn shown(step: &NetworkCheck) -> String {
    let kind = if step.level == Level::Warning {
        "warning: "
    } else {
        ""
    };
    let NetworkCheck {
        step,
        of,
        text,
        took_ms,
        ..
    } = step;
    output::printable(&format!("{step:<14} {of}: {kind}{text} ({took_ms} ms)"))
}

/// What is no mistake and yet worth a thought.
fn warnings(loaded: &LoadedConfig) -> Vec<String> {
    let mut found = Vec::new();
    if !loaded.config.fetch.names_contact() {
        found.push("fetch.user_agent names no address where sites can reach you".to_owned());
    }
    let public = !loaded.config.serve.listen.ip().is_loopback();
    if public && loaded.config.serve.operator_pages {
        found.push(format!(
            "serve.listen = \"{}\": the network can read /status and /metrics as well; see operator_pages",
            loaded.config.serve.listen
        ));
    }
    let serve = &loaded.config.serve;
    if !public && !serve.public_url.is_empty() && serve.client_header.is_empty() {
        found.push(format!(
            "serve.public_url = \"{}\": all readers behind the proxy count as this machine itself, which has no limits; set \
             serve.client_header to the header in which the proxy names them, such as x-forwarded-for",
            serve.public_url
        ));
    }
    for site in loaded.sites.iter().filter(|site| site.queues > 1) {
        let Site { name, queues, .. } = site;
        found.push(format!(
            "site {name}: queues = {queues}: {queues} pages of a host are fetched at once; do this only with servers of your own, or with \
             their owner's permission"
        ));
    }
    let search = &loaded.config.search;
    let is_open = search.addresses().any(|url| url.starts_with("http://"));
    if search.engine.is_remote() && is_open && !search.user.is_empty() {
        found.push(format!(
            "search.url = \"{}\": the password of search.user is sent unencrypted; use https",
            search.url
        ));
    }
    if let Some(mend) = loaded.closed_to_the_service() {
        found.push(mend);
    }
    if loaded.secrets_of_the_service() {
        found.push(
            "secrets in $CREDENTIALS_DIRECTORY are checked when the service starts: only it can see them".to_owned(),
        );
    }
    found
}

fn answer(
    loaded: &LoadedConfig,
    problems: &[ConfigProblem],
    warnings: &[String],
    tried: &[NetworkCheck],
) -> serde_json::Value {
    let now = now_ms();
    let site = |s: &Site| {
        let runs = s.cron().map(|cron| cron.next_runs(now, RUNS));
        serde_json::json!({ "name": s.name, "enabled": s.enabled, "next_ms": runs.unwrap_or_default() })
    };
    let problem =
        |p: &ConfigProblem| serde_json::json!({ "file": p.file, "line": p.line, "text": p.text });
    serde_json::json!({
        "config": loaded.file,
        "sites": loaded.sites.iter().map(site).collect::<Vec<_>>(),
        "problems": problems.iter().map(problem).collect::<Vec<_>>(),
        "warnings": warnings,
        "online": tried,
    })
}

/// What is in force, for a person.
#[derive(Template)]
#[template(path = "check.txt")]
struct CheckText<'a> {
    loaded: &'a LoadedConfig,
    warnings: Vec<String>,
    lexicons: usize,
    terms: usize,
    synonyms: usize,
    /// The command that adds a site.
    add_site: String,
    /// When each site is crawled next.
    runs: Vec<(&'a Site, Vec<String>)>,
    tried: Vec<String>,
}

/// The same in Chinese.
#[derive(Template)]
#[template(path = "check.zh.txt")]
struct ChineseCheckText<'a> {
    t: CheckText<'a>,
}

/// A name server, a proxy or a robots.txt that takes longer would hold up every page.
const LIMIT: Duration = Duration::from_secs(10);
/// All that is tried of the search engine: its hosts answer in a second or not at all.
const ENGINE_LIMIT: Duration = Duration::from_secs(8);
/// Questions at the same time, each to another server.
const AT_ONCE: usize = 16;
/// Sites asked: their common trouble shows itself with fewer.
const SITES: usize = 200;

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Ok,
    /// It works, and yet nothing would be crawled, or not all was asked.
    Warning,
    Error,
}

/// What was asked, and what came of it.
#[derive(Debug, Serialize)]
struct NetworkCheck {
    /// `proxy`, `dns`, `search` or `robots`.
    step: &'static str,
    /// The host, or the name of the site.
    of: String,
    level: Level,
    text: String,
    took_ms: u64,
}

/// Tries everything that a crawl would need of the network.
async fn try_out(loaded: &LoadedConfig) -> anyhow::Result<Vec<NetworkCheck>> {
    let enabled = || loaded.sites.iter().filter(|site| site.enabled);
    let seeds: Vec<(&Site, CrawlUri)> = enabled()
        .filter_map(|site| Some((site, site.addresses().ok()?.seeds.into_iter().next()?)))
        .take(SITES)
        .collect();
    let mut tried = Vec::new();
    match proxy_of(loaded) {
        Some(proxy) => tried.push(proxy_answers(&proxy).await),
        None => tried.extend(names(loaded, &seeds).await),
    }
    if let Some(at) = IndexAt::new(loaded).remote() {
        tried.extend(inspect_engine(loaded, at).await?);
    }
    let broken: BTreeSet<String> = tried
        .iter()
        .filter(|t| t.level == Level::Error)
        .map(|t| t.of.clone())
        .collect();
    let gate = open_gate(&loaded.config, loaded.store_place())?;
    let reachable = seeds
        .iter()
        .filter(|(_, seed)| loaded.config.fetch.proxy.is_some() || !broken.contains(seed.host()));
    if loaded.config.fetch.proxy.is_none() || broken.is_empty() {
        let asked = reachable.map(|(site, seed)| robots(&gate, &loaded.config, site, seed));
        tried.extend(
            stream::iter(asked)
                .buffered(AT_ONCE)
                .collect::<Vec<_>>()
                .await,
        );
    }
    let left_out = enabled().count().saturating_sub(SITES);
    if left_out > 0 {
        tried.push(NetworkCheck {
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
) -> NetworkCheck {
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
        (Level::Error, "dns") => {
            "; is the name of the seed right, and does this machine know a name server (/etc/resolv.conf)?"
        }
        (Level::Error, _) => {
            "; does a browser on this machine get it, or is a proxy needed (fetch.proxy)?"
        }
        _ => "",
    };
    NetworkCheck {
        step,
        of: of.to_owned(),
        level,
        text: format!("{text}{mend}"),
        took_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

/// The proxy of the settings, which were checked.
fn proxy_of(loaded: &LoadedConfig) -> Option<ProxyAddress> {
    let proxy = loaded.config.fetch.proxy.as_deref()?;
    ProxyAddress::parse(proxy).ok()
}

async fn proxy_answers(proxy: &ProxyAddress) -> NetworkCheck {
    let (host, port) = (proxy.host(), proxy.port());
    let question = async {
        match TcpStream::connect((host, port)).await {
            Ok(_) => Ok((Level::Ok, "takes connections".to_owned())),
            Err(error) => Err(error.to_string()),
        }
    };
    ask("proxy", &format!("{host}:{port}"), question).await
}

/// Tries the engine of the search index.
async fn inspect_engine(loaded: &LoadedConfig, at: &RemoteAt) -> anyhow::Result<Vec<NetworkCheck>> {
    let (index, place) = (at.index.clone(), loaded.store_place());
    let (layout, stop) = (at.layout, CancellationToken::default());
    let stopped = stop.clone();
    let inspected = spawn_blocking(move || {
        let identity = Reader::open(place).and_then(|store| store.identity()).ok();
        let origin = identity.map(|identity| remote::Origin {
            store: identity.id,
            replaced: identity.replaced,
            ..remote::Origin::default()
        });
        remote::inspect(&index, remote::Expected { origin, layout }, &stopped)
    });
    tokio::pin!(inspected);
    let findings = tokio::select! {
        findings = &mut inspected => findings?,
        () = sleep(ENGINE_LIMIT) => {
            stop.stop();
            let mut findings = (&mut inspected).await?;
            findings.push(Finding {
                subject: at.index.place(),
                severity: Severity::Trouble,
                text: format!("no answer within {} s", ENGINE_LIMIT.as_secs()),
                took: ENGINE_LIMIT,
            });
            findings
        }
    };
    let check = |finding: Finding| NetworkCheck {
        step: "search",
        of: finding.subject,
        level: match finding.severity {
            Severity::Good => Level::Ok,
            Severity::Warning => Level::Warning,
            Severity::Trouble => Level::Error,
        },
        text: finding.text,
        took_ms: u64::try_from(finding.took.as_millis()).unwrap_or(u64::MAX),
    };
    Ok(findings.into_iter().map(check).collect())
}

/// Looks up the host of each seed, but for those with an address of their own.
async fn names(loaded: &LoadedConfig, seeds: &[(&Site, CrawlUri)]) -> Vec<NetworkCheck> {
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
async fn robots(gate: &Gate, config: &Config, site: &Site, seed: &CrawlUri) -> NetworkCheck {
    ask("robots", &site.name, async {
        let mut turn = person_turn(config);
        match gate.check(seed, Purpose::Probe, &mut turn).await {
            Ok(()) => Ok((Level::Ok, format!("lets us fetch {seed}"))),
            Err(Refused::Robots(rule)) => Ok((
                Level::Warning,
                format!(
                    "its robots.txt does not let {} fetch {seed} (line {}: Disallow: {}): nothing will be crawled",
                    gate.config().robots_token(),
                    rule.line,
                    rule.pattern
                ),
            )),
            Err(Refused::RobotsAway(trouble)) => Err(trouble.to_string()),
            Err(refused) => {
                let text = describe_refusal(gate, seed, &refused);
                Ok((Level::Warning, format!("{text}; nothing will be crawled")))
            }
        }
    })
    .await
}

/// Arguments of `config`.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    /// Only what is not left at its default
    ///
    /// What the file, the environment or --data-dir set, even if it is the same as the default.
    #[arg(long)]
    changed: bool,
    /// One JSON object per setting
    ///
    /// Its keys are `key`, `value` and `from`.
    #[arg(long)]
    json: bool,
}

/// Prints `key = value  # where from`, one line for each setting.
pub(crate) fn show_config(context: &Context, args: &ConfigArgs) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let file = loaded.file.as_deref().map(|f| f.display().to_string());
    for (key, value, origin) in config::settings(&loaded) {
        let from = match (&origin, &context.data_dir) {
            (_, Some(_)) if key == "data_dir" => "--data-dir".to_owned(),
            (Origin::Default, _) => "default".to_owned(),
            (Origin::File(line), _) => format!("{} line {line}", file.as_deref().unwrap_or("-")),
            (Origin::Environment(name), _) => name.clone(),
        };
        if args.changed && from == "default" {
            continue;
        }
        if args.json {
            output::json(&serde_json::json!({ "key": key, "value": value, "from": from }))?
        } else {
            output::line(&output::printable(&format!("{key} = {value}  # {from}")))
        }
    }
    Ok(ExitCode::SUCCESS)
}
