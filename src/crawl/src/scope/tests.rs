//! What belongs to a site, and the traps.

use super::*;

fn uri(text: &str) -> CrawlUri {
    CrawlUri::parse(text).unwrap()
}

/// A site of these hosts, with default rules.
pub(crate) fn site(name: &str, hosts: &[&str]) -> Site {
    let mut site = Site {
        name: name.to_owned(),
        ..Site::default()
    };
    site.scope.hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    site
}

/// 2027.
const NOW_MS: i64 = 1_800_000_000_000;

fn check(site: &Site, text: &str) -> Result<(), Refusal> {
    Scope::new(site).unwrap().check(&uri(text), 1, 0, NOW_MS)
}

#[test]
fn scope_host_forms() {
    let site = site("s", &["www.a.cn", "*.b.cn", "c.cn:8080"]);
    for good in [
        "http://www.a.cn/",
        "https://b.cn/",
        "http://x.y.b.cn/",
        "http://c.cn:8080/",
    ] {
        assert_eq!(check(&site, good), Ok(()), "{good}");
    }
    for bad in [
        "http://a.cn/",
        "http://xb.cn/",
        "http://b.cn.evil.com/",
        "http://c.cn/",
        "http://www.a.cn.evil.com/",
    ] {
        assert_eq!(check(&site, bad), Err(Refusal::Host), "{bad}");
    }
}

#[test]
fn scope_path_patterns() {
    let mut site = site("s", &["a.cn"]);
    site.scope.include = ["/news/", "/a/*/list", r"~^/\d{4}/"]
        .map(str::to_owned)
        .into();
    site.scope.exclude = ["/news/print/", "*.pdf"].map(str::to_owned).into();
    for good in [
        "http://a.cn/news/1",
        "http://a.cn/a/b/c/list",
        "http://a.cn/2026/x",
    ] {
        assert_eq!(check(&site, good), Ok(()), "{good}");
    }
    for (bad, why) in [
        ("http://a.cn/about", Refusal::NotIncluded),
        ("http://a.cn/a/list/x", Refusal::NotIncluded),
        ("http://a.cn/news/print/1", Refusal::Excluded),
        ("http://a.cn/news/1.pdf", Refusal::Excluded),
    ] {
        assert_eq!(check(&site, bad), Err(why), "{bad}");
    }
    let scope = Scope::new(&site).unwrap();
    assert_eq!(
        scope.check(&uri("http://a.cn/"), 0, 0, NOW_MS),
        Ok(()),
        "a seed needs no pattern"
    );
}

#[test]
fn scope_names_bad_pattern() {
    for (pattern, reason) in [("~[", "unclosed"), ("news", "begins with /")] {
        let mut site = site("cnpc", &["a.cn"]);
        site.scope.include = vec![pattern.to_owned()];
        let message = Scope::new(&site).unwrap_err().to_string();
        assert!(
            message.contains("cnpc") && message.contains(reason),
            "{message}"
        );
    }
}

#[test]
fn scope_recognises_trap_forms() {
    let mut site = site("s", &["a.cn"]);
    site.scope.max_url_bytes = 1_000;
    let deep = format!("http://a.cn/{}", "x1/y2/z3/".repeat(7));
    let long = format!("http://a.cn/{}", "x".repeat(1_500));
    let query = format!("http://a.cn/?q={}", "x".repeat(600));
    let segments: String = (0..21).map(|i| format!("s{i}/")).collect();
    let segments = format!("http://a.cn/{segments}");
    for (bad, why) in [
        (deep.as_str(), Refusal::PathSegments),
        (segments.as_str(), Refusal::PathSegments),
        (long.as_str(), Refusal::Length),
        (query.as_str(), Refusal::Query),
        ("http://a.cn/a/b/a/b/a/b/a/b", Refusal::RepeatedSegments),
        ("http://a.cn/?p=1&p=2&p=3&p=4", Refusal::Query),
        ("http://a.cn/cal/2087/03/", Refusal::Calendar),
        ("http://a.cn/cal/1873/12", Refusal::Calendar),
        ("http://a.cn/events?year=2190", Refusal::Calendar),
        ("http://a.cn/events?date=2190-01-01", Refusal::Calendar),
        (
            "http://a.cn/events?calendar_day=21900101",
            Refusal::Calendar,
        ),
    ] {
        assert_eq!(check(&site, bad), Err(why), "{bad}");
    }
    for good in [
        "http://a.cn/2026/11/03/c_1127.htm",
        "http://a.cn/news/news/news",
        "http://a.cn/article/2087.html",
        "http://a.cn/id/4087/",
        "http://a.cn/list?year=2024&page=3",
        "http://a.cn/?ids[]=1&ids[]=2&ids[]=3&ids[]=4",
        "http://a.cn/p/3000/2",
    ] {
        assert_eq!(check(&site, good), Ok(()), "{good}");
    }
}

#[test]
fn hops_and_redirects_are_bounded() {
    let scope = Scope::new(&site("s", &["a.cn"])).unwrap();
    let page = uri("http://a.cn/x");
    assert_eq!(scope.check(&page, 1000, 5, NOW_MS), Ok(()));
    assert_eq!(scope.check(&page, 1001, 0, NOW_MS), Err(Refusal::Hops));
    assert_eq!(scope.check(&page, 1, 6, NOW_MS), Err(Refusal::Redirects));
}

#[test]
fn scope_calendar_years_move() {
    const YEAR_MS: i64 = 31_557_600_000;
    let scope = Scope::new(&site("s", &["a.cn"])).unwrap();
    let at = |text: &str, years: i64| scope.check(&uri(text), 1, 0, NOW_MS + years * YEAR_MS);
    for (text, years, refused) in [
        ("http://a.cn/2036/03/1.html", 0, false),
        ("http://a.cn/2036/03/1.html", 9, false),
        ("http://a.cn/2037/12/1.html", 0, false),
        ("http://a.cn/2038/01/1.html", 0, true),
        ("http://a.cn/2038/01/1.html", 1, false),
        ("http://a.cn/events?date=2049-01-01", 12, false),
        ("http://a.cn/events?date=2049-01-01", 11, true),
        ("http://a.cn/1989/01/1.html", 12, true),
    ] {
        let is_refused = at(text, years) == Err(Refusal::Calendar);
        assert_eq!(is_refused, refused, "{text} after {years} years");
    }
}

#[test]
fn takedowns_clone_shares_set() {
    let (takedowns, page) = (Takedowns::default(), uri("http://a.cn/x"));
    let other = takedowns.clone();
    other.add([page.to_string()]);
    assert!(takedowns.contains(&page));
    takedowns.lift([page.as_str()]);
    assert!(!other.contains(&page));
    assert!(!other.replace([page.to_string()]));
    assert!(takedowns.replace([]), "one was lifted");
    assert!(!other.contains(&page));
}
