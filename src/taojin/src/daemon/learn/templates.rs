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
use taojin_crawl::store::{TemplateRow, TemplateVersions, UrlRecord, UsedTemplate};
use taojin_extract::page::Page;
use taojin_extract::template::{
    self, Guide, Keys, Library, MAX_MISSING, Observation, Template, write_html,
};
use taojin_extract::{self as extract, Document, Kind};

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

/// The templates of one site that are in use.
pub(crate) struct SiteTemplates {
    /// To find the one of a page.
    pub(crate) library: Library,
    /// When each of them last changed.
    versions: TemplateVersions,
}

/// The templates of all sites that are in use.
#[derive(Default)]
pub(crate) struct Registry {
    sites: Mutex<HashMap<String, Arc<SiteTemplates>>>,
}

impl Registry {
    /// The templates of a site.
    pub(crate) fn find(&self, site: &str) -> Option<Arc<SiteTemplates>> {
        lock(&self.sites).get(site).cloned()
    }

    /// Replaces all.
    pub(crate) fn set(&self, sites: HashMap<String, Arc<SiteTemplates>>) {
        *lock(&self.sites) = sites;
    }
}

/// The document of a page.
pub(crate) struct Extracted {
    /// What the page says.
    pub(crate) document: Document,
    /// The template that it was read with; `None` where templates are switched off.
    pub(crate) template: Option<UsedTemplate>,
}

/// What the fetch tasks need of templates.
pub(crate) struct Templates {
    pub(crate) registry: Arc<Registry>,
    /// To the learner; none when templates are switched off.
    pub(crate) learner: Option<SyncSender<Seen>>,
}

impl Templates {
    /// Whether the document of a page waits for its fields: then the page is asked for as a whole, so that it gives them.
    pub(crate) fn is_waiting(&self, record: &UrlRecord) -> bool {
        let site = self.registry.find(&record.site);
        self.learner.is_some() && site.is_some_and(|site| site.versions.is_waiting(record))
    }

    /// The document of a page, by the template of its site that fits, if one does.
    pub(crate) fn extract(
        &self,
        page: &Page,
        context: &extract::Context<'_>,
        config: &extract::Config,
    ) -> Extracted {
        let (Some(learner), Some(site)) = (&self.learner, context.site) else {
            return Extracted {
                document: extract::extract_with(page, context, config),
                template: None,
            };
        };
        let keys = Keys::new(page);
        let known = self.registry.find(site);
        let used = |id| {
            let none = TemplateVersions::default();
            known
                .as_ref()
                .map_or(&none, |known| &known.versions)
                .used(id)
        };
        let found = known
            .as_ref()
            .and_then(|known| known.library.assign(keys.set()));
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
            return Extracted {
                document,
                template: Some(used(Some(found.id))),
            };
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
        Extracted {
            document,
            template: Some(used(None)),
        }
    }
}

fn is_article(document: &Document) -> bool {
    document.kind == Kind::Article && !document.text.is_empty()
}

/// The templates of all sites from what is stored; one that cannot be read is left out and named in the log.
pub(crate) fn collect_sites(
    rows: &[TemplateRow],
    config: &template::Config,
) -> HashMap<String, Arc<SiteTemplates>> {
    let mut by_site: HashMap<&str, Vec<(&TemplateRow, Arc<Template>)>> = HashMap::new();
    for row in rows.iter().filter(|row| !row.disabled) {
        match unpack::<Template>(&row.data) {
            Some(template) => {
                let own = by_site.entry(&row.site).or_default();
                own.push((row, Arc::new(template)));
            }
            None => tracing::warn!(site = %row.site, id = row.id, "template cannot be read"),
        }
    }
    let mut sites = HashMap::new();
    for (name, own) in by_site {
        let mut versions = TemplateVersions::default();
        for (row, _) in &own {
            versions.add(row.id, row.changed_ms);
        }
        let templates = own.into_iter().map(|(row, template)| (row.id, template));
        let library = Library::new(templates.collect(), config.max_distance);
        let site = SiteTemplates { library, versions };
        sites.insert(name.to_owned(), Arc::new(site));
    }
    sites
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
