//! What all pages share: the frame of a page and its small parts, made safe to show. Escaped text is an [`Html`], and nothing else
//! makes one, so nothing unescaped can reach a page. Never asks the index.

use std::collections::HashMap;
use std::fmt;

use askama::Template;

use crate::pages::moment::{Clock, Moment};
use crate::pages::words::{Labels, Lang, grouped};
use crate::search::params::Params;
use crate::search::source::{DocumentHit, Marked};
use crate::status::Level;

/// Characters of an address that are shown.
const ADDRESS_CHARS: usize = 100;

/// What every page has: language, links, query box.
pub(crate) struct Chrome {
    pub(crate) lang: Lang,
    /// The language requested by `?lang=`; links keep it.
    pub(crate) asked_lang: Option<Lang>,
    pub(crate) t: &'static Labels,
    pub(crate) base: String,
    pub(crate) version: &'static str,
    pub(crate) text: String,
    pub(crate) query_chars: usize,
    /// Hidden fields of the query box: the filters in force.
    pub(crate) kept: Vec<(&'static str, String)>,
    pub(crate) switch: String,
    pub(crate) documents: Option<u64>,
    pub(crate) operator: bool,
    /// Whether the reader is signed in; none where nobody can be.
    pub(crate) signed_in: Option<bool>,
    pub(crate) clock: Clock,
    /// Why documents may be missing, where some may be.
    pub(crate) remark: Option<&'static str>,
    /// Titles of sites, by name.
    pub(crate) site_titles: HashMap<String, String>,
}

/// A document as a link to its text as crawled.
pub(crate) struct Linked {
    pub(crate) title: Html,
    pub(crate) href: String,
    pub(crate) site: String,
    pub(crate) published: Option<Moment>,
}

/// Where a document is on the web.
pub(crate) struct Place {
    /// The address as a link, if it is one that a page may lead to.
    pub(crate) url: Option<String>,
    /// The same as people read it.
    pub(crate) shown: String,
    /// Other addresses of the same document, as people read them.
    pub(crate) others: Vec<String>,
}

impl Place {
    /// At most `most` of the other addresses are kept.
    pub(crate) fn new(url: &str, others: &[String], most: usize) -> Place {
        Place {
            url: outward(url),
            shown: address(url),
            others: others.iter().take(most).map(|url| address(url)).collect(),
        }
    }
}

/// A link to choose, perhaps with a count.
pub(crate) struct Choice {
    pub(crate) label: String,
    pub(crate) href: String,
    pub(crate) chosen: bool,
    pub(crate) count: Option<String>,
}

impl Choice {
    /// A link that is not chosen and counts nothing.
    pub(crate) fn link(label: impl Into<String>, href: String) -> Choice {
        Choice {
            label: label.into(),
            href,
            chosen: false,
            count: None,
        }
    }

    /// The same, chosen or not.
    pub(crate) fn chosen(self, chosen: bool) -> Choice {
        Choice { chosen, ..self }
    }

    /// The same with what it counts.
    pub(crate) fn counted(self, documents: u64) -> Choice {
        Choice {
            count: Some(grouped(documents)),
            ..self
        }
    }
}

#[derive(Template)]
#[template(path = "error.html")]
pub(crate) struct ErrorPage {
    pub(crate) c: Chrome,
    pub(crate) code: u16,
    pub(crate) heading: &'static str,
    pub(crate) text: String,
}

/// Address of a page of ours with a query string.
pub(crate) fn link(base: &str, path: &str, query: &str) -> String {
    if query.is_empty() {
        format!("{base}{path}")
    } else {
        format!("{base}{path}?{query}")
    }
}

/// Path of the page of a document.
pub(crate) fn document_path(id: &str) -> String {
    format!("/doc/{id}")
}

/// Path of the page of a site.
pub(crate) fn site_path(name: &str) -> String {
    let name: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
    // A plus stands for a blank in a query only.
    format!("/sites/{}", name.replace('+', "%20"))
}

impl Chrome {
    /// A time as extracted, if there is one.
    pub(crate) fn moment(&self, text: Option<&String>) -> Option<Moment> {
        self.clock.read(text?)
    }

    /// Address of a page of ours that keeps the language.
    pub(crate) fn page(&self, path: &str) -> String {
        let params = Params {
            lang: self.asked_lang,
            ..Params::default()
        };
        self.link(path, &params)
    }

    /// Returns the link to a page of ours with these parameters.
    pub(crate) fn link(&self, path: &str, params: &Params) -> String {
        link(&self.base, path, &params.query_string())
    }

    /// Returns the link to the text of a document as crawled.
    pub(crate) fn document(&self, id: &str) -> String {
        self.page(&document_path(id))
    }

    /// A number as people read it.
    pub(crate) fn n(&self, number: &u64) -> String {
        grouped(*number)
    }

    /// How long ago, or how soon.
    pub(crate) fn ago(&self, then_ms: &i64) -> String {
        self.lang.relative(*then_ms, self.clock.now_ms)
    }

    /// The same of what may never have been.
    pub(crate) fn when(&self, then_ms: &Option<i64>) -> String {
        let never = || self.t.operator.never.to_owned();
        then_ms.as_ref().map_or_else(never, |ms| self.ago(ms))
    }

    /// How a cycle went, in a word.
    pub(crate) fn level(&self, level: &Level) -> &'static str {
        self.t.operator.level(*level)
    }

    /// A hit as a link.
    pub(crate) fn linked(&self, hit: &DocumentHit) -> Linked {
        let site = hit.site.as_deref().map(|site| self.site(site));
        Linked {
            title: title(&hit.title, self.t),
            href: self.document(&hit.id),
            site: site.unwrap_or_default(),
            published: self.moment(hit.published.as_ref()),
        }
    }

    /// The search page's address for these parameters.
    pub(crate) fn search(&self, params: &Params) -> String {
        self.link("/", params)
    }

    /// The first page of the search for these parameters.
    pub(crate) fn first_page(&self, params: Params) -> String {
        self.search(&Params {
            offset: 0,
            ..params
        })
    }

    /// The site of this name as readers know it.
    pub(crate) fn site(&self, name: &str) -> String {
        self.site_titles
            .get(name)
            .map_or(name, String::as_str)
            .to_owned()
    }
}

/// A headline with its matches, or a stand-in for none.
pub(crate) fn title(marked: &Marked, labels: &Labels) -> Html {
    if marked.text.trim().is_empty() {
        Html::marked(&Marked::from(labels.untitled))
    } else {
        Html::marked(marked)
    }
}

/// The fields that a form must carry along; the query itself too if its own box is not in the form.
pub(crate) fn kept(params: &Params, with_query: bool) -> Vec<(&'static str, String)> {
    let names = ["changed", "site", "sort", "match", "synonyms", "lang"];
    let more = if with_query {
        ["q", "corrected"]
    } else {
        ["since", "until"]
    };
    let mut fields = params.pairs();
    fields.retain(|(name, _)| names.contains(name) || more.contains(name));
    fields
}

/// The author for the line of facts; empty where `text`, which is read beside it, names every one of them already.
pub(crate) fn author_beside(author: Option<String>, text: &str) -> String {
    let author = author.unwrap_or_default();
    let mut names = author
        .split(|c: char| c.is_whitespace() || "、，,；;/&".contains(c))
        .filter(|name| !name.is_empty())
        .peekable();
    // One letter stands in any text.
    let is_named = |name: &str| name.chars().count() > 1 && text.contains(name);
    if names.peek().is_some() && names.all(is_named) {
        String::new()
    } else {
        author
    }
}

/// The address as a link, if it is one that a page may lead to: a stored address can be anything.
pub(crate) fn outward(url: &str) -> Option<String> {
    let parsed = url::Url::parse(url).ok()?;
    matches!(parsed.scheme(), "http" | "https").then(|| parsed.to_string())
}

/// The address as people read it.
pub(crate) fn address(url: &str) -> String {
    let bare = url
        .split_once("://")
        .map_or(url, |(_, rest)| rest)
        .trim_end_matches('/');
    let mut shown: String = bare.chars().take(ADDRESS_CHARS).collect();
    if bare.chars().count() > ADDRESS_CHARS {
        shown.push('…');
    }
    shown
}

/// Escaped text with `<mark>` around matches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Html(String);

impl Html {
    /// HTML whose writer has escaped what is no markup.
    pub(crate) fn written(html: String) -> Html {
        Html(html)
    }

    /// Escapes the text and marks its ranges; ranges that touch become one.
    pub(crate) fn marked(marked: &Marked) -> Html {
        let text = marked.text.as_str();
        let mut out = String::with_capacity(text.len() + marked.marks.len() * 13);
        let mut at = 0;
        let mut open = false;
        for range in &marked.marks {
            let (Some(before), Some(inside)) = (text.get(at..range.start), text.get(range.clone()))
            else {
                continue;
            };
            if inside.is_empty() {
                continue;
            }
            if open && !before.is_empty() {
                out.push_str("</mark>");
                open = false;
            }
            escape(&mut out, before);
            if !open {
                out.push_str("<mark>");
                open = true;
            }
            escape(&mut out, inside);
            at = range.end;
        }
        if open {
            out.push_str("</mark>");
        }
        escape(&mut out, text.get(at..).unwrap_or_default());
        Html(out)
    }

    /// The HTML itself.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl askama::FastWritable for Html {
    fn write_into(&self, dest: &mut dyn fmt::Write, _: &dyn askama::Values) -> askama::Result<()> {
        dest.write_str(&self.0)?;
        Ok(())
    }
}

impl askama::filters::HtmlSafe for Html {}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Control and bidirectional override characters only serve to deceive.
            c if c.is_control() && !matches!(c, '\n' | '\t') => {}
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => {}
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn author_stands_once() {
        let text = "本报记者 陆远 通讯员 John Park 摄影报道";
        for (author, shown, case) in [
            ("陆远", "", "named in the text"),
            ("陆远、John Park", "", "all named"),
            ("陆远 许青", "陆远 许青", "one is not named"),
            ("远", "远", "one letter"),
            ("、", "、", "no name"),
        ] {
            assert_eq!(
                author_beside(Some(author.to_owned()), text),
                shown,
                "{case}"
            );
        }
        assert_eq!(author_beside(None, text), "");
    }
}
