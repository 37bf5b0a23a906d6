//! The hosts of the engine, each with its circuit: open while the host fails, so that no request waits for it. It is looked for
//! in the background whether the host answers again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Local};

use super::account::{EngineClient, Outgoing};
use super::diagnosis::HostTrouble;
use super::exchange::is_alive;
use taojin_search::index::remote::HostState;

/// Pause before a host that failed is looked up; doubled each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// One host: all transports of this process to an address share it.
pub(super) struct Host {
    address: String,
    circuit: Mutex<Circuit>,
}

struct Circuit {
    /// Why it is open; none while it is closed.
    trouble: Option<HostTrouble>,
    /// Since when it is as it is.
    since: SystemTime,
    /// Who asks in the background: the last one that failed.
    asker: Option<(Arc<EngineClient>, Outgoing)>,
}

/// All hosts that some transport has gone to: what is known of them outlives it.
static HOSTS: Mutex<BTreeMap<String, Arc<Host>>> = Mutex::new(BTreeMap::new());

impl Host {
    /// The host at this address. One that nobody has asked yet counts as up.
    pub(super) fn at(address: &str) -> Arc<Self> {
        let mut hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
        let host = hosts.entry(address.to_owned()).or_insert_with(|| {
            let circuit = Mutex::new(Circuit {
                trouble: None,
                since: SystemTime::now(),
                asker: None,
            });
            let address = address.to_owned();
            Arc::new(Self { address, circuit })
        });
        Arc::clone(host)
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn state(&self) -> HostState {
        let circuit = self.circuit();
        HostState {
            address: self.address.clone(),
            is_up: circuit.trouble.is_none(),
            since: circuit.since,
        }
    }

    /// Why it is not asked at present, and since when; none while it may be asked.
    pub(super) fn failing(&self) -> Option<HostTrouble> {
        let circuit = self.circuit();
        let since = DateTime::<Local>::from(circuit.since).format("%Y-%m-%d %H:%M:%S");
        circuit.trouble.clone().map(|trouble| HostTrouble {
            text: format!("{} (since {since})", trouble.text),
            ..trouble
        })
    }

    /// Records that it answered.
    pub(super) fn close(&self) {
        let mut circuit = self.circuit();
        if circuit.trouble.take().is_some() {
            circuit.since = SystemTime::now();
            circuit.asker = None;
            tracing::info!(host = self.address, "the search engine answers again");
        }
    }

    /// Records that it failed. It is asked by no request until it answers the look-up of `outgoing`, which is sent by `client`
    /// again and again from now on. To be called on a runtime.
    pub(super) fn open(
        self: &Arc<Self>,
        trouble: HostTrouble,
        client: &Arc<EngineClient>,
        outgoing: &Outgoing,
    ) {
        let mut circuit = self.circuit();
        circuit.asker = Some((Arc::clone(client), outgoing.look_up()));
        if circuit.trouble.is_some() {
            return;
        }
        // Whoever asked may report the failure; a daemon's log tells since when.
        tracing::info!(
            error = trouble.text,
            "a host of the search engine fails and is left out until it answers"
        );
        circuit.trouble = Some(trouble);
        circuit.since = SystemTime::now();
        drop(circuit);
        let runtime = tokio::runtime::Handle::current();
        runtime.spawn(look_after(Arc::clone(self)));
    }

    fn circuit(&self) -> MutexGuard<'_, Circuit> {
        self.circuit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks a host up until it answers.
async fn look_after(host: Arc<Host>) {
    let mut pause = FIRST_PAUSE;
    loop {
        tokio::time::sleep(pause).await;
        let Some((client, outgoing)) = host.circuit().asker.clone() else {
            return;
        };
        match is_alive(&client, &host.address, &outgoing).await {
            Ok(()) => return host.close(),
            Err(trouble) => {
                // The cause may be another one by now.
                let mut circuit = host.circuit();
                if circuit.trouble.is_none() {
                    return;
                }
                circuit.trouble = Some(trouble);
            }
        }
        pause = (pause * 2).min(MAX_PAUSE);
    }
}
