//! `taojin serve`: the HTTP API and the web page over an existing index.

use std::net::SocketAddr;
use std::process::ExitCode;

use tokio::net::TcpListener;

use super::context::{Context, Usage, runtime};
use super::output;
use crate::daemon::{self, StatusBoard};
use crate::serve::{self, BindError};

/// Arguments of `serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Address and port; overrides serve.listen
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
}

/// The socket at the address of `--listen` or, without it, of the configuration; a refusal names the one that counts.
pub(super) async fn bind(
    option: Option<SocketAddr>,
    setting: SocketAddr,
) -> anyhow::Result<TcpListener> {
    match (serve::bind(option.unwrap_or(setting)).await, option) {
        (Err(BindError::InUse(_)), Some(address)) => Err(Usage(format!(
            "--listen {address}: in use by another program; take another port, or stop that program"
        ))
        .into()),
        (bound, _) => Ok(bound?),
    }
}

/// Serves until Ctrl-C or SIGTERM.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let mut loaded = context.load_with_secrets()?;
    if let Some(listen) = args.listen {
        loaded.config.serve.listen = listen;
    }
    let analyzer = loaded.analyzer()?;
    let _watch = daemon::LexiconWatch::start(&loaded, &analyzer)?;
    let state = daemon::serve_state(&loaded, &analyzer, StatusBoard::of(&loaded, None))?;
    runtime()?.block_on(async {
        let listener = bind(args.listen, loaded.config.serve.listen).await?;
        output::note(&format!(
            "searching at http://{}/ - Ctrl-C ends",
            listener.local_addr()?
        ));
        serve::serve(listener, state, super::run::stop_signal()?).await?;
        Ok(ExitCode::SUCCESS)
    })
}
