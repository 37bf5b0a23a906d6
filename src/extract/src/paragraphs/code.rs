//! The lines of a `<pre>`: with their blanks, and without those that are empty, which are counted.

use crate::document::kept;
use crate::page::{Attr, NodeId, Page, Tag, is_skipped};
use crate::structure::{BlockKind, CodeLine};

/// Elements inside and around a `<pre>` whose class may name the language.
const INSIDE: usize = 4;
const AROUND: usize = 3;
/// Longest name of a language, in bytes.
const MAX_NAME: usize = 24;

/// A `<pre>` of which some lines were read.
#[derive(Debug)]
pub(super) struct Listing {
    /// The element.
    pub(super) pre: NodeId,
    language: Option<String>,
    /// What it says is prose: its lines are paragraphs.
    is_prose: bool,
    is_begun: bool,
    /// What was read last did not end its line.
    is_within: bool,
    /// Empty lines since the last one that is not.
    blank: u8,
}

impl Listing {
    pub(super) fn new(page: &Page, pre: NodeId) -> Self {
        Self {
            pre,
            language: find_language(page, pre),
            is_prose: is_prose(page, pre),
            is_begun: false,
            is_within: false,
            blank: 0,
        }
    }

    /// What is shown between two nodes, with its lines and blanks.
    pub(super) fn text_between(&self, page: &Page, from: NodeId, end: NodeId) -> String {
        let mut text = String::new();
        write_lines(page, from.max(self.pre + 1), end, &mut text);
        text
    }

    /// The paragraphs that the next lines are, and of what kind.
    pub(super) fn read<'t>(&mut self, text: &'t str) -> Vec<(&'t str, BlockKind)> {
        let mut paragraphs = Vec::new();
        let mut lines = text.split('\n').map(str::trim_end).enumerate().peekable();
        while let Some((nth, line)) = lines.next() {
            let is_last = lines.peek().is_none();
            if line.is_empty() {
                // What is in front of the first break ends a line, what is behind the last begins one.
                let is_line = !is_last && (nth > 0 || !self.is_within);
                self.blank = self
                    .blank
                    .saturating_add(u8::from(is_line && self.is_begun));
            } else if self.is_prose {
                paragraphs.push((line.trim(), BlockKind::Plain));
            } else {
                let kind = CodeLine {
                    first: !std::mem::replace(&mut self.is_begun, true),
                    blank: std::mem::take(&mut self.blank),
                    language: self.language.take(),
                };
                paragraphs.push((line, BlockKind::Code(kind)));
            }
            self.is_within = !line.is_empty();
        }
        paragraphs
    }
}

/// Appends what is shown of these nodes, line breaks and blanks as they are.
fn write_lines(page: &Page, from: NodeId, end: NodeId, out: &mut String) {
    let mut at = from;
    while at < end {
        let node = page.node(at);
        if node.tag == Tag::TEXT {
            // A line of nothing but control characters is empty.
            let shown = page.text(at).chars().filter_map(kept);
            out.extend(shown.filter(|c| !matches!(c, '\u{200B}' | '\u{FEFF}')));
        } else if is_skipped(node.tag) || page.is_hidden(at) {
            at = node.end.max(at + 1);
            continue;
        } else if node.tag == Tag::BR
            || node.tag.is_block() && !out.is_empty() && !out.ends_with('\n')
        {
            out.push('\n');
        }
        at += 1;
    }
}

/// The language that a class names: `language-rust`, `lang-js`, `brush: java`, `highlight-source-python`.
fn find_language(page: &Page, pre: NodeId) -> Option<String> {
    let inside = page.subtree(pre).take(INSIDE);
    let around = page.ancestors(pre).take(AROUND);
    let classes = inside
        .chain(around)
        .filter_map(|id| page.attr(id, Attr::Class));
    let mut named = classes.flat_map(|class| {
        let words = class.split(|c: char| c.is_whitespace() || c == ';');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let brush = words
            .windows(2)
            .find(|pair| pair[0] == "brush:")
            .map(|pair| pair[1]);
        let prefixes = [
            "language-",
            "lang-",
            "brush:",
            "highlight-source-",
            "sourceCode-",
        ];
        let prefixed = words
            .iter()
            .find_map(|word| prefixes.iter().find_map(|p| word.strip_prefix(p)));
        brush.or(prefixed.filter(|name| !name.is_empty()))
    });
    let is_name = |name: &&str| {
        name.len() <= MAX_NAME
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-#._".contains(c))
    };
    let name = named.find(|name| is_name(name))?.to_ascii_lowercase();
    (!matches!(
        name.as_str(),
        "none" | "plain" | "plaintext" | "text" | "nohighlight"
    ))
    .then_some(name)
}

/// Whether most characters are Chinese: then somebody wrote an article with the lines that he wanted.
fn is_prose(page: &Page, pre: NodeId) -> bool {
    let texts = page.shown_texts(page.subtree(pre)).map(|id| page.text(id));
    let (mut all, mut chinese) = (0_usize, 0_usize);
    for c in texts.flat_map(str::chars).filter(|c| !c.is_whitespace()) {
        all += 1;
        chinese += usize::from(matches!(c, '\u{3000}'..='\u{9FFF}' | '\u{FF00}'..='\u{FFEF}'));
    }
    chinese * 2 > all
}
