//! Tests of the comment blocks: times, words, groups, verdicts, hostile pages.

mod answer;
mod headings;
mod json_endpoints;

use proptest::prelude::*;

use super::{FoundComments, find, find_endpoints, time_cues as signs, verdict as judge, words};
use crate::page::{Hints, NodeId, Page};

/// One of the words between the marks `~`.
fn one_of(words: &'static str) -> impl Strategy<Value = &'static str> {
    prop::sample::select(words.split('~').collect::<Vec<_>>())
}

fn page(html: &str) -> Page {
    Page::parse(html.as_bytes(), Hints::default())
}

/// Comments of a page, with every element whose class has the word `comment` marked.
fn found(html: &str) -> FoundComments {
    let page = page(html);
    let marked: Vec<NodeId> = (0..page.nodes().len() as NodeId)
        .filter(|id| {
            page.attr(*id, crate::page::Attr::Class)
                .is_some_and(|c| c.contains("comment"))
        })
        .collect();
    find(&page, &marked)
}

/// The writers of the comments of a page, of those that have one.
fn writers(html: &str) -> Vec<String> {
    let comments = found(html).comments;
    comments.into_iter().filter_map(|c| c.author).collect()
}

#[test]
fn author_label_any_case() {
    let comment = |label: &str, name: &str, text: &str| {
        format!(
            "<div class=comment><b class=author>{label}{name}</b> <time>2024-05-07 10:00</time>\
             <p>{text}</p><a>Reply</a></div>"
        )
    };
    for label in ["by ", "By ", "Posted by "] {
        let html = [
            comment(
                label,
                "Anna Lund",
                "This trial of the new pump went very well indeed.",
            ),
            comment(
                label,
                "Ben Stone",
                "I would like to see the same done at our well.",
            ),
            comment(
                label,
                "Cai Wen",
                "The report says little about what it did cost.",
            ),
        ];
        assert_eq!(
            writers(&html.concat()),
            ["Anna Lund", "Ben Stone", "Cai Wen"],
            "{label}"
        );
    }
}

#[test]
fn author_behind_votes() {
    let comment = |votes: &str, name: &str, text: &str| {
        format!(
            "<div class=opinia><div>Rated: <em>{votes}</em> <i>[8]</i></div>\
             <div>~<span>{name}</span> <span>[2024-05-07 10:00]</span></div><p>{text}</p><a>Reply</a></div>"
        )
    };
    let html = [
        comment(
            "+8",
            "anna",
            "This trial of the new pump went very well indeed.",
        ),
        comment(
            "-1",
            "ben",
            "I would like to see the same done at our well.",
        ),
        comment(
            "+3",
            "cai",
            "The report says little about what it did cost.",
        ),
    ];
    assert_eq!(writers(&html.concat()), ["anna", "ben", "cai"]);
}

#[test]
fn comments_by_their_labels() {
    let comment = |name: &str, hour: u32, text: &str| {
        format!(
            "<table><tr><td><b>Comments of our reader: {name}</b></td></tr><tr><td>{text}</td></tr>\
             <tr><td>{hour}:02 17-January-2024</td></tr></table>"
        )
    };
    let article = "<p>The second well of the field has been in test for a week now.</p>".repeat(3);
    let html = [
        article,
        comment(
            "Anna",
            10,
            "This trial of the new pump went very well indeed.",
        ),
        comment(
            "Ben of Hull",
            11,
            "I would like to see the same done at our well.",
        ),
        comment("Cai", 12, "The report says little about what it did cost."),
    ];
    assert_eq!(writers(&html.concat()), ["Anna", "Ben of Hull", "Cai"]);
}

#[test]
fn time_found_or_not() {
    for text in concat!(
        "2026-11-18 10:02~2019年10月23日 09:05~10月23日17:26~昨天 12:05~刚刚~3小时前~半年前~",
        "2 days ago~an hour ago~May 13, 2024~13. Mai 2024~5/12/2024 12:06:29 PM~Oct 2 at 8:00~",
        "3 gün önce~há 2 dias~il y a 3 jours~2w~11-18 10:02~March 2019~posted 3 Nov 2019",
    )
    .split('~')
    {
        assert!(signs::find_time(text).is_some(), "{text}");
    }
    for text in concat!(
        "回复~前台~今天气不错~12~第3章~1.5 MB~room 12 of 30~1827~(54)~Election 2020~",
        "2020 Elections~~ago",
    )
    .split('~')
    {
        assert!(signs::find_time(text).is_none(), "{text}");
    }
}

#[test]
fn words_tools_counts_headings() {
    for text in "回复~回复(3)~[举报]~Reply~12楼~沙发~Log in to Reply~查看更多回复".split('~')
    {
        assert!(words::is_tool(text) || words::is_count(text), "{text}");
    }
    for text in "好~回复得真快~I like it~share prices fell~👍".split('~') {
        assert!(!words::is_tool(text) && !words::is_count(text), "{text}");
    }
    for text in "3 条评论~网友留言：~Comments (12)~全部评论（8）~2 Answers~3 thoughts on “Dry gas”"
        .split('~')
    {
        assert!(crate::comments::words::is_heading(text), "{text}");
    }
    for text in
        "评论员文章~新闻~He comments on the match~No answers were given by the board".split('~')
    {
        assert!(!crate::comments::words::is_heading(text), "{text}");
    }
    assert_eq!(words::number("赞(1.2万)"), Some(12_000));
    assert_eq!(words::number("3.4k likes"), Some(3_400));
    assert_eq!(words::number("赞"), None);
}

#[test]
fn comments_without_signs() {
    assert_eq!(found(""), FoundComments::default());
    assert_eq!(
        found("<p>一段话。</p><div class=comment></div>"),
        FoundComments::default()
    );
}

#[test]
fn group_may_speak_by_context() {
    let item = |minute: u32| format!("<li><i>2026-11-18 10:{minute}</i><p>第{minute}句话</p></li>");
    let items: String = (10..14).map(item).collect();
    let may_speak = |html: &str| {
        let page = page(html);
        let group: Vec<_> = (0..page.nodes().len() as NodeId)
            .filter(|id| page.node(*id).tag == crate::page::Tag::LI)
            .map(|id| page.subtree(id))
            .collect();
        let timed: Vec<NodeId> = signs::find_time_signs(&page)
            .iter()
            .map(|s| s.node)
            .collect();
        assert_eq!(timed.len(), 4);
        judge::may_speak(&page, &group, &timed, &[], false, false)
    };
    for between in 0..20 {
        let texts = "<p>话</p>\n".repeat(between);
        let html = format!("<body><h3>全部评论</h3>{texts}<ul>{items}</ul>");
        assert_eq!(may_speak(&html), between < 14, "{between}");
    }
    let below =
        |before: &str, after: &str| may_speak(&format!("<body>{before}<ul>{items}</ul>{after}"));
    assert!(below("<div class=review>", ""));
    assert!(!below("", "<p>举报</p>"));
    assert!(!below("<p>评论员文章</p>", "<h3>评论</h3>"));
}

#[test]
fn group_one_voice_is_report() {
    let item = |who: &str, minute: usize| {
        format!(
            "<li class=item><a class=user href=/u/{minute}>{who}</a> <i>2026-11-18 10:{minute:02}</i><p>第{minute}句话说的是别的事</p><a>回复</a></li>"
        )
    };
    let of = |names: [&str; 5]| {
        let items: String = names
            .iter()
            .enumerate()
            .map(|(i, n)| item(n, 10 + i))
            .collect();
        found(&format!("<h1>标题</h1><ul>{items}</ul>"))
            .comments
            .len()
    };
    assert!(of(["甲", "乙", "丙", "丁", "戊"]) >= 4);
    assert_eq!(of(["编辑", "编辑", "编辑", "编辑", "编辑"]), 0);
}

/// A record that has no time is among others that have: its leaf paths show that it is one of them.
#[test]
fn group_at_forum_url() {
    let item = |who: &str, day: u32| {
        format!(
            "<tr><td><b>{who}</b><td>2026-05-{day} 09:16<tr><td colspan=2><div>第{day}口井今天恢复注水，压力高一些。</div>"
        )
    };
    let rows: String = (0..6)
        .map(|i| item(["甲方", "乙方", "丙方"][i % 3], 10 + i as u32))
        .collect();
    let posts = |url: &str| {
        let hints = Hints {
            url: taojin_uri::CrawlUri::parse(url).ok(),
            ..Hints::default()
        };
        let page = Page::parse(format!("<table>{rows}</table>").as_bytes(), hints);
        let found = find(&page, &[]);
        found.comments.len() + usize::from(found.opening.is_some())
    };
    assert_eq!(posts("https://www.oil.example/viewthread-84-87.html"), 6);
    assert_eq!(posts("https://www.oil.example/news/87.html"), 0);
}

#[test]
fn record_without_time_joined() {
    let item = |who: &str, time: &str, text: &str| {
        format!(
            "<li><div><a href=/user/{who}>{who}</a><span>{time}</span></div><p>{text}</p><div><a>回复</a><a>举报</a></div></li>"
        )
    };
    let html = format!(
        "<div class=comments><h3>全部评论</h3><ul>{}{}{}{}</ul></div>",
        item("甲", "2026-11-18 10:00", "头一句"),
        item("乙", "不久以前", "没有时间的一句"),
        item("丙", "2026-11-18 10:20", "又一句"),
        item("丁", "2026-11-18 10:30", "末一句"),
    );
    let texts: Vec<String> = found(&html).comments.into_iter().map(|c| c.text).collect();
    assert!(
        texts.iter().any(|t| t.contains("没有时间的一句")),
        "{texts:?}"
    );
    assert_eq!(texts.len(), 4, "{texts:?}");
}

#[test]
fn endpoints_without_files() {
    let html = r#"<script>var a="\/api\/comment\/list?id=1";b='//cdn.example/comment.css';c="no comment";</script>
        <iframe src="https://talk.example/comments/embed?id=1"></iframe>"#;
    assert_eq!(
        find_endpoints(&page(html)),
        [
            "/api/comment/list?id=1",
            "https://talk.example/comments/embed?id=1"
        ]
    );
}

#[test]
fn endpoint_word_position() {
    let told = |script: &str| {
        find_endpoints(&page(&format!(
            "<script type=\"application/ld+json\">{script}</script>"
        )))
    };
    let far = |before: usize, after: usize| {
        format!("\"/{}comment{}\"", "x".repeat(before), "y".repeat(after))
    };
    for script in
        "\"comment/list\"~\"/reply\"~\"/api/comment~'/a b/comment'~\"https:comment/\"".split('~')
    {
        assert!(told(script).is_empty(), "{script}");
    }
    assert_eq!(told("`/api/Reply`")[0], "/api/Reply");
    assert_eq!(
        told("'https:\\/\\/x.example\\/pinglun'")[0],
        "https://x.example/pinglun"
    );
    assert_eq!(told(&far(200, 200)).len(), 1);
    assert!(told(&far(201, 0)).is_empty());
    assert!(told(&far(0, 201)).is_empty());
}

/// Doubling a hostile page must not do more than a bounded amount of work; that it ends at all is the point here.
#[test]
fn comments_of_hostile_pages() {
    let many = 3_000;
    for html in [
        "<div class=comment>2026-11-18 10:00 甲：话".repeat(many),
        "<ul class=comments><li>昨天 10:00<p>话</p>".repeat(many),
        "<i>3小时前</i>".repeat(many * 4),
        format!(
            "<table>{}</table>",
            "<tr><td>甲<td>2026-11-18<tr><td>话".repeat(many)
        ),
        "<p class='comment reply post answer review'>甲 刚刚</p>".repeat(many),
    ] {
        let found = found(&html);
        assert!(found.comments.len() <= many * 4);
    }
}
