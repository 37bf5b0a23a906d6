//! Text made safe for HTML. In: hostile text and the ranges to mark. Out: [`Html`], which templates print as it is.
//! Nothing else makes an [`Html`], so nothing unescaped can reach a page.

use std::fmt;

use crate::search::source::Marked;

/// Escaped text with `<mark>` around matches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Html(String);

impl Html {
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
