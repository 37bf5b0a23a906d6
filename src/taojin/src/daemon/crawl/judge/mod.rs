//! Judges a visit by what is stored of its address and of other pages of its site: a [`Judgement`].
//!
//! A wall (captcha, sign-in, maintenance, a start page for every address) is recognised by what it is to the site: addresses that
//! had different documents show the same words. What the words are does not matter. Two addresses are one document only when
//! their documents say the same (http and https, with and without `www.`, `index.html`, a final slash …), or when the site says so
//! and the canonical address has a document; a guess from the address alone is never enough to lose a page.
//!
//! A [`Judge`] only reads, through [`Records`], and remembers [`Walls`]; what follows from its judgement is [`decide`]d.

pub(crate) mod decide;
mod text;
mod twins;
mod walls;

pub(crate) use twins::Primary;
pub(crate) use walls::Walls;

use super::visit::Visit;
use super::visit::article::MissingPart;
use crate::documents::{self, EncodedDocument};
use text::is_version;
use twins::{Twins, find_twins};

use taojin_crawl::VisitOutcome;
use taojin_crawl::schedule::Shown;
use taojin_crawl::store::{Relatives, Store, StoreError, UrlId, UrlRecord, UrlState, Wall};
use taojin_extract::Document;
use taojin_uri::CrawlUri;

/// What was first read so long before a wall was noticed may have been made of it, in milliseconds.
const UNNOTICED_MS: i64 = 24 * 3_600_000;

/// Pages that lead to one address, each with a document of its own, from which it is a wall: a few may have been merged.
const MANY: usize = 3;

/// What is stored, as far as visits are judged by it.
pub(crate) trait Records {
    /// The record of a URL.
    fn url(&self, id: UrlId) -> Result<Option<UrlRecord>, StoreError>;

    /// The record of an address.
    fn lookup(&self, uri: &CrawlUri) -> Result<Option<UrlRecord>, StoreError>;

    /// The present document of a URL; none if it is gone, or damaged: what the page shows takes its place.
    fn document(&self, id: UrlId) -> Result<Option<StoredVersion>, StoreError>;

    /// Pages with a document that name `uri` as their canonical address or lead to it.
    fn naming(&self, uri: &CrawlUri) -> Result<Vec<UrlId>, StoreError>;

    /// Pages that the document of `id` stands for as well.
    fn aliases(&self, id: UrlId) -> Result<Vec<UrlId>, StoreError>;

    /// What a document of `site` with this digest, at this address, may have to do with.
    fn relatives(&self, uri: &CrawlUri, site: &str, content: u64) -> Result<Relatives, StoreError>;

    /// How many pages of `site` showed these words instead of their document, but for `not`, and since when, Unix milliseconds.
    fn answering(
        &self,
        site: &str,
        answer: u64,
        not: UrlId,
    ) -> Result<(i64, Option<i64>), StoreError>;

    /// What several pages of a site show instead of their documents: at most so many.
    fn walls(&self, limit: usize) -> Result<Vec<Wall>, StoreError>;
}

/// A document that is stored.
pub(crate) struct StoredVersion {
    /// When its address first had a document, Unix milliseconds.
    pub(crate) first_seen_ms: i64,
    /// What it says.
    pub(crate) document: Document,
}

impl Records for Store {
    fn url(&self, id: UrlId) -> Result<Option<UrlRecord>, StoreError> {
        (**self).url(id)
    }

    fn lookup(&self, uri: &CrawlUri) -> Result<Option<UrlRecord>, StoreError> {
        Store::lookup(self, uri)
    }

    fn document(&self, id: UrlId) -> Result<Option<StoredVersion>, StoreError> {
        let Some(row) = self.addresses().document_of(id)? else {
            return Ok(None);
        };
        let stored = documents::decode(self, &row).ok().flatten();
        Ok(stored.map(|stored| StoredVersion {
            first_seen_ms: row.first_seen_ms,
            document: stored.document,
        }))
    }

    fn naming(&self, uri: &CrawlUri) -> Result<Vec<UrlId>, StoreError> {
        (**self).naming(uri)
    }

    fn aliases(&self, id: UrlId) -> Result<Vec<UrlId>, StoreError> {
        (**self).aliases(id)
    }

    fn relatives(&self, uri: &CrawlUri, site: &str, content: u64) -> Result<Relatives, StoreError> {
        (**self).relatives(uri, site, content)
    }

    fn answering(
        &self,
        site: &str,
        answer: u64,
        not: UrlId,
    ) -> Result<(i64, Option<i64>), StoreError> {
        (**self).answering(site, answer, not)
    }

    fn walls(&self, limit: usize) -> Result<Vec<Wall>, StoreError> {
        (**self).walls(limit)
    }
}

/// What a visited page shows, and what it has to do with others.
#[derive(Debug, PartialEq)]
pub(crate) struct Judgement {
    /// What it shows of a document.
    pub(crate) shown: Shown,
    /// The page whose document stands for this one.
    pub(crate) primary: Option<Primary>,
    /// Pages whose documents give way to this one's.
    pub(crate) yielding: Vec<UrlId>,
    /// Other addresses of this page's own document.
    pub(crate) addresses: Vec<String>,
    /// The page is one that turns readers away.
    pub(crate) turned_away: bool,
    /// Its template has changed since its document was read, and the document says more or other things by it, whatever its
    /// text.
    pub(crate) has_new_fields: bool,
    /// Comments of the stored document that stay, since the visit could not have them.
    pub(crate) kept_comments: Option<KeptComments>,
    /// A page that is to be checked again: the target of a redirect that may have become a wall, or a page whose document may have been
    /// made of one.
    pub(crate) recheck: Option<UrlId>,
}

/// Comments of a stored document that a visit could not have.
#[derive(Debug, PartialEq)]
pub(crate) struct KeptComments {
    /// The document of the visit with them.
    pub(crate) document: EncodedDocument,
    /// It says what the stored one does.
    pub(crate) is_same: bool,
}

impl Judgement {
    /// Of a page that has nothing to do with others.
    pub(crate) fn alone(shown: Shown) -> Self {
        Self {
            shown,
            primary: None,
            yielding: Vec::new(),
            addresses: Vec::new(),
            turned_away: false,
            has_new_fields: false,
            kept_comments: None,
            recheck: None,
        }
    }
}

/// Judges one visit.
pub(crate) struct Judge<'a> {
    records: &'a dyn Records,
    /// Those that are known; what the visit shows to be one is added.
    walls: &'a mut Walls,
    /// As it is in the store.
    record: &'a UrlRecord,
    visit: &'a Visit,
    now_ms: i64,
}

impl<'a> Judge<'a> {
    /// Judges the visit of a URL that ended at `now_ms`, Unix milliseconds. Changes of earlier visits that have to do with it must be
    /// stored before.
    pub(crate) fn judge(
        records: &'a dyn Records,
        walls: &'a mut Walls,
        (record, visit): (&'a UrlRecord, &'a Visit),
        now_ms: i64,
    ) -> anyhow::Result<Judgement> {
        let mut judge = Self {
            records,
            walls,
            record,
            visit,
            now_ms,
        };
        let mut judgement = judge.compare()?;
        judgement.turned_away = judge.is_turned_away(judgement.shown)?;
        let is_own = judgement.shown == Shown::Document && judgement.primary.is_none();
        judgement.has_new_fields = is_own && judge.has_new_fields()?;
        if is_own {
            judgement.kept_comments = judge.kept_comments()?;
        }
        Ok(judgement)
    }

    fn compare(&mut self) -> anyhow::Result<Judgement> {
        let (records, record) = (self.records, self.record);
        if let Some(there) = self.has_moved()? {
            let primary = Primary::new(records, there, record, true)?;
            return Ok(Judgement {
                primary: Some(primary),
                ..Judgement::alone(Shown::Elsewhere)
            });
        }
        let target = self.doubtful_target()?;
        let mut judgement = self.shown()?;
        judgement.recheck = judgement.recheck.or(target);
        let document = self.visit.document();
        let Some(document) = document.filter(|_| judgement.shown == Shown::Document) else {
            return Ok(judgement);
        };
        let related = records.relatives(&record.uri, &record.site, document.content)?;
        let twins = find_twins(records, record, self.visit.target(), document, &related)?;
        let Twins {
            primary,
            yielding,
            addresses,
        } = twins;
        if primary.is_some() {
            return Ok(Judgement {
                shown: Shown::Elsewhere,
                primary,
                ..judgement
            });
        }
        let words = Some(document.wording);
        Ok(
            match self.led_to(&related.naming, words, Some(document.content))? {
                wall @ Shown::Wall { .. } => Judgement {
                    shown: wall,
                    ..judgement
                },
                shown => Judgement {
                    shown,
                    yielding,
                    addresses,
                    ..judgement
                },
            },
        )
    }

    /// Whether the page's template gives its document what the stored one lacks.
    fn has_new_fields(&self) -> Result<bool, StoreError> {
        let template = self.visit.page().and_then(|page| page.template);
        let has_gained = template.is_some_and(|template| template.has_gained(self.record));
        let Some(document) = self.visit.document().filter(|_| has_gained) else {
            return Ok(false);
        };
        let before = document_of(self.records, self.record)?;
        Ok(before.is_none_or(|before| !document.is_same(&before.document)))
    }

    /// The comments of the stored document, if those of this visit could not be had.
    fn kept_comments(&self) -> anyhow::Result<Option<KeptComments>> {
        let missing = self.visit.page().and_then(|page| page.missing.as_ref());
        let lacks_comments = matches!(missing, Some(MissingPart::Comments { .. }));
        let Some(document) = self.visit.document().filter(|_| lacks_comments) else {
            return Ok(None);
        };
        let before = document_of(self.records, self.record)?;
        let before = before.filter(|before| !before.document.comments.is_empty());
        let Some(StoredVersion {
            document: before, ..
        }) = before
        else {
            return Ok(None);
        };
        let mut completed = document.decode()?;
        completed.add_comments(before.comments.iter().cloned());
        let document = EncodedDocument::new(&completed);
        Ok(Some(KeptComments {
            is_same: document.is_same(&before),
            document,
        }))
    }

    /// What the page shows of a document, by itself.
    fn shown(&mut self) -> anyhow::Result<Judgement> {
        let (record, visit) = (self.record, self.visit);
        if visit.outcome() == VisitOutcome::NotModified {
            return Ok(Judgement::alone(self.shown_again()?));
        }
        let Some(document) = visit.document().or(visit.withheld()) else {
            return Ok(Judgement::alone(Shown::Nothing));
        };
        let as_it_is = Judgement::alone(match visit.document() {
            Some(_) => Shown::Document,
            None => Shown::Withheld,
        });
        let wording = document.wording;
        let walls = self.walls.of_site(self.records, &record.site)?;
        let wall = walls.and_then(|walls| walls.get(&wording)).copied();
        let is_known = record.visit.content == Some(document.content);
        let had_document = record.visit.documented || record.visit.alias_of.is_some();
        if wall.is_none() && (is_known || !had_document) {
            return Ok(as_it_is);
        }
        let before = document_of(self.records, record)?;
        if let Some(since_ms) = wall {
            let is_same =
                |before: &StoredVersion| documents::wording(&before.document.text) == wording;
            let made_document = match before.filter(is_same) {
                // It had this text before others showed it: it is its own.
                Some(before) if before.first_seen_ms < since_ms - UNNOTICED_MS => {
                    return Ok(as_it_is);
                }
                before => before.is_some(),
            };
            return Ok(Judgement::alone(Shown::Wall {
                answer: wording,
                made_document,
            }));
        }
        let Some(before) = before else {
            return Ok(as_it_is);
        };
        if is_version(&before.document, &document.decode()?) {
            return Ok(as_it_is);
        }
        if visit.page().is_some_and(|page| page.is_blocking) {
            return Ok(Judgement::alone(Shown::Nothing));
        }
        self.replaced(document)
    }

    /// What a page shows that has not changed since it became a document: behind a wall it may have.
    fn shown_again(&mut self) -> anyhow::Result<Shown> {
        let record = self.record;
        let changed_ms = record.visit.changed_ms.unwrap_or_default();
        let walls = self.walls.of_site(self.records, &record.site)?;
        let walls: Vec<(u64, i64)> = walls.into_iter().flatten().map(|(a, s)| (*a, *s)).collect();
        let may_be = walls
            .iter()
            .any(|(_, since_ms)| changed_ms >= since_ms - UNNOTICED_MS);
        if record.visit.documented
            && may_be
            && let Some(before) = document_of(self.records, record)?
        {
            let wording = documents::wording(&before.document.text);
            let is_it = |(words, since_ms): &(u64, i64)| {
                *words == wording && before.first_seen_ms >= since_ms - UNNOTICED_MS
            };
            if walls.iter().any(is_it) {
                return Ok(Shown::Wall {
                    answer: wording,
                    made_document: true,
                });
            }
        }
        if !record.visit.documented || self.now_ms - changed_ms >= 2 * UNNOTICED_MS {
            return Ok(Shown::Document);
        }
        let naming = self.records.naming(&record.uri)?;
        self.led_to(&naming, None, record.visit.content)
    }

    /// A page whose text has nothing in common with that of its document: a wall if another address shows the same.
    fn replaced(&mut self, document: &EncodedDocument) -> anyhow::Result<Judgement> {
        let (record, visit) = (self.record, self.visit);
        let wording = document.wording;
        let (others, since_ms) = self.records.answering(&record.site, wording, record.id)?;
        let related = self
            .records
            .relatives(&record.uri, &record.site, document.content)?;
        let twin = related.alike.into_iter().find(|id| *id != record.id);
        if others == 0 && twin.is_none() {
            // An archive holds what was there, and nobody asks again.
            return Ok(Judgement::alone(
                match (visit.archived_ms(), visit.document()) {
                    (None, _) => Shown::Replaced {
                        answer: wording,
                        withheld: visit.withheld().is_some(),
                    },
                    (Some(_), Some(_)) => Shown::Document,
                    (Some(_), None) => Shown::Withheld,
                },
            ));
        }
        tracing::warn!(url = %record.uri, site = %record.site,
            "pages of this site show the same instead of their documents, which stay as they were");
        let since_ms = since_ms.unwrap_or(self.now_ms);
        self.walls.add(&record.site, wording, since_ms);
        Ok(Judgement {
            recheck: twin,
            ..Judgement::alone(Shown::Wall {
                answer: wording,
                made_document: false,
            })
        })
    }

    /// What a page shows to which others may lead: a wall, if many do that had documents of their own. `wording` is a digest of
    /// its words, those of its document if it is not given; `content` a digest of the document; `naming` the pages that name it.
    fn led_to(
        &mut self,
        naming: &[UrlId],
        wording: Option<u64>,
        content: Option<u64>,
    ) -> anyhow::Result<Shown> {
        let record = self.record;
        let leading = self.leading_to(&record.uri, naming, content)?;
        if leading.len() < MANY {
            return Ok(Shown::Document);
        }
        let since_ms = leading.iter().filter_map(|r| r.visit.confirmed_ms).min();
        let before = if record.visit.documented {
            document_of(self.records, record)?
        } else {
            None
        };
        // What was there before they led to it is its own.
        let is_own =
            |before: &StoredVersion| since_ms.is_some_and(|since| before.first_seen_ms < since);
        let words = || Some(documents::wording(&before.as_ref()?.document.text));
        let Some(wording) = wording
            .or_else(words)
            .filter(|_| !before.as_ref().is_some_and(is_own))
        else {
            return Ok(Shown::Document);
        };
        self.walls.add(&record.site, wording, self.now_ms);
        Ok(Shown::Wall {
            answer: wording,
            made_document: record.visit.documented,
        })
    }

    /// Those of the pages that name this address (`naming`) that are of the same site, lead to it, and whose documents say something
    /// else than `content`.
    fn leading_to(
        &self,
        uri: &CrawlUri,
        naming: &[UrlId],
        content: Option<u64>,
    ) -> Result<Vec<UrlRecord>, StoreError> {
        let mut found = Vec::new();
        for id in naming {
            let other = self.records.url(*id)?.filter(|other| {
                other.site == self.record.site
                    && other.uri != *uri
                    && other.visit.state == UrlState::Redirect
                    && (content.is_none() || other.visit.content != content)
            });
            found.extend(other);
        }
        Ok(found)
    }

    /// The page of a document redirects to this address.
    fn moved_to(&self) -> Option<&'a CrawlUri> {
        let has_moved =
            self.visit.outcome() == VisitOutcome::Redirect && self.record.visit.documented;
        self.visit.target().filter(|_| has_moved)
    }

    /// The target of a page that redirects, if many pages lead there that had documents: it may have become a wall.
    fn doubtful_target(&self) -> Result<Option<UrlId>, StoreError> {
        let Some(target) = self.moved_to() else {
            return Ok(None);
        };
        let naming = self.records.naming(target)?;
        if self.leading_to(target, &naming, None)?.len() + 1 < MANY {
            return Ok(None);
        }
        let there = self.records.lookup(target)?;
        let there = there.filter(|there| there.visit.documented);
        Ok(there.map(|there| there.id))
    }

    /// The target of a page that redirects, if the page's document stands there with the same text.
    fn has_moved(&self) -> Result<Option<UrlRecord>, StoreError> {
        let record = self.record;
        let Some(target) = self.moved_to() else {
            return Ok(None);
        };
        Ok(self.records.lookup(target)?.filter(|there| {
            there.id != record.id
                && there.site == record.site
                && there.visit.documented
                && there.visit.content == record.visit.content
        }))
    }

    /// Whether the page is one that turns readers away: by its words, by what it is to a page with a document, or by leading where
    /// others lead, too.
    fn is_turned_away(&self, shown: Shown) -> Result<bool, StoreError> {
        let (record, visit) = (self.record, self.visit);
        let had_document = record.visit.documented;
        Ok(visit.is_blocking()
            || match (visit.outcome(), shown) {
                (_, Shown::Wall { .. } | Shown::Replaced { .. }) => true,
                (VisitOutcome::Page, Shown::Nothing) => had_document,
                (VisitOutcome::Redirect, Shown::Nothing) if had_document => match visit.target() {
                    Some(target) => {
                        let naming = self.records.naming(target)?;
                        naming.iter().any(|id| *id != record.id)
                    }
                    None => false,
                },
                _ => false,
            })
    }
}

/// The document that a page, or the one that stands for it, has in the store.
fn document_of(
    records: &dyn Records,
    record: &UrlRecord,
) -> Result<Option<StoredVersion>, StoreError> {
    let primary = match record.visit.alias_of {
        Some(id) => records.url(id)?.map(|primary| primary.id),
        None => None,
    };
    records.document(primary.unwrap_or(record.id))
}
