//! The router, called in process over a source of invented documents.

mod api;
mod feed;
mod field_offers;
mod figures;
mod follow;
mod help;
mod host;
mod limiter;
mod listen;
mod log;
mod openapi;
mod pages;
mod params;
mod reading;
mod templates;
mod terms;
mod titles;
mod token;
mod trends;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use tower::ServiceExt;

use super::api::problem::PROBLEM_JSON;
use super::search::source::{HitReprints, Relaxation, RelaxedQuery, WeakerList};
use super::search::trends::Trends;
use super::*;
use taojin_extract::{Attachment, Comment, Document, FilePart, Image, Meta, SourceFile};
use taojin_search::index::{
    DateUnit, Facets, FieldCounts, SiteCount, Suggested, Suggestion, ValueCount,
};
use taojin_search::query::dates::DateError;

/// A whole text in a feed.
const WHOLE: &str = "<h2>油价 &amp; 气价</h2>\n<p>&lt;b&gt;正文</p>\n";

/// Title that would do harm if it reached a page unescaped.
const HOSTILE: &str = "<script>alert(\"1\")</script>油价 & 'x'";

/// Twenty-five documents about 油价, the first of them hostile. Some words make it misbehave.
#[derive(Default)]
struct Fake {
    /// While set, the search for `slow` does not end, and documents are not counted.
    held: Arc<AtomicBool>,
    is_remote: bool,
}

fn fake_document(at: usize) -> Document {
    Document {
        url: match at {
            0 => "javascript:alert(1)".to_owned(),
            _ => format!("https://oil{at}.example/a?x=1&y=\"{at}\""),
        },
        site: Some(
            if at.is_multiple_of(2) {
                "甲站"
            } else {
                "<b>乙</b>"
            }
            .to_owned(),
        ),
        title: Some(if at == 0 {
            HOSTILE.to_owned()
        } else {
            format!("油价第{at}号")
        }),
        published: (at != 3).then(|| format!("2026-05-{:02}T08:30:00+08:00", at + 1)),
        author: Some("李<i>四".to_owned()),
        source: Some("某报".to_owned()),
        text: "今日油价上涨。<img src=x onerror=alert(1)>\n\n第二段 & 油价。".to_owned(),
        file: (at == 7).then(|| SourceFile {
            format: "pdf".to_owned(),
            bytes: 1_234_567,
            pages: Some(12),
            page_url: Some("https://oil7.example/notice".to_owned()),
            page_title: Some("关于<i>油价</i>的通知".to_owned()),
            parts: [("1", 0), ("附表", 1)]
                .map(|(name, after)| FilePart {
                    name: name.to_owned(),
                    after,
                })
                .into(),
        }),
        images: vec![
            Image {
                url: Some("https://img.example/p.jpg".to_owned()),
                alt: "<b>井架</b>".to_owned(),
                after: 1,
            },
            Image {
                url: Some("javascript:alert(2)".to_owned()),
                alt: String::new(),
                after: 9,
            },
        ],
        meta: fake_meta(),
        attachments: vec![
            Attachment {
                url: "https://oil.example/1.docx".to_owned(),
                name: "<b>分工表</b>".to_owned(),
                format: "docx".to_owned(),
                ..Attachment::default()
            },
            Attachment {
                url: "javascript:alert(3)".to_owned(),
                name: "坏地址".to_owned(),
                ..Attachment::default()
            },
        ],
        comments: vec![Comment {
            author: None,
            published: Some("2026-05-03T14:20:31.500+08:00".to_owned()),
            text: "</article>油价太高".to_owned(),
            ..Comment::default()
        }],
        ..Document::default()
    }
}

fn fake_meta() -> Meta {
    let mut meta = Meta::default();
    meta.add("发文字号".to_owned(), "国发〔2026〕12号".to_owned());
    meta.add("<i>机构".to_owned(), "能源局 & 财政局".to_owned());
    meta
}

/// A question with two answers, which are in its text too; the first answer has a signature.
fn fake_thread() -> Document {
    let post = |author: &str, published: &str, text: &str| Comment {
        author: Some(author.to_owned()),
        published: Some(published.to_owned()),
        text: text.to_owned(),
        ..Comment::default()
    };
    Document {
        url: "https://bbs.example/1".to_owned(),
        title: Some("问一个问题".to_owned()),
        text: "<b>怎么下套管？\n下到四千八。\n看压力曲线。\n谢谢。".to_owned(),
        images: vec![Image {
            url: None,
            alt: "压力曲线图".to_owned(),
            after: 3,
        }],
        comments: vec![
            post(
                "老井架",
                "2026-05-03T06:20:00Z",
                "下到四千八。\n看压力曲线。\n<签名>",
            ),
            post("小刘", "昨天 08:30", "谢谢。"),
        ],
        ..Document::default()
    }
}

fn fake_marks(query: &str, text: &str) -> Marked {
    let marks = if query.is_empty() {
        Vec::new()
    } else {
        text.match_indices(query)
            .map(|(at, hit)| at..at + hit.len())
            .collect()
    };
    Marked {
        text: text.to_owned(),
        marks,
    }
}

fn fake_hit(at: usize, text: &str) -> DocumentHit {
    let document = fake_document(at);
    let copied = text == "copied";
    let outlets: &[&str] = if copied {
        &["甲", "<b>乙", "丙", "丁", "戊"]
    } else {
        &[]
    };
    DocumentHit {
        id: format!("{at:016x}"),
        title: fake_marks(text, document.title.as_deref().unwrap_or_default()),
        snippet: fake_marks(text, &document.text),
        file: document.file,
        url: document.url,
        addresses: document.addresses,
        site_title: None,
        site: document.site,
        published: document.published,
        author: document.author,
        source: document.source,
        meta: document.meta,
        score: 1.5,
        reasons: Vec::new(),
        reprints: HitReprints {
            group: Some(at as u64),
            duplicates: if copied { 5 } else { 0 },
            outlets: outlets.iter().map(|outlet| (*outlet).to_owned()).collect(),
        },
    }
}

impl SearchSource for Fake {
    fn trends(
        &self,
        wanted: &[SearchRequest],
        unit: Option<DateUnit>,
    ) -> Result<Trends, SourceError> {
        Ok(trends::fake(wanted, unit))
    }

    fn search(&self, wanted: &SearchRequest) -> Result<SearchResults, SourceError> {
        match wanted.text.as_str() {
            "broken" => return Err(SourceError::Failed("/secret/path is gone".to_owned())),
            "panic" => panic!("asked to"),
            "wait" => {
                while !wanted.stop.is_stopped() {
                    std::thread::sleep(Duration::from_millis(5));
                }
                self.held.store(false, Ordering::Relaxed);
                return Err(SourceError::Failed("stopped".to_owned()));
            }
            "slow" => {
                while self.held.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            _ => {}
        }
        if wanted.text == "nothing"
            || wanted.until_ms <= wanted.since_ms && wanted.until_ms.is_some()
        {
            return Ok(SearchResults::default());
        }
        let hits = (0..25).skip(wanted.offset).take(wanted.limit);
        let hits = hits.map(|at| fake_hit(at, &wanted.text));
        let count = |(site, documents): (&str, u64)| SiteCount {
            site: site.to_owned(),
            title: None,
            documents,
        };
        let value = |(value, documents): (&str, u64)| ValueCount {
            value: value.to_owned(),
            documents,
        };
        let facets = || Facets {
            sites: [("甲站", 1_300), ("<b>乙</b>", 12)].map(count).into(),
            related: vec!["水平井".to_owned()],
            fields: vec![FieldCounts {
                field: "author".to_owned(),
                values: [("李<i>四", 1_200), ("王五", 3)].map(value).into(),
            }],
            ..Facets::default()
        };
        if wanted.text == "meant" && wanted.corrected {
            return Ok(SearchResults {
                total: 1,
                searched_instead: Some("<b>页岩气".to_owned()),
                ..SearchResults::default()
            });
        }
        let synonyms = if wanted.text == "co2" && !wanted.as_typed {
            vec![taojin_search::analyze::Expanded {
                typed: "co2".to_owned(),
                also: vec!["<i>二氧化碳".to_owned()],
            }]
        } else {
            Vec::new()
        };
        let notes = match wanted.text.as_str() {
            "noted" => vec![taojin_search::query::Note::NoDate {
                piece: "since:<b>".to_owned(),
                error: DateError::Date("<b>".to_owned()),
            }],
            _ => Vec::new(),
        };
        if wanted.text == "weak" {
            let other = SearchRequest {
                text: "a".to_owned(),
                ..wanted.clone()
            };
            let hits = self.search(&other)?.hits;
            return Ok(SearchResults {
                weaker: Some(WeakerList {
                    total: 40,
                    nearest: true,
                    hits,
                }),
                offers: vec![RelaxedQuery {
                    without: Relaxation::Quotes,
                    text: "油价 上涨".to_owned(),
                    total: 7,
                }],
                ..SearchResults::default()
            });
        }
        Ok(SearchResults {
            notes,
            synonyms,
            total: 25,
            hits: hits.collect(),
            facets: wanted.facets.then(facets),
            ..SearchResults::default()
        })
    }

    fn suggest(&self, typed: &str, limit: usize) -> Result<Vec<Suggestion>, SourceError> {
        let suggestion = |at| Suggestion {
            text: format!("{typed}{at}"),
            kind: Suggested::Term,
            documents: 3,
            id: None,
            marks: vec![[0, typed.chars().count()]],
        };
        Ok((0..limit).map(suggestion).collect())
    }

    fn latest(&self, wanted: &SearchRequest) -> Result<Vec<RecentHit>, SourceError> {
        let hits = self.search(wanted)?.hits.into_iter();
        let arrived = |(at, found): (i64, DocumentHit)| RecentHit {
            fetched_ms: 1_800_000_000_000 - at,
            published_ms: found.published.as_ref().map(|_| 1_777_564_800_000),
            html: if at == 1 {
                WHOLE.to_owned()
            } else {
                String::new()
            },
            found,
        };
        Ok((0..).zip(hits).map(arrived).collect())
    }

    fn document(&self, id: &str) -> Result<Option<Document>, SourceError> {
        if id == "broken" {
            return Err(SourceError::Failed("/secret/path is gone".to_owned()));
        }
        if id == "thread" {
            return Ok(Some(fake_thread()));
        }
        let at = usize::from_str_radix(id, 16).ok().filter(|at| *at < 25);
        Ok(at.map(fake_document))
    }

    fn related(&self, id: &str, limit: usize) -> Result<Related, SourceError> {
        let others = self.search(&SearchRequest {
            limit,
            ..SearchRequest::default()
        })?;
        let (reprints, similar) = others
            .hits
            .into_iter()
            .partition(|hit| hit.id.as_str() < "0000000000000002");
        assert!(self.document(id)?.is_some());
        let linked = [
            ("https://oil7.example/notice", "0000000000000001"),
            ("https://oil.example/1.docx", "0000000000000007"),
        ];
        Ok(Related {
            reprints,
            similar,
            linked: linked
                .map(|(url, id)| (url.to_owned(), id.to_owned()))
                .into(),
        })
    }

    fn mark(&self, query: &str, texts: &[&str]) -> Vec<Marked> {
        texts.iter().map(|text| fake_marks(query, text)).collect()
    }

    fn utc_offset_minutes(&self) -> i32 {
        480
    }

    fn documents(&self) -> Option<u64> {
        while self.is_remote && self.held.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(25)
    }

    fn is_remote(&self) -> bool {
        self.is_remote
    }
}

fn fake_status() -> Result<Status, String> {
    Ok(Status {
        version: "0.1.0".to_owned(),
        activity: Activity::Running,
        note: Words::new("disk <low>", "磁盘 <不足>"),
        documents: 25,
        sites: vec![SiteStatus {
            name: "甲站".to_owned(),
            errors: 2,
            verdict: SiteVerdict {
                level: Level::Failed,
                text: "every answer was <HTTP> 503".to_owned(),
                text_zh: "所有应答都是 <HTTP> 503".to_owned(),
                ..SiteVerdict::default()
            },
            last_error: Some("503 <b>https://x.example/</b>".to_owned()),
            ..SiteStatus::default()
        }],
        hosts: vec![HostStatus {
            host: "slow.example".to_owned(),
            delay_ms: 9_400,
            ..HostStatus::default()
        }],
        ..Status::default()
    })
}

fn state(config: Config) -> ServeState {
    ServeState {
        config,
        source: Arc::new(Fake::default()),
        follows: Arc::new(|| {
            vec![Follow {
                name: "deep-sea".to_owned(),
                title: "深海<b>".to_owned(),
                query: "油价".to_owned(),
                ..Follow::default()
            }]
        }),
        terms: None,
        sites: None,
        status: Arc::new(fake_status),
        health: Arc::new(Vec::new),
        readiness: Arc::new(|| crate::Readiness::Ready),
        metrics: metrics::builder().unwrap().build_recorder().handle(),
        templates: None,
        log: Some(Arc::new(log::FakeLog)),
    }
}

fn app() -> Router {
    router(state(Config::default()))
}

/// A server with a short time limit and two places, whose search for `slow` ends when the flag is cleared.
fn held_app() -> (Router, Arc<AtomicBool>) {
    let held = Arc::new(AtomicBool::new(true));
    let config = Config {
        time_limit_ms: 100,
        concurrent_searches: 2,
        ..Config::default()
    };
    let source = Arc::new(Fake {
        held: Arc::clone(&held),
        is_remote: false,
    });
    (
        router(ServeState {
            source,
            ..state(config)
        }),
        held,
    )
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    #[track_caller]
    fn assert_has(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.body.contains(part), "{part} is not in\n{}", self.body);
        }
    }

    #[track_caller]
    fn assert_lacks(&self, parts: &[&str]) {
        for part in parts {
            assert!(!self.body.contains(part), "{part} is in\n{}", self.body);
        }
    }

    /// Asserts that this is a problem document with the status and gives its detail.
    fn problem(&self, status: u16) -> String {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        assert_eq!(self.header("content-type"), PROBLEM_JSON);
        let problem: Problem = serde_json::from_str(&self.body).unwrap();
        assert_eq!(problem.status, status);
        assert!(!problem.title.is_empty() && !problem.detail.is_empty());
        problem.detail
    }
}

async fn ask(app: &Router, request: Request<Body>) -> Answer {
    let response = app.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, 4 << 20).await.unwrap();
    Answer {
        status: parts.status,
        headers: parts.headers,
        body: String::from_utf8_lossy(&bytes).into_owned(),
    }
}

/// A request with these headers.
fn get_request(path: impl AsRef<str>, headers: &[(&str, &str)]) -> Request<Body> {
    let mut request = Request::get(path.as_ref());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).unwrap()
}

async fn get(path: &str) -> Answer {
    ask(&app(), get_request(path, &[])).await
}

/// As a browser asks.
async fn visit(path: &str) -> Answer {
    ask(
        &app(),
        get_request(
            path,
            &[
                ("accept", "text/html,*/*;q=0.8"),
                ("accept-language", "zh-CN,en;q=0.5"),
            ],
        ),
    )
    .await
}
