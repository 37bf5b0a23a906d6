//! The configuration that is shipped, and what an operator reads who made a mistake in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use taojin::config::{self, Config};

use crate::support::ROOT;
use crate::support::folder::{Folder, RunExt as _, assert_has};

fn keys(prefix: &str, value: &toml::Value, into: &mut BTreeSet<String>) {
    let Some(table) = value.as_table() else {
        return;
    };
    for (name, value) in table {
        let key = if prefix.is_empty() {
            name.clone()
        } else {
            format!("{prefix}.{name}")
        };
        into.insert(key.clone());
        // What stands in these tables is the operator's own.
        if key != "fetch.hosts" {
            keys(&key, value, into);
        }
    }
}

/// Keys of a file, those in comments of the form `# key = value` and `# [[block]]` included.
fn keys_of_file(text: &str) -> BTreeSet<String> {
    let uncommented: String = text
        .lines()
        .map(|line| {
            let comment = line.strip_prefix("# ");
            let shown = comment.filter(|l| is_assignment(l) || l.starts_with("[["));
            format!("{}\n", shown.unwrap_or(line))
        })
        .collect();
    let table: toml::Table = uncommented.parse().expect("valid TOML");
    let mut found = BTreeSet::new();
    keys("", &table.into(), &mut found);
    found
}

fn is_assignment(line: &str) -> bool {
    line.split_once(" = ").is_some_and(|(key, _)| {
        !key.is_empty()
            && key
                .chars()
                .all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit())
    })
}

/// The settings that people change, and every setting there is.
const SHIPPED: [&str; 2] = ["config/taojin.toml", "config/reference.toml"];

#[test]
fn shipped_config_equals_defaults() {
    for file in SHIPPED {
        let path = Path::new(ROOT).join(file);
        let shipped = config::load(Some(&path), None).expect(file).config;
        let defaults = Config {
            sites_dir: shipped.sites_dir.clone(),
            ..Config::default()
        };
        assert!(shipped.sites_dir.ends_with("config/sites.d"), "{file}");
        assert_eq!(shipped, defaults, "a value of {file} is not the default");
    }
}

#[test]
fn config_reference_lists_every_key() {
    let shown = |file| {
        let path = Path::new(ROOT).join(file);
        keys_of_file(&fs::read_to_string(path).expect(file))
    };
    let [short, reference] = SHIPPED.map(shown);
    let defaults = toml::Value::try_from(Config::default()).expect("defaults serialize");
    let mut known = BTreeSet::new();
    keys("", &defaults, &mut known);
    let missing: Vec<_> = known
        .union(&short)
        .filter(|k| !reference.contains(*k))
        .collect();
    assert!(missing.is_empty(), "not in reference.toml: {missing:?}");
    let settings = short
        .iter()
        .filter(|key| key.contains('.') || *key == "data_dir");
    assert_eq!(settings.count(), 10);
}

#[test]
fn search_threads_reach_the_index() {
    let folder = Folder::new("[search]\nthreads = 3\n[index]\nthreads = 2\n", &[]);
    let index = config::load(Some(&folder.file("taojin.toml")), None)
        .expect("settings")
        .config
        .index;
    assert_eq!((index.parallelism.threads, index.threads), (3, 2));
}

/// Texts of a file with one mistake each, and what is said of it in English and in Chinese, by `tests/config-mistakes.json`.
fn mistakes(file: &str) -> Vec<(String, String, String)> {
    let json = include_str!("../../config-mistakes.json");
    let mut files: BTreeMap<String, _> = serde_json::from_str(json).expect("mistakes");
    files.remove(file).expect("mistakes of this file")
}

#[test]
fn config_mistake_names_line() {
    for (text, wanted, _) in &mistakes("taojin.toml") {
        let folder = Folder::new("", &[]);
        folder.write("taojin.toml", text);
        let loaded = config::load(Some(&folder.file("taojin.toml")), None);
        let error = loaded.expect_err("must be refused").to_string();
        assert!(!error.contains('\n'), "more than one line: {error}");
        assert_has(&error, &[wanted]);
    }
}

#[test]
fn config_mistake_in_chinese() {
    for file in ["taojin.toml", "x.toml"] {
        for (text, _, wanted) in &mistakes(file) {
            let folder = Folder::new("", &[]);
            folder.write(
                if file == "x.toml" {
                    "sites.d/x.toml"
                } else {
                    file
                },
                text,
            );
            let mut command = folder.taojin(&["check"]);
            let said = command.env("LC_ALL", "zh_CN.UTF-8").ran().failed(2).err;
            assert_eq!(said.lines().count(), 1, "{said}");
            assert_has(&said, &[wanted]);
        }
    }
}

#[test]
fn config_names_all_mistakes() {
    let folder = Folder::new(
        "",
        &[
            (
                "a.toml",
                "seeds = [\"http://a.example/\"]\nschedule = \"often\"\nqueues = 99\n",
            ),
            ("b.toml", "seeds = 3\ndelay_ms = \"slow\"\n"),
        ],
    );
    let text = "[crawl]\nmax_connections = \"many\"\narticle_pages = -1\n[frontier]\njiter = 2\njitter = 2.0\nqueue_hash = \"md5\"\n\
                [[follow]]\nnme = \"x\"\nname = \"x\"\nquery = \"油\"\n";
    folder.write("taojin.toml", text);
    let (_, problems) = config::read(Some(&folder.file("taojin.toml")), None);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let parts = [
        "taojin.toml line 2: crawl.max_connections = \"many\"",
        "taojin.toml line 3: crawl.article_pages = -1: write a whole number: use a number from 1 to 1000, for example 20",
        "taojin.toml line 5: unknown key `jiter`; did you mean `jitter`?",
        "taojin.toml line 6: frontier.jitter = 2: use a number from 0 to 1, for example 0.1",
        "taojin.toml line 7: frontier.queue_hash = \"md5\"",
        "taojin.toml line 9: unknown key `nme`; did you mean `name`?",
        "a.toml line 2: schedule = \"often\": has 1 fields",
        "a.toml line 3: queues = 99: use a number from 1 to 64",
        "b.toml line 1: seeds = 3: write a list in [brackets], for example [\"https://www.example.com/\"]",
        "b.toml line 2: delay_ms = \"slow\": write a whole number",
    ];
    assert_has(&told.join("\n"), &parts);
}

/// A key of before is a warning, in the file and in the environment, and has no other effect.
#[test]
fn dropped_key_warns() {
    let folder = Folder::new("", &[("a.toml", "seeds = [\"http://a.example/\"]\n")]);
    folder.write(
        "taojin.toml",
        "[crawl]\nstop_grace_ms = \"6s\"\nmax_connections = 3\n",
    );
    let (loaded, problems) = config::read(Some(&folder.file("taojin.toml")), None);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(loaded.config.crawl.max_connections, 3);
    let mut check = folder.taojin(&["check", "--json"]);
    let answer = check
        .env("TAOJIN_CRAWL_STOP_GRACE_MS", "1")
        .ran()
        .good()
        .json();
    let warnings = answer["warnings"].to_string();
    assert_has(
        &warnings,
        &[
            "taojin.toml line 2: crawl.stop_grace_ms is not read any more, requests under way get four seconds",
            "TAOJIN_CRAWL_STOP_GRACE_MS in the environment: crawl.stop_grace_ms is not read any more",
        ],
    );
}

#[test]
fn site_file_refuses_uncrawlable() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let path = dir.path().join("x.toml");
    for (text, wanted, _) in &mistakes("x.toml") {
        fs::write(&path, text).expect("file written");
        let (site, problems) = config::read_site(&path);
        assert!(site.is_none(), "{text}");
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_has(&problems[0].to_string(), &[wanted]);
    }
    // A Chinese host is the same in both of its forms.
    let text = "seeds = [\"http://中文.com/\"]\n[scope]\nhosts = [\"中文.com\"]\n";
    fs::write(&path, text).expect("file written");
    assert_eq!(config::read_site(&path).1, []);
}

#[test]
fn site_files_refuse_duplicate_name() {
    let site = "name = \"n\"\nseeds = [\"http://a.example/\"]\n";
    let folder = Folder::new("", &[("a.toml", site), ("b.toml", site)]);
    let (_, problems) = config::read_sites(&folder.file("sites.d"));
    assert_has(&problems[0].to_string(), &["b.toml", "rename"]);
}

#[test]
fn check_warns_of_proxy_without_client_header() {
    let folder = Folder::new("", &[]);
    let public_url = "public_url = \"https://search.example.org/\"\n";
    let header = "client_header = \"x-forwarded-for\"\n";
    let elsewhere = "listen = \"192.0.2.1:8080\"\n";
    let bare = folder.read("taojin.toml");
    for (serve, is_warned, case) in [
        (public_url.to_owned(), true, "no header"),
        (String::new(), false, "no proxy"),
        (format!("{public_url}{header}"), false, "a header"),
        (
            format!("{public_url}{elsewhere}"),
            false,
            "no proxy on this machine",
        ),
    ] {
        folder.write("taojin.toml", format!("{bare}[serve]\n{serve}"));
        let checked = folder.json(&["check", "--json"]);
        let warnings = checked["warnings"].as_array().expect("warnings").iter();
        let mut found =
            warnings.filter(|w| w.as_str().is_some_and(|w| w.contains("client_header")));
        assert_eq!(found.next().is_some(), is_warned, "{case}: {checked}");
    }
    folder.write("taojin.toml", format!("{bare}[serve]\n{public_url}"));
    let mut chinese = folder.taojin(&["check"]);
    let chinese = chinese.env("LC_ALL", "zh_CN.UTF-8").ran().good().out;
    assert_has(&chinese, &["代理后面的读者都算作本机"]);
}
