//! Any bytes give a page, the same however they arrive, and hostile ones cost no more than they are long.

use proptest::prelude::*;

use crate::page::{Builder, Config, Hints, Page, Tag, kind, links};

/// Nodes are in preorder, parents close after their children, spans lie inside their tables.
fn assert_sound(page: &Page) {
    for (id, node) in page.nodes().iter().enumerate() {
        let id = id as u32;
        assert!(node.end > id && node.end as usize <= page.nodes().len());
        let parent = page.node(node.parent);
        if id == 0 {
            assert_eq!((node.parent, node.depth), (0, 0));
        } else {
            assert!(node.parent < id && node.end <= parent.end);
            assert_eq!(node.depth, parent.depth + 1);
            assert_ne!(parent.tag, Tag::TEXT);
        }
        let path = page.paths()[node.path as usize];
        if node.tag == Tag::TEXT {
            assert!(!page.text(id).is_empty());
            assert_eq!(node.path, parent.path);
        } else {
            assert_eq!(path.tag, node.tag);
            assert_eq!(path.len, node.depth + 1);
        }
        assert_eq!(
            page.attributes_of(id).count(),
            page.attributes_of(id).count()
        );
    }
    let _ = (kind(page, None), links(page, 10), page.body());
    let _ = page.visible_text(0..page.nodes().len() as u32);
}

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

/// Pieces of markup that exercise the tree rules when put together at random.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<div>",
        "</div>",
        "<p>",
        "</p>",
        "<b>",
        "</b>",
        "<a href=x>",
        "</a>",
        "<i class=c>",
        "</i>",
        "<table>",
        "</table>",
        "<tr>",
        "</tr>",
        "<td>",
        "</td>",
        "<tbody>",
        "<caption>",
        "<col>",
        "<ul>",
        "<li>",
        "</li>",
        "</ul>",
        "<h1>",
        "</h1>",
        "<form>",
        "</form>",
        "<select>",
        "<option>",
        "</select>",
        "<svg>",
        "<path/>",
        "</svg>",
        "<title>",
        "</title>",
        "<script>",
        "</script>",
        "<template>",
        "</template>",
        "<button>",
        "</button>",
        "<br>",
        "</br>",
        "<pre>",
        "</pre>",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<!doctype html>",
        "<math><mi>",
        "</math>",
        "<frameset>",
        "<body>",
        "</body>",
        "</html>",
        "<head>",
        "text",
        " ",
        "\n",
        "中文",
        "&amp;",
        "&#",
        "<",
        ">",
        "\"",
        "'",
        "=",
        "\0",
        "<noscript>",
        "</noscript>",
        "<x-y>",
        "</x-y>",
        "<dd>",
        "<dt>",
        "<nobr>",
        "<font size=1>",
        "</font>",
        "<object>",
        "</object>",
        "<textarea>",
        "</textarea>",
        "<foreignObject>",
        "<desc>",
        "<iframe src=y>",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_a_sound_page(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        assert_sound(&Page::parse(&bytes, Hints::default()));
    }

    #[test]
    fn any_markup_gives_a_sound_page(html in soup()) {
        assert_sound(&super::page(&html));
    }

    #[test]
    fn pieces_make_no_difference(html in soup(), sizes in prop::collection::vec(1usize..40, 1..6), pad in 0usize..40_000) {
        let html = format!("{html}{}{html}", "中文 <p>x".repeat(pad / 10));
        let whole = super::page(&html);
        prop_assert_eq!(&in_pieces(html.as_bytes(), &sizes), &whole);
    }
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
        let page = Page::parse(
            html.as_bytes(),
            Hints {
                limits,
                ..Hints::default()
            },
        );
        assert_sound(&page);
        page
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

fn unlimited(html: &str) -> Page {
    let limits = Config {
        max_decoded_bytes: 1 << 30,
        max_nodes: 1 << 24,
        ..Config::default()
    };
    Page::parse(
        html.as_bytes(),
        Hints {
            limits,
            ..Hints::default()
        },
    )
}

/// Work is told by what is built: twice the input builds about twice the nodes and bytes, never more.
#[test]
fn hostile_markup_grows_no_faster_than_its_input() {
    let cases: [fn(usize) -> String; 9] = [
        |n| "<div>".repeat(n),
        |n| "<b>x<p>".repeat(n),
        |n| "<a href=x><div></a>".repeat(n),
        |n| "<font size=1><i><table>x".repeat(n),
        |n| "<table><tr><td><b>".repeat(n),
        |n| "<b class=a><i class=b><u class=c><p>x</b>".repeat(n),
        |n| "<table>x<tr>".repeat(n),
        |n| "</p></br></div></x>".repeat(n),
        |n| "<svg><g>".repeat(n),
    ];
    for (at, case) in cases.iter().enumerate() {
        let (small, large) = (unlimited(&case(2000)), unlimited(&case(4000)));
        assert_sound(&large);
        let (small, large) = (small.nodes().len(), large.nodes().len());
        assert!(
            large <= small * 2 + small / 5 + 20,
            "case {at}: {small} then {large}"
        );
        assert!(large <= 4000 * 40, "case {at}: {large}");
    }
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
            assert_sound(&page);
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
