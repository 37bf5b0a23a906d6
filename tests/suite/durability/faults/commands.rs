//! Commands on a disk that fails from some call on.

use std::fs::{self, File};
use std::io::Write;
use std::process::Output;

use super::{INDEX, Lasts, STORE, WAL, trouble};
use crate::cli::Place;
use crate::support::disk;
use crate::support::disk::faults::{Fault, Faults, Trouble};
use crate::support::lots::Lots;

/// `documents` through a pipe into `import`, on a disk that can fail.
fn import(place: &Place, faults: &Faults, documents: std::ops::Range<u32>) -> Output {
    let mut command = place.command(&["import", "-"]);
    disk::fail(&mut command, &place.path().join("data"), faults);
    let lines = place.path().join("lines");
    let mut file = File::create(&lines).expect("a file");
    for n in documents {
        let url = format!("http://a.example/{n}");
        let text = format!("第{n}口页岩气水平井产量创新高。");
        let line = serde_json::json!({"url": url, "title": format!("日报{n}"), "text": text, "kind": "article"});
        writeln!(file, "{line}").expect("written");
    }
    let input = File::open(&lines).expect("the file");
    command.stdin(input).output().expect("taojin runs")
}

#[test]
fn a_command_on_a_failing_disk_does_its_work_or_says_that_it_did_not() {
    let place = Place::new("", &[]);
    fs::create_dir(place.path().join("data")).expect("a data folder");
    let faults = Faults::new(&place.path().join("faults"));
    let mut lots = Lots(7);
    let mut known = 0;
    let (mut worked, mut failed) = (0, 0);
    for files in [STORE, WAL, INDEX] {
        for fault in Fault::ALL {
            for lasts in [Lasts::Calls(1), Lasts::Calls(20), Lasts::Ever] {
                let what = format!("{fault:?} {files} {lasts:?}");
                let spared = u32::try_from(lots.below(30)).expect("small");
                faults.begin(&Trouble {
                    spared,
                    slow_ms: 2,
                    ..trouble(fault, files, lasts)
                });
                let output = import(&place, &faults, known..known + 3);
                faults.end();
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(!said.contains("panicked at "), "{what}: {said}");
                let errors = said.lines().filter(|line| line.starts_with("taojin: "));
                match output.status.code() {
                    Some(0) => worked += 1,
                    Some(1 | 2) => {
                        assert_eq!(errors.count(), 1, "{what}: {said}");
                        failed += 1;
                    }
                    _ => panic!("{what}: {}: {said}", output.status),
                }
                // On a disk that works, the same again: all is there, and once.
                let again = import(&place, &faults, known..known + 3);
                let said = String::from_utf8_lossy(&again.stderr).into_owned();
                assert!(again.status.success(), "after {what}: {said}");
                known += 3;
                let dir = place.path().join("data");
                let found = crate::support::trial::indexed(&dir).expect("the index opens");
                let once = found.values().filter(|n| **n == 1).count();
                assert_eq!(
                    (once, found.len()),
                    (known as usize, known as usize),
                    "after {what}"
                );
            }
        }
    }
    crate::support::say(&format!(
        "{worked} commands did their work all the same, {failed} said why not; {known} documents, each once"
    ));
    assert!(worked > 0 && failed > 0, "{worked} {failed}");
}
