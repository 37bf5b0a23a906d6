//! Builds the OpenAPI 3.1 description of the API from the handlers' annotations and the limits of the configuration, so that
//! it promises no limit that the server does not keep.

use serde_json::{Value, json};
use utoipa::OpenApi;

use super::problem::{PROBLEM_JSON, Problem};
use super::{
    fit as fit_api, log as log_api, sites as sites_api, terms as terms_api, trends as trends_api,
};
use crate::api::log::{CHANGES_DEFAULT, CHANGES_MAX};
use crate::config::{Config, DEFAULT_LIMIT, SITES_MAX};
use crate::search::params::{SITE_CHARS_MAX, VALUE_CHARS_MAX};
use crate::search::trends::QUERIES_MAX;
use crate::{api, feeds as feed};

/// The schema of a parameter under a configuration; none if its annotation says all.
type SchemaOf = fn(&str, &Config) -> Option<Value>;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Taojin",
        description = "Search over what Taojin has crawled. Everything is read with GET, and only the operator changes anything, with POST: the review of terms, and what the crawler does with a site or an address; the comparison of a page with the templates changes nothing; errors are RFC 9457 problem documents; long answers are compressed for clients that say they take gzip.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    paths(api::search, trends_api::trends, api::suggest, api::document, log_api::changes, log_api::history, feed::followed, feed::atom, feed::json, terms_api::list, terms_api::decide, fit_api::fit, sites_api::visit_site, sites_api::pause_site, sites_api::resume_site, sites_api::purge_site, sites_api::visit_url, sites_api::purge_url, sites_api::allow_url, api::status, api::health, api::ready, api::metrics_text, api::openapi),
    components(schemas(Problem)),
    tags(
        (name = "search", description = "Hits and documents."),
        (name = "feeds", description = "What came last, for feed readers."),
        (name = "terms", description = "Review of domain terms, for the operator."),
        (name = "templates", description = "Pages on the templates of the sites, for the operator."),
        (name = "sites", description = "Commands to the crawler, for the operator."),
        (name = "operation", description = "State of the server."),
    )
)]
struct Description;

/// The description with this configuration's limits.
pub(crate) fn document(config: &Config) -> Value {
    let mut document = serde_json::to_value(Description::openapi())
        .expect("the description holds strings and numbers only");
    let server = match config.public_url.trim_end_matches('/') {
        "" => "/",
        url => url,
    };
    document["servers"] = json!([{ "url": server }]);
    document["components"]["securitySchemes"] = json!({
        "token": { "type": "http", "scheme": "bearer", "description": "The operator's token, in the file that serve.token_file of the configuration names." },
    });
    let parameters: [(&str, SchemaOf); 7] = [
        ("api~1search", search_parameter),
        ("api~1suggest", search_parameter),
        ("feed.atom", search_parameter),
        ("feed.json", search_parameter),
        ("api~1trends", trends_parameter),
        ("api~1terms", |name, _| terms_api::parameter(name)),
        ("api~1changes", |name, _| changes_parameter(name)),
    ];
    for (path, schema_of) in parameters {
        let parameters = document.pointer_mut(&format!("/paths/~1{path}/get/parameters"));
        for parameter in parameters
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            let name = parameter["name"].as_str().unwrap_or_default();
            if let Some(schema) = schema_of(name, config) {
                parameter["schema"] = schema;
            }
        }
    }
    if let Some(schema) = document.pointer_mut("/paths/~1api~1docs~1{id}/get/parameters/0/schema") {
        *schema = json!({ "type": "string", "pattern": "^[0-9A-Za-z_-]{1,64}$" });
    }
    for (path, methods) in document["paths"].as_object_mut().into_iter().flatten() {
        for operation in methods
            .as_object_mut()
            .into_iter()
            .flat_map(|m| m.values_mut())
        {
            add_problems(path, operation);
        }
    }
    // What is sent as it stands changes nothing.
    set_body_example(
        &mut document,
        "api~1terms",
        json!({ "accept": [], "reject": [] }),
    );
    set_body_example(
        &mut document,
        "api~1templates~1fit",
        json!({ "html": "<h1>A headline</h1><p>The text of a page.</p>" }),
    );
    document
}

/// Parameters whose first try should find something: path, method, name of the parameter, and of the example. What removes a
/// site or a document has none, lest it be sent as it stands.
const EXAMPLES: [(&str, &str, &str, &str); 11] = [
    ("api~1search", "get", "q", "found_word"),
    ("api~1trends", "get", "q", "found_word"),
    ("api~1suggest", "get", "q", "typed"),
    ("feed.atom", "get", "q", "found_word"),
    ("feed.json", "get", "q", "found_word"),
    ("feeds~1{file}", "get", "file", "feed"),
    ("api~1docs~1{id}", "get", "id", "document_id"),
    ("api~1history", "get", "url", "document_url"),
    ("api~1sites~1{name}~1visit", "post", "name", "document_site"),
    ("api~1sites~1{name}~1pause", "post", "name", "document_site"),
    (
        "api~1sites~1{name}~1resume",
        "post",
        "name",
        "document_site",
    ),
];

/// Returns the description with examples of what is in the index; `value_of` gives them by their names, as far as there are any.
pub(crate) fn with_examples(
    description: &Value,
    value_of: impl Fn(&str) -> Option<String>,
) -> Value {
    let mut document = description.clone();
    for (path, method, name, example) in EXAMPLES {
        let list = document.pointer_mut(&format!("/paths/~1{path}/{method}/parameters"));
        let mut list = list.and_then(Value::as_array_mut).into_iter().flatten();
        let parameter = list.find(|parameter| parameter["name"] == name);
        if let (Some(parameter), Some(value)) = (parameter, value_of(example)) {
            let is_list = parameter["schema"]["type"] == "array";
            parameter["example"] = if is_list {
                json!([value])
            } else {
                json!(value)
            };
        }
    }
    if let Some(url) = value_of("document_url") {
        set_body_example(&mut document, "api~1visit", json!({ "url": url }));
    }
    document
}

/// Sets what a client that shows the description fills in as the body of a POST.
fn set_body_example(document: &mut Value, path: &str, example: Value) {
    let body = format!("/paths/~1{path}/post/requestBody/content/application~1json");
    if let Some(body) = document.pointer_mut(&body) {
        body["example"] = example;
    }
}

/// Adds what an operation may answer instead, by what the operation is: its own description of a status stays.
fn add_problems(path: &str, operation: &mut Value) {
    let is_light = ["/healthz", "/metrics", "/api/openapi.json"].contains(&path);
    let (is_secured, has_body) = (
        operation["security"].is_array(),
        operation["requestBody"].is_object(),
    );
    let is_command = operation["tags"][0] == "sites";
    let parameters = operation["parameters"].as_array();
    let has_query = parameters.is_some_and(|list| list.iter().any(|p| p["in"] == "query"));
    for (applies, status, description) in [
        (true, "429", "Too many requests from this address."),
        (
            !is_light,
            "500",
            "The index, the store or the crawler failed.",
        ),
        (!is_light, "503", "Not done within the time limit."),
        (is_secured, "401", "The token is missing or wrong."),
        (
            is_secured,
            "403",
            "A token was sent, and none is set on this server, or a page of another site asked.",
        ),
        (
            has_query,
            "400",
            "A parameter is unknown, repeated, malformed or out of range.",
        ),
        (has_body, "400", "The body is no JSON."),
        (has_body, "413", "The body is too long."),
        (has_body, "415", "The body is not said to be JSON."),
        (
            is_command,
            "404",
            "No site has this name; the detail names the nearest.",
        ),
        (
            is_command,
            "409",
            "No crawler runs, or it cannot be done at present: the site is paused, the disk is low.",
        ),
        (
            is_command,
            "422",
            "It cannot be done with this site or address; the detail says why.",
        ),
    ] {
        if applies && operation["responses"][status].is_null() {
            operation["responses"][status] = json!({ "description": description });
        }
    }
    for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
        if status.starts_with(['4', '5']) && response["content"].is_null() {
            let schema = json!({ "$ref": "#/components/schemas/Problem" });
            response["content"] = json!({ PROBLEM_JSON: { "schema": schema } });
        }
    }
}

/// Schema of a parameter of `/api/changes`.
fn changes_parameter(name: &str) -> Option<Value> {
    Some(match name {
        "since" => json!({
            "type": "string", "pattern": "^([0-9a-f]{16}-)?[0-9]{1,19}(-[0-9]{1,19})?$", "default": "0",
        }),
        "limit" => json!({
            "type": "integer", "minimum": 1, "maximum": CHANGES_MAX, "default": CHANGES_DEFAULT,
        }),
        "text" => json!({ "type": "boolean", "default": false }),
        _ => return None,
    })
}

/// Schema of a parameter of `/api/trends`.
fn trends_parameter(name: &str, config: &Config) -> Option<Value> {
    Some(match name {
        "q" => json!({
            "type": "array", "minItems": 1, "maxItems": QUERIES_MAX,
            "items": { "type": "string", "maxLength": config.query_chars },
        }),
        "unit" => {
            json!({ "type": "string", "enum": ["day", "week", "month", "year", "auto", ""], "default": "auto" })
        }
        _ => return search_parameter(name, config),
    })
}

/// Schema of a search parameter. These are written here and not as annotations because their limits are settings.
fn search_parameter(name: &str, config: &Config) -> Option<Value> {
    let blank = json!({ "type": "string", "maxLength": 0 });
    let date = json!({ "type": "string", "format": "date" });
    let moment = json!({ "type": "string", "format": "date-time" });
    let period = json!({ "type": "string", "pattern": "^[0-9]{1,4}[hdwmy]$" });
    Some(match name {
        "q" => json!({ "type": "string", "maxLength": config.query_chars }),
        "site" => json!({
            "type": "array", "maxItems": SITES_MAX,
            "items": { "type": "string", "maxLength": SITE_CHARS_MAX },
        }),
        "since" | "until" => json!({ "anyOf": [date, moment, period, blank] }),
        "changed" => json!({ "type": "string", "maxLength": VALUE_CHARS_MAX }),
        "sort" => {
            json!({ "type": "string", "enum": ["relevance", "date", "both", ""], "default": "relevance" })
        }
        "half_life" => json!({ "anyOf": [
            { "type": "string", "pattern": "^[1-9][0-9]{0,3}[hdwmy]$" }, blank,
        ] }),
        "group" => json!({ "anyOf": [{ "type": "string", "pattern": "^[0-9a-f]{16}$" }, blank] }),
        "grouped" | "facets" => json!({ "type": "boolean", "default": false }),
        "format" => {
            json!({ "type": "string", "enum": ["json", "csv", "xlsx", ""], "default": "json" })
        }
        "limit" => json!({
            "type": "integer", "minimum": 1, "maximum": config.limit_max,
            "default": DEFAULT_LIMIT.min(config.limit_max),
        }),
        "offset" => json!({
            "type": "integer", "minimum": 0, "maximum": config.offset_max(), "default": 0,
        }),
        _ => return None,
    })
}
