//! The ground truth of the sample web. In: a seed, a moment, a port. Out: [`World`]: which articles exist, where,
//! what they say, which round they came in, and the traps. Texts are written when asked for, not kept.

use std::collections::HashSet;

use chrono::Timelike;

use super::article::{Article, Delivery, Discovery};
use super::conventions;
use super::rng::Rng;
use super::routes::Routes;
use super::sites::{self, SampleSite};
use super::special_cases;
use super::text::composer::{self, Brief, Comment};
use super::text::genre::Genre;
use super::time::{HOUR_MS, MINUTE_MS, beijing};
use super::traps::{self, Trap};

/// Articles of the bundled world before anything new comes out.
pub const ARTICLES: usize = 192;
/// Articles that come out in each later round.
pub const NEW_PER_ROUND: usize = 12;
/// Articles that are changed in each later round.
pub const CHANGED_PER_ROUND: usize = 5;
/// Last part of the host names: browsers find names below it on this machine (RFC 6761), so that a person can open
/// the pages while they are served.
const SUFFIX: &str = "localhost";

/// The sample web at one moment.
#[derive(Debug, Clone)]
pub struct World {
    /// What everything follows from.
    pub seed: u64,
    /// The sites.
    pub sites: Vec<SampleSite>,
    /// The articles, in the order of publication: an index never changes.
    pub articles: Vec<Article>,
    /// What a crawler must not fall into.
    pub traps: Vec<Trap>,
    /// 1 at first, one more after each [`World::advance`].
    pub round: u32,
    /// Pages are filled up with script to about this many bytes; 0 leaves them as they are.
    pub page_bytes: usize,
    /// Sites whose pages look otherwise since a redesign.
    pub(super) redesigned: HashSet<usize>,
    pub(super) now_ms: i64,
    pub(super) routes: Routes,
    titles: HashSet<String>,
}

impl World {
    /// The bundled world: [`ARTICLES`] articles, reprints, wrong charsets and traps, served on `port`.
    pub fn generate(seed: u64, now_ms: i64, port: u16) -> Self {
        let mut world = Self::empty(seed, now_ms, port, SUFFIX);
        world.publish_all(ARTICLES);
        special_cases::apply(&world.sites, &mut world.articles);
        world.traps = traps::traps(&world.sites);
        world.routes = Routes::of(&world.sites, &world.articles);
        world
    }

    /// A world of any size for tests of load and recovery: the same six templates, no faults, no traps.
    pub fn generate_sized(seed: u64, now_ms: i64, port: u16, articles: usize) -> Self {
        let mut world = Self::empty(seed, now_ms, port, SUFFIX);
        world.publish_all(articles);
        world.routes = Routes::of(&world.sites, &world.articles);
        world
    }

    fn empty(seed: u64, now_ms: i64, port: u16, suffix: &str) -> Self {
        Self {
            seed,
            sites: sites::sites(port, suffix),
            articles: Vec::new(),
            traps: Vec::new(),
            round: 1,
            page_bytes: 0,
            redesigned: HashSet::new(),
            now_ms,
            routes: Routes::default(),
            titles: HashSet::new(),
        }
    }

    fn publish_all(&mut self, articles: usize) {
        let shares: usize = self.sites.iter().map(|site| site.share).sum();
        let mut published = 0;
        for site in 0..self.sites.len() {
            let share = self.sites[site].share;
            let last = site + 1 == self.sites.len();
            let count = if last {
                articles - published
            } else {
                articles * share / shares
            };
            for number in 0..count {
                // Evenly over the month before, newest first, so that lists have an order.
                let age_ms = 6 * HOUR_MS + 30 * 24 * HOUR_MS * as_ms(number) / as_ms(count.max(1));
                self.publish(site, self.now_ms - age_ms);
            }
            published += count;
        }
    }

    /// Publishes one article; what it says follows from the world's seed and the article's number.
    fn publish(&mut self, site: usize, around_ms: i64) {
        let index = self.articles.len();
        let site_info = &self.sites[site];
        let mut rng = Rng::of(self.seed, &[7, index as u64]);
        let section = rng.index(site_info.sections.len());
        let jitter_ms = as_ms(rng.index(180)) * MINUTE_MS;
        let mut published_ms = (around_ms - jitter_ms).div_euclid(MINUTE_MS) * MINUTE_MS;
        if self.round == 1 && beijing(published_ms).hour() < 6 {
            // Editors sleep: what would come out at night came out the evening before.
            published_ms -= 7 * HOUR_MS;
        }
        let genres = site_info.sections[section].genres;
        let mut brief = Brief {
            genre: genres[rng.index(genres.len())],
            seed: rng.next(),
            outlet: site_info.title,
            published_ms,
        };
        let (mut title, mut author) = composer::headline(&brief);
        // A world too large for its words would try for ever: after some tries a number tells titles apart.
        for attempt in 0..40 {
            if !self.titles.contains(&title) {
                break;
            }
            brief.seed = rng.next();
            brief.genre = genres[rng.index(genres.len())];
            (title, author) = composer::headline(&brief);
            if attempt == 39 {
                title = format!("{title}（之{index}）");
            }
        }
        self.titles.insert(title.clone());
        let byline = conventions::byline(site_info, &brief, author);
        let article = Article {
            index,
            site,
            section,
            genre: brief.genre,
            title,
            published: conventions::shown_date(site_info.template, published_ms),
            published_ms,
            modified_ms: published_ms,
            author: byline.author,
            source: byline.source,
            path: conventions::path(site_info, section, index, published_ms),
            aliases: Vec::new(),
            reprint_of: None,
            round: self.round,
            changed_round: None,
            encoding: conventions::usual_encoding(site_info.template),
            discovery: Discovery::List,
            delivery: Delivery::Prompt,
            comments: conventions::comment_count(site_info.template, &mut rng),
            seed: brief.seed,
        };
        self.articles.push(article);
    }

    /// The next round: [`NEW_PER_ROUND`] articles come out at `now_ms`, [`CHANGED_PER_ROUND`] older ones are added to,
    /// the rest stays byte for byte.
    pub fn advance(&mut self, now_ms: i64) {
        self.round += 1;
        self.now_ms = now_ms;
        for number in 0..NEW_PER_ROUND {
            let site = number % self.sites.len();
            self.publish(site, now_ms - 10 * MINUTE_MS - as_ms(number) * MINUTE_MS);
        }
        let mut rng = Rng::of(self.seed, &[11, u64::from(self.round)]);
        let copied: HashSet<usize> = self
            .articles
            .iter()
            .filter_map(|article| article.reprint_of)
            .collect();
        let mut changed = 0;
        for _ in 0..self.articles.len() * 4 {
            let index = rng.index(self.articles.len());
            let round = self.round;
            let article = &mut self.articles[index];
            let may = article.round < round
                && article.changed_round.is_none()
                && article.reprint_of.is_none()
                && article.discovery == Discovery::List
                && article.genre != Genre::Picture
                && !copied.contains(&index);
            if may && changed < CHANGED_PER_ROUND {
                article.changed_round = Some(round);
                article.modified_ms = now_ms - as_ms(rng.index(9) + 1) * MINUTE_MS;
                changed += 1;
            }
        }
        self.routes = Routes::of(&self.sites, &self.articles);
    }

    /// From now on the articles of a site have the layout of another template.
    pub fn redesign(&mut self, site: usize) {
        self.redesigned.insert(site);
    }

    /// The articles of the site have their own layout again.
    pub fn undo_redesign(&mut self, site: usize) {
        self.redesigned.remove(&site);
    }

    /// The site of an article.
    pub fn site_of(&self, article: &Article) -> &SampleSite {
        &self.sites[article.site]
    }

    /// The article's canonical address.
    pub fn url(&self, article: &Article) -> String {
        self.site_of(article).url(&article.path)
    }

    /// The paragraphs of the article's body, as they should come out of its page.
    pub fn paragraphs(&self, article: &Article) -> Vec<String> {
        let original = self.original(article);
        let updates = u32::from(original.changed_round.is_some());
        composer::paragraphs(&self.brief(original), updates)
    }

    /// The comments or answers below the article.
    pub fn comments(&self, article: &Article) -> Vec<Comment> {
        composer::comments(&self.brief(article), article.comments)
    }

    /// The article itself, or the one it was copied from.
    pub fn original<'a>(&'a self, article: &'a Article) -> &'a Article {
        article
            .reprint_of
            .map_or(article, |index| &self.articles[index])
    }

    fn brief<'a>(&'a self, article: &Article) -> Brief<'a> {
        Brief {
            genre: article.genre,
            seed: article.seed,
            outlet: self.sites[article.site].title,
            published_ms: article.published_ms,
        }
    }
}

fn as_ms(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
