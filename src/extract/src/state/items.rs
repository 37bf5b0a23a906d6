//! Finds the items of lists in the data of a script: objects of a list that have an address and a title, and documents.

use super::TITLES;
use super::strings::Strings;
use crate::page::address::{format_of_address, is_address};

/// Most items of a script.
const MAX_ITEMS: usize = 4096;
/// Strings before and behind an address among which its title is.
const NEAR: usize = 24;
/// Longest title, in bytes.
const MAX_TITLE: usize = 600;
/// What the key of an address ends in.
const ADDRESSES: [&str; 4] = ["url", "href", "link", "uri"];
/// Parts of keys of addresses that are none of pages.
const OTHERS: [&str; 18] = [
    "img", "image", "pic", "cover", "icon", "logo", "avatar", "thumb", "photo", "poster", "video",
    "audio", "api", "callback", "login", "share", "src", "qr",
];

/// An item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DataItem {
    /// Its address, as it is there.
    pub(crate) url: String,
    /// Its title; empty where it has none, which only documents may.
    pub(crate) title: String,
}

/// The items of a script in order.
pub(crate) fn find_items(script: &str) -> Vec<DataItem> {
    let strings = Strings::read(std::iter::once(script));
    let mut items = Vec::new();
    for (at, said) in strings.said.iter().enumerate() {
        let text = said.text.trim();
        if !is_address(text) {
            continue;
        }
        let title = title_of(&strings, at);
        let is_file = format_of_address(text).is_some();
        let is_item = || {
            let is_named = ADDRESSES.iter().any(|key| said.key.ends_with(key))
                && !OTHERS.iter().any(|part| said.key.contains(part));
            let holder = &strings.holders[said.holder];
            let in_list = !holder.is_list && strings.holders[holder.parent].is_list;
            is_named && in_list && title.is_some()
        };
        if is_file || is_item() {
            items.push(DataItem {
                url: text.to_owned(),
                title: title.unwrap_or_default(),
            });
        }
        if items.len() >= MAX_ITEMS {
            break;
        }
    }
    items
}

/// The title in the object that an address is in. A single word of ASCII is the name of a thing in a program.
fn title_of(strings: &Strings, at: usize) -> Option<String> {
    let said = &strings.said[at];
    if strings.holders[said.holder].is_list {
        return None;
    }
    let near = at.saturating_sub(NEAR)..strings.said.len().min(at + NEAR);
    let mut near = strings.said[near].iter();
    let title = near.find(|other| {
        let text = other.text.trim();
        let reads = text
            .chars()
            .any(|c| c.is_whitespace() || (c.is_alphabetic() && !c.is_ascii()));
        other.holder == said.holder
            && TITLES.iter().any(|key| other.key.ends_with(key))
            && text.len() <= MAX_TITLE
            && reads
            && text.chars().count() > 1
    })?;
    Some(htmlize::unescape(title.text.trim()).into_owned())
}
