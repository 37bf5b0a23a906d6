//! The web pages for people: what each shows, in two languages, and the HTML that it fills.

pub(crate) mod api;
pub(crate) mod assets;
pub(crate) mod chart;
pub(crate) mod chips;
pub(crate) mod citation;
pub(crate) mod document;
pub(crate) mod filters;
pub(crate) mod help;
pub(crate) mod home;
pub(crate) mod html;
pub(crate) mod lang;
pub(crate) mod lines;
pub(crate) mod login;
pub(crate) mod moment;
pub(crate) mod refused;
pub(crate) mod request;
pub(crate) mod results;
pub(crate) mod searched;
pub(crate) mod site;
pub(crate) mod status;
pub(crate) mod thread;
pub(crate) mod trends;
pub(crate) mod versions;
pub(crate) mod view;
pub(crate) mod web;
pub(crate) mod words;
