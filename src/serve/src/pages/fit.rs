//! A page on the templates of all sites: its address or its HTML goes in; which template it fits, how well, its text by slots and its
//! record come out. [`compare`] does it for the page here and for `POST /api/templates/fit`.
//!
//! Nothing is stored. An address is fetched by the crawler of this process, through its gate, and only in the scope of a site.

use askama::Template;
use axum::extract::Multipart;
use axum::extract::multipart::MultipartRejection;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::problem::Problem;
use crate::control::CommandError;
use crate::guard::operator::Operator;
use crate::pages::request::{PageRequest, broken, missing, page};
use crate::pages::view::Chrome;
use crate::pages::words::{FitPageLabels, Lang, TemplatePagesLabels, fill};
use crate::state::{Failure, Shared};

/// Longest page that is compared, in bytes. Pages of more are lists of everything, or no pages.
pub const PAGE_BYTES_MAX: usize = 4 << 20;
/// What a form has beside its page, in bytes, and most of its parts.
const FORM_EXTRA_BYTES: usize = 16 << 10;
const PARTS_MAX: usize = 16;
/// Longest body of a request with a page: as JSON, each byte of it may be escaped.
pub(crate) const FIT_BYTES_MAX: usize = 2 * PAGE_BYTES_MAX + FORM_EXTRA_BYTES;
/// Longest address.
const URL_CHARS_MAX: usize = 4_096;
/// Different colours of slots; from then on they come again, with other numbers.
const COLOURS: usize = 12;

/// A page to compare with the templates.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GivenPage {
    /// Its address: resolves links and days; it need not be known.
    pub url: Option<String>,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The charset that its server named, or that it was pasted in.
    pub charset: Option<String>,
    /// When it was fetched, Unix milliseconds, if it was.
    pub fetched_ms: Option<i64>,
}

/// How a page fits the templates in use.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
pub struct PageFit {
    /// Address of the page, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Number of the template that the page is read with; missing if it fits none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<i64>,
    /// Similarity from which on a page fits.
    pub least_similarity: f32,
    /// Share of the essential nodes that a page that fits lacks at most.
    pub most_missing: f32,
    /// The nearest templates of all sites, nearest first.
    pub nearest: Vec<NearTemplate>,
    /// The slots that texts of the page are in, by their first text; empty if it fits no template.
    pub slots: Vec<PageSlot>,
    /// The lines of the page, each as its texts; empty if it fits no template.
    pub lines: Vec<Vec<SlotText>>,
    /// The page is longer than what is in `lines`.
    pub is_cut: bool,
    /// Fields of the document and named fields with their values. Without a template, what is found without one.
    pub record: Vec<RecordField>,
}

/// A template with how well a page fits it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
pub struct NearTemplate {
    /// Its number.
    pub template: i64,
    /// Name of its site.
    pub site: String,
    /// Rises with each template of the site.
    pub version: i64,
    /// Share of the paths of blocks that the page and the template have in common, 0 to 1: twice those in both over those of each.
    pub similarity: f32,
    /// Share of its essential nodes that the page lacks, 0 to 1.
    pub missing: f32,
    /// The page can be read with it.
    pub fits: bool,
}

/// What a slot of a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlotKind {
    /// It has a name.
    Named,
    /// Its region holds a field of the document.
    Field,
    /// It has neither.
    Unnamed,
    /// No slot: the same text stands there on most pages.
    Fixed,
    /// No slot: the template knows no such place.
    #[default]
    Unknown,
}

/// A slot of a page.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
pub struct PageSlot {
    /// What it is.
    pub kind: SlotKind,
    /// Its name, the field of its region, or its key; empty for what is no slot.
    pub name: String,
    /// Texts of the page in it.
    pub texts: usize,
}

/// A text of a page.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
pub struct SlotText {
    /// Its slot: a place in `slots`, from 0.
    pub slot: usize,
    /// What it says.
    pub text: String,
}

/// A field of a record.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
pub struct RecordField {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// A field that the template or the page names, not one of every document.
    pub is_named: bool,
}

/// What a request gives: a page, or an address to fetch.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct FitRequest {
    pub(crate) url: String,
    pub(crate) html: Vec<u8>,
    /// The charset of `html`, if it is known.
    pub(crate) charset: Option<String>,
}

/// Why a page was not compared.
#[derive(Debug)]
pub(crate) enum NotCompared {
    /// Neither a page nor an address was given.
    Nothing,
    /// This server knows no templates.
    NoTemplates,
    /// The address was not fetched.
    NotFetched(CommandError),
    /// There was no answer.
    Failed(Failure),
}

impl From<Failure> for NotCompared {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Compares a page with the templates; fetches it before if only its address is given.
pub(crate) async fn compare(server: &Shared, wanted: FitRequest) -> Result<PageFit, NotCompared> {
    let url = wanted.url.trim().to_owned();
    let given = if !wanted.html.is_empty() {
        GivenPage {
            url: Some(url).filter(|url| !url.is_empty()),
            bytes: wanted.html,
            charset: wanted.charset,
            fetched_ms: None,
        }
    } else if url.is_empty() {
        return Err(NotCompared::Nothing);
    } else {
        let fetched = server
            .ask_crawler(move |sites| sites.fetch_page(&url))
            .await?;
        fetched.map_err(NotCompared::NotFetched)?
    };
    let fit = server.ask(&server.templates, move |review| review.fit(&given));
    fit.await?.ok_or(NotCompared::NoTemplates)
}

#[derive(Template)]
#[template(path = "fit.html")]
struct FitPage {
    c: Chrome,
    w: &'static FitPageLabels,
    t: &'static TemplatePagesLabels,
    /// The address in the form.
    url: String,
    /// Why there is no result, in a sentence.
    notice: Option<String>,
    fit: Option<PageFit>,
}

impl FitPage {
    fn new(c: Chrome) -> Self {
        Self {
            w: &c.t.fit_page,
            t: &c.t.template_pages,
            url: String::new(),
            notice: None,
            fit: None,
            c,
        }
    }

    /// What came of it, in a sentence.
    fn verdict(&self, fit: &PageFit) -> String {
        let fitting = fit.nearest.iter().find(|near| near.fits);
        let best = fitting.or(fit.nearest.first());
        let Some(best) = best else {
            return self.w.no_template_at_all.to_owned();
        };
        let values = [
            ("site", self.c.site(&best.site).to_owned()),
            ("version", best.version.to_string()),
            ("similarity", percent(best.similarity)),
            ("missing", percent(best.missing)),
            ("least", percent(fit.least_similarity)),
            ("most", percent(fit.most_missing)),
        ];
        let values = values
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        let sentence = if fitting.is_some() {
            self.w.fits
        } else {
            self.w.fits_none
        };
        fill(sentence, &values)
    }

    fn meaning(&self, fit: &PageFit) -> String {
        let (least, most) = (percent(fit.least_similarity), percent(fit.most_missing));
        fill(self.w.meaning, &[("least", &least), ("most", &most)])
    }

    fn percent(&self, share: &f32) -> String {
        percent(*share)
    }

    fn slot_name<'a>(&'a self, slot: &'a PageSlot) -> &'a str {
        match slot.kind {
            SlotKind::Named | SlotKind::Unnamed => &slot.name,
            SlotKind::Field => self.t.field(&slot.name),
            SlotKind::Fixed => self.w.fixed,
            SlotKind::Unknown => self.w.unknown,
        }
    }

    fn name_of(&self, text: &SlotText) -> &str {
        let slots = self.fit.as_ref().map_or(&[][..], |fit| &fit.slots);
        slots.get(text.slot).map_or("", |slot| self.slot_name(slot))
    }

    /// The class of a slot's colour; fixed texts are grey, unknown ones without colour.
    fn class(&self, number: &usize) -> String {
        let slots = self.fit.as_ref().map_or(&[][..], |fit| &fit.slots);
        let is_coloured =
            |slot: &PageSlot| !matches!(slot.kind, SlotKind::Fixed | SlotKind::Unknown);
        match slots.get(*number) {
            Some(slot) if is_coloured(slot) => {
                let before = slots[..*number].iter().filter(|slot| is_coloured(slot));
                format!("m m{}", before.count() % COLOURS)
            }
            Some(slot) if slot.kind == SlotKind::Fixed => "m mf".to_owned(),
            _ => "m mu".to_owned(),
        }
    }

    /// Whether a line says nothing of its own: such lines, menus mostly, run on in one paragraph.
    fn is_fixed(&self, fit: &PageFit, line: &[SlotText]) -> bool {
        let kind = |text: &SlotText| fit.slots.get(text.slot).map(|slot| slot.kind);
        line.iter().all(|text| kind(text) == Some(SlotKind::Fixed))
    }

    fn field_name<'a>(&self, field: &'a RecordField) -> &'a str {
        if field.is_named {
            &field.name
        } else {
            self.t.field(&field.name)
        }
    }
}

fn percent(share: f32) -> String {
    format!("{:.0} %", share * 100.0)
}

/// `GET /templates/fit`: the form.
pub(crate) async fn show(_: Operator, request: PageRequest) -> Response {
    page(&FitPage::new(request.chrome()), StatusCode::OK)
}

/// `POST /templates/fit`: the form with a page or an address; what comes of it.
pub(crate) async fn submit(
    _: Operator,
    mut request: PageRequest,
    body: Result<Multipart, MultipartRejection>,
) -> Result<Response, Problem> {
    let body = body.map_err(|rejection| Problem::new(rejection.status(), rejection.body_text()))?;
    let (wanted, lang) = read_form(body).await?;
    request.params.lang = Lang::named(&lang).or(request.params.lang);
    let mut shown = FitPage::new(request.chrome());
    shown.url.clone_from(&wanted.url);
    let (status, notice) = match compare(&request.server, wanted).await {
        Ok(fit) => {
            shown.fit = Some(fit);
            (StatusCode::OK, None)
        }
        Err(NotCompared::Nothing) => (StatusCode::BAD_REQUEST, Some(shown.w.nothing.to_owned())),
        Err(NotCompared::NotFetched(error)) => (error.status(), Some(describe(shown.w, &error))),
        Err(NotCompared::NoTemplates) => return Ok(missing(shown.c)),
        Err(NotCompared::Failed(failure)) => return Ok(broken(shown.c, &failure)),
    };
    shown.notice = notice;
    Ok(page(&shown, status))
}

/// Why an address was not fetched, for a person, and what to do instead.
fn describe(w: &FitPageLabels, error: &CommandError) -> String {
    let why = match error {
        CommandError::NoCrawler(_) => w.no_crawler.to_owned(),
        CommandError::Failed(_) => {
            tracing::error!(%error, "a page could not be fetched");
            w.failed.to_owned()
        }
        _ => error.to_string(),
    };
    fill(w.not_fetched, &[("why", &why)])
}

/// The fields of the form: the request, and the language of its page.
async fn read_form(mut body: Multipart) -> Result<(FitRequest, String), Problem> {
    let failed = |error: axum::extract::multipart::MultipartError| {
        Problem::new(error.status(), error.body_text())
    };
    let (mut wanted, mut lang) = (FitRequest::default(), String::new());
    for _ in 0..PARTS_MAX {
        let Some(field) = body.next_field().await.map_err(failed)? else {
            break;
        };
        let name = field.name().unwrap_or_default().to_owned();
        let bytes = field.bytes().await.map_err(failed)?;
        match name.as_str() {
            "lang" => lang = short_text(&bytes),
            "url" => wanted.url = short_text(&bytes),
            // A file before what was pasted: it has the bytes as they were.
            "file" if !bytes.is_empty() => {
                (wanted.html, wanted.charset) = (bytes.to_vec(), None);
            }
            "html" if wanted.html.is_empty() && !bytes.trim_ascii().is_empty() => {
                wanted.html = bytes.to_vec();
                wanted.charset = Some("utf-8".to_owned());
            }
            _ => {}
        }
    }
    check_size(&wanted)?;
    Ok((wanted, lang))
}

/// Refuses a page that is too long.
pub(crate) fn check_size(wanted: &FitRequest) -> Result<(), Problem> {
    if wanted.html.len() <= PAGE_BYTES_MAX {
        return Ok(());
    }
    let detail = format!("the page is longer than {PAGE_BYTES_MAX} bytes");
    Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail))
}

fn short_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.trim().chars().take(URL_CHARS_MAX).collect()
}
