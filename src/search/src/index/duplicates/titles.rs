//! Compares two titles in normal form: whether they name one subject, two, or two of a series. Never looks at the
//! texts.

/// Least letters of a title that says something.
const LEAST_LETTERS: usize = 4;
/// Share of the pairs of letters that two wordings of one title have in common.
const SAME_PAIRS: f64 = 0.5;
/// Share of the shorter title that is form when only the part between its beginning and its end differs.
const FORM_SHARE: f64 = 0.6;
/// Letters on either side from which on the part that differs is another name, and no other spelling.
const LEAST_NAME: usize = 2;
/// Letters at the end that titles of one form share at least.
const LEAST_END: usize = 2;

/// How two titles stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Titles {
    /// One of them says nothing.
    Unknown,
    /// Wordings of one title.
    Same,
    /// They have little in common.
    Other,
    /// One form with other names in it: policies of one office, reports on two companies.
    Form,
    /// They differ only in their numbers: 第76期 and 第77期.
    Series,
}

impl Titles {
    /// Compares two titles in normal form.
    pub(crate) fn new(a: &str, b: &str) -> Self {
        let (own, other) = (letters(a), letters(b));
        if own.len().min(other.len()) < LEAST_LETTERS {
            return Self::Unknown;
        }
        if own == other {
            return Self::Same;
        }
        let (masked, other_masked) = (numbered(&own), numbered(&other));
        if masked.0 == other_masked.0 {
            return Self::Series;
        }
        let alike = common_pairs(&masked.0, &other_masked.0) >= SAME_PAIRS;
        if alike && apart(&masked.1, &other_masked.1) || apart(&named(a), &named(b)) {
            return Self::Form;
        }
        match (has_other_name(&own, &other), alike) {
            (true, _) => Self::Form,
            (false, true) => Self::Same,
            (false, false) if contains(&own, &other) || contains(&other, &own) => Self::Same,
            (false, false) => Self::Other,
        }
    }
}

fn letters(title: &str) -> Vec<char> {
    title.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The letters with one mark for each number, and the numbers.
fn numbered(letters: &[char]) -> (Vec<char>, Vec<u64>) {
    let (mut masked, mut numbers) = (Vec::with_capacity(letters.len()), Vec::new());
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        let rest = letters.get(at..).unwrap_or_default();
        let counts = letter.is_ascii_digit() || at > 0 && letters[at - 1] == '第';
        match number(rest).filter(|_| counts) {
            Some((value, length)) => {
                masked.push('#');
                numbers.push(value);
                at += length;
            }
            None => {
                masked.push(letter);
                at += 1;
            }
        }
    }
    (masked, numbers)
}

/// The number that letters begin with, in Arabic or Chinese digits, and how many letters it has.
pub(crate) fn number(letters: &[char]) -> Option<(u64, usize)> {
    let digits = letters.iter().take_while(|c| c.is_ascii_digit()).count();
    if digits > 0 {
        let value = |value: u64, c: &char| {
            let digit = u64::from(c.to_digit(10).unwrap_or(0));
            value.wrapping_mul(10).wrapping_add(digit)
        };
        return Some((letters.iter().take(digits).fold(0, value), digits));
    }
    let (mut total, mut digit, mut length) = (0, None, 0);
    for c in letters {
        match (*c, "〇一二三四五六七八九".chars().position(|d| d == *c)) {
            (_, Some(value)) => digit = Some(digit.unwrap_or(0) * 10 + value as u64),
            ('零', None) => {}
            ('十', None) => total += digit.take().unwrap_or(1) * 10,
            ('百', None) => total += digit.take().unwrap_or(1) * 100,
            _ => break,
        }
        length += 1;
    }
    (length > 0).then_some((total + digit.unwrap_or(0), length))
}

/// What stands between 《 and 》.
fn named(title: &str) -> Vec<&str> {
    let parts = title.split('《').skip(1);
    parts
        .filter_map(|part| part.split_once('》'))
        .map(|(name, _)| name)
        .collect()
}

/// Whether both have something and nothing in common.
fn apart<T: PartialEq>(own: &[T], other: &[T]) -> bool {
    !own.is_empty() && !other.is_empty() && own.iter().all(|one| !other.contains(one))
}

/// Share of the pairs of letters of both that stand in both (the coefficient of Dice).
fn common_pairs(own: &[char], other: &[char]) -> f64 {
    let mut left: Vec<&[char]> = other.windows(2).collect();
    let all = (own.len() + other.len()).saturating_sub(2).max(1);
    let common = own.windows(2).filter(|pair| {
        let found = left.iter().position(|other| other == pair);
        found.map(|at| left.swap_remove(at)).is_some()
    });
    2.0 * common.count() as f64 / all as f64
}

fn contains(long: &[char], short: &[char]) -> bool {
    long.windows(short.len()).any(|part| part == short)
}

/// Whether both begin and end alike and have something else in between.
fn has_other_name(own: &[char], other: &[char]) -> bool {
    let equal = |(a, b): &(&char, &char)| a == b;
    let shorter = own.len().min(other.len());
    let begin = own.iter().zip(other).take_while(equal).count();
    let end = own.iter().rev().zip(other.iter().rev());
    let end = end.take(shorter - begin).take_while(equal).count();
    let form = (begin + end) as f64 >= shorter as f64 * FORM_SHARE;
    // Two wordings often begin alike; those of a form end alike as well.
    form && end >= LEAST_END && shorter - begin - end >= LEAST_NAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_series_differ() {
        use Titles::{Form, Other, Same, Series, Unknown};
        for (expected, a, b) in [
            (Same, "国内油价三连涨", "国内油价“三连涨”"),
            (
                Same,
                "我国将现较大范围雨雪 雾霾天气仍占据中东部",
                "我国将出现较大范围雨雪 雾霾天气仍将占据中东部地区",
            ),
            (
                Same,
                "龙年春节阖家游 15条国家步道走春",
                "龙年春节阖家游 15条国家步道走春 新闻速报",
            ),
            (
                Other,
                "冬季盛行夏季湿疹 都是保暖靴惹祸",
                "夏天的病冬天发作 靴子不透气",
            ),
            (Series, "油气勘查简报第76期", "油气勘查简报第77期"),
            (Series, "油气勘查简报第七十六期", "油气勘查简报第七十七期"),
            (Series, "11月18日国内成品油价格", "12月2日国内成品油价格"),
            (Form, "国内成品油价格(11月18日)", "12月2日国内成品油价格"),
            (
                Form,
                "关于印发《页岩气开发环境保护技术要求》的通知",
                "关于印发《非常规油气资源评价规范》的通知",
            ),
            (
                Form,
                "陕西省委原常委张三丰被开除党籍和公职",
                "陕西省委原常委李四光被开除党籍和公职",
            ),
            (Unknown, "图片", "国内油价三连涨"),
        ] {
            assert_eq!(Titles::new(a, b), expected, "{a} / {b}");
            assert_eq!(Titles::new(b, a), expected, "{b} / {a}");
        }
    }

    #[test]
    fn titles_read_both_digits() {
        let read = |text: &str| number(&text.chars().collect::<Vec<_>>());
        assert_eq!(read("76期"), Some((76, 2)));
        assert_eq!(read("七十六期"), Some((76, 3)));
        assert_eq!(read("一百零八号"), Some((108, 4)));
        assert_eq!(read("十期"), Some((10, 1)));
        assert_eq!(read("二〇二六年"), Some((2026, 4)));
        assert_eq!(read("期"), None);
    }
}
