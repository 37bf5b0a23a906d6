//! What a page is, judged from its shape.

use serde::{Deserialize, Serialize};

/// What a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A detail page: one text with a title.
    Article,
    /// A list or directory page: its worth is its links.
    Hub,
    /// An error page, whatever its status code says.
    Error,
    /// None of these.
    #[default]
    Other,
}
