//! What takes a document out of the index and what does not: 404 or 410 twice, noindex; never a server's failure, and never a
//! page that shows something else.

use crate::support::small_web::{Reply, SmallWeb, article};

fn web(revisit: &str) -> SmallWeb {
    let web = SmallWeb::new(&format!("[revisit]\n{revisit}"));
    web.seed(&["a.test/1.html", "a.test/2.html"]);
    web.set_article("a.test/1.html", "第一口井完钻");
    web.set_article("a.test/2.html", "第二口井开钻");
    web.crawl();
    assert_eq!(web.indexed().len(), 2);
    web
}

fn is_indexed(web: &SmallWeb) -> bool {
    web.indexed().contains_key("a.test/1.html")
}

#[test]
fn gone_twice_deletes_document() {
    for status in [410, 404] {
        let web = web("gone_after_ms = 1");
        web.set("a.test/1.html", Reply::status(status));
        web.forget_log();
        let deleted = |_| web.crawl()["documents_deleted"].as_u64();
        let deleted: Option<u64> = (0..3).map(deleted).sum();
        assert_eq!(deleted, Some(1), "{status}");
        // One answer, and another to be sure.
        assert_eq!(web.asked("a.test/1.html"), 2, "{status}");
        assert!(!is_indexed(&web));
        web.forget_log();
        web.crawl();
        assert_eq!(
            web.asked("a.test/1.html"),
            0,
            "asked for a page that is gone"
        );
    }
}

#[test]
fn noindex_deletes_nofollow_skips_links() {
    for (head, header, followed) in [
        ("<meta name=robots content=noindex>", "", true),
        (
            "<meta name=\"ROBOTS\" content=\"NOINDEX, NOFOLLOW\">",
            "",
            false,
        ),
        ("", "X-Robots-Tag: noindex", true),
        ("", "X-Robots-Tag: none", false),
        (
            "",
            "X-Robots-Tag: otherbot: nofollow\r\nX-Robots-Tag: taojin: noindex",
            true,
        ),
    ] {
        let web = web("");
        let linked = article("第一口井完钻", head)
            .replace("</body>", "<a href=/new.html>后续报道见这里</a></body>");
        let reply = Reply::page(&linked);
        let reply = if header.is_empty() {
            reply
        } else {
            reply.header(header)
        };
        web.set("a.test/1.html", reply);
        web.crawl();
        assert!(!is_indexed(&web), "{head}{header}");
        assert_eq!(web.asked("a.test/new.html") > 0, followed, "{head}{header}");
        assert!(web.indexed().contains_key("a.test/2.html"));
    }
}

#[test]
fn crawl_counts_wasted_visits() {
    let web = web("");
    let state = web.json(&["status", "--json"]);
    let site = &state["sites"][0];
    assert_eq!(site["cycle"]["new_documents"], 2, "{site}");
    assert_eq!(site["recall_estimate"], 1.0);
    assert!(
        site["mean_age_ms"]
            .as_i64()
            .is_some_and(|ms| (0..600_000).contains(&ms))
    );
    // Answered whole although nothing of the text is new: another tag for the same page.
    let same = article("第一口井完钻", "<meta name=build content=2>");
    web.set("a.test/1.html", Reply::page(&same));
    let again = web.crawl();
    assert_eq!(again["wasted"], 1, "{again}");
    assert_eq!(
        again["not_modified"], 2,
        "the seed and the other page: {again}"
    );
    assert_eq!(again["visits"], 3);
    assert_eq!(again["wasted_share"], 0.3333);
}

/// A notice that is judged an article, as long as one, with a day and a number of its own at each address.
fn notice(number: usize) -> Reply {
    let paragraphs: String = ["平台", "数据库", "网络", "存储", "账号", "短信"]
        .iter()
        .map(|part| {
            format!(
                "<p>为给用户带来更好的体验，{part}将于今晚进行升级维护，期间服务可能中断，请您合理安排时间，\
                 由此造成的不便敬请谅解，恢复时间另行通知，感谢一直以来的理解与支持。</p>"
            )
        })
        .collect();
    Reply::page(&format!(
        "<html><head><title>系统升级公告</title></head><body><h1>系统升级公告</h1><div>2026年11月20日 08:00</div>\
         <div class=\"content\">{paragraphs}<p>编号 {number}</p></div></body></html>"
    ))
}

const PAGES: [&str; 5] = [
    "a.test/1.html",
    "a.test/2.html",
    "a.test/3.html",
    "a.test/4.html",
    "a.test/5.html",
];

fn show_articles(web: &SmallWeb) {
    for (n, page) in PAGES.iter().enumerate() {
        web.set_article(page, &format!("第{n}口井的钻探记录"));
    }
}

/// Five articles that were read.
fn five(revisit: &str) -> SmallWeb {
    let web = SmallWeb::new(&format!(
        "[revisit]\nretry_ms = 1\nmax_retry_ms = 1\n{revisit}"
    ));
    web.seed(&PAGES);
    show_articles(&web);
    web.crawl();
    assert_eq!(web.indexed().len(), 5);
    web
}

fn unconfirmed(web: &SmallWeb) -> serde_json::Value {
    web.json(&["status", "--json"])["sites"][0]["unconfirmed"].clone()
}

fn texts(web: &SmallWeb) -> Vec<String> {
    let lines = web.done(&["export"]);
    let mut texts: Vec<String> = lines.lines().map(str::to_owned).collect();
    texts.sort();
    texts
}

#[test]
fn wall_keeps_documents() {
    let captcha = "<title>安全验证</title><p>您的访问过于频繁，请输入验证码后继续访问。</p>";
    let maintained =
        "<title>系统维护</title><h1>系统维护中</h1><p>系统正在升级，预计今晚22:00恢复。</p>";
    let walls: [&dyn Fn(usize) -> Reply; 5] = [
        &|_| Reply::page(captcha),
        &|_| Reply::page(maintained),
        &|_| Reply::page(""),
        &|_| Reply::status(302).header("Location: /login"),
        &notice,
    ];
    for wall in walls {
        let web = five("gone_after_ms = 1");
        let before = texts(&web);
        for (n, page) in PAGES.iter().enumerate() {
            web.set(page, wall(n));
        }
        web.set("a.test/login", notice(0));
        for _ in 0..3 {
            let pass = web.crawl();
            assert_eq!(pass["documents_deleted"], 0, "{pass}");
        }
        let name = wall(1).body;
        let now = texts(&web);
        assert_eq!(now, before, "{name}");
        assert_eq!(unconfirmed(&web), 5, "{name}");
        let why = web.why("a.test/1.html");
        assert!(
            why["in_index"] == true && why["confirmed_ms"].is_i64(),
            "{why}"
        );
        show_articles(&web);
        web.set("a.test/login", Reply::status(404));
        for _ in 0..3 {
            web.crawl();
        }
        assert_eq!(unconfirmed(&web), 0, "{name}");
        assert_eq!(texts(&web), before, "{name}");
    }
}

#[test]
fn wall_document_is_deleted() {
    let web = five("gone_after_ms = 1");
    let mut all = PAGES.to_vec();
    all.push("a.test/6.html");
    web.seed(&all);
    // Read before anything tells the wall from an article.
    web.set("a.test/6.html", notice(6));
    web.crawl();
    assert!(web.indexed().contains_key("a.test/6.html"));
    for (n, page) in PAGES.iter().enumerate() {
        web.set(page, notice(n));
    }
    for _ in 0..3 {
        web.crawl();
    }
    assert_eq!(web.indexed().into_keys().collect::<Vec<_>>(), PAGES);
    // A page that is found now is not taken for one either, and is read when the wall is gone.
    all.push("a.test/7.html");
    web.seed(&all);
    web.set("a.test/7.html", notice(7));
    web.crawl();
    assert_eq!(web.indexed().len(), 5);
    show_articles(&web);
    for n in [6, 7] {
        let address = format!("a.test/{n}.html");
        web.set_article(&address, &format!("第{n}口井的钻探记录"));
    }
    for _ in 0..3 {
        web.crawl();
    }
    assert_eq!(web.indexed().len(), 7);
}

#[test]
fn replaced_text_needs_confirmation() {
    let web = five("");
    web.set(PAGES[0], notice(1));
    for _ in 0..2 {
        assert_eq!(web.crawl()["documents_unconfirmed"], 1);
        assert_eq!(unconfirmed(&web), 1);
    }
    let web = five("gone_after_ms = 1");
    web.set(PAGES[0], notice(1));
    assert_eq!(web.crawl()["documents_changed"], 1);
    assert!(texts(&web).iter().any(|text| text.contains("系统升级公告")));
    assert_eq!(unconfirmed(&web), 0);
}

#[test]
fn redirect_moves_document_with_text() {
    let web = five("");
    web.set(PAGES[0], Reply::status(301).header("Location: /new/1.html"));
    web.set_article("a.test/new/1.html", "第0口井的钻探记录");
    web.set(PAGES[1], Reply::status(301).header("Location: /new/2.html"));
    web.set("a.test/new/2.html", notice(2));
    for _ in 0..2 {
        web.crawl();
    }
    let found: Vec<String> = web.indexed().into_keys().collect();
    assert_eq!(
        found[..4],
        [
            "a.test/2.html",
            "a.test/3.html",
            "a.test/4.html",
            "a.test/5.html"
        ]
    );
    assert!(found.contains(&"a.test/new/1.html".to_owned()), "{found:?}");
}
