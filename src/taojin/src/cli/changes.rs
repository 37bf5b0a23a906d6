//! `taojin changes` and `taojin history`: the log of documents, for a person or for a program that keeps a copy: what changed
//! since then, and what one page said before.

use std::process::ExitCode;

use super::context::{Context, Usage, for_shell};
use super::output::{self, Paint, printable, time};
use crate::documents::StoreLog;
use crate::serve::{
    CHANGES_DEFAULT, CHANGES_MAX, ChangeAnswer, ChangesAnswer, DiffLine, DiffPart, DocumentKey,
    HistoryAnswer, VersionAnswer,
};
use taojin_crawl::store::Cursor;
use taojin_uri::CrawlUri;

/// Arguments of `changes`.
#[derive(Debug, clap::Args)]
pub(crate) struct ChangesArgs {
    /// Changes after this one: 0, the `next` of an earlier answer, or a number
    #[arg(long, value_name = "N", default_value = "0")]
    since: Cursor,
    /// Most changes at once, 1 to 1000
    #[arg(long, default_value_t = CHANGES_DEFAULT)]
    limit: usize,
    /// With the whole document of each change (only with --json)
    #[arg(long, requires = "json")]
    text: bool,
    /// One JSON object, as GET /api/changes answers
    #[arg(long)]
    json: bool,
}

/// Lists changes, beside a running daemon or without one.
pub(crate) fn changes(context: &Context, args: &ChangesArgs) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    if !(1..=CHANGES_MAX).contains(&args.limit) {
        return Err(Usage(format!("--limit: 1 to {CHANGES_MAX}")).into());
    }
    let log = StoreLog::of_settings(&loaded);
    let answer = match log.changes(&args.since, args.limit, args.text)? {
        Ok(answer) => answer,
        Err(lost) => {
            let mend = "start over with --since 0 and an empty copy";
            return Err(Usage(format!("--since {}: {lost}; {mend}", args.since)).into());
        }
    };
    output::answer(args.json, &answer, |answer| print(context, answer))
}

fn print(context: &Context, answer: &ChangesAnswer) {
    let paint = Paint::new();
    for change in &answer.changes {
        output::line(&line(change, &paint));
    }
    let next = context.command(&format!("changes --since {}", answer.next));
    match (answer.changes.len(), answer.more) {
        (0, _) => output::note(&format!("nothing changed; later: {next}")),
        (n, true) => output::note(&format!("{n} changes, and there are more: {next}")),
        (n, false) => output::note(&format!("{n} changes; later: {next}")),
    }
}

fn line(change: &ChangeAnswer, paint: &Paint) -> String {
    let title = change.title.as_deref().map(printable).unwrap_or_default();
    let damaged = change.unreadable.as_deref().unwrap_or_default();
    let what = format!("{:<7}", change.change);
    let said = format!(
        "{}  {what}  v{:<3} {title}{damaged}",
        time(Some(change.changed_ms)),
        change.version
    );
    let gap = if title.is_empty() && damaged.is_empty() {
        ""
    } else {
        "  "
    };
    format!("{said}{gap}{}", paint.dim(&printable(&change.url)))
}

/// Arguments of `history`.
#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    /// Address of the page
    #[arg(value_name = "URL")]
    url: String,
    /// One JSON object, as GET /api/history answers
    #[arg(long)]
    json: bool,
}

/// Shows the versions of the document at an address, the latest first.
pub(crate) fn history(context: &Context, args: &HistoryArgs) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let uri = CrawlUri::parse(&args.url).map_err(|e| Usage(format!("{}: {e}", args.url)))?;
    let log = StoreLog::of_settings(&loaded);
    let Some(answer) = log.history(&DocumentKey::Url(uri.clone()))? else {
        let why = context.command(&format!("why {}", for_shell(uri.as_str())));
        anyhow::bail!(
            "{uri}: nothing is known of a document there; what is known of the page: {why}"
        );
    };
    output::answer(args.json, &answer, |answer| {
        print_history(answer, uri.as_str())
    })
}

fn print_history(answer: &HistoryAnswer, asked: &str) {
    let paint = Paint::new();
    output::line(&paint.bold(&printable(&answer.url)));
    if answer.url != asked {
        output::line(&format!(
            "the document of {asked} stands under this address"
        ));
    }
    let when = answer.gone_ms.map(|ms| time(Some(ms)));
    match (answer.state.as_str(), when) {
        ("taken_down", when) => {
            let when = when.map_or(String::new(), |when| format!(" on {when}"));
            output::line(&format!(
                "taken down by the operator{when}; nothing of it is kept"
            ));
        }
        ("gone", Some(when)) => output::line(&format!("gone since {when}; what it said before:")),
        ("gone", None) => output::line("gone; what it said before:"),
        _ => {}
    }
    for version in &answer.versions {
        output::line("");
        print_version(version, &paint);
    }
    if answer.left_out > 0 {
        output::line(&format!(
            "\n{} older versions are not shown",
            answer.left_out
        ));
    }
}

fn print_version(version: &VersionAnswer, paint: &Paint) {
    let title = version.title.as_deref().map(printable).unwrap_or_default();
    let head = format!(
        "version {}  {}  {}  {title}",
        version.version,
        time(Some(version.changed_ms)),
        version.change
    );
    output::line(&paint.bold(head.trim_end()));
    if let Some(damaged) = &version.unreadable {
        output::line(&format!("  {damaged}"));
    }
    let Some(before) = version.compared_with else {
        if version.change != "deleted" && version.unreadable.is_none() {
            let of = if version.version == 1 {
                ""
            } else {
                ", the oldest that is kept"
            };
            output::line(&format!("  {} characters{of}", version.characters));
        }
        return;
    };
    for field in &version.fields {
        let was = field
            .before
            .as_deref()
            .map(|text| paint.removed(&printable(text)));
        let is = field
            .after
            .as_deref()
            .map(|text| paint.added(&printable(text)));
        let both: Vec<String> = was.into_iter().chain(is).collect();
        output::line(&format!("  {}: {}", field.field, both.join(" ")));
    }
    for line in &version.diff {
        output::line(&shown(line, paint));
    }
    if version.diff_cut {
        output::line("  … the rest of the difference is not shown");
    } else if version.diff.is_empty() {
        let nothing = match version.fields.is_empty() {
            true => format!("nothing but the page around it differs from version {before}"),
            false => format!("the text is that of version {before}"),
        };
        output::line(&paint.dim(&format!("  {nothing}")));
    }
}

fn shown(line: &DiffLine, paint: &Paint) -> String {
    if let Some(lines) = line.lines {
        return paint.dim(&format!("  … {lines} lines are the same"));
    }
    let whole = || -> String {
        line.parts
            .iter()
            .map(|part| printable(&part.text))
            .collect()
    };
    match line.line.as_str() {
        "added" => format!("+ {}", paint.green(&whole())),
        "removed" => format!("- {}", paint.red(&whole())),
        "changed" => {
            let parts = line.parts.iter().map(|part| shown_part(part, paint));
            format!("~ {}", parts.collect::<String>())
        }
        _ => format!("  {}", whole()),
    }
}

fn shown_part(part: &DiffPart, paint: &Paint) -> String {
    let text = printable(&part.text);
    match part.part.as_str() {
        "added" => paint.added(&text),
        "removed" => paint.removed(&text),
        _ => text,
    }
}
