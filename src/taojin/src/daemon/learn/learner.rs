//! The learner: the thread that collects articles without a template and learns from them.
//!
//! It takes what the fetch tasks have [`Seen`], and puts templates into the store and into use without a restart; the
//! operator is told when a site was redesigned. It never fetches and never extracts.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::templates::{Registry, Seen, Templates, UnknownPage, collect_sites, pack, unpack};
use crate::config::LoadedConfig;
use crate::daemon::now_ms;
use taojin_crawl::store::{
    NewTemplate, StoreError, StorePlace, TemplateFit, TemplatePage, TemplateRow, TemplateStore,
};
use taojin_extract::template::{self, Layout, MAX_MISSING, Observation, Template, learn};
use taojin_search::index::caught;

/// Pages seen that wait for the learner; what comes while it learns and finds no room is not learned from.
const SEEN_PAGES: usize = 256;

/// Pages taken up at once at most.
const AT_ONCE: usize = 256;
/// How often changes made from outside are searched for, and what was seen is taken up and saved.
const TURN: Duration = Duration::from_secs(2);
/// A small site is learned from once no article without a template has come for so long.
const QUIET_MS: i64 = 60_000;
/// Articles of a site that are remembered to notice a redesign.
const RECENT: usize = 12;
/// Of them, so many without a template are a redesign.
const STRANGERS: usize = 5;
/// A site whose first template is younger is still being found out: pages without a template are another kind of page.
const SETTLED_MS: i64 = 24 * 60 * 60 * 1000;
/// How fast the mean distance of a template's pages follows: about the last ten.
const FOLLOW: f32 = 0.1;
/// A mean distance so far above the greatest of the learned pages says that the layout drifts.
const DRIFT: f32 = 0.1;
/// So much of what is essential missing on average says the same.
const FAILING: f32 = 0.2;

/// Pause before the learner continues after an error or a panic.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// What the learner works with.
#[derive(Clone)]
pub(crate) struct Learner {
    pub(crate) place: StorePlace,
    pub(crate) config: template::Config,
    pub(crate) registry: Arc<Registry>,
    /// How old the first template of a site is before others can be a redesign, in milliseconds.
    pub(crate) settled_ms: i64,
}

/// How a site's pages fit.
#[derive(Default)]
struct Site {
    fit: TemplateFit,
    recent: VecDeque<bool>,
    /// Pages that wait.
    waiting: usize,
    /// Of them, those that were there when it was last tried.
    tried: usize,
    last_ms: i64,
    drift: BTreeMap<i64, Drift>,
    /// New pages no longer fit its templates, and nothing was learned from them yet.
    redesigned: bool,
    /// When its first template was learned, Unix milliseconds.
    first_ms: Option<i64>,
}

#[derive(Default)]
struct Drift {
    distance: f32,
    missing: f32,
    pages: u32,
}

impl Learner {
    /// Takes up the templates that are there, before the first page is read. What fails is tried again by [`Self::run`], which says so.
    pub(crate) fn load(&self) {
        let rows = TemplateStore::open(&self.place).and_then(|store| store.templates().list(None));
        if let Ok(rows) = rows {
            self.registry.set(collect_sites(&rows, &self.config));
        }
    }

    /// Learns until told to stop. An error of the store, or a page that brings the learning down, costs what was not saved
    /// yet and a pause, never the learning.
    pub(crate) fn run(self, inbox: &Receiver<Seen>) {
        self.run_with_pause(inbox, RETRY_AFTER);
    }

    pub(crate) fn run_with_pause(self, inbox: &Receiver<Seen>, pause: Duration) {
        loop {
            let stopping = Cell::new(false);
            let failed = match caught(|| self.turn(inbox, &stopping)) {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error.to_string(),
                Err(panic) => panic,
            };
            if stopping.get() {
                tracing::error!(
                    error = failed,
                    "what was learned last of templates could not be saved"
                );
                return;
            }
            tracing::error!(
                error = failed,
                "learning templates failed, going on in {} s",
                pause.as_secs()
            );
            // What comes meanwhile is dropped: the pages come again.
            let until = Instant::now() + pause;
            while Instant::now() < until {
                if gather(inbox, until.saturating_duration_since(Instant::now())).1 {
                    return;
                }
            }
        }
    }

    /// Learns until told to stop, which is noted before what is left is saved.
    fn turn(&self, inbox: &Receiver<Seen>, stopping: &Cell<bool>) -> Result<(), StoreError> {
        let mut working = Working::open(self.clone())?;
        let mut looked = Instant::now();
        loop {
            let (seen, is_over) = gather(inbox, TURN);
            working.take(seen)?;
            if is_over {
                break;
            }
            if looked.elapsed() >= TURN {
                looked = Instant::now();
                working.learn_small(now_ms(), QUIET_MS)?;
                working.save()?;
                working.reload()?;
            }
        }
        stopping.set(true);
        working.learn_small(now_ms(), 0)?;
        working.save()
    }
}

/// What comes within a time, as long as it is not too much at once, and whether it is time to stop.
fn gather(inbox: &Receiver<Seen>, within: Duration) -> (Vec<Seen>, bool) {
    let until = Instant::now() + within;
    let mut all = Vec::new();
    while all.len() < AT_ONCE {
        match inbox.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Seen::Stop) | Err(RecvTimeoutError::Disconnected) => return (all, true),
            Ok(seen) => all.push(seen),
            Err(RecvTimeoutError::Timeout) => break,
        }
    }
    (all, false)
}

/// The learner at work.
pub(crate) struct Working {
    of: Learner,
    store: TemplateStore,
    sites: HashMap<String, Site>,
    revision: i64,
    changed: bool,
}

impl Working {
    /// Opens the store and takes up what is there.
    pub(crate) fn open(of: Learner) -> Result<Self, StoreError> {
        let store = TemplateStore::open(&of.place)?;
        let mut sites: HashMap<String, Site> = HashMap::new();
        for fit in store.templates().fits()? {
            let name = fit.site.clone();
            sites.entry(name).or_default().fit = fit;
        }
        for (site, waiting) in store.templates().waiting_counts()? {
            sites.entry(site).or_default().waiting = usize::try_from(waiting).unwrap_or_default();
        }
        let mut working = Self {
            of,
            store,
            sites,
            revision: -1,
            changed: false,
        };
        working.reload()?;
        Ok(working)
    }

    /// Takes up templates that were changed, here or by another process.
    pub(crate) fn reload(&mut self) -> Result<(), StoreError> {
        let revision = self.store.templates().revision()?;
        if revision != self.revision {
            let rows = self.store.templates().list(None)?;
            self.of.registry.set(collect_sites(&rows, &self.of.config));
            for row in &rows {
                let first = &mut self.site(&row.site).first_ms;
                *first = Some(first.map_or(row.learned_ms, |at| at.min(row.learned_ms)));
            }
            self.revision = revision;
        }
        Ok(())
    }

    /// Takes up what fetch tasks have seen; pages to learn from are stored in one transaction.
    pub(crate) fn take(&mut self, all: impl IntoIterator<Item = Seen>) -> Result<(), StoreError> {
        let mut unknown = Vec::new();
        for seen in all {
            self.changed = true;
            match seen {
                Seen::Fits {
                    site,
                    template,
                    distance,
                    missing,
                } => self.fits(&site, template, distance, missing),
                Seen::Unknown(page) => unknown.extend(self.waiting(*page)),
                Seen::Purged(site) => {
                    unknown.retain(|(of, _)| *of != site);
                    self.sites.remove(&site);
                    self.reload()?;
                }
                Seen::Stop => {}
            }
        }
        self.store_waiting(&unknown)
    }

    fn site(&mut self, name: &str) -> &mut Site {
        let site = self.sites.entry(name.to_owned()).or_default();
        name.clone_into(&mut site.fit.site);
        site
    }

    fn fits(&mut self, name: &str, template: i64, distance: f32, missing: f32) {
        let known = self.of.registry.find(name);
        let widest = known
            .and_then(|known| known.library.widest(template))
            .unwrap_or(1.0);
        let site = self.site(name);
        site.fit.matched += 1;
        site.remember(true);
        let drift = site.drift.entry(template).or_default();
        let follow = FOLLOW.max(1.0 / (drift.pages as f32 + 1.0));
        drift.pages += 1;
        drift.distance += follow * (distance - drift.distance);
        drift.missing += follow * (missing - drift.missing);
        let drifts = drift.distance > widest + DRIFT || drift.missing > FAILING;
        if drift.pages as usize >= RECENT && drifts {
            let note = format!(
                "template {template} fits less well: distance {:.2}, {:.0} % of the essential nodes missing",
                drift.distance,
                drift.missing * 100.0
            );
            *drift = Drift::default();
            site.note(note, now_ms());
        }
    }

    /// A page to learn from, and its site; none where a template fits after all.
    fn waiting(&mut self, page: UnknownPage) -> Option<(String, TemplatePage)> {
        // It may have been on its way while its template was learned.
        let known = self.of.registry.find(&page.site);
        let found = known.and_then(|known| known.library.assign(&page.seen.key_set()));
        if let Some(found) = found {
            let tokens = &page.seen.tokens;
            let missing = found
                .template
                .nodes
                .align(tokens, &Layout::new(tokens))
                .missing;
            if missing <= MAX_MISSING {
                self.fits(&page.site, found.id, found.distance, missing);
                return None;
            }
        }
        let row = TemplatePage {
            id: 0,
            url: page.seen.url.clone(),
            seen_ms: page.at_ms,
            seen: pack(&page.seen),
            html: page.html.as_ref().map(pack),
        };
        Some((page.site, row))
    }

    /// Stores pages, and learns from those of their sites that have enough.
    fn store_waiting(&mut self, pages: &[(String, TemplatePage)]) -> Result<(), StoreError> {
        if pages.is_empty() {
            return Ok(());
        }
        let config = self.of.config.clone();
        let waiting = self
            .store
            .add_pages(pages, config.max_pending, 2 * config.samples)?;
        for (site, _) in pages {
            let site = self.site(site);
            site.fit.unmatched += 1;
            site.last_ms = now_ms();
            site.remember(false);
        }
        for (site, waiting) in waiting {
            self.site(&site).waiting = usize::try_from(waiting).unwrap_or_default();
            self.learn_if_enough(&site)?;
        }
        Ok(())
    }

    fn learn_if_enough(&mut self, name: &str) -> Result<(), StoreError> {
        let config = self.of.config.clone();
        let known = self.of.registry.find(name).is_some();
        let settled_ms = self.of.settled_ms;
        let site = self.site(name);
        let strangers = site.recent.iter().filter(|fits| !**fits).count();
        let is_settled = site.first_ms.is_some_and(|at| now_ms() - at >= settled_ms);
        let unlike = known && strangers >= STRANGERS;
        if unlike && is_settled && !std::mem::replace(&mut site.redesigned, true) {
            let at = site.last_ms;
            site.note(
                format!(
                    "new pages no longer fit the templates: redesign? Learning from {} pages",
                    config.learn_small_at
                ),
                at,
            );
        }
        // A site that is known has shown that it has templates: fewer pages are enough.
        let enough = if unlike {
            config.learn_small_at
        } else {
            config.learn_at
        };
        let new = site.waiting.saturating_sub(site.tried);
        if site.waiting >= enough && new >= config.min_pages.max(enough / 3) {
            self.learn(name, now_ms())?;
        }
        Ok(())
    }

    /// Learns small sites from which nothing has come for `quiet_ms`.
    pub(crate) fn learn_small(&mut self, now: i64, quiet_ms: i64) -> Result<(), StoreError> {
        let enough = self.of.config.learn_small_at;
        let ready: Vec<String> = self
            .sites
            .iter()
            .filter(|(_, site)| {
                let new = site.waiting > site.tried && site.waiting >= enough;
                new && now - site.last_ms >= quiet_ms
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in ready {
            self.learn(&name, now)?;
        }
        Ok(())
    }

    /// Learns from the waiting pages of a site.
    fn learn(&mut self, name: &str, now: i64) -> Result<(), StoreError> {
        let pages = self.store.templates().waiting_pages(name)?;
        let (rows, seen): (Vec<&TemplatePage>, Vec<Observation>) = pages
            .iter()
            .filter_map(|page| Some((page, unpack::<Observation>(&page.seen)?)))
            .unzip();
        let learned = learn(&seen, &self.of.config);
        let new: Vec<NewTemplate> = learned
            .templates
            .iter()
            .enumerate()
            .map(|(number, template)| {
                let own = rows.iter().zip(&learned.template_of);
                let own = own
                    .filter(|(_, of)| **of == Some(number))
                    .map(|(row, _)| *row);
                let (saved, rest): (Vec<_>, Vec<_>) = own.partition(|row| row.html.is_some());
                let kept = saved.len().min(self.of.config.samples);
                let (saved, more) = saved.split_at(kept);
                NewTemplate {
                    pages: i64::try_from(saved.len() + rest.len() + more.len()).unwrap_or(i64::MAX),
                    data: pack(template),
                    learned: rest.iter().chain(more).map(|row| row.id).collect(),
                    saved: saved.iter().map(|row| row.id).collect(),
                    // Nobody has named anything of it yet.
                    has_fields: false,
                }
            })
            .collect();
        let done: usize = new.iter().map(|t| t.learned.len() + t.saved.len()).sum();
        let ids = if new.is_empty() {
            Vec::new()
        } else {
            self.store.add(name, &new, now)?
        };
        let dropped = self.drop_excess(name, &ids)?;
        let site = self.site(name);
        site.waiting = rows.len().saturating_sub(done);
        site.tried = site.waiting;
        site.recent.clear();
        for (id, template) in ids.iter().zip(&learned.templates) {
            tracing::info!(site = name, id, pages = template.pages, "template learned");
        }
        if let Some(id) = ids.first()
            && std::mem::take(&mut site.redesigned)
        {
            let pages = learned.templates.first().map_or(0, |t| t.pages);
            site.note(
                format!(
                    "redesigned: template {id} learned from {pages} new pages; the old ones stay"
                ),
                now,
            );
        }
        if dropped > 0 {
            let most = self.of.config.max_per_site;
            tracing::warn!(
                site = name,
                dropped,
                "the least used templates are dropped (templates.max_per_site = {most})"
            );
        }
        self.changed = true;
        self.reload()
    }

    /// Drops the templates of a site that it has too many of: those that fitted the fewest pages since the start, then the
    /// oldest; of the `new` ones only when nothing else is left. What a person labelled or disabled stays. Gives how many.
    fn drop_excess(&mut self, name: &str, new: &[i64]) -> Result<usize, StoreError> {
        let rows = self.store.templates().list(Some(name))?;
        let excess = rows.len().saturating_sub(self.of.config.max_per_site);
        if excess == 0 {
            return Ok(0);
        }
        let drift = self.sites.get(name).map(|site| &site.drift);
        let used = |id: &i64| drift.and_then(|d| d.get(id)).map_or(0, |d| d.pages);
        let is_own = |row: &&TemplateRow| {
            let template: Option<Template> = unpack(&row.data);
            !row.disabled
                && template
                    .is_none_or(|t| t.labels.is_empty() && t.slots.iter().all(|slot| !slot.is_said))
        };
        let mut unneeded: Vec<_> = rows
            .iter()
            .filter(is_own)
            .map(|row| (new.contains(&row.id), used(&row.id), row.version, row.id))
            .collect();
        unneeded.sort_unstable();
        unneeded.truncate(excess);
        for (.., id) in &unneeded {
            self.store.delete(*id)?;
            self.site(name).drift.remove(id);
        }
        Ok(unneeded.len())
    }

    /// Writes how pages fit, if it has changed.
    pub(crate) fn save(&mut self) -> Result<(), StoreError> {
        if !std::mem::take(&mut self.changed) {
            return Ok(());
        }
        let fits: Vec<TemplateFit> = self.sites.values().map(|s| s.fit.clone()).collect();
        let named: Vec<TemplateFit> = fits.into_iter().filter(|f| !f.site.is_empty()).collect();
        self.store.set_fits(&named)
    }
}

impl Site {
    fn remember(&mut self, fits: bool) {
        self.recent.push_back(fits);
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
    }

    fn note(&mut self, note: String, now: i64) {
        tracing::warn!(site = %self.fit.site, "{note}");
        self.fit.note = Some(note);
        self.fit.note_ms = Some(now);
    }
}

/// The learner, what it hears, what the fetch tasks need of templates, and the way to tell the learner that it is over.
pub(crate) fn open_learner(
    loaded: &LoadedConfig,
    place: StorePlace,
) -> (Learner, Receiver<Seen>, Templates, SyncSender<Seen>) {
    let registry = Arc::default();
    let (seen, inbox) = sync_channel(SEEN_PAGES);
    let learner = Learner {
        place,
        config: loaded.config.templates.clone(),
        registry: Arc::clone(&registry),
        settled_ms: SETTLED_MS,
    };
    learner.load();
    let templates = Templates {
        registry,
        learner: loaded.config.templates.enabled.then(|| seen.clone()),
    };
    (learner, inbox, templates, seen)
}
