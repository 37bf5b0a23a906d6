//! The sample web is itself the ground truth of other tests, so it is tested hard.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::Read;
use std::sync::Arc;

use chrono::DateTime;
use taojin_uri::CrawlUri;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// The moment that the files are written for, and one some years later on which no month has its length.
const MOMENTS: [i64; 2] = [1_795_140_000_000, 1_900_000_000_000];
const PORT: u16 = 18_080;

fn sample() -> SampleWeb {
    SampleWeb::new(PORT, MOMENTS[0])
}

fn second_round() -> SampleWeb {
    let web = sample();
    web.advance();
    web
}

fn site<'a>(web: &'a SampleWeb, name: &str) -> &'a SampleSite {
    web.sites().iter().find(|site| site.name == name).unwrap()
}

/// The answer to a client that has an older one.
fn get_again(web: &SampleWeb, url: &str, old: &Response) -> Response {
    let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap();
    let mut head = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\n");
    for (condition, validator) in [
        ("If-None-Match", "etag"),
        ("If-Modified-Since", "last-modified"),
    ] {
        if let Some(value) = old.header(validator) {
            head.push_str(&format!("{condition}: {value}\r\n"));
        }
    }
    let request = Request {
        socket: 0,
        head: &head,
    };
    match web.respond(&request) {
        throttled if throttled.status == 429 => web.respond(&request),
        response => response,
    }
}

/// The page as a browser that is told the truth would read it.
fn decoded(response: &Response, charset: &str) -> String {
    let is_gbk = charset.starts_with("GBK");
    let encoding = if is_gbk {
        encoding_rs::GBK
    } else {
        encoding_rs::UTF_8
    };
    let (text, _, is_broken) = encoding.decode(response.bytes());
    assert!(!is_broken);
    text.into_owned()
}

/// URLs after `href="`, `<loc>`, `<link>` and `Sitemap:`.
fn links(base: &str, text: &str) -> Vec<url::Url> {
    let named = text
        .split_once("<base href=\"")
        .and_then(|(_, rest)| rest.split_once('"'));
    let base = url::Url::parse(named.map_or(base, |(base, _)| base)).unwrap();
    let mut out = Vec::new();
    for (open, close) in [
        (" href=\"", '"'),
        ("<A href=\"", '"'),
        ("<loc>", '<'),
        ("<link>", '<'),
        ("Sitemap: ", '\n'),
    ] {
        for piece in text.split(open).skip(1) {
            let (link, _) = piece.split_once(close).unwrap();
            out.extend(base.join(&link.replace("&amp;", "&")));
        }
    }
    out
}

/// Follows everything on the six hosts that no trap forbids; the URLs that answered 200 and those that they link to, without
/// sessions.
fn walk(web: &SampleWeb) -> (HashSet<String>, HashSet<String>) {
    let mut queue: VecDeque<String> = VecDeque::new();
    let (mut reached, mut linked) = (HashSet::new(), HashSet::new());
    for site in web.sites() {
        queue.push_back(web.url(site, &site.home));
        queue.push_back(web.url(site, "/robots.txt"));
    }
    let is_ours = |url: &str| {
        web.sites()
            .iter()
            .any(|site| url.starts_with(&web.url(site, "/")))
    };
    while let Some(url) = queue.pop_front() {
        let url = url
            .split_once("?sid=")
            .map_or(url.as_str(), |(clean, _)| clean);
        if !linked.insert(url.to_owned()) || !is_ours(url) || is_forbidden(url) {
            continue;
        }
        assert!(linked.len() < 5000, "the walk does not end");
        let response = web.get(url);
        if let Some(location) = response.header("location") {
            queue.extend(
                url::Url::parse(url)
                    .unwrap()
                    .join(location)
                    .map(String::from),
            );
        }
        if response.status != 200 {
            continue;
        }
        let mut bytes = response.bytes().to_vec();
        if url.ends_with(".gz") {
            bytes.clear();
            flate2::read::GzDecoder::new(response.bytes())
                .read_to_end(&mut bytes)
                .unwrap();
        }
        queue.extend(
            links(url, &String::from_utf8_lossy(&bytes))
                .into_iter()
                .map(String::from),
        );
        reached.insert(url.to_owned());
    }
    (reached, linked)
}

fn is_forbidden(url: &str) -> bool {
    let (authority, path) = url.trim_start_matches("http://").split_once('/').unwrap();
    let mut traps = TRAPS
        .iter()
        .filter(|trap| trap.matches(authority, &format!("/{path}")));
    traps.any(|trap| {
        matches!(
            trap.kind,
            TrapKind::Refused | TrapKind::Calendar | TrapKind::GrowingPath | TrapKind::Loop
        )
    })
}

#[test]
fn sample_web_leads_to_every_article_and_trap() {
    for now_ms in MOMENTS {
        let web = SampleWeb::new(PORT, now_ms);
        for _ in 0..2 {
            let (reached, linked) = walk(&web);
            for article in web.articles() {
                assert!(reached.contains(&article.url), "{}", article.url);
            }
            for trap in &TRAPS {
                let is_linked = linked.iter().any(|url| {
                    let target = url
                        .split_once("://")
                        .and_then(|(_, rest)| rest.split_once('/'));
                    target.is_some_and(|(host, path)| trap.matches(host, &format!("/{path}")))
                });
                assert!(is_linked, "nothing links to {trap:?}");
            }
            for host in [
                "192.168.1.10",
                "10.20.30.40",
                "169.254.169.254",
                "[fd00:ec2::254]",
            ] {
                assert!(
                    linked.iter().any(|url| url.contains(host)),
                    "nothing links to {host}"
                );
            }
            web.advance();
        }
    }
}

#[test]
fn pages_agree_with_the_table_of_articles() {
    for now_ms in MOMENTS {
        let web = SampleWeb::new(PORT, now_ms);
        for _ in 0..2 {
            for article in web.articles() {
                assert_eq!(
                    CrawlUri::parse(&article.url).unwrap().as_str(),
                    article.url,
                    "it is canonical"
                );
                let response = web.get(&article.url);
                assert_eq!(response.status, 200, "{}", article.url);
                let page = decoded(&response, &article.charset);
                for paragraph in &article.text {
                    assert_eq!(page.matches(paragraph).count(), 1, "{paragraph}");
                }
                let comments = article
                    .comments
                    .iter()
                    .flat_map(|comment| [&comment.author, &comment.text]);
                for part in comments.chain(&article.author).chain([&article.title]) {
                    assert!(page.contains(part), "{part} is not in {}", article.url);
                }
                let day = article.published.get(..10).unwrap();
                let (year, month_day) = day.split_once('-').unwrap();
                let (month, day_of_month) = month_day.split_once('-').unwrap();
                let short = |part: &str| part.trim_start_matches('0').to_owned();
                let shown = [
                    day.to_owned(),
                    day.replace('-', "/"),
                    format!("{year}年{month}月{day_of_month}日"),
                    format!("{year}年{}月{}日", short(month), short(day_of_month)),
                    format!("{year}-{}-{}", short(month), short(day_of_month)),
                ];
                assert!(
                    shown.iter().any(|day| page.contains(day)),
                    "{day} is not in {}",
                    article.url
                );
            }
            web.advance();
        }
    }
}

#[test]
fn articles_have_the_numbers_that_are_told() {
    let (first, second) = (sample().articles(), second_round().articles());
    assert_eq!(first.len(), ARTICLES);
    assert_eq!(second.len(), ARTICLES + NEW_ARTICLES);
    let known: HashMap<&str, &Article> = first
        .iter()
        .map(|article| (&*article.url, article))
        .collect();
    assert_eq!(known.len(), ARTICLES);
    let changed = second.iter().filter(|article| {
        known
            .get(&*article.url)
            .is_some_and(|old| old.text != article.text)
    });
    assert_eq!(changed.count(), CHANGED_ARTICLES);
    let titles: HashSet<&str> = second
        .iter()
        .filter(|article| article.reprint_of.is_none())
        .map(|article| &*article.title)
        .collect();
    let reprints: Vec<&Article> = second
        .iter()
        .filter(|article| article.reprint_of.is_some())
        .collect();
    assert_eq!((titles.len(), reprints.len()), (second.len() - 7, 7));
    for reprint in reprints {
        let original = known[reprint.reprint_of.as_deref().unwrap()];
        assert_eq!(
            (&original.title, &original.text, &original.source),
            (&reprint.title, &reprint.text, &reprint.source)
        );
        assert!(original.site != reprint.site && original.published < reprint.published);
    }
    for query in SHOWCASE {
        let fits = |article: &&Article| {
            query
                .split(' ')
                .all(|word| (article.text.concat() + &article.title).contains(word))
        };
        let hits = first.iter().filter(fits).count();
        assert!((6..90).contains(&hits), "{query}: {hits}");
    }
}

#[test]
fn dates_are_those_of_the_last_month() {
    for now_ms in MOMENTS {
        let web = SampleWeb::new(PORT, now_ms);
        web.advance();
        let published = |article: &Article| {
            let day_or_time = match article.published.len() {
                10 => format!("{}T00:00:00+08:00", article.published),
                _ => article.published.clone(),
            };
            DateTime::parse_from_rfc3339(&day_or_time)
                .unwrap()
                .timestamp_millis()
        };
        let ages: Vec<i64> = web
            .articles()
            .iter()
            .map(|article| now_ms - published(article))
            .collect();
        let (youngest, oldest) = (*ages.iter().min().unwrap(), *ages.iter().max().unwrap());
        assert!((0..86_400_000).contains(&youngest), "{youngest}");
        assert!((29..=33).contains(&(oldest / 86_400_000)), "{oldest}");
    }
    // Nothing is left of the days that the files are written for.
    let web = SampleWeb::new(PORT, MOMENTS[1]);
    let (reached, _) = walk(&web);
    for url in reached {
        let page = String::from_utf8_lossy(web.get(&url).bytes()).into_owned();
        for left in ["2026-1", "2026/1", "20261", "2026年1", " Nov ", " Oct "] {
            assert!(!page.contains(left), "{left} in {url}");
        }
    }
}

#[test]
fn unchanged_pages_answer_304_in_the_second_round() {
    let (before, after) = (sample(), second_round());
    let changed: Vec<String> = after
        .articles()
        .into_iter()
        .filter(|a| a.added.is_some())
        .map(|a| a.url)
        .collect();
    for article in before.articles() {
        let first = before.get(&article.url);
        let second = get_again(&after, &article.url, &first);
        if article.site == "petro-forum" {
            assert_eq!(
                first.header("etag"),
                None,
                "a forum page is made anew for each visitor"
            );
            assert_eq!(second.status, 200);
        } else {
            let status = if changed.contains(&article.url) {
                200
            } else {
                304
            };
            assert_eq!(second.status, status, "{}", article.url);
        }
    }
    for site in before.sites() {
        let settings = before.settings(site);
        assert_eq!(settings.check(), Ok(()), "{}", site.name);
        for url in settings.seeds.iter().chain(&settings.feeds) {
            let first = before.get(url);
            assert_eq!(first.status, 200, "{url}");
            assert_eq!(
                get_again(&after, url, &first).status,
                200,
                "{url} has something new"
            );
        }
    }
}

#[test]
fn charsets_are_declared_as_the_table_says() {
    let web = sample();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for article in web.articles() {
        let response = web.get(&article.url);
        let header = response.header("content-type").unwrap();
        let page = String::from_utf8_lossy(response.bytes()).to_ascii_lowercase();
        let (head, _) = page.split_once("<title>").unwrap();
        let declared = (
            header.contains("charset"),
            head.contains("charset=gb2312"),
            head.contains("utf-8"),
        );
        let expected = match &*article.charset {
            "UTF-8" => (true, false, declared.2),
            "GBK, declared in the page" | "UTF-8, declared as gb2312" => (false, true, false),
            "GBK, declared in the header" => (true, false, false),
            "GBK, declared nowhere" | "UTF-8, declared nowhere" => (false, false, false),
            "GBK, declared as UTF-8" => (false, false, true),
            other => panic!("{other}"),
        };
        assert_eq!(declared, expected, "{} {}", article.charset, article.url);
        *counts.entry(article.charset).or_default() += 1;
    }
    assert!(
        counts.len() == 7 && counts.values().all(|count| *count >= 3),
        "{counts:?}"
    );
}

#[test]
fn sessions_calendar_and_growing_path_never_end() {
    let web = sample();
    let forum = site(&web, "petro-forum");
    let home = web.url(forum, &forum.home);
    let page = decoded(&web.get(&home), "GBK");
    let sessions: Vec<_> = links(&home, &page)
        .into_iter()
        .filter(|url| url.query().is_some_and(|query| query.starts_with("sid=")))
        .collect();
    assert!(sessions.len() > 8);
    for link in sessions {
        let canonical = CrawlUri::parse(link.as_str()).unwrap();
        assert_eq!(canonical.as_str(), link.as_str().split_once('?').unwrap().0);
    }
    for (name, path, part, depth) in [
        ("pipeline-blog", "/calendar/2026/11/", "/calendar/", 40),
        ("energy-policy", "/topic/", "related/", 5),
    ] {
        let mut url = web.url(site(&web, name), path);
        let mut seen = HashSet::new();
        for _ in 0..depth {
            assert!(seen.insert(url.clone()), "{url} comes again");
            let response = web.get(&url);
            assert_eq!(response.status, 200, "{url}");
            let text = String::from_utf8_lossy(response.bytes()).into_owned();
            url = links(&url, &text)
                .into_iter()
                .map(String::from)
                .rfind(|link| link.contains(part) && !seen.contains(link))
                .unwrap();
        }
    }
    assert_eq!(
        web.get(&web.url(site(&web, "pipeline-blog"), "/calendar/x/"))
            .status,
        404
    );
    assert_eq!(web.get("http://127.0.0.1/status").status, 421);
}

async fn http_get(port: u16, host: &str, target: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let request =
        format!("GET {target} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    String::from_utf8_lossy(&response).into_owned()
}

#[tokio::test]
async fn server_answers_by_host_and_logs() {
    let socket = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = socket.local_addr().unwrap().port();
    let web = Arc::new(SampleWeb::new(port, MOMENTS[0]));
    let serving = tokio::spawn(serve(Arc::clone(&web), vec![socket]));
    let first = web.articles().remove(0).url;
    let (_, article) = first.split_once(&format!(":{port}")).unwrap();
    for (host, target, status) in [
        ("huadong-gas", "/article?id=600158", "429"),
        ("huadong-gas", "/article?id=600158", "200"),
        ("huadong-gas", "/robots.txt", "301"),
        ("bohai-energy", "/", "200"),
        ("bohai-energy", "/kantan/2019/0101/1001.html", "410"),
        ("bohai-energy", "/nothing", "404"),
        ("bohai-energy", &format!("{article}?print=1"), "200"),
        ("petro-forum", "/thread-1-1-1.html?sid=1", "404"),
        ("petro-forum", "/thread-1-1-1.html?sid=2", "404"),
        ("another", "/", "421"),
    ] {
        let response = http_get(port, &format!("{host}.localhost"), target).await;
        assert!(
            response.starts_with(&format!("HTTP/1.1 {status}")),
            "{target}: {response}"
        );
        assert!(
            status != "429" || response.contains("retry-after: 1"),
            "{response}"
        );
    }
    let triggered: Vec<TrapKind> = web
        .triggered_traps()
        .iter()
        .map(|(trap, _)| trap.kind)
        .collect();
    assert_eq!(triggered, [TrapKind::Refused, TrapKind::Session]);
    assert_eq!(web.log().total(), 10);
    assert_eq!(web.log().take().len(), 10);
    assert_eq!((web.log().total(), web.log().hits().len()), (10, 0));

    let packed = web.get(&web.url(site(&web, "huadong-gas"), "/data/archive"));
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(packed.bytes())
        .read_to_end(&mut unpacked)
        .unwrap();
    assert!(unpacked.len() > 500 * packed.bytes().len());

    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let request =
        format!("GET /data/history HTTP/1.1\r\nHost: huadong-gas.localhost:{port}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let (mut taken, mut buffer) = (0, vec![0; 1 << 16]);
    while taken < 5 << 20 {
        taken += stream.read(&mut buffer).await.unwrap();
    }
    assert!(web.log().endless_bytes() >= 5 << 20);
    serving.abort();
}
