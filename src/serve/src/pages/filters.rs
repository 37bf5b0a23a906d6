//! The choices beside the hits: words, order, period, sites, page numbers. In: the parameters of the search and its
//! counts. Out: links to the same search with another choice. Never asks the index.

use super::chips::period_names;
use super::view::{Choice, Chrome};
use super::words::grouped;
use crate::config::{Config, PAGE_HITS};
use crate::search::params::Params;
use taojin_search::index::{Match, Sort};

/// Page numbers shown to either side of the current one.
const PAGES_AROUND: usize = 4;
/// Sites shown in the filter; the largest come first.
const SITES_SHOWN: usize = 20;

/// How many words of the query a document must have.
pub(super) fn matches(c: &Chrome, params: &Params) -> Vec<Choice> {
    if params.text.is_empty() {
        return Vec::new();
    }
    let all = [Match::Auto, Match::All, Match::Most, Match::Any];
    let choice = |(matching, label): (Match, &&'static str)| Choice {
        label: (*label).to_owned(),
        href: c.first_page(params.with(|p| p.matching = matching)),
        chosen: params.matching == matching,
        count: None,
    };
    all.into_iter().zip(&c.t.match_names).map(choice).collect()
}

/// The same words without filters.
pub(super) fn unfiltered(params: &Params) -> Params {
    Params {
        text: params.text.clone(),
        sort: params.sort,
        matching: params.matching,
        lang: params.lang,
        ..Params::default()
    }
}

/// The orders of the hits.
pub(super) fn sorts(c: &Chrome, params: &Params) -> Vec<Choice> {
    [
        (Sort::Relevance, c.t.relevance),
        (Sort::Both, c.t.both),
        (Sort::Date, c.t.date),
    ]
    .into_iter()
    .map(|(sort, label)| Choice {
        label: label.to_owned(),
        href: c.first_page(params.with(|p| p.sort = sort)),
        chosen: params.sort == sort,
        count: None,
    })
    .collect()
}

/// When a document was published.
pub(super) fn periods(c: &Chrome, params: &Params) -> Vec<Choice> {
    period_names(c.t)
        .into_iter()
        .map(|(since, label)| Choice {
            label: label.to_owned(),
            href: c.first_page(params.with(|p| {
                p.since = since.map(str::to_owned);
                p.until = None;
            })),
            chosen: params.since.as_deref() == since && params.until.is_none(),
            count: None,
        })
        .collect()
}

/// Choosing a site adds it, choosing it again takes it away.
pub(super) fn sites(c: &Chrome, params: &Params, counts: Vec<(String, u64)>) -> Vec<Choice> {
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
            href: c.first_page(params.with(|p| p.sites = sites)),
            label: c.site(&site),
            chosen,
            count: count.map(grouped),
        }
    };
    if named.is_empty() {
        return Vec::new();
    }
    let all = Choice {
        label: c.t.all_sites.to_owned(),
        href: c.first_page(params.with(|p| p.sites = Vec::new())),
        chosen: params.sites.is_empty(),
        count: None,
    };
    std::iter::once(all)
        .chain(named.into_iter().map(choice))
        .collect()
}

/// Numbers of the pages around the current one; none where there is only one.
pub(super) fn pages(
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

/// The value of a date field: only a whole day fits one.
pub(super) fn day_only(value: Option<&str>) -> String {
    value
        .filter(|v| chrono::NaiveDate::parse_from_str(v, "%Y-%m-%d").is_ok() && v.len() == 10)
        .unwrap_or_default()
        .to_owned()
}
