//! The index of an engine, as a search sees it. What it was told of documents is remembered for as long as the search
//! takes: a [`DocAddress`] is the fingerprint of a document, so that it is the same in each answer.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use serde_json::{Value, json};
use tantivy::DocAddress;

use super::super::IndexError;
use super::super::duplicates::reprints::{Placed, Sketch};
use super::super::facets::days::{DAY_MS, day_of};
use super::super::facets::values::MOST;
use super::super::query::Query;
use super::super::rank::plan::Plan;
use super::super::reader::Watermark;
use super::super::schema::Column;
use super::super::stop::CancellationToken;
use super::super::storage::embedded::UNDATED_HALF_LIVES;
use super::super::view::{Counts, Order, Precedence, Ranked, Ranking, Statistics, View, Wanted};
use super::json::{ordered, query, term};
use super::{
    Body, EngineTrouble, Patience, RemoteIndex, Request, TroubleKind, hex, is_partial, total, unhex,
};

/// Sites that are counted: more than an operator of one field has.
const SITES: u32 = 10_000;
/// Documents of a scan that are fetched at once, and for how long the engine keeps the rest.
const SCANNED: u32 = 1_000;
const KEEP: &str = "2m";
/// Scores of all shards are reckoned with the frequencies of all.
const SEARCH: &str = "search_type=dfs_query_then_fetch";

/// Frequencies: asked for, and then known.
#[derive(Default)]
struct Frequencies {
    documents: u64,
    of_terms: RefCell<HashMap<(Column, String), u64>>,
    /// Whether any was asked for.
    asked: Cell<bool>,
}

impl Statistics for Frequencies {
    fn documents(&self) -> u64 {
        self.asked.set(true);
        self.documents
    }

    fn frequency(&self, column: Column, term: &str) -> u64 {
        self.asked.set(true);
        let mut of_terms = self.of_terms.borrow_mut();
        *of_terms.entry((column, term.to_owned())).or_insert(0)
    }
}

/// An index as one search sees it.
pub(in super::super) struct RemoteView<'a> {
    index: &'a RemoteIndex,
    known: RefCell<HashMap<DocAddress, Known>>,
}

/// Similar words that the engine is asked for.
const SIMILAR_WORDS: usize = 10;

impl<'a> RemoteView<'a> {
    pub(in super::super) fn new(index: &'a RemoteIndex) -> Self {
        Self {
            index,
            known: RefCell::default(),
        }
    }

    fn search(&self, body: &Value, stop: &CancellationToken) -> Result<Value, IndexError> {
        self.index.search(SEARCH, body, stop)
    }

    /// Remembers a document.
    fn placed(&self, hit: &Value) -> Option<DocAddress> {
        let known = Known::from_hit(hit)?;
        let at = address_of(known.fingerprint);
        self.known.borrow_mut().insert(at, known);
        Some(at)
    }

    fn with<T>(&self, at: DocAddress, take: impl Fn(&Known) -> T) -> T {
        let known = self.known.borrow();
        match known.get(&at) {
            Some(known) => take(known),
            None => take(&Known::default()),
        }
    }

    fn precedence(&self, at: DocAddress) -> Precedence {
        self.with(at, |known| {
            let fetched_ms = known.fetched_ms;
            Precedence::new(
                known.published_ms,
                fetched_ms,
                known.original,
                known.seq,
                at,
            )
        })
    }

    /// All documents of an open scroll.
    fn scrolled(
        &self,
        mut answer: Value,
        each: &mut dyn FnMut(DocAddress) -> Result<bool, IndexError>,
    ) -> Result<bool, IndexError> {
        loop {
            let hits = hits(&answer);
            if hits.is_empty() {
                return Ok(true);
            }
            for hit in hits {
                let Some(at) = self.placed(hit) else { continue };
                let goes_on = each(at)?;
                self.known.borrow_mut().remove(&at);
                if !goes_on {
                    return Ok(false);
                }
            }
            let next = json!({"scroll": KEEP, "scroll_id": answer["_scroll_id"]});
            let request = Request {
                // The second time it would give the documents behind those that were lost.
                is_repeatable: false,
                ..Request::new("POST", "/_search/scroll", Body::Json(&next))
            };
            let never = CancellationToken::default();
            let (status, found) = self.index.ask_until(&request, &never)?;
            self.index.accepted(status, &found)?;
            if is_partial(&found) {
                return Err(self.index.troubled(EngineTrouble::from_partial(&found)));
            }
            answer = found;
        }
    }
}

/// Bytes that an index takes in its engine, without its copies.
pub fn size_bytes(index: &RemoteIndex) -> Result<u64, IndexError> {
    RemoteView::new(index).size_bytes()
}

/// Says what an order that a script makes needs, where the engine does not take such a search.
fn name_scripts(order: Order, error: IndexError) -> IndexError {
    match (order, error) {
        (Order::Aged { .. }, IndexError::Remote { place, trouble })
            if trouble.kind() == TroubleKind::Other =>
        {
            let cause = trouble.detail();
            let detail = format!(
                "sort=both needs scripts in Painless, which do not work there: allow them (script.allowed_types, \
                 script.allowed_contexts), or take sort=date; {cause}"
            );
            let trouble = EngineTrouble::new(TroubleKind::Misconfigured, detail);
            IndexError::Remote { place, trouble }
        }
        (_, error) => error,
    }
}

/// The place of a document: its fingerprint.
fn address_of(fingerprint: u64) -> DocAddress {
    DocAddress::new((fingerprint >> 32) as u32, fingerprint as u32)
}

fn hits(answer: &Value) -> &[Value] {
    answer["hits"]["hits"].as_array().map_or(&[], Vec::as_slice)
}

fn buckets(aggregation: &Value) -> &[Value] {
    aggregation["buckets"].as_array().map_or(&[], Vec::as_slice)
}

impl View for RemoteView<'_> {
    fn with_statistics(&self, ask: &mut dyn FnMut(&dyn Statistics)) -> Result<(), IndexError> {
        let mut known = Frequencies::default();
        ask(&known);
        if !known.asked.get() {
            return Ok(());
        }
        let terms: Vec<(Column, String)> = known.of_terms.take().into_keys().collect();
        // Each is a look-up there. One aggregation over all documents would cost as much as there are documents and terms.
        let of_terms = terms.iter().map(|(place, text)| term(*place, text));
        let queries: Vec<Value> = [query(&Plan::All)].into_iter().chain(of_terms).collect();
        let mut totals = self.index.totals(&queries)?.into_iter();
        known.documents = totals.next().unwrap_or_default();
        known.of_terms = RefCell::new(terms.into_iter().zip(totals).collect());
        ask(&known);
        Ok(())
    }

    fn similar(
        &self,
        column: Column,
        word: &str,
        most_edits: u8,
    ) -> Result<Vec<(String, u64)>, IndexError> {
        let body = json!({
            "size": 0,
            "suggest": {"similar": {"text": word, "term": {
                "field": column.name(),
                "suggest_mode": "always",
                "string_distance": "damerau_levenshtein",
                "max_edits": most_edits,
                "prefix_length": 0,
                "size": SIMILAR_WORDS,
            }}},
        });
        let found = self.search(&body, &CancellationToken::default())?;
        let options = found["suggest"]["similar"][0]["options"].as_array();
        let option = |option: &Value| {
            let word = option["text"].as_str()?.to_owned();
            Some((word, option["freq"].as_u64()?))
        };
        Ok(options.into_iter().flatten().filter_map(option).collect())
    }

    fn rank(&self, plan: &Plan, wanted: &Wanted<'_>) -> Result<Ranking, IndexError> {
        let (query, sort) = ordered(plan, wanted.order, UNDATED_HALF_LIVES);
        let mut body = json!({
            "query": query,
            "sort": sort,
            "from": wanted.range.start,
            "size": wanted.range.len(),
            "track_total_hits": true,
        });
        let shift_ms = i64::from(wanted.utc_offset_minutes) * 60_000;
        if wanted.counts {
            body["aggs"] = json!({
                "sites": {"terms": {"field": "site", "size": SITES, "order": [{"_count": "desc"}, {"_key": "asc"}]}},
                "values": {"terms": {"field": "values", "size": MOST}},
                "days": {"histogram": {
                    "field": "published", "interval": DAY_MS, "min_doc_count": 1,
                    "offset": (-shift_ms).rem_euclid(DAY_MS),
                }},
            });
        }
        let answer = self.search(&body, wanted.stop);
        let answer = answer.map_err(|error| name_scripts(wanted.order, error))?;
        let ranked = hits(&answer).iter().filter_map(|hit| {
            Some(Ranked {
                score: hit["_score"].as_f64().unwrap_or_default() as f32,
                at: self.placed(hit)?,
                group: None,
            })
        });
        Ok(Ranking {
            total: usize::try_from(total(&answer)).unwrap_or(usize::MAX),
            documents: ranked.collect(),
            counts: wanted
                .counts
                .then(|| counts(&answer["aggregations"], shift_ms)),
        })
    }

    fn members(
        &self,
        plan: &Plan,
        groups: &[u64],
        without: &[DocAddress],
        stop: &CancellationToken,
    ) -> Result<Vec<(u64, Precedence)>, IndexError> {
        if groups.is_empty() {
            return Ok(Vec::new());
        }
        let groups: Vec<String> = groups.iter().map(|group| hex(*group)).collect();
        let identity = |at: &DocAddress| self.with(*at, |known| hex(known.fingerprint));
        let without: Vec<String> = without.iter().map(identity).collect();
        let body = json!({
            "query": {"bool": {
                "filter": [query(plan), {"terms": {"group": groups}}],
                "must_not": {"ids": {"values": without}},
            }},
            "size": Query::MAX_WINDOW,
        });
        let answer = self.search(&body, stop)?;
        let found = hits(&answer).iter().filter_map(|hit| {
            let at = self.placed(hit)?;
            let group = self.with(at, |known| known.group)?;
            Some((group, self.precedence(at)))
        });
        let mut found: Vec<(u64, Precedence)> = found.collect();
        found.sort_unstable();
        Ok(found)
    }

    fn groups(
        &self,
        plan: &Plan,
        limit: usize,
        stop: &CancellationToken,
    ) -> Result<Vec<(u64, u64)>, IndexError> {
        let body = json!({
            "query": query(plan),
            "size": 0,
            "aggs": {"groups": {"terms": {
                "field": "group", "size": limit.max(1), "min_doc_count": 2,
                "order": [{"_count": "desc"}, {"_key": "asc"}],
            }}},
        });
        let answer = self.search(&body, stop)?;
        let groups = buckets(&answer["aggregations"]["groups"]).iter();
        let groups = groups.filter_map(|b| Some((unhex(&b["key"])?, b["doc_count"].as_u64()?)));
        Ok(groups.take(limit).collect())
    }

    fn sample(
        &self,
        plan: &Plan,
        count: usize,
        stop: &CancellationToken,
    ) -> Result<Vec<DocAddress>, IndexError> {
        // Evenly by chance, the same ones each time.
        let body = json!({
            "query": {"function_score": {
                "query": {"bool": {"filter": query(plan)}},
                "random_score": {"seed": 1, "field": "seq"},
                "boost_mode": "replace",
            }},
            "size": count,
        });
        let answer = self.search(&body, stop)?;
        let found = hits(&answer).iter().filter_map(|hit| self.placed(hit));
        Ok(found.collect())
    }

    fn each(
        &self,
        plan: &Plan,
        after: Option<Watermark>,
        each: &mut dyn FnMut(DocAddress) -> Result<bool, IndexError>,
    ) -> Result<bool, IndexError> {
        let mut filter = vec![query(plan)];
        filter.extend(after.map(|after| {
            json!({"bool": {"minimum_should_match": 1, "should": [
                {"range": {"seq": {"gt": after.seq}}},
                {"range": {"fetched": {"gt": after.fetched_ms}}},
            ]}})
        }));
        let body = json!({
            "query": {"bool": {"filter": filter}},
            "size": SCANNED,
            "sort": ["_doc"],
        });
        // A scroll is a picture of one moment: nothing comes twice or is missed, whatever is written meanwhile.
        let parameters = format!("scroll={KEEP}");
        let answer = self
            .index
            .search(&parameters, &body, &CancellationToken::default())?;
        let scroll = answer["_scroll_id"].clone();
        let all = self.scrolled(answer, each);
        let done = json!({"scroll_id": [scroll]});
        // It ends by itself if this fails.
        drop(
            self.index
                .ask("DELETE", "/_search/scroll", Body::Json(&done)),
        );
        all
    }

    fn watermark(&self) -> Result<Watermark, IndexError> {
        let body = json!({"size": 0, "aggs": {
            "seq": {"max": {"field": "seq"}},
            "fetched": {"max": {"field": "fetched"}},
        }});
        let answer = self.search(&body, &CancellationToken::default())?;
        let most = |of: &str| answer["aggregations"][of]["value"].as_f64().unwrap_or(0.0);
        Ok(Watermark {
            seq: most("seq") as u64,
            fetched_ms: most("fetched") as i64,
        })
    }

    fn find(&self, fingerprint: u64) -> Result<Option<DocAddress>, IndexError> {
        let body = json!({"query": {"ids": {"values": [hex(fingerprint)]}}, "size": 1});
        let answer = self.search(&body, &CancellationToken::default())?;
        Ok(hits(&answer).first().and_then(|hit| self.placed(hit)))
    }

    fn identity(&self, at: DocAddress) -> Result<(u64, u64), IndexError> {
        Ok(self.with(at, |known| (known.fingerprint, known.seq)))
    }

    fn group(&self, at: DocAddress) -> Result<Option<u64>, IndexError> {
        Ok(self.with(at, |known| known.group))
    }

    fn placed(&self, at: DocAddress) -> Result<Option<Placed>, IndexError> {
        Ok(self.with(at, |known| {
            let both = known.group.zip(known.sketch);
            both.map(|(group, sketch)| Placed { group, sketch })
        }))
    }

    fn site(&self, at: DocAddress) -> Result<String, IndexError> {
        Ok(self.with(at, |known| known.site.clone()))
    }

    fn size_bytes(&self) -> Result<u64, IndexError> {
        let path = format!("/{}/_stats/store", self.index.alias());
        let request = Request {
            // All nodes are asked.
            patience: Patience::Work,
            ..Request::new("GET", &path, Body::Empty)
        };
        let never = CancellationToken::default();
        let (status, answer) = self.index.ask_until(&request, &never)?;
        self.index.accepted(status, &answer)?;
        let bytes = &answer["_all"]["primaries"]["store"]["size_in_bytes"];
        Ok(bytes.as_u64().unwrap_or_default())
    }

    fn last_seq(&self) -> Result<u64, IndexError> {
        Ok(self.index.state()?.served.seq)
    }
}

/// Counts by site, by value and by day.
fn counts(aggregations: &Value, shift_ms: i64) -> Counts {
    let count = |bucket: &Value| bucket["doc_count"].as_u64().unwrap_or_default();
    let names = |name: &str| {
        let names = buckets(&aggregations[name]).iter();
        let names = names.filter_map(|b| Some((b["key"].as_str()?.to_owned(), count(b))));
        names.collect()
    };
    let days = buckets(&aggregations["days"]).iter().filter_map(|bucket| {
        let begin_ms = bucket["key"].as_f64()? as i64;
        Some((day_of(begin_ms.saturating_add(shift_ms))?, count(bucket)))
    });
    (names("sites"), names("values"), days.collect())
}

/// What is known of a document without its text.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub(super) fingerprint: u64,
    pub(super) seq: u64,
    pub(super) group: Option<u64>,
    pub(super) sketch: Option<Sketch>,
    pub(super) site: String,
    pub(super) original: bool,
    pub(super) published_ms: Option<i64>,
    pub(super) fetched_ms: i64,
}

/// The sketch that a document gives.
pub(super) fn sketch_of(source: &Value) -> Option<Sketch> {
    let packed = source["sketch"].as_array().into_iter().flatten();
    Sketch::unpacked(packed.filter_map(unhex))
}

impl Known {
    pub(super) fn from_hit(hit: &Value) -> Option<Self> {
        let source = &hit["_source"];
        Some(Self {
            fingerprint: unhex(&source["fingerprint"])?,
            seq: source["seq"].as_u64().unwrap_or_default(),
            group: unhex(&source["group"]),
            sketch: sketch_of(source),
            site: source["site"].as_str().unwrap_or_default().to_owned(),
            original: source["original"].as_bool().unwrap_or_default(),
            published_ms: source["published"].as_i64(),
            fetched_ms: source["fetched"].as_i64().unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn remote_hit_fields_are_complete() {
        let hit = json!({"_source": {
            "fingerprint": "00000000000000ff", "seq": 7, "group": "0000000000000001", "site": "甲",
            "original": true, "published": 5, "fetched": 6,
        }});
        let known = Known::from_hit(&hit).unwrap();
        assert_eq!(
            (known.fingerprint, known.seq, known.group),
            (255, 7, Some(1))
        );
        for field in hit["_source"].as_object().unwrap().keys() {
            assert!(
                super::super::document::kept().contains(&field.as_str()),
                "{field}"
            );
        }
    }
}
