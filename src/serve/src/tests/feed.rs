use super::*;

/// Reads a feed as a feed reader does.
fn read(answer: &Answer) -> feed_rs::model::Feed {
    feed_rs::parser::parse(answer.body.as_bytes()).unwrap()
}

#[tokio::test]
async fn atom_and_json_agree() {
    for (path, kind) in [
        (
            "/feeds/deep-sea.atom",
            "application/atom+xml; charset=utf-8",
        ),
        (
            "/feeds/deep-sea.json",
            "application/feed+json; charset=utf-8",
        ),
    ] {
        let answer = get(path).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.header("content-type"), kind);
        let feed = read(&answer);
        assert_eq!(feed.title.unwrap().content, "深海<b> · 淘金");
        assert_eq!(feed.entries.len(), 25);
        let hostile = &feed.entries[0];
        assert_eq!(hostile.title.as_ref().unwrap().content, HOSTILE);
        assert_eq!(hostile.id, "urn:taojin:document:0000000000000000");
        // The address that would run script leads to our own text instead.
        assert!(
            hostile.links[0].href.ends_with("/doc/0000000000000000"),
            "{:?}",
            hostile.links
        );
        assert_eq!(hostile.authors[0].name.as_deref(), Some("李<i>四"));
        assert!(
            feed.entries[1].links[0]
                .href
                .starts_with("https://oil1.example/a?x=1&y=")
        );
        assert!(feed.entries[3].published.is_none());
        let whole = feed.entries[1].content.as_ref();
        assert_eq!(
            whole.and_then(|content| content.body.as_deref()),
            Some(WHOLE.trim())
        );
        let snippet = |entry: &feed_rs::model::Entry| {
            let content = entry.content.as_ref().and_then(|c| c.body.clone());
            content
                .or_else(|| entry.summary.as_ref().map(|s| s.content.clone()))
                .unwrap()
        };
        let snippet = snippet(hostile);
        assert!(
            snippet.contains("<mark>油价</mark>上涨。&lt;img"),
            "{snippet}"
        );
    }
}

#[tokio::test]
async fn search_is_feed() {
    let answer = get("/feed.atom?q=%E6%B2%B9%E4%BB%B7&site=a%26b").await;
    let feed = read(&answer);
    assert_eq!(feed.entries.len(), 25);
    let own = feed
        .links
        .iter()
        .find(|l| l.rel.as_deref() == Some("self"))
        .unwrap();
    assert!(
        own.href
            .ends_with("/feed.atom?q=%E6%B2%B9%E4%BB%B7&site=a%26b"),
        "{}",
        own.href
    );
    assert_eq!(read(&get("/feed.json").await).entries.len(), 25);
    assert_eq!(read(&get("/feed.atom?q=nothing").await).entries.len(), 0);
    get("/feed.json?limt=3").await.problem(400);
    get("/feed.atom?q=broken").await.problem(500);
}

#[tokio::test]
async fn feed_unchanged_is_304() {
    let first = get("/feeds/deep-sea.atom").await;
    let tag = first.header("etag").to_owned();
    let again = |tag: &str| get_request("/feeds/deep-sea.atom", &[("if-none-match", tag)]);
    let unchanged = ask(&app(), again(&format!("\"x\", W/{tag}"))).await;
    assert_eq!(
        (unchanged.status, unchanged.body.as_str()),
        (StatusCode::NOT_MODIFIED, "")
    );
    assert_eq!(ask(&app(), again("\"x\"")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn feed_unknown_topic() {
    for path in [
        "/feeds/none.atom",
        "/feeds/deep-sea",
        "/feeds/deep-sea.rss",
        "/feeds/.atom",
        "/feeds/%00.json",
        "/feeds/%FF.json",
    ] {
        get(path).await.problem(404);
    }
}

#[tokio::test]
async fn feed_urls_are_absolute() {
    let public = router(state(Config {
        public_url: "https://search.example/taojin/".to_owned(),
        ..Config::default()
    }));
    let request = |host: &str| get_request("/feeds/deep-sea.json", &[("host", host)]);
    let feed = ask(&public, request("10.0.0.1")).await.json();
    assert_eq!(
        feed["feed_url"],
        "https://search.example/taojin/feeds/deep-sea.json"
    );
    let feed = ask(&app(), request("10.0.0.1:8080")).await.json();
    assert_eq!(feed["feed_url"], "http://10.0.0.1:8080/feeds/deep-sea.json");
    // Any name may stand there where the network is let in, but only what is a name is written into a feed.
    let open = router(state(Config {
        listen: "192.0.2.1:8080".parse().unwrap(),
        ..Config::default()
    }));
    let feed = ask(&open, request("a\"><b>/x")).await.json();
    assert_eq!(
        feed["feed_url"],
        "http://192.0.2.1:8080/feeds/deep-sea.json"
    );
}

/// As somebody asks who says this.
async fn accepting(path: &str, headers: &[(&str, &str)]) -> Answer {
    ask(&app(), get_request(path, headers)).await
}

/// What clients of today send.
const BROWSER: &str =
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

#[tokio::test]
async fn feed_ignores_accept() {
    for headers in [
        &[][..],
        &[("accept", "*/*")],
        &[("accept", "")],
        &[(
            "accept",
            "application/atom+xml, application/rss+xml, */*;q=0.1",
        )],
        &[(
            "accept",
            "application/rss+xml,application/xml;q=0.9,text/html;q=0.8",
        )],
        &[(
            "accept",
            "text/html, application/feed+json, application/atom+xml",
        )],
        // A script or a frame of a page, not somebody who looks at it.
        &[("accept", BROWSER), ("sec-fetch-dest", "empty")],
    ] {
        for path in ["/feeds/deep-sea.atom", "/feed.atom?q=a"] {
            let answer = accepting(path, headers).await;
            let kind = answer.header("content-type");
            assert_eq!(kind, "application/atom+xml; charset=utf-8", "{headers:?}");
            assert!(answer.header("vary").contains("accept"), "{headers:?}");
            assert_eq!(read(&answer).entries.len(), 25);
        }
    }
    let json = accepting("/feeds/deep-sea.json", &[("accept", BROWSER)]).await;
    assert_eq!(
        json.header("content-type"),
        "application/feed+json; charset=utf-8"
    );
}

#[tokio::test]
async fn feed_page_for_browsers() {
    let host = ("host", "10.0.0.1:8080");
    let navigating = [("accept", BROWSER), ("sec-fetch-dest", "document"), host];
    for (path, own, json) in [
        (
            "/feeds/deep-sea.atom?lang=en",
            "http://10.0.0.1:8080/feeds/deep-sea.atom",
            "/feeds/deep-sea.json",
        ),
        (
            "/feed.atom?q=%E6%B2%B9%E4%BB%B7&lang=en",
            "http://10.0.0.1:8080/feed.atom?q=%E6%B2%B9%E4%BB%B7",
            "/feed.json?q=%E6%B2%B9%E4%BB%B7",
        ),
    ] {
        let page = accepting(path, &navigating).await;
        assert_eq!(
            page.header("content-type"),
            "text/html; charset=utf-8",
            "{path}"
        );
        assert!(page.header("vary").contains("accept, accept-language"));
        assert!(page.body.contains("feed reader"), "{path}");
        assert!(
            page.body.contains(&format!("value=\"{own}\"")),
            "{path}: {}",
            page.body
        );
        assert!(page.body.contains(&format!("href=\"{json}\"")), "{path}");
        assert_eq!(page.body.matches("<article>").count(), 25);
        // Nothing of a document is markup, and an address that would run script leads to our own text.
        page.assert_lacks(&["<script>alert", "<b>乙"]);
        assert!(
            !page.body.contains("\"javascript:") && page.body.contains("/doc/0000000000000000\"")
        );
        assert!(
            page.header("content-security-policy")
                .contains("default-src 'none'")
        );
    }
    let empty = accepting("/feed.atom?q=nothing", &[("accept", BROWSER)]).await;
    empty.assert_has(&["还没有文档"]);
    // A mistake is a mistake in both forms.
    accepting("/feed.atom?q=a&since=never", &[("accept", BROWSER)])
        .await
        .problem(400);
}
