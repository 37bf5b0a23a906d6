//! Short lists, whose only prose is the notice at the foot of the page.

use crate::page::{Hints, Kind, Page};
use crate::{Context, Document, extract};

fn extract_list(path: &str, main: &str) -> Document {
    let hot: String = (1..=12)
        .map(|at| format!("<li><a href=/kantan/2026/0901/{at}.html>长河油田公司第{at}口深井完钻并投入试采</a></li>"))
        .collect();
    let html = format!(
        "<title>勘探开发 - 渤海能源报</title><h1>勘探开发</h1><main>{main}</main><aside><ol>{hot}</ol></aside>\
         <footer><p>本报的所有文字、图片和音视频稿件，任何媒体、网站或个人未经协议授权，不得转载、链接、转贴或以其他方式复制发表。</p>\
         <p>已经协议授权的媒体、网站，在下载使用时必须注明来源，违者将依法追究责任；本网未注明来源的稿件均为转载，并不意味着赞同其观点。</p></footer>"
    );
    let hints = Hints {
        url: taojin_uri::CrawlUri::parse(&format!("http://news.example.com{path}")).ok(),
        ..Hints::default()
    };
    extract(&Page::parse(html.as_bytes(), hints), &Context::default())
}

#[test]
fn kind_short_list_or_picture() {
    let list = "<ul><li><a href=/kantan/2026/0918/1.html>大模型走进红柳沟气田 单井诊断只要31秒</a><span>2026-09-18</span></li>\
                <li><a href=/kantan/2026/0907/4.html>海晟油气水平井测试日产气89万立方米</a><span>2026-09-07</span></li></ul>\
                <div class=pager>第1页 共1页</div>";
    assert_eq!(extract_list("/kantan/", list).kind, Kind::Hub);
    let picture =
        "<p>2026-09-18 08:30</p><p><img src=/a.jpg></p><p>9月18日，员工在井场检查采油树。</p>";
    assert_eq!(
        extract_list("/kantan/2026/0918/t20260918_31.html", picture).kind,
        Kind::Article
    );
}
