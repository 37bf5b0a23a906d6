//! What the articles say.

use std::collections::{HashMap, HashSet};

use super::super::article::Article;
use super::super::rng::Rng;
use super::super::text::genre::Genre;
use super::super::text::slots::SlotValues;
use super::super::text::words;
use super::super::{
    ARTICLES, CHANGED_PER_ROUND, Delivery, Discovery, Encoding, NEW_PER_ROUND, SHOWCASE, World,
};
use super::{NOW_MS, PORT, world};

/// What a text must not contain if its slots were filled well.
fn fault(text: &str) -> Option<&'static str> {
    const NEVER: [&str; 20] = [
        "{",
        "}",
        "|",
        "=",
        "..",
        "  ",
        "。。",
        "，，",
        "，。",
        "。，",
        "、、",
        "、，",
        "！。",
        "？。",
        "。”。",
        "“”",
        "（）",
        "：：",
        "井井",
        "站站",
    ];
    NEVER.into_iter().find(|wrong| text.contains(wrong))
}

/// The sections of a file of articles.
fn sections(genre: Genre) -> [Vec<&'static str>; 5] {
    let phrases = genre.phrases();
    let titles = phrases.titles.iter().map(|&(title, _)| title).collect();
    let sections = [
        phrases.leads(),
        phrases.facts(),
        phrases.quotes(),
        phrases.closings(),
    ];
    let [leads, facts, quotes, closings] = sections.map(<[_]>::to_vec);
    [titles, leads, facts, quotes, closings]
}

const SHARED: [&str; 5] = [
    "background",
    "comments",
    "plant_replies",
    "well_replies",
    "updates",
];

#[test]
fn every_file_of_sentences_is_read_whole() {
    for (number, genre) in Genre::ALL.into_iter().enumerate() {
        assert_eq!(genre as usize, number);
        let phrases = genre.phrases();
        let lines = genre
            .text()
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with(['#', '[']));
        let read: usize = sections(genre).iter().map(Vec::len).sum();
        assert_eq!(read, lines.count(), "{genre:?}");
        assert!(
            phrases
                .titles
                .iter()
                .all(|&(_, lead)| lead < phrases.leads().len()),
            "{genre:?}"
        );
        let pictures = genre == Genre::Picture;
        assert_eq!(phrases.facts().is_empty(), pictures, "{genre:?}");
        assert_eq!(phrases.closings().is_empty(), pictures, "{genre:?}");
        if genre == Genre::Interview {
            assert_eq!(
                phrases.facts().len(),
                phrases.quotes().len(),
                "each question has its answer"
            );
        }
    }
    for kind in SHARED {
        assert!(words::sentences(kind).len() >= 4, "{kind}");
    }
}

#[test]
fn every_table_of_words_and_regions_is_read() {
    for table in [
        "company",
        "field",
        "surname",
        "given_name",
        "well_name",
        "reader",
        "nick",
    ] {
        let words = words::table(table).unwrap();
        assert!(
            words.len() >= 7 && words.iter().all(|word| !word.is_empty()),
            "{table}"
        );
        assert_eq!(
            words.iter().collect::<HashSet<_>>().len(),
            words.len(),
            "a word twice in {table}"
        );
    }
    for kind in ["land", "shale", "sea"] {
        let regions = words::regions(kind);
        assert!(regions.len() >= 4, "{kind}");
        for region in regions {
            let words = region.formations.iter().chain(&region.provinces);
            assert!(
                words.chain([&region.basin]).all(|word| !word.is_empty()),
                "{}",
                region.basin
            );
        }
    }
}

#[test]
fn every_sentence_fills_without_a_slot_left_over() {
    let shared = SHARED.map(|kind| words::sentences(kind).to_vec());
    let all = Genre::ALL.into_iter().flat_map(sections).chain(shared);
    for (number, sentence) in all.flatten().enumerate() {
        for seed in 0..6 {
            let mut values = SlotValues::new(Rng::of(seed, &[number as u64]));
            for given in ["year", "month", "day", "reporter", "no"] {
                values.set(given, "一");
            }
            values.choose_region("land");
            let text = values.fill(sentence);
            assert_eq!(fault(&text), None, "{sentence} -> {text}");
        }
    }
}

#[test]
fn an_unknown_slot_stays_visible() {
    let mut values = SlotValues::new(Rng::new(1));
    assert_eq!(values.fill("在{nowhere}"), "在{nowhere}");
    assert_eq!(values.fill("没有{结尾"), "没有{结尾");
}

#[test]
fn slots_keep_their_values_and_numbers_keep_their_bounds() {
    let mut values = SlotValues::new(Rng::new(3));
    let first = values.fill("{company}{depth=4200..4300}{well}");
    assert_eq!(first, values.fill("{company}{depth}{well}"));
    assert_ne!(values.get("company"), values.get("company2"));
    for _ in 0..200 {
        let number: f64 = values.fill("{1.25..2.50}").parse().unwrap();
        assert!((1.25..=2.50).contains(&number), "{number}");
    }
}

#[test]
fn the_same_seed_makes_the_same_world_and_another_seed_another() {
    let (a, b, other) = (world(), world(), World::generate(8, NOW_MS, PORT));
    let all = |world: &World| -> Vec<(String, String, Vec<String>)> {
        world
            .articles
            .iter()
            .map(|article| {
                (
                    world.url(article),
                    article.title.clone(),
                    world.paragraphs(article),
                )
            })
            .collect()
    };
    assert_eq!(all(&a), all(&b));
    let same = a
        .articles
        .iter()
        .zip(&other.articles)
        .filter(|(a, b)| a.title == b.title)
        .count();
    assert!(same < 10, "{same} titles in common");
}

#[test]
fn the_texts_read_well_whatever_the_seed() {
    for seed in 0..8 {
        let mut world = World::generate(seed, NOW_MS, PORT);
        world.advance(NOW_MS + 3_600_000);
        for article in &world.articles {
            let paragraphs = world.paragraphs(article);
            for text in paragraphs.iter().chain([&article.title]).chain(
                &world
                    .comments(article)
                    .into_iter()
                    .map(|comment| comment.text)
                    .collect::<Vec<_>>(),
            ) {
                assert_eq!(fault(text), None, "{}: {text}", article.path);
            }
            let lengths: Vec<usize> = paragraphs.iter().map(|text| text.chars().count()).collect();
            assert!(
                lengths.iter().all(|length| (12..=220).contains(length)),
                "{lengths:?} {paragraphs:?}"
            );
            let count = lengths.len();
            match article.genre {
                Genre::Picture => assert_eq!(count, 1),
                Genre::Interview => assert!((6..=11).contains(&count), "{count}"),
                _ => assert!((2..=9).contains(&count), "{count} {paragraphs:?}"),
            }
            let distinct: HashSet<&String> = paragraphs.iter().collect();
            assert_eq!(
                distinct.len(),
                count,
                "a paragraph twice in {}",
                article.path
            );
            assert!(
                (8..=60).contains(&article.title.chars().count()),
                "{}",
                article.title
            );
        }
    }
}

#[test]
fn titles_differ_but_for_reprints_which_have_all_in_common() {
    let world = world();
    let mut by_title: HashMap<&str, Vec<usize>> = HashMap::new();
    for article in &world.articles {
        by_title
            .entry(&article.title)
            .or_default()
            .push(article.index);
        if let Some(original) = article.reprint_of {
            let original = &world.articles[original];
            assert_eq!(world.paragraphs(article), world.paragraphs(original));
            assert_eq!(article.source, original.source);
            assert_ne!(article.site, original.site);
            assert!(article.published_ms > original.published_ms);
        }
    }
    for articles in by_title.values().filter(|articles| articles.len() > 1) {
        let originals = articles
            .iter()
            .filter(|&&index| world.articles[index].reprint_of.is_none())
            .count();
        assert_eq!(originals, 1, "{articles:?}");
    }
    assert!(
        by_title.values().any(|articles| articles.len() == 3),
        "one article is on three sites"
    );
}

#[test]
fn every_special_case_exists() {
    let world = world();
    assert_eq!(world.articles.len(), ARTICLES);
    assert_eq!(world.sites.len(), 6);
    let count = |test: &dyn Fn(&Article) -> bool| {
        world
            .articles
            .iter()
            .filter(|article| test(article))
            .count()
    };
    for encoding in [
        Encoding::Utf8,
        Encoding::GbkInPage,
        Encoding::GbkInHeader,
        Encoding::GbkUndeclared,
        Encoding::GbkDeclaredUtf8,
        Encoding::Utf8DeclaredGb2312,
        Encoding::Utf8Undeclared,
    ] {
        assert!(
            count(&|article| article.encoding == encoding) >= 3,
            "{encoding:?}"
        );
    }
    assert!(count(&|article| article.genre == Genre::Picture) >= 3);
    assert_eq!(count(&|article| article.reprint_of.is_some()), 7);
    assert_eq!(count(&|article| article.delivery == Delivery::Slow), 1);
    assert_eq!(count(&|article| article.delivery == Delivery::Throttled), 1);
    assert_eq!(
        count(&|article| article.discovery == Discovery::Redirects),
        1
    );
    assert_eq!(count(&|article| article.discovery == Discovery::Feed), 2);
    assert_eq!(count(&|article| article.discovery == Discovery::Sitemap), 3);
    assert!(count(&|article| article.comments > 0) >= 20);
    assert!(
        world
            .articles
            .iter()
            .all(|article| article.published_ms < NOW_MS)
    );
}

#[test]
fn gbk_sites_lose_no_character_of_their_texts() {
    let world = world();
    for article in world
        .articles
        .iter()
        .filter(|article| article.encoding.is_gbk())
    {
        for text in world.paragraphs(article) {
            let (_, _, unmappable) = encoding_rs::GBK.encode(&text);
            assert!(!unmappable, "{text}");
        }
    }
}

#[test]
fn showcase_searches_have_something_to_find() {
    let world = world();
    for query in SHOWCASE {
        let words: Vec<&str> = query.split(' ').collect();
        let hits = world
            .articles
            .iter()
            .filter(|article| {
                let text = world.paragraphs(article).join("") + &article.title;
                words.iter().all(|word| text.contains(word))
            })
            .count();
        assert!((6..90).contains(&hits), "{query}: {hits}");
    }
}

#[test]
fn a_round_adds_some_changes_some_and_keeps_the_rest() {
    let before = world();
    let mut after = before.clone();
    after.advance(NOW_MS + 3_600_000);
    assert_eq!(after.articles.len(), before.articles.len() + NEW_PER_ROUND);
    let mut changed = 0;
    for (old, new) in before.articles.iter().zip(&after.articles) {
        let (was, is) = (before.paragraphs(old), after.paragraphs(new));
        assert_eq!(
            (&old.title, &old.path, &old.published),
            (&new.title, &new.path, &new.published)
        );
        if was != is {
            changed += 1;
            assert_eq!(new.changed_round, Some(2));
            assert_eq!(is.len(), was.len() + 1);
            assert_eq!(is.get(..was.len()), Some(&was[..]));
        }
    }
    assert_eq!(changed, CHANGED_PER_ROUND);
    let titles: HashSet<&String> = before
        .articles
        .iter()
        .map(|article| &article.title)
        .collect();
    assert!(
        after
            .articles
            .iter()
            .skip(ARTICLES)
            .all(|article| article.round == 2 && !titles.contains(&article.title))
    );
    after.advance(NOW_MS + 7_200_000);
    assert_eq!(after.articles.len(), ARTICLES + 2 * NEW_PER_ROUND);
}

#[test]
fn a_large_world_is_made_cheaply_and_has_no_title_twice() {
    let world = World::generate_sized(1, NOW_MS, PORT, 5000);
    assert_eq!(world.articles.len(), 5000);
    let titles: HashSet<&String> = world
        .articles
        .iter()
        .map(|article| &article.title)
        .collect();
    assert_eq!(titles.len(), 5000);
    assert!(world.traps.is_empty());
}
