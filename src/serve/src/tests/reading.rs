//! What readers see on the home page, beside hits, and below a document.

use super::pages::assert_escaped;
use super::*;

/// Text of a page between two pieces of it.
fn between<'p>(page: &'p Answer, from: &str, to: &str) -> &'p str {
    let after = page.body.split_once(from).expect(from).1;
    after.split_once(to).expect(to).0
}

#[tokio::test]
async fn home_shows_newest_and_sites() {
    let page = visit("/").await;
    let newest = between(&page, "<h2 id=\"newest\">最新文档</h2>", "</section>");
    assert_eq!(newest.matches("<li>").count(), 8, "{newest}");
    assert!(newest.contains("href=\"/doc/0000000000000001\">油价第1号</a>"));
    assert!(newest.contains(">2026-05-02 08:30 +08:00</time>"));
    let sites = between(&page, "<h2 id=\"sites\">", "</section>");
    assert!(sites.contains("href=\"/?site=%E7%94%B2%E7%AB%99\">甲站</a>"));
    // What the operator knows, since readers may see it here.
    assert!(sites.contains("href=\"/sites/%E7%94%B2%E7%AB%99\""));
    assert!(
        sites.contains("<span class=\"level failed\" title=\"所有应答都是"),
        "{sites}"
    );
    let topics = between(&page, "<h2 id=\"topics\">", "</section>");
    assert!(topics.contains("近 7 天 25 篇") && topics.contains("/feeds/deep-sea.atom"));
    page.assert_has(&["<a href=\"/help\">检索语法</a>"]);
    // The examples are searches that find something here.
    let examples = between(&page, "<dl class=\"hints\">", "</dl>");
    assert!(examples.contains("site:甲站") && examples.contains("date:2026-05"));
    assert!(!examples.contains("超深井"), "{examples}");
    assert_escaped(&page);
}

#[tokio::test]
async fn home_hides_operator_state() {
    let config = Config {
        operator_pages: false,
        ..Config::default()
    };
    let request = get_request("/?lang=en", &[]);
    let page = ask(&router(state(config)), request).await;
    let sites = between(&page, "<h2 id=\"sites\">", "</section>");
    assert!(sites.contains(">甲站</a>") && sites.contains("1,300 documents"));
    page.assert_lacks(&["/sites/", "class=\"level"]);
}

#[tokio::test]
async fn home_empty_index_advises() {
    struct Nothing;
    impl SearchSource for Nothing {
        fn search(&self, _: &SearchRequest) -> Result<SearchResults, SourceError> {
            Ok(SearchResults::default())
        }
        fn suggest(&self, _: &str, _: usize) -> Result<Vec<Suggestion>, SourceError> {
            Ok(Vec::new())
        }
        fn latest(&self, _: &SearchRequest) -> Result<Vec<RecentHit>, SourceError> {
            Ok(Vec::new())
        }
        fn trends(&self, _: &[SearchRequest], _: Option<DateUnit>) -> Result<Trends, SourceError> {
            Ok(Trends::default())
        }
        fn document(&self, _: &str) -> Result<Option<Document>, SourceError> {
            Ok(None)
        }
        fn related(&self, _: &str, _: usize) -> Result<Related, SourceError> {
            Ok(Related::default())
        }
        fn mark(&self, _: &str, _: &[&str]) -> Vec<Marked> {
            Vec::new()
        }
        fn utc_offset_minutes(&self) -> i32 {
            480
        }
        fn documents(&self) -> Option<u64> {
            Some(0)
        }
    }
    let home = async |status: Status| {
        let state = ServeState {
            source: Arc::new(Nothing),
            status: Arc::new(move || Ok(status.clone())),
            ..state(Config::default())
        };
        let request = get_request("/?lang=en", &[]);
        ask(&router(state), request).await.body
    };
    let bare = home(Status::default()).await;
    assert!(bare.contains("The index is still empty") && bare.contains("taojin site add https://"));
    assert!(!bare.contains("<dl class=\"hints\">"));
    let waiting = Status {
        sites: vec![SiteStatus::default()],
        ..Status::default()
    };
    let idle = home(waiting.clone()).await;
    assert!(!idle.contains("site add") && idle.contains("<code>taojin crawl</code>"));
    assert!(idle.contains("not crawled yet"));
    let running = home(Status {
        activity: Activity::Running,
        ..waiting
    });
    let running = running.await;
    assert!(!running.contains("<code>") && running.contains("The crawl is under way"));
}

#[tokio::test]
async fn filters_have_remove_links() {
    let query = "/?q=a+title%3Ab+-c&site=%E7%94%B2%E7%AB%99&since=2026-05-01&until=2026-05-09&sort=both&offset=10&lang=en";
    let page = visit(query).await;
    let chips = between(
        &page,
        "<ul class=\"chips active\" aria-label=\"Active filters\">",
        "</ul>",
    );
    let site = "site=%E7%94%B2%E7%AB%99";
    let (since, until) = ("since=2026-05-01", "until=2026-05-09");
    let q = "q=a+title%3Ab+-c";
    for (label, without) in [
        (
            "Site: 甲站",
            format!("{q}&{since}&{until}&sort=both&lang=en"),
        ),
        (
            "From: 2026-05-01",
            format!("{q}&{site}&{until}&sort=both&lang=en"),
        ),
        (
            "To: 2026-05-09",
            format!("{q}&{site}&{since}&sort=both&lang=en"),
        ),
        (
            "title:b",
            format!("q=a+-c&{site}&{since}&{until}&sort=both&lang=en"),
        ),
        (
            "-c",
            format!("q=a+title%3Ab&{site}&{since}&{until}&sort=both&lang=en"),
        ),
        (
            "Sort: Relevant and recent",
            format!("{q}&{site}&{since}&{until}&lang=en"),
        ),
    ] {
        let href = without.replace('&', "&#38;");
        let chip = format!("<a href=\"/?{href}\" aria-label=\"Remove “{label}”\"");
        assert!(chips.contains(&chip), "{chip} in {chips}");
    }
    assert_eq!(chips.matches("class=\"cross\"").count(), 6);
    let plain = visit("/?q=a").await;
    plain.assert_lacks(&["chips active"]);
    let period = visit("/?q=a&since=7d").await;
    period.assert_has(&["<span>时间：一周内</span>"]);
    let month = visit("/?q=a&since=2026-05&until=2026-05").await;
    month.assert_has(&["<span>时间：2026-05</span>"]);
}

#[tokio::test]
async fn hits_show_author_and_number() {
    let page = visit("/?q=a&offset=20").await;
    page.assert_has(&[
        "第 21–25 条",
        "来源 某报",
        "作者 李&#60;i&#62;四",
        ">文本快照</a>",
    ]);
    let english = visit("/?q=a&lang=en").await;
    english.assert_has(&["1–10 shown"]);
    assert!(!visit("/?q=nothing").await.body.contains("class=\"range\""));
}

#[tokio::test]
async fn thread_shows_posts_once() {
    let page = visit("/doc/thread").await;
    for post in ["怎么下套管", "下到四千八", "看压力曲线。", "谢谢。"] {
        assert_eq!(
            page.body.matches(post).count(),
            1,
            "{post} in {}",
            page.body
        );
    }
    page.assert_has(&["2 条回帖", "<strong>老井架</strong>"]);
    let first = between(&page, "<strong>老井架</strong>", "</li>");
    // The picture is in the post that it was put in, and the time names its foreign zone.
    assert!(first.contains("压力曲线图") && first.contains(">2026-05-03 06:20 +00:00</time>"));
    page.assert_has(&["<span class=\"time\">昨天 08:30</span>"]);
    assert_escaped(&page);
}

#[tokio::test]
async fn document_of_file_shows_its_parts() {
    let page = visit("/doc/0000000000000007?lang=zh").await.body;
    for part in [
        "PDF",
        "共 12 页 · 1.2 MB",
        "附件所在网页",
        "href=\"/doc/0000000000000001?lang=zh\">关于",
        "关于&#60;i&#62;油价",
        "id=\"part-0\">第 1 页</h2>",
        "id=\"part-1\">附表</h2>",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let first = page.find("今日油价上涨").unwrap();
    let second = page.find("第二段").unwrap();
    let heading = page.find(">附表</h2>").unwrap();
    assert!(first < heading && heading < second);
    let other = visit("/doc/0000000000000001?lang=zh").await.body;
    assert!(!other.contains("part-0"));
    // The page leads to what was read of its file.
    assert!(other.contains("href=\"/doc/0000000000000007?lang=zh\">文本快照</a>"));
}

#[tokio::test]
async fn document_links_and_citation() {
    let page = visit("/doc/0000000000000001?lang=en").await;
    page.assert_has(&[">2026-05-03 14:20 +08:00</time>"]);
    let reprints = between(
        &page,
        "<h2 id=\"reprints\">Also published by</h2>",
        "</section>",
    );
    assert_eq!(reprints.matches("<li>").count(), 2);
    assert!(reprints.contains("href=\"/doc/0000000000000000?lang=en\""));
    let similar = between(
        &page,
        "<h2 id=\"similar\">Related documents</h2>",
        "</section>",
    );
    assert!(similar.contains("油价第2号") && similar.contains(">2026-05-03 08:30 +08:00</time>"));
    let today = chrono::Utc::now() + chrono::Duration::hours(8);
    let read = today.format("%Y-%m-%d").to_string();
    let standard = between(&page, "id=\"cite-standard\">", "</span>");
    let yesterday = (today - chrono::Duration::days(1))
        .format("%Y-%m-%d")
        .to_string();
    let cited = |read: &str| {
        format!(
            "李&#60;i&#62;四. 油价第1号[EB/OL]. 某报, (2026-05-02)[{read}]. https://oil1.example/a?x=1&#38;y=&#34;1&#34;"
        )
    };
    assert!(
        [cited(&read), cited(&yesterday)].contains(&standard.to_owned()),
        "{standard}"
    );
    assert!(between(&page, "id=\"cite-plain\">", "</span>").contains("某报, 2026-05-02. https://"));
    assert_escaped(&page);
}

#[tokio::test]
async fn home_survives_failures() {
    let follows: Topics = Arc::new(|| {
        vec![Follow {
            name: "bad".to_owned(),
            query: "broken".to_owned(),
            ..Follow::default()
        }]
    });
    let state = ServeState {
        follows,
        ..state(Config::default())
    };
    let request = get_request("/", &[]);
    let page = ask(&router(state), request).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("role=\"search\"") && !page.body.contains("secret"));
    page.assert_lacks(&["索引还是空的"]);
}
