//! The sample web is itself the ground truth of other tests, so it is tested hard.

mod addresses;
mod graph;
mod serving;
mod text;
mod unchanged;

use super::{Answer, Article, Body, Request, World};

/// A moment for worlds that do not care: 2026-11-20 10:00 in Beijing.
const NOW_MS: i64 = 1_795_140_000_000;
const PORT: u16 = 18080;

fn world() -> World {
    World::generate(7, NOW_MS, PORT)
}

fn get(world: &World, url: &str) -> Answer {
    let rest = url.strip_prefix("http://").expect("only http here");
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let target = format!("/{path}");
    let request = Request {
        host: authority,
        target: &target,
        nonce: 99,
        asked_before: 1,
        ..Request::default()
    };
    world.answer(&request).expect("a host of the sample web")
}

fn bytes(answer: &Answer) -> &[u8] {
    match &answer.body {
        Body::Bytes(bytes) => bytes,
        Body::Endless => &[],
    }
}

/// The page as a browser that is told the truth would read it.
fn decoded(answer: &Answer, article: &Article) -> String {
    let encoding = if article.encoding.is_gbk() {
        encoding_rs::GBK
    } else {
        encoding_rs::UTF_8
    };
    let (text, _, broken) = encoding.decode(bytes(answer));
    assert!(!broken, "{} does not decode", article.path);
    text.into_owned()
}
