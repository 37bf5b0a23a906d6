//! What narrows a search, each with a way out of it. In: the parameters of a search. Out: a link for each to the search
//! without it. Never changes what is searched.

use super::view::{Choice, Chrome};
use super::words::Labels;
use crate::search::params::Params;
use taojin_search::index::Sort;
use taojin_search::query::narrowings;

/// Periods that a reader can choose, as values of `since`.
pub(crate) fn period_names(labels: &Labels) -> [(Option<&'static str>, &'static str); 5] {
    [
        (None, labels.any_time),
        (Some("1d"), labels.day),
        (Some("7d"), labels.week),
        (Some("1m"), labels.month),
        (Some("1y"), labels.year),
    ]
}

/// What narrows the search or orders it, each with the link to the search without it.
pub(crate) fn chips(c: &Chrome, params: &Params) -> Vec<Choice> {
    let mut chips = Vec::new();
    let mut add = |label: String, without: Params| {
        chips.push(Choice::link(label, c.first_page(without)));
    };
    for site in &params.sites {
        let mut sites = params.sites.clone();
        sites.retain(|other| other != site);
        let without = params.with(|p| p.sites = sites);
        add(c.lang.labelled(c.t.site, site), without);
    }
    for (label, since, until) in times(c, params) {
        let without = params.with(|p| {
            p.since = since;
            p.until = until;
        });
        add(label, without);
    }
    if let Some(changed) = &params.changed {
        let without = params.with(|p| p.changed = None);
        add(c.lang.labelled(c.t.changed, changed), without);
    }
    for narrowing in narrowings(&params.text) {
        let without = params.with(|p| p.text = narrowing.rest);
        add(narrowing.text, without);
    }
    // Without words there is only one order.
    let order = match params.sort {
        Sort::Both => Some(c.t.both),
        Sort::Date => Some(c.t.date),
        Sort::Relevance => None,
    };
    if let Some(order) = order.filter(|_| !params.text.is_empty()) {
        let without = params.with(|p| {
            p.sort = Sort::Relevance;
            p.half_life = None;
        });
        add(c.lang.labelled(c.t.sort, order), without);
    }
    chips
}

/// The limits of time, each with what is left of them without it.
fn times(c: &Chrome, params: &Params) -> Vec<(String, Option<String>, Option<String>)> {
    let (since, until) = (params.since.clone(), params.until.clone());
    let named = |since: &String| {
        let mut names = period_names(c.t).into_iter();
        names.find_map(|(period, name)| (period == Some(since.as_str())).then_some(name))
    };
    match (&since, &until) {
        (Some(first), Some(last)) if first == last => {
            vec![(c.lang.labelled(c.t.time, first), None, None)]
        }
        (Some(first), None) if named(first).is_some() => {
            let name = named(first).unwrap_or_default();
            vec![(c.lang.labelled(c.t.time, name), None, None)]
        }
        _ => {
            let from = since.clone().map(|first| {
                let label = c.lang.labelled(c.t.since, &first);
                (label, None, until.clone())
            });
            let to = until.clone().map(|last| {
                let label = c.lang.labelled(c.t.until, &last);
                (label, since.clone(), None)
            });
            from.into_iter().chain(to).collect()
        }
    }
}
