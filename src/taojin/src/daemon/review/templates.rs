//! The review of templates, for the web page: saved pages with their regions, documents with and without the template, and
//! the effect of a label.
//!
//! Each call opens its own connection.

use super::fit::compare;
use crate::daemon::learn::templates::{pack, unpack};
use crate::daemon::now_ms;
use crate::serve::{
    Effect, FieldListed, GivenPage, NamedPlace, PageFit, Proposal, RegionListed, SequenceListed,
    SourceError, TemplateListed, TemplateReview, TemplateView, TextListed,
};
use taojin_crawl::store::{
    StoreError, StorePlace, TemplateFit, TemplatePage, TemplateRow, TemplateStore,
};
use taojin_extract::page::{self, Hints, NodeId, Page, Tag};
use taojin_extract::template::{
    Field, Gap, Guide, Keys, Sequence, Template, collect_slot_texts, frame, framed_html, slot_key,
};
use taojin_extract::{self as extract, Document};
use taojin_uri::CrawlUri;

/// Characters of a region's text that are shown in the table.
const SHOWN_CHARS: usize = 80;
/// Regions in the table.
const MAX_REGIONS: usize = 200;
/// Texts of a region that can be named, and what other pages say at the place of each.
const MAX_TEXTS: usize = 40;
const MAX_OTHERS: usize = 3;
/// Optional sequences in the table, and nodes of one.
const MAX_SEQUENCES: usize = 200;
const MAX_NODES: usize = 24;
/// Lines of an effect that are shown.
const MAX_LINES: usize = 40;

/// The review over the store of a data directory.
pub(crate) struct TemplateReviewer {
    pub(crate) place: StorePlace,
    pub(crate) page: page::Config,
    pub(crate) extract: extract::Config,
    /// Greatest distance of a page from its template.
    pub(crate) max_distance: f32,
}

pub(super) fn failed(error: StoreError) -> SourceError {
    SourceError::Failed(error.to_string())
}

/// A saved page, read again.
struct SavedPage {
    page: Page,
    at_ms: i64,
}

impl SavedPage {
    fn from_row(row: &TemplatePage) -> Option<Self> {
        let html: String = unpack(row.html.as_ref()?)?;
        let hints = Hints {
            url: CrawlUri::parse(&row.url).ok(),
            charset: Some("utf-8".to_owned()),
            ..Hints::default()
        };
        Some(Self {
            page: Page::parse(html.as_bytes(), hints),
            at_ms: row.seen_ms,
        })
    }
}

/// What the operator should know of the sites.
struct SiteNews {
    fits: Vec<TemplateFit>,
    awaiting_fields: Vec<(String, i64)>,
}

impl SiteNews {
    fn read(store: &TemplateStore) -> Result<Self, SourceError> {
        Ok(Self {
            fits: store.templates().fits().map_err(failed)?,
            awaiting_fields: store.templates().awaiting_fields().map_err(failed)?,
        })
    }

    fn note(&self, site: &str) -> Option<String> {
        let fit = self.fits.iter().find(|fit| fit.site == site);
        fit.and_then(|fit| fit.note.clone())
    }

    fn awaiting_fields(&self, site: &str) -> u64 {
        let found = self.awaiting_fields.iter().find(|(of, _)| of == site);
        found.map_or(0, |(_, documents)| documents.unsigned_abs())
    }
}

impl TemplateReviewer {
    fn open(&self) -> Result<TemplateStore, SourceError> {
        TemplateStore::open(&self.place).map_err(failed)
    }

    fn find(
        &self,
        store: &TemplateStore,
        id: i64,
    ) -> Result<Option<(TemplateRow, Template)>, SourceError> {
        let row = store.templates().get(id).map_err(failed)?;
        Ok(row.and_then(|row| {
            let template = unpack::<Template>(&row.data)?;
            Some((row, template))
        }))
    }

    fn document(&self, saved: &SavedPage, keys: &Keys, template: Option<&Template>) -> Document {
        let context = extract::Context {
            now_ms: Some(saved.at_ms.min(now_ms())),
            ..extract::Context::default()
        };
        let guide = template.map(|template| Guide::new(template, keys, &saved.page));
        extract::extract_guided(&saved.page, &context, &self.extract, guide.as_ref())
    }

    fn effects(&self, pages: &[TemplatePage], before: &Template, after: &Template) -> Vec<Effect> {
        pages
            .iter()
            .filter_map(|row| {
                let saved = SavedPage::from_row(row)?;
                let keys = Keys::new(&saved.page);
                let old = self.document(&saved, &keys, Some(before));
                let new = self.document(&saved, &keys, Some(after));
                Some(effect(&row.url, &old, &new))
            })
            .collect()
    }
}

fn effect(url: &str, old: &Document, new: &Document) -> Effect {
    let missing = |of: &str, within: &str| -> Vec<String> {
        let there: std::collections::HashSet<&str> = within.lines().collect();
        let lines = of.lines().filter(|line| !there.contains(line));
        lines.take(MAX_LINES).map(str::to_owned).collect()
    };
    let word = |value: &Option<String>| value.clone().unwrap_or_default();
    let fields = [
        (Field::Title, word(&old.title), word(&new.title)),
        (Field::Published, word(&old.published), word(&new.published)),
        (Field::Author, word(&old.author), word(&new.author)),
        (Field::Source, word(&old.source), word(&new.source)),
    ];
    Effect {
        url: url.to_owned(),
        gained: missing(&new.text, &old.text),
        lost: missing(&old.text, &new.text),
        fields: fields
            .into_iter()
            .filter(|(_, before, after)| before != after)
            .map(|(field, before, after)| (field.name().to_owned(), before, after))
            .collect(),
    }
}

fn listed(row: &TemplateRow, template: &Template, saved: usize, site: &SiteNews) -> TemplateListed {
    let has = |field: Field| {
        let mut regions = template.regions.iter();
        regions.any(|r| template.field(r.key) == Some(field))
    };
    TemplateListed {
        id: row.id,
        site: row.site.clone(),
        version: row.version,
        learned_ms: row.learned_ms,
        pages: row.pages,
        disabled: row.disabled,
        fields: Field::ALL
            .into_iter()
            .filter(|f| has(*f))
            .map(|f| f.name().to_owned())
            .collect(),
        saved,
        note: site.note(&row.site),
        awaiting_fields: site.awaiting_fields(&row.site),
    }
}

/// Blocks with text of their own, in the order of the page, one for each key.
fn regions(page: &Page, keys: &Keys, template: &Template) -> Vec<RegionListed> {
    let mut found: Vec<RegionListed> = Vec::new();
    let mut known = std::collections::HashSet::new();
    let body = page.body().map_or(0..0, |body| page.subtree(body));
    for id in page.shown_texts(body) {
        if page.text(id).trim().is_empty() {
            continue;
        }
        let key = keys.fine(page.block_of(id));
        if !known.insert(key) || found.len() >= MAX_REGIONS {
            continue;
        }
        let presence = template.region(key).map_or(0.0, |r| template.presence(r));
        found.push(RegionListed {
            key: format!("{key:016x}"),
            field: template.field(key).map_or("-", Field::name).to_owned(),
            said: template.labels.contains_key(&key),
            essential: template
                .region(key)
                .is_some_and(|r| template.is_essential(r)),
            presence: (presence * 100.0).round() as u32,
            text: shown(page.text(id)),
        });
    }
    found
}

/// Texts of a region that can be named, with what stands at their places on other saved pages.
fn texts<'a>(
    saved: &SavedPage,
    others: impl Iterator<Item = &'a TemplatePage>,
    template: &Template,
    region: &str,
) -> Vec<TextListed> {
    let keys = Keys::new(&saved.page);
    let guide = Guide::new(template, &keys, &saved.page);
    let Sequence { tokens, nodes, .. } = &keys.sequence;
    let is_own = |at: &usize| {
        let key = keys.fine(saved.page.block_of(nodes[*at]));
        tokens[*at].is_text() && format!("{key:016x}") == region
    };
    let mut found: Vec<(u64, TextListed)> = Vec::new();
    for at in (0..tokens.len()).filter(is_own).take(MAX_TEXTS) {
        let key = slot_key(&guide.alignment, at).unwrap_or_default();
        let slot = template.slots.iter().find(|slot| slot.key == key);
        let name = slot.and_then(|slot| slot.name.clone());
        let is_slot = !guide.alignment.is_node[at];
        found.push((
            if is_slot { key } else { 0 },
            TextListed {
                token: at,
                text: shown(saved.page.text(nodes[at])),
                name: name.filter(|_| is_slot).unwrap_or_default(),
                others: Vec::new(),
            },
        ));
    }
    for other in others.filter_map(SavedPage::from_row) {
        let keys = Keys::new(&other.page);
        let guide = Guide::new(template, &keys, &other.page);
        for (_, key, text) in collect_slot_texts(&guide.alignment, &keys.sequence, &other.page) {
            let same = found.iter_mut().filter(|(own, _)| *own == key);
            for (_, listed) in same.filter(|(_, listed)| listed.others.len() < MAX_OTHERS) {
                listed.others.push(shown(text));
            }
        }
    }
    found.into_iter().map(|(_, listed)| listed).collect()
}

/// Named slots with what a page says in them.
fn fields(id: i64, template: &Template, saved: Option<&SavedPage>) -> Vec<FieldListed> {
    let values = saved.map(|saved| {
        let keys = Keys::new(&saved.page);
        Guide::new(template, &keys, &saved.page).values(&saved.page)
    });
    let values = values.unwrap_or_default();
    let named = template.slots.iter().filter_map(|slot| {
        let name = slot.name.clone()?;
        let value = values.iter().find(|value| value.name == name);
        let share = slot.pages as f32 / template.nodes.pages.max(1) as f32;
        Some(FieldListed {
            template: id,
            slot: format!("{:016x}", slot.key),
            said: slot.is_said,
            presence: (share * 100.0).round().min(100.0) as u32,
            example: value.map_or_else(String::new, |value| shown(&value.join())),
            name,
        })
    });
    named.collect()
}

/// Lists the alternatives of some gaps, each before what is within it. `pages` may have one of them.
fn add_sequences(
    gaps: &[Gap],
    pages: u32,
    level: usize,
    template: &Template,
    listed: &mut Vec<SequenceListed>,
) {
    for gap in gaps {
        for (number, alternative) in gap.alternatives.iter().enumerate() {
            if listed.len() == MAX_SEQUENCES {
                return;
            }
            listed.push(SequenceListed {
                share: (alternative.share_of(pages) * 100.0).round() as u32,
                level,
                alternative: number > 0,
                nodes: names(template, &alternative.nodes),
            });
            let (gaps, pages) = (&alternative.gaps, alternative.pages);
            add_sequences(gaps, pages, level + 1, template, listed);
        }
    }
}

/// The elements and texts of a sequence.
fn names(template: &Template, nodes: &[usize]) -> String {
    let name = |at: &usize| {
        let node = template.nodes.nodes.get(*at)?;
        Some(node.listed(&shown(template.name_of(node))))
    };
    let mut names: Vec<String> = nodes.iter().take(MAX_NODES).filter_map(name).collect();
    if nodes.len() > MAX_NODES {
        names.push("…".to_owned());
    }
    names.join(" ")
}

fn shown(text: &str) -> String {
    text.trim().chars().take(SHOWN_CHARS).collect()
}

/// The template with a proposed label; `None` if there is no such region or field.
fn relabelled(template: &Template, proposal: &Proposal) -> Option<Template> {
    let key = u64::from_str_radix(&proposal.region, 16).ok()?;
    let mut changed = template.clone();
    match Field::named(&proposal.field) {
        Some(field) => {
            changed.labels.insert(key, field);
        }
        None if proposal.field == "learned" => {
            changed.labels.remove(&key);
        }
        None => return None,
    }
    Some(changed)
}

impl TemplateReview for TemplateReviewer {
    fn list(&self) -> Result<Vec<TemplateListed>, SourceError> {
        let store = match TemplateStore::open(&self.place) {
            Ok(store) => store,
            Err(StoreError::Missing { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let news = SiteNews::read(&store)?;
        let rows = store.templates().list(None).map_err(failed)?;
        Ok(rows
            .iter()
            .filter_map(|row| {
                let template = unpack::<Template>(&row.data)?;
                Some(listed(row, &template, 0, &news))
            })
            .collect())
    }

    fn view(
        &self,
        id: i64,
        number: usize,
        proposal: Option<&Proposal>,
    ) -> Result<Option<TemplateView>, SourceError> {
        let store = self.open()?;
        let Some((row, template)) = self.find(&store, id)? else {
            return Ok(None);
        };
        let pages = store.templates().saved_pages(id).map_err(failed)?;
        let news = SiteNews::read(&store)?;
        let mut view = TemplateView {
            listed: listed(&row, &template, pages.len(), &news),
            ..TemplateView::default()
        };
        let nodes = &template.nodes;
        add_sequences(nodes.gaps(), nodes.pages, 1, &template, &mut view.sequences);
        if let Some((row, saved)) = pages
            .get(number)
            .and_then(|row| Some((row, SavedPage::from_row(row)?)))
        {
            let keys = Keys::new(&saved.page);
            view.url.clone_from(&row.url);
            if let Some(proposal) = proposal {
                let others = pages.iter().filter(|page| page.id != row.id);
                view.texts = texts(&saved, others, &template, &proposal.region);
            }
            view.fields = fields(id, &template, Some(&saved));
            view.regions = regions(&saved.page, &keys, &template);
            view.ratio = self.document(&saved, &keys, None);
            view.guided = self.document(&saved, &keys, Some(&template));
        }
        view.effects = proposal
            .and_then(|proposal| relabelled(&template, proposal))
            .map(|changed| self.effects(&pages, &template, &changed));
        Ok(Some(view))
    }

    fn framed(
        &self,
        id: i64,
        number: usize,
        link: &str,
        word: fn(&str) -> &'static str,
    ) -> Result<Option<String>, SourceError> {
        let store = self.open()?;
        let Some((_, template)) = self.find(&store, id)? else {
            return Ok(None);
        };
        let pages = store.templates().saved_pages(id).map_err(failed)?;
        let Some(saved) = pages.get(number).and_then(SavedPage::from_row) else {
            return Ok(None);
        };
        let keys = Keys::new(&saved.page);
        let guide = Guide::new(&template, &keys, &saved.page);
        let ratio = self.document(&saved, &keys, None);
        let lines: std::collections::HashSet<&str> = ratio.text.lines().collect();
        let chosen = |block: NodeId| {
            let text = saved.page.inline_text(block);
            saved.page.node(block).tag != Tag::BODY && lines.contains(text.as_str())
        };
        Ok(Some(frame(&framed_html(
            &saved.page,
            &guide,
            &chosen,
            &|field| word(field.map_or("", Field::name)),
            Some(link),
        ))))
    }

    fn label(&self, id: i64, proposal: &Proposal) -> Result<bool, SourceError> {
        let mut store = self.open()?;
        let Some((_, template)) = self.find(&store, id)? else {
            return Ok(false);
        };
        match relabelled(&template, proposal) {
            Some(changed) => store.replace(id, &pack(&changed), now_ms()).map_err(failed),
            None => Ok(false),
        }
    }

    fn fields(&self, site: &str) -> Result<Vec<FieldListed>, SourceError> {
        let store = match TemplateStore::open(&self.place) {
            Ok(store) => store,
            Err(StoreError::Missing { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut all = Vec::new();
        let rows = store.templates().list(Some(site)).map_err(failed)?;
        for row in rows.iter().filter(|row| !row.disabled) {
            if let Some(template) = unpack::<Template>(&row.data) {
                let pages = store.templates().saved_pages(row.id).map_err(failed)?;
                let saved = pages.first().and_then(SavedPage::from_row);
                all.extend(fields(row.id, &template, saved.as_ref()));
            }
        }
        Ok(all)
    }

    fn name(&self, id: i64, place: &NamedPlace, name: &str) -> Result<bool, SourceError> {
        let mut store = self.open()?;
        let Some((_, mut template)) = self.find(&store, id)? else {
            return Ok(false);
        };
        let key = match place {
            NamedPlace::Slot(key) => u64::from_str_radix(key, 16).ok(),
            NamedPlace::Text { page, token } => {
                let pages = store.templates().saved_pages(id).map_err(failed)?;
                let saved = pages.get(*page).and_then(SavedPage::from_row);
                saved.and_then(|saved| template.slot_at(&Keys::new(&saved.page), *token))
            }
        };
        let name = Some(name).filter(|name| !name.is_empty());
        if !key.is_some_and(|key| template.name_slot(key, name)) {
            return Ok(false);
        }
        store
            .replace(id, &pack(&template), now_ms())
            .map_err(failed)
    }

    fn fit(&self, page: &GivenPage) -> Result<PageFit, SourceError> {
        compare(self, page)
    }

    fn set_disabled(&self, id: i64, disabled: bool) -> Result<bool, SourceError> {
        self.open()?
            .set_disabled(id, disabled, now_ms())
            .map_err(failed)
    }
}
