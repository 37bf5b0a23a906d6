//! The commands as a person and as programs meet them: the program with a configuration of its own.

mod config;
mod group;
mod mistakes;
mod outputs;
mod setup;

use serde_json::json;

use crate::support::folder::{Folder, imported};

const SITE: &str = "seeds = [\"http://a.example/\"]\n";

/// A folder with a site and no index.
fn folder() -> Folder {
    Folder::new("", &[("x.toml", SITE)])
}

/// A folder with three documents in its index, one of which replaced another.
fn filled() -> Folder {
    let folder = folder();
    let one = "http://a.example/1";
    folder.import([
        imported(one, "页岩气开发提速", "川南页岩气水平井产量创新高。"),
        json!({"url": "http://a.example/2", "title": "储气库注气", "text": "储气库全部转入注气。", "published": "2016-05-09"}),
        imported(one, "页岩气开发再提速", "川南页岩气水平井产量再创新高。"),
    ]);
    folder
}
