//! What a seed makes stays what it is: other tests and the documentation quote numbers from it.

use std::fmt::Write;
use std::io::Read;

use flate2::read::GzDecoder;

use super::super::answer::fnv;
use super::super::{Body, Request, World};
use super::{NOW_MS, PORT};

/// Addresses that are no page of an article or a list.
const OTHERS: &[&str] = &[
    "/robots.txt",
    "/robots-common.txt",
    "/style.css",
    "/img/3.svg",
    "/img/dot.svg",
    "/rss.xml",
    "/feed/",
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap-a.xml",
    "/sitemap-b.xml.gz",
    "/sitemap-news.xml",
    "/admin/login",
    "/search?q=1",
    "/kantan/2019/0101/1001.html",
    "/files/annual-report.pdf",
    "/down/well-data.zip",
    "/r/loop-a",
    "/r/loop-b",
    "/r/2026a",
    "/r/2026b",
    "/go?id=7",
    "/notice/readers.html",
    "/topic/",
    "/topic/related/",
    "/internal/drafts/index.html",
    "/drafts/todo.html",
    "/out/meta-data",
    "/out/loopback",
    "/calendar/2026/11/",
    "/calendar/x/",
    "/article?id=1",
    "/data/history",
    "/data/archive",
    "/download?file=7",
    "/nothing",
];

/// What a gzip body holds: its own bytes differ with the library that packs, which the other crates of a build choose.
fn unpacked(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut unpacked = Vec::new();
    let is_whole = GzDecoder::new(bytes).read_to_end(&mut unpacked).is_ok();
    is_whole.then_some(unpacked)
}

/// One line for each answer: address, status, headers, hash of the body.
fn dump(world: &World, out: &mut String) {
    for (index, site) in world.sites.iter().enumerate() {
        let articles = world
            .articles
            .iter()
            .filter(|article| article.site == index);
        let mut targets: Vec<String> = world.routes.addresses(index);
        targets.sort();
        targets.extend(articles.flat_map(|article| article.aliases.clone()));
        targets.extend(OTHERS.iter().map(|&target| target.to_owned()));
        for (asked_before, target) in (0..2).flat_map(|n| targets.iter().map(move |t| (n, t))) {
            let request = Request {
                host: &site.authority,
                target,
                asked_before,
                accepts_gzip: asked_before == 1,
                nonce: 7,
                ..Request::default()
            };
            let mut answer = world.answer(&request).unwrap();
            let body = match &answer.body {
                Body::Bytes(bytes) => match unpacked(bytes) {
                    Some(unpacked) => {
                        answer
                            .headers
                            .retain(|(name, _)| !name.eq_ignore_ascii_case("content-length"));
                        fnv(&unpacked)
                    }
                    None => fnv(bytes),
                },
                Body::Endless => 0,
            };
            let url = site.url(target);
            writeln!(
                out,
                "{url} {} {:?} {} {body:x}",
                answer.status, answer.headers, answer.slow
            )
            .unwrap();
        }
    }
}

#[test]
fn the_pages_of_a_seed_stay_byte_for_byte_the_same() {
    let mut out = String::new();
    for seed in [20_160_509, 7] {
        let mut world = World::generate(seed, NOW_MS, PORT);
        dump(&world, &mut out);
        world.advance(NOW_MS + 3_600_000);
        world.redesign(0);
        world.redesign(5);
        world.redesign(3);
        dump(&world, &mut out);
    }
    dump(&World::generate_sized(2, NOW_MS, 80, 1500), &mut out);
    assert_eq!(
        fnv(out.as_bytes()),
        6_967_245_007_259_941_401,
        "if the change is intended, put the new number here and check the figures in docs/"
    );
}
