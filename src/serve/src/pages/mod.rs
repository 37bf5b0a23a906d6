//! The web pages for people: what each shows, in two languages, and the HTML that it fills.

pub(crate) mod assets;
pub(crate) mod chart;
pub(crate) mod choices;
pub(crate) mod document;
pub(crate) mod fit;
pub(crate) mod health;
pub(crate) mod help;
pub(crate) mod home;
pub(crate) mod login;
pub(crate) mod moment;
pub(crate) mod request;
pub(crate) mod results;
pub(crate) mod site;
pub(crate) mod sites;
pub(crate) mod status;
pub(crate) mod structured;
pub(crate) mod templates;
pub(crate) mod terms;
pub(crate) mod trends;
pub(crate) mod versions;
pub(crate) mod view;
pub(crate) mod words;
