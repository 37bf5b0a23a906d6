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
        include_str!("html/agency_page.html"),
        title = title,
        nav = nav,
        main = main,
        quick = quick,
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
        include_str!("html/agency_article.html"),
        title = title,
        author = author,
        text = text,
        more = more,
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

/// An error page with status 200.
pub(crate) fn soft_error(view: &View<'_>) -> String {
    let main = "<section class=\"m-detail\"><div class=\"headline\"><h2>页面不存在</h2></div><div class=\"txt\"><div class=\"para\">抱歉，您访问的页面不存在或者已被删除。</div>\
                <div class=\"para\">请检查网址是否正确，或者返回首页继续浏览。</div></div></section>\n";
    page(view, &format!("404 页面不存在-{}", view.site().title), main)
}
