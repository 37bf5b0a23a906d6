//! What readers say is found when it is asked for, and only then.

use super::*;
use taojin_extract::Comment;

on_each_engine!(comments_have_own_field,);

fn commented(url: &str, text: &str, comments: &[&str]) -> Document {
    let comment = |text: &&str| Comment {
        text: (*text).to_owned(),
        ..Comment::default()
    };
    Document {
        comments: comments.iter().map(comment).collect(),
        ..document(url, "油价调整", text)
    }
}

fn said(text: &str, occur: Occur, literal: bool) -> Query {
    Query {
        groups: vec![Group {
            occur,
            any: vec![Clause {
                target: Target::Comments,
                text: text.to_owned(),
                form: if literal { Form::Literal } else { Form::Words },
            }],
        }],
        ..Query::default()
    }
}

fn comments_have_own_field(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
    let angry = commented(
        "https://a.example/1",
        "国内成品油价格下调。",
        &["又漲價了", "加不起油"],
    );
    let silent = commented("https://a.example/2", "国内成品油又涨价了。", &[]);
    add(&mut writer, 1, &angry);
    add(&mut writer, 2, &silent);
    writer.commit(2).unwrap();
    for literal in [false, true] {
        assert_eq!(ids(&reader, &said("涨价", Occur::Must, literal)), [1]);
        assert_eq!(
            ids(&reader, &said("成品油", Occur::Must, literal)),
            [] as [u64; 0]
        );
        assert_eq!(ids(&reader, &said("涨价", Occur::Without, literal)), [2]);
    }
    // One comment's end and the next one's beginning are no phrase.
    assert_eq!(
        ids(&reader, &said("了加", Occur::Must, true)),
        [] as [u64; 0]
    );
    // Who asks for articles does not get those that only readers speak of.
    assert_eq!(ids(&reader, &Query::plain("涨价")), [2]);
    let both = Query {
        words: "下调".to_owned(),
        ..said("加不起", Occur::Must, false)
    };
    assert_eq!(ids(&reader, &both), [1]);
}
