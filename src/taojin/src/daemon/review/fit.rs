//! Compares any page with the templates of all sites, for the web page and the API.

use std::collections::HashMap;
use std::sync::Arc;

use super::templates::{TemplateReviewer, failed};
use crate::daemon::learn::templates::unpack;
use crate::serve::{
    GivenPage, NearTemplate, PageFit, PageSlot, RecordField, SlotKind, SlotText, SourceError,
};
use taojin_crawl::store::{StoreError, TemplateRow, TemplateStore};
use taojin_extract::page::{Hints, NodeId, Page};
use taojin_extract::template::{
    Field, Guide, Keys, Library, MAX_MISSING, MAX_TOKENS, RankedTemplate, Template, TextRole,
    rank_templates, read_roles,
};
use taojin_extract::{self as extract, Document};
use taojin_uri::CrawlUri;

/// Characters of one text, and of all texts, that are shown.
const TEXT_CHARS: usize = 2_000;
const ALL_CHARS: usize = 400_000;
/// Characters of the main text in a record.
const BODY_CHARS: usize = 2_000;

/// How a page fits the templates in use.
pub(super) fn compare(
    reviewer: &TemplateReviewer,
    given: &GivenPage,
) -> Result<PageFit, SourceError> {
    let rows = rows_in_use(reviewer)?;
    let templates = rows.iter().filter_map(|row| {
        let template = unpack::<Template>(&row.data)?;
        Some((row.id, Arc::new(template)))
    });
    let library = Library::new(templates.collect(), reviewer.max_distance);
    let hints = Hints {
        url: given
            .url
            .as_deref()
            .and_then(|url| CrawlUri::parse(url).ok()),
        charset: given.charset.clone(),
        limits: reviewer.page.clone(),
    };
    let page = Page::parse(&given.bytes, hints);
    let keys = Keys::new(&page);
    let ranked: Vec<RankedTemplate> = rank_templates(&library, &keys).collect();
    let chosen = ranked.iter().find(|ranked| ranked.fits);
    let guide = chosen.map(|ranked| Guide::new(&ranked.assigned.template, &keys, &page));
    let context = extract::Context {
        now_ms: given.fetched_ms,
        ..extract::Context::default()
    };
    let document = extract::extract_guided(&page, &context, &reviewer.extract, guide.as_ref());
    let mut fit = PageFit {
        url: given.url.clone(),
        template: chosen.map(|ranked| ranked.assigned.id),
        least_similarity: 1.0 - library.max_distance(),
        most_missing: MAX_MISSING,
        nearest: ranked.iter().map(|ranked| near(ranked, &rows)).collect(),
        record: read_record(&document),
        ..PageFit::default()
    };
    if let Some(guide) = &guide {
        list_texts(&mut fit, &read_roles(guide, &page), &page);
        fit.is_cut |= keys.sequence.tokens.len() == MAX_TOKENS;
    }
    Ok(fit)
}

fn rows_in_use(reviewer: &TemplateReviewer) -> Result<Vec<TemplateRow>, SourceError> {
    let store = match TemplateStore::open(&reviewer.place) {
        Ok(store) => store,
        // Nothing was crawled yet.
        Err(StoreError::Missing { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut rows = store.templates().list(None).map_err(failed)?;
    rows.retain(|row| !row.disabled);
    Ok(rows)
}

fn near(ranked: &RankedTemplate, rows: &[TemplateRow]) -> NearTemplate {
    let row = rows.iter().find(|row| row.id == ranked.assigned.id);
    NearTemplate {
        template: ranked.assigned.id,
        site: row.map_or_else(String::new, |row| row.site.clone()),
        version: row.map_or(0, |row| row.version),
        similarity: 1.0 - ranked.assigned.distance,
        missing: ranked.missing,
        fits: ranked.fits,
    }
}

/// The fields of a document that have a value, then those that the page or a template names.
fn read_record(document: &Document) -> Vec<RecordField> {
    let text: String = document.text.chars().take(BODY_CHARS).collect();
    let own = [
        (Field::Title, document.title.clone()),
        (Field::Published, document.published.clone()),
        (Field::Author, document.author.clone()),
        (Field::Source, document.source.clone()),
        (Field::Body, Some(text)),
    ];
    let own = own.into_iter().filter_map(|(field, value)| {
        let value = value.filter(|value| !value.is_empty())?;
        Some(RecordField {
            name: field.name().to_owned(),
            value,
            is_named: false,
        })
    });
    let named = document.meta.iter().map(|(name, value)| RecordField {
        name: name.to_owned(),
        value: value.to_owned(),
        is_named: true,
    });
    own.chain(named).collect()
}

/// Puts the texts of a page into lines, one for each run of texts of the same block, and numbers their slots.
fn list_texts(fit: &mut PageFit, texts: &[(NodeId, TextRole)], page: &Page) {
    let mut numbers: HashMap<&TextRole, usize> = HashMap::new();
    let mut left = ALL_CHARS;
    let mut last_block = None;
    for (node, role) in texts {
        let text: String = page.text(*node).trim().chars().take(TEXT_CHARS).collect();
        let chars = text.chars().count();
        if chars > left {
            fit.is_cut = true;
            break;
        }
        left -= chars;
        let slot = *numbers.entry(role).or_insert_with(|| {
            fit.slots.push(slot_of(role));
            fit.slots.len() - 1
        });
        fit.slots[slot].texts += 1;
        let block = page.block_of(*node);
        let text = SlotText { slot, text };
        match fit.lines.last_mut() {
            Some(line) if last_block == Some(block) => line.push(text),
            _ => fit.lines.push(vec![text]),
        }
        last_block = Some(block);
    }
}

fn slot_of(role: &TextRole) -> PageSlot {
    let (kind, name) = match role {
        TextRole::Named(name) => (SlotKind::Named, name.clone()),
        TextRole::Region(field) => (SlotKind::Field, field.name().to_owned()),
        TextRole::Slot(_) => (SlotKind::Unnamed, role.to_string()),
        TextRole::Fixed => (SlotKind::Fixed, String::new()),
        TextRole::Unknown => (SlotKind::Unknown, String::new()),
    };
    PageSlot {
        kind,
        name,
        texts: 0,
    }
}
