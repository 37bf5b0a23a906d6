//! Review of templates. [`TemplateReview`] is what the server asks; the pages list the templates and show one of them on a saved page
//! with coloured regions, what the models found next to it, and the effect of a label before it is saved. They work without
//! script; the saved page is in a frame that may run and load nothing.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use taojin_extract::Document;

use crate::guard::operator::{Form, Operator};
use crate::pages::fit::{GivenPage, PageFit};
use crate::pages::request::{PageRequest, broken, missing, page, see_other, with_policy};
use crate::pages::view::{Chrome, site_path};
use crate::pages::words::{EN, Lang, TemplatePagesLabels, ZH};
use crate::search::source::SourceError;
use crate::state::Server;

/// One template in the list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TemplateListed {
    /// Its number.
    pub id: i64,
    /// Name of its site.
    pub site: String,
    /// Rises with each template of the site.
    pub version: i64,
    /// When it was learned, Unix milliseconds.
    pub learned_ms: i64,
    /// Articles of its layout when it was learned, copies of one another included.
    pub pages: i64,
    /// Not used.
    pub disabled: bool,
    /// Fields that have a region.
    pub fields: Vec<String>,
    /// Saved pages that can be checked.
    pub saved: usize,
    /// What the operator should know of its site.
    pub note: Option<String>,
    /// Documents of its site that wait for their fields.
    pub awaiting_fields: u64,
}

/// One region in the table beside the page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RegionListed {
    /// Its key.
    pub key: String,
    /// What it holds, `-` if nothing.
    pub field: String,
    /// A person said so.
    pub said: bool,
    /// It stands on (almost) every page.
    pub essential: bool,
    /// Percent of the pages that have it.
    pub presence: u32,
    /// The beginning of its text on the page that is shown.
    pub text: String,
}

/// What some pages of a template have between two parts that all have.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SequenceListed {
    /// Percent of the pages that have it; of a sequence within another one, of the pages that have that one.
    pub share: u32,
    /// Sequences that it is in, and it.
    pub level: usize,
    /// It comes instead of the one listed before it.
    pub alternative: bool,
    /// Its elements and texts.
    pub nodes: String,
}

/// A text of the region that was chosen, which can be given a name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextListed {
    /// Its number on the page.
    pub token: usize,
    /// What it says.
    pub text: String,
    /// Name of its field, empty if it has none.
    pub name: String,
    /// What stands at the same place on other saved pages.
    pub others: Vec<String>,
}

/// A named field of a template.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FieldListed {
    /// Number of the template.
    pub template: i64,
    /// Key of its slot.
    pub slot: String,
    /// Its name.
    pub name: String,
    /// A person gave the name.
    pub said: bool,
    /// Percent of the pages that have it.
    pub presence: u32,
    /// What the page that is shown says, empty if nothing.
    pub example: String,
}

/// Where a text that is given a name stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedPlace {
    /// The slot of this key.
    Slot(String),
    /// A text of a saved page, by their numbers.
    Text {
        /// The saved page, from 0.
        page: usize,
        /// The text on it.
        token: usize,
    },
}

/// The effect of a label on one saved page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Effect {
    /// Address of the page.
    pub url: String,
    /// Lines of the text that come in.
    pub gained: Vec<String>,
    /// Lines of the text that go.
    pub lost: Vec<String>,
    /// Other fields that change: name, before, after.
    pub fields: Vec<(String, String, String)>,
}

/// A template with one of its saved pages.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TemplateView {
    /// The template.
    pub listed: TemplateListed,
    /// Address of the page shown.
    pub url: String,
    /// Regions of that page, in the order of the page.
    pub regions: Vec<RegionListed>,
    /// Texts of the region that was chosen.
    pub texts: Vec<TextListed>,
    /// Named fields of the template.
    pub fields: Vec<FieldListed>,
    /// Optional sequences of the template, in the order of the page.
    pub sequences: Vec<SequenceListed>,
    /// What the models alone find.
    pub ratio: Document,
    /// What comes out with the template.
    pub guided: Document,
    /// If a region and a field were named: the effect on the saved pages.
    pub effects: Option<Vec<Effect>>,
}

/// A label that is proposed: key of the region, name of the field (`learned` takes back what was said).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Key of the region.
    pub region: String,
    /// Name of the field; empty while none is chosen.
    pub field: String,
}

/// Where templates are checked and labelled.
pub trait TemplateReview: Send + Sync {
    /// All templates.
    fn list(&self) -> Result<Vec<TemplateListed>, SourceError>;
    /// A template with its saved page number `page` (from 0), and the effect of a proposal.
    fn view(
        &self,
        id: i64,
        page: usize,
        proposal: Option<&Proposal>,
    ) -> Result<Option<TemplateView>, SourceError>;
    /// The saved page as HTML for a sandboxed frame; each region leads to `link` with its key appended and is called by
    /// the word for its field's name, which is empty where it has none.
    fn framed(
        &self,
        id: i64,
        page: usize,
        link: &str,
        word: fn(&str) -> &'static str,
    ) -> Result<Option<String>, SourceError>;
    /// Writes a label; false if there is no such template, region or field.
    fn label(&self, id: i64, proposal: &Proposal) -> Result<bool, SourceError>;
    /// Named fields of the templates of a site that are in use, with examples from the first saved page of each.
    fn fields(&self, site: &str) -> Result<Vec<FieldListed>, SourceError>;
    /// Names what stands at a place; an empty name takes it away. False if there is no such place.
    fn name(&self, id: i64, place: &NamedPlace, name: &str) -> Result<bool, SourceError>;
    /// Takes a template out of use or back; false if there is none.
    fn set_disabled(&self, id: i64, disabled: bool) -> Result<bool, SourceError>;
    /// Compares any page with the templates in use.
    fn fit(&self, page: &GivenPage) -> Result<PageFit, SourceError>;
}

/// The page around a frame: as everywhere, and our own frame.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// The saved page: no script, no network, no form; only its own colours. A click may lead the page around it on.
const FRAME_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'self'; sandbox allow-top-navigation-by-user-activation";

#[derive(Template)]
#[template(path = "templates.html")]
struct ListPage {
    c: Chrome,
    w: &'static TemplatePagesLabels,
    list: Vec<TemplateListed>,
    /// The only site whose templates are listed, if one was requested.
    site: Option<String>,
}

impl ListPage {
    fn words(&self, fields: &[String]) -> String {
        let words: Vec<&str> = fields.iter().map(|f| self.w.field(f)).collect();
        words.join(" · ")
    }

    /// What is said of a site above the first of its templates in the list.
    fn waiting(&self, number: &usize) -> Option<String> {
        let template = self.list.get(*number)?;
        let before = number.checked_sub(1).and_then(|at| self.list.get(at));
        let is_first = before.is_none_or(|before| before.site != template.site);
        let documents = template.awaiting_fields;
        self.w
            .waiting(documents, &template.site)
            .filter(|_| is_first)
    }
}

#[derive(Template)]
#[template(path = "template.html")]
struct OnePage {
    c: Chrome,
    w: &'static TemplatePagesLabels,
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
    match request
        .server
        .ask(&request.server.templates, |review| review.list())
        .await
    {
        Ok(Some(mut list)) => {
            list.retain(|template| site.as_ref().is_none_or(|site| *site == template.site));
            let shown = ListPage {
                w: &c.t.template_pages,
                c,
                list,
                site,
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
    let (number, proposal) = asked(&Form::parse(request.raw.as_bytes()));
    let wanted = proposal.clone();
    let found = request
        .server
        .ask(&request.server.templates, move |review| {
            review.view(id, number, wanted.as_ref())
        });
    match found.await {
        Ok(Some(Some(v))) => {
            let shown = OnePage {
                w: &c.t.template_pages,
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
        Lang::Zh => |name| ZH.template_pages.field(name),
        Lang::En => |name| EN.template_pages.field(name),
    };
    let server = request.server;
    let link = format!("{}/templates/{id}?page={number}&region=", server.base);
    let framed = server.ask(&server.templates, move |review| {
        review.framed(id, number, &link, word)
    });
    match framed.await {
        Ok(Some(Some(html))) => {
            let own = [(header::X_FRAME_OPTIONS, "SAMEORIGIN")];
            with_policy((own, Html(html)).into_response(), FRAME_POLICY)
        }
        Ok(_) => StatusCode::NOT_FOUND.into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// `POST /templates/{id}`: writes a label or a name, or takes the template out of use.
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
    let back = match form.get("site") {
        "" => format!("/templates/{id}?page={number}"),
        site => format!("{}#fields", site_path(site)),
    };
    let name = form.get("name").trim().to_owned();
    let place = match (form.get("slot"), form.get("token").parse()) {
        ("", Ok(token)) => Some(NamedPlace::Text {
            page: number,
            token,
        }),
        ("", Err(_)) => None,
        (slot, _) => Some(NamedPlace::Slot(slot.to_owned())),
    };
    let done = server
        .ask(&server.templates, move |review| {
            match (used.as_str(), place) {
                ("", Some(place)) => review.name(id, &place, &name),
                ("", None) => review.label(id, &proposal),
                (word, _) => review.set_disabled(id, word == "no"),
            }
        })
        .await;
    match done {
        Ok(Some(true)) => see_other(&server, &back),
        Ok(_) => StatusCode::NOT_FOUND.into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}
