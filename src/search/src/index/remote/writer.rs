//! Writes into an engine: bulk requests in the order of changes, and after them a state that records up to which change
//! the index holds everything. A document carries the number of its change as version: what comes late, or again, never
//! replaces what is newer.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::duplicates::reprints::{Placed, REMEMBERED, Reprints, Sketch};
use super::super::rank::plan::Plan;
use super::super::recut::{Recut, RecutEngine, RecutProgress, cut_again, take_dictionary};
use super::super::schema::PROGRAM;
use super::super::stop::CancellationToken;
use super::super::storage::left_out::{SkippedDocument, SkippedDocuments};
use super::super::storage::writer::IndexWriter;
use super::super::stored::{Cutter, DocumentSource, StoredDocument};
use super::super::{Config, IndexError};
use super::document::fields;
use super::json::query;
use super::view::{RemoteView, sketch_of};
use super::{Body, RemoteIndex, RemoteState, hex, unhex};
use crate::analyze::Analyzer;

/// Bytes of one bulk request, at least; engines take 100 MB.
const BULK_BYTES: usize = 4 << 20;
/// Documents that are recalled at once.
const RECALLED: usize = 5_000;

/// A change that is on its way.
struct Sent {
    fingerprint: u64,
    seq: u64,
    url: String,
}

/// The one writer of an index in an engine.
pub struct RemoteWriter {
    index: RemoteIndex,
    documents: Arc<dyn DocumentSource>,
    reprints: Reprints,
    cutter: Cutter,
    recut: Recut,
    lines: Vec<u8>,
    sent: Vec<Sent>,
    state: RemoteState,
    turn: Option<(u64, u64)>,
}

impl RemoteWriter {
    /// Opens the index for `holder`, or makes it with so many shards and copies of each. `documents` are those of the store
    /// whose identity is `store`: an index of another store is refused. Whoever wrote it before fails from now on.
    pub fn open(
        index: RemoteIndex,
        analyzer: &Analyzer,
        config: &Config,
        (shards, replicas): (u32, u32),
        documents: Arc<dyn DocumentSource>,
        store: i64,
        holder: &str,
    ) -> Result<Self, IndexError> {
        let uuid = index.ensure(shards, replicas)?;
        let (mut state, turn) = index.state_with_turn()?;
        if turn.is_some() && state.store != store {
            return Err(IndexError::RemoteOtherStore(index.place()));
        }
        // This version may be able to take what another one could not; an index that was deleted there has nothing.
        let can_take_more = state.program != PROGRAM && !state.left_out.is_empty();
        if can_take_more || state.uuid != uuid {
            (state.seq, state.left_out) = (0, SkippedDocuments::default());
        }
        state.uuid = uuid;
        state.store = store;
        state.program = PROGRAM.to_owned();
        state.holder = holder.to_owned();
        state.beat += 1;
        let turn = index.set_state(&state, turn)?;
        let cutter = Cutter::new(analyzer, config.utc_offset_minutes);
        let recut = match state.seq {
            0 => Recut::new(cutter.dictionary()),
            _ => Recut::resume(index.cut_state()?, cutter.dictionary()),
        };
        let mut reprints = Reprints::new(Arc::clone(&documents));
        recall(&index, &mut reprints)?;
        let mut writer = Self {
            documents,
            reprints,
            cutter,
            recut,
            lines: Vec::new(),
            sent: Vec::new(),
            state,
            turn,
            index,
        };
        writer.save_cut_state()?;
        Ok(writer)
    }

    /// Sends a document with its place among the reprints.
    fn put(
        &mut self,
        stored: &StoredDocument,
        body: &str,
        placed: Option<Placed>,
    ) -> Result<(), IndexError> {
        let document = fields(&self.cutter.fields(stored, body), placed);
        let sent = Sent {
            fingerprint: stored.fingerprint,
            seq: stored.seq,
            url: stored.document.url.clone(),
        };
        self.push("index", sent, Some(&document))
    }

    /// Goes through the log from its beginning again: what the index has is sent once more, what it lacks comes in.
    pub fn begin_again(&mut self) -> Result<(), IndexError> {
        self.state.seq = 0;
        self.state.left_out = SkippedDocuments::default();
        self.write_state()
    }

    /// Says that the holder is still there; fails where another one has taken its place.
    pub fn record_heartbeat(&mut self) -> Result<(), IndexError> {
        self.write_state()
    }

    /// Lets another one take its place at once.
    pub fn release(mut self) -> Result<(), IndexError> {
        self.state.holder.clear();
        self.write_state()
    }

    fn write_state(&mut self) -> Result<(), IndexError> {
        self.state.beat += 1;
        self.turn = self.index.set_state(&self.state, self.turn)?;
        Ok(())
    }

    fn push(
        &mut self,
        action: &str,
        sent: Sent,
        document: Option<&Value>,
    ) -> Result<(), IndexError> {
        let action = json!({action: {
            "_id": hex(sent.fingerprint), "version": sent.seq, "version_type": "external_gte",
        }});
        for line in [Some(&action), document].into_iter().flatten() {
            self.lines.extend_from_slice(line.to_string().as_bytes());
            self.lines.push(b'\n');
        }
        self.sent.push(sent);
        if self.lines.len() >= BULK_BYTES {
            self.send()
        } else {
            Ok(())
        }
    }

    /// Sends what waits. A document that the engine cannot take is put aside; that it is too busy is an error.
    fn send(&mut self) -> Result<(), IndexError> {
        if self.sent.is_empty() {
            return Ok(());
        }
        let path = format!("/{}/_bulk", self.index.documents());
        let (status, answer) = self.index.ask("POST", &path, Body::Lines(&self.lines))?;
        self.index.accepted(status, &answer)?;
        let items = answer["items"].as_array().map_or(&[][..], Vec::as_slice);
        if items.len() != self.sent.len() {
            let (got, asked) = (items.len(), self.sent.len());
            let cause = format!("{got} answers to {asked} changes");
            return Err(self.index.failed(cause));
        }
        let sent = std::mem::take(&mut self.sent);
        self.lines.clear();
        for (sent, item) in sent.into_iter().zip(items) {
            let item = item.as_object().and_then(|item| item.values().next());
            let item = item.unwrap_or(&Value::Null);
            match item["status"].as_u64().unwrap_or(500) {
                // 404: it was deleted before; 409: something newer is there.
                200..300 | 404 | 409 => {}
                400 => self.state.left_out.put(SkippedDocument {
                    fingerprint: sent.fingerprint,
                    seq: sent.seq,
                    url: sent.url,
                    reason: super::message(item),
                }),
                status => {
                    let cause = format!("{}: status {status}: {}", sent.url, super::message(item));
                    return Err(self.index.failed(cause));
                }
            }
        }
        Ok(())
    }
}

impl IndexWriter for RemoteWriter {
    fn last_seq(&self) -> u64 {
        self.state.seq
    }

    fn upsert(&mut self, stored: &StoredDocument) -> Result<(), IndexError> {
        take_dictionary(self)?;
        let body = stored.body();
        let placed = self.reprints.place(stored, &body);
        self.state.left_out.forget(stored.fingerprint);
        self.put(stored, &body, placed)
    }

    fn try_alone(&mut self, stored: &StoredDocument) -> Result<(), String> {
        let body = stored.body();
        fields(&self.cutter.fields(stored, &body), None);
        Ok(())
    }

    fn skip_document(&mut self, left: SkippedDocument) -> Result<(), IndexError> {
        self.delete(left.fingerprint, left.seq)?;
        self.state.left_out.put(left);
        Ok(())
    }

    fn left_out(&self) -> SkippedDocuments {
        self.state.left_out.clone()
    }

    fn delete(&mut self, fingerprint: u64, seq: u64) -> Result<(), IndexError> {
        self.state.left_out.forget(fingerprint);
        self.reprints.forget(fingerprint);
        let sent = Sent {
            fingerprint,
            seq,
            url: String::new(),
        };
        self.push("delete", sent, None)
    }

    fn commit(&mut self, seq: u64) -> Result<(), IndexError> {
        self.send()?;
        let path = format!("/{}/_refresh", self.index.documents());
        let (status, answer) = self.index.ask("POST", &path, Body::Empty)?;
        self.index.accepted(status, &answer)?;
        if self.index.uuid()?.as_ref() != Some(&self.state.uuid) {
            let cause = "the index was deleted there; it is made again from the store";
            return Err(self.index.failed(cause.to_owned()));
        }
        self.state.seq = seq;
        self.write_state()?;
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
            self.index.set_cut_state(state)?;
            self.recut.set_saved();
        }
        Ok(())
    }
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
    for (_, fingerprint, group, sketch) in latest.into_iter().rev() {
        reprints.remember(fingerprint, group, sketch);
    }
    Ok(())
}
