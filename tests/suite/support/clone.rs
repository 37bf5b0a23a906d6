//! A folder that looks like a clone of the repository, and a site of files for it to crawl.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::ROOT;
use super::folder::{Ran, RunExt as _};
use super::http::{Reply, serve};

/// Subjects of the articles, each in one title only.
const SUBJECTS: &str = "白杨河储气库 青石岭页岩气 乌兰湖输油管道 红柳滩炼油厂 松花渡加油站 石门坎钻井队 黑山头物探队 金沙湾接收站 望海楼平台 冷水江压气站 \
                        赤水源测井队 老龙口联合站 飞云山输气管 玉泉沟采油厂 桃花潭实验室 沙坡头光伏场 雁门关调控室 响水洞检修队 紫荆关处理厂 六盘水煤层气 \
                        云台山固井队 月牙泉驻地 牛头山压裂队 九里坡集气站 虎跳涧泵站 凤凰岭苗圃 长白渡巡线队 大通河水站 马蹄寨驿站 星宿海科考队";

pub(crate) fn subjects() -> Vec<&'static str> {
    SUBJECTS.split(' ').collect()
}

/// A site as files: lists of twenty links with "next", and one page for each subject.
pub(crate) fn write_site(folder: &Path, subjects: &[&str]) {
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
        let next = if number + 1 < lists {
            format!("<a href=\"list{}.html\">下一页</a>", number + 2)
        } else {
            String::new()
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

/// A plain file server on loopback.
pub(crate) fn serve_files(folder: &Path) -> u16 {
    let folder = folder.to_owned();
    serve(move |request| {
        let path = request.path.trim_start_matches('/');
        let path = if path.is_empty() { "index.html" } else { path };
        match fs::read_to_string(folder.join(path)) {
            Ok(body) => Reply::page(&body),
            Err(_) => Reply::status(404),
        }
    })
}

/// A folder that looks like a clone with a release build in it.
pub(crate) struct CloneFolder {
    dir: tempfile::TempDir,
}

impl CloneFolder {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("temporary directory");
        let top = dir.path();
        fs::create_dir_all(top.join("config/sites.d")).expect("config");
        fs::create_dir_all(top.join("target/release")).expect("target");
        let shipped = fs::read_to_string(Path::new(ROOT).join("config/taojin.toml"))
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

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A shell that will run these lines, one after the other, until one fails.
    pub(crate) fn shell_command(&self, lines: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-e", "-c", lines])
            .current_dir(self.path())
            .env("EDITOR", "true")
            .env_remove("TAOJIN_CONFIG");
        command
    }

    #[track_caller]
    pub(crate) fn shell(&self, lines: &str) -> Ran {
        self.shell_command(lines).ran().good()
    }

    /// The program with the data folder of README.
    #[track_caller]
    pub(crate) fn taojin(&self, command: &str) -> Ran {
        self.shell(&format!("target/release/taojin --data-dir data {command}"))
    }
}
