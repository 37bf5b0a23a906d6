//! What a person reads who made a mistake: one clear line, exit code 2.

use std::fs;
use std::net::TcpListener;

use serde_json::Value;

use super::{Place, SITE, imported, text};

#[test]
fn mistakes_in_files_are_one_line_and_exit_2() {
    for (config, site, parts) in [
        (
            "[frontier]\nmin_dealy_ms = 3\n",
            SITE,
            vec![
                "taojin.toml line 3:",
                "min_dealy_ms",
                "did you mean `min_delay_ms`",
            ],
        ),
        (
            "",
            "seds = []\n",
            vec!["x.toml line 1:", "seds", "did you mean `seeds`"],
        ),
        (
            "",
            "seeds = [\"http://a.example/\"]\nschedule = \"61 * * * *\"\n",
            vec!["x.toml", "61"],
        ),
        (
            "",
            "seeds = [\"http://a.example/\"]\nschedule = \"often\"\n",
            vec!["x.toml", "often"],
        ),
        (
            "",
            "seeds = [\"http://a.example/\"]\ntime_zone = \"Mars/Olympus\"\n",
            vec!["x.toml", "Mars/Olympus"],
        ),
        (
            "",
            "seeds = [\"ftp://a.example/\"]\n",
            vec!["x.toml", "seeds", "ftp"],
        ),
        (
            "",
            "seeds = [\"not a url\"]\n",
            vec!["x.toml", "seeds", "not a url"],
        ),
        (
            "",
            "name = \"a/b\"\nseeds = [\"http://a.example/\"]\n",
            vec!["x.toml", "name", "a/b"],
        ),
        (
            "[analyze]\nlexicons = [\"oil-gaz\"]\n",
            SITE,
            vec!["lexicons", "oil-gaz"],
        ),
        (
            "[analyze]\nlexicons = [\"missing.txt\"]\n",
            SITE,
            vec!["missing.txt"],
        ),
    ] {
        let place = Place::new(config, &[("x.toml", site)]);
        let line = place.refused(&["check"]);
        for part in parts {
            assert!(line.contains(part), "{line:?} should contain {part:?}");
        }
    }
}

#[test]
fn check_names_every_mistake_and_run_and_crawl_refuse_them_too() {
    let place = Place::new(
        "[frontier]\njitter = 3\n[fetch]\nuser_agent = \"\"\n",
        &[
            (
                "x.toml",
                "seeds = [\"http://a.example/\"]\n[scope]\ninclude = [\"~(\"]\n",
            ),
            (
                "y.toml",
                "seeds = [\"http://b.example/\"]\n[scope]\nhosts = [\"c.example\"]\n",
            ),
        ],
    );
    let wanted = [
        "jitter = 3",
        "user_agent = \"\"",
        "\"~(\"",
        "b.example is not one of",
    ];
    let output = place.run(&["check"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.lines().count(), wanted.len(), "{said}");
    assert!(wanted.iter().all(|part| said.contains(part)), "{said}");
    let output = place.run(&["check", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let answer: Value = serde_json::from_str(&text(&output)).expect("JSON");
    assert_eq!(
        answer["problems"].as_array().map(Vec::len),
        Some(wanted.len())
    );
    for command in ["run", "crawl", "serve"] {
        let line = place.refused(&[command]);
        assert!(
            line.contains("jitter = 3") && line.contains("and 3 more"),
            "{line}"
        );
    }
}

#[test]
fn a_data_folder_that_cannot_be_made_is_a_mistake() {
    let place = Place::new("", &[("x.toml", SITE)]);
    let file = place.path().join("taojin.toml");
    for (dir, why) in [
        (file.clone(), "it is no folder"),
        (file.join("data"), "its parent is no folder"),
        ("/proc/taojin".into(), "it cannot be made in /proc"),
    ] {
        let dir = dir.to_str().expect("UTF-8");
        for command in ["check", "run", "crawl"] {
            let line = place.refused(&["--data-dir", dir, command]);
            let told = format!("data_dir = \"{dir}\": {why}");
            assert!(line.contains(&told), "{line} should contain {told}");
        }
    }
    assert!(place.run(&["check"]).status.success());
    assert!(!place.path().join("data").exists(), "check makes nothing");
}

#[test]
fn mistakes_in_arguments_are_one_line_and_exit_2() {
    let place = Place::new("", &[("x.toml", SITE)]);
    for (args, part) in [
        (vec!["crawl", "--site", "y"], "no enabled site"),
        (vec!["site", "add", "ftp://a.example/"], "ftp"),
        (vec!["site", "add", "nonsense", "--no-probe"], "nonsense"),
        (
            vec!["site", "add", "http://a.example/", "--no-probe"],
            "seed of site x",
        ),
        (vec!["site", "add", "http://192.168.1.1/"], "192.168.1.1"),
        (vec!["site", "remove", "z"], "no site"),
        (vec!["extract", "no-such-file.html"], "no such file"),
        (vec!["import", "no-such-file.jsonl"], "no-such-file"),
        (vec!["robots", "no-such-file", "--url", "/"], "no-such-file"),
        (vec!["why", "http://a.example/"], "no crawl data"),
        (vec!["search", "x"], "no search index"),
        (vec!["serve"], "no search index"),
        (vec!["status"], "data"),
        (vec!["demo", "--once"], "takes no configuration"),
    ] {
        let output = place.run(&args);
        let line = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {line}");
        assert!(
            line.contains(part),
            "{args:?}: {line:?} should contain {part:?}"
        );
    }
}

#[test]
fn a_query_that_cannot_be_meant_is_refused() {
    let place = imported();
    for args in [
        ["search", "x", "--since", "someday"],
        ["search", "x", "--limit", "0"],
    ] {
        let line = place.refused(&args);
        assert!(
            line.contains("someday") || line.contains("--limit"),
            "{line}"
        );
    }
}

#[test]
fn a_port_in_use_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("its address").to_string();
    let place = Place::new(
        &format!("[serve]\nlisten = \"{address}\"\n"),
        &[("x.toml", SITE)],
    );
    // systemd tries the service again unless it ends with 2; the port may be free by then.
    let service = place.run(&["run"]);
    let said = String::from_utf8_lossy(&service.stderr).into_owned();
    assert_eq!(service.status.code(), Some(1), "{said}");
    assert!(said.contains(&address) && said.contains("in use"), "{said}");
}

#[test]
fn a_port_in_use_that_was_asked_for_is_named_by_its_option() {
    let place = imported();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("its address").to_string();
    let line = place.refused(&["serve", "--listen", &address]);
    assert!(
        line.contains(&format!("--listen {address}: in use")),
        "{line}"
    );
}

#[test]
fn an_index_that_cannot_be_read_is_put_aside_and_made_anew() {
    let place = Place::new("", &[("x.toml", SITE)]);
    let index = place.path().join("data/index");
    fs::create_dir_all(&index).expect("index folder");
    fs::write(index.join("meta.json"), "{ this is no index").expect("broken file");
    let line = place.refused(&["search", "x"]);
    assert!(line.contains("index"), "{line}");
    let mended = place.run(&["import", "-"]);
    assert!(mended.status.success(), "{mended:?}");
    let said = String::from_utf8_lossy(&mended.stderr).into_owned();
    assert!(said.contains("index.damaged"), "{said}");
    let aside = place.path().join("data/index.damaged/meta.json");
    assert_eq!(
        fs::read_to_string(aside).expect("still there"),
        "{ this is no index"
    );
    assert_ne!(place.run(&["search", "x"]).status.code(), Some(2));
}
