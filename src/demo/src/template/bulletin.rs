//! A gazette of an authority: a table about the document, markup as an office editor leaves it, links relative to
//! `<base>`.

use super::super::article::{Article, Discovery};
use super::view::{ListPage, View, clock, escape, join};

fn page(view: &View<'_>, title: &str, base: &str, head: &str, main: &str) -> String {
    let site = view.site();
    let meta = view.charset().map_or_else(String::new, |label| {
        format!("<meta http-equiv=\"Content-Type\" content=\"text/html; charset={label}\" />\n")
    });
    let nav = join(&view.sections(), |(href, name)| {
        format!("<td><a href=\"{href}\">{name}</a></td>")
    });
    format!(
        include_str!("html/bulletin_page.html"),
        meta = meta,
        title = title,
        head = head,
        nav = nav,
        main = main,
        name = site.title,
        base = site.url(base),
        notice = view.trap_links(r#"<td><a href="/notice/readers.html">致读者</a></td>"#),
    )
}

pub(super) fn article(view: &View<'_>, article: &Article) -> String {
    let site = view.site();
    let section = &site.sections[article.section];
    let title = escape(&article.title);
    let folder = article
        .path
        .rsplit_once('/')
        .map_or("/", |(folder, _)| folder);
    let head = format!(
        "<meta name=\"ArticleTitle\" content=\"{title}\" />\n<meta name=\"PubDate\" content=\"{date}\" />\n\
         <meta name=\"ContentSource\" content=\"{source}\" />\n<meta name=\"ColumnName\" content=\"{column}\" />\n",
        date = clock(article.published_ms, "%Y-%m-%d"),
        source = article.source.as_deref().unwrap_or_default(),
        column = section.title,
    );
    let text = join(&view.paragraphs(article), |paragraph| {
        format!(
            "<p align=\"justify\" style=\"text-indent: 2em\"><span style=\"font-family: 仿宋; font-size: 16px\">{paragraph}</span></p>\n"
        )
    });
    let related = join(&view.related(article, 3), |other| {
        format!(
            "<li><a href=\"{}\">{}</a></li>\n",
            other.path,
            escape(&other.title)
        )
    });
    let main = format!(
        include_str!("html/bulletin_article.html"),
        title = title,
        text = text,
        related = related,
        key = section.key,
        column = section.title,
        index = 3000 + article.index,
        source = article.source.as_deref().unwrap_or_default(),
        draft = view.trap_links(&format!(
            "<div class=\"fujian\">附件：<a href=\"/internal/drafts/{}.html\">内部流转单</a></div>\n",
            3000 + article.index
        )),
        day = clock(article.published_ms, "%Y年%-m月%-d日"),
        date = clock(article.published_ms, "%Y-%m-%d"),
    );
    page(
        view,
        &format!("{title}_{}", site.title),
        &format!("{folder}/"),
        &head,
        &main,
    )
}

pub(super) fn list(view: &View<'_>, list: &ListPage<'_>) -> String {
    let site = view.site();
    let section = &site.sections[list.section];
    let folder = format!("/{}/", section.key);
    let items = join(&view.listed(list), |article| {
        // As editors' systems write them: relative to the folder that the base names.
        let href = article
            .path
            .strip_prefix(&folder)
            .map_or_else(|| article.path.clone(), |rest| format!("./{rest}"));
        format!(
            "<li><span>{}</span><a href=\"{href}\">{}</a></li>\n",
            clock(article.published_ms, "%Y-%m-%d"),
            escape(&article.title)
        )
    });
    let numbers = join(&view.other_pages(list), |(number, href)| {
        format!("<a href=\"{href}\">{number}</a> ")
    });
    let next = view
        .next_page(list)
        .map_or_else(String::new, |href| format!("<a href=\"{href}\">下一页</a>"));
    let main = format!(
        "<div class=\"location\">当前位置：<a href=\"/\">首页</a> &gt; {name}</div>\n<ul class=\"liebiao\">\n{items}</ul>\n<div class=\"page\">{numbers}{next}</div>\n",
        name = section.title,
    );
    page(
        view,
        &format!("{}_{}", section.title, site.title),
        &folder,
        "",
        &main,
    )
}

pub(super) fn home(view: &View<'_>) -> String {
    let site = view.site();
    let items = join(&view.newest(8), |article| {
        let href = article.path.strip_prefix('/').unwrap_or(&article.path);
        format!(
            "<li><span>{}</span><a href=\"{href}\">{}</a></li>\n",
            clock(article.published_ms, "%Y-%m-%d"),
            escape(&article.title)
        )
    });
    let opened: Vec<&Article> = view
        .world
        .articles
        .iter()
        .filter(|article| {
            article.site == view.index && article.discovery == Discovery::AllowedFolder
        })
        .collect();
    let opened = join(&opened, |article| {
        format!(
            "<a href=\"{}\">{}</a> ",
            article.path,
            escape(&article.title)
        )
    });
    let columns = join(&view.sections(), |(href, name)| {
        format!("<a href=\"{href}\">{name}</a> ")
    });
    let main = format!(
        "<ul class=\"liebiao\">\n{items}</ul>\n<div class=\"lanmu\">栏目：{columns}</div>\n<div class=\"special\">公开目录：{opened}{trap_links}</div>\n",
        trap_links = view.trap_links(
            r#" <a href="r/2026a">年度重点文件</a> <a href="r/loop-a">旧版栏目</a> <a href="topic/">专题</a> <a href="internal/drafts/index.html">送审稿</a>"#
        ),
    );
    page(
        view,
        &format!("{}_油气行业政策发布平台", site.title),
        "/",
        "",
        &main,
    )
}

/// A page whose link to itself lacks the leading slash: each step adds a folder.
pub(crate) fn growing(view: &View<'_>, path: &str) -> String {
    let main = "<div class=\"location\">专题</div>\n<ul class=\"liebiao\"><li><a href=\"related/\">相关专题</a></li></ul>\n";
    page(view, "专题_能源政策公报", path, "", main)
}

/// A page that asks not to be indexed.
pub(crate) fn no_index(view: &View<'_>) -> String {
    let main = "<h1>致读者</h1>\n<div class=\"TRS_Editor\"><p>本页仅供订阅读者核对投递信息使用，内容每季度调整一次，请勿转载，也请不要把它当作正式文件引用。</p>\n\
                <p>如有投递差错，请在收到刊物后十五日内与发行部联系，逾期将按照已签收处理，感谢各位读者多年来的理解与支持。</p></div>\n";
    page(
        view,
        "致读者_能源政策公报",
        "/notice/",
        "<meta name=\"robots\" content=\"noindex,follow\" />\n",
        main,
    )
}
