//! Shares the places of running searches between clients.
//!
//! [`Places::acquire`] waits for a [`Place`], which is free again when it is dropped. A client has a quarter of the places at most, so
//! that one that asks for much leaves the others some. Clients that wait get places in turn and not in the order of their requests
//! (round robin: Nagle, RFC 970), so that nobody waits behind all requests of another. At most [`WAITING_MAX`] requests of a client
//! wait. This machine itself may have all places, and takes turns with the others.
//!
//! The time in a place is taken from the client's allowance ([`Limiter::charge`]), in the measure of generalized processor sharing
//! (Parekh and Gallager, 1993): where more searches run than there are processors, each has its share of them, so that nobody pays
//! for being slowed down by others. Further threads of a search are not counted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use taojin_crawl::fair::FairQueue;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::client::Client;
use super::limiter::Limiter;
use super::listen::SHARE;

/// Requests of one client that wait: what an office behind one address asks for within a second. A place in the queue costs a
/// connection and some kilobytes.
const WAITING_MAX: usize = 32;

/// The places of a server.
#[derive(Debug)]
pub(crate) struct Places {
    queue: Mutex<Queue>,
    limiter: Arc<Limiter>,
    count: usize,
    /// Places of one client.
    most: usize,
}

/// A place of a running search.
#[derive(Debug)]
pub(crate) struct Place {
    /// `None` if nobody took it.
    places: Option<Arc<Places>>,
    client: Client,
    /// What the clock of work said when it was given.
    started: Duration,
}

#[derive(Debug)]
struct Queue {
    free: usize,
    clock: WorkClock,
    /// Places of each client that has one.
    running: HashMap<Client, usize>,
    waiting: FairQueue<Client, (Client, oneshot::Sender<Place>)>,
}

/// The time of a processor that a search has had which has been running since the clock was started.
#[derive(Debug)]
struct WorkClock {
    processors: usize,
    work: Duration,
    read: Instant,
}

impl WorkClock {
    /// Reads the clock after so many searches have been running.
    fn advance(&mut self, running: usize, now: Instant) -> Duration {
        let passed = now.saturating_duration_since(self.read);
        self.work += if running > self.processors {
            passed.mul_f64(self.processors as f64 / running as f64)
        } else {
            passed
        };
        self.read = now;
        self.work
    }
}

/// Removes a client's requests that wait no longer.
struct Leaving<'a> {
    places: &'a Places,
    client: Client,
}

impl Places {
    /// So many places, whose time the limiter counts.
    pub(crate) fn new(places: usize, limiter: Arc<Limiter>) -> Self {
        Self {
            limiter,
            queue: Mutex::new(Queue {
                free: places,
                clock: WorkClock {
                    processors: available_parallelism().map_or(1, usize::from),
                    work: Duration::ZERO,
                    read: Instant::now(),
                },
                running: HashMap::new(),
                waiting: FairQueue::default(),
            }),
            count: places,
            most: (places / SHARE).max(1),
        }
    }

    /// Who may ask.
    pub(crate) fn limiter(&self) -> &Arc<Limiter> {
        &self.limiter
    }

    /// Waits for a place; `None` if too many requests of this client wait already.
    pub(crate) async fn acquire(self: &Arc<Self>, client: Client) -> Option<Place> {
        let _leaving = Leaving {
            places: self,
            client,
        };
        let turn = self.join(client)?;
        turn.await.ok()
    }

    fn join(self: &Arc<Self>, client: Client) -> Option<oneshot::Receiver<Place>> {
        let mut queue = self.lock();
        let queue = &mut *queue;
        if client != Client::Machine && queue.waiting.waiting_of(&client) >= WAITING_MAX {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        queue.waiting.push(client, (client, sender));
        self.fill(queue);
        Some(receiver)
    }

    /// Gives the free places to the clients whose turn it is.
    fn fill(self: &Arc<Self>, queue: &mut Queue) {
        let started = queue.advance_clock(self.count);
        while queue.free > 0 {
            let running = &queue.running;
            let next = queue.waiting.pop_where(|client| {
                let of_client = running.get(client).copied().unwrap_or_default();
                *client == Client::Machine || of_client < self.most
            });
            let Some((client, waiter)) = next else {
                return;
            };
            let place = Place {
                places: Some(Arc::clone(self)),
                client,
                started,
            };
            match waiter.send(place) {
                Ok(()) => {
                    *queue.running.entry(client).or_default() += 1;
                    queue.free -= 1;
                }
                // It has gone meanwhile. To free its place would need the lock that is held here.
                Err(mut place) => place.places = None,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(places) = self.places.take() else {
            return;
        };
        let mut queue = places.lock();
        let spent = queue
            .advance_clock(places.count)
            .saturating_sub(self.started);
        // Before the next one of this client has its turn, so that it is known what this one has cost.
        places.limiter.charge(self.client, spent, Instant::now());
        queue.free += 1;
        queue.end(self.client);
        places.fill(&mut queue);
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut queue = self.places.lock();
        let waiting = &mut queue.waiting;
        waiting.retain(&self.client, |(_, waiter)| !waiter.is_closed());
    }
}

impl Queue {
    /// Reads the clock of work before something changes in how many of these places are taken.
    fn advance_clock(&mut self, places: usize) -> Duration {
        self.clock.advance(places - self.free, Instant::now())
    }

    /// A client has one place less.
    fn end(&mut self, client: Client) {
        if let Some(running) = self.running.get_mut(&client) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(&client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::config::Config;

    type Wait<'a> = Pin<Box<dyn Future<Output = Option<Place>> + 'a>>;

    const GREEDY: Client = Client::Network(1);
    const PATIENT: Client = Client::Network(2);

    fn places_of(count: usize) -> Arc<Places> {
        let limiter = Limiter::new(&Config::default());
        Arc::new(Places::new(count, Arc::new(limiter)))
    }

    fn polled(wait: &mut Wait<'_>) -> Poll<Option<Place>> {
        wait.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    /// Requests of a client, each as far as it gets.
    fn waits(places: &Arc<Places>, client: Client, count: usize) -> Vec<Wait<'_>> {
        let wait = |_| Box::pin(places.acquire(client)) as Wait<'_>;
        (0..count).map(wait).collect()
    }

    /// Takes the places that these requests get.
    fn taken(waits: &mut Vec<Wait<'_>>) -> Vec<Place> {
        let mut found = Vec::new();
        waits.retain_mut(|wait| match polled(wait) {
            Poll::Ready(place) => {
                found.extend(place);
                false
            }
            Poll::Pending => true,
        });
        found
    }

    fn is_empty(places: &Places, free: usize) -> bool {
        let queue = places.lock();
        queue.free == free && queue.running.is_empty() && queue.waiting.is_empty()
    }

    #[test]
    fn client_share_of_places() {
        for (all, most) in [(16, 4), (7, 1), (1, 1)] {
            let places = places_of(all);
            let mut greedy = waits(&places, GREEDY, 20);
            let held = taken(&mut greedy);
            assert_eq!(held.len(), most, "of {all}");
            if all > 1 {
                assert_eq!(taken(&mut waits(&places, PATIENT, 1)).len(), 1);
            }
            // This machine itself is not limited.
            let own = taken(&mut waits(&places, Client::Machine, 20));
            assert_eq!(own.len(), all - most);
            drop((own, greedy, held));
            assert!(is_empty(&places, all));
        }
    }

    /// Whoever asks once waits for one search of each other client, and not for all that they ask for.
    #[test]
    fn clients_take_turns() {
        let places = places_of(1);
        let first = taken(&mut waits(&places, Client::Network(9), 1));
        let mut lines = [
            waits(&places, GREEDY, 20),
            waits(&places, PATIENT, 2),
            waits(&places, Client::Machine, 2),
        ];
        for wait in lines.iter_mut().flatten() {
            assert!(polled(wait).is_pending());
        }
        drop(first);
        let mut order = Vec::new();
        while order.len() < 8 {
            for line in &mut lines {
                for place in taken(line) {
                    order.push(place.client);
                }
            }
        }
        let machine = Client::Machine;
        let turns = [
            GREEDY, PATIENT, machine, GREEDY, PATIENT, machine, GREEDY, GREEDY,
        ];
        assert_eq!(order[..8], turns);
    }

    #[test]
    fn waiting_requests_are_bounded() {
        let places = places_of(4);
        let held = taken(&mut waits(&places, GREEDY, 1));
        let mut line = waits(&places, GREEDY, 50_000);
        assert!(taken(&mut line).is_empty());
        assert_eq!(line.len(), WAITING_MAX);
        // One that gives up makes room for another.
        line.pop();
        let mut more = waits(&places, GREEDY, 2);
        assert!(taken(&mut more).is_empty());
        assert_eq!(more.len(), 1);
        // A place that nobody takes any more goes to the next.
        drop(held);
        line.clear();
        assert_eq!(taken(&mut more).len(), 1);
        assert!(is_empty(&places, 4));
    }

    /// By a client that has just used all it may at once: what it then does is too much, unless it costs less than is refilled
    /// meanwhile, a fourth of the time.
    #[test]
    fn time_in_place_is_charged() {
        let limiter = Arc::new(Limiter::with_processors(&Config::default(), 1));
        let places = Arc::new(Places::new(4, Arc::clone(&limiter)));
        let start = Instant::now();
        limiter.charge(GREEDY, Duration::from_secs(20), start);
        let place = taken(&mut waits(&places, GREEDY, 1));
        let prepared = start.elapsed();
        assert_eq!(limiter.check(GREEDY, Instant::now()), Ok(()));
        let began = Instant::now();
        while began.elapsed() <= prepared {
            std::thread::yield_now();
        }
        let end = Instant::now();
        drop(place);
        assert!(limiter.check(GREEDY, end).is_err());
        assert_eq!(limiter.check(PATIENT, end), Ok(()));
    }

    #[test]
    fn shared_processors_cost_their_share() {
        let start = Instant::now();
        let mut clock = WorkClock {
            processors: 2,
            work: Duration::ZERO,
            read: start,
        };
        let mut read = |running, at| clock.advance(running, start + Duration::from_secs(at));
        for (running, at_s, work_s, case) in [
            (0, 10, 10, "idle"),
            (1, 20, 20, "one alone"),
            (2, 30, 30, "one each"),
            (4, 40, 35, "two each"),
            (20, 50, 36, "ten each"),
        ] {
            assert_eq!(read(running, at_s), Duration::from_secs(work_s), "{case}");
        }
    }
}
