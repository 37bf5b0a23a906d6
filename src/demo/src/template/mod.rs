//! Builds the pages, one file a template. In: the world and what a page shows. Out: HTML as text, before encoding.
//! The templates share no markup on purpose: a crawler has to cope with six houses, not with one.

mod agency;
mod blog;
mod bulletin;
mod forum;
mod newspaper;
mod portal;
mod style;

/// Text as it may stand in HTML, in attributes too.
pub(super) use htmlize::escape_attribute as escape;

use super::composer::Remark;
use super::sites::{SampleSite, Template, home as home_path, list_path};
use super::world::{Encoding, Planted, World};

pub(super) use agency::soft_error;
pub(super) use blog::{calendar, print as blog_print};
pub(super) use bulletin::{growing, no_index};
pub(super) use style::{image, sheet};

/// One page of a section's list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shelf<'a> {
    /// Index of the section in the site.
    pub(super) section: usize,
    /// This page, from 1.
    pub(super) page: usize,
    /// How many pages the list has.
    pub(super) pages: usize,
    /// Indexes of the articles on it, newest first.
    pub(super) items: &'a [usize],
}

/// What a template sees.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    /// The world as it is now.
    pub(super) world: &'a World,
    /// Index of the site.
    pub(super) index: usize,
    /// How the bytes will be declared.
    pub(super) encoding: Encoding,
    /// Changes from request to request; the forum puts it in its links.
    pub(super) nonce: u64,
}

/// An article's page.
pub(super) fn article(view: &View<'_>, article: &Planted) -> String {
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
pub(super) fn list(view: &View<'_>, shelf: &Shelf<'_>) -> String {
    match view.site().template {
        Template::Newspaper => newspaper::list(view, shelf),
        Template::Portal => portal::list(view, shelf),
        Template::Bulletin => bulletin::list(view, shelf),
        Template::Blog => blog::list(view, shelf),
        Template::Forum => forum::list(view, shelf),
        Template::Agency => agency::list(view, shelf),
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

/// The page that says there is no page; `status` is only shown.
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

impl<'a> View<'a> {
    /// The template that lays out the articles: that of another house after a redesign.
    fn layout(&self) -> Template {
        let own = self.site().template;
        if !self.world.redesigned.contains(&self.index) {
            return own;
        }
        match own {
            Template::Newspaper => Template::Agency,
            Template::Agency => Template::Portal,
            _ => Template::Newspaper,
        }
    }

    /// The site.
    pub(super) fn site(&self) -> &'a SampleSite {
        &self.world.sites[self.index]
    }

    /// The charset named in the page's head, if it names one.
    fn charset(&self) -> Option<&'static str> {
        match self.encoding {
            Encoding::Utf8 | Encoding::GbkSaidUtf8 => Some("utf-8"),
            Encoding::GbkInPage | Encoding::Utf8SaidGb2312 => Some("gb2312"),
            Encoding::GbkInHeader | Encoding::GbkSilent | Encoding::Utf8Silent => None,
        }
    }

    /// Markup that leads into traps; a world without traps has none of it.
    fn bait(&self, markup: &str) -> String {
        if self.world.traps.is_empty() {
            String::new()
        } else {
            markup.to_owned()
        }
    }

    /// The newest articles of the site that are on lists.
    fn newest(&self, count: usize) -> Vec<&'a Planted> {
        self.articles(self.world.routes.newest(self.index), count)
    }

    /// Other articles to read on: the same ones in every round, so that an article's bytes stay what they are.
    fn related(&self, article: &Planted, count: usize) -> Vec<&'a Planted> {
        let core = self.world.routes.core(self.index);
        if core.is_empty() {
            return Vec::new();
        }
        let step = 1 + article.index % 5;
        (1..=core.len())
            .filter_map(|number| core.get((article.index * 3 + number * step) % core.len()))
            .filter(|&&index| index != article.index)
            .scan(Vec::new(), |seen, &index| {
                let new = !seen.contains(&index);
                seen.push(index);
                Some(new.then_some(index))
            })
            .flatten()
            .take(count)
            .map(|index| &self.world.articles[index])
            .collect()
    }

    /// The most read: fixed, as hot lists are for weeks.
    fn hot(&self, count: usize) -> Vec<&'a Planted> {
        self.articles(self.world.routes.core(self.index), count)
    }

    fn articles(&self, of: &[usize], count: usize) -> Vec<&'a Planted> {
        of.iter()
            .take(count)
            .map(|&index| &self.world.articles[index])
            .collect()
    }

    /// The articles on one page of a list.
    fn shelf(&self, shelf: &Shelf<'_>) -> Vec<&'a Planted> {
        self.articles(shelf.items, shelf.items.len())
    }

    /// The paragraphs, escaped.
    fn paragraphs(&self, article: &Planted) -> Vec<String> {
        self.world
            .paragraphs(article)
            .iter()
            .map(|text| escape(text).into_owned())
            .collect()
    }

    fn remarks(&self, article: &Planted) -> Vec<Remark> {
        self.world.remarks(article)
    }

    /// Links to a list's sections: address and name.
    fn sections(&self) -> Vec<(String, &'static str)> {
        let site = self.site();
        let link = |section: &super::sites::Section| {
            (list_path(site.template, section.key, 1), section.title)
        };
        site.sections.iter().map(link).collect()
    }

    /// Pages to link from page `page` of `pages`: near ones, each tenth or hundredth, the last; never itself.
    fn pages(&self, shelf: &Shelf<'_>) -> Vec<(usize, String)> {
        let site = self.site();
        let key = site.sections[shelf.section].key;
        (1..=shelf.pages)
            .filter(|&page| page != shelf.page)
            .filter(|&page| {
                page.abs_diff(shelf.page) <= 4 || page % 10 == 0 || page == 1 || page == shelf.pages
            })
            .map(|page| (page, list_path(site.template, key, page)))
            .collect()
    }

    /// The page after this one, if there is one.
    fn next_page(&self, shelf: &Shelf<'_>) -> Option<String> {
        let site = self.site();
        (shelf.page < shelf.pages).then(|| {
            list_path(
                site.template,
                site.sections[shelf.section].key,
                shelf.page + 1,
            )
        })
    }
}

/// Joins what `each` makes of every item.
fn join<T>(items: &[T], each: impl Fn(&T) -> String) -> String {
    items.iter().map(each).collect()
}

fn clock(ms: i64, format: &str) -> String {
    World::clock(ms, format)
}
