//! Any page on the templates: the page itself, or its address, which is fetched by the rules of the crawl and stored nowhere.

use serde_json::{Value, json};

use crate::crawl::named_fields::{crawl_wells, name_state, templates, well};
use crate::support::daemon::{Daemon, LISTEN, TOKEN};
use crate::support::folder::assert_has;
use crate::support::small_web::{Reply, SmallWeb};

fn web_of_wells() -> SmallWeb {
    let web = SmallWeb::new(&format!(
        "[templates]\nlearn_at = 12\nlearn_small_at = 12\n{LISTEN}token = \"{TOKEN}\"\n"
    ));
    web.set_page("a.test/robots.txt", "User-agent: *\nDisallow: /no/\n");
    crawl_wells(&web);
    name_state(&web, &templates(&web)[0], "12 of 12 pages, 3 different");
    web
}

fn ask(daemon: &Daemon, page: &Value) -> (u16, Value) {
    daemon.post("/api/templates/fit", &page.to_string())
}

/// The value of a field of the record.
fn field<'a>(fit: &'a Value, name: &str) -> &'a Value {
    let mut record = fit["record"].as_array().expect("a record").iter();
    let found = record.find(|field| field["name"] == name);
    found.map_or(&Value::Null, |field| &field["value"])
}

/// What the slot of a text is called.
fn slot_of(fit: &Value, text: &str) -> Value {
    let lines = fit["lines"].as_array().expect("lines");
    let mut texts = lines
        .iter()
        .flat_map(|line| line.as_array().expect("texts"));
    let found = texts.find(|own| own["text"] == text).expect("a text");
    let number = found["slot"].as_u64().expect("a number") as usize;
    fit["slots"][number].clone()
}

#[test]
fn any_page_on_templates() {
    let web = web_of_wells();
    let daemon = Daemon::start(&web);
    daemon.wait_for_documents(12);
    let well_99 = well(99, "old").body;
    let (status, fit) = ask(&daemon, &json!({ "html": well_99 }));
    assert_eq!(status, 200, "{fit}");
    assert_eq!(fit["nearest"][0]["site"], "a");
    assert_eq!(fit["template"], fit["nearest"][0]["template"]);
    assert_eq!(field(&fit, "状态"), "在钻");
    assert_eq!(field(&fit, "井号"), "NY-99");
    assert_eq!(field(&fit, "title"), "第99口井钻探记录");
    assert_eq!(slot_of(&fit, "NY-99")["name"], "井号");
    assert_eq!(slot_of(&fit, "在钻")["kind"], "named");
    assert_eq!(slot_of(&fit, "版权所有")["kind"], "fixed");

    let other = "<table><tr><td>别的版面</td></tr></table>";
    let (status, none) = ask(&daemon, &json!({ "html": other }));
    assert_eq!((status, &none["template"]), (200, &Value::Null), "{none}");
    let (near, least) = (&none["nearest"][0], none["least_similarity"].as_f64());
    assert!(near["similarity"].as_f64() < least, "{none}");
    assert_eq!(none["lines"], json!([]));

    // `serve` has no crawler; a page it can compare.
    let server = Daemon::serving(&web);
    assert_eq!(
        ask(&server, &json!({ "html": well_99 })).1["template"],
        fit["template"]
    );
    let (status, problem) = ask(&server, &json!({ "url": web.url("a.test/1.html") }));
    assert_eq!(status, 409, "{problem}");
    assert_has(&problem["detail"].to_string(), &["send the page as `html`"]);
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn address_on_templates_obeys_gate() {
    let web = web_of_wells();
    let daemon = Daemon::start(&web);
    daemon.wait_for_documents(12);
    let ask_url = |page: &str| ask(&daemon, &json!({ "url": web.url(page) }));
    let (status, fit) = ask_url("a.test/39.html");
    assert_eq!(
        (status, field(&fit, "井号")),
        (200, &json!("NY-39")),
        "{fit}"
    );
    assert_eq!(web.asked("a.test/39.html"), 1);
    assert_eq!(daemon.documents(), 12, "it was stored");

    web.set("a.test/moved", Reply::status(404));
    web.set_page("a.test/no/1.html", "<p>nobody</p>");
    daemon.post(
        "/api/purge",
        &json!({ "url": web.url("a.test/5.html") }).to_string(),
    );
    for (page, asked, said) in [
        ("a.test/moved", 1, "there is no such page"),
        ("a.test/no/1.html", 0, "line 2: Disallow: /no/"),
        ("other.test/1.html", 0, "no site has the host"),
        ("a.test/5.html", 0, "was taken down"),
    ] {
        let before = web.asked(page);
        let (status, problem) = ask_url(page);
        assert_eq!(status, 422, "{page}: {problem}");
        assert_has(
            &problem["detail"].to_string(),
            &[said, "send the page as `html`"],
        );
        assert_eq!(web.asked(page) - before, asked, "{page}");
    }
    let (status, problem) = ask(&daemon, &json!({ "url": "file:///etc/passwd" }));
    assert_eq!(status, 422, "{problem}");
    daemon.post("/api/sites/a/pause", "");
    let (status, problem) = ask_url("a.test/38.html");
    assert_eq!((status, web.asked("a.test/38.html")), (409, 0), "{problem}");
    assert_eq!(daemon.stop(), Some(0));
}
