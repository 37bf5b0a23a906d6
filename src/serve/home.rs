//! The home page. In: an index, the topics followed, and the state of the sites where readers may see it. Out: an
//! [`Overview`], made anew from time to time, and the page that shows it. Never a search that a visit waits for twice.

use askama::Template;

use super::follow::Follow;
use super::html::Html;
use super::moment::Moment;
use super::params::Params;
use super::source::{Arrived, Found, SearchSource, SourceError, Wanted};
use super::status::{Activity, SiteStatus, Status};
use super::view::{Choice, Chrome, link, title};
use crate::index::Sort;

/// Newest documents shown.
const NEWEST: usize = 8;
/// Sites shown; the operator's page has all.
const SITES: usize = 24;
/// Topics whose new hits are counted: each costs a search.
const COUNTED_TOPICS: usize = 16;
/// Terms that examples are tried with.
const TERMS: usize = 8;
const DAY_MS: i64 = 86_400_000;
/// What counts as a new hit of a topic.
const NEW_MS: i64 = 7 * DAY_MS;
/// While nothing was added, counts of days and states may be this old.
const OLD_MS: i64 = 60_000;
/// While documents come in, the list of the newest may be this old.
const FRESH_MS: i64 = 5_000;

/// What an example shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lesson {
    Words,
    Exact,
    Without,
    Site,
    Time,
}

/// A site in the list.
#[derive(Debug, Clone, PartialEq, Default)]
struct SiteLine {
    name: String,
    documents: u64,
    /// What the operator knows of it, where readers may see that.
    status: Option<SiteStatus>,
}

/// What the home page shows, whoever asks.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Overview {
    made_ms: i64,
    documents: u64,
    newest: Vec<Found>,
    /// Documents published in the past days.
    new: u64,
    sites: Vec<SiteLine>,
    more_sites: usize,
    /// New hits of each topic, by its name.
    new_hits: Vec<(String, u64)>,
    examples: Vec<(Lesson, String)>,
    activity: Option<Activity>,
}

impl Overview {
    /// Asks the index. `status` is given where readers may see it.
    pub(crate) fn of(
        source: &dyn SearchSource,
        follows: &[Follow],
        status: Option<Status>,
        now_ms: i64,
    ) -> Result<Overview, SourceError> {
        let everything = Wanted {
            now_ms,
            sort: Sort::Date,
            limit: NEWEST,
            grouped: true,
            facets: true,
            ..Wanted::default()
        };
        let found = source.search(&everything)?;
        let mut newest = found.hits;
        // A page may bear any date: an event to come is no news.
        let published = Wanted {
            until_ms: Some(now_ms + DAY_MS),
            facets: false,
            ..everything.clone()
        };
        let dated = source.search(&published)?.hits;
        if !dated.is_empty() {
            newest = dated;
        }
        if newest.len() < NEWEST {
            let latest = source.latest(&everything)?;
            add_undated(&mut newest, latest);
        }
        let recent = Wanted {
            now_ms,
            since_ms: Some(now_ms - NEW_MS),
            ..Wanted::default()
        };
        let mut new_hits = Vec::new();
        for follow in follows.iter().take(COUNTED_TOPICS) {
            let wanted = Wanted {
                since_ms: Some(now_ms - NEW_MS),
                ..follow.wanted(0, now_ms)
            };
            new_hits.push((follow.name.clone(), source.search(&wanted)?.total));
        }
        let activity = status.as_ref().map(|status| status.activity);
        let mut sites = site_lines(found.sites, status);
        let more_sites = sites.len().saturating_sub(SITES);
        sites.truncate(SITES);
        let examples = examples(source, &found.related, &sites, &newest, now_ms)?;
        Ok(Overview {
            made_ms: now_ms,
            documents: source.documents(),
            newest,
            new: source.search(&recent)?.total,
            sites,
            more_sites,
            new_hits,
            examples,
            activity,
        })
    }

    /// Whether it is new enough for an index of so many documents.
    pub(crate) fn serves(&self, now_ms: i64, documents: u64) -> bool {
        let age = now_ms.saturating_sub(self.made_ms);
        let most = match documents == self.documents {
            true => OLD_MS,
            false => FRESH_MS,
        };
        // What was empty is shown as soon as there is something.
        let filled = self.documents == 0 && documents > 0;
        (0..most).contains(&age) && !filled
    }
}

/// Documents without a date come after those with one, in the order of their fetch.
fn add_undated(newest: &mut Vec<Found>, latest: Vec<Arrived>) {
    for arrived in latest {
        let known = newest.iter().any(|hit| {
            hit.id == arrived.found.id || hit.group.is_some() && hit.group == arrived.found.group
        });
        if !known && arrived.found.published.is_none() && newest.len() < NEWEST {
            newest.push(arrived.found);
        }
    }
}

/// The sites with documents, most first, then those that have none yet.
fn site_lines(counts: Vec<(String, u64)>, status: Option<Status>) -> Vec<SiteLine> {
    let mut known = status.map(|status| status.sites).unwrap_or_default();
    let mut lines: Vec<SiteLine> = Vec::new();
    for (name, documents) in counts {
        let at = known.iter().position(|site| site.name == name);
        lines.push(SiteLine {
            status: at.map(|at| known.swap_remove(at)),
            name,
            documents,
        });
    }
    known.sort_by(|a, b| a.name.cmp(&b.name));
    lines.extend(known.into_iter().map(|site| SiteLine {
        name: site.name.clone(),
        documents: 0,
        status: Some(site),
    }));
    lines
}

/// Queries that find something here, one for each lesson.
fn examples(
    source: &dyn SearchSource,
    related: &[String],
    sites: &[SiteLine],
    newest: &[Found],
    now_ms: i64,
) -> Result<Vec<(Lesson, String)>, SourceError> {
    let total = |text: &str| {
        let wanted = Wanted {
            text: text.to_owned(),
            now_ms,
            ..Wanted::default()
        };
        source.search(&wanted).map(|found| found.total)
    };
    let mut examples = Vec::new();
    // What holds a quote or a colon would be read as syntax.
    let plain = |term: &&String| {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '·');
        term.chars().all(plain) && !term.starts_with('-')
    };
    let terms: Vec<&String> = related.iter().filter(plain).take(TERMS).collect();
    if let Some(term) = terms.first() {
        let found = total(term)?;
        if found > 0 {
            examples.push((Lesson::Words, (*term).clone()));
        }
        // A pair of characters is one term. A longer word is a phrase, at which tantivy 0.27 panics in a debug build
        // when it is refused and stands in none of the last documents.
        let pairs = terms.iter().skip(1);
        for other in pairs.filter(|other| other.chars().count() == 2) {
            let less = format!("{term} -{}", quoted(other));
            // An example that leaves nothing out teaches nothing.
            if (1..found).contains(&total(&less)?) {
                examples.push((Lesson::Without, less));
                break;
            }
        }
        let exact = terms.get(1).unwrap_or(term);
        let exact = format!("\"{exact}\"");
        if total(&exact)? > 0 {
            examples.push((Lesson::Exact, exact));
        }
    }
    let with_documents = sites.iter().find(|site| site.documents > 0);
    if let Some(site) = with_documents.filter(|site| !site.name.contains(['"', '“', '”'])) {
        let text = format!("site:{}", quoted(&site.name));
        if total(&text)? > 0 {
            examples.push((Lesson::Site, text));
        }
    }
    let months = newest
        .iter()
        .filter_map(|hit| month(hit.published.as_deref()?));
    if let Some(month) = months.into_iter().next() {
        let text = format!("date:{month}");
        if total(&text)? > 0 {
            examples.push((Lesson::Time, text));
        }
    }
    examples.sort_by_key(|(lesson, _)| *lesson as u8);
    Ok(examples)
}

/// A value of a field, in quotes if it needs them.
fn quoted(value: &str) -> String {
    match value.contains(char::is_whitespace) {
        true => format!("\"{value}\""),
        false => value.to_owned(),
    }
}

/// `2026-05` of `2026-05-01T08:30:00+08:00`.
fn month(published: &str) -> Option<&str> {
    let month = published.trim().get(..7)?;
    chrono::NaiveDate::parse_from_str(&format!("{month}-01"), "%Y-%m-%d").ok()?;
    Some(month)
}

/// A document in the list of the newest.
struct NewView {
    title: Html,
    /// The original, or its text as crawled where that is no address of a page.
    href: String,
    site: String,
    published: Option<Moment>,
}

/// A topic that is followed.
struct TopicView {
    label: String,
    href: String,
    feed: String,
    new_hits: Option<String>,
}

/// A site and its state.
struct SiteView {
    name: String,
    href: String,
    documents: String,
    /// The operator's page of the site.
    details: Option<String>,
    crawled: Option<String>,
    errors: Option<String>,
}

#[derive(Template)]
#[template(path = "home.html")]
pub(crate) struct HomePage {
    c: Chrome,
    help: String,
    /// What each shows, and the query.
    examples: Vec<(&'static str, Choice)>,
    topics: Vec<TopicView>,
    newest: Vec<NewView>,
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
        let choice = |text: &String| Choice {
            label: text.clone(),
            href: c.search(&Params {
                text: text.clone(),
                ..plain.clone()
            }),
            chosen: false,
            count: None,
        };
        let lesson = |lesson: &Lesson| match lesson {
            Lesson::Words => c.t.example_words,
            Lesson::Exact => c.t.hint_exact,
            Lesson::Without => c.t.hint_without,
            Lesson::Site => c.t.example_site,
            Lesson::Time => c.t.example_time,
        };
        let examples = overview.examples.iter();
        let configured = overview.sites.len() + overview.more_sites;
        let empty = (c.documents == Some(0)).then(|| Empty {
            sites: (configured > 0).then(|| c.lang.sites_waiting(configured)),
            crawling: overview.activity == Some(Activity::Running),
        });
        HomePage {
            help: link(&c.base, "/help", &plain.query_string()),
            examples: examples
                .map(|(l, text)| (lesson(l), choice(text)))
                .collect(),
            topics: follows
                .iter()
                .map(|f| topic(&c, &plain, f, overview))
                .collect(),
            newest: overview
                .newest
                .iter()
                .map(|hit| new(&c, &plain, hit))
                .collect(),
            all_new: (overview.new > 0).then(|| Choice {
                label: c.lang.new_hits(overview.new),
                href: c.search(&Params {
                    since: Some("7d".to_owned()),
                    ..plain.clone()
                }),
                chosen: false,
                count: None,
            }),
            sites: overview.sites.iter().map(|s| site(&c, &plain, s)).collect(),
            more_sites: (overview.more_sites > 0).then(|| c.lang.more_sites(overview.more_sites)),
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
            sort: Sort::Date,
            ..plain.clone()
        }),
        feed: link(&c.base, &format!("/feeds/{}.atom", follow.name), ""),
        new_hits: new_hits.map(|count| c.lang.new_hits(count)),
    }
}

fn new(c: &Chrome, plain: &Params, hit: &Found) -> NewView {
    NewView {
        title: title(&hit.title, c.t),
        href: link(&c.base, &format!("/doc/{}", hit.id), &plain.query_string()),
        site: hit.site.clone().unwrap_or_default(),
        published: c.moment(hit.published.as_ref()),
    }
}

fn site(c: &Chrome, plain: &Params, line: &SiteLine) -> SiteView {
    let status = line.status.as_ref();
    let details = || {
        // An address takes no blank or slash as it is.
        let name = url::form_urlencoded::byte_serialize(line.name.as_bytes()).collect::<String>();
        let path = format!("/sites/{}", name.replace('+', "%20"));
        link(&c.base, &path, &plain.query_string())
    };
    SiteView {
        name: line.name.clone(),
        href: c.search(&Params {
            sites: vec![line.name.clone()],
            ..plain.clone()
        }),
        documents: c.lang.count(line.documents),
        details: status.map(|_| details()),
        crawled: status.map(|s| c.lang.crawled(s.last_cycle_ms, c.clock.now_ms)),
        errors: status
            .filter(|s| s.errors > 0)
            .map(|s| c.lang.errors(s.errors)),
    }
}
