//! What is counted in each text as soon as it is complete. In: the tree while it grows. Out: [`TextCounts`] of each text that can
//! be read, and its share in the counts of its tag path: at the end of the page the table of paths is there.

use super::formatting::Shift;
use super::measure::Measure;
use super::open::Open;
use super::tree::Tree;
use super::walk::hides;
use super::{Node, NodeId, PathId, Span, Tag};

/// A text with its counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextCounts {
    /// The text node.
    pub node: NodeId,
    /// Its tag path.
    pub path: PathId,
    /// What is in it.
    pub measure: Measure,
    /// All white space in it is single blanks.
    pub is_tidy: bool,
    /// The page hides it, by an element around it.
    pub is_hidden: bool,
}

/// Whether the texts in an element are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Readable {
    /// Shown, as far as the page's markup tells.
    #[default]
    Shown,
    /// Hidden by an element around it.
    Hidden,
    /// Never: a script, a form control, the annotation of a word.
    Never,
}

/// True for elements whose text is never read.
pub(crate) fn is_skipped(tag: Tag) -> bool {
    // Of the replaced elements a picture has no text, and the others' text is for when they fail.
    // Ruby annotations say again how the word before them sounds.
    tag.is_invisible()
        || (tag.is_replaced() && tag != Tag::IMG && tag != Tag::MATH)
        || matches!(tag, Tag::OBJECT | Tag::OPTGROUP | Tag::RT | Tag::RP)
}

impl Tree {
    /// Whether the texts in a new element are read; `outer` is the element around it.
    pub(super) fn readable(&self, node: NodeId, tag: Tag, outer: Option<Open>) -> Readable {
        let outer = outer.map_or(Readable::Shown, |open| open.readable);
        if is_skipped(tag) {
            Readable::Never
        } else if self.hidden.last() == Some(&node) {
            outer.max(Readable::Hidden)
        } else {
            outer
        }
    }

    /// Notes that the element that was appended last hides what is in it, if it does.
    pub(super) fn note_if_hidden(&mut self, node: NodeId) {
        let Node { tag, span, .. } = self.nodes[node as usize];
        // Mostly this tag was read last, and none of its attributes hides.
        if self.hiding.last().is_none_or(|last| *last < span.start)
            || matches!(tag, Tag::TEXT | Tag::HTML | Tag::BODY)
        {
            return;
        }
        let from = span.start as usize;
        let attributes = self.attributes.get(from..from + span.len as usize);
        let value = |span: Span| {
            let range = span.start as usize..(span.start + span.len) as usize;
            let bytes = self.arena.get(range).unwrap_or_default();
            simdutf8::basic::from_utf8(bytes).unwrap_or_default()
        };
        if hides(attributes.unwrap_or_default(), value) {
            self.hidden.push(node);
        }
    }

    /// Counts the node that was appended last, if it is a text: it is complete when the next one comes.
    pub(super) fn count_text(&mut self) {
        let Some(last) = self.nodes.last().filter(|last| last.tag == Tag::TEXT) else {
            return;
        };
        let readable = self.text.readable;
        if readable == Readable::Never {
            return;
        }
        let range = last.span.start as usize..(last.span.start + last.span.len) as usize;
        let bytes = self.arena.get(range).unwrap_or_default();
        let (measure, is_tidy) = Measure::and_tidy(bytes);
        if measure == Measure::default() {
            return;
        }
        let path = last.path;
        let is_hidden = readable == Readable::Hidden;
        if !is_hidden {
            self.paths.count(path, &measure);
        }
        self.texts.push(TextCounts {
            node: self.nodes.len() as NodeId - 1,
            path,
            measure,
            is_tidy,
            is_hidden,
        });
    }

    /// Nodes were moved: those that were counted have other numbers, and may have other paths.
    pub(super) fn recount_moved(&mut self, shift: Shift) {
        let from = self.texts.partition_point(|text| text.node < shift.block);
        for text in self.texts.iter_mut().skip(from) {
            text.node = shift.apply(text.node);
            let path = self.nodes[text.node as usize].path;
            if path != text.path && !text.is_hidden {
                self.paths.move_count(text.path, path, &text.measure);
            }
            text.path = path;
        }
        let before = self.hidden.partition_point(|node| *node < shift.block);
        self.hidden.truncate(before);
        for node in shift.block..self.nodes.len() as NodeId {
            self.note_if_hidden(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Builder, Hints, Page, PathCounts};
    use super::*;

    /// The table as it would be counted by walking the finished page.
    fn counted_again(page: &Page) -> Vec<PathCounts> {
        let mut counts = vec![PathCounts::default(); page.paths().len()];
        for (id, node) in page.nodes().iter().enumerate() {
            let id = id as NodeId;
            let hides = |above: NodeId| is_skipped(page.node(above).tag) || page.is_hidden(above);
            let measure = Measure::of(page.text(id));
            if measure.tokens > 0 && !page.ancestors(id).any(hides) {
                counts[node.path as usize].add(measure.tokens, measure.marks);
            }
        }
        counts
    }

    fn of(html: &str) -> Page {
        Page::parse(html.as_bytes(), Hints::default())
    }

    #[test]
    fn texts_are_counted_under_their_paths_and_hidden_ones_are_not() {
        let page = of(
            "<p>现场，平稳。</p><p>a &amp; b<b>c</b></p><p hidden>x<i>y</i></p><script>var z</script>",
        );
        let by_name = |name: &str| {
            let at = (0..page.paths().len() as PathId).find(|p| page.path_name(*p) == name);
            page.path_counts()[at.unwrap() as usize]
        };
        let p = by_name("html.body.p");
        assert_eq!((p.texts, p.tokens, p.marks), (2, 6, 2));
        assert_eq!((p.tokens_squared, p.marks_squared), (4 * 4 + 2 * 2, 4));
        assert_eq!(by_name("html.body.p.b").tokens, 1);
        assert_eq!(by_name("html.body.p.i").texts, 0);
        // What is hidden can still be read, what a script holds cannot.
        assert_eq!(page.texts().iter().filter(|t| t.is_hidden).count(), 2);
        assert_eq!(page.texts().len(), 5);
    }

    #[test]
    fn texts_that_move_into_another_element_are_counted_there() {
        let page = of("<b>one<p>two</b>three<p>four");
        assert_eq!(page.path_counts(), counted_again(&page));
        let texts: Vec<_> = page.texts().iter().map(|t| page.text(t.node)).collect();
        assert_eq!(texts, ["one", "two", "three", "four"]);
    }

    proptest! {
        #[test]
        fn the_table_is_what_a_walk_over_the_page_would_count(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "<div>", "</div>", "<p>", "</p>", "<b>", "</b>", "<a href=x>", "</a>", "<table>", "<tr>", "<td>",
                "</table>", "<div hidden>", "<b style='display:none'>", "<script>", "</script>", "<i>", "</i>",
                "<!-- -->", "现场平稳。", "one, two.", " ", "&amp;x", "<svg>", "</svg>", "<template>", "</template>",
            ]), 0..60),
            cut in 1usize..40,
        ) {
            let html = pieces.concat();
            let mut builder = Builder::new(Hints::default());
            html.as_bytes().chunks(cut).for_each(|piece| builder.feed(piece));
            let page = builder.finish();
            prop_assert_eq!(page.path_counts(), counted_again(&page));
            prop_assert!(page.texts().windows(2).all(|pair| pair[0].node < pair[1].node));
        }
    }
}
