//! The template pages: who may see them, what the frame may do, that nothing of a page gets through unescaped.

use super::*;
use crate::guard::operator::Secret;
use crate::pages::fit::{
    GivenPage, NearTemplate, PAGE_BYTES_MAX, PageFit, PageSlot, RecordField, SlotKind, SlotText,
};
use crate::pages::templates::{
    Effect, FieldListed, NamedPlace, Proposal, RegionListed, SequenceListed, TemplateListed,
    TemplateReview, TemplateView, TextListed,
};
use std::sync::Mutex;

const TOKEN: &str = "0123456789abcdef0123";

/// A desk with one template, number 7, and a list of what was asked of it.
#[derive(Default)]
struct FakeDesk {
    changes: Mutex<Vec<String>>,
}

fn listed() -> TemplateListed {
    TemplateListed {
        id: 7,
        site: "甲<b>站".to_owned(),
        version: 2,
        pages: 30,
        fields: vec!["title".to_owned(), "body".to_owned()],
        saved: 3,
        note: Some("redesign <script>".to_owned()),
        awaiting_fields: 1234,
        ..TemplateListed::default()
    }
}

impl TemplateReview for FakeDesk {
    fn list(&self) -> Result<Vec<TemplateListed>, SourceError> {
        Ok(vec![listed(), listed()])
    }

    fn view(
        &self,
        id: i64,
        _: usize,
        proposal: Option<&Proposal>,
    ) -> Result<Option<TemplateView>, SourceError> {
        Ok((id == 7).then(|| TemplateView {
            listed: listed(),
            url: "http://a.test/\"><script>".to_owned(),
            regions: vec![RegionListed {
                key: "00ff".to_owned(),
                field: "body".to_owned(),
                essential: true,
                presence: 97,
                text: "<img src=x>".to_owned(),
                ..RegionListed::default()
            }],
            texts: vec![TextListed {
                token: 12,
                text: "<b>站</b>".to_owned(),
                others: vec!["<script>".to_owned()],
                ..TextListed::default()
            }],
            fields: vec![FieldListed {
                slot: "0abc".to_owned(),
                name: "价格\"><script>".to_owned(),
                example: "<img src=x>".to_owned(),
                ..FieldListed::default()
            }],
            sequences: vec![
                SequenceListed {
                    share: 67,
                    level: 1,
                    nodes: "div.note “<b>站</b>”".to_owned(),
                    ..SequenceListed::default()
                },
                SequenceListed {
                    share: 41,
                    level: 2,
                    nodes: "img".to_owned(),
                    ..SequenceListed::default()
                },
                SequenceListed {
                    share: 33,
                    level: 1,
                    alternative: true,
                    nodes: "ul li+".to_owned(),
                },
            ],
            guided: Document {
                text: "用了<script>模板".to_owned(),
                method: "template".to_owned(),
                ..Document::default()
            },
            effects: proposal.filter(|p| !p.field.is_empty()).map(|_| {
                vec![Effect {
                    lost: vec!["少了<script>一行".to_owned()],
                    ..Effect::default()
                }]
            }),
            ..TemplateView::default()
        }))
    }

    fn framed(
        &self,
        id: i64,
        number: usize,
        link: &str,
        word: fn(&str) -> &'static str,
    ) -> Result<Option<String>, SourceError> {
        Ok((id == 7 && number < 3).then(|| format!("<p>{link} {} {}</p>", word("body"), word(""))))
    }

    fn label(&self, id: i64, proposal: &Proposal) -> Result<bool, SourceError> {
        let said = format!("{id} {} {}", proposal.region, proposal.field);
        self.changes.lock().unwrap().push(said);
        Ok(id == 7)
    }

    fn fields(&self, _: &str) -> Result<Vec<FieldListed>, SourceError> {
        Ok(vec![FieldListed {
            template: 7,
            name: "价格<b>站".to_owned(),
            ..FieldListed::default()
        }])
    }

    fn name(&self, id: i64, place: &NamedPlace, name: &str) -> Result<bool, SourceError> {
        let said = format!("{id} {place:?} {name}");
        self.changes.lock().unwrap().push(said);
        Ok(id == 7)
    }

    fn set_disabled(&self, id: i64, disabled: bool) -> Result<bool, SourceError> {
        self.changes
            .lock()
            .unwrap()
            .push(format!("{id} {disabled}"));
        Ok(id == 7)
    }

    fn fit(&self, page: &GivenPage) -> Result<PageFit, SourceError> {
        let said = format!("{:?} {} {:?}", page.url, page.bytes.len(), page.charset);
        self.changes.lock().unwrap().push(said);
        let text = |slot, text: &str| SlotText {
            slot,
            text: text.to_owned(),
        };
        let slot = |kind, name: &str| PageSlot {
            kind,
            name: name.to_owned(),
            texts: 1,
        };
        let near = NearTemplate {
            template: 7,
            site: "甲<b>站".to_owned(),
            version: 2,
            similarity: 0.5,
            missing: 0.25,
            fits: page.bytes.starts_with(b"<p>"),
        };
        let mut fit = PageFit {
            url: page.url.clone(),
            template: Some(7).filter(|_| near.fits),
            least_similarity: 0.35,
            most_missing: 0.4,
            nearest: vec![near],
            record: vec![RecordField {
                name: "价格<script>".to_owned(),
                value: "<img src=x>".to_owned(),
                is_named: true,
            }],
            ..PageFit::default()
        };
        if fit.template.is_some() {
            fit.slots = vec![
                slot(SlotKind::Fixed, ""),
                slot(SlotKind::Named, "价格<script>"),
                slot(SlotKind::Field, "body"),
                slot(SlotKind::Unnamed, "[93d02ab7]"),
                slot(SlotKind::Unknown, ""),
            ];
            fit.lines = vec![
                vec![text(0, "价格："), text(1, "<img src=x>")],
                vec![text(2, "正文。")],
            ];
        }
        Ok(fit)
    }
}

fn desk() -> (Router, Arc<FakeDesk>) {
    let desk = Arc::new(FakeDesk::default());
    let config = Config {
        token: Secret::from(TOKEN),
        ..Config::default()
    };
    let app = router(ServeState {
        templates: Some(Arc::clone(&desk) as Arc<dyn TemplateReview>),
        ..state(config)
    });
    (app, desk)
}

async fn send(app: &Router, method: &str, path: &str, token: bool, body: &'static str) -> Answer {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/x-www-form-urlencoded");
    if token {
        request = request.header("authorization", format!("Bearer {TOKEN}"));
    }
    ask(app, request.body(Body::from(body)).unwrap()).await
}

#[tokio::test]
async fn templates_operator_only() {
    let (app, desk) = desk();
    for (method, path) in [
        ("GET", "/templates"),
        ("GET", "/templates/7"),
        ("GET", "/templates/7/page/0"),
        ("POST", "/templates/7"),
    ] {
        let answer = send(&app, method, path, false, "region=00ff&field=body").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method} {path}");
    }
    assert!(desk.changes.lock().unwrap().is_empty());
    // A page of another site cannot act for somebody who is signed in: that is the token's own test.
    assert_eq!(
        send(&app, "GET", "/templates", true, "").await.status,
        StatusCode::OK
    );
}

/// The status page leads to the templates of one site.
#[tokio::test]
async fn templates_filter_by_site() {
    let (app, _) = desk();
    let own = send(
        &app,
        "GET",
        "/templates?site=%E7%94%B2%3Cb%3E%E7%AB%99",
        true,
        "",
    )
    .await;
    own.assert_has(&["/templates/7\"", "href=\"/templates\""]);
    own.assert_lacks(&["<b>站"]);
    let other = send(&app, "GET", "/templates?site=%E4%B9%99", true, "").await;
    assert!(!other.body.contains("/templates/7\"") && other.body.contains("还没有模板"));
}

#[tokio::test]
async fn template_page_lists_sequences() {
    let (app, _) = desk();
    for (lang, heading, or) in [("en", "Optional parts", "or"), ("zh", "可选部分", "或")] {
        let path = format!("/templates/7?lang={lang}");
        let shown = send(&app, "GET", &path, true, "").await;
        shown.assert_has(&[
            heading,
            "<td>67 %</td><td>div.note",
            "<td>↳ 41 %</td><td>img</td>",
            &format!("<td>{or} 33 %</td><td>ul li+</td>"),
        ]);
    }
}

#[tokio::test]
async fn template_page_escapes() {
    let (app, _) = desk();
    for path in [
        "/templates",
        "/templates/7",
        "/templates/7?region=00ff&field=boilerplate",
    ] {
        let answer = send(&app, "GET", path, true, "").await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        answer.assert_lacks(&["<b>站", "<script>", "<img src=x>"]);
        answer.assert_has(&["甲"]);
    }
    let shown = send(
        &app,
        "GET",
        "/templates/7?region=00ff&field=boilerplate",
        true,
        "",
    )
    .await;
    assert!(
        shown.body.contains("少了"),
        "the effect stands before the button"
    );
}

#[tokio::test]
async fn template_pages_count_waiting_documents() {
    let (app, _) = desk();
    for path in ["/templates", "/templates/7"] {
        let answer = send(&app, "GET", path, true, "").await;
        let said = "有 1,234 篇文档等待提取字段";
        assert_eq!(answer.body.matches(said).count(), 1, "{path}");
        let english = send(&app, "GET", &format!("{path}?lang=en"), true, "").await;
        english.assert_has(&["1,234 documents of ", " wait for their fields"]);
    }
}

#[tokio::test]
async fn template_frame_is_sandboxed() {
    let (app, _) = desk();
    let page = send(&app, "GET", "/templates/7", true, "").await;
    assert!(
        page.header("content-security-policy")
            .contains("frame-src 'self'")
    );
    page.assert_has(&["<iframe sandbox=\"allow-top-navigation-by-user-activation\""]);
    let frame = send(&app, "GET", "/templates/7/page/1", true, "").await;
    let policy = frame.header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; style-src 'unsafe-inline';"),
        "{policy}"
    );
    assert!(
        policy.contains("sandbox") && !policy.contains("allow-scripts"),
        "{policy}"
    );
    assert_eq!(frame.header("x-frame-options"), "SAMEORIGIN");
    frame.assert_has(&["/templates/7?page=1&region="]);
    // Regions are called by words of the reader's language, those without a field too.
    assert!(frame.body.ends_with("正文 其他</p>"), "{}", frame.body);
    let english = send(&app, "GET", "/templates/7/page/1?lang=en", true, "").await;
    assert!(english.body.ends_with("text other</p>"), "{}", english.body);
    // Every other page keeps the common policy.
    let home = send(&app, "GET", "/", true, "").await;
    assert_eq!(home.header("x-frame-options"), "DENY");
    assert!(
        home.header("content-security-policy")
            .contains("frame-ancestors 'none'")
    );
}

#[tokio::test]
async fn template_changes_reach_desk() {
    let (app, desk) = desk();
    let said = send(
        &app,
        "POST",
        "/templates/7",
        true,
        "page=2&region=00ff&field=body",
    )
    .await;
    assert_eq!(said.status, StatusCode::SEE_OTHER);
    assert_eq!(said.header("location"), "/templates/7?page=2");
    send(&app, "POST", "/templates/7", true, "use=no").await;
    send(&app, "POST", "/templates/7", true, "use=yes").await;
    let named = "page=2&token=12&name=%E4%BB%B7%E6%A0%BC+";
    let said = send(&app, "POST", "/templates/7", true, named).await;
    assert_eq!(said.header("location"), "/templates/7?page=2");
    let said = send(
        &app,
        "POST",
        "/templates/7",
        true,
        "slot=0abc&name=&site=a+b",
    )
    .await;
    assert_eq!(said.header("location"), "/sites/a%20b#fields");
    let changes = desk.changes.lock().unwrap().clone();
    assert_eq!(
        changes,
        [
            "7 00ff body",
            "7 true",
            "7 false",
            "7 Text { page: 2, token: 12 } 价格",
            "7 Slot(\"0abc\") "
        ]
    );
}

#[tokio::test]
async fn templates_unknown_not_found() {
    let (app, _) = desk();
    for (method, path) in [
        ("GET", "/templates/8"),
        ("GET", "/templates/8/page/0"),
        ("GET", "/templates/7/page/9"),
        ("POST", "/templates/8"),
    ] {
        let answer = send(&app, method, path, true, "region=1&field=body").await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{method} {path}");
    }
    // Without a store there are no template pages.
    let config = Config {
        token: Secret::from(TOKEN),
        ..Config::default()
    };
    let bare = router(state(config));
    let answer = send(&bare, "GET", "/templates", true, "").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

/// A form with parts of these names, and texts.
fn form_parts(parts: &[(&str, &str)]) -> String {
    let part = |(name, text): &(&str, &str)| {
        let file = if *name == "file" {
            "; filename=\"a.html\""
        } else {
            ""
        };
        format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{text}\r\n")
    };
    parts.iter().map(part).collect::<String>() + "--x--\r\n"
}

async fn submit(app: &Router, parts: &[(&str, &str)]) -> Answer {
    let request = Request::builder()
        .method("POST")
        .uri("/templates/fit")
        .header("content-type", "multipart/form-data; boundary=x")
        .header("authorization", format!("Bearer {TOKEN}"));
    ask(app, request.body(Body::from(form_parts(parts))).unwrap()).await
}

async fn post_json(app: &Router, token: bool, body: serde_json::Value) -> Answer {
    let mut request = Request::builder()
        .method("POST")
        .uri("/api/templates/fit")
        .header("content-type", "application/json");
    if token {
        request = request.header("authorization", format!("Bearer {TOKEN}"));
    }
    ask(app, request.body(Body::from(body.to_string())).unwrap()).await
}

#[tokio::test]
async fn fit_page_compares_file_or_paste() {
    let (app, desk) = desk();
    let list = send(&app, "GET", "/templates", true, "").await;
    list.assert_has(&["action=\"/templates/fit\""]);
    let form = send(&app, "GET", "/templates/fit", true, "").await;
    form.assert_has(&[
        "multipart/form-data",
        "name=\"url\"",
        "name=\"file\"",
        "name=\"html\"",
    ]);

    let empty = [("url", ""), ("file", ""), ("html", " ")];
    let nothing = submit(&app, &empty).await;
    assert_eq!(nothing.status, StatusCode::BAD_REQUEST);
    nothing.assert_has(&["请填写网址"]);
    assert!(desk.changes.lock().unwrap().is_empty());

    // The file goes before what was pasted.
    let parts = [
        ("lang", "en"),
        ("url", "http://a.test/1"),
        ("file", "<p>a</p>"),
        ("html", "<b>"),
    ];
    let fits = submit(&app, &parts).await;
    assert_eq!(fits.status, StatusCode::OK);
    fits.assert_has(&[
        "It fits 甲",
        " v2: 50 % of the paths of its blocks are shared, 25 % of the essential nodes are missing.",
        "fixed text of the template",
        "[93d02ab7]",
        "<span class=\"m mf\" title=\"fixed text of the template\">价格：<sup>1</sup></span>",
        "class=\"m m0\" title=\"价格",
        "class=\"m m1\" title=\"text\">正文。<sup>3</sup>",
        "class=\"m mu\">5</span>",
        "value=\"http://a.test/1\"",
    ]);
    fits.assert_lacks(&["<b>站", "<script>", "<img src=x>", " style="]);
    let none = submit(&app, &[("html", "<div>b</div>")]).await;
    none.assert_has(&[
        "不符合任何模板",
        "至少要 35 %",
        "最多 40 %",
        "不使用模板时的提取结果",
    ]);
    assert_eq!(
        *desk.changes.lock().unwrap(),
        [
            "Some(\"http://a.test/1\") 8 None",
            "None 12 Some(\"utf-8\")"
        ]
    );
}

#[tokio::test]
async fn fit_page_is_guarded() {
    let (app, desk) = desk();
    for (method, path) in [("GET", "/templates/fit"), ("POST", "/templates/fit")] {
        let answer = send(&app, method, path, false, "").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method}");
    }
    let html = serde_json::json!({ "html": "<p>" });
    let unknown = post_json(&app, false, html).await;
    assert_eq!(unknown.status, StatusCode::UNAUTHORIZED);
    // No form of the right kind.
    let other = send(&app, "POST", "/templates/fit", true, "html=x").await;
    assert!(other.status.is_client_error(), "{}", other.status);

    let long = "x".repeat(PAGE_BYTES_MAX + 1);
    assert_eq!(
        submit(&app, &[("html", &long)]).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    let endless = "x".repeat(3 * PAGE_BYTES_MAX);
    assert_eq!(
        submit(&app, &[("html", &endless)]).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    let long = post_json(&app, true, serde_json::json!({ "html": long })).await;
    assert_eq!(long.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(desk.changes.lock().unwrap().is_empty());
    // Without a store there is nothing to compare with.
    let config = Config {
        token: Secret::from(TOKEN),
        ..Config::default()
    };
    let bare = router(state(config));
    assert_eq!(
        submit(&bare, &[("html", "<p>")]).await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn fit_api_answers() {
    let (app, _) = desk();
    let fits = post_json(
        &app,
        true,
        serde_json::json!({ "html": "<p>a", "url": "http://a.test/" }),
    );
    let fits = fits.await.json();
    assert_eq!(fits["template"], 7);
    assert_eq!(fits["nearest"][0]["fits"], true);
    assert_eq!(
        fits["slots"][2],
        serde_json::json!({ "kind": "field", "name": "body", "texts": 1 })
    );
    assert_eq!(
        fits["lines"][0][1],
        serde_json::json!({ "slot": 1, "text": "<img src=x>" })
    );
    let none = post_json(&app, true, serde_json::json!({ "html": "b" }))
        .await
        .json();
    assert!(none.get("template").is_none(), "{none}");

    for (body, status, said) in [
        (serde_json::json!({}), 422, "send the page as `html`"),
        (serde_json::json!({ "page": "x" }), 400, ""),
        // This server has no crawler.
        (
            serde_json::json!({ "url": "http://a.test/" }),
            409,
            "send the page as `html`",
        ),
    ] {
        let answer = post_json(&app, true, body.clone()).await;
        assert!(answer.body.contains(said), "{body}: {}", answer.body);
        if status != 400 {
            assert_eq!(answer.status.as_u16(), status, "{body}");
        } else {
            assert!(answer.status.is_client_error());
        }
    }
    let page = submit(&app, &[("url", "http://a.test/")]).await;
    assert_eq!(page.status, StatusCode::CONFLICT);
    page.assert_has(&["没有运行抓取程序", "请在浏览器中保存该页面"]);
}
