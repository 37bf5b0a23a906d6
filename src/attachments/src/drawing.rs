//! Text of drawings in Office Open XML: slides, shapes on sheets, charts, SmartArt.

use std::collections::HashMap;

use crate::Budget;
use crate::opc::{OfficePackage, Relation};
use crate::xml::{Node, walk};

/// Alternatives in each other.
const MAX_DEPTH: usize = 64;

/// Chooses among the forms of one content (`mc:AlternateContent`), of which a program shows one: the first that has text.
#[derive(Debug, Default)]
pub(crate) struct Alternatives {
    /// Length of the text where each open group began.
    starts: Vec<usize>,
    /// Elements open in a form that is skipped, it included.
    skipped: u32,
}

impl Alternatives {
    /// Whether a node belongs to a form that is not shown. `written`: how much text there is so far.
    pub(crate) fn is_skipped(&mut self, node: &Node<'_>, written: usize) -> bool {
        if self.skipped > 0 {
            match node {
                Node::Start(..) => self.skipped += 1,
                Node::End(_) => self.skipped -= 1,
                Node::Text(_) => {}
            }
            return true;
        }
        match node {
            Node::Start("AlternateContent", _) if self.starts.len() < MAX_DEPTH => {
                self.starts.push(written)
            }
            Node::End("AlternateContent") => {
                self.starts.pop();
            }
            Node::Start("Choice" | "Fallback", _)
                if self.starts.last().is_some_and(|start| *start < written) =>
            {
                self.skipped = 1;
                return true;
            }
            _ => {}
        }
        false
    }
}

/// Returns the paragraphs of a drawing, a line each; cells of a table row are divided by tabs.
pub(crate) fn drawing_text(xml: &[u8]) -> String {
    let mut text = String::new();
    let mut alternatives = Alternatives::default();
    let (mut hidden, mut is_text) = (0_u32, false);
    // Where the text of the open cell begins.
    let mut cell: Option<usize> = None;
    walk(xml, |node| {
        if alternatives.is_skipped(&node, text.len()) {
            return;
        }
        match node {
            Node::Start(..) if hidden > 0 => hidden += 1,
            Node::End(_) if hidden > 0 => hidden -= 1,
            Node::Start("t" | "v", _) => is_text = true,
            Node::End("v") => {
                is_text = false;
                text.push('\n');
            }
            Node::End("t") => is_text = false,
            Node::Start("br", _) => text.push(if cell.is_some() { ' ' } else { '\n' }),
            Node::Start("tc", _) => cell = Some(text.len()),
            Node::End("tc") => {
                let start = cell.take().unwrap_or(text.len());
                let end = text.trim_end_matches([' ', '\n']).len();
                text.truncate(end.max(start));
                text.push('\t');
            }
            Node::End("tr") => {
                let row = text.rfind('\n').map_or(0, |end| end + 1);
                text.truncate(text.trim_end_matches('\t').len().max(row));
                text.push('\n');
            }
            Node::End("p") if cell.is_some() => text.push(' '),
            Node::End("p") if !text.ends_with('\n') => text.push('\n'),
            // References and numbers of charts, which are no words.
            Node::Start("f" | "numCache" | "numLit" | "formatCode", _) => hidden = 1,
            Node::Text(part) if is_text && hidden == 0 => text.push_str(part),
            _ => {}
        }
    });
    text
}

/// Returns the text of SmartArt and charts that a part names, by the identifier of the relation.
pub(crate) fn related_text(
    package: &mut OfficePackage<'_>,
    relations: &[Relation],
    budget: &mut Budget,
) -> HashMap<String, String> {
    let mut texts = HashMap::new();
    for relation in relations {
        if matches!(&*relation.kind, "chart" | "chartEx" | "diagramData") {
            let text = drawing_text(&package.read(&relation.part, budget).unwrap_or_default());
            // Each series of a chart repeats the names of its categories.
            let mut lines: Vec<&str> = Vec::new();
            for line in text.lines() {
                if relation.kind == "diagramData" || !lines.contains(&line) {
                    lines.push(line);
                }
            }
            texts.insert(relation.id.clone(), lines.join("\n") + "\n");
        }
    }
    texts
}
