//! Keeps the words of the index up to date with the lexicons. A text is cut into words when it is indexed, so a term that
//! comes or goes later changes how the documents that hold it should have been cut. Those are cut again in the background,
//! the newest first; until then the term finds them by its pairs of characters, and only ranks them lower.
//!
//! [`CutState`] is what is kept with an index, [`Recut`] the work that follows from it. Each engine keeps the state in its own
//! way, and never commits a document that was cut with words that its state does not know.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::IndexError;
use super::duplicates::reprints::{Placed, Placement, Reprints};
use super::rank::plan::Plan;
use super::schema::{BODY, COMMENTS, Column, TITLE};
use super::storage::writer::IndexWriter;
use super::stored::{Cutter, DocumentSource, StoredDocument};
use super::view::View;
use crate::analyze::Dictionary;

/// Most words that are looked for: after more of them all documents are cut again.
const MAX_WORDS: usize = 1_000;
/// Changes that are looked through at once.
const WINDOW: u64 = 65_536;

/// What the texts of an index were cut with, beside the general dictionary.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct CutState {
    /// Words of the lexicons and synonyms that documents are cut with now.
    words: BTreeSet<String>,
    /// What older documents may have been cut differently by.
    changed: Changed,
    /// Documents whose last change has this number or a higher one are as they should be.
    reached: u64,
}

/// Words that came or went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Changed {
    Words(BTreeSet<String>),
    /// Too many to look for, or not known which.
    All,
}

impl Default for Changed {
    fn default() -> Self {
        Self::Words(BTreeSet::new())
    }
}

impl Changed {
    fn add(&mut self, more: impl Iterator<Item = String>) {
        let Changed::Words(words) = self else { return };
        words.extend(more);
        if words.len() > MAX_WORDS {
            *self = Changed::All;
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Changed::Words(words) if words.is_empty())
    }

    /// The documents that hold one of them.
    fn plan(&self) -> Plan {
        let Changed::Words(words) = self else {
            return Plan::All;
        };
        let texts = [TITLE, BODY, COMMENTS].map(|text| text.grams);
        let held = words
            .iter()
            .flat_map(|word| texts.map(|text| Plan::literal(text, word)));
        Plan::one_of(held.flatten().collect()).unwrap_or(Plan::Nothing)
    }
}

/// How far the documents are cut again whose terms came or went, the newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecutProgress {
    /// Documents from this change on are done.
    pub reached: u64,
    /// The last change when it began.
    pub last: u64,
}

/// What the writer of an engine does for documents that are cut again.
pub(crate) trait RecutEngine: IndexWriter {
    /// What texts are cut with, and the work.
    fn parts(&mut self) -> (&mut Cutter, &mut Recut);

    /// The store.
    fn documents(&self) -> &dyn DocumentSource;

    /// The latest texts.
    fn reprints(&mut self) -> &mut Reprints;

    /// The error for a document that cannot be read from the store.
    fn unread(&self, cause: String) -> IndexError;

    /// Has the work find the next documents, by [`Recut::find`].
    fn find_outdated(&mut self) -> Result<(), IndexError>;

    /// Writes a document again, in its old place among the reprints.
    fn replace_in_place(
        &mut self,
        stored: &StoredDocument,
        placed: Option<Placed>,
    ) -> Result<(), IndexError>;

    /// Keeps the state with the index, where it is another than before.
    fn save_cut_state(&mut self) -> Result<(), IndexError>;
}

/// Cuts with the newest dictionary from now on.
pub(crate) fn take_dictionary(engine: &mut impl RecutEngine) -> Result<(), IndexError> {
    let Some(dictionary) = engine.parts().0.newer() else {
        return Ok(());
    };
    // What was cut with the old one must be there when it is looked for what to cut again.
    engine.commit(engine.last_seq())?;
    engine.parts().1.change_dictionary(&dictionary);
    engine.save_cut_state()?;
    engine.parts().0.set(dictionary);
    Ok(())
}

/// Places documents again that had begun a group of reprints before the text came that begins it. One that cannot be read keeps its
/// place.
pub(crate) fn place_again(
    engine: &mut impl RecutEngine,
    again: Vec<u64>,
) -> Result<(), IndexError> {
    let mut waiting: VecDeque<u64> = again.into();
    while let Some(fingerprint) = waiting.pop_front() {
        if let Ok(Some(stored)) = engine.documents().get(fingerprint, u64::MAX) {
            let Placement { placed, again } = engine.reprints().place(&stored, &stored.body());
            // Each is later than the one it follows from, so this ends.
            waiting.extend(again);
            engine.replace_in_place(&stored, placed)?;
        }
    }
    Ok(())
}

/// Cuts so many documents again at most: what [`IndexWriter::recut`] is for every engine.
pub(crate) fn cut_again(
    engine: &mut impl RecutEngine,
    most: usize,
) -> Result<Option<RecutProgress>, IndexError> {
    take_dictionary(engine)?;
    if engine.parts().1.progress().is_none() {
        return Ok(None);
    }
    if engine.parts().1.needs_view() {
        engine.find_outdated()?;
    }
    for _ in 0..most {
        let Some(outdated) = engine.parts().1.pop() else {
            break;
        };
        let stored = outdated.read(engine.documents());
        if let Some(stored) = stored.map_err(|cause| engine.unread(cause))? {
            engine.replace_in_place(&stored, outdated.placed)?;
        }
    }
    if engine.parts().1.is_done() {
        engine.commit(engine.last_seq())?;
        engine.parts().1.finish();
        engine.save_cut_state()?;
    }
    Ok(engine.parts().1.progress())
}

/// A document that is to be cut again.
#[derive(Debug)]
struct Outdated {
    fingerprint: u64,
    seq: u64,
    /// Its place among the reprints, which does not depend on words.
    placed: Option<Placed>,
}

impl Outdated {
    /// The document; none where it has changed meanwhile: the log brings it as it is now.
    fn read(&self, documents: &dyn DocumentSource) -> Result<Option<StoredDocument>, String> {
        let stored = documents.get(self.fingerprint, u64::MAX);
        let stored =
            stored.map_err(|e| format!("a document cannot be read from the store: {e}"))?;
        Ok(stored.filter(|stored| stored.seq == self.seq))
    }
}

/// The documents that are to be cut again.
#[derive(Debug, Default)]
pub(crate) struct Recut {
    state: CutState,
    /// Those of one window, the newest first.
    queue: VecDeque<Outdated>,
    /// Where that window begins.
    window: u64,
    last: u64,
    is_saved: bool,
}

impl Recut {
    /// Of an empty index.
    pub(crate) fn new(dictionary: &Dictionary) -> Self {
        Self {
            state: CutState {
                words: words_of(dictionary),
                ..CutState::default()
            },
            ..Self::default()
        }
    }

    /// Of an index that has documents. Without a state all of them may be outdated.
    pub(crate) fn resume(state: Option<CutState>, dictionary: &Dictionary) -> Self {
        let is_saved = state.is_some();
        let state = state.unwrap_or_else(|| CutState {
            changed: Changed::All,
            reached: u64::MAX,
            ..CutState::default()
        });
        let mut recut = Self {
            state,
            is_saved,
            ..Self::default()
        };
        recut.change_dictionary(dictionary);
        recut
    }

    /// From now on documents are cut with this dictionary.
    fn change_dictionary(&mut self, dictionary: &Dictionary) {
        let words = words_of(dictionary);
        let state = &mut self.state;
        if state.words == words {
            return;
        }
        let changed = state.words.symmetric_difference(&words).cloned();
        state.changed.add(changed);
        *self = Self {
            state: CutState {
                words,
                changed: std::mem::take(&mut state.changed),
                reached: u64::MAX,
            },
            ..Self::default()
        };
    }

    /// The state, where it is another than the one that was saved last.
    pub(crate) fn unsaved(&self) -> Option<&CutState> {
        (!self.is_saved).then_some(&self.state)
    }

    /// The state is kept with the index.
    pub(crate) fn set_saved(&mut self) {
        self.is_saved = true;
    }

    /// How far it is; none where every document is as it should be.
    fn progress(&self) -> Option<RecutProgress> {
        (!self.state.changed.is_empty()).then_some(RecutProgress {
            reached: self.state.reached.min(self.last + 1),
            last: self.last,
        })
    }

    /// Whether documents have to be found before the next can be cut.
    fn needs_view(&self) -> bool {
        self.queue.is_empty() && self.state.reached > 0
    }

    /// Finds the next documents.
    pub(crate) fn find(&mut self, view: &dyn View) -> Result<(), IndexError> {
        let plan = self.state.changed.plan();
        if self.last == 0 {
            self.last = view.watermark()?.seq;
        }
        self.state.reached = self.state.reached.min(self.last + 1);
        while self.needs_view() {
            self.window = self.state.reached.saturating_sub(WINDOW);
            let number = |seq: u64| Some(i64::try_from(seq).unwrap_or(i64::MAX));
            let (from, until) = (number(self.window), number(self.state.reached));
            let in_window = Plan::Within(Column::Seq, from, until).unscored();
            let plan = Plan::Each {
                must: vec![plan.clone(), in_window],
                without: Vec::new(),
            };
            let mut found = Vec::new();
            view.each(&plan, None, &mut |at| {
                let (fingerprint, seq) = view.identity(at)?;
                let placed = view.placed(at)?;
                found.push(Outdated {
                    fingerprint,
                    seq,
                    placed,
                });
                Ok(true)
            })?;
            found.sort_unstable_by_key(|outdated| std::cmp::Reverse(outdated.seq));
            self.queue = found.into();
            if self.queue.is_empty() {
                self.state.reached = self.window;
            }
        }
        Ok(())
    }

    /// The next document.
    fn pop(&mut self) -> Option<Outdated> {
        let next = self.queue.pop_front()?;
        self.is_saved = false;
        self.state.reached = if self.queue.is_empty() {
            self.window
        } else {
            next.seq
        };
        Some(next)
    }

    /// Whether nothing is left.
    fn is_done(&self) -> bool {
        self.queue.is_empty() && self.state.reached == 0
    }

    /// All are cut and committed.
    fn finish(&mut self) {
        self.state.changed = Changed::default();
        self.is_saved = false;
    }
}

/// The words that a dictionary cuts by beside those of the general one.
fn words_of(dictionary: &Dictionary) -> BTreeSet<String> {
    dictionary.added().map(str::to_owned).collect()
}
