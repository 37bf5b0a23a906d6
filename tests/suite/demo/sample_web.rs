//! The sample web crawled by the real program, twice: every article found once, every trap avoided, and in the
//! second round little more than what is new.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use taojin_demo::{
    ARTICLES, Article, CHANGED_ARTICLES, Discovery, Hit, NEW_ARTICLES, SHOWCASE, SampleWeb, TRAPS,
    Web as _,
};
use taojin_extract::Document;

use crate::support::folder::{RunExt as _, assert_has, taojin_in};
use crate::support::world::{Home, Web};

/// The demo has to be done in a minute, in a build without optimization too.
const LIMIT: Duration = Duration::from_secs(60);
/// Decoded bytes after which a page is cut off.
const PAGE_BYTES: u64 = 4 << 20;
/// What may have been on its way when the page without end was cut off: the buffer of a receiver that is slow for a moment
/// may grow to 32 MB, that of the sender to 4. Whoever takes all of it takes 64.
const ON_ITS_WAY_BYTES: u64 = 48 << 20;
/// The article that is refused at first, with a `Retry-After` of a second.
const THROTTLED: &str = "/article?id=600158";
/// The sample web takes any load; the traps are about what is fetched, not how fast.
const FRONTIER: &str = "min_delay_ms = 0\nmax_delay_ms = 0\nconnections_per_host = 4\nconnections_per_ip = 16\nthrottle_backoff_ms = 200";

/// What went wrong, all of it, so that one run tells everything.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn check(&mut self, good: bool, what: impl FnOnce() -> String) {
        if !good {
            self.0.push(what());
        }
    }

    fn none(self, round: &str) {
        assert!(
            self.0.is_empty(),
            "{round}: {} faults\n{}",
            self.0.len(),
            self.0.join("\n")
        );
    }
}

struct Round {
    summary: serde_json::Value,
    hits: Vec<Hit>,
    documents: BTreeMap<String, Vec<Document>>,
}

fn crawl(home: &Home, web: &Web<SampleWeb>, extra: &[&str]) -> Round {
    web.server.log().take();
    let mut args = vec!["crawl", "--json"];
    for name in web.site_names() {
        args.extend(["--site", name]);
    }
    args.extend(extra);
    let started = Instant::now();
    let summary = home.json(&args);
    let took = started.elapsed();
    assert!(took < LIMIT, "the crawl took {took:?}");
    let mut documents: BTreeMap<String, Vec<Document>> = BTreeMap::new();
    for document in home.documents() {
        let found = documents.entry(document.url.clone()).or_default();
        found.push(document);
    }
    Round {
        summary,
        hits: web.server.log().hits(),
        documents,
    }
}

/// Every article is in the index once, with its title and day; nothing else is but what a trap may leave.
fn found_once(articles: &[Article], round: &Round, faults: &mut Faults) {
    for article in articles {
        let url = &article.url;
        let found = round.documents.get(url).map_or(&[][..], Vec::as_slice);
        faults.check(found.len() == 1, || {
            format!(
                "{} times in the index: {url} {:?} {}",
                found.len(),
                article.found_by,
                article.charset
            )
        });
        let Some(document) = found.first() else {
            continue;
        };
        faults.check(document.title.as_deref() == Some(&article.title), || {
            format!("{url}: title {:?}", document.title)
        });
        let day = article.published.get(..10);
        faults.check(
            document
                .published
                .as_deref()
                .and_then(|date| date.get(..10))
                == day,
            || format!("{url}: date {:?}", document.published),
        );
        if article.is_picture {
            faults.check(document.text == article.text.join("\n"), || {
                format!("{url}: the picture's text is {:?}", document.text)
            });
        }
    }
    for url in round.documents.keys() {
        let known = articles.iter().any(|article| article.url == *url);
        let rest = url.trim_start_matches("http://");
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let target = format!("/{path}");
        let from_trap = TRAPS
            .iter()
            .any(|trap| trap.is_indexable && trap.matches(authority, &target));
        faults.check(known || from_trap, || {
            format!("in the index, but not an article of the sample web: {url}")
        });
    }
}

/// Traps, strangers, politeness.
fn behaved(web: &Web<SampleWeb>, round: &Round, faults: &mut Faults) {
    for (trap, count) in web.server.triggered_traps() {
        faults.check(false, || format!("{trap:?}: {count} requests"));
    }
    for hit in round.hits.iter().filter(|hit| hit.status == 421) {
        faults.check(false, || {
            format!("asked for {}{}", hit.authority, hit.target)
        });
    }
}

/// Each host's robots.txt is asked for once, and before any page of it. It is known for a day, over restarts too.
fn asked_robots_first(web: &Web<SampleWeb>, round: &Round, faults: &mut Faults) {
    for site in web.server.sites() {
        let authority = web.server.authority(site);
        let hits: Vec<&Hit> = (round.hits.iter())
            .filter(|hit| hit.authority == authority)
            .collect();
        let robots = hits.iter().filter(|hit| hit.target == "/robots.txt");
        let robots = robots.count();
        faults.check(robots == 1, || {
            format!("robots.txt of {} asked for {robots} times", site.name)
        });
        let first = hits.iter().min_by_key(|hit| hit.started);
        let first = first.map(|hit| hit.target.as_str());
        faults.check(first == Some("/robots.txt"), || {
            format!("{}: {first:?} came before robots.txt", site.name)
        });
    }
}

/// The requests for the article's page, whatever session stood in its query.
fn requests_for<'a>(article: &Article, round: &'a Round) -> Vec<&'a Hit> {
    let alike = |hit: &&Hit| {
        let url = format!("http://{}{}", hit.authority, hit.target);
        let rest = url.strip_prefix(&article.url);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("?sid="))
    };
    round.hits.iter().filter(alike).collect()
}

fn first_round(web: &Web<SampleWeb>, round: &Round) {
    let mut faults = Faults::default();
    let articles = web.server.articles();
    found_once(&articles, round, &mut faults);
    asked_robots_first(web, round, &mut faults);
    for article in &articles {
        let hits = requests_for(article, round);
        let is_throttled = article.url.ends_with(THROTTLED);
        let expected = if is_throttled { 2 } else { 1 };
        faults.check(hits.len() == expected, || {
            format!("{} asked for {} times", article.url, hits.len())
        });
        if is_throttled {
            let pause = hits[hits.len() - 1].started - hits[0].ended;
            faults.check(pause >= Duration::from_secs(1), || {
                format!("Retry-After of a second, asked again after {pause:?}")
            });
        }
        if article.found_by == Some(Discovery::Redirects) {
            for alias in &article.aliases {
                let times = round.hits.iter().filter(|hit| hit.target == *alias).count();
                faults.check(times == 1, || format!("{alias} asked for {times} times"));
            }
        }
    }
    let bytes = web.server.log().endless_bytes();
    faults.check(
        (PAGE_BYTES..PAGE_BYTES + ON_ITS_WAY_BYTES).contains(&bytes),
        || format!("{bytes} bytes taken of the page without end"),
    );
    behaved(web, round, &mut faults);
    faults.none("first round");
}

fn second_round(web: &Web<SampleWeb>, round: &Round, before: &Round) {
    let mut faults = Faults::default();
    let articles = web.server.articles();
    found_once(&articles, round, &mut faults);
    for (key, wanted) in [
        ("documents_new", NEW_ARTICLES),
        ("documents_changed", CHANGED_ARTICLES),
        ("documents_deleted", 0),
    ] {
        let count = &round.summary[key];
        faults.check(*count == wanted, || format!("{key}: {count}"));
    }
    for article in &articles {
        let Some(added) = &article.added else {
            continue;
        };
        let has_it = |round: &Round| {
            let found = round.documents.get(&article.url);
            let found = found.and_then(|found| found.first());
            found.is_some_and(|document| document.text.contains(added))
        };
        faults.check(has_it(round) && !has_it(before), || {
            format!("{}: what was added is not in the index", article.url)
        });
    }
    // The forum's server knows no conditions; all others do.
    for article in articles
        .iter()
        .filter(|article| article.round == 1 && article.added.is_none())
        .filter(|article| article.site != "petro-forum")
    {
        for hit in requests_for(article, round) {
            faults.check(hit.status == 304, || {
                format!("{} fetched again: {}", article.url, hit.status)
            });
        }
    }
    let unchanged = round.hits.iter().filter(|hit| hit.status == 304).count();
    faults.check(unchanged * 2 > round.hits.len(), || {
        format!("{unchanged} of {} answers were 304", round.hits.len())
    });
    behaved(web, round, &mut faults);
    faults.none("second round");
}

#[test]
fn sample_web_crawled_twice() {
    let web = Web::sample();
    let home = Home::new(&web, FRONTIER);
    let first = crawl(&home, &web, &[]);
    first_round(&web, &first);
    web.server.advance();
    let second = crawl(&home, &web, &["--recheck"]);
    second_round(&web, &second, &first);
    congress_is_one_term(&home, &web.server.articles());
}

/// Figures 6 and 7 of Wang Du et al. 2018: with the lexicon of the field, a search for the congress finds what names it; without it, also what
/// has the three words apart.
fn congress_is_one_term(home: &Home, articles: &[Article]) {
    const CONGRESS: &str = "世界石油大会";
    let with = |fits: &dyn Fn(&str) -> bool| {
        let text = |article: &Article| format!("{}\n{}", article.title, article.text.join("\n"));
        let chosen = articles.iter().filter(|article| fits(&text(article)));
        let mut urls: Vec<String> = chosen.map(|article| article.url.clone()).collect();
        urls.sort();
        urls
    };
    let named = with(&|text| text.contains(CONGRESS));
    let words = with(&|text| {
        ["世界", "石油", "大会"]
            .iter()
            .all(|word| text.contains(word))
    });
    assert_eq!((named.len(), words.len()), (3, 6));
    assert_eq!(home.hits(CONGRESS), named, "with the lexicon");
    let best = &home.json(&["search", "--json", CONGRESS])["hits"][0]["title"];
    assert_has(&best.to_string(), &[CONGRESS]);
    home.configure("\n[analyze]\nlexicons = []\n");
    assert_eq!(home.hits(CONGRESS), words, "without a lexicon");
    // What has the name as it stands comes first also then.
    let first = home.json(&["search", "--json", "--limit", "3", CONGRESS]);
    let first = first["hits"].as_array().expect("hits").iter();
    let mut first: Vec<&str> = first.filter_map(|hit| hit["url"].as_str()).collect();
    first.sort_unstable();
    assert_eq!(first, named);
}

#[test]
fn demo_once_shows_rounds() {
    let started = Instant::now();
    let dir = tempfile::tempdir().expect("temporary directory");
    let mut demo = taojin_in(dir.path());
    demo.args(["demo", "--once"]).env("TMPDIR", dir.path());
    let said = demo.ran().good().out;
    let took = started.elapsed();
    assert!(took < LIMIT, "the demo took {took:?}");
    for number in [ARTICLES, NEW_ARTICLES, CHANGED_ARTICLES] {
        assert_has(&said, &[number.to_string()]);
    }
    for query in SHOWCASE {
        let below = said.split_once(&format!("'{query}'"));
        let hits = below.and_then(|(_, below)| below.lines().nth(1));
        let count = hits.and_then(|hits| hits.split(' ').next()?.parse().ok());
        assert!(count >= Some(3), "{query}: {hits:?}");
    }
}
