//! Secrets of the configuration. In: a text such as the operator's token. Out: a [`Secret`], which no log shows, and
//! signatures made with it.

use std::fmt;

use ring::hmac;
use serde::{Deserialize, Serialize};

/// Characters a token must have: with 20 random ones nobody guesses it over the network.
pub(crate) const TOKEN_CHARS_MIN: usize = 20;

/// A text that is never shown: its debug form hides it.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text itself, for signing.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not depend on where two texts differ, or on their lengths.
    pub(crate) fn is(&self, offered: &str) -> bool {
        let key = self.key();
        let wanted = hmac::sign(&key, self.0.as_bytes());
        !self.is_empty() && hmac::verify(&key, offered.as_bytes(), wanted.as_ref()).is_ok()
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, self.0.as_bytes())
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Secret {
        Secret(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "none" } else { "hidden" })
    }
}

/// The signature of `message` under `key`: HMAC-SHA256 (RFC 2104) in lower-case hexadecimal.
pub fn signature(key: &Secret, message: &[u8]) -> String {
    use fmt::Write;
    let mut out = String::with_capacity(64);
    for byte in hmac::sign(&key.key(), message).as_ref() {
        write!(out, "{byte:02x}").expect("a string takes everything");
    }
    out
}
