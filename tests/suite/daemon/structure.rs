//! A page with headings, a list, a table, code and links: crawled by a daemon, shown, asked for, exported and read from a feed.

use crate::support::daemon::{Daemon, LISTEN};
use crate::support::folder::assert_has;
use crate::support::small_web::SmallWeb;

const MANUAL: &str = "<title>注水站操作规程</title><h1>注水站操作规程</h1><p>2026-05-03 08:30</p>\
    <p>本规程适用于采油三厂各注水站，值班人员应当熟读，并在每次操作之前核对设备编号和压力读数。</p>\
    <h2>一、准备</h2><p>操作之前应当<b>关闭进口阀门</b>，并按<a href='/safety.html?from=manual#gloves'>安全规定</a>佩戴手套和护目镜。</p>\
    <ul><li>扳手两把，规格与阀门相符，不得有裂纹。</li><li>压力表一块，上次校验不超过六个月。</li></ul>\
    <h2>二、压力</h2><p>各井的注水压力按下表执行，超出范围的应当立即停泵，并报告当班站长。</p>\
    <table><tr><th>井号</th><th>压力</th></tr><tr><td>甲-1</td><td>7.5</td></tr><tr><td>乙|2</td><td></td></tr></table>\
    <h2>三、采集程序</h2><p>采集程序每分钟读一次压力，主要部分如下，修改之前应当先在试验台上运行一天。</p>\
    <pre class='language-python'>def read(pump):\n    value = pump.pressure()\n\n    return value &lt; 9\n</pre>\
    <h2>四、记录</h2><p>记录表每班一张，由站长签字，月底交厂部存档，保存期不少于三年。</p>";

#[test]
fn structure_of_a_page_reaches_its_readers() {
    let web = SmallWeb::new(LISTEN);
    web.seed(&["a.test/n/1.html"]);
    web.set_page("a.test/n/1.html", MANUAL);
    let daemon = Daemon::start(&web);
    daemon.wait_for_documents(1);
    let hits = daemon.hits("q=%E6%B3%A8%E6%B0%B4%E7%AB%99");
    let id = hits[0]["id"].as_str().expect("an id").to_owned();

    let blocks = [
        "\n## 一、准备\n",
        "\n- 扳手两把，规格与阀门相符，不得有裂纹。\n- 压力表一块",
        "\n| 井号 | 压力 |\n| --- | --- |\n| 甲-1 | 7.5 |\n| 乙\\|2 |  |\n",
        "\n```python\ndef read(pump):\n    value = pump.pressure()\n\n    return value < 9\n```\n",
        "**关闭进口阀门**",
    ];
    let link = format!(
        "[安全规定]({}/safety.html?from=manual#gloves)",
        web.url("a.test/").trim_end_matches('/')
    );
    let asked = daemon.json(&format!("/api/docs/{id}"));
    let markdown = asked["markdown"].as_str().expect("a text");
    assert_has(markdown, &blocks);
    assert_has(markdown, &[&link]);
    assert_has(
        asked["html"].as_str().expect("a text"),
        &[
            "<tr><th>井号</th><th>压力</th></tr>",
            "<pre><code>def read(pump):\n    value",
        ],
    );
    let chosen = daemon.json(&format!("/api/docs/{id}?fields=title"));
    assert_eq!(chosen.as_object().map(serde_json::Map::len), Some(1));

    // The page: names of headings, a table of contents, a table that scrolls, and the matches marked in all of it.
    let (status, page) = daemon.get(&format!("/doc/{id}?q=%E5%8E%8B%E5%8A%9B"));
    assert_eq!(status, 200);
    assert_has(
        &page,
        &[
            "<nav class=\"contents\"",
            ">二、压力</a>",
            "<div class=\"scroll\" tabindex=\"0\"><table>",
            "<th><mark>压力</mark></th>",
            "<td>乙|2</td><td></td>",
            "    value = pump.pressure()\n\n    return value &lt; 9",
            "/safety.html?from=manual#gloves\" rel=\"noopener noreferrer external\">安全规定</a>",
        ],
    );

    let query = "q=%E6%B3%A8%E6%B0%B4%E7%AB%99";
    let feed = daemon.json(&format!("/feed.json?{query}"));
    let content = feed["items"][0]["content_html"].as_str();
    let whole = ["<h2>一、准备</h2>", "<td>7.5</td>"];
    assert_has(content.expect("the whole text"), &whole);
    let feed = daemon.get(&format!("/feed.atom?{query}")).1;
    assert_has(&feed, &["<content type=\"html\">"]);
    assert_has(&feed.replace("&#60;", "<").replace("&#62;", ">"), &whole);

    let exported = web.lines(&["export"]);
    assert_eq!(exported[0]["markdown"], asked["markdown"]);
    // What was exported is the same document elsewhere.
    let text = exported[0]["text"].as_str().expect("a text");
    assert_has(
        text,
        &["\n    value = pump.pressure()\n    return value < 9\n"],
    );
}
