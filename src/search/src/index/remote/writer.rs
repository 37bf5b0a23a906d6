//! Writes into an engine: bulk requests in the order of changes, and after them a state that records up to which change
//! the index holds everything. A document carries the number of its change as version: what comes late, or again, never
//! replaces what is newer.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use super::super::duplicates::reprints::{Placed, Placement, REMEMBERED, Reprints, Sketch};
use super::super::rank::plan::Plan;
use super::super::recut::{
    Recut, RecutEngine, RecutProgress, cut_again, place_again, take_dictionary,
};
use super::super::stop::CancellationToken;
use super::super::storage::left_out::{SkippedDocument, SkippedDocuments};
use super::super::storage::writer::IndexWriter;
use super::super::stored::{Cutter, DocumentSource, StoredDocument};
use super::super::view::reckoned;
use super::super::{Config, IndexError};
use super::document::fields;
use super::json::query;
use super::lease::RemoteLease;
use super::view::{RemoteView, sketch_of};
use super::{Body, Progress, RemoteIndex, hex, unhex};
use crate::analyze::Analyzer;

/// Bytes of one bulk request, at least; engines take 100 MB.
const BULK_BYTES: usize = 4 << 20;
/// Status of an answer to a request that is longer than a server takes.
const TOO_LARGE: u16 = 413;
/// Documents that are recalled at once.
const RECALLED: usize = 5_000;

/// Documents whose numbers are asked for at once: what an engine gives with one answer at most.
const LISTED: u64 = 10_000;

/// A change that the engine is told.
struct Change {
    fingerprint: u64,
    seq: u64,
    url: String,
}

/// How an index is made in an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Number of shards.
    pub shards: u32,
    /// Copies of each shard beside the first.
    pub replicas: u32,
}

/// The one writer of an index in an engine, or of the one that is to take its place.
pub struct RemoteWriter {
    lease: RemoteLease,
    index: RemoteIndex,
    /// Of the last commit, but for the documents that were left out since.
    progress: Progress,
    documents: Arc<dyn DocumentSource>,
    reprints: Reprints,
    cutter: Cutter,
    recut: Recut,
    /// What is to be sent next.
    bulk: Bulk,
    /// Bytes of one bulk request, at least.
    bulk_bytes: usize,
    /// The request that is under way: the engine works while the next texts are cut.
    under_way: Option<UnderWay>,
}

/// Changes of one bulk request.
#[derive(Default)]
struct Bulk {
    changes: Vec<Change>,
    /// Lines of the request.
    lines: Vec<u8>,
    /// Where in them those of each change begin.
    begins: Vec<usize>,
}

impl Bulk {
    fn push(&mut self, change: Change, lines: [Option<&Value>; 2]) {
        self.begins.push(self.lines.len());
        for line in lines.into_iter().flatten() {
            self.lines.extend_from_slice(line.to_string().as_bytes());
            self.lines.push(b'\n');
        }
        self.changes.push(change);
    }

    /// Takes the second half of the changes out.
    fn split(&mut self) -> Bulk {
        let at = self.changes.len() / 2;
        let from = self.begins.get(at).copied().unwrap_or_default();
        let begins = self.begins.split_off(at);
        Bulk {
            changes: self.changes.split_off(at),
            lines: self.lines.split_off(from),
            begins: begins.into_iter().map(|begin| begin - from).collect(),
        }
    }
}

/// A bulk request that is not answered yet, and how it is to be sent again.
struct UnderWay(JoinHandle<(Bulk, Answer)>);

/// Status and body, or why there is none.
type Answer = Result<(u16, Value), IndexError>;

impl RemoteWriter {
    /// Opens the index that is searched. None where it is to be made again and not to be written into. `documents` are those of the
    /// store that the lease is for.
    pub fn open(
        lease: &RemoteLease,
        analyzer: &Analyzer,
        config: &Config,
        documents: Arc<dyn DocumentSource>,
    ) -> Result<Option<Self>, IndexError> {
        if lease.is_outdated() {
            return Ok(None);
        }
        let cutter = Cutter::new(analyzer, config.utc_offset_minutes);
        Self::over(lease, lease.served(), cutter, documents).map(Some)
    }

    /// Opens an index of its own, empty or as far as it came before, that [`Self::put_in_place`] lets take the place of the one that
    /// is searched. Both may be written in turn.
    pub fn open_fresh(
        lease: &RemoteLease,
        analyzer: &Analyzer,
        config: &Config,
        documents: Arc<dyn DocumentSource>,
    ) -> Result<Self, IndexError> {
        let index = lease.open_fresh()?;
        let cutter = Cutter::new(analyzer, config.utc_offset_minutes);
        Self::over(lease, index, cutter, documents)
    }

    fn over(
        lease: &RemoteLease,
        index: RemoteIndex,
        cutter: Cutter,
        documents: Arc<dyn DocumentSource>,
    ) -> Result<Self, IndexError> {
        let progress = lease.held().progress(index.role);
        let recut = match progress.seq {
            0 => Recut::new(cutter.dictionary()),
            _ => Recut::resume(
                index.states().cut_state(&progress.uuid)?,
                cutter.dictionary(),
            ),
        };
        let mut reprints = Reprints::new(Arc::clone(&documents));
        recall(&index, &mut reprints)?;
        let mut writer = Self {
            lease: lease.clone(),
            index,
            progress,
            documents,
            reprints,
            cutter,
            recut,
            bulk: Bulk::default(),
            bulk_bytes: BULK_BYTES,
            under_way: None,
        };
        writer.save_cut_state()?;
        Ok(writer)
    }

    /// Lets this index, in which everything is committed, take the place of the one that is searched, which is deleted.
    pub fn put_in_place(mut self) -> Result<Self, IndexError> {
        self.index = self.lease.put_in_place(&self.progress)?;
        Ok(self)
    }

    /// Has the engine write what it has taken in into its files, so that a machine that starts again has nothing to replay.
    pub fn flush(&self) -> Result<(), IndexError> {
        let path = format!("/{}/_flush", self.index.alias());
        let (status, answer) = self.index.ask("POST", &path, Body::Empty)?;
        self.index.accepted(status, &answer)
    }

    /// Documents that the index has.
    pub fn num_docs(&self) -> Result<u64, IndexError> {
        reckoned(&RemoteView::new(&self.index), |statistics| {
            statistics.documents()
        })
    }

    /// Fingerprint and number of each document whose last change is after number `after`, by number, and up to which number
    /// these are all.
    pub fn listed_after(&self, after: u64) -> Result<(Vec<(u64, u64)>, u64), IndexError> {
        let until = after.saturating_add(LISTED);
        let body = json!({
            "query": {"range": {"seq": {"gt": after, "lte": until}}},
            "size": LISTED,
            "sort": [{"seq": "asc"}],
            "_source": ["fingerprint", "seq"],
        });
        let answer = self
            .index
            .search("", &body, &CancellationToken::default())?;
        let hits = answer["hits"]["hits"].as_array();
        let known = hits.into_iter().flatten().filter_map(|hit| {
            let source = &hit["_source"];
            Some((unhex(&source["fingerprint"])?, source["seq"].as_u64()?))
        });
        Ok((known.collect(), until))
    }

    /// Sends a document with its place among the reprints.
    fn put(
        &mut self,
        stored: &StoredDocument,
        body: &str,
        placed: Option<Placed>,
    ) -> Result<(), IndexError> {
        let document = fields(&self.cutter.fields(stored, body), placed);
        let change = Change {
            fingerprint: stored.fingerprint,
            seq: stored.seq,
            url: stored.document.url.clone(),
        };
        self.push("index", change, Some(&document))
    }

    fn push(
        &mut self,
        action: &str,
        change: Change,
        document: Option<&Value>,
    ) -> Result<(), IndexError> {
        let action = json!({action: {
            "_id": hex(change.fingerprint), "version": change.seq, "version_type": "external_gte",
        }});
        self.bulk.push(change, [Some(&action), document]);
        if self.bulk.lines.len() >= self.bulk_bytes {
            self.send()
        } else {
            Ok(())
        }
    }

    /// Sends what waits, once the request before it is answered.
    fn send(&mut self) -> Result<(), IndexError> {
        self.receive()?;
        let bulk = std::mem::take(&mut self.bulk);
        if !bulk.changes.is_empty() {
            let index = self.index.clone();
            self.under_way = Some(UnderWay(thread::spawn(move || {
                let answer = send_bulk(&index, &bulk.lines);
                (bulk, answer)
            })));
        }
        Ok(())
    }

    /// Waits for the answer to the request that is under way, and notes it.
    fn receive(&mut self) -> Result<(), IndexError> {
        let Some(UnderWay(answer)) = self.under_way.take() else {
            return Ok(());
        };
        let answer = answer.join();
        let (bulk, answer) =
            answer.map_err(|_| self.index.failed("a request broke off".to_owned()))?;
        let mut waiting = vec![(bulk, Some(answer?))];
        while let Some((mut bulk, answer)) = waiting.pop() {
            let (status, answer) = match answer {
                Some(answer) => answer,
                None => send_bulk(&self.index, &bulk.lines)?,
            };
            if status != TOO_LARGE {
                self.index.accepted(status, &answer)?;
                self.note_answers(bulk.changes, &answer)?;
            } else if bulk.changes.len() > 1 {
                // A server between allows less; also of the requests to come.
                self.bulk_bytes = (bulk.lines.len() / 2).clamp(1, self.bulk_bytes);
                let second = bulk.split();
                waiting.extend([(second, None), (bulk, None)]);
            } else {
                let bytes = bulk.lines.len();
                for change in bulk.changes {
                    let reason = format!(
                        "the engine, or a server before it, takes no request of {bytes} bytes (status 413): \
                         raise http.max_content_length there, for nginx client_max_body_size"
                    );
                    self.leave_out(change, reason);
                }
            }
        }
        Ok(())
    }

    /// Notes the answers to some changes. A document that the engine cannot take is put aside; that it is too busy is an error.
    fn note_answers(&mut self, changes: Vec<Change>, answer: &Value) -> Result<(), IndexError> {
        let items = answer["items"].as_array().map_or(&[][..], Vec::as_slice);
        if items.len() != changes.len() {
            let (got, asked) = (items.len(), changes.len());
            let cause = format!("{got} answers to {asked} changes");
            return Err(self.index.failed(cause));
        }
        for (change, item) in changes.into_iter().zip(items) {
            let item = item.as_object().and_then(|item| item.values().next());
            let item = item.unwrap_or(&Value::Null);
            match item["status"].as_u64().unwrap_or(500) {
                // 409: something newer is there.
                200..300 | 409 => {}
                // It was deleted before.
                404 if item["error"].is_null() => {}
                400 => self.leave_out(change, super::message(item)),
                status => {
                    let status = u16::try_from(status).unwrap_or(500);
                    return self.index.accepted(status, item);
                }
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, change: Change, reason: String) {
        self.progress.left_out.put(SkippedDocument {
            fingerprint: change.fingerprint,
            seq: change.seq,
            url: change.url,
            reason,
        });
    }
}

impl IndexWriter for RemoteWriter {
    fn last_seq(&self) -> u64 {
        self.progress.seq
    }

    fn is_of_other_version(&self) -> bool {
        self.lease.is_of_other_version()
    }

    fn upsert(&mut self, stored: &StoredDocument) -> Result<(), IndexError> {
        take_dictionary(self)?;
        let body = stored.body();
        let Placement { placed, again } = self.reprints.place(stored, &body);
        self.progress.left_out.forget(stored.fingerprint);
        self.put(stored, &body, placed)?;
        place_again(self, again)
    }

    fn try_alone(&mut self, stored: &StoredDocument) -> Result<(), String> {
        let body = stored.body();
        fields(&self.cutter.fields(stored, &body), None);
        Ok(())
    }

    fn skip_document(&mut self, left: SkippedDocument) -> Result<(), IndexError> {
        self.delete(left.fingerprint, left.seq)?;
        self.progress.left_out.put(left);
        Ok(())
    }

    fn left_out(&self) -> SkippedDocuments {
        self.progress.left_out.clone()
    }

    fn delete(&mut self, fingerprint: u64, seq: u64) -> Result<(), IndexError> {
        self.progress.left_out.forget(fingerprint);
        self.reprints.forget(fingerprint);
        let change = Change {
            fingerprint,
            seq,
            url: String::new(),
        };
        self.push("delete", change, None)
    }

    fn commit(&mut self, seq: u64) -> Result<(), IndexError> {
        self.send()?;
        self.receive()?;
        let path = format!("/{}/_refresh", self.index.alias());
        let (status, answer) = self.index.ask("POST", &path, Body::Empty)?;
        // 404: it was deleted there.
        if status != 404 {
            self.index.accepted(status, &answer)?;
        }
        self.index.require(&self.progress)?;
        self.progress.seq = seq;
        let mut held = self.lease.held();
        held.set_progress(self.index.role, self.progress.clone());
        held.write()?;
        drop(held);
        self.save_cut_state()
    }

    fn recut(&mut self, most: usize) -> Result<Option<RecutProgress>, IndexError> {
        cut_again(self, most)
    }
}

impl RecutEngine for RemoteWriter {
    fn parts(&mut self) -> (&mut Cutter, &mut Recut) {
        (&mut self.cutter, &mut self.recut)
    }

    fn documents(&self) -> &dyn DocumentSource {
        self.documents.as_ref()
    }

    fn reprints(&mut self) -> &mut Reprints {
        &mut self.reprints
    }

    fn unread(&self, cause: String) -> IndexError {
        self.index.failed(cause)
    }

    fn find_outdated(&mut self) -> Result<(), IndexError> {
        self.recut.find(&RemoteView::new(&self.index))
    }

    fn replace_in_place(
        &mut self,
        stored: &StoredDocument,
        placed: Option<Placed>,
    ) -> Result<(), IndexError> {
        self.put(stored, &stored.body(), placed)
    }

    fn save_cut_state(&mut self) -> Result<(), IndexError> {
        if let Some(state) = self.recut.unsaved() {
            self.index
                .states()
                .set_cut_state(&self.progress.uuid, state)?;
            self.recut.set_saved();
        }
        Ok(())
    }
}

/// Sends the lines of a bulk request.
fn send_bulk(index: &RemoteIndex, lines: &[u8]) -> Answer {
    // Without it the engine would make an index of its own where this one was deleted.
    let path = format!("/{}/_bulk?require_alias=true", index.alias());
    index.ask("POST", &path, Body::Lines(lines))
}

/// Remembers the latest documents of the index, the latest last.
fn recall(index: &RemoteIndex, reprints: &mut Reprints) -> Result<(), IndexError> {
    let mut latest: Vec<(u64, u64, u64, Sketch)> = Vec::new();
    let mut before: Option<u64> = None;
    while latest.len() < REMEMBERED {
        let mut body = json!({
            "query": query(&Plan::All),
            "size": RECALLED.min(REMEMBERED - latest.len()),
            "sort": [{"seq": "desc"}],
            "_source": ["fingerprint", "seq", "group", "sketch"],
        });
        if let Some(before) = before {
            body["search_after"] = json!([before]);
        }
        let answer = index.search("", &body, &CancellationToken::default())?;
        let hits = answer["hits"]["hits"].as_array();
        let hits = hits.map_or(&[][..], Vec::as_slice);
        let Some(last) = hits.last() else { break };
        before = last["_source"]["seq"].as_u64();
        for hit in hits {
            let source = &hit["_source"];
            let remembered = (
                source["seq"].as_u64(),
                unhex(&source["fingerprint"]),
                unhex(&source["group"]),
                sketch_of(source),
            );
            if let (Some(seq), Some(fingerprint), Some(group), Some(sketch)) = remembered {
                latest.push((seq, fingerprint, group, sketch));
            }
        }
    }
    for (seq, fingerprint, group, sketch) in latest.into_iter().rev() {
        reprints.remember(fingerprint, seq, group, sketch);
    }
    Ok(())
}
