//! The configuration that is shipped, and what an operator reads who made a mistake in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use taojin::config::{self, Config};

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
            match line
                .strip_prefix("# ")
                .filter(|l| is_assignment(l) || l.starts_with("[["))
            {
                Some(assignment) => format!("{assignment}\n"),
                None => format!("{line}\n"),
            }
        })
        .collect();
    let mut found = BTreeSet::new();
    keys(
        "",
        &uncommented
            .parse::<toml::Table>()
            .expect("valid TOML")
            .into(),
        &mut found,
    );
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

#[test]
fn the_shipped_configuration_is_the_defaults() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/taojin.toml");
    let text = fs::read_to_string(path).expect("config/taojin.toml");
    let shipped: Config = toml::from_str(&text).expect("config/taojin.toml parses");
    assert_eq!(
        shipped,
        Config::default(),
        "a value of config/taojin.toml is not the default"
    );
}

#[test]
fn the_shipped_configuration_shows_every_key() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/taojin.toml");
    let shown = keys_of_file(&fs::read_to_string(path).expect("config/taojin.toml"));
    let mut known = BTreeSet::new();
    keys(
        "",
        &toml::Value::try_from(Config::default()).expect("defaults serialize"),
        &mut known,
    );
    let missing: Vec<_> = known.difference(&shown).collect();
    assert!(missing.is_empty(), "not in config/taojin.toml: {missing:?}");
}

fn error_of(text: &str) -> String {
    let dir = tempfile::tempdir().expect("temporary directory");
    let path = dir.path().join("taojin.toml");
    fs::write(&path, text).expect("file written");
    config::load(Some(&path), None)
        .expect_err("must be refused")
        .to_string()
}

#[test]
fn a_mistake_is_named_with_its_line_and_mend() {
    for (text, parts) in [
        (
            "data_dri = \"x\"\n",
            vec![
                "taojin.toml:1:",
                "unknown key `data_dri`",
                "did you mean `data_dir`?",
            ],
        ),
        (
            "\n[crawl]\nmax_conections = 3\n",
            vec!["taojin.toml:3:", "did you mean `max_connections`?"],
        ),
        (
            "[crawl]\nmax_connections = \"many\"\n",
            vec!["taojin.toml:2:", "invalid type"],
        ),
        (
            "[crawl]\nmax_connections = 0\n",
            vec!["crawl.max_connections = 0", "use 1 or more"],
        ),
        (
            "[nonsense]\n",
            vec!["taojin.toml:1:", "unknown key `nonsense`", "known here:"],
        ),
        ("data_dir = \n", vec!["taojin.toml:1:"]),
    ] {
        let error = error_of(text);
        assert!(!error.contains('\n'), "more than one line: {error}");
        for part in parts {
            assert!(error.contains(part), "{error:?} should contain {part:?}");
        }
    }
}

#[test]
fn two_sites_cannot_have_one_name() {
    let dir = tempfile::tempdir().expect("temporary directory");
    for file in ["a.toml", "b.toml"] {
        fs::write(
            dir.path().join(file),
            "name = \"n\"\nseeds = [\"http://a.example/\"]\n",
        )
        .expect("file written");
    }
    let error = config::read_sites(dir.path())
        .expect_err("must be refused")
        .to_string();
    assert!(
        error.contains("b.toml") && error.contains("rename"),
        "{error}"
    );
}
