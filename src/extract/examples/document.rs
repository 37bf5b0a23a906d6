//! Prints the document of an HTML file as JSON: `document FILE [URL] [CHARSET]`. The charset is that of the Content-Type header.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example prints"
)]

use std::process::ExitCode;

use taojin_extract::page::{Hints, Page};
use taojin_extract::{Context, extract};
use taojin_uri::CrawlUri;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(file) = args.next() else {
        eprintln!("document FILE [URL] [CHARSET]");
        return ExitCode::from(2);
    };
    let bytes = match std::fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let hints = Hints {
        url: args.next().and_then(|url| CrawlUri::parse(&url).ok()),
        charset: args.next(),
        ..Hints::default()
    };
    // With Context::now_ms, "3 hours ago" would be resolved as well.
    let context = Context::default();
    let document = extract(&Page::parse(&bytes, hints), &context);
    match serde_json::to_string_pretty(&document) {
        Ok(json) => println!("{json}"),
        Err(error) => eprintln!("{error}"),
    }
    ExitCode::SUCCESS
}
