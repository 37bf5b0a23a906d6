//! A worker that ends before its time ends the daemon, by name, with everything else closed as at any stop.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::task::JoinSet;

use crate::config::{self, LoadedConfig};
use crate::daemon::crawl::visit::visitor::ROBOTS_FILE;
use crate::daemon::reloading::Current;
use crate::daemon::watchdog::watch_over;
use crate::daemon::{Clock, Crawl, Mode, Shared, open_store};

fn loaded(dir: &Path) -> LoadedConfig {
    let file = dir.join("taojin.toml");
    let data = dir.join("data");
    let text = format!("data_dir = {data:?}\n[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n");
    fs::write(&file, text).unwrap();
    config::load(Some(&file), None).unwrap()
}

fn panicking<T: Send + 'static>() -> JoinHandle<T> {
    thread::spawn(|| panic!("as told"))
}

/// Runs a daemon of which `spoil` has made one worker panic; what the watch says, and what the end says.
async fn run(spoil: impl FnOnce(&mut Crawl)) -> (String, String) {
    let dir = tempfile::tempdir().unwrap();
    let loaded = loaded(dir.path());
    let data = &loaded.config.data_dir;
    let shared = Arc::new(Shared::new(Clock::default()));
    let store = open_store(&loaded).unwrap();
    let (mut crawl, _) = Crawl::start(
        &loaded,
        &Mode::Forever,
        store,
        None,
        &shared,
        sync_channel(64),
        (
            loaded.analyzer().unwrap(),
            tokio::sync::watch::channel(Current::new(&loaded)).1,
        ),
    )
    .unwrap();
    spoil(&mut crawl);
    let mut following = JoinSet::new();
    let never = std::future::pending();
    let watching = watch_over(&crawl, None, &mut following, never, data, true);
    let watched = tokio::time::timeout(Duration::from_secs(20), watching).await;
    let said = watched.expect("the daemon goes on half alive").unwrap_err();
    let finished = crawl.finish(data).await;
    // Saved after the learner has ended: the stop was a clean one.
    let saved = data.join(ROBOTS_FILE).exists();
    assert!(saved, "the stop was not a clean one");
    (said.to_string(), finished.unwrap_err().to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_without_its_indexer_ends() {
    let (watched, finished) = run(|crawl| crawl.indexing = panicking()).await;
    assert!(watched.starts_with("the indexer has ended"), "{watched}");
    assert_eq!(finished, "the indexer has panicked; see the log above");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_without_its_learner_ends() {
    let (watched, finished) = run(|crawl| crawl.learning = panicking()).await;
    assert!(watched.starts_with("the learner has ended"), "{watched}");
    assert_eq!(finished, "the learner has panicked; see the log above");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_fetches_nothing_any_more_ends() {
    let (watched, finished) = run(|crawl| crawl.fetching = panicking()).await;
    assert!(watched.contains("fetch tasks has ended"), "{watched}");
    assert!(finished.contains("has panicked"), "{finished}");
}
