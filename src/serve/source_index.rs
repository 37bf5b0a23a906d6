//! The index as the source of the server and of the command line. In: a search as asked for. Out: hits with their
//! marked titles and snippets. Never writes.

use super::highlight::Highlighter;
use super::query::{Parsed, parse};
use super::source::{Found, FoundList, Marked, SearchSource, SourceError, Wanted};
use crate::extract::Document;
use crate::index::{FoundDocument, IndexError, Query, Reader, Sort};

/// Width of a snippet: three lines of a phone, two of a desktop.
const SNIPPET_COLUMNS: usize = 240;

/// Searches the index: the hits, and what should be said about the query (see [`Parsed::notes`]).
pub fn ask(reader: &Reader, wanted: &Wanted) -> Result<(FoundList, Vec<String>), IndexError> {
    let Parsed { query, notes } = understood(reader, wanted);
    let highlighter = Highlighter::new(&query, &reader.analyzer().dictionary());
    let found = reader.search(&query)?;
    let sites = if wanted.count_sites {
        let mut query = query;
        query.filter.sites.clear();
        let counts = reader.sites(&query)?;
        counts.into_iter().map(|c| (c.site, c.documents)).collect()
    } else {
        Vec::new()
    };
    let hits = found
        .documents
        .into_iter()
        .map(|f| hit(f, &highlighter))
        .collect();
    let list = FoundList {
        total: found.total as u64,
        hits,
        sites,
    };
    Ok((list, notes))
}

/// The query for the index that a search stands for, and what should be said about it.
pub fn understood(reader: &Reader, wanted: &Wanted) -> Parsed {
    let mut parsed = parse(&wanted.text, reader.config().utc_offset_minutes);
    let query = &mut parsed.query;
    query.filter.sites.clone_from(&wanted.sites);
    query.filter.since_ms = query.filter.since_ms.max(wanted.since_ms);
    query.filter.until_ms = match (query.filter.until_ms, wanted.until_ms) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    // Without words there is nothing to rank by.
    query.sort = if wanted.by_date || query.is_blank() {
        Sort::Date
    } else {
        Sort::Relevance
    };
    query.limit = wanted.limit;
    query.offset = wanted.offset;
    parsed
}

fn hit(found: FoundDocument, highlighter: &Highlighter) -> Found {
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
        score: found.score,
    }
}

impl SearchSource for Reader {
    fn search(&self, wanted: &Wanted) -> Result<FoundList, SourceError> {
        let (list, _) = ask(self, wanted).map_err(|e| SourceError(e.to_string()))?;
        Ok(list)
    }

    fn document(&self, id: &str) -> Result<Option<Document>, SourceError> {
        self.document_by_id(id)
            .map(|found| found.map(|stored| stored.document))
            .map_err(|e| SourceError(e.to_string()))
    }

    fn mark(&self, query: &str, texts: &[&str]) -> Vec<Marked> {
        let parsed: Query = parse(query, self.config().utc_offset_minutes).query;
        let highlighter = Highlighter::new(&parsed, &self.analyzer().dictionary());
        texts.iter().map(|text| highlighter.mark(text)).collect()
    }

    fn utc_offset_minutes(&self) -> i32 {
        self.config().utc_offset_minutes
    }

    fn documents(&self) -> u64 {
        self.num_docs().unwrap_or(0)
    }
}
