//! `taojin run`: the daemon.

use std::path::Path;
use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::{Context, runtime};
use crate::config;
use crate::daemon::{self, Mode, Options};
use crate::schedule::Site;
use crate::serve;

/// Crawls, indexes and serves until SIGTERM or Ctrl-C; SIGHUP reads the sites again.
pub(crate) fn run(context: &Context) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    runtime()?.block_on(async {
        let listener = serve::bind(loaded.config.serve.listen).await?;
        let (reload, sites) = mpsc::channel(1);
        let hangups = tokio::spawn(reload_on_hangup(loaded.config.sites_dir.clone(), reload));
        let options = Options {
            listener: Some(listener),
            reload: Some(sites),
            ..Options::quiet(Mode::Forever)
        };
        let done = daemon::run(&loaded, options, stop_signal()?).await;
        hangups.abort();
        let summary = done?;
        tracing::info!(
            visits = summary.visits,
            new = summary.documents_new,
            "stopped"
        );
        Ok(ExitCode::SUCCESS)
    })
}

/// Ends with the first SIGTERM or SIGINT.
pub(super) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Reads the sites again on each SIGHUP. A mistake in a file is logged and the sites stay as they were.
async fn reload_on_hangup(
    dir: std::path::PathBuf,
    reload: mpsc::Sender<Vec<Site>>,
) -> std::io::Result<()> {
    let mut hangup = signal(SignalKind::hangup())?;
    while hangup.recv().await.is_some() {
        match sites(&dir) {
            Ok(sites) => {
                tracing::info!(sites = sites.len(), "sites read again");
                if reload.send(sites).await.is_err() {
                    break;
                }
            }
            Err(error) => tracing::error!(%error, "sites stay as they were"),
        }
    }
    Ok(())
}

fn sites(dir: &Path) -> Result<Vec<Site>, config::ConfigError> {
    config::read_sites(dir)
}
