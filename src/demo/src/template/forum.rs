//! A forum: the question is the first post, the answers are comments, and every link carries a session number that
//! changes with every request. The charset is declared in the header only.

use super::super::article::Article;
use super::super::rng::Rng;
use super::view::{ListPage, View, clock, escape, join};

/// A link with the session number of this request.
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
        include_str!("html/forum_page.html"),
        title = title,
        boards = boards,
        main = main,
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
        include_str!("html/forum_article.html"),
        title = title,
        posts = posts,
        near = near,
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
        include_str!("html/forum_post.html"),
        id = id,
        author = author,
        floor = floor,
        text = text,
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
