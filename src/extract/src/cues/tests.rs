use super::{SECTIONS, alternatives, lines, parse_heading, words, words_in_cases};
use crate::literals::compile_regex;

#[test]
fn sections_known_to_code() {
    let table = concat!(include_str!("mod.rs"), include_str!("web.txt"));
    let kinds = [
        "begins",
        "alone",
        "anywhere",
        "label",
        "pattern",
        "pattern.begins",
        "pattern.has",
    ];
    for section in SECTIONS.keys() {
        let part = section.split_once('.').map_or("", |(_, part)| part);
        let named = table.contains(&format!("`{section}`"));
        assert!(named || kinds.contains(&part), "{section}");
    }
}

#[test]
fn sections_have_words() {
    for (section, lines) in &*SECTIONS {
        assert!(!lines.iter().any(|line| line.trim() != *line), "{section}");
        if !section.ends_with("pattern") && !["months", "eras"].contains(section) {
            assert!(
                words(section).iter().all(|word| !word.is_empty()),
                "{section}"
            );
            compile_regex(&alternatives(section));
        }
    }
}

#[test]
fn heading_or_bracketed_words() {
    assert_eq!(parse_heading("[paging.begins]"), Some("paging.begins"));
    for words in ["[上下]一?[页篇]", "[(]c[)]", "reviews", "^[A-Z]"] {
        assert_eq!(parse_heading(words), None, "{words}");
    }
}

#[test]
fn section_words_of_all_languages() {
    let related = words("related.begins");
    for word in [
        "相关阅读",
        "see also",
        "lire aussi",
        "leia mais",
        "관련기사",
    ] {
        assert!(related.iter().any(|known| known == word), "{word}");
    }
    assert!(words("line.reading").contains(&"by ".to_owned()));
    assert!(lines("no.such").is_empty());
}

#[test]
fn words_beyond_ascii_both_cases() {
    let related = words_in_cases("related.begins");
    for word in [
        "à lire aussi",
        "À lire aussi",
        "ЧИТАЙТЕ ТАКЖЕ",
        "Читайте также",
        "LÆS OGSÅ",
    ] {
        assert!(related.iter().any(|known| known == word), "{word}");
    }
}
