//! Builds the choices next to the hits: words, order, period, sites, page numbers, filters, terms to add, and what was
//! searched instead of the query.
//!
//! Each is a link to the same search with another choice, made of the parameters and the counts of the search; the index is
//! never queried.

use taojin_search::analyze::Expanded;
use taojin_search::index::{FieldCounts, Match, SiteCount, Sort, ValueCount};
use taojin_search::query::{is_label, narrowings};

use crate::config::{Config, PAGE_HITS};
use crate::pages::view::{Choice, Chrome};
use crate::pages::words::{Labels, fill, grouped};
use crate::search::params::{Params, quoted};

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
    let choice = |(matching, label): (Match, &&'static str)| {
        let href = c.first_page(params.with(|p| p.matching = matching));
        Choice::link(*label, href).chosen(params.matching == matching)
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
    .map(|(sort, label)| {
        let href = c.first_page(params.with(|p| p.sort = sort));
        Choice::link(label, href).chosen(params.sort == sort)
    })
    .collect()
}

/// When a document was published.
pub(super) fn periods(c: &Chrome, params: &Params) -> Vec<Choice> {
    period_names(c.t)
        .into_iter()
        .map(|(since, label)| {
            let href = c.first_page(params.with(|p| {
                p.since = since.map(str::to_owned);
                p.until = None;
            }));
            let chosen = params.since.as_deref() == since && params.until.is_none();
            Choice::link(label, href).chosen(chosen)
        })
        .collect()
}

/// Choosing a site adds it, choosing it again takes it away.
pub(super) fn sites(c: &Chrome, params: &Params, counts: Vec<SiteCount>) -> Vec<Choice> {
    let mut named: Vec<(String, Option<u64>)> = counts
        .into_iter()
        .take(SITES_SHOWN)
        .map(|count| (count.site, Some(count.documents)))
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
    let href = c.first_page(params.with(|p| p.sites = Vec::new()));
    let all = Choice::link(c.t.all_sites, href).chosen(params.sites.is_empty());
    std::iter::once(all)
        .chain(named.into_iter().map(choice))
        .collect()
}

/// The values of each field with their counts, under the name of the field. Choosing one adds it to the query, choosing it again
/// takes it out.
pub(super) fn fields(
    c: &Chrome,
    params: &Params,
    counts: Vec<FieldCounts>,
) -> Vec<(String, Vec<Choice>)> {
    let mut shown = Vec::new();
    for FieldCounts { field, values } in counts {
        let name = match field.as_str() {
            "author" => c.t.author,
            "source" => c.t.source,
            "kind" => c.t.kind,
            "filetype" => c.t.file_type,
            label if is_label(label) => label,
            _ => continue,
        };
        let is_plain = |value: &ValueCount| !value.value.contains(['"', '“', '”', '＂']);
        let values: Vec<ValueCount> = values.into_iter().filter(is_plain).collect();
        let choice = |value: &ValueCount| {
            let piece = format!("{field}:\"{}\"", value.value);
            let chosen = params.text.contains(&piece);
            let text = if chosen {
                params.text.replace(&piece, "")
            } else {
                format!("{} {piece}", params.text)
            };
            let label = match field.as_str() {
                "kind" => kind_name(c, &value.value),
                "filetype" => value.value.to_uppercase(),
                _ => value.value.clone(),
            };
            let href = c.first_page(params.with(|p| text.trim().clone_into(&mut p.text)));
            let choice = Choice::link(label, href).chosen(chosen);
            choice.counted(value.documents)
        };
        let choices: Vec<Choice> = values.iter().map(choice).collect();
        // One value narrows nothing, unless it is there to be taken out.
        if choices.len() > 1 || choices.iter().any(|choice| choice.chosen) {
            shown.push((name.to_owned(), choices));
        }
    }
    shown
}

fn kind_name(c: &Chrome, kind: &str) -> String {
    let mut kinds = c.t.kinds.iter();
    let known = kinds.find(|[known, _]| *known == kind);
    known.map_or(kind, |[_, name]| name).to_owned()
}

/// Numbers of the pages around the current one; `None` if there is only one.
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
        .map(|page| {
            let href = at(page * PAGE_HITS);
            Choice::link((page + 1).to_string(), href).chosen(page == current)
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
        add(c.lang.labelled(c.t.site, &c.site(site)), without);
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
        let title = narrowing.site.and_then(|site| c.site_titles.get(&site));
        let label = title.map(|title| c.lang.labelled(c.t.site, title));
        add(label.unwrap_or(narrowing.text), without);
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

/// Synonyms of a word that are named.
const SYNONYMS_NAMED: usize = 4;
/// Outlets of reprints that are named with a hit.
const OUTLETS_NAMED: usize = 3;

/// What was searched in place of a query that finds nothing, and the link to the search for what was typed.
pub(super) fn instead(c: &Chrome, params: &Params, text: Option<&str>) -> Option<(String, String)> {
    let values = [("typed", params.text.as_str()), ("text", text?)];
    let href = c.first_page(params.with(|p| p.uncorrected = true));
    Some((fill(c.t.sentences.searched_instead, &values), href))
}

/// The synonyms that were searched for, and the link to the search without them.
pub(super) fn also(c: &Chrome, params: &Params, synonyms: &[Expanded]) -> Option<(String, String)> {
    let between = c.t.sentences.between;
    let pair = |Expanded { typed, also }: &Expanded| {
        let also: Vec<&str> = also
            .iter()
            .map(String::as_str)
            .take(SYNONYMS_NAMED)
            .collect();
        c.lang.labelled(typed, &also.join(between))
    };
    let pairs: Vec<String> = synonyms.iter().map(pair).collect();
    let href = c.first_page(params.with(|p| p.as_typed = true));
    let sentence = fill(c.t.sentences.also_searched, &[("pairs", &pairs.join("; "))]);
    (!pairs.is_empty()).then_some((sentence, href))
}

/// The first outlets by name, and how many others there are.
pub(super) fn outlets(sites: &[String], c: &Chrome) -> String {
    let (named, others) = sites.split_at(sites.len().min(OUTLETS_NAMED));
    let named: Vec<String> = named.iter().map(|site| c.site(site)).collect();
    let list = named.join(c.t.sentences.between);
    match others.len() {
        0 => list,
        others => {
            c.t.counts
                .more_outlets
                .with(others as u64, &[("list", &list)])
        }
    }
}

/// A term as a link to the query with it.
pub(super) fn refined(c: &Chrome, params: &Params, term: &str) -> Choice {
    let href = c.first_page(params.with(|p| {
        p.text = format!("{} {}", params.text, quoted(term))
            .trim()
            .to_owned()
    }));
    Choice::link(term.to_owned(), href)
}
