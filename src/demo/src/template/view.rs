//! What a template sees of the world: its site, the articles to link, the traps to link.

/// Text as it may stand in HTML, in attributes too.
pub(crate) use htmlize::escape_attribute as escape;

use super::super::article::{Article, Encoding};
use super::super::sites::{SampleSite, Template, list_path};
use super::super::text::composer::Comment;
pub(super) use super::super::time::clock;
use super::super::world::World;

/// One page of a section's list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListPage<'a> {
    /// Index of the section in the site.
    pub(crate) section: usize,
    /// This page, from 1.
    pub(crate) page: usize,
    /// How many pages the list has.
    pub(crate) pages: usize,
    /// Indexes of the articles on it, newest first.
    pub(crate) items: &'a [usize],
}

/// What a template sees.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    /// The world as it is now.
    pub(crate) world: &'a World,
    /// Index of the site.
    pub(crate) index: usize,
    /// How the bytes will be declared.
    pub(crate) encoding: Encoding,
    /// Changes from request to request; the forum puts it in its links.
    pub(crate) nonce: u64,
}

impl<'a> View<'a> {
    /// The template that lays out the articles: another than the site's own after a redesign.
    pub(super) fn layout(&self) -> Template {
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
    pub(crate) fn site(&self) -> &'a SampleSite {
        &self.world.sites[self.index]
    }

    /// The charset named in the page's head, if it names one.
    pub(super) fn charset(&self) -> Option<&'static str> {
        match self.encoding {
            Encoding::Utf8 | Encoding::GbkDeclaredUtf8 => Some("utf-8"),
            Encoding::GbkInPage | Encoding::Utf8DeclaredGb2312 => Some("gb2312"),
            Encoding::GbkInHeader | Encoding::GbkUndeclared | Encoding::Utf8Undeclared => None,
        }
    }

    /// Markup that leads into traps; a world without traps has none of it.
    pub(super) fn trap_links(&self, markup: &str) -> String {
        if self.world.traps.is_empty() {
            String::new()
        } else {
            markup.to_owned()
        }
    }

    /// The newest articles of the site that are on lists.
    pub(super) fn newest(&self, count: usize) -> Vec<&'a Article> {
        self.articles(self.world.routes.newest(self.index), count)
    }

    /// Related articles: the same ones in every round, so that the bytes of an article do not change.
    pub(super) fn related(&self, article: &Article, count: usize) -> Vec<&'a Article> {
        let core = self.world.routes.first_round(self.index);
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

    /// The most read articles, the same in every round.
    pub(super) fn most_read(&self, count: usize) -> Vec<&'a Article> {
        self.articles(self.world.routes.first_round(self.index), count)
    }

    pub(super) fn articles(&self, of: &[usize], count: usize) -> Vec<&'a Article> {
        of.iter()
            .take(count)
            .map(|&index| &self.world.articles[index])
            .collect()
    }

    /// The articles on one page of a list.
    pub(super) fn listed(&self, list: &ListPage<'_>) -> Vec<&'a Article> {
        self.articles(list.items, list.items.len())
    }

    /// The paragraphs, escaped.
    pub(super) fn paragraphs(&self, article: &Article) -> Vec<String> {
        self.world
            .paragraphs(article)
            .iter()
            .map(|text| escape(text).into_owned())
            .collect()
    }

    pub(super) fn comments(&self, article: &Article) -> Vec<Comment> {
        self.world.comments(article)
    }

    /// Links to a list's sections: address and name.
    pub(super) fn sections(&self) -> Vec<(String, &'static str)> {
        let site = self.site();
        let link = |section: &super::super::sites::Section| {
            (list_path(site.template, section.key, 1), section.title)
        };
        site.sections.iter().map(link).collect()
    }

    /// Pages to link from page `page` of `pages`: near ones, each tenth or hundredth, the last; never itself.
    pub(super) fn other_pages(&self, list: &ListPage<'_>) -> Vec<(usize, String)> {
        let site = self.site();
        let key = site.sections[list.section].key;
        (1..=list.pages)
            .filter(|&page| page != list.page)
            .filter(|&page| {
                page.abs_diff(list.page) <= 4 || page % 10 == 0 || page == 1 || page == list.pages
            })
            .map(|page| (page, list_path(site.template, key, page)))
            .collect()
    }

    /// The page after this one, if there is one.
    pub(super) fn next_page(&self, list: &ListPage<'_>) -> Option<String> {
        let site = self.site();
        (list.page < list.pages).then(|| {
            list_path(
                site.template,
                site.sections[list.section].key,
                list.page + 1,
            )
        })
    }
}

/// Joins what `each` makes of every item.
pub(super) fn join<T>(items: &[T], each: impl Fn(&T) -> String) -> String {
    items.iter().map(each).collect()
}
