//! The review of terms: who may see it and decide, and that a decision is what was clicked.

use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::Request;

use super::*;
use crate::guard::operator::Secret;

const TOKEN: &str = "0123456789abcdef0123";

/// Remembers what was decided.
#[derive(Default)]
struct Desk {
    decided: Mutex<Vec<(&'static str, Vec<String>)>>,
}

impl TermReview for Desk {
    fn list(&self, offset: usize, limit: usize) -> Result<ReviewList, SourceError> {
        let term = |n: usize| ReviewTerm {
            term: format!("<b>页岩油{n}"),
            termhood: 0.75,
            occurrences: 1_234,
            documents: 56,
            in_dictionary: false,
            evidence: vec![Marked::from("中国<script>页岩油")],
        };
        Ok(ReviewList {
            proposed: 120,
            accepted: 3,
            rejected: 1,
            entered: vec!["页岩<气".to_owned()],
            terms: (offset..120.min(offset + limit)).map(term).collect(),
        })
    }

    fn accept(&self, terms: &[String]) -> Result<usize, SourceError> {
        self.decided
            .lock()
            .unwrap()
            .push(("accept", terms.to_vec()));
        Ok(terms.len())
    }

    fn reject(&self, terms: &[String]) -> Result<usize, SourceError> {
        if terms.iter().any(|term| term == "broken") {
            return Err(SourceError::Failed("/secret/path is gone".to_owned()));
        }
        self.decided
            .lock()
            .unwrap()
            .push(("reject", terms.to_vec()));
        Ok(terms.len())
    }
}

fn app(desk: &Arc<Desk>) -> Router {
    let config = Config {
        token: Secret::from(TOKEN),
        ..Config::default()
    };
    let review: Arc<dyn TermReview> = Arc::<Desk>::clone(desk);
    router(ServeState {
        terms: Some(review),
        ..state(config)
    })
}

fn request(method: &str, path: &str, token: &str, body: &str) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {token}"))
        .header("accept", "text/html")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(body.to_owned()))
        .unwrap()
}

async fn asked(desk: &Arc<Desk>, request: Request<Body>) -> (u16, String, String) {
    let response = app(desk).oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let location = response.headers().get("location");
    let location = location.map_or("", |l| l.to_str().unwrap()).to_owned();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20)
        .await
        .unwrap();
    (status, location, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn terms_page_escapes() {
    let desk = Arc::new(Desk::default());
    let (status, _, page) = asked(&desk, request("GET", "/terms?lang=en", TOKEN, "")).await;
    assert_eq!(status, 200);
    assert!(page.contains("&#60;b&#62;页岩油0") && page.contains("中国&lt;script&gt;页岩油"));
    assert!(!page.contains("<script>页") && !page.contains("<b>页"));
    assert!(page.contains("page=2") && page.contains("1,234"));
    assert!(page.contains("value=\"页岩&#60;气\""));
    let (_, _, last) = asked(&desk, request("GET", "/terms?page=3", TOKEN, "")).await;
    assert!(last.contains("页岩油119") && !last.contains("page=4"));
    assert!(!last.contains("页岩&#60;气"), "on the first page only");
}

#[tokio::test]
async fn terms_operator_only() {
    let desk = Arc::new(Desk::default());
    let (status, location, page) = asked(&desk, request("GET", "/terms", "wrong", "")).await;
    assert_eq!((status, location.as_str()), (303, "/login?next=%2Fterms"));
    assert!(!page.contains("页岩油"));
    let (status, _, _) = asked(&desk, request("POST", "/terms", "wrong", "accept=x")).await;
    assert!(status == 401 || status == 403, "{status}");
    assert!(desk.decided.lock().unwrap().is_empty());
}

#[tokio::test]
async fn terms_click_decides() {
    let desk = Arc::new(Desk::default());
    let body = "lang=zh&page=2&term=a&term=b&accept=%E9%A1%B5%E5%B2%A9%E6%B2%B9";
    let (status, location, _) = asked(&desk, request("POST", "/terms", TOKEN, body)).await;
    assert_eq!((status, location.as_str()), (303, "/terms?lang=zh&page=2"));
    asked(
        &desk,
        request("POST", "/terms", TOKEN, "term=a&term=b&all=reject"),
    )
    .await;
    let decided = desk.decided.lock().unwrap().clone();
    let expected = [
        ("accept", vec!["页岩油".to_owned()]),
        ("reject", vec!["a".to_owned(), "b".to_owned()]),
    ];
    assert_eq!(decided, expected);
    let (status, _, page) = asked(&desk, request("POST", "/terms", TOKEN, "reject=broken")).await;
    assert_eq!(status, 500);
    assert!(!page.contains("/secret/path"));
}

fn json(method: &str, path: &str, token: &str, body: &str) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(Body::from(body.to_owned()))
        .unwrap()
}

#[tokio::test]
async fn terms_api_with_token() {
    let desk = Arc::new(Desk::default());
    let path = "/api/terms?limit=2&offset=118";
    let (status, _, body) = asked(&desk, json("GET", path, TOKEN, "")).await;
    assert_eq!(status, 200, "{body}");
    let list: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(list["proposed"], 120);
    assert_eq!(list["terms"][1]["term"], "<b>页岩油119");
    assert_eq!(list["terms"][0]["evidence"][0], "中国<script>页岩油");
    let decision = r#"{"accept": ["页岩油", ""], "reject": ["a\nb", "环卫工人"]}"#;
    let (status, _, body) = asked(&desk, json("POST", "/api/terms", TOKEN, decision)).await;
    let answer: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (status, &answer["accepted"], &answer["rejected"]),
        (200, &1.into(), &1.into())
    );
    // What cannot be a term is named and left out.
    assert_eq!(answer["refused"][0]["text"], "");
    assert_eq!(answer["refused"].as_array().unwrap().len(), 2);
    let decided = desk.decided.lock().unwrap().clone();
    let one = |what, term: &str| (what, vec![term.to_owned()]);
    assert_eq!(
        decided,
        [one("accept", "页岩油"), one("reject", "环卫工人")]
    );
}

#[tokio::test]
async fn terms_wrong_decision_refused() {
    let desk = Arc::new(Desk::default());
    let long = serde_json::json!({ "accept": vec!["页岩油"; 201] }).to_string();
    for (token, body, expected) in [
        ("wrong", r#"{"accept": ["页岩油"]}"#, 401),
        (TOKEN, "", 400),
        (TOKEN, r#"{"accept": ["页岩油"]"#, 400),
        (TOKEN, r#"{"accept": "页岩油"}"#, 422),
        (TOKEN, r#"{"accepted": ["页岩油"]}"#, 422),
        (TOKEN, &long, 422),
    ] {
        let (status, _, answer) = asked(&desk, json("POST", "/api/terms", token, body)).await;
        assert_eq!(status, expected, "{body}: {answer}");
        let problem: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(problem["status"], expected);
    }
    assert!(desk.decided.lock().unwrap().is_empty());
    for query in [
        "limit=0",
        "limit=501",
        "limit=",
        "limit=1&limit=2",
        "offset=-1",
        "x=1",
    ] {
        let path = format!("/api/terms?{query}");
        let (status, _, answer) = asked(&desk, json("GET", &path, TOKEN, "")).await;
        assert_eq!(status, 400, "{query}: {answer}");
    }
}
