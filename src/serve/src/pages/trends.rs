//! `/trends`: several queries over time, as a page.
//!
//! Draws lines by date, and lists of each query its sites, most reprinted stories and rising terms. It works without scripts;
//! the URL is the whole state.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

use super::request::{PageRequest, broken, failure, page};
use super::view::{Choice, Chrome, Linked, document_path, link};
use super::words::{TrendsPageLabels, fill, grouped};
use crate::pages::chart::{Lines, Series, count, limits, percent, period};
use crate::pages::choices::day_only;
use crate::search::params::Params;
use crate::search::trends::{QUERIES_MAX, Story, Trend, TrendParams, TrendPoint, Trends, UNITS};
use taojin_search::index::DateUnit;

/// Sites shown of each query.
const SITES_SHOWN: usize = 8;

/// A story and who had it first.
struct StoryView {
    first: Linked,
    /// Link to all documents with it.
    all: Choice,
}

/// One query below the chart.
struct QueryView {
    text: String,
    href: String,
    total: String,
    undated: String,
    sites: Vec<Choice>,
    stories: Vec<StoryView>,
    /// Each with the comparison that has it beside the query.
    rising: Vec<Choice>,
    notes: Vec<String>,
}

/// A row of the table of dates.
struct Row {
    start: String,
    all: String,
    /// Count and share of each query, and the documents.
    values: Vec<(String, String, String)>,
}

#[derive(Template)]
#[template(path = "trends.html")]
struct TrendsPage {
    c: Chrome,
    w: &'static TrendsPageLabels,
    /// The boxes of the form, an empty one last if there is room.
    boxes: Vec<String>,
    since_day: String,
    until_day: String,
    /// Code, name, and whether it is chosen.
    units: Vec<(&'static str, &'static str, bool)>,
    kept: Vec<(&'static str, String)>,
    chart: Option<Lines>,
    /// Counts or shares.
    measures: Vec<Choice>,
    notes: Vec<String>,
    table: Vec<Row>,
    queries: Vec<QueryView>,
    middle: String,
    downloads: Vec<Choice>,
}

/// Shows a comparison, or only the form.
pub(crate) async fn show(request: PageRequest) -> Response {
    let server = &request.server;
    let mut c = request.chrome();
    let params = match TrendParams::parse(&request.raw, &server.rules(false)) {
        Ok(params) => params,
        Err(error) => {
            let (heading, text) = (c.t.bad_query, error.detail(c.lang));
            return failure(c, StatusCode::BAD_REQUEST, heading, text);
        }
    };
    c.text = params
        .searches
        .first()
        .map_or(String::new(), |p| p.text.clone());
    c.kept = Vec::new();
    let other = params.in_lang(c.lang.other()).query_string();
    c.switch = link(&c.base, "/trends", &other);
    let trends = if params.searches.is_empty() {
        Ok(Trends::default())
    } else {
        server.trends(params.search_requests(), params.unit).await
    };
    match trends {
        Ok(trends) => page(&TrendsPage::new(c, &params, trends), StatusCode::OK),
        Err(error) => broken(c, &error),
    }
}

impl TrendsPage {
    fn new(c: Chrome, params: &TrendParams, trends: Trends) -> TrendsPage {
        let w = &c.t.trends_page;
        let mut boxes: Vec<String> = params.searches.iter().map(|p| p.text.clone()).collect();
        boxes.extend((boxes.len() < QUERIES_MAX).then(String::new));
        let coarser = trends.coarser.then(|| {
            let unit = unit_name(w, trends.unit);
            fill(w.coarser, &[("unit", unit)])
        });
        TrendsPage {
            boxes,
            since_day: day_only(params.common.since.as_deref()),
            until_day: day_only(params.common.until.as_deref()),
            units: units(w, params.unit),
            kept: kept(params),
            chart: chart(&c, params, &trends),
            measures: measures(&c, w, params),
            notes: coarser.into_iter().collect(),
            table: table(&c, params, &trends),
            middle: trends.middle.map_or(String::new(), |day| {
                fill(w.rising, &[("date", &day.to_string())])
            }),
            downloads: downloads(&c, params),
            queries: trends
                .queries
                .into_iter()
                .zip(&params.searches)
                .map(|(trend, search)| query(&c, params, trend, search))
                .collect(),
            w,
            c,
        }
    }
}

fn unit_name(w: &TrendsPageLabels, unit: DateUnit) -> &'static str {
    // The first name is that of no unit.
    let names = UNITS.into_iter().zip(&w.units[1..]);
    let mut names = names.filter(|((u, _), _)| *u == unit);
    names.next().map_or("", |(_, name)| name)
}

fn units(
    w: &TrendsPageLabels,
    chosen: Option<DateUnit>,
) -> Vec<(&'static str, &'static str, bool)> {
    let codes = UNITS.map(|(unit, code)| (Some(unit), code));
    let all = [(None, "auto")].into_iter().chain(codes);
    all.zip(w.units)
        .map(|((unit, code), name)| (code, name, unit == chosen))
        .collect()
}

/// What the form carries along.
fn kept(params: &TrendParams) -> Vec<(&'static str, String)> {
    let mut fields = super::view::kept(&params.common, false);
    // They have boxes of their own; a period such as 30d fits none, and stays until a day is chosen.
    let since = day_only(params.common.since.as_deref());
    let until = day_only(params.common.until.as_deref());
    fields.retain(|(name, _)| match *name {
        "since" => since.is_empty(),
        "until" => until.is_empty(),
        _ => true,
    });
    fields.extend(params.share.then(|| ("share", "true".to_owned())));
    fields
}

fn chart(c: &Chrome, params: &TrendParams, trends: &Trends) -> Option<Lines> {
    let starts: Vec<_> = trends.all.iter().map(|point| point.start).collect();
    let value = |point: &TrendPoint| match point.share {
        Some(share) if params.share => share,
        _ => point.documents as f64,
    };
    let queries = trends.queries.iter();
    let lines: Vec<(&str, Vec<f64>)> = queries
        .map(|trend| {
            (
                trend.text.as_str(),
                trend.counts.iter().map(value).collect(),
            )
        })
        .collect();
    let written = if params.share { percent } else { count };
    let series = Series {
        unit: trends.unit,
        starts: &starts,
        unfinished: trends.unfinished,
        lines: &lines,
        least_step: if params.share { 0.0001 } else { 1.0 },
    };
    let narrowed = |since: &str, until: &str| address(c, &params.within(since, until));
    Lines::new(c.t, &series, written, narrowed)
}

fn measures(c: &Chrome, w: &TrendsPageLabels, params: &TrendParams) -> Vec<Choice> {
    let choice = |(share, label): (bool, &'static str)| {
        let mut other = params.clone();
        other.share = share;
        Choice::link(label, address(c, &other)).chosen(params.share == share)
    };
    [(false, w.counts), (true, w.shares)].map(choice).into()
}

fn table(c: &Chrome, params: &TrendParams, trends: &Trends) -> Vec<Row> {
    let row = |(at, all): (usize, &TrendPoint)| {
        let (since, until) = limits(trends.unit, all.start);
        let within = params.within(&since, &until);
        let is_open = trends.unfinished.is_some_and(|first| all.start >= first);
        let remark = if is_open {
            c.t.sentences.unfinished
        } else {
            ""
        };
        let values = trends.queries.iter().zip(&within.searches);
        let value = |(trend, search): (&Trend, &Params)| {
            let point = &trend.counts[at];
            let share = percent(point.share.unwrap_or_default());
            (grouped(point.documents), share, c.search(search))
        };
        Row {
            start: format!("{}{remark}", period(trends.unit, all.start)),
            all: grouped(all.documents),
            values: values.map(value).collect(),
        }
    };
    // Latest first, as everywhere.
    let rows = trends.all.iter().enumerate().map(row);
    let mut rows: Vec<Row> = rows.collect();
    rows.reverse();
    rows
}

/// The same points and tables as files.
fn downloads(c: &Chrome, params: &TrendParams) -> Vec<Choice> {
    if params.searches.is_empty() {
        return Vec::new();
    }
    let mut plain = params.clone();
    (plain.share, plain.common.lang) = (false, None);
    let query = plain.query_string();
    let file = |(label, format): (&str, &str)| {
        let href = format!("{}/api/trends?{query}&format={format}", c.base);
        Choice::link(label, href)
    };
    [("CSV", "csv"), ("XLSX", "xlsx"), ("JSON", "json")]
        .map(file)
        .into()
}

fn address(c: &Chrome, params: &TrendParams) -> String {
    link(&c.base, "/trends", &params.query_string())
}

fn query(c: &Chrome, params: &TrendParams, trend: Trend, search: &Params) -> QueryView {
    let w = &c.t.trends_page;
    let of_site = |count: &taojin_search::index::SiteCount| {
        let href = c.search(&search.with(|p| p.sites = vec![count.site.clone()]));
        Choice::link(c.site(&count.site), href).counted(count.documents)
    };
    let story = |Story { documents, first }: Story| {
        let all = c.search(&search.with(|p| p.group = first.reprints.group));
        let path = document_path(&first.id);
        StoryView {
            first: Linked {
                href: c.link(&path, search),
                ..c.linked(&first)
            },
            all: Choice::link(w.reprinted.fill(documents), all),
        }
    };
    let rising = |rising: taojin_search::index::Rising| {
        let mut with = params.clone();
        let text = format!("{} {}", search.text, rising.term);
        if with.searches.len() < QUERIES_MAX {
            with.searches.push(search.with(|p| p.text = text));
        }
        Choice {
            label: rising.term,
            href: address(c, &with),
            chosen: false,
            count: Some(format!(
                "{} → {}",
                grouped(rising.before),
                grouped(rising.since)
            )),
        }
    };
    QueryView {
        text: trend.text,
        href: c.search(search),
        total: w.total.fill(trend.total),
        undated: match trend.undated {
            0 => String::new(),
            undated => w.undated.fill(undated),
        },
        sites: trend.sites.iter().take(SITES_SHOWN).map(of_site).collect(),
        stories: trend.stories.into_iter().map(story).collect(),
        rising: trend.rising.into_iter().map(rising).collect(),
        notes: trend
            .notes
            .iter()
            .map(|note| super::results::note(c.lang, note))
            .collect(),
    }
}
