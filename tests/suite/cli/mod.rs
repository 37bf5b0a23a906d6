//! The commands as a person and as programs meet them: the program with a configuration of its own.

mod config;
mod group;
mod mistakes;
mod outputs;
mod setup;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SITE: &str = "seeds = [\"http://a.example/\"]\n";

pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new(config: &str, sites: &[(&str, &str)]) -> Self {
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

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
        command
            .arg("--config")
            .arg(self.path().join("taojin.toml"))
            .args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("taojin runs")
    }

    /// The one line of a refusal with exit code 2.
    pub(crate) fn refused(&self, args: &[&str]) -> String {
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
