//! Loss of power. What the real program writes and syncs is written down; the disk is rebuilt as it may be after a cut at
//! random instants, with what was not synced there in part, in blocks, out of order or not at all; the program starts on
//! it. Nothing that a reader had seen stored is missing, nothing is there twice, and the index has what the store has.
//!
//! `TAOJIN_LONG=1 cargo test -p taojin --test suite power_loss::` makes two hundred cuts in each workload.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use taojin::documents::{decode, open_folder};
use taojin_crawl::store::{DocumentRow, Reader, StoreError};
use taojin_demo::trial::TrialPlan;
use taojin_search::analyze::Analyzer;
use taojin_search::index;

use crate::support::disk;
use crate::support::disk::journal::{self, Op};
use crate::support::disk::rebuilt::{Disk, Names};
use crate::support::folder::{Folder, RunExt as _, fed, imported, indexed};
use crate::support::lots::Lots;
use crate::support::trial::{SITE, Trial};
use crate::support::{say, scaled};

/// Cuts in each workload; short and long.
const CUTS: [usize; 2] = [10, 200];
/// After every so many cuts of a crawl, the crawl goes on to its end.
const CRAWL_ON: usize = 6;
const SEED: u64 = 0x00f0_ff00;

/// What a workload wrote, and what its store held at its end.
struct Recorded {
    data: PathBuf,
    journal: Vec<u8>,
    /// Every change: number → document, and its text unless it is gone.
    changes: BTreeMap<i64, (u64, Option<String>)>,
}

/// Does `work` on a data folder whose disk is written down, while a reader notes which changes it sees stored.
fn recorded(data: PathBuf, beside: &Path, work: impl FnOnce(&dyn Fn(&mut Command))) -> Recorded {
    fs::create_dir(&data).expect("a data folder");
    let journal = beside.join("journal");
    let done = beside.join("done");
    // A process of its own, with the same disk under it: a reader makes files of SQLite as well.
    let mut watcher = Command::new(std::env::current_exe().expect("this program"));
    // Its name as a test, wherever this module is: of another name nothing would run, and nothing fail.
    let (_, module) = module_path!()
        .split_once("::")
        .expect("a module of the suite");
    watcher
        .args(["--exact", &format!("{module}::watcher"), "--ignored"])
        .envs([(WATCHED, &data), (JOURNAL, &journal), (DONE, &done)])
        .stdout(Stdio::null());
    disk::record(&mut watcher, &data, &journal);
    let mut watcher = watcher.spawn().expect("the reader starts");
    work(&|command| disk::record(command, &data, &journal));
    fs::write(done, "").expect("a sign");
    assert!(watcher.wait().expect("the reader ends").success());
    Recorded {
        changes: changes(&data).expect("the store can be read"),
        journal: fs::read(&journal).expect("a journal"),
        data,
    }
}

const WATCHED: &str = "TAOJIN_WATCHED";
const JOURNAL: &str = "TAOJIN_WATCHER_JOURNAL";
const DONE: &str = "TAOJIN_WATCHER_DONE";

#[test]
#[ignore = "a process that the other tests of this file start"]
fn watcher() {
    let path = |name| std::env::var_os(name).map(PathBuf::from);
    let (Some(data), Some(journal), Some(done)) = (path(WATCHED), path(JOURNAL), path(DONE)) else {
        return;
    };
    let mut seen = 0;
    loop {
        let is_last = done.exists();
        // Opened again and again, so that the program is now alone with its store when it closes it, and now not.
        if let Ok(reader) = Reader::open(&data) {
            for _ in 0..10 {
                if let Ok(seq) = reader.last_document_seq()
                    && seq > seen
                {
                    seen = seq;
                    journal::note_seen(&journal, seq);
                }
                thread::sleep(Duration::from_millis(2));
            }
        }
        if is_last {
            return;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn changes(data: &Path) -> Result<BTreeMap<i64, (u64, Option<String>)>, String> {
    let failed = |error: StoreError| error.to_string();
    let reader = Reader::open(data).map_err(failed)?;
    let mut changes = BTreeMap::new();
    for latest in reader.documents_after(0, usize::MAX).map_err(failed)? {
        let history = reader.document_history(latest.fingerprint);
        for row in history.map_err(failed)? {
            changes.insert(row.seq, (row.fingerprint, text(&reader, &row)?));
        }
    }
    Ok(changes)
}

fn text(reader: &Reader, row: &DocumentRow) -> Result<Option<String>, String> {
    let stored = decode(reader, row).map_err(|error| format!("{error:#}"))?;
    Ok(stored.map(|stored| {
        let document = stored.document;
        format!("{} {:?} {}", document.url, document.title, document.text)
    }))
}

/// What is wrong with a data folder on which the program was started, after a cut before which changes up to `seen` were
/// seen stored.
fn wrong(data: &Path, recorded: &Recorded, seen: i64) -> Result<(), String> {
    let there = changes(data)?;
    for (seq, change) in &there {
        if recorded.changes.get(seq) != Some(change) {
            return Err(format!("change {seq} is another one: {change:?}"));
        }
    }
    let mut stored: HashMap<u64, i64> = HashMap::new();
    let mut present: BTreeMap<u64, usize> = BTreeMap::new();
    for (seq, (fingerprint, text)) in &there {
        stored.insert(*fingerprint, *seq);
        match text {
            Some(_) => present.insert(*fingerprint, 1),
            None => present.remove(fingerprint),
        };
    }
    let accepted = recorded.changes.range(..=seen);
    for (seq, (fingerprint, _)) in accepted {
        if stored.get(fingerprint) < Some(seq) {
            return Err(format!(
                "change {seq} was seen stored ({seen} were) and is missing"
            ));
        }
    }
    let reader = open_folder(data, &Analyzer::new(&[]), &index::Config::default());
    let reader = reader.map_err(|error| error.to_string())?;
    let mut indexed: BTreeMap<u64, usize> = BTreeMap::new();
    let identities = reader.changed_after(None);
    for identity in identities.map_err(|error| error.to_string())? {
        let document = reader.version(identity);
        if let Some(document) = document.map_err(|error| error.to_string())? {
            *indexed.entry(document.fingerprint).or_default() += 1;
        }
    }
    if indexed == present {
        Ok(())
    } else {
        Err(format!(
            "the index has {} documents ({} entries), the store {}",
            indexed.len(),
            indexed.values().sum::<usize>(),
            present.len()
        ))
    }
}

/// Instants of the journal, in order: half of them anywhere, half next to a sync or a change of a name.
fn instants(ops: &[Op<'_>], cuts: usize, lots: &mut Lots) -> Vec<usize> {
    let turning: Vec<usize> = (0..ops.len())
        .filter(|n| !matches!(ops[*n], Op::Wrote { .. } | Op::Seen { .. }))
        .collect();
    let mut instants: Vec<usize> = (0..cuts)
        .map(|n| match n % 2 {
            0 => lots.below(ops.len()),
            _ => (turning[lots.below(turning.len())] + lots.below(3)).min(ops.len()),
        })
        .collect();
    instants.sort_unstable();
    instants
}

/// A rebuilt disk.
struct Cut {
    dir: tempfile::TempDir,
    what: String,
    /// Last change that was seen stored before.
    seen: i64,
}

impl Cut {
    fn data(&self) -> &str {
        self.dir.path().to_str().expect("a name")
    }
}

/// Calls `each` with the disk after each cut. `new` is the empty disk.
fn each_cut<'a>(
    recorded: &'a Recorded,
    cuts: usize,
    new: impl Fn(&Path, Names) -> Disk<'a>,
    mut each: impl FnMut(usize, &Cut),
) {
    let ops = journal::read(&recorded.journal);
    let names = [Names::Journaled, Names::Posix];
    let mut disks = names.map(|names| new(&recorded.data, names));
    let mut lots = Lots(SEED);
    let (mut applied, mut seen) = (0, 0);
    for (n, at) in instants(&ops, cuts, &mut lots).into_iter().enumerate() {
        for op in &ops[applied..at] {
            disks.iter_mut().for_each(|disk| disk.apply(op));
            if let Op::Seen { seq } = op {
                seen = *seq;
            }
        }
        applied = at;
        let dir = tempfile::tempdir().expect("a folder");
        disks[n % 2].write(dir.path(), &mut lots);
        let what = format!(
            "cut {n} after {at} of {} changes, names as {:?}, {seen} seen",
            ops.len(),
            names[n % 2]
        );
        each(n, &Cut { dir, what, seen });
    }
}

/// Starts the program on the disk after the cut. What is wrong then, and whether an index had to be made anew.
fn start(command: &mut Command, recorded: &Recorded, cut: &Cut) -> Result<bool, String> {
    let ran = command.ran();
    let right = if ran.code == Some(0) && !ran.err.contains("panicked at ") {
        wrong(cut.dir.path(), recorded, cut.seen)
    } else {
        Err(format!("ended with {:?}", ran.code))
    };
    let anew = ran.err.contains("index is rebuilt");
    right
        .map(|()| anew)
        .map_err(|wrong| format!("{}: {wrong}\n{}", cut.what, ran.err))
}

/// Starts the program on the disk after each cut; nothing may be wrong then.
fn assert_survives(recorded: &Recorded, folder: &Folder, more: impl Fn(usize, &Cut)) {
    let cuts = scaled(CUTS);
    let mut anew = 0;
    let mut problems = Vec::new();
    each_cut(recorded, cuts, Disk::new, |n, cut| {
        let mut command = folder.taojin(&["--data-dir", cut.data(), "import", "/dev/null"]);
        match start(&mut command, recorded, cut) {
            Ok(made_anew) => anew += usize::from(made_anew),
            Err(problem) => problems.push(problem),
        }
        more(n, cut);
    });
    say(&format!(
        "{cuts} cuts during {} changes: {} wrong, {anew} with an index made anew",
        recorded.changes.len(),
        problems.len()
    ));
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

/// Documents with these numbers in their addresses, in edition `edition`.
fn import(
    folder: &Folder,
    numbers: std::ops::Range<u32>,
    edition: u32,
    under: &dyn Fn(&mut Command),
) {
    let mut command = folder.taojin(&["import", "-"]);
    under(&mut command);
    let document = |n: u32| {
        let text = format!("第{n}口页岩气水平井第{edition}次压裂，产量创新高。");
        imported(&format!("http://a.example/{n}"), &format!("日报{n}"), &text)
    };
    fed(&mut command, numbers.map(document)).good();
}

/// Imports in transactions of their own, some with newer versions, with commits of the index between them, and an index
/// that is made anew.
fn imports(folder: &Folder) -> Recorded {
    recorded(folder.data_dir(), folder.path(), |under| {
        import(folder, 0..100, 1, under);
        import(folder, 50..200, 2, under);
        let mut reindex = folder.taojin(&["reindex"]);
        under(&mut reindex);
        reindex.ran().good();
        // Three transactions.
        import(folder, 200..2_400, 1, under);
        import(folder, 0..60, 3, under);
    })
}

#[test]
fn power_cut_during_imports() {
    let folder = Folder::new("", &[]);
    assert_survives(&imports(&folder), &folder, |_, _| {});
}

#[test]
fn power_cut_during_crawl() {
    let plan = TrialPlan {
        seed: 7,
        hosts: 4,
        articles: 30,
        daily: 10,
        changing: 0.3,
        ..TrialPlan::default()
    };
    let frontier = "min_delay_ms = 10\nmax_delay_ms = 10\njitter = 0.0\n";
    let trial = Trial::new(plan, frontier, "[warc]\nenabled = true\n");
    let beside = tempfile::tempdir().expect("a folder");
    let crawl = ["crawl", "--site", SITE];
    let recorded = recorded(trial.data_dir(), beside.path(), |under| {
        for day in 0..3 {
            trial.web.set_day(day);
            let mut crawl = trial.taojin(&crawl);
            under(&mut crawl);
            crawl.ran().good();
        }
    });
    assert_survives(&recorded, &trial, |n, cut| {
        if n % CRAWL_ON == 0 {
            trial.done(&[&["--data-dir", cut.data()], &crawl[..]].concat());
            let found = indexed(cut.dir.path()).expect("the index can be read");
            let lost = trial.missing(&found);
            assert!(lost.is_empty(), "{}: not there once: {lost:?}", cut.what);
        }
    });
}

/// That the test can fail: on a disk whose syncs do nothing, something is missing.
#[test]
fn lying_disk_is_detected() {
    let folder = Folder::new("", &[]);
    let recorded = imports(&folder);
    let mut problems = 0;
    each_cut(
        &recorded,
        8,
        |root, _| Disk::lying(root),
        |_, cut| {
            let mut command = folder.taojin(&["--data-dir", cut.data(), "import", "/dev/null"]);
            problems += usize::from(start(&mut command, &recorded, cut).is_err());
        },
    );
    assert!(problems > 0);
}
