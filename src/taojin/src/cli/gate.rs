//! The gate for commands that fetch a few addresses for a person: they keep to what the operator has taken down, and to the delays
//! between requests, as the crawl does.

use std::sync::Arc;

use anyhow::anyhow;

use super::context::UsageError;
use super::output::printable;
use crate::config::Config;
use crate::daemon::Clock;
use taojin_crawl::Failure;
use taojin_crawl::fetch::{FetchError, Gate, Refused, Trouble, Turn};
use taojin_crawl::scope::{Refusal, Takedowns};
use taojin_crawl::store::{Reader, StorePlace};
use taojin_uri::CrawlUri;

/// A gate that knows what was taken down, as far as the store at `place` can be read: there is none before the first crawl, and
/// not everybody may read it.
pub(super) fn open_gate(config: &Config, place: impl Into<StorePlace>) -> Result<Gate, FetchError> {
    let most_ms = config.frontier.max_crawl_delay_ms;
    let gate = Gate::new(config.fetch.clone(), most_ms, Arc::new(Clock::default()))?;
    let takedowns = Takedowns::default();
    match Reader::open(place).and_then(|reader| reader.takedowns()) {
        Ok(known) => takedowns.add(known.into_iter().map(|takedown| takedown.url)),
        Err(error) => tracing::debug!(%error, "what was taken down is not known"),
    }
    gate.set_rules([], takedowns);
    Ok(gate)
}

/// The turn of a command.
pub(super) fn person_turn(config: &Config) -> Turn {
    Turn::for_person(config.frontier.min_delay_ms)
}

/// Why an address is not fetched, in words that follow it and a colon.
pub(super) fn describe_refusal(gate: &Gate, uri: &CrawlUri, refused: &Refused) -> String {
    match refused {
        Refused::Robots(rule) => format!(
            "its robots.txt does not let {} in (line {}: Disallow: {})",
            gate.config().robots_token(),
            rule.line,
            printable(&rule.pattern)
        ),
        Refused::RobotsAway(trouble) if is_address(trouble) => trouble.detail.clone(),
        Refused::RobotsAway(trouble) => format!("{trouble}; nothing may be fetched before that"),
        Refused::Rules(Refusal::TakenDown) | Refused::OnTheWay(Refusal::TakenDown) => {
            format!("was taken down; to lift that: taojin purge --allow {uri}")
        }
        Refused::Rules(rule) | Refused::OnTheWay(rule) => rule.describe(),
        Refused::Later(_) => "its host asks for more time between two requests".to_owned(),
    }
}

/// The same as an error of a command. A mistake of the caller where another try would not change it.
pub(super) fn refused_error(gate: &Gate, uri: &CrawlUri, refused: &Refused) -> anyhow::Error {
    let text = format!("{uri}: {}", describe_refusal(gate, uri, refused));
    match refused {
        Refused::RobotsAway(trouble) if !is_address(trouble) => anyhow!(text),
        Refused::Later(_) => anyhow!(text),
        _ => UsageError(text).into(),
    }
}

/// Whether its host has no address that may be asked.
fn is_address(trouble: &Trouble) -> bool {
    trouble.failure == Some(Failure::Address)
}
