//! Which address shows what. In: the world. Out: a [`Target`] for a site and a path. Rebuilt in each round.

use std::collections::HashMap;

use super::sites::{SampleSite, Template, home, list_path};
use super::world::{Way, World};

/// Articles on one list page of the bundled world.
const SHELF: usize = 6;
/// Articles on one list page of a large world, so that lists stay short against hop limits.
const LARGE_SHELF: usize = 40;
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
    core: Vec<Vec<usize>>,
}

impl Routes {
    /// Reads the world as it is now.
    pub(super) fn of(world: &World) -> Self {
        let mut routes = Self::default();
        for (index, site) in world.sites.iter().enumerate() {
            let mut newest: Vec<usize> = world
                .articles
                .iter()
                .filter(|article| article.site == index && article.way == Way::List)
                .map(|article| article.index)
                .collect();
            newest.sort_by_key(|&article| {
                (
                    std::cmp::Reverse(world.articles[article].published_ms),
                    article,
                )
            });
            let core = newest
                .iter()
                .copied()
                .filter(|&article| world.articles[article].round == 1)
                .collect();
            let lists: Vec<Vec<usize>> = (0..site.sections.len())
                .map(|section| {
                    newest
                        .iter()
                        .copied()
                        .filter(|&article| world.articles[article].section == section)
                        .collect()
                })
                .collect();
            let mut targets = HashMap::new();
            targets.insert(home(site.template).to_owned(), Target::Home);
            targets.insert("/".to_owned(), Target::Home);
            list_targets(site, &lists, newest.len(), &mut targets);
            for article in world
                .articles
                .iter()
                .filter(|article| article.site == index)
            {
                targets.insert(article.path.clone(), Target::Article(article.index));
                if article.way == Way::Redirects {
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
            routes.core.push(core);
        }
        routes
    }

    /// What `target` (path and query) of a site shows; a query that only tracks is not looked at.
    pub(super) fn find(&self, site: usize, target: &str) -> Option<Target> {
        let targets = self.targets.get(site)?;
        let path = target.split_once('?').map_or(target, |(path, _)| path);
        targets.get(target).or_else(|| targets.get(path)).copied()
    }

    /// Listed articles of a site, newest first.
    pub(super) fn newest(&self, site: usize) -> &[usize] {
        self.newest.get(site).map_or(&[], Vec::as_slice)
    }

    /// Listed articles of a site's first round, newest first.
    pub(super) fn core(&self, site: usize) -> &[usize] {
        self.core.get(site).map_or(&[], Vec::as_slice)
    }

    /// The articles on page `page` (from 1) of a section's list, and how many pages the list has.
    pub(super) fn shelf(&self, site: usize, section: usize, page: usize) -> (&[usize], usize) {
        let list = self
            .lists
            .get(site)
            .and_then(|lists| lists.get(section))
            .map_or(&[][..], Vec::as_slice);
        let size = shelf_size(self.newest(site).len());
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

fn shelf_size(articles: usize) -> usize {
    if articles > LARGE_SITE {
        LARGE_SHELF
    } else {
        SHELF
    }
}

fn list_targets(
    site: &SampleSite,
    lists: &[Vec<usize>],
    articles: usize,
    targets: &mut HashMap<String, Target>,
) {
    for (section, list) in lists.iter().enumerate() {
        let pages = list.len().div_ceil(shelf_size(articles)).max(1);
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
