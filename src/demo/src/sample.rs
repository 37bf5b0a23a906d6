//! The sample web: six invented Chinese oil and gas sites, as plain files in two rounds, with everything that makes real
//! sites hard to crawl.
//!
//! `web/README.md` says how the files are named and what their marks mean, `web/sites.toml` how they are served, [`Trap`]
//! what a crawler must not fall into. [`SampleWeb`] answers for all sites on one port, under names that end in `.localhost`:
//! browsers find these on this machine (RFC 6761).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chrono::TimeDelta;
use encoding_rs::GBK;
use serde::Deserialize;
use taojin_crawl::schedule::Site;

use crate::articles::{self, Article};
use crate::dates::DateShift;
use crate::serve::{Body, Fault, Request, RequestLog, Response, Web, gzip};
use crate::traps::{TRAPS, Trap, TrapKind};
use crate::trial::mix;

/// Example searches that find something on the sample web.
pub const SHOWCASE: [&str; 3] = ["页岩气 水平井", "储气库", "LNG接收站"];
/// Articles in the first round.
pub const ARTICLES: usize = 192;
/// Articles that come out in the second round.
pub const NEW_ARTICLES: usize = 12;
/// Articles that the second round adds to.
pub const CHANGED_ARTICLES: usize = 5;
/// Seconds in the Retry-After of a throttled page.
const RETRY_AFTER_S: &str = "1";
/// Delay of a slow page.
const SLOW: Duration = Duration::from_millis(1500);
/// Decompressed size of the bomb: about a thousand times its size on the wire.
const BOMB_BYTES: usize = 16 << 20;
/// Content type of pages whatever their site.
const HTML: &str = "text/html; charset=utf-8";
/// The sites and how they answer.
const SITES: &str = include_str!("../web/sites.toml");
/// Host and file, text of the first round, text of the second where it differs.
const FILES: &[(&str, Option<&str>, Option<&str>)] =
    include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// One site of the sample web.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleSite {
    /// Short name, as a site is called in the configuration.
    pub name: String,
    /// What the site calls itself.
    pub title: String,
    /// Path of its front page, which `/` shows too.
    pub home: String,
    /// Path of its feed.
    pub feed: Option<String>,
    /// Queues of its host.
    #[serde(default = "one")]
    queues: u32,
    charset: Option<String>,
    #[serde(default)]
    gbk: bool,
    etag: Option<String>,
    #[serde(default)]
    dated: bool,
    #[serde(default)]
    answers: BTreeMap<String, Behaviour>,
}

fn one() -> u32 {
    1
}

/// How an address is answered that has a way of its own; `web/sites.toml` describes each.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Behaviour {
    NoCharset,
    Slow,
    Throttled,
    Gone,
    Redirect(u16, String),
    Download(String, u64),
    Bomb,
    Endless,
    Calendar,
    GrowingPath,
}

impl SampleSite {
    /// Returns its host name, without port.
    pub fn host(&self) -> String {
        format!("{}.localhost", self.name)
    }

    fn find_behaviour(&self, target: &str) -> Option<&Behaviour> {
        let below = |at: &str| at.ends_with('/') && target.starts_with(at);
        let mut answers = self.answers.iter();
        let answer = answers.find(|(at, _)| *at == target || below(at));
        answer.map(|(_, behaviour)| behaviour)
    }
}

/// The sample web on one port, in one of its two rounds.
#[derive(Debug)]
pub struct SampleWeb {
    port: u16,
    dates: DateShift,
    sites: Vec<SampleSite>,
    /// 0 in the first round, 1 in the second.
    round: AtomicUsize,
    /// Texts of both rounds by host and file, with the dates of today in the name.
    files: HashMap<String, [Option<&'static str>; 2]>,
    /// Throttled addresses that were requested once.
    throttled: Mutex<HashSet<String>>,
    log: RequestLog,
}

impl SampleWeb {
    /// The first round, served on `port`, with dates up to `now_ms`.
    pub fn new(port: u16, now_ms: i64) -> Self {
        let dates = DateShift::new(now_ms);
        let files = FILES.iter();
        let files = files.map(|&(name, first, second)| (dates.apply(name), [first, second]));
        let mut web = Self {
            port,
            sites: Vec::new(),
            round: AtomicUsize::new(0),
            files: files.collect(),
            throttled: Mutex::default(),
            log: RequestLog::default(),
            dates,
        };
        let sites = toml::from_str::<BTreeMap<String, Vec<SampleSite>>>(&web.fill(SITES));
        web.sites = sites
            .expect("sites.toml lists sites")
            .remove("site")
            .unwrap_or_default();
        web
    }

    /// Moves on to the second round: [`NEW_ARTICLES`] come out, [`CHANGED_ARTICLES`] older ones are added to, the rest stays
    /// byte for byte.
    pub fn advance(&self) {
        self.round.store(1, Ordering::Relaxed);
    }

    /// Returns the sites.
    pub fn sites(&self) -> &[SampleSite] {
        &self.sites
    }

    /// Returns host name and port of a site.
    pub fn authority(&self, site: &SampleSite) -> String {
        format!("{}:{}", site.host(), self.port)
    }

    /// Returns the absolute URL of a path on a site.
    pub fn url(&self, site: &SampleSite, path: &str) -> String {
        format!("http://{}{path}", self.authority(site))
    }

    /// Returns the settings with which the crawler visits a site, as a file of `sites.d` would hold them.
    pub fn settings(&self, site: &SampleSite) -> Site {
        let feed = site.feed.as_ref().map(|path| self.url(site, path));
        Site {
            name: site.name.clone(),
            title: site.title.clone(),
            seeds: vec![self.url(site, &site.home)],
            feeds: feed.into_iter().collect(),
            queues: site.queues,
            ..Site::default()
        }
    }

    /// Returns what a perfect crawl of this round finds.
    pub fn articles(&self) -> Vec<Article> {
        let round = self.round.load(Ordering::Relaxed) + 1;
        articles::parse(&self.fill(articles::TABLE), round)
    }

    /// Returns the traps with more requests than they allow since the log was last taken, and how many. A session trap counts
    /// the requests for its most requested page, whatever the session number.
    pub fn triggered_traps(&self) -> Vec<(Trap, usize)> {
        let hits = self.log.hits();
        let count = |trap: &Trap| {
            let mut pages: HashMap<&str, usize> = HashMap::new();
            for hit in &hits {
                let is_session = trap.kind == TrapKind::Session;
                if trap.matches(&hit.authority, &hit.target) {
                    let page = if is_session { path_of(&hit.target) } else { "" };
                    *pages.entry(page).or_default() += 1;
                }
            }
            pages.into_values().max().unwrap_or(0)
        };
        let counts = TRAPS.iter().map(|trap| (*trap, count(trap)));
        counts
            .filter(|(trap, count)| *count > trap.max_hits)
            .collect()
    }

    /// Answers a plain request for a URL; where the first one is throttled, a second one.
    pub fn get(&self, url: &str) -> Response {
        let url = url.trim_start_matches("http://");
        let (host, path) = url.split_once('/').unwrap_or((url, ""));
        let head = format!("GET /{path} HTTP/1.1\r\nHost: {host}");
        let request = Request {
            socket: 0,
            head: &head,
        };
        match self.respond(&request) {
            first if first.status == 429 => self.respond(&request),
            first => first,
        }
    }

    /// Sets the port, a session and the dates of today into the text of a file.
    fn fill(&self, text: &str) -> String {
        let total = self.log.total();
        let session = format!("{:016x}{:016x}", mix(total), mix(!total));
        let text = self.dates.apply(text).replace("{session}", &session);
        text.replace("{port}", &self.port.to_string())
    }

    /// Finds the file of an address, without its query if that changes nothing: the round that it is of, and its text.
    fn find(&self, site: &SampleSite, target: &str) -> Option<(usize, &'static str)> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let index = if path.ends_with('/') {
            "index.html"
        } else {
            ""
        };
        let name = format!("{}{path}{index}", site.host());
        let queried = self.files.get(&format!("{name}@{query}"));
        let texts = queried.or_else(|| self.files.get(&name))?;
        let rounds = (0..=self.round.load(Ordering::Relaxed)).rev();
        rounds
            .into_iter()
            .find_map(|round| texts[round].map(|text| (round, text)))
    }

    /// Answers with the file of an address, or with the site's error page.
    fn respond_with_file(
        &self,
        site: &SampleSite,
        target: &str,
        request: &Request<'_>,
    ) -> Response {
        let unpacked = target.trim_end_matches(".gz");
        let Some((round, text)) = self.find(site, unpacked) else {
            let missing = self.find(site, "/404.html").map_or("", |(_, text)| text);
            return Response::new(404, HTML, missing);
        };
        let text = self.fill(text).replace("{path}", path_of(request.target()));
        let content_type = content_type(site, unpacked, &text);
        let mut response = if unpacked != target {
            Response::new(200, "application/gzip", gzip(text.as_bytes()))
        } else if site.gbk {
            Response::new(200, &content_type, GBK.encode(&text).0)
        } else {
            Response::new(200, &content_type, text)
        };
        if let Some(prefix) = &site.etag {
            response = response.with_etag(prefix);
        }
        if site.dated {
            // The second round is of now, the first of an hour before.
            let at = self.dates.now() - TimeDelta::hours(i64::from(round == 0));
            let date = at.format("%a, %d %b %Y %H:%M:%S GMT");
            response = response.with("last-modified", date.to_string());
        }
        response.or_not_modified(request)
    }

    /// Answers with a month: there is always one before it and one after it.
    fn respond_with_month(&self, site: &SampleSite, request: &Request<'_>) -> Response {
        let mut numbers = request
            .target()
            .split('/')
            .filter_map(|part| part.parse().ok());
        let (year, month): (u32, u32) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let page = self.find(site, "/calendar/");
        let Some((_, text)) =
            page.filter(|_| (1..9999).contains(&year) && (1..=12).contains(&month))
        else {
            return self.respond_with_file(site, request.target(), request);
        };
        let link = |months: u32| format!("/calendar/{:04}/{:02}/", months / 12, months % 12 + 1);
        let text = self
            .fill(text)
            .replace("{previous}", &link(year * 12 + month - 2));
        let text = text.replace("{next}", &link(year * 12 + month));
        let text = text.replace("{year}", &year.to_string());
        Response::new(200, HTML, text.replace("{month}", &month.to_string()))
    }
}

impl Web for SampleWeb {
    fn respond(&self, request: &Request<'_>) -> Response {
        let authority = request.header("host").unwrap_or_default();
        let host = authority.split(':').next().unwrap_or_default();
        let Some(site) = self.sites.iter().find(|site| site.host() == host) else {
            return Response::new(421, "text/plain", "no such host in the sample web\n");
        };
        let target = match request.target() {
            "/" => &site.home,
            target => target,
        };
        let file = || self.respond_with_file(site, target, request);
        let Some(behaviour) = site.find_behaviour(target) else {
            return file();
        };
        match behaviour {
            Behaviour::NoCharset => {
                let mut response = file();
                response.headers[0].1 = "text/html".to_owned();
                response
            }
            Behaviour::Slow => Response {
                delay: SLOW,
                fault: Some(Fault::Slow),
                ..file()
            },
            Behaviour::Throttled => {
                let throttled = self.throttled.lock();
                let mut throttled = throttled.unwrap_or_else(PoisonError::into_inner);
                if throttled.insert(target.to_owned()) {
                    let response = Response::new(429, "text/plain", "too many requests\n");
                    return response.with("retry-after", RETRY_AFTER_S);
                }
                file()
            }
            Behaviour::Gone => Response {
                status: 410,
                ..file()
            },
            Behaviour::Redirect(status, location) => Response::redirect(*status, location),
            Behaviour::Download(content_type, bytes) => {
                let noise = (0..bytes / 8).flat_map(|n| mix(n).to_le_bytes());
                Response::new(200, content_type, noise.collect::<Vec<u8>>())
            }
            Behaviour::Bomb => {
                let packed = gzip(&vec![b' '; BOMB_BYTES]);
                Response::new(200, HTML, packed).with("content-encoding", "gzip")
            }
            Behaviour::Endless => Response {
                body: Body::Endless(rows),
                ..Response::new(200, HTML, "")
            },
            Behaviour::Calendar => self.respond_with_month(site, request),
            Behaviour::GrowingPath => self.respond_with_file(site, "/topic/", request),
        }
    }

    fn log(&self) -> &RequestLog {
        &self.log
    }
}

/// Returns a part of a page without end: the head, then 256 rows at a time.
fn rows(part: usize) -> String {
    if part == 0 {
        return "<!DOCTYPE html><html><head><title>历年产量总表-华东天然气信息</title></head><body><h2>历年产量总表</h2><table>\n".to_owned();
    }
    let row = |n: usize| {
        let (oil, gas) = (n * 7 % 991, n * 13 % 877);
        format!("<tr><td>{n}</td><td>{oil}</td><td>{gas}</td></tr>\n")
    };
    (part * 256..part * 256 + 256).map(row).collect()
}

/// Returns the Content-Type of a file.
fn content_type(site: &SampleSite, target: &str, text: &str) -> String {
    let (_, extension) = path_of(target).rsplit_once('.').unwrap_or_default();
    let known = match extension {
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "txt" => "text/plain; charset=utf-8",
        "xml" if text.contains("<rss") => "application/rss+xml; charset=utf-8",
        "xml" => "application/xml; charset=utf-8",
        _ if text.contains("<feed") => "application/atom+xml; charset=utf-8",
        _ => match &site.charset {
            Some(charset) => return format!("text/html; charset={charset}"),
            None => "text/html",
        },
    };
    known.to_owned()
}

fn path_of(target: &str) -> &str {
    target.split_once('?').map_or(target, |(path, _)| path)
}
