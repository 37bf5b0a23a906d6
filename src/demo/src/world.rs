//! The ground truth of the sample web. In: a seed, a moment, a port. Out: [`World`]: which articles exist, where,
//! what they say, which round they came in, and the traps. Texts are written when asked for, not kept.

use std::collections::HashSet;

use chrono::Timelike;

use super::composer::{self, Brief, Remark, beijing};
use super::phrases::Genre;
use super::planting;
use super::rng::Rng;
use super::routes::Routes;
use super::sites::{self, SampleSite, Template};
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

pub(super) const MINUTE_MS: i64 = 60_000;
pub(super) const HOUR_MS: i64 = 60 * MINUTE_MS;

/// How the bytes of an article's page say what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// UTF-8, rightly declared.
    Utf8,
    /// GBK, rightly declared in the page.
    GbkInPage,
    /// GBK, rightly declared in the header and nowhere else.
    GbkInHeader,
    /// GBK, not declared at all.
    GbkSilent,
    /// GBK, declared as UTF-8.
    GbkSaidUtf8,
    /// UTF-8, declared as gb2312.
    Utf8SaidGb2312,
    /// UTF-8, not declared at all.
    Utf8Silent,
}

impl Encoding {
    /// Whether the bytes are GBK.
    pub fn is_gbk(self) -> bool {
        matches!(
            self,
            Self::GbkInPage | Self::GbkInHeader | Self::GbkSilent | Self::GbkSaidUtf8
        )
    }
}

/// How a crawler can come to an article.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// From a list page.
    List,
    /// Only from a sitemap.
    Sitemap,
    /// Only from a feed.
    Feed,
    /// Only at the end of a chain of redirects.
    Redirects,
    /// Only inside a folder that robots.txt opens again within a refused one.
    OpenedAgain,
}

/// What a server does before it hands an article out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Manner {
    /// Answers at once.
    Prompt,
    /// Takes its time.
    Slow,
    /// Says 429 with Retry-After the first time.
    Throttled,
}

/// One planted article: what a perfect crawl would have found.
#[derive(Debug, Clone)]
pub struct Planted {
    /// Its index in [`World::articles`].
    pub index: usize,
    /// The index of its site in [`World::sites`].
    pub site: usize,
    /// The index of its section in the site.
    pub section: usize,
    /// What it is about.
    pub genre: Genre,
    /// Headline without the site's name.
    pub title: String,
    /// First publication as far as the page tells: ISO 8601 date, or date and time with offset.
    pub published: String,
    /// First publication, Unix milliseconds.
    pub published_ms: i64,
    /// Last change, Unix milliseconds.
    pub modified_ms: i64,
    /// Named writer, where the page names one.
    pub author: Option<String>,
    /// Media source, where the page names one.
    pub source: Option<String>,
    /// Canonical path and query.
    pub path: String,
    /// Other paths under which the same article is linked.
    pub aliases: Vec<String>,
    /// The article this one was copied from.
    pub reprint_of: Option<usize>,
    /// The round in which it came out; the first is 1.
    pub round: u32,
    /// The round in which it was changed, if it was.
    pub changed_round: Option<u32>,
    /// How its bytes are declared.
    pub encoding: Encoding,
    /// How it is found.
    pub way: Way,
    /// How it is answered.
    pub manner: Manner,
    /// How many comments or answers stand below it.
    pub remarks: usize,
    pub(super) seed: u64,
}

/// The sample web at one moment.
#[derive(Debug, Clone)]
pub struct World {
    /// What everything follows from.
    pub seed: u64,
    /// The media.
    pub sites: Vec<SampleSite>,
    /// The articles, in the order in which they were planted: an index stays what it is.
    pub articles: Vec<Planted>,
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
        world.plant_all(ARTICLES);
        planting::quirks(&mut world);
        world.traps = traps::traps(&world);
        world.routes = Routes::of(&world);
        world
    }

    /// A world of any size for tests of load and recovery: the same six templates, no faults, no traps.
    pub fn generate_sized(seed: u64, now_ms: i64, port: u16, articles: usize) -> Self {
        let mut world = Self::empty(seed, now_ms, port, SUFFIX);
        world.plant_all(articles);
        world.routes = Routes::of(&world);
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

    fn plant_all(&mut self, articles: usize) {
        let shares: usize = self.sites.iter().map(|site| site.share).sum();
        let mut planted = 0;
        for site in 0..self.sites.len() {
            let share = self.sites[site].share;
            let last = site + 1 == self.sites.len();
            let count = if last {
                articles - planted
            } else {
                articles * share / shares
            };
            for number in 0..count {
                // Evenly over the month before, newest first, so that lists have an order.
                let age_ms = 6 * HOUR_MS + 30 * 24 * HOUR_MS * as_ms(number) / as_ms(count.max(1));
                self.plant(site, self.now_ms - age_ms);
            }
            planted += count;
        }
    }

    /// Plants one article; what it says follows from the world's seed and the article's number.
    fn plant(&mut self, site: usize, around_ms: i64) {
        let index = self.articles.len();
        let medium = &self.sites[site];
        let mut rng = Rng::of(self.seed, &[7, index as u64]);
        let section = rng.index(medium.sections.len());
        let jitter_ms = as_ms(rng.index(180)) * MINUTE_MS;
        let mut published_ms = (around_ms - jitter_ms).div_euclid(MINUTE_MS) * MINUTE_MS;
        if self.round == 1 && beijing(published_ms).hour() < 6 {
            // Editors sleep: what would come out at night came out the evening before.
            published_ms -= 7 * HOUR_MS;
        }
        let genres = medium.sections[section].genres;
        let mut brief = Brief {
            genre: genres[rng.index(genres.len())],
            seed: rng.next(),
            outlet: medium.title,
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
        let byline = planting::byline(medium, &brief, author);
        let article = Planted {
            index,
            site,
            section,
            genre: brief.genre,
            title,
            published: planting::shown_date(medium.template, published_ms),
            published_ms,
            modified_ms: published_ms,
            author: byline.author,
            source: byline.source,
            path: planting::path(medium, section, index, published_ms),
            aliases: Vec::new(),
            reprint_of: None,
            round: self.round,
            changed_round: None,
            encoding: planting::usual_encoding(medium.template),
            way: Way::List,
            manner: Manner::Prompt,
            remarks: planting::remark_count(medium.template, &mut rng),
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
            self.plant(site, now_ms - 10 * MINUTE_MS - as_ms(number) * MINUTE_MS);
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
                && article.way == Way::List
                && article.genre != Genre::Picture
                && !copied.contains(&index);
            if may && changed < CHANGED_PER_ROUND {
                article.changed_round = Some(round);
                article.modified_ms = now_ms - as_ms(rng.index(9) + 1) * MINUTE_MS;
                changed += 1;
            }
        }
        self.routes = Routes::of(self);
    }

    /// From now on the articles of a site are laid out as those of another house are.
    pub fn redesign(&mut self, site: usize) {
        self.redesigned.insert(site);
    }

    /// The site looks as it did at first.
    pub fn undo_redesign(&mut self, site: usize) {
        self.redesigned.remove(&site);
    }

    /// The page of an article as UTF-8 text, without what a server does to it.
    pub fn article_html(&self, index: usize) -> String {
        let article = &self.articles[index];
        let view = super::template::View {
            world: self,
            index: article.site,
            encoding: Encoding::Utf8,
            nonce: 0,
        };
        super::template::article(&view, article)
    }

    /// The site of an article.
    pub fn site_of(&self, article: &Planted) -> &SampleSite {
        &self.sites[article.site]
    }

    /// The article's canonical address.
    pub fn url(&self, article: &Planted) -> String {
        self.site_of(article).url(&article.path)
    }

    /// The paragraphs of the article's body, as they should come out of its page.
    pub fn paragraphs(&self, article: &Planted) -> Vec<String> {
        let original = self.original(article);
        let updates = u32::from(original.changed_round.is_some());
        composer::paragraphs(&self.brief(original), updates)
    }

    /// The comments or answers below the article.
    pub fn remarks(&self, article: &Planted) -> Vec<Remark> {
        composer::remarks(&self.brief(article), article.remarks)
    }

    /// The article itself, or the one it was copied from.
    pub fn original<'a>(&'a self, article: &'a Planted) -> &'a Planted {
        article
            .reprint_of
            .map_or(article, |index| &self.articles[index])
    }

    fn brief<'a>(&'a self, article: &Planted) -> Brief<'a> {
        Brief {
            genre: article.genre,
            seed: article.seed,
            outlet: self.sites[article.site].title,
            published_ms: article.published_ms,
        }
    }

    /// A line for a person: the moment on China's clock.
    pub(super) fn clock(ms: i64, format: &str) -> String {
        beijing(ms).format(format).to_string()
    }

    /// Whether the site is built with `template`.
    pub(super) fn built_with(&self, site: usize, template: Template) -> bool {
        self.sites[site].template == template
    }
}

fn as_ms(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
