//! `/sites`: every site with its documents, as a page; the home page lists the first of them.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

use super::request::{PageRequest, broken, page};
use super::view::{Chrome, site_path};
use crate::search::overview::SiteLine;
use crate::search::params::Params;
use crate::status::SiteStatus;

/// How the last cycle of a site went.
pub(super) struct Fared {
    pub(super) level: &'static str,
    pub(super) word: &'static str,
    pub(super) sentence: String,
}

/// A site and its state.
pub(super) struct SiteView {
    pub(super) name: String,
    /// The search for its documents, if it has some.
    pub(super) href: Option<String>,
    pub(super) documents: String,
    /// The operator's page of the site.
    pub(super) details: Option<String>,
    pub(super) crawled: Option<String>,
    pub(super) fared: Option<Fared>,
}

#[derive(Template)]
#[template(path = "sites.html")]
struct SitesPage {
    c: Chrome,
    total: String,
    sites: Vec<SiteView>,
    more_sites: Option<String>,
}

/// `GET /sites`.
pub(crate) async fn show(request: PageRequest) -> Response {
    let c = request.chrome();
    let overview = match request.server.overview().await {
        Ok(overview) => overview,
        Err(error) => return broken(c, &error),
    };
    let counts = &c.t.counts;
    let all = overview.sites.len() + overview.more_sites;
    let shown = SitesPage {
        total: counts.sites.fill(all as u64),
        more_sites: (overview.more_sites > 0)
            .then(|| counts.more_sites.fill(overview.more_sites as u64)),
        sites: site_views(&c, &request.only_lang(), &overview.sites),
        c,
    };
    page(&shown, StatusCode::OK)
}

/// The sites as a list.
pub(super) fn site_views(c: &Chrome, plain: &Params, lines: &[SiteLine]) -> Vec<SiteView> {
    lines.iter().map(|line| site(c, plain, line)).collect()
}

fn site(c: &Chrome, plain: &Params, line: &SiteLine) -> SiteView {
    let status = line.status.as_ref();
    let details = || c.page(&site_path(&line.name));
    SiteView {
        name: c.site(&line.name),
        href: (line.documents > 0)
            .then(|| c.search(&plain.with(|p| p.sites = vec![line.name.clone()]))),
        documents: c.t.counts.of_site.fill(line.documents),
        details: status.map(|_| details()),
        crawled: status.map(|s| c.lang.crawled(s.last_cycle_ms, c.clock.now_ms)),
        fared: status.map(|s| fared(c, s)),
    }
}

fn fared(c: &Chrome, status: &SiteStatus) -> Fared {
    let verdict = &status.verdict;
    Fared {
        level: verdict.level.name(),
        word: c.t.operator.level(verdict.level),
        sentence: c.lang.verdict(verdict).to_owned(),
    }
}
