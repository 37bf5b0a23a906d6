//! Sessions of people who signed in. In: a sign-in, a sign-out. Out: the secret name of a session, and whether it is still
//! open. Kept in memory only: a restart ends them all, and with it whatever was stolen of them. Never more than
//! [`SESSIONS_MAX`].

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ring::digest;
use ring::rand::{SecureRandom, SystemRandom};

/// How long a person stays signed in, in seconds: a working day.
pub(crate) const SESSION_S: i64 = 12 * 3_600;
/// Sessions at once: one for each browser of the few who know the token. One more ends the oldest.
const SESSIONS_MAX: usize = 64;
/// Random bytes of a session's name: nobody guesses it.
const NAME_BYTES: usize = 32;

/// A text that nobody guesses, fit for a token too; none where the system has no random numbers.
pub fn new_token() -> Option<String> {
    let mut bytes = [0; NAME_BYTES];
    SystemRandom::new().fill(&mut bytes).ok()?;
    let mut name = String::with_capacity(2 * NAME_BYTES);
    for byte in bytes {
        write!(name, "{byte:02x}").ok()?;
    }
    Some(name)
}

/// The open sessions.
#[derive(Default)]
pub(crate) struct Sessions {
    /// When each ends, Unix seconds; by the digest of its name, so that no timing tells how much of a name was right.
    open: Mutex<HashMap<Vec<u8>, i64>>,
}

impl Sessions {
    /// Opens a session. Its name; none where the system has no random numbers.
    pub(crate) fn begin(&self, now_ms: i64) -> Option<String> {
        let name = new_token()?;
        let now_s = now_ms / 1_000;
        let mut open = self.lock();
        open.retain(|_, until_s| *until_s > now_s);
        if open.len() >= SESSIONS_MAX {
            let oldest = open.iter().min_by_key(|(_, until_s)| **until_s);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                open.remove(&oldest);
            }
        }
        open.insert(key(&name), now_s + SESSION_S);
        Some(name)
    }

    /// Whether a session of this name is open.
    pub(crate) fn holds(&self, name: &str, now_ms: i64) -> bool {
        let until_s = self.lock().get(&key(name)).copied();
        until_s.is_some_and(|until_s| now_ms / 1_000 < until_s)
    }

    /// Ends the session of this name, wherever its name is known.
    pub(crate) fn end(&self, name: &str) {
        self.lock().remove(&key(name));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Vec<u8>, i64>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(name: &str) -> Vec<u8> {
    digest::digest(&digest::SHA256, name.as_bytes())
        .as_ref()
        .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_never_more_than_so_many_and_the_oldest_goes() {
        let sessions = Sessions::default();
        let names: Vec<String> = (0..=SESSIONS_MAX as i64)
            .map(|at| sessions.begin(at * 1_000).unwrap())
            .collect();
        let now_ms = 100_000;
        assert!(!sessions.holds(&names[0], now_ms));
        assert!(names[1..].iter().all(|name| sessions.holds(name, now_ms)));
        assert_eq!(sessions.lock().len(), SESSIONS_MAX);
    }
}
