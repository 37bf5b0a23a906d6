//! A pass of `taojin crawl` with the configuration as it is shipped, against sites of one host: it lasts until nothing is
//! left to do, says how each site fared, and fails when a site gave nothing.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::small_web::{Reply, SmallWeb, article};

/// What a site answers to a path.
type Answer = dyn Fn(&str) -> Reply + Send + Sync;

/// A server of one host; ends with the test's process.
pub(crate) fn serve(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("its address").port();
    let answer: Arc<Answer> = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || talk(stream, &*answer));
        }
    });
    port
}

/// As a plain file server does: no validators, one connection for several requests.
fn talk(stream: TcpStream, answer: &Answer) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let mut line = String::new();
        while reader.read_line(&mut line).unwrap_or(0) > 0 && !line.trim().is_empty() {
            line.clear();
        }
        let reply = answer(first.split(' ').nth(1).unwrap_or("/"));
        let text = format!(
            "HTTP/1.1 {} X\r\nContent-Type: text/html; charset=utf-8\r\n{}Content-Length: {}\r\n\r\n{}",
            reply.status,
            reply.headers,
            reply.body.len(),
            reply.body
        );
        if reader.get_mut().write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

/// A front page with links to `/1.html` … and these articles; anything else is 404.
pub(crate) fn news(count: usize) -> impl Fn(&str) -> Reply + Send + Sync {
    move |path| {
        if path == "/" {
            let links: String = (1..=count)
                .map(|n| format!("<li><a href=\"/{n}.html\">第{n}口井的钻探记录</a></li>"))
                .collect();
            return Reply::page(&format!("<title>新闻</title><ul>{links}</ul>"));
        }
        let number = path
            .strip_prefix('/')
            .and_then(|p| p.strip_suffix(".html"))
            .and_then(|n| n.parse::<usize>().ok())
            .filter(|n| (1..=count).contains(n));
        match number {
            Some(n) => Reply::page(&article(&format!("第{n}口井的钻探记录"), "")),
            None => Reply::status(404),
        }
    }
}

/// A folder with the shipped configuration: only its folders are set, and that loopback may be fetched.
pub(crate) struct Folder {
    dir: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("temporary directory");
        let shipped = Path::new(crate::support::ROOT).join("config/reference.toml");
        let mut text = fs::read_to_string(shipped).expect("the shipped configuration");
        let data = format!("data_dir = {:?}", dir.path().join("data"));
        for (as_shipped, here) in [
            ("data_dir = \"/var/lib/taojin\"", data.as_str()),
            (
                "allow_addresses = []",
                "allow_addresses = [\"127.0.0.0/8\"]",
            ),
            // The disk of who tests is not what is tested.
            ("min_free_bytes = \"2 GiB\"", "min_free_bytes = 0"),
            ("min_free_percent = 5", "min_free_percent = 0"),
        ] {
            assert_eq!(text.matches(as_shipped).count(), 1, "{as_shipped}");
            text = text.replace(as_shipped, here);
        }
        fs::create_dir(dir.path().join("sites.d")).expect("sites.d");
        fs::write(dir.path().join("taojin.toml"), text).expect("taojin.toml");
        Self { dir }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn site(&self, name: &str, port: u16, more: &str) {
        let text = format!("seeds = [\"http://127.0.0.1:{port}/\"]\n{more}");
        let file = self.dir.path().join("sites.d").join(format!("{name}.toml"));
        fs::write(file, text).expect("site file");
    }

    pub(crate) fn set(&self, before: &str, after: &str) {
        let file = self.dir.path().join("taojin.toml");
        let text = fs::read_to_string(&file).expect("taojin.toml");
        assert!(text.contains(before), "{before}");
        fs::write(file, text.replace(before, after)).expect("taojin.toml");
    }

    pub(crate) fn taojin(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
        command
            .arg("--config")
            .arg(self.dir.path().join("taojin.toml"))
            .args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.taojin(args).output().expect("taojin runs")
    }

    /// What a command prints, whatever its exit code.
    pub(crate) fn json(&self, args: &[&str]) -> (Value, Option<i32>, String) {
        let output = self.run(args);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let json = serde_json::from_slice(&output.stdout);
        let json = json.unwrap_or_else(|e| panic!("{args:?}: {e}: {errors}"));
        (json, output.status.code(), errors)
    }

    fn hits(&self, query: &str) -> u64 {
        let (found, _, _) = self.json(&["search", query, "--json"]);
        found["total"].as_u64().expect("a number")
    }
}

/// The entry of a site in `crawl --json` or `status --json`.
pub(crate) fn of<'a>(json: &'a Value, name: &str) -> &'a Value {
    let sites = json["sites"].as_array().expect("sites");
    let found = sites.iter().find(|s| s["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {json}"))
}

#[test]
fn one_host_is_found_whole_by_one_pass() {
    let folder = Folder::new();
    let port = serve(news(7));
    let seed = format!("http://127.0.0.1:{port}/");
    let added = folder.run(&["site", "add", &seed, "--name", "wells"]);
    assert!(added.status.success(), "{added:?}");
    let (summary, code, errors) = folder.json(&["crawl", "--json"]);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(summary["documents_new"], 7, "{summary}");
    assert_eq!(summary["waiting"], 0, "{summary}");
    let site = of(&summary, "wells");
    assert_eq!(site["verdict"], "ok", "{summary}");
    assert_eq!(
        (&site["visits"], &site["new"], &site["left"]),
        (&8.into(), &7.into(), &0.into())
    );
    assert_eq!(folder.hits("钻探记录"), 7);
    // A crawl that a person did not ask to see says nothing on stderr.
    assert_eq!(errors, "");
    let status = folder.run(&["status"]);
    let text = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(text.contains("ok: 7 new documents"), "{text}");
}

#[test]
fn the_path_ratios_alone_find_a_text_that_nothing_else_names() {
    let folder = Folder::new();
    folder.set("method = \"model\"", "method = \"ratio\"");
    // Names of classes say the contrary, and there is no headline; a menu, another text and a notice stand around it.
    let story = "储气库扩建工程日前通过验收，注气能力比去年提高三成，现场设备运行平稳。";
    let page = format!(
        "<title>西线管道</title><ul class=content><li><a href=/>要闻</a><li><a href=/b>炼化新闻中心</a></ul>\
         <table><tr><td class='sidebar related'><div class=comment>{story}</div>\
         <div class=comment>项目负责人介绍，今年更换阀门七台，检修人员增加到四班。</div></table>\
         <div class=article-body><p>版权所有，本网站</p></div>"
    );
    let answer = news(1);
    let port = serve(move |path| match path {
        "/1.html" => Reply::page(&page),
        path => answer(path),
    });
    folder.site("wells", port, "");
    let (summary, _, errors) = folder.json(&["crawl", "--json"]);
    assert_eq!(summary["documents_new"], 1, "{summary} {errors}");
    let (document, _, _) = folder.json(&["export"]);
    assert_eq!(document["method"], "ratio", "{document}");
    let text = document["text"].as_str().expect("a text");
    assert_eq!(text.lines().count(), 2, "{text}");
    assert_eq!(text.lines().next(), Some(story));
    assert_eq!(folder.hits("检修人员"), 1);
    assert_eq!(folder.hits("版权所有"), 0);
}

#[test]
fn a_pass_goes_on_where_a_killed_one_ended() {
    let folder = Folder::new();
    let port = serve(news(6));
    folder.site("wells", port, "");
    let mut first = folder.taojin(&["crawl"]).spawn().expect("taojin starts");
    thread::sleep(Duration::from_millis(3_500));
    first.kill().expect("killed");
    first.wait().expect("ended");
    let (summary, code, errors) = folder.json(&["crawl", "--json"]);
    assert_eq!(code, Some(0), "{errors}");
    let visits = summary["visits"].as_u64().expect("a number");
    assert!((1..7).contains(&visits), "{summary}");
    assert_eq!(summary["waiting"], 0, "{summary}");
    assert_eq!(folder.hits("钻探记录"), 6);
}

#[test]
fn what_is_left_is_told_with_the_setting_that_holds_it() {
    let folder = Folder::new();
    folder.set(
        "pages_per_host_per_cycle = 10000",
        "pages_per_host_per_cycle = 3",
    );
    folder.site("wells", serve(news(5)), "");
    let (first, code, errors) = folder.json(&["crawl", "--json"]);
    assert_eq!(code, Some(0), "{errors}");
    let site = of(&first, "wells");
    assert_eq!((&site["visits"], &site["left"]), (&3.into(), &3.into()));
    assert_eq!(site["verdict"], "partial", "{first}");
    assert_eq!(site["setting"], "frontier.pages_per_host_per_cycle");
    let text = "3 addresses left for the next cycle (frontier.pages_per_host_per_cycle = 3)";
    assert_eq!(site["text"], format!("2 new documents; {text}"));
    let status = folder.run(&["status"]);
    let status = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(status.contains(text), "{status}");
    // The next cycle takes the rest.
    let next = folder.run(&["crawl", "--site", "wells"]);
    let next = String::from_utf8_lossy(&next.stdout).into_owned();
    assert!(next.contains("site wells: "), "{next}");
    let (_, code, _) = folder.json(&["crawl", "--site", "wells", "--json"]);
    assert_eq!(code, Some(0));
    assert_eq!(folder.hits("钻探记录"), 5);
}

#[test]
fn addresses_beyond_max_hops_are_counted_once_each() {
    let folder = Folder::new();
    // Each page of a chain links back and on; only the first of them may be followed.
    let port = serve(|path| match path {
        "/" => Reply::page("<title>一</title><a href=\"/1.html\">第一篇报道在这里</a>"),
        "/1.html" => {
            let links = "<a href=\"/\">首页</a><a href=\"/2.html\">下一篇</a><a href=\"/2.html\">再下一篇</a>\
                         <a href=\"/3.html\">另一篇</a>";
            let page = article("第一篇报道", "");
            Reply::page(&page.replace("</body>", &format!("{links}</body>")))
        }
        _ => Reply::status(404),
    });
    folder.site("chain", port, "[scope]\nmax_hops = 1\n");
    let (summary, code, errors) = folder.json(&["crawl", "--json"]);
    assert_eq!(code, Some(0), "{errors}");
    let site = of(&summary, "chain");
    assert_eq!(
        site["text"],
        "1 new document; 2 addresses not followed (scope.max_hops = 1)"
    );
    assert_eq!(
        (&site["verdict"], &site["setting"]),
        (&"ok".into(), &"scope.max_hops".into())
    );
}

#[test]
fn a_pass_over_one_site_leaves_the_others_alone() {
    let folder = Folder::new();
    folder.site("one", serve(news(1)), "");
    folder.site("two", serve(news(1)), "");
    let (first, _, _) = folder.json(&["crawl", "--site", "one", "--json"]);
    assert_eq!(first["sites"].as_array().map(Vec::len), Some(1), "{first}");
    let (status, _, _) = folder.json(&["status", "--json"]);
    assert_eq!(of(&status, "one")["verdict"]["level"], "ok", "{status}");
    assert_eq!(of(&status, "two")["verdict"]["level"], "waiting");
    let (rest, code, _) = folder.json(&["crawl", "--json"]);
    assert_eq!((code, &rest["documents_new"]), (Some(0), &1.into()));
}

#[test]
fn a_host_that_rests_for_longer_than_a_pass_waits_is_named() {
    let web = SmallWeb::new("");
    web.seed(&["a.test/1.html", "a.test/2.html"]);
    for path in ["a.test/1.html", "a.test/2.html"] {
        let busy = Reply::status(429).header("Retry-After: 7200");
        web.set(path, busy);
    }
    let summary = web.json(&["crawl", "--json"]);
    let host = &summary["resting"][0];
    assert_eq!(host["host"], format!("a.test:{}", web.port), "{summary}");
    assert_eq!(host["cause"], "Retry-After of the server");
    let site = of(&summary, "a");
    assert_eq!(
        (&site["verdict"], &site["left"], &site["setting"]),
        (
            &"partial".into(),
            &1.into(),
            &"crawl.pass_patience_ms".into()
        ),
        "{summary}"
    );
}

/// A child that is killed when the test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_full_site_is_told_with_the_setting_and_goes_on() {
    let folder = Folder::new();
    folder.set("max_urls_per_site = 2000000", "max_urls_per_site = 3");
    let port = serve(news(5));
    folder.site("wells", port, "");
    let (first, code, errors) = folder.json(&["crawl", "--json"]);
    assert_eq!(code, Some(0), "{errors}");
    let site = of(&first, "wells");
    assert_eq!((&site["visits"], &site["left"]), (&3.into(), &0.into()));
    assert_eq!(site["verdict"], "partial", "{first}");
    assert_eq!(site["setting"], "frontier.max_urls_per_site");
    let text = "3 addresses left out, the site is full (frontier.max_urls_per_site = 3)";
    assert_eq!(site["text"], format!("2 new documents; {text}"));
    let status = folder.run(&["status"]);
    let status = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(status.contains(text), "{status}");
    assert!(errors.contains("frontier.max_urls_per_site"), "{errors}");
    let url = format!("http://127.0.0.1:{port}/5.html");
    let (why, ..) = folder.json(&["why", "--json", &url]);
    let refused = why["refused_by"].as_str().unwrap_or_default();
    assert!(refused.contains("frontier.max_urls_per_site = 3"), "{why}");
    // What is known goes on being crawled; a larger limit lets the rest in.
    let (again, ..) = folder.json(&["crawl", "--site", "wells", "--recheck", "--json"]);
    assert_eq!(of(&again, "wells")["visits"], 3, "{again}");
    folder.set("max_urls_per_site = 3", "max_urls_per_site = 100");
    let (rest, ..) = folder.json(&["crawl", "--site", "wells", "--json"]);
    assert_eq!(of(&rest, "wells")["new"], 3, "{rest}");
}

#[test]
fn the_daemon_says_when_a_cycle_is_finished() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = free.local_addr().expect("its address");
    drop(free);
    let web = SmallWeb::new(&format!("[serve]\nlisten = \"{address}\"\n"));
    web.seed(&["a.test/1.html"]);
    web.set("a.test/1.html", Reply::page(&article("一篇报道", "")));
    let mut command = web.taojin(&["run"]);
    command.env_remove("JOURNAL_STREAM").stderr(Stdio::piped());
    let mut daemon = Running(command.spawn().expect("taojin starts"));
    let log = daemon.0.stderr.take().expect("its log");
    let (lines, heard) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(log).lines().map_while(Result::ok) {
            let _ = lines.send(line);
        }
    });
    let until = Instant::now() + Duration::from_secs(30);
    let line = loop {
        let left = until.saturating_duration_since(Instant::now());
        let line = heard.recv_timeout(left).expect("a finished cycle");
        if line.contains("cycle finished") {
            break line;
        }
    };
    for part in ["1 new document", "pages=2", "seconds=", "ok"] {
        assert!(line.contains(part), "{part} in {line}");
    }
    let mut stream = TcpStream::connect(address).expect("the daemon listens");
    write!(
        stream,
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    .expect("sent");
    let mut metrics = String::new();
    std::io::Read::read_to_string(&mut stream, &mut metrics).expect("an answer");
    assert!(
        metrics.contains("taojin_site_verdict{site=\"a\",level=\"ok\"} 1"),
        "{metrics}"
    );
}
