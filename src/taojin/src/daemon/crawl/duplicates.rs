//! What a visited page has to do with other pages of its site: the same text at another address (http and https, with
//! and without `www.`, `index.html`, a final slash …), or a canonical address. In: the end of a visit, the store. Out:
//! [`Duplicates`]. Two addresses are one document only when their documents say the same, or when the site says so and the
//! canonical address has a document; a guess from the address alone is never enough to lose a page.

use super::state::CrawlLoop;
use super::visited::Finished;
use super::walls::{document_of, say_the_same};
use crate::documents::EncodedDocument;
use taojin_crawl::schedule::Shown;
use taojin_crawl::store::{Reader, Relatives, Store, StoreError, UrlId, UrlRecord};
use taojin_uri::CrawlUri;

/// Other addresses of a document that stand with it.
const MAX_ADDRESSES: usize = 16;

/// What a visited page has to do with others.
#[derive(Debug, Default)]
pub(crate) struct Duplicates {
    /// The page whose document stands for this one.
    pub(crate) primary: Option<Primary>,
    /// Pages whose documents give way to this one's.
    pub(crate) yielding: Vec<UrlId>,
    /// Other addresses of this page's own document.
    pub(crate) addresses: Vec<String>,
}

/// A page that has the document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Primary {
    pub(crate) id: UrlId,
    pub(crate) uri: CrawlUri,
    /// It says the same; else it is only what the visited page names as its canonical address.
    pub(crate) same_text: bool,
    /// All other addresses of its document.
    pub(crate) addresses: Vec<String>,
}

impl CrawlLoop {
    /// What a page that was just visited shows, and what it has to do with others. Pages of the open transaction that matter are
    /// written first, and the page's own record is read again where such a page may have changed it.
    pub(crate) fn compare(
        &mut self,
        finished: &mut Finished,
        now: i64,
    ) -> anyhow::Result<(Shown, Duplicates)> {
        if self.concerns_batch(finished, finished.visited.document.as_ref()) {
            self.write_batch(now)?;
        }
        let record = &mut finished.lease.record;
        let was = &record.visit;
        if (was.documented || was.alias_of.is_some())
            && let Some(fresh) = self.store.url(record.id)?
        {
            record.visit = fresh.visit;
        }
        if let Some(there) = self.has_moved(finished)? {
            let primary = primary(&self.store, there, &finished.lease.record, true)?;
            let moved = Duplicates {
                primary: Some(primary),
                ..Duplicates::default()
            };
            return Ok((Shown::Elsewhere, moved));
        }
        self.look_at_target(finished, now)?;
        let shown = self.shown(finished, now)?;
        let document = finished.visited.document.as_ref();
        let Some(document) = document.filter(|_| shown == Shown::Document) else {
            return Ok((shown, Duplicates::default()));
        };
        let relatives = |store: &Store| {
            let record = &finished.lease.record;
            store.relatives(&record.uri, &record.site, document.content)
        };
        let mut related = relatives(&self.store)?;
        let mut found = find(&self.store, finished, document, &related)?;
        let in_batch = |id: UrlId| self.batch.pages.iter().any(|page| page.id == id);
        if found.primary.as_ref().is_some_and(|p| in_batch(p.id)) {
            self.write_batch(now)?;
            related = relatives(&self.store)?;
            found = find(&self.store, finished, document, &related)?;
        }
        let record = &finished.lease.record;
        let shown = match found.primary {
            Some(_) => Shown::Elsewhere,
            None => {
                let (answer, content) = (Some(document.wording), Some(document.content));
                self.led_to(record, &related.naming, answer, content, now)?
            }
        };
        match shown {
            Shown::Wall { .. } => Ok((shown, Duplicates::default())),
            _ => Ok((shown, found)),
        }
    }

    /// Whether a page of the open transaction may have to do with this one.
    fn concerns_batch(&self, finished: &Finished, document: Option<&EncodedDocument>) -> bool {
        let said = document.map(|d| d.content);
        let answer = document.map(|d| d.wording);
        let record = &finished.lease.record;
        let target = finished.visited.target.as_ref().map(CrawlUri::fingerprint);
        self.batch.pages.iter().any(|page| {
            (said.is_some() && page.visit.content == said)
                || (answer.is_some() && page.visit.answer == answer)
                || Some(page.id) == record.visit.alias_of
                || Some(page.fingerprint) == target
                || page.yielding.contains(&record.id)
                || page.visit.target.as_deref() == Some(record.uri.as_str())
        })
    }
}

fn find(
    store: &Store,
    finished: &Finished,
    document: &EncodedDocument,
    related: &Relatives,
) -> Result<Duplicates, StoreError> {
    let record = &finished.lease.record;
    let said = document.content;
    if let Some(canonical) = &finished.visited.target
        && let Some(primary) = store.lookup(canonical)?
        && primary.visit.documented
        && primary.site == record.site
        && primary.id != record.id
        && (!record.visit.documented || says_the_same(store, &primary, document)?)
    {
        let same_text = primary.visit.content == Some(said);
        return Ok(Duplicates {
            primary: Some(self::primary(store, primary, record, same_text)?),
            ..Duplicates::default()
        });
    }
    let yielding = match record.visit.documented {
        true => Vec::new(),
        false => yielding(store, record, document, &related.naming)?,
    };
    let is_other = |id: &&UrlId| **id != record.id && !yielding.contains(id);
    let twin = related.alike.iter().find(is_other);
    let twin = twin.map(|id| store.url(*id)).transpose()?.flatten();
    if let Some(twin) = twin {
        // A page that has no document of its own takes no other's place.
        return Ok(Duplicates {
            primary: Some(primary(store, twin, record, true)?),
            ..Duplicates::default()
        });
    }
    Ok(Duplicates {
        primary: None,
        addresses: addresses(store, record, &yielding, said)?,
        yielding,
    })
}

/// Addresses that the document of `record`, which says `said` now, stands for as well.
fn addresses(
    store: &Reader,
    record: &UrlRecord,
    yielding: &[UrlId],
    said: u64,
) -> Result<Vec<String>, StoreError> {
    let mut found = Vec::new();
    // A page that comes for the first time stands for none.
    let aliases = match record.visit.fetched_ms {
        Some(_) => store.aliases(record.id)?,
        None => Vec::new(),
    };
    for id in aliases.iter().chain(yielding) {
        let stays =
            |r: &UrlRecord| yielding.contains(id) || r.visit.content.is_none_or(|c| c == said);
        let other = store.url(*id)?.filter(stays);
        found.extend(other.map(|r| r.uri.to_string()));
    }
    found.sort();
    found.truncate(MAX_ADDRESSES);
    Ok(found)
}

/// Pages of the same site with a document of this text that name this one as their canonical address or lead to it.
fn yielding(
    store: &Reader,
    record: &UrlRecord,
    document: &EncodedDocument,
    naming: &[UrlId],
) -> Result<Vec<UrlId>, StoreError> {
    let mut found = Vec::new();
    for id in naming {
        let other = store
            .url(*id)?
            .filter(|r| r.site == record.site && r.id != record.id);
        if let Some(other) = other
            && says_the_same(store, &other, document)?
        {
            found.push(other.id);
        }
    }
    Ok(found)
}

/// Whether the document of a page says the same, but for a little.
fn says_the_same(
    store: &Reader,
    other: &UrlRecord,
    document: &EncodedDocument,
) -> Result<bool, StoreError> {
    if other.visit.content == Some(document.content) {
        return Ok(true);
    }
    let theirs = document_of(store, other)?;
    Ok(match (theirs, document.decode()) {
        (Some(theirs), Ok(ours)) => say_the_same(&theirs.document, &ours),
        _ => false,
    })
}

fn primary(
    store: &Reader,
    primary: UrlRecord,
    alias: &UrlRecord,
    same_text: bool,
) -> Result<Primary, StoreError> {
    let mut addresses = vec![alias.uri.to_string()];
    for id in store.aliases(primary.id)? {
        let other = store.url(id)?.map(|r| r.uri.to_string());
        addresses.extend(other.filter(|a| !addresses.contains(a)));
    }
    addresses.sort();
    addresses.truncate(MAX_ADDRESSES);
    Ok(Primary {
        id: primary.id,
        uri: primary.uri,
        same_text,
        addresses,
    })
}
