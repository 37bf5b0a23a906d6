//! The right to write the indexes of one name, and what their state document says. One process at a time has it; another one may
//! take it over, and whoever had it before fails with its next write.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::IndexError;
use super::super::schema::PROGRAM;
use super::{Body, EngineVersion, Found, Layout, Progress, RemoteIndex, RemoteState, Role};

/// A store, as the indexes that are made from it know it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// Its identity.
    pub store: i64,
    /// Identities of the stores whose place it took: what was made from them is made again.
    pub replaced: Vec<i64>,
    /// Number of its last change: an index that has later ones is made again.
    pub last_seq: u64,
    /// Whether the index of any other store is made again as well.
    pub takes_over: bool,
}

/// The right to write the indexes of one name. Clones are the same right.
#[derive(Clone)]
pub struct RemoteLease(Arc<Mutex<Held>>);

pub(super) struct Held {
    index: RemoteIndex,
    layout: Layout,
    version: EngineVersion,
    state: RemoteState,
    /// What the next state must name, so that nobody else has written one meanwhile.
    turn: Option<(u64, u64)>,
    is_of_other_version: bool,
}

impl Held {
    pub(super) fn progress(&self, role: Role) -> Progress {
        match role {
            Role::Served => self.state.served.clone(),
            Role::Fresh => self.state.fresh.clone().unwrap_or_default(),
        }
    }

    pub(super) fn set_progress(&mut self, role: Role, progress: Progress) {
        match role {
            Role::Served => self.state.served = progress,
            Role::Fresh => self.state.fresh = Some(progress),
        }
    }

    pub(super) fn write(&mut self) -> Result<(), IndexError> {
        self.state.beat += 1;
        self.turn = self.index.states().write(&self.state, self.turn)?;
        Ok(())
    }

    /// Makes the index for a progress that has none yet.
    fn create(&mut self, index: &RemoteIndex, role: Role) -> Result<(), IndexError> {
        let mut progress = self.progress(role);
        progress.uuid = index.create_numbered(progress.number, &self.version, self.layout)?;
        self.set_progress(role, progress);
        self.write()
    }
}

impl RemoteLease {
    /// Takes the right for `holder`, and makes the index in this layout where there is none. An index of another store than
    /// `origin` is refused.
    pub fn take(
        index: RemoteIndex,
        layout: Layout,
        origin: &Origin,
        holder: &str,
    ) -> Result<Self, IndexError> {
        let version = index.engine_version()?;
        let (mut state, turn) = index.states().read()?;
        if turn.is_some() {
            follow_origin(&mut state, origin)
                .map_err(|_| IndexError::RemoteOtherStore(index.place()))?;
        } else {
            index.states().create_index(layout.replicas)?;
        }
        let found = index.found()?;
        find_served(&mut state, found.as_ref());
        let is_of_other_version = state.program != PROGRAM;
        (state.store, state.program) = (origin.store, PROGRAM.to_owned());
        state.holder = holder.to_owned();
        let mut held = Held {
            index: index.clone(),
            layout,
            version,
            state,
            turn,
            is_of_other_version,
        };
        held.write()?;
        if found.is_none() {
            held.create(&index, Role::Served)?;
        }
        Ok(Self(Arc::new(Mutex::new(held))))
    }

    pub(super) fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the index that is searched was made from another history of the documents: it is not written into, and to be made
    /// again.
    pub fn is_outdated(&self) -> bool {
        self.held().state.served.is_outdated
    }

    /// Whether an index that was to take the place of the other was not finished.
    pub fn has_fresh(&self) -> bool {
        self.held().state.fresh.is_some()
    }

    /// Whether the last one to have it was another version of the program, which may have failed where this one does not.
    pub(super) fn is_of_other_version(&self) -> bool {
        self.held().is_of_other_version
    }

    /// The index that is searched.
    pub(super) fn served(&self) -> RemoteIndex {
        self.held().index.clone()
    }

    /// The index that is to take its place: as far as it came before, or an empty one.
    pub(super) fn open_fresh(&self) -> Result<RemoteIndex, IndexError> {
        let mut held = self.held();
        let index = held.index.fresh();
        let found = index.found()?;
        let is_known = |fresh: &Progress| found.as_ref().is_some_and(|f| f.uuid == fresh.uuid);
        if held.state.fresh.as_ref().is_some_and(is_known) {
            return Ok(index);
        }
        held.state.fresh = Some(held.state.next());
        held.write()?;
        if found.is_some() {
            // Of an attempt that nobody remembers.
            index.remove()?;
        }
        held.create(&index, Role::Fresh)?;
        Ok(index)
    }

    /// Forgets an index that was to take the place of the other: the next one begins empty.
    pub fn discard_fresh(&self) -> Result<(), IndexError> {
        let mut held = self.held();
        held.state.fresh = None;
        held.write()
    }

    /// Lets the index that was to take the place of the other do so; the other is deleted.
    pub(super) fn put_in_place(&self, fresh: &Progress) -> Result<RemoteIndex, IndexError> {
        let mut held = self.held();
        held.index.put_in_place(&held.state.served, fresh)?;
        held.state.served = fresh.clone();
        held.state.fresh = None;
        held.write()?;
        Ok(held.index.clone())
    }

    /// Deletes indexes of this name that nobody uses. Returns their names.
    pub fn remove_orphans(&self) -> Result<Vec<String>, IndexError> {
        let held = self.held();
        let known = [Some(&held.state.served), held.state.fresh.as_ref()];
        let known: Vec<&Progress> = known.into_iter().flatten().collect();
        held.index.remove_orphans(&known)
    }

    /// Says that the holder is still there; fails where another one has taken its place, or where the index is gone.
    pub fn record_heartbeat(&self) -> Result<(), IndexError> {
        let mut held = self.held();
        let served = held.progress(Role::Served);
        held.index.require(&served)?;
        held.write()
    }

    /// Whether all parts of the index that is searched are there, and their copies; none where this user may not ask.
    pub fn colour(&self) -> Result<Option<Colour>, IndexError> {
        let index = self.served();
        let path = format!("/_cluster/health/{}", index.alias());
        let (status, answer) = index.ask("GET", &path, Body::Empty)?;
        if status == 403 {
            return Ok(None);
        }
        index.accepted(status, &answer)?;
        Ok(match answer["status"].as_str() {
            Some("green") => Some(Colour::Green),
            Some("yellow") => Some(Colour::Yellow),
            Some("red") => Some(Colour::Red),
            _ => None,
        })
    }

    /// Lets another one take its place at once.
    pub fn release(self) -> Result<(), IndexError> {
        let mut held = self.held();
        held.state.holder.clear();
        held.write()
    }
}

/// How much of an index an engine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// All of it.
    Green,
    /// All parts, but not as many copies as it should.
    Yellow,
    /// Parts are missing.
    Red,
}

/// The index is of another store.
struct OtherStore;

/// Notes what of an index must be made again for this store.
fn follow_origin(state: &mut RemoteState, origin: &Origin) -> Result<(), OtherStore> {
    let is_ours = state.store == origin.store;
    if !is_ours && !origin.takes_over && !origin.replaced.contains(&state.store) {
        return Err(OtherStore);
    }
    if !is_ours || state.served.seq > origin.last_seq {
        (state.served.is_outdated, state.served.seq) = (true, 0);
    }
    let fresh = state.fresh.as_ref();
    if !is_ours || fresh.is_some_and(|fresh| fresh.seq > origin.last_seq) {
        state.fresh = None;
    }
    Ok(())
}

/// Brings the state and the index that the alias leads to together.
fn find_served(state: &mut RemoteState, found: Option<&Found>) {
    let is_found = |known: &Progress| found.is_some_and(|found| found.uuid == known.uuid);
    if let Some(fresh) = state.fresh.take_if(|fresh| is_found(fresh)) {
        // Its alias was moved, and whoever did that ended before it could say so.
        state.served = fresh;
    }
    if is_found(&state.served) {
        return;
    }
    state.served = match found {
        // Another one, put there by hand, or the state is lost: what it has is sent again.
        Some(found) => Progress {
            number: found.number,
            uuid: found.uuid.clone(),
            ..Progress::default()
        },
        None => state.next(),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_decides_what_is_made_again() {
        let origin = Origin {
            store: 7,
            replaced: vec![5, 6],
            last_seq: 60,
            takes_over: false,
        };
        let progress = |seq| Progress {
            number: 1,
            uuid: format!("u{seq}"),
            seq,
            ..Progress::default()
        };
        for (store, served, fresh, expected, case) in [
            (7, 60, Some(30), Some((false, true)), "its own"),
            (7, 61, Some(61), Some((true, false)), "its own, set back"),
            (7, 61, Some(30), Some((true, true)), "a rebuild of now"),
            (6, 10, Some(10), Some((true, false)), "of one it replaced"),
            (8, 10, None, None, "of another one"),
        ] {
            let mut state = RemoteState {
                store,
                served: progress(served),
                fresh: fresh.map(progress),
                ..RemoteState::default()
            };
            let followed = follow_origin(&mut state, &origin);
            let found = followed.map(|()| (state.served.is_outdated, state.fresh.is_some()));
            assert_eq!(found.ok(), expected, "{case}");
        }
        let origin = Origin {
            takes_over: true,
            ..origin
        };
        let mut other = RemoteState {
            store: 8,
            served: progress(10),
            ..RemoteState::default()
        };
        assert!(follow_origin(&mut other, &origin).is_ok() && other.served.is_outdated);
    }

    #[test]
    fn alias_decides_which_index_is_served() {
        let progress = |uuid: &str, seq| Progress {
            number: 3,
            uuid: uuid.to_owned(),
            seq,
            is_outdated: seq == 9,
            ..Progress::default()
        };
        let found = |uuid: &str| Found {
            number: 3,
            uuid: uuid.to_owned(),
        };
        for (alias, expected, case) in [
            (Some("old"), ("old", 9, true), "as it is known"),
            (Some("new"), ("new", 4, false), "moved before it was said"),
            (Some("other"), ("other", 0, false), "put there by somebody"),
            (None, ("", 0, false), "deleted"),
        ] {
            let mut state = RemoteState {
                served: progress("old", 9),
                fresh: Some(progress("new", 4)),
                ..RemoteState::default()
            };
            find_served(&mut state, alias.map(found).as_ref());
            let served = &state.served;
            assert_eq!(
                (served.uuid.as_str(), served.seq, served.is_outdated),
                expected,
                "{case}"
            );
        }
    }
}
