//! `taojin site add` asks a site what it has and writes a file that crawls it.

use std::fs;

use taojin::demo::World;

use crate::world::{Home, NOW_MS, Web};

#[test]
fn a_probed_site_file_names_what_the_site_has_and_crawls_it() {
    let web = Web::start(|port| World::generate_sized(3, NOW_MS, port, 60));
    let home = Home::new(
        &web,
        "min_delay_ms = 1\nmax_delay_ms = 1\nconnections_per_ip = 12",
    );
    let sites = home.path().join("sites.d");
    fs::remove_dir_all(&sites).expect("removed");
    let (name, seed) = {
        let world = web.server.world();
        (world.sites[0].name, world.sites[0].seeds[0].clone())
    };

    let added = home
        .taojin(&["site", "add", &seed, "--name", name])
        .output()
        .expect("taojin runs");
    assert!(
        added.status.success(),
        "{}",
        String::from_utf8_lossy(&added.stderr)
    );
    let text = fs::read_to_string(sites.join(format!("{name}.toml"))).expect("the file");
    assert!(text.contains(".xml\"]"), "its feed is named: {text}");
    let crawled = home
        .taojin(&["crawl", "--json"])
        .output()
        .expect("taojin runs");
    assert!(
        crawled.status.success(),
        "{}",
        String::from_utf8_lossy(&crawled.stderr)
    );
    let host = web.server.world().sites[0].authority.clone();
    let indexed = home.indexed();
    let wanted: Vec<String> = web
        .planted()
        .into_iter()
        .filter(|u| u.contains(&host))
        .collect();
    assert!(
        !wanted.is_empty() && wanted.iter().all(|u| indexed.contains_key(u)),
        "not all of {wanted:?}"
    );

    let gone = home
        .taojin(&[
            "site",
            "add",
            &format!("http://{host}/no-such-page"),
            "--name",
            "other",
        ])
        .output()
        .expect("taojin runs");
    assert!(!gone.status.success());
    assert!(
        !sites.join("other.toml").exists(),
        "nothing is written for a page that is not there"
    );
}
