//! What of a page counts as shown, as its document states.

use crate::page::{Hints, Page};
use crate::{Context, Document, extract};

pub(super) const STORY: &str = "<p>采油三厂的集输站建成已有三十年，管线老化，今年春天开始改造，工人们更换了全部阀门和两公里管线。\
    <p>站长介绍，改造之后每天可以多处理三百方采出水，值班人员由六人减为两人，夜间巡检改由摄像头完成。";

pub(super) fn document(html: &str) -> Document {
    extract(
        &Page::parse(html.as_bytes(), Hints::default()),
        &Context::default(),
    )
}

#[test]
fn hidden_until_found_is_text() {
    let with = |hidden: &str| {
        let more =
            "<p>三厂计划明年再改造两座集输站，资金已经列入年度预算，设计方案由油田设计院完成。";
        document(&format!(
            "<h1>集输站改造</h1><div>{STORY}<div {hidden}>{more}</div></div>"
        ))
    };
    assert!(with("hidden=until-found").text.contains("年度预算"));
    assert!(with("hidden=Until-Found").text.contains("年度预算"));
    for hidden in [
        "hidden",
        "hidden=hidden",
        "style='display:none'",
        "style='color:red;visibility: hidden'",
    ] {
        assert!(!with(hidden).text.contains("年度预算"), "{hidden}");
    }
}

/// A note in `aside` behind the last paragraph belongs to its article; what else stands there in one does not.
#[test]
fn note_behind_an_article() {
    let more =
        "<p>三厂计划明年再改造两座集输站，资金已经列入年度预算，设计方案由油田设计院完成。</p>";
    let with = |aside: &str| {
        let html = format!(
            "<div class=nav><a href=/>首页</a></div><article><h1>集输站改造</h1>{STORY}{more}{aside}</article>\
             <aside><h3>热门</h3><a href=/1>油田今年新钻井一百口</a></aside>"
        );
        document(&html).text
    };
    let note = "说明：文中的处理量是设计能力，不是当日实测，两者相差约半成。";
    for aside in [
        format!("<aside>{note}</aside>"),
        format!("<aside class=tip><h4>名词解释</h4><p>{note}</p></aside>"),
    ] {
        assert!(with(&aside).contains(note), "{aside}");
    }
    for other in [
        "<aside class=related><a href=/2>下游河道清淤工程今年开工，总长三十公里。</a></aside>",
        "<aside class=newsletter><p>订阅邮件，每天早上把最新的能源新闻送到您的邮箱里。</p></aside>",
        "<aside><p>本文作者在设计院工作三十年。</p><p>更多文章请关注我们的公众号，<a href=/3>点这里</a>。</p></aside>",
    ] {
        let text = with(other);
        assert!(
            text.ends_with("设计方案由油田设计院完成。"),
            "{other}: {text}"
        );
    }
}

#[test]
fn hidden_body_is_read() {
    let of_body = |attribute: &str| {
        document(&format!(
            "<body {attribute}><h1>集输站改造</h1><div>{STORY}</div></body>"
        ))
    };
    for attribute in [
        "hidden",
        "style='display:none'",
        "style='visibility:hidden'",
    ] {
        assert_eq!(of_body(attribute), of_body(""), "{attribute}");
    }
}

#[test]
fn noscript_posts_are_comments() {
    let post = |at: usize| {
        format!(
            "<div class=post><a class=username href=/u/{at}>站长{at}</a> <time datetime=2026-05-0{at}T08:00:00Z>5月{at}日</time>\
             <div class=post-body><p>第{at}口井今天恢复注水，压力比上个月高一些，大家看看要不要调整配注方案。</p></div></div>"
        )
    };
    let posts: String = (1..=4).map(post).collect();
    let html = format!(
        "<title>配注方案</title><div id=app></div><noscript><h1>配注方案</h1>{posts}</noscript>"
    );
    let hints = Hints {
        url: taojin_uri::CrawlUri::parse("https://forum.example/t/12").ok(),
        ..Hints::default()
    };
    let found = extract(&Page::parse(html.as_bytes(), hints), &Context::default());
    assert_eq!(found.method, "noscript");
    assert_eq!(found.comments.len(), 4, "{found:?}");
    assert!(found.comments[0].opening, "{found:?}");
    assert_eq!(found.comments[1].author.as_deref(), Some("站长2"));
}
