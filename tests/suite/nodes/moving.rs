//! A crawl that begins on a single machine, goes on in PostgreSQL and ends on a single machine again: `taojin cluster import`,
//! killed some times on its way, and `export`. Every article is a document once, and none is fetched again for a move.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use taojin_crawl::store::{Reader, StorePlace};
use taojin_demo::trial::TrialPlan;

use crate::support::folder::{Process, RunExt as _, assert_has, indexed};
use crate::support::lots::Lots;
use crate::support::postgres::server;
use crate::support::trial::{Trial, fetched_again};
use crate::support::{say, wait_until};

/// Imports that are killed.
const KILLS: usize = 4;
/// Hosts of the web, and so fetches that a stop may break off.
const HOSTS: u32 = 6;

/// A daemon, with a log of its own.
fn start(mut command: Command, log: &Path) -> Process {
    let log = File::create(log).expect("a log");
    Process::of(command.stdout(Stdio::null()).stderr(log))
}

fn wait_for_documents(place: &StorePlace, wanted: i64) {
    let documents = || {
        let reader = Reader::open(place).ok()?;
        Some(reader.counts().ok()?.total("documents"))
    };
    wait_until(&format!("{wanted} documents are stored"), || {
        documents() >= Some(wanted)
    });
}

#[test]
fn crawl_moves_to_postgres_and_back() {
    let Some(server) = server("a crawl that moves into PostgreSQL and out") else {
        return;
    };
    let plan = TrialPlan {
        seed: 29,
        hosts: HOSTS,
        articles: 60,
        slow_ms: 20,
        ..TrialPlan::default()
    };
    let trial = Trial::new(
        plan,
        "min_delay_ms = 60\nmax_delay_ms = 60\njitter = 0.0",
        "[serve]\nlisten = \"127.0.0.1:0\"\n",
    );
    let all = i64::try_from(trial.articles().len()).expect("few");
    let url = server.url();
    let on_database = |args: &[&str]| {
        let mut command = trial.taojin(args);
        command.env("TAOJIN_STORE_URL", &url);
        command
    };
    let ran = |args: &[&str]| on_database(args).ran();

    let log = trial.data_dir().with_file_name("log");
    let single = start(trial.taojin(&["run"]), &log);
    wait_for_documents(&StorePlace::from(trial.data_dir().as_path()), all / 4);
    let refused = ran(&["cluster", "import"]);
    assert_ne!(refused.code, Some(0));
    assert_has(&refused.err, &["is in use by another taojin"]);
    assert_eq!(single.stop(), Some(0));

    let made = ran(&["cluster", "init", "--json"]).good();
    assert_eq!(made.out, "{\"changed\":true}\n");
    let mut lots = Lots(3);
    for _ in 0..KILLS {
        let import = start(on_database(&["cluster", "import"]), &log);
        thread::sleep(Duration::from_millis(lots.below(120) as u64));
        drop(import);
    }
    // Killed before its transaction was over, or after it.
    wait_until("the last import is gone", || {
        let imported = ran(&["cluster", "import"]);
        if imported.code == Some(0) || imported.err.contains("addresses already") {
            return true;
        }
        // The server may not have noticed yet.
        assert_has(&imported.err, &["try again"]);
        false
    });
    let moved = trial.data_dir().join("crawl.sqlite");
    assert!(moved.exists(), "the file stays as it was");

    let node = start(on_database(&["run"]), &log);
    let place = StorePlace::new(&trial.data_dir(), &url, None);
    wait_for_documents(&place, all / 2);
    let back = trial.data_dir().with_file_name("back");
    let folder = back.to_str().expect("UTF-8");
    let refused = ran(&["cluster", "export", folder]);
    assert_has(&refused.err, &["stop all nodes first"]);
    assert_eq!(node.stop(), Some(0));
    let said = fs::read_to_string(&log).expect("a log");
    assert!(
        !said.contains("index is rebuilt"),
        "the index goes on: {said}"
    );
    ran(&["cluster", "export", folder]).good();

    trial.done(&["crawl", "--data-dir", folder]);
    let missing = trial.missing(&indexed(&*back).expect("the index can be read"));
    assert!(missing.is_empty(), "lost or twice: {missing:?}");
    let again = fetched_again(&trial.hits());
    // What a stop broke off, at one connection for each host.
    assert!(again <= 2 * HOSTS, "{again} were fetched again");
    say(&format!(
        "{all} articles, {again} fetched again over two moves"
    ));
}
