//! Who may ask, how often and how much: connections, requests, tokens, forms.

pub(crate) mod form;
pub(crate) mod host;
pub(crate) mod limiter;
pub(crate) mod listen;
pub(crate) mod quota;
pub(crate) mod refusal;
pub(crate) mod secret;
pub(crate) mod session;
pub(crate) mod token;
