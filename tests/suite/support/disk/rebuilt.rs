//! The disk as it may be after a loss of power. In: the changes up to the cut. Out: a folder in which everything that was
//! synced is there, and of what was not any part: each write whole, in blocks or not at all, each change of a name or not.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::journal::Op;
use crate::support::lots::Lots;

/// What a file system promises of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// Only what POSIX does: a name is on the disk once its folder was synced, and each change goes its own way.
    Posix,
    /// ext4, xfs: changes of names come onto the disk in their order, and with every sync all that came before.
    Journaled,
}

/// How much of what was not synced is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    All,
    /// Each change or not.
    Some,
    /// Each block of so many bytes or not.
    Blocks(usize),
}

const LEFT: [Left; 5] = [
    Left::Nothing,
    Left::All,
    Left::Some,
    Left::Blocks(512),
    Left::Blocks(4096),
];

#[derive(Debug)]
enum Node<'a> {
    File {
        synced: Vec<u8>,
        since: Vec<Change<'a>>,
    },
    Folder {
        synced: BTreeMap<String, usize>,
        now: BTreeMap<String, usize>,
    },
}

#[derive(Debug, Clone, Copy)]
enum Change<'a> {
    Write(usize, &'a [u8]),
    Truncate(usize),
}

/// What becomes of names in one step: folder, name, and what it stands for from now on.
type Renaming = Vec<(usize, String, Option<usize>)>;

/// The disk at one instant.
pub(crate) struct Disk<'a> {
    root: String,
    names: Names,
    nodes: Vec<Node<'a>>,
    by_inode: HashMap<u64, usize>,
    /// Changes of names that may not be on the disk.
    unsynced: Vec<Renaming>,
    /// Syncs of these files do nothing: a disk that lies.
    lies: bool,
}

impl<'a> Disk<'a> {
    /// An empty folder, which is on the disk.
    pub(crate) fn new(root: &Path, names: Names) -> Self {
        Self {
            root: root.to_str().expect("a name").to_owned(),
            names,
            nodes: vec![folder()],
            by_inode: HashMap::from([(root.metadata().expect("a folder").ino(), 0)]),
            unsynced: Vec::new(),
            lies: false,
        }
    }

    /// One on which syncing does nothing.
    pub(crate) fn lying(root: &Path) -> Self {
        Self {
            lies: true,
            ..Self::new(root, Names::Posix)
        }
    }

    pub(crate) fn apply(&mut self, op: &Op<'a>) {
        match *op {
            Op::Created { inode, path } => {
                let file = Node::File {
                    synced: Vec::new(),
                    since: Vec::new(),
                };
                self.make(inode, path, file);
            }
            Op::MadeFolder { inode, path } => self.make(inode, path, folder()),
            Op::Wrote {
                inode,
                offset,
                data,
            } => self.change(inode, Change::Write(offset, data)),
            Op::Truncated { inode, length } => self.change(inode, Change::Truncate(length)),
            Op::Synced { inode } => self.sync(inode),
            Op::Renamed { from, to } => {
                let (a, b) = (self.place(from), self.place(to));
                let node = self.at(&a);
                self.rename(vec![(a.0, a.1, None), (b.0, b.1, Some(node))]);
            }
            Op::Exchanged { one, other } => {
                let (a, b) = (self.place(one), self.place(other));
                let (was_a, was_b) = (self.at(&a), self.at(&b));
                self.rename(vec![(a.0, a.1, Some(was_b)), (b.0, b.1, Some(was_a))]);
            }
            Op::Linked { from, to } => {
                let (a, b) = (self.place(from), self.place(to));
                let node = self.at(&a);
                self.rename(vec![(b.0, b.1, Some(node))]);
            }
            Op::Removed { path } => {
                let a = self.place(path);
                self.rename(vec![(a.0, a.1, None)]);
            }
            Op::Seen { .. } => {}
        }
    }

    /// Writes a folder as it may be if the power fails now.
    pub(crate) fn write(&self, to: &Path, lots: &mut Lots) {
        let mut folders: HashMap<usize, BTreeMap<String, usize>> = HashMap::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if let Node::Folder { synced, .. } = node {
                folders.insert(number, synced.clone());
            }
        }
        let left = LEFT[lots.below(LEFT.len())];
        let before = lots.below(self.unsynced.len() + 1);
        for (n, renaming) in self.unsynced.iter().enumerate() {
            let is_there = match (left, self.names) {
                (Left::Nothing, _) => false,
                (Left::All, _) => true,
                (_, Names::Posix) => lots.below(2) == 1,
                (_, Names::Journaled) => n < before,
            };
            for (folder, name, node) in renaming.iter().filter(|_| is_there) {
                let names = folders.entry(*folder).or_default();
                set(names, name, *node);
            }
        }
        let left = LEFT[lots.below(LEFT.len())];
        self.write_folder(0, to, &folders, left, lots);
    }

    fn write_folder(
        &self,
        number: usize,
        to: &Path,
        folders: &HashMap<usize, BTreeMap<String, usize>>,
        left: Left,
        lots: &mut Lots,
    ) {
        fs::create_dir_all(to).expect("a folder");
        for (name, &number) in &folders[&number] {
            match &self.nodes[number] {
                Node::Folder { .. } => {
                    self.write_folder(number, &to.join(name), folders, left, lots);
                }
                // It is memory, which does not survive.
                Node::File { .. } if name.ends_with("-shm") => {}
                Node::File { synced, since } => {
                    let mut bytes = synced.clone();
                    for change in since {
                        left.take(&mut bytes, *change, lots);
                    }
                    fs::write(to.join(name), bytes).expect("a file");
                }
            }
        }
    }

    fn make(&mut self, inode: u64, path: &str, node: Node<'a>) {
        let (folder, name) = self.place(path);
        self.nodes.push(node);
        let number = self.nodes.len() - 1;
        self.by_inode.insert(inode, number);
        self.rename(vec![(folder, name, Some(number))]);
    }

    fn change(&mut self, inode: u64, change: Change<'a>) {
        // What has no name, as a temporary file that nobody else can open, does not survive.
        let Some(&number) = self.by_inode.get(&inode) else {
            return;
        };
        if let Node::File { since, .. } = &mut self.nodes[number] {
            since.push(change);
        }
    }

    fn sync(&mut self, inode: u64) {
        if self.lies {
            return;
        }
        let Some(&number) = self.by_inode.get(&inode) else {
            return;
        };
        let is_folder = match &mut self.nodes[number] {
            Node::File { synced, since } => {
                let mut lots = Lots(0);
                for change in since.drain(..) {
                    Left::All.take(synced, change, &mut lots);
                }
                false
            }
            Node::Folder { .. } => true,
        };
        let all = self.names == Names::Journaled;
        let touched = |r: &Renaming| all || is_folder && r.iter().any(|(f, _, _)| *f == number);
        let (done, rest) = std::mem::take(&mut self.unsynced)
            .into_iter()
            .partition(touched);
        self.unsynced = rest;
        for (folder, name, node) in Vec::<Renaming>::into_iter(done).flatten() {
            if let Node::Folder { synced, .. } = &mut self.nodes[folder] {
                set(synced, &name, node);
            }
        }
    }

    fn rename(&mut self, renaming: Renaming) {
        for (folder, name, node) in &renaming {
            if let Node::Folder { now, .. } = &mut self.nodes[*folder] {
                set(now, name, *node);
            }
        }
        self.unsynced.push(renaming);
    }

    /// The folder and the name in it.
    fn place(&self, path: &str) -> (usize, String) {
        let below = path.strip_prefix(&self.root).expect("in the folder");
        let mut parts: Vec<&str> = below.split('/').filter(|part| !part.is_empty()).collect();
        let name = parts.pop().expect("a name").to_owned();
        let folder = parts.iter().fold(0, |folder, part| {
            self.named(folder, part)
                .unwrap_or_else(|| panic!("no {path}"))
        });
        (folder, name)
    }

    fn named(&self, folder: usize, name: &str) -> Option<usize> {
        match &self.nodes[folder] {
            Node::Folder { now, .. } => now.get(name).copied(),
            Node::File { .. } => None,
        }
    }

    fn at(&self, place: &(usize, String)) -> usize {
        self.named(place.0, &place.1).expect("it is there")
    }
}

impl Left {
    fn take(self, bytes: &mut Vec<u8>, change: Change<'_>, lots: &mut Lots) {
        match (self, change) {
            (Left::Nothing, _) => {}
            (Left::All, Change::Write(at, data)) => put(bytes, at, data),
            (Left::All, Change::Truncate(length)) => bytes.resize(length, 0),
            (Left::Some, _) => {
                if lots.below(2) == 1 {
                    Left::All.take(bytes, change, lots);
                }
            }
            (Left::Blocks(_), Change::Truncate(_)) => Left::Some.take(bytes, change, lots),
            (Left::Blocks(size), Change::Write(at, data)) => {
                let mut from = 0;
                while from < data.len() {
                    let to = ((at + from) / size + 1) * size - at;
                    let to = to.min(data.len());
                    if lots.below(2) == 1 {
                        put(bytes, at + from, &data[from..to]);
                    } else if lots.below(2) == 1 && bytes.len() < at + to {
                        // The length is on the disk, what it is of is not.
                        bytes.resize(at + to, 0);
                    }
                    from = to;
                }
            }
        }
    }
}

fn folder<'a>() -> Node<'a> {
    Node::Folder {
        synced: BTreeMap::new(),
        now: BTreeMap::new(),
    }
}

fn put(bytes: &mut Vec<u8>, at: usize, data: &[u8]) {
    if bytes.len() < at + data.len() {
        bytes.resize(at + data.len(), 0);
    }
    bytes[at..at + data.len()].copy_from_slice(data);
}

fn set(names: &mut BTreeMap<String, usize>, name: &str, node: Option<usize>) {
    match node {
        Some(node) => names.insert(name.to_owned(), node),
        None => names.remove(name),
    };
}
