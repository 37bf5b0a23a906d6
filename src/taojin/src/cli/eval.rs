//! `taojin eval`: how good the extraction is on labelled pages, in tables, as JSON, and against an earlier run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use indicatif::ProgressBar;
use serde::Serialize;

use super::context::{Context, Named, UsageError, words};
use super::extract::use_weights;
use super::output;
use crate::config::read_weights;
use crate::daemon::now_ms;
use taojin_eval::{
    self as eval, EvalError, Extracted, Extraction, LinkLimit, PageFilter, Run, SecondPass, Set,
    Unseen,
};
use taojin_extract::{Comment, Method};

/// Unreadable pages that are named; a table has how many there are.
const NAMED_MISSING: u32 = 5;

/// Arguments of `eval`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder with SET/gold.jsonl and SET/html/ID.html, or with gold.jsonl and html/ of one set
    ///
    /// Each line of gold.jsonl is a JSON object with the `id` of a page and what is right for it; docs/evaluation.md has
    /// the format.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// One JSON object with the rates of each set
    #[arg(long)]
    json: bool,
    /// Write what was extracted, one JSON object a line
    ///
    /// Each has set, id, title, published, author, text and comments, so that other tools can score them.
    #[arg(long, value_name = "FILE")]
    predictions: Option<PathBuf>,
    /// Compare with a run that --save wrote: what got better, what got worse
    ///
    /// Pages that are only in one of the runs are counted, not compared.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Keep the scores of all pages for a later --baseline
    ///
    /// Whether the file can be written is checked before the first page is judged.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Show the N worst texts and N wrong titles and dates of each set
    #[arg(long, value_name = "N", default_value_t = 0)]
    worst: usize,
    /// Only pages whose gold has this lang
    ///
    /// For example `zh`: compared with the key `lang` of gold.jsonl.
    #[arg(long, value_name = "LANG")]
    lang: Option<String>,
    /// Only this set (may be given several times)
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
    /// Rates of each language too
    #[arg(long)]
    by_language: bool,
    /// What decides which lines are the text [default: extract.method]
    ///
    /// `model`: the learned line and context models; `ratio`: the ratios of text to tag path alone.
    #[arg(long, value_parser = words::<Method>(["model", "ratio"]))]
    method: Option<Method>,
    /// Learn templates from every second page of each site, and compare with the models alone on the others
    #[arg(long, conflicts_with_all = ["predictions", "baseline", "save", "worst", "by_language"])]
    templates: bool,
    /// With --templates: repeat over N random splits, and count what got worse
    ///
    /// Each split halves the pages of a site at random. 0 is a single split: every second page.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "templates")]
    splits: usize,
    #[command(flatten)]
    judged: JudgedArgs,
    /// Learn the weights of the extraction from the pages, instead of judging
    ///
    /// FILE can be given to --weights and to `[extract] weights`. The same pages give the same file, which names its
    /// sources.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "predictions", "baseline", "save"])]
    learn: Option<PathBuf>,
    /// Judge with the weights in this file, which --learn wrote
    #[arg(long, value_name = "FILE", conflicts_with = "learn")]
    weights: Option<PathBuf>,
    /// Learn only from sets whose README.md states a licence
    ///
    /// Applies to --learn and to the weights that --folds and --leave-one-set-out learn.
    #[arg(long)]
    licensed: bool,
    #[command(flatten)]
    unseen: UnseenArgs,
    #[command(flatten)]
    papers: PaperArgs,
}

/// Arguments that judge something else than text, title and date.
#[derive(Debug, clap::Args)]
struct JudgedArgs {
    /// Judge the values of named fields
    ///
    /// A template is learned from the first pages of each site whose gold has `fields`; its slots are named after the first
    /// page's, and the values are judged on the other pages.
    #[arg(long, conflicts_with_all = ["baseline", "save", "worst", "by_language", "templates"])]
    fields: bool,
    /// Judge headings, lists, tables, code, links and pictures
    ///
    /// The Markdown of each page whose gold has `blocks` is read again, and its blocks are compared with these: F1 of each
    /// kind over the pages of a set.
    #[arg(long, conflicts_with_all = ["predictions", "baseline", "save", "worst", "by_language", "templates", "fields"])]
    structure: bool,
}

/// Arguments of cross-validation.
#[derive(Debug, clap::Args)]
struct UnseenArgs {
    /// Cross-validation with K parts
    ///
    /// The sites are divided into K parts, 2 to 20, and the pages of each part are judged with weights learned from the
    /// others.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(2..=20),
          conflicts_with_all = ["templates", "learn"])]
    folds: Option<u8>,
    /// With --folds: divide the sites differently
    ///
    /// The same number gives the same parts.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "folds")]
    seed: u64,
    /// Judge each set with weights learned from all other sets of DIR
    ///
    /// Pages of the set's own sites are not learned from, whatever set they are in. With --set only those sets are judged;
    /// all others are still learned from.
    #[arg(long, conflicts_with_all = ["templates", "learn", "folds", "baseline", "worst", "by_language"])]
    leave_one_set_out: bool,
}

/// Arguments of the extractors of the papers.
#[derive(Debug, clap::Args)]
struct PaperArgs {
    /// Compare with the extractors of the papers: CEPR, CEPF and a second pass
    ///
    /// A table of the page F1 of each on each set, on all pages, and on twenty pages of picture news that were judged by hand;
    /// docs/evaluation.md says what they are.
    #[arg(long, conflicts_with_all = ["predictions", "baseline", "save", "worst", "by_language", "method",
          "templates", "fields", "learn", "folds", "leave_one_set_out"])]
    papers: bool,
    /// With --papers: sentence marks that a text has more than
    #[arg(long, value_name = "N", default_value_t = SecondPass::default().alpha, requires = "papers")]
    alpha: u32,
    /// With --papers: link characters that a text has fewer than, or their share of all as 30%
    #[arg(long, value_name = "N", default_value_t = SecondPass::default().beta, requires = "papers")]
    beta: LinkLimit,
}

/// One extracted page, as tools that score predictions read it.
#[derive(Serialize)]
struct Prediction<'a> {
    set: &'a str,
    id: &'a str,
    title: Option<&'a str>,
    published: Option<&'a str>,
    author: Option<&'a str>,
    text: &'a str,
    comments: &'a [Comment],
    /// Values of named fields, with --fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<&'a BTreeMap<String, Vec<String>>>,
}

/// Extracts and judges all pages, then prints the tables.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let mut config = context.named_config()?;
    use_weights(&mut config, args.weights.as_deref())?;
    if let Some(method) = args.method {
        config.extract.method = method;
    }
    let choice = PageFilter {
        sets: args.set.clone(),
        lang: args.lang.clone(),
        worst: args.worst,
    };
    let (sets, pages) = eval::choose(&args.dir, &choice).map_err(caller)?;
    if let Some(file) = &args.learn {
        return learn(&sets, args.licensed, file);
    }
    let baseline = args.baseline.as_deref().map(Run::load);
    let baseline = baseline.transpose().map_err(caller)?;
    let out = match &args.predictions {
        Some(file) => Some((
            file,
            BufWriter::new(File::create(file).named(file.display())?),
        )),
        None => None,
    };
    if let Some(file) = &args.save {
        // Found out now, not after minutes of work.
        File::options()
            .append(true)
            .create(true)
            .open(file)
            .named(file.display())?;
    }
    let extraction = Extraction {
        now_ms: now_ms(),
        page: config.page,
        extract: config.extract,
        unseen: unseen(args, &sets)?,
    };
    if args.templates {
        return templates(&sets, &choice, &extraction, &config.templates, args);
    }
    if args.papers.papers {
        return papers(&sets, &choice, &extraction, args, pages);
    }
    if args.judged.fields {
        return fields(
            &sets,
            &choice,
            &extraction,
            &config.templates,
            out,
            args.json,
        );
    }
    if args.judged.structure {
        return structure(&sets, &choice, &extraction, pages, args.json);
    }
    let run = judge(&sets, &choice, &extraction, out, pages)?;
    if let Some(file) = &args.save {
        run.save(file).map_err(caller)?;
    }
    if args.unseen.leave_one_set_out {
        let fitted = Extraction {
            unseen: None,
            ..extraction
        };
        let fitted = judge(&sets, &choice, &fitted, None, pages)?;
        let report = eval::compare_unseen(&run, &fitted);
        return show(&report, eval::format_unseen, args.json);
    }
    let differences = baseline.map_or_else(Vec::new, |before| eval::compare(&run, &before));
    let report = eval::report(&run, args.worst, args.by_language, differences);
    show(&report, |report| eval::format_run(&run, report), args.json)
}

/// Extracts and judges all pages; writes what was extracted, too, where that is asked for.
fn judge(
    sets: &[Set],
    choice: &PageFilter,
    extraction: &Extraction,
    mut out: Option<(&PathBuf, BufWriter<File>)>,
    pages: usize,
) -> anyhow::Result<Run> {
    let bar = output::progress_bar(pages, "pages");
    let mut missing = 0;
    let run = eval::run(sets, choice, extraction, |page| {
        bar.inc(1);
        match page.document {
            Err(error) => {
                missing += 1;
                if missing <= NAMED_MISSING {
                    let file = page.set.html_path(&page.gold.id);
                    bar.suspend(|| output::note(&format!("{}: {error}", file.display())));
                }
            }
            Ok(_) => {
                if let Some((file, out)) = &mut out {
                    write(out, page, None).map_err(|source| EvalError::Write {
                        file: file.to_path_buf(),
                        source,
                    })?;
                }
            }
        }
        Ok(())
    });
    bar.finish_and_clear();
    let run = run.map_err(caller)?;
    finish(out)?;
    Ok(run)
}

fn finish(out: Option<(&PathBuf, BufWriter<File>)>) -> anyhow::Result<()> {
    if let Some((file, mut out)) = out {
        out.flush()
            .map_err(|e| anyhow::anyhow!("{}: {e}", file.display()))?;
    }
    Ok(())
}

/// Judges named fields; writes what was extracted from the pages judged, too, where that is asked for.
fn fields(
    sets: &[Set],
    choice: &PageFilter,
    extraction: &Extraction,
    config: &taojin_extract::template::Config,
    mut out: Option<(&PathBuf, BufWriter<File>)>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let rows = eval::evaluate_fields(sets, choice, extraction, config, |page, fields| {
        out.as_mut()
            .map_or(Ok(()), |(_, out)| write(out, page, Some(fields)))
    });
    let rows = rows.map_err(caller)?;
    finish(out)?;
    show(rows.as_slice(), eval::format_fields, json)
}

fn templates(
    sets: &[eval::Set],
    choice: &PageFilter,
    extraction: &Extraction,
    config: &taojin_extract::template::Config,
    args: &Args,
) -> anyhow::Result<ExitCode> {
    let bar = ProgressBar::new_spinner();
    let tick = |site: &str| {
        bar.set_message(site.to_owned());
        bar.tick();
    };
    if args.splits > 0 {
        let sites = eval::compare_splits(sets, choice, extraction, config, args.splits, tick);
        bar.finish_and_clear();
        return show(
            sites.map_err(caller)?.as_slice(),
            eval::format_splits,
            args.json,
        );
    }
    let sites = eval::compare_halves(sets, choice, extraction, config, tick);
    bar.finish_and_clear();
    show(
        sites.map_err(caller)?.as_slice(),
        eval::format_halves,
        args.json,
    )
}

/// Judges the blocks of the Markdown.
fn structure(
    sets: &[Set],
    choice: &PageFilter,
    extraction: &Extraction,
    pages: usize,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let bar = output::progress_bar(pages, "pages");
    let rows = eval::evaluate_structure(sets, choice, extraction, || bar.inc(1));
    bar.finish_and_clear();
    show(
        rows.map_err(caller)?.as_slice(),
        eval::format_structure,
        json,
    )
}

/// Compares with the extractors of the papers.
fn papers(
    sets: &[Set],
    choice: &PageFilter,
    extraction: &Extraction,
    args: &Args,
    pages: usize,
) -> anyhow::Result<ExitCode> {
    let PaperArgs { alpha, beta, .. } = args.papers;
    let bar = output::progress_bar(pages, "pages");
    let second_pass = SecondPass { alpha, beta };
    let report = eval::compare_papers(sets, choice, extraction, second_pass, || bar.inc(1));
    bar.finish_and_clear();
    show(&report.map_err(caller)?, eval::format_papers, args.json)
}

fn show<T: Serialize + ?Sized>(
    rows: &T,
    lines: impl FnOnce(&T) -> Vec<String>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    output::answer(json, &rows, |rows| {
        for line in lines(rows) {
            output::line(&output::printable(&line));
        }
    })
}

/// The weights that cross-validation judges with, if it is asked for.
fn unseen(args: &Args, sets: &[Set]) -> anyhow::Result<Option<Unseen>> {
    let parts = match args.unseen.folds.map(usize::from) {
        Some(count) => count,
        None if args.unseen.leave_one_set_out => sets.len(),
        None => return Ok(None),
    };
    let bar = output::progress_bar(parts, "parts learned");
    let tick = || bar.inc(1);
    let learned = if args.unseen.leave_one_set_out {
        let (all, _) = eval::choose(&args.dir, &PageFilter::default()).map_err(caller)?;
        Unseen::sets(&all, args.licensed, sets, tick)
    } else {
        Unseen::folds(sets, args.licensed, parts, args.unseen.seed, tick)
    };
    bar.finish_and_clear();
    learned.map_err(caller)?.ok_or_else(no_text).map(Some)
}

fn no_text() -> anyhow::Error {
    UsageError("no labelled page of enough sites has a text to learn from".to_owned()).into()
}

/// Writes what the pages teach; tells which sets are not what the weights that stood in the file were learned from.
fn learn(sets: &[Set], licensed: bool, file: &Path) -> anyhow::Result<ExitCode> {
    let before = read_weights(file).ok();
    File::options()
        .append(true)
        .create(true)
        .open(file)
        .named(file.display())?;
    let weights = eval::learn(sets, licensed).map_err(caller)?;
    let weights = weights.ok_or_else(no_text)?;
    for source in &weights.sources {
        let known = before.iter().flat_map(|b| &b.sources);
        let changed = known
            .into_iter()
            .find(|b| b.set == source.set && *b != source);
        if let Some(known) = changed {
            output::note(&format!(
                "{}: other pages than before: {} with hash {}, now {} with {}",
                source.set, known.pages, known.hash, source.pages, source.hash
            ));
        }
    }
    std::fs::write(file, weights.written())
        .map_err(|e| anyhow::anyhow!("{}: {e}", file.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// What the caller can mend exits with 2.
fn caller(error: EvalError) -> anyhow::Error {
    match error {
        EvalError::Write { .. } => error.into(),
        _ => UsageError(error.to_string()).into(),
    }
}

fn write(
    out: &mut impl Write,
    page: Extracted<'_>,
    fields: Option<&BTreeMap<String, Vec<String>>>,
) -> std::io::Result<()> {
    let Ok(document) = page.document else {
        return Ok(());
    };
    let prediction = Prediction {
        set: &page.set.name,
        id: &page.gold.id,
        title: document.title.as_deref(),
        published: document.published.as_deref(),
        author: document.author.as_deref(),
        text: &document.text,
        comments: &document.comments,
        fields,
    };
    serde_json::to_writer(&mut *out, &prediction)?;
    out.write_all(b"\n")
}
