//! How an article shows on its site, and which articles are made awkward on purpose: wrong charsets, reprints, ones
//! that only a sitemap knows, slow ones. In: the world being made. Never writes text.

use super::composer::{Brief, beijing};
use super::phrases::Genre;
use super::rng::Rng;
use super::sites::{SampleSite, Template};
use super::world::{Encoding, HOUR_MS, Manner, Way, World};

/// Copies of other media's articles on the news agency.
const REPRINTS: usize = 5;
/// Copies of other media's articles on the portal; the first is of an article that the agency copied too.
const PORTAL_REPRINTS: usize = 2;

/// Who is named on the page.
pub(super) struct Byline {
    pub(super) author: Option<String>,
    pub(super) source: Option<String>,
}

/// Writer and source as the medium names them.
pub(super) fn byline(medium: &SampleSite, brief: &Brief<'_>, reporter: String) -> Byline {
    let own = Some(medium.title.to_owned());
    match medium.template {
        Template::Newspaper | Template::Portal => Byline {
            author: Some(reporter),
            source: own,
        },
        Template::Agency if brief.genre == Genre::Market => Byline {
            author: None,
            source: own,
        },
        Template::Agency => Byline {
            author: Some(reporter),
            source: own,
        },
        Template::Bulletin => Byline {
            author: None,
            source: Some("能源政策公报编辑部".to_owned()),
        },
        Template::Blog => Byline {
            author: Some(if brief.seed.is_multiple_of(5) {
                reporter
            } else {
                "管道老秦".to_owned()
            }),
            source: None,
        },
        Template::Forum => {
            let nick = Rng::of(brief.seed, &[0xA])
                .pick(super::vocabulary::NICKNAMES)
                .to_owned();
            Byline {
                author: Some(nick),
                source: None,
            }
        }
    }
}

/// The date as precisely as the site's pages show it.
pub(super) fn shown_date(template: Template, published_ms: i64) -> String {
    let at = beijing(published_ms);
    match template {
        Template::Bulletin => at.format("%Y-%m-%d").to_string(),
        _ => at.format("%Y-%m-%dT%H:%M:00+08:00").to_string(),
    }
}

/// The address of an article on its site.
pub(super) fn path(medium: &SampleSite, section: usize, index: usize, published_ms: i64) -> String {
    let at = beijing(published_ms);
    let key = medium
        .sections
        .get(section)
        .map_or("", |section| section.key);
    match medium.template {
        Template::Newspaper => format!("/{key}/{}/{}.html", at.format("%Y/%m%d"), 100_000 + index),
        Template::Portal => format!(
            "/html/{}/content_{}.htm",
            at.format("%Y-%m/%d"),
            20_000 + index
        ),
        Template::Bulletin => format!(
            "/{key}/{}/t{}_{}.html",
            at.format("%Y%m"),
            at.format("%Y%m%d"),
            3000 + index
        ),
        Template::Blog => format!("/{}/post-{}/", at.format("%Y/%m"), 400 + index),
        Template::Forum => format!("/thread-{}-1-1.html", 50_000 + index),
        Template::Agency => format!("/article?id={}", 600_000 + index),
    }
}

/// The charset handling of a site where nothing is wrong.
pub(super) fn usual_encoding(template: Template) -> Encoding {
    match template {
        Template::Portal => Encoding::GbkInPage,
        Template::Forum => Encoding::GbkInHeader,
        _ => Encoding::Utf8,
    }
}

/// How many readers have something to say.
pub(super) fn remark_count(template: Template, rng: &mut Rng) -> usize {
    match template {
        Template::Blog => rng.index(6),
        Template::Forum => 1 + rng.index(6),
        _ => 0,
    }
}

/// Makes some articles of the bundled world awkward.
pub(super) fn quirks(world: &mut World) {
    let of = |world: &World, template: Template| -> Vec<usize> {
        let here = |article: &&super::world::Planted| world.built_with(article.site, template);
        world
            .articles
            .iter()
            .filter(here)
            .map(|article| article.index)
            .collect()
    };
    let portal = of(world, Template::Portal);
    for (number, &index) in portal.iter().enumerate() {
        world.articles[index].encoding = match number % 10 {
            3 => Encoding::GbkSilent,
            7 => Encoding::GbkSaidUtf8,
            _ => Encoding::GbkInPage,
        };
    }
    let bulletin = of(world, Template::Bulletin);
    for (number, &index) in bulletin.iter().enumerate() {
        let article = &mut world.articles[index];
        match number {
            2 | 9 | 16 => article.encoding = Encoding::Utf8SaidGb2312,
            5 | 12 | 21 => article.way = Way::Sitemap,
            7 => {
                article.way = Way::Redirects;
                article.aliases = ["/r/2026a", "/r/2026b", "/go?id=7"]
                    .map(str::to_owned)
                    .to_vec();
            }
            14 => {
                article.way = Way::OpenedAgain;
                article.path = format!("/internal/public/{}.html", 3000 + index);
            }
            _ => {}
        }
    }
    for (number, &index) in of(world, Template::Blog).iter().enumerate() {
        let article = &mut world.articles[index];
        match number {
            1 | 4 | 6 => article.aliases.push(format!(
                "{}?utm_source=weekly&utm_medium=mail&utm_campaign=n{number}",
                article.path
            )),
            3 | 8 => article.aliases.push(format!("{}?view=print", article.path)),
            11 | 15 => article.way = Way::Feed,
            _ => {}
        }
    }
    let agency = of(world, Template::Agency);
    for (number, &index) in agency.iter().enumerate() {
        let article = &mut world.articles[index];
        match number {
            2 => article.manner = Manner::Throttled,
            6 => article.manner = Manner::Slow,
            10 | 20 | 30 => article.encoding = Encoding::Utf8Silent,
            _ => {}
        }
    }
    let newspaper = of(world, Template::Newspaper);
    if let Some(&index) = newspaper
        .iter()
        .find(|&&index| world.articles[index].genre != Genre::Picture)
    {
        world.articles[index].remarks = 4;
    }
    reprints(world, &newspaper, &agency, &portal);
}

/// Turns some articles of the agency and the portal into copies of older ones of the newspaper.
fn reprints(world: &mut World, newspaper: &[usize], agency: &[usize], portal: &[usize]) {
    let originals: Vec<usize> = newspaper
        .iter()
        .copied()
        .filter(|&index| {
            world.articles[index].genre != Genre::Picture && world.articles[index].remarks == 0
        })
        .collect();
    let places = agency.iter().skip(3).step_by(4).take(REPRINTS);
    for (&place, &original) in places.zip(originals.iter().step_by(2)) {
        copy(world, place, original);
    }
    let places = portal.iter().skip(4).step_by(6).take(PORTAL_REPRINTS);
    for (&place, &original) in places.zip(originals.iter().step_by(6)) {
        copy(world, place, original);
    }
}

fn copy(world: &mut World, place: usize, original: usize) {
    let original = world.articles[original].clone();
    let template = world.sites[world.articles[place].site].template;
    let source = world.sites[original.site].title.to_owned();
    let article = &mut world.articles[place];
    article.reprint_of = Some(original.index);
    article.genre = original.genre;
    article.title = original.title;
    article.author = original.author;
    article.source = Some(source);
    article.published_ms = original.published_ms + 3 * HOUR_MS;
    article.modified_ms = article.published_ms;
    article.published = shown_date(template, article.published_ms);
    let (section, index, at_ms) = (article.section, article.index, article.published_ms);
    world.articles[place].path = path(
        &world.sites[world.articles[place].site],
        section,
        index,
        at_ms,
    );
}
