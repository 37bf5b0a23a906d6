//! What a region of a template holds. In: a name. Out: a [`Field`].

use serde::{Deserialize, Serialize};

/// The field of a document that a region fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Field {
    /// Headline.
    Title,
    /// Time of publication.
    Published,
    /// Writer.
    Author,
    /// Media source.
    Source,
    /// Main text.
    Body,
    /// Readers' comments.
    Comments,
    /// The same on every page, or not part of any document.
    Boilerplate,
}

impl Field {
    /// All fields in the order in which they are shown.
    pub const ALL: [Field; 7] = [
        Field::Title,
        Field::Published,
        Field::Author,
        Field::Source,
        Field::Body,
        Field::Comments,
        Field::Boilerplate,
    ];

    /// Name in commands, files and addresses.
    pub fn name(self) -> &'static str {
        match self {
            Field::Title => "title",
            Field::Published => "published",
            Field::Author => "author",
            Field::Source => "source",
            Field::Body => "body",
            Field::Comments => "comments",
            Field::Boilerplate => "boilerplate",
        }
    }

    /// The field of a name.
    pub fn named(name: &str) -> Option<Field> {
        Field::ALL.into_iter().find(|field| field.name() == name)
    }
}
