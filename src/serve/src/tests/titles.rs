//! What readers call a site stands wherever its name is not needed, and beside the name where a program reads it.

use taojin_search::index::SiteTitles;

use super::field_offers::index;
use super::*;

const TITLE: &str = "滨海<港>务网";

/// Three reports of a site with a title and one of a site without.
pub(super) fn titled_app() -> (tempfile::TempDir, Router) {
    // Long enough to be told as a reprint.
    let berths = (1..40).map(|n| format!("引航站夜间作业，{n}号泊位卸下{}吨钢材。", n * 37));
    let text: String = berths.collect();
    let report = |(at, site): (u32, &str)| Document {
        url: format!("https://{site}.example/{at}"),
        site: Some(site.to_owned()),
        title: Some("引航站夜间作业通报".to_owned()),
        published: Some(format!("2026-03-{:02}", at + 1)),
        source: (at == 2).then(|| TITLE.to_owned()),
        addresses: Vec::from_iter((at == 1).then(|| "https://pilot.example/copy-7".to_owned())),
        text: text.clone(),
        ..Document::default()
    };
    let sites = ["port", "port", "port", "pilot"];
    let (dir, reader) = index((0..).zip(sites).map(report).collect());
    let titles = SiteTitles::new(|| vec![("port".to_owned(), TITLE.to_owned())]);
    let state = ServeState {
        source: Arc::new(reader.with_titles(titles)),
        log: None,
        follows: Arc::new(|| {
            vec![Follow {
                name: "night".to_owned(),
                query: "引航站".to_owned(),
                ..Follow::default()
            }]
        }),
        ..state(Config::default())
    };
    (dir, router(state))
}

#[tokio::test]
async fn pages_show_titles_of_sites() {
    let (_dir, app) = titled_app();
    let shown = "滨海&#60;港&#62;务网";
    for (path, parts) in [
        (
            "/?q=引航站&site=port",
            vec![
                format!("<span>站点：{shown}</span>"),
                format!("<span class=\"label\">{shown}</span>"),
            ],
        ),
        (
            "/?q=引航站+site:port",
            vec![format!("<span>站点：{shown}</span>")],
        ),
        (
            "/doc/0000000000000001",
            vec![
                format!("<span class=\"site\">{shown}</span>"),
                "<span class=\"site\">pilot</span>".to_owned(),
                format!("引航站夜间作业通报[EB/OL]. {shown}, "),
            ],
        ),
        ("/trends?q=引航站", vec![format!(">{shown}<")]),
    ] {
        let page = ask(
            &app,
            get_request(encoded(path), &[("accept-language", "zh")]),
        )
        .await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        page.assert_has(&parts);
        page.assert_lacks(&[">port<", "：port<"]);
    }
    // A site that names itself by its title as its source says nothing new.
    let page = ask(&app, get_request(encoded("/?q=引航站&site=port"), &[])).await;
    page.assert_lacks(&["class=\"by\""]);
}

#[tokio::test]
async fn programs_get_name_and_title() {
    let (_dir, app) = titled_app();
    let found = ask(
        &app,
        get_request(encoded("/api/search?q=引航站&facets=true"), &[]),
    )
    .await
    .json();
    let mut titles: Vec<(&str, Option<&str>)> = Vec::new();
    for hit in found["hits"].as_array().unwrap() {
        titles.push((hit["site"].as_str().unwrap(), hit["site_title"].as_str()));
    }
    titles.sort_unstable();
    assert_eq!(
        titles,
        [
            ("pilot", None),
            ("port", Some(TITLE)),
            ("port", Some(TITLE)),
            ("port", Some(TITLE))
        ]
    );
    let count = &found["facets"]["sites"][0];
    assert_eq!(
        (count["site"].as_str(), count["site_title"].as_str()),
        (Some("port"), Some(TITLE))
    );
    let document = ask(&app, get_request("/api/docs/0000000000000001", &[]))
        .await
        .json();
    assert_eq!(
        (document["site"].as_str(), document["site_title"].as_str()),
        (Some("port"), Some(TITLE))
    );
    let document = ask(&app, get_request("/api/docs/0000000000000004", &[]))
        .await
        .json();
    assert!(document["site_title"].is_null());

    let table = ask(
        &app,
        get_request(encoded("/api/search?q=引航站&format=csv&sort=date"), &[]),
    )
    .await
    .body;
    let lines: Vec<&str> = table.trim_start_matches('\u{feff}').lines().collect();
    assert!(
        lines[0].starts_with("title,site,site_title,published,"),
        "{}",
        lines[0]
    );
    assert!(lines[1].contains(",pilot,,2026-03-04,"), "{}", lines[1]);
    assert!(
        lines[2].contains(&format!(",port,{TITLE},2026-03-03,")),
        "{}",
        lines[2]
    );

    let feed = ask(&app, get_request(encoded("/feed.atom?q=引航站"), &[])).await;
    feed.assert_has(&[
        "<category term=\"port\" label=\"滨海&#60;港&#62;务网\"/>",
        "<category term=\"pilot\"/>",
    ]);
    let feed = ask(
        &app,
        get_request(encoded("/feed.json?q=引航站&site=port"), &[]),
    )
    .await
    .json();
    assert_eq!(feed["items"][0]["tags"], serde_json::json!([TITLE]));
    assert_eq!(feed["items"][0]["_taojin"]["site"], "port");
}

#[tokio::test]
async fn document_is_found_by_each_address() {
    let (_dir, app) = titled_app();
    for query in [
        "url:copy-7",
        "https://pilot.example/copy-7",
        "url:port.example/1",
    ] {
        let sent = encoded(&format!("/api/search?q={query}"));
        let found = ask(&app, get_request(sent, &[])).await.json();
        assert_eq!(found["total"], 1, "{query}: {found}");
        assert_eq!(found["hits"][0]["url"], "https://port.example/1");
        assert_eq!(
            found["hits"][0]["addresses"][0],
            "https://pilot.example/copy-7"
        );
    }
    let document = ask(&app, get_request("/api/docs/0000000000000002", &[])).await;
    assert_eq!(
        document.json()["addresses"][0],
        "https://pilot.example/copy-7"
    );
    for path in ["/doc/0000000000000002?lang=en", "/?q=url:copy-7&lang=en"] {
        let page = ask(&app, get_request(encoded(path), &[])).await;
        page.assert_has(&["also at", "pilot.example/copy-7"]);
    }
    let page = ask(&app, get_request("/doc/0000000000000001?lang=en", &[])).await;
    page.assert_lacks(&["also at"]);
}

/// A path whose query may be sent.
pub(super) fn encoded(path: &str) -> String {
    let url = url::Url::parse("http://a.example")
        .unwrap()
        .join(path)
        .unwrap();
    format!("{}?{}", url.path(), url.query().unwrap_or_default())
}
