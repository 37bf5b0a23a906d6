//! The same answers from both engines, to queries of every kind over documents of every kind.

use super::*;
use crate::index::rank::plain::TIER;
use crate::query::dates::Calendar;
use crate::query::parse;
use taojin_extract::{Comment, SourceFile};

const CALENDAR: Calendar = Calendar {
    utc_offset_minutes: 480,
    now_ms: 1_793_836_800_000,
};
/// Scores of both engines differ by less than this share: an average length counts a text without terms as one of one term. Hits
/// whose scores differ by no more may stand in either order. In a field that few documents have scores differ by half, and the
/// order of what is searched for there alone is the engine's own.
const SHARE: f32 = 0.1;

const PARTS: [&str; 24] = [
    "渤海",
    "6口",
    "井",
    "袁浩然",
    "11月18日",
    "LNG",
    "CO2驱油",
    "第77期",
    "气",
    "3.5%",
    "SU7",
    "增长",
    "国能发〔2026〕5号",
    "主任",
    "的",
    "页岩气",
    "，",
    "二氧化碳",
    "油价上涨",
    "天然气管道",
    "储气库注采",
    "燃料油",
    " ",
    "。",
];

/// Texts of several parts.
fn text(draw: &mut impl FnMut(usize) -> usize, parts: usize) -> String {
    (0..parts).map(|_| PARTS[draw(PARTS.len())]).collect()
}

fn documents(draw: &mut impl FnMut(usize) -> usize) -> Vec<Document> {
    let mut all: Vec<Document> = Vec::new();
    for n in 0..Query::MAX_LIMIT {
        let mut body = text(draw, 60);
        if n % 6 == 5 {
            // Of a reprint of the one before.
            body = format!("本报讯 {}", all[n - 1].text);
        }
        let title = text(draw, 3);
        let mut next = document(
            &format!("https://s{}.example/a/{n}.html", n % 5),
            &title,
            &body,
        );
        next.site = Some(format!("站{}", n % 5));
        next.author = (n % 3 == 0).then(|| ["李明", "王建国"][draw(2)].to_owned());
        next.source = (n % 4 == 0).then(|| ["新华社", "能源报"][draw(2)].to_owned());
        next.published =
            (n % 7 != 0).then(|| format!("2026-{:02}-{:02}", 1 + draw(11), 1 + draw(28)));
        if n % 5 == 0 {
            next.comments.push(Comment {
                text: text(draw, 4),
                ..Comment::default()
            });
        }
        if n % 8 == 0 {
            next.meta
                .add("发文字号".to_owned(), format!("国发〔2026〕{}号", draw(9)));
            next.meta
                .add("片长".to_owned(), format!("{} 分钟", draw(200)));
        }
        next.file = (n % 10 == 0).then(|| SourceFile {
            format: "pdf".to_owned(),
            ..SourceFile::default()
        });
        all.push(next);
    }
    all
}

/// A text to search for, as people write it.
fn typed(draw: &mut impl FnMut(usize) -> usize) -> String {
    let (a, b) = (text(draw, 1), text(draw, 1));
    match draw(22) {
        0..4 => text(draw, 1),
        4..7 => text(draw, 2),
        7 => text(draw, 4),
        8 => format!("{a} {b}"),
        9 => format!("\"{a}{b}\""),
        10 => format!("{a} -{b}"),
        11 => format!("{a} OR {b}"),
        12 => format!("title:{a}"),
        13 => format!("{a} NEAR/5 {b}"),
        14 => format!("{a}*"),
        15 => format!("site:s{}.example {a}", draw(5)),
        16 => format!("author:李 {a}"),
        17 => format!("comments:{a}"),
        18 => format!("{a} filetype:pdf"),
        19 => "字号:国发〔2026〕5号".to_owned(),
        20 => format!("片长:>{}", draw(200)),
        _ => format!("{a}怎么样了？"),
    }
}

fn query(draw: &mut impl FnMut(usize) -> usize) -> (String, Query) {
    let typed = typed(draw);
    let mut query = parse(&typed, &CALENDAR).query;
    query.limit = Query::MAX_LIMIT;
    query.facets = true;
    query.grouped = draw(3) == 0;
    query.now_ms = CALENDAR.now_ms;
    query.sort = [Sort::Relevance, Sort::Relevance, Sort::Date, Sort::Both][draw(4)];
    query.matching = [Match::Auto, Match::Auto, Match::Any, Match::All][draw(4)];
    if draw(5) == 0 {
        query.filter.sites = vec![format!("站{}", draw(5))];
    }
    if draw(5) == 0 {
        query.filter.since_ms = parse_published("2026-06-01", 480);
    }
    (typed, query)
}

#[test]
fn answers_are_equal_on_both_engines() {
    let Some(opensearch) = Engine::opensearch() else {
        return;
    };
    let mut draw = drawing();
    let documents = documents(&mut draw);
    let synonyms = crate::analyze::Synonyms::builtin("oil-gas").unwrap();
    let analyzer = Analyzer::with_synonyms(&[Lexicon::builtin("oil-gas").unwrap()], synonyms);
    let places = [Engine::Embedded, opensearch].map(Engine::new_place);
    for place in &places {
        let mut writer = place.open_writer(&analyzer);
        for (n, document) in (1..).zip(&documents) {
            add(&mut writer, n, document);
        }
        writer.commit(documents.len() as u64).unwrap();
        writer.close().unwrap();
    }
    let readers = places.each_ref().map(|place| place.open_reader(&analyzer));
    let mut with_hits = 0;
    for _ in 0..200 {
        let (typed, query) = query(&mut draw);
        let [embedded, remote] = readers.each_ref().map(|reader| {
            let found = reader.search(&query).unwrap();
            let answer = Answer {
                total: found.total,
                weaker: found.weaker.as_ref().map(|weaker| weaker.total),
                facets: found.facets.clone().map(without_related),
                hits: sorted_keys(&query, &found.documents),
                correction: reader.correction(&query, &found).unwrap(),
                suggestions: reader.suggest(&typed, 8).unwrap(),
            };
            (answer, found.documents)
        });
        assert_eq!(embedded.0, remote.0, "{typed}: {query:?}");
        assert_same_order(&query, &typed, &embedded.1, &remote.1);
        with_hits += usize::from(!embedded.1.is_empty());
    }
    assert!(with_hits > 150, "{with_hits}");
}

/// What an answer says beside scores and their order.
#[derive(Debug, PartialEq)]
struct Answer {
    total: usize,
    weaker: Option<usize>,
    facets: Option<Facets>,
    /// Each hit, and how many reprints it has.
    hits: Vec<(u64, u64)>,
    correction: Option<Correction>,
    suggestions: Vec<Suggestion>,
}

/// Related terms are read from the best documents, and near ties decide which ones these are.
fn without_related(facets: Facets) -> Facets {
    Facets {
        related: Vec::new(),
        ..facets
    }
}

/// A document, or the text that it is one of several reprints of: which of them is the best one a near tie may decide.
fn key(query: &Query, hit: &FoundDocument) -> u64 {
    let group = hit.group.filter(|_| query.grouped);
    group.unwrap_or(hit.stored.fingerprint)
}

fn sorted_keys(query: &Query, hits: &[FoundDocument]) -> Vec<(u64, u64)> {
    let keys = hits.iter().map(|hit| (key(query, hit), hit.duplicates));
    let mut keys: Vec<_> = keys.collect();
    keys.sort_unstable();
    keys
}

fn assert_same_order(
    query: &Query,
    typed: &str,
    embedded: &[FoundDocument],
    remote: &[FoundDocument],
) {
    let scores: HashMap<u64, f32> = embedded
        .iter()
        .map(|hit| (key(query, hit), hit.score))
        .collect();
    let is_sparse = ["comments:", "字号:", "片长:"]
        .iter()
        .any(|field| typed.starts_with(field));
    for (one, other) in embedded.iter().zip(remote) {
        if key(query, one) == key(query, other) || is_sparse {
            continue;
        }
        assert_ne!(query.sort, Sort::Date, "{typed}");
        let score = scores[&key(query, other)];
        let is_near = (score - one.score).abs() <= SHARE * (score % TIER).max(1.0);
        assert!(is_near, "{typed}: {query:?}: {score} {}", one.score);
    }
}
