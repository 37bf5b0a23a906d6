//! Tests of the comments that endpoints answer: forms of real services, and what is none.

use super::super::answer::{AnswerError, MAX_COMMENTS, read_answer};
use crate::date::stamp::Clock;

const CLOCK: Clock = Clock {
    now_ms: Some(1_788_000_000_000),
    offset_min: Some(480),
    month_first: false,
    republic: false,
};

/// Writer, time, text and whom it answers of each comment, `|` between.
fn read(body: &str) -> Vec<String> {
    let comments = read_answer(body.as_bytes(), &CLOCK).unwrap_or_else(|e| panic!("{e}: {body}"));
    let said = |field: Option<String>| field.unwrap_or_default();
    let one = |c: crate::Comment| {
        format!(
            "{}|{}|{}|{}",
            said(c.author),
            said(c.published),
            c.text,
            said(c.reply_to)
        )
    };
    comments.into_iter().map(one).collect()
}

#[test]
fn answer_forms_are_read() {
    for (form, body, wanted) in [
        (
            "WordPress",
            r#"[{"id":3,"post":9,"author_name":"Anna","date":"2026-08-29T10:00:00","content":{"rendered":"<p>Well &amp; done</p>\n<p>Go on</p>"},
                "link":"https://a.example/9/#3"}]"#,
            &["Anna|2026-08-29T10:00:00+08:00|Well & done\nGo on|"][..],
        ),
        (
            "Disqus",
            r#"{"cursor":{},"response":[{"raw_message":"x","message":"Fine.","author":{"name":"Ben","url":"/u"},"createdAt":"2026-08-29T02:00:00Z"}]}"#,
            &["Ben|2026-08-29T02:00:00+00:00|Fine.|"],
        ),
        (
            "keyed by number",
            r#"{"comments":{"81":{"content":"好","user":{"nickname":"老王"},"createTime":"2026-08-29 10:00:00","vote":4}}}"#,
            &["老王|2026-08-29T10:00:00+08:00|好|"],
        ),
        (
            "JSONP",
            "/**/ window.cb_1({\"list\":[{\"text\":\"好\",\"nick\":\"小李\",\"ctime\":1787968800000}]});",
            &["小李|2026-08-29T10:00:00+08:00|好|"],
        ),
        (
            "replies at two levels",
            r#"{"data":[{"text":"一","uname":"甲","replies":[{"text":"二","uname":"乙","children":[{"text":"三","uname":"丙","replyTo":"甲"}]}]}]}"#,
            &["甲||一|", "乙||二|甲", "丙||三|甲"],
        ),
        (
            "the same in two lists",
            r#"{"hot":[{"text":"一","user":"甲"}],"new":[{"text":"一","user":"甲"},{"text":"二","user":"甲"}]}"#,
            &["甲||一|", "甲||二|"],
        ),
        (
            "scripts and deleted ones",
            r#"[{"content":"<script>alert(1)</script>早","name":"甲"},{"content":"坏","name":"乙","deleted":true},{"content":"","name":"丙"}]"#,
            &["甲||早|"],
        ),
        (
            "articles, numbers, empty lists",
            r#"{"list":[{"title":"新闻","content":"正文","author":"记者"},7,null,{"content":"没有作者"}],"comments":[]}"#,
            &[],
        ),
    ] {
        assert_eq!(read(body), wanted, "{form}");
    }
    let gbk = encoding_rs::GBK
        .encode(r#"[{"text":"储气库","user":"甲"}]"#)
        .0;
    assert_eq!(read_answer(&gbk, &CLOCK).unwrap()[0].text, "储气库");
}

#[test]
fn answer_without_comments_says_why() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (body, wanted) in [
        ("", AnswerError::NoJson),
        ("<html><body>登录</body></html>", AnswerError::NoJson),
        ("{\"comments\": [", AnswerError::NoJson),
        ("alert(1); steal()", AnswerError::NoJson),
        (deep.as_str(), AnswerError::NoJson),
        ("{\"code\": 500, \"msg\": \"error\"}", AnswerError::NoList),
        ("\"text\"", AnswerError::NoList),
    ] {
        assert_eq!(read_answer(body.as_bytes(), &CLOCK), Err(wanted));
    }
}

#[test]
fn answer_is_bounded() {
    let one = |n| format!("{{\"text\":\"第{n}条\",\"user\":\"甲\"}}");
    let all: Vec<String> = (0..MAX_COMMENTS * 3).map(one).collect();
    let body = format!("[{}]", all.join(","));
    assert_eq!(read(&body).len(), MAX_COMMENTS);
    let nested = (0..60).fold("[]".to_owned(), |inner, n| {
        format!("[{{\"text\":\"{n}\",\"user\":\"甲\",\"replies\":{inner}}}]")
    });
    assert!(read(&nested).len() < 20);
}
