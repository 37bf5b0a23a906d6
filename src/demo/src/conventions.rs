//! How an article appears on its site: byline, date, address, charset, number of comments.

use super::article::Encoding;
use super::rng::Rng;
use super::sites::{SampleSite, Template};
use super::text::composer::Brief;
use super::text::genre::Genre;
use super::text::slots::word;
use super::time::beijing;

/// Who is named on the page.
pub(super) struct Byline {
    pub(super) author: Option<String>,
    pub(super) source: Option<String>,
}

/// Writer and source as the site names them.
pub(super) fn byline(site: &SampleSite, brief: &Brief<'_>, reporter: String) -> Byline {
    let own = Some(site.title.to_owned());
    match site.template {
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
            let nick = word(&mut Rng::of(brief.seed, &[0xA]), "reader").to_owned();
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
pub(super) fn path(site: &SampleSite, section: usize, index: usize, published_ms: i64) -> String {
    let at = beijing(published_ms);
    let key = site.sections.get(section).map_or("", |section| section.key);
    match site.template {
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

/// Charset and declaration of a site's pages, special cases apart.
pub(super) fn usual_encoding(template: Template) -> Encoding {
    match template {
        Template::Portal => Encoding::GbkInPage,
        Template::Forum => Encoding::GbkInHeader,
        _ => Encoding::Utf8,
    }
}

/// How many comments an article of the site gets.
pub(super) fn comment_count(template: Template, rng: &mut Rng) -> usize {
    match template {
        Template::Blog => rng.index(6),
        Template::Forum => 1 + rng.index(6),
        _ => 0,
    }
}
