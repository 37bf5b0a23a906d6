mod clusters;
mod fit;
mod learning;
mod optional;
mod saved;
mod sequences;
mod titles;

use crate::page::{Hints, Page};

/// A page of HTML.
fn page(html: &str) -> Page {
    Page::parse(html.as_bytes(), Hints::default())
}
