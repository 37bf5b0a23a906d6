//! Writes the pages of the trial web: HTML that follows from the plan, the host, the path and the day.

use std::fmt::Write as _;
use std::sync::LazyLock;

use super::{LISTED, TrialWeb, mix};

/// The first day of the web: 1 September 2026.
const FIRST_DAY: u32 = 20_697;

/// The parts of a sentence, in their order: places, who, how, what.
static WORDS: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let lines = include_str!("words.txt").lines();
    lines.map(|line| line.split(' ').collect()).collect()
});

/// Designs of an article: what stands before it, the classes of its date and of its text, what stands after it.
const DESIGNS: [(&str, &str, &str, &str); 4] = [
    ("", "info", "content", ""),
    (
        "<div class=\"wrap\"><div class=\"main\">",
        "meta",
        "article-body",
        "</div></div>",
    ),
    (
        "<div id=\"page\"><div class=\"bar\"><span>试验网</span></div>",
        "source",
        "TRS_Editor",
        "</div>",
    ),
    (
        "<table><tr><td><div class=\"left\"><em>频道</em></div></td><td>",
        "time",
        "text",
        "</td></tr></table>",
    ),
];

/// Path of an article.
pub(super) fn article_path(n: u32) -> String {
    format!("/news/{:03}/{n}.html", n / 100)
}

/// Number of the article at a path.
fn article_number(path: &str) -> Option<u32> {
    let name = path.strip_prefix("/news/")?.split_once('/')?.1;
    let n: u32 = name.strip_suffix(".html")?.parse().ok()?;
    (article_path(n) == path).then_some(n)
}

/// Some text: so many sentences, the same for the same seed.
fn article_text(seed: u64, sentences: u32) -> String {
    let mut text = String::new();
    let mut state = seed;
    let mut pick = |words: &[&'static str]| {
        state = mix(state);
        let at = usize::try_from(state % words.len() as u64).unwrap_or(0);
        words[at]
    };
    for _ in 0..sentences {
        for words in WORDS.iter() {
            text.push_str(pick(words));
        }
        text.push_str(if mix(seed ^ text.len() as u64).is_multiple_of(3) {
            "。"
        } else {
            "，"
        });
    }
    text.push_str("工作仍在继续。");
    text
}

fn title(web: &TrialWeb, host: u32, n: u32) -> String {
    let seed = mix(web.plan().seed ^ (u64::from(host) << 32) ^ u64::from(n));
    let text = article_text(seed, 1);
    let text = text.split(['，', '。']).next().unwrap_or_default();
    format!("{text}（第{n}期）")
}

/// A page, or none if there is none at this path.
pub(super) fn page(web: &TrialWeb, host: u32, path: &str) -> Option<String> {
    if path == "/" {
        return Some(front(web, host));
    }
    if let Some(n) = path.strip_prefix("/list/").and_then(|n| n.parse().ok()) {
        return list(web, host, n);
    }
    if web.plan().traps && path.starts_with("/calendar/") {
        return Some(calendar(path));
    }
    let n = article_number(path).filter(|n| *n < web.articles_of_host())?;
    Some(article(web, host, n))
}

fn head(title: &str) -> String {
    format!(
        "<!DOCTYPE html><html><head><meta charset=\"utf-8\"><title>{title}</title></head><body>\n\
         <div class=\"nav\"><a href=\"/\">首页</a> <a href=\"/list/0\">往期</a></div>\n"
    )
}

fn item(web: &TrialWeb, host: u32, n: u32) -> String {
    let (mut path, mut title) = (article_path(n), title(web, host, n));
    if web.plan().abroad {
        let next = (host + 1) % web.plan().hosts;
        path = format!("http://{}{path}", web.authority(next));
        title = self::title(web, next, n);
    }
    format!(
        "<li><a href=\"{path}\">{title}</a> <span>{}</span></li>\n",
        date(web, n)
    )
}

fn date(web: &TrialWeb, n: u32) -> String {
    let later = n.saturating_sub(web.plan().articles);
    let day = match (n >= web.plan().articles, web.plan().daily) {
        (true, daily) if daily > 0 => later / daily + 1,
        _ => 0,
    };
    let days = i64::from(FIRST_DAY + day);
    chrono::DateTime::from_timestamp(days * 86_400, 0)
        .map(|t| t.format("%Y-%m-%d").to_string())
        .unwrap_or_default()
}

/// The newest articles, and the lists of all.
fn front(web: &TrialWeb, host: u32) -> String {
    let count = web.articles_of_host();
    let mut html = head(&format!("试验网站{host}"));
    html.push_str("<ul class=\"news\">\n");
    for n in (count.saturating_sub(LISTED)..count).rev() {
        html.push_str(&item(web, host, n));
    }
    html.push_str("</ul><p>");
    for k in 0..count.div_ceil(LISTED) {
        let _ = write!(html, "<a href=\"/list/{k}\">第{k}页</a> ");
    }
    if web.plan().traps {
        for trap in ["/bomb.html", "/loop/0", "/short.html", "/calendar/2030/01/"] {
            let _ = write!(html, "<a href=\"{trap}\">更多内容请看这里</a> ");
        }
    }
    html.push_str("</p></body></html>");
    html
}

/// A list that stays as it is once it is full.
fn list(web: &TrialWeb, host: u32, k: u32) -> Option<String> {
    let count = web.articles_of_host();
    let first = k.checked_mul(LISTED)?;
    if first >= count {
        return None;
    }
    let mut html = head(&format!("往期文章第{k}页"));
    html.push_str("<ul class=\"news\">\n");
    for n in first..count.min(first + LISTED) {
        html.push_str(&item(web, host, n));
    }
    html.push_str("</ul></body></html>");
    Some(html)
}

fn article(web: &TrialWeb, host: u32, n: u32) -> String {
    let version = web.version(host, n);
    let title = title(web, host, n);
    let mut html = head(&title);
    let design = usize::try_from(web.design(host)).unwrap_or(0);
    let (before, info, content, after) = DESIGNS[design % DESIGNS.len()];
    let _ = writeln!(
        html,
        "{before}<h1>{title}</h1><div class=\"{info}\">{} 09:30 来源：试验报</div><div class=\"{content}\">",
        date(web, n)
    );
    let seed = web.plan().seed ^ (u64::from(host) << 40) ^ (u64::from(n) << 8);
    for paragraph in 0..5 {
        let seed = mix(seed ^ (u64::from(version) << 4) ^ paragraph);
        let _ = writeln!(html, "<p>{}</p>", article_text(seed, 7));
    }
    let _ = writeln!(html, "</div>{after}<div class=\"related\">");
    for i in (1..4).filter(|_| !web.plan().abroad) {
        // Only older ones: what a page links to does not change.
        let other = mix(seed ^ i) % u64::from(n.max(1));
        let other = u32::try_from(other).unwrap_or(0);
        html.push_str(&item(web, host, other));
    }
    html.push_str("</div></body></html>");
    html
}

/// A month with a link to the next, for ever.
fn calendar(path: &str) -> String {
    let mut numbers = path.split('/').filter_map(|p| p.parse::<u32>().ok());
    let (year, month) = (numbers.next().unwrap_or(2030), numbers.next().unwrap_or(1));
    let (next_year, next_month) = if month >= 12 {
        (year + 1, 1)
    } else {
        (year, month + 1)
    };
    let mut html = head("日历");
    let _ = write!(
        html,
        "<table><tr><td>{year}年{month}月</td></tr></table><a href=\"/calendar/{next_year}/{next_month:02}/\">下个月</a></body></html>"
    );
    html
}
