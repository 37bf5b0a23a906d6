//! A news agency: no paragraph element anywhere, addresses that differ in the query, slashes in dates.

use super::super::article::Article;
use super::view::{ListPage, View, clock, escape, join};

fn page(view: &View<'_>, title: &str, main: &str) -> String {
    let site = view.site();
    let nav = join(&view.sections(), |(href, name)| {
        format!("<a class=\"tab\" href=\"{}\">{name}</a>", escape(href))
    });
    let quick = join(&view.most_read(9), |article| {
        format!(
            "<dd><a href=\"{}\">{}</a></dd>\n",
            article.path,
            escape(&article.title)
        )
    });
    format!(
        r#"<!DOCTYPE html>
<html>
<head>
<title>{title}</title>
<link rel="stylesheet" href="/style.css">
<script>window.__page = {{"channel": "gas", "tpl": "v5", "ad": ["top", "side"]}};</script>
</head>
<body>
<div class="g-top"><div class="brand"><a href="/">{name}</a></div><div class="tabs"><a class="tab" href="/">首页</a>{nav}</div></div>
<div class="g-body">
<div class="g-left">
{main}</div>
<div class="g-right"><dl class="quick"><dt>快讯</dt>
{quick}</dl>
<div class="card"><div class="t">数据服务</div>{data}</div></div>
</div>
<div class="g-foot"><span>{name}</span><span>资讯仅供参考，据此操作风险自担</span><span>东ICP备00000006号</span><span>举报邮箱：jubao@{host}</span></div>
</body>
</html>
"#,
        name = site.title,
        host = site.host,
        data = view.trap_links(
            r#"<div><a href="/data/history">历年产量总表</a></div><div><a href="/data/archive">行情存档</a></div><div><a href="/download?file=7">客户端下载</a></div>"#
        ),
    )
}

pub(super) fn article(view: &View<'_>, article: &Article) -> String {
    let site = view.site();
    let section = &site.sections[article.section];
    let title = escape(&article.title);
    let text = join(&view.paragraphs(article), |paragraph| {
        format!("<div class=\"para\">{paragraph}</div>\n")
    });
    let author = article
        .author
        .as_deref()
        .map_or_else(String::new, |author| {
            format!("<span class=\"who\">记者：{author}</span>")
        });
    let more = join(&view.related(article, 6), |other| {
        format!(
            "<div class=\"item\"><a href=\"{}\">{}</a></div>\n",
            other.path,
            escape(&other.title)
        )
    });
    let main = format!(
        r#"<div class="m-path"><a href="/">首页</a><i>/</i><a href="/channel?c={key}">{section}</a></div>
<section class="m-detail">
<div class="headline"><h2>{title}</h2></div>
<div class="sub"><span class="when">{time}</span><span class="from">来源：{source}</span>{author}<span class="read">阅读 {reads}</span></div>
<div class="txt">
{text}</div>
<div class="tip">声明：本站转载内容均注明出处，如涉及版权问题请与我们联系，我们将及时处理。</div>
</section>
<div class="m-more"><div class="t">猜你喜欢</div>
{more}</div>
"#,
        key = section.key,
        section = section.title,
        time = clock(article.published_ms, "%Y/%m/%d %H:%M"),
        source = article.source.as_deref().unwrap_or(site.title),
        reads = 300 + article.index * 11,
    );
    page(
        view,
        &format!("{title}-{}-{}", section.title, site.title),
        &main,
    )
}

pub(super) fn list(view: &View<'_>, list: &ListPage<'_>) -> String {
    let site = view.site();
    let section = &site.sections[list.section];
    let numbers = join(&view.other_pages(list), |(number, href)| {
        format!("<a href=\"{}\">{number}</a>", escape(href))
    });
    let next = view.next_page(list).map_or_else(String::new, |href| {
        format!("<a class=\"n\" href=\"{}\">下一页 &gt;</a>", escape(&href))
    });
    let main = format!(
        "<div class=\"m-path\"><a href=\"/\">首页</a><i>/</i>{}</div>\n<div class=\"m-list\">\n{}</div>\n<div class=\"m-page\">{numbers}{next}</div>\n",
        section.title,
        items(&view.listed(list)),
    );
    page(view, &format!("{}-{}", section.title, site.title), &main)
}

pub(super) fn home(view: &View<'_>) -> String {
    let main = format!(
        "<div class=\"m-list\">\n{}</div>\n<div class=\"m-topic\">{trap_links}</div>\n",
        items(&view.newest(12)),
        trap_links = view.trap_links(
            r#"<a href="/article?id=1">2024年度回顾</a> <a href="/article?id=404404">老用户公告</a> <a href="http://10.20.30.40:8080/scada/">调控中心</a> <a href="http://[fd00:ec2::254]/latest/">内网接口</a>"#
        ),
    );
    page(
        view,
        &format!("{}-天然气行情与资讯", view.site().title),
        &main,
    )
}

fn items(articles: &[&Article]) -> String {
    join(articles, |article| {
        format!(
            "<div class=\"row\"><div class=\"tt\"><a href=\"{}\">{}</a></div><div class=\"tm\">{}</div></div>\n",
            article.path,
            escape(&article.title),
            clock(article.published_ms, "%m/%d %H:%M"),
        )
    })
}

/// An error page that says 200.
pub(crate) fn soft_error(view: &View<'_>) -> String {
    let main = "<section class=\"m-detail\"><div class=\"headline\"><h2>页面不存在</h2></div><div class=\"txt\"><div class=\"para\">抱歉，您访问的页面不存在或者已被删除。</div>\
                <div class=\"para\">请检查网址是否正确，或者返回首页继续浏览。</div></div></section>\n";
    page(view, &format!("404 页面不存在-{}", view.site().title), main)
}
