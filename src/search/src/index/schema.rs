//! The fields of the index and the version of its format. Out: the schema, a handle for each field, and whether an
//! index that is there has both. Never opens anything.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tantivy::Index;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};

use super::IndexError;
use super::left_out::AllLeftOut;
use super::synced::META;

use crate::analyze::{GRAMS, SINGLES};

/// Version of what stands in the fields and how it is cut. It goes up with every change after which old
/// documents would be found differently from new ones.
pub const FORMAT: u32 = 1;

/// Name of the field of labels and values.
const META_FIELD: &str = "meta";
/// Name of the fast field with the time of publication.
pub(super) const PUBLISHED_FIELD: &str = "published";
/// Name of the fast field with the number of the change that made the document what it is.
pub(super) const SEQ_FIELD: &str = "seq";
/// Name of the fast field with the identity of the page.
pub(super) const FINGERPRINT_FIELD: &str = "fingerprint";
/// Name of the fast field with the sketch that reprints are looked up by, several numbers a document.
pub(super) const SKETCH_FIELD: &str = "sketch";
/// Name of the fast field with the group of reprints.
pub(super) const GROUP_FIELD: &str = "group";
/// Name of the fast field that says whether a document names no other medium as its source.
pub(super) const ORIGINAL_FIELD: &str = "original";
/// Name of the fast field with the time of fetching.
pub(super) const FETCHED_FIELD: &str = "fetched";
/// Name of the fast field with the time of that change.
pub(super) const CHANGED_FIELD: &str = "changed";
/// Name of the fast field with the site.
pub(super) const SITE_FIELD: &str = "site";

/// A text is indexed twice. No word of a lexicon is in the index as such: a word is a gram or a phrase of grams,
/// so a new term finds old documents at once, and nothing has to be indexed again when a lexicon changes.
/// Words of three and more characters as terms of their own were measured: they rank no better.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextPair {
    /// Single characters that are words, with frequencies.
    pub(super) singles: Field,
    /// Grams with positions.
    pub(super) grams: Field,
}

/// Handles of all fields.
#[derive(Debug, Clone)]
pub(super) struct Fields {
    pub(super) schema: Schema,
    pub(super) fingerprint: Field,
    pub(super) seq: Field,
    pub(super) fetched: Field,
    pub(super) published: Field,
    pub(super) site: Field,
    pub(super) places: Field,
    pub(super) kind: Field,
    pub(super) url: Field,
    pub(super) title: TextPair,
    pub(super) body: TextPair,
    pub(super) comments: TextPair,
    pub(super) author: Field,
    pub(super) source: Field,
    pub(super) group: Field,
    pub(super) original: Field,
    pub(super) sketch: Field,
    pub(super) changed: Field,
    /// Labels and values.
    pub(super) meta: Field,
}

impl Fields {
    pub(super) fn new() -> Self {
        let mut schema = Schema::builder();
        let singles = text(SINGLES, IndexRecordOption::WithFreqs);
        let grams = text(GRAMS, IndexRecordOption::WithFreqsAndPositions);
        let name = grams.clone();
        let labelled = grams.clone();
        Self {
            fingerprint: schema.add_u64_field(FINGERPRINT_FIELD, INDEXED | FAST),
            seq: schema.add_u64_field(SEQ_FIELD, FAST),
            fetched: schema.add_i64_field(FETCHED_FIELD, FAST),
            published: schema.add_i64_field(PUBLISHED_FIELD, FAST),
            site: schema.add_text_field(SITE_FIELD, STRING | FAST),
            places: schema.add_text_field("places", STRING),
            kind: schema.add_text_field("kind", STRING),
            url: schema.add_text_field("url", name.clone()),
            title: TextPair {
                singles: schema.add_text_field("title_singles", singles.clone()),
                grams: schema.add_text_field("title_grams", grams.clone()),
            },
            body: TextPair {
                singles: schema.add_text_field("body_singles", singles.clone()),
                grams: schema.add_text_field("body_grams", grams.clone()),
            },
            comments: TextPair {
                singles: schema.add_text_field("comments_singles", singles),
                grams: schema.add_text_field("comments_grams", grams),
            },
            author: schema.add_text_field("author", name.clone()),
            source: schema.add_text_field("source", name),
            group: schema.add_u64_field(GROUP_FIELD, INDEXED | FAST),
            original: schema.add_bool_field(ORIGINAL_FIELD, FAST),
            sketch: schema.add_u64_field(SKETCH_FIELD, FAST),
            changed: schema.add_i64_field(CHANGED_FIELD, FAST),
            meta: schema.add_text_field(META_FIELD, labelled),
            schema: schema.build(),
        }
    }
}

fn text(tokenizer: &str, option: IndexRecordOption) -> TextOptions {
    TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(tokenizer)
            .set_index_option(option),
    )
}

/// What the last commit of an index says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Noted {
    /// Number of the last change of a document that the index holds.
    pub seq: u64,
    /// [`FORMAT`] of the program that made it.
    pub format: u32,
    /// Identity of the store that its documents are in.
    pub store: i64,
    /// Version of the program that wrote it.
    pub program: String,
    /// Documents that could not be indexed.
    #[serde(default, skip_serializing_if = "AllLeftOut::is_empty")]
    pub left_out: AllLeftOut,
}

/// Version of this program.
pub(super) const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// Refuses the index of a newer version, before the library looks at it: that may not be able to read it any more, and would
/// call it damaged.
pub fn refuse_newer(dir: &Path) -> Result<(), IndexError> {
    let Some(found) = format_in(dir).filter(|found| *found > u64::from(FORMAT)) else {
        return Ok(());
    };
    Err(IndexError::Newer {
        dir: dir.to_owned(),
        found,
    })
}

/// The format that the list of segments names, whatever else stands in it.
fn format_in(dir: &Path) -> Option<u64> {
    let meta = std::fs::read(dir.join(META)).ok()?;
    let meta: serde_json::Value = serde_json::from_slice(&meta).ok()?;
    let noted: serde_json::Value = serde_json::from_str(meta["payload"].as_str()?).ok()?;
    noted["format"].as_u64()
}

/// What the last commit says, if this program knows the format.
pub(super) fn check_format(dir: &Path, index: &Index) -> Result<Noted, IndexError> {
    let noted = noted_by(dir, index)?;
    let fields = Fields::new();
    match noted.format {
        FORMAT if index.schema() == fields.schema => Ok(noted),
        FORMAT => Err(other_format(dir, "of other fields")),
        format => Err(other_format(dir, format)),
    }
}

fn noted_by(dir: &Path, index: &Index) -> Result<Noted, IndexError> {
    let meta = index.load_metas().map_err(|e| unreadable(dir, e))?;
    match &meta.payload {
        None if meta.segments.is_empty() => Ok(Noted {
            format: FORMAT,
            ..Noted::default()
        }),
        None => Err(other_format(dir, "unknown")),
        Some(text) => serde_json::from_str(text).map_err(|_| other_format(dir, "unknown")),
    }
}

fn other_format(dir: &Path, found: impl std::fmt::Display) -> IndexError {
    IndexError::Format {
        dir: dir.to_owned(),
        found: found.to_string(),
    }
}

/// Why an index cannot be opened.
pub(super) fn unreadable(dir: &Path, cause: impl std::fmt::Display) -> IndexError {
    let cause = cause.to_string();
    let cause = match cause.contains("PermissionDenied") {
        true => "permission denied; run it with sudo, or join the group that the index belongs to"
            .to_owned(),
        false => cause,
    };
    IndexError::Unreadable {
        dir: dir.to_owned(),
        cause,
    }
}
