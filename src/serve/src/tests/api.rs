use super::*;
use crate::api::answer::DOCUMENT_FIELDS;

#[tokio::test]
async fn search_returns_escaped_hits() {
    let answer = get("/api/search?q=%E6%B2%B9%E4%BB%B7&limit=3").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("content-type"), "application/json");
    let json = answer.json();
    assert_eq!(json["total"], 25);
    assert!(json["took_ms"].as_f64().unwrap() >= 0.0);
    let hits = json["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 3);
    let mut keys: Vec<&str> = hits[0]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        [
            "author",
            "duplicates",
            "group",
            "id",
            "meta",
            "published",
            "score",
            "site",
            "snippet",
            "source",
            "title",
            "url"
        ]
    );
    assert_eq!(hits[0]["title"], HOSTILE);
    assert_eq!(
        hits[0]["snippet"],
        "今日<mark>油价</mark>上涨。&lt;img src=x onerror=alert(1)&gt;\n\n第二段 &amp; <mark>油价</mark>。"
    );
}

#[tokio::test]
async fn search_reports_corrections() {
    let answer = get("/api/search?q=meant").await.json();
    assert_eq!(answer["searched_instead"], "<b>页岩气");
    let literal = get("/api/search?q=meant&corrected=off").await.json();
    assert!(literal.get("searched_instead").is_none() && literal["total"] == 25);
    let answer = get("/api/search?q=co2").await.json();
    assert_eq!(answer["synonyms"][0]["typed"], "co2");
    assert_eq!(answer["synonyms"][0]["also"][0], "<i>二氧化碳");
    let typed = get("/api/search?q=co2&synonyms=off").await.json();
    assert!(typed.get("synonyms").is_none());
    for name in ["synonyms", "corrected"] {
        let wrong = get(&format!("/api/search?q=co2&{name}=no")).await;
        assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
        assert!(wrong.body.contains(&format!("{name} must be on or off")));
    }
    let copied = get("/api/search?q=copied").await.json();
    assert_eq!(copied["hits"][0]["outlets"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn facets_on_request_only() {
    let facets = get("/api/search?q=x&facets=true").await.json()["facets"].clone();
    assert_eq!(facets["sites"][0]["documents"], 1_300);
    assert_eq!(facets["dates"]["unit"], "day");
    assert_eq!(facets["related"][0], "水平井");
    for quiet in ["/api/search?q=x", "/api/search?q=x&facets=false"] {
        let answer = get(quiet).await.json();
        assert!(answer.get("facets").is_none(), "{answer}");
    }
    for (bad, name) in [
        ("facets=1", "facets"),
        ("grouped=yes", "grouped"),
        ("half_life=0d", "half_life"),
        ("half_life=3", "half_life"),
        ("group=xyz", "group"),
        ("group=00000000000000FF", "group"),
    ] {
        let detail = get(&format!("/api/search?{bad}")).await.problem(400);
        assert!(detail.starts_with(name), "{detail}");
    }
}

#[tokio::test]
async fn suggest_takes_query_only() {
    let answer = get("/api/suggest?q=%E6%B2%B9").await.json();
    let all = answer["suggestions"].as_array().unwrap();
    assert_eq!(all.len(), 8);
    assert_eq!(all[0]["text"], "油0");
    assert_eq!(all[0]["kind"], "term");
    get("/api/suggest?q=x&limit=3").await.problem(400);
    get(&format!("/api/suggest?q={}", "x".repeat(257)))
        .await
        .problem(400);
}

#[tokio::test]
async fn odd_text_is_searched() {
    for q in [
        "",
        "%00",
        "%FF%FE",
        "%22%22%22",
        "-",
        "((((",
        "title:",
        "%F0%9F%98%80",
        "+++",
        "AND",
        "%C3%28",
    ] {
        assert_eq!(
            get(&format!("/api/search?q={q}")).await.status,
            StatusCode::OK,
            "{q}"
        );
    }
    assert_eq!(get("/api/search").await.status, StatusCode::OK);
}

#[tokio::test]
async fn search_limits_hold() {
    let full = "%E6%B2%B9".repeat(256);
    assert_eq!(
        get(&format!("/api/search?q={full}")).await.status,
        StatusCode::OK
    );
    let detail = get(&format!("/api/search?q={full}a")).await.problem(400);
    assert_eq!(detail, "q has 257 characters; 256 are allowed");
    for good in [
        "limit=1",
        "limit=100",
        "offset=0",
        "offset=9900",
        "limit=100&offset=9900",
    ] {
        assert_eq!(
            get(&format!("/api/search?q=a&{good}")).await.status,
            StatusCode::OK,
            "{good}"
        );
    }
    for bad in [
        "limit=0",
        "limit=101",
        "limit=",
        "limit=-1",
        "limit=%2B5",
        "limit=1.5",
        "limit=many",
        "offset=9901",
        "limit=99999999999999999999999",
        "sort=newest",
        "since=yesterday",
        "since=2026-13-01",
        "until=2026-02-30",
        "q=b",
        "limit=1&limit=2",
        "limt=5",
        "lang=zh",
    ] {
        get(&format!("/api/search?q=a&{bad}")).await.problem(400);
    }
    let distinct: String = (0..33).map(|i| format!("&site=s{i}")).collect();
    for many in [distinct, "&site=".repeat(33), "&site=a".repeat(33)] {
        assert_eq!(
            get(&format!("/api/search?q=a{many}")).await.problem(400),
            "at most 32 sites can be named"
        );
    }
}

#[tokio::test]
async fn problem_names_parameter() {
    let answer = get(&format!("/api/search?q=a&sort={}", "x".repeat(60))).await;
    let detail = answer.problem(400);
    assert_eq!(answer.json()["parameter"], "sort");
    assert_eq!(answer.json()["type"], "about:blank");
    assert_eq!(
        detail,
        format!(
            "sort must be relevance, date or both, not \"{}…\"",
            "x".repeat(40)
        )
    );
}

#[tokio::test]
async fn range_in_either_order() {
    let days = get("/api/search?q=a&since=2026-04-30&until=2026-05-01").await;
    let swapped = get("/api/search?q=a&since=2026-05-01&until=2026-04-30").await;
    assert_eq!(days.json()["total"], 25);
    assert_eq!(swapped.json()["total"], 25);
    let same_day = get("/api/search?q=a&since=2026-05-01&until=2026-05-01").await;
    assert_eq!(same_day.json()["total"], 25);
}

#[tokio::test]
async fn failures_hide_details() {
    let broken = get("/api/search?q=broken").await;
    assert!(!broken.problem(500).contains("secret"));
    get("/api/search?q=panic").await.problem(500);
    get("/api/docs/broken").await.problem(500);
    let mut state = state(Config::default());
    state.status = Arc::new(|| Err("/secret/store.db: locked".to_owned()));
    let status = get_request("/api/status", &[]);
    let unreadable = ask(&router(state), status).await;
    assert!(!unreadable.problem(500).contains("secret"));
}

#[tokio::test]
async fn slow_search_keeps_slot() {
    let (app, held) = held_app();
    let search = |q: &str| {
        let uri = format!("/api/search?q={q}");
        ask(&app, get_request(uri, &[]))
    };
    let (first, second) = tokio::join!(search("slow"), search("slow"));
    first.problem(503);
    assert_eq!(second.header("retry-after"), "2");
    // Both still run and hold both places: a quick search waits in vain.
    search("a").await.problem(503);
    held.store(false, Ordering::Relaxed);
    let mut answer = search("a").await;
    for _ in 0..50 {
        if answer.status == StatusCode::OK {
            break;
        }
        answer = search("a").await;
    }
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test]
async fn busy_page_says_so() {
    let (app, held) = held_app();
    let request = get_request("/?q=slow", &[("accept-language", "zh")]);
    let page = ask(&app, request).await;
    held.store(false, Ordering::Relaxed);
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    page.assert_has(&["没有在时限内完成"]);
}

#[tokio::test]
async fn documents_by_id_only() {
    let answer = get("/api/docs/0000000000000001").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.json()["title"], "油价第1号");
    assert_eq!(answer.json()["comments"][0]["text"], "</article>油价太高");
    assert_eq!(answer.json()["images"][0]["alt"], "<b>井架</b>");
    assert_eq!(answer.json()["meta"]["发文字号"], "国发〔2026〕12号");
    assert_eq!(answer.json()["attachments"][0]["format"], "docx");
    let chosen = get("/api/docs/0000000000000001?fields=id,%20text,markdown").await;
    let names: Vec<String> = chosen.json().as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["id", "markdown", "text"]);
    get("/api/docs/0000000000000001?fields=body")
        .await
        .problem(400);
    get("/api/docs/0000000000000001?only=id").await.problem(400);
    let all = answer.json();
    for name in all.as_object().unwrap().keys() {
        assert!(DOCUMENT_FIELDS.contains(&name.as_str()), "{name}");
    }
    for id in [
        "ffff",
        "..%2F..%2Fetc%2Fpasswd",
        "%00",
        "%FF",
        "a%20b",
        &"a".repeat(65),
    ] {
        get(&format!("/api/docs/{id}")).await.problem(404);
    }
}

/// Each single character is thousands of words: a few are fine, a query full of them is refused by its number.
#[tokio::test]
async fn single_characters_are_limited() {
    let query = |number: usize| {
        let quoted: Vec<String> = "油气田井勘探开发储层"
            .chars()
            .take(number)
            .map(|c| format!("\"{c}\""))
            .collect();
        let query = url::form_urlencoded::byte_serialize(quoted.join(" OR ").as_bytes())
            .collect::<String>();
        format!("?q={query}")
    };
    assert_eq!(
        get(&format!("/api/search{}", query(8))).await.status,
        StatusCode::OK
    );
    for path in ["/api/search", "/feed.json"] {
        let detail = get(&format!("{path}{}", query(9))).await.problem(400);
        assert!(
            detail.contains("9 single characters, 8 are allowed"),
            "{detail}"
        );
    }
    let page = get(&format!("/{}", query(9))).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    assert!(page.body.contains('8'), "{}", page.body);
}

#[tokio::test]
async fn health_status_and_metrics() {
    assert_eq!(get("/healthz").await.body, "ok\n");
    let status = get("/api/status").await;
    let status: Status = serde_json::from_str(&status.body).unwrap();
    assert_eq!(status, fake_status().unwrap());
    let metrics = get("/metrics").await;
    assert_eq!(metrics.status, StatusCode::OK);
    assert!(
        metrics
            .header("content-type")
            .starts_with("text/plain; version=0.0.4")
    );
    let closed = router(state(Config {
        operator_pages: false,
        ..Config::default()
    }));
    for path in ["/api/status", "/metrics"] {
        ask(&closed, get_request(path, &[])).await.problem(404);
    }
    let page = get_request("/status", &[("accept", "text/html")]);
    assert_eq!(ask(&closed, page).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn unknown_paths_and_methods() {
    for path in [
        "/nope",
        "/api/",
        "/api/docs",
        "/assets/../Cargo.toml",
        "/doc",
        "/etc/passwd",
    ] {
        get(path).await.problem(404);
    }
    visit("/api/nope").await.problem(404);
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let request = Request::builder()
            .method(method)
            .uri("/api/search?q=a")
            .body(Body::empty())
            .unwrap();
        let answer = ask(&app(), request).await;
        answer.problem(405);
        assert_eq!(answer.header("allow"), "GET,HEAD", "{method}");
    }
    let head = Request::head("/api/search?q=a")
        .body(Body::empty())
        .unwrap();
    let head = ask(&app(), head).await;
    assert_eq!((head.status, head.body.as_str()), (StatusCode::OK, ""));
}

#[tokio::test]
async fn security_headers_everywhere() {
    for path in [
        "/",
        "/?q=a",
        "/?q=broken",
        "/doc/0000000000000001",
        "/nope",
        "/status",
        "/api/search?limit=x",
        "/api/openapi.json",
        "/metrics",
        "/healthz",
        "/assets/taojin.js",
        "/robots.txt",
    ] {
        let answer = get(path).await;
        let csp = answer.header("content-security-policy");
        assert!(
            csp.contains("default-src 'none'") && csp.contains("frame-ancestors 'none'"),
            "{path}"
        );
        assert!(!csp.contains("unsafe") && !csp.contains('*'), "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
        assert!(!answer.header("cache-control").is_empty(), "{path}");
    }
}

#[tokio::test]
async fn responses_compressed_on_request() {
    let request = get_request("/?q=a", &[("accept-encoding", "gzip")]);
    let zipped = ask(&app(), request).await;
    assert_eq!(zipped.header("content-encoding"), "gzip");
    let plain = get("/?q=a").await;
    assert_eq!(plain.header("content-encoding"), "");
    assert!(zipped.body.len() < plain.body.len());
}

#[tokio::test]
async fn api_page_is_self_contained() {
    let moved = get("/api").await;
    assert_eq!(
        (moved.status.as_u16(), moved.header("location")),
        (303, "/api/ui/")
    );
    let page = get("/api/ui/").await;
    assert_eq!(page.header("content-type"), "text/html");
    assert!(
        page.header("content-security-policy")
            .contains("script-src 'self';")
    );
    let html = page.body.clone();
    let sources = html.split("src=\"").chain(html.split("href=\"")).skip(1);
    let files: Vec<&str> = sources
        .filter_map(|rest| rest.split('"').next()?.strip_prefix("./"))
        .collect();
    assert!(files.iter().any(|file| file.ends_with(".js")), "{html}");
    for file in files {
        assert_eq!(
            get(&format!("/api/ui/{file}")).await.status.as_u16(),
            200,
            "{file}"
        );
    }
    let initializer = get("/api/ui/swagger-initializer.js").await.body;
    assert!(
        initializer.contains("\"../openapi.json\"")
            && initializer.contains("\"validatorUrl\": \"none\"")
    );
    assert_eq!(get("/api/ui/..%2Fsecret").await.status.as_u16(), 404);
}
