//! Comment blocks as the paper finds them.

use taojin_extract::page::{Hints, Page};

use crate::siblings::Siblings;
use crate::similarity::{Measure, Mode};

const ITEM: &str = "<li><div><a><b><i>名</i></b></a><p>话</p></div></li>";
const POL: Measure = Measure::Pol(Mode::Fixed);

/// A list of five items and another one.
fn list(other: &str) -> Page {
    let html = format!("<body><div><ul>{}{other}</ul></div></body>", ITEM.repeat(5));
    Page::parse(html.as_bytes(), Hints::default())
}

#[test]
fn equal_siblings_are_found_only_when_there_are_enough() {
    let page = list("");
    let found = |least| Siblings::of(&page, POL, 4, least).above(0.8).len();
    assert_eq!(found(5), 5);
    assert_eq!(found(6), 0);
}

#[test]
fn the_threshold_decides_which_siblings_are_alike() {
    let page = list("<li><div><a><b><i>名</i></b></a><p>话</p><p>话</p></div></li>");
    let siblings = Siblings::of(&page, POL, 4, 5);
    assert_eq!(siblings.above(0.5).len(), 6);
    assert_eq!(siblings.above(0.97).len(), 5);
    assert!(siblings.above(1.0).is_empty());
}
