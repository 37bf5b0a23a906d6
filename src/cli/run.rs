//! `taojin run`: the daemon.

use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::{Context, runtime};
use crate::config::Loaded;
use crate::daemon::{self, Mode, Options};
use crate::serve;

/// Crawls, indexes and serves until SIGTERM or Ctrl-C; SIGHUP reads the configuration again: its sites and topics are
/// taken up at once, the rest after a restart.
pub(crate) fn run(context: &Context) -> anyhow::Result<ExitCode> {
    let loaded = context.load()?;
    runtime()?.block_on(async {
        let listener = serve::bind(loaded.config.serve.listen).await?;
        let (reload, changed) = mpsc::channel(1);
        let hangups = tokio::spawn(reload_on_hangup(context.clone(), reload));
        let options = Options {
            listener: Some(listener),
            reload: Some(changed),
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

/// Reads the configuration again on each SIGHUP. A mistake in a file is logged and everything stays as it was.
async fn reload_on_hangup(context: Context, reload: mpsc::Sender<Loaded>) -> std::io::Result<()> {
    let mut hangup = signal(SignalKind::hangup())?;
    while hangup.recv().await.is_some() {
        match context.load() {
            Ok(loaded) => {
                let (sites, topics) = (loaded.sites.len(), loaded.config.follow.len());
                tracing::info!(sites, topics, "configuration read again");
                if reload.send(loaded).await.is_err() {
                    break;
                }
            }
            Err(error) => tracing::error!(%error, "sites and topics stay as they were"),
        }
    }
    Ok(())
}
