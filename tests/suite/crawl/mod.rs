//! What a crawl finds, what it asks for and what it keeps.

mod attachments;
mod duplicates;
mod failing_pages;
mod foreign_sites;
mod gate;
mod incremental;
pub(crate) mod named_fields;
mod pass;
mod queues;
mod site_add;
mod year;

use std::path::Path;

use serde_json::Value;

use crate::support::ROOT;
use crate::support::folder::Folder;
use crate::support::http::{Reply, Request};
use crate::support::small_web::article;

/// A front page with links to `/1.html` … and these articles; anything else is 404.
fn news(count: usize) -> impl Fn(&Request) -> Reply + Send + Sync {
    move |request| {
        if request.path == "/" {
            let link = |n| format!("<li><a href=\"/{n}.html\">第{n}口井的钻探记录</a></li>");
            let links: String = (1..=count).map(link).collect();
            return Reply::page(&format!("<title>新闻</title><ul>{links}</ul>"));
        }
        let name = request.path.strip_prefix('/');
        let number = name.and_then(|name| name.strip_suffix(".html")?.parse().ok());
        match number.filter(|n| (1..=count).contains(n)) {
            Some(n) => Reply::page(&article(&format!("第{n}口井的钻探记录"), "")),
            None => Reply::status(404),
        }
    }
}

/// A folder with the shipped configuration: only its folders are set, and that loopback may be fetched.
fn shipped() -> Folder {
    let folder = Folder::new("", &[]);
    let shipped = Path::new(ROOT).join("config/reference.toml");
    std::fs::copy(shipped, folder.file("taojin.toml")).expect("the shipped configuration");
    let data = format!("data_dir = {:?}", folder.data_dir());
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
        folder.replace("taojin.toml", as_shipped, here);
    }
    folder
}

/// Adds a site of one host to a folder.
fn add_site(folder: &Folder, name: &str, port: u16, more: &str) {
    let text = format!("seeds = [\"http://127.0.0.1:{port}/\"]\n{more}");
    folder.write(&format!("sites.d/{name}.toml"), text);
}

/// The entry of a site in `crawl --json` or `status --json`.
fn of<'a>(json: &'a Value, name: &str) -> &'a Value {
    let sites = json["sites"].as_array().expect("sites");
    let found = sites.iter().find(|s| s["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {json}"))
}
