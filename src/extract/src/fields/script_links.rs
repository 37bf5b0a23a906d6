//! Adds the URLs that stand whole in the scripts of a page: records of a list as markup (in CDATA or in string literals),
//! items of a list as data, documents, and the further pages that a call with their number writes.
//!
//! Runs nothing: a script that puts an address together names none, but for two well-known calls, `createPageHTML` and
//! jpage.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use foldhash::HashSet;
use memchr::memmem::Finder;

use crate::page::address::{FORMATS, format_of_address, is_address};
use crate::page::quoted::{quoted, unescaped};
use crate::page::{
    self, Attr, Hints, LinkRole, NodeId, Page, RawLink, Script, Tag, find_base, resolve,
};
use crate::state::{self, DataItem};
use taojin_uri::CrawlUri;

use super::pager_calls;
use super::record_groups::{self, is_counted_group, is_group};

/// Bytes on either side of the ending of a document in which its literal begins and ends.
const MAX_ADDRESS: usize = 1024;
/// Bytes of markup in the scripts of a page that are read.
const MAX_MARKUP: usize = 1 << 20;
/// String literals of a page's code that are looked at.
const MAX_LITERALS: usize = 20_000;
/// Characters of a headline: what is shorter names a section.
const TITLE_CHARS: usize = 4;
/// Further pages that one page names; the last of them names those behind it.
const MAX_PAGES: usize = 200;

/// What names of documents end in.
static ENDINGS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let endings = FORMATS.iter().map(|format| format!(".{format}"));
    let endings = endings.flat_map(|ending| [ending.to_uppercase(), ending]);
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(endings)
        .expect("few constant words")
});

/// Where a section of XML and where an anchor begins. Most scripts have neither, and each is asked.
static SECTION: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("<![CDATA["));
static ANCHOR: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("<a "));

/// Adds to the links of a page those of its scripts, at most `limit` in all. What an article shows next to itself is none of
/// its text: of its data only documents count.
pub(crate) fn add_script_links(
    page: &Page,
    links: &mut Vec<RawLink>,
    limit: usize,
    is_article: bool,
) {
    let mut found = FoundLinks::new(page, links, limit);
    for script in page.scripts() {
        if is_template(page, script) {
            continue;
        }
        let documents = documents(&script.text).take(MAX_LITERALS).map(unescaped);
        let documents: Vec<String> = documents.filter(|text| is_address(text)).collect();
        if script.is_data && (!is_article || !documents.is_empty()) {
            for item in state::find_items(&script.text) {
                let is_file = format_of_address(&item.url).is_some();
                let is_item = !is_article && !found.is_menu_of_others(&item);
                if is_file || is_item {
                    let role = if is_file {
                        LinkRole::File
                    } else {
                        LinkRole::Anchor
                    };
                    found.add(script.node, &item.url, item.title, role);
                }
            }
        }
        for text in documents {
            found.add(script.node, &text, String::new(), LinkRole::File);
        }
        let bytes = script.text.as_bytes();
        if SECTION.find(bytes).is_some() {
            add_sections(script, &mut found);
        } else if !is_article && ANCHOR.find(bytes).is_some() {
            add_literals(script, &mut found);
        }
        if let Some(call) = pager_calls::find(&script.text, own_name(page)) {
            add_pages(page, script.node, call.others(), &mut found);
        }
    }
    add_records(page, &mut found);
    found.read_markup();
    if !found.take_groups() {
        for script in page.scripts() {
            let groups = record_groups::groups(&script.text);
            add_pages(page, script.node, groups, &mut found);
        }
    }
}

/// A template is filled in by a script: what it names is no address yet.
fn is_template(page: &Page, script: &Script) -> bool {
    let kind = page.attr(script.node, Attr::Type).unwrap_or_default();
    let kind = kind.trim().to_ascii_lowercase();
    let known = ["javascript", "ecmascript", "json", "xml", "module", "babel"];
    !kind.is_empty() && !known.iter().any(|known| kind.contains(known))
}

/// The links of the page, with those that are found.
struct FoundLinks<'p> {
    page: &'p Page,
    base: Option<CrawlUri>,
    links: &'p mut Vec<RawLink>,
    limit: usize,
    known: HashSet<CrawlUri>,
    /// Markup of the scripts with the element of each.
    markup: String,
    markup_node: NodeId,
    literals: usize,
}

impl<'p> FoundLinks<'p> {
    fn new(page: &'p Page, links: &'p mut Vec<RawLink>, limit: usize) -> Self {
        let known = links.iter().map(|link| &link.url);
        Self {
            base: find_base(page),
            known: known.chain(&page.url).cloned().collect(),
            page,
            links,
            limit,
            markup: String::new(),
            markup_node: 0,
            literals: 0,
        }
    }

    fn add(&mut self, node: NodeId, reference: &str, text: String, role: LinkRole) {
        let means = self.base.is_some() || reference.contains(':');
        if !means || self.links.len() >= self.limit {
            return;
        }
        if let Some(url) = resolve(self.page, self.base.as_ref(), reference) {
            self.push(RawLink {
                url,
                text,
                role,
                nofollow: false,
                node,
                numbered: None,
            });
        }
    }

    /// Short names with addresses on other hosts are a menu: the editions of a paper, the sites of a company.
    fn is_menu_of_others(&self, item: &DataItem) -> bool {
        let url = resolve(self.page, self.base.as_ref(), &item.url);
        let own = self.page.url.as_ref().map(CrawlUri::authority);
        item.title.chars().count() < TITLE_CHARS
            && url.is_some_and(|url| Some(url.authority()) != own)
    }

    fn push(&mut self, link: RawLink) {
        if self.links.len() < self.limit && self.known.insert(link.url.clone()) {
            self.links.push(link);
        }
    }

    fn add_markup(&mut self, node: NodeId, markup: &str) {
        if self.markup.len() + markup.len() <= MAX_MARKUP {
            self.markup_node = node;
            self.markup.push_str(markup);
            self.markup.push('\n');
        }
    }

    /// Takes the links of all markup that the scripts hold.
    fn read_markup(&mut self) {
        if self.markup.is_empty() {
            return;
        }
        let hints = Hints {
            url: self.base.clone(),
            charset: Some("utf-8".to_owned()),
            ..Hints::default()
        };
        let inner = Page::parse(self.markup.as_bytes(), hints);
        for link in page::links(&inner, self.limit) {
            let is_link = matches!(link.role, LinkRole::Anchor | LinkRole::File);
            // Quotes and brackets are left of what a script puts in.
            let url = link.url.as_str();
            let is_whole = !url.contains(['{', '}', '$', '\'', '|'])
                && !["%22", "%27", "%3C", "%5C", "%7B"]
                    .iter()
                    .any(|sign| url.contains(sign));
            if is_link && is_whole {
                self.push(RawLink {
                    node: self.markup_node,
                    numbered: None,
                    ..link
                });
            }
        }
    }

    /// Makes the links to groups of records links to further pages; whether there are any. Behind an empty group there is
    /// none, and where a call has counted the groups, each is known.
    fn take_groups(&mut self) -> bool {
        let is_group = |link: &RawLink| is_group(link.url.as_str());
        let has_records = self.links.iter().any(|link| !is_group(link));
        let own = self.page.url.as_ref().map_or("", CrawlUri::as_str);
        if !has_records || is_counted_group(own) {
            self.links.retain(|link| !is_group(link));
        }
        let mut goes_on = false;
        for link in self.links.iter_mut().filter(|link| is_group(link)) {
            goes_on = true;
            (link.role, link.text) = (LinkRole::Pager, "next".to_owned());
        }
        goes_on
    }
}

/// Takes the sections of XML in a script, but for those that name where a script asks for more: what hands out groups of
/// records is known.
fn add_sections(script: &Script, found: &mut FoundLinks<'_>) {
    let mut rest = script.text.as_str();
    while let Some((before, section)) = rest.split_once("<![CDATA[") {
        let (section, behind) = section.split_once("]]>").unwrap_or((section, ""));
        let is_more = before.trim_end().ends_with("group>") && !section.contains("dataproxy.");
        if !is_more && section.contains('<') {
            found.add_markup(script.node, section);
        }
        rest = behind;
    }
}

/// The same of a page that is itself a list of records in XML.
fn add_records(page: &Page, found: &mut FoundLinks<'_>) {
    for (id, node) in page.nodes().iter().enumerate() {
        let id = id as NodeId;
        if node.tag == Tag::TEXT && page.node(node.parent).tag == Tag::OTHER {
            let text = page.text(id);
            if text.contains("<a ") && text.contains("</a") {
                found.add_markup(id, text);
            }
        }
    }
}

/// The literals of a script that end like a document and stand alone, escapes as they are.
fn documents(script: &str) -> impl Iterator<Item = &str> {
    let bytes = script.as_bytes();
    ENDINGS.find_iter(script).filter_map(move |ending| {
        let behind = bytes.get(ending.end()..)?;
        if !matches!(behind.first()?, b'"' | b'\'' | b'?' | b'#') {
            return None;
        }
        let is_quote = |b: &u8| matches!(b, b'"' | b'\'');
        let low = ending.start().saturating_sub(MAX_ADDRESS);
        let start = low + bytes.get(low..ending.start())?.iter().rposition(is_quote)?;
        let rest = behind.get(..MAX_ADDRESS).unwrap_or(behind);
        let end = ending.end() + rest.iter().position(|b| *b == bytes[start])?;
        let is_part = bytes.get(..start)?.trim_ascii_end().ends_with(b"+")
            || bytes.get(end + 1..)?.trim_ascii_start().starts_with(b"+");
        script.get(start + 1..end).filter(|_| !is_part)
    })
}

/// Takes the anchors that the literals of a script hold whole.
fn add_literals(script: &Script, found: &mut FoundLinks<'_>) {
    for literal in quoted(&script.text) {
        found.literals += 1;
        if found.literals > MAX_LITERALS {
            return;
        }
        let raw = literal.raw;
        if raw.contains("<a ") && raw.contains("href") && is_whole_markup(raw) {
            found.add_markup(script.node, &unescaped(raw));
        }
    }
}

/// Whether the anchors of a literal end in it and nothing is put into it: quotes of the other sort may hold code.
fn is_whole_markup(raw: &str) -> bool {
    let anchors = raw.matches("<a ").count();
    let is_joined = ["'+", "' +", "+'", "+ '", "\"+", "\" +", "+\"", "+ \"", "${"];
    raw.matches("</a").count() + raw.matches("<\\/a").count() >= anchors
        && !is_joined.iter().any(|sign| raw.contains(sign))
}

/// Adds the further pages that a call writes.
fn add_pages(
    page: &Page,
    node: NodeId,
    names: impl Iterator<Item = (usize, String)>,
    found: &mut FoundLinks<'_>,
) {
    for (number, name) in names.take(MAX_PAGES) {
        let is_known = found.links.len();
        found.add(node, &name, number.to_string(), LinkRole::Pager);
        // An anchor of the page may have named it; the call says what it is.
        if found.links.len() == is_known
            && let Some(url) = resolve(page, found.base.as_ref(), &name)
            && let Some(link) = found.links.iter_mut().find(|link| link.url == url)
        {
            link.role = LinkRole::Pager;
            link.text = number.to_string();
        }
    }
}

/// The last part of the page's path.
fn own_name(page: &Page) -> &str {
    let path = page.url.as_ref().map(CrawlUri::path).unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default()
}
