//! Secrets in files of their own. In: `serve.token_file`, `follow.secret_file`, `store.password_file`,
//! `search.password_file`. Out: the token and the keys, and which
//! secrets other users of the machine can read. Never shows what a file holds.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Loaded, Problem};
use crate::serve::Secret;

/// Longest secret in a file: far more than any key, far less than a file named by mistake.
const SECRET_BYTES_MAX: u64 = 4_096;
/// Folder into which systemd puts what `LoadCredential=` names; a path may begin with `$` and this.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";
/// Permission of every user to read a file.
const OTHERS_READ: u32 = 0o004;

impl Loaded {
    /// Reads the secrets that stand in files of their own. Gives what is wrong with them.
    pub fn read_secrets(&mut self) -> Vec<Problem> {
        let file = self.file.clone();
        let folder = file.as_deref().and_then(Path::parent).map(Path::to_owned);
        let mut wrong = Vec::new();
        let mut read = |key: &str, path: &Path, secret: &mut Secret| {
            if path.as_os_str().is_empty() {
                return;
            }
            match secret_in(&placed(folder.as_deref(), path)) {
                Ok(found) => *secret = found,
                Err(why) => wrong.push(format!("{key} = \"{}\": {why}", path.display())),
            }
        };
        let serve = &mut self.config.serve;
        read("serve.token_file", &serve.token_file, &mut serve.token);
        for follow in &mut self.config.follow {
            read(
                "follow.secret_file",
                &follow.secret_file,
                &mut follow.secret,
            );
        }
        if let (true, Some(why)) = (wrong.is_empty(), self.config.serve.token_problem()) {
            wrong.push(format!("serve.{why}"));
        }
        let problem = |text| Problem {
            file: file.clone(),
            line: None,
            text,
        };
        wrong.into_iter().map(problem).collect()
    }

    /// The keys whose files only the service can see: systemd gives it a folder of its own, which is not there now.
    pub fn secrets_of_the_service(&self) -> bool {
        let of_service = |path: &Path| path.starts_with(format!("${CREDENTIALS}"));
        std::env::var_os(CREDENTIALS).is_none() && self.secret_files().any(of_service)
    }

    /// Secrets that every user of this machine can read, one line each. Call it before [`Loaded::read_secrets`].
    pub fn exposed_secrets(&self) -> Vec<String> {
        let mut found = Vec::new();
        let written = !self.config.serve.token.is_empty()
            || self
                .config
                .follow
                .iter()
                .any(|follow| !follow.secret.is_empty());
        if let (Some(file), true) = (&self.file, written)
            && others_read(file)
        {
            found.push(format!(
                "{} holds a secret and every user of this machine can read it: put the secret into serve.token_file or \
                 follow.secret_file, or take the permission away (chmod o= {0})",
                file.display()
            ));
        }
        let folder = self.file.as_deref().and_then(Path::parent);
        for path in self.secret_files().map(|path| placed(folder, path)) {
            if others_read(&path) {
                found.push(format!(
                    "every user of this machine can read the secret in {0}: chmod 600 {0}",
                    path.display()
                ));
            }
        }
        found
    }

    fn secret_files(&self) -> impl Iterator<Item = &Path> {
        let follows = self.config.follow.iter().map(|follow| &follow.secret_file);
        let own = [
            &self.config.serve.token_file,
            &self.config.store.password_file,
            &self.config.search.password_file,
        ];
        let all = own.into_iter().chain(follows);
        all.map(PathBuf::as_path)
            .filter(|path| !path.as_os_str().is_empty())
    }
}

/// Where a file is: below the folder of systemd, or relative to the configuration.
pub(super) fn placed(folder: Option<&Path>, path: &Path) -> PathBuf {
    if let Ok(rest) = path.strip_prefix(format!("${CREDENTIALS}"))
        && let Some(dir) = std::env::var_os(CREDENTIALS)
    {
        return PathBuf::from(dir).join(rest);
    }
    folder.unwrap_or(Path::new(".")).join(path)
}

fn others_read(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|data| data.permissions().mode() & OTHERS_READ != 0)
}

/// The secret in a file, without the line break at its end; or why there is none.
fn secret_in(path: &Path) -> Result<Secret, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(SECRET_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > SECRET_BYTES_MAX {
        return Err(format!(
            "is longer than {SECRET_BYTES_MAX} bytes: this is no secret"
        ));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| "is not text in UTF-8".to_owned())?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    match text.is_empty() {
        true => Err(
            "is empty: write the secret into it, for example with openssl rand -hex 20".to_owned(),
        ),
        false => Ok(Secret::from(text)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions, write};

    use super::*;
    use crate::config::read;

    const TOKEN: &str = "0123456789abcdef0123";

    fn loaded(dir: &Path, text: &str, mode: u32) -> Loaded {
        let file = dir.join("taojin.toml");
        write(&file, text).unwrap();
        set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let (loaded, problems) = read(Some(&file), None);
        assert_eq!(problems, []);
        loaded
    }

    fn secret(dir: &Path, name: &str, text: &str, mode: u32) {
        write(dir.join(name), text).unwrap();
        set_permissions(dir.join(name), Permissions::from_mode(mode)).unwrap();
    }

    const FILES: &str = "[serve]\ntoken_file = \"token\"\n[[follow]]\nname = \"a\"\nquery = \"油\"\nsecret_file = \"key\"\n";

    #[test]
    fn secrets_are_read_from_files_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        secret(dir.path(), "token", &format!("{TOKEN}\n"), 0o600);
        secret(dir.path(), "key", "a long random text\r\n", 0o644);
        let mut loaded = loaded(dir.path(), FILES, 0o644);
        let exposed = loaded.exposed_secrets();
        assert!(
            exposed.len() == 1 && exposed[0].contains("/key: chmod 600"),
            "{exposed:?}"
        );
        assert_eq!(loaded.read_secrets(), []);
        assert_eq!(loaded.config.serve.token.reveal(), TOKEN);
        assert_eq!(
            loaded.config.follow[0].secret.reveal(),
            "a long random text"
        );
        assert!(!format!("{loaded:?}").contains(TOKEN));
    }

    #[test]
    fn a_file_that_holds_no_secret_is_named_and_its_content_is_not_shown() {
        let dir = tempfile::tempdir().unwrap();
        secret(dir.path(), "key", "k", 0o600);
        for (text, part) in [
            (None, "cannot be read"),
            (Some(String::new()), "is empty"),
            (Some("\n".to_owned()), "is empty"),
            (Some("x".repeat(5_000)), "longer than 4096 bytes"),
            (Some("too-short".to_owned()), "serve.token must have 20"),
        ] {
            if let Some(text) = &text {
                secret(dir.path(), "token", text, 0o600);
            }
            let problems = loaded(dir.path(), FILES, 0o644).read_secrets();
            let shown = problems
                .first()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(shown.contains(part), "{shown}");
            assert!(!shown.contains("too-short"), "{shown}");
        }
    }

    #[test]
    fn a_secret_in_a_file_that_all_can_read_is_told_of() {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("[serve]\ntoken = \"{TOKEN}\"\n");
        let exposed = loaded(dir.path(), &text, 0o644).exposed_secrets();
        assert!(exposed.len() == 1 && exposed[0].contains("taojin.toml holds a secret"));
        assert!(!exposed[0].contains(TOKEN));
        assert!(
            loaded(dir.path(), &text, 0o640)
                .exposed_secrets()
                .is_empty()
        );
        assert!(loaded(dir.path(), "", 0o644).exposed_secrets().is_empty());
    }
}
