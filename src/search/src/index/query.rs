//! What is asked of the index, as plain data. Made by the query language or by hand.

use serde::{Deserialize, Serialize};

use super::stop::CancellationToken;

/// Where a clause looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Target {
    /// Title and text.
    #[default]
    Anywhere,
    /// The title only.
    Title,
    /// What readers say below the text.
    Comments,
    /// The named writer.
    Author,
    /// The media source.
    Source,
    /// The address.
    Url,
    /// A labelled field: label and value with a colon between them.
    Meta,
    /// What the page is: `article`, `hub`, `attachment`, `other`.
    Kind,
    /// What the file is that the document was read from: `pdf`.
    FileType,
    /// Name of the site, its host, or a domain above the host.
    Site,
}

/// How the text of a clause is meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Form {
    /// Words, of which a document has enough (see [`Match`]).
    #[default]
    Words,
    /// The very characters, one after the other.
    Literal,
    /// Letters or digits with which a run of these begins.
    Prefix,
    /// This text and another one with so many characters between them at most, in either order.
    Near {
        /// The other text.
        other: String,
        /// Most characters between the two.
        within: u32,
    },
    /// No text of its own: all of these groups.
    All(Vec<Group>),
}

/// One thing to look for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Clause {
    /// Where.
    pub target: Target,
    /// What, as typed.
    pub text: String,
    /// How it is meant.
    pub form: Form,
}

impl Clause {
    /// Words somewhere.
    pub fn words(target: Target, text: impl Into<String>) -> Self {
        let (text, form) = (text.into(), Form::Words);
        Self { target, text, form }
    }

    /// The very characters somewhere.
    pub fn literal(target: Target, text: impl Into<String>) -> Self {
        let (text, form) = (text.into(), Form::Literal);
        Self { target, text, form }
    }

    /// This clause, or those of the groups that it stands for.
    pub fn leaves(&self) -> Vec<&Clause> {
        match &self.form {
            Form::All(groups) => groups.iter().flat_map(Group::leaves).collect(),
            _ => vec![self],
        }
    }

    fn wanted(&self) -> Vec<&Clause> {
        match &self.form {
            Form::All(groups) => groups.iter().flat_map(Group::wanted).collect(),
            _ => vec![self],
        }
    }
}

/// How many of the plain words of a query a document must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// All of a few words, most of more.
    #[default]
    Auto,
    /// All.
    All,
    /// Most, weighed by how rare each is.
    Most,
    /// One.
    Any,
}

/// What a group is to the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occur {
    /// Each document has it.
    Must,
    /// No document has it.
    Without,
}

/// Clauses of which one is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Needed or refused.
    pub occur: Occur,
    /// The alternatives, at least one.
    pub any: Vec<Clause>,
}

impl Group {
    /// The clauses that hold a text.
    pub fn leaves(&self) -> Vec<&Clause> {
        self.any.iter().flat_map(Clause::leaves).collect()
    }

    /// Those of them that a document is not refused for.
    pub fn wanted(&self) -> Vec<&Clause> {
        match self.occur {
            Occur::Without => Vec::new(),
            Occur::Must => self.any.iter().flat_map(Clause::wanted).collect(),
        }
    }
}

/// Limits that do not rank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Sites of which one must be the document's (see [`Target::Site`]); none means all.
    pub sites: Vec<String>,
    /// Published at or after this time, Unix milliseconds.
    pub since_ms: Option<i64>,
    /// Published before this time, Unix milliseconds.
    pub until_ms: Option<i64>,
    /// New or changed at or after this time, Unix milliseconds.
    pub changed_since_ms: Option<i64>,
    /// New or changed for the last time before this one, Unix milliseconds.
    pub changed_until_ms: Option<i64>,
    /// Only the reprints of one text (see [`super::FoundDocument::group`]).
    pub group: Option<u64>,
}

/// Order of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// Best score first.
    #[default]
    Relevance,
    /// Latest publication first, undated documents last.
    Date,
    /// Best first, but a score halves with each half-life of the document's age.
    Both,
}

/// A whole question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Plain words, as typed: a document that holds them as they stand comes first.
    pub words: String,
    /// How many of them a document must have.
    pub matching: Match,
    /// Everything else that was asked for.
    pub groups: Vec<Group>,
    /// Only the words as typed, without their synonyms.
    pub as_typed: bool,
    /// Limits.
    pub filter: Filter,
    /// Order.
    pub sort: Sort,
    /// What time it is, Unix milliseconds: ages for [`Sort::Both`] count from here.
    pub now_ms: i64,
    /// Age at which a score is halved, for [`Sort::Both`]; 0 or less: the configured one.
    pub half_life_ms: i64,
    /// As a person wants to read it: reprints as one hit, and not all of the first page from one site.
    pub grouped: bool,
    /// Whether [`super::Found::facets`] are wanted.
    pub facets: bool,
    /// Ends the search before it is done.
    pub stop: CancellationToken,
    /// Results to skip.
    pub offset: usize,
    /// Results wanted.
    pub limit: usize,
}

impl Filter {
    /// Whether anything is left out.
    pub fn narrows(&self) -> bool {
        *self != Self::default()
    }

    /// Narrows the time of the last change as well.
    pub fn narrow_changed(&mut self, (since_ms, until_ms): (Option<i64>, Option<i64>)) {
        self.changed_since_ms = self.changed_since_ms.max(since_ms);
        self.changed_until_ms = earlier(self.changed_until_ms, until_ms);
    }

    /// Narrows the time of publication as well.
    pub fn narrow_published(&mut self, (since_ms, until_ms): (Option<i64>, Option<i64>)) {
        self.since_ms = self.since_ms.max(since_ms);
        self.until_ms = earlier(self.until_ms, until_ms);
    }
}

fn earlier(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

impl Query {
    /// Most results of one answer.
    pub const MAX_LIMIT: usize = 100;
    /// Deepest result that can be reached: nobody reads on, and each page costs all before it.
    pub const MAX_WINDOW: usize = 10_000;
    /// Results when nobody says how many.
    pub const DEFAULT_LIMIT: usize = 10;

    /// Plain words, first page, best first.
    pub fn plain(words: &str) -> Self {
        Self {
            words: words.to_owned(),
            ..Self::default()
        }
    }

    /// Asks for no text at all: filters at most.
    pub fn is_blank(&self) -> bool {
        self.words.trim().is_empty() && self.groups.is_empty()
    }

    /// Texts to mark in what was found: those of clauses that look into title or text.
    pub fn wanted(&self) -> impl Iterator<Item = &Clause> {
        self.groups
            .iter()
            .flat_map(Group::wanted)
            .filter(|clause| matches!(clause.target, Target::Anywhere | Target::Title))
    }
}

impl Default for Query {
    fn default() -> Self {
        Self {
            words: String::new(),
            matching: Match::default(),
            groups: Vec::new(),
            as_typed: false,
            filter: Filter::default(),
            sort: Sort::default(),
            now_ms: 0,
            half_life_ms: 0,
            grouped: false,
            facets: false,
            stop: CancellationToken::default(),
            offset: 0,
            limit: Self::DEFAULT_LIMIT,
        }
    }
}
