//! Limits connections: how many there are, in total and for each client.
//!
//! A [`Guarded`] listener hangs up on a client that is silent too long, takes too long over one request, or reads a response
//! too slowly. Requests are read by the HTTP library, never here.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

use crate::config::Config;

/// Slowest client that an answer is sent to, in bytes a second: a modem of 1990 is faster. Measured only while the
/// client, and not the server, is what is waited for.
const BYTES_PER_S_MIN: u128 = 1_024;

/// A listener that takes a connection only when there is room for it.
pub(crate) struct Guarded {
    listener: TcpListener,
    room: Arc<Semaphore>,
    quota: Option<ConnectionQuota>,
    patience: Patience,
}

/// How long a client may keep the server waiting.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// Without a byte in either direction.
    idle: Duration,
    /// From the first byte of a request to its last.
    request: Duration,
}

impl Guarded {
    pub(crate) fn new(listener: TcpListener, config: &Config) -> Guarded {
        Guarded {
            listener,
            room: Arc::new(Semaphore::new(config.connections)),
            // Behind a proxy, one address is many clients.
            quota: config
                .client_header
                .is_empty()
                .then(|| ConnectionQuota::new(config.connections)),
            patience: Patience {
                idle: Duration::from_millis(config.idle_ms),
                request: Duration::from_millis(config.request_ms),
            },
        }
    }
}

impl axum::serve::Listener for Guarded {
    type Io = Watched;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Watched, SocketAddr) {
        let place = Arc::clone(&self.room)
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let (stream, address, slot) = loop {
            // axum's own accept waits and tries again when the system is out of descriptors.
            let (stream, address) = axum::serve::Listener::accept(&mut self.listener).await;
            match self.quota.as_ref().map(|quota| quota.take(address.ip())) {
                None => break (stream, address, None),
                Some(Some(slot)) => break (stream, address, Some(slot)),
                // This client has its share: hung up on without an answer.
                Some(None) => drop(stream),
            }
        };
        // An answer in several writes must not wait for the client's acknowledgement; without it, it is only slower.
        stream.set_nodelay(true).ok();
        (Watched::new(stream, self.patience, place, slot), address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that ends when its client keeps the server waiting.
///
/// A client that sends a byte now and then is never silent, so each request has a limit of its own: when a byte of it
/// arrives after [`Patience::request`], the connection ends, and so it does when no byte arrives at all for
/// [`Patience::idle`]. The time in which the server works on an answer never counts.
pub(crate) struct Watched {
    stream: TcpStream,
    patience: Patience,
    alarm: Pin<Box<Sleep>>,
    /// When the first byte of a request came that nothing has been answered to yet.
    request_began: Option<Instant>,
    /// When the client first could not take more of the answer, and how many bytes it took since.
    held_up: Option<(Instant, u64)>,
    _place: OwnedSemaphorePermit,
    _slot: Option<ConnectionSlot>,
}

impl Watched {
    fn new(
        stream: TcpStream,
        patience: Patience,
        place: OwnedSemaphorePermit,
        slot: Option<ConnectionSlot>,
    ) -> Watched {
        Watched {
            stream,
            patience,
            alarm: Box::pin(sleep(patience.idle)),
            request_began: None,
            held_up: None,
            _place: place,
            _slot: slot,
        }
    }

    /// What the socket said, or an error if it has been silent too long.
    fn watch<T>(
        &mut self,
        cx: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.alarm
                .as_mut()
                .reset(Instant::now() + self.patience.idle);
            return polled;
        }
        match self.alarm.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Bytes of a request came in; an error if it has taken too long.
    fn received(&mut self) -> io::Result<()> {
        self.held_up = None;
        let began = self.request_began.get_or_insert_with(Instant::now);
        if began.elapsed() > self.patience.request {
            Err(io::ErrorKind::TimedOut.into())
        } else {
            Ok(())
        }
    }

    /// The client took so many bytes of an answer, or could take none at present; an error if it is too slow.
    fn sent(&mut self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match polled {
            Poll::Pending => {
                self.held_up.get_or_insert_with(|| (Instant::now(), 0));
            }
            Poll::Ready(Ok(bytes)) => {
                self.request_began = None;
                if let Some((since, taken)) = &mut self.held_up {
                    *taken = taken.saturating_add(bytes as u64);
                    let waited = since.elapsed();
                    if waited >= self.patience.request {
                        if u128::from(*taken) * 1_000 < waited.as_millis() * BYTES_PER_S_MIN {
                            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                        }
                        self.held_up = None;
                    }
                }
            }
            Poll::Ready(Err(_)) => {}
        }
        polled
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let mut polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if polled.is_ready() && buffer.filled().len() > before {
            polled = Poll::Ready(self.received());
        }
        self.watch(cx, polled)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        let polled = self.sent(polled);
        self.watch(cx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        let polled = self.sent(polled);
        self.watch(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Part of all connections, and of all running searches, that one client may have: four greedy ones are needed to keep everybody
/// else out.
pub(crate) const SHARE: usize = 4;

/// Who has how many connections, by [`network`].
#[derive(Clone)]
pub(crate) struct ConnectionQuota {
    taken: Arc<Mutex<HashMap<u64, usize>>>,
    most: usize,
}

/// One connection of a client; dropped, it is free again.
pub(crate) struct ConnectionSlot {
    client: Option<u64>,
    quota: ConnectionQuota,
}

impl ConnectionQuota {
    /// Shares for a server with so many connections.
    pub(crate) fn new(connections: usize) -> ConnectionQuota {
        ConnectionQuota {
            taken: Arc::default(),
            most: connections.div_ceil(SHARE),
        }
    }

    /// A place for one more connection of this client, if it may have one.
    pub(crate) fn take(&self, client: IpAddr) -> Option<ConnectionSlot> {
        let client = (!client.to_canonical().is_loopback()).then(|| network(client));
        if let Some(client) = client {
            let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            let count = taken.entry(client).or_insert(0);
            if *count >= self.most {
                return None;
            }
            *count += 1;
        }
        Some(ConnectionSlot {
            client,
            quota: self.clone(),
        })
    }
}

/// One household or company: an IPv4 address, or the /64 that an IPv6 line has and can choose any address of.
pub(crate) fn network(client: IpAddr) -> u64 {
    match client.to_canonical() {
        IpAddr::V4(address) => u64::from(address.to_bits()),
        IpAddr::V6(address) => (address.to_bits() >> 64) as u64,
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let Some(client) = self.client else {
            return;
        };
        let taken = &self.quota.taken;
        let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&client) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a write ends after the client could take nothing for a while and then took so many bytes.
    async fn after_a_halt(taken: usize) -> Poll<io::Result<usize>> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let patience = Patience {
            idle: Duration::from_secs(10),
            request: Duration::from_millis(100),
        };
        let stream = TcpStream::connect(address).await.unwrap();
        let place = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
        let mut watched = Watched::new(stream, patience, place, None);
        assert!(watched.sent(Poll::Pending).is_pending());
        tokio::time::sleep(2 * patience.request).await;
        watched.sent(Poll::Ready(Ok(taken)))
    }

    #[tokio::test]
    async fn a_client_that_takes_an_answer_in_by_drops_is_hung_up_on() {
        assert!(matches!(after_a_halt(10).await, Poll::Ready(Err(_))));
        assert!(matches!(after_a_halt(5_000).await, Poll::Ready(Ok(5_000))));
    }
}
