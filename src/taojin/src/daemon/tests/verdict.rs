//! The verdict on a cycle, over a table of what may have happened.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::daemon::report::verdict::{CycleLimits, SiteFacts, VisitCounts, verdict};
use crate::serve::Level;
use taojin_crawl::Problem;
use taojin_crawl::frontier::{Cause, Resting};

/// 2027-01-15 08:00 UTC.
const THEN_MS: i64 = 1_800_000_000_000;

fn problems(of: &[(&str, u64)]) -> BTreeMap<Problem, u64> {
    let problem = |word: &str| Problem::parse(word).unwrap();
    of.iter().map(|(word, n)| (problem(word), *n)).collect()
}

/// A cycle that is over and brought documents.
fn good() -> SiteFacts {
    SiteFacts {
        has_begun: true,
        is_over: true,
        visits: VisitCounts {
            total: 100,
            usable: 100,
            new_documents: 12,
            ..VisitCounts::default()
        },
        limits: CycleLimits {
            max_hops: 20,
            max_pages_per_cycle: None,
            pages_per_host_per_cycle: 10_000,
            max_urls_per_site: 2_000_000,
            pass_patience_ms: 60_000,
        },
        documents: 80,
        start: "a.example:8080".to_owned(),
        utc_offset_minutes: 480,
        ..SiteFacts::default()
    }
}

/// The same, changed so.
fn with(mut facts: SiteFacts, change: impl FnOnce(&mut SiteFacts)) -> SiteFacts {
    change(&mut facts);
    facts
}

/// A cycle in which one visit ended so.
fn bad(word: &str) -> SiteFacts {
    with(good(), |f| {
        f.visits.total = 1;
        f.visits.usable = 0;
        f.visits.new_documents = 0;
        f.documents = 0;
        f.visits.entry_problems = 1;
        f.visits.problems = problems(&[(word, 1)]);
    })
}

#[track_caller]
fn check(facts: SiteFacts, level: Level, en: &str, zh: &str, setting: Option<&str>) {
    let found = verdict(&facts);
    assert_eq!((found.level, found.text.as_str()), (level, en));
    assert_eq!(found.text_zh, zh);
    assert_eq!(found.setting.as_deref(), setting);
    assert_eq!(found.left, facts.unvisited.left);
}

#[test]
fn verdict_failed_names_reason() {
    for (facts, en, zh) in [
        (
            with(bad("HTTP 500"), |f| {
                f.next_try_ms = Some(THEN_MS);
            }),
            "every answer was HTTP 500; next try at 2027-01-15 16:00 +08:00",
            "所有应答都是 HTTP 500；2027-01-15 16:00 +08:00 再试",
        ),
        (
            with(bad("robots"), |f| {
                f.last_error =
                    Some("http://a.example:8080/: robots.txt line 3: Disallow: /".to_owned());
            }),
            "robots.txt forbids the start page (line 3: Disallow: /)",
            "robots.txt 禁止抓取起始页（line 3: Disallow: /）",
        ),
        (
            bad("robots.txt: HTTP 500"),
            "robots.txt answers HTTP 500, so the site is not asked",
            "robots.txt 返回 HTTP 500，因此不抓取该站",
        ),
        (
            bad("robots.txt: connection-refused"),
            "connection refused at a.example:8080",
            "连接被拒绝：a.example:8080",
        ),
        (
            bad("dns"),
            "no address is known for a.example:8080",
            "域名无法解析：a.example:8080",
        ),
        (
            bad("error page"),
            "error page, from a.example:8080",
            "错误页：a.example:8080",
        ),
        (
            with(bad("HTTP 500"), |f| {
                f.visits.total = 3;
                f.visits.problems = problems(&[("HTTP 500", 2), ("timeout", 1)]);
            }),
            "no page could be fetched: HTTP 500 × 2, no answer in time × 1",
            "没有取回网页：HTTP 500 × 2、应答超时 × 1",
        ),
        (
            with(bad("HTTP 500"), |f| {
                f.visits.total = 0;
                f.visits.entry_problems = 0;
                f.visits.problems = problems(&[]);
            }),
            "nothing could be fetched",
            "没有可抓取的网址",
        ),
    ] {
        check(facts, Level::Failed, en, zh, None);
    }
}

#[test]
fn verdict_names_forbidding_setting() {
    check(
        bad("guard"),
        Level::Failed,
        "fetch.allow_addresses does not allow the address of a.example:8080",
        "fetch.allow_addresses 不允许访问该地址：a.example:8080",
        Some("fetch.allow_addresses"),
    );
    let away = with(bad("HTTP 500"), |f| {
        f.visits.redirects = 1;
        f.visits.problems = problems(&[]);
        f.visits.entry_problems = 0;
    });
    check(
        away,
        Level::Failed,
        "the start page only leads to an address outside the site (scope.hosts)",
        "起始页只跳转到站点以外的网址（scope.hosts）",
        Some("scope.hosts"),
    );
}

#[test]
fn verdict_names_resting_host() {
    let rest = Some(Resting {
        host: Arc::from("a.example"),
        until_ms: THEN_MS,
        cause: Cause::RetryAfter,
    });
    let facts = with(good(), |f| {
        f.resting = rest.clone();
        f.unvisited.left = 5;
    });
    check(
        facts,
        Level::Partial,
        "12 new documents; 5 addresses left; a.example is not asked before 2027-01-15 16:00 +08:00 (Retry-After of the \
         server), longer than crawl.pass_patience_ms = 60000",
        "新文档 12 篇；剩余 5 个网址；a.example 在 2027-01-15 16:00 +08:00 之前不再请求（服务器的 Retry-After），\
         超过 crawl.pass_patience_ms = 60000",
        Some("crawl.pass_patience_ms"),
    );
    let nothing = with(good(), |f| {
        f.visits.total = 0;
        f.visits.usable = 0;
        f.resting = rest;
    });
    assert_eq!(verdict(&nothing).level, Level::Failed);
}

#[test]
fn verdict_ok_or_left() {
    let ok = Level::Ok;
    check(good(), ok, "12 new documents", "新文档 12 篇", None);
    let quiet = with(good(), |f| {
        f.visits.new_documents = 0;
    });
    check(quiet, ok, "no new documents", "新文档 0 篇", None);
    let held = |site: bool| {
        with(good(), |f| {
            f.unvisited.left = 340;
            f.unvisited.hit_site_limit = site;
            f.unvisited.hit_host_limit = true;
            f.limits.max_pages_per_cycle = Some(50);
        })
    };
    check(
        held(false),
        Level::Partial,
        "12 new documents; 340 addresses left for the next cycle (frontier.pages_per_host_per_cycle = 10000)",
        "新文档 12 篇；340 个网址留到下一轮（frontier.pages_per_host_per_cycle = 10000）",
        Some("frontier.pages_per_host_per_cycle"),
    );
    check(
        held(true),
        Level::Partial,
        "12 new documents; 340 addresses left for the next cycle (max_pages_per_cycle = 50)",
        "新文档 12 篇；340 个网址留到下一轮（max_pages_per_cycle = 50）",
        Some("max_pages_per_cycle"),
    );
    let unread = with(good(), |f| {
        f.unvisited.left = 7;
        f.unvisited.hit_reading_limit = true;
    });
    check(
        unread,
        Level::Partial,
        "12 new documents; 7 addresses left for the next cycle (minutes for reading attachments = 60)",
        "新文档 12 篇；7 个网址留到下一轮（附件读取分钟数 = 60）",
        None,
    );
    let kept_out = with(good(), |f| {
        f.unvisited.beyond_hops = 1;
        f.unvisited.out_of_scope = 7;
        f.visits.problems = problems(&[("robots", 4)]);
    });
    check(
        kept_out,
        ok,
        "12 new documents; 4 addresses forbidden by robots.txt; 1 address not followed (scope.max_hops = 20); 7 addresses \
         kept out (scope.include, scope.exclude)",
        "新文档 12 篇；4 个网址被 robots.txt 禁止；1 个网址没有继续（scope.max_hops = 20）；7 个网址不在范围内\
         （scope.include、scope.exclude）",
        Some("scope.max_hops"),
    );
    let without_documents = with(good(), |f| {
        f.documents = 0;
        f.visits.new_documents = 0;
    });
    check(
        without_documents,
        Level::Partial,
        "100 pages read, none is a document",
        "读取 100 个网页，没有一个是文档",
        None,
    );
    let blank = with(good(), |f| {
        (f.documents, f.visits.new_documents, f.visits.usable) = (0, 0, 1);
        f.visits.blank_pages = 1;
    });
    check(
        blank,
        Level::Partial,
        "1 page read, none is a document; the pages have neither text nor links: the site needs JavaScript, which is not run",
        "读取 1 个网页，没有一个是文档；网页没有正文也没有链接：该站需要 JavaScript，爬虫不执行脚本",
        None,
    );
}

#[test]
fn verdict_partial_on_failures() {
    let failing = |n| {
        with(good(), |f| {
            f.visits.problems = problems(&[("HTTP 500", n)]);
        })
    };
    for (n, level) in [(5, Level::Ok), (6, Level::Partial)] {
        let en = format!("12 new documents; {n} addresses failed (HTTP 500 × {n})");
        let zh = format!("新文档 12 篇；{n} 个网址失败（HTTP 500 × {n}）");
        check(failing(n), level, &en, &zh, None);
    }
    let no_entry = with(failing(1), |f| {
        f.visits.entry_problems = 1;
    });
    check(
        no_entry,
        Level::Partial,
        "12 new documents; 1 address failed (HTTP 500 × 1); a start page could not be fetched",
        "新文档 12 篇；1 个网址失败（HTTP 500 × 1）；有起始页没有取回",
        None,
    );
}

#[test]
fn verdict_open_cycle_waits() {
    let waiting = Level::Waiting;
    check(
        SiteFacts::default(),
        waiting,
        "not crawled yet",
        "尚未抓取",
        None,
    );
    let begun = with(good(), |f| {
        f.is_over = false;
        f.visits.total = 1;
        f.visits.usable = 0;
        f.visits.redirects = 1;
    });
    check(
        begun,
        waiting,
        "the first page is on its way",
        "正在抓取第一页",
        None,
    );
    let under_way = with(good(), |f| {
        f.is_over = false;
        f.unvisited.left = 9;
    });
    check(
        under_way,
        Level::Ok,
        "under way; 12 new documents; 9 addresses remaining",
        "进行中；新文档 12 篇；还有 9 个网址",
        None,
    );
}

#[test]
fn verdict_names_left_out() {
    let full = |site_full| {
        with(good(), |f| {
            f.unvisited.site_full = site_full;
            f.unvisited.beyond_hops = 1;
        })
    };
    check(
        full(48),
        Level::Partial,
        "12 new documents; 1 address not followed (scope.max_hops = 20); 48 addresses left out, the site is full \
         (frontier.max_urls_per_site = 2000000)",
        "新文档 12 篇；1 个网址没有继续（scope.max_hops = 20）；站点网址数已满，48 个新网址未收录\
         （frontier.max_urls_per_site = 2000000）",
        Some("frontier.max_urls_per_site"),
    );
    let counted = verdict(&full(10_000)).text;
    assert!(counted.contains("at least 10000 addresses"), "{counted}");
    let cut = with(good(), |f| {
        f.unvisited.sitemaps_cut = 2;
    });
    check(
        cut,
        Level::Ok,
        "12 new documents; 2 sitemaps read in part (fetch.max_sitemap_bytes, 50,000 entries, or damaged)",
        "新文档 12 篇；2 个站点地图只读取了一部分（fetch.max_sitemap_bytes、五万条上限或内容损坏）",
        Some("fetch.max_sitemap_bytes"),
    );
    let half = with(good(), |f| f.unvisited.lists_cut = 1);
    check(
        half,
        Level::Partial,
        "12 new documents; 1 list read in part: further pages have no address in the page, or did not come",
        "新文档 12 篇；1 个列表只读取了一部分：后面的页在网页中没有网址，或没有取回",
        None,
    );
}
