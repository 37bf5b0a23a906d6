//! What the templates print. In: answers and the parameters that asked for them. Out: one struct per page. Never
//! asks the index; never makes HTML but through `html`.

use askama::Template;

use super::config::{Config, PAGE_HITS};
use super::html::Html;
use super::lang::{Labels, Lang, OperatorLabels, grouped};
use super::params::{Params, Sort};
use super::source::{Found, FoundList, Marked};
use super::status::{Activity, Status};
use crate::extract::Document;

/// Page numbers shown to either side of the current one.
const PAGES_AROUND: usize = 4;
/// Sites shown in the filter; the largest come first.
const SITES_SHOWN: usize = 20;
/// Characters of an address that are shown.
const ADDRESS_CHARS: usize = 100;

/// What every page has: language, links, query box.
pub(crate) struct Chrome {
    pub(crate) lang: Lang,
    pub(crate) t: &'static Labels,
    pub(crate) base: String,
    pub(crate) version: &'static str,
    pub(crate) text: String,
    pub(crate) query_chars: usize,
    /// Hidden fields of the query box: the filters in force.
    pub(crate) kept: Vec<(&'static str, String)>,
    pub(crate) home: String,
    pub(crate) status: String,
    pub(crate) switch: String,
    pub(crate) documents: Option<u64>,
    pub(crate) operator: bool,
}

/// A link to choose, perhaps with a count.
pub(crate) struct Choice {
    pub(crate) label: String,
    pub(crate) href: String,
    pub(crate) chosen: bool,
    pub(crate) count: Option<String>,
}

/// A date as printed and as read by machines.
pub(crate) struct Day {
    pub(crate) machine: String,
    pub(crate) shown: String,
}

#[derive(Template)]
#[template(path = "home.html")]
pub(crate) struct HomePage {
    pub(crate) c: Chrome,
    pub(crate) exact: String,
    pub(crate) without: String,
}

/// A hit as shown.
pub(crate) struct HitView {
    title: Html,
    url: Option<String>,
    address: String,
    site: String,
    published: Option<Day>,
    snippet: Html,
    cached: String,
}

#[derive(Template)]
#[template(path = "results.html")]
pub(crate) struct ResultsPage {
    c: Chrome,
    total: String,
    first: usize,
    hits: Vec<HitView>,
    beyond: bool,
    sorts: Vec<Choice>,
    periods: Vec<Choice>,
    sites: Vec<Choice>,
    since_day: String,
    until_day: String,
    dates_kept: Vec<(&'static str, String)>,
    clear: Option<String>,
    chosen: String,
    pages: Vec<Choice>,
    previous: Option<String>,
    next: Option<String>,
}

/// A comment as shown.
pub(crate) struct CommentView {
    author: String,
    published: String,
    text: Html,
}

#[derive(Template)]
#[template(path = "document.html")]
pub(crate) struct DocumentPage {
    c: Chrome,
    plain_title: String,
    title: Html,
    language: String,
    url: Option<String>,
    address: String,
    site: String,
    source: String,
    author: String,
    published: Option<Day>,
    paragraphs: Vec<Html>,
    comments: Vec<CommentView>,
    back: Option<String>,
}

#[derive(Template)]
#[template(path = "status.html")]
pub(crate) struct StatusPage {
    c: Chrome,
    o: &'static OperatorLabels,
    s: Status,
    now_ms: i64,
    activity: &'static str,
    activity_class: &'static str,
    url_total: u64,
    url_rows: [(&'static str, u64); 6],
}

#[derive(Template)]
#[template(path = "error.html")]
pub(crate) struct ErrorPage {
    pub(crate) c: Chrome,
    pub(crate) code: u16,
    pub(crate) heading: &'static str,
    pub(crate) text: String,
}

/// Address of a page of ours with a query string.
pub(crate) fn link(base: &str, path: &str, query: &str) -> String {
    if query.is_empty() {
        format!("{base}{path}")
    } else {
        format!("{base}{path}?{query}")
    }
}

impl Chrome {
    /// The search page's address for these parameters.
    fn search(&self, params: &Params) -> String {
        link(&self.base, "/", &params.query_string())
    }
}

impl ResultsPage {
    pub(crate) fn new(
        c: Chrome,
        params: &Params,
        found: FoundList,
        took_ms: f64,
        config: &Config,
    ) -> ResultsPage {
        let total = c.lang.total(found.total, took_ms);
        let reachable = usize::try_from(found.total).unwrap_or(usize::MAX);
        let next_offset = params.offset + PAGE_HITS;
        let at = |offset: usize| {
            c.search(&Params {
                offset,
                ..params.clone()
            })
        };
        let doc_query = params.query_string();
        let hits = found
            .hits
            .into_iter()
            .map(|hit| hit_view(hit, &c, &doc_query))
            .collect();
        let unfiltered = Params {
            text: params.text.clone(),
            sort: params.sort,
            lang: params.lang,
            ..Params::default()
        };
        ResultsPage {
            first: params.offset + 1,
            beyond: params.offset > 0 && found.total > 0,
            sorts: sorts(&c, params),
            periods: periods(&c, params),
            sites: sites(&c, params, found.sites),
            since_day: day_only(params.since.as_deref()),
            until_day: day_only(params.until.as_deref()),
            dates_kept: kept(params, true),
            clear: params.filtered().then(|| c.search(&unfiltered)),
            chosen: chosen(&c, params),
            pages: pages(params, reachable, config, &at),
            previous: (params.offset > 0).then(|| at(params.offset.saturating_sub(PAGE_HITS))),
            next: (next_offset < reachable && next_offset <= config.offset_max())
                .then(|| at(next_offset)),
            total,
            hits,
            c,
        }
    }
}

fn hit_view(hit: Found, c: &Chrome, doc_query: &str) -> HitView {
    let cached = link(&c.base, &format!("/doc/{}", hit.id), doc_query);
    HitView {
        title: title(&hit.title, c.t),
        address: address(&hit.url),
        url: outward(&hit.url),
        site: hit.site.unwrap_or_default(),
        published: hit.published.as_deref().and_then(day),
        snippet: Html::marked(&hit.snippet),
        cached,
    }
}

fn title(marked: &Marked, labels: &Labels) -> Html {
    if marked.text.trim().is_empty() {
        Html::marked(&Marked::from(labels.untitled))
    } else {
        Html::marked(marked)
    }
}

/// The fields that a form must carry along; the query itself too if its own box is not in the form.
pub(crate) fn kept(params: &Params, with_query: bool) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    if with_query {
        fields.push(("q", params.text.clone()));
    } else {
        fields.extend(params.since.clone().map(|v| ("since", v)));
        fields.extend(params.until.clone().map(|v| ("until", v)));
    }
    fields.extend(params.sites.iter().map(|s| ("site", s.clone())));
    if params.sort != Sort::default() {
        fields.push(("sort", params.sort.code().to_owned()));
    }
    fields.extend(params.lang.map(|l| ("lang", l.code().to_owned())));
    fields
}

fn sorts(c: &Chrome, params: &Params) -> Vec<Choice> {
    [(Sort::Relevance, c.t.relevance), (Sort::Date, c.t.date)]
        .into_iter()
        .map(|(sort, label)| Choice {
            label: label.to_owned(),
            href: c.search(&Params {
                sort,
                offset: 0,
                ..params.clone()
            }),
            chosen: params.sort == sort,
            count: None,
        })
        .collect()
}

fn period_names(labels: &Labels) -> [(Option<&'static str>, &'static str); 5] {
    [
        (None, labels.any_time),
        (Some("1d"), labels.day),
        (Some("7d"), labels.week),
        (Some("1m"), labels.month),
        (Some("1y"), labels.year),
    ]
}

fn periods(c: &Chrome, params: &Params) -> Vec<Choice> {
    period_names(c.t)
        .into_iter()
        .map(|(since, label)| Choice {
            label: label.to_owned(),
            href: c.search(&Params {
                since: since.map(str::to_owned),
                until: None,
                offset: 0,
                ..params.clone()
            }),
            chosen: params.since.as_deref() == since && params.until.is_none(),
            count: None,
        })
        .collect()
}

/// Choosing a site adds it, choosing it again takes it away.
fn sites(c: &Chrome, params: &Params, counts: Vec<(String, u64)>) -> Vec<Choice> {
    let mut named: Vec<(String, Option<u64>)> = counts
        .into_iter()
        .take(SITES_SHOWN)
        .map(|(site, count)| (site, Some(count)))
        .collect();
    for site in &params.sites {
        if !named.iter().any(|(name, _)| name == site) {
            named.push((site.clone(), None));
        }
    }
    let choice = |(site, count): (String, Option<u64>)| {
        let chosen = params.sites.contains(&site);
        let mut sites = params.sites.clone();
        if chosen {
            sites.retain(|s| *s != site);
        } else {
            sites.push(site.clone());
        }
        Choice {
            href: c.search(&Params {
                sites,
                offset: 0,
                ..params.clone()
            }),
            label: site,
            chosen,
            count: count.map(grouped),
        }
    };
    if named.is_empty() {
        return Vec::new();
    }
    let all = Choice {
        label: c.t.all_sites.to_owned(),
        href: c.search(&Params {
            sites: Vec::new(),
            offset: 0,
            ..params.clone()
        }),
        chosen: params.sites.is_empty(),
        count: None,
    };
    std::iter::once(all)
        .chain(named.into_iter().map(choice))
        .collect()
}

/// The filters in force in a few words, for the closed drawer on a phone.
fn chosen(c: &Chrome, params: &Params) -> String {
    let mut words: Vec<String> = Vec::new();
    if params.sort == Sort::Date {
        words.push(c.t.date.to_owned());
    }
    let period = period_names(c.t).into_iter().find(|(since, _)| {
        since.is_some() && *since == params.since.as_deref() && params.until.is_none()
    });
    match (period, &params.since, &params.until) {
        (Some((_, label)), _, _) => words.push(label.to_owned()),
        (None, None, None) => {}
        (None, since, until) => words.push(format!(
            "{} – {}",
            since.as_deref().unwrap_or_default(),
            until.as_deref().unwrap_or_default()
        )),
    }
    words.extend(params.sites.iter().cloned());
    words.join(" · ")
}

fn pages(
    params: &Params,
    reachable: usize,
    config: &Config,
    at: &dyn Fn(usize) -> String,
) -> Vec<Choice> {
    let last = reachable.saturating_sub(1).min(config.offset_max()) / PAGE_HITS;
    let current = params.offset / PAGE_HITS;
    if last == 0 && current == 0 {
        return Vec::new();
    }
    let from = current.saturating_sub(PAGES_AROUND);
    (from..=last.min(from + 2 * PAGES_AROUND))
        .map(|page| Choice {
            label: (page + 1).to_string(),
            href: at(page * PAGE_HITS),
            chosen: page == current,
            count: None,
        })
        .collect()
}

impl DocumentPage {
    /// `marked` holds the title, then the paragraphs, then the comments' texts, as [`DocumentPage::texts`] gave them.
    pub(crate) fn new(
        c: Chrome,
        params: &Params,
        document: Document,
        marked: &[Marked],
    ) -> DocumentPage {
        let comment_count = document.comments.len();
        let (head, comments) = marked.split_at(marked.len().saturating_sub(comment_count));
        let headline = head.first().cloned().unwrap_or_default();
        let back = (!params.text.is_empty() || params.filtered()).then(|| c.search(params));
        let plain_title = document.title.filter(|t| !t.trim().is_empty());
        DocumentPage {
            title: title(&headline, c.t),
            plain_title: plain_title.unwrap_or_else(|| c.t.untitled.to_owned()),
            language: document
                .language
                .unwrap_or_else(|| Lang::Zh.tag().to_owned()),
            url: outward(&document.url),
            address: address(&document.url),
            site: document.site.unwrap_or_default(),
            source: document.source.unwrap_or_default(),
            author: document.author.unwrap_or_default(),
            published: document.published.as_deref().and_then(day),
            paragraphs: head.iter().skip(1).map(Html::marked).collect(),
            comments: document
                .comments
                .into_iter()
                .zip(comments)
                .map(|(comment, text)| CommentView {
                    author: comment.author.unwrap_or_default(),
                    published: comment.published.unwrap_or_default(),
                    text: Html::marked(text),
                })
                .collect(),
            back,
            c,
        }
    }

    /// The texts of a document that are searched for matches.
    pub(crate) fn texts(document: &Document) -> Vec<String> {
        let title = document.title.clone().unwrap_or_default();
        let paragraphs = document
            .text
            .lines()
            .map(str::trim)
            .filter(|p| !p.is_empty());
        std::iter::once(title)
            .chain(paragraphs.map(str::to_owned))
            .chain(document.comments.iter().map(|comment| comment.text.clone()))
            .collect()
    }
}

impl StatusPage {
    pub(crate) fn new(c: Chrome, s: Status, now_ms: i64) -> StatusPage {
        let o = &c.t.operator;
        let (at, activity_class) = match s.activity {
            Activity::Running => (0, "running"),
            Activity::Paused => (1, "paused"),
            Activity::Stopping => (2, "stopping"),
            Activity::ReadOnly => (3, "read-only"),
        };
        let u = s.urls;
        let url_rows = [
            (o.fetched, u.fetched),
            (o.waiting, u.waiting),
            (o.in_flight, u.in_flight),
            (o.failed, u.failed),
            (o.refused, u.refused),
            (o.gone, u.gone),
        ];
        StatusPage {
            activity: o.activity[at],
            activity_class,
            url_total: url_rows.iter().map(|(_, count)| count).sum(),
            url_rows,
            o,
            now_ms,
            s,
            c,
        }
    }

    fn n(&self, number: &u64) -> String {
        grouped(*number)
    }

    fn ago(&self, then_ms: &i64) -> String {
        self.c.lang.relative(*then_ms, self.now_ms)
    }

    fn when(&self, then_ms: &Option<i64>) -> String {
        then_ms
            .as_ref()
            .map_or_else(|| self.o.never.to_owned(), |ms| self.ago(ms))
    }

    fn delay(&self, delay_ms: &u64) -> String {
        match *delay_ms {
            ms @ 0..1_000 => format!("{ms} ms"),
            ms => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        }
    }

    fn bytes(&self, bytes: &u64) -> String {
        const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
        let mut value = *bytes as f64;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        if unit == 0 {
            format!("{value} B")
        } else {
            format!("{value:.1} {}", UNITS[unit])
        }
    }
}

/// The address as a link, if it is one that a page may lead to: a stored address can be anything.
fn outward(url: &str) -> Option<String> {
    let parsed = url::Url::parse(url).ok()?;
    matches!(parsed.scheme(), "http" | "https").then(|| parsed.to_string())
}

/// The address as people read it.
fn address(url: &str) -> String {
    let bare = url
        .split_once("://")
        .map_or(url, |(_, rest)| rest)
        .trim_end_matches('/');
    let mut shown: String = bare.chars().take(ADDRESS_CHARS).collect();
    if bare.chars().count() > ADDRESS_CHARS {
        shown.push('…');
    }
    shown
}

/// `2026-05-01T08:30:00+08:00` → `2026-05-01 08:30`; anything else as it is, but short.
fn day(published: &str) -> Option<Day> {
    let machine: String = published.trim().chars().take(40).collect();
    let (date, time) = machine.split_once(['T', ' ']).unwrap_or((&machine, ""));
    let clock: String = time.chars().take(5).collect();
    let shown = if clock.is_empty() {
        date.to_owned()
    } else {
        format!("{date} {clock}")
    };
    (!date.is_empty()).then_some(Day { machine, shown })
}

/// The value of a date field: only a whole day fits one.
fn day_only(value: Option<&str>) -> String {
    value
        .filter(|v| chrono::NaiveDate::parse_from_str(v, "%Y-%m-%d").is_ok() && v.len() == 10)
        .unwrap_or_default()
        .to_owned()
}
