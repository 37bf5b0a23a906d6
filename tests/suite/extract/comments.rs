//! Readers' comments on their way: out of the page as XML and JSON, into the index, and again when readers go on talking.

use crate::support::folder::{Folder, assert_has};
use crate::support::small_web::{SmallWeb, article};

/// What three readers say, the second to the first.
const SAID: [(&str, &str, &str); 3] = [
    ("山里人", "2026-09-03 11:02", "岩心的照片什么时候公布出来"),
    ("老王", "2026-09-03 11:30", "下个月化验结果出来以后会公布"),
    ("小李", "2026-09-03 12:15", "钻井队辛苦了，注意安全"),
];

/// An article with the first `count` comments, and one more if a reader goes on.
fn talked_about(count: usize, more: Option<&str>) -> String {
    let item = |who: &str, time: &str, text: &str, votes: usize| {
        format!(
            "<li class=comment-item><a class=username href=/user/{votes}>{who}</a><span class=time>{time}</span>\
             <p class=comment-text>{text}</p><div><span class=vote>赞</span><em class=vote-count>{votes}</em>\
             <a>回复</a><a>举报</a></div></li>"
        )
    };
    let mut items: String = (1..)
        .zip(&SAID[..count])
        .map(|(n, (who, time, text))| item(who, time, text, n * 3))
        .collect();
    if let Some(text) = more {
        items.push_str(&item("新来的", "2026-09-04 08:00", text, 1));
    }
    let script = "<script>var api = \"/api/comment/list?id=1\";</script>";
    let block =
        format!("<div class=comments><h3>全部评论</h3><ul>{items}</ul></div>{script}</body>");
    article("第一口井完钻", "").replace("</body>", &block)
}

fn extracted(html: &str, format: &str) -> String {
    let folder = Folder::new("", &[]);
    folder.write("a.html", html);
    let url = "http://a.test/1.html";
    folder.done(&["extract", "a.html", "--url", url, "--format", format])
}

#[test]
fn extract_xml_has_comments() {
    let xml = extracted(&talked_about(3, None), "xml");
    let (_, after) = xml.split_once("<comments>").expect("comments");
    let (comments, _) = after.split_once("</comments>").expect("an end");
    assert_eq!(comments.matches("<comment ").count(), 3, "{comments}");
    for (who, _, text) in SAID {
        assert_has(comments, &[&format!("author=\"{who}\""), text]);
    }
    let facts = ["published=\"2026-09-03T11:02", "votes=\"6\""];
    assert_has(comments, &facts);
    let (_, text) = xml.split_once("<text>").expect("a text");
    let (text, _) = text.split_once("</text>").expect("an end");
    assert!(
        text.contains("记录了岩心的颜色") && !text.contains("注意安全"),
        "{text}"
    );
    let endpoint = "<url>http://a.test/api/comment/list?id=1</url>";
    assert_has(&xml, &[endpoint]);
}

#[test]
fn extract_reports_comment_endpoints() {
    let line = extracted(&talked_about(0, None), "json");
    let document: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(
        document["comment_endpoints"],
        serde_json::json!(["http://a.test/api/comment/list?id=1"])
    );
    assert_eq!(document["comments"], serde_json::json!([]));
}

#[test]
fn new_comments_are_searchable() {
    let web = SmallWeb::new("");
    web.seed(&["a.test/1.html", "a.test/2.html"]);
    web.set_page("a.test/1.html", &talked_about(2, None));
    web.set_article("a.test/2.html", "第二口井开钻");
    web.crawl();
    let total = |query: &str| web.total(query);
    assert_eq!(total("comments:化验结果"), 1);
    assert_eq!(total("comments:压裂"), 0);
    // The article says what it said; a reader has gone on.
    let said = "请问压裂什么时候开始施工";
    web.set_page("a.test/1.html", &talked_about(2, Some(said)));
    let counts = web.crawl();
    assert_eq!(counts["documents_changed"], 1, "{counts}");
    assert_eq!(total("comments:压裂"), 1);
    assert_eq!(total("comments:化验结果"), 1);
    // Nothing new: nothing is indexed again.
    assert_eq!(web.crawl()["documents_changed"], 0);
}
