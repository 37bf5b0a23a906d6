//! Finds the pages with which a document is shared: the one whose document stands for a page, and those that yield to it.

use super::text::says_the_same;
use super::{Records, document_of};
use crate::documents::EncodedDocument;
use taojin_crawl::store::{Relatives, StoreError, UrlId, UrlRecord};
use taojin_uri::CrawlUri;

/// Other addresses of a document that stand with it.
const MAX_ADDRESSES: usize = 16;

/// A page that has the document of another one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Primary {
    pub(crate) id: UrlId,
    pub(crate) uri: CrawlUri,
    /// It says the same; else it is only what the visited page names as its canonical address.
    pub(crate) same_text: bool,
    /// All other addresses of its document.
    pub(crate) addresses: Vec<String>,
}

impl Primary {
    /// The page of the record `primary` has the document of `alias`, too.
    pub(super) fn new(
        records: &dyn Records,
        primary: UrlRecord,
        alias: &UrlRecord,
        same_text: bool,
    ) -> Result<Self, StoreError> {
        let mut addresses = vec![alias.uri.to_string()];
        for id in records.aliases(primary.id)? {
            let other = records.url(id)?.map(|r| r.uri.to_string());
            addresses.extend(other.filter(|a| !addresses.contains(a)));
        }
        addresses.sort();
        addresses.truncate(MAX_ADDRESSES);
        Ok(Self {
            id: primary.id,
            uri: primary.uri,
            same_text,
            addresses,
        })
    }
}

/// The pages with which a document is shared.
#[derive(Debug, Default)]
pub(super) struct Twins {
    /// The page whose document stands for this one.
    pub(super) primary: Option<Primary>,
    /// Pages whose documents give way to this one's.
    pub(super) yielding: Vec<UrlId>,
    /// Other addresses of this page's own document.
    pub(super) addresses: Vec<String>,
}

/// Finds the twins of the page of `record` that shows `document` and names `canonical` as its address; `related` are those that
/// come into question.
pub(super) fn find_twins(
    records: &dyn Records,
    record: &UrlRecord,
    canonical: Option<&CrawlUri>,
    document: &EncodedDocument,
    related: &Relatives,
) -> Result<Twins, StoreError> {
    let said = document.content;
    if let Some(canonical) = canonical
        && let Some(primary) = records.lookup(canonical)?
        && primary.visit.documented
        && primary.site == record.site
        && primary.id != record.id
        && (!record.visit.documented || is_twin(records, &primary, document)?)
    {
        let same_text = primary.visit.content == Some(said);
        return Ok(Twins {
            primary: Some(Primary::new(records, primary, record, same_text)?),
            ..Twins::default()
        });
    }
    let yielding = if record.visit.documented {
        Vec::new()
    } else {
        yielding(records, record, document, &related.naming)?
    };
    let is_other = |id: &&UrlId| **id != record.id && !yielding.contains(id);
    let twin = related.alike.iter().find(is_other);
    let twin = twin.map(|id| records.url(*id)).transpose()?.flatten();
    if let Some(twin) = twin {
        // A page that has no document of its own takes no other's place.
        return Ok(Twins {
            primary: Some(Primary::new(records, twin, record, true)?),
            ..Twins::default()
        });
    }
    Ok(Twins {
        primary: None,
        addresses: addresses(records, record, &yielding, said)?,
        yielding,
    })
}

/// Addresses that the document of `record`, which says `said` now, stands for as well.
fn addresses(
    records: &dyn Records,
    record: &UrlRecord,
    yielding: &[UrlId],
    said: u64,
) -> Result<Vec<String>, StoreError> {
    let mut found = Vec::new();
    // A page that comes for the first time stands for none.
    let aliases = match record.visit.fetched_ms {
        Some(_) => records.aliases(record.id)?,
        None => Vec::new(),
    };
    for id in aliases.iter().chain(yielding) {
        let stays =
            |r: &UrlRecord| yielding.contains(id) || r.visit.content.is_none_or(|c| c == said);
        let other = records.url(*id)?.filter(stays);
        found.extend(other.map(|r| r.uri.to_string()));
    }
    found.sort();
    found.truncate(MAX_ADDRESSES);
    Ok(found)
}

/// Pages of the same site with a document of this text that name this one as their canonical address or lead to it.
fn yielding(
    records: &dyn Records,
    record: &UrlRecord,
    document: &EncodedDocument,
    naming: &[UrlId],
) -> Result<Vec<UrlId>, StoreError> {
    let mut found = Vec::new();
    for id in naming {
        let other = records
            .url(*id)?
            .filter(|r| r.site == record.site && r.id != record.id);
        if let Some(other) = other
            && is_twin(records, &other, document)?
        {
            found.push(other.id);
        }
    }
    Ok(found)
}

/// Whether the document of a page says the same, but for a little.
fn is_twin(
    records: &dyn Records,
    other: &UrlRecord,
    document: &EncodedDocument,
) -> Result<bool, StoreError> {
    if other.visit.content == Some(document.content) {
        return Ok(true);
    }
    let theirs = document_of(records, other)?;
    Ok(match (theirs, document.decode()) {
        (Some(theirs), Ok(ours)) => says_the_same(&theirs.document, &ours),
        _ => false,
    })
}
