//! Lists the files of the sample web, so that they are part of the program: `web/1` is its first round, `web/2` holds what the
//! second one has besides or otherwise.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=web");
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    let mut files: BTreeMap<String, [Option<PathBuf>; 2]> = BTreeMap::new();
    for (round, name) in ["1", "2"].into_iter().enumerate() {
        let root = web.join(name);
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(name) = path.strip_prefix(&root) {
                    let name = name.to_string_lossy().into_owned();
                    files.entry(name).or_default()[round] = Some(path);
                }
            }
        }
    }
    let mut list = String::from("&[\n");
    for (name, rounds) in files {
        let [first, second] = rounds.map(|path| match path {
            Some(path) => format!("Some(include_str!({path:?}))"),
            None => "None".to_owned(),
        });
        let _ = writeln!(list, "({name:?}, {first}, {second}),");
    }
    list.push(']');
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    fs::write(Path::new(&out).join("files.rs"), list)
}
