//! Learns templates from saved pages of one site and prints the titles with them: `template FILE…`. Needs some ten pages.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::sync::Arc;

use taojin_extract::page::{Hints, Page};
use taojin_extract::template::{self, Guide, Keys, Library, Observation};
use taojin_extract::{Config, Context, extract_guided, observe};

fn main() -> std::io::Result<()> {
    let (context, config) = (Context::default(), Config::default());
    let mut pages = Vec::new();
    let mut seen = Vec::new();
    for file in std::env::args().skip(1) {
        let page = Page::parse(&std::fs::read(file)?, Hints::default());
        let keys = Keys::new(&page);
        let (_, lines) = observe(&page, &keys, &context, &config);
        seen.push(Observation::new(&page, &keys, lines));
        pages.push((page, keys));
    }
    let limits = template::Config::default();
    let templates = template::learn(&seen, &limits).templates;
    println!("{} templates", templates.len());
    let numbered = templates.into_iter().map(Arc::new);
    let library = Library::new((1..).zip(numbered).collect(), limits.max_distance);
    for (page, keys) in &pages {
        let found = library.assign(keys.set());
        let guide = found
            .as_ref()
            .map(|found| Guide::new(&found.template, keys, page));
        let document = extract_guided(page, &context, &config, guide.as_ref());
        println!("{}", document.title.unwrap_or_default());
    }
    Ok(())
}
