//! Named fields: a label on a page names one, a person names another, and searches find both; a redesign is told, and what was
//! stored keeps its fields.

use serde_json::{Value, json};

use crate::support::folder::assert_has;
use crate::support::small_web::{Reply, SmallWeb};

const STATES: [&str; 3] = ["在钻", "完钻", "试油"];

/// A number with a unit, its thousands apart.
fn depth(n: usize) -> String {
    format!("3,{:03} 米", n * 20)
}

/// The page of a well: a box with a label, a state without one, and a text of its own.
pub(crate) fn well(n: usize, layout: &str) -> Reply {
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

/// A site whose templates are learned of twelve pages.
fn site(more: &str) -> SmallWeb {
    SmallWeb::new(&format!(
        "[templates]\nlearn_at = 12\nlearn_small_at = 12\n{more}"
    ))
}

/// A site of wells, all of one layout, of which the first twelve are published and crawled.
pub(crate) fn wells(more: &str) -> SmallWeb {
    let web = site(more);
    crawl_wells(&web);
    web
}

/// Sets up forty wells on a site, publishes twelve, and crawls them.
pub(crate) fn crawl_wells(web: &SmallWeb) {
    set_wells(web, 1..=40, "old");
    publish(web, 12);
    web.crawl();
}

fn publish(web: &SmallWeb, count: usize) {
    let addresses: Vec<String> = (1..=count).map(|n| format!("a.test/{n}.html")).collect();
    web.seed(&addresses.iter().map(String::as_str).collect::<Vec<_>>());
}

fn set_wells(web: &SmallWeb, wells: std::ops::RangeInclusive<usize>, layout: &str) {
    for n in wells {
        web.set(&format!("a.test/{n}.html"), well(n, layout));
    }
}

/// Names the state of a well: the slot behind `<b class=state>`, as a person reads it from what `show` prints.
pub(crate) fn name_state(web: &SmallWeb, id: &str, pages: &str) {
    let shown = web.done(&["templates", "show", id]);
    let mut lines = shown.lines().skip_while(|line| !line.contains("b.state"));
    let slot = lines.nth(1).expect("a slot").trim();
    assert!(slot.contains(pages), "{shown}");
    let key = slot.trim_start_matches(['=', ' ', '[']).split(']').next();
    web.done(&["templates", "label", id, key.expect("a key"), "状态"]);
}

/// The templates that were learned.
pub(crate) fn templates(web: &SmallWeb) -> Vec<String> {
    let listed = web.lines(&["templates", "list", "--json"]);
    listed.iter().map(|row| row["id"].to_string()).collect()
}

#[test]
fn named_fields_are_searchable() {
    let web = wells("");
    let [id] = &templates(&web)[..] else {
        panic!("not one template")
    };
    // Learned after these pages were read.
    assert!(web.lines(&["export"]).iter().all(|d| d["meta"].is_null()));
    name_state(&web, id, "12 of 12 pages, 3 different");
    let wrong = web.run(&["templates", "label", id, "ffffffff", "状态"]);
    assert_has(&wrong.err, &["no region or slot"]);

    // New pages have both fields, and so have those read before, although their server would say that nothing has changed.
    publish(&web, 14);
    web.crawl();
    let exported = web.lines(&["export"]);
    let is_seventh = |d: &&Value| d["url"].as_str().is_some_and(|u| u.ends_with("/7.html"));
    let one = exported.iter().find(is_seventh).expect("well 7");
    for (label, value) in [("井号", "NY-7"), ("状态", "完钻"), ("井深", "3,140 米")] {
        assert_eq!(one["meta"][label], value);
    }
    // A number is one: exported, and compared.
    let depth = json!({"number": 3140.0, "unit": "米"});
    assert_eq!(one["fields"]["井深"], depth);
    for (query, hits) in [
        ("井号:NY-13", 1),
        ("井号:NY-3", 1),
        ("状态:完钻", 5),
        ("井深:>3140", 7),
        ("井深:3100..3140", 3),
    ] {
        assert_eq!(web.total(query), hits, "{query}");
    }
    // What the template yields is no part of the text.
    assert!(!one["text"].to_string().contains("版权所有"), "{one}");
    // Asked again, they are compared with what they were.
    let again = web.crawl();
    assert_eq!(again["documents_changed"], 0, "{again}");

    // The same for a page on its own, with the templates in a file.
    web.write("well.html", well(99, "old").body);
    web.done(&["templates", "export", "-o", "templates.jsonl"]);
    let alone = |more: &[&str]| {
        let args = ["extract", "well.html", "--templates", "templates.jsonl"];
        web.run(&[&args[..], more].concat())
    };
    assert_eq!(alone(&["--json"]).json()["meta"]["井号"], "NY-99");
    let xml = alone(&["--format", "xml"]).out;
    assert_has(&xml, &["<field label=\"状态\">在钻</field>"]);
    explained_by_template(&web);
    web.write("templates.jsonl", "{}");
    assert_has(&alone(&[]).failed(2).err, &["templates.jsonl:1:"]);

    // A redesign: the fields of what was stored before stay.
    set_wells(&web, 15..=40, "new");
    publish(&web, 40);
    web.crawl();
    assert_eq!(web.total("状态:完钻"), 5);
    // Named on the new pages too, they have it with their next visit.
    let all = templates(&web);
    assert_eq!(all.len(), 2);
    let new = all
        .iter()
        .find(|new| *new != id)
        .expect("a second template");
    name_state(&web, new, "3 different");
    web.crawl();
    assert_eq!(web.total("井号:NY-33"), 1);
    assert_eq!(web.total("状态:完钻"), 14);
}

/// `extract --explain` with the templates of `templates.jsonl`: a well fits, a page of another site does not.
fn explained_by_template(web: &SmallWeb) {
    web.write(
        "other.html",
        "<body><main><table><tr><td>别的版面</td></tr></table></main></body>",
    );
    let explain = |page: &str, json: bool| {
        let mut args = vec![
            "extract",
            page,
            "--templates",
            "templates.jsonl",
            "--explain",
        ];
        args.extend(json.then_some("--json"));
        web.run(&args)
    };
    let shown = explain("well.html", false).out;
    assert_has(
        &shown,
        &[
            "number 1 of the file (a, of 12 pages)",
            "⟨fixed text, 井号, 状态, 井深⟩",
        ],
    );
    let well = explain("well.html", true).json();
    assert_eq!(well["meta"]["井号"], "NY-99");
    assert_eq!(well["template_fit"]["number"], 1);
    assert_eq!(well["template_fit"]["nearest"][0]["fits"], true);
    let lines = well["explain"]["lines"].as_array().expect("lines");
    let slots_of = |text: &str| {
        let line = lines
            .iter()
            .find(|l| l["text"].as_str().is_some_and(|t| t.contains(text)));
        line.expect("a line")["slots"].clone()
    };
    assert_eq!(slots_of("版权所有"), json!(["fixed text"]));

    let none = explain("other.html", true).json();
    assert_eq!(none["template_fit"]["number"], Value::Null);
    assert_eq!(none["template_fit"]["nearest"][0]["fits"], false);
    assert_has(&explain("other.html", false).out, &["none fits"]);
}

/// Documents that wait for their fields, as `status` and the list of templates say.
fn waiting(web: &SmallWeb) -> u64 {
    let status = web.json(&["status", "--json"]);
    let waiting = status["sites"][0]["templates"]["awaiting_fields"].as_u64();
    let waiting = waiting.expect("a number");
    for template in web.lines(&["templates", "list", "--json"]) {
        assert_eq!(template["awaiting_fields"], waiting, "{template}");
    }
    let listed = web.run(&["templates", "list"]).err;
    let line = format!("documents that wait for their fields: {waiting};");
    assert_eq!(listed.contains(&line), waiting > 0, "{listed}");
    waiting
}

#[test]
fn documents_wait_until_read_again() {
    let web = wells("");
    let id = &templates(&web)[0];
    // What a template learned by itself is no reason to fetch everything once more.
    assert_eq!(waiting(&web), 0);
    let again = web.crawl();
    assert!(again["not_modified"].as_u64() >= Some(12), "{again}");

    // What a person says comes to pages of which the server would say that they have not changed.
    name_state(&web, id, "12 of 12 pages, 3 different");
    assert_eq!(waiting(&web), 12);
    assert!(
        web.run(&["status"])
            .out
            .contains("taojin crawl --recheck --site a")
    );
    let page = well(5, "old");
    web.set("a.test/5.html", Reply::status(500));
    let named = web.crawl();
    assert_eq!(
        (&named["documents_changed"], waiting(&web)),
        (&json!(11), 1),
        "an error brings no fields: {}",
        web.why("a.test/5.html")
    );
    web.set("a.test/5.html", page);
    web.crawl();
    assert_eq!((waiting(&web), web.total("状态:完钻")), (0, 4));
    let again = web.crawl();
    assert!(again["not_modified"].as_u64() >= Some(12), "{again}");

    // A region that is labelled counts like a name, and so does a template that is used again.
    let shown = web.done(&["templates", "show", id]);
    let region = shown.lines().find(|line| line.contains(" title "));
    let region = region.and_then(|line| line.split_whitespace().next());
    web.done(&[
        "templates",
        "label",
        id,
        region.expect("a region"),
        "boilerplate",
    ]);
    assert_eq!(waiting(&web), 12);
    web.crawl();
    assert_eq!(waiting(&web), 0);
    web.done(&["templates", "disable", id]);
    assert_eq!(waiting(&web), 0);
    web.done(&["templates", "disable", id, "--undo"]);
    assert_eq!(waiting(&web), 12);
    // Of a site that looks at no article again, too.
    web.configure("[revisit]\narticles = false\n");
    web.crawl();
    assert_eq!(waiting(&web), 0);
    name_state(&web, id, "12 of 12 pages, 3 different");
    web.crawl();
    assert_eq!(waiting(&web), 0);
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
fn warc_replay_adds_named_fields() {
    let web = wells("[warc]\nenabled = true\n");
    name_state(&web, &templates(&web)[0], "12 of 12 pages, 3 different");
    let files = std::fs::read_dir(web.data_dir().join("warc")).expect("archives");
    let files: Vec<String> = files
        .map(|file| file.expect("a file").path().display().to_string())
        .collect();
    let mut args = vec!["crawl", "--json", "--warc"];
    args.extend(files.iter().map(String::as_str));
    web.forget_log();
    let replayed = web.json(&args);
    assert_eq!(replayed["documents_changed"], 12, "{replayed}");
    assert_eq!(web.requests(), 0);
    assert_eq!(web.total("状态:完钻"), 4);
    assert_eq!(waiting(&web), 0);
    web.forget_log();
    let again = web.json(&args);
    assert_eq!(again["documents_changed"], 0, "{again}");
}

#[test]
fn scope_documents_overrides_page_type() {
    let web = site("");
    let addresses: Vec<String> = (1..=13).map(|n| format!("a.test/film/{n}")).collect();
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    for (n, address) in (1..).zip(&addresses) {
        web.set(address, film(n));
    }
    web.seed(&addresses[..12]);
    let before = web.crawl();
    assert_eq!(before["documents_new"], 0, "{before}");

    let site = web.read("sites.d/a.toml");
    web.write("sites.d/a.toml", format!("{site}documents = [\"~(\"]\n"));
    assert_has(&web.refused(&["check"]), &["scope.documents"]);
    web.write(
        "sites.d/a.toml",
        format!("{site}documents = [\"/film/\"]\n"),
    );
    let crawled = web.crawl();
    assert_eq!(crawled["documents_new"], 12, "{crawled}");
    web.seed(&addresses[12..]);
    web.crawl();
    let exported = web.lines(&["export"]);
    let new = exported.iter().find(|d| d["title"] == "影片13");
    let new = new.expect("a film");
    assert_eq!(new["meta"]["导演"], "侯孝贤");
    assert_eq!(new["fields"]["类型"], json!(["爱情", "类型13"]));
}
