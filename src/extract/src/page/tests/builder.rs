//! Runs are read as lol_html reads them, wherever they are cut; what the limits cut, and that it makes no difference in which
//! pieces a page arrives. That any bytes give a sound page is tried by `tests/suite/fuzz`, what hostile ones cost by
//! `tests/suite/hostile`.

use std::cell::RefCell;

use lol_html::html_content::TextType;
use lol_html::{HtmlRewriter, Settings, doc_comments, doc_text};
use proptest::prelude::*;

use crate::page::builder::Parser;
use crate::page::markup::{Content, Markup, Pieces, TagEnd, TextKind};
use crate::page::{Builder, Config, Hints, Page, Tag};

/// Texts with what is between them as `None`.
type Texts = Vec<Option<(String, TextKind)>>;

fn add(texts: &mut Texts, text: &[u8], kind: TextKind) {
    let text = String::from_utf8_lossy(text);
    match texts.last_mut() {
        Some(Some((last, of))) if *of == kind => last.push_str(&text),
        _ => texts.push(Some((text.into_owned(), kind))),
    }
}

fn end_text(texts: &mut Texts) {
    if !matches!(texts.last(), Some(None)) {
        texts.push(None);
    }
}

/// The texts of a page as lol_html returns them, when it is asked to.
fn texts_of_lol_html(html: &str) -> Texts {
    let texts = RefCell::new(Texts::new());
    let settings = Settings::new().with_strict(false);
    let settings = settings.append_document_content_handler(doc_text!(|chunk| {
        let kind = match chunk.text_type() {
            TextType::Data | TextType::RCData => TextKind::Data,
            _ => TextKind::Raw,
        };
        let mut texts = texts.borrow_mut();
        if !chunk.as_str().is_empty() {
            add(&mut texts, chunk.as_str().as_bytes(), kind);
        }
        if chunk.last_in_text_node() {
            end_text(&mut texts);
        }
        Ok(())
    }));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    rewriter.write(html.as_bytes()).unwrap();
    rewriter.end().unwrap();
    texts.into_inner()
}

/// The texts of a page as they are read from the runs between its comments.
fn texts_of_runs(html: &str) -> Texts {
    let mut texts = Texts::new();
    let mut content = Content::default();
    let comment = RefCell::new(false);
    let settings = Settings::new().with_strict(false);
    let settings = settings.append_document_content_handler(doc_comments!(|_| {
        *comment.borrow_mut() = true;
        Ok(())
    }));
    let mut read = |run: &[u8]| {
        if comment.replace(false) {
            return end_text(&mut texts);
        }
        let mut pieces = Pieces::new(run, content);
        while let Some(piece) = pieces.next() {
            match piece {
                Markup::Text(text, kind) => {
                    add(&mut texts, text, kind);
                    continue;
                }
                Markup::Start { name } => {
                    let name = Tag::from_name(name);
                    if pieces.attributes(|_, _| {}) != TagEnd::Missing {
                        pieces.enter(Content::from_tag(name));
                    }
                }
                Markup::End { .. } | Markup::Doctype(_) | Markup::Bound => {}
            }
            end_text(&mut texts);
        }
        content = pieces.content();
    };
    let mut rewriter = HtmlRewriter::new(settings, &mut read);
    rewriter.write(html.as_bytes()).unwrap();
    rewriter.end().unwrap();
    end_text(&mut texts);
    texts
}

/// What a page is made of, and the beginnings and ends of that.
fn soup() -> impl Strategy<Value = String> {
    const PARTS: &str = concat!(
        "a~ ~中~&amp;~\n~<~>~/~!~-~--~'~\"~=~<p>~</p>~<b a='>' c=\"</script>\">~<!doctype html>~",
        "<!-- x -->~<!--~-->~<!-->~<!--->~--!>~</>~</ p>~<?x>~<!x>~<script>~<SCRIPT >~<script/>~",
        "</script~</script>~</Script >~<style>~</style>~</style/>~<title>~</title>~<textarea>~",
        "</textarea>~<noscript>~</noscript>~<iframe>~</iframe>~<xmp>~</xmp>~<plaintext>~",
        "<iframe/>~<textarea/>~<title />~",
        "<svg><![CDATA[a</b>&amp;]]></svg>~<![CDATA[~]]>",
    );
    let part = prop::sample::select(PARTS.split('~').collect::<Vec<_>>());
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn texts_as_lol_html(html in soup()) {
        let mut told = texts_of_lol_html(&html);
        let mut read = texts_of_runs(&html);
        told.retain(Option::is_some);
        read.retain(Option::is_some);
        prop_assert_eq!(told, read);
    }

    #[test]
    fn page_from_any_pieces(html in soup(), size in 1..9usize) {
        let whole = parsed(&html, html.len().max(1));
        prop_assert_eq!(parsed(&html, size), whole);
    }
}

/// Nodes and arena of a page whose text is written in pieces of so many bytes.
fn parsed(html: &str, size: usize) -> String {
    let mut parser = Parser::new(&Config::default());
    let mut rest = html;
    while !rest.is_empty() {
        let mut end = size.min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, tail) = rest.split_at(end);
        parser.write(piece);
        rest = tail;
    }
    let tree = parser.finish();
    format!(
        "{:?} {:?}",
        tree.nodes,
        String::from_utf8_lossy(&tree.arena)
    )
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

#[test]
fn page_byte_by_byte() {
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
fn limits_truncate_page() {
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
fn page_of_million_elements() {
    let page = Page::parse("<div>".repeat(1_000_000).as_bytes(), Hints::default());
    assert!(page.truncated.is_some());
    assert!(page.nodes().len() <= 250_000);
    let html = format!("<p>a</p><img src='{}'><p>b</p>", "x".repeat(1 << 20));
    let page = super::page(&html);
    assert_eq!(super::texts(&page), ["html.body.p a", "html.body.p b"]);
    assert!(page.memory_bytes() < 10_000);
}

#[test]
fn huge_tag_skipped() {
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
fn self_closing_ends_without_end_tag() {
    let html = "<!doctype html><title>t</title><p>a</p><iframe src='x' /><p>b</p><textarea/><p>c<script src=s />d<iframe/>\
        <textarea title='>'/>e<style/>f</p><!-- g --><p>h";
    let want = "t a b c d e f h";
    for size in [1, 7, html.len()] {
        let page = in_pieces(html.as_bytes(), &[size]);
        let texts: Vec<_> = (0..page.nodes().len() as u32)
            .map(|id| page.text(id))
            .filter(|text| !text.is_empty())
            .collect();
        assert_eq!(texts.join(" "), want);
    }
    // Browsers read to the end tag, if there is one.
    let page = super::page("<p>a</p><iframe/><p>b</p></iframe><title/>c</title><p>d");
    let want = ["html.body.p a", "html.body.title c", "html.body.p d"];
    assert_eq!(super::texts(&page), want);
}

#[test]
fn self_closing_bounded() {
    // Each name swallows the rest once, however many tags there are.
    let tags =
        "<iframe/><script/><style/><textarea/><title/><xmp/><noembed/><noframes/><noscript/>";
    let html = format!("{}<p>end", tags.repeat(2_000));
    let page = super::page(&html);
    let last = super::texts(&page).pop();
    assert_eq!(last.as_deref(), Some("html.body.p end"));
}

#[test]
fn builder_is_send() {
    fn is_send<T: Send>(_: &T) {}
    is_send(&Builder::new(Hints::default()));
}
