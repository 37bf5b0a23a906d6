//! `taojin changes` and `taojin history`: the log of documents, for a person or for a program that keeps a copy: what changed
//! since then, and what one page said before.

use std::process::ExitCode;

use askama::Template;

use super::context::{Context, Named, bail_usage, for_shell};
use super::output::{self, Paint};
use crate::documents::StoreLog;
use crate::serve::{CHANGES_DEFAULT, CHANGES_MAX, ChangesAnswer, DocumentKey, HistoryAnswer};
use taojin_crawl::store::Cursor;
use taojin_uri::CrawlUri;

/// Arguments of `changes`.
#[derive(Debug, clap::Args)]
pub(crate) struct ChangesArgs {
    /// Only changes after this one
    ///
    /// 0 starts from the beginning. Otherwise give the `next` of an earlier answer, or the number of a change. A `next` of
    /// another store, or from before what the store still remembers, is refused: start over with 0 and an empty copy.
    #[arg(long, value_name = "N", default_value = "0")]
    since: Cursor,
    /// Most changes at once, 1 to 1000
    ///
    /// If there are more, the answer says so, and its `next` is the place to continue from.
    #[arg(long, default_value_t = CHANGES_DEFAULT)]
    limit: usize,
    /// With the whole document of each change
    ///
    /// Needs --json. Without it a change has the URL, what happened, and when.
    #[arg(long, requires = "json")]
    text: bool,
    /// One JSON object, as GET /api/changes answers
    ///
    /// Without it, one line is printed for each change, and the command that lists the next ones.
    #[arg(long)]
    json: bool,
}

/// Lists changes, beside a running daemon or without one.
pub(crate) fn changes(context: &Context, args: &ChangesArgs) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    if !(1..=CHANGES_MAX).contains(&args.limit) {
        bail_usage!("--limit: 1 to {CHANGES_MAX}");
    }
    let log = StoreLog::of_settings(&loaded);
    let answer = match log.changes(&args.since, args.limit, args.text)? {
        Ok(answer) => answer,
        Err(lost) => {
            let mend = "start over with --since 0 and an empty copy";
            bail_usage!("--since {}: {lost}; {mend}", args.since);
        }
    };
    if args.json {
        output::json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let c = Paint::new();
    let text = ChangesText { answer: &answer, c };
    output::text_in(text, |t| ChineseChangesText { t })?;
    let next = context.command(&format!("changes --since {}", answer.next));
    let (english, chinese) = match (answer.changes.len(), answer.more) {
        (0, _) => (
            format!("nothing changed; later: {next}"),
            format!("没有变更；以后执行：{next}"),
        ),
        (n, true) => (
            format!("{n} changes, and there are more: {next}"),
            format!("{n} 条变更，后面还有：{next}"),
        ),
        (n, false) => (
            format!("{n} changes; later: {next}"),
            format!("{n} 条变更；以后执行：{next}"),
        ),
    };
    output::note(&output::pick(english, chinese));
    Ok(ExitCode::SUCCESS)
}

/// Changes for a person, a line each.
#[derive(Template)]
#[template(path = "changes.txt")]
struct ChangesText<'a> {
    answer: &'a ChangesAnswer,
    c: Paint,
}

/// The same in Chinese.
#[derive(Template)]
#[template(path = "changes.zh.txt")]
struct ChineseChangesText<'a> {
    t: ChangesText<'a>,
}

/// Arguments of `history`.
#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    /// Address of the page
    ///
    /// Any URL of the document will do, also one that now redirects.
    #[arg(value_name = "URL")]
    url: String,
    /// One JSON object, as GET /api/history answers
    #[arg(long)]
    json: bool,
}

/// Shows the versions of the document at an address, the latest first.
pub(crate) fn history(context: &Context, args: &HistoryArgs) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let uri = CrawlUri::parse(&args.url).named(&args.url)?;
    let log = StoreLog::of_settings(&loaded);
    let Some(answer) = log.history(&DocumentKey::Url(uri.clone()))? else {
        let why = context.command(&format!("why {}", for_shell(uri.as_str())));
        anyhow::bail!(
            "{uri}: nothing is known of a document there; what is known of the page: {why}"
        );
    };
    let english = |answer| HistoryText {
        answer,
        asked: uri.as_str(),
        c: Paint::new(),
    };
    output::answer_both(args.json, &answer, english, |t| ChineseHistoryText { t })
}

/// The versions of a document for a person.
#[derive(Template)]
#[template(path = "history.txt")]
struct HistoryText<'a> {
    answer: &'a HistoryAnswer,
    asked: &'a str,
    c: Paint,
}

/// The same in Chinese.
#[derive(Template)]
#[template(path = "history.zh.txt")]
struct ChineseHistoryText<'a> {
    t: HistoryText<'a>,
}
