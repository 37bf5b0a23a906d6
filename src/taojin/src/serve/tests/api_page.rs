//! The API as a page: it says what the description says, and its calls work.

use super::*;
use crate::serve::pages::api::{Here, Route, groups};
use crate::serve::pages::lang::Lang;

async fn document() -> serde_json::Value {
    get("/api/openapi.json").await.json()
}

fn here() -> Here {
    Here {
        root: String::new(),
        id: Some("0000000000000001".to_owned()),
        url: Some("https://a.example/1?x=1&y=2".to_owned()),
        site: Some("甲 站/1".to_owned()),
        topic: Some("deep-sea".to_owned()),
    }
}

fn all(document: &serde_json::Value, lang: Lang) -> Vec<Route> {
    let groups = groups(document, &here(), &lang.labels().api_page);
    groups.into_iter().flat_map(|group| group.routes).collect()
}

/// The words of a shell command; quotes are as in `sh`.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    assert!(!quoted, "{command}");
    words.push(word);
    words
}

/// Does what curl would do.
fn request(call: &str) -> Request<Body> {
    let words = words(call);
    let mut words = words.iter().map(String::as_str);
    assert_eq!(words.next(), Some("curl"));
    let (mut method, mut url, mut body) = ("GET", String::new(), String::new());
    let mut headers = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "--get" => {}
            "--request" => method = words.next().unwrap(),
            "--data-urlencode" => {
                let (name, value) = words.next().unwrap().split_once('=').unwrap();
                let pair = url::form_urlencoded::Serializer::new(String::new())
                    .append_pair(name, value)
                    .finish();
                url = format!("{url}?{pair}");
            }
            "--header" => headers.push(words.next().unwrap().split_once(": ").unwrap()),
            "--data" => {
                method = "POST";
                body = words.next().unwrap().to_owned();
            }
            address => url = address.to_owned(),
        }
    }
    let mut request = Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.body(Body::from(body)).unwrap()
}

#[tokio::test]
async fn every_route_of_the_description_is_there_with_a_call_that_works() {
    let document = document().await;
    let routes = all(&document, Lang::Zh);
    let paths = document["paths"].as_object().unwrap();
    let described: usize = paths
        .values()
        .map(|item| item.as_object().unwrap().len())
        .sum();
    assert_eq!(routes.len(), described);
    for route in &routes {
        let answer = ask(&app(), request(&route.call)).await;
        match route.operator {
            // No token is set here: the call arrives, and is refused for that.
            true => assert!(
                answer.problem(403).contains("serve.token"),
                "{}",
                route.call
            ),
            false => assert_eq!(answer.status, StatusCode::OK, "{}", route.call),
        }
        assert!(!route.sample.is_empty(), "{} shows no answer", route.path);
        let structured = !route.fields.is_empty();
        if !route.operator && structured {
            assert_eq!(
                shape(&answer.json()),
                shape_of(&route.sample, &answer.json()),
                "{}",
                route.path
            );
        }
    }
}

/// Names of the fields of a value.
fn shape(value: &serde_json::Value) -> Vec<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

/// Those of the sample that the answer may leave out are left out.
fn shape_of(sample: &str, answer: &serde_json::Value) -> Vec<String> {
    let sample: serde_json::Value = serde_json::from_str(sample).unwrap();
    let named = shape(&sample).into_iter();
    named
        .filter(|name| !answer[name].is_null() || answer.get(name).is_some())
        .collect()
}

#[tokio::test]
async fn each_operation_has_words_in_both_languages() {
    let document = document().await;
    let (zh, en) = (all(&document, Lang::Zh), all(&document, Lang::En));
    for (zh, en) in zh.iter().zip(&en) {
        assert!(!zh.summary.is_ascii(), "{} has no Chinese words", zh.id);
        assert!(en.summary.is_ascii() && !en.summary.is_empty(), "{}", en.id);
    }
    let search = en.iter().find(|route| route.id == "search").unwrap();
    let limit = search
        .parameters
        .iter()
        .find(|p| p.name == "limit")
        .unwrap();
    assert_eq!(limit.kind, "integer, 1–100, default 10");
    let sort = search.parameters.iter().find(|p| p.name == "sort").unwrap();
    assert_eq!(sort.kind, "relevance | date | both, default relevance");
    assert!(
        search
            .fields
            .iter()
            .any(|(name, said)| name == "hits[].snippet" && !said.is_empty())
    );
    assert!(
        search.sample.contains("<mark>天然气</mark>"),
        "{}",
        search.sample
    );
}

#[tokio::test]
async fn the_page_shows_them_and_escapes() {
    for (path, word) in [("/api", "调用示例"), ("/api?lang=en", "Call")] {
        let page = visit(path).await;
        assert_eq!(page.status, StatusCode::OK);
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        for part in [
            word,
            "/api/docs/{id}",
            "/feeds/deep-sea.atom",
            "/api/docs/0000000000000000",
            "id=\"search\"",
        ] {
            assert!(page.body.contains(part), "{path}: {part}");
        }
        assert!(!page.body.contains("<mark>天"), "{path}");
    }
    // The name that a client gives the server is only text.
    let open = router(state(Config {
        listen: "192.0.2.1:8080".parse().unwrap(),
        ..Config::default()
    }));
    let odd = Request::get("/api")
        .header("host", "a\"><b>x")
        .body(Body::empty())
        .unwrap();
    assert!(!ask(&open, odd).await.body.contains("<b>x"));
}

#[tokio::test]
async fn what_is_switched_off_is_not_shown() {
    let config = Config {
        operator_pages: false,
        ..Config::default()
    };
    let request = Request::get("/api").body(Body::empty()).unwrap();
    let page = ask(&router(state(config)), request).await;
    assert!(!page.body.contains("/metrics") && !page.body.contains("/api/status"));
    assert!(page.body.contains("/healthz"));
}

/// `/api` and what lies below it stay two things.
#[tokio::test]
async fn routes_below_keep_their_answers() {
    assert_eq!(
        visit("/api/search?q=a").await.header("content-type"),
        "application/json"
    );
    visit("/api/nothing").await.problem(404);
}
