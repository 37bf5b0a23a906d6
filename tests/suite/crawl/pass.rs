//! A pass of `taojin crawl` with the configuration as it is shipped, against sites of one host: it lasts until nothing is
//! left to do, says how each site fared, and names the setting that held it.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use super::{add_site, news, of, shipped};
use crate::support::folder::{Process, assert_has};
use crate::support::http::{Reply, free_port, get, serve};
use crate::support::small_web::{SmallWeb, article};

#[test]
fn pass_finds_whole_host() {
    let folder = shipped();
    let seed = format!("http://127.0.0.1:{}/", serve(news(7)));
    folder.done(&["site", "add", &seed, "--name", "wells"]);
    let crawled = folder.run(&["crawl", "--json"]).good();
    let summary = crawled.json();
    assert_eq!(summary["documents_new"], 7, "{summary}");
    assert_eq!(summary["waiting"], 0, "{summary}");
    let site = of(&summary, "wells");
    for (key, value) in [("visits", 8), ("new", 7), ("left", 0)] {
        assert_eq!(site[key], value, "{key}: {summary}");
    }
    assert_eq!(site["verdict"], "ok", "{summary}");
    assert_eq!(folder.total("钻探记录"), 7);
    // A crawl that a person did not ask to see says nothing on stderr.
    assert_eq!(crawled.err, "");
    assert_has(&folder.done(&["status"]), &["ok: 7 new documents"]);
}

#[test]
fn extract_method_ratio_finds_text() {
    let folder = shipped();
    folder.replace("taojin.toml", "method = \"model\"", "method = \"ratio\"");
    // Names of classes say the contrary, and there is no headline; a menu, another text and a notice stand around it.
    let story = "储气库扩建工程日前通过验收，注气能力比去年提高三成，现场设备运行平稳。";
    let page = format!(
        "<title>西线管道</title><ul class=content><li><a href=/>要闻</a><li><a href=/b>炼化新闻中心</a></ul>\
         <table><tr><td class='sidebar related'><div class=comment>{story}</div>\
         <div class=comment>项目负责人介绍，今年更换阀门七台，检修人员增加到四班。</div></table>\
         <div class=article-body><p>版权所有，本网站</p></div>"
    );
    let answer = news(1);
    let port = serve(move |request| match &*request.path {
        "/1.html" => Reply::page(&page),
        _ => answer(request),
    });
    add_site(&folder, "wells", port, "");
    folder.done(&["crawl"]);
    let document = folder.json(&["export"]);
    assert_eq!(document["method"], "ratio", "{document}");
    let text = document["text"].as_str().expect("a text");
    assert_eq!(text.lines().count(), 2, "{text}");
    assert_eq!(text.lines().next(), Some(story));
    assert_eq!(folder.total("检修人员"), 1);
    assert_eq!(folder.total("版权所有"), 0);
}

#[test]
fn pass_names_limiting_setting() {
    // Each page of a chain links back and on; only the first of them may be followed.
    let chain = serve(|request| match &*request.path {
        "/" => Reply::page("<title>一</title><a href=\"/1.html\">第一篇报道在这里</a>"),
        "/1.html" => {
            let links = "<a href=\"/2.html\">下一篇</a><a href=\"/2.html\">再下一篇</a><a href=\"/3.html\">另一篇</a>";
            let page = article("第一篇报道", "");
            Reply::page(&page.replace("</body>", &format!("{links}</body>")))
        }
        _ => Reply::status(404),
    });
    let pages = "pages_per_host_per_cycle = 10000";
    let urls = "max_urls_per_site = 2000000";
    for (port, shipped_as, changed, more, setting, verdict, text) in [
        (
            serve(news(5)),
            pages,
            "pages_per_host_per_cycle = 3",
            "",
            "frontier.pages_per_host_per_cycle",
            "partial",
            "2 new documents; 3 addresses left for the next cycle (frontier.pages_per_host_per_cycle = 3)",
        ),
        (
            serve(news(5)),
            urls,
            "max_urls_per_site = 3",
            "",
            "frontier.max_urls_per_site",
            "partial",
            "2 new documents; 3 addresses left out, the site is full (frontier.max_urls_per_site = 3)",
        ),
        (
            chain,
            urls,
            urls,
            "[scope]\nmax_hops = 1\n",
            "scope.max_hops",
            "ok",
            "1 new document; 2 addresses not followed (scope.max_hops = 1)",
        ),
    ] {
        let folder = shipped();
        folder.replace("taojin.toml", shipped_as, changed);
        add_site(&folder, "wells", port, more);
        let summary = folder.json(&["crawl", "--json"]);
        let site = of(&summary, "wells");
        for (key, value) in [("verdict", verdict), ("setting", setting), ("text", text)] {
            assert_eq!(site[key], value, "{summary}");
        }
        assert_has(&folder.done(&["status"]), &[text]);
        // The next cycle takes the rest of one, a larger limit lets the rest of the other in.
        if setting.ends_with("max_urls_per_site") {
            let last = format!("http://127.0.0.1:{port}/5.html");
            let why = folder.json(&["why", "--json", &last]).to_string();
            assert_has(&why, &["frontier.max_urls_per_site = 3"]);
            folder.replace("taojin.toml", changed, "max_urls_per_site = 100");
        }
        let next = folder.done(&["crawl", "--site", "wells"]);
        assert_has(&next, &["site wells: "]);
        if more.is_empty() {
            folder.done(&["crawl", "--site", "wells"]);
            assert_eq!(folder.total("钻探记录"), 5, "{setting}");
        }
    }
}

#[test]
fn pass_names_resting_host() {
    let web = SmallWeb::new("");
    web.seed(&["a.test/1.html", "a.test/2.html"]);
    for path in ["a.test/1.html", "a.test/2.html"] {
        web.set(path, Reply::status(429).header("Retry-After: 7200"));
    }
    let summary = web.json(&["crawl", "--json"]);
    let host = &summary["resting"][0];
    assert_eq!(host["host"], format!("a.test:{}", web.port), "{summary}");
    assert_eq!(host["cause"], "Retry-After of the server");
    let site = of(&summary, "a");
    assert_eq!(site["left"], 1, "{summary}");
    assert_eq!(site["verdict"], "partial", "{summary}");
    assert_eq!(site["setting"], "crawl.pass_patience_ms", "{summary}");
}

#[test]
fn daemon_logs_finished_cycle() {
    let port = free_port();
    let web = SmallWeb::new(&format!("[serve]\nlisten = \"127.0.0.1:{port}\"\n"));
    web.seed(&["a.test/1.html"]);
    web.set_article("a.test/1.html", "一篇报道");
    let mut daemon = Process::of(web.taojin(&["run"]).stderr(Stdio::piped()));
    let log = BufReader::new(daemon.0.stderr.take().expect("its log")).lines();
    let mut log = log.map_while(Result::ok);
    let line = log.find(|line| line.contains("cycle finished"));
    let line = line.expect("a finished cycle");
    assert_has(&line, &["1 new document", "pages=2", "seconds=", "ok"]);
    let (_, metrics) = get(port, "/metrics").expect("an answer");
    assert_has(
        &metrics,
        &["taojin_site_verdict{site=\"a\",level=\"ok\"} 1"],
    );
}

#[test]
fn list_read_in_part_is_said() {
    let items = |numbers: std::ops::Range<usize>| -> String {
        let item = |n| {
            format!(
                "<li><a href=\"#\" onclick=\"window.open('/n/{n}.html')\">第{n}号灌区春季检修工程公告</a></li>"
            )
        };
        numbers.map(item).collect()
    };
    let list = |numbers, pager: &str| {
        format!(
            "<title>公告</title><h1>公告</h1><ul>{}</ul><div>{pager}</div>",
            items(numbers)
        )
    };
    let web = SmallWeb::new("");
    for n in 0..6 {
        web.set_article(
            &format!("a.test/n/{n}.html"),
            &format!("第{n}号灌区春季检修工程公告"),
        );
    }
    // The script names the second page, and that shows no more.
    let call = |current| format!("<script>createPageHTML(2, {current}, 'index', 'html')</script>");
    web.set_page("a.test/", &list(0..3, &call(0)));
    web.set_page("a.test/index_1.html", &list(3..6, &call(1)));
    let summary = web.crawl();
    let site = of(&summary, "a");
    assert_eq!(
        (&site["new"], &site["verdict"]),
        (&6.into(), &"ok".into()),
        "{summary}"
    );
    // Nothing names it any more; that is said again although the list has not changed.
    web.set_page(
        "a.test/",
        &list(0..3, "共 2 页 <a href=\"javascript:go(2)\">下一页</a>"),
    );
    for _ in 0..2 {
        let summary = web.crawl();
        let site = of(&summary, "a");
        assert_eq!(site["verdict"], "partial", "{summary}");
        let text = site["text"].as_str().expect("a text");
        assert!(text.contains("1 list read in part"), "{text}");
    }
}

/// Records that a program hands out in groups: they name the next group, or the call of a script counts them.
#[test]
fn groups_of_records_are_followed() {
    let records = |numbers: std::ops::Range<usize>, next: &str| -> String {
        let record = |n| {
            format!(
                "<record><![CDATA[<li><a href='/n/{n}.html'>第{n}号灌区春季检修工程公告</a></li>]]></record>"
            )
        };
        let next = format!("<nextgroup><![CDATA[<a href=\"{next}\"></a>]]></nextgroup>");
        let records: String = numbers.map(record).collect();
        format!("<datastore>{next}<recordset>{records}</recordset></datastore>")
    };
    let list = |script: &str| {
        format!("<title>公告</title><h1>公告</h1><div>{script}</div><div>共 9 条</div>")
    };
    let web = SmallWeb::new("");
    for n in 0..9 {
        web.set_article(
            &format!("a.test/n/{n}.html"),
            &format!("第{n}号灌区春季检修工程公告"),
        );
    }
    let program = "/m/web/dataproxy.jsp";
    let first = records(0..3, &format!("{program}?page=1&unitid=7"));
    web.set_page(
        "a.test/",
        &list(&format!("<script type='text/xml'>{first}</script>")),
    );
    let second = records(3..6, "./dataproxy.jsp?page=2&unitid=7");
    web.set_page("a.test/m/web/dataproxy.jsp?page=1&unitid=7", &second);
    web.set_page(
        "a.test/m/web/dataproxy.jsp?page=2&unitid=7",
        &records(6..9, ""),
    );
    let summary = web.crawl();
    let site = of(&summary, "a");
    assert_eq!(
        (&site["new"], &site["verdict"]),
        (&9.into(), &"ok".into()),
        "{summary}"
    );

    let web = SmallWeb::new("");
    for n in 0..4 {
        web.set_article(
            &format!("a.test/n/{n}.html"),
            &format!("第{n}号灌区春季检修工程公告"),
        );
    }
    let call = format!(
        "<script>$('#7').jpage({{ totalRecord:4, proxyUrl:'{program}', perPage:1, groupSize:2, \
         ajaxParam:{{ unitid:'7', path:'/' }} }});</script>"
    );
    web.set_page("a.test/", &list(&call));
    let group = |first, last| {
        format!("a.test{program}?startrecord={first}&endrecord={last}&perpage=1&unitid=7&path=%2F")
    };
    web.set_page(
        &group(1, 2),
        &records(0..2, "./dataproxy.jsp?page=1&unitid=7"),
    );
    web.set_page(&group(3, 4), &records(2..4, ""));
    let summary = web.crawl();
    let site = of(&summary, "a");
    assert_eq!(
        (&site["new"], &site["verdict"]),
        (&4.into(), &"ok".into()),
        "{summary}"
    );
    // Who does not answer leaves the list read in part.
    web.set(&group(3, 4), Reply::status(404));
    web.set_page(
        "a.test/",
        &list(&call.replace("totalRecord:4", "totalRecord:6")),
    );
    let summary = web.crawl();
    assert_eq!(of(&summary, "a")["verdict"], "partial", "{summary}");
}

#[test]
fn feed_dates_page_without_day() {
    let web = SmallWeb::new("");
    let undated = |n| {
        article(&format!("第{n}号灌区春季检修工程公告"), "").replace("2026年09月03日 10:20", "")
    };
    for n in 0..2 {
        web.set_page(&format!("a.test/n/{n}.html"), &undated(n));
    }
    let item = |n, day| {
        let link = web.url(&format!("a.test/n/{n}.html"));
        format!("<item><title>x</title><link>{link}</link><pubDate>{day}</pubDate></item>")
    };
    let items = [
        item(0, "2026年6月3日"),
        item(1, "Wed, Jun 3 2026 18:15:00 +0000"),
    ]
    .concat();
    let feed = format!("<rss version=\"2.0\"><channel><title>t</title>{items}</channel></rss>");
    web.set_page("a.test/feed.xml", &feed);
    web.set_page("a.test/", "<title>公告</title><link rel=alternate type=application/rss+xml href=/feed.xml><p>公告</p>");
    web.crawl();
    let export = web.done(&["export"]);
    let mut days: Vec<_> = export
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a document"))
        .map(|document| {
            document["published"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    days.sort();
    assert_eq!(days, ["2026-06-03", "2026-06-04T02:15:00+08:00"]);
    let note = web.why("a.test/n/0.html")["note"].to_string();
    assert!(note.contains("/feed.xml says"), "{note}");
}
