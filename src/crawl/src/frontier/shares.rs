//! How many of the connections a site may have: what one site does with its hosts takes no more from the others than its share.

use foldhash::HashMap;

use crate::store::SiteId;

/// A site counts as one that wants connections for so long after its last request: longer than most hosts rest between two
/// pages, so that there is room when their rest is over.
const WANTS_MS: i64 = 60_000;

/// The connections, and what sites have of them.
#[derive(Debug, Clone)]
pub struct Shares {
    /// Of all sites together.
    connections: usize,
    /// Of these, what one site has at most while others want some.
    of_site: usize,
    in_use: HashMap<SiteId, usize>,
    /// The sites of the last requests, and when: two different ones.
    recent: [Option<(SiteId, i64)>; 2],
}

impl Default for Shares {
    fn default() -> Self {
        Self::new(usize::MAX, 1.0)
    }
}

impl Shares {
    /// Of so many connections; a site has at most the part `of_site` of them while others want some, and one at least. As much
    /// is left free while it is alone, for others to begin with.
    pub fn new(connections: usize, of_site: f64) -> Self {
        let part = (connections as f64 * of_site.clamp(0.0, 1.0)) as usize;
        Shares {
            connections,
            of_site: part.clamp(1, connections.max(1)),
            in_use: HashMap::default(),
            recent: [None; 2],
        }
    }

    /// Whether a site may have one more connection. `is_alone`: no other site is crawled; `others_wait`: others have hosts that are ready.
    pub(super) fn has_room(
        &self,
        site: SiteId,
        is_alone: bool,
        others_wait: bool,
        now_ms: i64,
    ) -> bool {
        let most = if is_alone {
            self.connections
        } else if others_wait || self.is_other_recent(site, now_ms) {
            self.of_site
        } else {
            self.connections.saturating_sub(self.of_site).max(1)
        };
        self.in_use.get(&site).is_none_or(|in_use| *in_use < most)
    }

    fn is_other_recent(&self, site: SiteId, now_ms: i64) -> bool {
        let others = self.recent.iter().flatten().filter(|(of, _)| *of != site);
        others
            .into_iter()
            .any(|(_, at_ms)| now_ms - at_ms < WANTS_MS)
    }

    /// A connection of a site is used from now on.
    pub(super) fn begin(&mut self, site: SiteId, now_ms: i64) {
        *self.in_use.entry(site).or_default() += 1;
        match self.recent[0].replace((site, now_ms)) {
            Some((before, _)) if before == site => {}
            before => self.recent[1] = before,
        }
    }

    /// And no more.
    pub(super) fn end(&mut self, site: SiteId) {
        if let Some(in_use) = self.in_use.get_mut(&site) {
            *in_use -= 1;
            if *in_use == 0 {
                self.in_use.remove(&site);
            }
        }
    }

    /// None of them is used any more.
    pub(super) fn end_all(&mut self) {
        self.in_use.clear();
    }
}
