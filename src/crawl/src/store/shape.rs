//! Compares the schema of a SQLite file with ours: a file from elsewhere may hold what acts by itself.
//!
//! [`Shape::of_store`] is what a store, or a copy of one, may hold, and [`Shape::check`] refuses a file that holds more or less: a
//! trigger, a view, a table, an index or a column that is not ours, or one of ours that is defined in another way. Definitions are
//! compared as SQLite keeps them, word by word, without comments, and with columns in any order, since one that was added later is
//! the last. The rows of a file are not looked at.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::Connection;

use super::error::{Result, StoreError};
use super::schema::{self, STORE};
use super::{kept_files, terms};

/// Characters of another program's name that an error repeats.
const MAX_NAME_CHARS: usize = 60;

/// The tables and indexes that a file may hold.
#[derive(Debug)]
pub(super) struct Shape {
    required: Vec<Definition>,
    /// Tables that only a copy with something to carry has.
    carried: Vec<Definition>,
}

impl Shape {
    /// Reads what a store holds, and what a copy of one carries, from tables that are made for it in memory.
    pub(super) fn of_store() -> rusqlite::Result<Self> {
        let store = Connection::open_in_memory()?;
        store.execute_batch(STORE.sql)?;
        let carrier = Connection::open_in_memory()?;
        terms::make_carried_tables(&carrier)?;
        kept_files::make_carried_table(&carrier)?;
        Ok(Self {
            required: read_definitions(&store)?,
            carried: read_definitions(&carrier)?,
        })
    }

    /// Refuses a file that is not of this shape.
    ///
    /// # Errors
    ///
    /// Says what it holds beyond the shape, or lacks of it.
    pub(super) fn check(&self, conn: &Connection, path: &Path) -> Result<()> {
        let found = read_definitions(conn).map_err(|e| StoreError::sql(path, e))?;
        refuse(self.difference(&found), path)
    }

    /// The first difference from this shape, in words.
    fn difference(&self, found: &[Definition]) -> Option<String> {
        let known = |name: &str| {
            let mut all = self.required.iter().chain(&self.carried);
            all.find(|known| known.name == name)
        };
        let foreign = found.iter().find_map(|found| match known(&found.name) {
            Some(known) => found.difference(known),
            None => Some(found.to_string()),
        });
        let lacks = |known: &&Definition| {
            !schema::is_added_index(&known.name) && !found.iter().any(|d| d.name == known.name)
        };
        let missing = || self.required.iter().find(lacks);
        foreign.or_else(|| missing().map(|known| format!("no {known}")))
    }
}

/// Refuses what could act while the tables of a damaged file are read: the rest of its schema need not be ours any more.
///
/// # Errors
///
/// Names what was found.
pub(super) fn check_inert(conn: &Connection, path: &Path) -> Result<()> {
    let found = read_definitions(conn).map_err(|e| StoreError::sql(path, e))?;
    let acting = found.iter().find(|definition| !definition.is_inert());
    refuse(acting.map(Definition::to_string), path)
}

fn refuse(found: Option<String>, path: &Path) -> Result<()> {
    match found {
        None => Ok(()),
        Some(found) => Err(StoreError::Foreign {
            path: path.to_owned(),
            found,
        }),
    }
}

/// What made the tables, indexes and all else of a file. What SQLite makes by itself, such as the index of a key, has no definition.
fn read_definitions(conn: &Connection) -> rusqlite::Result<Vec<Definition>> {
    let sql =
        "SELECT CAST(name AS BLOB), CAST(sql AS BLOB) FROM sqlite_schema WHERE sql IS NOT NULL";
    let mut select = conn.prepare(sql)?;
    let rows = select.query_map([], |row| {
        let [name, sql] = [row.get::<_, Vec<u8>>(0)?, row.get(1)?];
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Definition::new(text(name), &text(sql)))
    })?;
    rows.collect()
}

/// A table, an index or something else as it was made.
#[derive(Debug)]
struct Definition {
    name: String,
    /// What is before the parts.
    head: Vec<String>,
    /// Columns and constraints of a table, columns of an index.
    parts: BTreeSet<Vec<String>>,
    /// What is behind them, such as the condition of an index.
    tail: Vec<String>,
}

impl Definition {
    fn new(name: String, sql: &str) -> Self {
        let (mut head, mut parts, mut tail) = (Vec::new(), BTreeSet::new(), Vec::new());
        let mut part = Vec::new();
        let mut depth = 0_usize;
        for token in tokens(sql) {
            let is_behind = depth == 0 && !parts.is_empty();
            match (token, depth) {
                _ if is_behind => tail.push(token.to_owned()),
                ("(", 0) => depth = 1,
                (_, 0) => head.push(token.to_owned()),
                (")" | ",", 1) => {
                    parts.insert(std::mem::take(&mut part));
                    depth = usize::from(token == ",");
                }
                _ => {
                    match token {
                        "(" => depth += 1,
                        ")" => depth -= 1,
                        _ => {}
                    }
                    part.push(token.to_owned());
                }
            }
        }
        Self {
            name,
            head,
            parts,
            tail,
        }
    }

    /// The words that say what is made: the first of them is CREATE. What the file calls it elsewhere may be a lie.
    fn kind(&self) -> &'static str {
        let is = |at: usize, word: &str| {
            self.head
                .get(at)
                .is_some_and(|w| w.eq_ignore_ascii_case(word))
        };
        let at = if is(1, "UNIQUE") { 2 } else { 1 };
        let known = [
            ("TABLE", "table"),
            ("INDEX", "index"),
            ("VIEW", "view"),
            ("TRIGGER", "trigger"),
            ("VIRTUAL", "virtual table"),
        ];
        let kind = known
            .iter()
            .find(|(word, _)| is(0, "CREATE") && is(at, word));
        kind.map_or("entry", |(_, kind)| kind)
    }

    /// Whether nothing is run when it is read: a table without columns that are computed, or an index.
    fn is_inert(&self) -> bool {
        let is_computed =
            |part: &Vec<String>| part.iter().any(|word| word.eq_ignore_ascii_case("AS"));
        match self.kind() {
            "table" => !self.parts.iter().any(is_computed),
            kind => kind == "index",
        }
    }

    /// In what it differs from the one that is known under its name.
    fn difference(&self, known: &Self) -> Option<String> {
        let is_known_column =
            |part: &&Vec<String>| known.parts.iter().any(|known| first(known) == first(part));
        let is_added_later = |part: &&Vec<String>| schema::is_added_column(&self.name, first(part));
        let more = self.parts.difference(&known.parts).next();
        let less = known
            .parts
            .difference(&self.parts)
            .find(|part| !is_added_later(part));
        if let Some(column) = more.filter(|part| self.kind() == "table" && !is_known_column(part)) {
            return Some(format!("column {} of {known}", shown(first(column))));
        }
        if (&self.head, &self.tail) == (&known.head, &known.tail) && more.is_none() {
            return less.map(|column| format!("no column {} of {known}", first(column)));
        }
        Some(format!("another definition of {known}"))
    }
}

impl std::fmt::Display for Definition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kind(), shown(&self.name))
    }
}

/// The words, signs and quoted texts of SQL, without comments.
fn tokens(sql: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = sql.trim_ascii_start();
    while let Some(first) = rest.chars().next() {
        let is_comment = rest.starts_with("--") || rest.starts_with("/*");
        let length = match first {
            '-' if is_comment => rest.find('\n').unwrap_or(rest.len()),
            '/' if is_comment => rest.find("*/").map_or(rest.len(), |at| at + 2),
            '\'' | '"' | '`' => quoted(rest, first),
            '[' => quoted(rest, ']'),
            c if is_of_word(c) => rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        if !is_comment {
            tokens.push(token);
        }
        rest = behind.trim_ascii_start();
    }
    tokens
}

/// Length of the quoted text at the beginning. A quote within, which is doubled, makes two of it, in both texts that are compared.
fn quoted(text: &str, end: char) -> usize {
    let mut behind_first = text.char_indices().skip(1);
    let last = behind_first.find(|(_, c)| *c == end);
    last.map_or(text.len(), |(at, c)| at + c.len_utf8())
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$') || !c.is_ascii()
}

fn first(part: &[String]) -> &str {
    part.first().map_or("", String::as_str)
}

/// A name of another program's: short, and without what steers a terminal.
fn shown(name: &str) -> String {
    let short: String = name.chars().take(MAX_NAME_CHARS).collect();
    short.escape_debug().to_string()
}
