//! One page of the web: 30 KB with menus, scripts and styles, 41 links, an article of about 1,000 Chinese characters.

use std::fmt::Write as _;

/// Links of a page.
const LINKS: u32 = 41;
/// Bytes of a page, about.
const BYTES: usize = 30_000;

const WORDS: [&str; 40] = [
    "页岩气", "水平井", "储气库", "压裂", "管道", "产量", "勘探", "油田", "天然气", "公司", "今年", "工程", "技术", "完成", "项目",
    "投产", "开发", "增长", "区块", "地震", "资料", "施工", "安全", "管理", "设备", "现场", "作业", "能力", "供应", "冬季", "用户",
    "价格", "市场", "计划", "建设", "专家", "试验", "国内", "首次", "达到",
];

fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// So many characters of text.
fn text(seed: u64, chars: usize) -> String {
    let mut out = String::new();
    let (mut state, mut count, mut words) = (seed, 0, 0);
    while count < chars {
        state = mix(state);
        let word = WORDS[(state % 40) as usize];
        out.push_str(word);
        count += word.chars().count();
        words += 1;
        if words % 9 == 0 {
            out.push(if words % 27 == 0 { '。' } else { '，' });
            count += 1;
        }
    }
    out.push('。');
    out
}

/// Path of page `n`.
pub fn path(n: u32) -> String {
    match n {
        0 => "/".to_owned(),
        n => format!("/2026/{:02}/{n}.html", n % 12 + 1),
    }
}

/// Number of the page at a path.
pub fn number(path: &str) -> Option<u32> {
    if path == "/" {
        return Some(0);
    }
    path.rsplit('/').next()?.strip_suffix(".html")?.parse().ok()
}

/// Page `n` of a host with `count` pages: a tree of links, and on from its end to all the others.
pub fn page(host: u32, n: u32, count: u32) -> String {
    let seed = u64::from(host) << 32 | u64::from(n);
    let title = text(seed ^ 0x7171, 14);
    let mut html = String::with_capacity(BYTES + 1000);
    let _ = write!(
        html,
        "<!DOCTYPE html><html><head><meta charset=\"utf-8\"><title>{title}_试验网</title>\n<style>\n"
    );
    for i in 0..90 {
        let _ = writeln!(html, ".block{i} .item > a:hover {{ color: #3{i:02}; padding: 0 {i}px; float: left }}");
    }
    html.push_str("</style><script>\n");
    for i in 0..70 {
        let _ = writeln!(html, "window.slot{i} = function (event) {{ return event.target.id == 'slot{i}'; }};");
    }
    html.push_str("</script></head><body><div class=\"menu\"><ul>\n");
    for i in 0..LINKS {
        let to = (u64::from(n) * u64::from(LINKS) + u64::from(i) + 1) % u64::from(count);
        let to = path(u32::try_from(to).unwrap_or(0));
        let name = text(mix(seed ^ u64::from(i)), 12);
        let _ = writeln!(html, "<li class=\"item\"><a href=\"{to}\" title=\"{name}\">{name}</a></li>");
    }
    let _ = write!(
        html,
        "</ul></div><div class=\"main\"><h1>{title}</h1><div class=\"info\">2026-09-{:02} 08:30 来源：试验报</div><div class=\"content\">\n",
        n % 28 + 1
    );
    for i in 0..10 {
        let _ = writeln!(html, "<p>{}</p>", text(mix(seed ^ 0xa000 ^ i), 100));
    }
    html.push_str("</div></div><div class=\"foot\">\n");
    let mut i = 0;
    while html.len() < BYTES {
        let _ = writeln!(html, "<div class=\"block{}\"><span class=\"c\" data-n=\"{i}\"></span><i></i></div>", i % 90);
        i += 1;
    }
    html.push_str("<p>版权所有 试验网</p></div></body></html>");
    html
}
