//! Commands on a disk that fails from some call on.

use super::{INDEX, Lasts, STORE, WAL, trouble};
use crate::support::disk;
use crate::support::disk::faults::{Fault, Faults, Trouble};
use crate::support::folder::{Folder, Ran, fed, imported};
use crate::support::lots::Lots;
use crate::support::say;

/// `documents` through a pipe into `import`, on a disk that can fail.
fn import(folder: &Folder, faults: &Faults, documents: std::ops::Range<u32>) -> Ran {
    let mut command = folder.taojin(&["import", "-"]);
    disk::fail(&mut command, &folder.data_dir(), faults);
    let document = |n: u32| {
        let text = format!("第{n}口页岩气水平井产量创新高。");
        imported(&format!("http://a.example/{n}"), &format!("日报{n}"), &text)
    };
    fed(&mut command, documents.map(document))
}

#[test]
fn import_on_failing_disk() {
    let folder = Folder::new("", &[]);
    std::fs::create_dir(folder.data_dir()).expect("a data folder");
    let faults = Faults::new(&folder.file("faults"));
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
                let ran = import(&folder, &faults, known..known + 3);
                faults.end();
                let ran = ran.without_panic(&what);
                let errors = ran.err.lines().filter(|line| line.starts_with("taojin: "));
                match ran.code {
                    Some(0) => worked += 1,
                    Some(1..=3) => {
                        assert_eq!(errors.count(), 1, "{what}: {ran:?}");
                        failed += 1;
                    }
                    _ => panic!("{what}: {ran:?}"),
                }
                // On a disk that works, the same again: all is there, and once.
                import(&folder, &faults, known..known + 3).good();
                known += 3;
                let found = folder.indexed();
                let once = found.values().filter(|n| **n == 1).count();
                assert_eq!(
                    (once, found.len()),
                    (known as usize, known as usize),
                    "after {what}"
                );
            }
        }
    }
    say(&format!(
        "{worked} commands did their work all the same, {failed} said why not; {known} documents, each once"
    ));
    assert!(worked > 0 && failed > 0, "{worked} {failed}");
}
