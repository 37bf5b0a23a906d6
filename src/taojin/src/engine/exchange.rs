//! One request to one host: a look-up may take about a second, work as long as the host answers look-ups meanwhile.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use super::account::{EngineClient, Outgoing};
use super::diagnosis::{HostTrouble, diagnose};
use taojin_search::index::remote::{Patience, TroubleKind};

/// A look-up takes some milliseconds: connection, head and body.
const LOOK_UP_TIMEOUT: Duration = Duration::from_secs(1);
/// A look-up that takes so long already may be of one that only this request stops: another one tells.
const DOUBT_AFTER: Duration = Duration::from_millis(400);
/// A bulk request of 4 MB takes well under a second; more than this is a hang.
const WORK_TIMEOUT: Duration = Duration::from_secs(60);
/// Time between two look-ups while a host works.
const LOOK_UP_EVERY: Duration = Duration::from_secs(2);
/// Longest answer that is read: 10,000 hits have some 4 MB.
const ANSWER_BYTES: usize = 64 << 20;
/// Bytes of an answer of something else that are shown.
const SHOWN_CHARS: usize = 200;

/// What a host answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    body: AnswerBody,
}

#[derive(Debug)]
enum AnswerBody {
    Read(Value),
    /// Long ones are read by the thread that waits for them.
    Json(Bytes),
}

impl Answer {
    /// Whether the engine could not do it because a part of it is missing: another host may see more.
    pub(super) fn is_unavailable(&self) -> bool {
        matches!(self.status, 502..=504)
    }

    /// Status and body; an error where this is no JSON.
    pub(super) fn read(self) -> Result<(u16, Value), serde_json::Error> {
        match self.body {
            AnswerBody::Read(value) => Ok((self.status, value)),
            AnswerBody::Json(bytes) => Ok((self.status, serde_json::from_slice(&bytes)?)),
        }
    }
}

/// A request that came to nothing.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) trouble: HostTrouble,
    /// Whether the host does not answer other requests either.
    pub(super) is_down: bool,
    /// Whether the host may have carried the request out.
    pub(super) may_be_done: bool,
    /// What another host, or the same one asked again, would do about it.
    pub(super) retry: Retry,
}

/// Where a request that failed is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    /// Nowhere: it would end in the same way.
    Nowhere,
    /// To another host.
    Elsewhere,
    /// To another host, or to this one if there is no other.
    Anywhere,
}

impl Failure {
    fn new(trouble: HostTrouble) -> Self {
        Self {
            trouble,
            is_down: false,
            may_be_done: true,
            retry: Retry::Elsewhere,
        }
    }
}

/// Asks a host. `is_only` says that no other one can be asked.
pub(super) async fn ask(
    client: &EngineClient,
    address: &str,
    outgoing: &Outgoing,
    patience: Patience,
    is_only: bool,
) -> Result<Answer, Failure> {
    match patience {
        Patience::LookUp => look_up(client, address, outgoing).await,
        Patience::Work => work(client, address, outgoing, is_only).await,
    }
}

/// Whether a host answers at all, in time.
pub(super) async fn is_alive(
    client: &EngineClient,
    address: &str,
    outgoing: &Outgoing,
) -> Result<(), HostTrouble> {
    let outgoing = outgoing.look_up();
    let answered = timeout(LOOK_UP_TIMEOUT, fetch(client, address, &outgoing)).await;
    match answered {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(Fault::Answer(failure))) if !failure.is_down => Ok(()),
        Ok(Err(fault)) => Err(fault.into_failure(address).await.trouble),
        Err(_) => Err(HostTrouble::silent(address, LOOK_UP_TIMEOUT)),
    }
}

async fn look_up(
    client: &EngineClient,
    address: &str,
    outgoing: &Outgoing,
) -> Result<Answer, Failure> {
    let until = Instant::now() + LOOK_UP_TIMEOUT;
    let doubt = async {
        sleep(DOUBT_AFTER).await;
        let alive = timeout_at(until, is_alive(client, address, outgoing)).await;
        matches!(alive, Ok(Ok(())))
    };
    let (exchange, end) = (fetch(client, address, outgoing), sleep_until(until));
    tokio::pin!(exchange, end, doubt);
    let mut is_alive = None;
    loop {
        tokio::select! {
            biased;
            answer = &mut exchange => return settle(client, address, outgoing, answer).await,
            answered = &mut doubt, if is_alive.is_none() => is_alive = Some(answered),
            () = &mut end => break,
        }
    }
    let is_alive = is_alive == Some(true);
    let trouble = if is_alive {
        overloaded(address, LOOK_UP_TIMEOUT)
    } else {
        HostTrouble::silent(address, LOOK_UP_TIMEOUT)
    };
    Err(Failure {
        is_down: !is_alive,
        retry: Retry::Anywhere,
        ..Failure::new(trouble)
    })
}

async fn work(
    client: &EngineClient,
    address: &str,
    outgoing: &Outgoing,
    is_only: bool,
) -> Result<Answer, Failure> {
    let until = Instant::now() + WORK_TIMEOUT;
    // One pause of its garbage collector is no reason to give up the only host.
    let most_silences = if is_only { 2 } else { 1 };
    let (mut silences, mut pause) = (0, LOOK_UP_TIMEOUT);
    let exchange = fetch(client, address, outgoing);
    tokio::pin!(exchange);
    while Instant::now() < until {
        tokio::select! {
            biased;
            answer = &mut exchange => return settle(client, address, outgoing, answer).await,
            () = sleep(pause) => {}
        }
        let alive = tokio::select! {
            biased;
            answer = &mut exchange => return settle(client, address, outgoing, answer).await,
            alive = is_alive(client, address, outgoing) => alive,
        };
        match alive {
            Ok(()) => (silences, pause) = (0, LOOK_UP_EVERY),
            Err(trouble) => {
                (silences, pause) = (silences + 1, Duration::ZERO);
                if silences == most_silences {
                    return Err(Failure {
                        is_down: true,
                        ..Failure::new(trouble)
                    });
                }
            }
        }
    }
    Err(Failure {
        retry: Retry::Nowhere,
        ..Failure::new(overloaded(address, WORK_TIMEOUT))
    })
}

/// A host that answers look-ups, and not what it is asked for.
fn overloaded(address: &str, limit: Duration) -> HostTrouble {
    let seconds = limit.as_secs();
    HostTrouble::new(
        TroubleKind::Busy,
        format!("{address} answers, but not this request within {seconds} s"),
        "; if it stays so, give it more memory or nodes",
    )
}

/// What became of a request: where it broke off, whether the host is still there.
async fn settle(
    client: &EngineClient,
    address: &str,
    outgoing: &Outgoing,
    answer: Result<Answer, Fault>,
) -> Result<Answer, Failure> {
    let fault = match answer {
        Ok(answer) => return Ok(answer),
        Err(fault) => fault,
    };
    if let Fault::Request(error) = &fault
        && !error.is_connect()
        && is_alive(client, address, outgoing).await.is_ok()
    {
        // A connection that it had closed, or an answer that was lost.
        return Err(Failure {
            retry: Retry::Anywhere,
            ..Failure::new(HostTrouble::broken_off(address, error))
        });
    }
    Err(fault.into_failure(address).await)
}

/// Why there is no answer of the engine.
enum Fault {
    Request(reqwest::Error),
    /// Something answered.
    Answer(Failure),
}

impl Fault {
    async fn into_failure(self, address: &str) -> Failure {
        match self {
            Self::Answer(failure) => failure,
            Self::Request(error) => Failure {
                is_down: true,
                may_be_done: !error.is_connect(),
                ..Failure::new(diagnose(address, &error).await)
            },
        }
    }
}

async fn fetch(client: &EngineClient, address: &str, outgoing: &Outgoing) -> Result<Answer, Fault> {
    let sent = client.send(address, outgoing).await;
    let mut response = sent.map_err(Fault::Request)?;
    let status = response.status().as_u16();
    let mut bytes = BytesMut::new();
    while let Some(part) = response.chunk().await.map_err(Fault::Request)? {
        if bytes.len() + part.len() > ANSWER_BYTES {
            let text = format!("the answer of {address} is longer than {ANSWER_BYTES} bytes");
            let trouble = HostTrouble::new(TroubleKind::Other, text, "");
            return Err(Fault::Answer(Failure {
                retry: Retry::Nowhere,
                ..Failure::new(trouble)
            }));
        }
        bytes.extend_from_slice(&part);
    }
    interpret(address, status, bytes.freeze()).map_err(Fault::Answer)
}

/// Tells an answer of the engine from one of something before it or in its place.
fn interpret(address: &str, status: u16, bytes: Bytes) -> Result<Answer, Failure> {
    let answer = |body| Answer { status, body };
    if status < 300 {
        return match bytes.trim_ascii_start().first() {
            Some(b'{') => Ok(answer(AnswerBody::Json(bytes))),
            None => Ok(answer(AnswerBody::Read(Value::Null))),
            Some(_) => Err(Failure::new(HostTrouble::new(
                TroubleKind::Misdirected,
                format!("the answer of {address} is no JSON"),
                ": is search.url the address of OpenSearch?",
            ))),
        };
    }
    let value: Option<Value> = serde_json::from_slice(&bytes).ok();
    let is_of_engine = value
        .as_ref()
        .is_some_and(|value| value["error"].is_object());
    let text = || -> String {
        let text = String::from_utf8_lossy(&bytes);
        text.chars().take(SHOWN_CHARS).collect()
    };
    if matches!(status, 502..=504) && !is_of_engine {
        let said = Value::from(text());
        let text =
            format!("{address} answers with status {status} and no word of the engine: {said}");
        return Err(Failure {
            is_down: true,
            ..Failure::new(HostTrouble::unreachable(text))
        });
    }
    let value = value.unwrap_or_else(|| {
        if bytes.is_empty() {
            Value::Null
        } else {
            text().into()
        }
    });
    Ok(answer(AnswerBody::Read(value)))
}
