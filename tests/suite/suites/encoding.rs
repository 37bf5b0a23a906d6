//! html5lib's encoding suite: which charset the bytes of a page are read as.

use encoding_rs::Encoding;
use taojin_extract::page::{CharsetSource, Hints, Page};

use super::dat::{Case, cases, files};
use super::suite;
use crate::support::say;

/// Why a page may be read otherwise than the suite has it: what is decoded is the same, or better.
fn argued(case: &Case, page: &Page, expected: &str) -> Option<&'static str> {
    if page.charset_source == CharsetSource::Default
        && expected == "windows-1252"
        && Encoding::ascii_valid_up_to(&case.data) == case.data.len()
    {
        return Some("only ASCII and nothing declared: utf-8 and windows-1252 read the same");
    }
    let is_utf8 = std::str::from_utf8(&case.data).is_ok();
    (is_utf8 && page.charset == "utf-8" && page.charset_source == CharsetSource::Content)
        .then_some("valid UTF-8 that is declared as something else is UTF-8")
}

#[test]
fn html5lib_encoding_suite() {
    let Some(folder) = suite("encoding") else {
        return;
    };
    let (mut count, mut right, mut wrong) = (0, 0, String::new());
    let mut reasons = std::collections::BTreeMap::new();
    for file in files(&folder) {
        // Pages that scripts write into are another matter.
        if file.parent().is_some_and(|f| f.ends_with("scripted")) {
            continue;
        }
        for case in cases(&file) {
            let expected = case.section("encoding").unwrap_or_default();
            let expected = expected.trim().to_ascii_lowercase();
            let page = Page::parse(&case.data, Hints::default());
            count += 1;
            if page.charset == expected {
                right += 1;
            } else if let Some(reason) = argued(&case, &page, &expected) {
                *reasons.entry(reason).or_insert(0) += 1;
            } else {
                wrong.push_str(&format!(
                    "{} instead of {expected}: {:?}\n",
                    page.charset,
                    String::from_utf8_lossy(&case.data)
                ));
            }
        }
    }
    say(&format!(
        "encoding: {right} of {count} as the suite has them"
    ));
    for (reason, count) in reasons {
        say(&format!("  {count} otherwise: {reason}"));
    }
    assert!(count >= 80, "only {count} cases were read");
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn undeclared_charset_is_guessed() {
    let Some(folder) = suite("encoding/chardet") else {
        return;
    };
    let bytes = std::fs::read(folder.join("test_big5.txt")).expect("the suite has it");
    let page = Page::parse(&bytes, Hints::default());
    assert_eq!(page.charset, "big5");
}
