//! `taojin changes`: what changed in the store since then, for a person or for a program that keeps a copy.

use std::process::ExitCode;

use super::context::{Context, Usage};
use super::output::{self, Paint, printable, time};
use crate::documents::StoreLog;
use crate::serve::{CHANGES_DEFAULT, CHANGES_MAX, ChangeAnswer, ChangesAnswer};
use taojin_crawl::store::Cursor;

/// Arguments of `changes`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
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
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
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
