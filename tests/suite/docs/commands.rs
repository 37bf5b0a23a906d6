//! The commands that documents show are run: each line that begins with `$ ` in a block of `console`, in its order, in a folder like
//! a clone, against a small site. A command that cannot run in a test is named in [`NOT_RUN`].
//!
//! What differs from a reader's machine: the address of the site, ports, and the system's directories; `sudo` goes away;
//! `systemctl` starts, reloads and stops the program in the folder; a program that serves goes on in the background; and `curl`
//! fails where the answer is a refusal.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use super::{code_blocks, documents, read};
use crate::support::clone::{CloneFolder, serve_files, subjects, write_site};
use crate::support::folder::{Process, RunExt as _};
use crate::support::http::{free_port, get};
use crate::support::{ROOT, say, wait_until};

/// How a command begins that is not run, and why, or what runs it.
const NOT_RUN: &[(&str, &str)] = &[
    ("apt install", "packaging/test-life installs the package"),
    ("cargo build", "the suite is built so"),
    (
        "cargo run -- demo",
        "tests/suite/demo/commands.rs runs the demo",
    ),
    ("cargo test", "this runs in it"),
    ("install", "writes to the system's directories"),
    ("journalctl", "needs systemd"),
    ("pip install", "packaging/test-wheel installs the wheel"),
    ("podman", "needs containers"),
    ("python3 -c", "needs the wheel: packaging/python/tests"),
    (
        "taojin cluster",
        "needs PostgreSQL: tests/suite/nodes/cluster.rs",
    ),
    ("tee", "writes to the system's directories"),
    (
        "useradd",
        "needs a system to change: packaging/debian/postinst",
    ),
];
/// Programs that a machine may lack.
const OPTIONAL: [&str; 3] = ["curl", "jq", "openssl"];
/// Commands of the program that go on until they are stopped.
const LASTING: [&str; 2] = ["serve", "run"];

/// What a reader has done before a command of a document.
struct Preparation {
    document: &'static str,
    /// How the command begins.
    command: &'static str,
    prepare: fn(&Session),
}

const PREPARATIONS: &[Preparation] = &[Preparation {
    document: "docs/evaluation.md",
    command: "taojin eval my-pages --learn",
    prepare: Session::label_sets,
}];

/// The commands of a document. A line that ends in `\`, or whose next begins with `> `, goes on there.
fn console_commands(markdown: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let blocks = code_blocks(markdown).into_iter();
    for block in blocks.filter(|block| block.language == "console") {
        let mut is_open = false;
        for line in block.text.lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                commands.push(command.to_owned());
            } else if let Some(command) = commands.last_mut()
                && (is_open || line.starts_with("> "))
            {
                *command += "\n";
                *command += line.strip_prefix("> ").unwrap_or(line);
            } else {
                continue;
            }
            is_open = line.ends_with('\\');
        }
    }
    commands
}

/// The words of a command, with operators such as `&&` as words of their own; comments and quotes are gone.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote): (Vec<String>, Option<String>, Option<char>) =
        (Vec::new(), None, None);
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, '\\') => {
                if let Some(next) = chars.next().filter(|next| *next != '\n') {
                    word.get_or_insert_default().push(next);
                }
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '&' | '|' | ';') => {
                words.extend(word.take());
                let double = chars.next_if_eq(&c);
                words.push([Some(c), double].into_iter().flatten().collect());
            }
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The parts of a command between operators, without `sudo` and without variables before them.
fn parts(command: &str) -> Vec<Vec<String>> {
    let words = words(command);
    let parts = words.split(|word| matches!(word.as_str(), "&&" | "||" | "|" | ";" | "&"));
    let bare = parts.map(|part| {
        let is_before =
            |word: &&String| *word == "sudo" || word.contains('=') && !word.starts_with('-');
        part.iter().skip_while(is_before).cloned().collect()
    });
    bare.filter(|part: &Vec<String>| !part.is_empty()).collect()
}

/// Splits a line at `&&`, so that each side is run or not by itself.
fn steps(command: &str) -> Vec<&str> {
    let has_quotes = command.contains(['\'', '"']);
    if has_quotes || command.contains('\n') {
        vec![command]
    } else {
        command.split("&&").map(str::trim).collect()
    }
}

/// The entry of [`NOT_RUN`] for a command, if it has a part that is not run.
fn not_run(command: &str) -> Option<&'static str> {
    let parts: Vec<String> = parts(command).iter().map(|part| part.join(" ")).collect();
    let entries = NOT_RUN.iter().map(|(start, _)| *start);
    let mut entries = entries.filter(|start| {
        let begins = |part: &String| {
            let rest = part.strip_prefix(start);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        parts.iter().any(begins)
    });
    entries.next()
}

/// The command of the program in a step, without options before it.
fn subcommand(part: &[String]) -> Option<&str> {
    let (program, rest) = part.split_first()?;
    let mut rest = rest.iter().map(String::as_str);
    if program != "taojin" {
        return None;
    }
    while let Some(word) = rest.next() {
        match word {
            "--config" | "--data-dir" => _ = rest.next(),
            word if word.starts_with('-') => {}
            word => return Some(word),
        }
    }
    None
}

/// A reader who goes through a document.
struct Session {
    clone: CloneFolder,
    /// The port of the site that the documents call news.example.com.
    site: u16,
    /// The port of the search.
    port: u16,
    daemon: Option<Process>,
    /// Started by a command that goes on.
    lasting: Vec<(String, Process)>,
    /// What later commands of the same shell depend on.
    prelude: String,
    pages: tempfile::TempDir,
}

impl Session {
    /// A folder with the shipped configuration, one site that was crawled, and the files that documents read.
    fn new(is_crawled: bool) -> Self {
        let pages = tempfile::tempdir().expect("temporary directory");
        write_site(pages.path(), &subjects());
        let session = Self {
            clone: CloneFolder::new(),
            site: serve_files(pages.path()),
            port: free_port(),
            daemon: None,
            lasting: Vec::new(),
            prelude: String::new(),
            pages,
        };
        session.write_files();
        if is_crawled {
            let add = "taojin site add https://news.example.com/ && taojin crawl";
            session.shell(add).ran().good();
        }
        session
    }

    fn write_files(&self) {
        let top = self.clone.path();
        for folder in ["tests", "etc/taojin", "backups"] {
            fs::create_dir_all(top.join(folder)).expect("made");
        }
        let repository = Path::new(ROOT).canonicalize().expect("the repository");
        let link = std::os::unix::fs::symlink::<_, &Path>;
        link(repository.join("tests/pages"), &top.join("tests/pages")).expect("linked");
        fs::copy(
            repository.join("tests/pages/headline-in-title.html"),
            top.join("page.html"),
        )
        .ok();
        // Whoever runs the tests, the configuration is the clone's and never the system's.
        let program = format!(
            "#!/bin/sh\nexec '{}' --config '{}' \"$@\"\n",
            env!("CARGO_BIN_EXE_taojin"),
            top.join("config/taojin.toml").display()
        );
        let path = top.join("target/release/taojin");
        fs::remove_file(&path).expect("the program itself");
        fs::write(&path, program).expect("written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&path, mode).expect("executable");
    }

    /// Several sets of labelled pages, each of several sites, as `my-pages` and as `other-pages`.
    fn label_sets(&self) {
        let top = self.clone.path();
        let extract = format!(
            "taojin extract --json '{}'/news",
            self.pages.path().display()
        );
        let documents = self.shell(&extract).ran().good().lines();
        fs::remove_dir_all(top.join("my-pages")).expect("the reader's own pages");
        for (number, document) in documents.iter().enumerate() {
            let set = ["my-pages/one", "my-pages/two", "other-pages/three"][number % 3];
            let folder = top.join(set);
            fs::create_dir_all(folder.join("html")).expect("made");
            let page = document["input"].as_str().expect("a file");
            let copy = folder.join(format!("html/{number}.html"));
            fs::copy(page, copy).expect("copied");
            let gold = serde_json::json!({
                "id": number.to_string(),
                "url": format!("https://site{number}.example/"),
                "title": document["title"],
                "text": document["text"],
                "page_type": "article",
            });
            let mut lines = fs::read_to_string(folder.join("gold.jsonl")).unwrap_or_default();
            lines += &format!("{gold}\n");
            fs::write(folder.join("gold.jsonl"), lines).expect("written");
        }
    }

    /// A command as it is run here.
    fn adapted(&self, command: &str) -> String {
        let top = self.clone.path().to_str().expect("UTF-8");
        let site = format!("127.0.0.1:{}", self.site);
        command
            .replace("sudo ", "")
            .replace("curl ", "curl --fail ")
            .replace("https://news.example.com", &format!("http://{site}"))
            .replace("news.example.com", &site)
            .replace("127.0.0.1:8080", &format!("127.0.0.1:{}", self.port))
            .replace("/etc/taojin", &format!("{top}/etc/taojin"))
            .replace("/var/backups", &format!("{top}/backups"))
            .replace("/var/lib/taojin", &format!("{top}/data"))
    }

    fn shell(&self, command: &str) -> Command {
        let top = self.clone.path();
        let path = std::env::var("PATH").unwrap_or_default();
        let lines = format!("{}{}", self.prelude, self.adapted(command));
        let mut shell = self.clone.shell_command(&lines);
        shell
            .env(
                "PATH",
                format!("{}:{path}", top.join("target/release").display()),
            )
            .env("LC_ALL", "C.UTF-8")
            .env("TAOJIN_DATA_DIR", top.join("data"))
            .env("TAOJIN_FETCH_ALLOW_ADDRESSES", "[\"127.0.0.0/8\"]")
            .env("TAOJIN_FRONTIER_MIN_DELAY_MS", "1")
            .env("TAOJIN_CRAWL_MIN_FREE_BYTES", "0")
            .env("TAOJIN_SERVE_LISTEN", format!("127.0.0.1:{}", self.port))
            .stdin(Stdio::null());
        shell
    }

    fn wait_for_search(&self) {
        wait_until("the search answers", || {
            get(self.port, "/healthz").is_some()
        });
    }

    fn start_daemon(&mut self) {
        if self.daemon.is_none() {
            self.daemon = Some(self.shell("exec taojin run").started());
            self.wait_for_search();
        }
    }

    fn stop_daemon(&mut self) -> Result<(), String> {
        match self.daemon.take().map(Process::stop) {
            None | Some(Some(0)) => Ok(()),
            Some(code) => Err(format!("the daemon ended with {code:?}")),
        }
    }

    /// What the system's manager would do with the service.
    fn control_service(&mut self, args: &[String]) -> Result<(), String> {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        self.end_lasting()?;
        match args.as_slice() {
            ["daemon-reload"] | ["edit" | "status", "taojin"] => Ok(()),
            ["start", "taojin"] | ["enable", "--now", "taojin"] => {
                self.start_daemon();
                Ok(())
            }
            ["stop", "taojin"] => self.stop_daemon(),
            ["restart", "taojin"] => {
                self.stop_daemon()?;
                self.start_daemon();
                Ok(())
            }
            ["reload", "taojin"] => {
                self.start_daemon();
                self.run_to_end("taojin check")?;
                if let Some(daemon) = &self.daemon {
                    daemon.signal("-HUP");
                }
                Ok(())
            }
            args => Err(format!("systemctl {args:?} is unknown here")),
        }
    }

    /// Ends what was started and should still be running.
    fn end_lasting(&mut self) -> Result<(), String> {
        for (command, mut process) in std::mem::take(&mut self.lasting) {
            if let Some(ended) = process.ended() {
                return Err(format!("{command}: ended with {ended}"));
            }
        }
        Ok(())
    }

    fn run_to_end(&self, step: &str) -> Result<(), String> {
        let ran = self.shell(step).ran();
        match ran.code {
            Some(0) => Ok(()),
            code => Err(format!("{step}: {code:?}\n{}{}", ran.out, ran.err)),
        }
    }

    /// Runs one step; what failed.
    fn run(&mut self, step: &str) -> Result<(), String> {
        let parts = parts(step);
        for part in &parts {
            let program = part.first().map_or("", String::as_str);
            if OPTIONAL.contains(&program) && !has_program(program) {
                say(&format!("not run, for there is no {program}: {step}"));
                return Ok(());
            }
        }
        let first = parts.first().map(Vec::as_slice).unwrap_or_default();
        if let [program, args @ ..] = first
            && program == "systemctl"
        {
            return self.control_service(args);
        }
        if first.first().is_some_and(|p| p == "export" || p == "cd") {
            self.prelude += step;
            self.prelude += "\n";
            return Ok(());
        }
        let subcommand = subcommand(first);
        if subcommand == Some("init") {
            // That is on a machine with a package only, and no longer in the clone.
            self.stop_daemon()?;
            for folder in ["config", "data"].map(|name| self.clone.path().join(name)) {
                if folder.exists() {
                    fs::remove_dir_all(folder).expect("removed");
                }
            }
        }
        let is_following = first.iter().any(|word| word == "--follow");
        if is_following || subcommand.is_some_and(|name| LASTING.contains(&name)) {
            let process = self.shell(&format!("exec {step}")).started();
            self.lasting.push((step.to_owned(), process));
            if !is_following {
                self.wait_for_search();
            }
            return Ok(());
        }
        if step.contains("127.0.0.1:8080") && get(self.port, "/healthz").is_none() {
            self.start_daemon();
        }
        self.run_to_end(step)
    }
}

fn has_program(name: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {name}")])
        .ran();
    found.code == Some(0)
}

/// Runs a document's commands; what failed, and which entries of [`NOT_RUN`] were met.
fn follow(document: &str) -> (Vec<String>, BTreeSet<&'static str>) {
    let (mut failed, mut met) = (Vec::new(), BTreeSet::new());
    let commands = console_commands(&read(document));
    let steps: Vec<&str> = commands.iter().flat_map(|command| steps(command)).collect();
    let (left_out, runnable): (Vec<_>, Vec<_>) =
        steps.into_iter().partition(|step| not_run(step).is_some());
    met.extend(left_out.into_iter().filter_map(not_run));
    if runnable.is_empty() {
        return (failed, met);
    }
    // Who is told to add a site has none yet.
    let adds_site = runnable.iter().any(|step| step.contains(" site add "));
    let mut session = Session::new(!adds_site);
    for step in runnable {
        for preparation in PREPARATIONS {
            if preparation.document == document && step.starts_with(preparation.command) {
                (preparation.prepare)(&session);
            }
        }
        if let Err(error) = session.run(step) {
            failed.push(format!("{document}: {error}"));
        }
    }
    let ended = session.end_lasting().and_then(|()| session.stop_daemon());
    failed.extend(ended.err().map(|error| format!("{document}: {error}")));
    (failed, met)
}

#[test]
fn commands_of_documents_run() {
    let documents: Vec<String> = documents()
        .into_iter()
        .filter(|name| name.starts_with("README") || name.starts_with("docs/"))
        .collect();
    let bare = |document: &str| -> Vec<Vec<String>> {
        let commands = console_commands(&read(document));
        commands.iter().map(|command| words(command)).collect()
    };
    // A translation with the same commands is run as the original.
    let is_same = |document: &&String| {
        let original = document.replace(".zh-CN.md", ".md");
        original != **document && documents.contains(&original) && bare(&original) == bare(document)
    };
    let own: Vec<&String> = documents.iter().filter(|name| !is_same(name)).collect();
    let (mut failed, mut met) = (Vec::new(), BTreeSet::new());
    thread::scope(|scope| {
        let sessions: Vec<_> = own
            .iter()
            .map(|name| scope.spawn(|| follow(name)))
            .collect();
        for session in sessions {
            let (errors, entries) = session.join().expect("a session");
            failed.extend(errors);
            met.extend(entries);
        }
    });
    assert!(failed.is_empty(), "commands fail:\n{}", failed.join("\n"));
    for (start, _) in NOT_RUN {
        assert!(
            met.contains(start),
            "no document has `{start}`: remove it from the table"
        );
    }
}

#[test]
fn console_commands_are_taken_apart() {
    let sample = "```console\n$ taojin crawl   # now\noutput\n$ for f in *; do\n>   echo \"$f\" | jq .\n> done\n\
        $ curl \\\n  -s x\n```\n\n```text\n$ no command\n```\n\n1. List:\n\n   ```console\n   $ sudo taojin init && sudo systemctl start taojin\n   ```\n";
    let commands = console_commands(sample);
    let expected = [
        "taojin crawl   # now",
        "for f in *; do\n  echo \"$f\" | jq .\ndone",
        "curl \\\n  -s x",
        "sudo taojin init && sudo systemctl start taojin",
    ];
    assert_eq!(commands, expected);
    assert_eq!(words(expected[0]), ["taojin", "crawl"]);
    assert_eq!(
        words("a 'b c'\"d\" e\\ f|g #h"),
        ["a", "b cd", "e f", "|", "g"]
    );
    let split = steps(expected[3]);
    assert_eq!(split, ["sudo taojin init", "sudo systemctl start taojin"]);
    assert_eq!(
        parts("A=1 sudo taojin x --y=z | tee f"),
        [vec!["taojin", "x", "--y=z"], vec!["tee", "f"]]
    );
    for (command, entry) in [
        ("sudo apt install ./x.deb", Some("apt install")),
        ("taojin completions bash | sudo tee /etc/x", Some("tee")),
        ("apt-get install x", None),
        ("taojin cluster status", Some("taojin cluster")),
        ("taojin check # tee", None),
    ] {
        assert_eq!(not_run(command), entry, "{command}");
    }
    for (command, name) in [
        ("taojin --data-dir data serve", Some("serve")),
        ("taojin -v status", Some("status")),
        ("curl serve", None),
    ] {
        assert_eq!(subcommand(&words(command)), name, "{command}");
    }
}

#[test]
fn failing_command_is_reported() {
    let mut session = Session::new(false);
    for (step, is_good) in [
        ("taojin check", true),
        ("sudo taojin config --changed > changed.txt", true),
        ("taojin check --no-such-option", false),
        ("no-such-program", false),
        ("sudo systemctl dance taojin", false),
        ("cat < missing.html", false),
    ] {
        assert_eq!(session.run(step).is_ok(), is_good, "{step}");
    }
}
