//! A crawl that begins on a single machine, goes on in PostgreSQL and ends on a single machine again: `taojin cluster import`,
//! killed some times on its way, and `export`. Every article is a document once, and none is fetched again for a move.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use taojin_crawl::store::{Reader, StorePlace};
use taojin_demo::trial::TrialPlan;

use crate::nodes::cluster::fetched_again;
use crate::support::lots::Lots;
use crate::support::postgres::server;
use crate::support::trial::{Trial, indexed};

/// Imports that are killed.
const KILLS: usize = 4;
/// Hosts of the web, and so fetches that a stop may break off.
const HOSTS: u32 = 6;
const PATIENCE: Duration = Duration::from_secs(60);

/// A daemon, ended when it is dropped.
struct Daemon(Child);

impl Daemon {
    fn start(mut command: Command, log: &Path) -> Self {
        let log = File::create(log).expect("a log");
        command.stdout(Stdio::null()).stderr(log);
        Daemon(command.spawn().expect("taojin starts"))
    }

    /// As `systemctl stop` does.
    fn stop(mut self) {
        let id = self.0.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status();
        assert!(sent.expect("kill runs").success());
        assert!(self.0.wait().expect("its end").success());
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // An error means that it has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_for_documents(place: &StorePlace, wanted: i64) {
    let end = Instant::now() + PATIENCE;
    let documents = || {
        let reader = Reader::open(place).ok()?;
        Some(reader.counts().ok()?.total("documents"))
    };
    while documents().unwrap_or_default() < wanted {
        assert!(Instant::now() < end, "{:?} documents", documents());
        thread::sleep(Duration::from_millis(50));
    }
}

fn words(output: &Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn a_crawl_moves_into_the_database_and_out_again_and_nothing_is_lost_or_fetched_again() {
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
    let answer = |mut command: Command| command.output().expect("taojin runs");

    let log = trial.data_dir().with_file_name("log");
    let single = Daemon::start(trial.taojin(&["run"]), &log);
    wait_for_documents(&StorePlace::from(trial.data_dir().as_path()), all / 4);
    let refused = answer(on_database(&["cluster", "import"]));
    assert!(
        !refused.status.success() && words(&refused).contains("is in use by another taojin"),
        "{}",
        words(&refused)
    );
    single.stop();

    let made = answer(on_database(&["cluster", "init", "--json"]));
    assert_eq!(words(&made), "{\"changed\":true}\n");
    let mut lots = Lots(3);
    for _ in 0..KILLS {
        let import = Daemon::start(on_database(&["cluster", "import"]), &log);
        thread::sleep(Duration::from_millis(lots.below(120) as u64));
        drop(import);
    }
    // Killed before its transaction was over, or after it.
    let end = Instant::now() + PATIENCE;
    loop {
        let imported = answer(on_database(&["cluster", "import"]));
        if imported.status.success() || words(&imported).contains("addresses already") {
            break;
        }
        // The server may not have noticed yet that the last one is gone.
        assert!(
            words(&imported).contains("try again"),
            "{}",
            words(&imported)
        );
        assert!(Instant::now() < end, "{}", words(&imported));
        thread::sleep(Duration::from_millis(100));
    }
    let moved = trial.data_dir().join("crawl.sqlite");
    assert!(moved.exists(), "the file stays as it was");

    let node = Daemon::start(on_database(&["run"]), &log);
    let place = StorePlace::new(&trial.data_dir(), &url, None);
    wait_for_documents(&place, all / 2);
    let back = trial.data_dir().with_file_name("back");
    let folder = back.to_str().expect("UTF-8");
    let refused = answer(on_database(&["cluster", "export", folder]));
    assert!(
        words(&refused).contains("stop all nodes first"),
        "{}",
        words(&refused)
    );
    node.stop();
    let said = fs::read_to_string(&log).expect("a log");
    assert!(
        !said.contains("index is rebuilt"),
        "the index goes on: {said}"
    );
    let exported = answer(on_database(&["cluster", "export", folder]));
    assert!(exported.status.success(), "{}", words(&exported));

    let ended = answer(trial.taojin(&["crawl", "--data-dir", folder]));
    assert!(ended.status.success(), "{}", words(&ended));
    assert_complete(&trial, &back);
    let again = fetched_again(&trial.hits());
    // What a stop broke off, at one connection for each host.
    assert!(again <= 2 * HOSTS, "{again} were fetched again");
    crate::support::say(&format!(
        "{all} articles, {again} fetched again over two moves"
    ));
}

fn assert_complete(trial: &Trial, dir: &Path) {
    let found = indexed(dir).expect("the index can be read");
    let wrong: Vec<_> = trial
        .articles()
        .into_iter()
        .filter(|url| found.get(url) != Some(&1))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} lost or twice: {:?}",
        wrong.len(),
        wrong.first()
    );
}
