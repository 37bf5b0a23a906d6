//! Suites that others wrote, run as data. `TAOJIN_SUITES` names the folder that holds them (`html5lib-tree`,
//! `encoding`: see CONTRIBUTING.md); the repository has none of them, and without the variable only our own cases of
//! the same form run, those of `tests/trees`.

mod browser;
mod dat;
mod encoding;
mod outline;
mod tree;

use std::path::{Path, PathBuf};

use crate::support::say;

/// The folder of a suite, or `None` with a line that says why it is not run.
pub(crate) fn suite(name: &str) -> Option<PathBuf> {
    let skip = |why: &str| say(&format!("{name} is skipped: {why}"));
    let Some(folder) = std::env::var_os("TAOJIN_SUITES") else {
        skip("TAOJIN_SUITES is not set (see CONTRIBUTING.md)");
        return None;
    };
    let folder = Path::new(&folder).join(name);
    if !folder.is_dir() {
        skip(&format!("{} is no folder", folder.display()));
        return None;
    }
    Some(folder)
}
