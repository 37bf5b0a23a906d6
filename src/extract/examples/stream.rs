//! Parses a page while it arrives, here from standard input, and prints its title and text: `stream < page.html`. Nothing but the
//! page model is kept in memory; what comes beyond the limits is not read.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::io::{Read, stdin};

use taojin_extract::page::{Builder, Hints};
use taojin_extract::{Context, extract};

fn main() -> std::io::Result<()> {
    let mut builder = Builder::new(Hints::default());
    let mut piece = [0; 16 * 1024];
    loop {
        let length = stdin().lock().read(&mut piece)?;
        if length == 0 {
            break;
        }
        builder.feed(&piece[..length]);
    }
    let document = extract(&builder.finish(), &Context::default());
    println!("{}\n", document.title.unwrap_or_default());
    println!("{}", document.text);
    Ok(())
}
