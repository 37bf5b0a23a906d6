//! What a short line says that is not part of a text: 责任编辑, 相关阅读, ©, "Share this". In: the text of a
//! line. Out: a [`Phrase`] or none. Only for lines that are short: a long one is prose whatever it says.

use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use crate::classify::line_cues as line_signs;
use crate::literals::{Beginnings, Literals, compiled, spelled};

/// Longest line that is looked at, in bytes.
pub(crate) const MAX_BYTES: usize = 400;

/// Kinds of lines that are not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phrase {
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

/// For some kinds the words that a line begins with, after signs, whatever stands behind them.
const BEGINNINGS: &[(Phrase, &str)] = &[
    (
        Phrase::Related,
        "相关(阅读|新闻|文章|报道|链接|推荐|资讯|内容|专题|搜索|话题|稿件|热词)|延伸阅读|推荐阅读|热门(推荐|文章|新闻|阅读|评论|话题|专题|排行)|热点(推荐|新闻|专题|排行)|为您推荐|猜你喜欢|你可能(也|还)?(喜欢|感兴趣)|今日(热点|推荐|头条)|精彩推荐|更多(新闻|文章|精彩|推荐|阅读|内容|相关)|最新(文章|新闻|资讯|评论|更新)|编辑推荐|大家都在看|新闻排行|阅读排行|点击排行|排行榜|24小时热|本周热|图片新闻|精彩图集|推荐(新闻|图片|视频|文章)|看了又看|往期(回顾|精彩)|related (articles?|stories|posts|content|news|topics|links|coverage|reading)|more (from|on this|stories|news|in)|read (more|next|also)|see also|also read|recommended|you (might|may) (also )?(like|be interested)|most (read|popular|viewed|shared)|trending|popular (posts|now|stories)|latest (news|posts|stories)|up next|don't miss|editor'?s'? (picks?|choice)|top stories|mehr zum thema|lesen sie auch|auch interessant|lire aussi|te puede interesar|leggi anche|関連記事|おすすめ|あわせて読みたい|관련 ?기사|인기 ?기사|ilgili haberler",
    ),
    (
        Phrase::Comments,
        "我来说两句|评论|leave a (comment|reply)|post a comment|add a comment|view (all )?comments|join the (conversation|discussion)|log ?in to|sign in to",
    ),
    (
        Phrase::Paging,
        "[上下前后首末尾]一?[页篇条章张则]|(previous|next|prev|older|newer) (article|post|page|story|entry|topic|chapter)",
    ),
];

/// For some kinds the words that a line has but for signs.
const ALONE: &[(Phrase, &str)] = &[
    (
        Phrase::Tools,
        "分享[到至给]?|分享本文|收藏|打印|打印本文|关闭(窗口|本页)?|字号|字体|我要(评论|纠错|反馈)|纠错|点赞|举报|转发|扫一扫|复制链接|微信扫码|新浪微博|返回(顶部|首页|列表)|朗读|收听|听新闻|share( this| on| article)?|print( this)?|e-?mail( this)?|tweet|facebook|twitter|whatsapp|copy link|save|bookmark|listen( to)?|teilen|drucken|partager|imprimer|compartir|condividi|compartilhar|シェア|공유|code:? select all|click to (expand|shrink)|reveal hidden contents|improve this (question|answer)|show activity on this post",
    ),
    (
        Phrase::Promo,
        "advertisement|anzeige|publicit[éÉ]|publicidad|广告|reklama?|sponsored|annonse",
    ),
    (Phrase::Paging, "previous|next|prev|older|newer"),
];

/// What more lines of a kind say, for every kind; asked of a line only where [`WORDS`] or a digit lets it match.
const PATTERNS: &[(Phrase, &str)] = &[
    (
        Phrase::Footer,
        r"(?i)\(c\)\s*(19|20)\d\d|关于我们.*(联系|招聘|广告)",
    ),
    (
        Phrase::Related,
        r"(?i)^\W*(das könnte sie|à lire aussi|sur le même sujet|lea también|leia (também|mais)|читайте также|les også|læs også|läs (också|även|mer))",
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
        r"(?i)^\W*((last )?edited (by|on|at|\w+ \d)|reactions:|大\s*中\s*小\W*$|(打印|收藏|大|中|小|关闭|纠错|字号)\W+(打印|收藏|大|中|小|关闭|纠错|字号))",
    ),
    (
        Phrase::Comments,
        r"(?i)^\W*(\d+\s*[条个]?(评论|跟贴|跟帖|回复|人参与)|\d+ comment|comments?\W*(\(?\d+\)?)?$|(查看|全部|最新|精彩|热门|网友|我来|发表|参与|文明|登录后)\S{0,6}(评论|跟贴|跟帖|留言))",
    ),
    (
        Phrase::Source,
        r"(?i)^\W*(来源|稿源|消息来源|文章来源|信息来源|新闻来源|出处|转自|source|quelle|fonte|fuente)\W{0,2}[：:丨|]|^\W*(发布时间|发表时间|发布日期|更新时间|时间|日期|发表于|发布于|published|posted|updated|last updated|veröffentlicht|publié)\W{0,3}[：:]?\s*\D{0,6}(19|20)?\d\d\W|^\W*(19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}日?([^。！？]{0,60}(来源|作者|记者|阅读|字体|字号|浏览|点击|编辑)|\s*(\d{1,2}[:：]\d\d([:：]\d\d)?)?\W*$)",
    ),
    (
        Phrase::Promo,
        r"(?i)点击(进入|查看|下载|关注|这里|此处|图片|阅读|上方|下方).{0,16}$|(扫描|长按|识别).{0,8}二维码|关注.{0,12}(公众号|微信|微博)|下载.{0,10}(APP|客户端)|(APP|客户端).{0,6}下载|加入.{0,6}(群|社区)|打开.{0,8}(APP|客户端)",
    ),
    (
        Phrase::Legal,
        r"(?i)^\W*声明\W*[：:]|未经.{0,14}(授权|许可|同意)|不代表.{0,14}(观点|立场)",
    ),
    (
        Phrase::Paging,
        r"(?i)^\W*((previous|next|prev|older|newer)\s*[:：|»›>→–—]|共\d+页)",
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
    (Phrase::Footer, "", "[(]c[)]|关于我们"),
    (
        Phrase::Related,
        "das k|[àÀ] lire|sur le m|lea tamb|leia |[чЧ]|les og|l[æÆ]|l[äÄ]",
        "",
    ),
    (
        Phrase::Editor,
        "责任|责编|编辑|本文编辑|校对|值班编辑|网络编辑|执行主编|主编|编审|监制|审核|审校|初审|复审|终审|作者系|图编|美编|制图|排版",
        "责任编辑|责编|_n[fbn0123456789]|本文来源",
    ),
    (Phrase::OriginalTitle, "(本?文?原标|原题|原文标题)", ""),
    (
        Phrase::Tools,
        "打印|收藏|大|中|小|关闭|纠错|字号|last edited|edited |reactions",
        "",
    ),
    (
        Phrase::Comments,
        "查看|全部|最新|精彩|热门|网友|我来|发表|参与|文明|登录后|comment",
        "",
    ),
    (
        Phrase::Source,
        "来源|稿源|消息来源|文章来源|信息来源|新闻来源|出处|转自|source|quelle|fonte|fuente|发布|发表|更新时间|时间|日期|publi|posted|updated|last updated|ver",
        "",
    ),
    (
        Phrase::Promo,
        "",
        "点击(进入|查看|下载|关注|这里|此处|图片|阅读|上方|下方)|二维码|关注|下载|打开|加入",
    ),
    (Phrase::Legal, "", "声明|未经|不代表"),
    (Phrase::Paging, "共|previous|next|prev|older|newer", ""),
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

/// Number of the kinds, and of the bits of what may be.
const KINDS: usize = PATTERNS.len();
/// Where the bits of what is sure begin.
const SURE_BITS: usize = KINDS;
/// Where those of other words begin that are looked for on the way.
const OTHER_BITS: usize = 2 * KINDS;
const _: () = assert!(OTHER_BITS + line_signs::LISTS <= 32);
/// Where those of kinds begin whose words stand alone; they are numbered as in [`ALONE`].
const ALONE_BITS: usize = 2 * KINDS;
const _: () = assert!(ALONE_BITS + ALONE.len() <= 32);

/// Kinds whose patterns a line may match that begins with a number.
const NUMBERED: u32 = bit(Phrase::Comments) | bit(Phrase::Source);

const fn bit(kind: Phrase) -> u32 {
    1 << kind as u32
}

/// The words of kinds with a bit for each kind, moved by `shift`.
fn words(
    kinds: impl Iterator<Item = (Phrase, &'static str)>,
    shift: usize,
) -> impl Iterator<Item = (String, u32)> {
    let with_bit = move |(kind, words): (Phrase, &str)| {
        let words = spelled(words).into_iter().filter(|word| !word.is_empty());
        words.map(move |word| (word, bit(kind) << shift))
    };
    kinds.flat_map(with_bit)
}

static FIRST: LazyLock<Beginnings> = LazyLock::new(|| {
    let patterns = words(WORDS.iter().map(|kind| (kind.0, kind.1)), 0);
    let sure = words(BEGINNINGS.iter().copied(), SURE_BITS);
    let alone = ALONE.iter().enumerate().flat_map(|(at, (_, words))| {
        let words = spelled(words).into_iter();
        words.map(move |word| (word, 1 << (ALONE_BITS + at)))
    });
    Beginnings::of(patterns.chain(sure).chain(alone))
});
static ANYWHERE: LazyLock<Literals> = LazyLock::new(|| {
    let sure = words(SURE.iter().copied(), SURE_BITS);
    let other = line_signs::words().map(|(word, bit)| (word.to_owned(), bit << OTHER_BITS));
    let patterns = words(WORDS.iter().map(|kind| (kind.0, kind.2)), 0);
    Literals::of(patterns.chain(sure).chain(other))
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
pub(crate) struct Seen(u32);

impl Seen {
    /// Looks for them.
    pub(crate) fn of(text: &str) -> Self {
        Self(ANYWHERE.seen(text.as_bytes()))
    }

    /// The bits of [`line_signs::words`].
    pub(crate) fn signs(self) -> u32 {
        self.0 >> OTHER_BITS
    }
}

/// The first kind in the order of [`Phrase`] that the line matches, which is trimmed.
pub(crate) fn phrase_of(text: &str, seen: Seen) -> Option<Phrase> {
    if text.is_empty() || text.len() > MAX_BYTES {
        return None;
    }
    let begun = begun(text);
    let sure = (begun | seen.0) >> SURE_BITS;
    let mut left = (begun | seen.0 | sure) & ((1 << KINDS) - 1);
    while left != 0 {
        let at = left.trailing_zeros() as usize;
        if sure >> at & 1 == 1 || matches(at, text) {
            return Some(PATTERNS[at].0);
        }
        left &= left - 1;
    }
    None
}

/// A bit for each kind that the text may be of or is by what it begins with, after signs.
fn begun(text: &str) -> u32 {
    let first = without_signs(text);
    let mut begun = 0;
    if text.starts_with('#') {
        begun |= bit(Phrase::Tags);
    }
    if first.starts_with(|c: char| c.is_ascii_digit()) {
        begun |= NUMBERED;
    }
    for (bits, len) in FIRST.of_text(first) {
        begun |= bits & ((1 << ALONE_BITS) - 1);
        let alone = bits >> ALONE_BITS;
        let behind = first.get(len..).unwrap_or_default();
        if alone != 0 && without_signs(behind).is_empty() {
            let kinds = ALONE.iter().enumerate();
            let named = kinds.filter(|(at, _)| alone >> at & 1 == 1);
            begun |= named.fold(0, |all, (_, (kind, _))| all | bit(*kind)) << SURE_BITS;
        }
    }
    begun
}

/// A text from its first letter or digit on.
pub(crate) fn without_signs(text: &str) -> &str {
    static LETTER: LazyLock<Regex> = LazyLock::new(|| compiled(r"\w"));
    // As most texts do; the pattern takes 1 % of the way to a document to say so.
    if text.starts_with(char::is_alphabetic) {
        return text;
    }
    let first = LETTER
        .find(text)
        .map_or(text.len(), |letter| letter.start());
    text.get(first..).unwrap_or_default()
}
