//! Says in the log who sends wrong tokens.
//!
//! The first one of a client is a line at once. Those that follow within a minute are counted, and become one line when it is over
//! ([`WrongTokens::report`]): somebody who guesses is seen, and does not fill the log. At most [`CLIENTS_MAX`] clients have lines of
//! their own at a time, and all others one together. No line holds what was sent.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::listen::network;

/// What is counted together.
const WINDOW: Duration = Duration::from_secs(60);
/// Clients with lines of their own.
const CLIENTS_MAX: usize = 100;

/// Counts the wrong tokens of each client.
#[derive(Debug, Default)]
pub(crate) struct WrongTokens {
    windows: Mutex<HashMap<Sender, Window>>,
}

/// Who sent tokens that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Sender {
    /// A client, by its network.
    Client(u64),
    /// A connection that has no address, such as one within the program.
    Unknown,
    /// Whoever came when there were too many clients.
    Others,
}

/// The time after a wrong token.
#[derive(Debug)]
struct Window {
    client: Option<IpAddr>,
    started: Instant,
    /// Those that came after it.
    more: u64,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    sender: Sender,
    client: Option<IpAddr>,
    /// How many more, of those that were counted; `None` of the first.
    more: Option<u64>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.more {
            None => f.write_str("a wrong operator token from ")?,
            Some(more) => write!(
                f,
                "wrong operator tokens within a minute: {more} more from "
            )?,
        }
        match (self.sender, self.client) {
            (Sender::Others, _) => f.write_str("many addresses"),
            (_, Some(client)) => client.fmt(f),
            (_, None) => f.write_str("an unknown address"),
        }
    }
}

impl WrongTokens {
    /// Counts one, and says so if it is the first of its client for a while.
    pub(crate) fn record(&self, client: Option<IpAddr>, now: Instant) {
        log(self.count(client, now));
    }

    /// Says how many came in the minutes that are over. Call it every few seconds.
    pub(crate) fn report(&self, now: Instant) {
        log(self.take_ended(now));
    }

    fn count(&self, client: Option<IpAddr>, now: Instant) -> Vec<Line> {
        let mut lines = self.take_ended(now);
        let mut windows = self.lock();
        let mut sender = client.map_or(Sender::Unknown, |client| Sender::Client(network(client)));
        if windows.len() >= CLIENTS_MAX && !windows.contains_key(&sender) {
            sender = Sender::Others;
        }
        if let Some(window) = windows.get_mut(&sender) {
            window.more += 1;
            return lines;
        }
        let window = Window {
            client: client.map(|client| client.to_canonical()),
            started: now,
            more: 0,
        };
        lines.push(window.line(sender, None));
        windows.insert(sender, window);
        lines
    }

    fn take_ended(&self, now: Instant) -> Vec<Line> {
        let is_over = |_: &Sender, window: &mut Window| now - window.started >= WINDOW;
        let mut windows = self.lock();
        let ended = windows.extract_if(is_over);
        let counted = ended.filter(|(_, window)| window.more > 0);
        counted
            .map(|(sender, window)| window.line(sender, Some(window.more)))
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Sender, Window>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Window {
    fn line(&self, sender: Sender, more: Option<u64>) -> Line {
        Line {
            sender,
            client: self.client,
            more,
        }
    }
}

fn log(lines: Vec<Line>) {
    for line in lines {
        tracing::warn!("{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(found: Vec<Line>) -> Vec<String> {
        found.iter().map(Line::to_string).collect()
    }

    fn address(at: u32) -> Option<IpAddr> {
        Some(IpAddr::from(at.to_be_bytes()))
    }

    #[test]
    fn wrong_tokens_have_two_lines_a_minute() {
        let (tokens, start) = (WrongTokens::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let guesser = Some("192.0.2.7".parse().unwrap());
        let first = ["a wrong operator token from 192.0.2.7"];
        assert_eq!(lines(tokens.count(guesser, start)), first);
        for _ in 0..1_000 {
            assert_eq!(tokens.count(guesser, at(59)), []);
        }
        // Another client is seen beside it; a mistake that was the only one has no second line.
        let typo = Some("2001:db8::1".parse().unwrap());
        assert_eq!(
            lines(tokens.count(typo, at(59))),
            ["a wrong operator token from 2001:db8::1"]
        );
        assert_eq!(tokens.take_ended(at(59)), []);
        let counted = ["wrong operator tokens within a minute: 1000 more from 192.0.2.7"];
        assert_eq!(lines(tokens.take_ended(at(60))), counted);
        assert_eq!(tokens.take_ended(at(600)), []);
        assert_eq!(lines(tokens.count(guesser, at(600))), first);
        assert_eq!(
            lines(tokens.count(None, at(600))),
            ["a wrong operator token from an unknown address"]
        );
    }

    #[test]
    fn wrong_tokens_of_many_clients_have_one_line() {
        let (tokens, now) = (WrongTokens::default(), Instant::now());
        let clients = u32::try_from(CLIENTS_MAX).unwrap();
        for client in 0..clients {
            assert_eq!(tokens.count(address(client), now).len(), 1);
        }
        let others: Vec<Line> = (clients..50_000)
            .flat_map(|client| tokens.count(address(client), now))
            .collect();
        assert_eq!(
            lines(others),
            ["a wrong operator token from many addresses"]
        );
        assert_eq!(tokens.lock().len(), CLIENTS_MAX + 1);
        let counted = 50_000 - clients - 1;
        assert_eq!(
            lines(tokens.take_ended(now + WINDOW)),
            [format!(
                "wrong operator tokens within a minute: {counted} more from many addresses"
            )]
        );
    }
}
