//! What the short lines of a page say of its sort. In: the text of a line. Out: counts. Never judges.

use crate::lines::measure::Measure;

/// What short lines of a page say, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Signs {
    /// Amounts of money.
    pub prices: u32,
    /// Add to cart and its kin.
    pub shop: u32,
    /// Reply, quote, joined: what stands around posts.
    pub talk: u32,
    /// Min read, by: what stands around articles.
    pub reading: u32,
    /// Get a quote, call now, learn more: what companies ask for.
    pub call: u32,
    /// Dates and times told from now.
    pub times: u32,
    /// Lines that end in a question mark.
    pub questions: u32,
}

/// Longest line that is looked at, in tokens.
const SHORT: u32 = 12;

const SHOP_LINES: &[&str] = &[
    "add to cart",
    "add to bag",
    "buy now",
    "in stock",
    "sold out",
    "quick view",
    "sale price",
    "regular price",
    "checkout",
    "free shipping",
    "加入购物车",
    "wishlist",
    "sort by",
    "quick shop",
    "reviews)",
];
const TALK_LINES: &[&str] = &[
    "reply",
    "quote",
    "joined",
    "replies",
    "views",
    "posts",
    "report",
    "upvote",
    "answered",
    "asked",
    "original poster",
    "senior member",
    "回复",
    "楼主",
    "引用",
    "发表于",
    "举报",
    "积分",
    "thread starter",
    "messages",
    "reaction score",
    "last edited",
    "permalink",
    "liked",
    "member since",
    "log in or",
];
const READING_LINES: &[&str] = &[
    "min read",
    "minute read",
    "minutes read",
    "by ",
    "published",
    "updated",
    "written by",
    "来源",
    "作者",
    "责任编辑",
    "记者",
];
const TIME_LINES: &[&str] = &[" ago", "小时前", "分钟前", "天前", ":00 ", " am", " pm"];
const CALL_LINES: &[&str] = &[
    "get a quote",
    "get started",
    "contact us",
    "call us",
    "learn more",
    "sign up",
    "book now",
    "request a",
    "schedule",
    "get a free",
    "apply now",
    "our services",
    "testimonials",
    "why choose",
];

/// The lists in the order of the counts they raise.
const LINES: [&[&str]; 5] = [
    SHOP_LINES,
    TALK_LINES,
    READING_LINES,
    CALL_LINES,
    TIME_LINES,
];

/// The words with a bit for the list of each.
pub(crate) fn words() -> impl Iterator<Item = (&'static str, u32)> {
    let lists = LINES.iter().enumerate();
    lists.flat_map(|(at, list)| list.iter().map(move |word| (*word, 1 << at)))
}

/// Number of the lists.
pub(crate) const LISTS: usize = LINES.len();

/// True for lines short enough to be counted.
pub(crate) fn is_short(measure: &Measure) -> bool {
    measure.tokens <= SHORT
}

impl Signs {
    /// Counts what a short line says; `seen` are the bits of the [`words`] in it.
    pub(crate) fn add(&mut self, text: &str, measure: &Measure, seen: u32) {
        self.questions += u32::from(text.ends_with(['?', '？']));
        if measure.numbers > 0 && text.contains(['$', '€', '£', '¥', '￥']) {
            self.prices += 1;
        }
        let counts = [
            &mut self.shop,
            &mut self.talk,
            &mut self.reading,
            &mut self.call,
            &mut self.times,
        ];
        for (at, count) in counts.into_iter().enumerate() {
            *count += seen >> at & 1;
        }
    }
}
