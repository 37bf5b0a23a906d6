use super::*;

#[tokio::test]
async fn openapi_matches_routes() {
    let document = get("/api/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    let text = document.to_string();
    for named in text.split("\"#/components/schemas/").skip(1) {
        let name = named.split('"').next().unwrap();
        let schema = &document["components"]["schemas"][name];
        assert!(schema.is_object(), "{name} is named and not described");
    }
    let paths = document["paths"].as_object().unwrap();
    let mut named: Vec<&str> = paths.keys().map(String::as_str).collect();
    named.sort_unstable();
    assert_eq!(
        named,
        [
            "/api/allow",
            "/api/changes",
            "/api/docs/{id}",
            "/api/history",
            "/api/openapi.json",
            "/api/purge",
            "/api/search",
            "/api/sites/{name}/pause",
            "/api/sites/{name}/purge",
            "/api/sites/{name}/resume",
            "/api/sites/{name}/visit",
            "/api/status",
            "/api/suggest",
            "/api/templates/fit",
            "/api/terms",
            "/api/trends",
            "/api/visit",
            "/feed.atom",
            "/feed.json",
            "/feeds/{file}",
            "/healthz",
            "/metrics",
            "/readyz"
        ]
    );
    // What only the operator may ask has tests of its own.
    let open = paths
        .iter()
        .filter(|(_, item)| item["get"].is_object() && item["get"]["security"].is_null());
    let changes = paths.values().filter(|item| item["post"].is_object());
    for item in changes {
        assert!(item["post"]["security"].is_array(), "{item}");
        for status in ["401", "403", "409", "429", "500", "503"] {
            let terms = item["post"]["tags"][0] == "terms" && status == "409";
            assert_ne!(
                item["post"]["responses"][status].is_object(),
                terms,
                "{status}: {item}"
            );
        }
    }
    for (path, item) in open {
        let path = path.replace("{id}", "0000000000000001");
        let path = path.replace("/history", "/history?url=https://a.example/");
        let path = path.replace("/trends", "/trends?q=a");
        let answer = get(&path.replace("{file}", "deep-sea.atom")).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        let content = item["get"]["responses"]["200"]["content"]
            .as_object()
            .unwrap();
        let kind = answer.header("content-type").split(';').next().unwrap();
        assert!(content.contains_key(kind), "{path} answers {kind}");
    }
    let search = &paths["/api/search"]["get"];
    let parameters = search["parameters"].as_array().unwrap();
    let schema = |name: &str| &parameters.iter().find(|p| p["name"] == name).unwrap()["schema"];
    assert_eq!(schema("q")["maxLength"], 256);
    assert_eq!(schema("limit")["maximum"], 100);
    assert_eq!(schema("offset")["maximum"], 9_900);
    assert_eq!(parameters.len(), 17);
    assert!(parameters.iter().all(|p| p["required"] == false));
    for status in ["400", "500", "503"] {
        let content = &search["responses"][status]["content"][PROBLEM_JSON];
        assert_eq!(
            content["schema"]["$ref"], "#/components/schemas/Problem",
            "{status}"
        );
    }
}

#[tokio::test]
async fn openapi_follows_the_configuration() {
    let config = Config {
        query_chars: 20,
        limit_max: 50,
        window: 500,
        public_url: "https://s.example/t/".to_owned(),
        ..Config::default()
    };
    let app = router(state(config));
    let request = get_request("/api/openapi.json", &[]);
    let text = ask(&app, request).await.body;
    for part in [
        "\"maxLength\":20",
        "\"maximum\":50",
        "\"maximum\":450",
        "\"url\":\"https://s.example/t\"",
    ] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn config_faults_named() {
    assert!(Config::default().problems().is_empty());
    let bad = Config {
        window: 1,
        public_url: "search.example".to_owned(),
        idle_ms: 0,
        ..Config::default()
    };
    let problems = bad.problems().join("\n");
    for key in ["limit_max", "public_url", "idle_ms"] {
        assert!(problems.contains(key), "{problems}");
    }
}

/// What a page that shows the description sends at first: examples and defaults.
fn first_try(path: &str, operation: &serde_json::Value) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let mut path = path.to_owned();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap();
        let value = match &parameter["example"] {
            serde_json::Value::Null => &parameter["schema"]["default"],
            example => example,
        };
        let values = match value {
            serde_json::Value::Null => Vec::new(),
            serde_json::Value::Array(values) => values.clone(),
            value => vec![value.clone()],
        };
        for value in values {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            if parameter["in"] == "path" {
                path = path.replace(&format!("{{{name}}}"), &text);
            } else {
                query.append_pair(name, &text);
            }
        }
    }
    match query.finish().as_str() {
        "" => path,
        query => format!("{path}?{query}"),
    }
}

#[tokio::test]
async fn openapi_examples_find_something() {
    let (_dir, app) = super::titles::titled_app();
    let description = ask(&app, get_request("/api/openapi.json", &[]))
        .await
        .json();
    for (path, operation, found) in [
        ("/api/search", "get", "/hits/0/id"),
        ("/api/suggest", "get", "/suggestions/0/text"),
        ("/api/trends", "get", "/queries/0/counts/0/documents"),
        ("/api/docs/{id}", "get", "/text"),
        ("/feed.json", "get", "/items/0/id"),
    ] {
        let sent = first_try(path, &description["paths"][path][operation]);
        let answer = ask(&app, get_request(&sent, &[])).await;
        assert_eq!(answer.status, StatusCode::OK, "{sent}: {}", answer.body);
        assert!(
            answer.json().pointer(found).is_some(),
            "{sent}: {}",
            answer.body
        );
    }
    for path in ["/feed.atom", "/feeds/{file}"] {
        let sent = first_try(path, &description["paths"][path]["get"]);
        ask(&app, get_request(&sent, &[]))
            .await
            .assert_has(&["<feed ", "<entry>"]);
    }
    let example = |pointer: &str| description.pointer(pointer).cloned().unwrap_or_default();
    let url = example("/paths/~1api~1history/get/parameters/0/example");
    assert!(url.as_str().unwrap().ends_with(".example/3"), "{url}");
    let body = example("/paths/~1api~1visit/post/requestBody/content/application~1json/example");
    assert_eq!(body["url"], url);
    let paused = example("/paths/~1api~1sites~1{name}~1pause/post/parameters/0/example");
    assert_eq!(paused, "port");
    // What would remove a site or teach a word is not filled in.
    let purged = example("/paths/~1api~1sites~1{name}~1purge/post/parameters/0/example");
    assert!(purged.is_null(), "{purged}");
    let decision =
        example("/paths/~1api~1terms/post/requestBody/content/application~1json/example");
    assert_eq!(decision, serde_json::json!({ "accept": [], "reject": [] }));
}
