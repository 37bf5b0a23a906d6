use std::sync::LazyLock;

use axum::extract::State;
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::routing::post;

use super::super::state::{Server, Shared};
use super::*;
use crate::api::problem::Refusal;
use crate::guard::operator::Form;
use crate::guard::operator::Sessions;
use crate::guard::operator::{Operator, session_cookie};
use crate::guard::operator::{Secret, signature};
use crate::pages::login::own_path;
use crate::pages::request::as_page;
use crate::router::routes;

const TOKEN: &str = "0123456789abcdef0123";
static SESSIONS: LazyLock<Sessions> = LazyLock::new(Sessions::default);
const NOW_MS: i64 = 1_800_000_000_000;

fn with_token(token: &str, public_url: &str) -> Config {
    Config {
        token: Secret::from(token),
        public_url: public_url.to_owned(),
        ..Config::default()
    }
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect()
}

fn prove(
    token: &str,
    method: &Method,
    pairs: &[(&'static str, &str)],
    now_ms: i64,
) -> Result<(), Refusal> {
    let config = with_token(token, "https://search.example/taojin");
    Operator::prove(&config, &SESSIONS, method, &headers(pairs), now_ms).map(drop)
}

/// The cookie of a session that began at [`NOW_MS`], as a browser sends it back.
fn cookie() -> String {
    let name = SESSIONS.begin(NOW_MS).unwrap();
    let set = session_cookie(&with_token(TOKEN, ""), &name);
    assert!(set.contains("; HttpOnly; SameSite=Strict"), "{set}");
    format!("theme=dark; {}", set.split(';').next().unwrap())
}

#[test]
fn no_token_no_access() {
    for pairs in [
        vec![],
        vec![("authorization", "Bearer ")],
        vec![("authorization", "Bearer 0123456789abcdef0123")],
        vec![("cookie", "taojin_operator=")],
    ] {
        let refusal = prove("", &Method::GET, &pairs, NOW_MS);
        assert_eq!(refusal, Err(Refusal::Closed));
    }
}

#[test]
fn token_must_match() {
    let bearer = |value: &str| prove(TOKEN, &Method::POST, &[("authorization", value)], NOW_MS);
    assert_eq!(bearer("Bearer 0123456789abcdef0123"), Ok(()));
    assert_eq!(bearer("bearer 0123456789abcdef0123"), Ok(()));
    for wrong in [
        "",
        "Bearer",
        "Bearer ",
        "Bearer 0123456789abcdef012",
        "Bearer 0123456789abcdef01234",
        "Bearer 0123456789ABCDEF0123",
        "Basic 0123456789abcdef0123",
    ] {
        assert_eq!(bearer(wrong), Err(Refusal::Unknown), "{wrong}");
    }
}

#[test]
fn session_needs_own_origin() {
    let cookie = cookie();
    let with = |method: &Method, more: &[(&'static str, &str)]| {
        let mut pairs = vec![("cookie", cookie.as_str()), ("host", "10.0.0.9:8080")];
        pairs.extend(more);
        prove(TOKEN, method, &pairs, NOW_MS + 1_000)
    };
    assert_eq!(with(&Method::GET, &[]), Ok(()));
    for own in [
        &[("sec-fetch-site", "same-origin")][..],
        &[("origin", "http://10.0.0.9:8080")],
        &[("origin", "https://search.example")],
        &[
            ("sec-fetch-site", "same-origin"),
            ("origin", "http://10.0.0.9:8080"),
        ],
    ] {
        assert_eq!(with(&Method::POST, own), Ok(()), "{own:?}");
    }
    for foreign in [
        &[][..],
        &[("origin", "null")],
        &[("origin", "http://10.0.0.9")],
        &[("origin", "https://evil.example")],
        &[("origin", "https://search.example.evil.example")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "none")],
        &[
            ("sec-fetch-site", "same-origin"),
            ("origin", "https://evil.example"),
        ],
    ] {
        assert_eq!(
            with(&Method::POST, foreign),
            Err(Refusal::Foreign),
            "{foreign:?}"
        );
    }
}

#[test]
fn session_expires_and_is_signed() {
    let cookie = cookie();
    let at = |value: &str, token: &str, now_ms: i64| {
        prove(token, &Method::GET, &[("cookie", value)], now_ms)
    };
    assert_eq!(at(&cookie, TOKEN, NOW_MS + 11 * 3_600_000), Ok(()));
    assert_eq!(
        at(&cookie, TOKEN, NOW_MS + 13 * 3_600_000),
        Err(Refusal::Unknown)
    );
    for made_up in [
        "taojin_operator=",
        "taojin_operator=.",
        "taojin_operator=99999999999.",
        "x=1",
    ] {
        assert_eq!(
            at(made_up, TOKEN, NOW_MS),
            Err(Refusal::Unknown),
            "{made_up}"
        );
    }
}

#[test]
fn a_signature_is_hmac_sha256() {
    // RFC 4231, test case 2.
    let mark = signature(&Secret::from("Jefe"), b"what do ya want for nothing?");
    assert_eq!(
        mark,
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    );
    assert!(!format!("{:?}", with_token(TOKEN, "")).contains(TOKEN));
}

#[test]
fn short_token_refused() {
    for (token, fine) in [
        ("", true),
        (TOKEN, true),
        ("short", false),
        ("with spaces in it, long", false),
        ("很长很长很长很长很长很长很长很长很长很长", false),
    ] {
        assert_eq!(
            with_token(token, "").problems().is_empty(),
            fine,
            "{token:?}"
        );
    }
}

#[test]
fn login_redirects_stay_here() {
    assert_eq!(own_path("/terms?page=2"), "/terms?page=2");
    for other in [
        "",
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "javascript:1",
        "/a\r\nset-cookie: x",
        "/a b",
    ] {
        assert_eq!(own_path(other), "/", "{other:?}");
    }
}

/// The real routes and one that changes something.
fn changing_app(config: Config) -> Router {
    async fn change(State(_): State<Server>, _: Operator, form: Form) -> String {
        form.get("term").to_owned()
    }
    let server: Server = Arc::new(Shared::new(state(config), serde_json::Value::Null));
    routes(Arc::clone(&server)).merge(
        Router::new()
            .route("/change", post(change))
            .layer(from_fn_with_state(Arc::clone(&server), as_page))
            .with_state(server),
    )
}

fn post_form(path: &str, pairs: &[(&'static str, &str)], body: &str) -> Request<Body> {
    let mut request = Request::post(path)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(body.to_owned()))
        .unwrap();
    request.headers_mut().extend(headers(pairs));
    request
}

#[tokio::test]
async fn login_change_logout() {
    let app = changing_app(with_token(TOKEN, ""));
    let own = [("host", "localhost:1"), ("origin", "http://localhost:1")];
    let wrong = ask(
        &app,
        post_form("/login", &own, "token=wrong&next=/terms&lang=en"),
    )
    .await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
    wrong.assert_has(&["That is not the token", "value=\"/terms\""]);
    assert_eq!(wrong.header("set-cookie"), "");

    let body = format!("token={TOKEN}&next=%2Fterms%3Fa%3D1");
    let foreign = ask(
        &app,
        post_form("/login", &[("origin", "http://evil")], &body),
    )
    .await;
    assert_eq!(foreign.status, StatusCode::UNAUTHORIZED);

    let right = ask(&app, post_form("/login", &own, &body)).await;
    assert_eq!(right.status, StatusCode::SEE_OTHER);
    assert_eq!(right.header("location"), "/terms?a=1");
    let cookie = right
        .header("set-cookie")
        .split(';')
        .next()
        .unwrap()
        .to_owned();

    let mut pairs = own.to_vec();
    pairs.push(("cookie", &cookie));
    let changed = ask(
        &app,
        post_form("/change", &pairs, "term=%E9%A1%B5%E5%B2%A9%E6%B0%94"),
    )
    .await;
    assert_eq!(
        (changed.status, changed.body.as_str()),
        (StatusCode::OK, "页岩气")
    );
    let out = ask(&app, post_form("/logout", &pairs, "")).await;
    assert!(out.header("set-cookie").contains("Max-Age=0"));
    // Whoever has copied the cookie is signed out as well.
    let again = ask(&app, post_form("/change", &pairs, "term=a")).await;
    again.problem(401);
}

#[tokio::test]
async fn restart_ends_sessions() {
    let own = [("host", "localhost:1"), ("origin", "http://localhost:1")];
    let sign_in = format!("token={TOKEN}&next=/");
    let before = changing_app(with_token(TOKEN, ""));
    let answer = ask(&before, post_form("/login", &own, &sign_in)).await;
    let cookie = answer.header("set-cookie").split(';').next().unwrap();
    let mut pairs = own.to_vec();
    pairs.push(("cookie", cookie));
    let changed = ask(&before, post_form("/change", &pairs, "term=a")).await;
    assert_eq!(changed.status, StatusCode::OK);
    // The same token, and nothing kept of the sessions.
    let after = changing_app(with_token(TOKEN, ""));
    let refused = ask(&after, post_form("/change", &pairs, "term=a")).await;
    refused.problem(401);
}

#[tokio::test]
async fn refusal_explains() {
    let open = changing_app(with_token(TOKEN, ""));
    ask(&open, post_form("/change", &[], "term=a"))
        .await
        .problem(401);
    let cookie = cookie();
    let person = [("accept", "text/html"), ("accept-language", "zh")];
    let page = ask(&open, post_form("/change", &person, "term=a")).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    // The form is there, and leads to what was requested.
    page.assert_has(&[
        "请先登录",
        "action=\"/login\"",
        "name=\"next\" value=\"/change\"",
    ]);
    // A session is not enough for a change that another site requested.
    let foreign = [
        ("cookie", cookie.as_str()),
        ("origin", "https://evil.example"),
    ];
    assert_ne!(
        ask(&open, post_form("/change", &foreign, "term=a"))
            .await
            .status,
        StatusCode::OK
    );
}

/// A page for the operator says one thing to persons and one to programs, wherever it is.
#[tokio::test]
async fn operator_pages_refuse_alike() {
    let ask_for = async |app: &Router, path: &str, accept: &str| {
        let headers = [("accept", accept), ("accept-language", "zh")];
        ask(app, get_request(path, &headers)).await
    };
    let open = changing_app(with_token(TOKEN, ""));
    let closed = changing_app(Config::default());
    for path in ["/terms", "/templates", "/templates/1?page=2"] {
        let person = ask_for(&open, path, "text/html").await;
        assert_eq!(person.status, StatusCode::SEE_OTHER, "{path}");
        let next = url::form_urlencoded::byte_serialize(path.as_bytes()).collect::<String>();
        assert_eq!(person.header("location"), format!("/login?next={next}"));
        let program = ask_for(&open, path, "*/*").await;
        assert!(program.problem(401).contains("Bearer TOKEN"), "{path}");
        assert_eq!(program.header("www-authenticate"), "Bearer", "{path}");
    }
    for path in ["/terms", "/templates", "/templates/1?page=2", "/login"] {
        let person = ask_for(&closed, path, "text/html").await;
        assert_eq!(person.status, StatusCode::FORBIDDEN, "{path}");
        assert!(
            person.body.contains("还没有设置令牌") && person.body.contains("[serve]\ntoken_file"),
            "{path}: {}",
            person.body
        );
        // No token would help, so none is requested.
        let program = ask_for(&closed, path, "*/*").await;
        assert!(program.problem(403).contains("serve.token"), "{path}");
        assert_eq!(program.header("www-authenticate"), "", "{path}");
    }
}

#[tokio::test]
async fn no_token_no_login() {
    let closed = changing_app(Config::default());
    let bearer = [("authorization", "Bearer 0123456789abcdef0123")];
    for (path, pairs) in [
        ("/change", &[][..]),
        ("/change", &bearer),
        (
            "/login",
            &[("host", "localhost:1"), ("origin", "http://localhost:1")],
        ),
    ] {
        let answer = ask(&closed, post_form(path, pairs, "term=a&token=")).await;
        answer.problem(403);
        assert_eq!(answer.header("set-cookie"), "");
    }
}

#[tokio::test]
async fn form_body_is_bounded() {
    let app = changing_app(with_token(TOKEN, ""));
    let bearer = [("authorization", "Bearer 0123456789abcdef0123")];
    let long = format!("term={}", "a".repeat(70_000));
    let own = [("host", "localhost:1"), ("origin", "http://localhost:1")];
    ask(&app, post_form("/login", &own, &long))
        .await
        .problem(413);
    let mut json = post_form("/change", &bearer, "{}");
    json.headers_mut()
        .insert("content-type", "application/json".parse().unwrap());
    ask(&app, json).await.problem(415);
}
