//! The hosts of a site's attachments that are not its own: any of its registrable domain may be, so that their number is bounded.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::sites::Site;
use crate::store::{NewUrl, Store, StoreError, UrlClass};

/// Such hosts of one site. The largest portals offer files of some dozen offices; names below one domain cost nothing.
pub(super) const MAX_FILE_HOSTS: usize = 100;

/// Those of each site, read when a page first offers a file on one.
#[derive(Debug, Default)]
pub(super) struct FileHosts(HashMap<Arc<str>, HashSet<Box<str>>>);

impl FileHosts {
    /// Drops attachments that are on one host too many. How many.
    pub(super) fn drop_crowded(
        &mut self,
        store: &Store,
        sites: &HashMap<Arc<str>, Site>,
        lists: &mut [(bool, &mut Vec<NewUrl>)],
    ) -> Result<usize, StoreError> {
        let mut dropped = 0;
        for (_, links) in lists {
            let mut failed = None;
            links.retain(|link| {
                if link.class != UrlClass::Attachment {
                    return true;
                }
                let Some(site) = sites.get_key_value(&link.site) else {
                    return true;
                };
                match self.admit(store, site, link.uri.authority()) {
                    Ok(admitted) => {
                        dropped += usize::from(!admitted);
                        admitted
                    }
                    Err(error) => {
                        failed = Some(error);
                        true
                    }
                }
            });
            failed.map_or(Ok(()), Err)?;
        }
        Ok(dropped)
    }

    /// Whether a file on a host, `host` or `host:port`, may be taken up for a site. Counts the host if it is new.
    fn admit(
        &mut self,
        store: &Store,
        (name, site): (&Arc<str>, &Site),
        authority: &str,
    ) -> Result<bool, StoreError> {
        // What is none of the site's files is refused by its scope, and takes no place.
        if site.scope.has_authority(authority) || !site.scope.has_files_at(authority) {
            return Ok(true);
        }
        if !self.0.contains_key(name) {
            let known = store.addresses().authorities(site.id)?;
            let known = known
                .into_iter()
                .filter(|known| !site.scope.has_authority(known) && site.scope.has_files_at(known));
            self.0.insert(Arc::clone(name), known.collect());
        }
        let Some(known) = self.0.get_mut(name) else {
            return Ok(true);
        };
        if known.contains(authority) {
            return Ok(true);
        }
        let has_room = known.len() < MAX_FILE_HOSTS;
        if has_room {
            known.insert(authority.into());
        }
        Ok(has_room)
    }

    /// Sites have other rules now.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}
