//! Tests of the looks that spare most texts the patterns of words.

use proptest::prelude::*;

use crate::comments::words::{self, HEADING};

/// Parts of headings of comments, and what else begins texts.
const PARTS: &str = concat!(
    "条~个~篇~全部~所有~最新~热门~热~精彩~精选~网友~用户~读者~发表~文章~相关~共~共有~查看~我要~",
    "我来~参与~更多~已有~评论~短评~书评~影评~跟帖~跟贴~留言~回复~回帖~点评~回答~讨论~说两句~热评~",
    "神评~论~区~列表~（共 3 条）~all ~Latest ~top ~Newest ~reader ~user ~recent ~show ~best ~",
    "featured ~comment~s~Replies~reply~Answers~responses~Reviews~discussion~reactions~Kommentare~",
    "Antworten~commentaires~réponses~RÉPONSES~comentarios~respuestas~comentários~respostas~",
    "commenti~risposte~コメント~댓글~ on ~ so far~thoughts on ~Thoughts on ~“~\"~3~1,024 ~ ~(~)~",
    "：~【~】~·~_~…~ª~é~の~Ａ~📣~其他~x",
);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn heading_start_covers_pattern(parts in prop::collection::vec(super::one_of(PARTS), 0..5)) {
        let text = parts.concat();
        prop_assert!(words::has_heading_start(&text) || !HEADING.is_match(&text), "{}", text);
    }
}

#[test]
fn letters_at_ends_by_bytes() {
    for char in ('\0'..='\u{FFFF}').filter(|char| !char.is_alphabetic()) {
        let ends = [format!("{char}b"), format!("b{char}"), format!("回{char}")];
        for text in ends {
            assert!(!words::has_letters_at_ends(text.as_bytes()), "{char:?}");
        }
    }
}
