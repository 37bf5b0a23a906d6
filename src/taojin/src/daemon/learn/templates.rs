//! The templates in use.
//!
//! [`Templates::extract`] extracts a page with its site's template, if there is one, and reports to the learner what was
//! seen; it neither waits for the learner nor touches the store.

use std::collections::HashMap;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::daemon::shared::lock;
use taojin_extract::page::Page;
use taojin_extract::template::{self, Guide, Keys, Library, Observation, Template, write_html};
use taojin_extract::{self as extract, Document, Kind};

/// A page that lacks so much of what is essential has another layout, however alike the rest is.
pub(crate) const MAX_MISSING: f32 = 0.4;
/// Compression of what is kept; higher ones win little on hashes.
const LEVEL: i32 = 3;
/// Bytes of one unpacked template or observation at most.
const MAX_BYTES: usize = 64 << 20;
/// Saved pages of more bytes are not kept: a browser would choke on them.
const MAX_SAVED_BYTES: usize = 2 << 20;

/// What the learner is told.
pub(crate) enum Seen {
    /// An article that had a template.
    Fits {
        /// Its site.
        site: String,
        /// Number of the template.
        template: i64,
        /// Distance from it.
        distance: f32,
        /// Share of the essential nodes that it lacks.
        missing: f32,
    },
    /// An article that had none.
    Unknown(Box<UnknownPage>),
    /// All of this site was taken out.
    Purged(String),
    /// No more will come.
    Stop,
}

/// An article without a template.
pub(crate) struct UnknownPage {
    /// Its site.
    pub(crate) site: String,
    /// When it was fetched.
    pub(crate) at_ms: i64,
    /// What was observed.
    pub(crate) seen: Observation,
    /// The page, for looking at.
    pub(crate) html: Option<String>,
}

/// The templates of all sites that are in use.
#[derive(Default)]
pub(crate) struct Registry {
    libraries: Mutex<HashMap<String, Arc<Library>>>,
}

impl Registry {
    /// The templates of a site.
    pub(crate) fn find_library(&self, site: &str) -> Option<Arc<Library>> {
        lock(&self.libraries).get(site).cloned()
    }

    /// When a person last named a field of a site's pages: one fetched before is asked for as a whole, so that it gives the field.
    pub(crate) fn named_ms(&self, site: &str) -> i64 {
        self.find_library(site)
            .map_or(0, |library| library.named_ms)
    }

    /// Replaces all.
    pub(crate) fn set(&self, libraries: HashMap<String, Arc<Library>>) {
        *lock(&self.libraries) = libraries;
    }
}

/// What the fetch tasks need of templates.
pub(crate) struct Templates {
    pub(crate) registry: Arc<Registry>,
    /// To the learner; none when templates are switched off.
    pub(crate) learner: Option<SyncSender<Seen>>,
}

impl Templates {
    /// The document of a page.
    pub(crate) fn extract(
        &self,
        page: &Page,
        context: &extract::Context<'_>,
        config: &extract::Config,
    ) -> Document {
        let (Some(learner), Some(site)) = (&self.learner, context.site) else {
            return extract::extract_with(page, context, config);
        };
        let keys = Keys::new(page);
        let library = self.registry.find_library(site);
        let found = library.as_ref().and_then(|l| l.assign(keys.set()));
        let guide = found
            .as_ref()
            .map(|f| (f, Guide::new(&f.template, &keys, page)));
        if let Some((found, guide)) = guide.filter(|(_, guide)| guide.missing() <= MAX_MISSING) {
            let document = extract::extract_guided(page, context, config, Some(&guide));
            if is_article(&document) {
                // A full channel loses a count and nothing else.
                let _ = learner.try_send(Seen::Fits {
                    site: site.to_owned(),
                    template: found.id,
                    distance: found.distance,
                    missing: guide.missing(),
                });
            }
            return document;
        }
        let (document, lines) = extract::observe(page, &keys, context, config);
        if is_article(&document) {
            let html = write_html(page);
            let unknown = UnknownPage {
                site: site.to_owned(),
                at_ms: context.now_ms.unwrap_or_default(),
                seen: Observation::new(page, &keys, lines),
                html: (html.len() <= MAX_SAVED_BYTES).then_some(html),
            };
            let _ = learner.try_send(Seen::Unknown(Box::new(unknown)));
        }
        document
    }
}

fn is_article(document: &Document) -> bool {
    document.kind == Kind::Article && !document.text.is_empty()
}

/// Libraries of all sites from what is stored; a template that cannot be read is left out and named in the log.
pub(crate) fn libraries(
    rows: &[taojin_crawl::store::TemplateRow],
    config: &template::Config,
) -> HashMap<String, Arc<Library>> {
    let mut by_site: HashMap<String, Vec<(i64, Arc<Template>)>> = HashMap::new();
    for row in rows.iter().filter(|row| !row.disabled) {
        match unpack::<Template>(&row.data) {
            Some(template) => by_site
                .entry(row.site.clone())
                .or_default()
                .push((row.id, Arc::new(template))),
            None => tracing::warn!(site = %row.site, id = row.id, "template cannot be read"),
        }
    }
    by_site
        .into_iter()
        .map(|(site, templates)| (site, Arc::new(Library::new(templates, config.max_distance))))
        .collect()
}

/// Bytes for the store.
pub(crate) fn pack<T: Serialize>(value: &T) -> Vec<u8> {
    let json = serde_json::to_vec(value).expect("numbers, strings and lists always serialize");
    zstd::bulk::compress(&json, LEVEL).expect("memory is the only thing that compressing needs")
}

/// The value of bytes of the store, if they hold one.
pub(crate) fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let json = zstd::bulk::decompress(bytes, MAX_BYTES).ok()?;
    serde_json::from_slice(&json).ok()
}
