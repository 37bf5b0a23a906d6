//! The six sites of the sample web: names, sections, addresses.
//! In: the port they are served on. Out: [`SampleSite`]s. All of them are invented.

use super::text::genre::Genre::{
    self, Carbon, Drilling, Essay, Frontline, Interview, Lng, Market, Offshore, Picture, Pipeline,
    PlantQuestion, Policy, Refinery, Safety, Shale, Storage, Technology, WellQuestion,
};
use taojin_crawl::schedule::Site;

/// How a site builds its pages. Each has a structure, class names, dates and title suffix of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Template {
    /// A newspaper on HTML5: `article`, paragraphs, Open Graph, RSS, comments on one page.
    Newspaper,
    /// A portal of twenty years ago: nested tables, capitals, no closing tags, GBK.
    Portal,
    /// A gazette of an authority: document table, editor markup, relative links on `<base>`, sitemaps.
    Bulletin,
    /// A personal blog: microformats, JSON-LD, Atom, comment list.
    Blog,
    /// A forum: first post and answers, session numbers in every link, GBK by header only.
    Forum,
    /// A news agency: `div` instead of `p`, addresses that differ in the query, weak etags.
    Agency,
}

/// A part of a site with a list of its own.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// Its name in addresses.
    pub key: &'static str,
    /// Its name on pages.
    pub title: &'static str,
    /// The genres of its articles.
    pub genres: &'static [Genre],
}

/// One site of the sample web.
#[derive(Debug, Clone)]
pub struct SampleSite {
    /// Short name, as a site is called in the configuration.
    pub name: &'static str,
    /// What the site calls itself.
    pub title: &'static str,
    /// Host name without port.
    pub host: String,
    /// Host name with port.
    pub authority: String,
    /// How its pages are built.
    pub template: Template,
    /// Addresses a crawl starts from.
    pub seeds: Vec<String>,
    /// Its parts.
    pub sections: &'static [Section],
    /// Share of the world's articles, in parts of the sum over all sites.
    pub share: usize,
}

impl SampleSite {
    /// The settings with which the crawler visits this site, as a file of `sites.d` would hold them.
    pub fn settings(&self) -> Site {
        Site {
            name: self.name.to_owned(),
            title: self.title.to_owned(),
            seeds: self.seeds.clone(),
            feeds: feed_path(self.template)
                .map(|path| self.url(path))
                .into_iter()
                .collect(),
            ..Site::default()
        }
    }

    /// The absolute address of a path on this site.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.authority)
    }
}

/// The sites, served on `port` under names that end in `suffix` (`localhost`).
pub(super) fn sites(port: u16, suffix: &str) -> Vec<SampleSite> {
    SITES
        .iter()
        .map(|&(name, title, template, sections, share)| {
            let host = format!("{name}.{suffix}");
            let authority = if port == 80 {
                host.clone()
            } else {
                format!("{host}:{port}")
            };
            let seeds = vec![format!("http://{authority}{}", home(template))];
            SampleSite {
                name,
                title,
                host,
                authority,
                template,
                seeds,
                sections,
                share,
            }
        })
        .collect()
}

/// Path of the front page.
pub(super) fn home(template: Template) -> &'static str {
    match template {
        Template::Portal => "/index.htm",
        Template::Forum => "/forum.php",
        _ => "/",
    }
}

/// Path of the feed, where a site has one.
pub(super) fn feed_path(template: Template) -> Option<&'static str> {
    match template {
        Template::Newspaper => Some("/rss.xml"),
        Template::Blog => Some("/feed/"),
        _ => None,
    }
}

/// Path of page `page` (from 1) of a section's list.
pub(super) fn list_path(template: Template, key: &str, page: usize) -> String {
    match (template, page) {
        (Template::Newspaper, 1) => format!("/{key}/"),
        (Template::Newspaper, _) => format!("/{key}/index_{page}.html"),
        (Template::Portal, 1) => format!("/list/{key}.htm"),
        (Template::Portal, _) => format!("/list/{key}_{page}.htm"),
        (Template::Bulletin, 1) => format!("/{key}/index.html"),
        (Template::Bulletin, _) => format!("/{key}/index_{}.html", page - 1),
        (Template::Blog, 1) => format!("/category/{key}/"),
        (Template::Blog, _) => format!("/category/{key}/page/{page}/"),
        (Template::Forum, _) => format!("/forum-{key}-{page}.html"),
        (Template::Agency, 1) => format!("/channel?c={key}"),
        (Template::Agency, _) => format!("/channel?c={key}&page={page}"),
    }
}

/// Name, title, template, sections, share.
type Row = (
    &'static str,
    &'static str,
    Template,
    &'static [Section],
    usize,
);

const SITES: &[Row] = &[
    (
        "bohai-energy",
        "渤海能源报",
        Template::Newspaper,
        NEWSPAPER,
        46,
    ),
    ("west-oilgas", "西部油气网", Template::Portal, PORTAL, 38),
    (
        "energy-policy",
        "能源政策公报",
        Template::Bulletin,
        BULLETIN,
        26,
    ),
    ("pipeline-blog", "管道人博客", Template::Blog, BLOG, 22),
    ("petro-forum", "石化论坛", Template::Forum, FORUM, 24),
    (
        "huadong-gas",
        "华东天然气信息",
        Template::Agency,
        AGENCY,
        36,
    ),
];

const NEWSPAPER: &[Section] = &[
    section(
        "kantan",
        "勘探开发",
        &[Drilling, Drilling, Shale, Technology],
    ),
    section("haiyang", "海洋石油", &[Offshore, Offshore, Lng]),
    section("renwu", "人物一线", &[Frontline, Interview, Safety]),
    section("tupian", "图片新闻", &[Picture]),
];

const PORTAL: &[Section] = &[
    section("shale", "页岩气", &[Shale, Shale, Interview]),
    section("storage", "储气调峰", &[Storage, Pipeline]),
    section("refine", "炼油化工", &[Refinery, Safety, Carbon]),
];

const BULLETIN: &[Section] = &[
    section("zc", "政策文件", &[Policy]),
    section("dt", "行业动态", &[Safety, Carbon, Pipeline]),
];

const BLOG: &[Section] = &[
    section("notes", "现场手记", &[Essay]),
    section("reading", "行业观察", &[Interview, Pipeline, Technology]),
];

const FORUM: &[Section] = &[
    section("12", "炼化装置", &[PlantQuestion]),
    section("27", "钻采现场", &[WellQuestion]),
];

const AGENCY: &[Section] = &[
    section("lng", "LNG", &[Lng, Lng, Storage]),
    section("price", "价格行情", &[Market]),
    section("grid", "管网与储气", &[Storage, Pipeline, Carbon]),
];

const fn section(key: &'static str, title: &'static str, genres: &'static [Genre]) -> Section {
    Section { key, title, genres }
}
