//! The URLs in a page: [`RawLink`]s, resolved and canonical, each once and in document order. What a link leads to is
//! classified in `fields::links`, which also needs the text around it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::BuildHasher as _;

use encoding_rs::{Encoding, UTF_8};
use foldhash::fast::RandomState;

use super::address::{
    find_in_handler, find_in_viewer, format_of_address, format_of_type, is_address,
};
use super::{Attr, Attrs, Node, NodeId, Page, Tag};
use taojin_uri::CrawlUri;

/// What part of a page names the URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkRole {
    /// For readers to follow: `<a>`, `<area>`, or another element that a script leads from.
    Anchor,
    /// `<frame>` or `<iframe>`: shown inside the page.
    Frame,
    /// `<meta http-equiv=refresh>`: the page sends its readers on.
    Refresh,
    /// `rel=next` or `rel=prev`: another part of the same text or list.
    Part,
    /// One of the pages of the same text or list, of which a script names the number; its text is that.
    Pager,
    /// A document that the page shows: `<embed>`, `<object>`, a viewer, or one that a script names.
    File,
    /// `rel=alternate` of an RSS or Atom type.
    Feed,
    /// `rel=canonical`: the page's own name for itself.
    Canonical,
}

/// One URL that the page names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawLink {
    /// Resolved against the page (and its `<base>`), canonical.
    pub url: CrawlUri,
    /// Text of the link in one line, else the picture's alternative text, else the title attribute.
    pub text: String,
    /// What names it; the first if several do.
    pub role: LinkRole,
    /// Every link to this URL says `rel=nofollow` (or `ugc`, `sponsored`).
    pub nofollow: bool,
    /// The first element that names it.
    pub node: NodeId,
    /// A later one whose text is a number where that of the first is none: in a pager it is that of a page.
    pub numbered: Option<NodeId>,
}

/// Most nodes of a link that is the number of a page.
const NUMBER_NODES: NodeId = 4;

/// The URLs of a page, at most `limit` of them.
///
/// Only http and https; references into the page itself are no links. A URL that is named several times keeps
/// its first place and gets the first text that is not empty, since pictures often link before headlines do.
pub fn links(page: &Page, limit: usize) -> Vec<RawLink> {
    // Index in the list, to resolve each spelling but once; `None` when it names no page.
    let mut by_reference = HashMap::with_capacity_and_hasher(USUAL, RandomState::default());
    let mut found = FoundLink {
        base: find_base(page),
        by_url: HashMap::with_capacity_and_hasher(USUAL, RandomState::default()),
        links: Vec::with_capacity(USUAL),
    };
    // Most pages have no other elements that lead anywhere.
    let has_clickable = page.attributes.iter().any(|attribute| {
        matches!(
            attribute.name,
            Attr::DataHref | Attr::DataUrl | Attr::OnClick
        )
    });
    for (id, node) in page.nodes().iter().enumerate() {
        let id = id as NodeId;
        let reference = Reference::from_node(page, id, node);
        let clickable = || Reference::of_clickable(page, id).filter(|_| node.tag != Tag::TEXT);
        let reference = match reference.filter(Reference::names_a_page) {
            None if has_clickable => clickable(),
            reference => reference,
        };
        let Some(reference) = reference else {
            continue;
        };
        let at = *by_reference
            .entry(reference.text.clone())
            .or_insert_with(|| found.resolve(page, id, &reference, limit));
        if let Some(link) = at.and_then(|at: usize| found.links.get_mut(at)) {
            link.nofollow &= reference.is_nofollow();
            if link.text.is_empty() {
                link.text = link_text(page, id);
            } else if link.numbered.is_none() && reference.role == LinkRole::Anchor {
                // A number stands alone in its link.
                let is_small = node.end - id <= NUMBER_NODES;
                let is_later = is_small && id != link.node && !is_number(&link.text);
                link.numbered = (is_later && is_number(&page.inline_text(id))).then_some(id);
            }
        }
    }
    found.links
}

/// Whether a text is the number of a page and nothing else: `2`, `[2]`.
fn is_number(text: &str) -> bool {
    let digits = text.trim().trim_matches(['[', ']', '【', '】', '(', ')']);
    (1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
}

/// The URL that references are resolved against: `<base href>` if it is usable, else the page's own.
pub fn find_base(page: &Page) -> Option<CrawlUri> {
    let tag = page
        .nodes()
        .iter()
        .enumerate()
        .filter(|(_, node)| node.tag == Tag::BASE)
        .find_map(|(id, _)| page.attr(id as NodeId, Attr::Href));
    let from_tag = tag.and_then(|href| resolve(page, page.url.as_ref(), href));
    from_tag.or_else(|| page.url.clone())
}

/// The URL that a reference in the page means. As the URL standard has it, characters beyond ASCII are encoded in UTF-8 in a
/// path, and in the page's own charset in a query.
pub fn resolve(page: &Page, base: Option<&CrawlUri>, reference: &str) -> Option<CrawlUri> {
    plain(base, &encode_reference(page, reference))
}

/// Where a link of the page leads who follows it, see [`taojin_uri::follow`]; encoded as [`resolve`] does.
pub(crate) fn follow(page: &Page, base: Option<&CrawlUri>, reference: &str) -> Option<String> {
    taojin_uri::follow(base, &encode_reference(page, reference)).ok()
}

/// A reference whose query is encoded in the page's charset, where it has characters beyond ASCII.
fn encode_reference<'r>(page: &Page, reference: &'r str) -> Cow<'r, str> {
    let (query_at, end) = match (reference.find('?'), reference.find('#')) {
        (Some(query), Some(fragment)) if fragment < query => return reference.into(),
        (Some(query), fragment) => (query, fragment.unwrap_or(reference.len())),
        (None, _) => return reference.into(),
    };
    let (before, rest) = reference.split_at(query_at);
    let (query, after) = rest.split_at(end - query_at);
    let encoding = Encoding::for_label(page.charset.as_bytes()).map(Encoding::output_encoding);
    match encoding.filter(|e| *e != UTF_8 && !query.is_ascii()) {
        Some(encoding) => [before, &encode_query(query, encoding), after]
            .concat()
            .into(),
        None => reference.into(),
    }
}

fn plain(base: Option<&CrawlUri>, reference: &str) -> Option<CrawlUri> {
    CrawlUri::resolve(base, reference).ok()
}

/// A query whose characters beyond ASCII are escapes of their bytes; one that the charset lacks is a numeric reference.
fn encode_query(query: &str, encoding: &'static Encoding) -> String {
    let mut out = String::with_capacity(3 * query.len());
    for c in query.chars() {
        if c.is_ascii() {
            out.push(c);
            continue;
        }
        let mut letter = [0; 4];
        let (bytes, _, _) = encoding.encode(c.encode_utf8(&mut letter));
        bytes
            .iter()
            .for_each(|b| out.push_str(&format!("%{b:02X}")));
    }
    out
}

/// What an element says of an address.
struct Reference<'p> {
    text: Cow<'p, str>,
    role: LinkRole,
    rel: Option<&'p str>,
}

impl<'p> Reference<'p> {
    fn from_node(page: &'p Page, id: NodeId, node: &Node) -> Option<Self> {
        let (text, role) = match node.tag {
            Tag::TEXT => return None,
            Tag::A | Tag::AREA => return Self::of_anchor(page, id),
            Tag::IFRAME | Tag::FRAME => {
                let src = page.attr(id, Attr::Src);
                (
                    src.or_else(|| page.attr(id, Attr::DataSrc))?,
                    LinkRole::Frame,
                )
            }
            Tag::EMBED => (page.attr(id, Attr::Src)?, shown_role(page, id, Attr::Src)?),
            Tag::OBJECT => (
                page.attr(id, Attr::Data)?,
                shown_role(page, id, Attr::Data)?,
            ),
            Tag::OPTION => {
                let value = page.attr(id, Attr::Value)?.trim();
                let leads = is_address(value) && (!value.contains("//") || is_led(page, id));
                (Some(value).filter(|_| leads)?, LinkRole::Anchor)
            }
            Tag::PARAM => {
                let value = page.attr(id, Attr::Value)?.trim();
                let is_file = is_address(value) && format_of_address(value).is_some();
                (Some(value).filter(|_| is_file)?, LinkRole::File)
            }
            Tag::LINK => (page.attr(id, Attr::Href)?, link_role(page, id)?),
            Tag::META => {
                let equiv = page.attr(id, Attr::HttpEquiv)?;
                if !equiv.eq_ignore_ascii_case("refresh") {
                    return None;
                }
                let target = refresh_target(page.attr(id, Attr::Content)?)?;
                (target, LinkRole::Refresh)
            }
            _ => return None,
        };
        Some(Self {
            text: text.trim().into(),
            role,
            rel: page.attr(id, Attr::Rel),
        })
    }

    /// Most references are these, so their attributes are checked once.
    fn of_anchor(page: &'p Page, id: NodeId) -> Option<Self> {
        let (mut text, mut rel) = (None, None);
        for (name, value) in page.attributes_of(id) {
            match name {
                Attr::Href => text = text.or(Some(value.trim())),
                Attr::Rel => rel = rel.or(Some(value)),
                _ => {}
            }
        }
        let role = match rel {
            Some(rel) if has_word(rel, &["next", "prev"]) => LinkRole::Part,
            _ => LinkRole::Anchor,
        };
        let own = text.map(|text| Self {
            text: text.into(),
            role,
            rel,
        });
        let Some(code) = text.filter(|text| text.get(..11).is_some_and(is_script)) else {
            return own;
        };
        let text = find_in_handler(code).map(Cow::Owned)?;
        Some(Self { text, role, rel })
    }

    /// What a script leads to when the element is clicked.
    fn of_clickable(page: &'p Page, id: NodeId) -> Option<Self> {
        const NAMES: Attrs = Attrs::new(&[Attr::DataHref, Attr::DataUrl, Attr::OnClick]);
        if !page.attribute_names(id).any(NAMES) {
            return None;
        }
        let tag = page.node(id).tag;
        // Pictures and players have a file of their own there, forms and the page itself where they send what is entered.
        if matches!(
            tag,
            Tag::IMG
                | Tag::VIDEO
                | Tag::AUDIO
                | Tag::SOURCE
                | Tag::SCRIPT
                | Tag::FORM
                | Tag::SELECT
                | Tag::BODY
                | Tag::HTML
        ) {
            return None;
        }
        // An option leads where its value says, whatever its list does then.
        if tag == Tag::OPTION {
            return None;
        }
        let data = [Attr::DataHref, Attr::DataUrl]
            .into_iter()
            .find_map(|name| {
                let is_sent = name == Attr::DataUrl && matches!(tag, Tag::BUTTON | Tag::INPUT);
                let value = page.attr(id, name).filter(|_| !is_sent)?.trim();
                is_address(value).then_some(Cow::Borrowed(value))
            });
        let text =
            data.or_else(|| find_in_handler(page.attr(id, Attr::OnClick)?).map(Cow::Owned))?;
        Some(Self {
            text,
            role: LinkRole::Anchor,
            rel: page.attr(id, Attr::Rel),
        })
    }

    fn is_nofollow(&self) -> bool {
        self.rel
            .is_some_and(|rel| has_word(rel, &["nofollow", "ugc", "sponsored"]))
    }

    /// False for references into this page, and for those that another program is meant by.
    fn names_a_page(&self) -> bool {
        let ends_name = |b| matches!(b, b':' | b'/' | b'?' | b'#');
        let Some(at) = self.text.bytes().position(ends_name) else {
            return !self.text.is_empty();
        };
        let (name, rest) = self.text.split_at(at);
        match rest.as_bytes().first() {
            Some(b':') => name.eq_ignore_ascii_case("http") || name.eq_ignore_ascii_case("https"),
            Some(b'#') => !name.is_empty(),
            _ => true,
        }
    }
}

fn is_script(begin: &str) -> bool {
    begin.eq_ignore_ascii_case("javascript:")
}

/// Whether something happens when an option is chosen: a list of other sites is one of friends, or nothing to go to.
fn is_led(page: &Page, option: NodeId) -> bool {
    let mut around = page.ancestors(option);
    let list = around.find(|at| page.node(*at).tag == Tag::SELECT);
    list.is_some_and(|list| page.attr(list, Attr::OnClick).is_some())
}

/// What an element that shows a file shows: a document or a page, and nothing that plays.
fn shown_role(page: &Page, id: NodeId, named: Attr) -> Option<LinkRole> {
    let declared = page.attr(id, Attr::Type).unwrap_or_default();
    if format_of_type(declared).is_some() || format_of_address(page.attr(id, named)?).is_some() {
        return Some(LinkRole::File);
    }
    declared
        .trim()
        .eq_ignore_ascii_case("text/html")
        .then_some(LinkRole::Frame)
}

fn link_role(page: &Page, id: NodeId) -> Option<LinkRole> {
    let rel = page.attr(id, Attr::Rel)?;
    if has_word(rel, &["canonical"]) {
        return Some(LinkRole::Canonical);
    }
    if has_word(rel, &["next", "prev"]) {
        return Some(LinkRole::Part);
    }
    let kind = page.attr(id, Attr::Type).unwrap_or_default();
    let is_feed = ["application/rss+xml", "application/atom+xml"]
        .iter()
        .any(|feed| kind.trim().eq_ignore_ascii_case(feed));
    (is_feed && has_word(rel, &["alternate", "feed"])).then_some(LinkRole::Feed)
}

/// The address in `5; url=/next`, as a meta element and a header have it; quotes and the word `url` may be missing.
pub fn refresh_target(content: &str) -> Option<&str> {
    let (_, rest) = content.split_once([';', ','])?;
    let rest = rest.trim();
    let after_word = rest
        .get(..3)
        .filter(|word| word.eq_ignore_ascii_case("url"))
        .and_then(|_| rest.get(3..))
        .and_then(|r| r.trim_start().strip_prefix('='));
    let target = after_word.unwrap_or(rest).trim();
    let target = target.trim_matches(['"', '\'']).trim();
    (!target.is_empty()).then_some(target)
}

/// Whether a list of words has one of these, in any case.
pub(crate) fn has_word(list: &str, words: &[&str]) -> bool {
    list.split_ascii_whitespace()
        .any(|word| words.iter().any(|w| word.eq_ignore_ascii_case(w)))
}

/// Links that most pages have no more of.
const USUAL: usize = 224;

struct FoundLink {
    base: Option<CrawlUri>,
    /// Index of the first link with a hash.
    by_url: HashMap<u64, usize, RandomState>,
    links: Vec<RawLink>,
}

impl FoundLink {
    /// The URL that a reference means.
    fn url(&self, page: &Page, reference: &str) -> Option<CrawlUri> {
        // Without a base a reference without a scheme means nothing.
        let means = self.base.is_some() || reference.contains(':');
        means.then(|| resolve(page, self.base.as_ref(), reference))?
    }

    /// Index of the link with this reference's URL, added when it is new.
    fn resolve(
        &mut self,
        page: &Page,
        id: NodeId,
        reference: &Reference<'_>,
        limit: usize,
    ) -> Option<usize> {
        // A full list takes no more, so what another spelling means need not be known.
        if self.links.len() >= limit {
            return None;
        }
        let mut role = reference.role;
        let mut url = self.url(page, &reference.text)?;
        if let Some(file) = find_in_viewer(&url) {
            url = file;
            role = if role == LinkRole::Frame {
                LinkRole::File
            } else {
                role
            };
        } else if role == LinkRole::Frame && format_of_address(url.path()).is_some() {
            role = LinkRole::File;
        }
        if role == LinkRole::Anchor && page.url.as_ref() == Some(&url) {
            return None;
        }
        let at = self.links.len();
        let hash = self.by_url.hasher().hash_one(&url);
        let known = *self.by_url.entry(hash).or_insert(at);
        // One that has the hash of another is a link of its own.
        let is_known = self.links.get(known).is_some_and(|link| link.url == url);
        if !is_known {
            self.links.push(RawLink {
                url,
                text: String::new(),
                role,
                nofollow: true,
                node: id,
                numbered: None,
            });
        }
        Some(if is_known { known } else { at })
    }
}

/// Nodes of an element that a script leads from, beyond which its text is that of a list or of the page.
const MAX_NODES: usize = 60;

/// What a reader sees of a link.
fn link_text(page: &Page, id: NodeId) -> String {
    if page.node(id).tag != Tag::A && page.subtree(id).len() > MAX_NODES {
        return String::new();
    }
    let text = page.inline_text(id);
    if !text.is_empty() {
        return text;
    }
    let image = page
        .subtree(id)
        .filter_map(|at| page.attr(at, Attr::Alt))
        .find(|alt| !alt.trim().is_empty());
    let label = image
        .or_else(|| page.attr(id, Attr::Title))
        .unwrap_or_default();
    label.trim().to_owned()
}
