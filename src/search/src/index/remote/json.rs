//! From a [`Plan`] to the query language of OpenSearch and Elasticsearch.

use serde_json::{Value, json};

use super::super::rank::plain::TIER;
use super::super::rank::plan::{Chain, Plan};
use super::super::schema::{Column, Type};
use super::super::storage::queries::ROUNDING;
use super::super::view::Order;
use super::document::{NOWHERE, placed, written};
use super::hex;

/// [`super::super::view::aged`] in the engine's own language.
const AGED: &str = "double whole = Math.floor(_score / params.tier); \
    double lives = params.undated; \
    if (doc['published'].size() > 0) \
    { lives = Math.max(0.0, (double) (params.now - doc['published'].value)) / (double) params.half_life; } \
    return Math.min(1.0, whole) * params.tier + (_score - whole * params.tier) * Math.pow(2.0, -lives);";

/// The query for a plan.
pub(super) fn query(plan: &Plan) -> Value {
    match plan {
        Plan::All => json!({"match_all": {}}),
        Plan::Nothing => json!({"match_none": {}}),
        Plan::Term(column, text) => term(*column, text),
        Plan::Phrase(column, grams) => {
            let first = grams.first().map_or(0, |(at, _)| *at);
            let grams = grams.iter().map(|(at, gram)| (at - first, written(gram)));
            let text = placed(grams);
            json!({"match_phrase": {column.name(): text}})
        }
        Plan::Begins(column, text) => json!({"prefix": {column.name(): {"value": written(text)}}}),
        Plan::Ends(column, text) => {
            json!({"wildcard": {column.name(): {"value": format!("?{}", escaped(text))}}})
        }
        Plan::Between(column, from, until) => {
            json!({"range": {column.name(): {"gte": written(from), "lt": written(until)}}})
        }
        Plan::Near(column, chains, within) => near(*column, chains, *within),
        Plan::Group(group) => json!({"term": {"group": hex(*group)}}),
        Plan::Within(column, since_ms, until_ms) => within(*column, *since_ms, *until_ms),
        Plan::Any(any) => one_of(all(any)),
        Plan::Best(any) => json!({"dis_max": {"queries": all(any)}}),
        Plan::Each { must, without } => {
            json!({"bool": {"must": all(must), "must_not": all(without)}})
        }
        Plan::MinimumShouldMatch(any, least) => {
            let weighed = |(plan, weight): &(Plan, f32)| constant(plan, *weight);
            let any: Vec<Value> = any.iter().map(weighed).collect();
            // The sum only decides what fits.
            let enough = json!({"function_score": {
                "query": one_of(any),
                "min_score": least - ROUNDING,
            }});
            json!({"constant_score": {"filter": enough, "boost": 0.0}})
        }
        Plan::Scored { fitting, by } => {
            json!({"bool": {"filter": [query(fitting)], "should": all(by), "minimum_should_match": 0}})
        }
        Plan::Constant(plan, score) => constant(plan, *score),
        Plan::Boosted(plan, boost) => json!({"bool": {"must": [query(plan)], "boost": boost}}),
    }
}

/// What one of the queries fits. Without any the engine would take every document.
fn one_of(any: Vec<Value>) -> Value {
    if any.is_empty() {
        json!({"match_none": {}})
    } else {
        json!({"bool": {"should": any, "minimum_should_match": 1}})
    }
}

fn all(plans: &[Plan]) -> Vec<Value> {
    plans.iter().map(query).collect()
}

fn constant(plan: &Plan, score: f32) -> Value {
    json!({"constant_score": {"filter": query(plan), "boost": score}})
}

/// A term. A name stands there as it is, whatever is in it.
pub(super) fn term(column: Column, text: &str) -> Value {
    match column.kind() {
        Type::Name | Type::CountedName => json!({"term": {column.name(): text}}),
        _ => json!({"term": {column.name(): written(text)}}),
    }
}

fn escaped(text: &str) -> String {
    let special = |c: char| matches!(c, '*' | '?' | '\\');
    let escape = |c: char| special(c).then_some('\\').into_iter().chain([c]);
    text.chars().flat_map(escape).collect()
}

fn within(column: Column, since_ms: Option<i64>, until_ms: Option<i64>) -> Value {
    let mut limits = serde_json::Map::new();
    limits.extend(since_ms.map(|ms| ("gte".to_owned(), json!(ms))));
    limits.extend(until_ms.map(|ms| ("lt".to_owned(), json!(ms))));
    json!({"range": {column.name(): limits}})
}

/// Two texts near each other, in either order. The engine counts places from the last gram of one text to the first of the
/// other: the characters of that gram behind its first come on top. Texts that overlap by these are near as well, which the
/// embedded index does not find; their common characters are no distance.
fn near(column: Column, chains: &[Chain; 2], within: u32) -> Value {
    let [first, mut second] = chains.each_ref().map(|chain| {
        let first = chain.grams.first().map_or(0, |(at, _)| *at);
        let last = chain.grams.last().map_or(0, |(at, _)| *at);
        let grams = chain.grams.iter();
        let terms = placed(grams.map(|(at, gram)| ((at - first) as usize, written(gram))));
        let text = json!({"match": {"query": terms, "ordered": true, "max_gaps": 0}});
        (text, chain.chars.saturating_sub(last + 1))
    });
    if first == second {
        // Of two texts that are equal the engine makes one that is repeated, and finds none within a number of gaps.
        let nowhere = json!({"match": {"query": NOWHERE}});
        second.0 = json!({"any_of": {"intervals": [second.0, nowhere]}});
    }
    let ordered = |(a, behind): &(Value, u32), (b, _): &(Value, u32)| {
        let gaps = within.saturating_add(*behind);
        json!({"all_of": {"ordered": true, "max_gaps": gaps, "intervals": [a, b]}})
    };
    let any = [ordered(&first, &second), ordered(&second, &first)];
    constant_of(json!({"intervals": {column.name(): {"any_of": {"intervals": any}}}}))
}

/// What fits, with the score 1.
fn constant_of(filter: Value) -> Value {
    json!({"constant_score": {"filter": filter, "boost": 1.0}})
}

/// The query and its order: what a search takes as `query` and `sort`. Of equal documents the one that changed first comes
/// first.
pub(super) fn ordered(plan: &Plan, order: Order, undated_half_lives: f32) -> (Value, Value) {
    let by_score = json!([{"_score": "desc"}, {"seq": "asc"}]);
    match order {
        Order::Score => (query(plan), by_score),
        Order::Published => {
            let latest = json!({"order": "desc", "missing": "_last"});
            (query(plan), json!([{"published": latest}, {"seq": "asc"}]))
        }
        Order::Fetched => (query(plan), json!([{"fetched": "desc"}, {"seq": "asc"}])),
        Order::Aged {
            now_ms,
            half_life_ms,
        } => {
            let script = json!({"source": AGED, "params": {
                "tier": TIER, "now": now_ms, "half_life": half_life_ms, "undated": undated_half_lives,
            }});
            let aged = json!({"function_score": {
                "query": query(plan),
                "script_score": {"script": script},
                "boost_mode": "replace",
            }});
            (aged, by_score)
        }
    }
}
