//! Markdown that is read back, and what the writers make of each kind of block.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::*;
use crate::document::{Document, Image};

fn document(text: &str, blocks: Vec<Block>) -> Document {
    Document {
        text: text.to_owned(),
        structure: Structure { blocks },
        ..Document::default()
    }
}

fn block(at: u32, kind: BlockKind) -> Block {
    Block {
        at,
        kind,
        ..Block::default()
    }
}

fn item(at: u32, containers: &[Container], begins: u8) -> Block {
    Block {
        at,
        containers: containers.to_vec(),
        begins,
        ..Block::default()
    }
}

fn spans(at: u32, spans: Vec<Span>) -> Block {
    Block {
        at,
        spans,
        ..Block::default()
    }
}

fn link(range: Range<usize>, url: &str) -> Span {
    Span::new(range, SpanKind::Link(url.to_owned()))
}

/// The letters and digits that a reader of Markdown shows.
fn shown_letters(markdown: &str) -> String {
    let mut in_picture = false;
    let mut letters = String::new();
    for event in Parser::new_ext(
        markdown,
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH,
    ) {
        match event {
            Event::Start(Tag::Image { .. }) => in_picture = true,
            Event::End(TagEnd::Image) => in_picture = false,
            Event::Text(text) | Event::Code(text) if !in_picture => letters.push_str(&text),
            Event::Html(html) | Event::InlineHtml(html) => panic!("HTML: {html} in {markdown}"),
            _ => {}
        }
    }
    letters.retain(char::is_alphanumeric);
    letters
}

#[test]
fn blocks_as_markdown() {
    let quote = [Container::Quote];
    let nested = [Container::Item, Container::Number(1)];
    let text =
        "标题\n段落。\n一\n二\n甲\n三\n引文\n第二段\nfn a() {\n    b();\n}\n名 | 价\n油 | 7\n图注";
    let code = |at, first: bool, blank| {
        let language = first.then(|| "rust".to_owned());
        block(
            at,
            BlockKind::Code(CodeLine {
                first,
                blank,
                language,
            }),
        )
    };
    let row = |at, first| {
        block(
            at,
            BlockKind::Row(Row {
                first,
                ..Row::default()
            }),
        )
    };
    let document = document(
        text,
        vec![
            block(0, BlockKind::Heading(2)),
            item(2, &[Container::Item], 1),
            item(3, &[Container::Item], 1),
            item(4, &nested, 1),
            item(5, &[Container::Item], 1),
            item(6, &quote, 1),
            item(7, &quote, 0),
            code(8, true, 0),
            code(9, false, 0),
            code(10, false, 2),
            row(11, true),
            row(12, false),
            block(13, BlockKind::Caption),
        ],
    );
    let wanted = "## 标题\n\n段落。\n\n- 一\n- 二\n  1. 甲\n- 三\n\n> 引文\n>\n> 第二段\n\n```rust\nfn a() {\n    b();\n\n\n}\n```\n\n| 名 | 价 |\n| --- | --- |\n| 油 | 7 |\n\n*图注*\n";
    assert_eq!(document.markdown(), wanted);
    let wanted = "<h2>标题</h2>\n<p>段落。</p>\n<ul>\n<li>一</li>\n<li>二\n<ol>\n<li>甲</li>\n</ol>\n</li>\n<li>三</li>\n</ul>\n<blockquote>\n<p>引文</p>\n<p>第二段</p>\n</blockquote>\n<pre><code>fn a() {\n    b();\n\n\n}</code></pre>\n<table>\n<tr><td>名</td><td>价</td></tr>\n<tr><td>油</td><td>7</td></tr>\n</table>\n<p><em>图注</em></p>\n";
    assert_eq!(document.html(), wanted);
}

#[test]
fn spans_as_markdown() {
    for (text, found, wanted) in [
        (
            "读 全文 吧",
            vec![link(4..10, "https://a.cn/(1)")],
            "读 [全文](<https://a.cn/(1)>) 吧",
        ),
        (
            "怪!全文",
            vec![link(4..10, "https://a.cn/")],
            "怪\\![全文](https://a.cn/)",
        ),
        (
            "见[1]",
            vec![link(3..6, "https://a.cn/?a=1&b=2")],
            "见[\\[1\\]](https://a.cn/?a=1&b=2)",
        ),
        (
            "要点：安全",
            vec![Span::new(0..6, SpanKind::Strong)],
            "**要点**：安全",
        ),
        // Between a letter and a sign the stars would be read as stars.
        (
            "说“要点”的",
            vec![Span::new(3..15, SpanKind::Strong)],
            "说“要点”的",
        ),
        (
            "用 a`b 吧",
            vec![Span::new(4..7, SpanKind::Code)],
            "用 ``a`b`` 吧",
        ),
        (
            "按 f 键",
            vec![link(4..5, "javascript:alert(1)")],
            "按 f 键",
        ),
        (
            "值 x 为",
            vec![Span::new(4..5, SpanKind::Formula("x_1".to_owned()))],
            "值 $x_1$ 为",
        ),
        (
            "值 x 为",
            vec![Span::new(4..5, SpanKind::Formula("$x".to_owned()))],
            "值 x 为",
        ),
    ] {
        let document = document(text, vec![spans(0, found)]);
        assert_eq!(document.markdown(), format!("{wanted}\n"), "{text}");
    }
}

#[test]
fn what_would_be_syntax_is_escaped() {
    for (text, wanted) in [
        ("# 号", "\\# 号"),
        ("- 减", "\\- 减"),
        ("1. 一", "1\\. 一"),
        ("1.5 倍", "1.5 倍"),
        ("---", "\\---"),
        ("a*b*c ~~d~~", "a\\*b\\*c \\~\\~d\\~\\~"),
        ("snake_case _x_", "snake_case \\_x\\_"),
        ("<b>粗</b> a < b", "\\<b>粗\\</b> a < b"),
        ("&lt; & AT&T", "\\&lt; & AT&T"),
        ("[甲](乙) [丙]", "[甲\\](乙) [丙]"),
        ("C:\\路径\\", "C:\\路径\\\\"),
    ] {
        assert_eq!(document(text, Vec::new()).markdown(), format!("{wanted}\n"));
        let letters: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
        assert_eq!(shown_letters(wanted), letters);
    }
}

#[test]
fn rows_have_their_cells() {
    let row = Row::default();
    let cells = |text: &str| -> Vec<String> {
        let ranges = row.ranges(text).into_iter();
        ranges
            .map(|range| text.get(range).unwrap().to_owned())
            .collect()
    };
    assert_eq!(cells("甲 | 乙 | 丙"), ["甲", "乙", "丙"]);
    assert_eq!(cells("甲 | | 丙"), ["甲", "", "丙"]);
    assert_eq!(cells("| 乙 |"), ["", "乙", ""]);
    assert_eq!(cells("a|b | c"), ["a|b", "c"]);
    assert_eq!(cells("甲\t\t丙 | 丁"), ["甲", "", "丙 | 丁"]);
    let text = "甲 | 乙 | 丙";
    let kept = Row::of_page(text, &[0..9, 12..15]);
    assert_eq!(kept.cells, [(0, 9), (12, 15)]);
    assert_eq!(kept.ranges(text), [0..9, 12..15]);
}

#[test]
fn pictures_stand_between_items_and_not_in_tables() {
    let image = |after| Image {
        url: Some(format!("https://a.cn/{after}.jpg")),
        alt: String::new(),
        after,
    };
    let row = |at, first| {
        block(
            at,
            BlockKind::Row(Row {
                first,
                ..Row::default()
            }),
        )
    };
    let document = Document {
        images: vec![image(1), image(3), image(4)],
        ..document(
            "一\n二\na | b\nc | d",
            vec![
                item(0, &[Container::Item], 1),
                item(1, &[Container::Item], 1),
                row(2, true),
                row(3, false),
            ],
        )
    };
    let wanted = "- 一\n\n  ![](https://a.cn/1.jpg)\n\n- 二\n\n| a | b |\n| --- | --- |\n| c | d |\n\n![](https://a.cn/3.jpg)\n\n![](https://a.cn/4.jpg)\n";
    assert_eq!(document.markdown(), wanted);
}

#[test]
fn control_characters_move_ranges() {
    let text = "a\u{1}\u{85}甲 乙\nb\u{7}丙丁";
    let second = "b\u{7}丙丁".find('丁').unwrap();
    let mut document = document(
        text,
        vec![
            spans(0, vec![link(8..11, "https://a.cn/")]),
            spans(1, vec![Span::new(second..second + 3, SpanKind::Strong)]),
        ],
    );
    document.drop_controls();
    let found = document.structure.blocks.iter().zip(document.text.lines());
    let found: Vec<&str> = found
        .map(|(block, line)| line.get(block.spans[0].range()).unwrap())
        .collect();
    assert_eq!(found, ["乙", "丁"]);
}

#[test]
fn structure_as_json() {
    let code = CodeLine {
        first: true,
        blank: 2,
        language: Some("c%".to_owned()),
    };
    let row = Row {
        first: true,
        head: true,
        cells: vec![(0, 3), (6, 9)],
    };
    let structure = Structure::new(vec![
        block(3, BlockKind::Heading(2)),
        item(4, &[Container::Quote, Container::Number(2)], 1),
        item(5, &[Container::Item], 0),
        spans(
            9,
            vec![
                link(0..3, "https://a.cn/%3E;b c"),
                Span::new(4..5, SpanKind::Code),
                Span::new(5..5, SpanKind::Formula("a>b%".to_owned())),
            ],
        ),
        block(10, BlockKind::Code(code)),
        block(11, BlockKind::Row(row)),
    ]);
    let json = serde_json::to_string(&structure).unwrap();
    let wanted = r#""3h2;/qn2;/i^0;4 0+3a<https://a.cn/%3E;b c> 4+1c 1+0x<a%3Eb%25>;cf2<c%25>;rft(0-3,6-9)""#;
    assert_eq!(json, wanted);
    let read = serde_json::from_str::<Structure>(&json).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), json);
    assert_eq!(read.blocks[..3], structure.blocks[..3]);
    for wrong in [
        "h",
        "3h2;0k",
        "/n",
        "4 0+3",
        "4 0+3z",
        "4 0+3a<x",
        "9999999999",
        "h999",
        "rf(1-2",
    ] {
        let error = Structure::try_from(wrong.to_owned());
        assert!(error.is_err(), "{wrong}: {error:?}");
    }
}

/// Words that are syntax somewhere, and letters between them.
fn any_paragraph() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z0-9甲乙é]{1,3}",
        "[ *_`~\\[\\]()<>#+.!|&;:\\\\$=\"'-]{1,3}",
        Just("](".to_owned()),
        Just("&amp;".to_owned()),
        Just("<b>".to_owned()),
        Just(" | ".to_owned()),
        Just("1. ".to_owned()),
        Just("“”，".to_owned()),
    ];
    let pieces = prop::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat());
    pieces
        .prop_map(|text| format!("x{}", text.trim_end()))
        .prop_flat_map(|text| {
            let bare = text.get(1..).unwrap_or_default().trim_start().to_owned();
            prop_oneof![Just(text), Just(bare)]
        })
}

fn any_block(at: u32, text: String) -> impl Strategy<Value = Block> {
    let kind = prop_oneof![
        4 => Just(BlockKind::Plain),
        1 => (1u8..8).prop_map(BlockKind::Heading),
        1 => any::<bool>().prop_map(|first| BlockKind::Row(Row { first, ..Row::default() })),
        1 => (any::<bool>(), 0u8..2).prop_map(|(first, blank)| {
            BlockKind::Code(CodeLine { first, blank, language: None })
        }),
        1 => Just(BlockKind::Caption),
    ];
    let container = prop_oneof![
        Just(Container::Quote),
        Just(Container::Item),
        (0u32..4).prop_map(Container::Number),
    ];
    let length = text.len() as u32 + 2;
    let span_kind = prop_oneof![
        Just(SpanKind::Strong),
        Just(SpanKind::Emphasis),
        Just(SpanKind::Code),
        Just(SpanKind::Link("https://a.cn/(b)|c\\d&copy;".to_owned())),
        Just(SpanKind::Link("javascript:alert(1)".to_owned())),
    ];
    let span =
        (0..length, 0..length, span_kind).prop_map(|(a, b, kind)| Span(a.min(b), a.max(b), kind));
    (
        kind,
        prop::collection::vec(container, 0..3),
        0u8..4,
        prop::collection::vec(span, 0..4),
    )
        .prop_map(move |(kind, containers, begins, mut spans)| {
            spans.sort_by_key(|span| (span.0, std::cmp::Reverse(span.1)));
            Block {
                at,
                kind,
                containers,
                begins,
                spans,
            }
        })
}

fn any_document() -> impl Strategy<Value = Document> {
    prop::collection::vec(any_paragraph(), 1..7)
        .prop_map(|paragraphs| {
            paragraphs
                .into_iter()
                .filter(|p| !p.trim().is_empty())
                .collect::<Vec<_>>()
        })
        .prop_flat_map(|paragraphs| {
            let text = paragraphs.join("\n");
            let blocks: Vec<_> = (0..)
                .zip(paragraphs)
                .map(|(at, text)| any_block(at, text))
                .collect();
            (Just(text), blocks, 0u32..8)
        })
        .prop_map(|(text, blocks, after)| Document {
            images: vec![Image {
                url: Some("https://a.cn/b(c).jpg".to_owned()),
                alt: "图]( <b>".to_owned(),
                after,
            }],
            ..document(&text, blocks)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Whoever reads the Markdown gets the letters and digits of the text, each once and in order.
    #[test]
    fn markdown_is_read_back(document in any_document()) {
        let letters: String = document.text.chars().filter(|c| c.is_alphanumeric()).collect();
        let markdown = document.markdown();
        prop_assert_eq!(shown_letters(&markdown), letters, "{}", markdown);
    }

    /// Whatever is written is read again, and no text is more than wrong.
    #[test]
    fn notation_is_read_back(document in any_document(), text in "[0-9hkrcftqinsexmb/^;, ()<>+-]{0,30}") {
        let structure = document.structure;
        let written = notation::write(structure.blocks());
        prop_assert_eq!(Structure::try_from(written), Ok(structure));
        let _ = Structure::try_from(text);
    }

    /// Ranges that are none, in any order, are passed over.
    #[test]
    fn any_structure_is_written(text in "\\PC{0,40}", at in any::<[u32; 4]>(), level in any::<u8>()) {
        let [a, b, c, d] = at;
        let blocks = vec![
            Block {
                at: a % 3,
                kind: BlockKind::Row(Row { cells: vec![(b % 40, c % 40), (d, a)], ..Row::default() }),
                spans: vec![Span(b % 40, c % 40, SpanKind::Strong), Span(d % 9, a % 9, SpanKind::Marker)],
                begins: level,
                ..Block::default()
            },
            block(d, BlockKind::Heading(level)),
        ];
        let document = document(&text, blocks);
        document.markdown();
        document.html();
    }
}
