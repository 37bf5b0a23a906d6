//! The operator's page: prints a [`Status`], with times as distances from now.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

use crate::pages::chart::percent;
use crate::pages::health::{Health, troubled_first};
use crate::pages::request::{PageRequest, broken, missing, page};
use crate::pages::view::{Chrome, link, site_path};
use crate::pages::words::OperatorLabels;
use crate::status::{Activity, SiteStatus, Status};

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

    fn delay(&self, delay_ms: &u64) -> String {
        match *delay_ms {
            ms @ 0..1_000 => format!("{ms} ms"),
            ms => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        }
    }

    /// A length of time, roughly.
    fn roughly(&self, ms: &i64) -> String {
        match *ms / 1_000 {
            s @ ..120 => format!("{s} s"),
            s @ 120..7_200 => format!("{} min", s / 60),
            s @ 7_200..172_800 => format!("{} h", s / 3_600),
            s => format!("{} d", s / 86_400),
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
