//! Writes into an engine: bulk requests in the order of changes, and after them a state that records up to which change
//! the index holds everything. A document carries the number of its change as version: what comes late, or again, never
//! replaces what is newer.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use super::super::duplicates::reprints::{Placed, REMEMBERED, Reprints, Sketch};
use super::super::rank::plan::Plan;
use super::super::recut::{Recut, RecutEngine, RecutProgress, cut_again, take_dictionary};
use super::super::schema::PROGRAM;
use super::super::stop::CancellationToken;
use super::super::storage::left_out::{SkippedDocument, SkippedDocuments};
use super::super::storage::writer::IndexWriter;
use super::super::stored::{Cutter, DocumentSource, StoredDocument};
use super::super::view::reckoned;
use super::super::{Config, IndexError};
use super::document::fields;
use super::json::query;
use super::view::{RemoteView, sketch_of};
use super::{Body, Progress, RemoteIndex, RemoteState, Role, hex, unhex};
use crate::analyze::Analyzer;

/// Bytes of one bulk request, at least; engines take 100 MB.
const BULK_BYTES: usize = 4 << 20;
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

/// The right to write the indexes of one name, and what their state document says. Whoever writes the state without having
/// read the last one fails.
struct Lease {
    index: RemoteIndex,
    state: RemoteState,
    turn: Option<(u64, u64)>,
}

impl Lease {
    fn write(&mut self) -> Result<(), IndexError> {
        self.state.beat += 1;
        self.turn = self.index.set_state(&self.state, self.turn)?;
        Ok(())
    }
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
    lease: Rc<RefCell<Lease>>,
    index: RemoteIndex,
    /// Of the last commit, but for the documents that were left out since.
    progress: Progress,
    documents: Arc<dyn DocumentSource>,
    reprints: Reprints,
    cutter: Cutter,
    recut: Recut,
    /// What is to be sent next: the lines of a bulk request, and the changes in it.
    lines: Vec<u8>,
    changes: Vec<Change>,
    /// The request that is under way: the engine works while the next texts are cut.
    under_way: Option<UnderWay>,
    is_of_other_version: bool,
}

/// A bulk request that is not answered yet.
struct UnderWay {
    changes: Vec<Change>,
    answer: JoinHandle<Result<(u16, Value), IndexError>>,
}

impl RemoteWriter {
    /// Opens the index for `holder`, or makes it in this layout; one that is lost is made again. `documents` are those of the
    /// store whose identity is `store`: an index of another store is refused. Whoever wrote it before fails from now on.
    pub fn open(
        index: RemoteIndex,
        analyzer: &Analyzer,
        config: &Config,
        layout: Layout,
        documents: Arc<dyn DocumentSource>,
        store: i64,
        holder: &str,
    ) -> Result<Self, IndexError> {
        let version = index.engine_version()?;
        let (mut state, turn) = index.state_with_turn()?;
        if turn.is_some() && state.store != store {
            return Err(IndexError::RemoteOtherStore(index.place()));
        }
        if turn.is_none() {
            index.create_state_index(layout.replicas)?;
        }
        let found = index.found()?;
        let is_found = |known: &Progress| found.as_ref().is_some_and(|f| f.uuid == known.uuid);
        if let Some(fresh) = state.fresh.take_if(|fresh| is_found(fresh)) {
            // Its alias was moved, and whoever did that ended before it could say so.
            state.served = fresh;
        }
        let is_of_other_version = state.program != PROGRAM;
        let is_lost = !is_found(&state.served);
        if is_lost {
            state.served = match &found {
                // Another one, put there by hand, or the state is lost: what it has is sent again.
                Some(found) => Progress {
                    number: found.number,
                    uuid: found.uuid.clone(),
                    ..Progress::default()
                },
                None => state.next(),
            };
        }
        (state.store, state.program) = (store, PROGRAM.to_owned());
        state.holder = holder.to_owned();
        let mut lease = Lease { index, state, turn };
        lease.write()?;
        if found.is_none() {
            let number = lease.state.served.number;
            let uuid = lease.index.create_numbered(number, &version, layout)?;
            lease.state.served.uuid = uuid;
            lease.write()?;
        }
        let lease = Rc::new(RefCell::new(lease));
        let cutter = Cutter::new(analyzer, config.utc_offset_minutes);
        let writer = Self::over(lease, Role::Served, cutter, documents)?;
        Ok(Self {
            is_of_other_version,
            ..writer
        })
    }

    /// Whether the last one to open it was another version of the program, which may have failed where this one does not.
    pub fn is_of_other_version(&self) -> bool {
        self.is_of_other_version
    }

    /// A writer of an index of its own, empty or as far as it came before, that [`Self::put_in_place`] lets take the place of
    /// this one. Both may be written in turn.
    pub fn fresh(&self, layout: Layout) -> Result<Self, IndexError> {
        {
            let mut lease = self.lease.borrow_mut();
            let index = lease.index.fresh();
            let found = index.found()?;
            let is_known = |fresh: &Progress| found.as_ref().is_some_and(|f| f.uuid == fresh.uuid);
            if !lease.state.fresh.as_ref().is_some_and(is_known) {
                let next = lease.state.next();
                let number = next.number;
                lease.state.fresh = Some(next);
                lease.write()?;
                if found.is_some() {
                    // Of an attempt that nobody remembers.
                    index.remove()?;
                }
                let version = index.engine_version()?;
                let uuid = index.create_numbered(number, &version, layout)?;
                lease.state.of(Role::Fresh).uuid = uuid;
                lease.write()?;
            }
        }
        let cutter = self.cutter.for_another();
        let documents = Arc::clone(&self.documents);
        Self::over(Rc::clone(&self.lease), Role::Fresh, cutter, documents)
    }

    fn over(
        lease: Rc<RefCell<Lease>>,
        role: Role,
        cutter: Cutter,
        documents: Arc<dyn DocumentSource>,
    ) -> Result<Self, IndexError> {
        let (index, progress) = {
            let mut lease = lease.borrow_mut();
            let index = match role {
                Role::Served => lease.index.clone(),
                Role::Fresh => lease.index.fresh(),
            };
            (index, lease.state.of(role).clone())
        };
        let recut = match progress.seq {
            0 => Recut::new(cutter.dictionary()),
            _ => Recut::resume(index.cut_state(&progress.uuid)?, cutter.dictionary()),
        };
        let mut reprints = Reprints::new(Arc::clone(&documents));
        recall(&index, &mut reprints)?;
        let mut writer = Self {
            lease,
            index,
            progress,
            documents,
            reprints,
            cutter,
            recut,
            lines: Vec::new(),
            changes: Vec::new(),
            under_way: None,
            is_of_other_version: false,
        };
        writer.save_cut_state()?;
        Ok(writer)
    }

    /// Lets `fresh`, which has everything, take the place of this index, which is deleted.
    pub fn put_in_place(self, mut fresh: Self) -> Result<Self, IndexError> {
        fresh.commit(fresh.last_seq())?;
        let mut lease = self.lease.borrow_mut();
        lease.index.put_in_place(&self.progress, &fresh.progress)?;
        lease.state.served = fresh.progress.clone();
        lease.state.fresh = None;
        lease.write()?;
        fresh.index = lease.index.clone();
        drop(lease);
        Ok(fresh)
    }

    /// Whether an index that was to take the place of this one was not finished.
    pub fn has_fresh(&self) -> bool {
        self.lease.borrow().state.fresh.is_some()
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

    /// Says that the holder is still there; fails where another one has taken its place, or where the index is gone.
    pub fn record_heartbeat(&mut self) -> Result<(), IndexError> {
        self.require_index()?;
        self.lease.borrow_mut().write()
    }

    /// An error where the index is another one than before.
    fn require_index(&self) -> Result<(), IndexError> {
        let found = self.index.found()?;
        if found.is_some_and(|found| found.uuid == self.progress.uuid) {
            return Ok(());
        }
        let cause = "the index was deleted there; it is made again from the store";
        Err(self.index.failed(cause.to_owned()))
    }

    /// Lets another one take its place at once.
    pub fn release(self) -> Result<(), IndexError> {
        let mut lease = self.lease.borrow_mut();
        lease.state.holder.clear();
        lease.write()
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
        for line in [Some(&action), document].into_iter().flatten() {
            self.lines.extend_from_slice(line.to_string().as_bytes());
            self.lines.push(b'\n');
        }
        self.changes.push(change);
        if self.lines.len() >= BULK_BYTES {
            self.send()
        } else {
            Ok(())
        }
    }

    /// Sends what waits, once the request before it is answered.
    fn send(&mut self) -> Result<(), IndexError> {
        self.receive()?;
        if self.changes.is_empty() {
            return Ok(());
        }
        // Without it the engine would make an index of its own where this one was deleted.
        let path = format!("/{}/_bulk?require_alias=true", self.index.alias());
        let (index, lines) = (self.index.clone(), std::mem::take(&mut self.lines));
        let answer = thread::spawn(move || index.ask("POST", &path, Body::Lines(&lines)));
        self.under_way = Some(UnderWay {
            changes: std::mem::take(&mut self.changes),
            answer,
        });
        Ok(())
    }

    /// Waits for the answer to the request that is under way. A document that the engine cannot take is put aside; that it is
    /// too busy is an error.
    fn receive(&mut self) -> Result<(), IndexError> {
        let Some(UnderWay { changes, answer }) = self.under_way.take() else {
            return Ok(());
        };
        let answer = answer.join();
        let (status, answer) =
            answer.map_err(|_| self.index.failed("a request broke off".to_owned()))??;
        self.index.accepted(status, &answer)?;
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
                400 => self.progress.left_out.put(SkippedDocument {
                    fingerprint: change.fingerprint,
                    seq: change.seq,
                    url: change.url,
                    reason: super::message(item),
                }),
                status => {
                    let status = u16::try_from(status).unwrap_or(500);
                    return self.index.accepted(status, item);
                }
            }
        }
        Ok(())
    }
}

impl IndexWriter for RemoteWriter {
    fn last_seq(&self) -> u64 {
        self.progress.seq
    }

    fn upsert(&mut self, stored: &StoredDocument) -> Result<(), IndexError> {
        take_dictionary(self)?;
        let body = stored.body();
        let placed = self.reprints.place(stored, &body);
        self.progress.left_out.forget(stored.fingerprint);
        self.put(stored, &body, placed)
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
        self.require_index()?;
        self.progress.seq = seq;
        let mut lease = self.lease.borrow_mut();
        *lease.state.of(self.index.role) = self.progress.clone();
        lease.write()?;
        drop(lease);
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
            self.index.set_cut_state(&self.progress.uuid, state)?;
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
