//! A forum: the question is the first post, the answers are comments, and every link carries a session number that is
//! another one on the next request. The charset stands in the header only.

use super::super::article::Article;
use super::super::rng::Rng;
use super::view::{ListPage, View, clock, escape, join};

/// A link as this visitor gets it.
fn href(view: &View<'_>, path: &str) -> String {
    let mut rng = Rng::of(view.nonce, &[0x51D]);
    let (high, low) = (rng.next(), rng.next());
    format!("{path}?sid={high:016x}{low:016x}")
}

fn page(view: &View<'_>, title: &str, main: &str) -> String {
    let site = view.site();
    let boards = join(&view.sections(), |(path, name)| {
        format!("<li><a href=\"{}\">{name}</a></li>", href(view, path))
    });
    format!(
        r#"<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml">
<head>
<title>{title}</title>
<link rel="stylesheet" type="text/css" href="/style.css" />
</head>
<body id="nv_forum">
<div id="hd"><h2><a href="{home}">{name}</a></h2><div id="nv"><ul><li><a href="{home}">论坛首页</a></li>{boards}</ul></div></div>
<div id="wp" class="wp">
{main}</div>
<div id="ft" class="wp"><p><strong>{name}</strong> 石油化工人自己的技术社区，发言请遵守保密规定，不得上传图纸、配方和未公开的生产数据</p><p class="xs0">GMT+8, 页面执行 0.0217 秒, 石ICP备00000005号</p></div>
</body>
</html>
"#,
        name = site.title,
        home = href(view, "/forum.php"),
    )
}

pub(super) fn article(view: &View<'_>, article: &Article) -> String {
    let site = view.site();
    let board = &site.sections[article.section];
    let title = escape(&article.title);
    let id = 50_000 + article.index;
    let text = view.paragraphs(article).join("<br />\n<br />\n");
    let author = article.author.as_deref().unwrap_or("匿名");
    let mut posts = post(view, author, article.published_ms, id * 10, "楼主", &text);
    for (number, comment) in view.comments(article).iter().enumerate() {
        let floor = format!("{}楼", number + 2);
        posts.push_str(&post(
            view,
            &comment.author,
            comment.published_ms,
            id * 10 + number + 1,
            &floor,
            &escape(&comment.text),
        ));
    }
    let near = join(&view.related(article, 4), |other| {
        format!(
            "<li><a href=\"{}\">{}</a></li>",
            href(view, &other.path),
            escape(&other.title)
        )
    });
    let main = format!(
        r#"<div id="pt" class="bm cl"><a href="{home}">论坛</a> › <a href="{board_path}">{board}</a> › {title}</div>
<div id="ct"><div id="postlist" class="pl bm">
<table cellspacing="0" cellpadding="0"><tr><td class="pls"><span class="xg1">查看:</span> <span class="xi1">{views}</span></td><td class="plc"><h1 class="ts"><span id="thread_subject">{title}</span></h1></td></tr></table>
{posts}</div>
<div class="bm relate"><h3>相关帖子</h3><ul>{near}</ul></div></div>
"#,
        home = href(view, "/forum.php"),
        board_path = href(view, &format!("/forum-{}-1.html", board.key)),
        board = board.title,
        views = 200 + article.index * 7,
    );
    page(
        view,
        &format!(
            "{title} - {} - {} - 石油化工技术交流",
            board.title, site.title
        ),
        &main,
    )
}

fn post(view: &View<'_>, author: &str, at_ms: i64, id: usize, floor: &str, text: &str) -> String {
    format!(
        r#"<table id="pid{id}" class="plhin"><tr><td class="pls"><div class="authi"><a href="{space}" class="xw1">{author}</a></div><div class="avatar"><img src="/img/dot.svg" alt="" /></div><p><em>中级会员</em></p></td>
<td class="plc"><div class="pi"><strong><a href="javascript:;">{floor}</a></strong><div class="authi"><em id="authorposton{id}">发表于 {time}</em> <span class="pipe">|</span> <a href="javascript:;" rel="nofollow">只看该作者</a></div></div>
<div class="pct"><div class="t_fsz"><table cellspacing="0" cellpadding="0"><tr><td class="t_f" id="postmessage_{id}">
{text}</td></tr></table></div></div>
<div class="po"><a href="javascript:;">回复</a> <a href="javascript:;">举报</a></div></td></tr></table>
"#,
        space = href(view, "/forum.php"),
        time = clock(at_ms, "%Y-%-m-%-d %H:%M"),
    )
}

pub(super) fn list(view: &View<'_>, list: &ListPage<'_>) -> String {
    let site = view.site();
    let board = &site.sections[list.section];
    let rows = join(&view.listed(list), |article| row(view, article));
    let numbers = join(&view.other_pages(list), |(number, path)| {
        format!("<a href=\"{}\">{number}</a> ", href(view, path))
    });
    let next = view.next_page(list).map_or_else(String::new, |path| {
        format!("<a href=\"{}\" class=\"nxt\">下一页</a>", href(view, &path))
    });
    let main = format!(
        "<div id=\"pt\" class=\"bm cl\"><a href=\"{home}\">论坛</a> › {name}</div>\n<table id=\"threadlisttableid\" class=\"tl\">\n{rows}</table>\n<div class=\"pg\">{numbers}{next}</div>\n",
        home = href(view, "/forum.php"),
        name = board.title,
    );
    page(view, &format!("{} - {}", board.title, site.title), &main)
}

pub(super) fn home(view: &View<'_>) -> String {
    let rows = join(&view.newest(8), |article| row(view, article));
    let boards = join(&view.sections(), |(path, name)| {
        format!(
            "<tr><td class=\"fl_icn\"></td><td><h2><a href=\"{}\">{name}</a></h2></td></tr>\n",
            href(view, path)
        )
    });
    let main = format!(
        "<table class=\"fl_tb\">\n{boards}</table>\n<h3>最新帖子</h3>\n<table class=\"tl\">\n{rows}</table>\n"
    );
    page(
        view,
        &format!("{} - 石油化工技术交流", view.site().title),
        &main,
    )
}

fn row(view: &View<'_>, article: &Article) -> String {
    format!(
        "<tr><th class=\"common\"><a href=\"{}\" class=\"s xst\">{}</a></th><td class=\"by\"><cite>{}</cite> <em>{}</em></td><td class=\"num\">{}</td></tr>\n",
        href(view, &article.path),
        escape(&article.title),
        article.author.as_deref().unwrap_or_default(),
        clock(article.published_ms, "%Y-%-m-%-d"),
        article.comments,
    )
}
