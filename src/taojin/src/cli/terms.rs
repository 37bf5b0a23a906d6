//! `taojin terms`: find the terms of the field, decide about them, keep the lexicon of accepted ones.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use askama::Template;
use serde::Serialize;

use super::context::{Context, Named, UsageError};
use super::output::{self, Paint};
use super::{inputs, search};
use crate::config::{LoadedConfig, is_lexicon_file, read_term_patterns};
use crate::daemon::{self, Budget, DiscoveredTerms, TermFacts, TermReviewer};
use taojin_crawl::store::{TermMark, TermRecord, TermState};
use taojin_eval::{TermTable, rank_terms};
use taojin_search::analyze::{Dictionary, Lexicon};
use taojin_search::terms::{self, Found, LexiconProfile, Patterns};

/// Terms shown when nothing is said.
const DEFAULT_LIMIT: usize = 100;

/// Arguments of `terms`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Find terms in the index, or in files, best first; those of the index go on the review list
    Discover {
        /// Search this file instead of the index (may be given several times)
        ///
        /// One JSON object with a "text" a line, also compressed with gzip or zstd; - is standard input. Terms are only
        /// printed, unless --keep is given.
        #[arg(long, value_name = "FILE")]
        from: Vec<PathBuf>,
        /// Put what was found in files on the review list too
        ///
        /// What is found in the index always goes there.
        #[arg(long)]
        keep: bool,
        /// Number of terms
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Show the review list: what was found and not decided about
    List {
        /// List the accepted terms instead
        ///
        /// As the lexicon file (terms.lexicon) has them.
        #[arg(long, conflicts_with_all = ["rejected", "entered"])]
        accepted: bool,
        /// List the terms that entered the lexicon by themselves instead
        ///
        /// What terms.accept_above let in and nobody has taken out; `taojin terms reject` does.
        #[arg(long, conflicts_with = "rejected")]
        entered: bool,
        /// List the rejected terms instead
        ///
        /// They are not proposed again.
        #[arg(long)]
        rejected: bool,
        /// Number of terms
        #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT)]
        limit: usize,
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Put terms into the lexicon; searches use them within seconds, also on old documents
    Accept {
        /// The terms
        #[arg(required = true, value_name = "TERM")]
        terms: Vec<String>,
    },
    /// Reject terms: they are not used, and not proposed again
    Reject {
        /// The terms
        #[arg(required = true, value_name = "TERM")]
        terms: Vec<String>,
    },
    /// Print the accepted terms as a lexicon
    Export,
    /// Accept all terms of a lexicon file
    Import {
        /// One term a line; # begins a comment
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Derive from a lexicon how long terms are and which parts of speech they have
    ///
    /// What is printed is a file that `[terms] patterns` can name: the next search for terms goes by it instead of the built-in
    /// patterns.
    Patterns {
        /// A built-in lexicon (oil-gas), or a file with one term a line
        #[arg(value_name = "LEXICON")]
        lexicon: String,
        /// Write to this file instead of standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Measure how well terms are found: against the keywords of a folder with csl_kg.json
    ///
    /// Compares no patterns, those derived from a lexicon and the built-in ones, each by our termhood, NC-value, C-value and
    /// frequency.
    Eval {
        /// Folder with csl_kg.json: {"id": ["text", ["keyword", …]], …}
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Lexicon that the derived patterns are from: a built-in one, or a file
        #[arg(long, value_name = "LEXICON", default_value = "oil-gas")]
        lexicon: String,
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
}

/// A term as `--json` shows it. The names are stable.
#[derive(Serialize)]
struct Shown<'a> {
    term: &'a str,
    normal: &'a str,
    termhood: f64,
    occurrences: u64,
    documents: u64,
    #[serde(flatten)]
    facts: TermFacts,
}

/// A term for a person.
#[derive(Template)]
#[template(path = "term.txt")]
struct TermText<'a> {
    t: &'a Shown<'a>,
    c: Paint,
}

/// Runs the action.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let desk = TermReviewer::new(&loaded);
    match &args.action {
        Action::Discover {
            from,
            keep,
            limit,
            json,
        } => {
            discover(&loaded, from, *keep || from.is_empty(), *limit, *json)?;
        }
        Action::List {
            accepted: true,
            limit,
            json,
            ..
        } => accepted(&desk, *limit, *json)?,
        Action::List {
            rejected,
            entered,
            limit,
            json,
            ..
        } => {
            let records = match (*rejected, *entered) {
                (true, _) => desk.list(TermState::Rejected, 0, *limit)?,
                (_, true) => desk.entered(*limit)?,
                _ => desk.list(TermState::Proposed, 0, *limit)?,
            };
            list(&records, *json)?;
        }
        Action::Accept { terms } => {
            let new = desk.accept(terms).map_err(usage)?;
            output::line(&format!(
                "{new} of {} terms are new in {}",
                terms.len(),
                file(&loaded)
            ));
        }
        Action::Reject { terms } => {
            let used = desk.reject(terms).map_err(usage)?;
            output::line(&format!("{used} of {} terms were in use", terms.len()));
        }
        Action::Export => {
            for term in desk.accepted()? {
                let tag = term.tag.map(|tag| format!("\t{tag}")).unwrap_or_default();
                output::line(&format!("{}{tag}", term.text));
            }
        }
        Action::Import { file: path } => import(&loaded, &desk, path)?,
        Action::Patterns { lexicon, output } => {
            let text = derive_patterns(lexicon)?;
            match output {
                Some(file) => std::fs::write(file, text).named(file.display())?,
                None => output::line(text.trim_end()),
            }
        }
        Action::Eval { dir, lexicon, json } => eval(dir, lexicon, *json)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn discover(
    loaded: &LoadedConfig,
    from: &[PathBuf],
    keep: bool,
    limit: Option<usize>,
    json: bool,
) -> anyhow::Result<()> {
    let mut config = loaded.config.terms.clone();
    let shown = limit.unwrap_or(if json {
        config.max_terms
    } else {
        DEFAULT_LIMIT
    });
    config.max_terms = config.max_terms.max(shown);
    let (found, mark, texts) = if from.is_empty() {
        let reader = search::open(loaded)?;
        let whole = Budget::Whole;
        let found = daemon::discover_in_index(loaded, &reader, &config, whole, &mut || true)?;
        let Some(DiscoveredTerms {
            found,
            mark,
            documents,
        }) = found
        else {
            return Ok(());
        };
        (found, mark, documents.read)
    } else {
        let mut texts = Vec::new();
        for path in from {
            texts.extend(inputs::texts(path, config.max_chars)?);
        }
        let mark = TermMark {
            at_ms: daemon::now_ms(),
            ..TermReviewer::new(loaded).mark()?
        };
        let patterns = read_term_patterns(loaded)?;
        let dictionary = Dictionary::new(&loaded.lexicons()?);
        let found = terms::discover(&texts, &dictionary, &patterns, &config, &mut || true);
        (found.unwrap_or_default(), mark, texts.len())
    };
    if keep {
        let listed = found.get(..loaded.config.terms.max_terms).unwrap_or(&found);
        let kept = TermReviewer::new(loaded).keep(listed, mark)?;
        output::note(&format!(
            "{texts} texts; {} terms to decide about (taojin terms list)",
            kept.proposed
        ));
        if let Some(entered) = kept.entered() {
            output::note(&entered);
        }
    }
    for found in found.iter().take(shown) {
        print_found(found, json)?;
    }
    Ok(())
}

fn print_found(found: &Found, json: bool) -> anyhow::Result<()> {
    let measured = &found.candidate;
    let shown = Shown {
        term: &found.term,
        normal: &measured.normal,
        termhood: measured.termhood,
        occurrences: u64::from(measured.occurrences),
        documents: u64::from(measured.documents),
        facts: TermFacts::from_term(found),
    };
    print(&shown, json)
}

fn list(records: &[TermRecord], json: bool) -> anyhow::Result<()> {
    if records.is_empty() && !json {
        output::note("no terms on this list; `taojin terms discover` looks for some in the index");
    }
    for record in records {
        print_record(record, json)?;
    }
    Ok(())
}

fn print_record(record: &TermRecord, json: bool) -> anyhow::Result<()> {
    let shown = Shown {
        term: &record.term,
        normal: &record.normal,
        termhood: record.termhood,
        occurrences: record.occurrences,
        documents: record.documents,
        facts: TermFacts::read(record),
    };
    print(&shown, json)
}

fn print(shown: &Shown<'_>, json: bool) -> anyhow::Result<()> {
    let c = Paint::new();
    if json {
        output::json(shown)
    } else {
        output::text(&TermText { t: shown, c })
    }
}

fn accepted(desk: &TermReviewer, limit: usize, json: bool) -> anyhow::Result<()> {
    for term in desk.accepted()?.into_iter().take(limit) {
        if json {
            output::json(&serde_json::json!({ "term": term.text, "tag": term.tag }))?;
        } else {
            output::line(&term.text);
        }
    }
    Ok(())
}

fn import(loaded: &LoadedConfig, desk: &TermReviewer, path: &Path) -> anyhow::Result<()> {
    let wrong = |e: &dyn std::fmt::Display| UsageError(format!("{}: {e}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| wrong(&e))?;
    let lexicon = Lexicon::parse(&path.display().to_string(), &text).map_err(UsageError::new)?;
    let new = desk.import(&lexicon)?;
    let all = lexicon.terms().count();
    output::line(&format!("{new} of {all} terms are new in {}", file(loaded)));
    Ok(())
}

fn file(loaded: &LoadedConfig) -> String {
    loaded.accepted_terms().display().to_string()
}

/// A text that cannot be a term is the caller's mistake.
fn usage(error: anyhow::Error) -> anyhow::Error {
    match error.chain().count() {
        1 => UsageError(error.to_string()).into(),
        _ => error,
    }
}

/// The patterns of a lexicon, as a file has them.
fn derive_patterns(name: &str) -> anyhow::Result<String> {
    let lexicon = if is_lexicon_file(name) {
        let wrong = |e: &dyn std::fmt::Display| UsageError(format!("{name}: {e}"));
        let text = std::fs::read_to_string(name).map_err(|e| wrong(&e))?;
        Lexicon::parse(name, &text)
    } else {
        Lexicon::builtin(name)
    };
    let profile = LexiconProfile::new(&lexicon.map_err(UsageError::new)?);
    let too_few = || {
        UsageError(format!(
            "{name}: no two of its {} terms have the same parts of speech; a lexicon of some hundred terms shows patterns",
            profile.terms
        ))
    };
    Ok(profile.render(name).ok_or_else(too_few)?)
}

fn eval(dir: &Path, lexicon: &str, json: bool) -> anyhow::Result<()> {
    let path = dir.join("csl_kg.json");
    let wrong = |e: &dyn std::fmt::Display| UsageError(format!("{}: {e}", path.display()));
    let bytes = std::fs::read(&path).map_err(|e| wrong(&e))?;
    let gold: HashMap<String, (String, Vec<String>)> =
        serde_json::from_slice(&bytes).map_err(|e| wrong(&e))?;
    let derived = Patterns::parse(&derive_patterns(lexicon)?)?;
    let rows: Vec<TermTable> = rank_terms(&gold, &derived);
    if json {
        return output::json(&rows);
    }
    output::line(
        "patterns  ranking    above  terms      P      R      F  P@100  P@500  P@1000  R@3000",
    );
    for row in rows {
        output::line(&format!(
            "{:<9} {:<10} {:>5} {:>6}  {:>5.3}  {:>5.3}  {:>5.3}  {:>5.3}  {:>5.3}   {:>5.3}   {:>5.3}",
            row.patterns,
            row.ranking,
            row.above,
            row.terms,
            row.precision,
            row.recall,
            row.f,
            row.p100,
            row.p500,
            row.p1000,
            row.r3000
        ));
    }
    Ok(())
}
