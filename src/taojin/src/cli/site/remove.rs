//! `taojin site remove`: the file of a site, and with `--forget` all that was crawled of it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::carry_out::carry_out;
use crate::cli::context::Usage;
use crate::cli::control;
use crate::cli::output;
use crate::config::{self, Loaded};
use crate::serve::{CommandRefused, SiteCommand, Why};

pub(super) fn remove(loaded: &Loaded, name: &str, forget: bool) -> anyhow::Result<()> {
    let path = file_of(&loaded.config.sites_dir, name)?;
    if let (None, false) = (&path, forget) {
        let names: Vec<&str> = loaded.sites.iter().map(|s| s.name.as_str()).collect();
        let near = config::did_you_mean(name, &names);
        return Err(Usage(format!("{name}: no site has this name{near}")).into());
    }
    let had_file = path.is_some();
    if let Some(path) = path {
        fs::remove_file(&path).map_err(|e| Usage(format!("{}: {e}", path.display())))?;
        output::line(&format!("{} removed", path.display()));
    }
    if forget {
        let mut without = loaded.clone();
        without.sites.retain(|site| site.name != name);
        let site = name.to_owned();
        let forgotten = carry_out(&without, SiteCommand::Forget { site });
        match forgotten {
            Ok(done) => control::purged(&done),
            Err(error) if had_file && is_unknown(&error) => {
                output::line(&format!("{name}: nothing of it was crawled"));
            }
            Err(error) => return Err(error),
        }
    } else {
        output::note("a running daemon crawls it until: systemctl reload taojin");
    }
    Ok(())
}

/// Whether neither store nor index knows the site.
fn is_unknown(error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<CommandRefused>();
    refused.is_some_and(|e| e.why == Why::NoSuchSite)
}

/// The file that defines the site `name`; one that cannot be read counts by its own name.
fn file_of(dir: &Path, name: &str) -> anyhow::Result<Option<PathBuf>> {
    let defines = |path: &PathBuf| match config::read_site(path) {
        (Some(site), _) => site.name == name,
        (None, _) => path.file_stem().is_some_and(|stem| stem == name),
    };
    Ok(config::site_files(dir)?.into_iter().find(defines))
}
