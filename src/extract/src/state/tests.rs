use super::strings::Strings;

/// Key and text of each string of a script.
fn strings(script: &str) -> Vec<(String, String)> {
    let said = Strings::read(std::iter::once(script)).said;
    said.into_iter().map(|said| (said.key, said.text)).collect()
}

fn pair(key: &str, text: &str) -> (String, String) {
    (key.to_owned(), text.to_owned())
}

#[test]
fn strings_of_loose_json() {
    let script = "window.x = {Title:'a\\'b', \"time\": 1700000000, list:[\"one\", `two\nlines`,], n:12}; y.z=\"end\"";
    let expected = [
        pair("title", "a'b"),
        pair("time", "1700000000"),
        pair("list", "one"),
        pair("list", "two\nlines"),
        pair("z", "end"),
    ];
    assert_eq!(strings(script), expected);
}

#[test]
fn strings_escapes() {
    let script = r#"{"a":"\u6cb9\u7530 \ud83d\ude00\x41\/\n\q\ud83d"}"#;
    assert_eq!(strings(script), [pair("a", "油田 😀A/\nq")]);
}

#[test]
fn strings_unterminated() {
    let script = "x = 1; // don't\ny = {title: 'a'}";
    assert_eq!(strings(script), [pair("title", "a")]);
}

#[test]
fn strings_nested_levels() {
    let mut script = r#"{"title":"the innermost of all"}"#.to_owned();
    for level in 1..=6 {
        script = serde_json::json!({ "inner": script }).to_string();
        let found = strings(&script).contains(&pair("title", "the innermost of all"));
        assert_eq!(found, level <= 3, "{level} levels");
    }
}

#[test]
fn strings_in_brackets_are_text() {
    let headline = "[Photo] The reservoir was filled to the brim on Monday";
    let script = serde_json::json!({"headline": headline, "inner": "[{\"title\":\"the reservoir is full\"}]"});
    let expected = [
        pair("headline", headline),
        pair("title", "the reservoir is full"),
    ];
    assert_eq!(strings(&script.to_string()), expected);
}

#[test]
fn strings_streamed_text() {
    let script = r#"self.__next_f.push([1,"1:T6,油田2:[\"$1\",\"$1\"]\n"])"#;
    assert_eq!(strings(script), [pair("", "油田"), pair("", "$1")]);
}

#[test]
fn find_among_longer_strings() {
    let paragraph = |i: usize| serde_json::json!({"type": "text", "content": format!("第{i}段：储气库扩建工程日前通过验收，注气能力提高三成。")});
    let address = |i: usize| serde_json::json!({"url": format!("https://img.example/{}/{i}.jpg", "a".repeat(300))});
    let parts: Vec<_> = (0..4).map(paragraph).chain((0..40).map(address)).collect();
    let data = serde_json::json!({"headline": "储气库扩建工程通过验收", "parts": parts});
    let html = format!("<script>window.x = {{}}; y.globalContent={data};</script>");
    let page = crate::page::Page::parse(html.as_bytes(), crate::page::Hints::default());
    let found = super::find(&page, &["储气库扩建工程通过验收"], 25);
    assert_eq!(found.map(|f| f.text.lines().count()), Some(4));
}

#[test]
fn strings_named_by_arguments() {
    let script = "window.__NUXT__=(function(a,b){return {data:[{title:a,name:b.x,at:b}]}}(\"水库\",1780442100))";
    let said = strings(script);
    let expected = [pair("title", "水库"), pair("at", "1780442100")];
    assert_eq!(said[..2], expected);
}

#[test]
fn strings_of_flattened_list() {
    let script = r#"[["Reactive",1],{"title":2,"at":3},"水库",["Date","2026-06-03T00:00:00Z"]]"#;
    let mut said = strings(script);
    said.sort();
    assert_eq!(
        said,
        [pair("at", "2026-06-03T00:00:00Z"), pair("title", "水库")]
    );
}
