//! What takes a document out of the index and what does not: 410, 404 twice, noindex; never a server's failure.

use crate::small_web::{Reply, SmallWeb, article};

fn web(revisit: &str) -> SmallWeb {
    let web = SmallWeb::new(&format!("[revisit]\n{revisit}"));
    web.seed(&["a.test/1.html", "a.test/2.html"]);
    web.set("a.test/1.html", Reply::page(&article("第一口井完钻", "")));
    web.set("a.test/2.html", Reply::page(&article("第二口井开钻", "")));
    web.crawl();
    assert_eq!(web.indexed().len(), 2);
    web
}

fn is_indexed(web: &SmallWeb) -> bool {
    web.indexed().contains_key("a.test/1.html")
}

#[test]
fn gone_deletes_at_once() {
    let web = web("");
    web.set("a.test/1.html", Reply::status(410));
    assert_eq!(web.crawl()["documents_deleted"], 1);
    assert!(!is_indexed(&web));
    web.forget_log();
    web.crawl();
    assert_eq!(
        web.asked("a.test/1.html"),
        0,
        "a page that is gone was asked for"
    );
}

#[test]
fn one_404_deletes_nothing_and_the_second_does_when_it_is_late_enough() {
    let web = web("gone_after_ms = 1");
    web.set("a.test/1.html", Reply::status(404));
    web.forget_log();
    let deleted: u64 = (0..3)
        .map(|_| {
            web.crawl()["documents_deleted"]
                .as_u64()
                .unwrap_or_default()
        })
        .sum();
    assert_eq!(deleted, 1);
    assert_eq!(
        web.asked("a.test/1.html"),
        2,
        "one 404, and another to be sure"
    );
    assert!(!is_indexed(&web));
}

#[test]
fn two_404_within_a_day_delete_nothing() {
    let web = web("");
    web.set("a.test/1.html", Reply::status(404));
    for _ in 0..3 {
        web.crawl();
        assert!(is_indexed(&web));
    }
}

#[test]
fn no_failure_of_the_server_deletes_and_it_is_told() {
    for status in [500, 403] {
        let web = web("gone_after_ms = 1\nretry_ms = 1\nmax_retry_ms = 1");
        web.set("a.test/1.html", Reply::status(status));
        for _ in 0..2 {
            web.crawl();
            assert!(is_indexed(&web), "deleted by {status}");
        }
        let state = web.json(&["status", "--json"]);
        let error = state["sites"][0]["last_error"].as_str().unwrap_or_default();
        assert!(
            error.contains("/1.html") && error.contains(&status.to_string()),
            "{status}: {state}"
        );
    }
}

#[test]
fn a_page_that_asks_not_to_be_found_leaves_and_its_links_are_as_it_says() {
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
fn what_a_crawl_cost_is_counted() {
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
