//! The API as a page, `/api`. In: the OpenAPI description that `/api/openapi.json` gives, and a document that is here.
//! Out: each route with its parameters, a call to copy and an answer. Says nothing that the description does not say.

use askama::Template;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::Value;

use super::api_sample::{chosen, kind, resolved, sample};
use super::labels::ApiLabels;
use super::request::{PageRequest, page};
use super::view::{Chrome, outward, site_path};
use crate::serve::feeds::root;
use crate::serve::now_ms;
use crate::serve::search::source::Wanted;
use crate::serve::state::Shared;

/// Routes that are not answered when `serve.operator_pages` is off.
const OPERATOR_ROUTES: [&str; 2] = ["/api/status", "/metrics"];

#[derive(Template)]
#[template(path = "api.html")]
struct ApiPage {
    c: Chrome,
    w: &'static ApiLabels,
    root: String,
    requests_per_minute: u32,
    groups: Vec<RouteGroup>,
    problem: String,
}

/// Routes that belong together.
pub(crate) struct RouteGroup {
    pub(crate) name: String,
    pub(crate) routes: Vec<Route>,
}

/// One method of one path.
pub(crate) struct Route {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) summary: String,
    pub(crate) description: String,
    pub(crate) operator: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) call: String,
    pub(crate) answers: Vec<(String, String)>,
    pub(crate) kind: String,
    pub(crate) sample: String,
    pub(crate) fields: Vec<(String, String)>,
}

/// One parameter of a route.
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) description: String,
}

/// What makes the calls work on this server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Here {
    pub(crate) root: String,
    /// Id of a document.
    pub(crate) id: Option<String>,
    /// Its address.
    pub(crate) url: Option<String>,
    /// Name of a site.
    pub(crate) site: Option<String>,
    /// Name of a topic that is followed.
    pub(crate) topic: Option<String>,
}

/// `GET /api`.
pub(crate) async fn show(request: PageRequest, headers: HeaderMap) -> Response {
    let c = request.chrome();
    let server = request.server;
    let here = here(&server, &headers).await;
    // The text is our own: it was made of the same value.
    let document: Value = serde_json::from_str(&server.openapi).unwrap_or_default();
    let mut groups = groups(&document, &here, &c.t.api_page);
    if !server.config.operator_pages {
        let answered = |route: &Route| !OPERATOR_ROUTES.contains(&route.path.as_str());
        groups
            .iter_mut()
            .for_each(|group| group.routes.retain(answered));
    }
    let problem = sample(&document["components"]["schemas"]["Problem"], &document);
    let shown = ApiPage {
        w: &c.t.api_page,
        root: here.root,
        requests_per_minute: server.config.requests_per_minute,
        groups,
        problem: pretty(&problem),
        c,
    };
    page(&shown, StatusCode::OK)
}

async fn here(server: &Shared, headers: &HeaderMap) -> Here {
    let wanted = Wanted {
        limit: 1,
        now_ms: now_ms(),
        ..Wanted::default()
    };
    // Without an answer of the index the call names no document of here.
    let latest = server
        .latest(wanted)
        .await
        .unwrap_or_default()
        .into_iter()
        .next();
    Here {
        root: root(server, headers),
        site: latest
            .as_ref()
            .and_then(|arrived| arrived.found.site.clone()),
        url: latest
            .as_ref()
            .and_then(|arrived| outward(&arrived.found.url)),
        id: latest.map(|arrived| arrived.found.id),
        topic: (server.follows)()
            .into_iter()
            .next()
            .map(|follow| follow.name),
    }
}

/// All routes of the description, in the order of its tags.
pub(crate) fn groups(document: &Value, here: &Here, w: &ApiLabels) -> Vec<RouteGroup> {
    let tags = document["tags"].as_array().into_iter().flatten();
    tags.map(|tag| {
        let name = text(&tag["name"]);
        RouteGroup {
            routes: routes(document, here, w, &name),
            name: w
                .groups
                .get(name.as_str())
                .map_or(name, |n| (*n).to_owned()),
        }
    })
    .collect()
}

fn routes(document: &Value, here: &Here, w: &ApiLabels, tag: &str) -> Vec<Route> {
    let mut routes = Vec::new();
    let paths = document["paths"].as_object().into_iter().flatten();
    for (path, methods) in paths {
        let methods = methods.as_object().into_iter().flatten();
        for (method, operation) in methods.filter(|(_, o)| o["tags"][0] == tag) {
            routes.push(route(document, here, w, path, method, operation));
        }
    }
    let place = |route: &Route| w.operations.iter().position(|(id, _)| *id == route.id);
    routes.sort_by_key(|route| place(route).unwrap_or(usize::MAX));
    routes
}

fn route(
    document: &Value,
    here: &Here,
    w: &ApiLabels,
    path: &str,
    method: &str,
    operation: &Value,
) -> Route {
    let id = text(&operation["operationId"]);
    let mut known = w.operations.iter();
    let summary = known.find_map(|(own, says)| (*own == id).then_some(*says));
    let parameters = operation["parameters"].as_array();
    let parameters: Vec<&Value> = parameters.into_iter().flatten().collect();
    let responses = operation["responses"].as_object().into_iter().flatten();
    let content = operation["responses"]["200"]["content"].as_object();
    let first = content.and_then(|kinds| kinds.iter().next());
    let schema = first.map(|(_, content)| &content["schema"]);
    let structured = schema.filter(|schema| !schema["$ref"].is_null());
    Route {
        summary: summary.map_or_else(|| text(&operation["summary"]), str::to_owned),
        description: text(&operation["description"]),
        operator: !operation["security"].is_null(),
        call: call(document, here, path, method, operation),
        answers: responses
            .map(|(status, answer)| (status.clone(), text(&answer["description"])))
            .collect(),
        kind: first.map(|(kind, _)| kind.clone()).unwrap_or_default(),
        sample: first.map_or_else(String::new, |(_, content)| answer(content, document)),
        fields: structured.map_or_else(Vec::new, |s| fields(s, document)),
        parameters: parameters.iter().map(|p| parameter(p)).collect(),
        method: method.to_uppercase(),
        path: path.to_owned(),
        id,
    }
}

/// An answer of this kind: the example that the description names, else one made of the schema.
fn answer(content: &Value, document: &Value) -> String {
    match &content["example"] {
        Value::String(text) => text.clone(),
        Value::Null => pretty(&sample(&content["schema"], document)),
        value => pretty(value),
    }
}

fn parameter(parameter: &Value) -> Parameter {
    let schema = &parameter["schema"];
    let shape = chosen(schema).unwrap_or(schema);
    let mut kind = match kind(shape) {
        "array" => "list".to_owned(),
        kind => kind.to_owned(),
    };
    let choices = shape["enum"].as_array().into_iter().flatten();
    let choices: Vec<&str> = choices
        .filter_map(Value::as_str)
        .filter(|c| !c.is_empty())
        .collect();
    if !choices.is_empty() {
        kind = choices.join(" | ");
    }
    if let (Some(least), Some(most)) = (shape["minimum"].as_i64(), shape["maximum"].as_i64()) {
        kind.push_str(&format!(", {least}–{most}"));
    }
    if let Some(value) = Some(&schema["default"]).filter(|v| !v.is_null()) {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        kind.push_str(&format!(", default {value}"));
    }
    Parameter {
        name: text(&parameter["name"]),
        kind,
        description: text(&parameter["description"]),
    }
}

/// A call that works here, for a shell.
fn call(document: &Value, here: &Here, path: &str, method: &str, operation: &Value) -> String {
    let parameters = operation["parameters"].as_array();
    let parameters: Vec<&Value> = parameters.into_iter().flatten().collect();
    let named = |place: &'static str| parameters.iter().filter(move |p| p["in"] == place);
    let mut address = path.to_owned();
    for parameter in named("path") {
        let name = text(&parameter["name"]);
        let value = match name.as_str() {
            "id" => here.id.clone(),
            "name" => here.site.as_ref().map(|site| {
                let path = site_path(site);
                path.rsplit('/').next().unwrap_or_default().to_owned()
            }),
            "file" => here.topic.as_ref().map(|topic| format!("{topic}.atom")),
            _ => None,
        };
        let value = value.or_else(|| parameter["example"].as_str().map(str::to_owned));
        let value = value.unwrap_or_else(|| name.to_uppercase());
        address = address.replace(&format!("{{{name}}}"), &value);
    }
    let mut words = vec!["curl".to_owned()];
    // Only the query itself: what else can be asked for stands in the list.
    let query = named("query").find(|p| p["name"] == "q" && !p["example"].is_null());
    if query.is_some() {
        words.push("--get".to_owned());
    }
    words.push(quoted(&format!("{}{address}", here.root)));
    if let Some(query) = query {
        let pair = format!("q={}", text(&query["example"]));
        words.extend(["--data-urlencode".to_owned(), quoted(&pair)]);
    }
    for parameter in named("query").filter(|p| p["name"] == "url") {
        let url = here.url.as_deref();
        let url = url.unwrap_or_else(|| parameter["example"].as_str().unwrap_or_default());
        words.push("--get".to_owned());
        words.extend(["--data-urlencode".to_owned(), quoted(&format!("url={url}"))]);
    }
    if !operation["security"].is_null() {
        words.push("--header 'Authorization: Bearer TOKEN'".to_owned());
    }
    if let Some(body) =
        operation["requestBody"]["content"]["application/json"]["schema"].as_object()
    {
        let body = sample(&Value::Object(body.clone()), document);
        words.push("--header 'Content-Type: application/json' --data".to_owned());
        words.push(quoted(&body.to_string()));
    } else if method != "get" {
        words.push(format!("--request {}", method.to_uppercase()));
    }
    words.join(" ")
}

/// As one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// What each field of an answer is, fields of lists and objects within it too: `hits[].title`.
fn fields(schema: &Value, document: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(schema, document, "", &mut found, 0);
    found
}

fn collect(
    schema: &Value,
    document: &Value,
    before: &str,
    found: &mut Vec<(String, String)>,
    depth: usize,
) {
    let schema = resolved(schema, document);
    if let Some(one) = chosen(schema) {
        return collect(one, document, before, found, depth);
    }
    if depth > 3 {
        return;
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let shape = chosen(field).unwrap_or(field);
        let list = kind(resolved(shape, document)) == "array";
        let mark = if list { "[]" } else { "" };
        let path = format!("{before}{name}{mark}");
        let said = [field, resolved(shape, document)];
        let said = said
            .iter()
            .map(|s| text(&s["description"]))
            .find(|d| !d.is_empty());
        found.push((path.clone(), said.unwrap_or_default()));
        let inner = if list { &shape["items"] } else { shape };
        collect(inner, document, &format!("{path}."), found, depth + 1);
    }
}

/// A text of the description, without the marks of code that it has for other readers.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().replace('`', "")
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
