//! `taojin eval` on a small folder of hand-made labelled pages: table, JSON, predictions, the difference to an earlier
//! run, and one line for each mistake.

use std::fs;

use serde_json::{Value, json};

use crate::support::folder::{Folder, Ran, assert_has};

/// A folder with sets of labelled pages.
struct Corpus(Folder);

const TITLE: &str = "南缘盆地首口深层气井投入试采";
const BODY: [&str; 4] = [
    "本报讯 记者从勘探指挥部获悉，南缘盆地首口深层气井昨日投入试采，初期日产量稳定在二十万立方米左右，超过设计指标。",
    "这口井设计井深六千八百米，钻井过程中先后穿越三套高压盐水层，施工队伍采用精细控压技术，全井没有发生一起复杂情况。",
    "指挥部负责人说，试采为期三个月，期间将每日记录压力和产量，为编制开发方案提供依据，明年计划在同一构造再部署四口评价井。",
    "当地居民冬季用气将首先得到保障，连接主干管网的支线长四十二公里，目前焊接已经完成，预计下月通过验收后投入运行。",
];

fn article(title: &str, day: &str, body: &[&str]) -> String {
    let paragraphs: Vec<String> = body.iter().map(|p| format!("<p>{p}</p>")).collect();
    format!(
        "<!doctype html><html lang=zh><head><meta charset=utf-8><title>{title}_南缘日报</title></head><body>\
         <div class=nav><a href=/>首页</a> <a href=/news/>新闻</a> <a href=/about/>关于</a></div>\
         <div class=article><h1>{title}</h1><div class=info>{day} 10:20 来源：南缘日报</div>\
         <div class=content>{}</div></div><div class=foot>南缘日报社 版权所有</div></body></html>",
        paragraphs.join("\n")
    )
}

fn list() -> String {
    let items: Vec<String> = (1..40)
        .map(|i| format!("<li><a href=/news/2020/{i}.html>第{i}条：油气田生产建设工作取得新的进展消息</a> 2020-03-{:02}</li>", i % 28 + 1))
        .collect();
    format!(
        "<!doctype html><html lang=zh><head><meta charset=utf-8><title>新闻列表_南缘日报</title></head><body>\
         <div class=nav><a href=/>首页</a></div><ul>{}</ul></body></html>",
        items.join("\n")
    )
}

fn address(id: &str) -> String {
    format!("http://daily.example/{id}.html")
}

impl Corpus {
    /// A set of three pages, one of them not there, and a set of one list. The gold is what the extraction gives, but for
    /// what the tests are about: they judge the scoring, and stay as they are when the extraction gets better.
    fn new() -> Self {
        let corpus = Self(Folder::new("", &[]));
        corpus.page("news", "first", &article(TITLE, "2020-03-05", &BODY));
        corpus.page("news", "wrong", &article(TITLE, "2020-03-05", &BODY));
        corpus.page("pages", "list", &list());
        let first = corpus.extracted("news", "first");
        let gold = |id: &str, lang: &str, title: &Value, day: &str| {
            json!({"id": id, "url": address(id), "lang": lang, "title": title, "published": day,
                   "text": first["text"], "page_type": "article"})
        };
        corpus.gold(
            "news",
            &[
                gold("first", "zh", &first["title"], "2020-03-05"),
                gold("wrong", "zh", &json!("另一个标题"), "1999-01-01"),
                gold("gone", "en", &first["title"], "2020-03-05"),
            ],
        );
        corpus.gold(
            "pages",
            &[json!({"id": "list", "url": address("list"), "lang": "zh", "title": null})],
        );
        corpus
    }

    fn extracted(&self, set: &str, id: &str) -> Value {
        let page = format!("{set}/html/{id}.html");
        let args = ["extract", "--json", "--url", &address(id), &page];
        self.0.json(&args)
    }

    fn gold(&self, set: &str, lines: &[Value]) {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        self.0.write(&format!("{set}/gold.jsonl"), lines.join("\n"));
    }

    fn page(&self, set: &str, id: &str, html: &str) {
        let folder = self.0.file(set).join("html");
        fs::create_dir_all(folder).expect("folders");
        self.0.write(&format!("{set}/html/{id}.html"), html);
    }

    fn eval(&self, args: &[&str]) -> Ran {
        self.0.run(&[&["eval"], args].concat())
    }

    fn done(&self, args: &[&str]) -> String {
        self.eval(args).good().out
    }

    fn report(&self, args: &[&str]) -> Value {
        let json = [args, &["--json"]].concat();
        self.eval(&json).good().json()
    }

    fn refused(&self, args: &[&str]) -> String {
        self.eval(args).refused()
    }
}

#[test]
fn eval_rates_table_and_json() {
    let corpus = Corpus::new();
    let report = corpus.report(&[".", "--worst", "2"]);
    let news = &report["news"];
    // Two whole texts and one that is not there.
    for (rate, value) in [
        ("pages", json!(3)),
        ("missing", json!(1)),
        ("title", json!(0.3333)),
        ("date", json!(0.3333)),
        ("page", json!(0.6667)),
        ("p", json!(1.0)),
        ("r", json!(0.6667)),
        ("f1", json!(0.8)),
        ("kind", json!(0.6667)),
        ("worst", json!([[0.0, "gone"], [1.0, "first"]])),
    ] {
        assert_eq!(news[rate], value, "{rate}");
    }
    assert_eq!(news["wrong"][0]["gold"], json!("另一个标题"));
    assert!(
        news["mb_per_s"].as_f64().is_some_and(|mb| mb > 0.0),
        "{news}"
    );
    let is_hub = corpus.extracted("pages", "list")["kind"] == "hub";
    assert_eq!(report["pages"]["kind"], json!(f64::from(u8::from(is_hub))));
    assert_eq!(report["pages"].get("f1"), None);

    let table = corpus.done(&[".", "--worst", "1", "--by-language"]);
    let row = |name: &str| {
        let line = table.lines().find(|l| l.starts_with(name));
        let line = line.unwrap_or_else(|| panic!("no row {name} in {table}"));
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        row("news")[1..7],
        ["3", "1", "0.8000", "1.0000", "0.6667", "0.6667"]
    );
    assert_eq!(row("  zh")[1..4], ["2", "0", "1.0000"]);
    assert_eq!(row("pages")[3], "-");
    assert_eq!(row("(all)")[1], "4");
    assert_has(
        &table,
        &[
            "    0.000 gone\n",
            "title wrong: “",
            "instead of “另一个标题”",
        ],
    );

    let zh = corpus.report(&[".", "--lang", "zh", "--set", "news"]);
    assert_eq!(zh["news"]["pages"], json!(2));
    assert_eq!(zh.get("pages"), None);
}

#[test]
fn eval_method_is_judged() {
    let corpus = Corpus::new();
    let rates = |method: &str| corpus.report(&[".", "--method", method, "--set", "news"]);
    // One of three pages is not there; the text of the others is one element of paragraphs.
    let whole = rates("model")["news"]["page"].clone();
    assert_eq!(rates("ratio")["news"]["page"], whole);
    corpus.eval(&[".", "--method", "words"]).failed(2);
    let explain = ["extract", "--json", "--explain", "--method", "ratio"];
    let document = corpus
        .0
        .json(&[&explain[..], &["news/html/first.html"]].concat());
    assert_eq!(document["text"], BODY.join("\n"));
    let paths = document["explain"]["paths"].as_array().expect("a table");
    let of_text = |path: &&Value| path["path"] == "html.body.div.div.p";
    let row = paths.iter().find(of_text).expect("the path of the text");
    assert_eq!((&row["texts"], &row["proposed"]), (&4.into(), &1.0.into()));
    let place = document["explain"]["element"].as_str().expect("a place");
    assert!(place.ends_with("div.content"), "{place}");
}

#[test]
fn eval_papers_table_and_json() {
    let corpus = Corpus::new();
    let report = corpus.report(&[".", "--papers"]);
    let rows = report["rows"].as_array().expect("rows");
    let names: Vec<&Value> = rows.iter().map(|row| &row["set"]).collect();
    assert_eq!(names, ["news", "(all)"]);
    // As `--method` and without it.
    let of = |args: &[&str]| corpus.report(args)["news"]["page"].clone();
    let (model, ratio) = (of(&["."]), of(&[".", "--method", "ratio"]));
    assert_eq!((&rows[0]["model"], &rows[0]["ratio"]), (&model, &ratio));
    assert_eq!(
        (&report["alpha"], &report["beta"]),
        (&1.into(), &"30%".into())
    );

    let strict = ["--papers", "--alpha", "500", "--beta", "20%"];
    let table = corpus.done(&[&["."][..], &strict].concat());
    let heading = "algorithm 2: more than 500 sentence marks, links below 20%";
    assert_has(&table, &[heading, "CEPR        CEPF algorithm 2"]);
    for (args, wanted) in [
        (&["--alpha=-1"][..], "invalid value '-1'"),
        (&["--alpha=many"], "invalid value 'many'"),
        (&["--beta=0%"], "`0%` is neither a number of characters"),
        (&["--beta=3.5"], "`3.5` is neither"),
        (&["--method", "ratio"], "cannot be used with"),
    ] {
        let ran = corpus.eval(&[&[".", "--papers"][..], args].concat());
        let error = ran.failed(2).err;
        assert_has(error.lines().next().unwrap_or_default(), &[wanted]);
    }
    let alone = corpus.eval(&[".", "--alpha", "2"]).failed(2);
    assert_has(&alone.err, &["--papers"]);
}

#[test]
fn eval_predictions_per_page() {
    let corpus = Corpus::new();
    let output = corpus.eval(&["news", "--predictions", "p.jsonl"]);
    assert_has(&output.err, &["gone.html"]);
    let lines = corpus.0.read("p.jsonl");
    let first: Value = serde_json::from_str(lines.lines().next().expect("a line")).expect("JSON");
    assert_eq!(lines.lines().count(), 2);
    // One set alone is named after its folder.
    assert_eq!(
        (&first["set"], &first["id"]),
        (&json!("news"), &json!("first"))
    );
    let document = corpus.extracted("news", "first");
    for field in ["title", "published", "author", "text", "comments"] {
        assert_eq!(first[field], document[field], "{field}");
    }
    assert_eq!(first.as_object().map(serde_json::Map::len), Some(7));
}

#[test]
fn eval_baseline_differences() {
    let corpus = Corpus::new();
    corpus.done(&[".", "--save", "before.jsonl"]);
    corpus.page(
        "news",
        "first",
        &article("换了标题的同一篇报道文章", "2020-03-05", &BODY[..2]),
    );
    corpus.page("news", "wrong", &article("另一个标题", "2020-03-05", &BODY));
    let text = corpus.done(&[".", "--baseline", "before.jsonl"]);
    assert!(
        text.contains("-1.000  title    1.000 → 0.000  news/first"),
        "{text}"
    );
    let worse_text = |l: &&str| l.starts_with("  -") && l.contains("  text ");
    let line = text.lines().find(worse_text);
    assert!(line.is_some_and(|l| l.ends_with("news/first")), "{text}");
    assert!(
        text.contains("better: 1\n  +1.000  title    0.000 → 1.000  news/wrong"),
        "{text}"
    );

    let report = corpus.report(&[".", "--baseline", "before.jsonl", "--set", "news"]);
    let difference = &report["news"]["difference"];
    assert_eq!(difference["before"]["title"], difference["now"]["title"]);
    assert_eq!(difference["worse"][0]["id"], json!("first"));
    assert_eq!(
        difference["better"],
        json!([{"id": "wrong", "field": "title", "before": 0.0, "now": 1.0}])
    );
}

/// Pages of many sites whose text is what no other page has as its text: the quotation, and none of the paragraphs.
#[test]
fn eval_learn_and_folds() {
    let corpus = Corpus(Folder::new("", &[]));
    let quoted = |site: usize| -> Vec<String> {
        (1..4).map(|n| format!("“北坡第{site}井的钻工在{n}月的信里写道，山口的雪还没有化，他们已经把井架立了起来，大家都好。”")).collect()
    };
    let sites = 0..24;
    let set = |site: usize| if site < 12 { "odd" } else { "odder" };
    for site in sites.clone() {
        let quotes: Vec<String> = quoted(site)
            .iter()
            .map(|q| format!("<blockquote>{q}</blockquote>"))
            .collect();
        let page = article(TITLE, "2020-03-05", &BODY).replace(
            "<div class=foot>",
            &format!("<aside>{}</aside><div class=foot>", quotes.concat()),
        );
        corpus.page(set(site), &format!("page-{site}"), &page);
    }
    for half in ["odd", "odder"] {
        let gold = sites.clone().filter(|site| set(*site) == half).map(|site| {
            json!({"id": format!("page-{site}"), "url": format!("http://site-{site}.example/a.html"),
                   "text": quoted(site).join("\n")})
        });
        corpus.gold(half, &gold.collect::<Vec<_>>());
    }
    let f1 = |args: &[&str]| {
        let rate = &corpus.report(args)["odd"]["f1"];
        rate.as_f64().expect("a number")
    };
    assert!(f1(&["."]) < 0.6);
    assert!(f1(&[".", "--folds", "2", "--seed", "7"]) > 0.9);
    // One set taught by the other, beside the weights of the program.
    let apart = corpus.report(&[".", "--leave-one-set-out", "--set", "odd"]);
    let rate = |row: &str| apart["odd"][row]["f1"].as_f64().expect("a number");
    assert!(rate("unseen") > 0.9 && rate("fitted") < 0.6, "{apart}");
    assert!(apart.get("odder").is_none());

    // What was learned serves without a compiler, and is the same each time.
    corpus.done(&[".", "--learn", "one.json"]);
    corpus.done(&[".", "--learn", "two.json"]);
    let learned = corpus.0.read("one.json");
    assert_eq!(learned, corpus.0.read("two.json"));
    let weights: Value = serde_json::from_str(&learned).expect("JSON");
    assert_eq!(weights["sources"][0]["set"], "odd");
    assert_eq!(weights["sources"][0]["pages"], 12);
    assert!(f1(&[".", "--weights", "one.json"]) > 0.9);
    corpus.0.configure("[extract]\nweights = \"one.json\"\n");
    assert!(f1(&["."]) > 0.9);
    // Pages without a licence teach nothing where one is asked for.
    let refused = corpus.refused(&[".", "--licensed", "--learn", "three.json"]);
    assert_has(&refused, &["no labelled page"]);
    let readme = "- Source: my pages\n- Licence: CC0 (mine)\n";
    corpus.0.write("odd/README.md", readme);
    corpus.done(&[".", "--licensed", "--learn", "three.json"]);
    let learned = corpus.0.read("three.json");
    let sources = &serde_json::from_str::<Value>(&learned).expect("JSON")["sources"];
    assert_eq!(sources.as_array().map(Vec::len), Some(1));
    assert_eq!(sources[0]["licence"], "CC0");

    // A file cut off is refused, wherever it is named.
    let half = learned.split_at(learned.len() / 2).0;
    corpus.0.write("one.json", half);
    for args in [&["--weights", "one.json", "."][..], &["."]] {
        assert_has(&corpus.refused(args), &["one.json", "EOF"]);
    }
}

#[test]
fn eval_mistakes_exit_2() {
    let corpus = Corpus::new();
    fs::create_dir(corpus.0.file("empty")).expect("folder");
    for (args, wanted) in [
        (&["empty"][..], "no labelled pages"),
        (&["nowhere"], "nowhere"),
        (&[".", "--set", "old"], "no set old; there are: news, pages"),
        (&[".", "--lang", "fr"], "no labelled page has lang fr"),
        (
            &[".", "--baseline", "news/gold.jsonl"],
            "gold.jsonl:1: not a run",
        ),
        (&[".", "--baseline", "none.jsonl"], "none.jsonl"),
        (&[".", "--save", "no/folder"], "no/folder"),
        (&[".", "--predictions", "no/folder"], "no/folder"),
        // One site cannot be judged by what others teach.
        (&[".", "--folds", "4"], "no labelled page of enough sites"),
    ] {
        assert_has(&corpus.refused(args), &[wanted]);
    }
    let gold = "{\"id\": \"first\"}\n{\"id\": 7}\n";
    corpus.0.write("news/gold.jsonl", gold);
    assert_has(&corpus.refused(&["."]), &["gold.jsonl:2: "]);
}
