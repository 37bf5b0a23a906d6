//! What the limits cut, and that it makes no difference in which pieces a page arrives. That any bytes give a sound
//! page is tried by `tests/suite/fuzz`, what hostile ones cost by `tests/suite/hostile`.

use crate::page::{Builder, Config, Hints, Page};

fn in_pieces(bytes: &[u8], sizes: &[usize]) -> Page {
    let mut builder = Builder::new(Hints::default());
    let mut rest = bytes;
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let size = sizes.next().copied().unwrap_or(1).clamp(1, rest.len());
        let (piece, tail) = rest.split_at(size);
        builder.feed(piece);
        rest = tail;
    }
    builder.finish()
}

#[test]
fn one_byte_at_a_time_gives_the_same_page() {
    let html = format!(
        "<meta charset=gbk>{}",
        "<p class=a>中文&amp;<b>x</b><!-- y -->".repeat(1500)
    );
    let gbk = encoding_rs::GBK.encode(&html).0.into_owned();
    let whole = Page::parse(&gbk, Hints::default());
    assert_eq!(in_pieces(&gbk, &[1]), whole);
    assert_eq!(whole.charset, "gb18030");
}

#[test]
fn limits_cut_the_page_and_are_named() {
    let with = |limits: Config, html: &str| {
        Page::parse(
            html.as_bytes(),
            Hints {
                limits,
                ..Hints::default()
            },
        )
    };
    let nodes = with(
        Config {
            max_nodes: 50,
            ..Config::default()
        },
        &"<p>x".repeat(1000),
    );
    assert_eq!((nodes.truncated, nodes.nodes().len()), (Some("nodes"), 50));
    let bytes = with(
        Config {
            max_decoded_bytes: 100,
            ..Config::default()
        },
        &"<p>x".repeat(1000),
    );
    assert_eq!(bytes.truncated, Some("bytes"));
    assert!(bytes.nodes().len() < 60);
}

#[test]
fn a_million_open_elements_and_a_huge_attribute_end() {
    let page = Page::parse("<div>".repeat(1_000_000).as_bytes(), Hints::default());
    assert!(page.truncated.is_some());
    assert!(page.nodes().len() <= 250_000);
    let html = format!("<p>a</p><img src='{}'><p>b</p>", "x".repeat(1 << 20));
    let page = super::page(&html);
    assert_eq!(super::texts(&page), ["html.body.p a", "html.body.p b"]);
    assert!(page.memory_bytes() < 10_000);
}

#[test]
fn a_tag_without_measure_is_left_out_and_the_page_goes_on() {
    for tag in [
        "<p ".repeat(700_000) + "y>",
        format!("<img alt=\"{}'>\" src=x>", "> ".repeat(1 << 20)),
        format!("<img alt = '{}' title=\">\">", "x".repeat(2 << 20)),
    ] {
        let html = format!("<div>a{tag}b<i>c</i></div>d");
        for size in [html.len(), 5000] {
            let page = in_pieces(html.as_bytes(), &[size]);
            assert_eq!(page.truncated, Some("tag"));
            let joined: String = super::texts(&page).join("|");
            assert_eq!(joined, "html.body.div ab|html.body.div.i c|html.body d");
        }
    }
}

#[test]
fn a_builder_can_be_held_across_awaits() {
    fn is_send<T: Send>(_: &T) {}
    is_send(&Builder::new(Hints::default()));
}
