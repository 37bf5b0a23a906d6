//! What labels of fields look like, and those that notices of offices have. In: text. Out: whether it is one, and how it is
//! called.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Longest label, in characters; one in Latin letters may have twice as many.
const MAX_LABEL: usize = 16;

/// The labels that notices have and other pages hardly ever.
const OFFICIAL: [&str; 50] = [
    "索引号",
    "索引编号",
    "信息索引号",
    "索取号",
    "索引",
    "发文字号",
    "发文文号",
    "文号",
    "文件编号",
    "文件字号",
    "公文文号",
    "统一编号",
    "规范性文件编号",
    "发布机构",
    "发文机关",
    "发文机构",
    "发文单位",
    "发布单位",
    "制发机关",
    "制定机关",
    "成文机关",
    "公开主体",
    "公开责任部门",
    "责任部门",
    "联合发文单位",
    "成文日期",
    "成文时间",
    "发文日期",
    "发文时间",
    "印发日期",
    "生成日期",
    "生效日期",
    "施行日期",
    "实施日期",
    "失效日期",
    "废止日期",
    "主题分类",
    "主题词",
    "组配分类",
    "体裁分类",
    "信息分类",
    "信息类别",
    "服务对象分类",
    "有效性",
    "时效性",
    "效力状态",
    "公文种类",
    "文种",
    "公开方式",
    "公开形式",
];
/// Those that other pages have too.
const COMMON: [&str; 14] = [
    "标题",
    "名称",
    "信息名称",
    "文件名称",
    "发布日期",
    "发布时间",
    "公开日期",
    "公开时间",
    "分类",
    "类别",
    "关键词",
    "关键字",
    "有效期",
    "状态",
];

/// The first character of each label of notices.
static BEGINNINGS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let labels = OFFICIAL.iter().chain(&COMMON);
    labels.filter_map(|label| label.get(..3)).collect()
});

/// Whether a line begins with a label of notices; few begin with its first character even.
pub(super) fn begins_known(text: &str) -> bool {
    let first = text.trim_start_matches(['【', '[', '■', '●', '·']).get(..3);
    if !first.is_some_and(|first| BEGINNINGS.contains(first)) {
        return false;
    }
    let label = text.split(['：', ':', '】', ']']).next().and_then(tidy);
    label.is_some_and(|label| is_known(&label))
}

/// Whether notices have this label.
pub(super) fn is_known(label: &str) -> bool {
    OFFICIAL.contains(&label) || COMMON.contains(&label)
}

/// Whether notices have this label and other pages hardly ever.
pub(super) fn is_official(label: &str) -> bool {
    OFFICIAL.contains(&label)
}

/// A label without signs around it, and without the blanks that stretch a Chinese one.
pub(crate) fn tidy(text: &str) -> Option<String> {
    let sign = |c: char| c.is_whitespace() || "：:【】[]■●·*|".contains(c);
    let text = text.trim_matches(sign);
    let label: String = match text.chars().any(is_han) {
        true => text
            .chars()
            .filter(|c| !c.is_whitespace())
            .take(MAX_LABEL + 1)
            .collect(),
        false => text.chars().take(2 * MAX_LABEL + 1).collect(),
    };
    let count = label.chars().count();
    let is_short = count
        <= if label.is_ascii() {
            2 * MAX_LABEL
        } else {
            MAX_LABEL
        };
    let is_label =
        label.chars().any(char::is_alphabetic) && !label.contains(['，', '。', '？', '?', '！']);
    (is_short && is_label).then_some(label)
}

/// A Chinese character.
pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FA5}')
}
