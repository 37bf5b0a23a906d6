//! Compares a page with the document of its URL and with other pages of its site: a [`Shown`], and [`Duplicates`].
//!
//! A wall (captcha, sign-in, maintenance, a start page for every address) is recognised by what it is to the site: addresses that
//! had different documents show the same words. What the words are does not matter. Two addresses are one document only when
//! their documents say the same (http and https, with and without `www.`, `index.html`, a final slash …), or when the site says so
//! and the canonical address has a document; a guess from the address alone is never enough to lose a page.

use std::collections::{HashMap, HashSet};

use super::visit::{FinishedVisit, Visit};
use crate::documents::{self, EncodedDocument};
use taojin_crawl::VisitOutcome;
use taojin_crawl::schedule::Shown;
use taojin_crawl::store::{
    Batch, Reader, Relatives, Store, StoreError, UrlId, UrlRecord, UrlState,
};
use taojin_extract::Document;
use taojin_uri::CrawlUri;

/// Walls remembered; above it they are read from the store again.
const MOST_WALLS: usize = 4_096;

/// What was first read so long before a wall was noticed may have been made of it, in milliseconds.
const UNNOTICED_MS: i64 = 24 * 3_600_000;

/// Pages that lead to one address, each with a document of its own, from which it is a wall: a few may have been merged.
const MANY: usize = 3;

/// Letters in a row that two texts are compared by.
const LETTERS: usize = 4;

/// Letters of a text that are compared.
const MOST_LETTERS: usize = 20_000;

/// Share of the rows of letters of the one text, or of the other, from which they are versions of one document.
const ALIKE: f64 = 0.2;

/// And from which they say the same.
const SAME: f64 = 0.8;

/// Other addresses of a document that stand with it.
const MAX_ADDRESSES: usize = 16;

/// Walls by site: the digest of their words, and since when, Unix milliseconds.
#[derive(Debug, Default)]
pub(crate) struct RefusalWalls {
    of_site: HashMap<String, HashMap<u64, i64>>,
    known: usize,
    is_read: bool,
}

impl RefusalWalls {
    /// The walls of a site.
    fn walls_of(
        &mut self,
        store: &Store,
        site: &str,
    ) -> Result<Option<&HashMap<u64, i64>>, StoreError> {
        if !self.is_read || self.known > MOST_WALLS {
            *self = RefusalWalls {
                is_read: true,
                ..RefusalWalls::default()
            };
            for wall in store.walls(MOST_WALLS)? {
                self.add(&wall.site, wall.answer, wall.since_ms);
            }
        }
        Ok(self.of_site.get(site))
    }

    fn add(&mut self, site: &str, answer: u64, since_ms: i64) {
        let walls = self.of_site.entry(site.to_owned()).or_default();
        self.known += usize::from(!walls.contains_key(&answer));
        let since = walls.entry(answer).or_insert(since_ms);
        *since = since_ms.min(*since);
    }
}

/// What decides what a page shows, over the store and the open transaction.
pub(super) struct PageJudge<'a> {
    pub(super) store: &'a Store,
    pub(super) walls: &'a mut RefusalWalls,
    pub(super) batch: &'a mut Batch,
}

impl PageJudge<'_> {
    /// What the page shows, by the record as it is in the store.
    pub(super) fn shown(&mut self, finished: &FinishedVisit, now_ms: i64) -> anyhow::Result<Shown> {
        let (record, visit) = (&finished.lease.record, &finished.visit);
        if visit.outcome() == VisitOutcome::NotModified {
            return self.shown_again(record, now_ms);
        }
        let Some(document) = visit.document().or(visit.withheld()) else {
            return Ok(Shown::Nothing);
        };
        let as_it_is = match visit.document() {
            Some(_) => Shown::Document,
            None => Shown::Withheld,
        };
        let answer = document.wording;
        let walls = self.walls.walls_of(self.store, &record.site)?;
        let wall = walls.and_then(|walls| walls.get(&answer)).copied();
        let is_known = record.visit.content == Some(document.content);
        let had_document = record.visit.documented || record.visit.alias_of.is_some();
        if wall.is_none() && (is_known || !had_document) {
            return Ok(as_it_is);
        }
        let before = document_of(self.store, record)?;
        if let Some(since_ms) = wall {
            return Ok(match before {
                Some(before) if documents::wording(&before.document.text) == answer => {
                    let made_document = before.first_seen_ms >= since_ms - UNNOTICED_MS;
                    // It had this text before others showed it: it is its own.
                    if made_document {
                        Shown::Wall {
                            answer,
                            made_document,
                        }
                    } else {
                        as_it_is
                    }
                }
                _ => Shown::Wall {
                    answer,
                    made_document: false,
                },
            });
        }
        let Some(before) = before else {
            return Ok(as_it_is);
        };
        if is_version(&before.document, &document.decode()?) {
            return Ok(as_it_is);
        }
        if visit.page().is_some_and(|page| page.is_blocking) {
            return Ok(Shown::Nothing);
        }
        self.replaced(record, visit, document, now_ms)
    }

    /// A page that has not changed since it became a document: behind a wall it may have.
    fn shown_again(&mut self, record: &UrlRecord, now_ms: i64) -> anyhow::Result<Shown> {
        let changed_ms = record.visit.changed_ms.unwrap_or_default();
        let walls = self.walls.walls_of(self.store, &record.site)?;
        let walls: Vec<(u64, i64)> = walls.into_iter().flatten().map(|(a, s)| (*a, *s)).collect();
        let may_be = walls
            .iter()
            .any(|(_, since_ms)| changed_ms >= since_ms - UNNOTICED_MS);
        if record.visit.documented
            && may_be
            && let Some(before) = document_of(self.store, record)?
        {
            let answer = documents::wording(&before.document.text);
            let is_it = |(words, since_ms): &(u64, i64)| {
                *words == answer && before.first_seen_ms >= since_ms - UNNOTICED_MS
            };
            if walls.iter().any(is_it) {
                return Ok(Shown::Wall {
                    answer,
                    made_document: true,
                });
            }
        }
        if !record.visit.documented || now_ms - changed_ms >= 2 * UNNOTICED_MS {
            return Ok(Shown::Document);
        }
        let naming = self.store.naming(&record.uri)?;
        self.led_to(record, &naming, None, record.visit.content, now_ms)
    }

    /// A page whose text has nothing in common with that of its document: a wall if another address shows the same.
    fn replaced(
        &mut self,
        record: &UrlRecord,
        visit: &Visit,
        document: &EncodedDocument,
        now_ms: i64,
    ) -> anyhow::Result<Shown> {
        let answer = document.wording;
        let (others, since_ms) = self.store.answering(&record.site, answer, record.id)?;
        let related = self
            .store
            .relatives(&record.uri, &record.site, document.content)?;
        let twin = related.alike.into_iter().find(|id| *id != record.id);
        if others == 0 && twin.is_none() {
            // An archive holds what was there, and nobody asks again.
            return Ok(match (visit.archived(), visit.document()) {
                (None, _) => Shown::Replaced {
                    answer,
                    withheld: visit.withheld().is_some(),
                },
                (Some(_), Some(_)) => Shown::Document,
                (Some(_), None) => Shown::Withheld,
            });
        }
        let since_ms = since_ms.unwrap_or(now_ms);
        tracing::warn!(url = %record.uri, site = %record.site,
            "pages of this site show the same instead of their documents, which stay as they were");
        self.walls.add(&record.site, answer, since_ms);
        if let Some(twin) = twin {
            // It may have become a document in the meantime: it is checked again.
            self.batch.hold.push((twin, now_ms));
        }
        Ok(Shown::Wall {
            answer,
            made_document: false,
        })
    }

    /// Those of the pages that name this address (`naming`) that are of the same site, lead to it, and whose documents say something
    /// else than `content`.
    fn leading_to(
        &self,
        uri: &CrawlUri,
        site: &str,
        naming: &[UrlId],
        content: Option<u64>,
    ) -> Result<Vec<UrlRecord>, StoreError> {
        let mut found = Vec::new();
        for id in naming {
            let other = self.store.url(*id)?.filter(|other| {
                *other.site == *site
                    && other.uri != *uri
                    && other.visit.state == UrlState::Redirect
                    && (content.is_none() || other.visit.content != content)
            });
            found.extend(other);
        }
        Ok(found)
    }

    /// What a page shows to which others may lead: a wall, if many do that had documents of their own. `answer` is a digest of its
    /// words, those of its document if it is not given; `content` a digest of the document; `naming` the pages that name it.
    pub(super) fn led_to(
        &mut self,
        record: &UrlRecord,
        naming: &[UrlId],
        answer: Option<u64>,
        content: Option<u64>,
        now_ms: i64,
    ) -> anyhow::Result<Shown> {
        let leading = self.leading_to(&record.uri, &record.site, naming, content)?;
        if leading.len() < MANY {
            return Ok(Shown::Document);
        }
        let since_ms = leading.iter().filter_map(|r| r.visit.confirmed_ms).min();
        let before = if record.visit.documented {
            document_of(self.store, record)?
        } else {
            None
        };
        // What was there before they led to it is its own.
        let is_own = |before: &Before| since_ms.is_some_and(|since| before.first_seen_ms < since);
        let words = || Some(documents::wording(&before.as_ref()?.document.text));
        let Some(answer) = answer
            .or_else(words)
            .filter(|_| !before.as_ref().is_some_and(is_own))
        else {
            return Ok(Shown::Document);
        };
        self.walls.add(&record.site, answer, now_ms);
        Ok(Shown::Wall {
            answer,
            made_document: record.visit.documented,
        })
    }

    /// The address to which many pages lead that had documents is checked again: it may have become one.
    pub(super) fn look_at_target(
        &mut self,
        finished: &FinishedVisit,
        now_ms: i64,
    ) -> anyhow::Result<()> {
        let record = &finished.lease.record;
        let Some(target) = moved_to(finished) else {
            return Ok(());
        };
        let naming = self.store.naming(target)?;
        let leading = self.leading_to(target, &record.site, &naming, None)?;
        if leading.len() + 1 >= MANY
            && let Some(there) = self.store.lookup(target)?
            && there.visit.documented
        {
            self.batch.hold.push((there.id, now_ms));
        }
        Ok(())
    }

    /// Whether the document of a page that redirects stands at the target with the same text.
    pub(super) fn has_moved(&self, finished: &FinishedVisit) -> anyhow::Result<Option<UrlRecord>> {
        let record = &finished.lease.record;
        let Some(target) = moved_to(finished) else {
            return Ok(None);
        };
        Ok(self.store.lookup(target)?.filter(|there| {
            there.id != record.id
                && there.site == record.site
                && there.visit.documented
                && there.visit.content == record.visit.content
        }))
    }

    /// Whether the page is one that turns readers away: by its words, by what it is to a page with a document, or by leading where
    /// others lead, too.
    pub(super) fn is_turned_away(
        &self,
        finished: &FinishedVisit,
        shown: Shown,
    ) -> Result<bool, StoreError> {
        let (record, visit) = (&finished.lease.record, &finished.visit);
        let had_document = record.visit.documented;
        Ok(visit.is_blocking()
            || match (visit.outcome(), shown) {
                (_, Shown::Wall { .. } | Shown::Replaced { .. }) => true,
                (VisitOutcome::Page, Shown::Nothing) => had_document,
                (VisitOutcome::Redirect, Shown::Nothing) if had_document => match visit.target() {
                    Some(target) => self.store.naming(target)?.iter().any(|id| *id != record.id),
                    None => false,
                },
                _ => false,
            })
    }

    /// Whether a page of the open transaction may have to do with this one.
    pub(super) fn concerns_batch(&self, finished: &FinishedVisit) -> bool {
        let document = finished.visit.document();
        let said = document.map(|d| d.content);
        let answer = document.map(|d| d.wording);
        let record = &finished.lease.record;
        let target = finished.visit.target().map(CrawlUri::fingerprint);
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

/// The document that a page, or the one that stands for it, has in the store.
pub(super) fn document_of(
    store: &Reader,
    record: &UrlRecord,
) -> Result<Option<Before>, StoreError> {
    let primary = match record.visit.alias_of {
        Some(id) => store.url(id)?.map(|r| r.uri.fingerprint()),
        None => None,
    };
    let fingerprint = primary.unwrap_or_else(|| record.uri.fingerprint());
    let Some(row) = store.document(fingerprint)? else {
        return Ok(None);
    };
    // One that is damaged is as good as none: what the page shows takes its place.
    let stored = documents::decode(store, &row).ok().flatten();
    Ok(stored.map(|stored| Before {
        first_seen_ms: row.first_seen_ms,
        document: stored.document,
    }))
}

/// A document and when it was first read, Unix milliseconds.
pub(super) struct Before {
    first_seen_ms: i64,
    pub(super) document: Document,
}

/// Whether one text is a version of the other: they name the same title or day, or share whole phrases.
fn is_version(before: &Document, now: &Document) -> bool {
    let same = |a: &Option<String>, b: &Option<String>| a.is_some() && a == b;
    same(&before.title, &now.title)
        || same(&before.published, &now.published)
        || alike(&before.text, &now.text) >= ALIKE
}

/// Share of the phrases of the shorter text that are in the longer one.
fn alike(a: &str, b: &str) -> f64 {
    let phrases = |text: &str| -> HashSet<u64> {
        let letters: Vec<char> = text
            .chars()
            .filter(|c| c.is_alphanumeric())
            .take(MOST_LETTERS)
            .collect();
        let digest = |row: &[char]| {
            row.iter()
                .fold(0u64, |h, c| (h << 16) ^ (h >> 48) ^ u64::from(*c))
        };
        letters.windows(LETTERS).map(digest).collect()
    };
    let (a, b) = (phrases(a), phrases(b));
    let shorter = a.len().min(b.len());
    if shorter == 0 {
        return 0.0;
    }
    a.intersection(&b).count() as f64 / shorter as f64
}

/// Where the page of a document redirects to.
fn moved_to(finished: &FinishedVisit) -> Option<&CrawlUri> {
    let visit = &finished.visit;
    let has_moved =
        visit.outcome() == VisitOutcome::Redirect && finished.lease.record.visit.documented;
    visit.target().filter(|_| has_moved)
}

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

pub(super) fn find(
    store: &Store,
    finished: &FinishedVisit,
    document: &EncodedDocument,
    related: &Relatives,
) -> Result<Duplicates, StoreError> {
    let record = &finished.lease.record;
    let said = document.content;
    if let Some(canonical) = finished.visit.target()
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
    let yielding = if record.visit.documented {
        Vec::new()
    } else {
        yielding(store, record, document, &related.naming)?
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
        (Some(theirs), Ok(ours)) => alike(&theirs.document.text, &ours.text) >= SAME,
        _ => false,
    })
}

pub(super) fn primary(
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

#[cfg(test)]
mod tests {
    use super::*;

    fn document(title: &str, published: &str, text: &str) -> Document {
        Document {
            title: Some(title.to_owned()),
            published: (!published.is_empty()).then(|| published.to_owned()),
            text: text.to_owned(),
            ..Document::default()
        }
    }

    #[test]
    fn version_shares_title_day_phrases() {
        let text =
            "青石岭储气库本周完成第三口注采井的试压，现场记录显示井口压力平稳，没有发现渗漏。";
        let before = document("储气库试压完成", "2026-05-11", text);
        let wall = "系统正在升级，预计今晚恢复，给您带来不便，敬请谅解。";
        for (now, wanted) in [
            (document("储气库试压完成", "", wall), true),
            (document("更正", "2026-05-11", wall), true),
            (
                document(
                    "更正",
                    "",
                    &format!("{text}另讯，试压第二阶段将于下月开始。"),
                ),
                true,
            ),
            (
                document("更正", "", &text.chars().take(20).collect::<String>()),
                true,
            ),
            (document("系统维护", "", wall), false),
            (document("系统维护", "2026-11-20", wall), false),
            (document("系统维护", "", ""), false),
        ] {
            assert_eq!(is_version(&before, &now), wanted, "{now:?}");
        }
    }
}
