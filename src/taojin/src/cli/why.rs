//! `taojin why` and `taojin robots`: what the crawler knows of a URL, host or site, and what a robots.txt lets it fetch.

use std::process::ExitCode;

use askama::Template;
use serde::Serialize;

use super::context::{Context, Named, UsageError, runtime};
use super::gate::{open_gate, person_turn, refused_error};
use super::output::{self, Said};
use super::site::file_of;
use crate::config::{Config, LoadedConfig};
use crate::daemon::{NO_TEXT, StatusBoard, now_ms};
use crate::documents;
use crate::serve::SiteVerdict;
use taojin_crawl::fetch::{Gate, Purpose, Request, Robots};
use taojin_crawl::frontier::{Explanation, leads_nowhere, queue_name};
use taojin_crawl::schedule::Site;
use taojin_crawl::scope::{Refusal, Scope, queues_of};
use taojin_crawl::store::{HELD_MS, Reader, UrlClass, UrlRecord, UrlState};
use taojin_crawl::{Failure, VisitOutcome};
use taojin_extract::Provenance;
use taojin_uri::CrawlUri;

/// Arguments of `why`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A URL, a host (with or without its port), or the name or title of a site
    ///
    /// For a URL: where it is in the crawl, its last visits, and which rule lets or keeps it out. For a host: its delays,
    /// errors and queue. For a site: how its last cycle went, and its hosts.
    #[arg(value_name = "URL")]
    url: String,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// The answer of `why --json`. The names are stable.
#[derive(Debug, Default, Serialize, Template)]
#[template(path = "why.txt")]
struct UrlReport {
    /// Not the name of a host.
    #[serde(skip)]
    is_url: bool,
    /// Canonical form of what was asked.
    url: String,
    /// Site that the URL belongs to.
    site: Option<String>,
    /// `unknown`, `new`, `fetched`, `redirect`, `gone`, `failed`, `refused`.
    state: String,
    class: Option<String>,
    status: Option<u16>,
    fetched_ms: Option<i64>,
    next_due_ms: Option<i64>,
    in_index: bool,
    /// When its page last showed the document, Unix milliseconds, if the last visit did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed_ms: Option<i64>,
    target: Option<String>,
    error: Option<Said>,
    /// Why it has no document, in words; none if it has one.
    reason: Option<Said>,
    /// What is odd about a page that has a document.
    note: Option<Said>,
    #[serde(flatten)]
    document: ReportedDocument,
    #[serde(flatten)]
    place: QueuePlace,
    /// The address whose document stands for this one too.
    alias_of: Option<String>,
    /// Addresses that its document stands for as well.
    addresses: Vec<String>,
    /// When the operator took it down, Unix milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken_down_ms: Option<i64>,
    /// Why the URL is not crawled, when a rule refuses it.
    refused_by: Option<Said>,
    /// How the last cycle of the site went, where a site was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<SiteVerdict>,
    host: Option<Host>,
    /// The other hosts of a site, or of a name without a port.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_hosts: Vec<Host>,
    /// Whether a site is configured for the host.
    #[serde(skip)]
    is_configured: bool,
}

/// The document of an address: its day, and how it was found.
#[derive(Debug, Default, Serialize)]
struct ReportedDocument {
    /// As the document has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<String>,
    #[serde(flatten)]
    provenance: Provenance,
}

/// Where an address stands.
#[derive(Debug, Default, Serialize)]
struct QueuePlace {
    /// In words.
    queue: Option<Said>,
    /// It waits for the time of its next visit.
    #[serde(skip)]
    is_planned: bool,
    /// Name of the queue, where its host has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_name: Option<String>,
}

#[derive(Debug, Serialize)]
struct Host {
    host: String,
    delay_ms: i64,
    delay_cause: String,
    next_fetch_ms: Option<i64>,
    wait_cause: String,
    due: usize,
    queue_eta_ms: i64,
    errors_in_a_row: u32,
    last_error: Option<String>,
}

/// Explains a URL or a host.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let reader = Reader::open(loaded.store_place())?;
    let has_scheme = args.url.contains("://");
    let text = if has_scheme {
        args.url.clone()
    } else {
        format!("http://{}/", args.url)
    };
    let site = if has_scheme {
        None
    } else {
        site_named(&loaded.sites, &args.url)
    };
    let uri = match site {
        // The name of a site need not be that of a host.
        Some(site) => CrawlUri::parse(site.seeds.first().map_or(&text, |seed| seed)),
        None => CrawlUri::parse(&text),
    };
    let uri = uri.named(&args.url)?;
    let mut answer = UrlReport {
        is_url: has_scheme,
        url: uri.to_string(),
        state: "unknown".to_owned(),
        ..UrlReport::default()
    };
    let sites = loaded.sites.iter().filter(|site| site.enabled);
    let scopes: Vec<Scope> = sites.filter_map(|site| Scope::new(site).ok()).collect();
    let queues = queues_of(scopes.iter(), uri.authority());
    if has_scheme {
        describe_address(&mut answer, &loaded, &reader, &uri, queues)?;
    }
    if let Some(site) = site {
        answer.site = Some(site.name.clone());
        let status = StatusBoard::new(&loaded, None).read(0)?;
        let own = status.sites.into_iter().find(|own| own.name == site.name);
        answer.verdict = own.map(|own| own.verdict);
    }
    let known = known_hosts(&loaded.sites, &reader)?;
    let authorities = match site {
        Some(site) => hosts_of(site, &reader)?,
        None => {
            let exact = uri.authority().to_owned();
            let is_known = known.contains(&exact) || reader.host(&exact)?.is_some();
            if is_known {
                vec![exact]
            } else {
                with_any_port(&known, &exact)
            }
        }
    };
    answer.is_configured = !authorities.is_empty();
    if has_scheme && answer.state == "unknown" && !known.iter().any(|k| k == uri.authority()) {
        let meant = with_any_port(&known, uri.authority());
        if let (Some(rule), false) = (&mut answer.refused_by, meant.is_empty()) {
            let meant = meant.join(", ");
            rule.push(
                &format!("; its name is known as {meant}"),
                &format!("；已知的是 {meant}"),
            );
        }
    }
    let mut hosts = Vec::new();
    for authority in authorities {
        let frontier = &loaded.config.frontier;
        let host = Explanation::for_host(&reader, frontier, &authority, None, now_ms())?;
        hosts.extend(host.map(|e| Host {
            host: e.host.authority.to_string(),
            delay_ms: e.delay_ms,
            delay_cause: e.delay_cause.as_str().to_owned(),
            next_fetch_ms: e.next_fetch_ms,
            wait_cause: e.cause.as_str().to_owned(),
            due: e.due,
            queue_eta_ms: e.eta_ms / i64::from(queues),
            errors_in_a_row: e.host.errors,
            last_error: e.host.last_error.clone(),
        }));
    }
    let mut hosts = hosts.into_iter();
    answer.host = hosts.next();
    answer.other_hosts = hosts.collect();
    if output::is_chinese() {
        output::text(&ChineseUrlReport { t: &answer })?;
        return Ok(ExitCode::SUCCESS);
    }
    output::answer_in(args.json, &answer, |answer| answer)
}

/// What is known of an address, and what keeps it out.
fn describe_address(
    answer: &mut UrlReport,
    loaded: &LoadedConfig,
    reader: &Reader,
    uri: &CrawlUri,
    queues: u32,
) -> anyhow::Result<()> {
    let said = |rule: Refusal| Said::new(rule.describe(), rule.describe_in_chinese());
    match reader.lookup(uri)? {
        Some(record) => {
            describe(answer, &record, loaded);
            let hash = loaded.config.frontier.queue_hash;
            answer.place.queue_name = (queues > 1).then(|| queue_name(uri, queues, hash));
            duplicates(answer, reader, &record)?;
            describe_document(answer, reader, &record)?;
            answer.reason = reason(&record, answer.alias_of.as_deref());
        }
        None => {
            let trap = || leads_nowhere(&loaded.config.data_dir, uri);
            let alike = || trap().then(|| said(Refusal::Alike));
            answer.refused_by = refusal(loaded, uri)
                .or_else(alike)
                .or(full(loaded, reader, uri)?);
        }
    }
    if let Some(takedown) = reader.takedown(uri)? {
        answer.taken_down_ms = Some(takedown.at_ms);
        let said = said(Refusal::TakenDown);
        answer.refused_by = Some(said.clone());
        answer.place.queue = Some(not_again());
        answer.reason = Some(said);
        answer.error = None;
    }
    Ok(())
}

/// Hosts of an answer: a site may have thousands.
const HOSTS_MAX: usize = 20;

/// The site of this name or title.
fn site_named<'s>(sites: &'s [Site], name: &str) -> Option<&'s Site> {
    let mut named = sites.iter();
    let mut titled = sites.iter();
    let by_name = named.find(|site| site.name == name);
    by_name.or_else(|| titled.find(|site| !site.title.is_empty() && site.title == name))
}

/// The hosts of a site: as configured, and those that have addresses.
fn hosts_of(site: &Site, reader: &Reader) -> anyhow::Result<Vec<String>> {
    let mut hosts = site.hosts();
    hosts.retain(|host| !host.starts_with('*'));
    if let Some(record) = reader.site(&site.name)? {
        for id in reader.hosts_of_site(record.id)?.into_iter().take(HOSTS_MAX) {
            let host = reader.host_by_id(id)?;
            hosts.extend(host.map(|host| host.authority.to_string()));
        }
    }
    hosts.sort();
    hosts.dedup();
    hosts.truncate(HOSTS_MAX);
    Ok(hosts)
}

/// The hosts of all sites.
fn known_hosts(sites: &[Site], reader: &Reader) -> anyhow::Result<Vec<String>> {
    let hosts = sites.iter().map(|site| hosts_of(site, reader));
    let hosts: Vec<Vec<String>> = hosts.collect::<Result<_, _>>()?;
    Ok(hosts.concat())
}

/// The hosts of the name of this one, whatever their port.
fn with_any_port(hosts: &[String], authority: &str) -> Vec<String> {
    let name = |host: &str| host.split(':').next().unwrap_or_default().to_owned();
    let same = hosts.iter().filter(|host| name(host) == name(authority));
    same.cloned().collect()
}

/// The address whose document stands for this one, and those that its own document stands for.
fn duplicates(answer: &mut UrlReport, reader: &Reader, record: &UrlRecord) -> anyhow::Result<()> {
    let address = |id| anyhow::Ok(reader.url(id)?.map(|r| r.uri.to_string()));
    if let Some(id) = record.visit.alias_of {
        answer.alias_of = address(id)?;
    }
    for id in reader.aliases(record.id)? {
        answer.addresses.extend(address(id)?);
    }
    Ok(())
}

/// What the document of an address says of its day, and how it was found.
fn describe_document(
    answer: &mut UrlReport,
    reader: &Reader,
    record: &UrlRecord,
) -> anyhow::Result<()> {
    if !record.visit.documented {
        return Ok(());
    }
    let row = reader.addresses().document_of(record.id)?;
    let stored = row.map(|row| documents::decode(reader, &row)).transpose()?;
    if let Some(stored) = stored.flatten() {
        answer.document = ReportedDocument {
            published: stored.document.published,
            provenance: stored.document.provenance,
        };
    }
    Ok(())
}

/// Where a known URL stands in the queue.
fn queue(record: &UrlRecord, now_ms: i64) -> Said {
    let class = record.visit.class;
    match record.visit.due_ms {
        None if class.is_hub() => Said::new(
            "visited in the next cycle of its site",
            "随站点的下一轮抓取",
        ),
        None => not_again(),
        Some(HELD_MS..) => Said::new(
            "held back until the next cycle of its site",
            "留到站点的下一轮",
        ),
        Some(due_ms) if due_ms <= now_ms => {
            let (since_ms, rank) = (now_ms - due_ms, record.visit.rank);
            let span = output::span(&since_ms);
            Said::new(
                format!("due for {span}, rank {rank} of 0 (first) to 15; waits for its host"),
                format!("已到期 {span}，优先级 {rank}（0 最先，15 最后），等待主机"),
            )
        }
        Some(_) => Said::new("planned", "已排期"),
    }
}

fn not_again() -> Said {
    Said::new("is not fetched again", "不再抓取")
}

/// What the store knows of a URL, and the rule of its site that keeps it from being fetched now.
fn describe(answer: &mut UrlReport, record: &UrlRecord, loaded: &LoadedConfig) {
    let visit = &record.visit;
    answer.site = Some(record.site.to_string());
    visit.state.as_str().clone_into(&mut answer.state);
    answer.class = Some(visit.class.as_str().to_owned());
    answer.status = visit.status;
    answer.fetched_ms = visit.fetched_ms;
    answer.next_due_ms = visit.due_ms;
    answer.in_index = visit.documented;
    answer.target.clone_from(&visit.target);
    let error = visit.error.as_deref().map(Said::from_english);
    if visit.state != UrlState::Fetched {
        answer.error = error;
    } else if visit.documented {
        answer.note = error;
    }
    if visit.is_unconfirmed() {
        answer.confirmed_ms = visit.confirmed_ms;
    }
    answer.place.queue = match refusal_now(&loaded.sites, record) {
        Some((site, rule)) => {
            let rule = describe_rule(loaded, site, rule, &record.uri);
            answer.refused_by = Some(rule.clone());
            let mut said = Said::new("is not fetched: ", "不抓取：");
            said.append(rule);
            Some(said)
        }
        None => {
            answer.place.is_planned = visit
                .due_ms
                .is_some_and(|due| due > now_ms() && due < HELD_MS);
            Some(queue(record, now_ms()))
        }
    };
}

/// Why a known URL has no document in the index, if it has none; `alias` is the address that has it.
fn reason(record: &UrlRecord, alias: Option<&str>) -> Option<Said> {
    let visit = &record.visit;
    if visit.documented {
        return None;
    }
    let error = visit.error.as_deref();
    Some(match (visit.state, alias) {
        (_, Some(alias)) if visit.content.is_some() => Said::new(
            format!("same text as {alias}"),
            format!("与 {alias} 的正文相同"),
        ),
        (_, Some(alias)) => Said::new(
            format!("names {alias} as its own address, which has the document"),
            format!("网页注明的网址是 {alias}，文档在那里"),
        ),
        (UrlState::New, _) => Said::new("not fetched yet", "尚未抓取"),
        (UrlState::Redirect, _) => match &visit.target {
            Some(target) => Said::new(format!("redirects to {target}"), format!("跳转到 {target}")),
            None => Said::new("redirects", "跳转"),
        },
        (UrlState::Gone, _) => match visit.status {
            Some(410) => Said::new(
                "the server says that the page is gone (410)",
                "服务器称网页已永久删除（410）",
            ),
            _ => Said::new(
                "not found (404), and again a day later",
                "网页不存在（404），一天后再查仍然如此",
            ),
        },
        (UrlState::Failed, _) => {
            let mut said = Said::new("could not be read: ", "无法读取：");
            said.append(plain(error));
            said
        }
        (UrlState::Refused, _) => plain(error),
        (UrlState::Fetched, _) => match (error, visit.class) {
            (Some(reason), _) => Said::from_english(reason),
            (None, UrlClass::Feed) => Said::new("a feed: read for its links", "订阅源，只读取链接"),
            (None, UrlClass::Sitemap) => {
                Said::new("a sitemap: read for its links", "站点地图，只读取链接")
            }
            (None, UrlClass::Hub) => Said::new("judged to be a list page", "判断为列表页"),
            (None, _) => Said::new(
                "no reason was recorded; the next visit records it",
                "没有记录原因，下次访问时记录",
            ),
        },
    })
}

/// An error of the store in a person's words: the store has the word of a failure, or words already.
fn plain(error: Option<&str>) -> Said {
    let Some(error) = error else {
        return Said::new("no answer", "没有应答");
    };
    if error == NO_TEXT {
        return Said::new("not a text", "不是文本");
    }
    let Some(failure) = Failure::parse(error) else {
        return Said::from_english(error);
    };
    let [english, chinese] = match failure {
        Failure::ContentType => [
            "not a page: the server declares another type",
            "不是网页：服务器声明的是其他类型",
        ],
        Failure::TooLarge => [
            "larger than fetch.max_body_bytes",
            "超过 fetch.max_body_bytes",
        ],
        Failure::Bomb => [
            "a small body that unpacks to a huge one (fetch.max_ratio)",
            "解压后过大（fetch.max_ratio）",
        ],
        Failure::BadRedirect => [
            "redirects to an address that cannot be crawled",
            "跳转到不能抓取的网址",
        ],
        Failure::Dns => ["the host name has no address", "域名没有对应的地址"],
        Failure::Connect => ["no connection to the server", "无法连接服务器"],
        Failure::Tls => [
            "no secure connection: certificate or TLS version",
            "无法建立安全连接：证书或 TLS 版本有问题",
        ],
        Failure::Timeout => ["no answer in time", "没有及时应答"],
        Failure::Reset => [
            "the server closed the connection before it answered",
            "服务器在应答之前断开了连接",
        ],
        Failure::Decode => [
            "the body is not compressed as its header says",
            "内容的压缩方式与响应头不符",
        ],
        Failure::Protocol => ["the answer is not HTTP", "应答不是 HTTP"],
        Failure::ConnectionRefused | Failure::Truncated | Failure::Address => {
            [error, failure.in_chinese()]
        }
    };
    Said::new(english, chinese)
}

/// A rule that refuses an address of a site: with its setting, the pattern of it, and the file in which it stands.
fn describe_rule(loaded: &LoadedConfig, site: &Site, rule: Refusal, uri: &CrawlUri) -> Said {
    let Some(setting) = rule.setting() else {
        return Said::new(rule.describe(), rule.describe_in_chinese());
    };
    let scope = Scope::new(site).ok();
    let pattern = scope
        .as_ref()
        .and_then(|scope| scope.excluding_pattern(uri));
    let value = match (rule, pattern) {
        (Refusal::Excluded, Some(pattern)) => format!("{setting} = {pattern:?}"),
        (Refusal::SiteFull, _) => {
            format!("{setting} = {}", loaded.config.frontier.max_urls_per_site)
        }
        _ => setting.to_owned(),
    };
    let file = if setting.starts_with("scope.") {
        file_of(&loaded.config.sites_dir, &site.name).ok().flatten()
    } else {
        loaded.file.clone()
    };
    let (english, chinese) = match file {
        Some(file) => rule.describe_with(
            &format!("{value} in {}", file.display()),
            &format!("{} 的 {value}", file.display()),
        ),
        None => rule.describe_with(&value, &value),
    };
    Said::new(english, chinese)
}

/// Which rule keeps an unknown URL out of every site, if one does.
fn refusal(loaded: &LoadedConfig, uri: &CrawlUri) -> Option<Said> {
    let sites = &loaded.sites;
    let mut reasons = Vec::new();
    for site in sites.iter().filter(|s| s.enabled) {
        let mut reason = Said::new(
            format!("site {}: ", site.name),
            format!("站点 {}：", site.name),
        );
        match Scope::new(site).map(|scope| scope.check(uri, 1, 0, now_ms())) {
            Ok(Ok(())) => return None,
            // The other sites say nothing about it.
            Ok(Err(Refusal::Host)) => continue,
            Ok(Err(rule)) => reason.append(describe_rule(loaded, site, rule, uri)),
            Err(error) => reason.append(Said::from_english(&error.to_string())),
        }
        reasons.push(reason);
    }
    if sites.iter().all(|site| !site.enabled) {
        return Some(Said::new("no site is configured", "没有配置站点"));
    }
    Said::join(reasons).or_else(|| {
        let dir = loaded.config.sites_dir.display();
        let (english, chinese) = Refusal::Host.describe_with(
            &format!("scope.hosts of the files in {dir}"),
            &format!("{dir} 中各站点的 scope.hosts"),
        );
        Some(Said::new(english, chinese))
    })
}

/// Which rule of its site keeps a known URL from being fetched, if its scope was narrowed since it was found.
fn refusal_now<'s>(sites: &'s [Site], record: &UrlRecord) -> Option<(&'s Site, Refusal)> {
    let mut enabled = sites.iter().filter(|site| site.enabled);
    let site = enabled.find(|site| site.name == *record.site)?;
    let scope = Scope::new(site).ok()?;
    let checked = scope.check_reach(&record.uri, record.into(), now_ms());
    Some((site, checked.err()?))
}

/// The site that would take up the URL, if it has no room for more.
fn full(loaded: &LoadedConfig, reader: &Reader, uri: &CrawlUri) -> anyhow::Result<Option<Said>> {
    let most = loaded.config.frontier.max_urls_per_site;
    let counts = reader.counts()?;
    let is_full = |site: &&Site| {
        let urls = counts.sites.get(&*site.name).and_then(|c| c.get("urls"));
        urls.is_some_and(|urls| *urls >= most)
    };
    let takes = |site: &&Site| {
        let scope = Scope::new(site);
        scope.is_ok_and(|scope| scope.check(uri, 1, 0, now_ms()).is_ok())
    };
    let mut sites = loaded.sites.iter().filter(|site| site.enabled);
    let site = sites.find(|site| takes(site) && is_full(site));
    Ok(site.map(|site| {
        let mut said = Said::new(
            format!("site {}: ", site.name),
            format!("站点 {}：", site.name),
        );
        said.append(describe_rule(loaded, site, Refusal::SiteFull, uri));
        said
    }))
}

impl UrlReport {
    /// Why it has no document, where nothing else says so.
    fn shown_reason(&self) -> Option<&Said> {
        let is_said = self.taken_down_ms.is_some() || self.is_refused_by_scope();
        self.reason.as_ref().filter(|_| !is_said)
    }

    /// Whether the rule that refused it is what keeps it from being fetched now.
    fn is_refused_by_scope(&self) -> bool {
        self.refused_by.is_some() && self.state == UrlState::Refused.as_str()
    }

    /// The reason of an address without a document names its error.
    fn shown_error(&self) -> Option<&Said> {
        self.error.as_ref().filter(|_| self.reason.is_none())
    }

    /// The reason names the address that has the document.
    fn shown_alias(&self) -> Option<&String> {
        self.alias_of.as_ref().filter(|_| self.reason.is_none())
    }

    /// The reason names the target of a redirect.
    fn shown_target(&self) -> Option<&String> {
        let is_said = self.reason.is_some() && self.state == UrlState::Redirect.as_str();
        self.target.as_ref().filter(|_| !is_said)
    }

    /// What was taken down is not fetched again, and for what just waits the time of its next visit says so.
    fn shown_queue(&self) -> Option<&Said> {
        let is_said = self.taken_down_ms.is_some() || self.place.is_planned;
        self.place.queue.as_ref().filter(|_| !is_said)
    }
}

/// The same in Chinese.
#[derive(Template)]
#[template(path = "why.zh.txt")]
struct ChineseUrlReport<'a> {
    t: &'a UrlReport,
}

fn state_in_chinese(word: &str) -> &str {
    UrlState::parse(word).map_or(word, |state| state.in_chinese())
}

fn class_in_chinese(word: &str) -> &str {
    UrlClass::parse(word).map_or(word, |class| class.in_chinese())
}

/// Arguments of `robots`.
#[derive(Debug, clap::Args)]
pub(crate) struct RobotsArgs {
    /// A file, or the URL of a robots.txt
    ///
    /// A URL is fetched as the crawler would.
    #[arg(value_name = "FILE-OR-URL")]
    source: String,
    /// Name of the crawler, as in its User-Agent
    ///
    /// The group of rules that names it counts, else the one for `*`.
    #[arg(long, default_value = "taojin")]
    agent: String,
    /// URL or path to be judged (may be given several times)
    ///
    /// A path such as /news/ is judged by itself. The exit code is 0 whatever the verdict.
    #[arg(long = "url", required = true, num_args = 1.., value_name = "URL")]
    urls: Vec<String>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// Judges each URL. Exit code 0 whatever the verdict is: it is the answer, not a failure.
pub(crate) fn robots(context: &Context, args: &RobotsArgs) -> anyhow::Result<ExitCode> {
    let bytes = read_robots(context, &args.source)?;
    let robots = Robots::parse(&bytes, &args.agent);
    for url in &args.urls {
        // As the crawler decides: on the address that it would ask for.
        let address = match url.strip_prefix('/') {
            Some(_) => CrawlUri::parse(&format!("http://localhost{url}")),
            None => CrawlUri::parse(url),
        };
        // What is no address is requested by nobody; it is compared as it stands.
        let decided = match &address {
            Ok(address) => robots.decide(address),
            Err(_) => robots.decide_written(url),
        };
        let (allowed, rule) = match &decided {
            Ok(rule) => (true, *rule),
            Err(rule) => (false, Some(*rule)),
        };
        let word = if allowed { "allowed" } else { "refused" };
        if args.json {
            let (pattern, line) = (rule.map(|r| &r.pattern), rule.map(|r| r.line));
            output::json(
                &serde_json::json!({ "url": url, "allowed": allowed, "rule": pattern, "line": line }),
            )?;
        } else {
            let by = rule.map_or("no rule matches".to_owned(), |r| {
                let name = if r.allow { "Allow" } else { "Disallow" };
                format!("line {}: {name}: {}", r.line, output::printable(&r.pattern))
            });
            output::line(&format!("{word}  {url}  ({by})"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read_robots(context: &Context, source: &str) -> anyhow::Result<Vec<u8>> {
    if !source.starts_with("http://") && !source.starts_with("https://") {
        return std::fs::read(source).map_err(|e| UsageError(format!("{source}: {e}")).into());
    }
    let uri = CrawlUri::parse(source).named(source)?;
    let config = context.named_config()?;
    let gate = open_gate(&config, context.read().0.store_place())?;
    runtime()?.block_on(fetch(&gate, &config, uri))
}

/// Follows redirects as far as the crawler does.
async fn fetch(gate: &Gate, config: &Config, mut uri: CrawlUri) -> anyhow::Result<Vec<u8>> {
    let mut turn = person_turn(config);
    for _ in 0..=gate.config().max_redirects {
        let mut body: Vec<u8> = Vec::new();
        let request = Request::any(uri.clone());
        let fetched = gate.fetch(&request, Purpose::Named, &mut turn, &mut body);
        let fetched = fetched
            .await
            .map_err(|refused| refused_error(gate, &uri, &refused))?;
        match fetched.outcome {
            VisitOutcome::Page => return Ok(body),
            VisitOutcome::Redirect => uri = fetched.head.location.unwrap_or(uri),
            // without a file everything is allowed (RFC 9309 section 2.3.1.3)
            VisitOutcome::NotFound | VisitOutcome::Gone | VisitOutcome::Denied => {
                return Ok(Vec::new());
            }
            _ => anyhow::bail!("{uri}: {}", fetched.describe()),
        }
    }
    anyhow::bail!("{uri}: too many redirects, the crawler takes it for no file at all")
}
