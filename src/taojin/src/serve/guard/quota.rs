//! Connections by client. In: where a connection comes from. Out: a [`ConnectionSlot`] for as long as it is open, or none when the
//! client has its share already. Never counts the machine's own: a proxy brings everybody's.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Part of all connections that one client may have: four greedy ones are needed to keep everybody else out.
const SHARE: usize = 4;

/// Who has how many connections.
#[derive(Clone)]
pub(crate) struct ConnectionQuota {
    taken: Arc<Mutex<HashMap<IpAddr, usize>>>,
    most: usize,
}

/// One connection of a client; dropped, it is free again.
pub(crate) struct ConnectionSlot {
    client: Option<IpAddr>,
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
        let client = Some(client.to_canonical()).filter(|address| !address.is_loopback());
        if let Some(address) = client {
            let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            let count = taken.entry(address).or_insert(0);
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

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let Some(address) = self.client else {
            return;
        };
        let taken = &self.quota.taken;
        let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&address);
            }
        }
    }
}
