//! Which address shows what. In: sites and articles. Out: a [`Target`] for a site and a path. Rebuilt in each round.

use std::collections::HashMap;

use super::article::{Article, Discovery};
use super::sites::{SampleSite, Template, home, list_path};

/// Articles on one list page of the bundled world.
const LIST_ARTICLES: usize = 6;
/// Articles on one list page of a large world, so that its lists have few pages.
const LARGE_LIST_ARTICLES: usize = 40;
/// A site with more articles than this is large.
const LARGE_SITE: usize = 200;

/// What an address shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Home,
    List {
        section: usize,
        page: usize,
    },
    Article(usize),
    /// A step in the chain that ends at the article of this index.
    Hop {
        step: usize,
        article: usize,
    },
}

/// Addresses and lists of one moment.
#[derive(Debug, Clone, Default)]
pub(super) struct Routes {
    targets: Vec<HashMap<String, Target>>,
    lists: Vec<Vec<Vec<usize>>>,
    newest: Vec<Vec<usize>>,
    first_round: Vec<Vec<usize>>,
}

impl Routes {
    /// The addresses and lists of these articles.
    pub(super) fn of(sites: &[SampleSite], articles: &[Article]) -> Self {
        let mut routes = Self::default();
        for (index, site) in sites.iter().enumerate() {
            let mut newest: Vec<usize> = articles
                .iter()
                .filter(|article| article.site == index && article.discovery == Discovery::List)
                .map(|article| article.index)
                .collect();
            newest.sort_by_key(|&article| {
                (std::cmp::Reverse(articles[article].published_ms), article)
            });
            let core = newest
                .iter()
                .copied()
                .filter(|&article| articles[article].round == 1)
                .collect();
            let lists: Vec<Vec<usize>> = (0..site.sections.len())
                .map(|section| {
                    newest
                        .iter()
                        .copied()
                        .filter(|&article| articles[article].section == section)
                        .collect()
                })
                .collect();
            let mut targets = HashMap::new();
            targets.insert(home(site.template).to_owned(), Target::Home);
            targets.insert("/".to_owned(), Target::Home);
            list_targets(site, &lists, newest.len(), &mut targets);
            for article in articles.iter().filter(|article| article.site == index) {
                targets.insert(article.path.clone(), Target::Article(article.index));
                if article.discovery == Discovery::Redirects {
                    for (step, alias) in article.aliases.iter().enumerate() {
                        targets.insert(
                            alias.clone(),
                            Target::Hop {
                                step,
                                article: article.index,
                            },
                        );
                    }
                }
            }
            routes.targets.push(targets);
            routes.lists.push(lists);
            routes.newest.push(newest);
            routes.first_round.push(core);
        }
        routes
    }

    /// What `target` (path and query) of a site shows; a tracking query is ignored.
    pub(super) fn find(&self, site: usize, target: &str) -> Option<Target> {
        let targets = self.targets.get(site)?;
        let path = target.split_once('?').map_or(target, |(path, _)| path);
        targets.get(target).or_else(|| targets.get(path)).copied()
    }

    /// Every path that shows something, in no order.
    #[cfg(test)]
    pub(super) fn addresses(&self, site: usize) -> Vec<String> {
        self.targets[site].keys().cloned().collect()
    }

    /// Listed articles of a site, newest first.
    pub(super) fn newest(&self, site: usize) -> &[usize] {
        self.newest.get(site).map_or(&[], Vec::as_slice)
    }

    /// Listed articles of a site's first round, newest first.
    pub(super) fn first_round(&self, site: usize) -> &[usize] {
        self.first_round.get(site).map_or(&[], Vec::as_slice)
    }

    /// The articles on page `page` (from 1) of a section's list, and how many pages the list has.
    pub(super) fn list_page(&self, site: usize, section: usize, page: usize) -> (&[usize], usize) {
        let list = self
            .lists
            .get(site)
            .and_then(|lists| lists.get(section))
            .map_or(&[][..], Vec::as_slice);
        let size = list_page_size(self.newest(site).len());
        let items = list
            .chunks(size)
            .nth(page.saturating_sub(1))
            .unwrap_or_default();
        (items, list.len().div_ceil(size).max(1))
    }

    /// All articles of a section, newest first.
    pub(super) fn section(&self, site: usize, section: usize) -> &[usize] {
        self.lists
            .get(site)
            .and_then(|lists| lists.get(section))
            .map_or(&[], Vec::as_slice)
    }
}

fn list_page_size(articles: usize) -> usize {
    if articles > LARGE_SITE {
        LARGE_LIST_ARTICLES
    } else {
        LIST_ARTICLES
    }
}

fn list_targets(
    site: &SampleSite,
    lists: &[Vec<usize>],
    articles: usize,
    targets: &mut HashMap<String, Target>,
) {
    for (section, list) in lists.iter().enumerate() {
        let pages = list.len().div_ceil(list_page_size(articles)).max(1);
        for page in 1..=pages {
            let key = site.sections[section].key;
            targets.insert(
                list_path(site.template, key, page),
                Target::List { section, page },
            );
            if site.template == Template::Bulletin && page == 1 {
                targets.insert(format!("/{key}/"), Target::List { section, page });
            }
        }
    }
}
