//! Commands about sites, carried out by the daemon that runs, or by this process if none does.

use crate::config::Loaded;
use crate::daemon::control::{self, Request};
use crate::daemon::{now_ms, open_store};
use crate::serve::{CommandDone, CommandRefused, SiteCommand, Why};

/// By the daemon, or by this process if none runs.
pub(crate) fn carry_out(loaded: &Loaded, command: SiteCommand) -> anyhow::Result<CommandDone> {
    let request = Request::Command(command.clone());
    let asked = control::ask(&loaded.config.data_dir, &request, |_| {});
    match asked.map_err(|e| reload_first(loaded, e))? {
        Some(answer) => Ok(answer.into_done()?),
        None => {
            let store = open_store(loaded)?;
            Ok(control::carry_out_alone(loaded, store, &command, now_ms())?)
        }
    }
}

/// A site that is configured and that the daemon does not know was added after its last reload.
pub(crate) fn reload_first(loaded: &Loaded, refused: CommandRefused) -> CommandRefused {
    let named = refused.message.split(": ").next().unwrap_or_default();
    if refused.why == Why::NoSuchSite && loaded.sites.iter().any(|s| s.name == named) {
        let message = format!(
            "{named}: the daemon has not read its file yet; first: systemctl reload taojin"
        );
        return CommandRefused { message, ..refused };
    }
    refused
}
