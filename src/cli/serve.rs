//! `taojin serve`: the HTTP API and the web page over an existing index.

use std::net::SocketAddr;
use std::process::ExitCode;

use super::{Context, output, runtime};
use crate::analyze::Analyzer;
use crate::daemon::{self, StatusBoard};
use crate::serve;

/// Arguments of `serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Address and port; overrides serve.listen
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
}

/// Serves until Ctrl-C or SIGTERM.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let mut loaded = context.load()?;
    if let Some(listen) = args.listen {
        loaded.config.serve.listen = listen;
    }
    let analyzer = Analyzer::new(&loaded.lexicons()?);
    let _watch = daemon::LexiconWatch::start(&loaded, &analyzer)?;
    let state = daemon::serve_state(&loaded, &analyzer, StatusBoard::of(&loaded, None))?;
    runtime()?.block_on(async {
        let listener = serve::bind(loaded.config.serve.listen).await?;
        output::note(&format!(
            "searching at http://{}/ - Ctrl-C ends",
            listener.local_addr()?
        ));
        serve::serve(listener, state, super::run::stop_signal()?).await?;
        Ok(ExitCode::SUCCESS)
    })
}
