//! What reaches the crawler from other threads, and when it has to stop.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::daemon::Shared;
use crate::daemon::control::PendingRequest;
use crate::daemon::crawl::sharing::refuse;
use crate::daemon::crawl::visit::EndedLease;
use taojin_crawl::frontier::Frontier;

/// What reaches the crawler from outside.
pub(crate) enum Event {
    /// A lease has ended.
    Finished(Box<EndedLease>),
    /// The operator asks for something.
    Request(Box<PendingRequest>),
    /// Wind down.
    Stop,
}

/// The events that wait for the crawler.
pub(super) struct Inbox {
    events: Receiver<Event>,
    /// When it ends at the latest, once it is told to stop.
    stop_at: Option<Instant>,
    /// How long visits may still take from then on.
    grace: Duration,
}

impl Inbox {
    pub(super) fn new(events: Receiver<Event>, grace: Duration) -> Self {
        Self {
            events,
            stop_at: None,
            grace,
        }
    }

    /// The next event, if one comes in time.
    pub(super) fn wait(&self, time: Duration) -> Result<Event, RecvTimeoutError> {
        self.events.recv_timeout(time)
    }

    /// An event that is there.
    pub(super) fn next(&self) -> Option<Event> {
        self.events.try_recv().ok()
    }

    /// The crawler is to stop: visits that are under way have some time to end.
    pub(super) fn stop(&mut self) {
        self.stop_at
            .get_or_insert_with(|| Instant::now() + self.grace);
    }

    /// Whether it was told to stop.
    pub(super) fn is_stopping(&self) -> bool {
        self.stop_at.is_some()
    }

    /// Whether the time is over that was left to stop.
    pub(super) fn is_out_of_time(&self) -> bool {
        self.stop_at.is_some_and(|at| Instant::now() >= at)
    }

    /// Takes what has come while nothing can be stored: a page is fetched once more, whoever asks is refused.
    pub(super) fn turn_away(&mut self, frontier: &mut Frontier, now: i64) {
        while let Some(event) = self.next() {
            if turn_away(event, frontier, now) {
                self.stop_at.get_or_insert_with(Instant::now);
            }
        }
    }

    /// Waits; what comes meanwhile is turned away. False where the daemon stops.
    pub(super) fn wait_turning_away(
        &self,
        time: Duration,
        frontier: &mut Frontier,
        shared: &Shared,
    ) -> bool {
        let until = Instant::now() + time;
        loop {
            if shared.lifecycle().is_stopping() {
                return false;
            }
            let event = match self.wait(until.saturating_duration_since(Instant::now())) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            };
            if turn_away(event, frontier, shared.now_ms()) {
                return false;
            }
        }
    }
}

/// Turns one event away; whether it is time to stop.
fn turn_away(event: Event, frontier: &mut Frontier, now: i64) -> bool {
    match event {
        Event::Stop => return true,
        Event::Finished(ended) => match *ended {
            EndedLease::Visited(visit) => frontier.discard(&visit.lease, &visit.report, now),
            EndedLease::GivenBack(lease, report) => frontier.discard(&lease, &report, now),
            EndedLease::Located(lease, _) => frontier.release(&lease, now),
        },
        Event::Request(request) => refuse(&request),
    }
    false
}
