use super::*;

/// Asserts that no hostile text of the fake documents reached the page as markup.
pub(super) fn assert_escaped(page: &Answer) {
    for raw in [
        "<script>alert",
        "<img src=x",
        "<b>乙",
        "<i>四",
        "</article>油价",
        "\"javascript:",
        "<low>",
        "<b>https",
    ] {
        assert!(!page.body.contains(raw), "{raw} in {}", page.body);
    }
    // Only our own script and style, by address; nothing inline that the policy would refuse.
    assert_eq!(page.body.matches("<script").count(), 1);
    page.assert_lacks(&["<style", " style=", " onclick="]);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
}

#[tokio::test]
async fn home_has_query_box() {
    let page = visit("/").await;
    assert_eq!(page.status, StatusCode::OK);
    page.assert_has(&[
        "role=\"search\"",
        "lang=\"zh-CN\"",
        "已收录 25 篇文档",
        "title=\"深海&#60;b&#62;\" href=\"/feeds/deep-sea.atom\"",
    ]);
    page.assert_has(&["sort=date\">深海&#60;b&#62;</a>"]);
    assert_escaped(&page);
}

#[tokio::test]
async fn hits_marked_and_escaped() {
    let page = visit("/?q=%E6%B2%B9%E4%BB%B7").await;
    assert_eq!(page.status, StatusCode::OK);
    assert_escaped(&page);
    page.assert_has(&["找到 25 条结果"]);
    assert_eq!(page.body.matches("<article>").count(), 10);
    page.assert_has(&[
        "今日<mark>油价</mark>上涨",
        "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;<mark>油价</mark>",
    ]);
    // The address that would run script is shown, but leads nowhere.
    assert_eq!(
        page.body
            .matches("rel=\"noopener noreferrer external\"")
            .count(),
        9
    );
    page.assert_has(&[
        "href=\"/doc/0000000000000001?q=%E6%B2%B9%E4%BB%B7\"",
        ">1,300<",
        "日期不详",
    ]);
}

#[tokio::test]
async fn hostile_query_stays_text() {
    let q = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E";
    for path in ["/", "/doc/0000000000000001", "/status", "/nope"] {
        for more in [
            "",
            "&site=%22%3E%3Cb%3E%E4%B9%99",
            "&sort=%22%3E%3Cb%3E%E4%B9%99",
            "&since=%22%3E%3Cb%3E%E4%B9%99",
        ] {
            let page = visit(&format!("{path}?q={q}{more}")).await;
            assert_escaped(&page);
            if path == "/" && more.is_empty() {
                page.assert_has(&["value=\"&#34;&#62;&#60;script&#62;"]);
            }
        }
    }
}

#[tokio::test]
async fn notes_in_readers_language() {
    let chinese = visit("/?q=noted").await;
    chinese.assert_has(&["“since:&#60;b&#62;”不是能识别的日期"]);
    assert_escaped(&chinese);
    let english = visit("/?q=noted&lang=en").await;
    english.assert_has(&["is not a date", "searched as text"]);
}

#[tokio::test]
async fn weaker_hits_and_offers() {
    let page = visit("/?q=weak").await;
    for part in [
        "没有文档包含全部检索词，最接近的是：",
        "共 40 篇文档",
        "match=any",
        "去掉引号：7 篇文档",
        "<ol class=\"hits\" start=\"1\">",
    ] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    page.assert_lacks(&["没有找到相关文档", "减少检索词"]);
    let answer = visit("/api/search?q=weak").await;
    let answer: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(
        (&answer["total"], &answer["weaker"]["total"]),
        (&0.into(), &40.into())
    );
    assert_eq!(answer["hits"], serde_json::json!([]));
    assert_eq!(answer["weaker"]["nearest"], true);
    assert_eq!(answer["weaker"]["hits"].as_array().unwrap().len(), 10);
    assert_eq!(answer["offers"][0]["without"], "quotes");
    let refused = visit("/api/search?q=a&match=some").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(
        visit("/?q=a&match=all&lang=en")
            .await
            .body
            .contains("name=\"match\" value=\"all\"")
    );
}

#[tokio::test]
async fn paging_turns_and_ends() {
    let first = visit("/?q=a&lang=en").await;
    first.assert_has(&["rel=\"next\" href=\"/?q=a&#38;offset=10&#38;lang=en\""]);
    first.assert_lacks(&["rel=\"prev\""]);
    let last = visit("/?q=a&offset=20").await;
    assert!(last.body.contains("rel=\"prev\"") && !last.body.contains("rel=\"next\""));
    last.assert_has(&["<ol class=\"hits\" start=\"21\">"]);
    let beyond = visit("/?q=a&offset=500").await;
    beyond.assert_has(&["这一页之后没有结果了"]);
    let nothing = visit("/?q=nothing&since=7d").await;
    nothing.assert_has(&["没有找到相关文档", "去掉筛选条件"]);
}

#[tokio::test]
async fn filters_stay_in_form() {
    let page = visit("/?q=a&site=%E7%94%B2%E7%AB%99&since=7d&sort=date&lang=en").await;
    page.assert_has(&[
        "<input type=\"hidden\" name=\"site\" value=\"甲站\">",
        "<input type=\"hidden\" name=\"since\" value=\"7d\">",
        "<input type=\"hidden\" name=\"lang\" value=\"en\">",
    ]);
    // Choosing the chosen site again takes it away, the other one is added.
    page.assert_has(&["href=\"/?q=a&#38;since=7d&#38;sort=date&#38;lang=en\" aria-current=\"true\"><span class=\"label\">甲站", "site=%E7%94%B2%E7%AB%99&#38;site=%3Cb%3E%E4%B9%99%3C%2Fb%3E"]);
    assert!(
        page.body
            .contains("href=\"/?q=a&#38;sort=date&#38;lang=en\">Clear filters")
            || page.body.contains("Clear filters")
    );
}

#[tokio::test]
async fn labels_follow_language() {
    let english = get_request("/?q=a", &[("accept-language", "en-GB")]);
    let page = ask(&app(), english).await;
    page.assert_has(&["25 results in", "<html lang=\"en\">"]);
    assert_eq!(
        page.header("vary")
            .split(", ")
            .filter(|v| *v == "accept-language")
            .count(),
        1
    );
    page.assert_has(&["href=\"/?q=a&#38;lang=zh\""]);
    let forced = visit("/?q=a&lang=en").await;
    forced.assert_has(&["25 results in"]);
}

#[tokio::test]
async fn document_page_shows_text() {
    let page = visit("/doc/0000000000000001?q=%E6%B2%B9%E4%BB%B7").await;
    assert_eq!(page.status, StatusCode::OK);
    assert_escaped(&page);
    page.assert_has(&["<h1><mark>油价</mark>第1号</h1>", "<p>第二段 &amp; <mark>油价</mark>。</p>", "<p class=\"picture\"><a href=\"https://img.example/p.jpg\" rel=\"noopener noreferrer external\">&lt;b&gt;井架"]);
    let at = |piece: &str| page.body.find(piece).unwrap();
    assert!(at("今日") < at("井架") && at("井架") < at("第二段"));
    // Fields above the text, files below it; an address that is no page's is no link.
    assert!(
        at(
            "<dt>发文字号</dt><dd><a href=\"/?q=%E5%8F%91%E6%96%87%E5%AD%97%E5%8F%B7%3A%22%E5%9B%BD%E5%8F%91%E3%80%942026%E3%80%9512%E5%8F%B7%22\">国发〔2026〕12号</a></dd>"
        ) < at("今日")
    );
    assert!(at("<dt>&#60;i&#62;机构</dt>") < at("今日"));
    assert!(at("<a href=\"https://oil.example/1.docx\"") > at("第二段"));
    assert!(!page.body.contains("alert(3)") && page.body.contains("<li>坏地址</li>"));
    // An address that leads elsewhere than to a page is no link, and the page itself loads no picture.
    page.assert_has(&["<p class=\"picture\">图片</p>"]);
    page.assert_lacks(&["<img"]);
    page.assert_has(&[
        "1 条评论",
        "&lt;/article&gt;<mark>油价</mark>太高",
        "2026-05-02 08:30",
        "href=\"/?q=%E6%B2%B9%E4%BB%B7\">← 返回结果",
    ]);
    let script = visit("/doc/0000000000000000").await;
    script.assert_lacks(&["阅读原文"]);
    for id in ["none", "%FF", "..%2F..%2Fetc%2Fpasswd"] {
        assert_eq!(
            visit(&format!("/doc/{id}")).await.status,
            StatusCode::NOT_FOUND
        );
    }
}

#[tokio::test]
async fn errors_are_pages() {
    for (path, status, text) in [
        ("/nope", 404, "没有这个页面"),
        ("/?q=a&since=never", 400, "“never”不是能识别的日期"),
        ("/?q=broken", 500, "已写入日志"),
    ] {
        let page = visit(path).await;
        assert_eq!(page.status.as_u16(), status, "{path}");
        assert!(
            page.body.contains(text) && !page.body.contains("secret"),
            "{path}"
        );
        assert_escaped(&page);
    }
}

#[tokio::test]
async fn refused_search_keeps_words() {
    let page = visit("/?q=%E6%B2%B9%E4%BB%B7&since=never&lang=en").await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    page.assert_has(&["value=\"油价\"", "since must be a day"]);
}

#[tokio::test]
async fn filters_alone_list_newest() {
    let page = visit("/?site=%E7%94%B2%E7%AB%99").await;
    assert_eq!(page.status, StatusCode::OK);
    page.assert_has(&["aria-current=\"true\">日期<"]);
}

#[tokio::test]
async fn status_page_for_operator() {
    let page = visit("/status").await;
    assert_eq!(page.status, StatusCode::OK);
    assert_escaped(&page);
    for part in [
        "运行中",
        "磁盘 &#60;不足&#62;",
        "slow.example",
        "9.4 秒",
        "甲站",
    ] {
        assert!(page.body.contains(part), "{part}");
    }
}

#[tokio::test]
async fn status_page_links_reviews() {
    let status = || {
        let mut status = fake_status()?;
        status.terms = Some(TermsStatus::default());
        status.sites[0].templates.used = 2;
        status.sites[0].templates.awaiting_fields = 1234;
        Ok(status)
    };
    let app = router(ServeState {
        status: Arc::new(status),
        ..state(Config::default())
    });
    let request = get_request("/status", &[]);
    let page = ask(&app, request).await.body;
    assert!(
        page.contains("href=\"/templates?site=%E7%94%B2%E7%AB%99\""),
        "{page}"
    );
    assert!(page.contains("href=\"/terms\""));
    assert!(page.contains("等待提取字段 1,234"), "{page}");
}

#[tokio::test]
async fn links_use_public_path() {
    let config = Config {
        public_url: "https://s.example/search/".to_owned(),
        ..Config::default()
    };
    let request = get_request("/?q=a", &[]);
    let page = ask(&router(state(config)), request).await;
    page.assert_has(&["href=\"/search/assets/taojin.css?v=", "action=\"/search/\""]);
    let outside =
        page.body.matches("href=\"/").count() - page.body.matches("href=\"/search/").count();
    assert_eq!(outside, 0);
}

#[tokio::test]
async fn assets_cached_forever() {
    for (path, kind) in [
        ("/assets/taojin.css", "text/css; charset=utf-8"),
        ("/assets/taojin.js", "text/javascript; charset=utf-8"),
        ("/assets/mark.svg", "image/svg+xml"),
    ] {
        let asset = get(path).await;
        assert_eq!(asset.header("content-type"), kind);
        assert!(asset.header("cache-control").contains("immutable"));
        // No address but the namespace of SVG.
        let outside = asset.body.replace("http://www.w3.org/2000/svg", "");
        assert!(!outside.contains("://"), "{path}");
    }
}

#[tokio::test]
async fn favicon_by_old_name() {
    let mark = get("/favicon.ico").await;
    assert_eq!(mark.status, StatusCode::OK);
    assert_eq!(mark.header("content-type"), "image/vnd.microsoft.icon");
    assert!(mark.header("cache-control").contains("max-age="));
    assert!(mark.body.starts_with("\0\0\u{1}\0\u{3}\0"));
}

#[test]
fn templates_always_escape() {
    for template in [
        include_str!("../pages/layout.html"),
        include_str!("../pages/searchbox.html"),
        include_str!("../pages/home.html"),
        include_str!("../pages/results.html"),
        include_str!("../pages/document.html"),
        include_str!("../pages/status.html"),
        include_str!("../pages/error.html"),
        include_str!("../pages/feed.html"),
        include_str!("../pages/help.html"),
        include_str!("../pages/login.html"),
        include_str!("../pages/no_token.html"),
    ] {
        assert!(
            !template.contains("|safe")
                && !template.contains("| safe")
                && !template.contains("escape")
        );
    }
}

#[tokio::test]
async fn status_page_translates_verdicts() {
    for (lang, word, sentence) in [
        ("zh", "失败", "所有应答都是 &#60;HTTP&#62; 503"),
        ("en", "Failed", "every answer was &#60;HTTP&#62; 503"),
    ] {
        let page = visit(&format!("/status?lang={lang}")).await;
        let cell = format!("<span class=\"level failed\">{word}</span>{sentence}</td>");
        assert!(page.body.contains(&cell), "{cell} in {}", page.body);
        page.assert_has(&["<a href=\"/sites/%E7%94%B2%E7%AB%99\" title=\"甲站\">甲站</a>"]);
        assert_escaped(&page);
    }
    let json = visit("/api/status").await;
    let json: serde_json::Value = serde_json::from_str(&json.body).unwrap();
    let verdict = &json["sites"][0]["verdict"];
    assert_eq!(
        (&verdict["level"], &verdict["left"]),
        (&"failed".into(), &0.into())
    );
}

#[tokio::test]
async fn results_name_corrections_and_outlets() {
    let page = get("/?q=meant&lang=en").await.body;
    assert!(
        page.contains("Nothing has “meant”; these have “&#60;b&#62;页岩气”."),
        "{page}"
    );
    assert!(page.contains("q=meant&#38;corrected=off"), "{page}");
    let page = get("/?q=co2&lang=en").await.body;
    assert!(
        page.contains("Also searched: co2: &#60;i&#62;二氧化碳"),
        "{page}"
    );
    assert!(page.contains("q=co2&#38;synonyms=off"), "{page}");
    let page = get("/?q=copied&lang=zh").await.body;
    assert!(
        page.contains("另有 5 篇转载：甲、&#60;b&#62;乙、丙及另外 2 家"),
        "{page}"
    );
    // A related term narrows the query, it does not replace it.
    assert!(
        page.contains("q=copied+%E6%B0%B4%E5%B9%B3%E4%BA%95"),
        "{page}"
    );
}

#[tokio::test]
async fn status_page_opens_with_health() {
    for (lang, sentence) in [
        (
            "zh",
            "需要留意：磁盘 &#60;不足&#62;；1 个站点抓取失败（甲站）。",
        ),
        (
            "en",
            "Needs a look: disk &#60;low&#62;; no page from 1 site (甲站).",
        ),
    ] {
        let page = visit(&format!("/status?lang={lang}")).await;
        let line = format!("<p class=\"health level failed\" role=\"status\">{sentence}</p>");
        page.assert_has(&[&line]);
    }
}

#[tokio::test]
async fn sites_page_lists_all() {
    let page = visit("/sites?lang=en").await;
    assert_eq!(page.status, StatusCode::OK);
    assert_escaped(&page);
    page.assert_has(&[
        "2 sites.",
        ">甲站</a>",
        "&#60;b&#62;乙&#60;/b&#62;",
        "1,300 documents",
    ]);
}

#[tokio::test]
async fn search_engine_described_for_browsers() {
    let page = visit("/").await;
    page.assert_has(&["type=\"application/opensearchdescription+xml\" title=\"淘金 Taojin\" href=\"/opensearch.xml\""]);
    let config = Config {
        public_url: "https://s.example/search/".to_owned(),
        ..Config::default()
    };
    let request = get_request("/opensearch.xml", &[]);
    let public = ask(&router(state(config)), request).await;
    let kind = "application/opensearchdescription+xml; charset=utf-8";
    assert_eq!(public.header("content-type"), kind);
    public.assert_has(&["template=\"https://s.example/search/?q={searchTerms}\""]);
    let request = get_request("/opensearch.xml", &[("host", "127.0.0.1:8080")]);
    let own = ask(&app(), request).await;
    own.assert_has(&["template=\"http://127.0.0.1:8080/?q={searchTerms}\""]);
}

#[tokio::test]
async fn results_filter_by_author() {
    let page = visit("/?q=a&lang=en").await;
    assert_escaped(&page);
    page.assert_has(&[
        "<h2 id=\"f-field1\">Author</h2>",
        "<span class=\"label\">李&#60;i&#62;四</span><span class=\"count\">1,200</span>",
        "href=\"/?q=a+author%3A%22%E7%8E%8B%E4%BA%94%22&#38;lang=en\"",
    ]);
    // Chosen again, it is taken out.
    let page = visit("/?q=a+author%3A%22%E7%8E%8B%E4%BA%94%22&lang=en").await;
    page.assert_has(&[
        "href=\"/?q=a&#38;lang=en\" aria-current=\"true\"><span class=\"label\">王五",
    ]);
}
