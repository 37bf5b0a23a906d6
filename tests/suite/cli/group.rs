//! Members of the service's group read its data with the command line, whether its daemon runs, has ended or was killed; others
//! do not, and nobody of them writes. Needs root and setpriv, for users of its own; says so where it was skipped.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::{Place, SITE, text};

/// User and group of the service, and somebody else; they need no names.
const SERVICE: &str = "61001";
const OTHER: &str = "61002";
const LONGEST: Duration = Duration::from_secs(30);

/// The program as `user` runs it, with the umask of the unit.
fn taojin(place: &Place, user: &str, groups: &[&str], args: &[&str]) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid", user, "--regid", user])
        .args(groups)
        .args(["sh", "-c", "umask 0027; exec \"$@\"", "sh"])
        .arg(place.path().join("taojin"))
        .arg("--config")
        .arg(place.path().join("taojin.toml"))
        .args(args)
        .current_dir("/");
    command
}

fn member(place: &Place, args: &[&str]) -> Output {
    let mut command = taojin(place, OTHER, &["--groups", SERVICE], args);
    command.output().expect("setpriv runs")
}

fn import(place: &Place, url: &str) {
    let mut child = taojin(place, SERVICE, &["--clear-groups"], &["import", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("setpriv runs");
    let document = format!(
        r#"{{"url":"{url}","title":"页岩气开发提速","text":"川南页岩气水平井产量创新高。","kind":"article"}}"#
    );
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(document.as_bytes()).expect("written");
    drop(stdin);
    assert!(child.wait().expect("ended").success());
}

fn finds(place: &Place, wanted: usize) {
    let found = member(place, &["search", "--json", "页岩气"]);
    let hits = text(&found).matches("http://a.example/").count();
    assert!(found.status.success() && hits >= wanted, "{found:?}");
    for args in [
        &["status"][..],
        &["changes"],
        &["export"],
        &["history", "http://a.example/1"],
    ] {
        let read = member(place, args);
        assert!(read.status.success(), "{args:?}: {read:?}");
    }
}

/// A place whose data folder belongs to the service; none where there can be no such users.
fn place() -> Option<Place> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let has_setpriv = Command::new("setpriv").arg("--version").output();
    if !is_root || has_setpriv.is_err() {
        crate::support::say("skipped: without root and setpriv there are no other users");
        return None;
    }
    let place = Place::new("[serve]\nlisten = \"127.0.0.1:0\"\n", &[("x.toml", SITE)]);
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).expect("chmod");
    fs::copy(env!("CARGO_BIN_EXE_taojin"), place.path().join("taojin")).expect("copied");
    let data = place.path().join("data");
    fs::create_dir(&data).expect("data");
    fs::set_permissions(&data, Permissions::from_mode(0o750)).expect("chmod");
    let service: u32 = SERVICE.parse().expect("a number");
    chown(&data, Some(service), Some(service)).expect("chown");
    Some(place)
}

struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        // Gone already where the test killed it.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_member_of_the_group_reads_and_nobody_else() {
    let Some(place) = place() else { return };
    import(&place, "http://a.example/1");
    import(&place, "http://a.example/2");
    check_rights(&place.path().join("data"));
    finds(&place, 2);

    let mut command = taojin(&place, SERVICE, &["--clear-groups"], &["run"]);
    let mut daemon = Daemon(command.stderr(Stdio::null()).spawn().expect("setpriv runs"));
    let socket = place.path().join("data/control.sock");
    let begun = Instant::now();
    while !socket.exists() && begun.elapsed() < LONGEST {
        std::thread::sleep(Duration::from_millis(20));
    }
    finds(&place, 2);
    let refused = member(&place, &["pause", "x"]);
    assert!(
        !refused.status.success(),
        "who may read may not change: {refused:?}"
    );
    daemon.0.kill().expect("killed");
    daemon.0.wait().expect("ended");
    finds(&place, 2);

    let stranger = taojin(&place, OTHER, &["--clear-groups"], &["search", "页岩气"]);
    let stranger = { stranger }.output().expect("setpriv runs");
    let said = String::from_utf8_lossy(&stranger.stderr).into_owned();
    assert!(
        !stranger.status.success() && stranger.stdout.is_empty(),
        "{said}"
    );
    assert!(said.contains("join its group"), "{said}");
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
