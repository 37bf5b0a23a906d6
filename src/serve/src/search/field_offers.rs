//! Offers the fields that plain words of a query name: a writer, an outlet, a site, an office, the well of a page's table, a
//! day. Plain words look into title and text only, so that an outlet's name does not find all that it printed; each offer
//! is a search that does, with its count. Asks a bounded number of small searches.

use chrono::Datelike;
use serde::Serialize;
use taojin_search::analyze::{Day, Normalized, find_days, normalize};
use taojin_search::index::{
    Clause, Found, Group, IndexError, Occur, Query, Reader, StoredDocument, Target, notice_labels,
};
use taojin_search::query::is_label;
use utoipa::ToSchema;

use crate::search::source::{SearchRequest, parse_request};

/// Words of a query that are looked up: one with more is a sentence.
const MAX_WORDS: usize = 3;
/// Most offers.
const MAX_OFFERS: usize = 6;
/// Documents whose labels are read.
const LABELLED_DOCUMENTS: usize = 5;

/// A search of a field for a word of the query, or of the day that the query names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = FieldOfferAnswer)]
pub struct FieldOffer {
    /// `author`, `source`, `site`, `date`, or the label of a field of pages.
    pub field: String,
    /// What is looked for there.
    pub value: String,
    /// The query.
    #[serde(rename = "q")]
    pub text: String,
    /// Documents that it finds.
    pub total: u64,
}

/// The offers for a query of plain words; `found` is what it finds itself.
pub(super) fn field_offers(
    reader: &Reader,
    request: &SearchRequest,
    found: &Found,
) -> Result<Vec<FieldOffer>, IndexError> {
    let mut finder = OfferFinder {
        reader,
        request,
        offers: Vec::new(),
    };
    finder.offer_day()?;
    let words: Vec<&str> = request.text.split_whitespace().collect();
    for at in 0..words.len() {
        let Some(word) = words.get(at).filter(|_| words.len() <= MAX_WORDS) else {
            break;
        };
        let others: Vec<&str> = words
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != at)
            .map(|(_, w)| *w)
            .collect();
        finder.offer_fields(word, &others.join(" "), found)?;
    }
    finder.offers.truncate(MAX_OFFERS);
    Ok(finder.offers)
}

struct OfferFinder<'a> {
    reader: &'a Reader,
    request: &'a SearchRequest,
    offers: Vec<FieldOffer>,
}

impl OfferFinder<'_> {
    fn query(&self, text: &str, limit: usize) -> Query {
        let request = SearchRequest {
            text: text.to_owned(),
            grouped: false,
            facets: false,
            limit,
            ..self.request.clone()
        };
        parse_request(self.reader, &request).query
    }

    /// The best documents of a query.
    fn best(&self, query: &Query) -> Result<Vec<StoredDocument>, IndexError> {
        let found = self.reader.search(query)?.documents.into_iter();
        Ok(found.map(|found| found.stored).collect())
    }

    fn offer(&mut self, field: &str, value: &str, text: String) -> Result<(), IndexError> {
        let total = self.reader.search(&self.query(&text, 0))?.total as u64;
        if total > 0 {
            self.offers.push(FieldOffer {
                field: field.to_owned(),
                value: value.to_owned(),
                text,
                total,
            });
        }
        Ok(())
    }

    /// The day that the query names, as that of publication.
    fn offer_day(&mut self) -> Result<(), IndexError> {
        let typed = Normalized::new(&self.request.text);
        let Some(day) = find_days(typed.text()).first().copied() else {
            return Ok(());
        };
        let Some(value) = self.date_of(&day) else {
            return Ok(());
        };
        let place = typed.original(day.start, day.end);
        let before = self.request.text.get(..place.start).unwrap_or_default();
        let after = self.request.text.get(place.end..).unwrap_or_default();
        let text = format!("{} date:{value} {}", before.trim(), after.trim());
        self.offer("date", &value, text.trim().to_owned())
    }

    /// A day without a year is the latest that is past.
    fn date_of(&self, day: &Day) -> Option<String> {
        let year = match day.year {
            Some(year) => i32::from(year),
            None => {
                let offset_ms = i64::from(self.reader.config().utc_offset_minutes) * 60_000;
                let now = chrono::DateTime::from_timestamp_millis(self.request.now_ms + offset_ms)?;
                let is_past =
                    (u32::from(day.month), u32::from(day.day)) <= (now.month(), now.day());
                now.year() - i32::from(!is_past)
            }
        };
        Some(format!("{year}-{:02}-{:02}", day.month, day.day))
    }

    /// The fields whose whole value a word is.
    fn offer_fields(&mut self, word: &str, rest: &str, found: &Found) -> Result<(), IndexError> {
        let normal = normalize(word).into_owned();
        if normal.chars().count() < 2 || !find_days(&normal).is_empty() {
            return Ok(());
        }
        let text = |field: &str| format!("{rest} {field}:{word}").trim().to_owned();
        for field in ["author", "source", "site"] {
            let named = self.best(&self.query(&format!("{field}:{word}"), 1))?;
            let is_named = |stored: &StoredDocument| match field {
                "author" => is_part(stored.document.author.as_deref(), &normal),
                "source" => is_whole(stored.document.source.as_deref(), &normal),
                _ => true,
            };
            if named.first().is_some_and(is_named) {
                self.offer(field, word, text(field))?;
            }
        }
        // Labels of notices are known, and others stand in documents that have the word.
        let clause = |label| Clause::literal(Target::Meta, format!("{label}:{word}"));
        let group = Group {
            occur: Occur::Must,
            any: notice_labels().map(clause).collect(),
        };
        let labelled = self.best(&Query {
            groups: vec![group],
            ..self.query("", LABELLED_DOCUMENTS)
        })?;
        let weaker = found.weaker.iter().flat_map(|weaker| &weaker.documents);
        let shown = found.documents.iter().chain(weaker);
        let shown = shown.map(|found| &found.stored);
        let mut labels: Vec<String> = Vec::new();
        for stored in labelled.iter().chain(shown) {
            for (label, value) in stored.document.meta.iter() {
                let is_new = labels.iter().all(|known| known != label);
                if is_new && is_label(label) && is_whole(Some(value), &normal) {
                    labels.push(label.to_owned());
                }
            }
        }
        for label in labels.into_iter().take(MAX_OFFERS) {
            self.offer(&label, word, text(&label))?;
        }
        Ok(())
    }
}

fn is_whole(value: Option<&str>, normal: &str) -> bool {
    value.is_some_and(|value| normalize(value).trim() == normal)
}

/// Whether a value is this, or a list with it: 记者 王建国、李明.
fn is_part(value: Option<&str>, normal: &str) -> bool {
    value.is_some_and(|value| {
        let value = normalize(value);
        let mut parts = value.split(|c: char| !c.is_alphanumeric());
        value.trim() == normal || parts.any(|part| part == normal)
    })
}
