//! `/api/trends`: compares the documents of several queries by date, as JSON, CSV or a workbook.

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};

use super::problem::Problem;
use super::sheet::{self, Cell, Sheet};
use crate::search::trends::{Format, Story, Trend, TrendParams, Trends, number_of_queries};
use crate::state::Server;

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
        ("q" = Vec<String>, Query, description = "The queries, in the language of /help; one to eight."),
        ("site" = Option<Vec<String>>, Query, description = "Only these sites: repeated or separated by commas."),
        ("since" = Option<String>, Query, description = "Published on or after this day (UTC+8), moment or period before now: `2026-05-01`, `30d`."),
        ("until" = Option<String>, Query, description = "Published up to the end of this day (UTC+8), or before this moment: `2026-05-31`."),
        ("match" = Option<String>, Query, description = "How many of the words a document must have, as in a search: `all`, `most` or `any`."),
        ("synonyms" = Option<String>, Query, description = "`off`: only the words as typed."),
        ("unit" = Option<String>, Query, description = "`day`, `week`, `month` or `year`. Default: what makes a readable chart. A unit that gives more than 400 points is made coarser, and a note says so."),
        ("format" = Option<String>, Query, description = "`json`, `csv` (the points only) or `xlsx`."),
    ),
    responses(
        (status = 200, description = "The comparison.", content(
            (Trends = "application/json"),
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
    let trends = server.trends(params.search_requests(), params.unit).await?;
    Ok(match params.format {
        Format::Json => Json(trends).into_response(),
        format => sheet::answer("trends", format, &sheets(&trends)),
    })
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
    for (at, all) in trends.all.iter().enumerate() {
        let mut row = vec![
            Cell::Time(all.start.to_string()),
            Cell::Count(all.documents),
        ];
        for trend in &trends.queries {
            let point = &trend.counts[at];
            let share = point.share.unwrap_or_default();
            row.extend([Cell::Count(point.documents), Cell::Share(share)]);
        }
        points.rows.push(row);
    }
    points
}

/// Sites, stories and rising terms of each query.
fn lists(queries: &[Trend]) -> [Sheet; 3] {
    let mut sites = empty("sites", &["query", "site", "site title", "documents"]);
    let of_story = [
        "query",
        "documents",
        "first site",
        "first site title",
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
            sites.rows.push(vec![
                query(),
                Cell::Text(count.site.clone()),
                count.title.clone().into(),
                Cell::Count(count.documents),
            ]);
        }
        for Story { documents, first } in &trend.stories {
            stories.rows.push(vec![
                query(),
                Cell::Count(*documents),
                first.site.clone().into(),
                first.site_title.clone().into(),
                Cell::time(first.published.clone()),
                Cell::Text(first.title.text.clone()),
                Cell::Link(first.url.clone()),
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
