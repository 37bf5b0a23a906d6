//! The words of comment blocks: what classes are called and what buttons say. In: a short text. Out: whether it
//! is a button or a count. Never for long texts: a sentence may say anything.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::literals::{Beginnings, Literals};

/// A list of parts of class and id values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts(u32);

/// Parts of class and id values of a reader's name.
pub(super) const AUTHOR: Parts = Parts(1);
/// Parts of class and id values near a name that are not the name.
pub(super) const NOT_AUTHOR: Parts = Parts(1 << 1);
/// Parts of class and id values of the text of a comment.
pub(super) const CONTENT: Parts = Parts(1 << 2);
/// Parts of class and id values of what stands beside the text: the writer's card, buttons.
pub(super) const BESIDE: Parts = Parts(1 << 3);
/// Parts of class and id values of what a comment answers to, never of a part of its own text.
pub(super) const ANSWERED: Parts = Parts(1 << 4);
/// Parts of class and id values of what a comment answers to.
pub(super) const QUOTE: Parts = Parts(1 << 5);
/// Parts of class and id values of posts of a thread, as opposed to comments under an article.
pub(super) const POST: Parts = Parts(1 << 6);
/// Parts of class and id values of comments.
pub(super) const COMMENT: Parts = Parts(1 << 7);
/// Parts of class and id values of places for votes.
pub(super) const VOTES: Parts = Parts(1 << 8);
/// Parts of the same for votes against.
pub(super) const VOTES_AGAINST: Parts = Parts(1 << 9);

/// What stands in each list.
const PARTS: [(Parts, &[&str]); 10] = [
    (
        AUTHOR,
        &[
            "author", "user", "nick", "name", "poster", "screen", "uname", "writer", "owner",
            "byline", "member", "authi", "who", "zuozhe",
        ],
    ),
    (
        NOT_AUTHOR,
        &[
            "avatar",
            "level",
            "badge",
            "rank",
            "location",
            "count",
            "reply-to",
            "replyto",
            "replied",
            "quote",
            "title",
            "role",
            "sign",
            "area",
            "desp",
            "tag",
            "address",
            "desc",
            "rep-",
            "reputation",
            "time",
            "date",
            "floor",
            "like",
            "vote",
            "content",
            "action",
            "group",
            "dateline",
        ],
    ),
    (
        CONTENT,
        &[
            "content",
            "body",
            "text",
            "txt",
            "message",
            "msg",
            "t_f",
            "cnt",
            "detail",
            "markdown",
            "words",
            "cont",
            "prose",
            "entry",
            "description",
        ],
    ),
    (
        BESIDE,
        &[
            "user", "author", "avatar", "sign", "card", "profile", "member", "pls", "side", "meta",
            "poster", "action", "tool", "footer", "info", "badge", "operat", "button", "btn",
            "opts", "menu", "likes", "head",
        ],
    ),
    (
        ANSWERED,
        &[
            "reply-to",
            "replyto",
            "in-reply",
            "floor-tie",
            "parent-comment",
            "reply_quote",
            "quote-comment",
        ],
    ),
    (
        QUOTE,
        &[
            "quote",
            "reply-to",
            "replyto",
            "in-reply",
            "parent-comment",
            "floor-tie",
            "refer",
            "original",
            "yinyong",
        ],
    ),
    (
        POST,
        &[
            "post", "answer", "thread", "topic", "floor", "message", "bbs",
        ],
    ),
    (
        COMMENT,
        &[
            "comment",
            "reply",
            "replies",
            "review",
            "pinglun",
            "cmt",
            "gentie",
            "liuyan",
            "guestbook",
            "feedback",
            "answer",
            "tie-",
            "talkback",
            "discuss",
            "msgboard",
            "respon",
            "huifu",
            "huida",
            "dianping",
            "gbook",
        ],
    ),
    (
        VOTES,
        &[
            "like", "vote", "zan", "praise", "up", "digg", "score", "agree", "ding", "support",
            "thumb", "u-num", "useful", "point", "heart", "upvote",
        ],
    ),
    (
        VOTES_AGAINST,
        &[
            "down", "dislike", "tread", "oppose", "against", "cai", "disagree", "boo",
        ],
    ),
];

static ALL_PARTS: LazyLock<Literals> = LazyLock::new(|| {
    let lists = PARTS.iter();
    Literals::of(lists.flat_map(|(list, parts)| parts.iter().map(|part| (part, list.0))))
});

impl Parts {
    /// True if any of the list stands in a class or id value, in whatever case.
    pub(super) fn stand_in(self, value: &str) -> bool {
        ALL_PARTS.seen(value.as_bytes()) & self.0 != 0
    }
}

/// What buttons and labels of comments say, without signs and numbers around.
const TOOLS: &str = "分享|分享到|分享至|收藏|取消收藏|鲜花|鸡蛋|臭鸡蛋|删除|编辑|修改|展开|\
     展开全部|展开全文|展开更多|收起|收起回复|收起全文|更多|更多回复|更多评论|\
     楼主|层主|置顶|置頂|倒序浏览|倒序看帖|正序浏览|发表|发表于|发表在|\
     发表评论|发布|发布于|评论|评论道|评论于|我要评论|转发|转帖|加精|复制|\
     复制链接|道具|评分|top|返回顶部|电梯直达|显示全部楼层|好评|中评|差评|喜欢|\
     不喜欢|感谢|采纳|关注|私信|发消息|加好友|串个门|打招呼|主题|帖子|积分|精华|\
     注册时间|最后登录|在线时间|登录|作者|博主|管理员|版主|游客|匿名|新浪微博|\
     微信|微博|qq空间|朋友圈|说|说道|写道|评价|表情|图片|发送|提交|取消|最热|\
     最新|只看楼主|全部|来自|回复于|操作|share|liked|up|down|vote|vote up|vote down|edit|edited|\
     delete|perma|link|copy|copy link|flag|more|follow|unfollow|save|saved|award|give award|spam|translate|\
     best answer|accepted answer|solution|solved|thank|thanks|thank you|helpful|not helpful|comment|comments|\
     add comment|expand|collapse|hide|parent|thread|improve this answer|cite|post|posts|joined|location|author|\
     admin|administrator|moderator|member|guest|mod|op|said|says|wrote|posted|posted by|posted on|answered|\
     asked|commented|message|private message|website|profile|visit user profile|rank|point|points|reaction|\
     reactions|react|options|menu|select|bookmark|subscribe|replies|log in|login|sign in|responder|citer|citar|\
     compartir|melden|gefällt mir|on|at|by|created|modified|updated|new|score|like this";

/// The same of buttons that only comments and posts have.
const ANSWER_TOOLS: &str = "回复|回复此楼|回复本楼|回复ta|回复他|回复她|答复|回應|回覆|引用|举报|投诉|\
     检举|点赞|首赞|赞|赞同|已赞|顶|踩|支持|反对|沙发|板凳|地板|藤椅|报纸|\
     只看该作者|只看ta|只看他|只看此人|使用道具|有用|没用|没有用|条回复|\
     查看回复|查看对话|查看全部回复|盖楼|reply|quote|report|report post|report abuse|\
     report comment|report spam|like|likes|dislike|upvote|downvote|permalink|add a comment|répondre|antworten|\
     zitieren|rispondi|返信|답글|log in to reply|reply to this";

/// Beginnings of short texts that are buttons.
const TOOL_BEGINNINGS: &str = "查看|展开|来自|ip属地|本楼|log in to|login to|sign in to|view all|view more|view entire|\
     show more|load more|mark as|marked as|reply to|登录后|本帖最后由|last edited|edited by|该帖|\
     此帖|join date|registered";

/// What a number may count.
const COUNTED: &str = "楼|樓|层|like|likes|reply|replies|vote|votes|point|points|comment|comments|share|shares|view|views|\
     upvotes|answer|answers|post|posts|赞|人赞|人赞同|人支持|条回复|回复|条评论|评论|次|\
     人|个|条|声望|阅读|浏览|k|万|th|st|nd|rd|people found this helpful";

/// Words that a short text may be. Most texts are none: their first byte and their length tell that.
struct Words {
    words: HashSet<&'static str>,
    /// For each first byte the lengths of the words that have it, a bit each.
    lengths: [u64; 256],
}

impl Words {
    fn of(lists: &[&'static str]) -> Self {
        let words: HashSet<&str> = lists.iter().flat_map(|list| list.split('|')).collect();
        let mut lengths = [0; 256];
        for word in &words {
            let first = word.as_bytes().first().copied().unwrap_or_default();
            lengths[usize::from(first)] |= 1 << word.len().min(63);
        }
        Self { words, lengths }
    }

    /// True if the text is one of the words, in whatever case.
    fn hold(&self, text: &str) -> bool {
        let Some(first) = text.as_bytes().first() else {
            return false;
        };
        if !keeps_length(text) {
            return self.words.contains(text.to_lowercase().as_str());
        }
        let lengths = self.lengths[usize::from(first.to_ascii_lowercase())];
        let is_upper = |any, byte: u8| any | byte.is_ascii_uppercase();
        lengths >> text.len().min(63) & 1 == 1
            && if text.bytes().fold(false, is_upper) {
                self.words.contains(text.to_ascii_lowercase().as_str())
            } else {
                self.words.contains(text)
            }
    }
}

/// True for a text of ASCII and of characters from U+3000 to U+9FFF: of these only ASCII has letters in two cases.
fn keeps_length(text: &str) -> bool {
    let other = |byte: u8| byte >= 0xC0 && !(0xE3..=0xE9).contains(&byte);
    !text.bytes().fold(false, |any, byte| any | other(byte))
}

static TOOL_WORDS: LazyLock<Words> = LazyLock::new(|| Words::of(&[TOOLS, ANSWER_TOOLS]));
static ANSWER_WORDS: LazyLock<Words> = LazyLock::new(|| Words::of(&[ANSWER_TOOLS]));
static COUNTED_WORDS: LazyLock<Words> = LazyLock::new(|| Words::of(&[COUNTED]));
static BEGINNINGS: LazyLock<Beginnings> =
    LazyLock::new(|| Beginnings::of(TOOL_BEGINNINGS.split('|').map(|first| (first, 1))));

/// A short text without signs at its ends and without the number before or behind it.
fn core(text: &str) -> &str {
    let outer = |c: char| !c.is_alphanumeric() || c.is_ascii_digit();
    let inner = if has_letters_at_ends(text.as_bytes()) {
        text
    } else {
        text.trim_matches(outer)
    };
    // A number of ten thousands is `1.2万`.
    if inner == "万" || inner == "k" || inner == "K" {
        ""
    } else {
        inner
    }
}

/// Told by bytes, for most texts that are buttons; a character from U+5000 to U+9FFF is a letter.
pub(super) fn has_letters_at_ends(text: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic();
    let is_han = |byte: &u8| (0xE5..=0xE9).contains(byte);
    text.first()
        .is_some_and(|first| is_letter(first) || is_han(first))
        && (text.last().is_some_and(is_letter) || text.iter().nth_back(2).is_some_and(is_han))
}

/// A button or a label: 回复, 举报, Reply, 沙发.
pub(super) fn is_tool(text: &str) -> bool {
    if text.len() > 48 {
        return false;
    }
    let core = core(text);
    let begins = |core: &str| BEGINNINGS.of_text(core).next().is_some();
    TOOL_WORDS.hold(core)
        || if keeps_length(core) {
            begins(core)
        } else {
            begins(&core.to_lowercase())
        }
}

/// A button that only comments and posts have.
pub(super) fn is_answer_tool(text: &str) -> bool {
    text.len() <= 40 && ANSWER_WORDS.hold(core(text))
}

/// A number alone, or one with what it counts; signs alone.
pub(super) fn is_count(text: &str) -> bool {
    if text.len() > 40 {
        return false;
    }
    let core = core(text);
    if core.is_empty() {
        return !text.chars().any(is_pictograph);
    }
    text.bytes().any(|b| b.is_ascii_digit()) && COUNTED_WORDS.hold(core)
}

/// Emoji are a comment, signs are decoration.
fn is_pictograph(char: char) -> bool {
    matches!(u32::from(char), 0x1F300..=0x1FAFF | 0x2600..=0x27BF)
}

/// The number of a count, `1.2万` and `3.4k` included; `None` for a text without one.
pub(super) fn number(text: &str) -> Option<i64> {
    let digits: String = text
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        .filter(|c| *c != ',')
        .collect();
    let value: f64 = digits.trim_end_matches('.').parse().ok()?;
    let after = text
        .rsplit(|c: char| c.is_ascii_digit())
        .next()
        .unwrap_or_default()
        .trim_start();
    let factor = match after.chars().next() {
        Some('万' | '萬' | 'w' | 'W') => 10_000.0,
        Some('千' | 'k' | 'K') => 1_000.0,
        _ => 1.0,
    };
    (value < 1e12).then_some((value * factor) as i64)
}
