//! Who may ask, how often and how much: connections, requests, tokens, forms.

pub(crate) mod client;
pub(crate) mod host;
pub(crate) mod limiter;
pub(crate) mod listen;
pub(crate) mod operator;
pub(crate) mod places;
pub(crate) mod wrong_tokens;
