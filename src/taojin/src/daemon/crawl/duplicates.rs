//! What a visited page has to do with other pages of its site: the same text at another address (http and https, with
//! and without `www.`, `index.html`, a final slash …), or a canonical address. In: the end of a visit, the store. Out:
//! [`Duplicates`]. Two addresses are one document only when their documents say the same, or when the site says so and the
//! canonical address has a document; a guess from the address alone is never enough to lose a page.

use super::state::CrawlLoop;
use super::visited::Finished;
use taojin_crawl::store::{Reader, Store, StoreError, UrlId, UrlRecord};
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
    /// What a page that was just visited has to do with others. Pages of the open transaction that matter are written first, and the
    /// page's own record is read again where such a page may have changed it.
    pub(crate) fn duplicates(
        &mut self,
        finished: &mut Finished,
        now: i64,
    ) -> anyhow::Result<Duplicates> {
        let said = finished.visited.document.as_ref().map(|d| d.content);
        if self.concerns_batch(finished, said) {
            self.write_batch(now)?;
        }
        let record = &mut finished.lease.record;
        let was = &record.visit;
        if (was.documented || was.alias_of.is_some())
            && let Some(fresh) = self.store.url(record.id)?
        {
            record.visit = fresh.visit;
        }
        let Some(said) = said else {
            return Ok(Duplicates::default());
        };
        let found = find(&self.store, finished, said)?;
        let in_batch = |id: UrlId| self.batch.pages.iter().any(|page| page.id == id);
        if found.primary.as_ref().is_some_and(|p| in_batch(p.id)) {
            self.write_batch(now)?;
            return Ok(find(&self.store, finished, said)?);
        }
        Ok(found)
    }

    /// Whether a page of the open transaction may have to do with this one.
    fn concerns_batch(&self, finished: &Finished, said: Option<u64>) -> bool {
        let record = &finished.lease.record;
        let target = finished.visited.target.as_ref().map(CrawlUri::fingerprint);
        self.batch.pages.iter().any(|page| {
            (said.is_some() && page.visit.content == said)
                || Some(page.id) == record.visit.alias_of
                || Some(page.fingerprint) == target
                || page.yielding.contains(&record.id)
                || page.visit.target.as_deref() == Some(record.uri.as_str())
        })
    }
}

fn find(store: &Store, finished: &Finished, said: u64) -> Result<Duplicates, StoreError> {
    let record = &finished.lease.record;
    if let Some(canonical) = &finished.visited.target
        && let Some(primary) = store.lookup(canonical)?
        && primary.visit.documented
        && primary.site == record.site
        && primary.id != record.id
    {
        let same_text = primary.visit.content == Some(said);
        return Ok(Duplicates {
            primary: Some(self::primary(store, primary, record, same_text)?),
            ..Duplicates::default()
        });
    }
    let yielding = match record.visit.documented {
        true => Vec::new(),
        false => yielding(store, record)?,
    };
    let mut not = yielding.clone();
    not.push(record.id);
    let twin = store.twin(&record.site, said, &not)?;
    let twin = twin.map(|id| store.url(id)).transpose()?.flatten();
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
    for id in store.aliases(record.id)?.iter().chain(yielding) {
        let stays =
            |r: &UrlRecord| yielding.contains(id) || r.visit.content.is_none_or(|c| c == said);
        let other = store.url(*id)?.filter(stays);
        found.extend(other.map(|r| r.uri.to_string()));
    }
    found.sort();
    found.truncate(MAX_ADDRESSES);
    Ok(found)
}

/// Pages of the same site that name this one as their canonical address.
fn yielding(store: &Reader, record: &UrlRecord) -> Result<Vec<UrlId>, StoreError> {
    let mut found = Vec::new();
    for id in store.naming(&record.uri)? {
        let other = store.url(id)?.filter(|r| r.site == record.site);
        found.extend(other.map(|r| r.id).filter(|id| *id != record.id));
    }
    Ok(found)
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
