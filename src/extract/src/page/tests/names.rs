use crate::page::{Attr, Page, Tag};

#[test]
fn every_name_of_the_table_finds_itself_in_any_case() {
    for number in 2..super::super::tag::TAGS as u16 {
        let name = Tag(number).name();
        assert_eq!(Tag::from_name(name.as_bytes()), Tag(number), "{name}");
        let upper = name.to_ascii_uppercase();
        assert_eq!(Tag::from_name(upper.as_bytes()), Tag(number), "{upper}");
    }
}

#[test]
fn other_names_are_other() {
    for name in [
        "", "x-card", "divv", "di", "h7", "#text", "unknown", "spa\0",
    ] {
        assert_eq!(Tag::from_name(name.as_bytes()), Tag::OTHER, "{name:?}");
    }
    assert_eq!(Tag(9999).name(), "unknown");
    assert!(!Tag(9999).is_block());
}

#[test]
fn predicates_tell_elements_apart() {
    assert!(Tag::BR.is_void() && !Tag::DIV.is_void());
    assert!(Tag::P.is_block() && Tag::SPAN.is_inline() && Tag::TEXT.is_inline());
    assert!(Tag::H3.is_heading() && !Tag::HEADER.is_heading());
    assert!(Tag::SCRIPT.is_invisible() && Tag::TITLE.is_invisible() && !Tag::A.is_invisible());
}

#[test]
fn attribute_names_are_found_in_any_case_and_others_dropped() {
    assert_eq!(Attr::from_name(b"HREF"), Some(Attr::Href));
    assert_eq!(Attr::from_name(b"data-original"), Some(Attr::DataOriginal));
    assert_eq!(Attr::from_name(b"onclick"), None);
    assert_eq!(Attr::from_name(b"a-name-longer-than-any-known"), None);
}

fn path_of(page: &Page, tag: Tag) -> u32 {
    page.nodes().iter().find(|n| n.tag == tag).unwrap().path
}

#[test]
fn equal_paths_are_interned_once() {
    let page = super::page("<div><p>a</p><p>b</p><ul><li><b>c</b></ul></div>");
    let paragraphs: Vec<u32> = page
        .nodes()
        .iter()
        .filter(|n| n.tag == Tag::P)
        .map(|n| n.path)
        .collect();
    assert_eq!(paragraphs[0], paragraphs[1]);
    assert_eq!(
        page.path_name(path_of(&page, Tag::B)),
        "html.body.div.ul.li.b"
    );
}
