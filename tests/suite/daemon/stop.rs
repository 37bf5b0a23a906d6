//! A daemon whose servers never answer stops all the same, and loses nothing by it.

use std::io::Read;
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use taojin::daemon::{self, Mode, Options};
use taojin_crawl::store::Reader;

use crate::support::folder::{Folder, LOOPBACK};

/// Longest time that the daemon may take to end: it gives requests four seconds and the index three.
const STOP: Duration = Duration::from_secs(10);
/// Sites; only one of them has a server.
const SITES: i64 = 8;

/// A server that takes what is sent and says nothing; how often it was asked. Ends with the test's process.
fn silent_server() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("its address").port();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let held = Mutex::new(Vec::new());
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 1024]);
            counted.fetch_add(1, Ordering::SeqCst);
            held.lock().expect("no panic").push(stream);
        }
    });
    (port, asked)
}

#[test]
fn stop_with_silent_servers() {
    let (port, asked) = silent_server();
    let folder = Folder::new(LOOPBACK, &[]);
    for host in 1..=SITES {
        let site = format!("seeds = [\"http://127.0.0.{host}:{port}/\"]\n");
        folder.write(&format!("sites.d/s{host}.toml"), site);
    }
    let loaded = folder.loaded();
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    let ended = runtime.block_on(async {
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let shutdown = async {
            let _ = stopped.await;
        };
        let running = daemon::run(&loaded, Options::quiet(Mode::Forever), shutdown);
        tokio::pin!(running);
        let asks = async {
            while asked.load(Ordering::SeqCst) == 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            () = asks => {}
            _ = &mut running => panic!("the daemon ended by itself"),
        }
        let _ = stop.send(());
        tokio::time::timeout(STOP, running).await
    });
    ended.expect("it ends in time").expect("it ends well");
    let counts = Reader::open(&folder.data_dir())
        .expect("the store opens")
        .counts()
        .expect("counts");
    assert_eq!(counts.total("urls"), SITES, "a seed was lost");
}
