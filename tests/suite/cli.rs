//! What a person reads who made a mistake: one clear line, exit code 2. And the outputs that programs depend on.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const SITE: &str = "seeds = [\"http://a.example/\"]\n";

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new(config: &str, sites: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().expect("temporary directory");
        fs::create_dir(dir.path().join("sites.d")).expect("sites.d");
        for (name, text) in sites {
            fs::write(dir.path().join("sites.d").join(name), text).expect("site file");
        }
        let data = dir.path().join("data");
        fs::write(
            dir.path().join("taojin.toml"),
            format!("data_dir = {data:?}\n{config}"),
        )
        .expect("taojin.toml");
        Self { dir }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
        command
            .arg("--config")
            .arg(self.path().join("taojin.toml"))
            .args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("taojin runs")
    }

    /// The one line of a refusal with exit code 2.
    fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let line = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {line}");
        assert_eq!(
            line.lines().count(),
            1,
            "{args:?}: more than one line: {line}"
        );
        assert!(output.stdout.is_empty(), "{args:?}: something on stdout");
        line
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

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
        "[frontier]\nshard = 3\n[fetch]\nuser_agent = \"\"\n",
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
        "shard = 3",
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
            line.contains("shard = 3") && line.contains("and 3 more"),
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
    let line = place.refused(&["run"]);
    assert!(line.contains(&address) && line.contains("in use"), "{line}");
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
fn an_index_of_something_else_is_not_touched() {
    let place = Place::new("", &[("x.toml", SITE)]);
    let index = place.path().join("data/index");
    fs::create_dir_all(&index).expect("index folder");
    fs::write(index.join("meta.json"), "{ this is no index").expect("broken file");
    for args in [["search", "x"], ["crawl", "--json"]] {
        let line = place.refused(&args);
        assert!(line.contains("index"), "{line}");
    }
    assert_eq!(
        fs::read_to_string(index.join("meta.json")).expect("still there"),
        "{ this is no index"
    );
}

/// A place with three documents in its index.
fn imported() -> Place {
    let place = Place::new("", &[("x.toml", SITE)]);
    let documents = [
        r#"{"url":"http://a.example/1","title":"页岩气开发提速","text":"川南页岩气水平井产量创新高。","kind":"article"}"#,
        r#"{"url":"http://a.example/2","title":"储气库注气","text":"储气库全部转入注气。","kind":"article","published":"2016-05-09"}"#,
        r#"{"url":"http://a.example/1","title":"页岩气开发再提速","text":"川南页岩气水平井产量再创新高。","kind":"article"}"#,
    ];
    let mut import = place
        .command(&["import", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("taojin starts");
    let mut stdin = import.stdin.take().expect("a pipe");
    stdin
        .write_all(documents.join("\n").as_bytes())
        .expect("written");
    drop(stdin);
    assert!(import.wait().expect("its end").success());
    place
}

#[test]
fn imported_documents_are_found_and_replaced_by_url() {
    let place = imported();
    let answer: Value =
        serde_json::from_str(&text(&place.run(&["search", "页岩气", "--json"]))).expect("JSON");
    assert_eq!(answer["total"], 1);
    assert_eq!(answer["hits"][0]["title"], "页岩气开发再提速");
    for key in [
        "id",
        "url",
        "title",
        "site",
        "published",
        "snippet",
        "score",
    ] {
        assert!(answer["hits"][0].get(key).is_some(), "no {key} in a hit");
    }
    let dated: Value = serde_json::from_str(&text(&place.run(&[
        "search",
        "储气库",
        "--until",
        "2016-04",
        "--json",
    ])))
    .expect("JSON");
    assert_eq!(dated["total"], 0);
}

#[test]
fn lines_that_are_no_documents_are_skipped_and_said() {
    let place = Place::new("", &[]);
    let file = place.path().join("d.jsonl");
    fs::write(&file, "{\"url\":\"http://a.example/1\",\"title\":\"好\",\"text\":\"好文章\"}\n\nno json\n{\"url\":\"\"}\n").expect("file");
    let output = place.run(&["import", file.to_str().expect("UTF-8"), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let counts: Value = serde_json::from_str(&text(&output)).expect("JSON");
    assert_eq!(
        (&counts["imported"], &counts["skipped"]),
        (&Value::from(1), &Value::from(2))
    );
}

#[test]
fn extract_prints_the_documented_keys() {
    let place = Place::new("", &[]);
    let page = place.path().join("p.html");
    fs::write(&page, "<html><title>标题在此一见 - 某网</title><h1>标题在此一见</h1><p>正文第一段，有逗号，也有句号。</p><p>正文第二段，也是这样的。</p>").expect("page");
    let page = page.to_str().expect("UTF-8");
    let output = place.run(&[
        "extract",
        page,
        page,
        "--url",
        "http://a.example/x.html",
        "--json",
    ]);
    assert!(output.status.success());
    let lines: Vec<Value> = text(&output)
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), 2);
    for key in [
        "url",
        "title",
        "published",
        "author",
        "text",
        "comments",
        "links",
        "kind",
        "method",
        "charset",
    ] {
        assert!(lines[0].get(key).is_some(), "no {key}");
    }
    assert_eq!(lines[0]["url"], "http://a.example/x.html");
}

#[test]
fn a_site_is_added_listed_and_removed() {
    let place = Place::new("", &[]);
    let added = place.run(&["site", "add", "https://www.news.example/", "--no-probe"]);
    assert!(
        added.status.success(),
        "{}",
        String::from_utf8_lossy(&added.stderr)
    );
    let file = place.path().join("sites.d/news.example.toml");
    let written = fs::read_to_string(&file).expect("the file");
    assert!(
        written.contains("# ") && written.contains("www.news.example"),
        "{written}"
    );
    assert!(place.run(&["check"]).status.success());
    let again = place.refused(&["site", "add", "https://www.news.example/", "--no-probe"]);
    assert!(again.contains("news.example"), "{again}");
    assert!(text(&place.run(&["site", "list"])).contains("news.example"));
    assert!(
        place
            .run(&["site", "remove", "news.example"])
            .status
            .success()
    );
    assert!(!file.exists());
}

#[test]
fn robots_names_the_rule_that_decided() {
    let place = Place::new("", &[]);
    let file = place.path().join("robots.txt");
    fs::write(
        &file,
        "User-agent: *\nDisallow: /private\nAllow: /private/open\n",
    )
    .expect("robots.txt");
    let file = file.to_str().expect("UTF-8");
    let output = place.run(&[
        "robots",
        file,
        "--agent",
        "taojin",
        "--url",
        "/private/x",
        "--url",
        "/private/open",
        "--url",
        "/",
    ]);
    assert!(output.status.success());
    let text = text(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("refused") && lines[0].contains("line 2"),
        "{}",
        lines[0]
    );
    assert!(
        lines[1].starts_with("allowed") && lines[1].contains("line 3"),
        "{}",
        lines[1]
    );
    assert!(lines[2].starts_with("allowed"), "{}", lines[2]);
}

#[test]
fn completions_exist_for_each_shell() {
    let place = Place::new("", &[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(
            text(&place.run(&["completions", shell])).contains("taojin"),
            "{shell}"
        );
    }
}
