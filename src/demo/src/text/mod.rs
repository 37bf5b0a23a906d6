//! Writes what the sample web says. In: a genre, a seed, an outlet and a day. Out: headlines, paragraphs, comments.
//! The sentences and words are in `data/`.

pub(super) mod composer;
pub(super) mod genre;
pub(super) mod slots;
pub(super) mod tables;
pub(super) mod words;
