//! The page of a site. In: its status, settings, newest documents and last visits. Out: what `site.html` prints; for the
//! operator also buttons, whose commands the crawler carries out. Takes documents down from their own pages, too.

use askama::Template;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::html::Html;
use super::lang::{Lang, grouped};
use super::moment::Moment;
use super::view::{Chrome, address, link, title};
use super::web::{broken, chrome, lenient, missing, page};
use crate::serve::control::{CommandDone, CommandRefused, SiteCommand, SiteView, Why};
use crate::serve::guard::form::Form;
use crate::serve::guard::token::{Operator, see_other};
use crate::serve::now_ms;
use crate::serve::search::params::Params;
use crate::serve::search::source::Found;
use crate::serve::state::{Failure, Server};
use crate::serve::status::SiteStatus;
use taojin_crawl::VisitOutcome;
use taojin_search::index::Sort;

mod labels;

use labels::{EN, Labels, ZH};

/// Newest documents that are listed.
const NEWEST: usize = 10;

#[derive(Template)]
#[template(path = "site.html")]
struct SitePage {
    c: Chrome,
    l: &'static Labels,
    path: String,
    s: SiteStatus,
    state: &'static str,
    state_class: &'static str,
    notice: Option<String>,
    settings: Vec<(&'static str, Vec<String>)>,
    newest: Vec<Newest>,
    all: String,
    visits: Vec<Visited>,
    now_ms: i64,
}

struct Newest {
    title: Html,
    href: String,
    published: Option<Moment>,
}

struct Visited {
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
    l: &'static Labels,
    addresses: Vec<String>,
}

fn labels(c: &Chrome) -> &'static Labels {
    match c.lang {
        Lang::Zh => &ZH,
        Lang::En => &EN,
    }
}

/// Path of the page of a site.
pub(crate) fn site_path(name: &str) -> String {
    let name: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
    // A plus stands for a blank in a query only.
    format!("/sites/{}", name.replace('+', "%20"))
}

/// `GET /sites/{name}`.
pub(crate) async fn show(
    State(server): State<Server>,
    name: Result<Path<String>, PathRejection>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Response {
    let params = lenient(&raw.unwrap_or_default(), &server);
    let name = name.map(|Path(name)| name).unwrap_or_default();
    render(&server, &params, &headers, name, None).await
}

/// `POST /sites/{name}`: the field `action` is `visit`, `pause` or `resume`; then back to the page.
pub(crate) async fn act(
    _: Operator,
    State(server): State<Server>,
    name: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    form: Form,
) -> Response {
    let site = name.map(|Path(name)| name).unwrap_or_default();
    let params = lenient(&format!("lang={}", form.get("lang")), &server);
    let path = site_path(&site);
    let command = match form.get("action") {
        "visit" => SiteCommand::Visit { site: site.clone() },
        "pause" => SiteCommand::Pause { site: site.clone() },
        "resume" => SiteCommand::Resume { site: site.clone() },
        _ => return missing(chrome(&server, &params, &headers, &path)),
    };
    match server.command(command).await {
        Ok(Ok(_)) => see_other(&server, &link("", &path, &only_lang(&params))),
        Ok(Err(refused)) => render(&server, &params, &headers, site, Some(refused)).await,
        Err(error) => broken(chrome(&server, &params, &headers, &path), &error),
    }
}

/// `POST /doc/{id}`: takes the document down.
pub(crate) async fn take_down(
    _: Operator,
    State(server): State<Server>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    form: Form,
) -> Response {
    let params = lenient(&format!("lang={}", form.get("lang")), &server);
    let id = id.map(|Path(id)| id).unwrap_or_default();
    let c = chrome(&server, &params, &headers, &format!("/doc/{id}"));
    let document = match server.document(id).await {
        Ok(Some(document)) if form.get("action") == "take_down" => document,
        Ok(_) => return missing(c),
        Err(error) => return broken(c, &error),
    };
    let command = SiteCommand::PurgeUrl { url: document.url };
    match server.command(command).await {
        Ok(Ok(CommandDone { addresses, .. })) => {
            let l = labels(&c);
            page(&TakenDownPage { c, l, addresses }, StatusCode::OK)
        }
        Ok(Err(refused)) => not_done(c, &refused),
        Err(error) => broken(c, &error),
    }
}

fn not_done(c: Chrome, refused: &CommandRefused) -> Response {
    let l = labels(&c);
    let error = super::view::ErrorPage {
        code: refused.status().as_u16(),
        heading: l.not_done,
        text: said(l, refused),
        c,
    };
    page(&error, refused.status())
}

/// A refusal for a person; what the store says stays in the log.
fn said(l: &Labels, refused: &CommandRefused) -> String {
    match refused.why {
        Why::NoCrawler => l.no_crawler.to_owned(),
        Why::Failed => {
            tracing::error!(error = %refused, "command failed");
            l.failed.to_owned()
        }
        _ => refused.message.clone(),
    }
}

fn only_lang(params: &Params) -> String {
    Params {
        lang: params.lang,
        ..Params::default()
    }
    .query_string()
}

async fn render(
    server: &Server,
    params: &Params,
    headers: &HeaderMap,
    name: String,
    refused: Option<CommandRefused>,
) -> Response {
    let path = site_path(&name);
    let c = chrome(server, params, headers, &path);
    if !server.config.operator_pages && c.signed_in != Some(true) {
        return missing(c);
    }
    let read = async {
        let status = server.status().await?;
        let view = server.site(name.clone()).await?;
        let wanted = crate::serve::search::source::Wanted {
            sites: vec![name.clone()],
            sort: Sort::Date,
            now_ms: now_ms(),
            limit: NEWEST,
            ..Default::default()
        };
        let (found, _) = server.search(wanted).await?;
        Ok::<_, Failure>((status, view, found))
    };
    let (status, view, found) = match read.await {
        Ok(read) => read,
        Err(error) => return broken(c, &error),
    };
    let site = status.sites.into_iter().find(|s| s.name == name);
    let (Some(site), Some(view)) = (site, view) else {
        return missing(c);
    };
    let code = refused.as_ref().map_or(StatusCode::OK, |r| r.status());
    let shown = SitePage::new(c, params, site, view, found.hits, refused);
    page(&shown, code)
}

impl SitePage {
    fn new(
        c: Chrome,
        params: &Params,
        s: SiteStatus,
        view: SiteView,
        hits: Vec<Found>,
        refused: Option<CommandRefused>,
    ) -> Self {
        let l = labels(&c);
        let now_ms = now_ms();
        let (state, state_class) = match (view.enabled, s.paused_ms) {
            (false, _) => (l.disabled, "paused"),
            (true, Some(_)) => (l.paused, "paused"),
            (true, None) => (l.crawled, "running"),
        };
        let all = c.search(&Params {
            sites: vec![s.name.clone()],
            sort: Sort::Date,
            lang: params.lang,
            ..Params::default()
        });
        let own = only_lang(params);
        let newest = hits.into_iter().map(|hit| Newest {
            title: title(&hit.title, c.t),
            href: link(&c.base, &format!("/doc/{}", hit.id), &own),
            published: c.moment(hit.published.as_ref()),
        });
        Self {
            path: site_path(&s.name),
            notice: refused.map(|r| format!("{}: {}", l.not_done, said(l, &r))),
            settings: settings(l, &view),
            newest: newest.collect(),
            visits: visits(&c, &view, now_ms),
            all,
            state,
            state_class,
            now_ms,
            l,
            s,
            c,
        }
    }

    fn level(&self) -> &'static str {
        self.c.t.operator.level(self.s.verdict.level)
    }

    fn n(&self, number: &u64) -> String {
        grouped(*number)
    }

    fn when(&self, then_ms: &Option<i64>) -> String {
        match then_ms {
            Some(ms) => self.c.lang.relative(*ms, self.now_ms),
            None => self.c.t.operator.never.to_owned(),
        }
    }

    fn share(&self, share: &f64) -> String {
        format!("{:.1} %", share * 100.0)
    }
}

/// The settings that differ from site to site, with their values.
fn settings(l: &'static Labels, view: &SiteView) -> Vec<(&'static str, Vec<String>)> {
    let number = |n: Option<i64>| n.map(|n| n.to_string()).into_iter().collect();
    let mut rows = vec![
        (
            l.schedule,
            vec![format!("{} ({})", view.schedule, view.time_zone)],
        ),
        (l.seeds, view.seeds.clone()),
        (l.lists, view.lists.clone()),
        (l.hosts, view.hosts.clone()),
        (l.include, view.include.clone()),
        (l.exclude, view.exclude.clone()),
        (l.max_hops, vec![view.max_hops.to_string()]),
        (l.max_pages, number(view.max_pages_per_cycle)),
        (
            l.delay,
            view.delay_ms
                .map(|ms| format!("{ms} ms"))
                .into_iter()
                .collect(),
        ),
    ];
    rows.retain(|(_, values)| !values.is_empty());
    rows
}

fn visits(c: &Chrome, view: &SiteView, now_ms: i64) -> Vec<Visited> {
    let visited = |visit: &crate::serve::control::Visit| {
        let at = chrono::DateTime::parse_from_rfc3339(&visit.time).ok();
        let status = visit.status.map(|s| format!(" {s}")).unwrap_or_default();
        Visited {
            when: at
                .map(|t| c.lang.relative(t.timestamp_millis(), now_ms))
                .unwrap_or_default(),
            outcome: format!("{}{status}", visit.outcome),
            failed: !VisitOutcome::parse(&visit.outcome).is_some_and(VisitOutcome::is_success),
            address: address(&visit.url),
            reason: visit.reason.clone().unwrap_or_default(),
            document: visit.document.clone().unwrap_or_default(),
        }
    };
    view.visits.iter().map(visited).collect()
}
