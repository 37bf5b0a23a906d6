//! `taojin status`: what the crawler has and does, beside a running daemon or without one.

use std::process::ExitCode;

use super::context::{Context, Usage};
use super::output::{self, time};
use crate::config::Loaded;
use crate::daemon::StatusBoard;
use crate::daemon::control::{self, Answer, Request};
use crate::serve::{Activity, SiteStatus, Status};
use taojin_search::index::IndexError;

/// Documents that the index could not take which are printed; `--json` has more.
const LEFT_OUT_SHOWN: usize = 5;

/// Arguments of `status`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// One JSON object, as GET /api/status answers
    #[arg(long)]
    json: bool,
}

/// Prints the status.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    let dir = loaded.config.data_dir.display();
    match std::fs::metadata(&loaded.config.data_dir) {
        Ok(data) if data.is_dir() => {}
        Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
            return Err(Usage(format!("data_dir {dir}: {e}")).into());
        }
        _ => {
            let next = "nothing was crawled yet; do that with `taojin crawl`, or look at `taojin demo` first";
            return Err(Usage(format!("data_dir {dir}: there is no such folder; {next}")).into());
        }
    }
    let serves = loaded.config.cluster.serve;
    let documents = serves.then(|| searchable(&loaded)).transpose()?;
    let asked = control::ask(&loaded.config.data_dir, &Request::Status, |_| {});
    let told = match asked {
        Ok(Some(Answer::Status(status))) => Some(status),
        // Of another version, or none; what stands in the folder is told without it.
        Ok(_) => None,
        Err(refused) => {
            output::note(&refused.message);
            None
        }
    };
    let status = match told {
        Some(status) => Status {
            documents: documents.unwrap_or(status.documents),
            ..*status
        },
        None => StatusBoard::of(&loaded, None).read(documents.unwrap_or_default())?,
    };
    output::answer(args.json, &status, print)
}

/// How many documents the index of this machine finds.
fn searchable(loaded: &Loaded) -> anyhow::Result<u64> {
    let counted = super::search::open(loaded).and_then(|reader| Ok(reader.num_docs()?));
    counted.or_else(|error| match error.downcast_ref() {
        Some(IndexError::Missing(_)) => Ok(0),
        // The rest of the status tells more than an error would.
        Some(IndexError::Remote { .. } | IndexError::RemoteMissing(_)) => {
            output::error(&format!("{error:#}"));
            Ok(0)
        }
        _ => Err(error),
    })
}

fn print(status: &Status) {
    let mb = |bytes: u64| bytes as f64 / 1e6;
    let daemon = match status.pid {
        None => "none runs".to_owned(),
        Some(pid) => {
            let does = match status.activity {
                Activity::Running => "running",
                Activity::Paused => "paused",
                Activity::Stopping => "stopping",
                Activity::ReadOnly => "reading only",
            };
            format!("{does}, pid {pid}, since {}", time(Some(status.started_ms)))
        }
    };
    output::line(&format!("daemon     {daemon}"));
    output::line(&format!(
        "documents  {} ({} on their way)",
        status.documents, status.outbox_lag
    ));
    if !status.note.is_empty() {
        output::line(&format!("note       {}", output::printable(&status.note)));
    }
    print_left_out(status);
    let u = &status.urls;
    output::line(&format!(
        "urls       {} waiting, {} fetched, {} refused, {} failed, {} gone",
        u.waiting, u.fetched, u.refused, u.failed, u.gone
    ));
    output::line(&format!(
        "disk       index {:.1} MB, store {:.1} MB, free {:.1} GB",
        mb(status.disk.index_bytes),
        mb(status.disk.store_bytes),
        mb(status.disk.free_bytes) / 1e3
    ));
    if let Some(terms) = &status.terms {
        output::line(&format!(
            "terms      {} to decide, {} accepted, {} rejected, last search {}",
            terms.proposed,
            terms.accepted,
            terms.rejected,
            time(terms.looked_ms)
        ));
    }
    status.sites.iter().for_each(print_site);
    for follow in &status.follows {
        output::line(&format!(
            "follow     {}: {} hits delivered, {} pending, {} given up, last delivery {}",
            follow.name,
            follow.told,
            follow.waiting,
            follow.given_up,
            time(follow.told_ms)
        ));
        if let Some(error) = &follow.last_error {
            output::line(&format!(
                "           last error: {}, next try {}",
                output::printable(error),
                time(follow.next_ms)
            ));
        }
    }
    for host in &status.hosts {
        let error = host
            .last_error
            .as_deref()
            .map(|error| format!(", {}", output::printable(error)))
            .unwrap_or_default();
        output::line(&format!(
            "host       {}: {}, next fetch {}{error}",
            host.host,
            host.state,
            time(host.next_fetch_ms)
        ));
    }
}

fn print_left_out(status: &Status) {
    if status.left_out.count > 0 {
        output::line(&format!(
            "left out   {} documents that the index could not take; they are tried again after an upgrade and by `taojin reindex`",
            status.left_out.count
        ));
    }
    for left in status.left_out.documents.iter().take(LEFT_OUT_SHOWN) {
        let (url, reason) = (
            output::printable(&left.url),
            output::printable(&left.reason),
        );
        output::line(&format!("           {url}: {reason}"));
    }
}

fn print_site(site: &SiteStatus) {
    output::line(&format!(
        "site       {}: {} documents, {} urls waiting, last cycle {}, next {}",
        called(site),
        site.documents,
        site.urls.waiting,
        time(site.last_cycle_ms),
        time(site.next_cycle_ms)
    ));
    if site.paused_ms.is_some() {
        output::line(&format!(
            "           paused by the operator since {}; to resume: taojin resume {}",
            time(site.paused_ms),
            site.name
        ));
    }
    if site.queues > 1 {
        output::line(&format!(
            "           each host has {} queues: so many of its pages at once",
            site.queues
        ));
    }
    let verdict = &site.verdict;
    output::line(&format!(
        "           {}: {}",
        verdict.level.name(),
        output::printable(&verdict.text)
    ));
    let cycle = &site.cycle;
    if cycle.visits > 0 {
        output::line(&format!(
            "           last cycle: {} visits, {} new documents, {} wasted, {} not modified, {} failed{}",
            cycle.visits,
            cycle.new_documents,
            cycle.wasted,
            cycle.not_modified,
            site.errors,
            found(site)
        ));
    }
    let t = &site.templates;
    if t.used + t.waiting > 0 {
        output::line(&format!(
            "           templates: {} in use, learned from {} articles; {} more fit none and wait to be learned from",
            t.used, t.learned, t.waiting
        ));
        output::line(&format!(
            "           fetches of articles: {} read with a template, {} without (those learned from among them)",
            t.matched, t.unmatched
        ));
    }
    if let Some(note) = &t.note {
        output::line(&format!(
            "           templates: {} ({})",
            output::printable(note),
            time(t.note_ms)
        ));
    }
    if let Some(error) = &site.last_error {
        output::line(&format!(
            "           last error: {}",
            output::printable(error)
        ));
    }
}

/// How complete and how fresh the documents of a site are; nothing where no page ever came.
fn found(site: &SiteStatus) -> String {
    if site.urls.fetched == 0 {
        return String::new();
    }
    let percent = site.recall_estimate * 100.0;
    let age = site.mean_age_ms.map_or_else(String::new, |ms| {
        let hours = ms as f64 / 3.6e6;
        format!(", documents looked at {hours:.1} h ago on average")
    });
    let unconfirmed = match site.unconfirmed {
        0 => String::new(),
        n => format!(", {n} not confirmed by the last visit"),
    };
    format!("; about {percent:.1} % of the articles found{age}{unconfirmed}")
}

/// The name of a site, and what readers call it.
fn called(site: &SiteStatus) -> String {
    match site.title.is_empty() {
        true => site.name.clone(),
        false => format!("{} ({})", site.name, output::printable(&site.title)),
    }
}
