//! What the page of hits says beside them: what was searched in place of what was typed and beside it, who else has a
//! report, and terms to add to the query. Out: sentences and links. Never asks the index.

use super::view::{Choice, Chrome};
use super::words::fill;
use crate::search::params::Params;
use taojin_search::analyze::Expanded;

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

/// The synonyms that were looked for, and the link to the search without them.
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

/// A term as a part of a query.
fn quoted(term: &str) -> String {
    match term.contains(char::is_whitespace) {
        true => format!("\"{term}\""),
        false => term.to_owned(),
    }
}
