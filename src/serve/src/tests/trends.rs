//! The comparison over time: what is asked, the JSON, the files and the page.

use serde_json::Value;
use taojin_search::index::Rising;

use super::pages::assert_escaped;
use super::*;
use crate::search::trends::{Story, Trend, TrendPoint};

/// Three days; of the first query 1, 0 and 4 documents, of each next one more on the first day.
pub(super) fn fake(wanted: &[SearchRequest], unit: Option<DateUnit>) -> Trends {
    let day = |n| chrono::NaiveDate::from_ymd_opt(2026, 5, n).expect("a day");
    let one = |(at, wanted): (usize, &SearchRequest)| Trend {
        text: wanted.text.clone(),
        total: 7,
        undated: 1,
        counts: [(1, 1 + at as u64, 4), (2, 0, 0), (3, 4, 8)]
            .map(|(n, documents, all)| TrendPoint::new(day(n), documents, Some(all)))
            .into(),
        sites: vec![SiteCount {
            site: "<b>乙</b>".to_owned(),
            title: Some("乙<i>日报".to_owned()),
            documents: 5,
        }],
        stories: vec![Story {
            documents: 3,
            first: fake_hit(0, &wanted.text),
        }],
        rising: vec![Rising {
            term: "<i>压裂".to_owned(),
            before: 1,
            since: 9,
        }],
        notes: Vec::new(),
    };
    let coarser = unit == Some(DateUnit::Year);
    Trends {
        unit: unit.unwrap_or_default(),
        coarser,
        notes: coarser
            .then(|| "the unit asked for gives too many points; shown by year".to_owned())
            .into_iter()
            .collect(),
        all: [(1, 4), (2, 0), (3, 8)]
            .map(|(n, documents)| TrendPoint::new(day(n), documents, None))
            .into(),
        middle: Some(day(2)),
        unfinished: Some(day(3)),
        queries: wanted.iter().enumerate().map(one).collect(),
    }
}

/// With its ampersands as they are in addresses.
fn plain(page: &Answer) -> String {
    page.body.replace("&#38;", "&")
}

fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).expect("JSON")
}

#[tokio::test]
async fn trends_counts_and_shares() {
    let answer = visit("/api/trends?q=a&q=b&since=30d").await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let found = json(&answer);
    assert_eq!(found["unit"], "day");
    assert_eq!(found["all"][2]["documents"], 8);
    let second = &found["queries"][1];
    assert_eq!(
        (&second["query"], &second["total"]),
        (&"b".into(), &7.into())
    );
    assert_eq!(second["counts"][0]["documents"], 2);
    assert_eq!(second["counts"][0]["share"], 0.5);
    assert_eq!(
        second["counts"][1]["share"], 0.0,
        "no documents at all that day"
    );
    assert_eq!(second["rising"][0]["since"], 9);
    assert_eq!(second["stories"][0]["documents"], 3);
}

#[tokio::test]
async fn trends_refuse_by_name() {
    for (query, parameter) in [
        ("", "q"),
        ("q=", "q"),
        ("q=1&q=2&q=3&q=4&q=5&q=6&q=7&q=8&q=9", "q"),
        ("q=a&unit=hour", "unit"),
        ("q=a&format=pdf", "format"),
        ("q=a&unit=day&unit=week", "unit"),
        ("q=a&limit=3", "limit"),
        ("q=a&since=gestern", "since"),
    ] {
        let answer = visit(&format!("/api/trends?{query}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
        assert_eq!(json(&answer)["parameter"], parameter, "{query}");
    }
    // The same query twice is one line.
    let answer = visit("/api/trends?q=a&q=a").await;
    assert_eq!(json(&answer)["queries"].as_array().map(Vec::len), Some(1));
    let finer = json(&visit("/api/trends?q=a&unit=year").await);
    assert_eq!(
        finer["notes"][0],
        "the unit asked for gives too many points; shown by year"
    );
}

#[tokio::test]
async fn sheets_csv_and_xlsx() {
    let csv = visit("/api/trends?q=a&q=%3Db&format=csv").await;
    assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
    assert_eq!(
        csv.headers["content-disposition"],
        "attachment; filename=\"taojin-trends.csv\""
    );
    assert_eq!(
        csv.body,
        "\u{feff}start,all documents,a,a (share),'=b,'=b (share)\r\n\
         2026-05-01,4,1,0.250000,2,0.500000\r\n\
         2026-05-02,0,0,0.000000,0,0.000000\r\n\
         2026-05-03,8,4,0.500000,4,0.500000\r\n"
    );
    let hits = visit("/api/search?q=a&format=csv&limit=1000").await;
    assert_eq!(hits.status, StatusCode::OK, "{}", hits.body);
    assert_eq!(
        hits.body.matches("\r\n").count(),
        26,
        "all 25 hits and the names"
    );
    assert!(
        hits.body
            .starts_with("\u{feff}title,site,site_title,published,")
    );
    let refused = visit("/api/search?q=a&limit=1000").await;
    assert_eq!(
        refused.status,
        StatusCode::BAD_REQUEST,
        "JSON keeps its limit"
    );
    assert_eq!(
        visit("/api/search?q=a&format=csv&limit=1001").await.status,
        400
    );
    for path in ["/api/trends?q=a&format=xlsx", "/api/search?q=a&format=xlsx"] {
        let book = visit(path).await;
        assert_eq!(
            book.headers["content-type"],
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        );
        assert!(book.body.starts_with("PK"), "{path}");
    }
}

#[tokio::test]
async fn trends_page_state_in_url() {
    let page = visit("/trends?q=a&q=%3Cb%3E&since=30d&unit=day&lang=en").await;
    let body = plain(&page);
    assert_eq!(page.status, StatusCode::OK, "{body}");
    assert_escaped(&page);
    assert_eq!(page.body.matches("<polyline").count(), 4);
    page.assert_has(&[
        "<polyline class=\"c0\" points=\"0.0,180.0 360.0,240.0\"/>",
        "<polyline class=\"open c0\" points=\"360.0,240.0 720.0,0.0\"/>",
        "Dashed: not over yet",
    ]);
    // A click on a point narrows the comparison, a count in the table leads to its documents.
    let point = "href=\"/trends?q=a&q=%3Cb%3E&since=2026-05-02&until=2026-05-02&lang=en\"";
    let hits = "href=\"/?q=a&since=2026-05-03&until=2026-05-03&lang=en\">4</a>";
    assert!(body.contains(point) && body.contains(hits), "{body}");
    assert!(body.contains("2026-05-03: a 4 · &#60;b&#62; 4"), "{body}");
    assert!(body.contains("Rising since 2026-05-02"));
    assert!(body.contains("href=\"/api/trends?q=a&q=%3Cb%3E&unit=day&since=30d&format=xlsx\""));
    let shares = "href=\"/trends?q=a&q=%3Cb%3E&unit=day&share=true&since=30d&lang=en\"";
    assert!(body.contains(shares), "{body}");
    let shares = visit("/trends?q=a&share=true").await;
    shares.assert_has(&["2026-05-01: a 25.0 %"]);
    let empty = visit("/trends").await;
    assert_eq!(empty.status, StatusCode::OK);
    empty.assert_has(&["最多同时比较八个检索词"]);
    let results = plain(&visit("/?q=a&since=7d").await);
    assert!(
        results.contains("href=\"/trends?q=a&since=7d\""),
        "{results}"
    );
    assert!(results.contains("/api/search?q=a&since=7d&limit=25&format=csv\""));
}
