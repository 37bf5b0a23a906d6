//! The journal that `tests/disk/disk.c` writes: each change of a file or a name, in the order in which they took effect.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// Bytes of a record before its names.
const HEAD: usize = 32;

/// One change. Files and folders go by their inode, which comes again for a new file once the old one is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op<'a> {
    /// A new, empty file.
    Created {
        inode: u64,
        path: &'a str,
    },
    /// A new folder.
    MadeFolder {
        inode: u64,
        path: &'a str,
    },
    Wrote {
        inode: u64,
        offset: usize,
        data: &'a [u8],
    },
    /// The file has this length now.
    Truncated {
        inode: u64,
        length: usize,
    },
    /// `fsync` or `fdatasync` returned.
    Synced {
        inode: u64,
    },
    Renamed {
        from: &'a str,
        to: &'a str,
    },
    Exchanged {
        one: &'a str,
        other: &'a str,
    },
    Linked {
        from: &'a str,
        to: &'a str,
    },
    Removed {
        path: &'a str,
    },
    /// A reader of the store saw this change committed.
    Seen {
        seq: i64,
    },
}

/// All of a journal.
pub(crate) fn read(bytes: &[u8]) -> Vec<Op<'_>> {
    let mut ops = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let number = |at: usize| {
            u32::from_le_bytes(rest[at..at + 4].try_into().expect("four bytes")) as usize
        };
        let inode = u64::from_le_bytes(rest[16..24].try_into().expect("eight bytes"));
        let offset = i64::from_le_bytes(rest[24..32].try_into().expect("eight bytes"));
        let (name, name2, data) = (number(4), number(8), number(12));
        let text = |from: usize, length: usize| {
            std::str::from_utf8(&rest[from..from + length]).expect("a name")
        };
        let path = text(HEAD, name);
        let other = text(HEAD + name, name2);
        let place = || usize::try_from(offset).expect("a place in a file");
        let from = HEAD + name + name2;
        ops.push(match rest[0] {
            b'C' => Op::Created { inode, path },
            b'M' => Op::MadeFolder { inode, path },
            b'W' => Op::Wrote {
                inode,
                offset: place(),
                data: &rest[from..from + data],
            },
            b'T' => Op::Truncated {
                inode,
                length: place(),
            },
            b'S' => Op::Synced { inode },
            b'R' => Op::Renamed {
                from: path,
                to: other,
            },
            b'X' => Op::Exchanged { one: path, other },
            b'L' => Op::Linked {
                from: path,
                to: other,
            },
            b'U' => Op::Removed { path },
            b's' => Op::Seen { seq: offset },
            b'!' => panic!("{path} is written through memory, which the journal does not see"),
            op => panic!("no such record: {op}"),
        });
        rest = &rest[from + data..];
    }
    ops
}

/// Notes that a reader of the store saw change `seq` committed, between the records of the program.
pub(crate) fn note_seen(journal: &Path, seq: i64) {
    let mut record = [0; HEAD];
    record[0] = b's';
    record[24..].copy_from_slice(&seq.to_le_bytes());
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(journal)
        .expect("the journal");
    file.write_all(&record).expect("the journal is written");
}
