//! Search on the command line, over HTTP and in a browser.

mod command;
mod follow;
mod terms;
mod trends;
mod web_page;
