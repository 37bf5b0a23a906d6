//! What changed and what documents said before: the API, and the pages of versions.

use taojin_crawl::store::{Cursor, CursorLost};

use super::*;

/// A document with three versions, one that is gone, and one that was taken down.
pub(super) struct FakeLog;

const DAY_MS: i64 = 86_400_000;
/// 2026-11-05 08:30 in Beijing.
const NOV_5_MS: i64 = 1_793_838_600_000;

fn line(kind: &str, parts: &[(&str, &str)]) -> DiffLine {
    let part = |(part, text): &(&str, &str)| DiffPart {
        part: (*part).to_owned(),
        text: (*text).to_owned(),
    };
    DiffLine {
        line: kind.to_owned(),
        parts: parts.iter().map(part).collect(),
        lines: (kind == "left_out").then_some(12),
    }
}

fn version(number: i64, change: &str) -> VersionAnswer {
    VersionAnswer {
        version: number,
        seq: 10 * number,
        change: change.to_owned(),
        changed_ms: NOV_5_MS + number * DAY_MS,
        title: Some(HOSTILE.to_owned()),
        published: None,
        author: None,
        source: None,
        characters: 812,
        compared_with: (number > 1).then_some(number - 1),
        fields: Vec::new(),
        diff: Vec::new(),
        diff_cut: false,
        unreadable: None,
    }
}

fn history(id: u64) -> Option<HistoryAnswer> {
    let mut second = version(2, "changed");
    second.fields = vec![FieldChange {
        field: "author".to_owned(),
        before: None,
        after: Some("李<i>四".to_owned()),
    }];
    second.diff = vec![
        line(
            "changed",
            &[
                ("same", "产量"),
                ("removed", "<b>增"),
                ("added", "<i>创新高"),
            ],
        ),
        line("left_out", &[]),
        line("added", &[("added", "全文完。")]),
    ];
    let (state, versions) = match id {
        1 => (
            "present",
            vec![version(3, "changed"), second, version(1, "new")],
        ),
        0xdead => (
            "gone",
            vec![version(3, "deleted"), second, version(1, "new")],
        ),
        0xbad => ("taken_down", Vec::new()),
        _ => return None,
    };
    Some(HistoryAnswer {
        id: format!("{id:016x}"),
        url: "https://oil1.example/a".to_owned(),
        site: None,
        state: state.to_owned(),
        gone_ms: (state != "present").then_some(NOV_5_MS),
        versions,
        left_out: 0,
    })
}

impl DocumentLog for FakeLog {
    fn changes(
        &self,
        cursor: &Cursor,
        limit: usize,
        documents: bool,
    ) -> Result<Result<ChangesAnswer, CursorLost>, SourceError> {
        match cursor.seq {
            7 => return Ok(Err(CursorLost::TooOld)),
            9 => return Err(SourceError::Failed("/secret/path is gone".to_owned())),
            _ => {}
        }
        let change = |seq: i64| ChangeAnswer {
            seq,
            change: "new".to_owned(),
            id: "0000000000000001".to_owned(),
            url: "https://oil1.example/a".to_owned(),
            site: None,
            title: None,
            published: None,
            first_seen_ms: NOV_5_MS,
            changed_ms: NOV_5_MS,
            version: 1,
            document: documents
                .then(|| DocumentAnswer::new("0000000000000001".to_owned(), fake_document(1))),
            unreadable: None,
        };
        Ok(Ok(ChangesAnswer {
            store: "00000000000000aa".to_owned(),
            changes: (1..=3).take(limit).map(change).collect(),
            next: cursor.to_string(),
            more: false,
            last_seq: 3,
        }))
    }

    fn history(&self, key: &DocumentKey) -> Result<Option<HistoryAnswer>, SourceError> {
        Ok(match key {
            DocumentKey::Id(id) => history(*id),
            DocumentKey::Url(uri) if uri.as_str().contains("unknown") => None,
            DocumentKey::Url(_) => history(1),
        })
    }

    fn past(&self, id: u64) -> Result<Past, SourceError> {
        let versions = history(id).map(|found| found.versions).unwrap_or_default();
        let listed = versions.iter().map(|version| VersionListed {
            version: version.version,
            changed_ms: version.changed_ms,
            gone: version.change == "deleted",
        });
        Ok(Past {
            versions: listed.collect(),
            confirmed_ms: (id == 2).then_some(NOV_5_MS),
        })
    }
}

#[tokio::test]
async fn changes_from_cursor() {
    let answer = get("/api/changes?since=00000000000000aa-5-40&limit=2").await;
    assert_eq!(answer.status, StatusCode::OK);
    let answer = answer.json();
    assert_eq!(answer["next"], "00000000000000aa-5-40");
    assert_eq!(answer["changes"].as_array().unwrap().len(), 2);
    assert!(answer["changes"][0].get("document").is_none());
    let whole = get("/api/changes?text=true").await.json();
    assert!(
        whole["changes"][0]["document"]["text"].is_string(),
        "{whole}"
    );
}

#[tokio::test]
async fn lost_cursor_is_gone() {
    let detail = get("/api/changes?since=7").await.problem(410);
    assert!(
        detail.contains("since=0") && detail.contains("keep_deleted_days"),
        "{detail}"
    );
    let broken = get("/api/changes?since=9").await.problem(500);
    assert!(!broken.contains("secret"), "{broken}");
}

#[tokio::test]
async fn changes_refuse_odd_parameters() {
    for (query, name) in [
        ("since=yesterday", "since"),
        ("since=-1", "since"),
        ("since=12-3", "since"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("text=yes", "text"),
        ("since=1&since=2", "since"),
        ("q=a", "q"),
    ] {
        let answer = get(&format!("/api/changes?{query}")).await;
        assert_eq!(answer.json()["parameter"], name, "{query}");
        answer.problem(400);
    }
    let long = format!("/api/changes?since={}", "1".repeat(400));
    assert!(get(&long).await.problem(400).len() < 200);
    assert!(get("/api/history").await.problem(400).contains("url"));
    get("/api/history?url=nothing").await.problem(400);
    get("/api/history?url=https://unknown.example/")
        .await
        .problem(404);
}

#[tokio::test]
async fn versions_linked_and_shown() {
    let document = visit("/doc/0000000000000001").await.body;
    for part in [
        "历史版本",
        "/doc/0000000000000001/versions#v3",
        "第 1 版",
        "2026-11-08 08:30",
    ] {
        assert!(document.contains(part), "{part}");
    }
    assert!(
        !visit("/doc/0000000000000002")
            .await
            .body
            .contains("历史版本")
    );
    let page = visit("/doc/0000000000000001/versions").await;
    assert_eq!(page.status, StatusCode::OK);
    page.assert_has(&[
        "<del>&lt;b&gt;增</del><ins>&lt;i&gt;创新高</ins>",
        "<ins>李&lt;i&gt;四</ins>",
        "相同的 12 段",
        "id=\"v2\"",
        "812 字",
    ]);
    page.assert_lacks(&["<script>alert"]);
    let english = visit("/doc/0000000000000001/versions?lang=en").await.body;
    assert!(english.contains("Version 2") && english.contains("12 paragraphs the same"));
}

#[tokio::test]
async fn gone_document_says_so() {
    for path in ["/doc/000000000000dead", "/doc/000000000000dead/versions"] {
        let page = visit(path).await;
        let status = if path.ends_with("versions") {
            StatusCode::OK
        } else {
            StatusCode::GONE
        };
        assert_eq!(page.status, status, "{path}");
        page.assert_has(&["已经不存在（2026-11-05 08:30 +08:00 发现）", "创新高"]);
    }
    let page = visit("/doc/0000000000000bad").await;
    assert_eq!(page.status, StatusCode::GONE);
    assert!(page.body.contains("撤下") && !page.body.contains("oil1.example"));
    for path in [
        "/doc/0000000000000063",
        "/doc/x/versions",
        "/doc/1/versions",
    ] {
        assert_eq!(visit(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}
