//! The headline of a page where its template says that it stands.

use super::page;
use crate::page::Page;
use crate::template::{Config, Field, Guide, Keys, Observation, Template, learn};
use crate::{self as extract, Context};

const NAMES: [&str; 8] = [
    "榆木小圆凳（矮款）",
    "竹编提篮带盖",
    "手工铜壶一升装",
    "粗陶茶罐（青釉）",
    "亚麻围裙双口袋",
    "羊毛挂毯《麦田》",
    "黑胡桃木砧板",
    "搪瓷水杯三只装",
];

/// The page of a thing: its name in a block of its own, labels with values, and what buyers say.
fn thing(head: &str, name: &str, said: &str) -> Page {
    page(&format!(
        "<head><title>{head}</title></head><body><div class=top><a href=/>首页</a></div>{name}\
         <table class=facts><tr><th>产地</th><td>{said}县</td></tr><tr><th>重量</th><td>{} 克</td></tr></table>\
         <div class=said><h3>{said}</h3><p>用了两个星期，{said}，做工和照片上一样，边角也磨得很光滑，送人正合适。</p></div>\
         <div class=end>版权所有</div></body>",
        said.len() * 37
    ))
}

fn named(name: &str) -> String {
    format!("<div class=thing-name>{name}</div>")
}

const SAID: [&str; 8] = [
    "坐着很稳",
    "提着轻便",
    "烧水很快",
    "颜色素净",
    "口袋够深",
    "挂在客厅",
    "切菜不滑",
    "孩子喜欢",
];

fn read(page: &Page, template: &Template) -> Option<String> {
    let keys = Keys::new(page);
    let guide = Guide::new(template, &keys, page);
    let config = extract::Config::default();
    extract::extract_guided(page, &Context::default(), &config, Some(&guide)).title
}

/// The template of pages whose heads name the thing.
fn template(of: impl Fn(usize) -> Page) -> Template {
    let seen: Vec<Observation> = (0..NAMES.len())
        .map(|n| {
            let page = of(n);
            let keys = Keys::new(&page);
            let (_, lines) = extract::observe(
                &page,
                &keys,
                &Context::default(),
                &extract::Config::default(),
            );
            Observation::new(&page, &keys, lines)
        })
        .collect();
    learn(&seen, &Config::default()).templates.remove(0)
}

fn usual(n: usize) -> Page {
    thing(&format!("{} - 手作铺", NAMES[n]), &named(NAMES[n]), SAID[n])
}

#[test]
fn learned_title_region_names_page() {
    let template = template(usual);
    let alone = |page: &Page| extract::extract(page, &Context::default()).title;
    // The head says the same on this page as on any other.
    let page = thing("手作铺", &named("柳条收纳筐"), "尺寸合适");
    assert_ne!(alone(&page).as_deref(), Some("柳条收纳筐"));
    assert_eq!(read(&page, &template).as_deref(), Some("柳条收纳筐"));
    let long = "很长的介绍".repeat(80);
    for (name, case) in [
        (String::new(), "no such block"),
        (named(""), "an empty block"),
        (named("——"), "signs alone"),
        (named(&long), "a text"),
        (named("一").repeat(3), "a list"),
    ] {
        let page = thing("手作铺", &name, "尺寸合适");
        assert_eq!(read(&page, &template), alone(&page), "{case}");
    }
    // Where the headline is found there anyway, what the head says of it counts.
    let page = usual(3);
    assert_eq!(read(&page, &template), alone(&page));
    assert_eq!(alone(&page).as_deref(), Some(NAMES[3]));
    let name = format!(
        "<h1>陶笛</h1>{}",
        named("陶笛 六孔中音C调初学款（2021 年秋）")
    );
    let page = thing("陶笛 - 手作铺", &name, "音很准");
    assert_eq!(read(&page, &template).as_deref(), Some("陶笛"));
}

#[test]
fn title_region_of_equal_texts_is_not_learned() {
    // The shop's name is set like a headline, and what the head says is on no line.
    let template = template(|n| {
        let name = format!("<h1>手作铺精选好物</h1>{}", named(NAMES[n]));
        thing("手作铺精选好物", &name, SAID[n])
    });
    let mut regions = template.regions.iter();
    let title = regions.find(|region| region.field == Some(Field::Title));
    assert!(
        title.is_none_or(|region| !region.is_constant()),
        "{title:?}"
    );
}

#[test]
fn named_title_slot_is_bounded() {
    let mut template = template(usual);
    let page = usual(0);
    let keys = Keys::new(&page);
    let tokens = &keys.sequence.tokens;
    let at = (0..tokens.len())
        .find(|at| tokens[*at].is_text() && page.text(keys.sequence.nodes[*at]).contains(SAID[0]));
    let key = template.slot_at(&keys, at.expect("the text"));
    assert!(template.name_slot(key.expect("its slot"), Some("title")));
    let page = thing("手作铺", &named("柳条收纳筐"), "尺寸合适");
    assert_eq!(read(&page, &template).as_deref(), Some("尺寸合适县"));
    // What is no headline does not take the place of one.
    let page = thing("手作铺", &named("柳条收纳筐"), &"字".repeat(400));
    assert_eq!(read(&page, &template).as_deref(), Some("柳条收纳筐"));
}
