use super::*;
use taojin_search::index::Match;

fn follow(name: &str, query: &str, webhook: &str) -> Follow {
    Follow {
        name: name.to_owned(),
        query: query.to_owned(),
        webhook: webhook.to_owned(),
        ..Follow::default()
    }
}

#[test]
fn follow_mistakes_named() {
    for (topic, part) in [
        (follow("", "油", ""), "name = \"\""),
        (follow("Deep Sea", "油", ""), "small letters"),
        (follow("../x", "油", ""), "small letters"),
        (follow("a", " ", ""), "searches for nothing"),
        (follow("a", &"油".repeat(301), ""), "more than 300"),
        (follow("a", "油", "hooks.example/x"), "http:// or https://"),
        (
            follow("a", "油", "file:///etc/passwd"),
            "http:// or https://",
        ),
    ] {
        let problem = topic.problem().unwrap();
        assert!(
            problem.contains(part),
            "{problem:?} should contain {part:?}"
        );
    }
    let fine = follow("deep-sea-2", "\"深海\" OR 深水", "http://127.0.0.1:9/x");
    assert_eq!(fine.problem(), None);
    let twice = [fine.clone(), follow("b", "气", ""), fine];
    assert!(Follow::problems(&twice).concat().contains("two topics"));
    assert_eq!(Follow::problems(&twice[..2]), Vec::<String>::new());
}

#[test]
fn retries_back_off_and_end() {
    let rests: Vec<i64> = (1..=12)
        .map(|n| next_try_ms(n, None, 0).unwrap() / 1_000)
        .collect();
    assert_eq!(
        rests,
        [
            10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600, 3_600
        ]
    );
    assert_eq!(next_try_ms(1, Some(120_000), 5), Some(120_005));
    assert_eq!(next_try_ms(1, Some(i64::MAX), 0), Some(3_600_000));
    assert!(next_try_ms(39, None, 0).is_some());
    assert_eq!(next_try_ms(40, None, 0), None);
    assert_eq!(next_try_ms(u32::MAX, None, 0), None);
}

#[test]
fn follow_match_holds() {
    let of = |more: &str| -> Result<Follow, toml::de::Error> {
        toml::from_str(&format!("name = \"a\"\nquery = \"油价 上涨\"\n{more}"))
    };
    let (auto, any) = (of("").unwrap(), of("match = \"any\"").unwrap());
    assert_eq!(auto.search_request(1, 0).matching, Match::Auto);
    assert_eq!(any.search_request(1, 0).matching, Match::Any);
    // Another question is another topic: what was sent for the first one says nothing of it.
    assert_ne!(auto.asked(), any.asked());
    assert!(of("match = \"some\"").is_err());
}

#[test]
fn message_is_repeatable() {
    let topic = follow("deep-sea", "油价", "");
    let hits = || {
        let found = Fake::default().latest(&topic.search_request(2, 0)).unwrap();
        let found = found.into_iter().map(|hit| hit.found);
        found.zip(["changed", "deleted"]).collect()
    };
    let text = message(&topic, 7, hits());
    assert_eq!(text, message(&topic, 7, hits()));
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["delivery"], "deep-sea-7");
    assert_eq!(value["title"], "油价");
    assert_eq!(value["hits"].as_array().unwrap().len(), 2);
    assert_eq!(value["hits"][1]["id"], "0000000000000001");
    assert_eq!(value["hits"][0]["change"], "changed");
    assert_eq!(value["hits"][1]["change"], "deleted");
}
