//! What leaves and enters the store: the log of documents, exports, imports, deletions, archives, backups.

mod backup;
mod deletion;
mod document_log;
mod export;
mod import_formats;
mod warc;
