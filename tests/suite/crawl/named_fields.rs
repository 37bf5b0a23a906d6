//! Named fields: a label on a page names one, a person names another, and searches find both; a redesign is told, and what was
//! stored keeps its fields.

use serde_json::Value;

use crate::support::small_web::{Reply, SmallWeb};

const STATES: [&str; 3] = ["在钻", "完钻", "试油"];

/// A number with a unit, its thousands apart.
fn depth(n: usize) -> String {
    format!("3,{:03} 米", n * 20)
}

/// The page of a well: a box with a label, a state without one, and a text of its own.
fn well(n: usize, layout: &str) -> Reply {
    let state = STATES[n % STATES.len()];
    // Words of its own: pages that differ in numbers alone are copies.
    let word = |at: usize| -> String {
        let characters =
            (0..4).filter_map(|i| char::from_u32(0x4E00 + (n * 97 + at * 31 + i) as u32 % 5_000));
        characters.collect()
    };
    let text: String = (1..6)
        .map(|part| {
            let (place, colour, town) = (word(part), word(part + 7), word(part + 13));
            format!(
                "<p>钻井队在{place}的山坡上连续工作了{part}天，取出的岩心是{colour}，样品装箱后由卡车运到{town}的化验室，\
                 等待{colour}的结果公布，{place}的居民也在等。</p>"
            )
        })
        .collect();
    Reply::page(&format!(
        "<title>第{n}口井</title><body class={layout}><div class={layout}-top><a href=/>首页</a></div><h1>第{n}口井钻探记录</h1>\
         <div class={layout}-box><span class=label>井号</span>：<span class=value>NY-{n}</span><b class=state>{state}</b>\
         <i>|</i><span class=label>井深</span>：<span class=value>{}</span></div>\
         <div class={layout}-text>{text}</div><div class={layout}-end>版权所有</div>",
        depth(n)
    ))
}

struct Wells(SmallWeb);

impl Wells {
    fn publish(&self, count: usize) {
        let addresses: Vec<String> = (1..=count).map(|n| format!("a.test/{n}.html")).collect();
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        self.0.seed(&addresses);
    }

    fn set(&self, wells: std::ops::RangeInclusive<usize>, layout: &str) {
        for n in wells {
            self.0.set(&format!("a.test/{n}.html"), well(n, layout));
        }
    }

    fn hits(&self, query: &str) -> u64 {
        let found = self.0.json(&["search", query, "--json"]);
        found["total"].as_u64().expect("a number of hits")
    }

    /// Names the state of a well: the slot behind `<b class=state>`, as a person reads it from what `show` prints.
    fn name_state(&self, id: &str, pages: &str) {
        let shown = self.0.taojin(&["templates", "show", id]).output();
        let shown = String::from_utf8_lossy(&shown.expect("taojin runs").stdout).into_owned();
        let mut lines = shown.lines().skip_while(|line| !line.contains("b.state"));
        let slot = lines.nth(1).expect("a slot").trim();
        assert!(slot.contains(pages), "{shown}");
        let key = slot.trim_start_matches(['=', ' ', '[']).split(']').next();
        let args = ["templates", "label", id, key.expect("a key"), "状态"];
        let named = self.0.taojin(&args).output().expect("taojin runs");
        assert!(named.status.success(), "{named:?}");
    }

    fn lines(&self, args: &[&str]) -> Vec<Value> {
        let output = self.0.taojin(args).output().expect("taojin runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }
}

#[test]
fn a_label_and_a_person_name_fields_that_searches_find() {
    let wells = Wells(SmallWeb::new(
        "[templates]\nlearn_at = 12\nlearn_small_at = 12\n",
    ));
    wells.set(1..=40, "old");
    wells.publish(12);
    wells.0.crawl();
    let listed = wells.lines(&["templates", "list", "--json"]);
    assert_eq!(listed.len(), 1, "{listed:?}");
    let id = listed[0]["id"].to_string();
    // Learned after these pages were read.
    assert!(wells.lines(&["export"]).iter().all(|d| d["meta"].is_null()));
    wells.name_state(&id, "12 of 12 pages, 3 different");
    let wrong = wells
        .0
        .taojin(&["templates", "label", &id, "ffffffff", "状态"])
        .output();
    let wrong = String::from_utf8_lossy(&wrong.expect("taojin runs").stderr).into_owned();
    assert!(wrong.contains("no region or slot"), "{wrong}");

    // New pages have both fields, and so have those read before, although their server would say that nothing has changed.
    wells.publish(14);
    wells.0.crawl();
    assert_eq!(wells.hits("井号:NY-13"), 1);
    assert_eq!(wells.hits("井号:NY-3"), 1);
    assert_eq!(wells.hits("状态:完钻"), 5);
    let exported = wells.lines(&["export"]);
    let one = exported
        .iter()
        .find(|d| d["url"].as_str().is_some_and(|u| u.ends_with("/7.html")));
    let one = one.expect("well 7");
    assert_eq!(one["meta"]["井号"], "NY-7");
    assert_eq!(one["meta"]["状态"], "完钻");
    // A number is one: exported, and compared.
    assert_eq!(one["meta"]["井深"], "3,140 米");
    assert_eq!(
        one["fields"]["井深"],
        serde_json::json!({"number": 3140.0, "unit": "米"})
    );
    assert_eq!(wells.hits("井深:>3140"), 7);
    assert_eq!(wells.hits("井深:3100..3140"), 3);
    // What the template yields is no part of the text.
    assert!(
        !one["text"].as_str().expect("a text").contains("版权所有"),
        "{one}"
    );
    // Asked again, they are compared with what they were.
    wells.0.forget_log();
    let again = wells.0.crawl();
    assert_eq!(again["documents_changed"], 0, "{again}");

    // The same for a page on its own, with the templates in a file.
    let file = wells.0.path().join("templates.jsonl");
    let page = wells.0.path().join("well.html");
    std::fs::write(&page, well(99, "old").body).expect("a page");
    let file = file.display().to_string();
    let page = page.display().to_string();
    let written = wells
        .0
        .taojin(&["templates", "export", "-o", &file])
        .output();
    assert!(written.expect("taojin runs").status.success());
    let alone = wells.lines(&["extract", &page, "--json", "--templates", &file]);
    assert_eq!(alone[0]["meta"]["井号"], "NY-99", "{alone:?}");
    let xml = wells
        .0
        .taojin(&["extract", &page, "--format", "xml", "--templates", &file]);
    let xml = { xml }.output().expect("taojin runs").stdout;
    let xml = String::from_utf8_lossy(&xml).into_owned();
    assert!(xml.contains("<field label=\"状态\">在钻</field>"), "{xml}");
    std::fs::write(&file, "{}").expect("a file");
    let wrong = wells
        .0
        .taojin(&["extract", &page, "--templates", &file])
        .output();
    let wrong = wrong.expect("taojin runs");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("templates.jsonl:1:"));

    // A redesign: told, and the fields of what was stored before stay.
    wells.set(15..=40, "new");
    wells.publish(40);
    wells.0.crawl();
    let status = wells
        .0
        .taojin(&["templates", "list"])
        .output()
        .expect("taojin runs");
    let said = String::from_utf8_lossy(&status.stderr).into_owned();
    assert!(said.contains("redesign"), "{said}");
    assert_eq!(wells.hits("状态:完钻"), 5);
    assert_eq!(wells.lines(&["templates", "list", "--json"]).len(), 2);
    // Named on the new pages too, they have it with their next visit.
    let all = wells.lines(&["templates", "list", "--json"]);
    let new = all
        .iter()
        .map(|row| row["id"].to_string())
        .find(|new| *new != id);
    wells.name_state(&new.expect("a second template"), "3 different");
    wells.0.crawl();
    assert_eq!(wells.hits("井号:NY-33"), 1);
    assert_eq!(wells.hits("状态:完钻"), 14);
}

/// The page of a film: fields, a sentence, and many links.
fn film(n: usize) -> Reply {
    let links: String = (0..30)
        .map(|at| format!("<li><a href=/f/{n}-{at}>影片{n}的第{at}篇热门影评标题</a></li>"))
        .collect();
    let director = ["陈凯歌", "侯孝贤", "许鞍华"][n % 3];
    let genre = ["剧情", "爱情", "喜剧"][n % 3];
    Reply::page(&format!(
        "<title>影片{n}</title><h1>影片{n}</h1><div id=info><span class=pl>导演</span>: <span class=attrs><a href=/p/{n}>{director}</a></span><br>\
         <span class=pl>类型:</span> <span>{genre}</span> / <span>类型{n}</span><br></div><div class=intro>一段关于影片{n}的简介。</div><ul>{links}</ul>"
    ))
}

#[test]
fn an_archive_gives_stored_pages_the_fields_that_were_named_since() {
    let wells = Wells(SmallWeb::new(
        "[templates]\nlearn_at = 12\nlearn_small_at = 12\n[warc]\nenabled = true\n",
    ));
    wells.set(1..=12, "old");
    wells.publish(12);
    wells.0.crawl();
    let listed = wells.lines(&["templates", "list", "--json"]);
    wells.name_state(&listed[0]["id"].to_string(), "12 of 12 pages, 3 different");
    let folder = wells.0.path().join("data").join("warc");
    let files = std::fs::read_dir(&folder).expect("archives");
    let files: Vec<String> = files
        .map(|file| file.expect("a file").path().display().to_string())
        .collect();
    let mut args = vec!["crawl", "--json", "--warc"];
    args.extend(files.iter().map(String::as_str));
    wells.0.forget_log();
    let replayed = wells.0.json(&args);
    assert_eq!(replayed["documents_changed"], 12, "{replayed}");
    assert_eq!(wells.0.requests(), 0);
    assert_eq!(wells.hits("状态:完钻"), 4);
}

#[test]
fn pages_that_read_like_lists_are_documents_where_the_site_says_so() {
    let films = Wells(SmallWeb::new(
        "[templates]\nlearn_at = 12\nlearn_small_at = 12\n",
    ));
    let addresses: Vec<String> = (1..=12).map(|n| format!("a.test/film/{n}")).collect();
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    for (n, address) in (1..).zip(&addresses) {
        films.0.set(address, film(n));
    }
    films.0.seed(&addresses);
    let before = films.0.crawl();
    assert_eq!(before["documents_new"], 0, "{before}");

    let file = films.0.path().join("sites.d").join("a.toml");
    let site = std::fs::read_to_string(&file).expect("the site's file");
    let with = |pattern: &str| format!("{site}documents = [{pattern:?}]\n");
    std::fs::write(&file, with("~(")).expect("the site's file");
    let wrong = films.0.taojin(&["check"]).output().expect("taojin runs");
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(
        !wrong.status.success() && said.contains("scope.documents"),
        "{said}"
    );
    std::fs::write(&file, with("/film/")).expect("the site's file");
    let crawled = films.0.crawl();
    assert_eq!(crawled["documents_new"], 12, "{crawled}");
    films.0.set("a.test/film/13", film(13));
    films.0.seed(&["a.test/film/13"]);
    films.0.crawl();
    let exported = films.lines(&["export"]);
    let new = exported
        .iter()
        .find(|d| d["title"] == "影片13")
        .expect("a film");
    assert_eq!(new["meta"]["导演"], "侯孝贤");
    assert_eq!(new["fields"]["类型"], serde_json::json!(["爱情", "类型13"]));
}
