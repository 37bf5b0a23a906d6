use super::Skeleton;
use super::pol::LeafPaths;
use crate::page::{Hints, Page};

/// The tree of the first `li` of a page.
fn tree(html: &str) -> Skeleton {
    let page = Page::parse(html.as_bytes(), Hints::default());
    let item = (0..page.nodes().len() as u32).find(|id| page.node(*id).tag.name() == "li");
    Skeleton::of_tags(&page, item.unwrap())
}

fn similarity(a: &Skeleton, b: &Skeleton) -> f64 {
    let (a, b) = (LeafPaths::new(a), LeafPaths::new(b));
    assert_eq!(a.similarity(&b), b.similarity(&a));
    a.similarity(&b)
}

#[test]
fn pol_inserted_picture() {
    let one = tree("<li><div><img></div><div><a></a><span></span><p></p></div></li>");
    let last = tree("<li><div><img></div><div><a></a><span></span><p></p><img></div></li>");
    let middle = tree("<li><div><img></div><div><a></a><img><span></span><p></p></div></li>");
    // The paper's trees: 26 of 27 nodes where the picture is the last.
    assert!((similarity(&one, &last) - 26.0 / 27.0).abs() < 1e-9);
    assert_eq!(similarity(&one, &middle), similarity(&one, &last));
    assert_eq!(similarity(&one, &one), 1.0);
}

#[test]
fn pol_without_elements() {
    let (none, one) = (Skeleton::default(), tree("<li>话</li>"));
    assert_eq!(similarity(&none, &none), 1.0);
    assert_eq!(similarity(&none, &one), 0.0);
}

#[test]
fn pol_counts_equal_pairs() {
    let chain = |depth: u16| Skeleton::from_depths((0..depth).map(|d| (7, d)));
    assert!(similarity(&chain(4), &chain(3)) < 0.99);
}

#[test]
fn label_names_beyond_tags() {
    let of = |class: &str| {
        let html = format!("<body><div class='{class} col-12'><p>一</p></div></body>");
        let page = Page::parse(html.as_bytes(), Hints::default());
        (Skeleton::of_tags(&page, 0), Skeleton::of_names(&page, 0))
    };
    assert_eq!(of("story").0, of("list").0);
    assert_ne!(of("story").1, of("list").1);
    // Numbers count pages and hashes are made again with each release.
    assert_eq!(of("story7").1, of("story9").1);
    assert_eq!(of("a x8f31c09").1, of("a b77e1d20").1);
    assert_eq!(of("one two").1, of("two one").1);
}

#[test]
fn skeleton_unlabelled_element() {
    let page = Page::parse(
        "<body><p>一<b><i>二</i></b></p><script>a<b</script></body>".as_bytes(),
        Hints::default(),
    );
    let body = page.body().unwrap();
    let all = Skeleton::of_tags(&page, body);
    assert_eq!(all.depths(), [0, 1, 2, 3]);
    let kept = Skeleton::new(&page, body, |id| {
        let name = page.node(id).tag.name();
        (name != "b").then_some(name.len() as u64)
    });
    assert_eq!(
        (kept.depths(), kept.parents()),
        (&[0, 1, 2][..], &[0, 0, 1][..])
    );
}
