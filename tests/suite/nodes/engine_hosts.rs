//! Hosts of OpenSearch that hang or lose answers: nothing waits for them, and nothing is lost or there twice.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::gate::{Act, Gate};
use crate::support::daemon::{Daemon, LISTEN};
use crate::support::folder::{Folder, assert_has, fed, imported};
use crate::support::http::get;
use crate::support::opensearch::Engine;
use crate::support::wait_until;

/// A data folder whose index is behind these gates.
fn folder(gates: &[Gate], index: &str, more: &str) -> Folder {
    let urls: Vec<String> = gates.iter().map(Gate::url).collect();
    let urls = urls.join(",");
    Folder::new(
        &format!(
            "{more}[search]\nengine = \"opensearch\"\nurl = {urls:?}\nindex = {index:?}\nreplicas = 0\n"
        ),
        &[],
    )
}

const QUERY: &str = "/api/search?q=%E5%82%A8%E6%B0%94%E5%BA%93";

#[test]
fn hanging_host_holds_up_no_search() {
    let Some(engine) = Engine::start("hanging_host_holds_up_no_search", 1) else {
        return;
    };
    let gates = [(); 3].map(|()| Gate::new(engine.port(0)));
    let folder = folder(&gates, "hanging", LISTEN);
    folder.import_texts(&[("https://a.example/1", "储气库注采")]);
    let daemon = Daemon::start(&folder);
    let search = || {
        let began = Instant::now();
        let (status, body) = get(daemon.port, QUERY).expect("an answer");
        (status, body, began.elapsed())
    };
    wait_until("the index is ready", || search().0 == 200);

    gates[0].set(|_| Act::Hang);
    let (status, body, took) = search();
    assert_eq!(status, 200, "{body}");
    assert!(
        took < Duration::from_millis(4_900),
        "the first time: {took:?}"
    );
    for _ in 0..3 {
        let (status, body, took) = search();
        assert_eq!(status, 200, "{body}");
        assert!(took < Duration::from_millis(2_500), "after that: {took:?}");
    }

    // None answers: that is told at once, too.
    gates.iter().for_each(|gate| gate.set(|_| Act::Hang));
    search();
    let (status, body, took) = search();
    assert_eq!(status, 503, "{body}");
    assert!(
        took < Duration::from_millis(2_500),
        "none answers: {took:?}"
    );

    // The process of a command knows nothing of that.
    gates[2].set(|_| Act::Pass);
    let began = Instant::now();
    assert_eq!(folder.total("储气库"), 1);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(20), "two hosts hang: {took:?}");
    wait_until("it is looked for the hosts", || search().0 == 200);
}

#[test]
fn check_of_hanging_host_ends() {
    // What is behind it does not matter.
    let gates = [Gate::new(1)];
    gates[0].set(|_| Act::Hang);
    let folder = folder(&gates, "check", "");
    let began = Instant::now();
    let ran = folder.run(&["check", "--online"]);
    let took = began.elapsed();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_has(&ran.err, &["no answer from http://127.0.0.1:"]);
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn lost_answers_lose_and_double_nothing() {
    let Some(engine) = Engine::start("lost_answers_lose_and_double_nothing", 1) else {
        return;
    };
    for hosts in [1, 2] {
        let gates: Vec<Gate> = (0..hosts).map(|_| Gate::new(engine.port(0))).collect();
        let folder = folder(&gates, &format!("lost{hosts}"), "");
        let mut number = 0;
        for (method, part) in [
            ("PUT", "-state"),
            ("PUT", "-state/_doc/state"),
            ("PUT", "-1"),
            ("POST", "/_bulk"),
            ("POST", "/_refresh"),
            ("POST", "/_search"),
            ("GET", "-state/_doc/state"),
        ] {
            for lost in 0..hosts {
                let asked = AtomicUsize::new(0);
                gates[0].set(move |request| {
                    let path = request.path.split('?').next().unwrap_or_default();
                    let fits = request.method == method && path.ends_with(part);
                    if fits && asked.fetch_add(1, Ordering::Relaxed) == lost {
                        Act::Lose
                    } else {
                        Act::Pass
                    }
                });
                number += 1;
                let url = format!("https://a.example/{number}");
                let document = imported(&url, "日报", "储气库注采");
                let ran = fed(&mut folder.taojin(&["import", "-"]), [document]);
                ran.good();
                assert_eq!(
                    folder.total("储气库"),
                    number,
                    "{hosts}: {method} {part}, {lost}"
                );
            }
        }
    }
}
