//! Connections by client. In: where a connection comes from. Out: a [`ConnectionSlot`] for as long as it is open, or none when the
//! client has its share already. Never counts the machine's own: a proxy brings everybody's.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Part of all connections that one client may have: four greedy ones are needed to keep everybody else out.
const SHARE: usize = 4;

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
