//! The home page: prints an [`Overview`] and the followed topics. The index is never queried.

use askama::Template;

use super::sites::{SiteView, site_views};
use super::view::{Choice, Chrome, Linked, link};
use crate::feeds::follow::Follow;
use crate::search::overview::{Lesson, Overview};
use crate::search::params::Params;
use crate::status::Activity;
use taojin_search::index::Sort;

/// Sites shown; `/sites` lists all.
const SITES: usize = 24;

/// A topic that is followed.
struct TopicView {
    label: String,
    href: String,
    feed: String,
    new_hits: Option<String>,
}

#[derive(Template)]
#[template(path = "home.html")]
pub(crate) struct HomePage {
    c: Chrome,
    /// What each shows, and the query.
    examples: Vec<(&'static str, Choice)>,
    topics: Vec<TopicView>,
    newest: Vec<Linked>,
    /// Everything of the past days, where there is something.
    all_new: Option<Choice>,
    sites: Vec<SiteView>,
    more_sites: Option<String>,
    /// What to do with an index that is empty.
    empty: Option<Empty>,
}

/// Why there is nothing to find, and what to do.
struct Empty {
    /// How it stands, where that is known.
    sites: Option<String>,
    /// Whether this process crawls.
    crawling: bool,
}

impl HomePage {
    pub(crate) fn new(
        c: Chrome,
        params: &Params,
        follows: &[Follow],
        overview: &Overview,
    ) -> HomePage {
        let plain = Params {
            lang: params.lang,
            ..Params::default()
        };
        let choice = |text: &String| {
            let href = c.search(&plain.with(|p| p.text.clone_from(text)));
            Choice::link(text, href)
        };
        let lesson = |lesson: &Lesson| match lesson {
            Lesson::Words => c.t.example_words,
            Lesson::Exact => c.t.hint_exact,
            Lesson::Without => c.t.hint_without,
            Lesson::Site => c.t.example_site,
            Lesson::Time => c.t.example_time,
        };
        let more = &c.t.counts.more_sites;
        let shown = overview.sites.len().min(SITES);
        let more_sites = overview.sites.len() - shown + overview.more_sites;
        let examples = overview.examples.iter();
        let configured = overview.sites.len() + overview.more_sites;
        let empty = (c.documents == Some(0)).then(|| Empty {
            sites: (configured > 0).then(|| c.t.counts.sites_waiting.fill(configured as u64)),
            crawling: overview.activity == Some(Activity::Running),
        });
        HomePage {
            examples: examples
                .map(|(l, text)| (lesson(l), choice(text)))
                .collect(),
            topics: follows
                .iter()
                .map(|f| topic(&c, &plain, f, overview))
                .collect(),
            newest: overview.newest.iter().map(|hit| c.linked(hit)).collect(),
            all_new: (overview.new > 0).then(|| {
                let href = c.search(&plain.with(|p| p.since = Some("7d".to_owned())));
                Choice::link(c.t.counts.new.fill(overview.new), href)
            }),
            sites: site_views(&c, &plain, &overview.sites[..shown]),
            more_sites: (more_sites > 0).then(|| more.fill(more_sites as u64)),
            empty,
            c,
        }
    }
}

fn topic(c: &Chrome, plain: &Params, follow: &Follow, overview: &Overview) -> TopicView {
    let mut counts = overview.new_hits.iter();
    let new_hits = counts.find_map(|(name, count)| (*name == follow.name).then_some(*count));
    TopicView {
        label: follow.shown().to_owned(),
        href: c.search(&Params {
            text: follow.query.clone(),
            sites: follow.sites.clone(),
            matching: follow.matching,
            sort: Sort::Date,
            ..plain.clone()
        }),
        feed: link(&c.base, &format!("/feeds/{}.atom", follow.name), ""),
        new_hits: new_hits.map(|count| c.t.counts.new.fill(count)),
    }
}
