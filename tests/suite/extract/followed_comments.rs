//! Comments that a script loads: requested where the site has `comments = "follow"`, read into the document, and never at the page's
//! cost.

use serde_json::{Value, json};

use crate::support::folder::assert_has;
use crate::support::small_web::{Reply, SmallWeb, article};

/// A site that follows comments and has these articles, each with a script.
fn web(articles: &[(&str, &str)]) -> SmallWeb {
    let web = SmallWeb::new("");
    web.replace(
        "sites.d/a.toml",
        "[scope]\n",
        "[scope]\ncomments = \"follow\"\n",
    );
    set_articles(&web, articles);
    web
}

fn set_articles(web: &SmallWeb, articles: &[(&str, &str)]) {
    let addresses: Vec<String> = articles.iter().map(|(name, _)| address(name)).collect();
    web.seed(&addresses.iter().map(String::as_str).collect::<Vec<_>>());
    for (name, script) in articles {
        let page = article(&format!("{name}号井完钻"), "");
        let script = format!("<script>{script}</script></body>");
        web.set_page(&address(name), &page.replace("</body>", &script));
    }
}

fn address(name: &str) -> String {
    format!("a.test/{name}.html")
}

fn answer(value: &Value) -> Reply {
    Reply::page(&value.to_string())
}

/// Writer, text and whom it answers of each comment of an article.
fn comments(web: &SmallWeb, name: &str) -> Vec<(String, String, String)> {
    let documents = web.documents();
    let document = documents
        .iter()
        .find(|document| web.short(&document.url) == address(name));
    let document = document.unwrap_or_else(|| panic!("{name} is no document"));
    assert_has(&document.text, &["钻井队在山坡上连续工作"]);
    let comments = document.comments.iter();
    let field = |text: &Option<String>| text.clone().unwrap_or_default();
    comments
        .map(|c| (field(&c.author), c.text.clone(), field(&c.reply_to)))
        .collect()
}

#[test]
fn loaded_comments_join_document() {
    let web = web(&[(
        "1",
        "var state = {\"commentUrl\": \"\\/api\\/comments?id=1\"};",
    )]);
    let endpoint = "a.test/api/comments?id=1";
    let mut said = json!({ "code": 0, "data": { "comments": [
        { "id": 7, "content": "<p>岩心的照片<br>什么时候公布</p>", "user": { "nickname": "山里人" }, "createTime": 1_788_000_000,
          "replies": [{ "content": "下个月公布", "nickname": "老王", "createTime": 1_788_003_600 }] },
        { "id": 8, "content": "注意安全", "user": { "nickname": "小李" }, "createTime": 1_788_007_200, "likeCount": 3 },
    ] } });
    web.set(endpoint, answer(&said));
    web.crawl();
    let of = |who: &str, text: &str, to: &str| (who.to_owned(), text.to_owned(), to.to_owned());
    let mut wanted = vec![
        of("山里人", "岩心的照片\n什么时候公布", ""),
        of("老王", "下个月公布", "山里人"),
        of("小李", "注意安全", ""),
    ];
    assert_eq!(comments(&web, "1"), wanted);
    assert_eq!(web.asked(endpoint), 1);
    assert_eq!(web.total("comments:照片"), 1);
    let log = web.read("data/log/crawl.log");
    assert_has(&log, &["the comments of http://a.test"]);
    let document = &web.documents()[0].comments[2];
    assert_eq!(document.votes, Some(3));
    assert_eq!(
        document.published.as_deref(),
        Some("2026-08-29T20:40:00+08:00")
    );

    // The page says what it said; a reader has gone on.
    let more =
        json!({ "content": "压裂什么时候施工", "author": "新来的", "time": "2026-09-04 08:00" });
    let list = said["data"]["comments"].as_array_mut();
    list.expect("a list").push(more);
    web.set(endpoint, answer(&said));
    let counts = web.crawl();
    assert_eq!(counts["documents_changed"], 1, "{counts}");
    wanted.push(of("新来的", "压裂什么时候施工", ""));
    assert_eq!(comments(&web, "1"), wanted);
}

/// Comments that were read stay while their address fails, whatever becomes of the page.
#[test]
fn read_comments_outlast_failures() {
    let web = web(&[("1", "fetch('/api/comments?id=1')")]);
    let endpoint = "a.test/api/comments?id=1";
    let said = answer(&json!([{ "content": "好", "author": "他" }]));
    web.set(endpoint, said);
    web.crawl();
    let wanted = [("他".to_owned(), "好".to_owned(), String::new())];
    assert_eq!(comments(&web, "1"), wanted);

    web.set(endpoint, Reply::status(500));
    let counts = web.crawl();
    assert_eq!(web.asked(endpoint), 2);
    assert_eq!(counts["documents_changed"], 0, "{counts}");
    assert_eq!(comments(&web, "1"), wanted);
    let why = web.why(&address("1"));
    assert_has(
        &why.to_string(),
        &["comments of the page, http", "HTTP 500"],
    );

    let script = "<script>fetch('/api/comments?id=1')</script></body>";
    let page = article("1号井完钻", "").replace("</body>", script);
    let page = page.replace("运到县城的化验室", "运到省城的化验室");
    web.set_page(&address("1"), &page);
    let counts = web.crawl();
    assert_eq!(counts["documents_changed"], 1, "{counts}");
    assert_eq!(comments(&web, "1"), wanted);
    assert_has(&web.documents()[0].text, &["运到省城的化验室"]);

    // An answer without comments is believed.
    web.set(endpoint, Reply::page("[]"));
    web.crawl();
    assert_eq!(comments(&web, "1"), []);
}

#[test]
fn loaded_comments_need_setting() {
    let web = SmallWeb::new("");
    set_articles(&web, &[("1", "fetch('/api/comments?id=1')")]);
    web.crawl();
    assert_eq!(comments(&web, "1"), []);
    assert_eq!(web.asked("a.test/api/comments?id=1"), 0);
}

#[test]
fn failing_comments_leave_page() {
    let huge = format!(
        "[{}1]",
        "{\"content\":\"好\",\"author\":\"他\"},".repeat(60_000)
    );
    let cases = [
        ("broken", Reply::status(500), "HTTP 500"),
        ("absent", Reply::status(404), "HTTP 404"),
        ("page", Reply::page("<p>请登录</p>"), "is no JSON"),
        ("cut", Reply::page("{\"comments\": ["), "is no JSON"),
        ("empty", Reply::page(""), "is no JSON"),
        (
            "error",
            Reply::page("{\"code\": 403}"),
            "no list of comments",
        ),
        ("huge", Reply::page(&huge), "too-large"),
        (
            "moved",
            Reply::status(302).header("Location: /api/other"),
            "leads to",
        ),
        ("forbidden", Reply::page("[]"), "robots.txt line 2"),
    ];
    let scripts = cases.clone().map(|(name, ..)| {
        let script = format!("$.getJSON(\"/api/{name}/comments\", show)");
        (name, script)
    });
    let mut articles: Vec<(&str, &str)> = Vec::new();
    articles.extend(
        scripts
            .iter()
            .map(|(name, script)| (*name, script.as_str())),
    );
    articles.push(("abroad", "fetch('http://b.test/api/abroad/comments')"));
    let web = web(&articles);
    web.set(
        "a.test/robots.txt",
        Reply::page("User-agent: *\nDisallow: /api/forbidden/\n"),
    );
    for (name, reply, _) in &cases {
        web.set(&format!("a.test/api/{name}/comments"), reply.clone());
    }
    let first = web.crawl();
    assert_eq!(first["documents_new"], articles.len(), "{first}");
    let whys = cases.iter().map(|(name, _, why)| (*name, *why));
    for (name, wanted) in whys.chain([("abroad", "host")]) {
        assert_eq!(comments(&web, name), [], "{name}");
        let why = web.why(&address(name));
        assert_eq!(why["in_index"], true, "{name}: {why}");
        assert_has(&why.to_string(), &["comments of the page, http", wanted]);
    }
    assert_eq!(web.asked("a.test/api/forbidden/comments"), 0);
    assert_eq!(
        web.asked("a.test/api/other"),
        0,
        "a redirect is not followed"
    );

    // Once it answers, the comments come with the next visit of the page.
    web.set(
        "a.test/api/broken/comments",
        answer(&json!([{ "content": "好", "author": "他" }])),
    );
    web.crawl();
    assert_eq!(comments(&web, "broken").len(), 1);
}

#[test]
fn requests_for_comments_are_bounded() {
    let scripts: String = (1..9)
        .map(|n| format!("fetch('/api/{n}/comments');"))
        .collect();
    let web = web(&[("1", &scripts)]);
    for n in 1..9 {
        web.set(&format!("a.test/api/{n}/comments"), Reply::page("[]"));
    }
    web.crawl();
    let asked: usize = (1..9)
        .map(|n| web.asked(&format!("a.test/api/{n}/comments")))
        .sum();
    assert_eq!(asked, 2);
    assert_eq!(comments(&web, "1"), []);
}
