//! What a short line says that is not part of a text: 责任编辑, 相关阅读, ©, "Share this". In: the text of a
//! line. Out: a [`Phrase`] or none. Only for lines that are short: a long one is prose whatever it says.

use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use super::line_signs;
use crate::literals::{Literals, compiled};

/// Longest line that is looked at, in bytes.
pub(super) const MAX_BYTES: usize = 400;

/// Kinds of lines that are not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phrase {
    /// Copyright, licence, registration of the site: nothing below it is text.
    Footer,
    /// Heading of a list of other articles: the list below it is not text.
    Related,
    /// Editor, proof-reader, reporter's card.
    Editor,
    /// Original title of a reprint.
    OriginalTitle,
    /// Share, print, font size, read aloud, favourites.
    Tools,
    /// Number of comments, box to write one.
    Comments,
    /// Source and date line.
    Source,
    /// Invitation to click, subscribe, download an app, scan a code.
    Promo,
    /// Rights and liability notes under the text.
    Legal,
    /// Previous and next article, page numbers.
    Paging,
    /// Tags and categories.
    Tags,
    /// Where one is: 首页 > 新闻.
    Crumbs,
    /// Files that belong to the text.
    Attachment,
}

const PATTERNS: &[(Phrase, &str)] = &[
    (
        Phrase::Footer,
        r"(?i)\(c\)\s*(19|20)\d\d|关于我们.*(联系|招聘|广告)",
    ),
    (
        Phrase::Related,
        r"(?i)^\W*(相关(阅读|新闻|文章|报道|链接|推荐|资讯|内容|专题|搜索|话题|稿件|热词)|延伸阅读|推荐阅读|热门(推荐|文章|新闻|阅读|评论|话题|专题|排行)|热点(推荐|新闻|专题|排行)|为您推荐|猜你喜欢|你可能(也|还)?(喜欢|感兴趣)|今日(热点|推荐|头条)|精彩推荐|更多(新闻|文章|精彩|推荐|阅读|内容|相关)|最新(文章|新闻|资讯|评论|更新)|编辑推荐|大家都在看|新闻排行|阅读排行|点击排行|排行榜|24小时热|本周热|图片新闻|精彩图集|推荐(新闻|图片|视频|文章)|看了又看|往期(回顾|精彩)|related (articles?|stories|posts|content|news|topics|links|coverage|reading)|more (from|on this|stories|news|in)|read (more|next|also)|see also|also read|recommended|you (might|may) (also )?(like|be interested)|most (read|popular|viewed|shared)|trending|popular (posts|now|stories)|latest (news|posts|stories)|up next|don't miss|editor'?s'? (picks?|choice)|top stories|mehr zum thema|lesen sie auch|das könnte sie|auch interessant|à lire aussi|lire aussi|sur le même sujet|te puede interesar|lea también|leia (também|mais)|leggi anche|関連記事|おすすめ|あわせて読みたい|관련\s?기사|인기\s?기사|читайте также|ilgili haberler|les også|læs også|läs (också|även|mer))",
    ),
    (
        Phrase::Editor,
        r"(?i)^\W*(责任编辑|责编|编辑|本文编辑|责任校对|校对|值班编辑|网络编辑|执行主编|主编|编审|监制|审核|审校|初审|复审|终审|作者系|图编|美编|制图|排版)\W*[：:丨|/]|^[\[【(（](责任编辑|责编|编辑)|责任编辑[：:]|(责任编辑|责编).{0,20}[\])）】]$|_(NF|NB|NN|N)\d{3,}|本文来源[：:]",
    ),
    (
        Phrase::OriginalTitle,
        r"^\W*(本?文?原标题|原题|原文标题)\W*[：:]",
    ),
    (
        Phrase::Tools,
        r"(?i)^\W*(分享(到|至|给)?|分享本文|收藏|打印|打印本文|关闭(窗口|本页)?|字号|字体|大\s*中\s*小|我要(评论|纠错|反馈)|纠错|点赞|举报|转发|扫一扫|复制链接|微信扫码|新浪微博|返回(顶部|首页|列表)|朗读|收听|听新闻|share( this| on| article)?|print( this)?|e-?mail( this)?|tweet|facebook|twitter|whatsapp|copy link|save|bookmark|listen( to)?|teilen|drucken|partager|imprimer|compartir|condividi|compartilhar|シェア|공유|code:? select all|click to (expand|shrink)|reveal hidden contents|improve this (question|answer)|show activity on this post)\W*$|^\W*((last )?edited (by|on|at|\w+ \d)|reactions:)|^\W*【?(打印|收藏|大|中|小|关闭|纠错|字号)(\W+(打印|收藏|大|中|小|关闭|纠错|字号))+",
    ),
    (
        Phrase::Comments,
        r"(?i)^\W*(我来说两句|\d+\s*(条|个)?(评论|跟贴|跟帖|回复|人参与)|(查看|全部|最新|精彩|热门|网友|我来|发表|参与|文明|登录后)\S{0,6}(评论|跟贴|跟帖|留言)|评论\W*(\(|（)?\d*|comments?\W*(\(?\d+\)?)?$|\d+ comments?|leave a (comment|reply)|post a comment|add a comment|view (all )?comments|join the (conversation|discussion)|log ?in to|sign in to)",
    ),
    (
        Phrase::Source,
        r"(?i)^\W*(来源|稿源|消息来源|文章来源|信息来源|新闻来源|出处|转自|source|quelle|fonte|fuente)\W{0,2}[：:丨|]|^\W*(发布时间|发表时间|发布日期|更新时间|时间|日期|发表于|发布于|published|posted|updated|last updated|veröffentlicht|publié)\W{0,3}[：:]?\s*\D{0,6}(19|20)?\d\d\W|^\W*(19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}日?[^。！？]{0,60}(来源|作者|记者|阅读|字体|字号|浏览|点击|编辑)|^\W*(19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}日?\s*(\d{1,2}[:：]\d\d([:：]\d\d)?)?\W*$",
    ),
    (
        Phrase::Promo,
        r"(?i)点击(进入|查看|下载|关注|这里|此处|图片|阅读|上方|下方).{0,16}$|(扫描|长按|识别).{0,8}二维码|关注.{0,12}(公众号|微信|微博)|下载.{0,10}(APP|客户端)|(APP|客户端).{0,6}下载|加入.{0,6}(群|社区)|打开.{0,8}(APP|客户端)|^\W*(advertisement|anzeige|publicité|publicidad|广告|reklama?|sponsored|annonse)\W*$",
    ),
    (
        Phrase::Legal,
        r"(?i)^\W*声明\W*[：:]|未经.{0,14}(授权|许可|同意)|不代表.{0,14}(观点|立场)",
    ),
    (
        Phrase::Paging,
        r"(?i)^\W*((上|下|前|后|首|末|尾)一?(页|篇|条|章|张|则)|(previous|next|prev|older|newer)( (article|post|page|story|entry|topic|chapter)|\W*$|\s*[:：|»›>→–—])|共\d+页)\W*",
    ),
    (
        Phrase::Tags,
        r"(?i)^\W*(标签|关键词|关键字|TAGS?|Filed under|Categories|Category|Topics?|Keywords?|Posted in|Tagged|Schlagw[oö]rter|Mots-clés|Etiquetas|分类)\W*[：:]|^#\S+(\s+#\S+)*$",
    ),
    (
        Phrase::Crumbs,
        r"(?i)^\W*(当前位置|您的位置|您现在的位置|所在位置|位置|you are here)\W*[：:]|^\W*(首页|home)\s*[>»/›]",
    ),
    (
        Phrase::Attachment,
        r"(?i)^\W*(附件|附表|附图|attachments?|download pdf)\W*\d*\W*[：:.．、]",
    ),
];

/// For each kind the words that its pattern begins with, after signs, and those that it may have anywhere: a line
/// that has none of them cannot match. Beginnings are cut short where that costs nothing.
const WORDS: &[(Phrase, &str, &str)] = &[
    (Phrase::Footer, "", "(c)|关于我们"),
    (
        Phrase::Related,
        "相关|延伸阅读|推荐|热门|热点|为您推荐|猜你喜欢|你可能|今日|精彩推荐|更多|最新|编辑推荐|大家都在看|新闻排行|阅读排行|点击排行|排行榜|24小时热|本周热|图片新闻|精彩图集|看了又看|往期|related |more |read |see also|also read|recommended|you |most |trending|popular |latest |up next|don't miss|editor|top stories|mehr zum thema|lesen sie auch|das k|auch interessant|à lire|À lire|lire aussi|sur le m|te puede|lea tamb|leia |leggi anche|関連記事|おすすめ|あわせて|관련|인기|ч|Ч|ilgili|les og|læ|lÆ|lä|lÄ",
        "",
    ),
    (
        Phrase::Editor,
        "责任|责编|编辑|本文编辑|校对|值班编辑|网络编辑|执行主编|主编|编审|监制|审核|审校|初审|复审|终审|作者系|图编|美编|制图|排版",
        "责任编辑|责编|_nf|_nb|_nn|_n0|_n1|_n2|_n3|_n4|_n5|_n6|_n7|_n8|_n9|本文来源",
    ),
    (
        Phrase::OriginalTitle,
        "本|文原标题|原标题|原题|原文标题",
        "",
    ),
    (
        Phrase::Tools,
        "分享|收藏|打印|关闭|字号|字体|大|中|小|我要|纠错|点赞|举报|转发|扫一扫|复制链接|微信扫码|新浪微博|返回|朗读|收听|听新闻|share|print|e-mail|email|tweet|facebook|twitter|whatsapp|copy link|save|bookmark|listen|teilen|drucken|partager|imprimer|compart|condividi|シェア|공유|code|click to |reveal hidden|improve this|show activity|last edited|edited |reactions",
        "",
    ),
    (
        Phrase::Comments,
        "我来说两句|leave a |join the |log in to|login to|sign in to",
        "评论|跟贴|跟帖|条回复|个回复|0回复|1回复|2回复|3回复|4回复|5回复|6回复|7回复|8回复|9回复| 回复|人参与|留言|comment",
    ),
    (
        Phrase::Source,
        "来源|稿源|消息来源|文章来源|信息来源|新闻来源|出处|转自|source|quelle|fonte|fuente|发布|发表|更新时间|时间|日期|publi|posted|updated|last updated|ver|19|20",
        "",
    ),
    (
        Phrase::Promo,
        "advertisement|anzeige|publici|广告|reklam|sponsored|annonse",
        "点击进入|点击查看|点击下载|点击关注|点击这里|点击此处|点击图片|点击阅读|点击上方|点击下方|二维码|关注|下载|打开|加入",
    ),
    (Phrase::Legal, "", "声明|未经|不代表"),
    (
        Phrase::Paging,
        "上|下|前|后|首|末|尾|共|previous|next|prev|older|newer",
        "",
    ),
    (
        Phrase::Tags,
        "标签|关键词|关键字|tag|filed under|categor|topic|keyword|posted in|schlagw|mots-cl|etiquetas|分类",
        "",
    ),
    (
        Phrase::Crumbs,
        "当前位置|您的位置|您现在的位置|所在位置|位置|you are here|首页|home",
        "",
    ),
    (
        Phrase::Attachment,
        "附件|附表|附图|attachment|download pdf",
        "",
    ),
];

/// For some kinds the words that say it wherever they stand, whatever stands beside them.
const SURE: &[(Phrase, &str)] = &[
    (
        Phrase::Footer,
        "版权所有|copyright|©|icp备|icp证|公网安备|主办单位|网站地图|备案号|增值电信|许可证|all rights reserved|alle rechte vorbehalten|互联网新闻信息服务|违法和不良信息|举报电话|举报邮箱|联系我们|privacy policy|terms of use|terms of service",
    ),
    (Phrase::Comments, "自律管理承诺书|跟帖评论|文明上网"),
    (
        Phrase::Promo,
        "开通会员|仅对会员|扫码|sign up for|sign up to|subscribe to|subscribe now|subscribe for|subscribe today|newsletter|download our app|download the app|follow us|click here|join our|get the latest|新浪app|新浪公众号|新浪财经app|新浪财经公众号|新浪新闻app|新浪新闻公众号|article continues below|continue reading|story continues",
    ),
    (
        Phrase::Legal,
        "免责声明|特别声明|郑重声明|版权声明|版权问题|转载请|转载须|转载需|转载声明|仅供参考|侵权|投资者据此操作|风险自担|欢迎转载|licensed under|reproduced under|republished under|creative commons",
    ),
];

/// Where the bits of words that are sure begin, and those of other words that are looked for on the way.
const SURE_BITS: usize = PATTERNS.len();
const OTHER_BITS: usize = 2 * SURE_BITS;
const _: () = assert!(OTHER_BITS + line_signs::LISTS <= 32);

/// The bit of [`Phrase::Tools`].
const TOOLS: u32 = 1 << Phrase::Tools as u32;
/// Most Chinese characters in a row that its words have; signs stand around them.
const TOOL_HAN: usize = 4;

/// The words of kinds with a bit for each kind.
fn words<'w>(
    kinds: impl Iterator<Item = (Phrase, &'w str)>,
) -> impl Iterator<Item = (&'w str, u32)> {
    let all = kinds.flat_map(|(kind, words)| words.split('|').map(move |w| (w, 1 << kind as u32)));
    all.filter(|(word, _)| !word.is_empty())
}

static BEGINNINGS: LazyLock<Literals> =
    LazyLock::new(|| Literals::of(words(WORDS.iter().map(|kind| (kind.0, kind.1)))));
static ANYWHERE: LazyLock<Literals> = LazyLock::new(|| {
    let sure = words(SURE.iter().copied()).map(|(word, bit)| (word, bit << SURE_BITS));
    let other = line_signs::words().map(|(word, bit)| (word, bit << OTHER_BITS));
    let own = words(WORDS.iter().map(|kind| (kind.0, kind.2)));
    Literals::of(own.chain(sure).chain(other))
});

/// Made when a line first may match: a crawl of one language never needs most of them.
static REGEXES: [OnceLock<Regex>; PATTERNS.len()] = [const { OnceLock::new() }; PATTERNS.len()];

fn matches(at: usize, text: &str) -> bool {
    REGEXES[at]
        .get_or_init(|| compiled(PATTERNS[at].1))
        .is_match(text)
}

/// The words that stand in a text, all found in one pass.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen(u32);

impl Seen {
    /// Looks for them.
    pub(super) fn of(text: &str) -> Self {
        Self(ANYWHERE.seen(text.as_bytes()))
    }

    /// The bits of [`line_signs::words`].
    pub(super) fn signs(self) -> u32 {
        self.0 >> OTHER_BITS
    }
}

/// The first kind in the order of [`Phrase`] that the line matches, which is trimmed.
pub(super) fn phrase_of(text: &str, seen: Seen) -> Option<Phrase> {
    if text.is_empty() || text.len() > MAX_BYTES {
        return None;
    }
    let sure = seen.0 >> SURE_BITS;
    let mut left = (begun(text) | seen.0 | sure) & ((1 << SURE_BITS) - 1);
    while left != 0 {
        let at = left.trailing_zeros() as usize;
        if sure >> at & 1 == 1 || matches(at, text) {
            return Some(PATTERNS[at].0);
        }
        left &= left - 1;
    }
    None
}

/// A bit for each pattern with one of whose words the text begins; a tag begins with its sign.
fn begun(text: &str) -> u32 {
    let tag = u32::from(text.starts_with('#')) << Phrase::Tags as u32;
    let is_letter = |c: char| c.is_alphabetic() || c.is_ascii_digit() || c == '_';
    let first = text.find(is_letter).and_then(|at| text.get(at..));
    tag | first.map_or(0, |first| {
        let begins = BEGINNINGS.begin_with(first.as_bytes());
        if begins & TOOLS != 0 && begins_with_han(first, TOOL_HAN + 1) {
            begins & !TOOLS
        } else {
            begins
        }
    })
}

/// The text begins with at least so many Chinese characters in a row.
fn begins_with_han(text: &str, least: usize) -> bool {
    let han = |c: &char| matches!(c, '\u{4e00}'..='\u{9fff}');
    text.chars().take(least).take_while(han).count() == least
}
