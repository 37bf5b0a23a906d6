//! Learning on made pages of known layouts.

use std::sync::Arc;

use super::page;
use crate::page::Page;
use crate::template::{
    Config, Field, Guide, Keys, Library, Observation, ObservedLine, Template, learn, text_hash,
};

/// Digits count here, unlike in `text_hash`.
fn hash(text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}

/// Article `n` of a layout with a list of varying length and a line that repeats inside the body.
pub(super) fn article(layout: &str, n: usize) -> Page {
    let list: String = (0..=n % 4)
        .map(|i| format!("<li>最新消息 {n} {i}</li>"))
        .collect();
    let note = if n.is_multiple_of(3) {
        "<aside>专题</aside>"
    } else {
        ""
    };
    page(&format!(
        "<body><header class=\"{layout}-top\"><div>首页</div></header><ul class=\"{layout}-list\">{list}</ul>\
         <div class=\"{layout}-main\"><h1>标题 {n} 甲{n}</h1>{note}<div class=\"{layout}-text\"><p>第一段 {n} 说了{n}件事</p>\
         <p>关注我们的公众号</p><p>第二段 {n} 又说了一件</p></div></div><footer>版权所有</footer></body>"
    ))
}

/// What the extraction would say: text in the block that is called so, headline in h1.
fn observe(page: &Page, n: usize) -> Observation {
    let keys = Keys::new(page);
    let lines = (0..page.nodes().len() as u32)
        .filter(|id| !page.text(*id).trim().is_empty())
        .map(|id| {
            let block = page.block_of(id);
            let above: Vec<_> = page.ancestors(id).collect();
            let named = |part: &str| {
                above.iter().any(|a| {
                    page.attr(*a, crate::page::Attr::Class)
                        .is_some_and(|c| c.ends_with(part))
                })
            };
            let vote = if page.node(block).tag == crate::page::Tag::H1 {
                Some(Field::Title)
            } else if named("-text") {
                Some(Field::Body)
            } else {
                None
            };
            ObservedLine {
                key: keys.fine(block),
                text: hash(page.text(id)),
                tokens: 8,
                vote,
            }
        })
        .collect();
    Observation {
        url: format!("http://a.test/{n}"),
        ..Observation::new(page, &keys, lines)
    }
}

pub(super) fn pages(layout: &str, count: usize) -> Vec<Observation> {
    (0..count)
        .map(|n| observe(&article(layout, n), n))
        .collect()
}

#[test]
fn learn_two_layouts() {
    let mut seen = pages("news", 12);
    seen.extend(pages("photo", 6));
    let learned = learn(&seen, &Config::default());
    assert_eq!(learned.templates.len(), 2);
    assert_eq!(
        (learned.templates[0].pages, learned.templates[1].pages),
        (12, 6)
    );
    assert!(learned.template_of[..12].iter().all(|t| *t == Some(0)));
    assert!(learned.template_of[12..].iter().all(|t| *t == Some(1)));
}

#[test]
fn learn_too_few_pages() {
    assert!(learn(&[], &Config::default()).templates.is_empty());
    assert!(
        learn(&pages("news", 2), &Config::default())
            .templates
            .is_empty()
    );
    let mut seen = pages("news", 5);
    seen.push(observe(&page("<table><tr><td>别的</td></tr></table>"), 99));
    let learned = learn(&seen, &Config::default());
    assert_eq!(learned.templates.len(), 1);
    assert_eq!(learned.template_of[5], None);
}

#[test]
fn learn_names_fields() {
    let learned = learn(&pages("news", 12), &Config::default());
    let template = &learned.templates[0];
    let of = |field: Field| -> Vec<_> {
        let regions = template.regions.iter();
        regions.filter(|r| r.field == Some(field)).collect()
    };
    assert_eq!(of(Field::Title).len(), 1);
    assert_eq!(of(Field::Title)[0].pages, 12);
    assert_eq!(of(Field::Body).len(), 1);
    assert_eq!(of(Field::Body)[0].lines, 36);
    // Header and footer say the same everywhere; the list and the note in the body do not be alone.
    assert!(of(Field::Boilerplate).len() >= 2);
    assert!(of(Field::Title)[0].entropy > 0.9);
}

#[test]
fn learn_node_presence() {
    let learned = learn(&pages("news", 12), &Config::default());
    let template = &learned.templates[0];
    let name = |hash: u64| template.names.get(&hash).cloned().unwrap_or_default();
    let share = |wanted: &str| -> Vec<u32> {
        let nodes = template.nodes.nodes.iter();
        let nodes = nodes.filter(|node| name(node.name) == wanted);
        nodes.map(|node| node.pages).collect()
    };
    assert_eq!(share("div.news-main"), [12]);
    // The entries of a list, however many, are one node; so are the paragraphs on both sides of a line that repeats.
    assert_eq!(share("li"), [12]);
    assert_eq!(share("p"), [12, 12, 12]);
    assert_eq!(share("关注我们的公众号"), [12]);
    assert_eq!(share("aside"), [4]);
}

#[test]
fn library_assigns_nearest() {
    let mut seen = pages("news", 8);
    seen.extend(pages("photo", 8));
    let learned = learn(&seen, &Config::default());
    let numbered = learned.templates.into_iter().map(Arc::new);
    let library = Library::new((1..).zip(numbered).collect(), 0.5);
    for (layout, id) in [("news", 1), ("photo", 2)] {
        let keys = Keys::new(&article(layout, 77));
        let found = library.assign(keys.set()).expect("a template");
        assert_eq!(found.id, id);
        let fresh = article(layout, 77);
        let guide = Guide::new(&found.template, &keys, &fresh);
        assert!(found.distance < 0.2 && guide.missing() < 0.1, "{found:?}");
    }
    let other = Keys::new(&article("redesign", 3));
    assert!(library.assign(other.set()).is_none());
    assert!(Library::default().assign(other.set()).is_none());
}

#[test]
fn guide_places_and_furniture() {
    let learned = learn(&pages("news", 12), &Config::default());
    let fresh = article("news", 50);
    let keys = Keys::new(&fresh);
    let mut template = learned.templates[0].clone();
    let block_of = |words: &str| {
        let ids = 0..fresh.nodes().len() as u32;
        let id = ids.into_iter().find(|id| fresh.text(*id).contains(words));
        fresh.block_of(id.expect("it is there"))
    };
    let (text, footer) = (block_of("第一段"), block_of("版权"));
    {
        let guide = Guide::new(&template, &keys, &fresh);
        assert_eq!((guide.said(text), guide.said(footer)), (None, None));
        assert!(guide.against(text) >= 0.0);
        assert!(guide.against(footer) < -1.0);
        let range = |words: &str| fresh.subtree(block_of(words));
        assert!(guide.is_furniture(range("关注我们的公众号")));
        assert!(guide.is_furniture(range("版权")));
        assert!(!guide.is_furniture(range("第一段")));
        assert!(!guide.is_furniture(0..0));
        assert_eq!((guide.against(9_999), guide.said(9_999)), (0.0, None));
    }
    // What a person says outweighs what was learned.
    template.labels.insert(keys.fine(footer), Field::Body);
    template.labels.insert(keys.fine(text), Field::Boilerplate);
    let guide = Guide::new(&template, &keys, &fresh);
    assert!(guide.said(text) < Some(-10.0) && guide.said(footer) > Some(10.0));
    assert_eq!(guide.field(footer), Some(Field::Body));
}

#[test]
fn template_reads_older_format() {
    let seen = pages("news", 12);
    let template = &learn(&seen, &Config::default()).templates[0];
    let mut older = serde_json::to_value(template).unwrap();
    older["shares"] = serde_json::json!([{ "key": 7, "pages": 12, "lines": 30, "kept": 12 }]);
    assert_eq!(
        &serde_json::from_value::<Template>(older).unwrap(),
        template
    );
    let mut older = serde_json::to_value(&seen[0]).unwrap();
    older["lines"][0]["coarse"] = serde_json::json!(7);
    assert_eq!(
        serde_json::from_value::<Observation>(older).unwrap(),
        seen[0]
    );
}

#[test]
fn guide_ignores_rare_places() {
    let seen = pages("news", 24);
    let learned = learn(&seen, &Config::default());
    let mut template = learned.templates[0].clone();
    let fresh = article("news", 50);
    let keys = Keys::new(&fresh);
    let mut ids = 0..fresh.nodes().len() as u32;
    let text = fresh.block_of(
        ids.find(|id| fresh.text(*id).contains("第一段"))
            .expect("there"),
    );
    let at = |template: &mut crate::template::Template, pages, lines, kept, entropy| {
        let key = keys.fine(text);
        let region = template
            .regions
            .iter_mut()
            .find(|r| r.key == key)
            .expect("known");
        (region.pages, region.lines, region.kept, region.entropy) = (pages, lines, kept, entropy);
        template.container = Some((keys.fine(fresh.node(text).parent), 1.0));
        let guide = Guide::new(template, &keys, &fresh);
        (guide.against(text), guide.inside(text))
    };
    // Text on most pages: the container speaks for it.
    let (against, inside) = at(&mut template, 24, 90, 80, 1.0);
    assert!(against == 0.0 && inside > 1.0);
    // Never text on many pages: against it, and the container says nothing.
    let (against, inside) = at(&mut template, 20, 60, 1, 1.0);
    assert!(against < -1.0 && inside == 0.0);
    // Never text on a few pages, or the same on a few: nothing is known.
    assert_eq!(at(&mut template, 3, 9, 0, 1.0), (0.0, 0.0));
    assert_eq!(at(&mut template, 4, 4, 0, 0.0), (0.0, 0.0));
    // The same on many.
    assert!(at(&mut template, 12, 12, 0, 0.0).0 <= -3.0);
    // A template of few pages adds nothing.
    template.pages = 6;
    assert_eq!(at(&mut template, 6, 20, 20, 1.0), (0.0, 0.0));
}

#[test]
fn guide_unseen_place() {
    let seen = pages("news", 12);
    let learned = learn(&seen, &Config::default());
    let mut template = learned.templates[0].clone();
    let html = "<body><header class=\"news-top\"><div>首页</div></header><div class=\"news-main\"><h1>标题</h1>\
                <div class=\"news-text\"><p>第一段</p><div class=more>延伸阅读</div></div></div></body>";
    let fresh = page(html);
    let keys = Keys::new(&fresh);
    let block_of = |words: &str| {
        let mut ids = 0..fresh.nodes().len() as u32;
        fresh.block_of(ids.find(|id| fresh.text(*id) == words).expect("there"))
    };
    let container = fresh.node(block_of("第一段")).parent;
    template.container = Some((keys.fine(container), 1.0));
    let guide = Guide::new(&template, &keys, &fresh);
    assert!(guide.inside(block_of("第一段")) > 0.0);
    assert_eq!(guide.inside(block_of("延伸阅读")), 0.0);
    assert_eq!(guide.inside(block_of("首页")), 0.0);
}

#[test]
fn learn_copies_of_article() {
    let mut seen = pages("news", 6);
    // The same article at six more addresses, its lines long enough to be known again.
    for n in 0..6 {
        let mut copy = observe(&article("news", 3), 100 + n);
        copy.lines.iter_mut().for_each(|l| l.tokens = 40);
        seen.push(copy);
    }
    let learned = learn(&seen, &Config::default());
    assert_eq!(learned.templates[0].pages, 7);
    let page = article("news", 3);
    let keys = Keys::new(&page);
    let guide = Guide::new(&learned.templates[0], &keys, &page);
    let mut ids = 0..page.nodes().len() as u32;
    let text = ids.find(|id| page.text(*id).contains("第一段"));
    assert!(!guide.is_furniture(page.subtree(text.expect("there"))));
}

#[test]
fn notices_of_other_layouts() {
    const NOTICE: &str = "本站所有图文由合作伙伴供稿，读者如有疑问可致电编辑部";
    const TOWNS: [&str; 10] = [
        "东山", "西江", "南坪", "北沟", "柳林", "石桥", "河口", "青田", "白塔", "黄岭",
    ];
    let page = |layout: &str, n: usize, among: &str, below: &str| {
        let (town, next) = (TOWNS[n], TOWNS[(n + 3) % 10]);
        page(&format!(
            "<title>{town}水库的闸门</title><h1>{town}水库的闸门</h1><div class={layout}>\
             <p>{town}水库的闸门昨日完成检修，{next}一带的村庄已经收到{town}通知。</p><p>{among}</p>\
             <p>{next}的值班人员说，{town}的检修用了很多天。</p></div><div>{below}</div>"
        ))
    };
    let context = crate::Context::default();
    let config = crate::Config::default();
    let observe = |page: Page| {
        let keys = Keys::new(&page);
        let (_, lines) = crate::observe(&page, &keys, &context, &config);
        Observation::new(&page, &keys, lines)
    };
    // Pages of one layout say the notice at their foot, those of others elsewhere, with an order that is on less than half.
    const ORDER: &str = "各有关单位要认真贯彻执行本通知，按时报送检修情况。";
    let mut seen: Vec<_> = (1..=4)
        .map(|n| observe(page("a", n, "无", NOTICE)))
        .collect();
    let said = (5..=7).map(|n| observe(page(&format!("b{n}"), n, NOTICE, ORDER)));
    seen.extend(said);
    let learned = learn(&seen, &Config::default());
    let template = &learned.templates[0];
    let text = |n: usize, notice: &str| {
        let page = page("a", n, notice, "");
        let keys = Keys::new(&page);
        let guide = Guide::new(template, &keys, &page);
        crate::extract_guided(&page, &context, &config, Some(&guide)).text
    };
    let told = text(9, NOTICE);
    assert!(
        told.contains("闸门昨日完成") && !told.contains(NOTICE),
        "{told}"
    );
    // What no other page says stays.
    let own = "这座水库的新闸门由村民自己出资修建，花了两年时间。";
    assert!(text(9, own).contains(own));
    assert!(text(9, ORDER).contains(ORDER));
}

#[test]
fn learn_any_page_order() {
    let seen = pages("news", 9);
    let mut turned = seen.clone();
    turned.reverse();
    let (a, b) = (
        learn(&seen, &Config::default()),
        learn(&turned, &Config::default()),
    );
    assert_eq!(a.templates[0].regions, b.templates[0].regions);
    assert_eq!(a.templates[0].middle, b.templates[0].middle);
    // And twice the same gives the same, whatever a hash map does.
    assert_eq!(learn(&seen, &Config::default()), a);
}

#[test]
fn text_hash_ignores_digits() {
    let hash = |text: &'static str| text_hash(std::iter::once(text));
    assert_eq!(hash("阅读 123 次"), hash("阅读4567次"));
    assert_ne!(hash("阅读"), hash("评论"));
    // A date is what a line of it says.
    assert_ne!(hash("2015年7月3日"), hash("2015年7月4日"));
}
