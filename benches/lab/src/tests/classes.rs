//! Classes of the sites of labelled pages.

use taojin_eval::Gold;

use crate::comment_classes::class_of;

#[test]
fn class_is_of_labels_then_set_then_address() {
    for (set, gold, wanted) in [
        ("wcxb", r#"{"id":"1","page_type":"forum"}"#, Some("forum")),
        ("wcxb", r#"{"id":"1","page_type":"product"}"#, Some("shop")),
        ("zh_comments", r#"{"id":"1"}"#, Some("forum")),
        (
            "swde",
            r#"{"id":"1","cluster":"book-borders"}"#,
            Some("shop"),
        ),
        ("swde", r#"{"id":"1","cluster":"movie-imdb"}"#, None),
        ("bbc_news", r#"{"id":"1"}"#, Some("news")),
        (
            "htmldate_eval",
            r#"{"id":"1","url":"https://a.wordpress.com/1"}"#,
            Some("blog"),
        ),
        (
            "htmldate_eval",
            r#"{"id":"1","url":"https://a.example/1"}"#,
            None,
        ),
    ] {
        let gold: Gold = serde_json::from_str(gold).expect("labels");
        assert_eq!(class_of(set, &gold), wanted, "{set}");
    }
}
