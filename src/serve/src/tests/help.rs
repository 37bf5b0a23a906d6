//! The page of the query language: what it shows is what the parser does.

use super::*;
use crate::pages::help::{local, sections};
use crate::pages::words::Lang;
use crate::search::examples::Examples;
use taojin_search::query::dates::Calendar;
use taojin_search::query::{Parsed, parse};

const NOW_MS: i64 = 1_793_894_400_000;

const BEIJING: Calendar = Calendar {
    utc_offset_minutes: 480,
    now_ms: NOW_MS,
};

/// Whether anything of the query was taken as more than words.
fn understood(parsed: &Parsed) -> bool {
    let query = &parsed.query;
    !query.groups.is_empty() || query.filter != Default::default()
}

/// Asserts that the parser takes the query as the page says: nothing noted, and no field, quote or date left as text.
fn assert_understood(query: &str) {
    let parsed = parse(query, &BEIJING);
    assert_eq!(parsed.notes, [], "{query}");
    let plain = !query.contains([':', '：', '"', '“', '「', '|', '-']) && !query.contains(" OR ");
    assert!(plain || understood(&parsed), "{query}: {parsed:?}");
    for left in [':', '：', '"', '“', '「', '|'] {
        assert!(!parsed.query.words.contains(left), "{query}: {parsed:?}");
    }
}

#[test]
fn help_examples_parse() {
    // The last day of a month, and the year's end by the calendar of the index only.
    for now_ms in [NOW_MS, 1_774_972_800_000 - 1, 1_798_740_000_000] {
        let now = local(now_ms, 480);
        let of_index = Examples::read(&Fake::default(), now).unwrap();
        for examples in [&Examples::anywhere(now), &of_index] {
            for lang in [Lang::Zh, Lang::En] {
                let shown = sections(lang, examples);
                let rows = || shown.iter().flat_map(|section| &section.rows);
                assert!(rows().count() >= 15);
                rows()
                    .flat_map(|row| &row.queries)
                    .for_each(|q| assert_understood(q));
            }
        }
    }
}

/// Each field that the parser knows stands on the page.
#[test]
fn help_covers_fields() {
    let shown = sections(Lang::En, &Examples::anywhere(local(NOW_MS, 480)));
    let queries: Vec<&String> = shown
        .iter()
        .flat_map(|s| &s.rows)
        .flat_map(|r| &r.queries)
        .collect();
    for field in [
        "title:",
        "标题：",
        "site:",
        "站点：",
        "author:",
        "作者：",
        "source:",
        "来源：",
        "comments:",
        "评论：",
        "url:",
        "changed:",
        "更新：",
        "inurl:",
        "since:",
        "until:",
        "date:",
        "日期：",
    ] {
        assert!(queries.iter().any(|q| q.contains(field)), "{field}");
    }
}

/// The same table in docs/search.md.
#[test]
fn docs_match_help() {
    let text = include_str!("../../../../docs/search.md");
    let table = text.lines().skip_while(|l| !l.starts_with("| you type"));
    let rows = table.skip(2).take_while(|l| l.starts_with('|'));
    let mut examples = 0;
    for row in rows {
        let typed = row.replace("\\|", "¦");
        let typed = typed.split('|').nth(1).unwrap().replace('¦', "|");
        for query in typed.split('`').skip(1).step_by(2).filter(|q| *q != "|") {
            assert_understood(query);
            examples += 1;
        }
    }
    assert!(examples > 15, "{examples}");
}

#[tokio::test]
async fn help_links_in_both_languages() {
    for (path, text) in [("/help", "检索语法"), ("/help?lang=en", "How to search")] {
        let page = visit(path).await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(page.body.contains(text), "{path}");
        let links = page
            .body
            .split("<a href=\"")
            .skip(1)
            .filter(|l| l.contains("\"><code>"));
        let mut count = 0;
        for link in links {
            let href = link.split('"').next().unwrap().replace("&#38;", "&");
            let shown = link
                .split("<code>")
                .nth(1)
                .unwrap()
                .split("</code>")
                .next()
                .unwrap();
            let query = url::form_urlencoded::parse(href.trim_start_matches("/?").as_bytes())
                .find_map(|(name, value)| (name == "q").then(|| value.into_owned()))
                .unwrap();
            let shown = shown
                .replace("&#34;", "\"")
                .replace("&#60;", "<")
                .replace("&#62;", ">");
            assert_eq!(shown.replace("&#38;", "&"), query);
            count += 1;
        }
        assert!(count > 25, "{count}");
        assert!(
            page.body.contains("href=\"/help\"") || page.body.contains("href=\"/help?lang=en\"")
        );
        // A hostile name of a site stays text.
        page.assert_lacks(&["<b>乙"]);
    }
}
