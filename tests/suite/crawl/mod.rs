//! What a crawl finds, what it asks for and what it keeps.

mod duplicates;
mod failing_pages;
mod foreign_sites;
mod incremental;
mod named_fields;
mod pass;
mod queues;
mod site_add;
mod year;
