//! `/api/trends`. In: queries, limits of time and sites. Out: their documents by date side by side, as JSON, CSV or a workbook.

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::answer::{SearchHit, SiteCountAnswer};
use super::problem::Problem;
use super::sheet::{self, Cell, Sheet};
use crate::search::trends::{Format, TrendParams, number_of_queries, unit_code};
use crate::search::trends::{Trend, Trends};
use crate::state::Server;

/// Answer of `/api/trends`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct TrendsAnswer {
    /// What one point stands for: `day`, `week`, `month` or `year`.
    pub(crate) unit: String,
    /// First day of each point, and all documents published then, whatever they say.
    pub(crate) all: Vec<TrendPoint>,
    /// From this day on terms count as risen; the middle of the points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) middle: Option<String>,
    /// The queries in the order asked.
    pub(crate) queries: Vec<TrendAnswer>,
    /// Remarks on the whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

/// Documents of a day, week, month or year.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct TrendPoint {
    /// First day of it.
    pub(crate) start: String,
    /// Documents published in it.
    pub(crate) documents: u64,
    /// Share of all documents published in it, from 0 to 1; not for all documents themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub(crate) share: Option<f64>,
}

/// One query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct TrendAnswer {
    /// As it was asked.
    pub(crate) query: String,
    /// Documents that match; reprints count one by one.
    pub(crate) total: u64,
    /// Those of them without a date, or with one outside the points.
    pub(crate) undated: u64,
    /// By date.
    pub(crate) counts: Vec<TrendPoint>,
    /// By site, most first.
    pub(crate) sites: Vec<SiteCountAnswer>,
    /// The most reprinted texts, each with the document that had it first.
    pub(crate) stories: Vec<StoryAnswer>,
    /// Terms that a greater share of the later documents has than of the earlier ones, the surest first.
    pub(crate) rising: Vec<RisingAnswer>,
    /// Remarks on the query.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

/// A text that several documents have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct StoryAnswer {
    /// Documents with it, the first included.
    pub(crate) documents: u64,
    /// The original, or else the earliest.
    pub(crate) first: SearchHit,
}

/// A term that rises.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct RisingAnswer {
    /// The term.
    pub(crate) term: String,
    /// Documents with it before the middle.
    pub(crate) before: u64,
    /// Documents with it since.
    pub(crate) since: u64,
}

/// Compare queries over time.
///
/// Up to eight queries (`q` repeated) side by side: documents by date as counts and as shares of all documents of that time, sites,
/// the most reprinted texts with who had them first, and terms that rise. Counts are those of the search; weaker matches are not
/// in them.
#[utoipa::path(
    get,
    path = "/api/trends",
    operation_id = "trends",
    tag = "search",
    params(
        ("q" = Vec<String>, Query, description = "The queries, in the language of /help; one to eight.", example = "天然气"),
        ("site" = Option<Vec<String>>, Query, description = "Only these sites: repeated or separated by commas."),
        ("since" = Option<String>, Query, description = "Published on or after this day (UTC+8), moment or period before now.", example = "30d"),
        ("until" = Option<String>, Query, description = "Published up to the end of this day (UTC+8), or before this moment.", example = "2026-05-31"),
        ("match" = Option<String>, Query, description = "How many of the words a document must have, as in a search.", example = "all"),
        ("synonyms" = Option<String>, Query, description = "`off`: only the words as typed.", example = "off"),
        ("unit" = Option<String>, Query, description = "`day`, `week`, `month` or `year`. Default: what makes a readable chart. A unit that gives more than 400 points is made coarser, and a note says so.", example = "week"),
        ("format" = Option<String>, Query, description = "`json`, `csv` (the points only) or `xlsx`.", example = "csv"),
    ),
    responses(
        (status = 200, description = "The comparison.", content(
            (TrendsAnswer = "application/json"),
            (String = "text/csv"),
            (Vec<u8> = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        )),
    )
)]
pub(crate) async fn trends(
    State(server): State<Server>,
    RawQuery(raw): RawQuery,
) -> Result<Response, Problem> {
    let params = TrendParams::parse(&raw.unwrap_or_default(), &server.rules(true))?;
    if params.searches.is_empty() {
        return Err(number_of_queries().into());
    }
    let trends = server.trends(params.wanted(), params.unit).await?;
    Ok(match params.format {
        Format::Json => Json(TrendsAnswer::from(trends)).into_response(),
        format => sheet::answer("trends", format, &sheets(&trends)),
    })
}

impl From<Trends> for TrendsAnswer {
    fn from(trends: Trends) -> TrendsAnswer {
        let unit = unit_code(trends.unit).to_owned();
        let point = |(start, documents, all): (String, u64, Option<u64>)| TrendPoint {
            start,
            documents,
            share: all.map(|all| share(documents, all)),
        };
        let all = &trends.all.counts;
        let one = |trend: Trend| TrendAnswer {
            counts: all
                .iter()
                .zip(&trend.counts)
                .map(|(all, n)| point((all.start.to_string(), *n, Some(all.documents))))
                .collect(),
            query: trend.text,
            total: trend.total,
            undated: trend.undated,
            sites: trend
                .sites
                .into_iter()
                .map(|count| SiteCountAnswer::from((count.site, count.documents)))
                .collect(),
            stories: trend
                .stories
                .into_iter()
                .map(|(documents, first)| StoryAnswer {
                    documents,
                    first: SearchHit::from(first),
                })
                .collect(),
            rising: trend
                .rising
                .into_iter()
                .map(|rising| RisingAnswer {
                    term: rising.term,
                    before: rising.before,
                    since: rising.since,
                })
                .collect(),
            notes: trend.notes.iter().map(ToString::to_string).collect(),
        };
        let coarser = format!("the unit asked for gives too many points; shown by {unit}");
        TrendsAnswer {
            all: all
                .iter()
                .map(|count| point((count.start.to_string(), count.documents, None)))
                .collect(),
            middle: trends.middle.map(|day| day.to_string()),
            queries: trends.queries.into_iter().map(one).collect(),
            notes: trends.coarser.then_some(coarser).into_iter().collect(),
            unit,
        }
    }
}

/// Part of a whole; 0 of nothing.
pub(crate) fn share(documents: u64, all: u64) -> f64 {
    documents as f64 / all.max(1) as f64
}

/// The comparison as tables: the points first.
pub(crate) fn sheets(trends: &Trends) -> Vec<Sheet> {
    let mut all = vec![points(trends)];
    all.extend(lists(&trends.queries));
    all
}

fn empty(name: &str, columns: &[&str]) -> Sheet {
    Sheet {
        name: name.to_owned(),
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        rows: Vec::new(),
    }
}

/// A row for each period.
fn points(trends: &Trends) -> Sheet {
    let mut points = empty("trends", &["start", "all documents"]);
    for trend in &trends.queries {
        points.columns.push(trend.text.clone());
        points.columns.push(format!("{} (share)", trend.text));
    }
    for (at, all) in trends.all.counts.iter().enumerate() {
        let mut row = vec![
            Cell::Text(all.start.to_string()),
            Cell::Count(all.documents),
        ];
        for trend in &trends.queries {
            let n = trend.counts.get(at).copied().unwrap_or_default();
            row.extend([Cell::Count(n), Cell::Share(share(n, all.documents))]);
        }
        points.rows.push(row);
    }
    points
}

/// Sites, stories and rising terms of each query.
fn lists(queries: &[Trend]) -> [Sheet; 3] {
    let mut sites = empty("sites", &["query", "site", "documents"]);
    let of_story = [
        "query",
        "documents",
        "first site",
        "published",
        "title",
        "url",
    ];
    let mut stories = empty("stories", &of_story);
    let of_term = ["query", "term", "documents before", "documents since"];
    let mut rising = empty("rising terms", &of_term);
    for trend in queries {
        let query = || Cell::Text(trend.text.clone());
        for count in &trend.sites {
            let site = Cell::Text(count.site.clone());
            sites
                .rows
                .push(vec![query(), site, Cell::Count(count.documents)]);
        }
        for (documents, first) in &trend.stories {
            stories.rows.push(vec![
                query(),
                Cell::Count(*documents),
                first.site.clone().into(),
                first.published.clone().into(),
                Cell::Text(first.title.text.clone()),
                Cell::Text(first.url.clone()),
            ]);
        }
        for term in &trend.rising {
            let text = Cell::Text(term.term.clone());
            let counts = [Cell::Count(term.before), Cell::Count(term.since)];
            rising
                .rows
                .push([query(), text].into_iter().chain(counts).collect());
        }
    }
    [sites, stories, rising]
}
