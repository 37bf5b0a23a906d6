//! What the gate lets pass, and when.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::client::HTML;
use super::server::{Server, Step, TestClock, http, uri};
use crate::fetch::{Clock, Config, Fetched, Gate, Purpose, Refused, Request, Turn};
use crate::outcome::VisitOutcome;
use crate::schedule::Site;
use crate::scope::{Reach, Refusal, Scope, Takedowns};

const PAGE: Purpose = Purpose::Crawl(Reach::Page {
    hops: 1,
    redirects: 0,
});
/// The usual delay of the tests, in milliseconds.
const DELAY_MS: i64 = 1_000;

/// Settings under which all hosts below `example` are a server.
fn config(server: &Server) -> Config {
    let address = server.address.to_string();
    let hosts = ["h.example", "other.example"];
    Config {
        hosts: hosts
            .map(|host| (host.to_owned(), address.clone().try_into().unwrap()))
            .into(),
        ..server.config()
    }
}

/// A gate with one site, `s`, of the host `h.example`.
struct Gated {
    server: Server,
    gate: Gate,
    clock: Arc<TestClock>,
    takedowns: Takedowns,
}

impl Gated {
    fn new(server: Server, exclude: &[&str]) -> Self {
        let clock = Arc::new(TestClock::default());
        let gate = Gate::new(config(&server), 300_000, clock.clone()).unwrap();
        let takedowns = Takedowns::default();
        gate.set_rules([site(exclude)], takedowns.clone());
        Self {
            server,
            gate,
            clock,
            takedowns,
        }
    }

    /// The turn of a lease of `h.example`.
    fn lease(&self) -> Turn {
        Turn::for_lease(&Arc::from("s"), &uri("http://h.example/"), DELAY_MS)
    }

    async fn fetch(
        &self,
        path: &str,
        purpose: Purpose,
        turn: &mut Turn,
    ) -> Result<Fetched, Refused> {
        let request = Request::page(uri(&format!("http://h.example{path}")));
        self.gate
            .fetch(&request, purpose, turn, &mut Vec::new())
            .await
    }

    /// Paths that the server was asked for.
    fn asked(&self) -> Vec<String> {
        let path = |head: &String| head.split(' ').nth(1).unwrap().to_owned();
        self.server.asked().iter().map(path).collect()
    }

    /// How long requests waited, in milliseconds.
    fn waits_ms(&self) -> Vec<i64> {
        self.clock.waits_ms.lock().unwrap().clone()
    }
}

fn site(exclude: &[&str]) -> (Arc<str>, Arc<Scope>) {
    let mut site = Site {
        name: "s".to_owned(),
        ..Site::default()
    };
    site.scope.hosts = vec!["h.example".to_owned()];
    site.scope.exclude = exclude.iter().map(|text| (*text).to_owned()).collect();
    (Arc::from("s"), Arc::new(Scope::new(&site).unwrap()))
}

/// A server whose robots.txt is this text, and that answers each other path with a script.
async fn server(
    robots_txt: &str,
    script: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
) -> Server {
    let robots_txt = http(
        "200 OK",
        "Content-Type: text/plain\r\n",
        robots_txt.as_bytes(),
    );
    Server::start(move |path| {
        vec![Step::Send(match path {
            "/robots.txt" => robots_txt.clone(),
            path => script(path),
        })]
    })
    .await
}

fn page(_: &str) -> Vec<u8> {
    http("200 OK", HTML, b"<p>text")
}

#[tokio::test]
async fn fetch_waits_after_robots_txt() {
    for (robots_txt, delay_ms) in [
        ("User-agent: *\nCrawl-delay: 3\n", 3_000),
        ("User-agent: *\nDisallow:\n", DELAY_MS),
    ] {
        let gated = Gated::new(server(robots_txt, page).await, &[]);
        let mut turn = gated.lease();
        for path in ["/1", "/2"] {
            let fetched = gated.fetch(path, PAGE, &mut turn).await.unwrap();
            assert_eq!(fetched.outcome, VisitOutcome::Page);
        }
        assert_eq!(gated.asked(), ["/robots.txt", "/1", "/2"]);
        assert_eq!(gated.waits_ms(), [delay_ms; 2], "{robots_txt}");
        assert_eq!(turn.requests(), 3);
    }
}

/// A person who looks at a page of a site is held to its scope and robots.txt, waits for the crawl, and the crawl for them.
#[tokio::test]
async fn person_at_site_obeys_scope_and_pace() {
    let robots_txt = "User-agent: *\nDisallow: /d\n";
    let gated = Gated::new(server(robots_txt, page).await, &["/secret/"]);
    let mut lease = gated.lease();
    gated.fetch("/1", PAGE, &mut lease).await.unwrap();
    let mut turn = Turn::for_person_at(&Arc::from("s"), DELAY_MS);
    let excluded = gated.fetch("/secret/1", PAGE, &mut turn).await;
    assert_eq!(excluded.unwrap_err(), Refused::Rules(Refusal::Excluded));
    let refused = gated.fetch("/d", PAGE, &mut turn).await;
    assert!(matches!(refused, Err(Refused::Robots(_))), "{refused:?}");
    let request = Request::page(uri("http://other.example/"));
    let mut body = Vec::new();
    let foreign = gated.gate.fetch(&request, PAGE, &mut turn, &mut body);
    let foreign = foreign.await.unwrap_err();
    assert_eq!(foreign, Refused::Rules(Refusal::Host));
    gated.fetch("/2", PAGE, &mut turn).await.unwrap();
    gated.fetch("/3", PAGE, &mut lease).await.unwrap();
    assert_eq!(gated.asked(), ["/robots.txt", "/1", "/2", "/3"]);
    assert_eq!(gated.waits_ms(), [DELAY_MS; 3]);
}

/// Where the host wants much time, the lease ends with what robots.txt says, and the next one, which the frontier paces, brings the page.
#[tokio::test]
async fn lease_ends_before_long_wait() {
    for (seconds, wait_ms) in [(60, 60_000), (86_400, 300_000)] {
        let robots_txt = format!("User-agent: *\nCrawl-delay: {seconds}\n");
        let gated = Gated::new(server(&robots_txt, page).await, &[]);
        let mut turn = gated.lease();
        let end = gated.fetch("/1", PAGE, &mut turn).await;
        assert_eq!(end, Err(Refused::Later(wait_ms)));
        assert_eq!(
            (turn.requests(), turn.crawl_delay_ms()),
            (1, Some(seconds * 1000))
        );
        gated.clock.set(wait_ms);
        gated.fetch("/1", PAGE, &mut gated.lease()).await.unwrap();
        assert_eq!(gated.asked(), ["/robots.txt", "/1"]);
        assert_eq!(gated.waits_ms(), [0; 0]);
    }
}

#[tokio::test]
async fn request_waits_where_lease_would_lose_something() {
    let robots_txt = "User-agent: *\nCrawl-delay: 60\n";
    // Pages of an article have come already.
    let gated = Gated::new(server(robots_txt, page).await, &[]);
    let mut turn = gated.lease();
    turn.stay();
    gated.fetch("/1", PAGE, &mut turn).await.unwrap();
    assert_eq!(gated.waits_ms(), [60_000]);

    // The site wants ten minutes, and a robots.txt that is not kept would be read before each page again.
    let server = server(robots_txt, page).await;
    let config = Config {
        robots_ttl_ms: 0,
        ..config(&server)
    };
    let clock = Arc::new(TestClock::default());
    let gate = Gate::new(config, 300_000, clock.clone()).unwrap();
    gate.set_rules([site(&[])], Takedowns::default());
    let page = uri("http://h.example/1");
    let mut turn = Turn::for_lease(&Arc::from("s"), &page, 600_000);
    let request = Request::page(page);
    let end = gate.fetch(&request, PAGE, &mut turn, &mut Vec::new()).await;
    assert_eq!(end.unwrap().outcome, VisitOutcome::Page);
    assert_eq!(*clock.waits_ms.lock().unwrap(), [600_000]);
}

#[tokio::test]
async fn fetch_first_request_of_lease_waits_for_nothing() {
    let gated = Gated::new(server("", page).await, &[]);
    gated.fetch("/1", PAGE, &mut gated.lease()).await.unwrap();
    // The frontier has given the next lease when its time had come, and counts the time by itself.
    gated.fetch("/2", PAGE, &mut gated.lease()).await.unwrap();
    assert_eq!(gated.waits_ms(), [DELAY_MS], "between robots.txt and /1");
}

/// The page sets a cookie each time and leads on through addresses that name it.
fn leads_through(path: &str) -> Vec<u8> {
    let step = path.as_bytes()[1];
    let to = match step {
        b'p' => 'a',
        b'c' => 'd',
        _ => char::from(step + 1),
    };
    let headers = format!("Set-Cookie: n={step}\r\nLocation: /{to}?to=%2Fpage\r\n");
    http("302 Found", &headers, b"")
}

#[tokio::test]
async fn hops_obey_robots_and_delay() {
    let robots_txt = "User-agent: *\nDisallow: /d\nCrawl-delay: 3\n";
    let gated = Gated::new(server(robots_txt, leads_through).await, &[]);
    let mut turn = gated.lease();
    let end = gated.fetch("/page", PAGE, &mut turn).await;
    assert!(
        matches!(&end, Err(Refused::Robots(rule)) if rule.line == 2),
        "{end:?}"
    );
    let passed = ["/a?to=%2Fpage", "/b?to=%2Fpage", "/c?to=%2Fpage"];
    assert_eq!(
        gated.asked(),
        [&["/robots.txt", "/page"][..], &passed].concat()
    );
    assert_eq!(gated.waits_ms(), [3_000; 4]);
    assert_eq!(turn.requests(), 5);
}

#[tokio::test]
async fn hops_obey_scope_and_takedowns() {
    let gated = Gated::new(server("", leads_through).await, &["/b"]);
    let end = gated.fetch("/page", PAGE, &mut gated.lease()).await;
    assert_eq!(end, Err(Refused::OnTheWay(Refusal::Excluded)));
    let taken_down = uri("http://h.example/a?to=%2Fpage");
    gated.takedowns.add([taken_down.to_string()]);
    let end = gated.fetch("/page", PAGE, &mut gated.lease()).await;
    assert_eq!(end, Err(Refused::OnTheWay(Refusal::TakenDown)));
    let asked = gated.asked();
    assert_eq!(asked, ["/robots.txt", "/page", "/a?to=%2Fpage", "/page"]);
}

#[tokio::test]
async fn fetch_refuses_without_request() {
    let gated = Gated::new(server("", page).await, &["/secret/"]);
    let down = uri("http://h.example/down");
    gated.takedowns.add([down.to_string()]);
    let file = Purpose::Crawl(Reach::Attachment { redirects: 0 });
    for (path, purpose, refusal) in [
        ("/down", PAGE, Refusal::TakenDown),
        ("/down", Purpose::Probe, Refusal::TakenDown),
        ("/down", Purpose::Named, Refusal::TakenDown),
        ("/secret/1", PAGE, Refusal::Excluded),
        ("/secret/1.pdf", file, Refusal::Excluded),
        ("/c/2190/01/", PAGE, Refusal::Calendar),
    ] {
        let mut turn = gated.lease();
        let end = gated.fetch(path, purpose, &mut turn).await;
        assert_eq!(end, Err(Refused::Rules(refusal)), "{path} {purpose:?}");
        assert_eq!(turn.requests(), 0);
    }
    let request = Request::page(uri("http://other.example/"));
    let mut body = Vec::new();
    let end = gated
        .gate
        .fetch(&request, PAGE, &mut gated.lease(), &mut body)
        .await;
    assert_eq!(end, Err(Refused::Rules(Refusal::Host)));
    gated.gate.set_rules([], Takedowns::default());
    let end = gated.fetch("/", PAGE, &mut gated.lease()).await;
    assert_eq!(end, Err(Refused::Rules(Refusal::UnknownSite)));
    assert_eq!(gated.asked(), [""; 0]);
}

#[tokio::test]
async fn fetch_named_needs_no_robots_txt() {
    let robots_txt = "User-agent: *\nDisallow: /\n";
    let gated = Gated::new(server(robots_txt, page).await, &[]);
    let mut turn = Turn::for_person(DELAY_MS);
    let end = gated.fetch("/1", Purpose::Probe, &mut turn).await;
    assert!(matches!(end, Err(Refused::Robots(_))), "{end:?}");
    gated.fetch("/1", Purpose::Named, &mut turn).await.unwrap();
    assert_eq!(gated.asked(), ["/robots.txt", "/1"]);
}

#[tokio::test]
async fn person_waits_half_a_minute_at_most() {
    let robots_txt = "User-agent: *\nCrawl-delay: 12\n";
    let gated = Gated::new(server(robots_txt, page).await, &[]);
    let mut turn = Turn::for_person(DELAY_MS);
    for path in ["/1", "/2"] {
        gated.fetch(path, Purpose::Probe, &mut turn).await.unwrap();
    }
    let end = gated.fetch("/3", Purpose::Probe, &mut turn).await;
    assert_eq!(end, Err(Refused::Later(36_000)));
    assert_eq!(turn.crawl_delay_ms(), Some(12_000));
    assert_eq!(gated.waits_ms(), [12_000, 12_000]);
}

/// A server of two hosts: robots.txt of the one is another file of the other, which answers so.
async fn two_hosts(status: &'static str, headers: &'static str) -> Server {
    Server::start(move |path| {
        let to = "Location: http://other.example/its-robots.txt\r\n";
        vec![Step::Send(match path {
            "/robots.txt" => http("301 Moved", to, b""),
            "/its-robots.txt" => http(status, headers, b""),
            _ => page(path),
        })]
    })
    .await
}

/// The turn of a lease of `other.example`, and a page of it.
fn other_lease() -> (Turn, Request) {
    let start = uri("http://other.example/");
    let turn = Turn::for_lease(&Arc::from("s"), &start, DELAY_MS);
    (turn, Request::page(start))
}

#[tokio::test]
async fn turn_waits_for_requests_of_others() {
    let gated = Gated::new(two_hosts("200 OK", "").await, &[]);
    gated.fetch("/1", PAGE, &mut gated.lease()).await.unwrap();
    assert_eq!(gated.asked(), ["/robots.txt", "/its-robots.txt", "/1"]);
    // /1 waited for its own host only; other.example, which was asked meanwhile, has rested by now.
    assert_eq!(gated.waits_ms(), [DELAY_MS]);
    let (mut turn, request) = other_lease();
    let mut body = Vec::new();
    let named = gated
        .gate
        .fetch(&request, Purpose::Named, &mut turn, &mut body);
    named.await.unwrap();
    assert_eq!(gated.waits_ms(), [DELAY_MS]);
    // But it is asked in no other turn before it has rested again.
    let mut turn = Turn::for_person(DELAY_MS);
    let named = gated
        .gate
        .fetch(&request, Purpose::Named, &mut turn, &mut body);
    named.await.unwrap();
    assert_eq!(gated.waits_ms(), [DELAY_MS, DELAY_MS]);
}

#[tokio::test]
async fn lease_ends_where_host_asked_others_for_a_pause() {
    let busy = two_hosts("503 Busy", "Retry-After: 3600\r\n").await;
    let gated = Gated::new(busy, &[]);
    let end = gated.fetch("/1", PAGE, &mut gated.lease()).await;
    assert!(matches!(end, Err(Refused::RobotsAway(_))), "{end:?}");
    let (mut turn, request) = other_lease();
    let end = gated
        .gate
        .fetch(&request, Purpose::Named, &mut turn, &mut Vec::new())
        .await;
    assert_eq!(end, Err(Refused::Later(3_600_000)));
    assert_eq!((turn.requests(), gated.waits_ms()), (0, vec![]));
}

/// A server whose robots.txt is at another path.
async fn server_with_robots_at(path: &'static str) -> Server {
    Server::start(move |asked| {
        vec![Step::Send(match asked {
            "/robots.txt" => http("302 Found", &format!("Location: {path}\r\n"), b""),
            asked => page(asked),
        })]
    })
    .await
}

#[tokio::test]
async fn robots_txt_leads_to_nothing_excluded() {
    let server = server_with_robots_at("/secret/robots.txt").await;
    let gated = Gated::new(server, &["/secret/"]);
    let end = gated.fetch("/1", PAGE, &mut gated.lease()).await;
    assert!(matches!(end, Err(Refused::RobotsAway(_))), "{end:?}");
    assert_eq!(gated.asked(), ["/robots.txt"]);
}

/// From one port of a host to another, as from http to https: what excludes pages does not exclude the rules for them.
#[tokio::test]
async fn robots_txt_by_its_name_is_never_excluded() {
    let port = Arc::new(OnceLock::new());
    let known = Arc::clone(&port);
    let server = Server::start(move |path| {
        let to = format!("http://h.example:{}/robots.txt", known.get().unwrap());
        vec![Step::Send(match path {
            "/robots.txt" => http("301 Moved", &format!("Location: {to}\r\n"), b""),
            _ => page(path),
        })]
    })
    .await;
    port.set(server.address.port()).unwrap();
    let gated = Gated::new(server, &["*.txt"]);
    gated.fetch("/1", PAGE, &mut gated.lease()).await.unwrap();
    let asked = gated.asked();
    // Five redirects are followed, and more are no file at all.
    assert_eq!(asked[..6], ["/robots.txt"; 6]);
    assert_eq!(asked[6..], ["/1"]);
}

/// A clock during whose waits an operator takes a page down.
struct TakesDown {
    takedowns: Takedowns,
    waits: AtomicUsize,
}

impl Clock for TakesDown {
    fn now_ms(&self) -> i64 {
        i64::try_from(self.waits.load(Ordering::SeqCst)).unwrap() * DELAY_MS
    }

    fn sleep(&self, _: i64) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.waits.fetch_add(1, Ordering::SeqCst);
        self.takedowns.add([uri("http://h.example/1").to_string()]);
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn takedown_during_wait_counts() {
    let server = server("", page).await;
    let takedowns = Takedowns::default();
    let clock = Arc::new(TakesDown {
        takedowns: takedowns.clone(),
        waits: AtomicUsize::new(0),
    });
    let gate = Gate::new(config(&server), 300_000, clock).unwrap();
    gate.set_rules([site(&[])], takedowns);
    let page = uri("http://h.example/1");
    let mut turn = Turn::for_lease(&Arc::from("s"), &page, DELAY_MS);
    let request = Request::page(page);
    let end = gate.fetch(&request, PAGE, &mut turn, &mut Vec::new()).await;
    assert_eq!(end, Err(Refused::Rules(Refusal::TakenDown)));
    assert_eq!(server.asked().len(), 1, "robots.txt only");
}
