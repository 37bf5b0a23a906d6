//! What a copy that was exported has to take out. In: where the last export ended, and what this one holds. Out: the
//! documents that are gone since then, or do not fit what is exported any more.

use std::collections::HashSet;

use serde::Serialize;

use taojin_crawl::store::{Cursor, CursorLost, Reader, StoreError};

/// A document that does not belong into the copy (any more). The names are stable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Gone {
    /// Id of the document, as exports have it.
    pub(crate) id: String,
    /// Its address.
    pub(crate) url: String,
    /// The name of its site.
    pub(crate) site: Option<String>,
    /// `deleted`, or `changed`: it is there, but does not fit the query or the filters any more.
    pub(crate) why: &'static str,
    /// Number of the change.
    pub(crate) seq: i64,
    /// When the change was found, Unix milliseconds.
    pub(crate) changed_ms: i64,
}

/// The documents that changed after `after` and up to change `upto` and are not among those exported since then. The inner
/// error says why they are not known.
pub(crate) fn gone_since(
    reader: &Reader,
    after: &Cursor,
    upto: i64,
    exported: &HashSet<u64>,
) -> Result<Result<Vec<Gone>, CursorLost>, StoreError> {
    let mut all = Vec::new();
    let followed = reader.follow(after, usize::MAX, |row, _| {
        if row.seq > upto {
            return false;
        }
        if row.body.is_none() || !exported.contains(&row.fingerprint) {
            all.push(Gone {
                id: format!("{:016x}", row.fingerprint),
                why: if row.body.is_none() {
                    "deleted"
                } else {
                    "changed"
                },
                site: Some(row.site).filter(|site| !site.is_empty()),
                url: row.url,
                seq: row.seq,
                changed_ms: row.changed_ms,
            });
        }
        true
    })?;
    Ok(followed.map(|_| all))
}
