//! A portal of twenty years ago: tables in tables, capitals, attributes without quotes, cells and paragraphs that are
//! never closed, line breaks where others have paragraphs.

use super::super::article::Article;
use super::view::{ListPage, View, clock, escape, join};

fn page(view: &View<'_>, title: &str, left: &str) -> String {
    let site = view.site();
    let meta = view.charset().map_or_else(String::new, |label| {
        format!("<META http-equiv=Content-Type content=\"text/html; charset={label}\">\n")
    });
    let nav = join(&view.sections(), |(href, name)| {
        format!(" | <A href=\"{href}\">{name}</A>")
    });
    let hot = join(&view.most_read(10), |article| {
        format!(
            "<TR><TD class=hot>·<A href=\"{}\">{}</A>\n",
            article.path,
            escape(&article.title)
        )
    });
    format!(
        include_str!("html/portal_page.html"),
        meta = meta,
        title = title,
        nav = nav,
        left = left,
        hot = hot,
        name = site.title,
        down = view.trap_links(r#" | <A href="/down/well-data.zip">资料下载</A>"#),
    )
}

pub(super) fn article(view: &View<'_>, article: &Article) -> String {
    let site = view.site();
    let section = &site.sections[article.section];
    let title = escape(&article.title);
    let paragraphs = view.paragraphs(article);
    // Half the articles come from an editor that breaks lines, half from one that opens paragraphs and forgets them.
    let text = if article.index.is_multiple_of(2) {
        paragraphs
            .iter()
            .map(|text| format!("　　{text}"))
            .collect::<Vec<_>>()
            .join("<BR><BR>\n")
    } else {
        join(&paragraphs, |text| format!("<P>　　{text}\n"))
    };
    let related = join(&view.related(article, 5), |other| {
        format!(
            "<LI><A href=\"{}\">{}</A> ({})\n",
            other.path,
            escape(&other.title),
            clock(other.published_ms, "%m-%d")
        )
    });
    let left = format!(
        include_str!("html/portal_article.html"),
        title = title,
        text = text,
        related = related,
        key = section.key,
        section = section.title,
        time = clock(article.published_ms, "%Y年%m月%d日 %H:%M"),
        source = article.source.as_deref().unwrap_or(site.title),
        author = article.author.as_deref().unwrap_or("佚名"),
    );
    page(
        view,
        &format!("{title}_{}_{}", section.title, site.title),
        left.trim_end(),
    )
}

pub(super) fn list(view: &View<'_>, list: &ListPage<'_>) -> String {
    let site = view.site();
    let section = &site.sections[list.section];
    let numbers = join(&view.other_pages(list), |(number, href)| {
        format!("<A href=\"{href}\">[{number}]</A> ")
    });
    let next = view
        .next_page(list)
        .map_or_else(String::new, |href| format!("<A href=\"{href}\">下一页</A>"));
    let left = format!(
        "<TABLE cellSpacing=0 cellPadding=4 width=\"100%\" border=0>\n<TR><TD class=pos>您的位置：<A href=\"/index.htm\">首页</A> &gt; {name}\n\
         {rows}<TR><TD align=middle class=fenye>共{pages}页 当前第{page}页 {numbers}{next}\n</TABLE>",
        name = section.title,
        rows = rows(&view.listed(list)),
        pages = list.pages,
        page = list.page,
    );
    page(view, &format!("{}_{}", section.title, site.title), &left)
}

pub(super) fn home(view: &View<'_>) -> String {
    let site = view.site();
    let blocks = join(&view.sections(), |(href, name)| {
        format!(
            "<TR><TD class=bar><A href=\"{href}\"><B>{name}</B></A> <A href=\"{href}\">更多&gt;&gt;</A>\n"
        )
    });
    let left = format!(
        "<TABLE cellSpacing=0 cellPadding=4 width=\"100%\" border=0>\n<TR><TD class=bar><B>今日要闻</B>\n{rows}{blocks}\
         <TR><TD>友情链接：<A href=\"{bohai}\">渤海能源报</A> {old}\n</TABLE>",
        old = view.trap_links(
            r#"<A href="/html/2011-06/01/content_77.htm">老版论坛</A> <A href="http://192.168.1.10/oa/login.html">内部办公</A> <A href="http://0x7f000001/status">机房状态</A>"#
        ),
        rows = rows(&view.newest(12)),
        bohai = view.world.sites[0].url("/"),
    );
    page(
        view,
        &format!("{}_西部石油天然气行业门户", site.title),
        &left,
    )
}

fn rows(articles: &[&Article]) -> String {
    join(articles, |article| {
        format!(
            "<TR><TD class=liebiao><IMG height=7 src=\"/img/dot.svg\" width=7> <A href=\"{}\" target=_blank>{}</A> <FONT color=#999999>[{}]</FONT>\n",
            article.path,
            escape(&article.title),
            clock(article.published_ms, "%m-%d"),
        )
    })
}
