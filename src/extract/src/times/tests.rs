//! Each form of times is read as its pattern defines it.

use std::ops::Range;
use std::sync::LazyLock;

use proptest::prelude::*;
use regex::Regex;

use super::{find, holds_whole_day};
use crate::literals::compile_regex;

/// How a time is stated; the first that holds at the first place is taken.
const FORMS: [&str; 14] = [
    r"(?:19|20)[0-9]{2}\s?[-–/._年년]\s?[0-9]{1,2}\s?[-–/._月월]\s?[0-9]{1,2}(?:\s?[日号號일])?(?:\s*\p{Han}{2,3}日?(?-u:\b))?",
    r"(?-u:\b)[0-9]{1,2}[-/.]\s?[0-9]{1,2}(?:\s?[-/.]\s?(?:19|20)[0-9]{2}|[-/.][0-9]{2})(?-u:\b)",
    r"(?-u:\b)[0-9]{1,2}[-/][0-9]{1,2}\s+[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?",
    r"[0-9]{1,2}\s?月\s?[0-9]{1,2}\s?[日号號]",
    r"(?:(?:昨天|前天|今天|昨日|今日)(?:\s|[0-9]|$)|(?-u:\b)yesterday(?-u:\b)|(?-u:\b)today(?-u:\b)|(?-u:\b)gestern(?-u:\b)|(?-u:\b)heute(?-u:\b)|(?-u:\b)hier(?-u:\b)|(?-u:\b)ayer(?-u:\b)|(?-u:\b)hoy(?-u:\b))",
    r"刚刚|剛剛|刚才|(?-u:\b)just now(?-u:\b)|(?-u:\b)moments ago(?-u:\b)|たった今",
    r"(?:[0-9]{1,3}|半|几|一|两|二|三)\s*[个個]?\s*(?:秒钟?|分钟?|分鐘|小时|小時|时间|時間|天|日|周|週|週間|星期|个?月|ヶ月|か月|年)(?:[0-9]{1,2}\s*[个個]?\s*(?:秒钟?|分钟?|分鐘|小时|小時|时间|時間|天|日|周|週|週間|星期|个?月|ヶ月|か月|年))?\s*(?:之|以)?前",
    r"(?:[0-9]{1,3}|(?-u:\b)an?|(?-u:\b)one)\s*(?:sec(?:ond)?|min(?:ute)?|hr|hour|day|week|wk|month|mon|mo|year|yr)s?\.?(?:,\s*[0-9]+\s*[a-z]+)?\s+ago",
    r"^[0-9]{1,2}\s?(?:s|m|h|d|w|y|mo|min|hr|yr)s?\.?(?:\s+ago)?$",
    // As forums shorten them: the whole text is a span. A month alone is rather that of an archive.
    r"^[0-9]{1,3}\s?(?:秒|分钟?|分鐘|小时|小時|天|周|個月|个月)$",
    r"(?-u:\b)(?:vor|il y a|hace|há|fa)\s+(?:[0-9]{1,3}|einem|einer|un|une|um|uma)\s+[\p{L}\p{M}]{3,9}|[0-9]{1,3}\s*(?:초|분|시간|일|주|개월|년)\s*전|[0-9]{1,3}\s+[\p{L}\p{M}]{3,8}\s+(?:назад|fa|önce|atrás)(?-u:\b)",
    r"(?-u:\b)[\p{L}\p{M}]{3,12}\.?\s+[0-9]{1,2}(?:st|nd|rd|th)?(?:(?:,\s*|\s+)(?:at\s+[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?\s*[ap]m,?\s*)?(?:19|20)[0-9]{2}|,?\s+(?:'[0-9]{2}(?-u:\b)|(?:at\s+)?[0-9]{1,2}:[0-9]{2}))",
    r"(?-u:\b)[0-9]{1,2}(?:st|nd|rd|th|er|º|\.)?[\s-]+(?:(?:de|of)\s+)?[\p{L}\p{M}]{3,12}(?:(?:\.?[,،]?[\s-]+|\.[,،]?|[,،])(?:del?\s+)?(?:19|20)[0-9]{2}|\.?[,،]?[\s-]+(?:de\s+)?[0-9]{1,2}:[0-9]{2})",
    r"^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?\s+(?:[0-9]{1,2}|'[0-9]{2}|20[0-9]{2})$",
];

/// The time of day that may be behind each of them.
const CLOCK: &str = r"(?:\.\s*(?:오전|오후)|[\s,，|·/]*(?:[（(]?(?:星期|周|週)[一二三四五六日天][）)]?)?[\s,，|·/]*(?:a las|at|à|um|kl\.?|T|-|–|—|\|)?\s*(?:上午|下午|晚上|晚|凌晨|早上|中午|傍晚|오전|오후|午前|午後)?)\s*[0-9]{1,2}\s?(?:[时點点時시]\s?[0-9]{1,2}|[:：h.]\s?[0-9]{2})(?:\s?[:：分분]\s?[0-9]{2})?(?:[.,][0-9]{1,9})?[分秒분초]?(?:\s*[ap]\.?m(?-u:\b)\.?)?(?:\s*(?:(?:utc|gmt|cst|est|edt|pst|pdt|cet|cest|bst|jst|kst|msk|z)\b|[+-](?:[0-9]{1,2}:[0-9]{2}|[0-9]{4}|[0-9]{1,2})\b))?";

fn in_any_case(pattern: &str) -> Regex {
    compile_regex(&format!("(?i){pattern}"))
}

static TIME: LazyLock<Regex> = LazyLock::new(|| in_any_case(&FORMS.join("|")));
static TIME_OF_DAY: LazyLock<Regex> = LazyLock::new(|| in_any_case(&format!("^(?:{CLOCK})")));

fn as_the_patterns_say(text: &str) -> Option<Range<usize>> {
    let found = TIME.find(text)?;
    let rest = text.get(found.end()..).unwrap_or_default();
    let clock = TIME_OF_DAY.find(rest).map_or(0, |clock| clock.end());
    Some(found.start()..found.end() + clock)
}

/// Parts of times and what is between.
const PARTS: &str = concat!(
    "19~20~2019~1~7~12~123~00~5~'~-~–~/~.~:~：~ ~  ~\u{A0}~\n~,~年~月~日~号~星期~星期六~一~两~半~",
    "几~二~三~昨天~前天~今天~今日~昨日~yesterday~Today~gestern~heute~hier~ayer~HOY~刚刚~剛剛~刚才~",
    "just now~moments ago~たった今~个~秒~钟~分~分钟~分鐘~小时~小時~时间~時間~天~周~週~週間~个月~",
    "個月~ヶ月~か月~之~以~前~a~an~one~sec~second~min~minute~hr~hour~day~week~wk~month~mon~mo~year~",
    "yr~s~m~h~d~w~y~ago~ ago~vor ~il y a ~hace ~há ~HÁ ~fa~einem ~einer ~un ~une ~um ~uma ~Tagen~",
    "초~시간~일~주~개월~년~전~minut~назад~НАЗАД~önce~ÖNCE~atrás~jan~Sep~ſep~Oct~december~January~",
    "st~nd~th~at ~ at ~de ~ de ~T~à~À ~a las ~kl~kl.~\u{212A}l~上午~晚上~点~时~am~p.m.~A.M~x~_~é~",
    "İ~ᲁ~龙~號~년~월~個~er~º~of ~del ~|~(周三)~下午~h~+~+08:00~Z~ UTC~GMT~〇~日本~오후~오전~시~. ",
);

/// A place at which a form may begin, and what is behind it.
const BEGINNINGS: &str = concat!(
    "2019-09-07~2019年9月7日~2019 / 9 / 7~7/9/2019~07.09.19~9-7 10:02~9月7日~3小时前~半年以前~",
    "3 个 月 前~1小时10分钟前~1个月10天前~3天5年前~2 days ago~2 hours, 3 minutes ago~an hour ago~",
    "5 min.~2w~3小时~vor 3 ~il y a une ~3 일 전~3 gün ~Oct 2, ~Oct. 2nd at ~2. Oktober ~",
    "2 de octubre de ~2-Oct-~March ~昨天 ~today ~10:02~8:00:09 p.m.~2026.05.11. 오후 3~2026년 5월 11일 오전 9시 ",
);

/// One of the words between the marks `~`.
fn one_of(words: &'static str) -> impl Strategy<Value = &'static str> {
    prop::sample::select(words.split('~').collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn time_parts_as_patterns(parts in prop::collection::vec(one_of(PARTS), 0..9)) {
        let text = parts.concat();
        prop_assert_eq!(find(&text), as_the_patterns_say(&text), "{}", text);
    }

    #[test]
    fn times_in_context_as_patterns(
        before in prop::collection::vec(one_of(PARTS), 0..3),
        time in one_of(BEGINNINGS),
        behind in prop::collection::vec(one_of(PARTS), 0..6),
    ) {
        let text = [before.concat().as_str(), time, &behind.concat()].concat();
        prop_assert_eq!(find(&text), as_the_patterns_say(&text), "{}", text);
    }

    #[test]
    fn any_text_as_patterns(text in r"[0-9 a-z:/.\-年月日前]{0,20}|\PC{0,20}") {
        prop_assert_eq!(find(&text), as_the_patterns_say(&text), "{}", text);
    }
}

#[test]
fn char_kinds_as_patterns() {
    for char in '\0'..='\u{FFFF}' {
        for text in [
            format!("ab{char} 12 2019"),
            format!("2019-9-7{char}{char}1"),
            format!("7{char}月 7日"),
        ] {
            assert_eq!(find(&text), as_the_patterns_say(&text), "{char:?}");
        }
    }
}

#[test]
fn whole_day_parts() {
    for text in "2019-09-07~发布时间：2019年9月7日 13:43~1990/1/2~id 1 2019.9.7".split('~')
    {
        assert!(holds_whole_day(text), "{text}");
    }
    for text in "~2019~2019-09~2019年9月~9月7日~1975-09-07~20190907~3小时前".split('~') {
        assert!(!holds_whole_day(text), "{text}");
    }
}
