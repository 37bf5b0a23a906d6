//! Topics that are followed: which hits are new, and telling the receiver.

pub(crate) mod following;
pub(crate) mod webhook;
