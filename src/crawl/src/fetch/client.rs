//! Makes one request, for which the gate has given a [`Permit`]: passes the body to a [`Sink`] while it arrives, then returns a
//! [`Fetched`]. No redirect is followed, nothing is retried, and a body is never held whole.
//!
//! Some servers admit nobody who does not send back the cookies of a first response: the fetcher says when one more request with
//! them is worth it, and the gate, whose fetch keeps the [`Cookies`] meanwhile, decides about it as about any other.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{self, HeaderMap, HeaderValue};
use reqwest::{Client, ClientBuilder, Response};
use taojin_uri::CrawlUri;
use tokio::time::Instant;

use super::decode::{self, BodyLimits, Decoder};
use super::explain;
use super::gate::Permit;
use super::guard::{Guard, Refusal, Resolver};
use super::limits::Config;
use super::proxy::{ProxyAddress, ProxyProblem};
use super::request::{Fetched, Head, HeadContext, Request, Sink, Want, encoding, location};
use super::warc::{request_head, response_head};
use crate::outcome::{Failure, VisitOutcome};

/// What a page may be; browsers send much the same, and some servers answer 406 to less.
const ACCEPT: &str =
    "text/html,application/xhtml+xml,application/xml;q=0.9,application/rss+xml;q=0.9,*/*;q=0.5";

/// Large sites send 60 lines; 100, the client's own limit, has been seen in the wild.
const MAX_HEADER_LINES: usize = 256;

/// How long a connection waits for the next page of its host: a little over the longest crawl delay by default.
const POOL_IDLE: Duration = Duration::from_secs(40);

/// Politeness keeps it to one connection a host; who allows more to a host of their own wants them kept.
const POOL_PER_HOST: usize = 64;

/// Flow control of HTTP/2, bytes: bounds what a fast server pushes before we read it.
const H2_STREAM_WINDOW: u32 = 256 << 10;

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The proxy cannot be used.
    #[error(
        "fetch.proxy is not the address of a proxy: {0}; write http://HOST:PORT, https://…, socks5://… or socks5h://…"
    )]
    Proxy(#[from] ProxyProblem),
    /// A text of the configuration cannot stand in a header.
    #[error("fetch.{0} = {1:?} cannot be sent in a header: use printable ASCII on one line")]
    HeaderText(&'static str, String),
    /// The client could not be built.
    #[error("HTTP client: {0}")]
    Client(#[from] reqwest::Error),
}

impl Config {
    /// Checks that requests can be made with these settings.
    ///
    /// # Errors
    /// Names the setting that cannot be used.
    pub fn ensure_usable(&self) -> Result<(), FetchError> {
        Fetcher::new(self.clone()).map(drop)
    }
}

/// Fetches pages; cheap to share by reference, keeps connections for the next page of a host.
pub(super) struct Fetcher {
    client: Client,
    /// What is sent with every request.
    headers: HeaderMap,
    guard: Guard,
    resolver: Resolver,
    config: Config,
}

impl Fetcher {
    /// A fetcher with these settings.
    pub(super) fn new(config: Config) -> Result<Self, FetchError> {
        // an error says that another fetcher of this process was first
        let _ = rustls::crypto::ring::default_provider().install_default();
        let guard = Guard::new(&config.allow_addresses);
        let headers = headers(&config)?;
        let client = match builder(&config, &headers, &guard)?.build() {
            Ok(client) => client,
            Err(error) => {
                tracing::warn!(%error, "no CA certificates: https pages cannot be fetched");
                let builder = builder(&config, &headers, &guard)?;
                builder.tls_certs_only([]).build()?
            }
        };
        Ok(Self {
            client,
            headers,
            resolver: Resolver::new(&config, guard.clone()),
            guard,
            config,
        })
    }

    /// The settings.
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// Where a host is, by its name; none where nobody knows, or where a proxy asks for its name.
    pub(super) async fn locate(&self, uri: &CrawlUri) -> Option<IpAddr> {
        match self.config.proxy {
            Some(_) => None,
            None => self.resolver.first(uri.host()).await,
        }
    }

    /// Makes the one request that a permit is for; the body goes to `sink`. Never fails: every end is a [`VisitOutcome`].
    ///
    /// The permit is for the request's URL, or for an address that a redirect of it led to. With `can_hop`, a redirect that sets a
    /// cookie and leads back to the page, or to an address of its host that names the page, is not the end of the fetch: the second
    /// value is where the next request goes, and `cookies` has what it gives back.
    pub(super) async fn fetch(
        &self,
        permit: Permit,
        request: &Request,
        cookies: &mut Cookies,
        can_hop: bool,
        sink: &mut dyn Sink,
    ) -> (Fetched, Option<CrawlUri>) {
        let started = Instant::now();
        let (mut fetched, hop) = self
            .answer(&permit, request, cookies, can_hop, (sink, started))
            .await;
        fetched.elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        (fetched, hop)
    }

    async fn answer(
        &self,
        permit: &Permit,
        request: &Request,
        cookies: &mut Cookies,
        can_hop: bool,
        (sink, started): (&mut dyn Sink, Instant),
    ) -> (Fetched, Option<CrawlUri>) {
        let uri = permit.uri();
        if let Err(refusal) = self.guard.check_uri(uri) {
            return (refused(refusal), None);
        }
        let mut conditions = conditions(request);
        if let Some(given_back) = cookies.header() {
            conditions.insert(header::COOKIE, given_back);
        }
        let get = self.client.get(uri.as_str());
        let response = match get.headers(conditions.clone()).send().await {
            Ok(response) => response,
            Err(error) => {
                let mut fetched = Fetched::new(VisitOutcome::Unreachable);
                self.fail(&mut fetched, &error, false, request, started);
                return (fetched, None);
            }
        };
        // A first answer sets a cookie and leads to the page itself; it would do so for ever.
        let has_news = cookies.take(response.headers()) || *uri != request.uri;
        let is_redirect = response.status().is_redirection();
        let hop = location(response.headers(), uri);
        let hop =
            hop.filter(|to| is_redirect && has_news && can_hop && leads_back(to, &request.uri));
        let remote = response.remote_addr().map(|a| a.ip());
        // cannot differ from what the resolver let pass, unless a library between us and the socket changes
        if let (Some(address), None) = (remote, &self.config.proxy)
            && let Err(refusal) = self.guard.check(address)
        {
            return (refused(refusal), None);
        }
        if hop.is_none() && sink.wants_wire() {
            let headers = self.headers.iter().chain(&conditions);
            sink.heads(
                request_head(&request.uri, headers),
                response_head(&response),
            );
        }
        let asked = HeadContext {
            uri,
            agent: self.config.robots_token(),
            now_ms: permit.now_ms(),
            max_retry_after_ms: self.config.max_retry_after_ms,
        };
        let head = Head::read(response.status().as_u16(), response.headers(), &asked);
        let mut fetched = Fetched::of_head(head, request);
        fetched.remote = remote;
        if fetched.outcome == VisitOutcome::Page {
            self.body(request, response, sink, &mut fetched, started)
                .await;
        }
        (fetched, hop)
    }

    /// Notes an error of the client, before (`in_body` false) or after the header.
    fn fail(
        &self,
        fetched: &mut Fetched,
        error: &reqwest::Error,
        in_body: bool,
        request: &Request,
        started: Instant,
    ) {
        let failure = explain::failure(error, in_body);
        fetched.fail(failure);
        let elapsed = started.elapsed();
        fetched.detail = explain::of_error(error, failure, &request.uri, &self.config, elapsed);
    }

    async fn body(
        &self,
        request: &Request,
        mut response: Response,
        sink: &mut dyn Sink,
        fetched: &mut Fetched,
        started: Instant,
    ) {
        let limits = BodyLimits {
            max_bytes: request
                .max_body_bytes
                .or_else(|| request.want.max_file_bytes(&fetched.head))
                .unwrap_or(self.config.max_body_bytes),
            max_ratio: self.config.max_ratio,
        };
        // a sink for any type may be content with a beginning
        let declared = fetched.head.content_length;
        if request.want != Want::Any && declared.is_some_and(|l| l > limits.max_bytes) {
            return fetched.fail(Failure::TooLarge);
        }
        let Some(mut decoder) = Decoder::new(&encoding(response.headers()), limits) else {
            return fetched.fail(Failure::Decode);
        };
        sink.begin(&fetched.head);
        let wants_wire = sink.wants_wire();
        let end = loop {
            match response.chunk().await {
                Ok(Some(wire)) => {
                    fetched.wire_bytes += wire.len() as u64;
                    if wants_wire {
                        sink.wire(&wire);
                    }
                    let mut deliver = |bytes: &[u8]| sink.chunk(bytes).is_continue();
                    match decoder.feed(&wire, &mut deliver) {
                        Ok(true) if decoder.is_past_end() => break Ok(true),
                        Ok(true) => {}
                        end => break end,
                    }
                }
                Ok(None) => break decoder.finish(&mut |bytes| sink.chunk(bytes).is_continue()),
                Err(error) => {
                    self.fail(fetched, &error, true, request, started);
                    break Ok(false);
                }
            }
        };
        fetched.body_bytes = decoder.decoded_bytes();
        match end {
            Ok(whole) => fetched.whole = whole,
            Err(failure) => fetched.fail(failure),
        }
    }
}

/// Whether a redirect within the host leads to the page, or through an address that names it.
fn leads_back(to: &CrawlUri, page: &CrawlUri) -> bool {
    let path = page.path_and_query();
    let escaped = path.replace('/', "%2F");
    let names = |query: &str| path.len() > 1 && (query.contains(path) || query.contains(&escaped));
    to == page
        || (to.origin() == page.origin()
            && to
                .path_and_query()
                .split_once('?')
                .is_some_and(|(_, query)| names(query)))
}

fn refused(refusal: Refusal) -> Fetched {
    let mut fetched = Fetched::new(VisitOutcome::AddressRefused);
    fetched.fail(Failure::Address);
    fetched.detail = refusal.to_string();
    fetched
}

fn headers(config: &Config) -> Result<HeaderMap, FetchError> {
    let language = header_text("accept_language", &config.accept_language)?;
    let mut headers = HeaderMap::new();
    headers.insert(
        header::USER_AGENT,
        header_text("user_agent", &config.user_agent)?,
    );
    headers.insert(header::ACCEPT, HeaderValue::from_static(ACCEPT));
    headers.insert(
        header::ACCEPT_ENCODING,
        HeaderValue::from_static(decode::ACCEPT_ENCODING),
    );
    headers.insert(header::ACCEPT_LANGUAGE, language);
    Ok(headers)
}

fn conditions(request: &Request) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        (header::IF_NONE_MATCH, &request.etag),
        (header::IF_MODIFIED_SINCE, &request.last_modified),
    ] {
        let value = value
            .as_deref()
            .map(|v| HeaderValue::from_bytes(v.as_bytes()));
        if let Some(Ok(value)) = value {
            headers.insert(name, value);
        }
    }
    headers
}

fn builder(
    config: &Config,
    headers: &HeaderMap,
    guard: &Guard,
) -> Result<ClientBuilder, FetchError> {
    let mut builder = Client::builder()
        .default_headers(headers.clone())
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .dns_resolver(Resolver::new(config, guard.clone()))
        .connect_timeout(Duration::from_millis(config.connect_timeout_ms))
        .read_timeout(Duration::from_millis(config.idle_timeout_ms))
        .timeout(Duration::from_millis(config.whole_timeout_ms))
        .pool_idle_timeout(POOL_IDLE)
        .pool_max_idle_per_host(POOL_PER_HOST)
        .http1_max_headers(MAX_HEADER_LINES)
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http2_initial_stream_window_size(H2_STREAM_WINDOW)
        .no_proxy();
    if let Some(address) = &config.proxy {
        let proxy = ProxyAddress::parse(address)?;
        builder = builder.proxy(proxy.for_all_requests()?);
    }
    Ok(builder)
}

fn header_text(key: &'static str, text: &str) -> Result<HeaderValue, FetchError> {
    HeaderValue::from_str(text).map_err(|_| FetchError::HeaderText(key, text.to_owned()))
}

/// Cookies given back at most.
const MOST: usize = 32;
/// Bytes of one cookie, and of the header: browsers allow 4 KB each.
const MOST_BYTES: usize = 4 << 10;

/// The cookies that the answers of a fetch have set: name and value.
#[derive(Debug, Default)]
pub(super) struct Cookies {
    pairs: Vec<(String, String)>,
}

impl Cookies {
    /// Takes the cookies that an answer sets; whether any is new or has another value.
    pub(super) fn take(&mut self, headers: &HeaderMap) -> bool {
        let mut changed = false;
        for line in headers.get_all(header::SET_COOKIE) {
            let text = line.to_str().unwrap_or_default();
            let pair = text.split(';').next().unwrap_or_default();
            let Some((name, value)) = pair.split_once('=') else {
                continue;
            };
            let (name, value) = (name.trim(), value.trim());
            if name.is_empty() || pair.len() > MOST_BYTES {
                continue;
            }
            let room = self.pairs.len() < MOST;
            let known = self.pairs.iter_mut().find(|(known, _)| known == name);
            match known {
                Some((_, old)) if old == value => {}
                Some((_, old)) => {
                    value.clone_into(old);
                    changed = true;
                }
                None if room => {
                    self.pairs.push((name.to_owned(), value.to_owned()));
                    changed = true;
                }
                None => {}
            }
        }
        changed
    }

    /// The `Cookie` header, if there is any.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let pairs: Vec<String> = self.pairs.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let text = pairs.join("; ");
        let fits = !text.is_empty() && text.len() <= MOST_BYTES;
        HeaderValue::from_str(&text).ok().filter(|_| fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(lines: &[&str]) -> HeaderMap {
        let values = lines.iter().map(|l| HeaderValue::from_str(l).unwrap());
        values.map(|v| (header::SET_COOKIE, v)).collect()
    }

    #[test]
    fn cookies_are_sent_back() {
        let mut cookies = Cookies::default();
        assert!(!cookies.take(&answer(&["", "=x", "no pair; Path=/"])));
        assert_eq!(cookies.header(), None);
        let first = answer(&["a=1; Path=/; HttpOnly", " b = x=y "]);
        assert!(cookies.take(&first) && !cookies.take(&first));
        assert!(cookies.take(&answer(&["a=2"])));
        assert_eq!(cookies.header().unwrap(), "a=2; b=x=y");
    }

    #[test]
    fn a_flood_is_bounded() {
        let mut cookies = Cookies::default();
        let many: Vec<String> = (0..100).map(|n| format!("n{n}=1")).collect();
        cookies.take(&answer(
            &many.iter().map(String::as_str).collect::<Vec<_>>(),
        ));
        assert_eq!(cookies.pairs.len(), MOST);
        let long = format!("long={}", "x".repeat(MOST_BYTES));
        assert!(!Cookies::default().take(&answer(&[&long])));
    }
}
