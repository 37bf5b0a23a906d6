//! Puts flattened data together again: Nuxt 3 and SvelteKit write a state as one list in which objects and lists hold the
//! places of their values, `[{"title":1},"…"]`, so that no key stands next to its value.

use serde_json::{Map, Value};

/// Objects and lists within one another.
const MAX_DEPTH: usize = 24;
/// Values that are put together: a place may be named any number of times.
const MAX_VALUES: usize = 50_000;
/// Bytes of strings that are put together.
const MAX_BYTES: usize = 4 << 20;

/// The data in the form of usual JSON; `None` where it is not flattened.
pub(super) fn unflatten(script: &str) -> Option<String> {
    let values: Vec<Value> = serde_json::from_str(script.trim()).ok()?;
    let is_flat = match values.first()? {
        Value::Object(fields) => !fields.is_empty() && fields.values().all(|v| v.is_i64()),
        Value::Array(items) => {
            let mut behind = items.iter().skip(1);
            items.first().is_some_and(Value::is_string) && behind.all(|v| v.is_i64())
        }
        _ => false,
    };
    let mut whole = Whole {
        values: &values,
        values_left: MAX_VALUES,
        bytes_left: MAX_BYTES,
    };
    (is_flat && values.len() > 2).then(|| whole.value(0, MAX_DEPTH).to_string())
}

struct Whole<'v> {
    values: &'v [Value],
    values_left: usize,
    bytes_left: usize,
}

impl Whole<'_> {
    /// The value at a place with all that it holds, so many levels deep.
    fn value(&mut self, at: usize, depth: usize) -> Value {
        if depth == 0 || self.values_left == 0 {
            return Value::Null;
        }
        self.values_left -= 1;
        match self.values.get(at) {
            Some(Value::Object(fields)) => {
                let fields = fields.iter();
                let fields = fields.map(|(key, place)| (key.clone(), self.named(place, depth)));
                Value::Object(fields.collect::<Map<_, _>>())
            }
            Some(Value::Array(items)) => match items.first().and_then(Value::as_str) {
                // `["Date","2026-05-03T…"]` holds a value, all others the place of one.
                Some("Date") => items.get(1).cloned().unwrap_or_default(),
                Some("Set") => self.list(&items[1..], depth),
                Some(_) => items.get(1).map_or(Value::Null, |v| self.named(v, depth)),
                None => self.list(items, depth),
            },
            Some(Value::String(text)) if text.len() > self.bytes_left => Value::Null,
            Some(other) => {
                self.bytes_left -= other.as_str().map_or(0, str::len);
                other.clone()
            }
            None => Value::Null,
        }
    }

    fn list(&mut self, places: &[Value], depth: usize) -> Value {
        Value::Array(places.iter().map(|v| self.named(v, depth)).collect())
    }

    /// The value whose place this is. Negative ones stand for what JSON lacks.
    fn named(&mut self, place: &Value, depth: usize) -> Value {
        let place = place.as_u64().and_then(|at| usize::try_from(at).ok());
        place.map_or(Value::Null, |at| self.value(at, depth - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unflatten_puts_keys_next_to_values() {
        for (flat, want) in [
            (
                r#"[["Reactive",1],{"list":2,"at":5},[3,3],{"title":4},"水库",["Date","2026-06-03T00:00:00Z"]]"#,
                Some(r#"{"at":"2026-06-03T00:00:00Z","list":[{"title":"水库"},{"title":"水库"}]}"#),
            ),
            (r#"[{"a":1,"b":-1},"x",0]"#, Some(r#"{"a":"x","b":null}"#)),
            (r#"[{"title":"水库"},1,2]"#, None),
            (r#"["a","b","c"]"#, None),
            ("[1,", None),
        ] {
            assert_eq!(unflatten(flat).as_deref(), want, "{flat}");
        }
        // One that holds itself, and one that grows with each level.
        assert!(unflatten(r#"[{"a":0},1,2]"#).is_some());
        let places: Vec<_> = (0..60).map(|n| serde_json::json!([n + 1, n + 1])).collect();
        let mut flat = vec![serde_json::json!(["Reactive", 1])];
        flat.extend(places);
        let grown = unflatten(&Value::Array(flat).to_string());
        assert!(grown.is_some_and(|text| text.len() < 1 << 20));
    }
}
