//! Carries requests to the hosts of `search.url`: to the one that answered last, and to the next where that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;

use super::account::{Account, EngineClient, Outgoing};
use super::diagnosis::{HostTrouble, join};
use super::exchange::{Answer, Retry, ask};
use super::hosts::Host;
use super::runtime;
use taojin_search::index::CancellationToken;
use taojin_search::index::remote::{
    EngineTrouble, HostState, Patience, Request, Transport, TroubleKind,
};

/// How often it is looked whether a request is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The way to one engine.
pub(crate) struct HttpTransport {
    /// All addresses, for messages.
    shown: String,
    /// Each can be asked for everything.
    hosts: Arc<[Arc<Host>]>,
    /// The one that is asked: the last that answered.
    current: Arc<AtomicUsize>,
    /// Or why there is none.
    client: Result<Arc<EngineClient>, EngineTrouble>,
}

impl HttpTransport {
    /// To the hosts at `addresses`, at least one. What is wrong with the account is said by each request.
    pub(crate) fn new<'a>(addresses: impl Iterator<Item = &'a str>, account: Account) -> Self {
        let addresses: Vec<&str> = addresses.collect();
        Self {
            shown: addresses.join(","),
            hosts: addresses.into_iter().map(Host::at).collect(),
            current: Arc::default(),
            client: EngineClient::new(account).map(Arc::new),
        }
    }
}

impl HttpTransport {
    /// Sends a request to one of these hosts. `keeps_to` says that it goes there whatever is known of them.
    fn deliver(
        &self,
        hosts: Arc<[Arc<Host>]>,
        keeps_to: bool,
        request: &Request<'_>,
        stop: &CancellationToken,
    ) -> Result<(u16, Value), EngineTrouble> {
        let client = self.client.as_ref().map_err(Clone::clone)?;
        let delivery = Delivery {
            hosts,
            keeps_to,
            current: Arc::clone(&self.current),
            client: Arc::clone(client),
            outgoing: client.outgoing(request)?,
            patience: request.patience,
            is_repeatable: request.is_repeatable,
        };
        let (answered, answer) = channel();
        let task = runtime()?.spawn(async move {
            // Whoever asked may be gone.
            let _ = answered.send(delivery.run().await);
        });
        loop {
            match answer.recv_timeout(LOOK_EVERY) {
                Ok(answer) => {
                    return answer?.read().map_err(|error| {
                        let text = format!("its answer cannot be read: {error}");
                        EngineTrouble::new(TroubleKind::Misdirected, text)
                    });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let text = "the request broke off";
                    return Err(EngineTrouble::new(TroubleKind::Other, text));
                }
                Err(RecvTimeoutError::Timeout) if stop.is_stopped() => {
                    // The engine ends a search whose connection is closed.
                    task.abort();
                    return Err(EngineTrouble::new(TroubleKind::Other, "stopped"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Transport for HttpTransport {
    /// Where a host fails, the next one is asked. A request may therefore be carried out twice, if it is made for that.
    fn send(
        &self,
        request: &Request<'_>,
        stop: &CancellationToken,
    ) -> Result<(u16, Value), EngineTrouble> {
        self.deliver(Arc::clone(&self.hosts), false, request, stop)
    }

    fn send_to(
        &self,
        address: &str,
        request: &Request<'_>,
        stop: &CancellationToken,
    ) -> Result<(u16, Value), EngineTrouble> {
        self.deliver([Host::at(address)].into(), true, request, stop)
    }

    fn address(&self) -> &str {
        &self.shown
    }

    fn hosts(&self) -> Vec<HostState> {
        self.hosts.iter().map(|host| host.state()).collect()
    }
}

/// A request on its way.
struct Delivery {
    hosts: Arc<[Arc<Host>]>,
    /// Whether a host is asked that is known to fail.
    keeps_to: bool,
    current: Arc<AtomicUsize>,
    client: Arc<EngineClient>,
    outgoing: Outgoing,
    patience: Patience,
    is_repeatable: bool,
}

impl Delivery {
    async fn run(self) -> Result<Answer, EngineTrouble> {
        let begin = self.current.load(Ordering::Relaxed);
        let in_turn = (0..self.hosts.len()).map(|offset| (begin + offset) % self.hosts.len());
        let mut troubles = Vec::new();
        let mut up = Vec::new();
        for at in in_turn {
            match self.hosts[at].failing() {
                Some(trouble) if !self.keeps_to => troubles.push(trouble),
                _ => up.push(at),
            }
        }
        // A first request may take long: the engine checks a password slowly, and remembers that it did.
        let is_only = up.len() == 1;
        let mut unavailable = None;
        for at in up {
            let host = &self.hosts[at];
            match self.ask(host, is_only).await {
                // Another host may see more of the index.
                Ok(answer) if answer.is_unavailable() && self.is_repeatable => {
                    unavailable.get_or_insert(answer);
                }
                Ok(answer) => {
                    if !self.keeps_to {
                        self.current.store(at, Ordering::Relaxed);
                    }
                    return Ok(answer);
                }
                Err(Stop::Here(trouble)) => return Err(join([trouble])),
                Err(Stop::Next(trouble)) => troubles.push(trouble),
            }
        }
        unavailable.ok_or_else(|| join(troubles))
    }

    /// Asks one host, and keeps in its circuit what came of it.
    async fn ask(&self, host: &Arc<Host>, is_only: bool) -> Result<Answer, Stop> {
        let mut attempts = if is_only { 2 } else { 1 };
        loop {
            attempts -= 1;
            let (client, address) = (&self.client, host.address());
            let asked = ask(client, address, &self.outgoing, self.patience, is_only).await;
            let failure = match asked {
                Ok(answer) => {
                    host.close();
                    return Ok(answer);
                }
                Err(failure) => failure,
            };
            let may_repeat = self.is_repeatable || !failure.may_be_done;
            if attempts > 0 && failure.retry == Retry::Anywhere && may_repeat {
                continue;
            }
            if failure.is_down {
                host.open(failure.trouble.clone(), client, &self.outgoing);
            }
            return Err(if failure.retry == Retry::Nowhere || !may_repeat {
                Stop::Here(failure.trouble)
            } else {
                Stop::Next(failure.trouble)
            });
        }
    }
}

/// How a request to a host failed.
enum Stop {
    /// No other host is to be asked.
    Here(HostTrouble),
    /// The next one is to be asked.
    Next(HostTrouble),
}
