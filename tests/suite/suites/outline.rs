//! A page's tree told so that trees of different makers can be compared: every element and every text with its tag
//! path, in order. Leaves out what the page model does not keep: comments, white space, the text of style sheets,
//! scripts and frames, and the three elements that every page has when they are empty.

use taojin_extract::page::{Page, Tag};

/// Elements and texts of a page in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Outline {
    pub(crate) items: Vec<Item>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Item {
    /// Names from the root down, joined by dots.
    pub(crate) path: String,
    /// A text without white space; `None` for an element.
    pub(crate) text: Option<String>,
}

impl Outline {
    /// The outline of a page of ours.
    pub(crate) fn of(page: &Page) -> Self {
        let mut outline = Self::default();
        for (id, node) in page.nodes().iter().enumerate() {
            let path = page.path_name(node.path);
            if node.tag == Tag::TEXT {
                outline.text(path, page.text(id as u32));
            } else {
                outline.element(path);
            }
        }
        outline
    }

    pub(crate) fn element(&mut self, path: String) {
        self.drop_empty_frame(&path);
        self.items.push(Item { path, text: None });
    }

    pub(crate) fn text(&mut self, path: String, text: &str) {
        let last = path.rsplit('.').next().unwrap_or_default();
        if matches!(
            last,
            "script" | "style" | "iframe" | "noembed" | "noframes" | "noscript"
        ) {
            return;
        }
        // A NUL is dropped by some and replaced by others.
        let text: String = text
            .chars()
            .filter(|c| !c.is_whitespace() && !matches!(c, '\0' | '\u{FFFD}'))
            .collect();
        if text.is_empty() {
            return;
        }
        // Comments between two texts part them in some trees only.
        if let Some(before) = self.items.last_mut().filter(|item| item.path == path)
            && let Some(start) = &mut before.text
        {
            start.push_str(&text);
            return;
        }
        self.items.push(Item {
            path,
            text: Some(text),
        });
    }

    /// html, head and body are there whether the page says so or not; an empty one tells nothing.
    fn drop_empty_frame(&mut self, next: &str) {
        if let Some(last) = self.items.last()
            && last.text.is_none()
            && matches!(last.path.as_str(), "html" | "html.head" | "html.body")
            && !next.starts_with(&format!("{}.", last.path))
        {
            self.items.pop();
        }
    }

    /// The outline is complete.
    pub(crate) fn finish(mut self) -> Self {
        while self.items.last().is_some_and(|item| {
            item.text.is_none() && matches!(item.path.as_str(), "html" | "html.head" | "html.body")
        }) {
            self.items.pop();
        }
        self
    }

    /// The texts with their paths.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.items
            .iter()
            .filter_map(|item| Some((item.path.as_str(), item.text.as_deref()?)))
    }

    /// The texts in alphabetical order, for comparing without regard to their order in the page.
    pub(crate) fn sorted_texts(&self) -> Vec<(&str, &str)> {
        let mut texts: Vec<_> = self.texts().collect();
        texts.sort_unstable();
        texts
    }
}

impl std::fmt::Display for Outline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for item in &self.items {
            match &item.text {
                Some(text) => writeln!(f, "  {} {text:?}", item.path)?,
                None => writeln!(f, "  {}", item.path)?,
            }
        }
        Ok(())
    }
}

/// The name that the page model gives an element.
pub(crate) fn name(spelled: &str) -> &'static str {
    Tag::from_name(spelled.as_bytes()).name()
}
