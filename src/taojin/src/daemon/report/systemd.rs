//! What the daemon tells systemd: ready, reloading, stopping, one line of status, and that the crawl loop turns.
//! Without systemd every call does nothing.

use std::time::Duration;

use sd_notify::NotifyState;

/// The daemon answers searches and crawls.
pub(crate) fn ready(status: &str) {
    send(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// The daemon is going down.
pub(crate) fn stopping() {
    send(&[NotifyState::Stopping]);
}

/// One line for `systemctl status`.
pub(crate) fn status(text: &str) {
    send(&[NotifyState::Status(text)]);
}

/// The daemon is alive.
pub(crate) fn alive() {
    send(&[NotifyState::Watchdog]);
}

/// How often systemd wants to hear [`alive`], if it does: half of the time it allows.
pub(crate) fn watchdog_interval() -> Option<Duration> {
    sd_notify::watchdog_enabled().map(|limit| limit / 2)
}

fn send(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "systemd was not told");
    }
}
