//! A personal blog: microformat classes, JSON-LD, Atom, tags, a list of comments, and a calendar without end.

use super::super::article::Article;
use super::super::rng::Rng;
use super::super::text::slots::word;
use super::view::{ListPage, View, clock, escape, join};

fn page(view: &View<'_>, title: &str, head: &str, main: &str) -> String {
    let site = view.site();
    let recent = join(&view.most_read(5), |article| {
        format!(
            "<li><a href=\"{}\">{}</a></li>",
            article.path,
            escape(&article.title)
        )
    });
    let sections = join(&view.sections(), |(href, name)| {
        format!("<li class=\"cat-item\"><a href=\"{href}\">{name}</a></li>")
    });
    let month = clock(
        view.world
            .articles
            .first()
            .map_or(0, |article| article.published_ms),
        "%Y/%m",
    );
    let trap_links = format!(
        r#"<section class="widget widget_calendar"><h2 class="widget-title">日历</h2><a href="/calendar/{month}/">本月文章</a></section>
<section class="widget widget_meta"><h2 class="widget-title">其他</h2><a href="/drafts/todo.html">草稿箱</a> <a href="/out/meta-data">云主机信息</a> <a href="/out/loopback">本机面板</a> <a href="http://169.254.169.254/latest/meta-data/">metadata</a></section>
"#
    );
    format!(
        include_str!("html/blog_page.html"),
        title = title,
        head = head,
        main = main,
        recent = recent,
        sections = sections,
        name = site.title,
        trap_links = view.trap_links(&trap_links),
    )
}

pub(super) fn article(view: &View<'_>, article: &Article) -> String {
    let site = view.site();
    let title = escape(&article.title);
    let author = article.author.as_deref().unwrap_or_default();
    let url = site.url(&article.path);
    let json = serde_json::json!({
        "@context": "https://schema.org",
        "@graph": [
            {"@type": "WebSite", "name": site.title, "url": site.url("/")},
            {"@type": "BlogPosting", "headline": article.title, "datePublished": article.published,
             "dateModified": clock(article.modified_ms, "%Y-%m-%dT%H:%M:00+08:00"),
             "author": {"@type": "Person", "name": author}, "mainEntityOfPage": url},
        ],
    });
    let head = format!(
        "<link rel=\"canonical\" href=\"{url}\">\n<meta property=\"og:title\" content=\"{title}\">\n<script type=\"application/ld+json\">{json}</script>\n"
    );
    let text = join(&view.paragraphs(article), |paragraph| {
        format!("<p>{paragraph}</p>\n")
    });
    let near = join(&view.related(article, 2), |other| {
        format!(
            "<div class=\"nav-link\"><a href=\"{}\" rel=\"bookmark\">{}</a></div>",
            other.path,
            escape(&other.title)
        )
    });
    let section = &site.sections[article.section];
    let main = format!(
        include_str!("html/blog_article.html"),
        title = title,
        author = author,
        text = text,
        near = near,
        index = article.index,
        published = article.published,
        day = clock(article.published_ms, "%Y 年 %-m 月 %-d 日"),
        key = section.key,
        section = section.title,
        tags = tags(article),
    ) + &comments(view, article);
    page(view, &format!("{title} | {}", site.title), &head, &main)
}

fn tags(article: &Article) -> String {
    let mut rng = Rng::of(article.seed, &[0x7A]);
    format!("{}、{}", word(&mut rng, "tech"), word(&mut rng, "tech"))
}

fn comments(view: &View<'_>, article: &Article) -> String {
    let comments = view.comments(article);
    let items = join(&comments, |comment| {
        format!(
            r##"<li class="comment depth-1"><article class="comment-body"><footer class="comment-meta"><b class="fn">{}</b><span class="says">说道：</span> <time datetime="{}">{}</time></footer><div class="comment-content"><p>{}</p></div><div class="reply"><a rel="nofollow" href="#respond">回复</a></div></article></li>
        "##,
            comment.author,
            clock(comment.published_ms, "%Y-%m-%dT%H:%M:00+08:00"),
            clock(comment.published_ms, "%Y 年 %-m 月 %-d 日 %H:%M"),
            escape(&comment.text),
        )
    });
    let title = match comments.len() {
        0 => return "<div id=\"comments\" class=\"comments-area\"><p class=\"no-comments\">还没有评论</p></div>\n".to_owned(),
        count => format!("《{}》上有 {count} 条评论", escape(&article.title)),
    };
    format!(
        "<div id=\"comments\" class=\"comments-area\"><h2 class=\"comments-title\">{title}</h2><ol class=\"comment-list\">\n{items}</ol></div>\n"
    )
}

pub(super) fn list(view: &View<'_>, list: &ListPage<'_>) -> String {
    let site = view.site();
    let section = &site.sections[list.section];
    let numbers = join(&view.other_pages(list), |(number, href)| {
        format!("<a class=\"page-numbers\" href=\"{href}\">{number}</a> ")
    });
    let next = view.next_page(list).map_or_else(String::new, |href| {
        format!("<a class=\"next page-numbers\" href=\"{href}\">下一页</a>")
    });
    let main = format!(
        "<h1 class=\"page-title\">分类：{}</h1>\n{}<nav class=\"pagination\">{numbers}{next}</nav>\n",
        section.title,
        excerpts(&view.listed(list)),
    );
    page(
        view,
        &format!("{} | {}", section.title, site.title),
        "",
        &main,
    )
}

pub(super) fn home(view: &View<'_>) -> String {
    let aliases: Vec<&String> = view
        .world
        .articles
        .iter()
        .filter(|article| article.site == view.index)
        .flat_map(|article| &article.aliases)
        .collect();
    let aliases = join(&aliases, |path| {
        format!("<a href=\"{}\">分享链接</a> ", escape(path.as_str()))
    });
    let sections = join(&view.sections(), |(href, name)| {
        format!("<a href=\"{href}\">更多{name}</a> ")
    });
    let main = format!(
        "{}<p class=\"weekly\">每周精选：{aliases}</p>\n<nav class=\"pagination\">{sections}</nav>\n",
        excerpts(&view.newest(8))
    );
    page(
        view,
        &format!("{} | 一个管道工程师的记录", view.site().title),
        "",
        &main,
    )
}

fn excerpts(articles: &[&Article]) -> String {
    join(articles, |article| {
        format!(
            "<article class=\"post hentry summary\"><h2 class=\"entry-title\"><a href=\"{path}\" rel=\"bookmark\">{title}</a></h2><div class=\"entry-meta\">{day}</div><a class=\"more-link\" href=\"{path}\">继续阅读</a></article>\n",
            path = article.path,
            title = escape(&article.title),
            day = clock(article.published_ms, "%Y 年 %-m 月 %-d 日"),
        )
    })
}

/// One month: there is always a month before it and a month after it.
pub(crate) fn calendar(view: &View<'_>, year: i32, month: i32) -> String {
    let shifted = |by: i32| {
        let months = year * 12 + month - 1 + by;
        format!(
            "/calendar/{:04}/{:02}/",
            months.div_euclid(12),
            months.rem_euclid(12) + 1
        )
    };
    let days = join(&(1..=28).collect::<Vec<i32>>(), |day| {
        format!("<td>{day}</td>")
    });
    let main = format!(
        "<h1 class=\"page-title\">{year} 年 {month} 月的文章</h1>\n<table class=\"calendar\"><tr>{days}</tr></table>\n<p>这个月没有文章。</p>\n\
         <nav class=\"pagination\"><a href=\"{}\">« 上一月</a> <a href=\"{}\">下一月 »</a></nav>\n",
        shifted(-1),
        shifted(1),
    );
    page(
        view,
        &format!("{year} 年 {month} 月 | {}", view.site().title),
        "",
        &main,
    )
}

/// The same post, laid out for paper; it names the canonical address.
pub(crate) fn print(view: &View<'_>, article: &Article) -> String {
    let site = view.site();
    let text = join(&view.paragraphs(article), |paragraph| {
        format!("<p>{paragraph}</p>\n")
    });
    format!(
        "<!doctype html>\n<html lang=\"zh-Hans\"><head><meta charset=\"UTF-8\"><title>{title} | {name}</title><link rel=\"canonical\" href=\"{url}\"></head>\n\
         <body class=\"print\"><h1>{title}</h1>\n<p class=\"meta\">{time}</p>\n<div class=\"entry-content\">\n{text}</div></body></html>\n",
        title = escape(&article.title),
        name = site.title,
        url = site.url(&article.path),
        time = clock(article.published_ms, "%Y-%m-%d %H:%M"),
    )
}
