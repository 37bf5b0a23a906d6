//! Whether a plain follower of links, feeds and sitemaps comes to every article.

use std::collections::{HashSet, VecDeque};
use std::io::Read;

use super::super::{Article, TrapKind, World};
use super::{NOW_MS, PORT, bytes, decoded, get, world};

/// Addresses after `href="`, `<loc>`, `<link>` and `Sitemap:`.
fn references(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let base = text
        .split_once("<base href=\"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map(|(base, _)| base.to_owned());
    for (open, close) in [
        ("<A href=\"", '"'),
        (" href=\"", '"'),
        ("<loc>", '<'),
        ("<link>", '<'),
        ("Sitemap: ", '\n'),
    ] {
        for piece in text.split(open).skip(1) {
            if let Some((reference, _)) = piece.split_once(close) {
                let reference = reference.replace("&amp;", "&");
                match &base {
                    Some(base) => out.push(
                        url::Url::parse(base)
                            .and_then(|base| base.join(&reference))
                            .map_or(String::new(), String::from),
                    ),
                    None => out.push(reference),
                }
            }
        }
    }
    out
}

/// Follows everything within the six hosts that no trap forbids; the addresses that answered 200, without sessions.
fn walk(world: &World) -> HashSet<String> {
    let mut queue: VecDeque<String> = VecDeque::new();
    let mut seen = HashSet::new();
    let mut reached = HashSet::new();
    for site in &world.sites {
        queue.extend(site.seeds.iter().cloned());
        queue.push_back(site.url("/robots.txt"));
    }
    while let Some(address) = queue.pop_front() {
        let address = address
            .split_once("?sid=")
            .map_or(address.as_str(), |(clean, _)| clean)
            .to_owned();
        let known_host = world
            .sites
            .iter()
            .any(|site| address.starts_with(&format!("http://{}/", site.authority)));
        if !known_host || !seen.insert(address.clone()) || forbidden(world, &address) {
            continue;
        }
        let answer = get(world, &address);
        let base = url::Url::parse(&address).unwrap();
        if let Some(location) = answer.header("location") {
            queue.push_back(base.join(location).unwrap().into());
        }
        if answer.status != 200 {
            continue;
        }
        let mut plain = Vec::new();
        if address.ends_with(".gz") {
            flate2::read::GzDecoder::new(bytes(&answer))
                .read_to_end(&mut plain)
                .unwrap();
        } else {
            plain.extend_from_slice(bytes(&answer));
        }
        for reference in references(&String::from_utf8_lossy(&plain)) {
            queue.extend(base.join(&reference).ok().map(String::from));
        }
        reached.insert(address);
        assert!(seen.len() < 5000, "the walk does not end");
    }
    reached
}

fn forbidden(world: &World, address: &str) -> bool {
    let rest = address.trim_start_matches("http://");
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let target = format!("/{path}");
    world
        .traps
        .iter()
        .filter(|trap| trap.matches(authority, &target))
        .any(|trap| {
            matches!(
                trap.kind,
                TrapKind::Refused | TrapKind::Calendar | TrapKind::GrowingPath | TrapKind::Loop
            )
        })
}

fn unreached<'a>(world: &'a World, reached: &HashSet<String>) -> Vec<&'a Article> {
    world
        .articles
        .iter()
        .filter(|article| !reached.contains(&world.url(article)))
        .collect()
}

#[test]
fn every_article_can_be_reached_in_both_rounds() {
    let mut world = world();
    assert_eq!(unreached(&world, &walk(&world)).len(), 0);
    world.advance(NOW_MS + 3_600_000);
    let missed: Vec<&String> = unreached(&world, &walk(&world))
        .into_iter()
        .map(|article| &article.path)
        .collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn every_article_of_a_large_world_can_be_reached() {
    let world = World::generate_sized(5, NOW_MS, PORT, 1500);
    assert_eq!(unreached(&world, &walk(&world)).len(), 0);
}

#[test]
fn each_trap_is_linked_and_answers_as_it_should() {
    let world = world();
    let mut linked = String::new();
    for address in walk(&world) {
        let answer = get(&world, &address);
        let base = url::Url::parse(&address).unwrap();
        for reference in references(&String::from_utf8_lossy(bytes(&answer))) {
            linked.extend(base.join(&reference).ok().map(|url| format!("{url}\n")));
        }
    }
    for trap in &world.traps {
        let linked_to = linked
            .lines()
            .any(|link| link.starts_with(&trap.url()) && link.contains(trap.contains));
        assert!(linked_to, "nothing links to {}", trap.url());
    }
    for address in super::super::PRIVATE_LINKS {
        let host = url::Url::parse(address)
            .unwrap()
            .host_str()
            .unwrap()
            .to_owned();
        assert!(linked.contains(&host), "nothing links to {address}");
    }
}

#[test]
fn the_calendar_and_the_growing_path_never_end() {
    let world = world();
    let blog = world
        .sites
        .iter()
        .find(|site| site.name == "pipeline-blog")
        .unwrap();
    let mut address = blog.url("/calendar/2026/11/");
    for _ in 0..40 {
        let answer = get(&world, &address);
        assert_eq!(answer.status, 200);
        let text = String::from_utf8_lossy(bytes(&answer)).into_owned();
        let next = references(&text)
            .into_iter()
            .rfind(|link| link.contains("/calendar/2") && !address.ends_with(link.as_str()))
            .unwrap();
        assert!(text.contains("下一月"));
        address = blog.url(&next);
    }
    let gazette = world
        .sites
        .iter()
        .find(|site| site.name == "energy-policy")
        .unwrap();
    let mut address = gazette.url("/topic/");
    for depth in 0..5 {
        assert_eq!(address.matches("related/").count(), depth);
        let answer = get(&world, &address);
        address = references(&String::from_utf8_lossy(bytes(&answer)))
            .into_iter()
            .rfind(|link| link.contains("related/"))
            .unwrap();
    }
}

#[test]
fn pages_hold_the_text_title_and_date() {
    let mut world = world();
    world.advance(NOW_MS + 3_600_000);
    for article in &world.articles {
        let answer = get(&world, &world.url(article));
        assert_eq!(answer.status, 200, "{}", article.path);
        let page = decoded(&answer, article);
        assert!(page.contains(&article.title), "{}", article.path);
        for paragraph in world.paragraphs(article) {
            assert_eq!(page.matches(&paragraph).count(), 1, "{paragraph}");
        }
        for comment in world.comments(article) {
            assert!(
                page.contains(&comment.text) && page.contains(&comment.author),
                "{}",
                comment.text
            );
        }
        if let Some(author) = &article.author {
            assert!(page.contains(author));
        }
        let day: Vec<&str> = article.published.split(['-', 'T']).take(3).collect();
        let short: Vec<String> = day
            .iter()
            .map(|part| part.trim_start_matches('0').to_owned())
            .collect();
        let shown = ["-", "/"]
            .iter()
            .any(|mark| page.contains(&day.join(mark)) || page.contains(&short.join(mark)));
        assert!(
            shown || page.contains(&format!("{}年{}月{}日", day[0], day[1], day[2])),
            "{} in {}",
            article.published,
            article.path
        );
    }
}
