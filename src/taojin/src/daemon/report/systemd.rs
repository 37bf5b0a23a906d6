//! What the daemon tells systemd: ready, reloading, stopping, one line of status, and that the crawl loop turns.
//! Without systemd every call does nothing.

use std::time::Duration;

use sd_notify::NotifyState;

/// The daemon answers searches and crawls.
pub(crate) fn ready(status: &str) {
    send(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// Time that a start may take longer, counted from each call of [`still_starting`].
const LONGER: Duration = Duration::from_secs(60);

/// The start takes longer than usual and continues: systemd waits another minute.
pub(crate) fn still_starting() {
    let micros = u32::try_from(LONGER.as_micros()).unwrap_or(u32::MAX);
    send(&[NotifyState::ExtendTimeoutUsec(micros)]);
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
        tracing::debug!(%error, "systemd could not be notified");
    }
}
