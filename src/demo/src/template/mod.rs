//! Builds the pages, one file a template. In: the world and what a page shows. Out: HTML as text, before encoding.
//! `html/*.html` are format strings with named slots, and braces doubled.
//!
//! The templates share no markup on purpose: a crawler has to cope with six house styles, not with one.

mod agency;
mod blog;
mod bulletin;
mod forum;
mod newspaper;
mod portal;
mod style;
mod view;

use super::article::Article;
use super::sites::{Template, home as home_path};

pub(super) use agency::soft_error;
pub(super) use blog::{calendar, print as blog_print};
pub(super) use bulletin::{growing, no_index};
pub(super) use style::{image, sheet};
pub(super) use view::{ListPage, View, escape};

/// An article's page.
pub(super) fn article(view: &View<'_>, article: &Article) -> String {
    match view.layout() {
        Template::Newspaper => newspaper::article(view, article),
        Template::Portal => portal::article(view, article),
        Template::Bulletin => bulletin::article(view, article),
        Template::Blog => blog::article(view, article),
        Template::Forum => forum::article(view, article),
        Template::Agency => agency::article(view, article),
    }
}

/// A list page.
pub(super) fn list(view: &View<'_>, list: &ListPage<'_>) -> String {
    match view.site().template {
        Template::Newspaper => newspaper::list(view, list),
        Template::Portal => portal::list(view, list),
        Template::Bulletin => bulletin::list(view, list),
        Template::Blog => blog::list(view, list),
        Template::Forum => forum::list(view, list),
        Template::Agency => agency::list(view, list),
    }
}

/// The front page.
pub(super) fn home(view: &View<'_>) -> String {
    match view.site().template {
        Template::Newspaper => newspaper::home(view),
        Template::Portal => portal::home(view),
        Template::Bulletin => bulletin::home(view),
        Template::Blog => blog::home(view),
        Template::Forum => forum::home(view),
        Template::Agency => agency::home(view),
    }
}

/// The error page; `status` is only shown.
pub(super) fn missing(view: &View<'_>, status: u16) -> String {
    let site = view.site();
    format!(
        "<!DOCTYPE html>\n<html lang=\"zh-CN\"><head><meta charset=\"utf-8\"><title>页面不存在 - {name}</title>\
         <link rel=\"stylesheet\" href=\"/style.css\"></head>\n<body class=\"error-page\"><div class=\"error-box\"><h1>{status}</h1>\
         <p>很抱歉，您访问的页面不存在、已被删除或暂时无法打开。</p><p><a href=\"{home}\">返回{name}首页</a></p></div></body></html>\n",
        name = site.title,
        home = home_path(site.template),
    )
}
