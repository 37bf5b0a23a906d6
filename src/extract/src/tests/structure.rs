//! What the paragraphs of a page are: its elements as Markdown.

use crate::page::{Hints, Page};
use crate::structure::{BlockKind, SpanKind};
use crate::{Context, Document, extract};
use taojin_uri::CrawlUri;

const ABOVE: &str = "采油三厂的集输站建成已有三十年，管线老化，今年春天开始改造，工人们更换了全部阀门和两公里管线。";
const BELOW: &str = "站长介绍，改造之后每天可以多处理三百方采出水，值班人员由六人减为两人，夜间巡检改由摄像头完成。";

fn read(inside: &str) -> Document {
    let html = format!(
        "<title>集输站改造</title><div class=content><h1>集输站改造</h1><p>{ABOVE}</p>{inside}<p>{BELOW}</p></div>"
    );
    let hints = Hints {
        url: CrawlUri::parse("https://news.example.com/a/1.html").ok(),
        charset: Some("utf-8".to_owned()),
        ..Hints::default()
    };
    extract(&Page::parse(html.as_bytes(), hints), &Context::default())
}

/// The Markdown between the two paragraphs.
fn between(inside: &str) -> String {
    let markdown = read(inside).markdown();
    let markdown = markdown.strip_prefix(ABOVE).unwrap_or(&markdown);
    let inside = markdown.trim().strip_suffix(BELOW).unwrap_or(markdown);
    inside.trim().to_owned()
}

#[test]
fn headings_lists_and_quotations() {
    let items = "<h2>一、改造内容</h2><ul><li>更换阀门三十七台，全部国产。<li>更换管线两公里。<ol><li>主干线一公里，已经完工。<li>支线一公里，正在施工。</ol></ul>";
    let wanted = "## 一、改造内容\n\n- 更换阀门三十七台，全部国产。\n- 更换管线两公里。\n  1. 主干线一公里，已经完工。\n  2. 支线一公里，正在施工。";
    assert_eq!(between(items), wanted);
    let quoted = "<blockquote><p>我们要把这座站建成样板，让大家都来看看。</p><p>这不是一句空话，图纸已经画好。</p></blockquote>";
    let wanted = "> 我们要把这座站建成样板，让大家都来看看。\n>\n> 这不是一句空话，图纸已经画好。";
    assert_eq!(between(quoted), wanted);
}

#[test]
fn item_of_several_paragraphs() {
    let item = "<ul><li><p>更换阀门三十七台，全部国产。</p><p>其中进口二十台，去年就已经订货。</p></li><li><p>更换管线两公里，月底完工。</p></li></ul>";
    let wanted = "- 更换阀门三十七台，全部国产。\n\n  其中进口二十台，去年就已经订货。\n\n- 更换管线两公里，月底完工。";
    assert_eq!(between(item), wanted);
}

#[test]
fn item_that_is_a_part_of_the_layout_is_none() {
    let html = format!("<ul><li><p>{ABOVE}</p><p>{BELOW}</p></li></ul>");
    let document = extract(
        &Page::parse(html.as_bytes(), Hints::default()),
        &Context::default(),
    );
    assert_eq!(document.text.lines().count(), 2);
    assert!(document.structure.is_empty(), "{:?}", document.structure);
}

#[test]
fn links_and_what_is_set_off() {
    let line = "<p>记者从<a href='/b?utm_source=x#c'>现场</a>了解到，<b>阀门</b><b>和管线</b>都已<em>换新</em>，参数写在 <code>valve.conf</code> 里，<a href=#top>这里</a>也可以看到。</p>";
    let wanted = "记者从[现场](https://news.example.com/b?utm_source=x#c)了解到，**阀门和管线**都已*换新*，参数写在 `valve.conf` 里，这里也可以看到。";
    assert_eq!(between(line), wanted);
    let card = "<p><a href=/b><strong>更换了全部阀门，图纸也已经画好，</strong>只等开工。</a></p>";
    let wanted = "[**更换了全部阀门，图纸也已经画好，**只等开工。](https://news.example.com/b)";
    // The comma would keep the stars from being read.
    assert_eq!(between(card), wanted.replace("**", ""));
}

#[test]
fn tables_have_a_head_and_all_cells() {
    let table = "<table><thead><tr><th>设备<th>数量<th>备注</thead><tr><td rowspan=2>阀门<td>37<td><tr><td>20<td>a|b</table>";
    let wanted = "| 设备 | 数量 | 备注 |\n| --- | --- | --- |\n| 阀门 | 37 |  |\n|  | 20 | a\\|b |";
    assert_eq!(between(table), wanted);
    let html = read(table).html();
    assert!(
        html.contains("<tr><th>设备</th><th>数量</th><th>备注</th></tr>"),
        "{html}"
    );
    let broken = "<table><tr><td>阀门<br>三十七台<td>国产<tr><td>管线<td>两公里</table>";
    assert!(
        between(broken).starts_with("| 阀门 三十七台 | 国产 |"),
        "{}",
        between(broken)
    );
    let html = read(broken).html();
    assert!(html.contains("<td>阀门<br>三十七台</td>"), "{html}");
    let two = format!("{table}<table><tr><td>甲<td>1<tr><td>乙<td>2</table>");
    assert_eq!(between(&two).matches("---").count(), 5);
}

#[test]
fn code_keeps_lines_and_blanks() {
    let code =
        "<pre class='brush: rust'>fn main() {\n    open(7);  // 打开\n\n\n    close();\n}\n</pre>";
    let wanted = "```rust\nfn main() {\n    open(7);  // 打开\n\n\n    close();\n}\n```";
    assert_eq!(between(code), wanted);
    let document = read(code);
    assert!(
        document
            .text
            .contains("\n    open(7);  // 打开\n    close();\n"),
        "{}",
        document.text
    );
    // Each line an element, or parted by breaks.
    let lines = "<pre><code class=language-sh><span>cd a</span><br><span>  ls</span></code></pre>";
    assert_eq!(between(lines), "```sh\ncd a\n  ls\n```");
    let line = |name: &str| {
        format!(
            "<div><code>// {name}：每台阀门先读一次压力，</code> <code>再写回开度，最后等它停稳。</code></div>"
        )
    };
    let colored = between(&format!("<div>{}{}</div>", line("甲"), line("乙")));
    let lines: Vec<&str> = colored.lines().collect();
    assert_eq!(
        (lines.len(), lines[0], lines[3]),
        (4, "```", "```"),
        "{colored}"
    );
}

#[test]
fn prose_in_pre_is_paragraphs() {
    let poem =
        "<pre>　　春天来了，油田的柳树发了芽。\n　　工人们在井场上忙碌，阀门一台一台换新。</pre>";
    let wanted = "春天来了，油田的柳树发了芽。\n\n工人们在井场上忙碌，阀门一台一台换新。";
    assert_eq!(between(poem), wanted);
}

#[test]
fn formulas_in_latex() {
    let picture = "<p>压力为<img class=latex src=/t.png alt='p_1=\\rho g h'>，流量不变，现场已经核对过三次。</p>";
    assert!(
        between(picture).starts_with("压力为$p_1=\\rho g h$，流量不变"),
        "{}",
        between(picture)
    );
    assert!(read(picture).images.is_empty());
    let written = "<p>压力为 \\(p_1\\)，流量不变，现场已经核对过三次，没有发现问题。</p>";
    assert!(
        between(written).starts_with("压力为 $p_1$，流量不变"),
        "{}",
        between(written)
    );
    let element = "<p>压力为<math><mi>p</mi><mn>1</mn><annotation encoding='application/x-tex'>p_1</annotation></math>，流量不变，现场已经核对过三次。</p>";
    assert!(
        between(element).starts_with("压力为$p_1$，流量不变"),
        "{}",
        between(element)
    );
}

#[test]
fn pictures_and_captions() {
    let picture = "<figure><img data-src='../b.jpg' src='data:image/gif;base64,R0' alt='集输站'><figcaption>改造之后的集输站，工人正在检查阀门。</figcaption></figure>";
    let document = read(picture);
    let markdown = document.markdown();
    assert!(
        markdown.contains("![集输站](https://news.example.com/b.jpg)"),
        "{markdown}"
    );
    let kinds = document.structure.blocks().iter().map(|block| &block.kind);
    let captions = kinds.filter(|kind| **kind == BlockKind::Caption).count();
    let is_kept = document.text.contains("改造之后的集输站");
    assert_eq!(captions, usize::from(is_kept));
}

#[test]
fn spans_are_of_the_text() {
    let document =
        read("<p><b> 要点 </b>：<i>一</i>，<a href=/b> 全 文 </a>在此，工人们都已经看过图纸。</p>");
    let lines: Vec<&str> = document.text.lines().collect();
    let mut found = Vec::new();
    for block in document.structure.blocks() {
        for span in &block.spans {
            let range = span.0 as usize..span.1 as usize;
            found.push((lines[block.at as usize].get(range).unwrap(), span.2.clone()));
        }
    }
    let link = SpanKind::Link("https://news.example.com/b".to_owned());
    let wanted = [
        ("要点", SpanKind::Strong),
        ("一", SpanKind::Emphasis),
        ("全 文", link),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn rest_of_a_list_and_heading_above_belong_to_the_text() {
    let list = "<h3>更换清单</h3><ul><li>阀门<li>管线<li>更换之后的仪表全部由本厂自己的工人校准，没有请外面的人来做。<li>泵</ul>";
    let document = read(list);
    for word in ["更换清单", "\n阀门\n", "\n泵\n"] {
        assert!(document.text.contains(word), "{word} in {}", document.text);
    }
}

/// What a long text loses at its end, it loses in all that speaks of its paragraphs.
#[test]
fn long_text_is_cut_and_says_so() {
    let rows: String = (0..400)
        .map(|n| {
            format!("<tr><td>井号 {n}</td><td>日产原油 {n} 吨，注水正常，管网调度正常。</td></tr>")
        })
        .collect();
    let html = format!(
        "<html><body><article><h1>年报</h1><p>{}</p><table><tr><th>井</th><th>产量</th></tr>{rows}</table>\
         <img src='http://a.example/1.png' alt='图'><p>{}</p></article></body></html>",
        "全年油气产量稳中有升，重点项目按计划推进。".repeat(6),
        "以上为全年情况。".repeat(20)
    );
    let page = Page::parse(html.as_bytes(), Hints::default());
    let config = crate::Config {
        max_text_bytes: 6_000,
        ..crate::Config::default()
    };
    let whole = crate::extract(&page, &crate::Context::default());
    assert!(whole.text.len() > 12_000 && !whole.provenance.text_cut);
    let cut = crate::extract_with(&page, &crate::Context::default(), &config);
    assert!(cut.provenance.text_cut && cut.text.len() <= 6_000);
    assert!(whole.text.starts_with(&format!("{}\n", cut.text)));
    let paragraphs = u32::try_from(cut.text.lines().count()).unwrap();
    assert!(
        cut.structure
            .blocks()
            .iter()
            .all(|block| block.at < paragraphs)
    );
    assert!(cut.images.iter().all(|image| image.after <= paragraphs));
    assert!(cut.markdown().lines().count() > 50);
    // One paragraph without an end is cut in a character's place.
    let mut document = crate::Document {
        text: "油".repeat(100),
        ..crate::Document::default()
    };
    document.cut_text(100);
    assert_eq!(document.text, "油".repeat(33));
}
