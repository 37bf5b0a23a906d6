//! The page of hits: hits, filters as links, page numbers, made of the response of a search and its parameters.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use taojin_search::index::{Match, Reason, Sort};
use taojin_search::query::{MAX_QUERY_CHARS, Misread, Note};

use crate::api::sheet::HITS_MAX;
use crate::config::{Config, PAGE_HITS};
use crate::pages::chart::Chart;
use crate::pages::choices::{
    also, chips, day_only, fields, instead, matches, outlets, pages, periods, refined, sites,
    sorts, unfiltered,
};
use crate::pages::document::FileView;
use crate::pages::home::HomePage;
use crate::pages::moment::Moment;
use crate::pages::request::{PageRequest, broken, failure, page};
use crate::pages::view::{
    Choice, Chrome, Html, Place, author_beside, document_path, kept, link, title,
};
use crate::pages::words::Lang;
use crate::search::field_offers::FieldOffer;
use crate::search::params::{Params, echo};
use crate::search::source::{DocumentHit, Relaxation, RelaxedQuery, SearchResults, WeakerList};
use crate::state::Shared;

/// A hit as shown.
pub(crate) struct HitView {
    title: Html,
    place: Place,
    site: String,
    published: Option<Moment>,
    author: String,
    source: String,
    snippet: Html,
    cached: String,
    /// What file it was read from, and its part that the snippet shows.
    file: Option<FileView>,
    id: String,
    /// Link to the reprints, and how many there are.
    reprints: Option<Choice>,
    /// Why it stands here, if that was requested.
    reasons: Vec<String>,
}

/// What matches less than the hits before it.
pub(crate) struct WeakerView {
    line: String,
    /// Number of the first one.
    first: usize,
    hits: Vec<HitView>,
    /// Link to the search that lists them all.
    all: Option<String>,
}

#[derive(Template)]
#[template(path = "results.html")]
pub(crate) struct ResultsPage {
    c: Chrome,
    total: String,
    /// Which hits these are.
    range: String,
    /// What narrows the search, each with the link without it.
    chips: Vec<Choice>,
    notes: Vec<String>,
    did_you_mean: Option<Choice>,
    /// Searches that find something, where this one finds nothing.
    offers: Vec<Choice>,
    /// Searches of the fields that words name.
    in_fields: Vec<Choice>,
    /// Whether no document matches and the weaker ones are the nearest.
    nearest: bool,
    weaker: Option<WeakerView>,
    matches: Vec<Choice>,
    /// What was searched beside or in place of what was typed, each with the link to the search without it.
    also: Option<(String, String)>,
    instead: Option<(String, String)>,
    /// Out of the reprints of one report, back to the result they belong to.
    ungrouped: Option<String>,
    chart: Option<Chart>,
    related: Vec<Choice>,
    feed: String,
    /// The comparison of this query over time, and the hits as files.
    trends: Option<String>,
    files: Vec<Choice>,
    first: usize,
    hits: Vec<HitView>,
    beyond: bool,
    sorts: Vec<Choice>,
    periods: Vec<Choice>,
    sites: Vec<Choice>,
    /// By the name of a field, its values.
    fields: Vec<(String, Vec<Choice>)>,
    since_day: String,
    until_day: String,
    dates_kept: Vec<(&'static str, String)>,
    clear: Option<String>,
    pages: Vec<Choice>,
    previous: Option<String>,
    next: Option<String>,
}

impl ResultsPage {
    pub(crate) fn new(
        c: Chrome,
        params: &Params,
        found: SearchResults,
        config: &Config,
    ) -> ResultsPage {
        let took = format!("{:.1}", found.took_ms);
        let total = c.t.counts.results.with(found.total, &[("ms", &took)]);
        let reachable = reachable(params, &found);
        let range = range(&c, params, &found);
        let next_offset = params.offset + PAGE_HITS;
        let at = |offset: usize| {
            let params = params.clone();
            c.search(&Params { offset, ..params })
        };
        let nearest = found.weaker.as_ref().is_some_and(|weaker| weaker.nearest);
        let in_fields = found.field_offers.iter();
        let in_fields = in_fields.map(|o| in_field(&c, params, o)).collect();
        let weaker = weaker(&c, params, found.weaker, found.hits.len());
        let offers = found.offers.iter().map(|o| offer(&c, params, o)).collect();
        let hits = found
            .hits
            .into_iter()
            .map(|hit| hit_view(hit, &c, params))
            .collect();
        let facets = found.facets.unwrap_or_default();
        let with = |text: &String| Choice::link(text.clone(), c.first_page(asking(params, text)));
        ResultsPage {
            first: params.offset + 1,
            beyond: params.offset > 0 && found.total > 0,
            sorts: sorts(&c, params),
            matches: matches(&c, params),
            offers,
            in_fields,
            nearest,
            weaker,
            periods: periods(&c, params),
            sites: sites(&c, params, facets.sites),
            fields: fields(&c, params, facets.fields),
            since_day: day_only(params.since.as_deref()),
            until_day: day_only(params.until.as_deref()),
            dates_kept: kept(params, true),
            clear: params.filtered().then(|| c.search(&unfiltered(params))),
            chips: chips(&c, params),
            pages: pages(params, reachable, config, &at),
            previous: (params.offset > 0).then(|| at(params.offset.saturating_sub(PAGE_HITS))),
            next: (next_offset < reachable && next_offset <= config.offset_max())
                .then(|| at(next_offset)),
            total,
            range,
            notes: found.notes.iter().map(|n| note(c.lang, n)).collect(),
            did_you_mean: found.did_you_mean.as_ref().map(with),
            instead: instead(&c, params, found.searched_instead.as_deref()),
            also: also(&c, params, &found.synonyms),
            ungrouped: params.group.map(|_| c.first_page(ungrouped(params))),
            chart: Chart::new(c.t, &facets.dates, c.clock.today(), |since, until| {
                within(&c, params, since, until)
            }),
            related: facets
                .related
                .iter()
                .map(|term| refined(&c, params, term))
                .collect(),
            feed: link(&c.base, "/feed.atom", &followed(params)),
            trends: (!params.text.is_empty()).then(|| link(&c.base, "/trends", &compared(params))),
            files: files(&c, params, found.total),
            hits,
            c,
        }
    }
}

/// The same choices for another text.
fn asking(params: &Params, text: &str) -> Params {
    params.with(|p| p.text = text.to_owned())
}

/// All hits, not those of one group of reprints.
fn ungrouped(params: &Params) -> Params {
    params.with(|p| p.group = None)
}

/// How many hits there are to turn to. Reprints are counted one by one and shown as one hit: a page with room on it is
/// the last.
fn reachable(params: &Params, found: &SearchResults) -> usize {
    let shown = found.hits.len();
    if shown < PAGE_HITS {
        params.offset + shown
    } else {
        usize::try_from(found.total).unwrap_or(usize::MAX)
    }
}

/// Which hits these are; nothing where there are none.
fn range(c: &Chrome, params: &Params, found: &SearchResults) -> String {
    let folded = found.hits.iter().any(|hit| hit.reprints.duplicates > 0) && params.group.is_none();
    match found.hits.len() {
        0 => String::new(),
        shown => c
            .lang
            .range(params.offset + 1, params.offset + shown, folded),
    }
}

/// A remark on the query, for a locale such as `zh_CN.UTF-8`.
pub fn note_in(locale: &str, remark: &Note) -> String {
    note(Lang::of_locale(locale), remark)
}

/// Why a hit stands where it does, for a locale such as `zh_CN.UTF-8`.
pub fn reason_in(locale: &str, why: &Reason) -> String {
    reason(Lang::of_locale(locale), why)
}

/// A remark on the query.
pub(super) fn note(lang: Lang, note: &Note) -> String {
    match (lang, note) {
        (Lang::En, note) => note.to_string(),
        (Lang::Zh, Note::Cut) => format!("检索词太长，只搜索了前 {MAX_QUERY_CHARS} 个字符。"),
        (Lang::Zh, Note::NoDate { piece, .. }) => {
            format!("“{}”不是能识别的日期，已按普通文字搜索。", echo(piece))
        }
        (Lang::Zh, Note::NotSyntax { piece, why }) => {
            let why = match why {
                Misread::Operator => "运算符两边没有可以连接的词",
                Misread::Parenthesis => "缺少另一半括号",
                Misread::Depth => "括号嵌套过深",
                Misread::Quote => "引号没有闭合，或者里面没有内容",
                Misread::Empty => "冒号后面没有内容",
                Misread::Field => "没有这个通用字段，也查了页面自带的同名字段",
                Misread::Star => "星号只能跟在字母或数字后面",
                Misread::Date => "日期不能用 OR 连接、放进括号或排除",
                Misread::TooMany => "短语、字段和运算符太多",
            };
            format!("“{}”：{why}，已按普通文字搜索。", echo(piece))
        }
        (Lang::Zh, Note::NoPhrase { piece }) => {
            format!("没有文档一字不差地含有“{}”，已去掉引号搜索。", echo(piece))
        }
        (Lang::Zh, Note::NoSite { site }) => {
            format!("site:{}：这里没有这个站点的文档。", echo(site))
        }
    }
}

/// What matches less; its numbers continue behind those of the `shown` hits.
fn weaker(
    c: &Chrome,
    params: &Params,
    weaker: Option<WeakerList>,
    shown: usize,
) -> Option<WeakerView> {
    let weaker = weaker?;
    let more = weaker.total > weaker.hits.len() as u64;
    let all = c.first_page(params.with(|p| p.matching = Match::Any));
    Some(WeakerView {
        line: if weaker.nearest {
            c.t.counts.nearest.fill(weaker.total)
        } else {
            c.t.counts.weaker.fill(weaker.total)
        },
        first: params.offset + shown + 1,
        hits: weaker
            .hits
            .into_iter()
            .map(|hit| hit_view(hit, c, params))
            .collect(),
        all: more.then_some(all),
    })
}

/// A search of a field that a word names.
fn in_field(c: &Chrome, params: &Params, offer: &FieldOffer) -> Choice {
    let href = c.first_page(asking(params, &offer.text));
    let title = c.site_titles.get(&offer.value);
    let label = match title.filter(|_| offer.field == "site") {
        Some(title) => format!("site:{title}"),
        None => format!("{}:{}", offer.field, offer.value),
    };
    Choice::link(label, href).counted(offer.total)
}

/// A search that finds something.
fn offer(c: &Chrome, params: &Params, offer: &RelaxedQuery) -> Choice {
    let text = offer.text.clone();
    let (count, params) = match offer.without {
        Relaxation::Quotes => (&c.t.counts.without_quotes, params.with(|p| p.text = text)),
        Relaxation::Dates => {
            let params = params.with(|p| {
                p.text = text;
                p.since = None;
                p.until = None;
                p.changed = None;
            });
            (&c.t.counts.all_dates, params)
        }
    };
    Choice::link(count.fill(offer.total), c.first_page(params))
}

/// Why a hit stands where it does, in the reader's language.
fn reason(lang: Lang, reason: &Reason) -> String {
    if lang == Lang::En {
        return reason.to_string();
    }
    match reason {
        Reason::AsTyped { title, text } => match (title, text) {
            (true, true) => "标题和正文里有与检索词完全相同的文字".to_owned(),
            (true, false) => "标题里有与检索词完全相同的文字".to_owned(),
            _ => "正文里有与检索词完全相同的文字".to_owned(),
        },
        Reason::AllWords => "含有全部检索词".to_owned(),
        Reason::Word { word, times, title } => {
            let also = if *title { "，标题里也有" } else { "" };
            format!("“{word}”：正文出现 {times} 次{also}")
        }
        Reason::Missing { word } => format!("“{word}”：没有出现"),
    }
}

/// The documents of some time.
fn within(c: &Chrome, params: &Params, since: &str, until: &str) -> String {
    c.first_page(params.with(|p| {
        p.since = Some(since.to_owned());
        p.until = Some(until.to_owned());
    }))
}

/// The parameters that the comparison of this search has.
fn compared(params: &Params) -> String {
    let mut kept = Params {
        since: params.since.clone(),
        until: params.until.clone(),
        matching: params.matching,
        as_typed: params.as_typed,
        lang: params.lang,
        ..Params::default()
    };
    kept.text.clone_from(&params.text);
    kept.sites.clone_from(&params.sites);
    kept.query_string()
}

/// The hits as files.
fn files(c: &Chrome, params: &Params, total: u64) -> Vec<Choice> {
    if total == 0 {
        return Vec::new();
    }
    let plain = params.with(|p| {
        p.lang = None;
        p.offset = 0;
    });
    let query = plain.query_string();
    let limit = HITS_MAX.min(usize::try_from(total).unwrap_or(HITS_MAX));
    let file = |(label, format): (&str, &str)| {
        let href = format!(
            "{}/api/search?{query}&limit={limit}&format={format}",
            c.base
        );
        Choice::link(label, href)
    };
    [("CSV", "csv"), ("XLSX", "xlsx")].map(file).into()
}

/// The parameters that a feed of this search has.
fn followed(params: &Params) -> String {
    Params {
        text: params.text.clone(),
        sites: params.sites.clone(),
        ..Params::default()
    }
    .query_string()
}

fn hit_view(hit: DocumentHit, c: &Chrome, params: &Params) -> HitView {
    let file = hit.file.as_ref().map(|file| FileView::new(c, file));
    let part = file.as_ref().and_then(|file| file.parts.first());
    let mut cached = c.link(&document_path(&hit.id), params);
    cached.extend(part.map(|part| format!("#{}", part.anchor)));
    // On the page of the reprints themselves the link would lead nowhere new.
    let reprints = hit
        .reprints
        .group
        .filter(|_| hit.reprints.duplicates > 0 && params.group.is_none());
    let reprints = reprints.map(|group| {
        let href = c.first_page(params.with(|p| p.group = Some(group)));
        let outlets = outlets(&hit.reprints.outlets, c);
        let values = [("outlets", outlets.as_str())];
        Choice::link(
            c.t.counts.reprints.with(hit.reprints.duplicates, &values),
            href,
        )
    });
    let site = hit.site.as_deref().map(|site| c.site(site));
    let site = site.unwrap_or_default();
    HitView {
        reasons: hit.reasons.iter().map(|r| reason(c.lang, r)).collect(),
        reprints,
        id: hit.id.clone(),
        title: title(&hit.title, c.t),
        place: Place::new(&hit.url, &hit.addresses, 1),
        // A site that names itself as its source says nothing new.
        source: hit
            .source
            .filter(|source| hit.site.as_ref() != Some(source) && *source != site)
            .unwrap_or_default(),
        site,
        author: author_beside(hit.author, &hit.snippet.text),
        published: c.moment(hit.published.as_ref()),
        snippet: Html::marked(&hit.snippet),
        cached,
        file,
    }
}

/// `/`: the query box, or the hits when there is something to search.
pub(crate) async fn search(request: PageRequest) -> Response {
    let c = request.chrome();
    let PageRequest { server, params, .. } = request;
    if let Some(error) = request.wrong {
        let (heading, text) = (c.t.bad_query, error.detail(c.lang));
        return failure(c, StatusCode::BAD_REQUEST, heading, text);
    }
    if params.text.is_empty() && !params.filtered() {
        return home(c, &params, &server).await;
    }
    let params = Params {
        limit: PAGE_HITS,
        // Without words there is no relevance.
        sort: if params.text.is_empty() {
            Sort::Date
        } else {
            params.sort
        },
        ..params
    };
    match server
        .search(params.search_request(true, params.group.is_none()))
        .await
    {
        Ok(found) => page(
            &ResultsPage::new(c, &params, found, &server.config),
            StatusCode::OK,
        ),
        Err(error) => broken(c, &error),
    }
}

async fn home(c: Chrome, params: &Params, server: &Shared) -> Response {
    // The query box does not wait for what stands below it; the log has the reason.
    let overview = server.overview().await.unwrap_or_default();
    let follows = (server.follows)();
    page(
        &HomePage::new(c, params, &follows, &overview),
        StatusCode::OK,
    )
}
