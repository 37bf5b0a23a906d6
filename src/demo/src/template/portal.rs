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
        r#"<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">
<HTML>
<HEAD>
{meta}<TITLE>{title}</TITLE>
<LINK href="/style.css" type=text/css rel=stylesheet>
</HEAD>
<BODY bgColor=#ffffff topMargin=0>
<TABLE class=top cellSpacing=0 cellPadding=0 width=960 align=center border=0>
<TR><TD class=logo width=240><A href="/index.htm"><B>{name}</B></A><TD class=ad>戈壁有油 大漠有气
<TR><TD class=nav colSpan=2><A href="/index.htm">首页</A>{nav}{down}
</TABLE>
<TABLE cellSpacing=0 cellPadding=0 width=960 align=center border=0>
<TR><TD vAlign=top width=690>
{left}
<TD vAlign=top width=260>
<TABLE class=side cellSpacing=1 cellPadding=3 width="100%"><TR><TD class=bar>本周点击</TD></TR>
{hot}</TABLE>
</TABLE>
<TABLE class=foot width=960 align=center border=0><TR><TD align=center>
<HR size=1>关于我们 | 广告服务 | 版权声明 | 联系方式<BR>
{name} 版权所有 未经书面授权禁止复制或建立镜像 西ICP备00000002号<BR>
建议使用1024×768以上分辨率浏览
</TABLE>
</BODY>
</HTML>
"#,
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
        r#"<TABLE cellSpacing=0 cellPadding=4 width="100%" border=0>
<TR><TD class=pos>您的位置：<A href="/index.htm">首页</A> &gt; <A href="/list/{key}.htm">{section}</A> &gt; 浏览文章
<TR><TD class=biaoti align=middle><FONT size=5><B>{title}</B></FONT>
<TR><TD class=xinxi align=middle>{time}&nbsp;&nbsp;来源：{source}&nbsp;&nbsp;作者：{author}&nbsp;&nbsp;字体：<A href="javascript:doZoom(16)">大</A> <A href="javascript:doZoom(14)">中</A>
<TR><TD class=neirong id=zoom>{text}
<TR><TD align=right class=bianji>（责任编辑：admin）
<TR><TD class=xgwz><B>相关文章</B><UL>
{related}</UL>
</TABLE>"#,
        key = section.key,
        section = section.title,
        time = clock(article.published_ms, "%Y年%m月%d日 %H:%M"),
        source = article.source.as_deref().unwrap_or(site.title),
        author = article.author.as_deref().unwrap_or("佚名"),
    );
    page(
        view,
        &format!("{title}_{}_{}", section.title, site.title),
        &left,
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
