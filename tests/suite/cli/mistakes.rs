//! What a person reads who made a mistake: one clear line, exit code 2.

use std::net::TcpListener;

use super::{SITE, filled, folder};
use crate::support::folder::{Folder, RunExt as _, assert_has};

/// Which mistakes there are and what is said of each is tested in [`config`](super::config).
#[test]
fn check_config_mistake_exits_2() {
    for (config, site, parts) in [
        (
            "[frontier]\nmin_dealy_ms = 3\n",
            SITE,
            &["taojin.toml line 3:", "did you mean `min_delay_ms`"][..],
        ),
        (
            "",
            "seds = []\n",
            &["x.toml line 1:", "seds", "did you mean `seeds`"],
        ),
        (
            "[analyze]\nlexicons = [\"oil-gaz\"]\n",
            SITE,
            &["lexicons", "oil-gaz"],
        ),
        (
            "[analyze]\nlexicons = [\"missing.txt\"]\n",
            SITE,
            &["missing.txt"],
        ),
        (
            "[terms]\npatterns = \"missing.txt\"\n",
            SITE,
            &["terms.patterns", "missing.txt", "taojin terms patterns"],
        ),
        (
            "[terms]\npatterns = \"taojin.toml\"\n",
            SITE,
            &["terms.patterns", "taojin.toml: line 1: neither a class"],
        ),
    ] {
        let folder = Folder::new(config, &[("x.toml", site)]);
        assert_has(&folder.refused(&["check"]), parts);
    }
}

#[test]
fn check_lists_all_mistakes() {
    let folder = Folder::new(
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
    let said = folder.run(&["check"]).failed(2).err;
    assert_eq!(said.lines().count(), wanted.len(), "{said}");
    assert_has(&said, &wanted);
    let answer = folder.run(&["check", "--json"]).failed(2).json();
    let problems = answer["problems"].as_array().map(Vec::len);
    assert_eq!(problems, Some(wanted.len()));
    for command in ["run", "crawl", "serve"] {
        let line = folder.refused(&[command]);
        assert_has(&line, &["jitter = 3", "and 3 more"]);
    }
}

#[test]
fn data_dir_refuses_unusable_path() {
    let folder = folder();
    let file = folder.file("taojin.toml");
    for (dir, why) in [
        (file.clone(), "it is no folder"),
        (file.join("data"), "its parent is no folder"),
        ("/proc/taojin".into(), "it cannot be made in /proc"),
    ] {
        let dir = dir.to_str().expect("UTF-8");
        for command in ["check", "run", "crawl"] {
            let line = folder.refused(&["--data-dir", dir, command]);
            assert_has(&line, &[format!("data_dir = \"{dir}\": {why}")]);
        }
    }
    folder.done(&["check"]);
    assert!(!folder.data_dir().exists(), "check makes nothing");
}

#[test]
fn wrong_arguments_exit_2() {
    let folder = folder();
    for (args, part) in [
        (&["crawl", "--site", "y"][..], "no enabled site"),
        (&["site", "add", "ftp://a.example/"], "ftp"),
        (&["site", "add", "nonsense", "--no-probe"], "nonsense"),
        (
            &["site", "add", "http://a.example/", "--no-probe"],
            "seed of site x",
        ),
        (&["site", "add", "http://192.168.1.1/"], "192.168.1.1"),
        (&["site", "remove", "z"], "no site"),
        (&["extract", "no-such-file.html"], "no such file"),
        (&["extract", ""], "an input without a name"),
        (
            &["extract", "www.example.com/news"],
            "begin it with https://",
        ),
        (
            &["extract", "ftp://a.example/x"],
            "only addresses with http",
        ),
        (&["extract", "http://"], "http://: not a URL"),
        (
            &["import", "no-such-file.jsonl"],
            "no-such-file.jsonl: there is no such file",
        ),
        (
            &["serve", "--listen", "8080"],
            "write an address and a port, such as 127.0.0.1:8080",
        ),
        (
            &["serve", "--listen", "localhost:90"],
            "here perhaps 127.0.0.1:90",
        ),
        (
            &["demo", "--listen", "0.0.0.0:80x"],
            "write an address and a port",
        ),
        (&["robots", "no-such-file", "--url", "/"], "no-such-file"),
        (&["why", "http://a.example/"], "no crawl data"),
        (&["search", "x"], "no search index"),
        (&["serve"], "no search index"),
        (&["status"], "data"),
        (&["demo", "--once"], "takes no configuration"),
    ] {
        assert_has(&folder.run(args).failed(2).err, &[part]);
    }
}

#[test]
fn mistakes_in_chinese() {
    let folder = folder();
    let said = |args: &[&str], code| {
        let mut command = folder.taojin(args);
        command.env("LC_ALL", "zh_CN.UTF-8").ran().failed(code).err
    };
    for (args, line) in [
        (
            &["serch", "x"][..],
            "taojin: 没有命令 serch；是不是 serve 或 search？\n用法：taojin [选项] <命令>\n",
        ),
        (
            &["crawl", "--recheckk"],
            "taojin: 没有参数 --recheckk；是不是 --recheck？\n用法：taojin crawl ",
        ),
        (
            &["search"],
            "taojin: 缺少参数 <QUERY>...\n用法：taojin search <QUERY>...\n详细说明：加 --help\n",
        ),
        (
            &["search", "x", "--sort"],
            "taojin: --sort <SORT> 缺少值；可以是 relevance、date、both\n",
        ),
        (
            &["search", "x", "--sort", "new"],
            "taojin: --sort <SORT> 的值 new 无效；可以是 relevance、date、both\n",
        ),
        (
            &["search", "x", "--limit", "a"],
            "taojin: --limit <LIMIT> 的值 a 无效：不是整数\n",
        ),
        (
            &["crawl", "--warc", "x", "--recheck"],
            "taojin: --warc <FILE>... 不能和 --recheck 一起使用\n",
        ),
        (
            &["serve", "--listen", "8080"],
            "的值 8080 无效：请写地址和端口，例如 127.0.0.1:8080，",
        ),
        (
            &["crawl", "--site", "y"],
            "taojin: y: 没有叫这个名称且已启用的站点；是不是 x？\n",
        ),
        (
            &["site", "add", "ftp://a.example/"],
            "taojin: ftp://a.example/: 不抓取 ftp 协议，只抓取 http 和 https\n",
        ),
        (&["extract", "no.html"], "no.html: 没有这个文件或目录\n"),
        (
            &["why", "http://a.example/"],
            "crawl.sqlite 没有抓取数据：请先运行 taojin crawl 或 taojin run，",
        ),
        (
            &["search", "x"],
            "index 没有搜索索引：这个数据目录还没有抓取或导入过内容；",
        ),
        (
            &["purge", "x"],
            "taojin: 删除站点 x 的全部文档和网址？没有终端可以确认，请加 --yes\n",
        ),
        (
            &["--data-dir", "/proc/taojin", "check"],
            "data_dir = \"/proc/taojin\": 不能在 /proc 下创建：",
        ),
        // Programs, and logs, have English.
        (&["search", "x", "--json"], "taojin: no search index in "),
        (
            &["--data-dir", "/proc/taojin", "run"],
            "data_dir = \"/proc/taojin\": it cannot be made in /proc",
        ),
    ] {
        assert_has(&said(args, 2), &[line]);
    }
}

#[test]
fn import_of_pages_names_extract() {
    let folder = folder();
    let page = "<p>\n".repeat(40);
    std::fs::write(folder.file("page.html"), page).expect("written");
    let said = folder.run(&["import", "page.html"]).failed(1).err;
    assert_has(&said, &["page.html:1: skipped", "taojin extract --json"]);
    assert_eq!(said.lines().count(), 11, "{said}");
}

#[test]
fn search_refuses_wrong_options() {
    let folder = filled();
    for (option, value) in [("--since", "someday"), ("--limit", "0")] {
        let line = folder.refused(&["search", "x", option, value]);
        assert!(line.contains(value) || line.contains(option), "{line}");
    }
}

#[test]
fn listen_names_port_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("its address").to_string();
    let folder = filled();
    // One that was asked for is named by its option.
    let line = folder.refused(&["serve", "--listen", &address]);
    assert_has(&line, &[format!("--listen {address}: in use")]);
    folder.configure(&format!("[serve]\nlisten = \"{address}\"\n"));
    // systemd tries the service again unless it ends with 2; the port may be free by then.
    let said = folder.run(&["run"]).failed(1).err;
    assert_has(&said, &[&*address, "in use", "serve.listen"]);
}

#[test]
fn import_replaces_unreadable_index() {
    let folder = folder();
    std::fs::create_dir_all(folder.file("data/index")).expect("index folder");
    let broken = "{ this is no index";
    folder.write("data/index/meta.json", broken);
    assert_has(&folder.refused(&["search", "x"]), &["index"]);
    let mended = folder.run(&["import", "-"]).good();
    assert_has(&mended.err, &["index.damaged"]);
    assert_eq!(folder.read("data/index.damaged/meta.json"), broken);
    folder.done(&["search", "x"]);
}
