//! The operator's page: prints a [`Status`], with times as distances from now.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

use crate::pages::chart::percent;
use crate::pages::health::{Health, troubled_first};
use crate::pages::request::{PageRequest, broken, missing, page};
use crate::pages::view::{Chrome, link, site_path};
use crate::pages::words::{Lang, OperatorLabels, show_bytes};
use crate::status::{Activity, HostStatus, SiteStatus, Status};

#[derive(Template)]
#[template(path = "status.html")]
pub(crate) struct StatusPage {
    c: Chrome,
    o: &'static OperatorLabels,
    s: Status,
    health: Health,
    reads_only: bool,
    activity: &'static str,
    activity_class: &'static str,
    url_total: u64,
    url_rows: [(&'static str, u64); 6],
}

impl StatusPage {
    pub(crate) fn new(c: Chrome, mut s: Status) -> StatusPage {
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
        troubled_first(&mut s.sites);
        if c.lang == Lang::Zh {
            s.hosts.iter_mut().for_each(HostStatus::speak_chinese);
        }
        StatusPage {
            health: Health::new(c.lang, &s),
            reads_only: s.activity == Activity::ReadOnly,
            activity: o.activity[at],
            activity_class,
            url_total: url_rows.iter().map(|(_, count)| count).sum(),
            url_rows,
            o,
            s,
            c,
        }
    }

    fn site_path(&self, name: &str) -> String {
        site_path(name)
    }

    /// Where the templates of a site are shown.
    fn templates(&self, site: &str) -> String {
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("site", site)
            .finish();
        link(&self.c.base, "/templates", &query)
    }

    /// Share of the articles of a site that were found; a dash where nothing is known of it.
    fn recall(&self, site: &SiteStatus) -> String {
        let share = site.recall_estimate.map(percent);
        share.unwrap_or_else(|| self.o.never.to_owned())
    }

    /// A length of time; a dash where there is none.
    fn span(&self, span_ms: &Option<i64>) -> String {
        span_ms.map_or_else(|| self.o.never.to_owned(), |ms| self.c.lang.span(ms))
    }

    fn length(&self, ms: &i64) -> String {
        let sign = if *ms < 0 { "-" } else { "" };
        format!("{sign}{}", self.c.lang.span(*ms))
    }

    fn delay(&self, delay_ms: &u64) -> String {
        let ms = i64::try_from(*delay_ms).unwrap_or(i64::MAX);
        self.c.lang.span(ms)
    }

    fn bytes(&self, bytes: &u64) -> String {
        show_bytes(*bytes)
    }
}

/// `/status`: the operator's page.
pub(crate) async fn status(request: PageRequest) -> Response {
    let c = request.chrome();
    if !request.server.config.operator_pages {
        return missing(c);
    }
    match request.server.status().await {
        Ok(status) => page(&StatusPage::new(c, status), StatusCode::OK),
        Err(error) => broken(c, &error),
    }
}
