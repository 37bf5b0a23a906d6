//! The bundled sample web: an oil and gas news world in Chinese, invented from a seed, with everything that makes real
//! sites hard. In: a seed, a moment, a port. Out: the ground truth ([`World`]) and a server of it on loopback
//! ([`Server`], [`serve`]). `taojin demo` crawls it, and the tests ask what a crawl of it must have found.

mod answer;
mod composer;
mod feeds;
mod files;
mod grammar;
mod phrases;
mod planting;
mod regions;
mod rng;
mod routes;
mod server;
mod sites;
mod template;
#[cfg(test)]
mod tests;
mod traps;
pub mod trial;
mod vocabulary;
mod world;

pub use answer::{Answer, Ask, Body, RETRY_AFTER_S};
pub use composer::Remark;
pub use phrases::Genre;
pub use server::{Hit, Server, serve};
pub use sites::{SampleSite, Section, Template};
pub use traps::{PRIVATE_LINKS, Trap, TrapKind};
pub use world::{
    ARTICLES, CHANGED_PER_ROUND, Encoding, Manner, NEW_PER_ROUND, Planted, Way, World,
};

/// Searches that show well on the sample web.
pub const SHOWCASE: [&str; 3] = ["页岩气 水平井", "储气库", "LNG接收站"];
