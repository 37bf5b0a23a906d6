//! Connections within limits. In: a listening socket. Out: streams, at most so many at a time and not
//! too many from one client, each hung up on when its client stays silent too long. Never reads a request: that is the HTTP library's work.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

use super::quota::{ConnectionQuota, ConnectionSlot};
use crate::serve::config::Config;

/// A listener that takes a connection only when there is room for it.
pub(crate) struct Guarded {
    listener: TcpListener,
    room: Arc<Semaphore>,
    quota: Option<ConnectionQuota>,
    idle: Duration,
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
            idle: Duration::from_millis(config.idle_ms),
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
        (Watched::new(stream, self.idle, place, slot), address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that ends when nothing has moved in either direction for the idle time.
pub(crate) struct Watched {
    stream: TcpStream,
    idle: Duration,
    alarm: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
    _slot: Option<ConnectionSlot>,
}

impl Watched {
    fn new(
        stream: TcpStream,
        idle: Duration,
        place: OwnedSemaphorePermit,
        slot: Option<ConnectionSlot>,
    ) -> Watched {
        Watched {
            stream,
            idle,
            alarm: Box::pin(sleep(idle)),
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
            self.alarm.as_mut().reset(Instant::now() + self.idle);
            return polled;
        }
        match self.alarm.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
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
        self.watch(cx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
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
