//! The versions of a document and what differs between neighbours. In: an open store and which document. Out: the answer
//! of `taojin history` and `/api/history`, bounded in versions and in text.

use std::time::{Duration, Instant};

use super::decode;
use super::difference;
use crate::serve::{DiffLine, DocumentKey, FieldChange, HistoryAnswer, VersionAnswer};
use taojin_crawl::store::{DocumentRow, Reader, StoreError};
use taojin_extract::Document;
use taojin_uri::CrawlUri;

/// What is said of a row that cannot be read; the program's log has the reason.
pub(super) const DAMAGED: &str = "damaged in the store";
/// Versions of one answer; the default setting keeps 20.
const VERSIONS_MAX: usize = 100;
/// Text of all differences of one answer, in bytes, about.
const DIFF_BYTES: usize = 1 << 20;
/// Time for all of them; those that are left then are not shown. Less than half of what a request may take.
const TIME: Duration = Duration::from_secs(2);
/// Lines of one difference.
const DIFF_LINES: usize = 2_000;

/// The history of a document; none if nothing is known of it.
pub(super) fn of(reader: &Reader, key: &DocumentKey) -> Result<Option<HistoryAnswer>, StoreError> {
    let fingerprint = match key {
        DocumentKey::Id(id) => *id,
        DocumentKey::Url(uri) => fingerprint(reader, uri)?,
    };
    let rows = reader.document_history(fingerprint)?;
    let uri = match (key, rows.first()) {
        (DocumentKey::Url(uri), None) => Some(uri.clone()),
        (_, Some(row)) => CrawlUri::parse(&row.url).ok(),
        (DocumentKey::Id(_), None) => None,
    };
    let takedown = uri.map(|uri| reader.takedown(&uri)).transpose()?.flatten();
    let Some(first) = rows.first() else {
        return Ok(takedown.map(|takedown| HistoryAnswer {
            url: takedown.url,
            state: "taken_down".to_owned(),
            gone_ms: Some(takedown.at_ms),
            ..empty(fingerprint)
        }));
    };
    let mut answer = HistoryAnswer {
        url: first.url.clone(),
        site: Some(first.site.clone()).filter(|site| !site.is_empty()),
        ..empty(fingerprint)
    };
    if let Some(takedown) = takedown {
        answer.state = "taken_down".to_owned();
        answer.gone_ms = Some(takedown.at_ms);
        return Ok(Some(answer));
    }
    if first.body.is_none() {
        answer.gone_ms = Some(first.changed_ms);
    }
    // The end of the document may be forgotten before its last version is.
    if reader
        .document(fingerprint)?
        .is_none_or(|row| row.body.is_none())
    {
        answer.state = "gone".to_owned();
    }
    answer.left_out = rows.len().saturating_sub(VERSIONS_MAX) as u64;
    answer.versions = versions(reader, &rows);
    Ok(Some(answer))
}

fn empty(fingerprint: u64) -> HistoryAnswer {
    HistoryAnswer {
        id: format!("{fingerprint:016x}"),
        url: String::new(),
        site: None,
        state: "present".to_owned(),
        gone_ms: None,
        versions: Vec::new(),
        left_out: 0,
    }
}

/// Key of the document at an address: its own, or that of the one that stands for this page.
fn fingerprint(reader: &Reader, uri: &CrawlUri) -> Result<u64, StoreError> {
    let own = uri.fingerprint();
    let present = reader.document(own)?.is_some_and(|row| row.body.is_some());
    let record = if present { None } else { reader.lookup(uri)? };
    let stands_for = match record.and_then(|record| record.visit.alias_of) {
        Some(id) => reader.url(id)?,
        None => None,
    };
    Ok(stands_for.map_or(own, |record| record.uri.fingerprint()))
}

/// A row, and its document or why there is none.
struct Version<'a> {
    row: &'a DocumentRow,
    document: Option<Document>,
    damaged: bool,
}

/// What differences may still take.
struct Room {
    bytes: usize,
    until: Instant,
}

fn versions(reader: &Reader, rows: &[DocumentRow]) -> Vec<VersionAnswer> {
    // One more than is listed, to compare the last one with.
    let some = rows.iter().take(VERSIONS_MAX + 1);
    let read: Vec<Version<'_>> = some.map(|row| version(reader, row)).collect();
    let mut left = Room {
        bytes: DIFF_BYTES,
        until: Instant::now() + TIME,
    };
    let listed = read.iter().take(VERSIONS_MAX).enumerate();
    listed
        .map(|(at, version)| {
            let older = read.get(at + 1..).unwrap_or_default();
            let before = older.iter().find(|version| version.document.is_some());
            answer(version, before, &mut left)
        })
        .collect()
}

fn version<'a>(reader: &Reader, row: &'a DocumentRow) -> Version<'a> {
    let stored = decode(reader, row).inspect_err(|error| {
        tracing::error!(error = format!("{error:#}"), "a version cannot be read");
    });
    Version {
        row,
        damaged: stored.is_err(),
        document: stored.ok().flatten().map(|stored| stored.document),
    }
}

fn answer(version: &Version<'_>, before: Option<&Version<'_>>, left: &mut Room) -> VersionAnswer {
    let row = version.row;
    let change = match &row.body {
        None => "deleted",
        Some(_) if row.first_seq == row.seq => "new",
        Some(_) => "changed",
    };
    let document = version.document.as_ref();
    let mut answer = VersionAnswer {
        version: row.version,
        seq: row.seq,
        change: change.to_owned(),
        changed_ms: row.changed_ms,
        title: document.and_then(|d| d.title.clone()),
        published: document.and_then(|d| d.published.clone()),
        author: document.and_then(|d| d.author.clone()),
        source: document.and_then(|d| d.source.clone()),
        characters: document.map_or(0, |d| d.text.chars().count() as u64),
        compared_with: None,
        fields: Vec::new(),
        diff: Vec::new(),
        diff_cut: false,
        unreadable: version.damaged.then(|| DAMAGED.to_owned()),
    };
    if let (Some(after), Some(before)) = (document, before)
        && let Some(old) = &before.document
    {
        answer.compared_with = Some(before.row.version);
        answer.fields = fields(old, after);
        (answer.diff, answer.diff_cut) = cut(&old.text, &after.text, left);
    }
    answer
}

/// The difference of two texts, as far as there is room for it, and whether something is left out.
fn cut(before: &str, after: &str, left: &mut Room) -> (Vec<DiffLine>, bool) {
    if left.bytes == 0 || Instant::now() > left.until {
        return (Vec::new(), before != after);
    }
    let mut lines = difference::lines(before, after, left.until);
    let mut shown = 0;
    for line in lines.iter().take(DIFF_LINES) {
        if left.bytes == 0 {
            break;
        }
        let bytes: usize = line.parts.iter().map(|part| part.text.len()).sum();
        left.bytes = left.bytes.saturating_sub(bytes);
        shown += 1;
    }
    let is_cut = shown < lines.len();
    lines.truncate(shown);
    (lines, is_cut)
}

fn fields(before: &Document, after: &Document) -> Vec<FieldChange> {
    let count = |n: usize| Some(n.to_string());
    let all = [
        ("title", before.title.clone(), after.title.clone()),
        (
            "published",
            before.published.clone(),
            after.published.clone(),
        ),
        ("author", before.author.clone(), after.author.clone()),
        ("source", before.source.clone(), after.source.clone()),
        (
            "comments",
            count(before.comments.len()),
            count(after.comments.len()),
        ),
        (
            "images",
            count(before.images.len()),
            count(after.images.len()),
        ),
        (
            "attachments",
            count(before.attachments.len()),
            count(after.attachments.len()),
        ),
    ];
    let differ = all.into_iter().filter(|(_, before, after)| before != after);
    let change = |(field, before, after): (&str, _, _)| FieldChange {
        field: field.to_owned(),
        before,
        after,
    };
    differ.map(change).collect()
}
