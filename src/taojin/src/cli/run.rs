//! `taojin run` and `taojin serve`: the daemon, and the HTTP API with the web page over an existing index.

use std::net::SocketAddr;
use std::process::ExitCode;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::context::{Context, UsageError, listen_address, runtime};
use super::output;
use crate::config::{ConfigError, LoadedConfig};
use crate::daemon::{self, Mode, Options, StatusBoard};
use crate::serve::{self, BindError};

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// Crawls, indexes and serves until SIGTERM or Ctrl-C; SIGHUP reads the configuration again: its sites and topics are
/// taken up at once, the rest after a restart.
pub(crate) fn run(context: &Context, _args: &Args) -> anyhow::Result<ExitCode> {
    let loaded = context.load_to_crawl()?;
    runtime()?.block_on(async {
        let listener = if loaded.config.cluster.serve {
            Some(serve::bind(loaded.config.serve.listen).await?)
        } else {
            None
        };
        let address = listener.as_ref().map(TcpListener::local_addr).transpose()?;
        introduce(context, &loaded, address);
        let (reload, changed) = mpsc::channel(1);
        let hangups = tokio::spawn(reload_on_hangup(context.clone(), reload));
        let options = Options {
            listener,
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

/// The first lines of the log: what runs here, by which files, and what to do next.
fn introduce(context: &Context, loaded: &LoadedConfig, address: Option<SocketAddr>) {
    tracing::info!("taojin {} starts", env!("CARGO_PKG_VERSION"));
    match &loaded.file {
        Some(file) => tracing::info!("configuration: {}", file.display()),
        None => tracing::info!("configuration: none found, all values are defaults"),
    }
    tracing::info!("data folder: {}", loaded.config.data_dir.display());
    match address {
        Some(address) => tracing::info!("web page: http://{address}/"),
        None => tracing::info!("this machine only crawls (cluster.serve = false): no web page"),
    }
    let enabled = loaded.sites.iter().filter(|s| s.enabled).count();
    let dir = loaded.config.sites_dir.display();
    match (loaded.sites.len(), enabled) {
        (0, _) => tracing::info!(
            "no site yet in {dir}: add one with `{}`, then `{}`: the daemon takes it up",
            context.command("site add URL"),
            reload_command()
        ),
        (all, 0) => tracing::info!("{all} sites in {dir}, none of them enabled"),
        (all, enabled) if enabled < all => {
            tracing::info!("{enabled} of {all} sites in {dir} are enabled");
        }
        (1, _) => tracing::info!("1 site in {dir}"),
        (all, _) => tracing::info!("{all} sites in {dir}"),
    }
}

/// How the daemon that this process is to be is told to read its configuration again.
fn reload_command() -> String {
    match std::env::var_os("INVOCATION_ID") {
        Some(_) => "systemctl reload taojin".to_owned(),
        None => format!("kill -HUP {}", std::process::id()),
    }
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

/// Reads the configuration again on each SIGHUP, with all the checks of a start; the daemon is told of mistakes too.
async fn reload_on_hangup(
    context: Context,
    reload: mpsc::Sender<Result<LoadedConfig, ConfigError>>,
) -> std::io::Result<()> {
    let mut hangup = signal(SignalKind::hangup())?;
    while hangup.recv().await.is_some() {
        if reload.send(context.load_to_crawl()).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Arguments of `serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Address and port; overrides serve.listen
    ///
    /// For example 127.0.0.1:8080; port 0 takes any that is free.
    #[arg(long, value_name = "ADDR", value_parser = listen_address)]
    listen: Option<SocketAddr>,
}

/// The socket at the address of `--listen` or, without it, of the configuration; a refusal names the one that counts.
pub(super) async fn bind(
    option: Option<SocketAddr>,
    setting: SocketAddr,
) -> anyhow::Result<TcpListener> {
    match (serve::bind(option.unwrap_or(setting)).await, option) {
        (Err(BindError::InUse(_)), Some(address)) => Err(UsageError(format!(
            "--listen {address}: in use by another program; take another port, or stop that program"
        ))
        .into()),
        (bound, _) => Ok(bound?),
    }
}

/// Serves until Ctrl-C or SIGTERM.
pub(crate) fn serve(context: &Context, args: &ServeArgs) -> anyhow::Result<ExitCode> {
    let mut loaded = context.load_with_secrets()?;
    if let Some(listen) = args.listen {
        loaded.config.serve.listen = listen;
    }
    let analyzer = loaded.analyzer()?;
    let _watch = daemon::LexiconWatch::start(&loaded, &analyzer)?;
    let state = daemon::serve_state_alone(&loaded, &analyzer, StatusBoard::new(&loaded, None))?;
    runtime()?.block_on(async {
        let listener = bind(args.listen, loaded.config.serve.listen).await?;
        output::note(&format!(
            "searching at http://{}/ - Ctrl-C ends",
            listener.local_addr()?
        ));
        serve::serve(listener, state, stop_signal()?).await?;
        Ok(ExitCode::SUCCESS)
    })
}
