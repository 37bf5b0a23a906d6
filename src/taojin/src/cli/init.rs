//! `taojin init`: writes a short configuration from five answers.
//!
//! What no option gives is asked, if there is a terminal, in its language. `taojin check` accepts the result; an existing
//! file is only replaced with `--force`.

use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use super::context::{Context, UsageError, bail_usage};
use super::output;
use crate::config::{self, LOCAL_CONFIG, SYSTEM_CONFIG};
use crate::serve;
use crate::serve::{InitLabels, init_words};
use taojin_search::analyze::Lexicon;

/// What the packages put there: nobody's work.
const SHIPPED: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../config/taojin.toml"
));
/// Wrong answers to one question before it is given up.
const TRIES: usize = 5;
/// Everybody may read the settings; the token only the service, and not its group, whose members read the data.
const SETTINGS_MODE: u32 = 0o644;
const TOKEN_MODE: u32 = 0o600;
/// The user of the service.
const SERVICE: &str = "taojin";

const OPTIONS: [&str; 5] = [
    "--data-dir",
    "--listen",
    "--contact",
    "--lexicon",
    "--token",
];

/// A question: the option that answers it, and what may be answered.
struct Question {
    option: &'static str,
    text: &'static str,
    default: String,
    /// What to say of a wrong answer.
    hint: &'static str,
    /// The words for yes and no.
    choice: [&'static str; 2],
}

/// Arguments of `init`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Address and port of search [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Page or mail address where operators of sites can reach you [default: none]
    ///
    /// It becomes part of the User-Agent, such as `taojin/1.0 (+https://www.example.com/crawler)`.
    #[arg(long, value_name = "URL-OR-MAIL")]
    contact: Option<String>,
    /// Terms of the field: oil-gas, a file, or none [default: oil-gas]
    ///
    /// Words of a lexicon are searched as a whole. A file has one term a line.
    #[arg(long, value_name = "NAME")]
    lexicon: Option<String>,
    /// Whether changes can be made in the browser: makes a token, yes or no [default: no]
    ///
    /// With yes, a file `token` is written next to the configuration unless there is one; who knows it can log in to pause
    /// sites, remove documents and review terms.
    #[arg(long, value_name = "YES-OR-NO")]
    token: Option<String>,
    /// Ask nothing: what no option says is the default
    ///
    /// Without a terminal nothing is asked either.
    #[arg(short, long)]
    yes: bool,
    /// Replace a configuration that is there
    ///
    /// Sites in `sites.d` and an existing token are kept.
    #[arg(long)]
    force: bool,
}

/// Asks, writes the configuration, and says what to type next.
pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let words = init_words(&output::language());
    let file = match &context.config {
        Some(file) => file.clone(),
        None if is_root() => PathBuf::from(SYSTEM_CONFIG),
        None => PathBuf::from(LOCAL_CONFIG),
    };
    refuse_existing(&file, args.force)?;
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let given = [
        context.data_dir.as_ref().map(|d| d.display().to_string()),
        args.listen.clone(),
        args.contact.clone(),
        args.lexicon.clone(),
        args.token.clone(),
    ];
    let is_asked = !args.yes && io::stdin().is_terminal() && io::stderr().is_terminal();
    let mut terminal = (io::stdin().lock(), io::stderr());
    let mut answers = Vec::new();
    for (question, given) in questions(words)?.into_iter().zip(given) {
        let answer = match given {
            Some(given) => accepted(&question, &given, folder)
                .map_err(|why| UsageError(format!("{} {given:?}: {why}", question.option)))?,
            None if is_asked => ask(&mut terminal, words, &question, folder)?,
            None => question.default.clone(),
        };
        answers.push(answer);
    }
    let text = settings(words, &answers);
    fs::create_dir_all(folder.join("sites.d")).map_err(|e| refused(folder, &e))?;
    if answers.get(4).is_some_and(|answer| answer == words.yes) {
        let token = serve::new_token().context("the system has no random numbers")?;
        if !folder.join("token").exists() {
            write(
                &folder.join("token"),
                &format!("{token}\n"),
                TOKEN_MODE,
                None,
            )?;
        }
    }
    write(&file, &text, SETTINGS_MODE, Some(context))?;
    let (loaded, _) = config::read(Some(&file), context.data_dir.as_deref());
    if let Some(mend) = loaded.closed_to_the_service() {
        output::error(&mend);
    }
    next(words, &file);
    if folder.join("token").exists() {
        let listen = answers.get(1).map_or("", String::as_str);
        let token = folder.join("token");
        output::line(
            &words
                .token
                .replace("{file}", &token.display().to_string())
                .replace("{listen}", listen),
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// The five questions with their defaults.
fn questions(words: &'static InitLabels) -> anyhow::Result<[Question; 5]> {
    let data = if is_root() {
        PathBuf::from("/var/lib/taojin")
    } else {
        std::env::current_dir()?.join("data")
    };
    let listen = serve::Config::default().listen;
    let defaults = [
        data.display().to_string(),
        listen.to_string(),
        String::new(),
        "oil-gas".to_owned(),
        words.no.to_owned(),
    ];
    let mut questions = OPTIONS.into_iter().zip(words.questions).zip(defaults);
    Ok(std::array::from_fn(|_| {
        let ((option, [text, hint]), default) = questions.next().expect("five of each");
        Question {
            option,
            text,
            default,
            hint,
            choice: [words.yes, words.no],
        }
    }))
}

/// An answer in the form in which it is written down, or why it is none.
fn accepted(question: &Question, answer: &str, folder: &Path) -> Result<String, &'static str> {
    let answer = answer.trim();
    let is_right = match question.option {
        "--data-dir" => !answer.is_empty(),
        "--listen" => answer.parse::<SocketAddr>().is_ok(),
        "--contact" => {
            let is_address = answer.starts_with("http") || answer.contains('@');
            answer.is_empty() || (is_address && answer.chars().all(|c| c.is_ascii_graphic()))
        }
        "--lexicon" => {
            let file = folder.join(answer);
            answer == "none" || Lexicon::builtin(answer).is_ok() || file.is_file()
        }
        _ => {
            let yes = ["y", "yes", "是", "好"].contains(&answer.to_lowercase().as_str());
            let no = ["n", "no", "否", "不"].contains(&answer.to_lowercase().as_str());
            if yes || no {
                let [yes_word, no_word] = question.choice;
                return Ok(if yes { yes_word } else { no_word }.to_owned());
            }
            false
        }
    };
    if is_right {
        Ok(answer.to_owned())
    } else {
        Err(question.hint)
    }
}

/// Asks at the terminal until the answer is right; Enter takes the default.
fn ask(
    (from, to): &mut (impl BufRead, impl Write),
    words: &'static InitLabels,
    question: &Question,
    folder: &Path,
) -> anyhow::Result<String> {
    for _ in 0..TRIES {
        let shown = match question.default.as_str() {
            "" => words.none,
            default => default,
        };
        write!(to, "{} [{shown}] ", question.text)?;
        to.flush()?;
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 || line.trim().is_empty() {
            return Ok(question.default.clone());
        }
        match accepted(question, &line, folder) {
            Ok(answer) => return Ok(answer),
            Err(why) => writeln!(to, "  {why}")?,
        }
    }
    Err(UsageError(format!("{}: {}", question.option, question.hint)).into())
}

/// The configuration: each answer under its question.
fn settings(words: &'static InitLabels, answers: &[String]) -> String {
    let [data, listen, contact, lexicon, token] =
        [0, 1, 2, 3, 4].map(|i| answers.get(i).map_or("", String::as_str));
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let agent = concat!("taojin/", env!("CARGO_PKG_VERSION"));
    let agent = match contact {
        "" => agent.to_owned(),
        contact => format!("{agent} (+{contact})"),
    };
    let lexicons = match lexicon {
        "none" => "[]".to_owned(),
        name => format!("[{}]", quoted(name)),
    };
    let token_file = if token == words.yes { "token" } else { "" };
    let [d, f, a, s, t] = words.comments;
    format!(
        "# {}\n\n# {d}\ndata_dir = {}\n\n[fetch]\n# {f}\nuser_agent = {}\n\n[analyze]\n# {a}\nlexicons = {lexicons}\n\n\
         [serve]\n# {s}\nlisten = {}\n# {t}\ntoken_file = {}\n",
        words.head,
        quoted(data),
        quoted(&agent),
        quoted(listen),
        quoted(token_file),
    )
}

fn refuse_existing(file: &Path, force: bool) -> Result<(), UsageError> {
    let is_free = match fs::read(file) {
        Ok(text) => force || text == SHIPPED.as_bytes(),
        Err(error) => error.kind() == io::ErrorKind::NotFound || force,
    };
    if is_free {
        Ok(())
    } else {
        Err(UsageError(format!(
            "{}: is there already; change it by hand, replace it with --force, or name another file with --config FILE",
            file.display()
        )))
    }
}

fn refused(path: &Path, error: &io::Error) -> UsageError {
    UsageError(format!(
        "{} cannot be written: {error}; choose a file of your own with --config FILE",
        path.display()
    ))
}

/// Writes a file whole or not at all; settings only if they pass `check`.
fn write(file: &Path, text: &str, mode: u32, check: Option<&Context>) -> anyhow::Result<()> {
    let folder = file.parent().filter(|p| !p.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut draft = tempfile::NamedTempFile::new_in(folder).map_err(|e| refused(folder, &e))?;
    draft.write_all(text.as_bytes())?;
    draft.as_file().sync_all()?;
    if let Some(context) = check {
        let (loaded, mut problems) = config::read(Some(draft.path()), context.data_dir.as_deref());
        problems.extend(loaded.problems());
        if let Some(problem) = problems.first() {
            bail_usage!("nothing was written: {}", problem.text);
        }
    }
    fs::set_permissions(draft.path(), fs::Permissions::from_mode(mode))?;
    if let (TOKEN_MODE, Some(service), true) = (mode, user_of_the_service(), is_root()) {
        std::os::unix::fs::chown(draft.path(), Some(service), None)?;
    }
    draft.persist(file).map_err(|e| refused(file, &e.error))?;
    Ok(())
}

/// Says where the settings are, and the two commands that come next.
fn next(words: &'static InitLabels, file: &Path) {
    let found_anyway = [SYSTEM_CONFIG, LOCAL_CONFIG]
        .into_iter()
        .find(|known| Path::new(known).is_file());
    let named = Context {
        config: (found_anyway != file.to_str()).then(|| file.to_owned()),
        // It is in the file now.
        data_dir: None,
    };
    let is_service = file == Path::new(SYSTEM_CONFIG) && Path::new("/run/systemd/system").is_dir();
    let start = if is_service {
        "systemctl enable --now taojin".to_owned()
    } else {
        named.command("run")
    };
    output::line(&format!("{} {}", file.display(), words.written));
    output::line(&format!(
        "  {}",
        named.command("site add https://www.example.com/")
    ));
    output::line(&format!("  {start}"));
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// The number of the user of the service, where the packages made it.
fn user_of_the_service() -> Option<u32> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let own = users
        .lines()
        .find_map(|line| line.strip_prefix(SERVICE)?.strip_prefix(':'))?;
    own.split(':').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_repeats_until_valid() {
        let folder = tempfile::tempdir().unwrap();
        for (language, no, yes) in [("en_US.UTF-8", "no", "yes"), ("zh_CN.UTF-8", "否", "是")] {
            let words = init_words(language);
            let typed = "\n8080\n0.0.0.0:80\nme\nme@example.org\nnone\ny\n";
            let mut terminal = (typed.as_bytes(), Vec::new());
            let answers: Vec<String> = questions(words)
                .unwrap()
                .iter()
                .map(|q| ask(&mut terminal, words, q, folder.path()).unwrap())
                .collect();
            assert_eq!(answers[1..], ["0.0.0.0:80", "me@example.org", "none", yes]);
            let shown = String::from_utf8(terminal.1).unwrap();
            assert_eq!(shown.matches("[127.0.0.1:8080]").count(), 2, "{shown}");
            assert!(shown.contains(&format!("[{no}]")), "{shown}");
            let file = folder.path().join("taojin.toml");
            fs::write(&file, settings(words, &answers)).unwrap();
            let (loaded, problems) = config::read(Some(&file), None);
            assert_eq!(problems, []);
            assert_eq!(loaded.config.serve.listen.port(), 80);
            assert!(
                loaded
                    .config
                    .fetch
                    .user_agent
                    .ends_with("(+me@example.org)")
            );
            assert!(loaded.config.analyze.lexicons.is_empty());
            assert_eq!(loaded.config.serve.token_file, Path::new("token"));
        }
    }

    #[test]
    fn question_gives_up() {
        let words = init_words("");
        let [_, listen, ..] = questions(words).unwrap();
        let mut terminal = ("x\n".repeat(100).into_bytes(), Vec::new());
        let mut terminal = (terminal.0.as_slice(), &mut terminal.1);
        assert!(ask(&mut terminal, words, &listen, Path::new(".")).is_err());
    }
}
