//! What is counted in each text as soon as it is complete, and which texts can be read.

use super::measure::Measure;
use super::{NodeId, PathId, Tag};

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
    /// Shown, as far as the page's markup states.
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
            let measure = Measure::new(page.text(id));
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
    fn counts_skip_hidden_texts() {
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
    fn counts_follow_moved_texts() {
        let page = of("<b>one<p>two</b>three<p>four");
        assert_eq!(page.path_counts(), counted_again(&page));
        let texts: Vec<_> = page.texts().iter().map(|t| page.text(t.node)).collect();
        assert_eq!(texts, ["one", "two", "three", "four"]);
    }

    #[test]
    fn counts_texts_moved_out_of_hidden() {
        for html in [
            "<b style='display:none'><b></b><div></b>现场平稳。",
            "<i style='display:none'><b><b><b><b><div>现场平稳。</i></b></b>运行。",
        ] {
            let page = of(html);
            assert_eq!(page.path_counts(), counted_again(&page), "{html}");
            let is_hidden = |node| page.ancestors(node).any(|above| page.is_hidden(above));
            for text in page.texts() {
                assert_eq!(text.is_hidden, is_hidden(text.node), "{html}");
            }
        }
    }

    proptest! {
        #[test]
        fn counts_as_page_walk(
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
