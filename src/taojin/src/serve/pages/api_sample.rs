//! Examples of what the API takes and gives. In: schemas of the OpenAPI description. Out: a value that fits, made of
//! the examples that the schemas name. Never follows a schema deeper than [`DEPTH_MAX`].

use serde_json::{Map, Value, json};

/// Schemas within schemas that are followed: one that names itself ends there.
const DEPTH_MAX: usize = 8;

/// A value that fits the schema.
pub(crate) fn sample(schema: &Value, document: &Value) -> Value {
    at_depth(schema, document, 0)
}

/// The schema itself: what `$ref` leads to.
pub(crate) fn resolved<'a>(schema: &'a Value, document: &'a Value) -> &'a Value {
    schema["$ref"]
        .as_str()
        .and_then(|name| name.strip_prefix('#'))
        .and_then(|path| document.pointer(path))
        .unwrap_or(schema)
}

/// The type of a schema; of several the one that is not null.
pub(crate) fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(kind) => kind,
        Value::Array(kinds) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null").unwrap_or("null")
        }
        _ => "",
    }
}

/// Of several schemas the first that is not null.
pub(crate) fn chosen(schema: &Value) -> Option<&Value> {
    ["oneOf", "anyOf", "allOf"]
        .iter()
        .filter_map(|key| schema[*key].as_array())
        .flatten()
        .find(|one| one["type"] != "null")
}

fn at_depth(schema: &Value, document: &Value, depth: usize) -> Value {
    if depth > DEPTH_MAX {
        return Value::Null;
    }
    let schema = resolved(schema, document);
    let named = [
        &schema["examples"][0],
        &schema["example"],
        &schema["enum"][0],
        &schema["default"],
    ];
    if let Some(example) = named.into_iter().find(|value| !value.is_null()) {
        return example.clone();
    }
    if let Some(one) = chosen(schema) {
        return at_depth(one, document, depth + 1);
    }
    match kind(schema) {
        "object" => {
            let fields = schema["properties"].as_object();
            let fields = fields.into_iter().flatten();
            let sampled =
                fields.map(|(name, field)| (name.clone(), at_depth(field, document, depth + 1)));
            Value::Object(sampled.collect::<Map<_, _>>())
        }
        "array" => json!([at_depth(&schema["items"], document, depth + 1)]),
        "integer" | "number" => match &schema["minimum"] {
            Value::Null => json!(0),
            least => least.clone(),
        },
        "boolean" => json!(false),
        "string" => json!(match schema["format"].as_str() {
            Some("date") => "2026-11-05",
            Some("date-time") => "2026-11-05T08:30:00+08:00",
            _ => "…",
        }),
        _ => Value::Null,
    }
}
