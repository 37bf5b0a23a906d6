//! The query language as a page, `/help`. In: the time and a document that is here, for examples. Out: every form that
//! `query` understands, each with searches to click. The tests hold each example against the parser.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, Datelike, FixedOffset, Months};

use super::lang::{Lang, grouped};
use super::request::{PageRequest, page};
use super::view::{Chrome, link, outward};
use crate::serve::now_ms;
use crate::serve::search::params::Params;
use crate::serve::search::source::{Arrived, Wanted};
use crate::serve::state::Shared;

/// Longest name or address of a document that is taken as an example.
const EXAMPLE_CHARS: usize = 60;

/// What examples are made with: the moment by the calendar of the index, and a document that is here, if there is one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Here {
    pub(crate) now: DateTime<FixedOffset>,
    pub(crate) site: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) address: Option<String>,
}

/// A part of the page.
pub(crate) struct Section {
    pub(crate) heading: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// Searches, and what they find.
pub(crate) struct Row {
    pub(crate) queries: Vec<String>,
    pub(crate) meaning: &'static str,
}

/// A search to click.
struct Example {
    query: String,
    href: String,
}

/// A row with its searches made links.
type Line = (Vec<Example>, &'static str);

#[derive(Template)]
#[template(path = "help.html")]
struct HelpPage {
    c: Chrome,
    heading: &'static str,
    lead: &'static str,
    sections: Vec<(&'static str, Vec<Line>)>,
    rules_heading: &'static str,
    rules: Vec<String>,
    api: &'static str,
}

/// `GET /help`.
pub(crate) async fn show(request: PageRequest) -> Response {
    let c = request.chrome();
    let PageRequest { server, params, .. } = request;
    let here = here(&server).await;
    let search = |query: String| Example {
        href: link(
            &c.base,
            "/",
            &Params {
                text: query.clone(),
                lang: params.lang,
                ..Params::default()
            }
            .query_string(),
        ),
        query,
    };
    let sections = sections(c.lang, &here).into_iter().map(|section| {
        let rows = section.rows.into_iter();
        let rows = rows.map(|row| (row.queries.into_iter().map(search).collect(), row.meaning));
        (section.heading, rows.collect())
    });
    let zh = c.lang == Lang::Zh;
    let shown = HelpPage {
        heading: if zh { "检索语法" } else { "How to search" },
        lead: if zh {
            "直接输入词语就能搜索。需要更精确时，可以用下面的写法；例子都可以点开。"
        } else {
            "Plain words are enough. Where more precision is wanted, these forms help; each example is a search to click."
        },
        sections: sections.collect(),
        rules_heading: if zh { "另外" } else { "Good to know" },
        rules: rules(c.lang, c.query_chars, server.config.window),
        api: if zh {
            "程序接口的说明"
        } else {
            "The same for programs: the API"
        },
        c,
    };
    page(&shown, StatusCode::OK)
}

/// What is here to make examples of: the document that came last.
async fn here(server: &Shared) -> Here {
    let wanted = Wanted {
        limit: 1,
        now_ms: now_ms(),
        ..Wanted::default()
    };
    // Examples of documents that are not here are good enough when the index does not answer.
    let latest = server
        .latest(wanted)
        .await
        .ok()
        .and_then(|l| l.into_iter().next());
    let rules = server.rules(false);
    Here::of(latest.as_ref(), rules.now_ms, rules.utc_offset_minutes)
}

impl Here {
    pub(crate) fn of(latest: Option<&Arrived>, now_ms: i64, utc_offset_minutes: i32) -> Here {
        let zone = FixedOffset::east_opt(utc_offset_minutes * 60);
        let zone = zone.unwrap_or(FixedOffset::east_opt(0).expect("no offset is one"));
        let now = DateTime::from_timestamp_millis(now_ms).unwrap_or_default();
        let plain = |text: &String| {
            let quotes = ['"', '“', '”', '＂'];
            !text.trim().is_empty()
                && text.chars().count() <= EXAMPLE_CHARS
                && !text.chars().any(|c| quotes.contains(&c) || c.is_control())
        };
        Here {
            now: now.with_timezone(&zone),
            site: latest.and_then(|l| l.found.site.clone()).filter(plain),
            author: latest.and_then(|l| l.author.clone()).filter(plain),
            address: latest
                .and_then(|l| outward(&l.found.url))
                .filter(plain)
                .filter(|url| !url.contains(char::is_whitespace)),
        }
    }
}

/// A value of a field: in quotes if it has blanks.
fn value(text: &str) -> String {
    match text.contains(char::is_whitespace) {
        true => format!("\"{text}\""),
        false => text.to_owned(),
    }
}

/// All forms, in the reader's language.
pub(crate) fn sections(lang: Lang, here: &Here) -> Vec<Section> {
    let zh = lang == Lang::Zh;
    let say = |chinese, english| if zh { chinese } else { english };
    let row = |queries: &[&str], meaning| Row {
        queries: queries.iter().map(|q| (*q).to_owned()).collect(),
        meaning,
    };
    let words = vec![
        row(
            &["页岩气 开发"],
            say(
                "含全部词语的文档排在前面，其次是含其中一部分的；汉字之间不必加空格。",
                "Documents with all words first, then those with some. Chinese words need no blank between them.",
            ),
        ),
        row(
            &["\"海洋石油 122\"", "“日产原油”", "「超深井」"],
            say(
                "引号里的文字必须原样相连地出现。",
                "These very characters, one after the other. Every kind of quotes will do.",
            ),
        ),
        row(
            &["油价 -期货", "油价 -\"招聘启事\""],
            say(
                "减号紧跟词语：不含这个词或这句话。",
                "A minus before a word or a phrase: documents without it.",
            ),
        ),
        row(
            &["LNG OR 液化天然气", "LNG | 液化天然气"],
            say(
                "有其中一个就行；OR 要大写，两边留空格。",
                "One of both is enough. OR in capitals, with blanks around it.",
            ),
        ),
    ];
    vec![
        Section {
            heading: say("词语和短语", "Words and phrases"),
            rows: words,
        },
        Section {
            heading: say("只在某处查找", "In one place only"),
            rows: fields(lang, here),
        },
        Section {
            heading: say("发布时间", "Date of publication"),
            rows: dates(lang, here),
        },
        Section {
            heading: say("组合", "Together"),
            rows: vec![
                row(
                    &[
                        "-site:sohu.com 油价",
                        "油价 -title:快讯",
                        "title:\"三连涨\"",
                    ],
                    say(
                        "字段前可以加减号，字段的值可以加引号。",
                        "Fields take a minus, and their values take quotes.",
                    ),
                ),
                row(
                    &[
                        "title:油价 OR title:气价",
                        "天然气 title:上涨 -期货 since:30d",
                    ],
                    say(
                        "各种写法可以合用；OR 不能连接日期和带减号的词。",
                        "Forms go together; only dates and words with a minus cannot be joined by OR.",
                    ),
                ),
            ],
        },
    ]
}

fn fields(lang: Lang, here: &Here) -> Vec<Row> {
    let say = |chinese, english| if lang == Lang::Zh { chinese } else { english };
    let of = |queries: Vec<String>, meaning| Row { queries, meaning };
    let both = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
    let site = here.site.as_deref().map_or("cnpc.com.cn".to_owned(), value);
    let author = here.author.as_deref().map_or("张三".to_owned(), value);
    let address = here.address.as_deref();
    let address = address.unwrap_or("https://www.cnpc.com.cn/").to_owned();
    vec![
        of(
            both("title:油价", "标题：油价"),
            say("在标题里。", "In the title."),
        ),
        of(
            both(&format!("site:{site}"), &format!("站点：{site}")),
            say(
                "只看这个站点：可以写站点名、主机名或上级域名。",
                "From this site: its name, its host, or a domain above it.",
            ),
        ),
        of(
            both(&format!("author:{author}"), &format!("作者：{author}")),
            say("这位作者写的。", "By this writer."),
        ),
        of(
            both("source:新华社", "来源：新华社"),
            say("出自这家媒体。", "From this medium."),
        ),
        of(
            both("comments:涨价", "评论：涨价"),
            say("在读者评论里。", "In what readers wrote below the text."),
        ),
        of(
            vec![format!("url:{}", here.now.year()), "inurl:html".to_owned()],
            say("在网址里。", "In the address."),
        ),
        of(
            vec![address],
            say(
                "这个网址上的文档，以及正文里提到它的文档。",
                "The document that stands at this address, and those that print it.",
            ),
        ),
    ]
}

fn dates(lang: Lang, here: &Here) -> Vec<Row> {
    let say = |chinese, english| if lang == Lang::Zh { chinese } else { english };
    let of = |queries: Vec<String>, meaning| Row { queries, meaning };
    let (today, before) = (here.now, here.now - Months::new(1));
    let (day, first) = (today.format("%Y-%m-%d"), before.format("%Y-%m-%d"));
    let month = today.format("%Y-%m");
    vec![
        of(
            vec!["油价 since:7d".to_owned(), "油价 since:24h".to_owned()],
            say(
                "最近七天、最近 24 小时；单位有 h（小时）、d（天）、w（周）、m（月）、y（年）。",
                "Of the last seven days, the last 24 hours; h, d, w, m and y are hours, days, weeks, months and years.",
            ),
        ),
        of(
            vec![
                format!("油价 since:{first}"),
                format!("油价 until:{day}"),
                format!("油价 since:{}", today.year()),
            ],
            say(
                "从这一天起；到这一天为止（含当天）。也可以只写年月或年份。",
                "On this day or later; up to the end of this day. A month or a year will do as well.",
            ),
        ),
        of(
            vec![
                format!("油价 date:{month}"),
                format!("油价 日期：{first}..{day}"),
                format!("油价 date:{first}.."),
            ],
            say(
                "在这一天、这个月或这一年里；在两个日期之间，一端可以不写。",
                "In this day, month or year; between two days, one of which may be left out.",
            ),
        ),
    ]
}

/// What holds for every query.
fn rules(lang: Lang, query_chars: usize, window: usize) -> Vec<String> {
    let (chars, window) = (grouped(query_chars as u64), grouped(window as u64));
    match lang {
        Lang::Zh => vec![
            "繁体与简体、全角与半角、大写与小写，查到的都一样：ＣＯ２驅油 和 co2驱油 是同一个查询。".to_owned(),
            "只输入一个字也能查；“的”这样的虚词只在没有别的词时才查。".to_owned(),
            "字母和数字按整体匹配：5G 能查到“5G网络”，查不到“25G”。".to_owned(),
            "输入时可以用拼音或首字母：输入 yyq，会提示“页岩气”。按 / 键直接跳到搜索框。".to_owned(),
            "怎么写都不会出错：没有闭合的引号、不认识的字段、括号和星号都按普通文字查找；像日期却看不懂的，页面上会说明。".to_owned(),
            "同一篇报道的转载合并成一条；第一页里同一站点一般不超过三条。".to_owned(),
            format!("检索词最多 {chars} 个字符，最多可以翻到第 {window} 条结果。"),
        ],
        Lang::En => vec![
            "Traditional and simplified characters, full and half width, capitals and small letters find the same: ＣＯ２驅油 and co2驱油 are one query.".to_owned(),
            "One character is enough. Function words such as 的 are searched only when nothing else was asked.".to_owned(),
            "Letters and digits that stand together are found as a whole: 5G is in 5G网络, not in 25G.".to_owned(),
            "While you type, pinyin or first letters will do: yyq suggests 页岩气. The key / leads to the search box.".to_owned(),
            "No text is an error: a quote that is not closed, an unknown field, brackets and stars are searched as plain text; what looks like a date and is none is said on the page.".to_owned(),
            "Reprints of one report are one hit; at most three hits of the first page come from one site, as a rule.".to_owned(),
            format!("A query has {chars} characters at most, and hits can be reached up to number {window}."),
        ],
    }
}
