//! The index as the source of the server and of the command line. In: a search as asked for. Out: hits with their
//! marked titles and snippets. Never writes.

use super::source::{
    Arrived, Found, FoundList, LeaveOut, Marked, Offer, Related, SearchSource, SourceError, Wanted,
    WeakerList,
};
use super::trends::{Trends, compare};
use taojin_extract::Document;
use taojin_search::index::{
    Clause, DateUnit, Filter, Form, FoundDocument, Group, IndexError, Query, Reader, SiteTitles,
    Sort, StoredDocument, Suggestion, Target, parse_published, reasons,
};
use taojin_search::query::dates::Calendar;
use taojin_search::query::highlight::Highlighter;
use taojin_search::query::{Note, Parsed, parse, without_dates, without_quotes};

/// Width of a snippet: three lines of a phone, two of a desktop.
const SNIPPET_COLUMNS: usize = 240;

/// Searches the index; where nothing is found, for what was probably meant, if that is allowed.
pub fn ask(reader: &Reader, wanted: &Wanted) -> Result<FoundList, IndexError> {
    let (found, final_answer) = asked(reader, wanted)?;
    let meant = found.did_you_mean.clone();
    let Some(text) = meant.filter(|_| wanted.corrected && !final_answer) else {
        return Ok(found);
    };
    let other = Wanted {
        text: text.clone(),
        ..wanted.clone()
    };
    let (corrected, _) = asked(reader, &other)?;
    Ok(match corrected.total {
        0 => found,
        _ => FoundList {
            searched_instead: Some(text),
            did_you_mean: None,
            ..corrected
        },
    })
}

/// Hits, and whether they answer the query, or it is more than plain words: then nothing is put in its place.
fn asked(reader: &Reader, wanted: &Wanted) -> Result<(FoundList, bool), IndexError> {
    let Parsed { query, mut notes } = understood(reader, wanted);
    let dictionary = reader.analyzer().dictionary();
    let highlighter = Highlighter::new(&query, &dictionary);
    let found = reader.search(&query)?;
    let did_you_mean = reader.correction(&query, &found)?;
    notes.extend(unknown_sites(reader, &query)?);
    let plain = query
        .words
        .split_whitespace()
        .eq(wanted.text.split_whitespace());
    let final_answer = found.total > 0 || !plain;
    let facets = found.facets.unwrap_or_default();
    let sites = facets.sites.into_iter();
    let hits = |documents: Vec<FoundDocument>| -> Vec<Found> {
        let hit = |found: FoundDocument| {
            let reasons = match wanted.explain {
                true => reasons(&query, &dictionary, &found),
                false => Vec::new(),
            };
            Found {
                reasons,
                ..hit(found, &highlighter)
            }
        };
        documents.into_iter().map(hit).collect()
    };
    let list = FoundList {
        total: found.total as u64,
        hits: hits(found.documents),
        weaker: found.weaker.map(|weaker| WeakerList {
            total: weaker.total as u64,
            hits: hits(weaker.documents),
        }),
        offers: match found.total {
            0 => offers(reader, wanted, &query)?,
            _ => Vec::new(),
        },
        sites: sites.map(|count| (count.site, count.documents)).collect(),
        dates: facets.dates,
        related: facets.related,
        did_you_mean,
        searched_instead: None,
        synonyms: reader.expanded(&query),
        notes,
    };
    Ok((list, final_answer))
}

/// Sites of the query that no document is of. Where one text means several sites, one of them is enough.
fn unknown_sites(reader: &Reader, query: &Query) -> Result<Vec<Note>, IndexError> {
    let mut asked: Vec<Vec<&str>> = Vec::new();
    let mut waiting: Vec<&Group> = query.groups.iter().collect();
    while let Some(group) = waiting.pop() {
        let sites = group
            .any
            .iter()
            .filter(|clause| clause.target == Target::Site);
        asked.push(sites.map(|clause| clause.text.as_str()).collect());
        let inner = group.any.iter().filter_map(|clause| match &clause.form {
            Form::All(groups) => Some(groups),
            _ => None,
        });
        waiting.extend(inner.flatten());
    }
    asked.push(query.filter.sites.iter().map(String::as_str).collect());
    let mut notes = Vec::new();
    for sites in asked {
        let mut known = false;
        for site in &sites {
            known = known || reader.has_site(site)?;
        }
        let unknown = sites.first().filter(|_| !known);
        notes.extend(unknown.map(|site| Note::NoSite {
            site: (*site).to_owned(),
        }));
    }
    Ok(notes)
}

/// Searches like one that found nothing which find something.
fn offers(reader: &Reader, wanted: &Wanted, query: &Query) -> Result<Vec<Offer>, IndexError> {
    let mut offers = Vec::new();
    let mut offer = |without: LeaveOut, wanted: Wanted| -> Result<(), IndexError> {
        let query = Query {
            limit: 0,
            facets: false,
            ..understood(reader, &wanted).query
        };
        let total = reader.search(&query)?.total as u64;
        if total > 0 {
            let text = wanted.text;
            offers.push(Offer {
                without,
                text,
                total,
            });
        }
        Ok(())
    };
    let text = without_quotes(&wanted.text);
    if text != wanted.text {
        offer(
            LeaveOut::Quotes,
            Wanted {
                text,
                ..wanted.clone()
            },
        )?;
    }
    let Filter {
        since_ms,
        until_ms,
        changed_since_ms,
        changed_until_ms,
        ..
    } = query.filter;
    if [since_ms, until_ms, changed_since_ms, changed_until_ms] != [None; 4] {
        let all_dates = Wanted {
            text: without_dates(&wanted.text),
            since_ms: None,
            until_ms: None,
            changed_ms: (None, None),
            ..wanted.clone()
        };
        // Without words that would be every document.
        if !all_dates.text.is_empty() {
            offer(LeaveOut::Dates, all_dates)?;
        }
    }
    Ok(offers)
}

/// The query for the index that a search stands for, and what should be said about it.
pub fn understood(reader: &Reader, wanted: &Wanted) -> Parsed {
    let calendar = Calendar {
        utc_offset_minutes: reader.config().utc_offset_minutes,
        now_ms: wanted.now_ms,
    };
    let mut parsed = parse(&wanted.text, &calendar);
    let query = &mut parsed.query;
    query.matching = wanted.matching;
    query
        .groups
        .iter_mut()
        .for_each(|group| by_titles(reader, group));
    let named = wanted.sites.iter();
    query.filter.sites = named.flat_map(|s| names(reader, s)).collect();
    query
        .filter
        .narrow_published((wanted.since_ms, wanted.until_ms));
    query.filter.narrow_changed(wanted.changed_ms);
    query.filter.group = wanted.group;
    // Without words there is nothing to rank by.
    query.sort = if query.is_blank() {
        Sort::Date
    } else {
        wanted.sort
    };
    query.now_ms = wanted.now_ms;
    query.half_life_ms = wanted.half_life_ms.unwrap_or_default();
    query.as_typed = wanted.as_typed;
    query.grouped = wanted.grouped;
    query.facets = wanted.facets;
    query.stop = wanted.stop.clone();
    query.limit = wanted.limit;
    query.offset = wanted.offset;
    parsed
}

/// What a text may mean as a site: a name or a host as it stands, and the names of the sites that readers call so.
fn names(reader: &Reader, text: &str) -> Vec<String> {
    let mut names = vec![text.to_owned()];
    names.extend(reader.titles().names(text));
    names
}

/// A group with every name of its sites.
fn by_titles(reader: &Reader, group: &mut Group) {
    let clauses = std::mem::take(&mut group.any).into_iter();
    group.any = clauses.flat_map(|c| by_title(reader, c)).collect();
    for clause in &mut group.any {
        if let Form::All(groups) = &mut clause.form {
            groups.iter_mut().for_each(|group| by_titles(reader, group));
        }
    }
}

/// `site:` with every name that its text may mean; any other clause as it is.
fn by_title(reader: &Reader, clause: Clause) -> Vec<Clause> {
    if clause.target != Target::Site {
        return vec![clause];
    }
    let named = |text| Clause {
        text,
        ..clause.clone()
    };
    names(reader, &clause.text).into_iter().map(named).collect()
}

/// These documents as hits of a query, in their order.
pub fn as_hits(reader: &Reader, wanted: &Wanted, documents: Vec<StoredDocument>) -> Vec<Arrived> {
    let query = understood(reader, wanted).query;
    let highlighter = Highlighter::new(&query, &reader.analyzer().dictionary());
    let arrived = |stored| arrived(reader, stored, &highlighter);
    documents.into_iter().map(arrived).collect()
}

fn arrived(reader: &Reader, stored: StoredDocument, highlighter: &Highlighter) -> Arrived {
    let published = stored.document.published.as_deref();
    let offset = reader.config().utc_offset_minutes;
    Arrived {
        fetched_ms: stored.fetched_ms,
        author: stored.document.author.clone(),
        published_ms: published.and_then(|text| parse_published(text, offset)),
        found: hit(
            FoundDocument {
                score: 0.0,
                group: None,
                duplicates: 0,
                outlets: Vec::new(),
                stored,
            },
            highlighter,
        ),
    }
}

/// Reprints of a document, and others on its topic.
fn related(reader: &Reader, id: &str, limit: usize) -> Result<Related, IndexError> {
    let Some(stored) = reader.document_by_id(id)? else {
        return Ok(Related::default());
    };
    let mut reprints = Vec::new();
    if let Some(group) = reader.group(stored.fingerprint)? {
        let members = Wanted {
            group: Some(group),
            // The document itself is one of them.
            limit: limit + 1,
            ..Wanted::default()
        };
        reprints = ask(reader, &members)?.hits;
        reprints.retain(|hit| hit.id != id);
        reprints.truncate(limit);
    }
    let unmarked = Highlighter::new(&Query::default(), &reader.analyzer().dictionary());
    let similar = reader.similar(&stored, limit)?;
    Ok(Related {
        reprints,
        similar: similar.into_iter().map(|f| hit(f, &unmarked)).collect(),
    })
}

pub(super) fn hit(found: FoundDocument, highlighter: &Highlighter) -> Found {
    let id = found.stored.id();
    let site = Some(found.stored.site()).filter(|site| !site.is_empty());
    let document = found.stored.document;
    Found {
        id,
        title: highlighter.mark(document.title.as_deref().unwrap_or_default()),
        snippet: highlighter.snippet(&document.text, SNIPPET_COLUMNS),
        url: document.url,
        site,
        published: document.published,
        author: document.author,
        source: document.source,
        meta: document.meta,
        score: found.score,
        group: found.group,
        duplicates: found.duplicates,
        reasons: Vec::new(),
        outlets: found.outlets,
    }
}

impl SearchSource for Reader {
    fn search(&self, wanted: &Wanted) -> Result<FoundList, SourceError> {
        ask(self, wanted).map_err(SourceError::from)
    }

    fn suggest(&self, typed: &str, limit: usize) -> Result<Vec<Suggestion>, SourceError> {
        Reader::suggest(self, typed, limit).map_err(SourceError::from)
    }

    fn latest(&self, wanted: &Wanted) -> Result<Vec<Arrived>, SourceError> {
        let query = understood(self, wanted).query;
        let latest = Reader::latest(self, &query, wanted.limit);
        let latest = latest.map_err(SourceError::from)?;
        Ok(as_hits(self, wanted, latest))
    }

    fn document(&self, id: &str) -> Result<Option<Document>, SourceError> {
        self.document_by_id(id)
            .map(|found| found.map(|stored| stored.document))
            .map_err(SourceError::from)
    }

    fn related(&self, id: &str, limit: usize) -> Result<Related, SourceError> {
        related(self, id, limit).map_err(SourceError::from)
    }

    fn mark(&self, query: &str, texts: &[&str]) -> Vec<Marked> {
        let calendar = Calendar {
            utc_offset_minutes: self.config().utc_offset_minutes,
            now_ms: 0,
        };
        let parsed = parse(query, &calendar).query;
        let highlighter = Highlighter::new(&parsed, &self.analyzer().dictionary());
        texts.iter().map(|text| highlighter.mark(text)).collect()
    }

    fn trends(&self, wanted: &[Wanted], unit: Option<DateUnit>) -> Result<Trends, SourceError> {
        compare(self, wanted, unit).map_err(SourceError::from)
    }

    fn utc_offset_minutes(&self) -> i32 {
        self.config().utc_offset_minutes
    }

    fn documents(&self) -> Option<u64> {
        self.num_docs().ok()
    }

    fn is_remote(&self) -> bool {
        Reader::is_remote(self)
    }

    fn site_titles(&self) -> SiteTitles {
        self.titles().clone()
    }
}
