//! What the daemon says of itself: status, counts, systemd.

pub(crate) mod freshness;
mod health;
mod space;
pub(crate) mod status;
pub(crate) mod summary;
pub(crate) mod systemd;
pub(crate) mod verdict;
