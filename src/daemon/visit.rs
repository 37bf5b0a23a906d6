//! One visit: from a lease to what the crawl loop needs to know. In: a lease. Out: [`Visited`] with the document and
//! the outlinks. Asks robots.txt, fetches, parses while the body arrives, extracts. Never touches the store.

use std::sync::Arc;

use super::body::{Body, Form};
use super::{Shared, now_ms};
use crate::extract::{self, Document, Kind, LinkKind};
use crate::fetch::{
    Access, Failure, Fetched, Fetcher, Head, Outcome, Request, RobotsCache, Unwanted, Verdict, Want,
};
use crate::frontier::{FetchOutcome, FetchReport, Lease};
use crate::page;
use crate::schedule::{self, DatedLink};
use crate::store::{NewUrl, UrlClass, UrlRecord};
use crate::uri::CrawlUri;

/// A feed or sitemap of this size is cut off: the sitemap protocol allows 50 MB, which is a crawl of its own.
const MAX_LIST_BYTES: u64 = 16 << 20;
/// Confidence in the text from which a page that is no article is worth finding.
const CLEAR_TEXT: f32 = 0.6;

/// What every visit needs; shared by all fetch tasks.
pub(super) struct Tools {
    pub(super) fetcher: Fetcher,
    pub(super) robots: RobotsCache,
    pub(super) page: page::Config,
    pub(super) extract: extract::Config,
    pub(super) shared: Arc<Shared>,
}

/// What became of a visit.
pub(super) struct Visited {
    /// Word of the crawl log.
    pub(super) outcome: &'static str,
    /// Why it was refused or failed, in words.
    pub(super) reason: Option<String>,
    /// How it went over the network; none when nothing was asked.
    pub(super) fetched: Option<Fetched>,
    /// What the page is.
    pub(super) kind: Option<Kind>,
    /// The document, if the page is one to be found.
    pub(super) document: Option<Document>,
    /// Digest of the text (articles) or of the links (hubs).
    pub(super) digest: Option<u64>,
    /// Links in page order.
    pub(super) outlinks: Vec<NewUrl>,
    /// Where the page stands instead: target of a redirect, or the canonical address.
    pub(super) target: Option<CrawlUri>,
}

impl Visited {
    fn nothing(outcome: &'static str, reason: Option<String>) -> Self {
        Self {
            outcome,
            reason,
            fetched: None,
            kind: None,
            document: None,
            digest: None,
            outlinks: Vec::new(),
            target: None,
        }
    }
}

/// Visits the leased URL. Never fails: every end is a [`Visited`].
pub(super) async fn visit(tools: &Tools, lease: &Lease) -> (Visited, FetchReport) {
    let record = &lease.record;
    let verdict = tools
        .robots
        .verdict(&tools.fetcher, &record.uri, now_ms())
        .await;
    let crawl_delay_ms = verdict.crawl_delay_ms;
    let mut visited = match refusal(&verdict) {
        Some(refused) => refused,
        None => fetch(tools, record).await,
    };
    let rules = tools.shared.rules(&record.site);
    if record.visit.class == UrlClass::Seed && rules.is_some_and(|r| r.robots_sitemaps) {
        let named = verdict.sitemaps.iter();
        visited
            .outlinks
            .extend(named.map(|uri| child(record, uri.clone(), UrlClass::Sitemap)));
    }
    let mut report = report(&visited);
    report.crawl_delay_ms = crawl_delay_ms;
    (visited, report)
}

/// What is said of a page on which the program failed.
pub(super) fn panicked(lease: &Lease) -> (Visited, FetchReport) {
    tracing::error!(url = %lease.record.uri, "page could not be processed, left out; please report it");
    let visited = Visited::nothing("unwanted", Some("failed on this page".to_owned()));
    (visited, FetchReport::new(FetchOutcome::Answered, 0))
}

/// What robots.txt forbids, if it does.
fn refusal(verdict: &Verdict) -> Option<Visited> {
    match &verdict.access {
        Access::Allowed(_) => None,
        Access::Refused(rule) => {
            let reason = format!("robots.txt line {}: Disallow: {}", rule.line, rule.pattern);
            Some(Visited::nothing("robots", Some(reason)))
        }
        Access::Unreachable { word, .. } => Some(Visited::nothing(
            "robots_unreachable",
            Some(format!("robots.txt: {word}")),
        )),
    }
}

/// What the frontier wants to know for its politeness.
fn report(visited: &Visited) -> FetchReport {
    let Some(fetched) = &visited.fetched else {
        let outcome = match visited.outcome {
            "robots_unreachable" => FetchOutcome::Unreachable,
            _ => FetchOutcome::NotAsked,
        };
        return FetchReport {
            error: visited.reason.clone(),
            ..FetchReport::new(outcome, 0)
        };
    };
    let outcome = match &fetched.outcome {
        Outcome::Busy { .. } => FetchOutcome::Throttled,
        Outcome::ServerError => FetchOutcome::ServerError,
        Outcome::Unreachable(Failure::Dns | Failure::Connect | Failure::Tls) => {
            FetchOutcome::Unreachable
        }
        Outcome::Unreachable(_) => FetchOutcome::Broken,
        Outcome::Refused(_) => FetchOutcome::NotAsked,
        _ => FetchOutcome::Answered,
    };
    let elapsed_ms = i64::try_from(fetched.elapsed_ms).unwrap_or(i64::MAX);
    let troubled = fetched.outcome.is_host_trouble();
    FetchReport {
        retry_after_ms: match fetched.outcome {
            Outcome::Busy { retry_after_ms } => retry_after_ms,
            _ => None,
        },
        ip: fetched.remote,
        error: troubled.then(|| visited.reason.clone()).flatten(),
        ..FetchReport::new(outcome, elapsed_ms)
    }
}

async fn fetch(tools: &Tools, record: &UrlRecord) -> Visited {
    let is_list = matches!(record.visit.class, UrlClass::Feed | UrlClass::Sitemap);
    let request = Request {
        etag: record.visit.etag.clone(),
        last_modified: record.visit.last_modified.clone(),
        want: if is_list { Want::Any } else { Want::Page },
        max_body_bytes: is_list.then_some(MAX_LIST_BYTES),
        ..Request::page(record.uri.clone(), now_ms())
    };
    let mut body = Body::new(&tools.page, record, is_list);
    let fetched = tools.fetcher.fetch(&request, &mut body).await;
    // A page over the limit is still worth its beginning; anything else that broke off is not to be used.
    let cut = fetched.outcome == Outcome::Unwanted(Unwanted::TooLarge);
    let mut visited = match (&fetched.outcome, body.form) {
        (Outcome::Page, form) => read(tools, record, &fetched.head, form),
        (Outcome::Unwanted(Unwanted::TooLarge), form @ Form::Html(_)) => {
            read(tools, record, &fetched.head, form)
        }
        (Outcome::Redirect { to, .. }, _) => redirect(record, to),
        (other, _) => Visited::nothing(word(other), None),
    };
    if cut && visited.outcome == "ok" {
        visited.reason = Some("too-large: cut off at the limit".to_owned());
    } else if visited.reason.is_none()
        && !matches!(visited.outcome, "ok" | "not_modified" | "redirect")
    {
        visited.reason = Some(reason(&fetched));
    }
    visited.fetched = Some(fetched);
    visited
}

/// Word of the crawl log for an end without a page.
fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Page => "ok",
        Outcome::NotModified => "not_modified",
        Outcome::Redirect { .. } => "redirect",
        Outcome::Gone => "gone",
        Outcome::NotFound => "not_found",
        Outcome::Denied => "denied",
        Outcome::Busy { .. } => "busy",
        Outcome::ServerError => "server_error",
        Outcome::Unreachable(_) => "unreachable",
        Outcome::Refused(_) => "guard",
        Outcome::Unwanted(_) => "unwanted",
    }
}

fn reason(fetched: &Fetched) -> String {
    match &fetched.outcome {
        Outcome::Refused(refusal) => refusal.to_string(),
        Outcome::Unreachable(_) | Outcome::Unwanted(_) => fetched.outcome.word().to_owned(),
        _ => format!("HTTP {}", fetched.head.status),
    }
}

fn redirect(record: &UrlRecord, to: &CrawlUri) -> Visited {
    let mut visited = Visited::nothing("redirect", None);
    let class = match record.visit.class {
        UrlClass::Article => UrlClass::Unknown,
        class => class,
    };
    visited.outlinks.push(NewUrl {
        redirects: record.redirects.saturating_add(1),
        hops: record.hops,
        ..child(record, to.clone(), class)
    });
    visited.target = Some(to.clone());
    visited
}

fn read(tools: &Tools, record: &UrlRecord, head: &Head, form: Form) -> Visited {
    match form {
        Form::Html(builder) => read_page(tools, record, head, *builder),
        Form::List(bytes) => read_list(record, &bytes),
        Form::Open => Visited::nothing("ok", Some("empty body".to_owned())),
        Form::Binary => Visited::nothing("unwanted", Some("content-type: no text".to_owned())),
    }
}

fn read_page(tools: &Tools, record: &UrlRecord, head: &Head, builder: page::Builder) -> Visited {
    let page = builder.finish();
    let context = extract::Context {
        now_ms: now_ms(),
        site: Some(&record.site),
        default_offset_min: tools
            .shared
            .rules(&record.site)
            .and_then(|r| r.utc_offset_min),
        ..Default::default()
    };
    let mut document = extract::extract_with(&page, &context, &tools.extract);
    document.noindex |= head.noindex;
    document.nofollow |= head.nofollow;
    let mut visited = Visited::nothing("ok", None);
    visited.kind = Some(detail_kind(&document));
    let links = std::mem::take(&mut document.links);
    visited.digest = Some(match document.kind {
        Kind::Hub => digest(links.iter().map(|l| l.url.as_str())),
        _ => digest([
            document.title.as_deref().unwrap_or_default(),
            &document.text,
        ]),
    });
    if !document.nofollow && document.kind != Kind::Error {
        let followed = links.iter().filter(|l| !l.nofollow);
        visited.outlinks = followed
            .filter_map(|l| outlink(record, &l.url, l.kind))
            .collect();
    }
    let canonical = document
        .canonical
        .as_deref()
        .and_then(|c| CrawlUri::parse(c).ok());
    match canonical.filter(|c| is_other_spelling(&record.uri, c)) {
        // The page stands at its canonical address: that one is fetched and indexed instead.
        Some(canonical) => {
            visited.outlinks.push(NewUrl {
                hops: record.hops,
                ..child(record, canonical.clone(), UrlClass::Unknown)
            });
            visited.target = Some(canonical);
            visited.reason = Some("canonical address elsewhere".to_owned());
        }
        None if is_indexed(&document) => visited.document = Some(document),
        None => {}
    }
    visited
}

/// Whether a document is worth being found: articles, and other pages with a text, unless they ask not to be.
/// A thread or a page of a service is neither article nor list; where its text is clear it is crawled and
/// searched as an article is.
fn detail_kind(document: &Document) -> Kind {
    match document.kind {
        Kind::Other if document.confidence >= CLEAR_TEXT => Kind::Article,
        kind => kind,
    }
}

fn is_indexed(document: &Document) -> bool {
    let has_text = !document.text.is_empty();
    !document.noindex && has_text && detail_kind(document) == Kind::Article
}

/// Whether `canonical` names the same page as `uri` in another spelling: same host but for `www.` and scheme, and the
/// same last path segment. A canonical address that is the home page of every article is a mistake of the site.
fn is_other_spelling(uri: &CrawlUri, canonical: &CrawlUri) -> bool {
    let bare = |u: &CrawlUri| u.authority().trim_start_matches("www.").to_owned();
    let last = |u: &CrawlUri| {
        let path = u.url().path().trim_end_matches('/').to_owned();
        path.rsplit('/').next().unwrap_or_default().to_owned()
    };
    uri != canonical
        && bare(uri) == bare(canonical)
        && !last(canonical).is_empty()
        && last(uri) == last(canonical)
}

/// A feed or a sitemap. One that the bytes say is neither has no links.
fn read_list(record: &UrlRecord, bytes: &[u8]) -> Visited {
    let mut visited = Visited::nothing("ok", None);
    visited.kind = Some(Kind::Hub);
    let (pages, sitemaps) = match record.visit.class {
        UrlClass::Sitemap => sitemap(record, bytes),
        _ => match schedule::read_feed(bytes, &record.uri) {
            Ok(links) => (links, Vec::new()),
            Err(_) => sitemap(record, bytes),
        },
    };
    visited.digest = Some(digest(
        pages.iter().chain(&sitemaps).map(|l| l.uri.as_str()),
    ));
    let children = |links: Vec<DatedLink>, class: UrlClass| {
        links
            .into_iter()
            .map(move |link| child(record, link.uri, class))
    };
    visited.outlinks = children(sitemaps, UrlClass::Sitemap)
        .chain(children(pages, UrlClass::Unknown))
        .collect();
    visited
}

fn sitemap(record: &UrlRecord, bytes: &[u8]) -> (Vec<DatedLink>, Vec<DatedLink>) {
    let found = schedule::read_sitemap(bytes, &record.uri);
    (found.pages, found.sitemaps)
}

fn outlink(record: &UrlRecord, url: &str, kind: LinkKind) -> Option<NewUrl> {
    let uri = CrawlUri::parse(url).ok()?;
    let class = match kind {
        LinkKind::Feed => UrlClass::Feed,
        _ => UrlClass::Unknown,
    };
    Some(child(record, uri, class))
}

fn child(record: &UrlRecord, uri: CrawlUri, class: UrlClass) -> NewUrl {
    let site = Arc::clone(&record.site);
    NewUrl {
        class,
        via: Some(record.id),
        ..NewUrl::link(uri, &site, record.hops.saturating_add(1))
    }
}

/// 64-bit digest of texts in order.
fn digest<'a>(parts: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    hasher.digest()
}
