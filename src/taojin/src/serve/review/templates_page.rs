//! The template pages. In: a request of the operator's browser. Out: the list of templates; one of them on a saved page
//! with coloured regions, what the ratio found beside it, the effect of a label before it is saved. Works without script;
//! the saved page stands in a frame that may run and load nothing.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

use super::templates::{Proposal, TemplateListed, TemplateView};
use crate::serve::guard::form::Form;
use crate::serve::guard::token::Operator;
use crate::serve::now_ms;
use crate::serve::pages::lang::Lang;
use crate::serve::pages::request::{PageRequest, broken, missing, page, see_other};
use crate::serve::pages::view::Chrome;
use crate::serve::state::Server;

/// The page around a frame: as everywhere, and our own frame.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// The saved page: no script, no network, no form; only its own colours. A click may lead the page around it on.
const FRAME_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'self'; sandbox allow-top-navigation-by-user-activation";

/// Words of these pages.
struct Words {
    heading: &'static str,
    none: &'static str,
    pages: &'static str,
    learned: &'static str,
    disabled: &'static str,
    disable: &'static str,
    enable: &'static str,
    back: &'static str,
    saved_page: &'static str,
    no_page: &'static str,
    legend: &'static str,
    regions: &'static str,
    region: &'static str,
    holds: &'static str,
    essential: &'static str,
    optional: &'static str,
    ratio: &'static str,
    with: &'static str,
    choose: &'static str,
    effect: &'static str,
    no_effect: &'static str,
    save: &'static str,
    cancel: &'static str,
    /// A region that has no field.
    other: &'static str,
    fields: [(&'static str, &'static str); 8],
}

const CHINESE: Words = Words {
    heading: "模板",
    none: "还没有学到模板：每个站点积累够文章后会自动学习。",
    pages: "篇文章",
    learned: "学习于",
    disabled: "已停用",
    disable: "停用",
    enable: "启用",
    back: "全部模板",
    saved_page: "示例页面",
    no_page: "没有保存的页面。",
    legend: "实线：每页都有；虚线：部分页面有；左侧绿条：仅按比例算法选中的正文。点区域名可改标注。",
    regions: "区域",
    region: "内容",
    holds: "字段",
    essential: "必有",
    optional: "可选",
    ratio: "仅比例算法",
    with: "使用模板",
    choose: "这个区域是什么？",
    effect: "保存后其他页面的变化",
    no_effect: "没有变化",
    save: "保存",
    cancel: "取消",
    other: "其他",
    fields: [
        ("title", "标题"),
        ("published", "时间"),
        ("author", "作者"),
        ("source", "来源"),
        ("body", "正文"),
        ("comments", "评论"),
        ("boilerplate", "无关内容"),
        ("learned", "恢复自动"),
    ],
};

const ENGLISH: Words = Words {
    heading: "Templates",
    none: "No templates yet: each site is learned from once it has enough articles.",
    pages: "articles",
    learned: "learned",
    disabled: "not used",
    disable: "Stop using it",
    enable: "Use it again",
    back: "All templates",
    saved_page: "Saved page",
    no_page: "No page was kept.",
    legend: "Whole line: on every page; broken line: on some; green bar: chosen as text by the ratio alone. Click the name of a region to label it.",
    regions: "Regions",
    region: "Text",
    holds: "Field",
    essential: "essential",
    optional: "optional",
    ratio: "The ratio alone",
    with: "With the template",
    choose: "What is this region?",
    effect: "What changes on the saved pages",
    no_effect: "nothing changes",
    save: "Save",
    cancel: "Cancel",
    other: "other",
    fields: [
        ("title", "title"),
        ("published", "time"),
        ("author", "writer"),
        ("source", "source"),
        ("body", "text"),
        ("comments", "comments"),
        ("boilerplate", "boilerplate"),
        ("learned", "as learned"),
    ],
};

impl Words {
    fn of(lang: Lang) -> &'static Words {
        if lang == Lang::Zh { &CHINESE } else { &ENGLISH }
    }

    fn field(&self, name: &str) -> &'static str {
        let found = self.fields.iter().find(|(own, _)| *own == name);
        found.map_or(self.other, |(_, word)| word)
    }
}

#[derive(Template)]
#[template(path = "templates.html")]
struct ListPage {
    c: Chrome,
    w: &'static Words,
    list: Vec<TemplateListed>,
    /// The only site whose templates are listed, if one was asked for.
    site: Option<String>,
    now_ms: i64,
}

impl ListPage {
    fn ago(&self, then_ms: &i64) -> String {
        self.c.lang.relative(*then_ms, self.now_ms)
    }

    fn words(&self, fields: &[String]) -> String {
        let words: Vec<&str> = fields.iter().map(|f| self.w.field(f)).collect();
        words.join(" · ")
    }
}

#[derive(Template)]
#[template(path = "template.html")]
struct OnePage {
    c: Chrome,
    w: &'static Words,
    v: TemplateView,
    number: usize,
    proposal: Option<Proposal>,
}

impl OnePage {
    fn path(&self, number: &usize) -> String {
        format!(
            "{}/templates/{}?page={number}",
            self.c.base, self.v.listed.id
        )
    }

    fn region_path(&self, key: &str) -> String {
        format!("{}&region={key}#label", self.path(&self.number))
    }

    fn field_path(&self, field: &str) -> String {
        let region = self.proposal.as_ref().map_or("", |p| p.region.as_str());
        format!(
            "{}&region={region}&field={field}#label",
            self.path(&self.number)
        )
    }

    fn numbers(&self) -> std::ops::Range<usize> {
        0..self.v.listed.saved
    }

    fn is_chosen(&self, key: &str) -> bool {
        self.proposal.as_ref().is_some_and(|p| p.region == key)
    }

    fn chosen_field(&self) -> &str {
        self.proposal.as_ref().map_or("", |p| p.field.as_str())
    }

    fn chosen_region(&self) -> &str {
        self.proposal.as_ref().map_or("", |p| p.region.as_str())
    }
}

/// `GET /templates`: all of them; with `?site=NAME` those of one site.
pub(crate) async fn list(_: Operator, request: PageRequest) -> Response {
    let c = request.chrome();
    let site = request.params.sites.into_iter().next();
    match request.server.templates(|review| review.list()).await {
        Ok(Some(mut list)) => {
            list.retain(|template| site.as_ref().is_none_or(|site| *site == template.site));
            let shown = ListPage {
                w: Words::of(c.lang),
                c,
                list,
                site,
                now_ms: now_ms(),
            };
            page(&shown, StatusCode::OK)
        }
        Ok(None) => missing(c),
        Err(error) => broken(c, &error),
    }
}

/// What the address of a template page, or a form on it, asks for.
fn asked(fields: &Form) -> (usize, Option<Proposal>) {
    let proposal = Proposal {
        region: fields.get("region").to_owned(),
        field: fields.get("field").to_owned(),
    };
    let number = fields.get("page").parse().unwrap_or(0);
    (number, Some(proposal).filter(|p| !p.region.is_empty()))
}

/// `GET /templates/{id}`: one on a saved page.
pub(crate) async fn one(_: Operator, Path(id): Path<i64>, request: PageRequest) -> Response {
    let c = request.chrome();
    let (number, proposal) = asked(&Form::of(request.raw.as_bytes()));
    let wanted = proposal.clone();
    let found = request
        .server
        .templates(move |review| review.view(id, number, wanted.as_ref()));
    match found.await {
        Ok(Some(Some(v))) => {
            let shown = OnePage {
                w: Words::of(c.lang),
                c,
                v,
                number,
                proposal,
            };
            with_policy(page(&shown, StatusCode::OK), PAGE_POLICY)
        }
        Ok(_) => missing(c),
        Err(error) => broken(c, &error),
    }
}

/// `GET /templates/{id}/page/{number}`: the saved page for the frame.
pub(crate) async fn frame(
    _: Operator,
    Path((id, number)): Path<(i64, usize)>,
    request: PageRequest,
) -> Response {
    let word: fn(&str) -> &'static str = match request.chrome().lang {
        Lang::Zh => |name| CHINESE.field(name),
        Lang::En => |name| ENGLISH.field(name),
    };
    let server = request.server;
    let link = format!("{}/templates/{id}?page={number}&region=", server.base);
    let framed = server.templates(move |review| review.framed(id, number, &link, word));
    match framed.await {
        Ok(Some(Some(html))) => {
            let own = [(header::X_FRAME_OPTIONS, "SAMEORIGIN")];
            with_policy((own, Html(html)).into_response(), FRAME_POLICY)
        }
        Ok(_) => StatusCode::NOT_FOUND.into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// `POST /templates/{id}`: writes a label, or takes the template out of use.
pub(crate) async fn change(
    State(server): State<Server>,
    _: Operator,
    Path(id): Path<i64>,
    form: Form,
) -> Response {
    let number = form.get("page").parse::<usize>().unwrap_or(0);
    let proposal = Proposal {
        region: form.get("region").to_owned(),
        field: form.get("field").to_owned(),
    };
    let used = form.get("use").to_owned();
    let done = server
        .templates(move |review| match used.as_str() {
            "" => review.label(id, &proposal),
            word => review.set_disabled(id, word == "no"),
        })
        .await;
    match done {
        Ok(Some(true)) => see_other(&server, &format!("/templates/{id}?page={number}")),
        Ok(_) => StatusCode::NOT_FOUND.into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

fn with_policy(mut response: Response, policy: &'static str) -> Response {
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(policy),
    );
    response
}
