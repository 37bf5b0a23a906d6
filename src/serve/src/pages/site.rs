//! The page of a site: its status, settings, newest documents and last visits.
//!
//! The operator also gets buttons, whose commands the crawler executes, and can take documents down from their own pages.

use askama::Template;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::StatusCode;
use axum::response::Response;

use super::chart::percent;
use super::request::{PageRequest, broken, failure, missing, page, see_other};
use super::view::{Chrome, Linked, address, link, site_path};
use super::words::SitePageLabels;
use crate::control::{Command, CommandDone, CommandError, Visit};
use crate::guard::operator::Form;
use crate::guard::operator::Operator;
use crate::now_ms;
use crate::pages::templates::FieldListed;
use crate::search::params::Params;
use crate::search::source::{DocumentHit, SearchRequest};
use crate::state::Failure;
use crate::status::SiteStatus;
use taojin_crawl::VisitOutcome;
use taojin_crawl::schedule::Site;
use taojin_search::index::Sort;

/// Newest documents that are listed.
const NEWEST: usize = 10;

#[derive(Template)]
#[template(path = "site.html")]
struct SitePage {
    c: Chrome,
    l: &'static SitePageLabels,
    path: String,
    s: SiteStatus,
    state: &'static str,
    state_class: &'static str,
    notice: Option<String>,
    settings: Vec<(&'static str, Vec<String>)>,
    newest: Vec<Linked>,
    /// Named fields of its pages, for the operator.
    fields: Vec<FieldListed>,
    all: String,
    visits: Vec<VisitRow>,
}

struct VisitRow {
    when: String,
    outcome: String,
    failed: bool,
    address: String,
    reason: String,
    document: String,
}

#[derive(Template)]
#[template(path = "taken_down.html")]
struct TakenDownPage {
    c: Chrome,
    l: &'static SitePageLabels,
    addresses: Vec<String>,
}

/// `GET /sites/{name}`.
pub(crate) async fn show(
    name: Result<Path<String>, PathRejection>,
    request: PageRequest,
) -> Response {
    let name = name.map(|Path(name)| name).unwrap_or_default();
    render(request, name, None).await
}

/// `POST /sites/{name}`: the field `action` is `visit`, `pause` or `resume`; then back to the page.
pub(crate) async fn act(
    _: Operator,
    name: Result<Path<String>, PathRejection>,
    request: PageRequest,
    form: Form,
) -> Response {
    let site = name.map(|Path(name)| name).unwrap_or_default();
    let request = request.in_language_of(&form);
    let path = link("", &site_path(&site), &request.only_lang().query_string());
    let command = match form.get("action") {
        "visit" => Command::Crawl {
            sites: vec![site.clone()],
            recheck: false,
            wait: false,
        },
        action @ ("pause" | "resume") => Command::SetPaused {
            site: site.clone(),
            paused: action == "pause",
        },
        _ => return missing(request.chrome()),
    };
    match request.server.command(command).await {
        Ok(Ok(_)) => see_other(&request.server, &path),
        Ok(Err(refused)) => render(request, site, Some(refused)).await,
        Err(error) => broken(request.chrome(), &error),
    }
}

/// `POST /doc/{id}`: takes the document down.
pub(crate) async fn take_down(
    _: Operator,
    id: Result<Path<String>, PathRejection>,
    request: PageRequest,
    form: Form,
) -> Response {
    let request = request.in_language_of(&form);
    let c = request.chrome();
    let id = id.map(|Path(id)| id).unwrap_or_default();
    let document = match request.server.document(id).await {
        Ok(Some(document)) if form.get("action") == "take_down" => document,
        Ok(_) => return missing(c),
        Err(error) => return broken(c, &error),
    };
    let command = Command::PurgeUrl { url: document.url };
    let l = &c.t.site_page;
    match request.server.command(command).await {
        Ok(Ok(CommandDone { addresses, .. })) => {
            page(&TakenDownPage { c, l, addresses }, StatusCode::OK)
        }
        Ok(Err(refused)) => failure(c, refused.status(), l.not_done, describe(l, &refused)),
        Err(error) => broken(c, &error),
    }
}

/// A refusal for a person; what the store says stays in the log.
fn describe(l: &SitePageLabels, error: &CommandError) -> String {
    match error {
        CommandError::NoCrawler(_) => l.no_crawler.to_owned(),
        CommandError::Failed(_) => {
            tracing::error!(%error, "command failed");
            l.failed.to_owned()
        }
        _ => error.to_string(),
    }
}

async fn render(request: PageRequest, name: String, refused: Option<CommandError>) -> Response {
    let c = request.chrome();
    let server = &request.server;
    if !server.config.operator_pages && c.signed_in != Some(true) {
        return missing(c);
    }
    let read = async {
        let status = server.status().await?;
        let site = name.clone();
        let site = server.ask(&server.sites, move |sites| sites.site(&site));
        let site = site.await?.flatten();
        let wanted = SearchRequest {
            sites: vec![name.clone()],
            sort: Sort::Date,
            now_ms: now_ms(),
            limit: NEWEST,
            ..SearchRequest::default()
        };
        let found = server.search(wanted).await?;
        let own = name.clone();
        let fields = match c.signed_in {
            Some(true) => {
                server
                    .ask(&server.templates, move |review| review.fields(&own))
                    .await?
            }
            _ => None,
        };
        Ok::<_, Failure>((status, site, found, fields.unwrap_or_default()))
    };
    let (status, site, found, fields) = match read.await {
        Ok(read) => read,
        Err(error) => return broken(c, &error),
    };
    let status = status.sites.into_iter().find(|s| s.name == name);
    let (Some(status), Some((site, visits))) = (status, site) else {
        return missing(c);
    };
    let code = refused.as_ref().map_or(StatusCode::OK, |r| r.status());
    let shown = SitePage {
        fields,
        visits: visits.iter().map(|visit| visited(&c, visit)).collect(),
        ..SitePage::new(c, request.only_lang(), status, &site, found.hits, refused)
    };
    page(&shown, code)
}

impl SitePage {
    fn new(
        c: Chrome,
        only_lang: Params,
        s: SiteStatus,
        site: &Site,
        hits: Vec<DocumentHit>,
        refused: Option<CommandError>,
    ) -> Self {
        let l = &c.t.site_page;
        let (state, state_class) = match (site.enabled, s.paused_ms) {
            (false, _) => (l.disabled, "paused"),
            (true, Some(_)) => (l.paused, "paused"),
            (true, None) => (l.crawled, "running"),
        };
        let all = c.search(&Params {
            sites: vec![s.name.clone()],
            sort: Sort::Date,
            ..only_lang
        });
        Self {
            path: site_path(&s.name),
            notice: refused.map(|r| format!("{}: {}", l.not_done, describe(l, &r))),
            settings: settings(l, site),
            newest: hits.iter().map(|hit| c.linked(hit)).collect(),
            fields: Vec::new(),
            visits: Vec::new(),
            all,
            state,
            state_class,
            l,
            s,
            c,
        }
    }

    /// How much of their time the queues of the site's hosts had nothing to fetch.
    fn idle_share(&self) -> String {
        percent(self.s.cycle.queue_visits.idle_share())
    }

    /// A share of pages; a dash where nothing is known of it.
    fn share(&self, share: &Option<f64>) -> String {
        share
            .map(percent)
            .unwrap_or_else(|| self.c.t.operator.never.to_owned())
    }
}

/// The settings that differ from site to site, with their values.
fn settings(l: &'static SitePageLabels, site: &Site) -> Vec<(&'static str, Vec<String>)> {
    let number = |n: Option<i64>| n.map(|n| n.to_string()).into_iter().collect();
    let delay = site.delay_ms.map(|ms| format!("{ms} ms"));
    let schedule = format!("{} ({})", site.schedule, site.time_zone);
    let lists = site.feeds.iter().chain(&site.sitemaps);
    let mut rows = vec![
        (l.schedule, vec![schedule]),
        (l.seeds, site.seeds.clone()),
        (l.lists, lists.cloned().collect()),
        (l.hosts, site.hosts()),
        (l.include, site.scope.include.clone()),
        (l.exclude, site.scope.exclude.clone()),
        (l.max_hops, vec![site.scope.max_hops.to_string()]),
        (l.max_pages, number(site.max_pages_per_cycle)),
        (l.delay, delay.into_iter().collect()),
    ];
    rows.retain(|(_, values)| !values.is_empty());
    rows
}

fn visited(c: &Chrome, visit: &Visit) -> VisitRow {
    let at = chrono::DateTime::parse_from_rfc3339(&visit.time).ok();
    let when = at.map(|at| c.lang.relative(at.timestamp_millis(), c.clock.now_ms));
    let status = visit.status.map(|s| format!(" {s}")).unwrap_or_default();
    VisitRow {
        when: when.unwrap_or_default(),
        outcome: format!("{}{status}", visit.outcome),
        failed: !VisitOutcome::parse(&visit.outcome).is_some_and(VisitOutcome::is_success),
        address: address(&visit.url),
        reason: visit.reason.clone().unwrap_or_default(),
        document: visit.document.clone().unwrap_or_default(),
    }
}
