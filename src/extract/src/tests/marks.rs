//! What classes say of an element, and what they only say of its layout; what short lines say of themselves.

use crate::cues::phrases::{Phrase, SeenWords, classify_phrase};
use crate::lines::hints::{MarkReader, Marks};
use crate::lines::outline::Outline;
use crate::page::{Hints, Page, Tag};

/// The marks of a `div` with a class.
fn marks(class: &str) -> Marks {
    let html = format!(r#"<body><div class="{class}">text</div>"#);
    let page = Page::parse(html.as_bytes(), Hints::default());
    let div = page.nodes().iter().position(|n| n.tag == Tag::DIV);
    let id = u32::try_from(div.expect("it is in the page")).expect("a small page");
    MarkReader::new(&page).marks(id)
}

#[test]
fn marks_ignore_layout_words() {
    let against = Marks::AGAINST.with(Marks::AUTHOR).with(Marks::ABOUT);
    for class in concat!(
        "position-relative~padding-top-0 padding-bottom-2~overflow-hidden~",
        "field field--label-hidden~pull-right~inside-article~thread-wrapper~TRS_Editor~",
        "review-text~post type-post status-publish author-jane tag-water~main has-sidebar~",
        "post has-profile bg1~node--promoted~dialog-off-canvas-main-canvas~",
        "elementor-widget-container",
    )
    .split('~')
    {
        assert!(!marks(class).any(against), "{class}: {:?}", marks(class));
    }
}

#[test]
fn line_marked_by_what_holds_it_whole() {
    for (html, expected, case) in [
        (
            "<p><a class=comments_count>0</a> The mill burns.</p>",
            false,
            "a part at its beginning",
        ),
        (
            "<p><a class=comment>The mill burns.</a></p>",
            true,
            "an inline element with all of it",
        ),
        (
            "<p class=comment><a>0</a> The mill burns.</p>",
            true,
            "a block",
        ),
    ] {
        let page = Page::parse(html.as_bytes(), Hints::default());
        let mut outline = Outline::new(&page, false);
        outline.spread_marks(&page, None);
        assert_eq!(
            outline.lines[0].marks.any(Marks::COMMENT),
            expected,
            "{case}"
        );
    }
}

#[test]
fn marks_against_text() {
    for (class, mark) in [
        ("related-posts", Marks::RELATED),
        ("sidebar", Marks::ASIDE),
        ("right", Marks::ASIDE),
        ("main-right", Marks::ASIDE),
        ("side-box", Marks::ASIDE),
        ("top", Marks::HEADER),
        ("bottom", Marks::FOOTER),
        ("is-hidden", Marks::POPUP),
        ("ad-wrap", Marks::PROMO),
        ("post-views", Marks::ABOUT),
        ("nav", Marks::NAV),
    ] {
        assert!(marks(class).any(mark), "{class}: {:?}", marks(class));
    }
    // A comment stays one, whatever else WordPress calls it.
    let comment = marks("comment byuser comment-author-steve bypostauthor");
    assert!(comment.any(Marks::COMMENT) && !comment.any(Marks::AUTHOR));
}

#[test]
fn phrase_paging_or_sentence() {
    for text in
        "Next~Previous article: The mill burns~Next: how to mend it~上一篇：港口开航~Older posts"
            .split('~')
    {
        assert_eq!(
            classify_phrase(text, SeenWords::new(text)),
            Some(Phrase::Paging),
            "{text}"
        );
    }
    for text in [
        "Next year marks the tenth anniversary of the first photograph.",
        "Next, check with your dealer for used machines.",
        "Previous deals have also included money for roads.",
        "Preventing the worst is not enough.",
    ] {
        assert_ne!(
            classify_phrase(text, SeenWords::new(text)),
            Some(Phrase::Paging),
            "{text}"
        );
    }
}

#[test]
fn marks_independent_of_neighbours() {
    assert_eq!(marks("left menu clearfix"), marks("menu"));
    assert_eq!(marks("news list"), Marks::default());
    assert_eq!(marks("page nav"), marks("nav"));
    assert!(marks("x.nav y").any(Marks::NAV));
}
