//! The bundled sample web: an oil and gas news world in Chinese, invented from a seed, with everything that makes real
//! sites hard to crawl. In: a seed, a moment, a port. Out: the ground truth ([`World`]) and a server of it on loopback
//! ([`Server`], [`serve`]). `taojin demo` crawls it, and tests check what a crawl of it must find.

mod answer;
mod article;
mod conventions;
mod feeds;
mod files;
mod pages;
mod rng;
mod routes;
mod server;
mod sites;
mod special_cases;
mod template;
#[cfg(test)]
mod tests;
mod text;
mod time;
mod traps;
pub mod trial;
mod world;

pub use answer::{Answer, Body, Request};
pub use article::{Article, Delivery, Discovery, Encoding};
pub use pages::RETRY_AFTER_S;
pub use server::{Hit, Server, serve};
pub use sites::{SampleSite, Section, Template};
pub use text::composer::Comment;
pub use text::genre::Genre;
pub use traps::{PRIVATE_LINKS, Trap, TrapKind};
pub use world::{ARTICLES, CHANGED_PER_ROUND, NEW_PER_ROUND, World};

/// Example searches that find something on the sample web.
pub const SHOWCASE: [&str; 3] = ["页岩气 水平井", "储气库", "LNG接收站"];
