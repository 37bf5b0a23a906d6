//! Search on the command line, over HTTP and in a browser.

mod command;
mod fairness;
mod follow;
mod terms;
mod trends;
mod web_page;
