//! Headings of lists of comments: `3 条评论`, `Comments on this`. In: a short text. Out: whether it is one. Never for
//! long texts: a sentence may say anything.

use std::sync::LazyLock;

use regex::Regex;

use crate::literals::{Literals, compiled};

pub(super) static HEADING: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?i)^[\W_]*(?:\d+\s*)?(?:条|个|篇)?\s*(?:(?:全部|所有|最新|最热|热门|热|精彩|精选|网友|用户|读者|发表|文章|相关|共有?\s*\d+\s*条?|查看|我要|我来|参与|更多|已有\s*\d+\s*条)\s*)*(?:评论|短评|书评|影评|跟帖|跟贴|留言|回复|回帖|点评|回答|讨论|说两句|热评|神评论?)(?:\s*(?:区|列表|板|（?共?\s*\d+\s*条?）?|内容|专区))?[\W\d_]*$|^[\W_]*(?:\d[\d,.]*\s*)?(?:(?:all|latest|top|newest|reader|user|recent|show|best|featured)\s+)?(?:comments?|repl(?:y|ies)|answers?|responses?|reviews?|discussion|reactions|kommentare?|antworten|commentaires?|réponses|comentarios?|respuestas|comentários|respostas|commenti|risposte|コメント|댓글)(?:\s+(?:on|to)(?-u:\b).{0,80}|\s+so far)?[\W\d_]*$|thoughts on [“\x22]",
    )
});

/// One of them stands in every heading of comments.
const HEADING_WORDS: &str = "评论|短评|书评|影评|跟帖|跟贴|留言|回复|回帖|点评|回答|讨论|说两句|热评|comment|coment|repl|answer|\
     antwort|respon|ponses|respuesta|resposta|rispost|review|discussion|reaction|kommentar|コメント|댓글|thoughts on|神评";

static ANY_HEADING_WORD: LazyLock<Literals> =
    LazyLock::new(|| Literals::of(HEADING_WORDS.split('|').map(|word| (word, 1))));

/// The heading of a list of comments.
pub(super) fn is_heading(text: &str) -> bool {
    text.len() <= 90
        && begins_like_one(text)
        && ANY_HEADING_WORD.stand_in(text)
        && HEADING.is_match(text)
}

/// A text begins with letters of such a word. Spares most texts the look for the words.
pub(super) fn begins_like_one(text: &str) -> bool {
    // Thoughts on something in quotes may stand anywhere; of other quotes this is the first byte.
    let quotes = |any, byte: u8| any | (byte == b'"') | (byte == 0xE2);
    if text.bytes().fold(false, quotes) {
        return true;
    }
    for (at, char) in text.char_indices() {
        match char {
            'a'..='z' | 'A'..='Z' => {
                let mut letters = text.bytes().skip(at).map(|byte| byte.to_ascii_lowercase());
                return begins_word(letters.next(), letters.next());
            }
            '\u{4E00}'..='\u{9FFF}' => return HAN.contains(&char),
            // Numbers and signs.
            '\0'..='\u{BF}' | '\u{3000}'..='\u{303F}' | '\u{FF00}'..='\u{FFEF}' => {}
            _ => return true,
        }
    }
    false
}

/// The first characters of such words in Chinese.
const HAN: [char; 31] = [
    '条', '个', '篇', '全', '所', '最', '热', '精', '网', '用', '读', '发', '文', '相', '共', '查',
    '我', '参', '更', '已', '评', '短', '书', '影', '跟', '留', '回', '点', '讨', '说', '神',
];

/// The first two bytes are those of such a word of Latin letters.
fn begins_word(first: Option<u8>, second: Option<u8>) -> bool {
    matches!(
        (first, second),
        (Some(b'a'), Some(b'l' | b'n'))
            | (Some(b'b' | b'f' | b'n'), Some(b'e'))
            | (Some(b'c' | b'k' | b't'), Some(b'o'))
            | (Some(b'd'), Some(b'i'))
            | (Some(b'l'), Some(b'a'))
            | (Some(b'r'), _)
            | (Some(b's'), Some(b'h'))
            | (Some(b'u'), Some(b's'))
            | (_, Some(0x80..))
    )
}
