//! The first commands of an installation: `init` writes a configuration, `check --online` tries the way out.

use crate::support::folder::{Folder, Ran, RunExt as _, assert_has, taojin_in};
use crate::support::http::{Reply, free_port, serve};

fn init(folder: &Folder, language: &str, args: &[&str]) -> Ran {
    let mut command = taojin_in(folder.path());
    command.args(["--config", "etc/taojin.toml", "init"]);
    command.args(args).env("LC_ALL", language).ran()
}

#[test]
fn init_writes_valid_config() {
    let folder = Folder::new("", &[]);
    let data = folder.arg("data");
    let args = [
        "--data-dir",
        &data,
        "--listen",
        "127.0.0.1:0",
        "--contact",
        "ops@example.org",
        "--token",
        "yes",
    ];
    let said = init(&folder, "C", &args).good().out;
    assert_has(
        &said,
        &["  taojin --config etc/taojin.toml site add https://www.example.com/\n"],
    );
    assert_has(
        &said,
        &[
            "  taojin --config etc/taojin.toml run\n",
            "http://127.0.0.1:0/login with the token in etc/token\n",
        ],
    );
    let settings = folder.read("etc/taojin.toml");
    assert_has(&settings, &["(+ops@example.org)\""]);
    let check = || {
        let mut command = taojin_in(folder.path());
        command.args(["--config", "etc/taojin.toml", "check"]);
        command.ran().good().out
    };
    assert_has(&check(), &[&data]);
    let token = folder.read("etc/token");
    assert!(token.trim().len() >= 20);

    assert_has(&init(&folder, "C", &args).failed(2).err, &["--force"]);
    assert_eq!(folder.read("etc/taojin.toml"), settings);

    let again = ["--force", "--data-dir", &data, "--lexicon", "none"];
    let chinese = init(&folder, "zh_CN.UTF-8", &again).good();
    assert_has(&chinese.out, &["已写好"]);
    let settings = folder.read("etc/taojin.toml");
    assert_has(&settings, &["数据目录", "lexicons = []"]);
    check();
    assert_eq!(
        folder.read("etc/token"),
        token,
        "a token that is there stays"
    );
}

#[test]
fn init_refuses_wrong_options() {
    let folder = Folder::new("", &[]);
    for (args, part) in [
        (
            ["--listen", "8080"],
            "--listen \"8080\": write an address and a port",
        ),
        (
            ["--contact", "me"],
            "--contact \"me\": write a mail address",
        ),
        (["--lexicon", "oil-gaz"], "--lexicon \"oil-gaz\""),
        (
            ["--token", "perhaps"],
            "--token \"perhaps\": write yes or no",
        ),
        (
            ["--data-dir", "/proc/nothing"],
            "data_dir = \"/proc/nothing\"",
        ),
    ] {
        assert_has(&init(&folder, "C", &args).failed(2).err, &[part]);
        assert!(!folder.file("etc/taojin.toml").exists());
    }
}

#[test]
fn check_online_reports_each_host() {
    let robots = |rules| serve(move |_| Reply::page(rules));
    let (open, closed) = (
        robots("User-agent: *\nAllow: /\n"),
        robots("User-agent: *\nDisallow: /\n"),
    );
    let free = free_port();
    let seed = |port: u16| format!("seeds = [\"http://127.0.0.1:{port}/\"]\n");
    let allowed = "[fetch]\nallow_addresses = [\"127.0.0.0/8\", \"::1\"]\n";
    let folder = Folder::new(
        allowed,
        &[("open.toml", &seed(open)), ("refusing.toml", &seed(closed))],
    );
    // A warning is no error.
    assert_has(
        &folder.done(&["check", "--online"]),
        &[
            "robots         open: lets us fetch",
            "refusing: warning: its robots.txt does not let taojin fetch",
        ],
    );
    let offline = folder.done(&["check"]);
    assert!(!offline.contains("robots  "), "{offline}");

    let nowhere = "seeds = [\"http://nowhere.invalid/\"]\n";
    let sites = [("gone.toml", &*seed(free)), ("nowhere.toml", nowhere)];
    let folder = Folder::new(allowed, &sites);
    let failed = folder.run(&["check", "--online", "--json"]).failed(1);
    assert_eq!(failed.err.lines().count(), 2, "{}", failed.err);
    assert_has(
        &failed.err,
        &[
            "dns            nowhere.invalid: ",
            "/etc/resolv.conf",
            "fetch.proxy",
        ],
    );
    let answer = failed.json();
    assert_eq!(answer["online"].as_array().map(Vec::len), Some(2));
    assert_eq!(answer["online"][0]["level"], "error");

    // Nothing is asked through a proxy that is not there.
    let proxy = format!("[fetch]\nproxy = \"http://127.0.0.1:{free}\"\n");
    let folder = Folder::new(&proxy, &[("open.toml", &seed(open))]);
    let said = folder.run(&["check", "--online"]).err;
    assert_has(&said, &["proxy", "is fetch.proxy right?"]);
    assert_eq!(said.lines().count(), 1, "{said}");
    // One on this machine is missed without the network as well.
    let said = folder.run(&["check"]).failed(1).err;
    assert_has(&said, &["proxy", "is fetch.proxy right?"]);
    for (proxy, problem) in [
        (
            "socks4://me:geheim@10.9.8.7:1080",
            "`socks4` is no kind of proxy",
        ),
        ("http://me:geheim@gate.example", "it names no port"),
    ] {
        let settings = format!("[fetch]\nproxy = \"{proxy}\"\n");
        let folder = Folder::new(&settings, &[("open.toml", &seed(open))]);
        for command in ["check", "crawl"] {
            let said = folder.run(&[command]).failed(2).err;
            assert_has(&said, &["fetch.proxy", problem]);
            assert!(!said.contains("geheim"), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }
}

#[test]
fn status_and_check_in_chinese() {
    let folder = Folder::new("", &[("x.toml", "seeds = [\"http://a.example/\"]\n")]);
    folder.import_texts(&[("http://a.example/1", "油价今日上涨。")]);
    let said = |args: &[&str], language: &str| {
        let mut command = taojin_in(folder.path());
        let config = folder.file("taojin.toml");
        command.args(["--config", config.to_str().expect("UTF-8")]);
        command.args(args).env("LC_ALL", language).ran().good().out
    };
    let status = said(&["status"], "zh_CN.UTF-8");
    let parts = [
        "概况       到目前为止一切正常；1 个站点还没有抓取过。",
        "\n服务       没有运行\n",
        "\n站点       x：文档 0，",
        "未抓取：",
    ];
    assert_has(&status, &parts);
    let check = said(&["check"], "zh_CN.UTF-8");
    assert_has(&check, &["没有错误", "站点       x：下一轮 "]);
    assert_has(&said(&["status"], "C"), &["summary    All is well so far"]);
    // What programs read is the same everywhere.
    let without_time = |text: String| {
        let mut status: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        for name in ["now_ms", "started_ms", "disk"] {
            status.as_object_mut().expect("an object").remove(name);
        }
        status
    };
    let [zh, en] = ["zh_CN.UTF-8", "C"].map(|l| without_time(said(&["status", "--json"], l)));
    assert_eq!(zh, en);
}
