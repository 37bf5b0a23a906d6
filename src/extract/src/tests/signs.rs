//! Every sign of a text is kept, whatever element it is in.

use proptest::prelude::*;

use super::hidden::{STORY, document};
use crate::lines::outline::Outline;
use crate::page::{Hints, Page};

/// The lines of a page, each as it is shown.
fn lines(html: &str) -> Vec<String> {
    let page = Page::parse(html.as_bytes(), Hints::default());
    let outline = Outline::new(&page, false);
    let lines = outline.lines.iter();
    lines
        .map(|line| outline.text(&page, line).to_owned())
        .collect()
}

#[test]
fn signs_beside_inline_elements_are_kept() {
    for (html, text) in [
        ("降幅为-<b>6.2</b>%", "降幅为-6.2%"),
        ("<td>-<b>6.2</b>%", "-6.2%"),
        ("《<a href=/x>管道条例</a>》", "《管道条例》"),
        ("<i>“</i><b>到井口去</b><i>”</i>", "“到井口去”"),
        ("open(<b>4</b>)", "open(4)"),
        ("<span>$</span><span>40</span><span>+</span>", "$40+"),
        (" ( <b>甲</b> ) ", "( 甲 )"),
        ("<b>±</b> <i>0.5</i> <u>℃</u>", "± 0.5 ℃"),
    ] {
        assert_eq!(lines(&format!("<div>{html}</div>")), [text], "{html}");
    }
}

#[test]
fn signs_stay_in_their_block() {
    assert_eq!(lines("<p>甲</p><p>《<p>%<p>乙"), ["甲", "乙"]);
    assert_eq!(lines("甲<br>》<br>乙"), ["甲", "乙"]);
    assert_eq!(lines("<div>—<p>甲</p>—</div>乙"), ["甲", "乙"]);
    // What is not shown adds no sign, and neither does the picture of a font of icons.
    assert_eq!(lines("<p><i hidden>(</i>甲<script>)</script>"), ["甲"]);
    assert_eq!(lines("<p><i>\u{E603}</i>甲<i>\u{F105}</i>"), ["甲"]);
}

#[test]
fn counts_of_comments_beside_text_are_dropped() {
    for (html, text) in [
        ("<a class=comments_count>0</a>储气库", "储气库"),
        (
            "储气库 <span class='news comment-num'> 12 </span>",
            "储气库",
        ),
        ("<a class=comments_count>共 7 条</a>", "共 7 条"),
        ("<b class=comment>9</b> 口井", "9 口井"),
        ("<b class=count>9</b> 口井", "9 口井"),
    ] {
        assert_eq!(lines(&format!("<div>{html}</div>")), [text], "{html}");
    }
}

#[test]
fn signs_of_title_and_comments_are_kept() {
    let page = document(&format!(
        "<title>《管道条例》问答</title><h1>《<a href=/x>管道条例</a>》问答</h1><div>{STORY}</div>"
    ));
    assert_eq!(page.title.as_deref(), Some("《管道条例》问答"));
    let said = [
        "（<i>这口井的产量</i>）本月变化<b>-3</b>%，希望下个月<i>好一些</i>！",
        "这项试验做得很好，值得在其他区块推广。",
        "+<b>1</b>，希望早日见到更多的区块投产",
        "《<a href=/b>年报</a>》里的数字和这里的对不上，请核实。",
    ];
    let comment = |(at, said): (usize, &&str)| {
        format!(
            "<li class=comment><b class=author>站长{at}</b><time>2026-05-0{} 10:00</time><p>{said}</li>",
            at + 1
        )
    };
    let all: String = said.iter().enumerate().map(comment).collect();
    let page = document(&format!(
        "<h1>产量月报</h1><div>{STORY}</div><ul class=comment-list>{all}</ul>"
    ));
    let said: Vec<_> = page.comments.iter().map(|c| c.text.as_str()).collect();
    let expected = [
        "（这口井的产量）本月变化-3%，希望下个月好一些！",
        "这项试验做得很好，值得在其他区块推广。",
        "+1，希望早日见到更多的区块投产",
        "《年报》里的数字和这里的对不上，请核实。",
    ];
    assert_eq!(said, expected);
}

/// Inline markup, with its text.
fn inline_markup() -> impl Strategy<Value = (String, String)> {
    let texts = [
        "-", "%", "《", "》", "（", ")", "。", "＄", "7.5", "井口", "gas", " ", "\n ", "…", "+",
        "“",
    ];
    let tags = ["b", "i", "span", "a href=/x", "em", "sup", "font"];
    let text = prop::sample::select(texts.to_vec()).prop_map(|t| (t.to_owned(), t.to_owned()));
    text.prop_recursive(4, 40, 6, move |inner| {
        let inside = prop::collection::vec(inner, 1..6);
        (prop::sample::select(tags.to_vec()), inside).prop_map(|(tag, inside)| {
            let (html, text): (Vec<String>, Vec<String>) = inside.into_iter().unzip();
            let name = tag.split(' ').next().unwrap_or_default();
            (format!("<{tag}>{}</{name}>", html.concat()), text.concat())
        })
    })
}

proptest! {
    /// The text of a paragraph is what the DOM standard names its `textContent`, with white space folded.
    #[test]
    fn paragraph_is_its_text_content(inside in prop::collection::vec(inline_markup(), 0..8)) {
        let (html, text): (Vec<String>, Vec<String>) = inside.into_iter().unzip();
        let text: Vec<String> = text.concat().split_whitespace().map(str::to_owned).collect();
        let text = text.join(" ");
        let html = format!("<p>{}</p>", html.concat());
        if text.contains(char::is_alphanumeric) {
            prop_assert_eq!(lines(&html), [text]);
        }
    }
}
