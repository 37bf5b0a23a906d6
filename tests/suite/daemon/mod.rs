//! The daemon as systemd sees it: it becomes ready, takes up sites on SIGHUP, refuses a second one on the same data,
//! and stops on SIGTERM with everything durable.

mod clock;
mod control;
mod figures;
mod health;
mod stop;

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::world::{Home, Web};

/// Longest wait for anything: far above what it takes, so that only a hang fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running daemon; killed if the test fails.
struct Daemon {
    child: Child,
    address: SocketAddr,
    notices: UnixDatagram,
}

impl Daemon {
    fn start(home: &Home) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = free.local_addr().expect("its address");
        drop(free);
        let config = home.path().join("taojin.toml");
        let text = fs::read_to_string(&config).expect("taojin.toml");
        fs::write(&config, text.replace("127.0.0.1:0", &address.to_string())).expect("taojin.toml");
        let socket = home.path().join("notify");
        let notices = UnixDatagram::bind(&socket).expect("a socket");
        notices
            .set_read_timeout(Some(PATIENCE))
            .expect("a time-out");
        let log = fs::File::create(home.path().join("daemon.log")).expect("a log");
        let child = home
            .taojin(&["run"])
            .env("NOTIFY_SOCKET", &socket)
            .env_remove("JOURNAL_STREAM")
            .env_remove("INVOCATION_ID")
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("taojin starts");
        Self {
            child,
            address,
            notices,
        }
    }

    /// Waits until systemd would be told this.
    fn wait_for_notice(&self, wanted: &str) {
        let mut buffer = [0u8; 4096];
        loop {
            let length = self
                .notices
                .recv(&mut buffer)
                .unwrap_or_else(|e| panic!("no {wanted}: {e}"));
            if String::from_utf8_lossy(&buffer[..length]).contains(wanted) {
                return;
            }
        }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill")
            .args([name, &id])
            .status()
            .expect("kill runs");
        assert!(sent.success());
    }

    fn get(&self, target: &str) -> String {
        let mut stream = TcpStream::connect(self.address).expect("the daemon listens");
        write!(
            stream,
            "GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    fn status(&self) -> serde_json::Value {
        let answer = self.get("/api/status");
        let json = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
        serde_json::from_str(json).unwrap_or_default()
    }

    fn wait_for_status(&self, what: &str, is_so: impl Fn(&serde_json::Value) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_so(&self.status()) {
            assert!(Instant::now() < until, "{what}: {}", self.status());
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn documents(&self) -> u64 {
        let answer = self.get("/api/search?q=&limit=1");
        let json = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
        let json: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
        json["total"].as_u64().unwrap_or_default()
    }

    fn wait_for_documents(&self, at_least: u64) {
        let until = Instant::now() + PATIENCE;
        while self.documents() < at_least {
            assert!(
                Instant::now() < until,
                "{} documents, {at_least} expected",
                self.documents()
            );
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Exit code, when it ends by itself.
    fn wait(&mut self) -> Option<i32> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().expect("its state") {
                return status.code();
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("the daemon did not stop");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_site_added_on_the_fly_is_crawled_and_the_stop_is_clean() {
    let web = Web::start(60);
    let home = Home::new(
        &web,
        "min_delay_ms = 1\nmax_delay_ms = 1\nconnections_per_ip = 12",
    );
    let sites = home.path().join("sites.d");
    let late = fs::read_dir(&sites)
        .expect("sites.d")
        .next()
        .expect("a site")
        .expect("readable")
        .path();
    let kept = fs::read_to_string(&late).expect("a site file");
    fs::remove_file(&late).expect("removed");

    let mut daemon = Daemon::start(&home);
    daemon.wait_for_notice("READY=1");
    daemon.wait_for_documents(10);
    // An archive is read by a process of its own, which must not write beside the daemon.
    let file = home.path().join("taojin.toml");
    let file = file.to_str().expect("a path");
    let second = home.taojin(&["crawl", "--warc", file]);
    let second = { second }.output().expect("taojin runs");
    assert_eq!(
        second.status.code(),
        Some(2),
        "a second writer must be refused"
    );
    let line = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(
        line.contains("another") && line.trim().lines().count() == 1,
        "{line}"
    );

    // A mistake in a file changes nothing; the right file is taken up.
    fs::write(&late, "seds = []\n").expect("written");
    daemon.signal("-HUP");
    thread::sleep(Duration::from_millis(300));
    fs::write(&late, kept).expect("written");
    daemon.signal("-HUP");
    daemon.wait_for_documents(60);
    assert!(daemon.get("/healthz").starts_with("HTTP/1.1 200"));
    assert!(daemon.get("/metrics").contains("taojin_fetches_total"));
    assert!(
        home.taojin(&["status", "--json"])
            .output()
            .expect("taojin runs")
            .status
            .success()
    );

    daemon.signal("-TERM");
    daemon.wait_for_notice("STOPPING=1");
    assert_eq!(daemon.wait(), Some(0));
    let indexed = home.indexed();
    for url in web.planted() {
        assert_eq!(indexed.get(&url), Some(&1), "{url}");
    }
}

/// A topic that comes with SIGHUP has its feed and its webhook at once; one that is gone has neither.
#[test]
fn topics_are_taken_up_while_the_daemon_runs() {
    let web = Web::start(20);
    let home = Home::new(&web, "min_delay_ms = 1\nmax_delay_ms = 1");
    let sites = home.path().join("sites.d");
    let files: Vec<_> = fs::read_dir(&sites)
        .expect("sites.d")
        .map(|entry| entry.expect("readable").path())
        .collect();
    let kept: Vec<String> = files
        .iter()
        .map(|file| fs::read_to_string(file).expect("a site file"))
        .collect();
    for file in &files {
        fs::remove_file(file).expect("removed");
    }
    let mut daemon = Daemon::start(&home);
    daemon.wait_for_notice("READY=1");
    assert!(daemon.get("/feeds/late.atom").starts_with("HTTP/1.1 404"));

    let receiver = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let hook = receiver.local_addr().expect("its address");
    let config = home.path().join("taojin.toml");
    let text = fs::read_to_string(&config).expect("taojin.toml");
    let topic =
        format!("[[follow]]\nname = \"late\"\nquery = \"的\"\nwebhook = \"http://{hook}/\"\n");
    fs::write(&config, format!("{text}{topic}")).expect("taojin.toml");
    daemon.signal("-HUP");
    let until = Instant::now() + PATIENCE;
    // It is listed once it has noted where the index stands: what comes from now on is told.
    while !daemon.get("/api/status").contains("\"late\"") {
        assert!(Instant::now() < until, "the topic is not followed");
        thread::sleep(Duration::from_millis(50));
    }
    assert!(daemon.get("/feeds/late.atom").starts_with("HTTP/1.1 200"));
    for (file, text) in files.iter().zip(&kept) {
        fs::write(file, text).expect("written");
    }
    daemon.signal("-HUP");
    receiver.set_nonblocking(true).expect("a socket");
    let (mut told, _) = loop {
        assert!(Instant::now() < until, "nothing was told");
        match receiver.accept() {
            Ok(told) => break told,
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    };
    let mut head = [0u8; 4];
    told.set_nonblocking(false).expect("a socket");
    told.read_exact(&mut head).expect("a request");
    assert_eq!(&head, b"POST");
    drop((told, receiver));

    fs::write(&config, text).expect("taojin.toml");
    daemon.signal("-HUP");
    while !daemon.get("/feeds/late.atom").starts_with("HTTP/1.1 404") {
        assert!(Instant::now() < until, "the topic is still there");
        thread::sleep(Duration::from_millis(50));
    }
    assert!(!daemon.get("/api/status").contains("\"late\""));
    daemon.signal("-TERM");
    assert_eq!(daemon.wait(), Some(0));
}

#[test]
fn a_full_disk_pauses_the_crawl_and_says_so() {
    let web = Web::start(20);
    let home = Home::new(&web, "min_delay_ms = 1\nmax_delay_ms = 1");
    let config = home.path().join("taojin.toml");
    let text = fs::read_to_string(&config).expect("taojin.toml");
    let full = text.replace("min_free_bytes = 0", "min_free_bytes = 1000000000000000000");
    fs::write(&config, full).expect("taojin.toml");

    let pass = home.taojin(&["crawl"]).output().expect("taojin runs");
    assert_eq!(pass.status.code(), Some(1));
    let said = String::from_utf8_lossy(&pass.stderr).into_owned();
    assert!(
        said.contains("disk low") && said.contains("crawl.min_free_bytes"),
        "{said}"
    );

    let mut daemon = Daemon::start(&home);
    daemon.wait_for_notice("READY=1");
    let until = Instant::now() + PATIENCE;
    let mut status = String::new();
    while !status.contains("\"activity\":\"paused\"") {
        assert!(Instant::now() < until, "{status}");
        thread::sleep(Duration::from_millis(100));
        status = daemon.get("/api/status");
    }
    assert!(status.contains("disk low"), "{status}");
    assert_eq!(web.requests(), 0, "pages were fetched onto a full disk");
    daemon.signal("-TERM");
    assert_eq!(daemon.wait(), Some(0));

    // With room, the same data folder crawls what it had not.
    fs::write(&config, text).expect("taojin.toml");
    assert!(
        home.taojin(&["crawl"])
            .status()
            .expect("taojin runs")
            .success()
    );
    assert!(home.indexed().len() >= 20);
}

/// Takes the files of all sites away; gives them back with their texts.
fn without_sites(home: &Home) -> Vec<(std::path::PathBuf, String)> {
    let mut files: Vec<_> = fs::read_dir(home.path().join("sites.d"))
        .expect("sites.d")
        .map(|entry| entry.expect("readable").path())
        .collect();
    files.sort();
    let take = |path: std::path::PathBuf| {
        let text = fs::read_to_string(&path).expect("a site file");
        fs::remove_file(&path).expect("removed");
        (path, text)
    };
    files.into_iter().map(take).collect()
}

fn log_of(home: &Home) -> String {
    fs::read_to_string(home.path().join("daemon.log")).expect("a log")
}

/// A mistake that a reload finds stops nothing, is told where the operator looks, and is forgotten when it is mended.
#[test]
fn a_reload_with_a_mistake_is_refused_and_the_daemon_goes_on() {
    let web = Web::start(20);
    let home = Home::new(
        &web,
        "min_delay_ms = 1\nmax_delay_ms = 1\nconnections_per_ip = 12",
    );
    let sites = without_sites(&home);
    let [(first, text), (second, later), ..] = sites.as_slice() else {
        panic!("two sites are needed");
    };
    let titled = format!("title = \"第一油气网\"\n{text}");
    fs::write(first, &titled).expect("written");
    let daemon = Daemon::start(&home);
    daemon.wait_for_notice("READY=1");
    daemon.wait_for_documents(1);

    for (broken, told) in [
        (format!("{titled}include = [\"~(\"]\n"), "unclosed group"),
        (
            format!("queues = \"two\"\n{titled}"),
            "write a whole number",
        ),
        ("seeds = [\n".to_owned(), "this is not TOML"),
    ] {
        fs::write(first, &broken).expect("written");
        daemon.signal("-HUP");
        daemon.wait_for_status("the refusal is told", |status| {
            let note = status["note"].as_str().unwrap_or_default();
            note.starts_with("the last reload was refused: ")
                && note.contains(&*first.to_string_lossy())
                && note.contains(told)
        });
        daemon.wait_for_notice("STATUS=the last reload was refused");
        let log = log_of(&home);
        let line = log.lines().find(|l| l.contains(told)).unwrap_or_default();
        assert!(
            line.contains("ERROR") && line.contains("reload refused"),
            "{log}"
        );
        // The site is the one that was there before, and searches are answered.
        assert_eq!(daemon.status()["sites"][0]["title"], "第一油气网");
        assert!(daemon.documents() > 0);
    }
    assert!(daemon.get("/healthz").starts_with("HTTP/1.1 200"));

    fs::write(first, &titled).expect("written");
    fs::write(second, later).expect("written");
    let before = daemon.documents();
    daemon.signal("-HUP");
    daemon.wait_for_status("the mistake is forgotten", |status| {
        status["note"] == "" && status["sites"].as_array().is_some_and(|s| s.len() == 2)
    });
    daemon.wait_for_documents(before + 1);

    // Readers see the site's own name, and may search by it.
    let page = daemon.get("/?q=site:%E7%AC%AC%E4%B8%80%E6%B2%B9%E6%B0%94%E7%BD%91");
    assert!(page.contains("class=\"site\">第一油气网<"), "{page}");
    assert!(daemon.get("/status").contains("第一油气网"));
}

/// What the first lines of the log say, with no site at all.
#[test]
fn the_daemon_says_what_it_is_and_what_to_do_first() {
    let web = Web::start(20);
    let home = Home::new(&web, "min_delay_ms = 1\nmax_delay_ms = 1");
    let sites = without_sites(&home);
    let mut daemon = Daemon::start(&home);
    daemon.wait_for_notice("READY=1");
    let log = log_of(&home);
    let config = home.path().join("taojin.toml");
    for part in [
        format!("taojin {} starts", env!("CARGO_PKG_VERSION")),
        format!("configuration: {}", config.display()),
        format!("data folder: {}", home.data_dir().display()),
        format!("web page: http://{}/", daemon.address),
        format!("no site yet in {}", home.path().join("sites.d").display()),
        format!("`taojin --config {} site add URL`", config.display()),
        format!("`kill -HUP {}`", daemon.child.id()),
    ] {
        assert!(log.contains(&part), "{part}\nis not in\n{log}");
    }
    // Moments are moments, with their zone.
    let first = log.lines().next().unwrap_or_default();
    let moment = first.get(..30).unwrap_or_default();
    let format = "%Y-%m-%d %H:%M:%S%.3f %:z";
    assert!(
        chrono::DateTime::parse_from_str(moment, format).is_ok(),
        "{first}"
    );

    let (path, text) = sites.first().expect("a site");
    fs::write(path, text).expect("written");
    daemon.signal("-HUP");
    daemon.wait_for_documents(1);
    daemon.signal("-TERM");
    assert_eq!(daemon.wait(), Some(0));
}
