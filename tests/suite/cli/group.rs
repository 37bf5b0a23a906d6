//! Members of the service's group read its data with the command line, whether its daemon runs, has ended or was killed; others
//! do not, and nobody of them writes. Needs root and setpriv, for users of its own; says so where it was skipped.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use super::SITE;
use crate::support::daemon::LISTEN;
use crate::support::folder::{Folder, Ran, RunExt as _, assert_has, fed, imported};
use crate::support::{say, wait_until};

/// User and group of the service, and somebody else; they need no names.
const SERVICE: &str = "61001";
const OTHER: &str = "61002";

/// The program as `user` runs it, with the umask of the unit.
fn taojin(folder: &Folder, user: &str, groups: &[&str], args: &[&str]) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid", user, "--regid", user])
        .args(groups)
        .args(["sh", "-c", "umask 0027; exec \"$@\"", "sh"])
        .arg(folder.file("taojin"))
        .arg("--config")
        .arg(folder.file("taojin.toml"))
        .args(args)
        .current_dir("/");
    command
}

fn member(folder: &Folder, args: &[&str]) -> Ran {
    taojin(folder, OTHER, &["--groups", SERVICE], args).ran()
}

fn finds(folder: &Folder, wanted: usize) {
    let found = member(folder, &["search", "--json", "页岩气"]).good().out;
    let hits = found.matches("http://a.example/").count();
    assert!(hits >= wanted, "{found}");
    for args in [
        &["status"][..],
        &["changes"],
        &["export"],
        &["history", "http://a.example/1"],
    ] {
        member(folder, args).good();
    }
}

/// A folder whose data folder belongs to the service; none where there can be no such users.
fn service_folder() -> Option<Folder> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let has_setpriv = Command::new("setpriv").arg("--version").output();
    if !is_root || has_setpriv.is_err() {
        say("skipped: without root and setpriv there are no other users");
        return None;
    }
    let folder = Folder::new(LISTEN, &[("x.toml", SITE)]);
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("chmod");
    // By a process of its own: what this one has open for writing, a child that another test starts right then has too, and a
    // program that is open for writing cannot be started.
    let copied = Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_taojin"))
        .arg(folder.file("taojin"))
        .status();
    assert!(copied.expect("cp").success());
    let data = folder.data_dir();
    fs::create_dir(&data).expect("data");
    fs::set_permissions(&data, Permissions::from_mode(0o750)).expect("chmod");
    let service: u32 = SERVICE.parse().expect("a number");
    chown(&data, Some(service), Some(service)).expect("chown");
    Some(folder)
}

#[test]
fn group_member_reads_only() {
    let Some(folder) = service_folder() else {
        return;
    };
    for n in 1..=2 {
        let url = format!("http://a.example/{n}");
        let document = imported(&url, "页岩气开发提速", "川南页岩气水平井产量创新高。");
        let mut import = taojin(&folder, SERVICE, &["--clear-groups"], &["import", "-"]);
        fed(&mut import, [document]).good();
    }
    check_rights(&folder.data_dir());
    finds(&folder, 2);

    let daemon = taojin(&folder, SERVICE, &["--clear-groups"], &["run"]).started();
    let socket = folder.data_dir().join("control.sock");
    wait_until("the daemon runs", || socket.exists());
    finds(&folder, 2);
    // Who may read may not change.
    assert_ne!(member(&folder, &["pause", "x"]).code, Some(0));
    drop(daemon);
    finds(&folder, 2);

    let stranger = taojin(&folder, OTHER, &["--clear-groups"], &["search", "页岩气"]).ran();
    assert!(stranger.code != Some(0) && stranger.out.is_empty());
    assert_has(&stranger.err, &["join its group"]);
}

/// Folders are open to the group for reading, files too, and nothing to anybody else.
fn check_rights(folder: &Path) {
    for entry in fs::read_dir(folder).expect("readable").flatten() {
        let meta = entry.metadata().expect("metadata");
        let wanted = if meta.is_dir() { 0o750 } else { 0o640 };
        assert_eq!(meta.mode() & 0o777, wanted, "{}", entry.path().display());
        if meta.is_dir() {
            check_rights(&entry.path());
        }
    }
}
