//! `taojin status`: what the crawler has and does, alongside a running daemon or without one.

use std::process::ExitCode;

use askama::Template;

use super::context::{Context, bail_usage};
use super::output;
use crate::config::{ConfigError, ConfigProblem, LoadedConfig};
use crate::daemon::StatusBoard;
use crate::daemon::control::{self, Response};
use crate::serve::{Activity, Command, Health, HostStatus, Status, health_in, show_bytes};
use taojin_search::index::IndexError;

/// Arguments of `status`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// One JSON object, as GET /api/status answers
    ///
    /// Asked of the running daemon, or read from the data folder if none runs.
    #[arg(long)]
    json: bool,
}

/// Prints the status.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    // What is wrong with a site must not hide the others.
    let (loaded, problems) = context.read();
    let is_of_site = |problem: &ConfigProblem| {
        let file = problem.file.as_deref();
        file.is_some_and(|file| file.starts_with(&loaded.config.sites_dir))
    };
    let (of_sites, others): (Vec<_>, Vec<_>) = problems.into_iter().partition(is_of_site);
    ConfigError::check(&others)?;
    for problem in &of_sites {
        output::error(&problem.to_string());
    }
    let dir = loaded.config.data_dir.display();
    match std::fs::metadata(&loaded.config.data_dir) {
        Ok(data) if data.is_dir() => {}
        Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
            bail_usage!("data_dir {dir}: {e}");
        }
        _ => {
            let next = "nothing was crawled yet; do that with `taojin crawl`, or look at `taojin demo` first";
            bail_usage!("data_dir {dir}: there is no such folder; {next}");
        }
    }
    let serves = loaded.config.cluster.serve;
    let documents = serves.then(|| searchable(&loaded)).transpose()?;
    let response = control::send_command(&loaded.config.data_dir, &Command::Status, |_| {});
    let told = match response {
        Ok(Some(Response::Status(status))) => Some(status),
        // Of another version, or none; what is in the directory is told without it.
        Ok(_) => None,
        Err(error) => {
            output::note(&error.to_string());
            None
        }
    };
    let status = match told {
        Some(status) => Status {
            documents: documents.unwrap_or(status.documents),
            ..*status
        },
        None => StatusBoard::new(&loaded, None).read(documents.unwrap_or_default())?,
    };
    let health = health_in(&output::language(), &status);
    let english = |s| StatusText { health, s };
    let code = output::answer_both(args.json, &status, english, |StatusText { health, s }| {
        let mut hosts = s.hosts.clone();
        hosts.iter_mut().for_each(HostStatus::speak_chinese);
        ChineseStatusText { health, s, hosts }
    })?;
    Ok(if of_sites.is_empty() {
        code
    } else {
        ExitCode::FAILURE
    })
}

/// How many documents the index of this machine finds.
fn searchable(loaded: &LoadedConfig) -> anyhow::Result<u64> {
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

/// The same in Chinese.
#[derive(Template)]
#[template(path = "status.zh.txt")]
struct ChineseStatusText<'a> {
    health: Health,
    s: &'a Status,
    hosts: Vec<HostStatus>,
}

/// The status for a person.
#[derive(Template)]
#[template(path = "status.txt")]
struct StatusText<'a> {
    health: Health,
    s: &'a Status,
}
