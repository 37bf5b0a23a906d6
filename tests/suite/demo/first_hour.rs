//! The first hour of somebody new: the commands of README.md, word for word, in a folder that looks like a clone, with the
//! shipped configuration and its politeness, against a site of one host that a plain file server serves.
//!
//! Two things differ from README: the address of the site, and `fetch.allow_addresses`, without which no loopback
//! address is fetched.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// The address that README uses.
const README_SITE: &str = "https://news.example.com/";

/// Subjects of the articles, each in one title only.
const SUBJECTS: [&str; 30] = [
    "白杨河储气库",
    "青石岭页岩气",
    "乌兰湖输油管道",
    "红柳滩炼油厂",
    "松花渡加油站",
    "石门坎钻井队",
    "黑山头物探队",
    "金沙湾接收站",
    "望海楼平台",
    "冷水江压气站",
    "赤水源测井队",
    "老龙口联合站",
    "飞云山输气管",
    "玉泉沟采油厂",
    "桃花潭实验室",
    "沙坡头光伏场",
    "雁门关调控室",
    "响水洞检修队",
    "紫荆关处理厂",
    "六盘水煤层气",
    "云台山固井队",
    "月牙泉驻地",
    "牛头山压裂队",
    "九里坡集气站",
    "虎跳涧泵站",
    "凤凰岭苗圃",
    "长白渡巡线队",
    "大通河水站",
    "马蹄寨驿站",
    "星宿海科考队",
];

/// A site as files: lists of twenty links with "next", and one page for each subject.
fn write_site(folder: &Path, subjects: &[&str]) {
    let lists = subjects.chunks(20).count();
    for (number, chunk) in subjects.chunks(20).enumerate() {
        let items: String = (0..chunk.len())
            .map(|n| {
                let article = number * 20 + n;
                format!(
                    "<li><a href=\"news/{article}.html\">{}本月完成改造</a></li>\n",
                    chunk[n]
                )
            })
            .collect();
        let next = match number + 1 < lists {
            true => format!("<a href=\"list{}.html\">下一页</a>", number + 2),
            false => String::new(),
        };
        let name = match number {
            0 => "index.html".to_owned(),
            n => format!("list{}.html", n + 1),
        };
        let page = format!(
            "<!DOCTYPE html><html><head><meta charset=\"utf-8\"><title>地方能源简报</title></head>\
             <body><h1>地方能源简报</h1><ul>{items}</ul>{next}</body></html>"
        );
        fs::write(folder.join(name), page).expect("list");
    }
    fs::create_dir_all(folder.join("news")).expect("folder");
    for (n, subject) in subjects.iter().enumerate() {
        let page = format!(
            "<!DOCTYPE html><html><head><meta charset=\"utf-8\"><title>{subject}本月完成改造 - 地方能源简报</title></head>\
             <body><h1>{subject}本月完成改造</h1><p class=\"time\">2026年10月{}日 08:30</p>\
             <div class=\"content\"><p>记者从{subject}了解到，经过一百二十天的施工，改造工程日前通过验收，现场设备运行平稳，各项指标达到设计要求。</p>\
             <p>项目负责人介绍，{subject}今年更换阀门{}台，新装流量计{}套，检修人员由三班增加到四班，夜间值守由电话报告改为屏幕巡检。</p>\
             <p>当地居民说，过去冬天供气紧张，如今管网压力稳定，家里做饭取暖都方便了许多。下一步还将对沿线的标志桩逐个编号。</p></div>\
             <a href=\"../index.html\">返回首页</a></body></html>",
            n % 28 + 1,
            n * 3 + 7,
            n * 5 + 11,
        );
        fs::write(folder.join(format!("news/{n}.html")), page).expect("article");
    }
}

/// A plain file server on loopback, until it is dropped: Python's where there is one, else a few lines of our own.
struct FileServer {
    port: u16,
    python: Option<Child>,
}

impl FileServer {
    fn start(folder: &Path) -> Self {
        Self::python(folder).unwrap_or_else(|| Self::own(folder))
    }

    fn python(folder: &Path) -> Option<Self> {
        let mut child = Command::new("python3")
            .args([
                "-u",
                "-m",
                "http.server",
                "0",
                "--bind",
                "127.0.0.1",
                "--directory",
            ])
            .arg(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut line = String::new();
        let stdout = child.stdout.take()?;
        BufReader::new(stdout).read_line(&mut line).ok()?;
        let port = line
            .split(" port ")
            .nth(1)?
            .split(' ')
            .next()?
            .parse()
            .ok()?;
        Some(Self {
            port,
            python: Some(child),
        })
    }

    fn own(folder: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let folder = folder.to_owned();
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let folder = folder.clone();
                thread::spawn(move || answer(stream, &folder));
            }
        });
        Self { port, python: None }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
}

impl Drop for FileServer {
    fn drop(&mut self) {
        if let Some(mut child) = self.python.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// One request, then the end of the connection.
fn answer(mut stream: TcpStream, folder: &Path) {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut request = String::new();
    let _ = reader.read_line(&mut request);
    let path = request
        .split(' ')
        .nth(1)
        .unwrap_or("/")
        .trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    let (status, body) = match fs::read(folder.join(path)) {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(&body);
}

/// A folder that looks like a clone with a release build in it.
struct Clone {
    dir: tempfile::TempDir,
}

impl Clone {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("temporary directory");
        let top = dir.path();
        fs::create_dir_all(top.join("config/sites.d")).expect("config");
        fs::create_dir_all(top.join("target/release")).expect("target");
        let shipped =
            fs::read_to_string(Path::new(crate::support::ROOT).join("config/taojin.toml"))
                .expect("shipped configuration");
        let changed = shipped.replace(
            "allow_addresses = []",
            "allow_addresses = [\"127.0.0.0/8\"]",
        );
        assert_ne!(shipped, changed, "the shipped configuration names the key");
        fs::write(top.join("config/taojin.toml"), changed).expect("taojin.toml");
        std::os::unix::fs::symlink(
            env!("CARGO_BIN_EXE_taojin"),
            top.join("target/release/taojin"),
        )
        .expect("link");
        Self { dir }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Runs these lines of a shell, one after the other, until one fails.
    fn shell(&self, lines: &str) -> Output {
        Command::new("sh")
            .args(["-e", "-c", lines])
            .current_dir(self.path())
            .env("EDITOR", "true")
            .env_remove("TAOJIN_CONFIG")
            .output()
            .expect("a shell")
    }
}

/// The commands of a section of README.md, as they stand there.
fn readme_commands(section: &str) -> Vec<String> {
    let text =
        fs::read_to_string(Path::new(crate::support::ROOT).join("README.md")).expect("README.md");
    let heading = format!("## {section}\n");
    let (_, from) = text.split_once(&heading).expect("the section is there");
    let body = from.split("\n## ").next().unwrap_or(from);
    let commands = body.lines().filter_map(|l| l.strip_prefix("$ "));
    commands.map(str::to_owned).collect()
}

fn words(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// The title of the first hit.
fn first_hit(output: &Output) -> String {
    let answer: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    answer["hits"][0]["title"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn the_first_site_of_readme_is_found_whole() {
    let site = tempfile::tempdir().expect("temporary directory");
    write_site(site.path(), &SUBJECTS);
    let server = FileServer::start(site.path());
    let clone = Clone::new();
    let commands = readme_commands("Your first site");
    assert!(
        commands.iter().any(|c| c.contains("site add"))
            && commands.iter().any(|c| c.ends_with("crawl")),
        "README shows how: {commands:?}"
    );
    let host = format!("127.0.0.1:{}", server.port);
    let script = commands
        .join("\n")
        .replace(README_SITE, &server.url())
        .replace("news.example.com", &host);
    let begun = Instant::now();
    let done = clone.shell(&script);
    let took = begun.elapsed();
    assert!(done.status.success(), "{}", words(&done));
    assert!(
        took < Duration::from_secs(120),
        "{took:?}: {}",
        words(&done)
    );
    let found = clone.shell("target/release/taojin --data-dir data search 改造 --limit 100 --json");
    let answer: Value = serde_json::from_slice(&found.stdout).expect("one JSON object");
    assert_eq!(answer["total"], 30, "{}", words(&done));
    for subject in SUBJECTS {
        let found = clone.shell(&format!(
            "target/release/taojin --data-dir data search {subject} --json"
        ));
        assert_eq!(first_hit(&found), format!("{subject}本月完成改造"));
    }
}

/// A daemon that is stopped when this is dropped.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) && matches!(self.0.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(50));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Total of a search over HTTP, once it is this or when the time is over.
fn waits_for(port: u16, query: &str, total: u64) -> u64 {
    let begun = Instant::now();
    loop {
        let found = get(port, &format!("/api/search?q={query}"))
            .and_then(|body| serde_json::from_str::<Value>(&body).ok())
            .and_then(|answer| answer["total"].as_u64());
        if found == Some(total) || begun.elapsed() > Duration::from_secs(90) {
            return found.unwrap_or_default();
        }
        thread::sleep(Duration::from_millis(250));
    }
}

fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer.split_once("\r\n\r\n")?.1.to_owned())
}

#[test]
fn a_second_site_is_taken_up_while_the_daemon_runs() {
    let folders: Vec<tempfile::TempDir> = SUBJECTS
        .chunks(10)
        .take(2)
        .map(|subjects| {
            let folder = tempfile::tempdir().expect("temporary directory");
            write_site(folder.path(), subjects);
            folder
        })
        .collect();
    let servers: Vec<FileServer> = folders
        .iter()
        .map(|f| FileServer::start(f.path()))
        .collect();
    let clone = Clone::new();
    let config: PathBuf = clone.path().join("config/taojin.toml");
    let port = crate::support::free_port();
    let text = fs::read_to_string(&config).expect("taojin.toml");
    fs::write(
        &config,
        text.replace("127.0.0.1:8080\"", &format!("127.0.0.1:{port}\"")),
    )
    .expect("taojin.toml");

    let added = clone.shell(&format!(
        "target/release/taojin --data-dir data site add {}",
        servers[0].url()
    ));
    assert!(added.status.success(), "{}", words(&added));
    let child = Command::new(clone.path().join("target/release/taojin"))
        .args(["--data-dir", "data", "run"])
        .current_dir(clone.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the daemon starts");
    let daemon = Daemon(child);
    assert_eq!(
        waits_for(port, "%E6%94%B9%E9%80%A0", 10),
        10,
        "the first site is searchable"
    );

    let added = clone.shell(&format!(
        "target/release/taojin --data-dir data site add {}",
        servers[1].url()
    ));
    assert!(added.status.success(), "{}", words(&added));
    let reloaded = Command::new("kill")
        .args(["-HUP", &daemon.0.id().to_string()])
        .status();
    assert!(reloaded.expect("kill runs").success());
    assert_eq!(
        waits_for(port, "%E6%94%B9%E9%80%A0", 20),
        20,
        "the second site is searchable"
    );
}
