//! Judges what files say of themselves. Titles are left over from templates and other documents, authors are accounts and programs,
//! days are those of the template.

use chrono::{DateTime, NaiveDate, NaiveDateTime};

use crate::honesty::{clean, is_garbage};

/// Fewer characters are no title, more are a paragraph.
const TITLE_CHARS: std::ops::RangeInclusive<usize> = 2..=200;
/// A title stands in this many characters at the beginning.
const HEAD_CHARS: usize = 4000;
/// What programs write where a title belongs, in lower case; the whole title, or its beginning up to a number.
const EMPTY_TITLES: &[&str] = &[
    "untitled",
    "title",
    "document",
    "doc",
    "presentation",
    "slide",
    "sheet",
    "book",
    "workbook",
    "microsoft word",
    "none",
    "null",
    "default",
    "powerpoint presentation",
    "powerpoint 演示文稿",
    "演示文稿",
    "幻灯片",
    "文档",
    "文档标题",
    "无标题",
    "未命名",
    "标题",
    "附件",
    "目录",
    "工作簿",
    "新建文档",
    "新建 microsoft word 文档",
    "microsoft word 文档",
    "工作表",
    "模板",
    "空白",
    "normal",
];
/// Beginnings of titles that programs and printers write.
const PROGRAMS: &[&str] = &[
    "microsoft word -",
    "microsoft powerpoint -",
    "microsoft excel -",
    "adobe ",
    "acrobat",
    "wps ",
    "iofd",
    "coreldraw",
    "print",
    "http://",
    "https://",
    "file:",
    "latex",
    "foxit",
    "数科",
    "福昕",
];
/// Endings of file names.
const SUFFIXES: &[&str] = &[
    "doc", "docx", "wps", "pdf", "xls", "xlsx", "et", "ppt", "pptx", "dps", "ofd", "txt", "rtf",
    "dot", "dotx", "indd", "cdr", "tex", "dvi", "html", "htm", "fm", "ps", "eps", "s92", "s10",
    "fbd", "p65", "qxd", "dwg", "odt", "ods",
];
/// Endings of names of offices, and of the head of their paper. A document is about something; its office's name is in each of its files.
const OFFICES: &[&str] = &[
    "文件",
    "政府",
    "办公室",
    "办公厅",
    "委员会",
    "委",
    "局",
    "厅",
    "部",
    "院",
    "公司",
    "中心",
    "银行",
    "协会",
    "学会",
    "大学",
];
/// Words that make a title of what ends like an office: 关于设立……办公室.
const SUBJECTS: &[&str] = &[
    "关于", "通知", "公告", "报告", "办法", "规定", "答复", "批复", "决定", "意见", "致",
];
/// Parts of names of accounts and programs, in lower case.
const NO_PERSONS: &[&str] = &[
    "admin",
    "user",
    "用户",
    "microsoft",
    "windows",
    "lenovo",
    "dell",
    "hewlett",
    "unknown",
    "作者",
    "openpyxl",
    "python",
    "apache",
    "微软",
    "ofd",
    "wps",
    "adobe",
    "office",
    "deepin",
    "uos",
    "版权",
    "©",
    "®",
    "http",
    "computer",
    "番茄花园",
    "雨林木风",
    "系统",
];
/// Days that templates and libraries put into each file they make: of Excel, python-docx, python-pptx, and the first of FAT.
const TEMPLATE_DAYS: &[(i32, u32, u32)] =
    &[(2006, 9, 16), (2013, 12, 23), (2013, 1, 27), (1980, 1, 1)];
/// There were no such files before.
const FIRST_YEAR: i32 = 1985;
/// Years of clocks that are wrong begin here.
const LAST_YEAR: i32 = 2099;

/// Chooses the title of a file: the declared one if it is sane and stands at the beginning of the text, else what the file shows as
/// its heading, else the declared one if it is sane.
pub(crate) fn choose_title(
    declared: Option<String>,
    headings: &[String],
    text: &str,
    name: &str,
) -> Option<String> {
    let declared = declared.and_then(|title| sane_title(&title, name));
    let heading = headings.iter().find_map(|title| sane_title(title, name));
    let (Some(declared), Some(heading)) = (&declared, &heading) else {
        return declared.or(heading);
    };
    let head: String = text.chars().take(HEAD_CHARS).collect();
    let is_shown = letters(&head).contains(&letters(declared));
    // A heading that says more is the whole title.
    let is_part = letters(heading).contains(&letters(declared));
    Some(
        if is_shown && !is_part {
            declared
        } else {
            heading
        }
        .clone(),
    )
}

/// Letters and digits alone, in lower case: how titles are compared.
fn letters(text: &str) -> String {
    let kept = text.chars().filter(|c| c.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}

/// Returns a title in one line, unless it is a file name, the name of a program or an office, or nothing.
fn sane_title(title: &str, name: &str) -> Option<String> {
    let words: Vec<String> = clean(title).split_whitespace().map(str::to_owned).collect();
    let title = words.join(" ");
    let lower = title.to_lowercase();
    let has_letters = title.chars().filter(|c| c.is_alphabetic()).count() > 1;
    let is_long_enough = TITLE_CHARS.contains(&title.chars().count());
    if !has_letters || !is_long_enough || is_garbage(&title) || title.contains('\u{fffd}') {
        return None;
    }
    let unnumbered = lower.trim_end_matches(|c: char| c.is_ascii_digit() || ":：. ".contains(c));
    let suffix = lower.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    let stem = name.rsplit('/').next().unwrap_or_default();
    let stem = stem
        .rsplit_once('.')
        .map_or(stem, |(stem, _)| stem)
        .to_lowercase();
    let is_name =
        SUFFIXES.contains(&suffix) || title.contains('\\') || (lower == stem && title.is_ascii());
    let is_program = PROGRAMS.iter().any(|start| lower.starts_with(start));
    let is_office = OFFICES.iter().any(|end| title.ends_with(end))
        && !SUBJECTS.iter().any(|word| title.contains(word));
    let is_empty = EMPTY_TITLES.contains(&unnumbered);
    (!is_name && !is_program && !is_office && !is_empty).then_some(title)
}

/// Keeps the names of persons and offices, each once.
pub(crate) fn keep_persons(authors: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for author in authors
        .iter()
        .flat_map(|names| names.split([';', '；', '、', ',']))
    {
        let author = clean(author).trim().to_owned();
        let lower = author.to_lowercase();
        let is_named =
            author.chars().filter(|c| c.is_alphabetic()).count() > 1 && author.chars().count() < 60;
        let is_account =
            NO_PERSONS.iter().any(|part| lower.contains(part)) || lower == "pc" || lower == "hp";
        if is_named
            && !is_account
            && !is_garbage(&author)
            && !author.contains('\u{fffd}')
            && !kept.contains(&author)
        {
            kept.push(author);
        }
    }
    kept
}

/// Returns the Unix seconds of a time as files write it: RFC 3339 with or without zone, or a day. `None` if it cannot be true.
pub(crate) fn parse_time(text: &str) -> Option<i64> {
    let text = text.trim();
    let day = text.get(..10).unwrap_or_default();
    let seconds = DateTime::parse_from_rfc3339(text)
        .map(|time| time.timestamp())
        .ok();
    let local = || NaiveDateTime::parse_from_str(text.get(..19)?, "%Y-%m-%dT%H:%M:%S").ok();
    let seconds = seconds.or_else(|| local().map(|time| time.and_utc().timestamp()));
    let of_day = || {
        NaiveDate::parse_from_str(day, "%Y-%m-%d")
            .ok()?
            .and_hms_opt(0, 0, 0)
    };
    let seconds = seconds.or_else(|| of_day().map(|time| time.and_utc().timestamp()))?;
    sane_time(seconds)
}

/// Returns a time if a person may have worked on the file then.
pub(crate) fn sane_time(seconds: i64) -> Option<i64> {
    let day = DateTime::from_timestamp(seconds, 0)?.date_naive();
    let is_template = TEMPLATE_DAYS
        .iter()
        .any(|(y, m, d)| NaiveDate::from_ymd_opt(*y, *m, *d) == Some(day));
    let years =
        NaiveDate::from_ymd_opt(FIRST_YEAR, 1, 1)?..=NaiveDate::from_ymd_opt(LAST_YEAR, 12, 31)?;
    (!is_template && years.contains(&day)).then_some(seconds)
}
