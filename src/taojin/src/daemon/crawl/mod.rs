//! The crawl: the loop, one visit from lease to outcome, what is stored and logged of it.

pub(crate) mod apply;
pub(crate) mod archive;
pub(crate) mod article;
pub(crate) mod body;
pub(crate) mod commit;
pub(crate) mod crawl_log;
pub(crate) mod crawl_loop;
pub(crate) mod cycle;
pub(crate) mod disk;
pub(crate) mod duplicates;
pub(crate) mod fetching;
pub(crate) mod hand_out;
pub(crate) mod new_sites;
pub(crate) mod outage;
pub(crate) mod reading;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod replaying;
pub(crate) mod sharing;
pub(crate) mod site_run;
pub(crate) mod state;
pub(crate) mod tools;
pub(crate) mod visit;
pub(crate) mod visited;
pub(crate) mod walls;
