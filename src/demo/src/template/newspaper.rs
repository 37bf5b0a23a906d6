//! A newspaper on HTML5: semantic elements, Open Graph, RSS, a long copyright notice under every text.

use super::super::article::Article;
use super::super::text::genre::Genre;
use super::view::{ListPage, View, clock, escape, join};

fn page(view: &View<'_>, title: &str, head: &str, main: &str) -> String {
    let site = view.site();
    let nav = join(&view.sections(), |(href, name)| {
        format!("<li><a href=\"{href}\">{name}</a></li>")
    });
    let hot = join(&view.most_read(8), |article| {
        format!(
            "<li><a href=\"{}\" title=\"{t}\">{t}</a></li>\n",
            article.path,
            t = escape(&article.title)
        )
    });
    format!(
        include_str!("html/newspaper_page.html"),
        title = title,
        head = head,
        nav = nav,
        main = main,
        hot = hot,
        name = site.title,
        rss = site.url("/rss.xml"),
        search = view.trap_links(r#"<a href="/search?q=%E6%B2%B9%E7%94%B0">热搜：油田</a>"#),
        report = view.trap_links(r#" <a href="/files/annual-report.pdf">年度报告（PDF）</a>"#),
        admin = view.trap_links(
            r#"<a href="/admin/login">管理入口</a> <a href="/admin/stat?day=1">访问统计</a>"#
        ),
    )
}

pub(super) fn article(view: &View<'_>, article: &Article) -> String {
    let site = view.site();
    let section = &site.sections[article.section];
    let title = escape(&article.title);
    let author = article.author.clone().unwrap_or_default();
    let head = format!(
        "<meta property=\"og:type\" content=\"article\">\n<meta property=\"og:title\" content=\"{title}\">\n\
         <meta property=\"og:url\" content=\"{url}\">\n<meta property=\"article:published_time\" content=\"{published}\">\n\
         <link rel=\"canonical\" href=\"{url}\">\n",
        url = site.url(&article.path),
        published = article.published,
    );
    let text = join(&view.paragraphs(article), |paragraph| {
        format!("<p>　　{paragraph}</p>\n")
    });
    let picture = if article.genre == Genre::Picture || article.index.is_multiple_of(4) {
        format!(
            "<p class=\"pic\"><img src=\"/img/{}.svg\" alt=\"{title}\" width=\"640\" height=\"360\"></p>\n",
            article.index
        )
    } else {
        String::new()
    };
    let related = join(&view.related(article, 6), |other| {
        format!(
            "<li><a href=\"{}\">{}</a></li>\n",
            other.path,
            escape(&other.title)
        )
    });
    let main = format!(
        include_str!("html/newspaper_article.html"),
        title = title,
        author = author,
        picture = picture,
        text = text,
        related = related,
        key = section.key,
        section = section.title,
        time = clock(article.published_ms, "%Y-%m-%d %H:%M"),
        source = article.source.as_deref().unwrap_or(site.title),
        role = if article.genre == Genre::Picture {
            "摄影"
        } else {
            "作者"
        },
        path = article.path,
        editor = ["周默", "秦岭月", "杜若", "石小满"][article.index % 4],
    ) + &comments(view, article);
    page(view, &format!("{title} - {}", site.title), &head, &main)
}

fn comments(view: &View<'_>, article: &Article) -> String {
    let comments = view.comments(article);
    if comments.is_empty() {
        return String::new();
    }
    let items = join(&comments, |comment| {
        format!(
            "<div class=\"comment-item\"><span class=\"nick\">{}</span> <span class=\"ctime\">{}</span>\n<p class=\"ctext\">{}</p>\
             <span class=\"op\"><a href=\"javascript:;\">回复</a> <a href=\"javascript:;\">顶[3]</a></span></div>\n",
            comment.author,
            clock(comment.published_ms, "%Y-%m-%d %H:%M"),
            escape(&comment.text),
        )
    });
    format!(
        "<section class=\"comments\"><h3>网友评论（{}条）</h3>\n{items}</section>\n",
        comments.len()
    )
}

pub(super) fn list(view: &View<'_>, list: &ListPage<'_>) -> String {
    let site = view.site();
    let section = &site.sections[list.section];
    let items = join(&view.listed(list), |article| item(article));
    let numbers = join(&view.other_pages(list), |(number, href)| {
        format!("<a href=\"{href}\">{number}</a> ")
    });
    let next = view.next_page(list).map_or_else(String::new, |href| {
        format!("<a class=\"next\" href=\"{href}\">下一页</a>")
    });
    let main = format!(
        "<div class=\"crumb\">当前位置：<a href=\"/\">首页</a> &gt; {name}</div>\n<h2 class=\"column\">{name}</h2>\n<ul class=\"news-list\">\n{items}</ul>\n\
         <div class=\"pager\">第{page}页 共{pages}页 {numbers}{next}</div>\n",
        name = section.title,
        page = list.page,
        pages = list.pages,
    );
    page(
        view,
        &format!("{} - {}", section.title, site.title),
        "",
        &main,
    )
}

pub(super) fn home(view: &View<'_>) -> String {
    let site = view.site();
    let items = join(&view.newest(10), |article| item(article));
    let columns = join(&view.sections(), |(href, name)| {
        format!("<h2 class=\"column\"><a href=\"{href}\">{name}</a></h2>\n")
    });
    let main = format!(
        "<h2 class=\"column\">最新报道</h2>\n<ul class=\"news-list\">\n{items}</ul>\n{columns}\
         {old}\n",
        old = view.trap_links(
            r#"<p class="old">往期回顾：<a href="/kantan/2019/0101/1001.html">2019年新年献词</a> <a href="/haiyang/2020/0512/2002.html">2020年海洋装备专辑</a></p>"#
        ),
    );
    page(
        view,
        &format!("{} - 渤海湾油气新闻门户", site.title),
        "",
        &main,
    )
}

fn item(article: &Article) -> String {
    format!(
        "<li><a href=\"{}\">{}</a><span class=\"date\">{}</span></li>\n",
        article.path,
        escape(&article.title),
        clock(article.published_ms, "%Y-%m-%d"),
    )
}
