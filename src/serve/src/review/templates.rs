//! What the template pages ask for. In: numbers and names from a request. Out: plain data to show. The daemon implements
//! it over the store; nothing here knows what a template is.

use crate::search::source::SourceError;

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
    /// Saved pages that can be looked at.
    pub saved: usize,
    /// What the operator should know of its site.
    pub note: Option<String>,
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

/// What a document says, as the models alone or the template found it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Headline.
    pub title: String,
    /// Time of publication.
    pub published: String,
    /// Writer.
    pub author: String,
    /// The text.
    pub text: String,
    /// Which way decided.
    pub method: String,
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
    /// What the models alone find.
    pub ratio: Outcome,
    /// What comes out with the template.
    pub guided: Outcome,
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

/// Where templates are looked at and labelled.
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
}
