//! OpenSearch on disk: fetched by Maven and compiled once, kept in the folder of the build.

use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::Unavailable;

const STARTER: &str = include_str!("../Engine.java");
const PROJECT: &str = include_str!("../pom.xml");
/// OpenSearch 3 runs on no older one.
const MIN_JAVA: u32 = 21;

/// Which OpenSearch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Edition {
    /// Open for all, without encryption.
    Plain,
    /// With the security plugin: the newest version for which Maven has it.
    Secured,
}

/// What it takes to start OpenSearch.
#[derive(Debug)]
pub(crate) struct Installation {
    pub(crate) java: PathBuf,
    pub(crate) class_path: String,
    /// The files that the security plugin makes its index from, where there is one.
    pub(crate) security_files: PathBuf,
}

impl Installation {
    /// Finds it, or fetches it.
    pub(crate) fn find(edition: Edition) -> Result<Self, Unavailable> {
        let jdk = find_jdk().ok_or(Unavailable::NoJava)?;
        let folder = cache_folder(edition)?;
        if !folder.exists() {
            install(edition, &jdk, &folder)?;
        }
        Ok(Self {
            java: jdk.join("bin/java"),
            class_path: format!("{0}/jars/*:{0}", folder.display()),
            security_files: folder.join("jars/config"),
        })
    }
}

/// Where it is kept: a folder beside `deps`, where the program of a test lies, for each version of the starter and of the list
/// of jars.
fn cache_folder(edition: Edition) -> Result<PathBuf, Unavailable> {
    let program = env::current_exe()?;
    let build = program.ancestors().nth(2).unwrap_or(&program);
    let mut hasher = DefaultHasher::new();
    (STARTER, PROJECT, edition).hash(&mut hasher);
    Ok(build.join(format!("opensearch-{:016x}", hasher.finish())))
}

/// Fetches and compiles in a folder beside it: other processes may be doing the same.
fn install(edition: Edition, jdk: &Path, folder: &Path) -> Result<(), Unavailable> {
    let draft = tempfile::tempdir_in(folder.parent().unwrap_or(folder))?;
    fs::write(draft.path().join("pom.xml"), PROJECT)?;
    fs::write(draft.path().join("Engine.java"), STARTER)?;
    fetch(jdk, draft.path(), "copy-dependencies", "jar", edition)?;
    if edition == Edition::Secured {
        fetch(jdk, draft.path(), "unpack-dependencies", "zip", edition)?;
    }
    let compiled = Command::new(jdk.join("bin/javac"))
        .args(["--release", "21", "-cp", "jars/*", "Engine.java"])
        .current_dir(draft.path())
        .output()?;
    ensure_success("javac", &compiled)?;
    match fs::rename(draft.path(), folder) {
        Err(error) if !folder.exists() => Err(error.into()),
        _ => Ok(()),
    }
}

/// Has Maven put what is of this type into the folder `jars`: it copies a jar, and unpacks a plugin.
fn fetch(
    jdk: &Path,
    dir: &Path,
    goal: &str,
    kind: &str,
    edition: Edition,
) -> Result<(), Unavailable> {
    let mut maven = Command::new("mvn");
    maven.args(["-B", "-q", "-DoutputDirectory=jars"]);
    maven.arg(format!("-DincludeTypes={kind}"));
    maven.arg(format!("dependency:{goal}"));
    if edition == Edition::Secured {
        maven.args(["-P", "secured"]);
    }
    let fetched = maven.env("JAVA_HOME", jdk).current_dir(dir).output();
    ensure_success("Maven", &fetched.map_err(|_| Unavailable::NoMaven)?)
}

fn ensure_success(program: &'static str, output: &Output) -> Result<(), Unavailable> {
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout.as_slice(), &output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    Err(Unavailable::Failed {
        program,
        cause: said.lines().next().unwrap_or_default().to_owned(),
    })
}

/// The folder of a JDK that is new enough: the one that is set, an installed one, or the one whose `java` is on the path.
fn find_jdk() -> Option<PathBuf> {
    let set = env::var_os("JAVA_HOME").map(PathBuf::from);
    let installed = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let installed = installed.map(|entry| entry.path());
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = env::split_paths(&path)
        .filter_map(|dir| dir.join("java").canonicalize().ok())
        .filter_map(|java| Some(java.parent()?.parent()?.to_owned()))
        .collect();
    let mut all = set.into_iter().chain(installed).chain(on_path);
    all.find(|jdk| is_new_enough(jdk))
}

/// Whether a folder has a JDK, with its compiler, that OpenSearch runs on.
fn is_new_enough(jdk: &Path) -> bool {
    let release = fs::read_to_string(jdk.join("release")).unwrap_or_default();
    let version = release
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION="));
    let major = version.and_then(|version| version.trim_matches('"').split('.').next());
    let major = major.and_then(|major| major.parse::<u32>().ok());
    major >= Some(MIN_JAVA) && jdk.join("bin/javac").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_incomplete_java_is_refused() {
        let jdk = tempfile::tempdir().expect("a folder");
        fs::create_dir(jdk.path().join("bin")).expect("a folder");
        let write = |name: &str, text: &str| {
            fs::write(jdk.path().join(name), text).expect("written");
            is_new_enough(jdk.path())
        };
        assert!(!write(
            "release",
            "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"25.0.3\"\n"
        ));
        assert!(write("bin/javac", ""));
        assert!(write("release", "JAVA_VERSION=\"21\"\n"));
        assert!(!write("release", "JAVA_VERSION=\"17.0.15\"\n"));
        assert!(!write("release", "JAVA_VERSION=\"1.8.0_402\"\n"));
        assert!(!write("release", ""));
    }
}
