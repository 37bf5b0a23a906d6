//! Which template a page fits, and what its texts are in it.

use std::sync::Arc;

use super::learning::{article, pages};
use super::page;
use crate::page::Page;
use crate::template::{
    Config, Field, Guide, Keys, Library, MAX_MISSING, Template, TextRole, choose_template, learn,
    rank_templates, read_roles,
};

fn template(layout: &str) -> Template {
    let learned = learn(&pages(layout, 12), &Config::default());
    learned.templates[0].clone()
}

fn library(templates: impl IntoIterator<Item = Template>) -> Library {
    let templates = templates.into_iter().map(Arc::new);
    Library::new((1..).zip(templates).collect(), 0.5)
}

fn rank(library: &Library, page: &Page) -> Vec<(i64, bool)> {
    let keys = Keys::new(page);
    let ranked = rank_templates(library, &keys);
    ranked.map(|r| (r.assigned.id, r.fits)).collect()
}

#[test]
fn templates_are_ranked_nearest_first() {
    let library = library(["photo", "news"].map(template));
    let news = article("news", 99);
    assert_eq!(rank(&library, &news), [(2, true), (1, false)]);
    let chosen = choose_template(&library, &Keys::new(&news));
    assert_eq!(chosen.map(|chosen| chosen.id), Some(2));

    let other = page("<table><tr><td>别的</td></tr></table>");
    assert_eq!(rank(&library, &other).len(), 2);
    assert!(rank(&library, &other).iter().all(|(_, fits)| !fits));
    assert_eq!(choose_template(&library, &Keys::new(&other)), None);
    assert!(rank(&Library::default(), &news).is_empty());
    assert_eq!(
        choose_template(&Library::default(), &Keys::new(&other)),
        None
    );
}

/// Of two templates with the same blocks, the nearer one wants texts and elements that the page lacks.
#[test]
fn page_that_lacks_nodes_fits_the_next() {
    let news = template("news");
    let mut demanding = news.clone();
    let extra = demanding.nodes.nodes[0];
    let many = 2 * demanding.nodes.nodes.len() as u64;
    demanding.nodes.nodes.extend((0..many).map(|at| {
        let mut node = extra;
        node.id = at + 1;
        node
    }));
    let library = library([demanding, news]);
    let keys = Keys::new(&article("news", 99));
    let ranked: Vec<_> = rank_templates(&library, &keys).collect();
    assert!(
        ranked[0].missing > MAX_MISSING && !ranked[0].fits,
        "{}",
        ranked[0].missing
    );
    assert_eq!(ranked[0].assigned.distance, ranked[1].assigned.distance);
    let chosen = choose_template(&library, &keys);
    assert_eq!(chosen.map(|chosen| chosen.id), Some(2));
}

#[test]
fn texts_have_roles() {
    let mut news = template("news");
    let page = article("news", 99);
    let keys = Keys::new(&page);
    let roles = |template: &Template| -> Vec<(String, TextRole)> {
        let guide = Guide::new(template, &keys, &page);
        let texts = read_roles(&guide, &page).into_iter();
        texts
            .map(|(node, role)| (page.text(node).to_owned(), role))
            .collect()
    };
    let role_of = |template: &Template, text: &str| {
        let found = roles(template).into_iter().find(|(own, _)| own == text);
        found.unwrap_or_else(|| panic!("no {text}")).1
    };
    let title = "标题 99 甲99";
    assert_eq!(role_of(&news, "首页"), TextRole::Fixed);
    assert_eq!(role_of(&news, title), TextRole::Region(Field::Title));
    let first = "第一段 99 说了99件事";
    assert_eq!(role_of(&news, first), TextRole::Region(Field::Body));
    // A name goes before the field of the region; without either, there is the key.
    let nodes = &keys.sequence.nodes;
    let at = nodes
        .iter()
        .position(|node| page.text(*node) == title)
        .expect("a title");
    let key = news.slot_at(&keys, at).expect("a slot");
    assert!(news.name_slot(key, Some("题名")));
    assert_eq!(role_of(&news, title), TextRole::Named("题名".to_owned()));
    assert!(news.name_slot(key, None));
    news.regions.clear();
    assert_eq!(role_of(&news, title), TextRole::Slot(key));
    assert_eq!(
        TextRole::Slot(key).to_string(),
        format!("[{:.8}]", format!("{key:016x}"))
    );
    news.slots.clear();
    assert_eq!(role_of(&news, title), TextRole::Unknown);
}
