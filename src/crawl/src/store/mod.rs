//! The one durable thing, from which all else is derived: what is known of every URL and host, which of them are due,
//! and the log of documents. Finished pages and new URLs are written in batches, one transaction each. Never knows a
//! stage's algorithm: what is due when, and what is worth fetching first, is decided by `schedule` and `frontier` and
//! only stored here.
//!
//! SQLite in WAL mode with `synchronous=FULL`: what [`Store::commit`] returned from survives `kill -9` and loss of
//! power. One process holds the writing side (a lock file refuses a second one); any number of readers stand
//! next to it. The SQL is plain, so that PostgreSQL runs it too; there any number of nodes write, each to its own partitions.

mod addresses;
mod backup;
mod cluster;
mod commit;
mod documents;
mod error;
mod follows;
mod in_flight;
mod kept_files;
mod keys;
mod moving;
mod open;
mod place;
mod purge;
mod record;
mod runs;
mod schema;
mod shape;
mod sites;
mod sql;
mod templates;
mod terms;
mod urls;
mod used_templates;

#[cfg(test)]
pub(crate) mod tests;

pub use addresses::Addresses;
pub use backup::{
    BackupFacts, CopyProgress, Salvaged, back_up, check_backup, restore, restore_damaged,
};
pub use cluster::{
    Cluster, Moved, NodeRecord, PARTITIONS, Partition, Partitions, SiteDifferences, Waiting,
    first_row, part_of_row, partition,
};
pub use documents::{
    Change, Cursor, CursorLost, DocOp, DocumentRow, Followed, LastKnown, NewDocument, NoCursor,
    PackedBody, StoreIdentity,
};
pub use error::StoreError;
pub use follows::{DeliveredHit, Delivery, FollowMark, FollowRecord, Follows, NotifyOn};
pub use in_flight::{InFlight, UnderWay};
pub use kept_files::KeptFile;
pub use moving::{Copied, DocumentCopy, MovedRows, export, import};
pub use open::{Holder, Reader, Store, holder};
pub use place::{DatabaseFacts, Duties, StorePlace};
pub use purge::{Purge, Purged};
pub use record::{
    Announcement, Batch, Cause, Committed, DueUrl, FinishedPage, HELD_MS, HostId, HostRecord,
    Inserted, NewUrl, Retention, SiteId, SiteRecord, UrlClass, UrlId, UrlRecord, UrlState,
    UrlVisit,
};
pub use sites::{Counts, SiteCounts};
pub use sql::{Gained, NodeLease};
pub use templates::{
    NewTemplate, TemplateFit, TemplatePage, TemplateRow, TemplateStore, Templates,
};
pub use terms::{TermCounts, TermList, TermMark, TermRecord, TermState};
pub use urls::{HostsHeld, RANKS, Relatives, Takedown, Wall};
pub use used_templates::{TemplateVersions, UsedTemplate};
