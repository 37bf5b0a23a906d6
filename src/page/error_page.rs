//! Error pages that are served as if all were well. In: a [`Page`] and its [`Shape`]. Out: whether it says so.

use super::kind::title;
use super::walk::char_count;
use super::{Page, Shape};

/// An error page has less than this in one column: news about errors has more.
const ERROR_COLUMN_UNITS: u32 = 1500;
/// And if the error is told in the text and not in the title, less than this on the whole page.
const ERROR_TEXT_UNITS: u32 = 3000;

/// What error pages say that are served as if all were well.
const ERROR_PHRASES: [&str; 22] = [
    "404",
    "页面不存在",
    "页面没有找到",
    "页面未找到",
    "找不到页面",
    "找不到网页",
    "无法找到",
    "您访问的页面",
    "你访问的页面",
    "您要访问的页面",
    "您查看的页面",
    "网页不存在",
    "内容不存在",
    "文章不存在",
    "文章已被删除",
    "内容已被删除",
    "页面出错",
    "出错了",
    "not found",
    "page cannot be found",
    "page doesn't exist",
    "page does not exist",
];

/// Whether the title, or the text of a page that has hardly any, says that there is no such page.
pub(super) fn says_error(page: &Page, shape: &Shape) -> bool {
    if shape.column >= ERROR_COLUMN_UNITS {
        return false;
    }
    let says = |text: &str| {
        let lower = text.to_lowercase();
        ERROR_PHRASES.iter().any(|phrase| {
            if *phrase == "404" {
                return lower
                    .split(|c: char| !c.is_ascii_digit())
                    .any(|run| run == "404")
                    && char_count(&lower) <= 40;
            }
            lower.contains(phrase)
        })
    };
    if title(page).is_some_and(|title| says(&title)) {
        return true;
    }
    let Some(body) = page.body() else {
        return false;
    };
    shape.text - shape.link_text.min(shape.text) < ERROR_TEXT_UNITS / 2
        && shape.text < ERROR_TEXT_UNITS
        && page
            .shown_texts(page.subtree(body))
            .any(|id| page.text(id).len() <= 300 && says(page.text(id)))
}
